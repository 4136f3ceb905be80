"""Tops, closed and redundant loops, a robot and panels against numbers from outside."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import phlexible as ph
from phlexible.gallery.machines import DAMPING, STIFFNESS, target
from phlexible.gallery.mechanisms import INITIAL, andrews_squeezer

REFERENCE = Path(__file__).parent / "reference"
SQUEEZED = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
            0.5244099658805304, 0.5347301163226948, 1.048080741042263)  # fmt: skip


def table(name):
    return np.loadtxt(REFERENCE / f"{name}.csv", delimiter=",")


@pytest.mark.parametrize(("order", "step", "error"), [(2, 1e-3, 3e-3), (4, 1e-3, 5e-9), (6, 1e-3, 2e-10)])
def test_heavy_top_precesses_as_the_closed_form_says(order, step, error):
    reference = table("heavy_top")
    model = ph.gallery.heavy_top()
    motion = model.simulate(reference[-1, 0], step, order=order, progress=False)
    axis = motion.rotation(model["body"])[:, :, 2]
    assert np.abs(axis[np.round(reference[:, 0] / step).astype(int)] - reference[:, 1:]).max() <= error


def test_the_middle_axis_flips_as_jacobis_functions_say():
    reference = table("dzhanibekov")
    model = ph.gallery.dzhanibekov()
    step = reference[-1, 0] / (20 * (len(reference) - 1))
    errors = []
    for order in (2, 4):
        motion = model.simulate(reference[-1, 0], step, order=order, every=20, progress=False)
        turns, spins = motion.rotation(model["body"]), motion.angular_velocity(model["body"])
        errors.append(np.abs(np.einsum("tji,tj->ti", turns, spins) - reference[:, 1:]).max())
    assert errors[0] <= 5e-4
    assert errors[1] <= 2e-9


def test_andrews_squeezer_at_the_end_of_the_test_set():
    model = andrews_squeezer()
    motion = model.simulate(0.03, 1e-4, order=4, progress=False)
    angles = np.array([motion.angle(joint)[-1] for joint in model.joints])
    found = angles[[0, 1, 2, 5, 4, 8, 7]] + np.array(INITIAL)
    assert np.abs(found - SQUEEZED).max() <= 1e-6
    assert motion.energy.work["motor"][-1] == pytest.approx(0.033 * angles[0], rel=1e-12)


def test_the_robot_carries_its_load_with_the_errors_of_its_controllers():
    model = ph.gallery.robot_arm(rise_time=0.3, elements=2)
    motion = model.simulate(0.4, 1e-3, progress=False)
    joints = [joint for joint in model.joints if isinstance(joint, ph.Revolute)]
    for k, (joint, motor) in enumerate(zip(joints, model.elements, strict=True)):
        angle, rate = motion.angle(joint)[-2], motion.rate(joint)[-2]
        aim, aimed_rate = target(k, motion.time[-2], 0.3)
        expected = STIFFNESS[k] * (aim - angle) + DAMPING[k] * (aimed_rate - rate)
        assert motion.element_force(motor)[-1] == pytest.approx(expected, abs=2e-2 * STIFFNESS[k] * 0.1)


@pytest.mark.slow
def test_panels_lock_in_one_line_and_the_satellite_keeps_its_momenta():
    model = ph.gallery.deployable_panels(elements=2)
    motion = model.simulate(40.0, 4e-3, every=100, progress=False)
    assert [motion.angle(j)[-1] for j in model.joints] == pytest.approx([-np.pi / 2, np.pi, -np.pi], abs=0.03)
    assert np.abs(motion.momentum.angular).max() <= 1e-10
    assert np.abs(motion.momentum.linear).max() <= 1e-10
    assert np.abs(motion.energy.balance_error).max() <= 1e-11 * np.abs(motion.energy.total).max()


def test_the_four_bar_turns_its_crank():
    model = ph.gallery.four_bar(crank_speed=10.0, elements=4)
    motion = model.simulate(0.7, 1e-3, progress=False)
    crank = next(joint for joint in model.joints if joint.second.placed is model["crank"])
    assert motion.angle(crank) == pytest.approx(10 * motion.time, abs=1e-12)
    assert motion.energy.work["crank drive"][-1] != 0


redundant = pytest.mark.filterwarnings("ignore::phlexible.RedundancyWarning")


def gaps(model, motion):
    return max(np.abs(motion.position(j.first) - motion.position(j.second)).max() for j in model.joints)


def crank_angle(times, loops):
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
def test_bricards_mechanism_follows_its_one_coordinate():
    """To the accuracy of the step, which falls with its square."""
    model = ph.gallery.bricard()
    errors, reference = [], np.loadtxt(REFERENCE / "bricard.csv", delimiter=",")[:, 1:]
    for step in (1e-2, 5e-3):
        corner = model.simulate(1.0, step, progress=False).position(model["rod 3"].point((1, 0, 0)))
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
