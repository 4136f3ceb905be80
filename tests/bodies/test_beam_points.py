"""Attachments of a beam: interpolation on the axis, cross-sections off it, the range of x."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.interpolate import CubicHermiteSpline

import phlexible as ph
from phlexible.bodies.locations import Along, End, MaterialPosition, Origin, Start

LENGTH, ELEMENTS = 0.3, 3
NODES = np.linspace(0, LENGTH, ELEMENTS + 1)


def beam(dimension=3, frame="cantilever", **more):
    return ph.Beam(LENGTH, ph.CircularSection(6e-3), ph.Material(2e11, 7870.0), ELEMENTS, frame, **more).discretize(
        dimension
    )


ETA = np.random.default_rng(1).normal(size=6 * ELEMENTS)
NODAL = np.vstack([np.zeros(6), ETA.reshape(ELEMENTS, 6)])


@settings(max_examples=40)
@given(st.floats(0, LENGTH), st.floats(-0.1, 0.1), st.floats(-0.1, 0.1))
def test_between_nodes_and_off_the_axis_cross_sections_stay_plane(x, y, z):
    v, w = (CubicHermiteSpline(NODES, NODAL[:, i], NODAL[:, i + 1]) for i in (1, 3))
    u, theta = (np.interp(x, NODES, NODAL[:, i]) for i in (0, 5))
    turn = np.array([theta, -w(x, 1), v(x, 1)])
    expected = np.array([u, v(x), w(x)]) + np.cross(turn, [0, y, z])
    points = beam().points
    point = points.locate(MaterialPosition((x, y, z)))
    assert np.array_equal(point.position, [x, y, z])
    assert point.shapes @ ETA == pytest.approx(expected, abs=1e-11)
    assert point.rotations @ ETA == pytest.approx(turn, abs=1e-10)
    assert points.locate(Along(x)).shapes @ ETA == pytest.approx(np.array([u, v(x), w(x)]), abs=1e-11)


@pytest.mark.parametrize("frame", ["cantilever", "simply_supported", "mean_axis"])
@pytest.mark.parametrize("modes", [None, 2])
def test_names_of_points_agree(frame, modes):
    points = beam(frame=frame, modes=modes).points
    for pair in ((Start(), Along(0)), (End(), Along(LENGTH)), (Origin(), Start())):
        one, other = (points.locate(each) for each in pair)
        assert np.array_equal(one.position, other.position)
        assert np.array_equal(one.shapes, other.shapes) and np.array_equal(one.rotations, other.rotations)
    positions, shapes = points.centerline(5)
    for x, place, shape in zip(np.linspace(0, LENGTH, 5), positions, shapes, strict=True):
        point = points.locate(Along(float(x)))
        assert np.array_equal(place, point.position)
        assert shape == pytest.approx(point.shapes, abs=1e-13)
    outline = points.outline(5)
    assert np.array_equal(outline[0], positions) and np.array_equal(outline[1], shapes)


def test_a_point_beyond_the_end_by_round_off_is_the_end():
    beyond = 0.1 + 0.2
    assert beyond > LENGTH
    point = beam().points.locate(Along(beyond))
    assert point.position[0] == LENGTH
    assert np.array_equal(point.shapes, beam().points.locate(End()).shapes)


@pytest.mark.parametrize("x", [-1e-6, 0.300001, np.nan, np.inf])
def test_a_point_outside_the_beam_is_refused(x):
    with pytest.raises(ph.AttachmentError, match=rf"x must lie in 0 <= x <= 0\.3 .*, got {x}"):
        beam().points.locate(Along(x))


def test_a_material_position_outside_the_beam_is_refused():
    with pytest.raises(ph.AttachmentError, match=r"x must lie in 0 <= x <= 0\.3 .*, got 0\.4"):
        beam().points.locate(MaterialPosition((0.4, 0, 0)))
    with pytest.raises(ph.AttachmentError, match=r"position must have z = 0 in dimension 2, got .*0\.01"):
        beam(dimension=2).points.locate(MaterialPosition((0.1, 0, 0.01)))
