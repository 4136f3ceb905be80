"""What exact balances do not show: where a thrown body lands, and whether a spinning rod keeps its shape.

A step can hold energy and momenta to round-off and still fold up a rod or miss the point where a body lands,
when it moves the centre of mass by anything else than h mean(p) / m.
"""

from itertools import product

import numpy as np
import pytest

import phlexible as ph

FRAMES = ("cantilever", "simply_supported", "mean_axis")
SPINS = ((0.0, 0.0, 10.0), (0.0, 0.0, 200.0), (10.0, 200.0, 50.0))  # [rad/s]
TURNS = (0.01, 0.2)  # of a step [rad]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_spinning_rod_keeps_its_shape(frame):
    """It begins stretched by its spin, and stays so; the step is up to many periods of its vibrations long."""
    steel = ph.Material(2.1e11, 7850.0, 0.3)
    rod = ph.Beam(1.0, ph.CircularSection(0.01), steel, elements=4, frame=frame)
    for spin, turn in product(SPINS, TURNS):
        model = ph.Model()
        body = model.add(rod, velocity=(30.0, -20.0, 10.0), angular_velocity=spin)
        step = turn / np.linalg.norm(spin)
        motion = model.simulate(600 * step, step, initial="quasi_static")
        strain = motion.energy.strain
        assert strain == pytest.approx(strain[0], rel=0.1)
        assert np.diff(motion.iterations).max() <= (16 if frame == "cantilever" else 8)
        middle = motion.position(body.at(0.5))
        along = motion.position(body.end) - motion.position(body.start)
        assert np.linalg.norm(along, axis=1) == pytest.approx(1.0, rel=1e-3)
        assert middle - motion.position(body.start) == pytest.approx(along / 2, abs=1e-3)
