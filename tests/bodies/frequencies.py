"""Zeros of characteristic equations, and the computed frequencies next to them."""

import numpy as np
from scipy.optimize import brentq


def roots(function, start, end, count):
    """The first zeros between two ends, shape (count,)."""
    x = np.linspace(start, end, 1500)
    values = np.array([function(each) for each in x])
    found = [brentq(function, x[i], x[i + 1]) for i in np.flatnonzero(values[:-1] * values[1:] < 0)]
    return np.array(found[:count])


def nearest(values, wanted):
    return np.array([values[np.argmin(np.abs(values - each))] for each in wanted])
