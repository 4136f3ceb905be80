"""Friction by the force that a joint transmits itself: closed forms, order, redundant joints, what is refused."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import phlexible as ph
from mechanisms import grounded

G, MU = 9.81, 0.3


@pytest.mark.parametrize(("share", "slides"), [(0.95, False), (1.05, True)])
def test_a_block_on_an_inclined_rail_sticks_or_slides_at_the_angle_of_friction(share, slides):
    slope = share * np.arctan(MU)
    body = ph.RigidBody(2.0, (1, 1, 1))
    model, _, rail = grounded(body, ph.Prismatic, gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    model.apply(rail.friction(coefficient=MU, bristle=0, stiction_speed=1e-3))
    motion = model.simulate(1.0, 1e-2, progress=False)
    if slides:
        rate = motion.rate(rail)
        expected = G * (np.sin(slope) - MU * np.cos(slope))
        assert np.diff(rate)[20:] / 1e-2 == pytest.approx(expected, rel=1e-6)
    else:
        assert motion.rate(rail)[-1] == pytest.approx(1e-3 * np.tan(slope) / MU, rel=1e-6)


LENGTH, INERTIA, RADIUS = 0.5, 0.02, 0.02


def pendulum(pins=1):
    """One of 1 kg that starts level, in the plane, or in space on pins side by side."""
    model = ph.Model(dimension=2 if pins == 1 else 3, gravity=(0, -G, 0))
    inertia = INERTIA if pins == 1 else (INERTIA, INERTIA, INERTIA)
    body = model.add(ph.RigidBody(1.0, inertia), position=(LENGTH, 0, 0))
    axis, places = (0, 0, 1), (0.0,) if pins == 1 else (-0.1, 0.1)
    found = [
        model.connect(ph.Revolute(model.ground.at((0, 0, z)), body.point((-LENGTH, 0, z)), axis)) for z in places
    ]
    for pin in found:
        model.apply(pin.friction(coefficient=MU, radius=RADIUS, bristle=0))
    return model, found[0]


def pendulum_equation(_, state):
    """J theta'' = -m g L cos(theta) - mu r |R| sign(theta'), with R = m (acceleration + g) of theta'' itself."""
    angle, rate = state
    turning, along = np.array([-np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    acceleration = 0.0
    for _ in range(20):
        force = LENGTH * (acceleration * turning - rate**2 * along) + (0, G)
        friction = MU * RADIUS * np.linalg.norm(force) * rate / max(abs(rate), 1e-3)
        acceleration = (-G * LENGTH * np.cos(angle) - friction) / (INERTIA + LENGTH**2)
    return [rate, acceleration]


def test_a_bearing_brakes_a_pendulum():
    exact = solve_ivp(pendulum_equation, (0, 0.8), [0, 0], rtol=1e-12, atol=1e-12, method="DOP853").y[0, -1]
    errors = []
    for step in (8e-3, 4e-3):
        model, pin = pendulum()
        motion = model.simulate(0.8, step, progress=False)
        errors.append(motion.angle(pin)[-1] - exact)
    assert abs(errors[1]) <= 4e-5 and errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    assert motion.energy.dissipated[-1] == pytest.approx(0.3245, rel=1e-3)


@pytest.mark.parametrize("step", [1e-2, 1e-3, 5e-4, 1e-4])
def test_a_bearing_that_sticks_keeps_the_balance_at_every_step(step):
    """Velocities are predicted to round-off, multipliers to a hundredth: friction follows in the second update."""
    body = ph.RigidBody.box((0.6, 0.05, 0.05), 2700.0, center=(0.3, 0, 0))
    model, _, pin = grounded(body, ph.Revolute, axis=(0, 1, 0), gravity=(0, 0, -G))
    model.apply(pin.friction(coefficient=0.2, radius=0.01))
    assert np.abs(model.simulate(0.3, step, progress=False).energy.balance_error).max() <= 1e-12


def test_redundant_pins_share_the_force_and_the_friction():
    model, pin = pendulum()
    plane = model.simulate(0.4, 8e-3, progress=False)
    model, double = pendulum(2)
    with pytest.warns(ph.RedundancyWarning):
        space = model.simulate(0.4, 8e-3, progress=False)
    assert space.angle(double) == pytest.approx(plane.angle(pin), abs=1e-9)


def test_what_is_no_friction_of_a_joint_is_refused_by_name():
    model, pin = pendulum()
    with pytest.raises(ph.ParameterError, match="needs the radius of the bearing"):
        pin.friction(coefficient=0.3)
    with pytest.raises(ph.ParameterError, match="with a coefficient, got radius=0.1"):
        pin.friction(1.0, radius=0.1)
    with pytest.raises(ph.ParameterError, match="coefficient must not be negative"):
        pin.friction(coefficient=-0.3, radius=0.1)
    rail = ph.Prismatic(model.ground.at((0, 0, 0)), model.bodies[0].origin)
    with pytest.raises(ph.ParameterError, match="not of a position"):
        rail.friction(coefficient=0.3, radius=0.1)
    with pytest.raises(ph.ModelError, match="several|no coordinate"):
        ph.Spherical(model.ground.at((0, 0, 0)), model.bodies[0].origin).friction(coefficient=0.3)
