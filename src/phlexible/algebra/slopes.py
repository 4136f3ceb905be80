"""Is one function of a number the derivative of another? The mean of the one is the growth of the other."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array

Function = Callable[[float], float]

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)
PIECES = 64
KINKS = 2  # of these pieces may hold one


class Disagreement(NamedTuple):
    """Where a slope is not the derivative: between two places, growth per unit and mean of the slope."""

    begin: float
    end: float
    growth: float
    mean: float


def disagreement(energy: Function, slope: Function, places: Array, tolerance: float) -> Disagreement | None:
    """The first stretch between two places where the slope does not fit; None: it fits everywhere.

    A kink spoils the quadrature of the stretch that it is in, and of the few pieces of it that hold it; a
    wrong slope spoils most pieces of a stretch.
    """
    for begin, end in itertools.pairwise(places.tolist()):
        growth, mean = growth_of(energy, begin, end), mean_of(slope, begin, end)
        if abs(growth - mean) <= tolerance:
            continue
        pieces = itertools.pairwise(np.linspace(begin, end, PIECES + 1).tolist())
        wrong = [not abs(growth_of(energy, a, b) - mean_of(slope, a, b)) <= tolerance for a, b in pieces]
        if sum(wrong) > KINKS:
            return Disagreement(begin, end, growth, mean)
    return None


def growth_of(function: Function, begin: float, end: float) -> float:
    """(f(end) - f(begin)) / (end - begin)."""
    return (float(function(end)) - float(function(begin))) / (end - begin)


def mean_of(function: Function, begin: float, end: float) -> float:
    """Mean value between two places, by 8 Gauss points."""
    places = (begin + end) / 2 + (end - begin) / 2 * POINTS
    return float(sum(w * float(function(float(x))) for w, x in zip(WEIGHTS, places, strict=True))) / 2
