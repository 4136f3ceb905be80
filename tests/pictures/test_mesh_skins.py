"""Skins and sharp edges of bodies in pictures."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from mechanisms import grounded
from phlexible.bodies.skin import solid_skin
from phlexible.pictures.scene import scene_of
from phlexible.shapes.solids import BALL, ROUND
from phlexible.shapes.surfaces import Triangulation, enclosed_moments, merged_vertices, open_edges, sharp_edges

RUBBER = ph.Material(2e8, 1200.0)
GRIDS = np.linspace(0, 1, 5), np.linspace(-0.05, 0.05, 3), np.linspace(-0.03, 0.03, 3)
BRICK = skfem.MeshHex.init_tensor(*GRIDS)
ENDS = {"root": lambda x: x[0] < 1e-9, "tip": lambda x: x[0] > 1 - 1e-9}


@pytest.mark.parametrize("mesh", [BRICK, skfem.MeshTet.init_tensor(*GRIDS)], ids=["hexahedra", "tetrahedra"])
def test_the_skin_of_a_solid_is_closed_and_moves_with_it(mesh):
    part = ph.FlexibleBody.from_mesh(mesh, RUBBER, interfaces=ENDS, modes=2, frame="root")
    skin = part.skin(part.discretize(3), np.zeros((0, 3)))
    surface = Triangulation(skin.positions[skin.vertex_nodes], skin.triangles)
    assert open_edges(surface) == 0
    assert enclosed_moments(surface).volume == pytest.approx(1.0 * 0.1 * 0.06)
    assert np.einsum("ti,tki->tk", surface.normals(), skin.normals[skin.triangles]).min() > 0.8
    model, arm, _ = grounded(part, by="root", gravity=(0, 0, -9.81))
    motion = model.simulate(0.02, 1e-3, progress=False)
    drawn = scene_of(motion.run, np.array([20])).bodies[0]
    corner = int(np.linalg.norm(skin.positions - [1, 0.05, 0.03], axis=1).argmin())
    at = motion.position(arm.point((1.0, 0.05, 0.03)))[20]
    assert drawn.nodes()[0, corner] == pytest.approx(at, abs=1e-12)
    assert at[2] < 0.03 - 1e-4


def test_a_plane_mesh_is_drawn_with_all_of_its_cells():
    disc = skfem.MeshTri.init_circle(3)
    part = ph.FlexibleBody.from_mesh(disc, RUBBER, interfaces={"rim": lambda x: x[0] > 0.9}, modes=1, thickness=0.1)
    skin = part.skin(part.discretize(2), np.zeros((0, 3)))
    a, b, c = (skin.positions[skin.vertex_nodes][skin.triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)[:, 2] / 2
    assert area.min() > 0 and area.sum() == pytest.approx(np.pi, rel=0.03)


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
