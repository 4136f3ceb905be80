"""What a body from a mesh looks like: its surface, or in the plane all of its cells."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.skin import Skin
from phlexible.shapes.creases import smoothed


def mesh_skin(mesh: ElementMesh, shapes: Array) -> Skin:
    """The corners of the surface, which move with the shapes (N, 3, n) of the displacement nodes."""
    triangles = plane_triangles(mesh) if mesh.dimension == 2 else _surface_triangles(mesh)
    used, numbered = np.unique(triangles, return_inverse=True)
    triangles = numbered.reshape(-1, 3).astype(np.int64)
    nodes = mesh.vertex_nodes[used]
    positions = mesh.nodes[nodes]
    corners, normals, faces = smoothed(positions, triangles)
    own = shapes[nodes]
    return Skin(
        positions=positions,
        shapes=own,
        turns=np.zeros_like(own),
        vertex_nodes=corners,
        offsets=np.zeros((len(corners), 3)),
        normals=normals,
        triangles=faces,
    )


def plane_triangles(mesh: ElementMesh) -> IntArray:
    """Corners of all cells, counter-clockwise."""
    cells = mesh.cells
    triangles = cells if cells.shape[1] == 3 else np.concatenate([cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]])
    a, b, c = (mesh.geometry[triangles[:, k]] for k in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    return np.where((area > 0)[:, None], triangles, triangles[:, ::-1])


def _surface_triangles(mesh: ElementMesh) -> IntArray:
    """Corners of the facets that one cell has, counter-clockwise seen from outside."""
    given = mesh.mesh
    facets = given.boundary_facets()
    corners = np.asarray(given.facets.T[facets], dtype=np.int64)
    inside = mesh.geometry[mesh.cells[given.f2t[0, facets]]].mean(axis=1)
    away = mesh.geometry[corners].mean(axis=1) - inside
    if corners.shape[1] == 4:
        corners = _around(mesh.geometry, corners)
        triangles = np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])
        away = np.concatenate([away, away])
    else:
        triangles = corners
    a, b, c = (mesh.geometry[triangles[:, k]] for k in range(3))
    outward = np.einsum("ti,ti->t", np.cross(b - a, c - a), away) > 0
    return np.where(outward[:, None], triangles, triangles[:, ::-1])


def _around(places: Array, corners: IntArray) -> IntArray:
    """The four corners of each facet in the order in which they follow each other."""
    p = places[corners]
    middle = p - p.mean(axis=1, keepdims=True)
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    first = middle[:, 0]
    second = np.cross(normal, first)
    scale = np.linalg.norm(normal, axis=1, keepdims=True)
    angle = np.arctan2(np.einsum("fki,fi->fk", middle, second) / scale, np.einsum("fki,fi->fk", middle, first))
    return np.take_along_axis(corners, np.argsort(angle, axis=1), axis=1)
