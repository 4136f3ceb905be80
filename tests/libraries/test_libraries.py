"""Models as libraries: the digits of live runs, states, wrong calls, programs in C, WebAssembly, refusals."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from typer.testing import CliRunner

import phlexible as ph
from phlexible.cli import app
from phlexible.description.interactions.feedback import LinearController
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.ports import PlacedBody
from phlexible.libraries import programs
from phlexible.libraries.description import RunTimes, _load_data
from phlexible.libraries.linking import host
from phlexible.libraries.time_functions import time_data
from phlexible.results.live import LiveRun
from phlexible.state.recorded_run import RecordedRun
from phlexible.step.compilation.objects import code_settings, this_target
from pictures.report.decoding import Decoded

STEP = 1e-3
HEAD = 8  # numbers of ``ph_saved`` in model.c, which follow the state in what ``save`` gives
ROUND_OFF = dict.fromkeys(("rate", "speed", "spin"), 1e3) | dict.fromkeys(("force", "moment", "section"), 1e4)
"""Over that of places: rates are differences over a step, forces have the stiffness of an element, 7e6 N/m."""
INPUTS = ["motor", "push"]
CC = shutil.which("cc")
needs_compiler = pytest.mark.skipif(CC is None or host() is None, reason="no C compiler for this machine")
needs_zig = pytest.mark.skipif(
    find_spec("ziglang") is None or shutil.which("node") is None,
    reason="no Zig to link or no Node to run WebAssembly",
)


def machine(modulus: float = 7e10, mass: float = 0.2) -> ph.Model:
    """A crank that a path drives, a flexible arm on a motor, a push, a damped spring and a load of time."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    arm = model.add(ph.Beam(0.4, ph.CircularSection(5e-3), ph.Material(modulus, 2700.0), elements=2), "arm")
    bob = model.add(ph.RigidBody(mass, 1e-3, center=(0.05, 0, 0)), "bob", position=(0.4, 0, 0))
    shoulder = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.start, name="shoulder"))
    elbow = model.connect(ph.Revolute(arm.end, bob.origin, name="elbow"))
    model.apply(shoulder.torque(0.0, name="motor"))
    model.apply(elbow.spring(0.5, name="spring"))
    model.apply(elbow.damper(1e-3))
    model.apply(ph.Force(bob.origin, (0.1, 0.0, 0.0), name="push"))
    model.apply(ph.Torque(bob.origin, lambda t: (0.0, 0.0, 0.01 * np.sin(30 * t))))
    shaken = model.ground.moving(lambda t: (0.5 + 0.01 * np.cos(20 * t), 0.0, 0.0))
    model.apply(ph.SpringDamper(shaken, bob.origin, stiffness=20.0, damping=0.1, length=0.1))
    return model


def outputs(model: ph.Model) -> dict[str, ph.errors.PhlexibleError]:
    arm, bob = model["arm"], model["bob"]
    shoulder, elbow = model.joints
    return {
        "angle": ph.JointPosition(shoulder),
        "rate": ph.JointRate(elbow),
        "place": ph.Position(bob.origin),
        "drop": ph.Displacement(arm.end, (0, 1, 0)),
        "speed": ph.Velocity(bob.origin, (1, 1, 0)),
        "turn": ph.Angle(bob.origin, (0, 0, 1)),
        "spin": ph.AngularVelocity(bob.origin, (0, 0, 1)),
        "matrix": ph.Rotation(arm),
        "quaternion": ph.Quaternion(bob),
        "bend": ph.ElasticDisplacement(arm.at(0.2)),
        "force": ph.Reaction(shoulder),
        "moment": ph.ReactionMoment(elbow, axes="body"),
        "section": ph.SectionForce(arm, 0.1),
        "slope": ph.Angle(arm.end, (0, 0, 1)),
        "pull": ph.ElementForce(next(each for each in model.elements if each.name == "spring")),
        **{kind: ph.EnergyOf(kind) for kind in ("kinetic", "total", "supplied", "dissipated")},
    }


def all_outputs(model: ph.Model) -> dict[str, object]:
    """With an acceleration, for which steps are tried; a live run has none at an instant."""
    return outputs(model) | {"jolt": ph.Acceleration(model["bob"].origin, (0, 1, 0))}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    if CC is None or host() is None:
        pytest.skip("no C compiler for this machine")
    model, folder = machine(), tmp_path_factory.mktemp("compiled")
    suffix = ".dylib" if host().startswith("macos") else ".so"
    path = ph.build(model, STEP, folder / f"machine{suffix}", inputs=INPUTS, outputs=all_outputs(model))
    ph.build(model, STEP, folder / "machine.zip", inputs=INPUTS, outputs=all_outputs(model), targets=[host()])
    ZipFile(folder / "machine.zip").extractall(folder / "sources")
    return path


def test_steps_have_the_digits_of_a_live_run(built) -> None:
    model, library = machine(), ph.load_library(built)
    sensors, run = outputs(model), model.start(STEP)
    assert list(library.inputs) == INPUTS and set(run.inputs) == set(INPUTS) and library.units["place"] == "m"
    for count, motor in ((1, 0.0), (40, 0.3), (7, -0.2), (952, 0.05)):
        for each in (run, library):
            each.inputs["motor"], each.inputs["push"] = motor, (0.1, motor, 0.0)
            each.step(count)
        assert library.time == run.time
        for name, sensor in sensors.items():
            expected = run.read(sensor)
            scale = 1e-12 * max(1.0, np.abs(expected).max()) * ROUND_OFF.get(name, 1)
            assert library.read(name) == pytest.approx(
                np.ravel(expected) if np.ndim(expected) else expected, abs=scale
            ), name
    state = run.stepper.assembly.memory.rows(run.stepper.assembly.memory.state[None])
    assert library.read("place")[:2] == pytest.approx(run.read(sensors["place"])[:2], abs=1e-13)
    assert state["position"].shape[0] == 1


