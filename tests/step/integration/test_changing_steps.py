"""Where the step changes its length velocities are brought back onto the joints, and the energy is booked."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.functions import FunctionSet


def swinging(breakpoints=()):
    """Two links that hang on each other and on a pin that moves; a load with instants at which steps are cut."""
    model = ph.Model((0, -9.81, 0), 2)
    rod = ph.RigidBody(1.0, 1 / 12, center=(0.5, 0, 0))
    pin = model.ground.moving(lambda t: (0.1 * np.sin(3 * t), 0, 0))
    upper = model.add(rod, "upper")
    lower = model.add(rod, "lower", (1, 0, 0))
    model.connect(ph.Revolute(pin, upper.origin))
    model.connect(ph.Revolute(upper.point((1, 0, 0)), lower.origin))
    model.apply(ph.Force(lower.point((1, 0, 0)), (0, 1.0, 0), breakpoints=breakpoints))
    return model


def violation(motion):
    """Largest |G nu + g_t| of unprojected velocities [m/s]."""
    rows, record = motion.run.system.rows, motion.recording
    assert isinstance(rows, FunctionSet)
    return np.abs(rows.rates(record.instants(), record.velocity)).max(axis=1)


def cut(step):
    """A third of the way into every second step."""
    return tuple(np.arange(0, 1.0, 2 * step) + step / 3)


def test_velocities_of_cut_steps_stay_on_the_joints_to_second_order():
    violations, losses = [], []
    for step in (0.02, 0.01, 0.005):
        motion = swinging(cut(step)).simulate(1.0, step)
        violations.append(violation(motion).max())
        energy = motion.energy
        assert np.abs(energy.balance_error).max() <= 1e-13 * energy.kinetic.max()
        losses.append(energy.dissipated[-1])
    for values, order in ((violations, 2), (losses, 3)):
        assert (np.log2(np.array(values[:-1]) / values[1:]) > order - 0.2).all()


def test_projection_keeps_momenta_of_bodies_in_free_flight():
    model = ph.Model()
    rod = ph.RigidBody(1.0, (0.01, 0.08, 0.08), center=(0.5, 0, 0))
    one = model.add(rod, "one", angular_velocity=(0.3, 1.0, 4.0))
    two = model.add(rod, "two", (1, 0, 0), angular_velocity=(0.3, -2.0, 1.0))
    model.connect(ph.Spherical(one.point((1, 0, 0)), two.origin))
    model.apply(ph.Force(two.origin, (0, 0, 0), breakpoints=cut(0.01)))
    motion = model.simulate(1.0, 0.01)
    assert motion.energy.dissipated[-1] > 0
    assert np.ptp(motion.momentum.linear, axis=0) == pytest.approx(0, abs=1e-13)
    assert np.ptp(motion.momentum.angular, axis=0) == pytest.approx(0, abs=1e-13)
