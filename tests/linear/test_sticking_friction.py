"""Friction that sticks holds in equilibria and linear models: closed forms, springs in its place, what it says."""

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

G, STIFF, BRISTLE, MU = 9.81, 1e5, 8e4, 0.5
BALL = ph.RigidBody(1.0, (0.004, 0.004, 0.004))
PLATE = ph.RigidBody(3.0, (0.1, 0.1, 0.2))


def on_a_slope(share, dimension=3, **more):
    """A point of 1 kg on a plane that is inclined by ``share`` times the slope of friction, just touching it."""
    slope = np.arctan(share * MU)
    down = 2 if dimension == 3 else 1
    normal = np.zeros(3)
    normal[0], normal[down] = np.sin(slope), np.cos(slope)
    model = ph.Model(gravity=-G * np.eye(3)[down], dimension=dimension)
    block = model.add(ph.PointMass(1.0), "block")
    floor, law = ph.Plane(model.ground.at((0, 0, 0)), normal), {"friction": MU, "bristle": BRISTLE, **more}
    model.apply(ph.Contact(block.origin, floor, STIFF, name="foot", restitution=1, **law))
    return model, block, slope, normal


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("share", [0.0, 0.95])
def test_a_block_below_the_angle_of_friction_rests_and_vibrates_as_on_springs(dimension, share):
    model, block, slope, normal = on_a_slope(share, dimension)
    rest = model.equilibrium()
    way = rest.position(block.origin)
    deep, far = G * np.cos(slope) / STIFF, G * np.sin(slope) / BRISTLE
    assert -way @ normal == pytest.approx(deep, rel=1e-9)
    assert np.linalg.norm(way + deep * normal) == pytest.approx(far, rel=1e-9, abs=1e-15)
    assert rest.slipped == () and rest.is_stable
    roots = np.sqrt([BRISTLE] * (dimension - 1) + [STIFF])  # over 1 kg
    assert model.linearize(about=rest).modes().frequencies == pytest.approx(roots, rel=1e-9)
    motion = model.simulate(0.05, 1e-3, initial=rest, progress=False)
    assert np.ptp(motion.position(block.origin), axis=0).max() <= 1e-15


def test_equilibria_and_linear_models_with_friction_come_back_from_a_pickle():
    model = on_a_slope(0.5)[0]
    rest = pickle.loads(pickle.dumps(model.equilibrium()))
    linear = pickle.loads(pickle.dumps(model.linearize(at="static")))
    assert rest.is_stable and rest.slipped == () and linear.modes().frequencies[-1] == pytest.approx(np.sqrt(STIFF))


def test_the_damper_beside_a_bristle_is_in_the_linear_model():
    ratios = on_a_slope(0.5, bristle_damping=20.0)[0].linearize(at="static").modes().damping_ratios
    assert ratios[:2] == pytest.approx(20.0 / (2 * np.sqrt(BRISTLE)), rel=1e-9)


def test_a_block_above_the_angle_has_no_equilibrium_and_one_that_a_spring_catches_slips_to_it():
    with pytest.raises(ph.EquilibriumError, match="friction that sticks holds no more than it can"):
        on_a_slope(1.05)[0].equilibrium()
    model, block, slope, normal = on_a_slope(1.5, static_friction=0.6)
    along = np.array([np.cos(slope), 0, -np.sin(slope)])
    anchor = -5 * along - G * np.cos(slope) / STIFF * normal
    model.apply(ph.SpringDamper(model.ground.at(anchor), block.origin, stiffness=100.0, length=5.0))
    with pytest.warns(ph.LeftOutWarning, match="foot, friction at its limit"):
        linear = model.linearize(at="static")
    rest = model.equilibrium()
    assert rest.slipped == ("foot",) and "slipped: foot" in repr(rest)
    stretch = G * (np.sin(slope) - MU * np.cos(slope)) / 100.0  # what kinetic friction leaves to the spring
    assert rest.position(block.origin) @ along == pytest.approx(stretch, rel=1e-6)
    assert np.sqrt(100.0) == pytest.approx(linear.modes().frequencies[1], rel=1e-4)
    motion = model.simulate(0.05, 1e-3, initial=rest, progress=False)
    assert np.ptp(motion.position(block.origin), axis=0).max() <= 1e-9


