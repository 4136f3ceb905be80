"""Models of the gallery with shells."""

import numpy as np
import pytest

import phlexible as ph


def test_a_thrown_cylinder_has_the_energy_of_a_second_program_and_keeps_it():
    """Of 24 x 2 elements with steps of 10 ms: 767.2905 J from one second on."""
    motion = ph.gallery.short_cylinder().simulate(1.3, 1e-2, progress=False)
    free = motion.time > 1.0 - 1e-9
    energy = motion.energy.total[free]
    assert energy[0] == pytest.approx(767.2905, abs=5e-5)
    assert np.ptp(energy) < 1e-11 * energy[0]
    for each in (motion.momentum.linear, motion.momentum.angular):
        assert np.abs(each[free] - each[-1]).max() < 1e-12 * np.abs(each).max()
