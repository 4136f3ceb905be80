"""Smooth parts and sharp edges of surfaces of triangles."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross

SMOOTH = np.cos(np.radians(35.0))
"""Cosine of the angle between the normals of neighbours above which their edge is smooth."""
SAME = 1e-7
"""Distance, relative to the size of the surface, below which vertices are identical."""


def merged_vertices(vertices: Array, triangles: IntArray) -> tuple[Array, IntArray]:
    """Merge ``vertices`` of a triangle mesh that are at the same position, up to round-off. Return the
    remaining vertices (w, 3), sorted by position, and the triangles (t, 3) as indices into these."""
    size = float(np.ptp(vertices, axis=0).max(initial=0.0)) or 1.0
    positions = np.round(vertices / (SAME * size))
    _, first, number = np.unique(positions, axis=0, return_index=True, return_inverse=True)
    return vertices[first], number.reshape(-1)[triangles]


def shading_vertices(vertices: Array, triangles: IntArray) -> tuple[IntArray, Array, IntArray]:
    """Split the ``vertices`` of a triangle mesh at its sharp edges, for smooth shading: each position has one
    vertex for each smooth part of the surface around it. Return the old index of each new vertex (w,), its
    normal (w, 3) and the triangles (t, 3) with new indices.

    Args:
        vertices: shape (v, 3), at different positions.
        triangles: shape (t, 3), counter-clockwise seen from outside.

    Returns:
        Index of the vertex at the position of each new vertex (w,), outward unit normals (w, 3), triangles (t, 3).
    """
    areas, units = _triangle_normals(vertices, triangles)
    one, two = _shared_edges(triangles)
    is_smooth = np.einsum("ei,ei->e", units[one // 3], units[two // 3]) > SMOOTH
    one, two = one[is_smooth], two[is_smooth]
    corners = triangles.ravel()
    is_turned = corners[one] != corners[two]  # as in neighbours of the same orientation
    ends = _next_corners(two)
    first, second = np.where(is_turned, ends, two), np.where(is_turned, two, ends)
    links = np.concatenate([one, _next_corners(one)]), np.concatenate([first, second])
    graph = coo_array((np.ones(len(links[0])), links), (len(corners), len(corners)))
    count, labels = connected_components(graph, directed=False)
    indices = np.zeros(count, dtype=np.int64)
    indices[labels] = corners
    sums = np.zeros((count, 3))
    np.add.at(sums, labels, np.repeat(areas, 3, axis=0))
    return indices, _unit_vectors(sums), labels.reshape(-1, 3).astype(np.int64)


def sharp_edges(vertices: Array, triangles: IntArray) -> IntArray:
    """Return the sharp edges of a triangle mesh, at which the normals of both ``triangles`` differ by more
    than 35 degrees, and its boundary edges: pairs of vertex indices, shape (e, 2)."""
    units = _triangle_normals(vertices, triangles)[1]
    one, two = _shared_edges(triangles)
    is_sharp = np.einsum("ei,ei->e", units[one // 3], units[two // 3]) <= SMOOTH
    is_sharp &= units[one // 3].any(axis=1) & units[two // 3].any(axis=1)  # not of triangles without area
    is_boundary = np.ones(triangles.size, dtype=bool)
    is_boundary[one] = is_boundary[two] = False
    begins = np.concatenate([one[is_sharp], np.flatnonzero(is_boundary)])
    corners = triangles.ravel()
    return np.stack([corners[begins], corners[_next_corners(begins)]], axis=1)


def _triangle_normals(vertices: Array, triangles: IntArray) -> tuple[Array, Array]:
    """Return two arrays of outward normals of the ``triangles`` of a mesh, each of shape (t, 3): those with
    twice the area as length, and unit vectors. ``vertices`` (n, 3) are its corners."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = cross(b - a, c - a)
    return areas, _unit_vectors(areas)


def _unit_vectors(vectors: Array) -> Array:
    """Return vectors (k, 3) divided by their lengths, shape (k, 3); zero vectors stay zero."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300))


def _next_corners(corners: IntArray) -> IntArray:
    """Return the index of the next corner in the same triangle, for each of the given corners of a mesh. Corners
    are numbered 3 i + k for corner k (0, 1, 2) of triangle i."""
    return np.asarray(np.where(corners % 3 == 2, corners - 2, corners + 1))


def _shared_edges(triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Return all pairs of triangle sides of a mesh that are the same edge, as two arrays of equal length. A side is
    given by the corner (3 i + k for corner k of triangle i) at which it begins."""
    begins = np.arange(triangles.size)
    ends = np.sort(np.stack([triangles.ravel(), triangles.ravel()[_next_corners(begins)]], axis=1), axis=1)
    order = np.lexsort(ends.T)
    is_same = (ends[order][1:] == ends[order][:-1]).all(axis=1)
    return order[:-1][is_same], order[1:][is_same]
