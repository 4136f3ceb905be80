"""Loads over one step: forces and moments on attachments, and their work (docs/theory.md, 4).

A moment m on the triad d_i of an attachment applies t x mean(d_i) to each, where t solves (4.16)::

    sum_i (|m_i|^2 I - m_i m_i^T) t = m,   m_i = mean(d_i)

Follower loads have components in the mean triad.
"""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.notation import (
    Matrix,
    Tables,
    Vector,
    along,
    cross,
    dot,
    matrix,
    row,
    transposed,
    vector,
)
from phlexible.step.kernels.floating_bodies import unit
from phlexible.step.kernels.segments import place_of
from phlexible.step.kernels.soft import pressure_work
from phlexible.step.kernels.vectors import couple, mean_place, moved_by, velocity_of
from phlexible.step.tables.declarations import FOLLOWER_FORCE, FOLLOWER_TORQUE, FORCE, PRESSURE


@exported
def pull_of_loads(t: Tables) -> None:
    """Add all loads to the forces on the vectors."""
    for q in range(t.loads):
        kind, triad = t.load_kind[q], t.load_triad[q]
        if kind == FORCE or kind == FOLLOWER_FORCE:
            t.pull[t.load_point[q]] += world_load(t, q)
        elif kind != PRESSURE:
            turn = solved_for_triad(t, triad, world_load(t, q))
            for i in range(3):
                t.pull[triad + i] += cross(turn, mean_place(t, triad + i))


@compiled
def world_load(t: Tables, q: int) -> Vector:
    """Return load q in world axes [N or N m]."""
    value, kind = t.load_value[q], t.load_kind[q]
    if kind == FOLLOWER_FORCE or kind == FOLLOWER_TORQUE:
        return value @ mean_triad(t, t.load_triad[q])
    return value


@compiled
def mean_triad(t: Tables, k: int) -> Matrix:
    """Return the matrix whose rows are the three mean directions from vector k on."""
    return matrix(mean_place(t, k), mean_place(t, k + 1), mean_place(t, k + 2))


@compiled
def solved_for_triad(t: Tables, k: int, m: Vector) -> Vector:
    """Solve (4.16) for t, with the triad that starts at vector k and the moment m."""
    D = mean_triad(t, k)
    spread = transposed(D) @ D
    size = dot(row(D, 0), row(D, 0)) + dot(row(D, 1), row(D, 1)) + dot(row(D, 2), row(D, 2))
    x, y, z = (
        size * unit(0) - row(spread, 0),
        size * unit(1) - row(spread, 1),
        size * unit(2) - row(spread, 2),
    )
    adjugate = matrix(cross(y, z), cross(z, x), cross(x, y))
    return (1.0 / dot(x, cross(y, z))) * (adjugate @ m)


@exported
def load_work(t: Tables, q: int) -> float:
    """Work of load q in the step [J]: f . delta(x), for moments sum f_i . delta(d_i)."""
    kind, triad = t.load_kind[q], t.load_triad[q]
    if kind == FORCE or kind == FOLLOWER_FORCE:
        return dot(world_load(t, q), t.change[t.load_point[q]])
    if kind == PRESSURE:
        return pressure_work(t, q)
    turn, total = solved_for_triad(t, triad, world_load(t, q)), 0.0
    for i in range(3):
        total += dot(cross(turn, mean_place(t, triad + i)), t.change[triad + i])
    return total


@exported
def load_tangent(t: Tables, h: float) -> None:
    """Add the derivatives of follower forces and moments to the mean triad to the bodies' blocks.

    The change at constant world force is in ``force_tangent``.
    """
    for q in range(t.loads):
        kind, k = t.load_kind[q], t.load_triad[q]
        if kind == FORCE or kind == PRESSURE:
            continue
        if kind == FOLLOWER_FORCE:
            for i in range(3):
                block = t.blocks + t.load_block[3 * q + i]
                couple(t, 0.5 * h * along(t.load_value[q], i), block, t.load_point[q], k + i, h)
        else:
            rigid, first, last = t.rigid_of[t.vector_carrier[k]], t.widest, 0
            for j in range(t.dimension, rigid):
                _torque_tangent(t, q, j, h)
            for i in range(3):
                if t.vector_last[k + i] > t.vector_first[k + i]:
                    first, last = min(first, t.vector_first[k + i]), max(last, t.vector_last[k + i])
            for j in range(rigid + first, rigid + last):
                _torque_tangent(t, q, j, h)


@compiled
def _torque_tangent(t: Tables, q: int, j: int, h: float) -> None:
    """Subtract d(t x m_i) = dt x m_i + t x dm_i, with (4.16) differentiated, for velocity j, from the blocks."""
    k, b = t.load_triad[q], t.vector_carrier[t.load_triad[q]]
    turn, follows = solved_for_triad(t, k, world_load(t, q)), t.load_kind[q] == FOLLOWER_TORQUE
    right = vector(0.0, 0.0, 0.0)
    for i in range(3):
        m, dm = mean_place(t, k + i), 0.5 * motion_by(t, k + i, j)
        right += dot(dm, turn) * m + dot(m, turn) * dm - (2.0 * dot(m, dm)) * turn
        if follows:
            right += along(t.load_value[q], i) * dm
    dt = solved_for_triad(t, k, right)
    for i in range(3):
        df = h * (cross(dt, mean_place(t, k + i)) + cross(turn, 0.5 * motion_by(t, k + i, j)))
        lever = t.lever + t.lever_vectors_begin[k + i]
        for v in range(t.dimension, moved_by(t, k + i)):  # a direction does not move with V
            place_of(t, b, velocity_of(t, k + i, v), j)[0] -= dot(lever[v], df)


@compiled
def motion_by(t: Tables, k: int, j: int) -> Vector:
    """Return dx/dnu_j of vector k; zero outside of the support of its shapes."""
    rigid, motion = t.rigid_of[t.vector_carrier[k]], t.motion + t.lever_vectors_begin[k]
    if j < rigid:
        return motion[j]
    if rigid + t.vector_first[k] <= j < rigid + t.vector_last[k]:
        return motion[j - t.vector_first[k]]
    return vector(0.0, 0.0, 0.0)
