"""Rolling without slip: closed forms, exact energy, what is refused."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.system import system_of
from step.kernels.newton import Newton, largest_slope_error
from step.kernels.test_elimination import initial_state_of

G = 9.81


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_ball_rolls_down_with_five_sevenths(dimension):
    model = ph.Model(gravity=(3.0, -4.0, 0), dimension=dimension)
    ball = ph.RigidBody(2.0, 0.4 * 2 * 0.01 if dimension == 2 else (0.4 * 2 * 0.01,) * 3)
    placed = model.add(ball, "ball", position=(0, 0.1, 0), velocity=(-1.0, 0, 0))
    model.connect(ph.Rolling(placed.origin, ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0)), 0.1))
    motion = model.simulate(1.0, 2e-2, progress=False)
    speed = -1.0 + 5 / 7 * 3.0 * motion.time
    assert motion.velocity(placed.origin)[:, 0] == pytest.approx(speed, abs=5e-3)
    assert motion.angular_velocity(placed)[:, 2] == pytest.approx(
        -motion.velocity(placed.origin)[:, 0] / 0.1, abs=1e-10
    )
    assert motion.position(placed.origin)[:, 1] == pytest.approx(0.1, abs=1e-15)
    assert np.ptp(motion.energy.total) <= 1e-13


def disc(lean=0.3, turning=2.0, radius=0.3, mass=2.0):
    """A thin disc that rolls in a circle: balance of moments about its centre gives the spin about its axis."""
    across, along = mass * radius**2 / 4, mass * radius**2 / 2
    sine, cosine = np.sin(lean), np.cos(lean)
    wheel = across * turning**2 * sine * cosine - mass * G * radius * sine
    spin = wheel / ((along + mass * radius**2) * turning * cosine)
    axis, up = np.array([cosine, 0, sine]), np.array([-sine, 0, cosine])
    model = ph.Model(gravity=(0, 0, -G))
    placed = model.add(
        ph.RigidBody(mass, (across, across, along)),
        "disc",
        position=radius * up,
        rotation=np.array([np.cross(up, axis), up, axis]).T,
        velocity=radius * spin * np.cross(axis, up),
        angular_velocity=np.array([0, 0, turning]) + (spin - turning * sine) * axis,
    )
    rolling = model.connect(ph.Rolling(placed.origin, ph.Plane(model.ground.at((0, 0, 0))), radius, axis=axis))
    return model, placed, rolling, radius * abs(spin) / turning


def test_a_leaning_disc_rolls_in_a_circle_of_second_order():
    model, placed, rolling, circle = disc()
    errors = []
    for steps in (200, 400):
        motion = model.simulate(np.pi, np.pi / steps, progress=False)  # once round
        place = motion.position(placed.origin)
        errors.append(np.abs(place[-1] - place[0]).max())
        assert np.ptp(place[:, 0]) == pytest.approx(2 * circle, rel=3e-3)
        assert np.ptp(motion.energy.total) <= 1e-12
        assert np.abs(motion.run.gaps()).max() <= 1e-14
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05) and errors[1] <= 3e-3
    assert motion.element_force(rolling.relations[0]).mean() == pytest.approx(2.0 * G, rel=1e-3)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("is_ball", [True, False])
def test_the_matrix_of_rolling_is_exact(dimension, is_ball):
    """Of a wheel on a plane that a body carries, at a random motion."""
    rng = np.random.default_rng(3)
    model = ph.Model(gravity=(0.5, -1.0, 0), dimension=dimension)
    inertia = 0.3 if dimension == 2 else (0.3, 0.4, 0.5)
    table, wheel = (
        model.add(ph.RigidBody(1.0, inertia), name, position=(0, y, 0)) for name, y in (("t", 0), ("w", 0.5))
    )
    axis = None if is_ball else (0, 0, 1)
    model.connect(ph.Rolling(wheel.origin, ph.Plane(table.origin, (0, 1, 0)), 0.5, axis=axis))
    state = initial_state_of(system_of(model), rng)
    newton = Newton(model, state, 0.05, 0.0)
    after = state.velocity + rng.normal(size=newton.velocities)
    assert largest_slope_error(newton, np.concatenate([after, 10 * rng.normal(size=newton.rows)])) <= 1e-12


def test_what_cannot_roll_is_refused_by_name():
    model = ph.Model()
    wheel = model.add(ph.RigidBody(1.0, (1, 1, 1)), "wheel", position=(0, 0, 0.5))
    plane = ph.Plane(model.ground.at((0, 0, 0)))
    with pytest.raises(ph.ModelError, match="lies flat"):
        model.connect(ph.Rolling(wheel.origin, plane, 0.5, axis=(0, 0, 1)))
    point = model.add(ph.PointMass(1.0), "point", position=(0, 0, 0.5))
    with pytest.raises(ph.ModelError, match="has no orientation"):
        model.connect(ph.Rolling(point.origin, plane, 0.5))
    high = ph.Model()
    ball = high.add(ph.RigidBody(1.0, (1, 1, 1)), "ball", position=(0, 0, 0.6))
    high.connect(ph.Rolling(ball.origin, ph.Plane(high.ground.at((0, 0, 0))), 0.5))
    with pytest.raises(ph.JointGapError, match=r"height"):
        high.simulate(0.1, 1e-2, progress=False)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_slope_of_a_rolling_wheel_changes_as_its_differences_say(dimension):
    model = ph.Model(dimension=dimension)
    wheel = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.2)), "wheel", position=(0, 0.5, 0))
    plane = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    row = ph.Rolling(wheel.origin, plane, 0.5, axis=(0, 0, 1)).relations[1].constraints(dimension)[0]
    coordinate = row.parts[0][0]
    y = np.random.default_rng(2).normal(size=len(coordinate.functions()))
    step = 1e-6 * np.eye(len(y))
    expected = np.array([coordinate.gradient(y + one) - coordinate.gradient(y - one) for one in step]).T / 2e-6
    assert coordinate.hessian(y) == pytest.approx(expected, abs=1e-8)
