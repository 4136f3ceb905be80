"""Outputs of libraries are what sensors read in live runs: forces of joints, in beams, rods and strings, turns."""

import shutil
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import phlexible as ph
from phlexible.description.interactions.feedback import LinearController
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.ports import PlacedBody
from phlexible.libraries.linking import host
from phlexible.libraries.outputs import OutputTables
from phlexible.state.recorded_run import RecordedRun

STEP = 1e-3
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None or host() is None, reason="no C compiler")


@dataclass(frozen=True, eq=False)
class Reach(Sensor):
    """Distance of a body from the axis z, a sensor of a user."""

    body: PlacedBody
    takes, label, unit = (PlacedBody, "a body"), "reach", "m"

    def read(self, run: RecordedRun) -> np.ndarray:
        x, y, _ = run.recording.position[:, run.body_index(self.body)].T
        return np.hypot(x, y)


def parts() -> tuple[ph.Model, dict[str, object]]:
    """All that has forces, on a frame that moves where it can; far from the origin, where sums would cancel."""
    model = ph.Model(gravity=(0, 0, -9.81))
    shaken = model.ground.moving(lambda t: (0.01 * np.sin(20 * t), 0.0, 0.0))
    soft = ph.Material(1e7, 2700.0, viscosity=1e-4)
    arm = model.add(ph.Beam(0.5, ph.RectangularSection(0.02, 0.01), soft, elements=2, strain="von_karman"), "arm")
    root = model.connect(ph.Revolute(shaken, arm.start, axis=(0, 1, 0), name="root"))
    bob = model.add(ph.RigidBody(0.01, (1e-4, 2e-4, 3e-4), center=(0.05, 0.01, 0)), "bob", position=(0.5, 0, 0))
    ball = model.connect(ph.Spherical(arm.end, bob.origin, name="ball"))
    wheel = model.add(ph.RigidBody(0.5, (1e-3, 1e-3, 1e-3)), "wheel", position=(0, 100, 0))
    axle = model.connect(ph.Revolute(model.ground.at((0, 100, 0)), wheel.origin, axis=(0, 0, 1), name="axle"))
    drive = model.apply(axle.drive(angle=lambda t: 3.0 * t + 0.2 * np.sin(5 * t)))
    weight = model.add(ph.RigidBody(0.2, (1e-4, 1e-4, 1e-4)), "weight", position=(0.2, 100, 0))
    weld = model.connect(ph.Fixed(wheel.point((0.2, 0, 0)), weight.origin, name="weld"))
    wire, fluid = ph.CircularSection(0.008), ph.Material(1e8, 1200.0, viscosity=1e-3)
    rod = model.add(ph.Rod(0.4, wire, fluid, elements=2), "rod", position=(0, 2, 0))
    clamp = model.connect(ph.Fixed(model.ground.at((0, 2, 0)), rod.start, name="clamp"))
    model.apply(ph.Force(rod.end, (0.0, 0.5, 0.0), name="tip"))
    ropes = []
    for k, law in enumerate((ph.LinearLaw(5.0), ph.LogarithmicLaw(5.0), ph.StVenantKirchhoffLaw(5.0))):
        kind = {"viscosity": 0.01 * (k < 2), "tension_only": k == 1}
        rope = ph.String(length=0.5, line_density=0.1, elements=2, law=law, **kind)
        ropes.append(model.add(rope, f"rope {k}", shape=[(0, 3 + k, 0), (0.5, 3 + k, 0)]))
        model.connect(ph.Spherical(model.ground.at((0, 3 + k, 0)), ropes[k].start, name=f"pin {k}"))
    thin, alloy = ph.CircularSection(5e-3), ph.Material(2e8, 2700.0)
    free = model.add(ph.Beam(0.4, thin, alloy, elements=2), "free", angular_velocity=(0.3, 0.2, 4.0))
    model.apply(ph.Force(free.end, (0.0, 0.2, 0.0), name="aside"))
    model.apply(ph.Force(free.at(0.2), (0.0, 0.0, 0.3), name="up"))
    return model, {
        "force": ph.Reaction(root),
        "moment": ph.ReactionMoment(root),
        "force in the axes of the body": ph.Reaction(ball, axes="body"),
        "moment in the axes of the rod": ph.ReactionMoment(clamp, axes="body"),
        "with its drive": ph.ReactionMoment(axle),
        "of its drive": ph.ElementForce(drive),
        "welded": ph.Reaction(weld),
        **{f"in {each.name}": ph.SectionForce(each, x) for each, x in ((arm, 0.2), (rod, 0.17), (free, 0.3))},
        **{f"stress of {each.name}": ph.Stress(each, 0.1) for each in (arm, rod, free)},
        **{f"tension of {rope.name}": ph.Tension(rope) for rope in ropes},
        "turn of a tip": ph.Rotation(arm.end),
        "quaternion": ph.Quaternion(arm.end),
        "angle": ph.Angle(arm.end, (0, 1, 0)),
        "spin": ph.AngularVelocity(arm.end, (0.3, 1, 0)),
        "spin in space": ph.AngularVelocity(free.end, (1, 2, 3)),
        "spin near the middle": ph.AngularVelocity(free.at(0.21), (1, 2, 3)),
        "spin of a rigid body": ph.AngularVelocity(bob.origin, (1, 2, 3)),
        "angle of a wheel": ph.Angle(wheel.origin, (0, 0, 1)),
        "shaken": ph.Position(shaken),
        "end of a rope": ph.ElasticDisplacement(ropes[0].end),
        "end of a rope along": ph.ElasticDisplacement(ropes[0].end, (1, 2, 0)),
        "of a user": Reach(bob),
        "bend across": ph.ElasticDisplacement(arm.end, (0, 0, 1)),
    }