def test_steps_of_a_library_end_where_loads_jump(tmp_path) -> None:
    model = ph.Model(dimension=2)
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), model.add(ph.RigidBody(1.0, 0.1), "wheel").origin))
    model.apply(pin.torque(lambda t: 3.0 if t < 0.0237 else -1.0, name="late", breakpoints=[0.0237, 0.0512]))
    outputs = {"angle": ph.JointPosition(pin), "rate": ph.JointRate(pin)}
    library = ph.load_library(ph.build(model, 1e-2, tmp_path / "wheel.so", outputs=outputs, duration=1.0))
    run = model.start(1e-2)
    for count in (1, 3, 20):
        library.step(count)
        run.step(count)
        for name, sensor in outputs.items():
            assert library.read(name) == pytest.approx(float(run.read(sensor)), abs=1e-12)


@pytest.mark.skipif(
    bool(code_settings()), reason="the environment asks for code of another processor than libraries"
)
@pytest.mark.parametrize(
    ("has_all_bits", "order"), [*(pytest.param(True, k, marks=pytest.mark.thorough) for k in (2, 4)), (False, 6)]
)
def test_without_functions_of_time_nothing_but_passes_has_digits_of_its_own(
    built, tmp_path, monkeypatch, has_all_bits, order
) -> None:
    """Programs are those that Python calls: with the same passes every bit is equal, in composed steps too."""
    if has_all_bits:
        monkeypatch.setattr(programs, "as_in_python", lambda platform: this_target())
    model = ph.Model(gravity=(0, 0, -9.81))
    last = model.ground.at((0, 0, 0))
    if not has_all_bits:
        last = model.ground.moving(lambda t: (0.05 * np.sin(7 * t), 0.0, 0.0))
    for k in range(2):
        link = model.add(ph.RigidBody(1.0, (0.02, 0.05, 0.05)), f"link {k}", position=(k + 0.5, 0, 0))
        model.connect(ph.Revolute(last, link.point((-0.5, 0, 0)), axis=(0, 1, 0)))
        last = link.point((0.5, 0, 0))
    model.apply(model.joints[0].torque(0.0, name="motor"))
    model.apply(model.joints[1].spring(1.0))
    model.apply(ph.Force(link.origin, (0.0, 0.0, 1.0)))  # so that it needs the programs of ``machine``, made once
    if not has_all_bits:
        model.apply(ph.Torque(link.origin, lambda t: (0.0, 0.2 * np.sin(9 * t), 0.0)))
    library = ph.load_library(ph.build(model, 2e-3, tmp_path / f"chain{built.suffix}", order=order))
    run = model.start(2e-3, order=order)
    for each in (run, library):
        each.inputs["motor"] = 0.7
        each.step(1000)
    for name, (found, expected) in states(library, run).items():
        if has_all_bits:
            assert np.array_equal(found.view(np.uint64), expected.view(np.uint64)), name
        assert found == pytest.approx(expected, abs=1e-11 * np.abs(expected).max(initial=1.0)), name


def states(library: ph.Library, run: LiveRun) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Numbers of a library and of a live run by the names of their tables."""
    own = np.frombuffer(library.save().content, dtype=np.float64)
    memory, found = run.stepper.assembly.memory, {}
    for name in ("position", "rotation", "velocity", "multiplier", "force", "work", "dissipated"):
        begin, expected = memory.offset_of(name), memory[name].ravel()
        found[name] = own[begin : begin + expected.size], expected
    return found


def spun(on: str) -> ph.Model:
    """A bar on a spring that turns by more than a right angle in a step of 0.1 s."""
    model = ph.Model(dimension=3 if on == "two hinges" else 2)
    moves = "moving" in on
    turn = (lambda t: 0.1 * (1 - np.cos(5 * t))) if "gears" in on else None  # which angles are measured from
    moving = model.ground.moving(lambda t: (0.01 * np.cos(3 * t), 0.0, 0.0), turn)
    pin = moving if moves else model.ground.at((0, 0, 0))
    inertia = (0.1, 0.1, 0.1) if on == "two hinges" else 0.1
    wheel = ph.RigidBody(1.0, inertia, center=(0.05, 0, 0))
    x = 0.01 if moves else 0.0
    bar = model.add(wheel, "bar", position=(x, 0, 0), angular_velocity=(0, 0, 25.0))
    hinge = model.connect(ph.Revolute(pin, bar.origin, axis=(0, 0, 1)))
    if on == "two hinges":
        model.connect(ph.Revolute(model.ground.at((0, 0, 1)), bar.point((0, 0, 1)), axis=(0, 0, 1)))
    if "gears" in on:
        other = model.add(ph.RigidBody(2.0, 0.3), "other", position=(1, 0, 0), angular_velocity=(0, 0, -10.0))
        pin = model.connect(ph.Revolute(model.ground.at((1, 0, 0)), other.origin))
        model.connect(ph.Gear(hinge, pin, ratio=-2.5))
    model.apply(hinge.spring(0.5))
    model.apply(ph.Force(bar.origin, (0.0, 0.0, 0.0)))
    return model


def links(modulus: float = 2e7) -> ph.Model:
    """A chain of equal flexible links, enough to step in lanes."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    last, section = model.ground.at((0, 0, 0)), ph.RectangularSection(0.01, 0.01)
    for k in range(6):
        beam = ph.Beam(0.1, section, ph.Material(modulus, 1000.0), elements=1)
        link = model.add(beam, f"link {k}", position=(0.1 * k, 0, 0))
        model.connect(ph.Revolute(last, link.start))
        last = link.end
    return model


