"""Linear and quadratic Lagrange functions of one line element: coordinate s in [0, 1], values at the nodes."""

import numpy as np

from phlexible.algebra.arrays import Array


def lagrange_values(s: Array) -> Array:
    """The two functions at local coordinates s (k,), shape (k, 2)."""
    return np.stack([1 - s, s], axis=-1)


def lagrange_slopes(s: Array, length: float) -> Array:
    """Their derivatives d/dx on an element of that length [m], shape (k, 2) [1/m]."""
    return np.broadcast_to(np.array([-1.0, 1.0]) / length, (*s.shape, 2))


def quadratic_values(s: Array) -> Array:
    """The three functions of start, middle and end at local coordinates s (k,), shape (k, 3)."""
    return np.stack([(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)], axis=-1)


def quadratic_slopes(s: Array, length: float) -> Array:
    """Their derivatives d/dx on an element of that length [m], shape (k, 3) [1/m]."""
    return np.stack([4 * s - 3, 4 - 8 * s, 4 * s - 1], axis=-1) / length
