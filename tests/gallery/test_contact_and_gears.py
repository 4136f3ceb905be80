"""Bouncing ball and planetary gear against the reference numbers of their docstrings."""

import numpy as np
import pytest

import phlexible as ph
from laws.figures import energy_error


def balanced(model: ph.Model, duration: float, step: float) -> ph.Motion:
    """Return a motion whose energy balance holds while bodies touch, after the first steps of the model."""
    motion = model.simulate(duration, step, progress=False)
    assert energy_error(motion) <= 1e-12
    return motion


def test_the_ball_bounces_in_its_period() -> None:
    model = ph.gallery.bouncing_ball()
    motion = balanced(model, 4.0, 2e-4)
    height = motion.position(model["ball"].origin)[:, 2]
    top = np.flatnonzero((height[1:-1] > height[:-2]) & (height[1:-1] >= height[2:])) + 1
    assert np.diff(motion.time[top]).mean() == pytest.approx(0.64855, abs=2e-5)
    assert 0.1 - height.min() == pytest.approx(1.0003e-2, rel=1e-4)
    assert np.ptp(motion.energy.total) <= 1e-12
    damped = balanced(ph.gallery.bouncing_ball(damping=1e4), 4.0, 2e-4)
    assert damped.energy.dissipated[-1] > 1.0


def test_the_sun_turns_four_times_as_fast_as_the_arm() -> None:
    model = ph.gallery.gear_train()
    motion = balanced(model, 0.1, 2e-4)
    sun, arm, planet = (motion.angle(joint) for joint in model.joints[:3])
    assert sun == pytest.approx(4 * arm, abs=1e-14 * sun[-1] + 1e-15)
    assert planet == pytest.approx(-3 * arm, abs=1e-14 * sun[-1] + 1e-15)
    assert sun[-1] == pytest.approx(0.5 * 930.23 * 0.1**2, rel=1e-3)
    assert motion.energy.kinetic == pytest.approx(0.1 * sun, abs=1e-13)


def test_a_tippe_top_turns_over_and_keeps_the_integral_of_jellett():
    """The angular momentum along the line from the centre of mass to the point that touches."""
    motion = balanced(ph.gallery.tippe_top(), 2.5, 2e-3)
    top = motion.mechanism.bodies[0]
    turn, spin = motion.rotation(top), motion.angular_velocity(top)
    inertia = 0.006 * 0.02**2 * np.array([0.45, 0.45, 0.5])
    momentum = np.einsum("tij,tj->ti", turn, np.einsum("tji,tj->ti", turn, spin) * inertia)
    arm = 0.3 * 0.02 * turn[:, :, 2] - 0.02 * np.array([0.0, 0.0, 1.0])
    integral = (momentum * arm).sum(axis=1)
    assert turn[0, 2, 2] > 0.99 and turn[-1, 2, 2] < -0.9
    assert integral == pytest.approx(integral[0], rel=2e-4)


def test_a_capstan_leaves_the_share_of_euler():
    model = ph.gallery.capstan(elements=16)
    motion = balanced(model, 0.08, 2e-3)
    left = -motion.reaction(model.joint("held end"))[-10:, 1].mean()
    assert left == pytest.approx(10.01 * np.exp(-0.3 * np.pi), rel=0.02)


def test_a_gripper_lifts_its_ball_by_friction():
    model = ph.gallery.gripper(elements=3)
    motion = balanced(model, 0.6, 4e-3)
    hand, ball = motion.position(model["left jaw"].origin)[:, 1], motion.position(model["ball"].origin)[:, 1]
    assert hand[-1] - hand[0] > 0.06
    assert ball[-1] - ball[0] == pytest.approx(hand[-1] - hand[0], abs=1e-3)


def test_a_wiper_turns_over_where_its_holder_turns_back():
    model = ph.gallery.wiper(elements=5)
    motion = balanced(model, 0.6, 4e-3)
    blade, contact = model["blade"], model.elements[0]
    lag = motion.position(blade.start)[:, 0] - motion.position(blade.end)[:, 0]
    assert lag[motion.time.searchsorted(0.2)] > 0.01 and lag[-1] < -0.01
    assert motion.element_force(contact).max() > 1.0
    assert motion.energy.dissipated[-1] > 0.005


def test_dominoes_knock_each_other_over():
    model = ph.gallery.dominoes(count=5)
    motion = balanced(model, 0.4, 4e-3)
    heights = np.array([motion.position(each.origin)[:, 1] for each in model.bodies])
    falls = motion.time[(heights < 0.022).argmax(axis=1)]
    assert (heights[:, -1] < 0.014).all() and (np.diff(falls) > 0).all() and np.diff(falls)[-1] < 0.03


def test_balls_of_a_bearing_go_round_as_those_that_roll():
    model = ph.gallery.ball_bearing(balls=6)
    motion = balanced(model, 0.12, 2e-3)
    for each in model.bodies[1:]:
        x, y, _ = motion.position(each.origin)[[-21, -1]].T
        turned = np.ptp(np.unwrap(np.arctan2(y, x))) / 0.04
        assert turned == pytest.approx(20 * 0.04 / 0.09, rel=1e-3)


def test_sand_spreads_and_loses_what_the_ledger_says():
    model = ph.gallery.sand(side=3, high=3)
    motion = balanced(model, 0.25, 5e-3)
    places = np.array([motion.position(each.origin) for each in model.bodies])
    assert places[:, -1, 2].mean() < 0.7 * places[:, 0, 2].mean() and places[:, :, 2].min() > 0.005
    assert motion.energy.dissipated[-1] > 0.2 * np.ptp(motion.energy.gravity)