def test_equal_bodies_have_numbers_that_follow_parameters(built, tmp_path) -> None:
    def tip(model: ph.Model) -> dict[str, Sensor]:
        return {"tip": ph.Position(model["link 5"].end)}

    file, ranges = tmp_path / f"links{built.suffix}", {"modulus": (1e7, 2e7, 4e7)}
    library = ph.load_library(ph.build(links, STEP, file, outputs=tip, parameters=ranges), modulus=3e7)
    run = links(3e7).start(STEP)
    library.step(100), run.step(100)
    assert library.read("tip") == pytest.approx(run.read(tip(run.now.mechanism)["tip"]), abs=1e-12)
    saved = library.save()
    library.step(50)
    ended = library.save().content
    library.restore(saved)
    library.step(50)
    assert library.save().content == ended


@pytest.mark.parametrize("on", ["a moving pin", "gears", "gears on a moving pin", "two hinges"])
@pytest.mark.filterwarnings("ignore::phlexible.RedundancyWarning")
def test_steps_that_fail_are_halved_as_in_live_runs(built, tmp_path, on) -> None:
    """An angle with a spring turns by less than a right angle in a step; velocities are brought onto the joint."""
    model = spun(on)
    hinge = model.joints[0]
    sensors = {
        "angle": ph.JointPosition(hinge),
        "rate": ph.JointRate(hinge),
        **{kind: ph.EnergyOf(kind) for kind in ("total", "supplied", "dissipated")},
    }
    library = ph.load_library(ph.build(model, 0.1, tmp_path / f"spun{built.suffix}", outputs=sensors, duration=2.0))
    run, start = model.start(0.1), library.read("total")
    for each in (run, library):
        each.step(10)
    assert run.motion.halvings[-1] > 1 and library.time == run.time
    for name, sensor in sensors.items():
        assert library.read(name) == pytest.approx(run.read(sensor), rel=1e-12, abs=1e-12), name
    if "moving" in on:
        assert library.read("dissipated") > 1e-4  # the impulses onto the joint, where the size changes
    missed = library.read("total") - start - library.read("supplied") + library.read("dissipated")
    assert abs(missed) < 1e-14 * library.read("total") * 10


def regulated() -> ph.Model:
    """A wheel that turns round and round after a target, a cart that a filter in three states holds, and a load."""
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    wheel = model.add(ph.RigidBody(1.0, 0.1), "wheel")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin, name="hinge"))
    gains = LinearController(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0)), np.array([[4.0, 0.5]]), False)
    turning = ph.Feedback(gains, [hinge], target=lambda t: np.array([20.0 * t, 20.0]))
    model.apply(hinge.torque(turning, name="turning"))
    cart = model.add(ph.RigidBody(0.5, 0.1), "cart", position=(2, 0, 0))
    rail = model.connect(ph.Prismatic(model.ground.at((2, 0, 0)), cart.origin, name="rail"))
    bar = model.add(ph.RigidBody(0.3, 0.05, center=(0, -0.4, 0)), "bar", position=(2, 0, 0))
    model.apply(model.connect(ph.Revolute(cart.origin, bar.origin)).spring(0.1))
    A, B = np.array([[-3.0, 1.0, 0.0], [0.0, -5.0, 2.0], [-1.0, 0.0, -9.0]]), np.eye(3)
    C, D = np.array([[9.0, 1.0, 0.0], [0.0, 0.5, 1.0]]), np.array([[-30.0, -3.0, 2.0], [0.0, 0.1, 1.0]])
    filtered = LinearController(A, B, C, D, False)
    sensors = [ph.JointPosition(rail), ph.JointRate(rail), ph.Velocity(bar.point((0, -0.8, 0)), (1, 0, 0))]
    along = ph.Force(bar.point((0, -0.8, 0)), (0.3, 0.1, 0.0))
    model.apply(ph.Feedback(filtered, sensors, on=[rail, along], period=2 * STEP, delay=6 * STEP, name="filter"))
    model.apply(ph.Force(bar.point((0, -0.8, 0)), (1.0, 0.0, 0.0), name="push"))
    return model


def test_linear_controllers_are_data_of_the_library(built, tmp_path) -> None:
    """Samples, delays, states and targets; angles over full turns; what they remember goes with the state."""
    model = regulated()
    hinge, rail = model.joints[:2]
    sensors = {"turn": ph.JointRate(hinge), "place": ph.JointPosition(rail), "work": ph.EnergyOf("supplied")}
    library = ph.load_library(ph.build(model, STEP, tmp_path / f"held{built.suffix}", outputs=sensors))
    run, again = model.start(STEP), ph.load_library(tmp_path / f"held{built.suffix}")
    for count in (1, 2, 400, 597):
        for each in (run, library):
            each.step(count)
        for name, sensor in sensors.items():
            assert library.read(name) == pytest.approx(run.read(sensor), rel=1e-11, abs=1e-11), (name, count)
        again.restore(library.save())
    assert 15 < library.read("turn") < 40 and abs(library.read("place")) > 1e-3
    library.step(50)
    again.step(50)
    assert library.save().content == again.save().content
    again.inputs["push"] = (1e59, 1e59, 0.0)
    remembered = slice(-8 * (30 + HEAD), -8 * HEAD)  # of controllers, as before the step
    before = again.save().content[remembered]
    with pytest.raises(ph.errors.ConvergenceError):
        again.step(3)
    assert again.save().content[remembered] == before
    unsampled = ph.Feedback(LinearController(-np.eye(1), np.eye(1, 2), np.eye(1), np.zeros((1, 2)), False), [hinge])
    model.apply(hinge.torque(unsampled, name="lag"))
    with pytest.raises(ph.errors.ModelError, match=r"lag: a controller with states .* give Feedback\(period=...\)"):
        ph.build(model, STEP, tmp_path / "held.tables")


