"""Models of the gallery with plates."""

import numpy as np
import pytest

import phlexible as ph


def test_a_plate_in_spin_up_lags_like_a_geometrically_exact_beam():
    """0.7506 m where the plate does not widen; 1.5 % in the mean-axis frame."""
    model = ph.gallery.plate_in_spin_up(poissons_ratio=0.0, width=2.0)
    motion = model.simulate(8.0, 2e-2, progress=False)
    plate = model["plate"]
    end, hub = motion.position(plate["end"]), motion.rotation(plate["start"])
    lag = np.einsum("ti,ti->t", end, hub[:, :, 2])  # along the normal of the clamped edge
    assert lag.max() == pytest.approx(0.7506, rel=0.015)
    assert motion.time[lag.argmax()] == pytest.approx(6.55, abs=0.15)


def test_a_satellite_with_plates_has_the_modes_of_one_with_beams_and_twist():
    """Plates clamped along their roots are stiffer by up to 1 / sqrt(1 - nu^2)."""
    beams = ph.gallery.satellite().linearize().modes(7).frequencies[3:]
    plates = ph.gallery.satellite(panels="plate").linearize().modes(12).frequencies
    assert plates[:6] == pytest.approx(np.zeros(6), abs=1e-3)
    bending = [plates[np.abs(plates / each - 1).argmin()] for each in beams]
    assert (bending > beams).all() and bending == pytest.approx(beams, rel=0.03)
    with pytest.raises(ph.ParameterError, match="panels must be one of 'beam', 'plate'"):
        ph.gallery.satellite(panels="sail")


def test_a_wind_turbine_stands_on_its_tower():
    """The mass of a blade is that of its outline, and the ground bears all."""
    model = ph.gallery.wind_turbine(speed=0.0, gust=0.0, elements=5)
    blade = model["blade 1"].body
    assert blade.mass == pytest.approx((2.4 + 0.8) / 2 * 28 * 0.22 * 420)
    foot = model.joints[0]
    still = model.equilibrium().motion
    weight = 9.81 * sum(placed.data.mass for placed in model.bodies)
    assert still.reaction(foot)[0] == pytest.approx([0, 0, weight], abs=1e-6 * weight)


def test_a_torque_turns_the_satellite_from_rest_to_rest():
    """By 4 s2 torque / (2 pi J), if nothing bent: the panels swing by 3 % of it; no momentum is left."""
    model = ph.gallery.satellite(panels="plate", torque=40.0, elements=4)
    motion = model.simulate(2.0, 1e-2, progress=False)
    panel = 120 * 6.0 * 1.2 * 0.025
    inertia = 60 + 2 * panel * (6.0**2 / 12 + (0.75 + 3.0) ** 2)
    turned = motion.rotation(model["hub"])[-1]
    assert np.arctan2(turned[1, 0], turned[0, 0]) == pytest.approx(4 * 40 / (2 * np.pi * inertia), rel=0.05)
    assert np.abs(motion.momentum.angular[-1]).max() < 1e-3 * np.abs(motion.momentum.angular).max()
