"""Joints do not drift and rotations stay rotations, in 100 steps of any size and in 100 000."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.spatial.transform import Rotation

import phlexible as ph
from laws.examples import EVERY_JOINT, SEEDS, STEP_SIZES, examples, resolved
from laws.figures import energy_error, joint_gaps, orthogonality_error
from laws.models import Wishes, random_mechanism
from phlexible.state.initial_state import InitialKind

LIMIT = 1e-12
STEEL = ph.Material(youngs_modulus=2e11, density=7870.0)


@EVERY_JOINT
@examples(2)
@given(
    seed=SEEDS,
    h_omega=st.sampled_from(STEP_SIZES),
    ground=st.sampled_from(["fixed", "moving"]),
    initial=st.sampled_from(InitialKind),
)
def test_joints_hold_under_loads(dimension, kind, seed, h_omega, ground, initial):
    wishes = Wishes(dimension, h_omega, ground, gravity=True, loads=2, initial=initial, first_joint=kind)
    motion = resolved(lambda: random_mechanism(seed, wishes).simulate(every=50))
    assert max(joint_gaps(motion)) <= LIMIT
    assert orthogonality_error(motion) <= 1e-13
    assert energy_error(motion) <= 1e-11


def double_pendulum(dimension):
    """A rigid body and a beam with small pins, off every axis of symmetry."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    bob = ph.RigidBody(0.4, (0.02, 0.03, 0.02), center=(0.3, 0, 0))
    beam = ph.Beam(0.8, ph.RectangularSection(0.02, 0.01), STEEL, elements=2, modes=1)
    tilt = 0.4 if dimension == 2 else Rotation.from_rotvec([0.3, 0.4, -0.5]).as_matrix()
    bend = -0.7 if dimension == 2 else Rotation.from_rotvec([0, 0.6, -0.7]).as_matrix()
    upper = model.add(bob, "bob", rotation=tilt)
    elbow = upper.point((0.6, 0.1, 0))
    lower = model.add(beam, "beam", elbow.initial_position(), bend)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), upper.origin, axis=(0, 0.3 * (dimension - 2), 1)))
    model.connect(ph.Revolute(elbow, lower.start, axis=(0.5 * (dimension - 2), 0, 1)))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("dimension", [pytest.param(2, marks=pytest.mark.thorough), 3])
def test_nothing_drifts_in_100_000_steps(dimension):
    motion = double_pendulum(dimension).simulate(100.0, 1e-3, every=100, progress=False)
    assert len(motion.time) == 1001 and motion.iterations[-1] >= 100_000
    assert max(joint_gaps(motion, count=1001)) <= LIMIT
    assert orthogonality_error(motion) <= 1e-13
    assert np.abs(motion.energy.balance_error).max() <= 1e-10 * motion.energy.kinetic.max()