def test_a_library_takes_the_numbers_of_other_models_of_its_structure(built, tmp_path) -> None:
    model = machine(modulus=4e10, mass=0.3)
    path = ph.build(model, STEP, tmp_path / "soft.tables", inputs=INPUTS, outputs=all_outputs(model))
    library, run = ph.load_library(built), model.start(STEP)
    usual = library.save()
    library.step(5)
    library.load_tables(path)
    for each in (run, library):
        each.inputs["motor"] = 0.1
        each.step(200)
    place = outputs(model)["place"]
    assert library.read("place") == pytest.approx(run.read(place), abs=1e-13)
    other = ph.load_library(built)
    other.inputs["motor"] = 0.1
    other.step(200)
    assert np.abs(other.read("place") - run.read(place)).max() > 1e-3  # the numbers do differ
    with pytest.raises(ph.errors.ParameterError, match="saved must be"):  # with other numbers
        library.restore(usual)
    ph.build(hinged(), STEP, tmp_path / "other.tables")
    damaged = bytearray(path.read_bytes())
    damaged[1000] ^= 1
    (tmp_path / "damaged.tables").write_bytes(bytes(damaged))
    (tmp_path / "short.tables").write_bytes(b"x")
    for name in ("other", "damaged", "short", "none"):
        with pytest.raises(ph.errors.ResultFileError):
            library.load_tables(tmp_path / f"{name}.tables")
    assert library.time == pytest.approx(0.2)


MODEL = """
import phlexible as ph

step = 1e-2
model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
body = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "body")
hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin, name="hinge"))
model.apply(hinge.spring(1.0))
model.apply(ph.Force(body.origin, (0.0, 0.0, 0.0), name="push"))
outputs = [ph.JointPosition(hinge)]
"""


def test_the_command_builds_what_a_file_defines(built, tmp_path) -> None:
    (tmp_path / "own.py").write_text(MODEL)
    path = tmp_path / f"own{built.suffix}"
    done = CliRunner().invoke(app, ["build", str(tmp_path / "own.py"), "-o", str(path)])
    assert done.exit_code == 0 and done.stdout == f"wrote {path}\n", done.output
    assert (tmp_path / "model.h").is_file() and list(ph.load_library(path).inputs) == ["push"]
    assert list(ph.load_library(path).units.items()) == [("position of hinge", "rad")]
    done = CliRunner().invoke(app, ["build", str(tmp_path / "own.py"), "-o", str(tmp_path / "own.exe")])
    assert done.exit_code == 2 and "must end with .so" in done.stderr


def test_a_library_that_is_built_again_is_the_new_one(built, tmp_path) -> None:
    """Linux keeps what was loaded by its name."""
    path, found = tmp_path / f"hinged{built.suffix}", []
    for torque in (1.0, 2.0, 3.0):
        model = hinged()
        model.apply(model.joints[0].torque(torque, name="motor"))
        ph.build(model, STEP, path)
        loaded = [ph.load_library(path) for _ in range(2)]
        found.append([float(each.inputs["motor"][0]) for each in loaded])
    assert found == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]


def test_states_are_kept_and_put_back(built) -> None:
    first, second = ph.load_library(built), ph.load_library(built)
    first.inputs["motor"] = 0.2
    first.step(30)
    saved = first.save()
    first.step(50)
    second.step(3)  # another instance has its own state
    second.restore(saved)
    assert second.time == pytest.approx(30 * STEP) and second.inputs["motor"] == [0.2]
    second.step(50)
    assert first.save().content == second.save().content
    first.reset()
    assert first.time == 0.0 and first.inputs["motor"] == [0.0]
    damaged = bytearray(saved.content)
    damaged[100] ^= 1
    for wrong in (None, b"", type(saved)(b"x"), type(saved)(bytes(damaged)), type(saved)(bytes(len(damaged)))):
        with pytest.raises(ph.errors.ParameterError, match="saved must be what save"):
            second.restore(wrong)
    assert second.time == pytest.approx(80 * STEP)


def test_wrong_calls_are_refused_by_name(built, tmp_path) -> None:
    library = ph.load_library(built)
    for value in (np.nan, (1.0, 2.0), "x"):
        with pytest.raises(ph.errors.ParameterError, match="'motor'"):
            library.inputs["motor"] = value
    for call in (lambda: library.inputs["nothing"], lambda: library.read("nothing"), lambda: library.step(-1)):
        with pytest.raises(ph.errors.ParameterError):
            call()
    library.inputs["push"] = (1e59, 1e59, 0.0)
    with pytest.raises(ph.errors.ConvergenceError, match=r"the step from t = 0 s"):
        library.step(3)
    assert library.time == 0.0
    library.inputs["push"] = (0.0, 0.0, 0.0)
    library.step(3)
    wrong = tmp_path / "wrong.so"
    wrong.write_bytes(b"no library")
    for path in (wrong, tmp_path / "none.so"):
        with pytest.raises(ph.errors.ResultFileError):
            ph.load_library(path)


