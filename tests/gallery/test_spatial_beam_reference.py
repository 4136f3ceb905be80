"""The beam of [B] 6.3: tip, energy and hinge against classical finite elements, angular momentum exactly."""

from pathlib import Path

import numpy as np
import pytest

import phlexible as ph

REFERENCE = Path(__file__).parent / "reference" / "spatial_beam.csv"
TORQUE_ENDS, BLOW_BEGINS, BLOW_ENDS = 0.0102, 0.015, 0.0154


@pytest.fixture(scope="module")
def motion() -> ph.Motion:
    return ph.gallery.spatial_beam(elements=8).simulate(0.05, 1e-5, every=5, progress=False)


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    """Columns t, kinetic, total, hinge rate, H_z, tip x, y, z at the stored instants."""
    return np.loadtxt(REFERENCE, delimiter=",", skiprows=1)


def test_the_tip_stays_within_a_millimetre(motion, reference) -> None:
    assert motion.time == pytest.approx(reference[:, 0], abs=1e-12)
    gap = np.linalg.norm(motion.position(motion["beam"].end) - reference[:, 5:8], axis=1)
    assert gap.max() < 1e-3
    assert gap[motion.time < BLOW_BEGINS].max() < 1e-4


def test_the_total_energy_follows_the_reference_and_the_loads(motion, reference) -> None:
    total, time = motion.energy.total, motion.time
    assert np.abs(total - reference[:, 2]).max() < 5e-3 * reference[:, 2].max()
    for rest in ((time >= TORQUE_ENDS) & (time <= BLOW_BEGINS), time >= BLOW_ENDS):
        assert np.ptp(total[rest]) < 1e-12 * total.max()
    assert set(motion.energy.work) == {"torque", "blow"}
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * total.max()


def test_the_angular_momentum_about_z_is_the_impulse_of_the_torque(motion) -> None:
    about_z = motion.momentum.angular[motion.time > TORQUE_ENDS - 1e-9, 2]
    assert about_z == pytest.approx(np.full(len(about_z), 2e-3), rel=1e-9)


def test_the_hinge_turns_as_the_reference_on_average(motion, reference) -> None:
    """The rate at the hinge converges slowly; its mean over the free rotation is a tip angle."""
    rate = motion.angular_velocity(motion["beam"].start)[:, 2]
    free = (motion.time > TORQUE_ENDS) & (motion.time < BLOW_BEGINS)
    assert rate[free].mean() == pytest.approx(reference[free, 3].mean(), rel=0.01)
