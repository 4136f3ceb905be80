"""Each frame takes the rigid motion out of the elastic coordinates, and nothing else."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.locations import End, Start

SECTION, MATERIAL = ph.RectangularSection(0.02, 0.03), ph.Material(2e11, 7870.0)


def beam(frame, dimension, elements=5, **more):
    return ph.Beam(0.6, SECTION, MATERIAL, elements, frame, **more).discretize(dimension)


@pytest.mark.parametrize("dimension", [2, 3])
def test_cantilever_is_clamped_and_simply_supported_has_its_x_axis_through_both_ends(dimension):
    clamped = beam("cantilever", dimension).points.locate(Start())
    assert not clamped.shapes.any() and not clamped.rotations.any()
    start, end = (beam("simply_supported", dimension).points.locate(place) for place in (Start(), End()))
    assert not start.shapes.any() and not start.rotations[0].any()
    assert not end.shapes[1:].any() and end.shapes[0].any()
    assert start.rotations[2].any() and end.rotations[2].any()
    assert end.rotations[0].any() == (dimension == 3)


@pytest.mark.parametrize("modes", [None, 2])
@pytest.mark.parametrize("rotary", [True, False])
@pytest.mark.parametrize("elements", [1, 5, 40])
@pytest.mark.parametrize("dimension", [2, 3])
def test_mean_axis_motion_has_no_momentum(dimension, elements, rotary, modes):
    body = beam("mean_axis", dimension, elements, rotary_inertia=rotary, modes=modes)
    assert modes or body.elastic_count == (3 if dimension == 2 else 6) * elements
    scale = np.abs(np.einsum("aaii->i", body.second_moments)[1:]) ** 0.5
    assert np.abs(body.first_moments[:, 1:] / scale).max() < 1e-13 * body.mass**0.5
    moments = body.second_moments
    inertia = body.mass * body.size**2
    for a, b in ((1, 2), (2, 0), (0, 1)):
        spin = (moments[a, b] - moments[b, a])[0, 1:]
        assert np.abs(spin / scale).max() < 1e-13 * inertia**0.5