PROGRAM = """
#include "model.h"
#include <math.h>
#include <stdio.h>
int main(void) {
    ph_model *model = ph_new();
    double torque[] = {0.2}, place[3], nothing[] = {NAN};
    ph_set_input(model, 0, torque);
    if (ph_step(model, 100) || ph_set_input(model, 0, nothing) != PH_NOT_FINITE || ph_step(model, 100)) return 1;
    ph_get_output(model, 2, place);
    printf("%.17g %.17g %s\\n", place[0], place[1], ph_output_name(2));
    ph_free(model);
    return 0;
}
"""

RANDOM_CALLS = """
#include "model.h"
#include <stdint.h>
#include <string.h>
static uint64_t seed = 1;
static int number(int n) {
    seed ^= seed << 13; seed ^= seed >> 7; seed ^= seed << 17;
    return (int)(seed % (uint64_t)n);
}
int main(void) {
    ph_model *models[2] = {ph_new(), ph_new()};
    void *saved = malloc(ph_state_size());
    ph_save(models[0], saved);
    double values[] = {0.0, 1e-3, -1e3, 1e300, 0.0 / 0.0, 1.0 / 0.0}, given[3], found[16];
    for (int k = 0; k < 10000; k++) {
        ph_model *model = number(50) ? models[number(2)] : 0;
        for (int i = 0; i < 3; i++) given[i] = values[number(6)];
        switch (number(11)) {
        case 0: ph_step(model, number(4) - 1); break;
        case 1: ph_set_input(model, number(6) - 2, number(9) ? given : 0); break;
        case 2: ph_get_output(model, number(40) - 5, number(9) ? found : 0); break;
        case 3: ph_get_input(model, number(6) - 2, found); break;
        case 4: ph_save(model, number(9) ? saved : 0); break;
        case 5: if (!number(5)) ((char *)saved)[number((int)ph_state_size())] ^= 1; break;
        case 6: ph_restore(model, number(9) ? saved : 0); break;
        case 7: if (!number(20)) ph_reset(model); break;
        case 8: ph_set_parameter(model, number(5) - 1, number(3) ? 0.1 + 0.1 * number(5) : given[0]); break;
        case 9: ph_get_parameter(model, number(5) - 1, number(9) ? found : 0); ph_begin_at(model, given[1]); break;
        default: ph_message(number(20) - 5); ph_time(model); ph_status(model); ph_input_name(number(9) - 3);
        }
    }
    free(saved), ph_free(models[0]), ph_free(models[1]);
    return 0;
}
"""


def compiled(folder: Path, text: str, *flags: str) -> Path:
    (folder / "main.c").write_text(text)
    words = [
        CC,
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        *flags,
        "main.c",
        "model.c",
        *(file.name for file in folder.glob("*.o")),
        "-o",
        "main",
        "-lm",
    ]
    subprocess.run(words, cwd=folder, check=True)
    return folder / "main"


def test_a_program_in_c_has_the_digits_and_needs_the_mathematical_library_only(built) -> None:
    x, y, name = subprocess.run(
        [compiled(built.parent / "sources", PROGRAM)], capture_output=True, text=True, check=True, env={}
    ).stdout.split()
    library = ph.load_library(built)
    library.inputs["motor"] = 0.2
    library.step(200)
    assert name == "place" and (float(x), float(y)) == tuple(library.read("place")[:2])
    if (nm := shutil.which("nm")) and built.suffix == ".so":
        listed = subprocess.run([nm, "-D", "-u", built], capture_output=True, text=True, check=True).stdout
        known = "memcpy memset memmove sin cos sincos tan atan2 acos asin exp expm1 log log1p pow fmod sqrt".split()
        assert set(re.findall(r"U (\w+)", listed)) <= set(known)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ["machine", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("regulated", "with parameters"))],
)
def test_random_calls_never_leave_their_memory(built, tmp_path, kind) -> None:
    folder = built.parent / "sources"
    if kind == "regulated":
        ph.build(regulated(), STEP, tmp_path / "regulated.zip", targets=[host()], order=2)
        ZipFile(tmp_path / "regulated.zip").extractall(folder := tmp_path)
    if kind == "with parameters":
        ranges = {"modulus": (5e10, 7e10, 9e10), "mass": (0.1, 0.2, 0.5)}
        ph.build(machine, STEP, tmp_path / "ranges.zip", targets=[host()], parameters=ranges)
        ZipFile(tmp_path / "ranges.zip").extractall(folder := tmp_path)
    flags = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover"]
    probe = subprocess.run([CC, *flags, "-x", "c", "-", "-o", "/dev/null"], input=b"int main(void){return 0;}")
    if probe.returncode:
        pytest.skip("the C compiler has no address sanitizer")
    subprocess.run([compiled(folder, RANDOM_CALLS, *flags)], check=True)


