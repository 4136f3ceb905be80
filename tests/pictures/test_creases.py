"""Solids are smooth where they are round, and have edges where they are not."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.skin import solid_skin
from phlexible.shapes.solids import BALL, ROUND
from phlexible.shapes.surfaces import Triangulation, enclosed_moments, merged_vertices, open_edges, sharp_edges


def skin_of(shape):
    surface = shape.centred()
    skin = solid_skin(surface)
    again = Triangulation(skin.offsets, skin.triangles)
    assert open_edges(again) == 0
    assert enclosed_moments(again).volume == pytest.approx(enclosed_moments(surface).volume)
    return skin


def test_a_drum_is_smooth_around_and_has_two_rims() -> None:
    skin = skin_of(ph.Cylinder(0.5, 0.2))
    on_side = np.abs(skin.normals[:, 2]) < 0.5
    around = skin.offsets[on_side, :2] / 0.5
    assert skin.normals[on_side, :2] == pytest.approx(around, abs=0.06)  # of 60 corners, two triangles a side
    assert np.abs(skin.normals[~on_side, 2]) == pytest.approx(1.0)
    edges = skin.edges()
    assert len(edges) == 2 * ROUND
    assert np.linalg.norm(skin.offsets[edges][..., :2], axis=2) == pytest.approx(0.5)
    assert np.ptp(skin.offsets[edges][..., 2], axis=1) == pytest.approx(0.0)
    assert 0.5 * (1 - np.cos(np.pi / ROUND)) < 1e-3  # how far its sides are from round


def test_a_ball_has_no_edges_and_a_box_twelve() -> None:
    ball, box = skin_of(ph.Sphere(2.0)), skin_of(ph.Box((1, 2, 3)))
    assert ball.normals == pytest.approx(ball.offsets / 2.0, abs=1.5 * np.pi / BALL)
    assert len(ball.edges()) == 0
    lengths = np.ptp(box.offsets[box.edges()], axis=1).max(axis=1)
    assert sorted(lengths) == pytest.approx([1.0] * 4 + [2.0] * 4 + [3.0] * 4)
    assert np.abs(box.normals).max(axis=1) == pytest.approx(1.0)  # corners are split


def test_corners_at_one_place_are_joined_and_open_edges_are_edges() -> None:
    """As files of triangles have them, one by one."""
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0], [0, 1, 0]])
    vertices, triangles = merged_vertices(square, np.arange(6).reshape(2, 3))
    assert len(vertices) == 4
    edges = {tuple(sorted(map(tuple, vertices[edge][:, :2].tolist()))) for edge in sharp_edges(vertices, triangles)}
    assert len(edges) == 4 and ((0.0, 0.0), (1.0, 1.0)) not in edges