def test_a_geneva_drive_turns_its_wheel_as_its_geometry_says():
    model = ph.gallery.geneva_drive()
    motion = balanced(model, 0.4, 1e-3)
    half, omega, distance = np.pi / 4, 2 * np.pi, 0.1
    crank, turn = distance * np.sin(half), half - np.pi / 2 - 0.3 + omega * motion.time
    exact = np.arctan2(-crank * np.sin(turn), distance - crank * np.cos(turn)) - half
    angle, is_in = motion.angle(model.joint("wheel bearing")), np.abs(turn) < half
    assert is_in.sum() > 200
    assert angle[is_in] == pytest.approx(exact[is_in], abs=1e-3 * 2 * half)
    assert angle[-1] == pytest.approx(-2 * half, rel=1e-3)
    fastest = np.abs(motion.angular_velocity(model["wheel"])[:, 2]).max() / omega
    assert fastest == pytest.approx(np.sin(half) / (1 - np.sin(half)), rel=2e-3)


def test_a_cam_of_triangles_lifts_its_follower_as_its_polynomial_says():
    """From the rest at the top half the way down, over a hollow flank."""
    model = ph.gallery.cam_follower()
    motion = balanced(model, 0.21, 1e-3)
    way = np.clip((4 * np.pi * motion.time + np.pi / 2 - np.pi) / (2 * np.pi / 3), 0.0, 1.0)
    down = 0.012 * (1 - (10 - 15 * way + 6 * way**2) * way**3)
    late = motion.time > 0.05
    assert motion.position(model["stem"].origin)[late, 1] == pytest.approx(0.05 + down[late], abs=1e-3 * 0.012)
    assert down[-1] < 0.008


def test_jaws_lift_a_soft_block_that_carries_its_weight():
    model = ph.gallery.soft_gripper(elements=2)
    motion = balanced(model, 1.0, 4e-3)
    weight, jaw = 1000 * 0.06**3 * 9.81, model["left jaw"].body.mass * 9.81
    for side in ("left", "right"):
        force = motion.reaction(model.joint(f"rail of the {side} jaw"))[-1]
        assert force[1] == pytest.approx(weight / 2 + jaw, rel=5e-3)
    corner = motion.position(model["block"].node(0))
    assert corner[-1, 1] - corner[0, 1] == pytest.approx(0.05, abs=3e-3)
    middle = motion.position(model["left jaw"].origin)[:, 0]
    assert (corner[:, 0] - middle).min() > 4e-3  # beyond its middle a jaw of 10 mm would push the other way
    assert motion.halvings[-1] == 0


@pytest.mark.parametrize(
    ("turns", "elements", "duration", "close"),
    [(0.5, 36, 0.1, 1e-2), pytest.param(3.0, 60, 0.3, 5e-3, marks=pytest.mark.thorough)],
)
def test_a_rope_around_a_windlass_leaves_the_share_of_euler(turns, elements, duration, close):
    model = ph.gallery.windlass(turns=turns, elements=elements)
    motion = balanced(model, duration, 2e-3)
    left = np.linalg.norm(motion.reaction(model.joint("held end"))[-10:], axis=1).mean()
    slope = 0.012 / (2 * np.pi * 0.05)
    assert left == pytest.approx(20 * np.exp(-0.15 * 2 * np.pi * turns / np.hypot(1, slope)), rel=close)


def test_a_bracket_that_is_dropped_rings():
    """Whole meshed bodies touch at their interfaces, and contact excites their shapes."""
    model = ph.gallery.dropped_bracket(elements=4, modes=2)
    motion = balanced(model, 0.2, 1e-3)
    energy = motion.energy
    hit = int(np.argmax(np.diff(motion.contact_steps) > 0))
    assert energy.strain[:hit].max() <= 1e-12 * energy.kinetic[hit]
    assert energy.strain[hit:].max() > 0.1 * energy.total[0]
    lowest = min(motion.position(model["bracket"][name])[:, 2].min() for name in model["bracket"].body.interfaces)
    assert lowest > 0.0


@pytest.mark.thorough
def test_a_twisted_ring_leaves_its_plane_at_the_twist_of_michell():
    """The square of the lowest frequency falls with that of the twist, to zero at 2 pi sqrt(3) EI / (G I_p)."""
    radius, diameter, shares = 0.1, 4e-3, np.array([0.9, 0.97])
    rubber, length = ph.Material(5e6, 1200.0, 0.3), 2 * np.pi * radius
    torsion = 5e6 / 2.6 * np.pi * diameter**4 / 32
    squares = []
    for share in shares:
        model = ph.Model()
        section = ph.CircularSection(diameter)
        rod = ph.Rod(length, section, rubber, elements=20, order=2, stress_free="straight")
        ring = model.add(
            rod, "ring", shape=lambda s: (radius * np.sin(s / radius), radius * (1 - np.cos(s / radius)), 0.0)
        )
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), ring.start))
        model.connect(ph.Revolute(model.ground.at((0, 0, 0)), ring.end, axis=(1, 0, 0)))
        twist = share * 2 * np.pi * np.sqrt(3) * 1.3
        model.apply(ph.Torque(ring.end, (-twist * torsion / length, 0, 0)))
        rest = model.equilibrium()
        assert rest.is_stable
        squares.append(model.linearize(about=rest).modes(2).frequencies[1] ** 2)  # the first turns it inside out
    fall = (squares[0] - squares[1]) / np.diff(shares**2)[0]
    assert np.sqrt(shares[1] ** 2 + squares[1] / fall) == pytest.approx(1.0, abs=2e-3)
