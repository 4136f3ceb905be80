"""Gallery models of rods against the reference numbers of their docstrings."""

import numpy as np
import pytest

import phlexible as ph
from laws.figures import energy_error

SOROMOX = np.array(  # t [s]; x, y, z of the tip [m], from the file of SoRoMoX that the docstring of the model names
    [
        (0.5, -0.01517, 0.01517, 0.59734),
        (1.0, -0.06541, 0.06541, 0.58927),
        (1.5, -0.17877, 0.17877, 0.53058),
        (2.0, -0.32383, 0.32383, 0.31165),
        (2.5, -0.35191, 0.35191, 0.19463),
        (3.0, -0.29411, 0.29411, 0.38274),
    ]
)


def test_the_tendon_arm_falls_over_as_that_of_soromox() -> None:
    model = ph.gallery.tendon_arm()
    motion = model.simulate(3.0, 1e-2)
    tip = motion.position(model["arm"].end)
    assert np.linalg.norm(tip[50::50] - SOROMOX[:, 1:], axis=1).max() < 0.01 * 0.6
    assert tip[:, 0] == pytest.approx(-tip[:, 1], abs=1e-9)
    assert energy_error(motion) <= 1e-12 and motion.energy.work["first motor"][-1] > 0.01


def test_without_gravity_tendons_bend_the_arm_to_an_arc_and_the_ground_bears_nothing() -> None:
    """A curvature T r / (E I) along each section axis and a strain -2 T / (E A), closed form."""
    model = ph.gallery.tendon_arm(gravity=0.0)
    rest = model.equilibrium()
    area, moment = np.pi * 0.03**2, np.pi * 0.03**4 / 4
    angle, length = np.sqrt(2) * 0.02 / (1e6 * moment) * 0.6, (1 - 2.0 / (1e6 * area)) * 0.6
    across, along = length * (1 - np.cos(angle)) / angle, length * np.sin(angle) / angle
    expected = (-across / np.sqrt(2), across / np.sqrt(2), along)
    assert rest.position(model["arm"].end) == pytest.approx(expected, rel=1e-3)
    assert np.linalg.norm(rest.reaction(model.joints[0])) < 1e-9
