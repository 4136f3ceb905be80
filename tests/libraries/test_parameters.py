"""Parameters of libraries: numbers that follow them, motions that do, in C, WebAssembly and FMUs, and refusals."""

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import phlexible as ph
from phlexible.cli import app
from phlexible.libraries.linking import host
from phlexible.libraries.parameters import FunctionFit, Range, SampledValues

STEP = 1e-3
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None or host() is None, reason="no C compiler")
needs_zig = pytest.mark.skipif(
    find_spec("ziglang") is None or shutil.which("node") is None,
    reason="no Zig to link or no Node to run WebAssembly",
)
RANGES = {
    "stiffness": (0.1, 0.5, 2.0, "N m/rad"),
    "mass": (0.1, 0.2, 0.5, "kg"),
    "height": (0.2, 0.4, 0.6, "m"),
    "torque": (-0.2, 0.0, 0.2, "N m"),
}
FEW = {name: RANGES[name] for name in ("mass", "height")}
OTHER = {"stiffness": 1.7, "mass": 0.33, "height": 0.27, "torque": 0.15}


def machine(stiffness=0.5, mass=0.2, height=0.4, torque=0.0, length=0.4) -> ph.Model:
    """A flexible arm at some height with a bob that hangs on a spring from a point that shakes."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    rod = ph.Beam(length, ph.CircularSection(5e-3), ph.Material(7e10, 2700.0), elements=2)
    arm = model.add(rod, "arm", position=(0, height, 0))
    bob = model.add(ph.RigidBody(mass, 1e-3, center=(0.05, 0, 0)), "bob", position=(length, height, 0))
    shoulder = model.connect(ph.Revolute(model.ground.at((0, height, 0)), arm.start, name="shoulder"))
    elbow = model.connect(ph.Revolute(arm.end, bob.origin, name="elbow"))
    model.apply(shoulder.torque(torque, name="motor"))
    model.apply(ph.Force(bob.origin, (0.0, 0.0, 0.0), name="push"))
    model.apply(elbow.spring(stiffness, name="spring"))
    model.apply(elbow.damper(1e-3))
    shaken = model.ground.moving(lambda t: (length + 0.1 + 0.01 * np.cos(20.0 * t), height, 0.0))
    model.apply(ph.SpringDamper(shaken, bob.origin, stiffness=20.0, damping=0.1, length=0.1))
    return model


def outputs(model: ph.Model) -> dict[str, object]:
    energies = {kind: ph.EnergyOf(kind) for kind in ("total", "supplied", "dissipated")}
    return {"place": ph.Position(model["bob"].origin), "force": ph.Reaction(model.joints[0]), **energies}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    if shutil.which("cc") is None or host() is None:
        pytest.skip("no C compiler for this machine")
    suffix = ".dylib" if host().startswith("macos") else ".so"
    path = tmp_path_factory.mktemp("parameters") / f"machine{suffix}"
    return ph.build(machine, STEP, path, outputs=outputs, parameters=RANGES)


def test_numbers_follow_powers_and_angles_of_parameters() -> None:
    """Lines, powers, waves, their products, at values of both signs; what is zero but for round-off stays."""
    names = ["line", "root", "quotient", "products", "sum", "steep", "by chance", "constant", "scale", "angle"]
    random = np.random.default_rng(1)

    def sample(values):
        p, q = values
        chance = 1e-16 * p * (1 + 0.1 * random.standard_normal())
        steep, scale = 1e-7 / p**4, max(p, q)
        angles = np.cos(np.radians(p)) * np.sin(q - 0.3) + 2.0, np.sin(q)
        return np.array(
            [3 * p**4 - 1, np.sqrt(p), q / p, (p + 1) * q**2, p + q, steep, chance, 7.0, scale, *angles]
        )

    table = np.array([0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 9])
    numbers_of_one = SampledValues(["all"], np.array([0]), np.zeros(1, dtype=bool))
    ranges = [Range("p", 0.5, 1.0, 50.0), Range("q", -2.0, 0.0, 2.0)]
    functions = FunctionFit(ranges, sample, SampledValues(names, table, table == 8)).functions()
    assert sorted(functions.indices) == [0, 1, 2, 3, 4, 5, 8, 9, 10] and functions.error < 1e-13
    tiny = FunctionFit([Range("q", -1e-9, 0.0, 1e-9)], lambda values: np.sin(values), numbers_of_one).functions()
    assert tiny.values([3e-10]) == pytest.approx([3e-10], rel=1e-12)
    for values in ((0.5, -2.0), (50.0, 2.0), (0.77, 0.3), (31.0, 1.9)):
        found, exact = functions.values(values), sample(values)[functions.indices]
        rough = functions.indices == 8
        size = np.abs(sample((50.0, 2.0)))[functions.indices]
        assert (np.abs(found - exact) <= 1e-13 * np.abs(exact) + 1e-14 * size)[~rough].all()
        assert found[rough] == pytest.approx(exact[rough], rel=0.3, abs=3.0)

    numbers = SampledValues(["line", "kinked"], np.array([0, 1]), np.zeros(2, dtype=bool))
    with pytest.raises(ph.ParameterError, match="kinked are not linear in q or a power of it"):
        FunctionFit(ranges, lambda values: np.array([values[0], abs(values[1] - 0.3)]), numbers).functions()

    def hidden(values):  # beside a large number of its table
        return np.array([1e9 * values[0], 1e-5 * np.exp(values[0] / 50.0)])

    numbers = SampledValues(["table"], np.array([0, 0]), np.zeros(2, dtype=bool))
    with pytest.raises(ph.ParameterError, match="table are not linear in p"):
        FunctionFit(ranges, hidden, numbers).functions()
    one = numbers_of_one
    with pytest.raises(ph.ParameterError, match="all are not linear in"):  # off at one end only
        FunctionFit(ranges, lambda values: np.array([values[0] ** (1.0 + (values[1] > 1.9))]), one).functions()
    many = [Range(f"p{k}", 1.0, 2.0, 3.0) for k in range(11)]
    with pytest.raises(ph.ParameterError, match="p0, p1.* change numbers of the model together"):
        FunctionFit(many, lambda values: np.array([np.prod(np.array(values) + 1.0)]), one).functions()


def test_a_library_with_other_parameters_moves_as_the_model_that_is_built_with_them(built) -> None:
    library = ph.load_library(built, **OTHER)
    assert dict(library.parameters) == OTHER and list(library.inputs) == ["push"]  # the motor follows a parameter
    assert library.parameters.ranges["mass"] == (0.1, 0.2, 0.5) and library.parameters.units["height"] == "m"
    model = machine(**OTHER)
    sensors, run = outputs(model), model.start(STEP)
    for each in (library, run):
        each.inputs["push"] = (0.1, 0.2, 0.0)
        each.step(500)
    for name, sensor in sensors.items():
        scale = 1e-8 if name == "force" else 1e-12  # with the stiffness of an element, 7e6 N/m
        assert library.read(name) == pytest.approx(run.read(sensor), rel=1e-11, abs=scale), name
    library.reset()
    library.parameters.update({name: values[1] for name, values in RANGES.items()})
    plain = machine().start(STEP)
    library.step(100)
    plain.step(100)
    places = outputs(plain.now.mechanism)["place"]
    assert library.read("place") == pytest.approx(plain.read(places), abs=1e-13)


def linkage(stiffness=1.0, angle=0.0, degrees=0.0) -> ph.Model:
    """Two bars, the first one turned by an angle, the second one by some degrees from it, and a spring."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    tip = (np.cos(angle), np.sin(angle), 0.0)
    first = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "first", rotation=angle)
    bar = ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0))
    second = model.add(bar, "second", position=tip, rotation=angle + np.radians(degrees))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), first.origin, name="hinge"))
    model.connect(ph.Revolute(first.point((1, 0, 0)), second.origin, name="elbow"))
    model.apply(hinge.spring(stiffness))
    model.apply(ph.SpringDamper(model.ground.at((0, 1, 0)), second.point((1, 0, 0)), stiffness=20.0, length=0.1))
    return model