NODE = """
import { readFileSync } from "node:fs";
const module = await WebAssembly.compile(readFileSync(process.argv[2]));
const { exports: ph } = await WebAssembly.instantiate(module, {});
const begin = ph.__heap_base.value, size = ph.ph_size() + 64;
ph.memory.grow(Math.ceil(size / 65536));
const model = ph.ph_place(begin), out = begin + size - 32;
new Float64Array(ph.memory.buffer, out, 1)[0] = 0.2;
const said = [ph.ph_set_input(model, 0, out), ph.ph_step(model, 200), ph.ph_get_output(model, 2, out)];
console.log(...said, ...new Float64Array(ph.memory.buffer, out, 2), ph.ph_step(model, -1));
"""


@pytest.mark.slow
@needs_zig
def test_webassembly_moves_as_the_library(built, tmp_path) -> None:
    model = machine()
    module = ph.build(model, STEP, tmp_path / "machine.wasm", inputs=INPUTS, outputs=outputs(model))
    (tmp_path / "run.mjs").write_text(NODE)
    done = subprocess.run(["node", tmp_path / "run.mjs", module], capture_output=True, text=True, check=True)
    *said, x, y, wrong = done.stdout.split()
    library = ph.load_library(built)
    library.inputs["motor"] = 0.2
    library.step(200)
    assert said == ["0", "0", "0"] and wrong == "3"
    assert (float(x), float(y)) == pytest.approx(tuple(library.read("place")[:2]), abs=1e-12)


@pytest.mark.thorough
@pytest.mark.skipif(
    find_spec("ziglang") is None or shutil.which("qemu-aarch64") is None, reason="no Zig, or no qemu-user"
)
def test_another_processor_moves_as_this_one_in_a_program_without_libraries(built, tmp_path) -> None:
    model = machine()
    archive = ph.build(model, STEP, tmp_path / "a.zip", INPUTS, outputs(model), targets=["linux-aarch64"])
    ZipFile(archive).extractall(tmp_path)
    (tmp_path / "main.c").write_text(PROGRAM)
    files = ["main.c", "model.c", *(file.name for file in tmp_path.glob("*.o")), "-o", "main", "-lm"]
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl"]
    subprocess.run([*zig, "-O2", "-ffp-contract=off", "-static", *files], cwd=tmp_path, check=True)
    words = ["qemu-aarch64", tmp_path / "main"]
    x, y, _ = subprocess.run(words, capture_output=True, text=True, check=True, env={}).stdout.split()
    library = ph.load_library(built)
    library.inputs["motor"] = 0.2
    library.step(200)
    assert (float(x), float(y)) == pytest.approx(tuple(library.read("place")[:2]), abs=1e-12)


# A page that steps the module.


@needs_zig
def test_a_page_holds_the_module_and_where_bodies_are(built, tmp_path) -> None:
    """The numbers of a state that the page reads are those that the library saves."""
    model = machine()
    names = [*map(str, model.loads)]
    shown_ones = {name: outputs(model)[name] for name in ("angle", "place", "turn", "total", "kinetic")}
    path = ph.build(model, STEP, tmp_path / "machine.html", inputs=INPUTS, outputs=shown_ones)
    assert [*map(str, model.loads)] == names  # what pages pull at is taken off again
    shown = Decoded(path)
    live = shown.head["stepped"]
    assert path.stat().st_size < 2e6 and bytes(shown.array(live["module"])[:4]) == b"\0asm"
    assert "2 bodies, 2 joints, 2 loads, 4 force elements; computed by this page" in shown.page
    assert "pull at" not in shown.page.partition("<summary>Model</summary>")[2]
    inputs = [(each["name"], each["unit"], each["shown"]) for each in live["inputs"]]
    assert inputs == [("motor", "N m", [0]), ("push", "N", [0, 1])]
    assert {live["bodies"][k]["carried"] is not None for k in range(2)} == {True}
    (energies,) = (each for each in shown.head["panels"] if "energies" in each["label"])
    total = model.start(STEP).read(ph.EnergyOf("total"))
    assert energies["label"] == "energies since the start [J]" and 0 < energies["least"] < 1e-3 * abs(total)
    assert f"total ({total:.4g} J at start)" in [curve["name"] for curve in energies["curves"]]
    library, run = ph.load_library(built), model.start(STEP)
    for each in (library, run):
        each.step(50)
    x, now = np.frombuffer(library.save().content), run.instant
    body = live["bodies"][0]["carried"]
    turn = x[body["rotation"] : body["rotation"] + 9].reshape(3, 3)
    shapes = shown.array(body["shapes"])
    eta = x[body["eta"] : body["eta"] + len(shapes)]
    origin = x[body["place"] : body["place"] + 3] + turn @ (body["point"] + eta @ shapes)
    assert origin == pytest.approx(now.position(model["arm"].origin)[0], abs=1e-7)


# FMUs of the library.


