"""Shape functions of line elements and quadrature on them: coordinate s in [0, 1]."""

from functools import cache

import numpy as np

from phlexible.algebra.arrays import Array

# Gauss quadrature on the unit interval.


@cache
def gauss(count: int) -> tuple[Array, Array]:
    """Return the Gauss-Legendre quadrature rule with ``count`` points on the interval (0, 1): points (count,) and
    weights (count,) with sum 1, read-only arrays. It integrates polynomials of degree 2 count - 1 exactly."""
    points, weights = np.polynomial.legendre.leggauss(count)
    both = (1 + points) / 2, weights / 2
    for array in both:
        array.setflags(write=False)
    return both


# Linear and quadratic Lagrange functions of one line element: coordinate s in [0, 1], values at the nodes.


def lagrange_values(s: Array) -> Array:
    """Return both linear Lagrange shape functions (1 - s and s) of a line element at relative positions s (k,) in
    [0, 1]; shape (k, 2)."""
    return np.stack([1 - s, s], axis=-1)


def lagrange_slopes(s: Array, length: float) -> Array:
    """Return the derivatives d/dx, -1/L and 1/L, of both linear Lagrange shape functions of a line element of
    the given length L [m]. They are repeated for each of the relative positions s (k,), shape (k, 2) [1/m]."""
    return np.broadcast_to(np.array([-1.0, 1.0]) / length, (*s.shape, 2))


def quadratic_values(s: Array) -> Array:
    """Return the three quadratic Lagrange shape functions of a line element, of its nodes at the start, in the
    middle and at the end: their values at relative positions s (k,) in [0, 1], shape (k, 3)."""
    return np.stack([(1 - s) * (1 - 2 * s), 4 * s * (1 - s), s * (2 * s - 1)], axis=-1)


def quadratic_slopes(s: Array, length: float) -> Array:
    """Return the derivatives d/dx of the three quadratic Lagrange shape functions of a line element of the given
    length [m], shape (k, 3) [1/m]. They are at relative positions s (k,) in [0, 1]."""
    return np.stack([4 * s - 3, 4 - 8 * s, 4 * s - 1], axis=-1) / length


def line_values(order: int, s: Array) -> Array:
    """Return the linear (``order`` 1) or quadratic (2) Lagrange shape functions of a line element. Their values are
    those at relative positions s (k,) in [0, 1], shape (k, order + 1)."""
    return lagrange_values(s) if order == 1 else quadratic_values(s)


def line_slopes(order: int, s: Array, length: float) -> Array:
    """Return the derivatives d/dx of the linear (``order`` 1) or quadratic (2) Lagrange shape functions of a line
    element. It has the given length [m]; positions s (k,) are relative, in [0, 1]; shape (k, order + 1) [1/m]."""
    return lagrange_slopes(s, length) if order == 1 else quadratic_slopes(s, length)


# Cubic Hermite functions of one line element: coordinate s in [0, 1].
#
# They interpolate (value, slope d/dx) at s = 0, then (value, slope d/dx) at s = 1, in this order.


def hermite_values(s: Array, length: float) -> Array:
    """Return the values of the four cubic Hermite shape functions of a beam element of the given ``length`` [m],
    shape (k, 4). They are evaluated at relative positions s (k,) between 0 and 1. The functions multiply
    deflection and its derivative dw/dx at the start, then at the end."""
    start = (1 - s) ** 2 * (1 + 2 * s), length * s * (1 - s) ** 2
    end = s**2 * (3 - 2 * s), length * s**2 * (s - 1)
    return np.stack([*start, *end], axis=-1)


def hermite_slopes(s: Array, length: float) -> Array:
    """Return the first derivatives d/dx of the four cubic Hermite shape functions of a beam element of the given
    ``length`` [m], shape (k, 4). They are evaluated at relative positions s (k,) between 0 and 1. The functions
    multiply deflection and its derivative dw/dx at the start, then at the end."""
    start = 6 * s * (s - 1) / length, (1 - s) * (1 - 3 * s)
    end = 6 * s * (1 - s) / length, s * (3 * s - 2)
    return np.stack([*start, *end], axis=-1)


def hermite_curvatures(s: Array, length: float) -> Array:
    """Return the second derivatives d2/dx2 of the four cubic Hermite shape functions of a beam element of the
    given ``length`` [m], shape (k, 4). They are evaluated at relative positions s (k,) between 0 and 1. The
    functions multiply deflection and its derivative dw/dx at the start, then at the end."""
    start = (12 * s - 6) / length**2, (6 * s - 4) / length
    end = (6 - 12 * s) / length**2, (6 * s - 2) / length
    return np.stack([*start, *end], axis=-1)
