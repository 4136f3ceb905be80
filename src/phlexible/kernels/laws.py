"""Stored energies W(C) of strings in compiled code: value, discrete derivative and its slope.

The same laws as ``bodies/string_law.py`` and ``bodies/user_law.py``, for single numbers. C0 and C1 are
the strain at both ends of a step; equations of Kinon et al. (2023). C <= 0 gives NaN, at which the line
search of Newton's method shortens its step.
"""

from math import log1p, nan, sqrt

from phlexible.kernels.compiled import compiled
from phlexible.kernels.user_function import call

LOGARITHMIC = 0
LINEAR = 1
ST_VENANT_KIRCHHOFF = 2
USER = 3

NEAR = 0.1  # relative changes of C below which the mean of dW takes the place of the quotient
SMALL = 1e-2  # relative changes below which a series takes the place of a difference
TINY = 1e-4
EPSILON = 2.220446049250313e-16
GAUSS = (  # points and weights, used on both sides of the middle
    (0.1834346424956498, 0.3626837833783620),
    (0.5255324099163290, 0.3137066458778873),
    (0.7966664774136267, 0.2223810344533745),
    (0.9602898564975363, 0.1012285362903763),
)


@compiled
def law_energy(kind, stiffness, energy, C):
    """W(C); ``energy``: address of the user's function."""
    if not C > 0.0:
        return nan
    if kind == LOGARITHMIC:
        return 0.25 * stiffness * (C - 1.0 - log1p(C - 1.0))
    if kind == LINEAR:
        return 0.5 * stiffness * ((C - 1.0) / (sqrt(C) + 1.0)) ** 2
    if kind == ST_VENANT_KIRCHHOFF:
        return 0.125 * stiffness * (C - 1.0) ** 2
    return call(energy, C)


@compiled
def law_force(kind, stiffness, energy, derivative, C0, change):
    """(W(C1) - W(C0)) / (C1 - C0) with C1 = C0 + change, without cancellation (36)."""
    C1 = C0 + change
    if not (C1 > 0.0 and C0 > 0.0):
        return nan
    if kind == LOGARITHMIC:
        d = change / C0
        slope = log1p(d) / d if d != 0.0 else 1.0
        return 0.25 * stiffness * (1.0 - slope / C0)
    if kind == LINEAR:
        return 0.5 * stiffness * (1.0 - 2.0 / (sqrt(C0) + sqrt(C1)))
    if kind == ST_VENANT_KIRCHHOFF:
        return 0.25 * stiffness * (C0 - 1.0 + 0.5 * change)
    if change == 0.0:
        return call(derivative, C0)
    before, after = call(energy, C0), call(energy, C1)
    quotient = (after - before) / change
    if abs(change) >= NEAR * C0:
        return quotient
    mean = _mean_derivative(derivative, C0, change)
    # A larger difference than round-off: dW has a kink in between.
    round_off = 64.0 * EPSILON * (abs(before) + abs(after) + abs(stiffness)) / abs(change)
    return mean if abs(mean - quotient) <= round_off else quotient


@compiled
def law_slope(kind, stiffness, derivative, force, C0, change):
    """d(law_force)/dC1, given its value."""
    C1 = C0 + change
    if kind == LOGARITHMIC:
        return -0.25 * stiffness * _log_quotient_slope(change / C0) / (C0 * C0)
    if kind == LINEAR:
        total = sqrt(C0) + sqrt(C1)
        return 0.5 * stiffness / (total * total * sqrt(C1))
    if kind == ST_VENANT_KIRCHHOFF:
        return 0.125 * stiffness
    if abs(change) > TINY * C0:
        return (call(derivative, C1) - force) / change
    shift = TINY * C0
    middle = C0 + 0.5 * change
    return 0.25 * (call(derivative, middle + shift) - call(derivative, middle - shift)) / shift


@compiled
def _log_quotient_slope(d):
    """d/dd (log1p(d) / d)."""
    if abs(d) > SMALL:
        return (1.0 / (1.0 + d) - log1p(d) / d) / d
    total, power = 0.0, 1.0
    for k in range(1, 9):
        total -= power * k / (k + 1.0)
        power *= -d
    return total


@compiled
def _mean_derivative(derivative, C0, change):
    middle, half = C0 + 0.5 * change, 0.5 * change
    total = 0.0
    for k in range(len(GAUSS)):
        place, weight = GAUSS[k]
        total += weight * (call(derivative, middle - half * place) + call(derivative, middle + half * place))
    return 0.5 * total
