"""The mesh of a connecting rod: a shank between two heads with holes, one of them with a boss."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array, IntArray

if TYPE_CHECKING:
    from skfem import MeshHex

SIDE, RINGS, LAYERS = 4, 2, 1  # elements along a side of a head, around a hole, through the thickness


def connecting_rod(
    length: float, width: float, thickness: float, hole: float, boss: float, elements: int
) -> "MeshHex":
    """Hexahedra from the centre of one hole, at the origin, to that of the other at (length, 0, 0).

    Args:
        length: between the holes [m].
        width: of shank and square heads along y [m].
        thickness: of shank and heads along z [m].
        hole: radius [m].
        boss: how far the first head stands out on each side [m].
        elements: along the shank.
    """
    from skfem import MeshHex

    head = _head(width / 2, hole)
    x = np.linspace(width / 2, length - width / 2, elements + 1)
    y = np.linspace(-width / 2, width / 2, SIDE + 1)
    shank = np.array([_cell(x[i : i + 2], y[j : j + 2]) for i in range(elements) for j in range(SIDE)])
    plane = np.concatenate([head, shank, head + (length, 0.0)])
    levels = np.linspace(-thickness / 2, thickness / 2, LAYERS + 1)
    parts = [_extruded(plane, low, high) for low, high in pairwise(levels)]
    if boss:
        parts += [
            _extruded(head, -thickness / 2 - boss, -thickness / 2),
            _extruded(head, thickness / 2, thickness / 2 + boss),
        ]
    corners = np.concatenate(parts)
    return MeshHex(*_joined(corners, 1e-6 * width))


def _cell(x: Array, y: Array) -> Array:
    """Corners of a rectangle, shape (4, 2)."""
    return np.array([(x[0], y[0]), (x[1], y[0]), (x[1], y[1]), (x[0], y[1])])


def _head(half: float, radius: float) -> Array:
    """Quadrilaterals of a square with a round hole, shape (q, 4, 2)."""
    along = np.linspace(-1, 1, SIDE + 1)
    edge = np.concatenate(
        [np.column_stack([along, -np.ones(SIDE + 1)])[:-1], np.column_stack([np.ones(SIDE + 1), along])[:-1]]
    )
    square = half * np.concatenate([edge, -edge, edge[:1]])
    circle = radius * square / np.linalg.norm(square, axis=1, keepdims=True)
    rings = [circle + (square - circle) * k / RINGS for k in range(RINGS + 1)]
    cells = [
        (rings[k][i], rings[k + 1][i], rings[k + 1][i + 1], rings[k][i + 1])
        for k in range(RINGS)
        for i in range(4 * SIDE)
    ]
    return np.array(cells)


def _extruded(plane: Array, low: float, high: float) -> Array:
    """Hexahedra over quadrilaterals (q, 4, 2), corners below, then above, shape (q, 8, 3)."""
    below, above = (np.concatenate([plane, np.full((*plane.shape[:2], 1), z)], axis=2) for z in (low, high))
    return np.concatenate([below, above], axis=1)


def _joined(corners: Array, close: float) -> tuple[Array, IntArray]:
    """Places (3, k) and elements (8, e) in scikit-fem's order; corners at the same place are one."""
    points = corners.reshape(-1, 3)
    _, first, inverse = np.unique(np.round(points / close), axis=0, return_index=True, return_inverse=True)
    cells = inverse.reshape(-1, 8)[:, [0, 4, 3, 1, 7, 5, 2, 6]]
    return np.ascontiguousarray(points[first].T), np.ascontiguousarray(cells.T)