@needs_compiler
def test_a_library_starts_at_angles_that_are_parameters(tmp_path) -> None:
    """Poses follow cosines and sines; the energy and the length of the spring follow none, and are computed."""

    def sensors(model):
        return {"place": ph.Position(model["second"].point((1, 0, 0))), "energy": ph.EnergyOf("total")}

    suffix = ".dylib" if str(host()).startswith("macos") else ".so"
    ranges = {"stiffness": (0.5, 1.0, 60.0), "angle": (-0.5, 0.0, 0.5, "rad"), "degrees": (-170.0, 0.0, 190.0)}
    path = ph.build(linkage, STEP, tmp_path / f"linkage{suffix}", outputs=sensors, parameters=ranges)
    for values in ((33.0, 0.31, -120.0), (1.0, -0.2, 185.0)):
        library = ph.load_library(path, **dict(zip(ranges, values, strict=True)))
        model = linkage(*values)
        run = model.start(STEP)
        for _ in range(2):
            for name, sensor in sensors(model).items():
                assert library.read(name) == pytest.approx(run.read(sensor), rel=1e-12, abs=1e-12), name
            library.step(300)
            run.step(300)


def test_parameters_change_between_steps_where_the_state_allows(built) -> None:
    """Places and velocities stay; the ledger stays closed; lengths and paths are fixed once the motion began."""
    library = ph.load_library(built)
    tunable = {name for name, is_tunable in library.parameters.tunable.items() if is_tunable}
    assert tunable == {"stiffness", "mass", "torque"}
    begin = float(library.read("total"))
    library.step(200)
    before = library.read("place")
    library.parameters["stiffness"] = 2.0
    library.parameters["mass"] = 0.4
    assert library.read("place") == pytest.approx(before, rel=0, abs=1e-15)  # bits depend on the processor
    state = machine().simulate(0.2, STEP).at(0.2)
    run = machine(stiffness=2.0, mass=0.4).start(STEP, initial=state)
    for each in (library, run):
        each.step(300)
    place = outputs(run.now.mechanism)["place"]
    assert library.time == pytest.approx(run.time)
    assert library.read("place") == pytest.approx(run.read(place), abs=1e-9)
    assert np.abs(library.read("place") - before).max() > 1e-2
    missed = library.read("total") - begin - library.read("supplied") + library.read("dissipated")
    assert abs(missed) < 1e-13 and abs(library.read("dissipated")) > 1e-3
    with pytest.raises(ph.ParameterError, match=r"height cannot be 0.3: it moves .* reset\(\) first"):
        library.parameters["height"] = 0.3
    saved = library.save()
    library.step(10)
    other = ph.load_library(built)
    other.restore(saved)
    assert other.parameters["mass"] == 0.4
    with pytest.raises(ph.ParameterError, match="reset"):
        other.parameters["height"] = 0.3
    other.step(10)
    assert other.save().content == library.save().content
    library.reset()
    library.parameters["height"] = 0.3
    assert library.parameters["mass"] == 0.4 and library.read("place")[1] == pytest.approx(0.3)
    for wrong, words in ((0.7, "between 0.2 and 0.6"), (np.nan, "height"), ("x", "height")):
        with pytest.raises(ph.ParameterError, match=words):
            library.parameters["height"] = wrong
    with pytest.raises(ph.ParameterError, match="no parameter is named 'width'; the parameters .*'stiffness'"):
        ph.load_library(built, width=1.0)
    assert library.parameters["height"] == 0.3


