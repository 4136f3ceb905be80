"""Tops, Andrews' squeezer, a robot, panels and the driven four-bar against numbers from outside."""

from pathlib import Path

import numpy as np
import pytest

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
    instants = np.round(reference[:, 0] / step).astype(int)
    assert np.abs(axis[instants] - reference[:, 1:]).max() <= error
    assert np.abs(motion.energy.balance_error).max() <= 1e-12 * np.abs(motion.energy.total).max()


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
    energy = motion.energy
    assert np.abs(energy.balance_error).max() <= 1e-11 * np.abs(energy.total).max()
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
    assert [motion.angle(hinge)[-1] for hinge in model.joints] == pytest.approx(
        [-np.pi / 2, np.pi, -np.pi], abs=0.03
    )
    assert np.abs(motion.momentum.angular).max() <= 1e-10
    assert np.abs(motion.momentum.linear).max() <= 1e-10
    assert np.abs(motion.energy.balance_error).max() <= 1e-11 * np.abs(motion.energy.total).max()


def test_the_four_bar_turns_its_crank():
    model = ph.gallery.four_bar(crank_speed=10.0, elements=4)
    motion = model.simulate(0.7, 1e-3, progress=False)
    crank = next(joint for joint in model.joints if joint.second.placed is model["crank"])
    assert motion.angle(crank) == pytest.approx(10 * motion.time, abs=1e-12)
    assert np.abs(motion.energy.balance_error).max() <= 1e-12
    assert motion.energy.work["crank drive"][-1] != 0
