"""A hundred thousand steps: joints do not drift, rotations stay orthogonal, energy stays."""

import numpy as np
import pytest

from whole_models.pairs import pendulum_chain


@pytest.mark.parametrize("dimension", [2, 3])
def test_nothing_drifts_in_a_hundred_thousand_steps(dimension):
    model = pendulum_chain(dimension)
    motion = model.simulate(100.0, 1e-3, every=500)
    recording = motion.recording
    product = np.swapaxes(recording.rotation, -1, -2) @ recording.rotation
    assert np.abs(product - np.eye(3)).max() <= 1e-13
    gaps = np.abs(motion.run.system.rows.values(recording.instants()))
    early, late = gaps[:20].max(), gaps[-20:].max()
    assert late <= 1e-12
    assert late <= 20 * max(early, 1e-15)
    energy = motion.energy
    scale = energy.kinetic.max() + np.abs(energy.gravity).max() + energy.strain.max()
    assert np.abs(energy.balance_error).max() <= 1e-9 * scale  # round-off of 1e5 steps
