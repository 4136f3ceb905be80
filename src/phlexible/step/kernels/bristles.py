"""Friction that sticks by bristles (friction springs), deflected as far as friction holds them (docs/theory.md, 8).

The table ``bristle`` stores from step to step, for each bristle along a coordinate, its deflection z and whether
the last step slipped. Bristles of pairs are in ``many/pair_friction.py``.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, Truth, Vector, dot, vector, where
from phlexible.step.tables.declarations import BRISTLE


@compiled
def bristle_force(
    k: float, d: float, z: Vector, u: Vector, limit: float, h: float
) -> tuple[Vector, Vector, Vector, float, float, Vector, Truth]:
    """Return the mean friction force of a bristle (friction spring) in a time step of length h in which the
    surfaces slide by u (8.44). Stiffness k, damping d, deflection z at the start; the force is at most the
    friction limit. Then follow its derivative to the limit, e, a and s of its derivative a I - s e e^T to u,
    the deflection at the end, and whether it slips."""
    longest, size, beta = limit / k, sqrt(dot(z, z)), 0.5 + d / (k * h)
    relaxes = size > longest
    start = where(relaxes, longest / size, 1.0) * z
    to_limit = where(relaxes, 1.0 / size, 0.0) * z  # k dz'/dl
    g = start + beta * u
    total = sqrt(dot(g, g))
    slips = total > longest
    e = where(slips, 1.0 / total, 0.0) * g
    force = where(slips, limit, 0.0) * e + where(slips, 0.0, k) * g
    a, steeper = where(slips, limit * beta / total, k * beta), where(slips, limit * beta / total, 0.0)
    to_limit = e + where(slips, longest / total, 1.0) * (to_limit - dot(e, to_limit) * e)
    end = start + where(slips, 0.0, 1.0) * u + where(slips, 1.0 / max(beta, 1.0), 0.0) * (longest * e - start)
    reached = sqrt(dot(end, end))
    end = where(reached > longest, longest / reached, 1.0) * end
    return force, to_limit, e, a, steeper, end, slips


@compiled
def bristle_energy(t: Tables, f: int) -> float:
    """Return the elastic energy k z^2 / 2 of the bristle of force element f at the start of the time step
    [J]; 0 if its friction has no bristle. A bristle is a friction spring with deflection z. ``t`` holds all
    tables (arrays) of the model and its state."""
    b = t.bristle_of[f]
    return 0.5 * t.bristle_stiffness[b] * t.bristle[BRISTLE * b] ** 2 if b >= 0 else 0.0


@compiled
def smooth_friction(limit: float, speed: float, u: Vector, h: float) -> tuple[Vector, Vector, Vector, float, float]:
    """Return dry friction that is regularized: the force for a slip u in a time step of length h is the
    friction limit, reduced in proportion to the speed below ``speed`` [m/s]. The result is the force, its
    derivative to the limit, then e, a and s of its derivative a I - s e e^T to u."""
    total = dot(u, u)
    rate = sqrt(total) / abs(h)
    is_fast = rate >= speed
    share = where(is_fast, 1.0 / rate, 1.0 / speed) / h
    e = where(is_fast, 1.0 / sqrt(total), 0.0) * u
    return (limit * share) * u, share * u, e, limit * share, where(is_fast, limit * share, 0.0)


@compiled
def friction_force(t: Tables, f: int, change: float, level: float, h: float) -> tuple[float, float, float]:
    """Return the mean friction force of force element f in a time step of length h that changes its coordinate by
    ``change``. Then follow its derivatives to ``level`` and to the coordinate at the end. The force is limited to
    ``level``; it is that of a bristle (friction spring, which sticks), or regularized friction where there is none.
    The deflection at the end goes to ``t.bristle_end``, the lost energy is added to ``t.loss``; ``t`` holds all
    tables."""
    u, b = vector(change, 0.0, 0.0), t.bristle_of[f]
    if b >= 0:
        k, own, end = t.bristle_stiffness[b], t.bristle + BRISTLE * b, t.bristle_end + BRISTLE * b
        share, z = where(own[1] > 0.0, 1.0, t.bristle_grip[b]), own[0]
        force, to_limit, e, a, s, z1, slips = bristle_force(
            k, t.bristle_damping[b], vector(z, 0.0, 0.0), u, share * level, h
        )
        end[0], end[1] = z1.x, where(slips, 1.0, 0.0)
        t.loss[f] += force.x * change - 0.5 * k * (z1.x * z1.x - z * z)
        return force.x, share * to_limit.x, a - s * e.x * e.x
    force, to_limit, e, a, s = smooth_friction(level, t.friction_speed[f], u, h)
    t.loss[f] += force.x * change
    return force.x, to_limit.x, a - s * e.x * e.x
