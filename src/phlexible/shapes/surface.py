"""Surfaces of triangles, and the mass that a closed one holds."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles whose corners go round counter-clockwise, seen from outside.

    Attributes:
        vertices: shape (v, 3) [m].
        triangles: numbers of vertices, shape (t, 3).
    """

    vertices: Array
    triangles: IntArray

    def corners(self) -> Array:
        """The corners of each triangle, shape (t, 3, 3) [m]."""
        return self.vertices[self.triangles]

    def normals(self) -> Array:
        """Outward unit normals of the triangles, shape (t, 3); zero where one has no area."""
        a, b, c = np.moveaxis(self.corners(), 1, 0)
        normals = np.cross(b - a, c - a)
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        return np.asarray(normals / np.where(length > 0, length, 1.0))

    def moved(self, offset: Array) -> "Surface":
        """The same elsewhere; offset of shape (3,) [m]."""
        return Surface(self.vertices + offset, self.triangles)


@dataclass(frozen=True, eq=False)
class SolidMoments:
    """What a homogeneous solid of density 1 kg/m3 weighs, and where.

    Attributes:
        volume: [m3].
        center: centroid, shape (3,) [m].
        inertia: about the centroid, shape (3, 3) [m5].
    """

    volume: float
    center: Array
    inertia: Array


def enclosed(surface: Surface) -> SolidMoments:
    """Of the solid inside a closed surface, from its tetrahedra to one point (docs/theory.md, 2).

    The volume is negative where the triangles go round the wrong way.
    """
    corners = surface.corners()
    reference = corners.reshape(-1, 3).mean(axis=0)  # near the solid: differences of small numbers
    a, b, c = np.moveaxis(corners - reference, 1, 0)
    sixfold = np.einsum("ti,ti->t", a, np.cross(b, c))
    volume = float(sixfold.sum() / 6)
    total = a + b + c
    center = np.asarray(np.einsum("t,ti->i", sixfold, total) / 24 / volume)
    squares = sum(np.einsum("t,ti,tj->ij", sixfold, p, p) for p in (a, b, c, total)) / 120
    squares = squares - volume * np.outer(center, center)
    return SolidMoments(volume, reference + center, np.trace(squares) * np.eye(3) - squares)


def open_edges(surface: Surface) -> int:
    """How many edges do not have exactly one triangle on each side; corners at one place count as one."""
    vertices = surface.vertices
    size = float(np.ptp(vertices, axis=0).max(initial=0.0)) or 1.0
    same = np.unique(np.round(vertices / (1e-7 * size)), axis=0, return_inverse=True)[1].reshape(-1)
    corners = same[surface.triangles]
    ahead = np.concatenate([corners[:, [k, (k + 1) % 3]] for k in range(3)])
    ahead = ahead[ahead[:, 0] != ahead[:, 1]]
    count = int(same.max()) + 1
    forward, back = (ahead @ np.array([count, 1]) for ahead in (ahead, ahead[:, ::-1]))
    edges = np.unique(np.concatenate([forward, back]))
    at_front = np.bincount(np.searchsorted(edges, forward), minlength=len(edges))
    at_back = np.bincount(np.searchsorted(edges, back), minlength=len(edges))
    return int(np.count_nonzero(at_front != at_back)) // 2  # each edge is there in both directions
