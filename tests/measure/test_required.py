"""Inverse dynamics: what drives needed, against closed forms and put back as forces."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded


def swing(t):
    return 0.6 * np.sin(3.0 * t) - 1.8 * t * np.exp(-t)  # 0 and at rest at t = 0


def swing_acceleration(t):
    return -5.4 * np.sin(3.0 * t) - 1.8 * (t - 2.0) * np.exp(-t)


def test_a_pendulum_needs_inertia_and_weight():
    """J + m c^2 times the acceleration, and m g c cos(angle)."""
    body = ph.RigidBody(2.0, 0.3, center=(0.4, 0.0, 0.0))
    model, _, hinge = grounded(body, ph.Revolute, gravity=(0.0, -9.81, 0.0), dimension=2, name="bar")
    drive = model.apply(hinge.drive(angle=swing))
    motion = model.simulate(1.0, 5e-4, progress=False)
    t = motion.time
    expected = (0.3 + 2.0 * 0.16) * swing_acceleration(t) + 2.0 * 9.81 * 0.4 * np.cos(swing(t))
    assert motion.required(hinge) == pytest.approx(expected, abs=1e-4 * np.abs(expected).max())
    assert motion.required(hinge) == pytest.approx(motion.element_force(drive), rel=1e-12)
    power = motion.required(hinge) * motion.rate(hinge)
    work = np.trapezoid(power, t)
    assert motion.energy.work[str(drive)][-1] == pytest.approx(work, rel=1e-5)


def robot(first=None, second=None, **driven):
    """Two links that turn in a horizontal plane, the second flexible."""
    model = ph.Model(dimension=2)
    upper = model.add(ph.RigidBody(1.0, 0.02, center=(0.2, 0.0, 0.0)), "upper")
    lower = ph.Beam(0.5, ph.RectangularSection(0.004, 0.02), ph.Material(7e10, 2700.0, viscosity=1e-4), 3)
    placed = model.add(lower, "lower", position=(0.4, 0.0, 0.0))
    hub = model.add(ph.RigidBody(0.1, 1e-4), "hub", position=(0.4, 0.0, 0.0))
    shoulder = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), upper.origin))
    elbow = model.connect(ph.Revolute(upper.point((0.4, 0, 0)), hub.origin))
    model.connect(ph.Fixed(hub.origin, placed.start))
    for joint, torque in ((shoulder, first), (elbow, second)):
        model.apply(joint.drive(angle=driven["angle"]) if torque is None else joint.torque(torque))
    return model, shoulder, elbow


def test_the_torques_put_back_make_the_motion_without_drives():
    def angle(t):
        return 2.0 * t**3 / (1 + t**2)

    model, *joints = robot(angle=angle)
    motion = model.simulate(0.8, 1e-3, progress=False)
    needed = [motion.required(joint) for joint in joints]
    model, *again = robot(*(lambda t, each=each: np.interp(t, motion.time, each) for each in needed))
    free = model.simulate(0.8, 1e-3, progress=False)
    for joint in again:
        assert free.angle(joint) == pytest.approx(angle(free.time), abs=2e-3 * angle(0.8))


def test_joints_without_drives_and_with_two():
    body = ph.RigidBody(2.0, (0.1, 0.2, 0.3))
    model, _, sleeve = grounded(body, ph.Cylindrical, axis=(1, 0, 0), name="block")
    model.apply(sleeve.drive(angle=lambda t: 0.5 * t**2))
    model.apply(sleeve.drive(position=lambda t: 3.0 * t**2))
    motion = model.simulate(0.1, 1e-3, progress=False)
    names = sleeve.coordinate_names
    expected = {"position": 2.0 * 6.0, "angle": 0.1 * 1.0}
    assert motion.required(sleeve) == pytest.approx(np.tile([expected[name] for name in names], (101, 1)), rel=1e-6)
    model, _, pin = grounded(ph.RigidBody(2.0, (0.1, 0.2, 0.3)), ph.Spherical, name="block")
    with pytest.raises(ph.ModelError, match="no drive moves"):
        model.simulate(1e-3, 1e-3, progress=False).required(pin)
