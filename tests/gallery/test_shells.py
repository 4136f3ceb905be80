"""Models of the gallery with plates and shells."""

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
    assert model["blade 1"].body.mass == pytest.approx((2.4 + 0.8) / 2 * 28 * 0.22 * 420)
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


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")  # as coarse as the published mesh
def test_a_thrown_cylinder_has_the_energy_of_a_second_program_and_keeps_it():
    """Of 24 x 2 elements with steps of 10 ms: 767.2905 J from one second on."""
    motion = ph.gallery.short_cylinder().simulate(1.3, 1e-2, progress=False)
    free = motion.time > 1.0 - 1e-9
    energy = motion.energy.total[free]
    assert energy[0] == pytest.approx(767.2905, abs=5e-5)
    assert np.ptp(energy) < 1e-11 * energy[0]
    for each in (motion.momentum.linear, motion.momentum.angular):
        assert np.abs(each[free] - each[-1]).max() < 1e-12 * np.abs(each).max()


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")  # elements are long beside the fold
def test_the_moment_of_a_folded_tape_spring_is_that_of_seffen_and_pellegrino():
    model = ph.gallery.tape_spring()
    motion = model.simulate(1.0, 1e-2, progress=False)
    moment = motion.element_force(model.drives[0])
    steady = 1.3 * 210e9 * 1e-4**3 / 12 / (1 - 0.3**2) * 1.9  # (1 + nu) D alpha
    assert moment[:50].max() > 10 * steady
    assert moment[-6:-1] == pytest.approx(steady, rel=0.02)


def test_a_satellite_with_panels_turns_as_a_rigid_one_on_the_mean():
    model = ph.gallery.panel_satellite()
    motion = model.simulate(6.0, 2e-2, progress=False)
    assert np.abs(motion.momentum.angular[-1]).max() < 1e-9
    panel = model["left panel 1"].body
    inertia = 60.0 + 2 * panel.mass * (1.45**2 + 2.95**2 + 1.5**2 / 6)
    turned = motion.rotation(model["hub"])[:, :, 0]
    angle = np.arctan2(-turned[:, 2], turned[:, 0])
    late = motion.time > 4.0
    assert angle[late].mean() == pytest.approx(40.0 * 2.0**2 / inertia, rel=5e-3)
    assert np.ptp(angle[late]) > 0.01


def test_light_pushes_a_spinning_sail_as_if_it_were_flat():
    motion = ph.gallery.solar_sail().simulate(10.0, 0.2, progress=False)
    assert motion.momentum.linear[-1, 2] == pytest.approx(1e-3 * 14.0**2 * 10.0, rel=2e-3)
    spin = motion.momentum.angular[:, 2]
    assert spin == pytest.approx(spin[0], rel=1e-6)


def test_rods_along_its_sides_hold_a_sail_flat():
    """They turn with it from the start: angular momentum of a square and of rods about its middle."""
    bare, held = (ph.gallery.solar_sail(rim=rim).simulate(10.0, 0.2, progress=False) for rim in (0.0, 0.01))
    rods = 4 * 1600 * np.pi * 0.005**2 * 14.0 * (7.0**2 + 14.0**2 / 12)
    turning = held.momentum.angular[:, 2]
    assert turning[0] == pytest.approx(bare.momentum.angular[0, 2] + 0.5 * rods, rel=1e-4)
    assert turning == pytest.approx(turning[0], rel=1e-6)
    assert held.momentum.linear[-1, 2] == pytest.approx(1e-3 * 14.0**2 * 10.0, rel=2e-3)
    lifts = []
    for motion in (bare, held):
        sail = motion.mechanism["sail"]
        lifts.append([motion.position(sail.at(u, v))[-1, 2] for u, v in ((0, 0.5), (0, 0))])
    (side, corner), (held_side, held_corner) = lifts
    assert side - corner > 0.025 and abs(held_side - held_corner) < 0.003
