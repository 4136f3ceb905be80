"""Models as FMUs: valid, with the digits of a run, with parameters, inputs and states that are kept."""

import shutil
import sys
from zipfile import ZipFile

import numpy as np
import pytest
from typer.testing import CliRunner

import phlexible as ph
from phlexible.cli import app

pytest.importorskip("pythonfmu3")
fmpy = pytest.importorskip("fmpy")
validation = pytest.importorskip("fmpy.validation")

MODEL = """
import phlexible as ph

step, duration = 1e-3, 0.5


def build(mass=2.0, damping=0.5):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    cart = model.add(ph.RigidBody(mass, 0.1), "cart")
    beam = ph.Beam(0.5, ph.RectangularSection(3e-3, 0.02), ph.Material(7e10, 2700.0), elements=2)
    pole = model.add(beam, "pole", rotation=0.3)
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, axis=(1, 0, 0)))
    model.connect(ph.Revolute(cart.origin, pole.start))
    model.apply(rail.force(0.0, name="push"))
    model.apply(rail.damper(damping))
    model.apply(ph.Force(pole.end, (0.0, 0.0, 0.0), name="wind"))
    return model


def outputs(model):
    return {"place": ph.JointPosition(model.joints[0]), "tip": ph.Position(model["pole"].end)}
"""