NODE = """
import { readFileSync } from "node:fs";
const { instance: { exports: ph } } = await WebAssembly.instantiate(readFileSync(process.argv[2]));
const begin = ph.__heap_base.value, size = ph.ph_size() + 64;
ph.memory.grow(Math.ceil(size / 65536));
const model = ph.ph_place(begin), out = begin + size - 32;
const said = [ph.ph_set_parameter(model, 0, 0.33), ph.ph_set_parameter(model, 1, 0.27)];
said.push(ph.ph_set_parameter(model, 0, 99.0), ph.ph_step(model, 300), ph.ph_set_parameter(model, 1, 0.5));
ph.ph_get_output(model, 0, out);
console.log(said.join(), ...new Float64Array(ph.memory.buffer, out, 2));
"""


@pytest.mark.slow
@needs_zig
def test_webassembly_takes_parameters(built, tmp_path) -> None:
    module = ph.build(machine, STEP, tmp_path / "machine.wasm", outputs=outputs, parameters=FEW)
    (tmp_path / "run.mjs").write_text(NODE)
    said, x, y = subprocess.run(
        ["node", tmp_path / "run.mjs", module], capture_output=True, text=True, check=True
    ).stdout.split()
    library = ph.load_library(built, mass=0.33, height=0.27)
    library.step(300)
    assert said == "0,0,7,0,8"
    assert (float(x), float(y)) == pytest.approx(tuple(library.read("place")[:2]), abs=1e-12)


