"""An assembled model has all that the model had: what acts on bodies, split beams, shapes and speeds of strings."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import phlexible as ph
from mechanisms import grounded

BEAM = ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(2e9, 1200.0), elements=4)
ROPE = ph.String(1.0, 0.1, 4, ph.LogarithmicLaw(50.0))
pytestmark = pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")
PARTS = ("bodies", "split_beams", "joints", "loads", "elements", "drives")


def sag(s):
    return s, 0.3 * s * (1 - s), 0.0


def arm_with_a_rope(error=0.0):
    """Crank, split beam and string with one of everything on them; closed where there is no error."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    crank = model.add(ph.RigidBody(1.0, 0.1, center=(0.25, 0, 0)), "crank", (error, 0, 0), 0.8)
    tip = crank.point((0.5, 0, 0))
    arm = model.add(BEAM.split(2), "arm", tip.initial_position() + (0, error, 0), -0.3)
    place = arm.end.initial_position() + (error, error, 0)
    rope = model.add(ROPE, "rope", place, 0.2, shape=sag, velocity=lambda s: (0, 0.5 * s, 0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), crank.origin))
    elbow = model.connect(ph.Revolute(tip, arm.start))
    model.connect(ph.Spherical(arm.end, rope.start))
    model.apply(pin.drive(angle=lambda t: 0.5 * t**2))
    model.apply(elbow.spring(2.0, rest=0.3, damping=0.1))
    model.apply(elbow.torque(lambda t: 0.3 * t))
    model.apply(elbow.motor(lambda t, measured: -0.2 * measured[0]))
    model.apply(ph.SpringDamper(model.ground.at((2, 0, 0)), arm.at(0.7), 3.0, length=1.0))
    model.apply(ph.Bushing(crank.origin, arm.at(0.2), rotational_stiffness=1.0))
    model.apply(ph.Force(rope.end, (0, 0.1, 0)))
    model.apply(ph.DistributedForce(arm, (0, 0.2, 0)))
    return model


def test_a_model_that_is_closed_moves_as_before():
    """To round-off: nothing was lost, renamed or changed."""
    model = arm_with_a_rope()
    before, after = (each.simulate(0.2, 0.01, progress=False) for each in (model, model.assemble().model))
    assert after.recording.position == pytest.approx(before.recording.position, abs=1e-13)
    assert after.energy.work.keys() == before.energy.work.keys()
    assert np.ptp(before.energy.spring) > 1e-3
    for name, work in before.energy.work.items():
        assert np.abs(work[-1]) > 1e-5, name
        assert after.energy.work[name] == pytest.approx(work, abs=1e-14)


def test_a_model_that_had_to_move_has_all_its_parts_and_runs():
    model = arm_with_a_rope(error=0.02)
    moved = model.assemble().model
    for kind in PARTS:
        assert [str(each) for each in getattr(moved, kind)] == [str(each) for each in getattr(model, kind)]
    assert moved["arm"].end.placed is moved["arm part 2"]
    motion = moved.simulate(0.02, 0.01, progress=False)
    assert motion.time[-1] == 0.02 and all(np.isfinite(work).all() for work in motion.energy.work.values())


def test_a_string_keeps_its_curve_and_its_speed():
    """Its start goes to the beam; new nodes of a finer mesh find their places on the moved curve, too."""
    model = arm_with_a_rope(error=0.02)
    moved = model.assemble().model
    before, after = model["rope"].nodes, moved["rope"].nodes
    assert after.positions[0] == pytest.approx(moved["arm"].end.initial_position(), abs=1e-14)
    assert 0 < np.abs(after.positions - before.positions)[1:].max() < 0.02
    assert after.velocities[1:] == pytest.approx(before.velocities[1:], abs=0.1)
    fine = ph.String(1.0, 0.1, 8, ph.LogarithmicLaw(50.0))
    assert moved.replace(rope=fine)["rope"].nodes.positions[::2] == pytest.approx(after.positions)
    closed = arm_with_a_rope().assemble().model.replace(rope=fine)["rope"]
    assert closed.nodes.positions == pytest.approx(arm_with_a_rope().replace(rope=fine)["rope"].nodes.positions)


