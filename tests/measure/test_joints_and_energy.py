"""Reactions, angles, momenta and energies of a motion, and balances that stay open."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from measure.synthetic import as_stepped, recorded, two_beams, wandering, wandering_poses
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.measure import energy as chunked
from phlexible.measure.energy import momentum
from phlexible.measure.kinematics import velocity
from phlexible.measure.quality import motion_check
from phlexible.measure.reactions import reaction
from phlexible.state.recorded_run import RecordedRun
from refusals import refused

TIMES = np.linspace(0.0, 2.0, 41)
AXIS = np.array([2.0, -1.0, 2.0]) / 3


def angle(run, joint):
    return ph.JointPosition(joint).of_kind(run, is_angle=True)


def rate(run, joint):
    return ph.JointRate(joint).of_kind(run, is_angle=True)


def test_a_distance_joint_pulls_along_itself():
    mechanism = two_beams()
    joint = mechanism.connect(ph.Distance(mechanism["one"].end, mechanism["two"].at(0.3), length=0.7))
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    between = ph.Position(joint.second).read(run) - ph.Position(joint.first).read(run)
    force, _ = reaction(run, joint)
    assert force == pytest.approx(run.recording.multipliers * between / 0.7, abs=1e-12)


def test_reaction_moment_does_the_work_of_the_direction_rows():
    """lambda . dg/dt = force . velocity of the point + moment . turning of the second port."""
    mechanism = Mechanism()
    center = np.array([0.1, 0.2, -0.3])
    plate = mechanism.add(ph.RigidBody(1.0, (1.0, 1.0, 1.0), center), "plate", (0.3, 0.1, 0.0))
    joint = mechanism.connect(ph.Fixed(mechanism.ground.at((0.3, 0.1, 0)), plate.point((0, 0, 0))))
    run = recorded(mechanism, [wandering(4, 0)], TIMES)
    power = (run.recording.multipliers * run.system.rows.rates(run.instants, run.recording.velocity)).sum(axis=1)
    V, spin = np.split(run.recording.velocity, 2, axis=1)
    turn = run.recording.rotation[:, 0]
    v = V - np.einsum("tij,tj->ti", turn, np.cross(spin, center))
    w = np.einsum("tij,tj->ti", turn, spin)
    force, moment = reaction(run, joint)
    assert power == pytest.approx((force * v + moment * w).sum(axis=1), abs=1e-11)
    assert np.abs(moment).max() > 0.1


def spinning(kind, speed, dimension=3, swap=False, axis=AXIS):
    """A body that turns about an axis through the origin of the ground by speed * t + t^2."""
    mechanism = Mechanism(dimension=dimension)
    start = Rotation.from_rotvec([0.0, 0.0, 0.4] if dimension == 2 else [0.4, -0.2, 0.7]).as_matrix()
    plate = mechanism.add(ph.RigidBody(1.0, (1.0, 1.0, 1.0)), "plate", rotation=start)
    ports = (mechanism.ground.at((0, 0, 0)), plate.origin)
    joint = mechanism.connect(kind(*(ports[::-1] if swap else ports), axis=axis))
    turn = Rotation.from_rotvec

    def pose(t):
        return np.zeros(3), turn(axis * (speed * t + t**2)).as_matrix() @ start, np.zeros(0)

    return recorded(mechanism, [pose], TIMES), joint


@pytest.mark.parametrize("kind", [ph.Revolute, ph.Cylindrical])
@pytest.mark.parametrize("swap", [False, True])
def test_angles_count_full_turns_about_the_axis(kind, swap):
    run, joint = spinning(kind, 40.0, swap=swap)  # 2 rad between stored instants
    sign = -1 if swap else 1
    assert angle(run, joint) == pytest.approx(sign * (40 * TIMES + TIMES**2), abs=1e-10)
    assert rate(as_stepped(run), joint) == pytest.approx(sign * (40 + 2 * TIMES), abs=1e-5)


def test_angles_are_right_where_instants_are_more_than_a_turn_apart():
    run, joint = spinning(ph.Revolute, 50.0)
    few = run.at(slice(None, None, 8))  # 20 rad between stored instants
    assert angle(few, joint) == pytest.approx((50 * TIMES + TIMES**2)[::8], abs=1e-10)


@pytest.mark.parametrize("swap", [False, True])
def test_angles_of_a_universal_joint_are_turns_about_its_axes(swap):
    """exp(alpha e1) exp(beta e2) of the second port relative to the first, over full turns."""
    one, two = Rotation.from_rotvec([0.4, -0.2, 0.7]).as_matrix()[:2]
    mechanism, turn = Mechanism(), Rotation.from_rotvec
    plate = mechanism.add(ph.RigidBody(1.0, (1.0, 1.0, 1.0)), "plate")
    ports = (mechanism.ground.at((0, 0, 0)), plate.origin)
    joint = mechanism.connect(ph.Universal(*(ports[::-1] if swap else ports), axis=one, second_axis=two))
    expected = np.stack([9 * TIMES + TIMES**2, -6 * TIMES], axis=1)
    slopes = np.stack([9 + 2 * TIMES, np.full(len(TIMES), -6.0)], axis=1)

    def pose(t):
        relative = turn((9 * t + t**2) * one) * turn(-6 * t * two)
        return np.zeros(3), (relative.inv() if swap else relative).as_matrix(), np.zeros(0)

    run = recorded(mechanism, [pose], TIMES)
    assert angle(run, joint) == pytest.approx(expected, abs=1e-10)
    assert rate(as_stepped(run), joint) == pytest.approx(slopes, abs=1e-5)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_angles_in_the_plane(sign):
    run, joint = spinning(ph.Revolute, 3.0, dimension=2, axis=np.array([0, 0, sign]))
    assert angle(run, joint) == pytest.approx(3 * TIMES + TIMES**2, abs=1e-12)


def test_joints_without_an_angle_are_refused():
    mechanism = Mechanism(dimension=2)
    bob = mechanism.add(ph.PointMass(1.0), "bob")
    pin = mechanism.connect(ph.Revolute(mechanism.ground.at((0, 0, 0)), bob.origin))
    run = recorded(mechanism, [lambda t: (np.zeros(3), np.eye(3), np.zeros(0))], TIMES)
    refused(ph.ModelError, r"bob.origin has no orientation", lambda: angle(run, pin))
    beams = two_beams()
    ball = beams.connect(ph.Spherical(beams["one"].end, beams["two"].start))
    other = recorded(beams, wandering_poses(beams), TIMES)
    refused(ph.ModelError, r"Spherical\(one.end, two.start\) has no angle", lambda: rate(other, ball))
    with pytest.raises(ph.ModelError, match=r"is not a joint of this model; it has: Spherical\(one.end"):
        reaction(other, pin)


def test_a_joint_of_the_same_model_built_again_is_found():
    run, _ = spinning(ph.Revolute, 1.0)
    again, other = spinning(ph.Revolute, 1.0)
    assert np.array_equal(angle(run, other), angle(again, other))
    refused(ph.ModelError, "joint must be one of the model, got None", lambda: angle(run, None))
    twice = two_beams()
    for _ in range(2):
        alike = twice.connect(ph.Spherical(twice["one"].end, twice["two"].start))
    ambiguous = recorded(twice, wandering_poses(twice), TIMES)
    shares = ambiguous.recording.multipliers.reshape(len(TIMES), 2, 3)  # two joints on one point
    assert reaction(ambiguous, alike)[0] == pytest.approx(shares.mean(axis=1))
    with pytest.raises(ph.ModelError, match="is not a joint of this model"):
        reaction(ambiguous, ph.Spherical(twice["one"].end, twice["two"].start))


STEEL = ph.Material(2.1e11, 7850.0)


def hanging(gravity=9.81, step=1e-3, place=(0, 0, 0), hold=ph.Fixed):
    """A steel beam that is held at a place, with gravity along it."""
    model = ph.Model(gravity=(gravity, 0, 0))
    beam = model.add(ph.Beam(0.4, ph.RectangularSection(0.01, 0.02), STEEL, elements=2), "beam", place)
    model.connect(hold(model.ground.at(place), beam.start))
    return model.simulate(30 * step, step, progress=False)


def told(run):
    return [text for text in motion_check(run).findings if "do not add up" in text]


@pytest.mark.filterwarnings("ignore:the motion is too slow")
@pytest.mark.parametrize("gravity", [0.0, 1e-6, 9.81])
@pytest.mark.parametrize("step", [1e-5, 1e-2])
@pytest.mark.parametrize("hold", [ph.Fixed, ph.Spherical])
def test_ordinary_models_add_up(gravity, step, hold):
    for place in ((0, 0, 0), (0.4, 0, 0), (100.0, -3.0, 7.0)):
        motion = hanging(gravity, step, place, hold)
        assert told(motion.run) == []
        assert motion.check().balance_error < 1e-9  # bodies at rest too, without energy that it could be a share of


@pytest.mark.parametrize("name", ["kinetic", "strain", "gravity", "dissipated", "work"])
def test_a_share_that_is_missing_is_told(name):
    """Of a double pendulum with a motor and a damper."""
    model = ph.gallery.double_pendulum()
    joint = model.joints[0]
    model.apply(joint.torque(0.5, name="motor"))
    model.apply(joint.damper(0.01))
    model.apply(ph.SpringDamper(model.ground.at((0, 2, 0)), model.bodies[1].origin, 10.0))
    run = model.simulate(0.1, 1e-3, progress=False).run
    assert told(run) == []
    values = np.array(getattr(run.recording, name))
    values[57] += 1e-3
    (text,) = told(RecordedRun(run.system, replace(run.recording, **{name: values})))
    assert f"at t = {run.recording.time[57]:.4g} s 0.001 J are missing or too much" in text


def test_momentum_of_a_beam_is_the_sum_over_its_material(monkeypatch):
    monkeypatch.setattr(chunked, "CHUNK_VALUES", 500)
    mechanism = Mechanism()
    width, height, length = 0.03, 0.02, 0.8
    steel = ph.Material(2e11, 7800.0)
    beam = mechanism.add(ph.Beam(length, ph.RectangularSection(width, height), steel, elements=1), "beam")
    run = recorded(mechanism, wandering_poses(mechanism), TIMES[::10])
    nodes, weights = np.polynomial.legendre.leggauss(4)
    two_nodes, two_weights = np.polynomial.legendre.leggauss(2)
    linear, angular, moment = np.zeros((3, len(TIMES[::10]), 3))
    for x, wx in zip(nodes, weights, strict=True):
        for y, wy in zip(two_nodes, two_weights, strict=True):
            for z, wz in zip(two_nodes, two_weights, strict=True):
                point = beam.point((length * (1 + x) / 2, width * y / 2, height * z / 2))
                mass = steel.density * length * width * height * wx * wy * wz / 8
                v = velocity(run, point)
                linear += mass * v
                moment += mass * ph.Position(point).read(run)
                angular += mass * np.cross(ph.Position(point).read(run), v)
    total = momentum(run)
    assert total.linear == pytest.approx(linear, rel=1e-9)
    assert total.angular == pytest.approx(angular, rel=1e-6, abs=1e-6)
    assert total.center_of_mass == pytest.approx(moment / beam.data.mass, rel=1e-9)
