"""A hundred thousand steps: joints do not drift, rotations stay orthogonal, energy stays."""

import numpy as np
import pytest
from phlexible.system.constraints import constraint_values, mechanism_layout
from phlexible.system.state import State

from system.pairs import pendulum_chain


def greatest_gap(model, recording, rows):
    layout = mechanism_layout(model)
    gaps = []
    for k in rows:
        state = State(
            recording.time[k],
            recording.position[k],
            recording.rotation[k],
            recording.elastic[k],
            recording.velocity[k],
        )
        gaps.append(np.abs(constraint_values(model, layout, state)).max())
    return max(gaps)


@pytest.mark.parametrize("dimension", [2, 3])
def test_nothing_drifts_in_a_hundred_thousand_steps(dimension):
    model = pendulum_chain(dimension)
    motion = model.simulate(100.0, 1e-3, every=500)
    recording = motion.recording
    product = np.swapaxes(recording.rotation, -1, -2) @ recording.rotation
    assert np.abs(product - np.eye(3)).max() <= 1e-13
    early, late = range(0, 20), range(len(recording.time) - 20, len(recording.time))
    assert greatest_gap(model, recording, late) <= 1e-12
    assert greatest_gap(model, recording, late) <= 20 * max(greatest_gap(model, recording, early), 1e-15)
    energy = motion.energy
    scale = energy.kinetic.max() + np.abs(energy.gravity).max() + energy.strain.max()
    assert np.abs(energy.balance_error).max() <= 1e-9 * scale  # round-off of 1e5 steps