@needs_compiler
def test_every_sensor_that_an_instant_has_is_an_output(tmp_path) -> None:
    model, sensors = parts()
    suffix = ".dylib" if host().startswith("macos") else ".so"
    library = ph.load_library(ph.build(model, STEP, tmp_path / f"parts{suffix}", outputs=sensors))
    run = model.start(STEP)
    assert np.abs(library.read("welded")).max() > 1.0  # forces before the first step are those of the start
    for count in (1, 60, 200, 1):
        for name, sensor in sensors.items():
            found, expected = np.ravel(library.read(name)), np.ravel(run.read(sensor))
            round_off = 1e-14 * 0.2 / STEP**2  # of places, 100 m, in the force that moves a mass
            assert found == pytest.approx(expected, abs=1e-9 * np.abs(expected).max() + round_off), name
        for each in (library, run):
            each.step(count)
    bend = model["arm"].end.point.rotations @ run.state.eta[: model["arm"].data.elastic_count]
    assert np.linalg.norm(bend) > 0.02  # material does turn in its frame


@needs_compiler
def test_accelerations_are_those_of_the_motion_and_leave_no_trace(tmp_path) -> None:
    """Differences over a step forwards and one backwards: those between stored instants of a motion."""
    model, _ = parts()
    for body in (model["weight"], model["free"]):
        model.apply(ph.Force(body.origin, (0.0, 0.0, 0.0), name=f"push {body.name}"))
    axle = next(each for each in model.joints if each.name == "axle")
    sensors = {
        "tip": ph.Acceleration(model["arm"].end, (0, 0.3, 1)),
        "spin": ph.AngularAcceleration(model["free"].end, (1, 2, 3)),
        "driven": ph.JointAcceleration(axle),
        "rope": ph.Acceleration(model["rope 1"].end, (0, 0, 1)),
        "place": ph.Position(model["free"].end),
    }
    suffix = ".dylib" if host().startswith("macos") else ".so"
    path = ph.build(model, STEP, tmp_path / f"parts{suffix}", outputs=sensors)
    library, untouched, run = ph.load_library(path), ph.load_library(path), model.start(STEP)
    assert library.read("driven") == pytest.approx(-0.2 * 25 * np.sin(0.0), abs=1e-6)  # at the start, too
    for count in (1, 60, 200):
        for each in (library, untouched, run):
            each.step(count)
        found = {name: library.read(name) for name in sensors}
        assert library.read("tip") == found["tip"]
        library.read("place"), untouched.read("place")  # energies of both are those of now
        assert library.save().content == untouched.save().content
        ahead = run.save()
        run.step(1)
        for name, sensor in sensors.items():
            expected = run.motion[sensor][-2]
            round_off = 1e-14 * 100 / STEP**2  # of places
            assert found[name] == pytest.approx(expected, abs=1e-9 * np.abs(expected).max() + round_off), name
        run.restore(ahead)
    assert abs(found["driven"]) > 0.1 and abs(found["rope"]) > 0.1
    library.inputs["push free"] = (0.0, 0.0, 1.0)  # counts at once
    assert library.read("spin") != found["spin"] and library.read("driven") == pytest.approx(found["driven"])