@pytest.fixture(scope="module")
def fmu(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmu")
    beside = MODEL.replace("= 1e-3", "= __import__('neighbour').STEP")
    (folder / "my_cart.py").write_text(beside, encoding="utf-8")
    (folder / "neighbour").mkdir()
    (folder / "neighbour" / "__init__.py").write_text("from neighbour.steps import STEP", encoding="utf-8")
    (folder / "neighbour" / "steps.py").write_text("STEP = 1e-3", encoding="utf-8")
    done = CliRunner().invoke(app, ["fmu", str(folder / "my_cart.py"), "-o", str(folder / "cart.fmu")])
    assert done.exit_code == 0, done.output
    assert "resources/neighbour/steps.py" in ZipFile(folder / "cart.fmu").namelist()
    return folder / "cart.fmu"


def live(mass, push, wind, count):
    """The same run without an FMU: places of the cart and heights of the tip."""
    variables = {}
    exec(compile(MODEL, "my_cart.py", "exec"), variables)
    model = variables["build"](mass=mass)
    run, seen = model.start(1e-3), []
    for k in range(count):
        run.inputs["push"], run.inputs["wind"] = push(k), (0.0, wind, 0.0)
        run.step()
        seen.append([run.read(ph.JointPosition(model.joints[0])), run.read(ph.Position(model["pole"].end))[1]])
    return np.array(seen)


def test_it_is_valid_and_reproduces_the_run(fmu):
    assert validation.validate_fmu(str(fmu)) == []
    names = ("push", "wind.x", "wind.y", "wind.z")
    kinds = [("time", "f8"), *((name, "f8") for name in names)]
    given = np.array([(0.0, 3.0, 0, 0.2, 0), (0.06, 3.0, 0, 0.2, 0), (0.06, -1.0, 0, 0.2, 0)], dtype=kinds)
    found = fmpy.simulate_fmu(
        str(fmu),
        stop_time=0.1,
        step_size=2e-3,
        output_interval=2e-3,
        input=given,
        start_values={"mass": 1.5},
        output=["place", "tip_y"],
    )
    expected = live(1.5, lambda k: 3.0 if k < 60 else -1.0, 0.2, 100)[1::2]
    assert found["place"][1:] == pytest.approx(expected[:, 0], abs=1e-9, rel=1e-9)
    assert found["tip_y"][1:] == pytest.approx(expected[:, 1], abs=1e-9, rel=1e-9)
    assert np.ptp(found["place"]) > 1e-3


def test_its_states_are_kept_and_put_back(fmu, tmp_path):
    """Also as bytes, in another instance with other parameters."""
    description, folder = fmpy.read_model_description(str(fmu)), fmpy.extract(str(fmu), str(tmp_path / "out"))
    place = {each.name: each.valueReference for each in description.modelVariables}
    token, name = description.guid, description.coSimulation.modelIdentifier

    def started(mass):
        slave = fmpy.fmi3.FMU3Slave(
            guid=token, unzipDirectory=folder, modelIdentifier=name, instanceName=f"with {mass}"
        )
        slave.instantiate()
        slave.setFloat64([place["mass"]], [mass])
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        slave.setFloat64([place["push"]], [2.0])
        return slave

    def moved(slave, begin, count):
        for k in range(count):
            slave.doStep(currentCommunicationPoint=begin + k * 1e-3, communicationStepSize=1e-3)
        return slave.getFloat64([place["place"]])[0]

    first, second = started(1.5), started(3.0)
    moved(first, 0.0, 10)
    kept = first.getFMUState()
    written = first.serializeFMUState(kept)
    expected = moved(first, 0.01, 20)
    first.setFMUState(kept)
    assert moved(first, 0.01, 20) == expected
    moved(second, 0.0, 5)
    second.setFMUState(second.deserializeFMUState(written))
    assert moved(second, 0.01, 20) == expected
    assert expected == pytest.approx(live(1.5, lambda k: 2.0, 0.0, 30)[-1, 0], rel=1e-12)
    for slave in (first, second):
        slave.terminate()
        slave.freeInstance()
    sys.modules.pop("my_cart", None)
    shutil.rmtree(folder, ignore_errors=True)


PUSHED = """
import numpy as np
import phlexible as ph

step = 1e-3


def build(mass=2.0, bodies=1):
    model = ph.Model(dimension=2)
    for k in range(bodies):
        body = model.add(ph.RigidBody(mass / bodies, 0.1), f"body {k + 1}")
        rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), body.origin, axis=(1, 0, 0)))
        model.apply(ph.Force(body.origin, lambda t: (np.cos(t), 0.0, 0.0)))
    model.apply(model.joints[0].force(0.0, name="time"))
    return model


def outputs(model):
    rail = model.joints[0]
    speed, place = ph.Velocity(model["body 1"].origin), ph.JointPosition(rail)
    return {"mass": ph.JointRate(rail), "the force": speed, "the_force": place}
"""


def test_it_begins_at_the_start_time_and_has_names_of_its_own(tmp_path):
    """Functions of time are asked at the time of the master; what the model calls alike is numbered."""
    from phlexible.tools.fmu import write_fmu

    (tmp_path / "pushed.py").write_text(PUSHED, encoding="utf-8")
    path = str(write_fmu(tmp_path / "pushed.py", tmp_path / "pushed.fmu"))
    assert validation.validate_fmu(path) == []
    kinds = {each.name: (each.type, each.causality) for each in fmpy.read_model_description(path).modelVariables}
    assert kinds == {
        "time": ("Float64", "independent"),
        "mass": ("Float64", "parameter"),
        "bodies": ("Int64", "parameter"),
        "time_2": ("Float64", "input"),
        **{name: ("Float64", "output") for name in ("mass_2", "the_force", "the_force_2")},
    }
    found = fmpy.simulate_fmu(
        path,
        start_time=1.5,
        stop_time=1.6,
        step_size=1e-2,
        output_interval=1e-2,
        start_values={"bodies": 1, "mass": 1.0},
        output=["mass_2"],
    )
    assert found["mass_2"] == pytest.approx(np.sin(found["time"]) - np.sin(1.5), abs=1e-7)


def test_states_of_other_models_leave_an_fmu_as_it_was(tmp_path):
    from phlexible.tools.fmu import FmuModel, source_of_file

    (tmp_path / "pushed.py").write_text(PUSHED, encoding="utf-8")
    (tmp_path / "cart.py").write_text(MODEL, encoding="utf-8")
    own, other = (FmuModel(source_of_file(tmp_path / name)) for name in ("pushed.py", "cart.py"))
    own.advance(0.25, 0.01)
    with pytest.raises(ph.ParameterError, match=r"the FMU is at t = 0.26 s, a step from 0.01 s does not fit"):
        own.advance(0.01, 0.01)
    kept, later = own.save(), own.save() | {"parameters": {"mass": 1.0, "bodies": 1}, "numbers": ["0x1p0"]}
    for wrong, words in ((other.save(), "another model"), ({}, "no state of an FMU"), (later, "another model")):
        with pytest.raises(ph.ParameterError, match=words):
            own.restore(wrong)
        assert own.save() == kept
    twin = FmuModel(source_of_file(tmp_path / "pushed.py"))
    twin.restore(kept)
    for each in (own, twin):
        each.advance(0.26, 0.02)
    assert twin.save() == own.save() and twin.value("mass_2") > 0.01


def test_files_without_a_model_are_refused(tmp_path):
    from phlexible.tools.fmu import write_fmu

    path = tmp_path / "empty.py"
    for text, words in (
        ("x = 1", "must define a phlexible.Model"),
        (MODEL.replace("step,", "_,"), "step = ..."),
        ("def (", "cannot be run, it raised SyntaxError"),
        (MODEL + "\nraise SystemExit(3)", "cannot be run, it raised SystemExit"),
        (MODEL.replace("0.5\n", "'long'\n"), "duration in .* must be one number"),
        (MODEL.replace("mass=2.0", "mass"), "needs a usual value of mass"),
        (MODEL.replace("mass=2.0", "time=2.0"), "a parameter named time"),
        (
            MODEL.replace("return model", "return model.missing"),
            "build.mass=2.0, damping=0.5. raised AttributeError",
        ),
        (MODEL.replace('{"place": ph', "ph.nothing, {1: ph"), "outputs raised AttributeError"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises((ph.ModelError, ph.ParameterError), match=words):
            write_fmu(path, tmp_path / "empty.fmu")
    with pytest.raises(ph.ParameterError, match="must end in .fmu"):
        write_fmu(path, tmp_path / "empty.zip")
