"""Gallery models with strings and rods against the reference numbers of their docstrings."""

import numpy as np
import pytest

import phlexible as ph
from laws.figures import energy_error


def test_hanging_cable_is_the_elastic_catenary_and_rings_as_one() -> None:
    model = ph.gallery.hanging_cable(push=0.0, elements=24, order=2)
    motion = model.simulate(duration=0.2, step=1e-2)
    cable = model["cable"]
    assert motion.position(cable.at(25.25))[:, 1] == pytest.approx(np.full(21, -3.10374), abs=2e-5)
    assert np.abs(motion.reaction(model.joints[0])[:, 0]) == pytest.approx(np.full(21, 1985.11), rel=1e-5)
    frequencies = model.linearize(at="static").modes(4).frequencies
    shallow = 2 * np.pi * np.sqrt(1985.11 / 2.0) / 50.0
    assert frequencies[0] == pytest.approx(shallow, rel=0.03) and frequencies[0] < shallow
    assert ph.gallery.hanging_cable().simulate(duration=0.5, step=1e-2).energy.work["push"][-1] > 10.0


def test_crane_carries_its_load_and_brings_it_to_rest_on_average() -> None:
    model = ph.gallery.crane()
    rest = ph.gallery.crane(force=0.0).simulate(duration=0.2, step=1e-2)
    tension = rest.tension(rest["cable"])
    weights = 9.81 * (250.0 + 1.2 * 6.0 * (1 - (np.arange(20) + 0.5) / 20))
    assert tension == pytest.approx(np.tile(weights, (21, 1)), rel=1e-8)
    motion = model.simulate(duration=10.0, step=5e-3)
    assert np.abs(motion.position(model["trolley"].origin)[:, 1]).max() < 1e-12
    # sum of momenta along the rails: the force alone changes it
    total = motion.momentum.linear[:, 0]
    at = [np.searchsorted(motion.time, t - 1e-9) for t in (2.0, 5.0, 7.0, 10.0)]
    assert total[at] == pytest.approx([300.0, 300.0, 0.0, 0.0], abs=1e-8)


def test_crane_swings_like_a_pendulum_under_a_free_trolley() -> None:
    """A stiff light cable and a small block: sqrt(g / l (1 + m_load / m_trolley))."""
    model = ph.gallery.crane(line_density=1e-4, load_height=1e-3, force=0.0, viscosity=0.0)
    modes = model.linearize(at="static").modes(3)
    assert modes.rigid_modes == 1
    stretched = 6.0 * (1 + 250.0 * 9.81 / 2e6)
    assert modes.frequencies[1] == pytest.approx(np.sqrt(9.81 / stretched * 3.5), rel=1e-4)


def test_tethered_satellites_keep_energy_and_momenta_for_10_000_steps() -> None:
    model = ph.gallery.tethered_satellites()
    motion = model.simulate(duration=500.0, step=0.05, every=10)
    assert len(motion.time) == 1001 and motion.halvings[-1] == 0
    energy, spin = motion.energy.total, motion.momentum.angular
    assert np.abs(energy - energy[0]).max() <= 1e-11 * energy[0]
    assert np.abs(spin - spin[0]).max() <= 1e-11 * np.linalg.norm(spin[0])
    scale = (550.0 + 3.0) * np.abs(motion.velocity(model["first"].origin)).max()
    assert np.abs(motion.momentum.linear - motion.momentum.linear[0]).max() <= 1e-11 * scale
    gaps = [motion.position(j.second) - motion.position(j.first) for j in model.joints]
    assert np.abs(gaps).max() <= 1e-11


def test_the_tether_carries_the_centripetal_force() -> None:
    model = ph.gallery.tethered_satellites(line_density=1e-3, roll=0.0, axial_stiffness=2e6)
    motion = model.simulate(duration=2.0, step=1e-2)
    assert motion.tension(model["tether"]).mean() == pytest.approx(268.8, rel=2e-3)


def test_cable_robot_leads_its_platform_around() -> None:
    still = ph.gallery.cable_robot(gravity=0.0, radius=0.0).simulate(duration=0.05, step=1e-3)
    for number in range(1, 5):
        tension = still.tension(still[f"cable {number}"])
        assert tension == pytest.approx(np.full(tension.shape, 150.0), rel=1e-9)
    model = ph.gallery.cable_robot()
    motion = model.simulate(duration=4.0, step=5e-3)
    place = motion.position(model["platform"].origin)
    angle = np.pi * motion.time
    circle = 0.3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    late = motion.time > 1.5
    assert np.abs(place[late, :2] - circle[late]).max() < 0.02
    assert np.abs(motion.rotation(model["platform"])[:, 1, 0]).max() < 0.01
    pulls = np.zeros(len(motion.time))
    for number in range(1, 5):
        cable = model[f"cable {number}"]
        ends = motion.position(cable.start), motion.position(cable.at(cable.body.mesh.nodes[1]))
        way = ends[0] - ends[1]
        pulls += motion.tension(cable)[:, 0] * way[:, 1] / np.linalg.norm(way, axis=1)
    weight = 9.81 * sum(placed.data.mass for placed in model.bodies)
    assert pulls[motion.time > 2.0].mean() == pytest.approx(weight, rel=0.02)
    assert set(motion.energy.work) == {f"winch {number}" for number in range(1, 5)}
    turn = motion.time.searchsorted([2.0 - 1e-9, 4.0 - 1e-9])
    supplied, lost = (np.diff(each[turn])[0] for each in (motion.energy.supplied, motion.energy.dissipated))
    assert supplied == pytest.approx(lost, abs=0.05 * np.abs(motion.energy.work["winch 1"]).max())


def test_tower_crane_lifts_by_what_is_hauled_in_over_its_falls() -> None:
    model = ph.gallery.tower_crane()
    motion = model.simulate(duration=14.0, step=1e-2)
    assert motion[ph.Tension(model.elements[0])][0] == pytest.approx(2000 * 9.81 / 4, rel=1e-6)
    height = motion.position(model["load"].origin)[:, 1]
    assert height[-1] - height[0] == pytest.approx(5.0, abs=0.05)  # it swings
    assert motion.energy.work["winch"][-1] == pytest.approx(2000 * 9.81 * 5.0, rel=0.01)
    assert energy_error(motion) <= 1e-12


@pytest.mark.thorough
def test_the_trolley_of_a_tower_crane_does_not_lift_its_load() -> None:
    model = ph.gallery.tower_crane(hauled=0.0, duration=60.0)
    motion = model.simulate(duration=60.0, step=2e-2)
    assert np.ptp(motion.position(model["load"].origin)[:, 1]) <= 1e-2
    assert motion.position(model["load"].origin)[-1, 0] == pytest.approx(14.0, abs=0.1)


def test_tower_crane_refuses_falls_that_do_not_lead_back() -> None:
    for wrong in ({"falls": 3}, {"falls": 0}, {"hauled": 60.0}):
        with pytest.raises(ph.ParameterError, match=next(iter(wrong))):
            ph.gallery.tower_crane(**wrong)


def test_the_collar_on_a_rod_runs_out_like_cosh_and_stays_at_the_end() -> None:
    model = ph.gallery.collar_on_rod()
    motion = model.simulate(2.5, 5e-3, progress=False)
    place = motion[ph.JointPosition(model.joints[1])]
    free = motion.time <= 1.0
    assert place[free] == pytest.approx(0.1 * np.cosh(2.0 * motion.time[free]), rel=5e-4)
    assert place[-1] == pytest.approx(0.98, abs=1e-3)


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
