"""Signed distances of points from solids, in one formula for the step and for arrays (docs/theory.md, 8)."""

from math import sqrt
from types import FunctionType
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.step.tables.declarations import BALL_INSIDE, DRUM, PLANE, RING, TUBE


def solid_distance(kind: int, a: float, b: float, c: float, x: float, y: float, z: float) -> float:
    """Return the signed distance of a point (x, y, z) from the surface of a solid, in the solid's axes, negative
    inside its material [m]. ``kind`` says whether the solid is a plane, the space around a ball, a ring (rounded
    at its centre), a tube, a drum (cylinder) or, for any other value, a block. a, b, c are its sizes.

    Args:
        kind: of the solid, a block if it is no other one.
        a, b, c: its sizes [m].
        x, y, z: coordinates of the point in the axes of the solid [m].
    """
    if kind == PLANE:
        return z - a
    if kind == BALL_INSIDE:
        return a - sqrt(x * x + y * y + z * z)
    if kind == RING:
        r = sqrt(x * x + y * y + c * c)
        ring = r - c * c / r - a
        return sqrt(ring * ring + z * z) - b
    if kind == TUBE:
        return b * (sqrt(x * x + y * y) - a)
    if kind == DRUM:
        out, high = sqrt(x * x + y * y) - a, abs(z) - b
        i, j = max(out, 0.0), max(high, 0.0)
        return sqrt(i * i + j * j) + min(max(out, high), 0.0)
    p, q, r = abs(x) - a, abs(y) - b, abs(z) - c
    i, j, k = max(p, 0.0), max(q, 0.0), max(r, 0.0)
    return sqrt(i * i + j * j + k * k) + min(max(p, q, r), 0.0)


def _greatest(first: Any, *others: Any) -> Any:
    for other in others:
        first = np.maximum(first, other)
    return first


_OF_ARRAYS = {"sqrt": np.sqrt, "abs": np.abs, "max": _greatest, "min": np.minimum}
_distances = FunctionType(solid_distance.__code__, globals() | _OF_ARRAYS)


def solid_distances(kind: int, size: tuple[float, float, float], points: Array) -> Array:
    """Return the signed distances of points, shape (points, 3), in the axes of a solid, from its surface [m]. The
    result has the shape (points,) and is negative inside. ``kind`` is the number of the solid's type, ``size`` its
    three measures [m]; the formulas are those of ``solid_distance``."""
    return np.asarray(_distances(kind, *size, *points.T))
