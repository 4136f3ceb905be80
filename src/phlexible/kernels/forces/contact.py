"""Contact, stops and dry friction: one-sided energies and what resists (docs/theory.md, 8)."""

from math import sqrt

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.notation import Tables
from phlexible.kernels.forces.bearings import transmitted
from phlexible.tables.declarations import LAW_WIDTH


@compiled
def depth_energy(stiffness: float, exponent: float, depth: float) -> float:
    """k x^(p + 1) / (p + 1) of a depth x, zero outside."""
    return stiffness * depth ** (exponent + 1.0) / (exponent + 1.0) if depth > 0.0 else 0.0


@compiled
def depth_gradient(stiffness: float, exponent: float, x0: float, x1: float) -> tuple[float, float]:
    """delta(U)/delta(x) of the depth without cancellation, and its derivative to x1."""
    change = x1 - x0
    if x0 > 0.0 and x1 > 0.0:
        if exponent == 1.0:
            return 0.5 * stiffness * (x0 + x1), 0.5 * stiffness
        a, b, c = sqrt(x1), sqrt(x0), 0.4 * stiffness
        value = a * a * a + b * b * b + a * a * b * b / (a + b)
        return c * value, c * (1.5 * a + 0.5 * b * b * (a + 2.0 * b) / ((a + b) * (a + b)))
    if x1 > 0.0:
        quotient = depth_energy(stiffness, exponent, x1) / change
        return quotient, (stiffness * x1**exponent - quotient) / change
    if x0 > 0.0:
        quotient = -depth_energy(stiffness, exponent, x0) / change
        return quotient, -quotient / change
    return 0.0, 0.0


@exported
def push(t: Tables, f: int, h: float) -> tuple[float, float]:
    """N of a one-sided force over the step and dN/dx1 (8.17); what it loses into ``loss``."""
    x0, change, p = (
        t.push_side[f] * (t.force_rest[f] - t.theta0[f]),
        -t.push_side[f] * t.theta_change[f],
        t.push_exponent[f],
    )
    stored, slope = depth_gradient(t.force_stiffness[f], p, x0, x0 + change)
    mean, force = x0 + 0.5 * change, stored
    if mean > 0.0 and t.push_damping[f] > 0.0:
        c = t.push_damping[f] * mean**p / h
        force += c * change
        slope += c * (1.0 + 0.5 * p * change / mean)
    if force < 0.0:
        force, slope = 0.0, 0.0
    t.loss[f] = (force - stored) * change
    return force, slope


@compiled
def rub(t: Tables, f: int, h: float) -> tuple[float, float]:
    """Dry friction along the coordinate itself (8.19), and its derivative to theta_{n+1}; adds to ``loss``."""
    rate = t.theta_change[f] / h
    size, level = max(abs(rate), t.friction_speed[f]), t.friction[f]
    if t.bearing[f] >= 0:
        level += t.bearing_share[f] * transmitted(t, f)
    force = level * rate / size
    t.loss[f] += force * t.theta_change[f]
    return force, level / (h * size) if abs(rate) < size else 0.0


@exported
def slide(t: Tables, f: int, first: int, count: int, h: float, slope: float) -> None:
    """Friction along the functions after the first one, the gap, whose force is N with dN/dw1 = slope (8.18)."""
    normal, total = t.scalar_force[f], 0.0
    for i in range(1, count):
        total += t.function_change[first + i] * t.function_change[first + i]
    speed = sqrt(total) / abs(h)
    size = max(speed, t.friction_speed[f])
    for i in range(1, count):
        share = -t.friction[f] * t.function_change[first + i] / (h * size)
        t.generalized[first + i] = share * normal
        D = t.tangent + LAW_WIDTH * (first + i)
        D[0] = share * slope
        for j in range(1, count):
            D[j] = -t.friction[f] * normal / (h * size) if i == j else 0.0
            if speed >= t.friction_speed[f]:
                D[j] -= share * normal * t.function_change[first + j] / total
    t.across_loss[f] = t.friction[f] * normal * speed * speed / size * h
    t.loss[f] += t.across_loss[f]