@needs_compiler
@pytest.mark.parametrize("version", [pytest.param(2, marks=pytest.mark.thorough), 3])
def test_an_fmu_has_parameters_with_units_and_ranges(built, tmp_path, version) -> None:
    fmpy = pytest.importorskip("fmpy")
    path = str(tmp_path / "machine.fmu")
    known = {"outputs": outputs, "parameters": FEW, "targets": [host()], "fmi": version}
    ph.build(machine, STEP, path, **known)
    assert pytest.importorskip("fmpy.validation").validate_fmu(path) == []
    described = {each.name: each for each in fmpy.read_model_description(path).modelVariables}
    told = [(name, described[name].variability, described[name].unit) for name in FEW]
    assert told == [("mass", "tunable", "kg"), ("height", "fixed", "m")]
    assert float(described["mass"].start) == 0.2 and float(described["mass"].max) == 0.5
    sizes = {"stop_time": 0.1, "step_size": 1e-2, "output_interval": 1e-2}
    found = fmpy.simulate_fmu(
        path, **sizes, start_values={"mass": 0.33, "height": 0.27}, output=["place_x", "place_y"]
    )
    library = ph.load_library(built, mass=0.33, height=0.27)
    library.step(100)
    assert (found["place_x"][-1], found["place_y"][-1]) == pytest.approx(
        tuple(library.read("place")[:2]), abs=1e-13
    )
    with pytest.raises(Exception, match="set(Real|Float64)|SetReal|SetFloat64"):
        fmpy.simulate_fmu(path, **sizes, start_values={"height": 2.0})


FILE = """
import phlexible as ph

step = 1e-2
parameters = {"stiffness": (0.5, 1.0, 2.0, "N m/rad")}


def build(stiffness=1.0, unused=3):
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    body = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "body")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin, name="hinge"))
    model.apply(hinge.spring(stiffness))
    return model


def outputs(model):
    return [ph.JointPosition(model.joints[0])]
"""


@needs_compiler
def test_the_command_takes_parameters_of_a_file(tmp_path) -> None:
    suffix = ".dylib" if str(host()).startswith("macos") else ".so"
    (tmp_path / "own.py").write_text(FILE)
    done = CliRunner().invoke(app, ["build", str(tmp_path / "own.py"), "-o", str(tmp_path / f"own{suffix}")])
    assert done.exit_code == 0 and "parameters stiffness: " in done.stdout, done.output
    library = ph.load_library(tmp_path / f"own{suffix}", stiffness=2.0)
    assert library.parameters.ranges == {"stiffness": (0.5, 1.0, 2.0)}
    assert library.units == {"position of hinge": "rad"}


def test_parameters_that_change_other_things_are_refused_by_name(tmp_path) -> None:
    path = tmp_path / "model.zip"

    def made(stiffness=1.0, count=1.0, modulus=1.0, ending=1.0, nothing=1.0) -> ph.Model:
        model = ph.Model(dimension=2)
        bar = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "bar")
        hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, name="hinge"))
        model.apply(hinge.spring(stiffness * abs(modulus - 0.9), name="spring"))
        for _ in range(int(count)):
            model.apply(ph.Force(bar.origin, (0.0, 0.0, 0.0)))
        if ending > 1.5:
            raise ValueError("too long")
        return model

    def refused(words: str, given: object, model: object = made, **more: object) -> None:
        with pytest.raises(ph.errors.PhlexibleError, match=words):
            ph.build(model, 1e-2, path, parameters=given, **more)

    refused("needs the function that builds the model", {"mass": (1, 2, 3)}, made())
    refused(r"parameters must be \(low, value, high\)", {"stiffness": 1.0})
    refused("in this order", {"stiffness": (2.0, 1.0, 3.0)})
    refused("unit of stiffness", {"stiffness": (1.0, 2.0, 3.0, 4.0)})
    refused("model.*width", {"width": (1.0, 2.0, 3.0)})
    refused("with count = 3 the model has a load '", {"count": (1.0, 1.0, 3.0)})
    refused("a spring.* are not linear in modulus or a power of it", {"modulus": (0.5, 1.0, 2.0)})
    refused(r"a body are not linear in length .*load_tables\(\)", {"length": (0.2, 0.4, 0.6)}, machine)
    refused("model.ending=2.0. raised ValueError .*too long", {"ending": (1.0, 1.0, 2.0)})
    refused("nothing in the model changes with nothing", {"nothing": (0.5, 1.0, 2.0)})
    with pytest.raises(ph.ParameterError, match="leave out parameters="):
        ph.build(made, 1e-2, tmp_path / "model.tables", parameters={"stiffness": (1.0, 2.0, 3.0)})
    with pytest.raises(ph.ParameterError, match="input 'motor' .*leave it out of inputs="):
        ph.build(machine, STEP, path, inputs=["motor"], parameters={"torque": RANGES["torque"]})
    if find_spec("ziglang") is not None:
        words = "height changes the shape or the path of moving frames: a page"
        with pytest.raises(ph.ParameterError, match=words):
            ph.build(machine, STEP, tmp_path / "page.html", parameters={"height": RANGES["height"]})
