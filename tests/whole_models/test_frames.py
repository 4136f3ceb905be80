"""All frames of a beam describe the same motion up to discretization (Remark 6 of Brugnoli et al. 2020)."""

import numpy as np
import pytest

from whole_models.pairs import places, two_links

FRAMES = ("cantilever", "simply_supported", "mean_axis")


def spread(dimension, elements, rotary_inertia):
    """Greatest distance between the frames' answers after 0.2 s [m], and the greatest deflection."""
    ends = []
    for frame in FRAMES:
        model = two_links(dimension, frame=frame, elements=elements, rotary_inertia=rotary_inertia)
        motion = model.simulate(0.2, 1e-4, every=20)
        ends.append([motion.position(place)[-1] for place in places(model)])
        deflection = np.abs(motion.elastic_displacement(model["b"].at(0.5))).max()
    return max(np.abs(np.subtract(end, ends[0])).max() for end in ends[1:]), deflection


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("rotary_inertia", [True, False])
def test_frames_agree(dimension, rotary_inertia):
    coarse, _ = spread(dimension, 2, rotary_inertia)
    fine, deflection = spread(dimension, 8, rotary_inertia)
    assert deflection > 1e-4
    assert fine < 1.5e-6 < 1e-2 * deflection
    assert fine < coarse / 2
