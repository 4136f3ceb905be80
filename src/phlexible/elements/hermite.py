"""Cubic Hermite functions of one line element: coordinate s in [0, 1].

They interpolate (value, slope d/dx) at s = 0, then (value, slope d/dx) at s = 1, in this order.
"""

import numpy as np

from phlexible.algebra.arrays import Array


def hermite_values(s: Array, length: float) -> Array:
    """The four functions at local coordinates s (k,) of an element of that length [m], shape (k, 4)."""
    return np.stack(
        [
            (1 - s) ** 2 * (1 + 2 * s),
            length * s * (1 - s) ** 2,
            s**2 * (3 - 2 * s),
            length * s**2 * (s - 1),
        ],
        axis=-1,
    )


def hermite_slopes(s: Array, length: float) -> Array:
    """Their first derivatives d/dx, shape (k, 4)."""
    return np.stack(
        [
            6 * s * (s - 1) / length,
            (1 - s) * (1 - 3 * s),
            6 * s * (1 - s) / length,
            s * (3 * s - 2),
        ],
        axis=-1,
    )


def hermite_curvatures(s: Array, length: float) -> Array:
    """Their second derivatives d2/dx2, shape (k, 4)."""
    return np.stack(
        [
            (12 * s - 6) / length**2,
            (6 * s - 4) / length,
            (6 - 12 * s) / length**2,
            (6 * s - 2) / length,
        ],
        axis=-1,
    )
