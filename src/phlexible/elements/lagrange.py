"""Linear Lagrange functions of one line element: coordinate s in [0, 1], values at the two ends."""

import numpy as np

from phlexible.algebra.arrays import Array


def lagrange_values(s: Array) -> Array:
    """The two functions at local coordinates s (k,), shape (k, 2)."""
    return np.stack([1 - s, s], axis=-1)


def lagrange_slopes(s: Array, length: float) -> Array:
    """Their derivatives d/dx on an element of that length [m], shape (k, 2) [1/m]."""
    return np.broadcast_to(np.array([-1.0, 1.0]) / length, (*s.shape, 2))