def hanging(payload: float = 2.0, stiffness: float = 300.0) -> ph.Model:
    """A payload on a preloaded spring and a bar that begins to fall, each with a controller that reads a force."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    weight = model.add(ph.RigidBody(payload, 0.1), "weight", position=(0, -1, 0))
    model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), weight.origin, axis=(0, 1, 0), name="rail"))
    spring = ph.SpringDamper(model.ground.at((0, 0, 0)), weight.origin, stiffness, length=0.7, name="spring")
    model.apply(spring)
    bar = model.add(ph.RigidBody(payload, 0.1 * payload, center=(0.5, 0, 0)), "bar", position=(3, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((3, 0, 0)), bar.origin, name="hinge"))
    gain = LinearController(np.zeros((0, 0)), np.zeros((0, 3)), np.zeros((1, 0)), np.array([[0, 0.3, 0]]), False)
    model.apply(hinge.torque(ph.Feedback(gain, [ph.Reaction(hinge)], period=5 * STEP), name="heavy"))
    model.apply(ph.Force(bar.point((1, 0, 0)), (0.0, 0.0, 0.0), name="push"))
    return model


def forces(model: ph.Model) -> dict[str, Sensor]:
    rail, hinge = model.joints
    kinds = {"spring": ph.ElementForce(model.elements[0]), "hinge": ph.Reaction(hinge)}
    return kinds | {"turn": ph.JointRate(hinge), "jolt": ph.JointAcceleration(rail)}


@needs_compiler
def test_forces_before_the_first_step_are_those_of_the_start(tmp_path, capsys) -> None:
    """k (l - l0), and 0.1/0.35 of the weight of a bar that is let go; first samples of controllers have them."""
    model, suffix = hanging(), ".dylib" if host().startswith("macos") else ".so"
    path = ph.build(model, STEP, tmp_path / f"hanging{suffix}", outputs=forces(model))
    library, motion = ph.load_library(path), model.simulate(0.1, STEP, progress=False)
    begin = library.save()
    for _ in range(2):
        assert library.read("spring") == pytest.approx(-90.0, rel=1e-12)
        assert library.read("hinge") == pytest.approx([0.0, 0.1 / 0.35 * 2 * 9.81, 0.0], rel=1e-12)
        assert library.read("jolt") == pytest.approx((90.0 - 2 * 9.81) / 2.0, rel=1e-3)
        assert library.read("spring") == pytest.approx(-90.0, rel=1e-12)
        library.step(100)
        assert library.read("turn") == pytest.approx(motion[forces(model)["turn"]][-1], rel=1e-12)
        library.restore(begin)
    with pytest.raises(ph.errors.ConvergenceError):
        library.inputs["push"] = (1e59, 1e59, 0.0)
        library.step(1)
    assert library.read("spring") == pytest.approx(-90.0, rel=1e-12)
    capsys.readouterr()
    ranges = {"payload": (1.0, 2.0, 4.0, "kg"), "stiffness": (100.0, 300.0, 400.0, "N/m")}
    path = ph.build(hanging, STEP, tmp_path / f"more{suffix}", outputs=forces, parameters=ranges)
    assert "spring, hinge, heavy: with other values of the parameters forces are 0" in capsys.readouterr().out
    library = ph.load_library(path)
    for stiffness, force in ((300.0, -90.0), (200.0, 0.0), (300.0, -90.0)):
        library.parameters["stiffness"] = stiffness
        assert library.read("jolt") == pytest.approx((0.3 * stiffness - 2 * 9.81) / 2.0, rel=1e-3)
        assert library.read("spring") == pytest.approx(force, rel=1e-12)


@needs_compiler
def test_a_library_from_a_wound_equilibrium_begins_with_its_turns(tmp_path) -> None:
    """Three turns of a spring; a controller, and outputs, which go on as those of the motion."""
    model, moment = ph.Model(dimension=2), 6 * np.pi + 1.0
    wheel = model.add(ph.RigidBody(1.0, 0.1), "wheel")
    axle = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), wheel.origin, name="axle"))
    for part in (axle.spring(1.0), axle.damper(0.02), axle.torque(moment)):
        model.apply(part)
    rest, angle = model.equilibrium(), ph.JointPosition(axle)
    gain = LinearController(np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0)), np.array([[-0.5, 0.0]]), False)
    model.apply(axle.torque(ph.Feedback(gain, [axle], period=2 * STEP)))
    motion, live = (take(initial=rest) for take in (partial(model.simulate, 1.0, STEP), partial(model.start, STEP)))
    suffix = ".dylib" if host().startswith("macos") else ".so"
    path = ph.build(model, STEP, tmp_path / f"wheel{suffix}", initial=rest, outputs={"a": angle})
    library = ph.load_library(path)
    for k in range(0, 1001, 200):
        assert library.read("a") == pytest.approx(motion[angle][k], rel=1e-10)
        assert live.read(angle) == pytest.approx(motion[angle][k], rel=1e-10)
        library.step(200)
        live.step(200)
    assert motion[angle][0] == pytest.approx(moment, rel=1e-9) and np.ptp(motion[angle]) > 2 * np.pi


def test_what_one_instant_cannot_tell_is_refused_with_what_to_take(tmp_path) -> None:
    model, _ = parts()
    known = ph.Rotation(model.joints[0].first)
    with pytest.raises(ph.errors.ModelError, match="output 'a': .*needs a function of time"):
        ph.build(model, STEP, tmp_path / "parts.tables", outputs={"a": known})
    model = ph.Model(gravity=(0, 0, -9.81))
    door = model.add(ph.RigidBody(10.0, (1, 1, 1)), "door", position=(0.5, 0, 1))
    for z in (0.5, 1.5):
        ends = model.ground.at((0, 0, z)), door.point((-0.5, 0, z - 1.0))
        hinge = model.connect(ph.Revolute(*ends, axis=(0, 0, 1), name=f"hinge {z}"))
    with (
        pytest.warns(ph.RedundancyWarning),
        pytest.raises(ph.errors.ModelError, match="output 'a': .*force of redundant joints"),
    ):
        ph.build(model, STEP, tmp_path / "door.tables", outputs={"a": ph.Reaction(hinge)})


@needs_compiler
def test_forces_in_bodies_that_creep_have_those_of_their_branches(tmp_path) -> None:
    """Of several laws, among other branches: those of springs come before, those of strings one after the other."""
    model, wire = ph.Model(gravity=(0, 0, -9.81)), ph.CircularSection(0.008)
    ground, creep = model.ground, ph.Maxwell([(6e7, 0.02), (2e7, 0.3)])
    slow = ph.Material(1e8, 1200.0, relaxation=creep, viscosity=1e-4)
    sensors: dict[str, object] = {}
    for k, strain in enumerate(("linear", "von_karman")):
        beam = model.add(ph.Beam(0.4, wire, slow, elements=2, strain=strain), strain, position=(0, k, 0))
        model.connect(ph.Fixed(ground.at((0, k, 0)), beam.start, name=f"clamp {k}"))
        bob = model.add(ph.PointMass(0.05), f"bob {k}", position=(0.4, k, 0))
        model.connect(ph.Spherical(beam.end, bob.origin, name=f"end {k}"))
        model.apply(ph.SpringDamper(ground.at((0.4, k, 1)), bob.origin, 5.0, relaxation=ph.Maxwell((3.0, 0.1))))
        sensors[f"in {strain}"] = ph.SectionForce(beam, 0.13)
    rod = model.add(ph.Rod(0.4, wire, slow, elements=2), "rod", position=(0, 2, 0))
    model.connect(ph.Fixed(ground.at((0, 2, 0)), rod.start, name="clamp"))
    sensors["in rod"] = ph.SectionForce(rod, 0.17)
    for k, law in enumerate((ph.LinearLaw(5.0), ph.LogarithmicLaw(5.0), ph.StVenantKirchhoffLaw(5.0))):
        own = ph.Maxwell([(4.0 + k, 0.05), (2.0, 0.5)])
        rope = ph.String(length=0.5, line_density=0.1, elements=2, law=law, relaxation=own)
        placed = model.add(rope, f"rope {k}", shape=[(0, 3 + k, 0), (0.5, 3 + k, 0)])
        model.connect(ph.Spherical(ground.at((0, 3 + k, 0)), placed.start, name=f"pin {k}"))
        sensors[f"tension {k}"] = ph.Tension(placed)
    suffix = ".dylib" if host().startswith("macos") else ".so"
    library = ph.load_library(ph.build(model, STEP, tmp_path / f"slow{suffix}", outputs=sensors))
    run = model.start(STEP)
    for count in (1, 80):
        for each in (library, run):
            each.step(count)
        for name, sensor in sensors.items():
            found, expected = np.ravel(library.read(name)), np.ravel(run.read(sensor))
            assert np.abs(expected).max() > 0.0
            assert found == pytest.approx(expected, abs=1e-9 * np.abs(expected).max() + 1e-8 * STEP), name


def test_energies_count_from_the_start_where_small_changes_shall_be_seen() -> None:
    model, _ = parts()
    run = model.start(STEP)
    total = ph.EnergyOf("total")
    for from_start in (False, True):
        (number,) = OutputTables(run, from_start).of({"total": total}).entries
        assert number.constant == pytest.approx(-float(run.read(total)) * from_start)


@needs_compiler
@pytest.mark.slow
def test_contacts_ask_for_parts_of_steps_as_in_live_runs(tmp_path) -> None:
    """Impacts that lose energy by a coefficient of restitution, friction that sticks, and none of either."""
    model = ph.Model(gravity=(0, 0, -9.81))
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 0, 1))
    for k, given in enumerate(({"restitution": 0.6}, {"friction": 0.5, "bristle": 1e4}, {"restitution": 1})):
        ball = model.add(ph.RigidBody(1.0, (1e-3,) * 3), f"ball {k}", position=(k, 0, 0.3), velocity=(1.0, 0, 0))
        model.apply(ph.Contact(ball.origin, floor, 1e5, 0.1, name=f"touch {k}", **given))
    sensors = {f"place {k}": ph.Position(body.origin) for k, body in enumerate(model.bodies)}
    sensors |= {kind: ph.EnergyOf(kind) for kind in ("total", "dissipated")}
    suffix = ".dylib" if host().startswith("macos") else ".so"
    library = ph.load_library(ph.build(model, STEP, tmp_path / f"balls{suffix}", outputs=sensors))
    run = model.start(STEP)
    for each in (library, run):
        each.step(400)
    assert run.motion.recording.contact_steps[-1] > 0  # steps were taken in parts
    for name, sensor in sensors.items():
        assert library.read(name) == pytest.approx(run.read(sensor), rel=1e-9, abs=1e-9), name
    assert 0.5 < library.read("dissipated")


@needs_compiler
def test_the_position_along_a_line_is_an_output_and_its_rate_is_refused_by_name(tmp_path):
    """By default, over borders of pieces, and in a model whose other joint has position and rate."""
    suffix = ".dylib" if host().startswith("macos") else ".so"
    model = ph.Model(gravity=(0, -9.81, 0))
    rod = model.add(ph.Rod(1.0, ph.CircularSection(0.02), ph.Material(1e9, 1000.0), 4, 2), "rod")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start, name="hinge"))
    bead = model.add(ph.RigidBody(0.2, 1e-4 * np.ones(3)), "bead", position=(0.49, 0, 0))
    slide = model.connect(ph.Sliding(bead.origin, rod, name="slide"))
    model.apply(slide.force(0.1, name="push"))
    library = ph.load_library(ph.build(model, STEP, tmp_path / f"bead{suffix}"))
    assert list(library.units) == ["position of hinge", "rate of hinge", "position of slide"]
    run = model.start(STEP)
    for _ in range(150):
        library.step()
        run.step()
        assert library.read("position of slide") == pytest.approx(run.read(ph.JointPosition(slide)), abs=1e-9)
    assert library.read("position of slide") > 0.5
    with pytest.raises(ph.ModelError, match="output 'v': rate of slide is not measured by compiled models"):
        ph.build(model, STEP, tmp_path / f"rate{suffix}", outputs={"v": ph.JointRate(slide)})
