"""Stored energies U(theta) of forces, and what a step needs of them: their discrete gradient.

delta(U)/delta(theta) from theta_n and delta(theta), without cancellation, and its derivative to theta_{n+1}
(docs/theory.md, 5 and 8). The laws of strings, W(C) with theta = C, are those of ``bodies/string/law.py``.
"""

from math import log1p, nan, sqrt

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.notation import Tables
from phlexible.compilation.user_function import call
from phlexible.kernels.forces.contact import depth_energy
from phlexible.tables.declarations import (
    CONTACT,
    ELASTIC,
    LINEAR,
    LOGARITHMIC,
    SERVO,
    SPRING,
    ST_VENANT_KIRCHHOFF,
)

NEAR = 0.1  # relative change below which a user's energy is integrated, not divided
DIFFERENCE = 1e-5  # relative step of differences
SMALL = 1e-2
EPSILON = 2.220446049250313e-16
GAUSS = (
    (0.18343464249564980, 0.36268378337836198),
    (0.52553240991632899, 0.31370664587788729),
    (0.79666647741362674, 0.22238103445337447),
    (0.96028985649753623, 0.10122853629037626),
)


@exported
def stored_energy(t: Tables, f: int, theta: float) -> float:
    """U of force f."""
    kind, k = t.energy_of[f], t.force_stiffness[f]
    if kind == SPRING or kind == ELASTIC:
        stretch = theta - t.force_rest[f]
        energy = 0.5 * k * stretch * stretch
        return energy + call(t.energy_address[f], theta) if t.energy_address[f] != 0 else energy
    if kind == CONTACT:
        return depth_energy(k, t.push_exponent[f], t.push_side[f] * (t.force_rest[f] - theta))
    if kind == SERVO:
        return 0.0
    if not theta > 0.0:
        return nan
    if kind == LOGARITHMIC:
        energy = 0.25 * k * (theta - 1.0 - log1p(theta - 1.0))
    elif kind == LINEAR:
        energy = 0.5 * k * ((theta - 1.0) / (sqrt(theta) + 1.0)) ** 2
    elif kind == ST_VENANT_KIRCHHOFF:
        energy = 0.125 * k * (theta - 1.0) ** 2
    else:
        energy = call(t.energy_address[f], theta)
    return t.force_weight[f] * energy


@compiled
def discrete_gradient(t: Tables, f: int, theta: float, change: float) -> tuple[float, float]:
    """delta(U)/delta(theta), and its derivative to theta_{n+1}."""
    kind, k = t.energy_of[f], t.force_stiffness[f]
    if kind == SPRING or kind == ELASTIC or kind == SERVO:
        value, slope = k * (theta + 0.5 * change - t.force_rest[f]), 0.5 * k
        if t.energy_address[f] != 0:
            energy, slopes = t.energy_address[f], t.slope_address[f]
            more, steeper = user_gradient(energy, slopes, theta, change, 1.0, t.force_energy[f])
            value, slope = value + more, slope + steeper
        return value, slope
    end = theta + change
    if not (theta > 0.0 and end > 0.0):
        return nan, nan
    if kind == LOGARITHMIC:
        d = change / theta
        quotient = log1p(d) / d if d != 0.0 else 1.0
        value, slope = 0.25 * k * (1.0 - quotient / theta), -0.25 * k * log_slope(d) / (theta * theta)
    elif kind == LINEAR:
        roots = sqrt(theta) + sqrt(end)
        value, slope = 0.5 * k * (1.0 - 2.0 / roots), 0.5 * k / (roots * roots * sqrt(end))
    elif kind == ST_VENANT_KIRCHHOFF:
        value, slope = 0.25 * k * (theta - 1.0 + 0.5 * change), 0.125 * k
    else:
        energy, slopes = t.energy_address[f], t.slope_address[f]
        value, slope = user_gradient(energy, slopes, theta, change, theta, t.force_energy[f])
    return t.force_weight[f] * value, t.force_weight[f] * slope


@compiled
def log_slope(d: float) -> float:
    """d/dd (log1p(d) / d)."""
    if abs(d) > SMALL:
        return (1.0 / (1.0 + d) - log1p(d) / d) / d
    total, power = 0.0, 1.0
    for k in range(1, 9):
        total -= power * k / (k + 1.0)
        power *= -d
    return total


@compiled
def user_gradient(
    energy: int, slope: int, x: float, change: float, scale: float, energy_size: float
) -> tuple[float, float]:
    """Of a user's energy: eight Gauss points of its slope where x changes little, the quotient elsewhere.

    ``scale``: what changes are compared with, at least. ``energy_size``: of the round-off in energies; where mean
    and quotient differ by more, the slope has a kink in between and the quotient is right.
    """
    end, size = x + change, max(abs(x), abs(x + change), scale)
    step = DIFFERENCE * size
    if abs(change) > NEAR * size:
        quotient = (call(energy, end) - call(energy, x)) / change
        return quotient, (call(slope, end) - quotient) / change
    middle, half, mean = x + 0.5 * change, 0.5 * change, 0.0
    for point in range(4):
        place, weight = GAUSS[point]
        mean += 0.5 * weight * (call(slope, middle - half * place) + call(slope, middle + half * place))
    if change != 0.0:
        before, after = call(energy, x), call(energy, end)
        quotient = (after - before) / change
        round_off = 64.0 * EPSILON * (abs(before) + abs(after) + energy_size) / abs(change)
        if not abs(mean - quotient) <= round_off:  # nor where an energy is not a number
            mean = quotient
    if abs(change) > step:
        return mean, (call(slope, end) - mean) / change
    return mean, 0.25 * (call(slope, middle + step) - call(slope, middle - step)) / step
