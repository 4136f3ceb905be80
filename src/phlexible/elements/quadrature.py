"""Gauss quadrature on the unit interval."""

import numpy as np

from phlexible.algebra.arrays import Array


def gauss(count: int) -> tuple[Array, Array]:
    """Points (count,) in (0, 1) and weights (count,) with sum 1; exact for degree 2 count - 1."""
    points, weights = np.polynomial.legendre.leggauss(count)
    return (1 + points) / 2, weights / 2
