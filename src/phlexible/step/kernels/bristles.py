"""Friction that sticks: bristles between two surfaces, bent as far as friction holds them (docs/theory.md, 8).

What a bristle keeps from step to step, ``bristle``: how it is bent, z; the normal of the surface it stands on;
whether the last step slipped. Vectors are along the coordinates of a joint or plane, or in axes of the body that
carries it.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Reals, Tables, Truth, Vector, dot, vector, where
from phlexible.step.tables.declarations import BRISTLE


@compiled
def held_by(t: Tables, b: int, limit: float) -> float:
    """The limit of bristle b in the step: more while it sticks."""
    return where(t.bristle[BRISTLE * b + 6] > 0.0, limit, limit * t.bristle_grip[b])


@compiled
def bent(t: Tables, b: int) -> Vector:
    """z of bristle b at the start of the step."""
    own = t.bristle + BRISTLE * b
    return vector(own[0], own[1], own[2])


@compiled
def held(
    k: float, d: float, z: Vector, u: Vector, limit: float, h: float
) -> tuple[Vector, Vector, Vector, float, float, Vector, Truth]:
    """What a bristle does in a step that slides by u: its force, and how that grows with the limit; e, a, s (8.44).

    The derivative to u is a I - s e e^T. Then z at the end, and whether it slips.
    """
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
def bend(
    t: Tables, f: int, b: int, z: Vector, u: Vector, limit: float, h: float
) -> tuple[Vector, Vector, Vector, float, float]:
    """The same of bristle b of force f, without what goes into the tables: work, loss, z at the end."""
    k, own = t.bristle_stiffness[b], t.bristle_end + BRISTLE * b
    force, to_limit, e, a, steeper, end, slips = held(k, t.bristle_damping[b], z, u, limit, h)
    own[6] = where(slips, 1.0, 0.0)
    put(own, end)
    t.bristle_moved[b] = sqrt(dot(end - z, end - z))
    work = dot(force, u)
    t.across_loss[f] += work
    t.loss[f] += work - 0.5 * k * (dot(end, end) - dot(z, z))
    return force, to_limit, e, a, steeper


@compiled
def put(own: Reals, v: Vector) -> None:
    """Three numbers of a vector."""
    own[0], own[1], own[2] = v.x, v.y, v.z


@compiled
def energy_of_bristle(t: Tables, f: int) -> float:
    """k |z|^2 / 2 of all bristles of force f [J]."""
    return _stored(t, t.bristle_of[f]) + _stored(t, t.rolling_of[f]) + _stored(t, t.drilling_of[f])


@compiled
def _stored(t: Tables, b: int) -> float:
    if b < 0:
        return 0.0
    z = bent(t, b)
    return 0.5 * t.bristle_stiffness[b] * dot(z, z)


@compiled
def crept(limit: float, speed: float, u: Vector, h: float) -> tuple[Vector, Vector, Vector, float, float]:
    """Friction that falls with the speed below ``speed``: force, derivative with respect to the limit, e, a, s."""
    total = dot(u, u)
    rate = sqrt(total) / abs(h)
    is_fast = rate >= speed
    share = where(is_fast, 1.0 / rate, 1.0 / speed) / h
    e = where(is_fast, 1.0 / sqrt(total), 0.0) * u
    return (limit * share) * u, share * u, e, limit * share, where(is_fast, limit * share, 0.0)


@compiled
def resist_sliding(
    t: Tables, f: int, z: Vector, u: Vector, coefficient: float, normal: float, h: float
) -> tuple[Vector, Vector, Vector, float, float]:
    """Friction of force f in a step that slides by u, by its bristle, bent by z at the start, or without one.

    Returns the force, its derivative with respect to the normal force, and e, a and s as ``held``; books the loss.
    """
    b = t.bristle_of[f]
    if b >= 0:
        share = held_by(t, b, coefficient)
        force, to_limit, e, a, s = bend(t, f, b, z, u, share * normal, h)
        return force, share * to_limit, e, a, s
    force, to_limit, e, a, s = crept(coefficient * normal, t.friction_speed[f], u, h)
    work = dot(force, u)
    t.across_loss[f] += work
    t.loss[f] += work
    return force, coefficient * to_limit, e, a, s


@compiled
def bent_at_start(t: Tables, f: int) -> Vector:
    """z of the bristle against sliding of force f at the start of the step; zero without one."""
    if t.bristle_of[f] < 0:
        return vector(0.0, 0.0, 0.0)
    return bent(t, t.bristle_of[f])