def ball_on_a_plate(surface, turned):
    """A ball 10 mm deep in a free plate, or in a sphere that is fixed to it."""
    model = ph.Model()
    plate = model.add(PLATE, "plate", rotation=turned)
    ball = model.add(BALL, "ball", position=turned.apply((0.1, 0.05, 0.09)), rotation=turned)
    if surface == "plane":
        touched = ph.Plane(plate.origin, turned.apply((0, 0, 1)))
    else:
        touched = ph.Surface(plate.point((0.1, 0.05, -0.2)), ph.Sphere(0.2))
    law = {"friction": MU, "bristle": 8e3, "bristle_damping": 0.0, "restitution": 1}
    model.apply(ph.Contact(ball.origin, touched, stiffness=1e4, radius=0.1, **law))
    return model


@pytest.mark.parametrize("surface", ["plane", "sphere"])
def test_a_ball_that_sticks_has_the_modes_of_springs_where_it_touches(surface):
    for frame in (Rotation.identity(), Rotation.from_rotvec((0.4, 0.3, -0.7))):
        for form in ("displacement", "stress"):
            found = ball_on_a_plate(surface, frame).linearize(at="unloaded", form=form).modes(12).frequencies
            assert found[:9] == pytest.approx(0, abs=1e-4)
            assert found[9:] == pytest.approx(by_hand(0.1 if surface == "plane" else 0.1 * 0.29 / 0.3), rel=1e-9)


def by_hand(reach):
    """Roots of a ball of 1 kg and a plate, with springs at a place so far below the ball's centre; undamped."""
    k = np.diag([8e3, 8e3, 1e4])
    mass = np.diag([1.0] * 3 + [0.004] * 3 + [3.0] * 3 + [0.1, 0.1, 0.2])

    def arm(r):
        x, y, z = r
        return np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])  # w -> w x r

    rows = np.hstack([np.eye(3), arm((0, 0, -reach)), -np.eye(3), -arm((0.1, 0.05, 0.09 - reach))])
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(mass, rows.T @ k @ rows)).real)[-3:])


def test_a_ball_on_a_slope_is_held_by_friction_and_a_spring_that_turns():
    slope, about = 0.2, 50.0
    model = ph.Model(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    ball = model.add(BALL, "ball", position=(0, 0, 0.1))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    model.apply(ph.Contact(ball.origin, floor, STIFF, radius=0.1, friction=MU, bristle=BRISTLE, restitution=1))
    model.apply(ph.Bushing(model.ground.at((0, 0, 0.1)), ball.origin, 0.0, rotational_stiffness=about))
    rest = model.equilibrium()
    turn = np.arcsin(2 * 0.1 * G * np.sin(slope) / about) / 2  # a bushing turns by its sine
    rolled = 0.1 * turn
    assert rest.position(ball.origin)[0] == pytest.approx(rolled + G * np.sin(slope) / BRISTLE, rel=1e-8)
    assert rest.is_stable
    motion = model.simulate(0.05, 1e-3, initial=rest, progress=False)
    assert np.ptp(motion.position(ball.origin), axis=0).max() <= 1e-14


def test_a_bearing_holds_a_pendulum_as_far_as_its_friction_goes():
    length, arm, mu = 0.5, 0.02, 0.3
    for angle, holds in ((0.5 * mu * arm / length, True), (0.6, False)):
        model = ph.Model(gravity=(0, -G, 0), dimension=2)
        end = np.array([length * np.sin(angle), -length * np.cos(angle), 0])
        body = model.add(ph.RigidBody(1.0, 0.02), "body", position=end)
        pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.point(-end)))
        model.apply(pin.friction(coefficient=mu, radius=arm, bristle=2e3, bristle_damping=4.0, name="pin"))
        rest = model.equilibrium()
        at = angle + rest.angle(pin)
        assert (rest.slipped == ()) is holds
        moment = 2e3 * (angle - at) if holds else mu * arm * G
        assert G * length * np.sin(at) == pytest.approx(moment, rel=1e-6)
        assert np.ptp(model.simulate(0.05, 1e-3, initial=rest, progress=False).angle(pin)) <= 1e-11
    frequency = model.linearize(at="unloaded").modes().frequencies  # it sticks where no force is known
    assert frequency == pytest.approx(np.sqrt(2e3 / (0.02 + length**2)), rel=1e-9)


def test_a_state_that_slips_is_left_out_of_the_linear_model_about_it():
    model = on_a_slope(1.5)[0]
    slides = model.simulate(0.05, 1e-3, progress=False).recording.state(-1)
    with pytest.warns(ph.LeftOutWarning, match="foot, friction at its limit"):
        linear = model.linearize(at="unloaded", state=slides)
    assert linear.modes(3).frequencies == pytest.approx([0, 0, np.sqrt(STIFF)], rel=1e-9, abs=1e-9)