def slaves_of(path, folder: Path, version: int, count: int = 1) -> list:
    fmpy = pytest.importorskip("fmpy")
    description, unzipped = fmpy.read_model_description(path), fmpy.extract(path, str(folder))
    kind, name = {2: fmpy.fmi2.FMU2Slave, 3: fmpy.fmi3.FMU3Slave}[version], description.coSimulation.modelIdentifier
    known = {"guid": description.guid, "unzipDirectory": unzipped, "modelIdentifier": name}
    slaves = [kind(instanceName=f"{k}", **known) for k in range(count)]
    for slave in slaves:
        slave.instantiate()
        if version == 2:
            slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
    return slaves


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_an_fmu_says_what_follows_from_inputs_at_once(tmp_path, version) -> None:
    """Accelerations alone: hosts need not iterate for anything else. Derivatives are those of the linear model."""
    fmpy = pytest.importorskip("fmpy")
    model = hinged()
    bar, (hinge,) = model["bar"], model.joints
    bob = model.add(ph.RigidBody(0.5, 0.02), "bob", position=(0.9, 0, 0))
    elbow = model.connect(ph.Revolute(bar.point((1, 0, 0)), bob.point((0.1, 0, 0)), name="elbow"))
    model.apply(hinge.torque(0.3, name="motor"))
    push = model.apply(ph.Force(bob.origin, (0.0, 0.0, 0.0), name="push"))
    sensors = {"angle": ph.JointPosition(hinge), "bend": ph.JointAcceleration(elbow)}
    sensors["jolt"] = ph.Acceleration(bob.origin, (0, 1, 0))
    path = str(ph.build(model, 1e-4, tmp_path / "two.fmu", outputs=sensors, targets=[host()], fmi=version))
    assert pytest.importorskip("fmpy.validation").validate_fmu(path) == []
    description = fmpy.read_model_description(path)
    assert [each.dependencies for each in description.outputs] == [[], None, None]
    places = {each.name: each.valueReference for each in description.modelVariables}
    (slave,) = slaves_of(path, tmp_path / "out", version)
    get = slave.getReal if version == 2 else slave.getFloat64
    inputs, unknowns = [places["motor"], places["push.y"]], [places[name] for name in sensors]
    before = get([*inputs, *unknowns])
    free = ph.Force(bob.origin, (0, 1, 0))
    linear = model.linearize(inputs=[hinge, free], outputs=[*sensors.values()], at="unloaded")
    gain = np.asarray(linear.to_state_space().D)
    for seed in ((1.0, 0.0), (0.0, 2.0), (-0.5, 3.0), (0.0, 0.0)):
        found = slave.getDirectionalDerivative(unknowns, inputs, seed)
        assert found == pytest.approx(gain @ seed, abs=1e-6) and found[0] == 0.0
    assert get([*inputs, *unknowns]) == before and np.abs(gain[1:]).min() > 0.1 and push.name == "push"
    with pytest.raises(Exception, match="DirectionalDerivative"):
        slave.getDirectionalDerivative(inputs, unknowns, (1.0, 1.0, 1.0))
    slave.terminate()
    slave.freeInstance()


@needs_compiler
@pytest.mark.parametrize("version", [2, 3])
def test_an_fmu_has_the_digits_of_the_library_for_any_communication_step(built, tmp_path, version) -> None:
    fmpy = pytest.importorskip("fmpy")
    validation = pytest.importorskip("fmpy.validation")
    model = machine()
    path = str(tmp_path / "machine.fmu")
    ph.build(model, STEP, path, inputs=INPUTS, outputs=outputs(model), targets=[host()], fmi=version, duration=0.5)
    assert validation.validate_fmu(path) == []
    given = np.array([(0.0, 0.2), (1.0, 0.2)], dtype=[("time", "f8"), ("motor", "f8")])
    sizes = {"stop_time": 0.05, "step_size": 2.5e-3, "output_interval": 2.5e-3}
    found = fmpy.simulate_fmu(path, **sizes, input=given, output=["place_x", "place_y", "total"])
    library, seen = ph.load_library(built), []
    library.inputs["motor"] = 0.2
    for time in found["time"]:
        library.advance(float(time))
        seen.append((*library.read("place")[:2], library.read("total")))
    assert np.array_equal(np.array(seen), np.array([found[name] for name in ("place_x", "place_y", "total")]).T)
    assert np.ptp(found["place_y"]) > 1e-3 and library.time == 0.05
    description = fmpy.read_model_description(path)
    places = {each.name: each.valueReference for each in description.modelVariables}
    units = {each.name: each.unit for each in description.modelVariables}
    assert (units["motor"], units["push.x"], units["place_x"]) == ("N m", "N", "m")
    slaves = slaves_of(path, tmp_path / "out", version, count=2)

    def place(slave) -> float:
        slave.doStep(currentCommunicationPoint=0.01, communicationStepSize=0.01)
        return (slave.getReal if version == 2 else slave.getFloat64)([places["place_x"]])[0]

    slaves[0].doStep(currentCommunicationPoint=0.0, communicationStepSize=0.01)
    word = "FMUstate" if version == 2 else "FMUState"
    kept = getattr(slaves[0], f"get{word}")()
    content = getattr(slaves[0], f"serialize{word}")(kept)
    expected = place(slaves[0])
    read = "deSerializeFMUstate" if version == 2 else "deserializeFMUState"
    getattr(slaves[1], f"set{word}")(getattr(slaves[1], read)(content))
    assert place(slaves[1]) == expected
    with pytest.raises(Exception, match="doStep|DoStep"):
        slaves[1].doStep(currentCommunicationPoint=0.5, communicationStepSize=0.01)
    for slave in slaves:
        slave.terminate()
        slave.freeInstance()


# What becomes data, and what is refused.


