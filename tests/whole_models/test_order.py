"""The conserving step has order 2, in positions and projected velocities, where it resolves the motion."""

import numpy as np
import pytest

from whole_models.pairs import places, two_links


def orders(model, duration, steps):
    """Observed orders from three halvings of the step, of positions and of velocities at the end."""
    positions, velocities = [], []
    for halving in range(4):
        count = steps * 2**halving
        motion = model.simulate(duration, duration / count, every=count)
        positions.append([motion.position(place)[-1] for place in places(model)])
        velocities.append([motion.velocity(place)[-1] for place in places(model)])
    gaps = [[np.linalg.norm(d) for d in np.diff(values, axis=0)] for values in (positions, velocities)]
    return [np.log2(gap[-2] / gap[-1]) for gap in gaps]


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("options", [{}, {"frame": "mean_axis", "strain": "linear"}, {"modes": 2}])
def test_order_two(dimension, options):
    assert orders(two_links(dimension, **options), 0.02, 400) == pytest.approx([2.0, 2.0], abs=0.1)
