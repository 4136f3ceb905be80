"""Slopes of functions of many states at once."""

from collections.abc import Callable

import numpy as np

from phlexible.algebra.arrays import Array

STEP = 1e-7
SMALL = 1e-3


def slope_by_differences(function: Callable[[Array], Array], x: Array, sizes: Array) -> Array:
    """df/dx from one-sided differences of f, which takes states (T, n) and returns (T, k); shape (k, n).

    Args:
        sizes: what is large for each entry of x, shape (n,).
    """
    steps = STEP * np.maximum(sizes, SMALL)
    values = function(np.concatenate([x[None], x + np.diag(steps)]))
    return np.asarray((values[1:] - values[0]).T / steps)