def test_functions_of_time_become_data() -> None:
    kinds = {
        "constant": lambda t: 0 * t + 2.5,
        "line": lambda t: 150.0 * t - 1.0,
        "parabola": lambda t: 0.5 * 9.81 * t**2,
        "harmonic": lambda t: 0.15 * np.cos(150 * t),
        "shifted": lambda t: 1.0 - 0.3 * np.sin(2 * np.pi * 7 * t + 0.4),
        "turning": lambda t: 3.0 * t + 0.2 * np.sin(5 * t),
        "ramp": lambda t: np.minimum(t, 0.3) * np.exp(-t),
    }

    def values(times):
        return np.stack([f(times) for f in kinds.values()], axis=1)

    found = time_data(values, list(kinds), 0.0, 1e-3, 2.0, [])
    times = np.linspace(0.0, 2.0, 1001)
    for column, (name, f) in zip(found.columns, kinds.items(), strict=True):
        assert np.abs(column(times) - f(times)).max() <= 2e-13 * np.abs(f(times)).max(), name
    assert found.end == 2.0 and [words.split(":")[0] for words in found.messages] == ["ramp"]
    simple = time_data(lambda t: values(t)[:, :6], list(kinds)[:6], 0.0, 1e-3, None, [])
    assert simple.end == np.inf
    late = np.linspace(900.0, 901.0, 101)
    for column, (name, f) in zip(simple.columns, kinds.items(), strict=False):
        assert np.abs(column(late) - f(late)).max() <= 1e-10 * np.abs(f(late)).max(), name
    assert simple.columns[3].waves == ((150.0, 0.15, 0.0),)
    with pytest.raises(ph.errors.ParameterError, match=r"ramp is a function of time .* give build\(duration=...\)"):
        time_data(values, list(kinds), 0.0, 1e-3, None, [])
    with pytest.raises(ph.errors.ParameterError, match="jump cannot be written .* breakpoints"):
        time_data(lambda t: np.sign(t - 0.31)[:, None], ["jump"], 0.0, 1e-3, 1.0, [])


@pytest.mark.parametrize("step", [1e-3, 0.007])
def test_targets_of_servos_become_data(step: float) -> None:
    """Of the target itself, whose mean rate over a step follows exactly; kinks are found where they are."""

    def quintic(t):
        x = np.clip((np.asarray(t) - 0.2) / 0.3333, 0.0, 1.0)
        return x**3 * (10 - 15 * x + 6 * x**2)

    simple = [
        (lambda t: 0.2 + 0.5 * np.sin(3 * t + 0.3), {}),
        (lambda t: 0.2 + 0.1 * t - 0.5 * np.cos(3 * t), {}),
        (lambda t: 0.5 * t**3 - 0.3 * t**5, {}),
        (lambda t: 0.5 * np.sin(3 * t), {"rate": lambda t: 1.5 * np.cos(3 * t)}),
    ]
    pieces = [
        (quintic, {}),
        (lambda t: np.where(np.asarray(t) < 0.4, 0.0, 1.0), {"breakpoints": (0.4,)}),
        (ph.Signal([0.1, 0.3, 0.7], [0.0, 1.0, 0.5]), {"breakpoints": (0.1, 0.3, 0.7)}),
    ]
    model = ph.Model(dimension=2)
    for target, options in simple + pieces:
        block = model.add(ph.RigidBody(1.0, 0.1))
        slide = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), block.origin, (1, 0, 0)))
        model.apply(slide.servo(50.0, 3.0, position=target, **options))
    run = model.start(step)
    assembly = run.stepper.assembly
    kinks = [time for element in model.elements for time in element.times]
    found = _load_data(assembly, RunTimes(run.time, step, 1.0, kinks, False))
    times = 0.0103 + 0.019 * np.arange(50)
    for k, (push, _) in enumerate(assembly.prescribed):
        exact = [push.values_over_steps(np.array([t]), t + step / 2 * np.array([-1, 1]))[0] for t in times]
        assert found.columns[3 * k](times) == pytest.approx(np.array(exact), abs=5e-13 / step)
    assert len(found.messages) == len(pieces) and [len(c.waves) for c in found.columns[:12:3]] == [1, 1, 0, 1]
    with pytest.raises(ph.ParameterError, match=r"target of servo in .* give build\(duration=...\)"):
        _load_data(assembly, RunTimes(run.time, step, None, kinks, False))


@dataclass(frozen=True, eq=False)
class OfUser(Sensor):
    body: PlacedBody
    takes, label, unit = (PlacedBody, "a body"), "luck", "1"

    def read(self, run: RecordedRun) -> np.ndarray:
        return np.exp(run.recording.position[:, 0, 0])


def hinged() -> ph.Model:
    model = ph.Model(dimension=2)
    bar = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "bar")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin, name="hinge"))
    return model


def test_what_needs_python_is_refused_with_what_to_do_instead(tmp_path) -> None:
    path = tmp_path / "model.zip"
    controlled = hinged()
    controlled.apply(controlled.joints[0].motor(lambda t, y: -y[0], name="regulator"))
    with pytest.raises(ph.errors.ModelError, match="regulator: controllers .* make the force an input"):
        ph.build(controlled, 1e-2, path)
    model = hinged()
    with pytest.raises(ph.errors.ModelError, match=r"output 'a': .* is not measured by compiled models"):
        ph.build(model, 1e-2, path, outputs={"a": OfUser(model["bar"])})
    with pytest.raises(ph.errors.ParameterError, match="no input is named 'motor'"):
        ph.build(model, 1e-2, path, inputs=["motor"])
    with pytest.raises(ph.errors.ParameterError, match=r"path must end in .so"):
        ph.build(model, 1e-2, tmp_path / "model.exe")
    with pytest.raises(ph.errors.ParameterError, match="libraries of linux-aarch64 end in .so"):
        ph.build(model, 1e-2, tmp_path / "model.dll", targets=["linux-aarch64"])
    with pytest.raises(ph.errors.ParameterError, match="targets must be one of"):
        ph.build(model, 1e-2, tmp_path / "model.so", targets=["amiga"])