def test_a_string_moves_evenly_to_where_it_is_least_far_from_its_place():
    """Its displacement e (1 - 3 s / 2) is the linear one of least int d^2 with e at s = 0."""
    model, rope, _ = grounded(ROPE, ph.Spherical, at=(0.3, 0.1, 0.06), name="rope", position=(0.3, 0.1, 0))
    found = model.assemble()
    moved = found.model["rope"].nodes.positions - rope.nodes.positions
    assert moved[:, 2] == pytest.approx(0.06 * (1 - 1.5 * np.linspace(0, 1, 5)))
    assert found.moves["rope"].shift == pytest.approx([0, 0, 0.06])
    assert "rope: moved 0.06 m" in str(found)


def test_bodies_and_strings_share_the_way_to_a_joint():
    """A point mass and a string with its mass at a node: the nearest pose has the momentum of the way zero."""
    model = ph.Model()
    bob = model.add(ph.PointMass(0.4), "bob", (0.1, 0.2, 0.3))
    rope = model.add(ROPE, "rope")
    model.connect(ph.Spherical(bob.origin, rope.start))
    found = model.assemble()
    nodes = found.model["rope"].nodes.positions - rope.nodes.positions
    linear = 0.1 * (nodes[0] + nodes[-1]) / 2
    assert linear + 0.4 * found.moves["bob"].shift == pytest.approx(np.zeros(3), abs=1e-12)
    assert nodes[-1] == pytest.approx(-nodes[0] / 2)


@pytest.mark.parametrize("far", [(0.6, 1.1, 0), (2.5, 4.0, 0)])
def test_a_bar_turns_as_far_towards_a_string_as_the_string_comes(far):
    """Least int rho |d|^2 over the angle a: of the bar 2 (1 - cos a) m / 3, of the string m |e|^2 / 4."""
    model = ph.Model(dimension=2)
    bar = model.add(ph.RigidBody(1.0, 1 / 12, center=(0.5, 0, 0)), "bar")
    rope = model.add(ph.String(1.0, 4.0, 4, ph.LogarithmicLaw(50.0)), "rope", far)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin))
    model.connect(ph.Spherical(bar.point((1, 0, 0)), rope.start))
    found = model.assemble()

    def tip(angle):
        return np.array([np.cos(angle), np.sin(angle), 0])

    best = minimize_scalar(lambda a: 2 * (1 - np.cos(a)) / 3 + np.sum((tip(a) - far) ** 2), (0, 1), tol=1e-10).x
    assert found.moves["bar"].turn[2] == pytest.approx(best, abs=1e-6)
    assert found.model["rope"].nodes.positions[0] == pytest.approx(tip(best), abs=1e-6)


def test_a_driven_angle_that_does_not_start_at_zero_is_refused():
    """Angles count from the new pose, so that no pose would do."""
    model = ph.Model(dimension=2)
    bar = model.add(ph.RigidBody(1.0, 1 / 12, center=(0.5, 0, 0)), "bar", (0.1, 0, 0))
    model.apply(model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin)).drive(angle=lambda t: 0.3 + t))
    with pytest.raises(ph.JointGapError, match="starts at 0.3 rad, while the angle at the initial pose is 0 rad"):
        model.assemble()


def test_a_driven_position_is_where_its_drive_starts():
    model = ph.Model(dimension=2)
    block = model.add(ph.RigidBody(1.0, 0.1), "block", (0.5, 0.1, 0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), block.origin))
    model.apply(rail.drive(position=lambda t: 0.3 + t))
    found = model.assemble().model
    assert found["block"].position == pytest.approx([0.3, 0, 0], abs=1e-15)
    motion = found.simulate(0.1, 0.01, progress=False)
    assert motion.translation(found.joints[0]) == pytest.approx(0.3 + motion.time)
