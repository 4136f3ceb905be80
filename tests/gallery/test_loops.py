"""Closed loops against equations of motion of their one coordinate; redundant ones in space."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import phlexible as ph

REFERENCE = Path(__file__).parent / "reference"
redundant = pytest.mark.filterwarnings("ignore::phlexible.RedundancyWarning")


def gaps(model, motion):
    return max(np.abs(motion.position(j.first) - motion.position(j.second)).max() for j in model.joints)


def crank_angle(times, loops):
    """Of parallelograms, whose couplers do not turn."""
    slope = -9.81 * ((loops + 1) / 2 + loops) / ((loops + 1) / 3 + loops)
    found = solve_ivp(
        lambda _, y: [y[1], slope * np.cos(y[0])], (0, times[-1]), [np.pi / 2, -1.0], "DOP853", times, rtol=1e-12
    )
    return found.y[0]


@redundant
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("loops", [1, pytest.param(2, marks=pytest.mark.thorough), 5])
def test_four_bars_pass_their_singular_positions_as_parallelograms(loops, dimension):
    model = ph.gallery.n_four_bar(loops, dimension=dimension)
    motion = model.simulate(3.0, 1e-3, progress=False)
    tip = motion.position(model["crank 1"].point((1, 0, 0)))
    angle = crank_angle(motion.time, loops)
    assert np.count_nonzero(np.diff(np.sign(tip[:, 1]))) > 1
    assert np.abs(tip[:, :2] - np.column_stack([np.cos(angle), np.sin(angle)])).max() < 2e-4
    turns = motion.rotation(model["coupler 1"])
    assert np.abs(turns - turns[0]).max() < 1e-9
    assert gaps(model, motion) < 1e-14


@redundant
@pytest.mark.parametrize("name", ["n_four_bar", "bricard"])
def test_energy_stays_for_ten_seconds(name):
    model = ph.gallery.bricard() if name == "bricard" else ph.gallery.n_four_bar(dimension=3)
    motion = model.simulate(10.0, 2e-3, progress=False)
    energy = motion.energy
    assert np.abs(energy.balance_error).max() < 1e-9
    assert np.ptp(energy.total) < 1e-9
    assert np.ptp(energy.kinetic) > 4
    assert gaps(model, motion) < 1e-14


@redundant
def test_bricards_mechanism_follows_its_one_coordinate():
    """To the accuracy of the step, which falls with its square."""
    model = ph.gallery.bricard()
    errors, reference = [], np.loadtxt(REFERENCE / "bricard.csv", delimiter=",")[:, 1:]
    for step in (1e-2, 5e-3):
        motion = model.simulate(1.0, step, progress=False)
        corner = motion.position(model["rod 3"].point((1, 0, 0)))
        every = round(0.25 / step)
        errors.append(np.abs(corner[every::every] - reference).max())
    assert errors[1] < 2e-5
    assert errors[1] < errors[0] / 3


def test_joints_of_bricards_mechanism_are_named():
    with pytest.warns(ph.RedundancyWarning, match="once a joint holds what others hold") as caught:
        ph.gallery.bricard().simulate(0.01, 0.01, progress=False)
    assert all(str(joint) in str(caught[0].message) for joint in ph.gallery.bricard().joints)


def test_the_spatial_slider_crank_follows_its_one_coordinate():
    model = ph.gallery.spatial_slider_crank()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = model.simulate(1.0, 5e-4, progress=False)
    time, angle, slide = np.loadtxt(REFERENCE / "spatial_slider_crank.csv", delimiter=",").T
    assert motion.time[::100] == pytest.approx(time)
    assert np.abs(motion.angle(model.joints[0])[::100] - angle).max() < 2e-4
    assert np.abs(motion.position(model["slider"].origin)[::100, 0] - slide).max() < 2e-5
    assert angle[-1] > 2 * np.pi
    spin = motion.angular_velocity(model["rod"])[0]
    assert spin == pytest.approx([1.92, -0.96, 0.48], abs=1e-12)  # published with the benchmark
