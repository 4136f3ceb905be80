"""Loads over one step: forces and moments on attachments, and their work (docs/theory.md, 4).

A moment m on the triad d_i of an attachment applies t x mean(d_i) to each, where t solves (4.16)::

    sum_i (|m_i|^2 I - m_i m_i^T) t = m,   m_i = mean(d_i)

Follower loads have components in the mean triad.
"""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.notation import (
    Tables,
    Vector,
    along,
    cross,
    dot,
    vector,
)
from phlexible.step.kernels.blocks import block_entry
from phlexible.step.kernels.soft import pressure_work
from phlexible.step.kernels.vectors import (
    mean_directions,
    mean_vector,
    solve_moment,
    subtract_coupling,
    velocity_count,
    velocity_index,
)
from phlexible.step.tables.declarations import FOLLOWER_FORCE, FOLLOWER_TORQUE, FORCE, PRESSURE


@exported
def apply_loads(t: Tables) -> None:
    """Add the forces of all loads except pressures to the forces ``t.pull`` on points and directions of bodies, in
    world axes. A moment is applied as forces on the three axes of the body's frame where it acts. ``t`` contains
    all arrays of the model and its state."""
    for q in range(t.loads):
        kind, triad = t.load_kind[q], t.load_triad[q]
        if kind == FORCE or kind == FOLLOWER_FORCE:
            t.pull[t.load_point[q]] += world_load(t, q)
        elif kind != PRESSURE:
            turn = solve_moment(mean_directions(t, triad, triad + 1, triad + 2), world_load(t, q))
            for i in range(3):
                t.pull[triad + i] += cross(turn, mean_vector(t, triad + i))


@compiled
def world_load(t: Tables, q: int) -> Vector:
    """Return the force or moment of load q in world axes [N or N m]. Follower loads are rotated with the mean
    axes, over the time step, of the body's frame on which they act. ``t`` contains all arrays of the model and its
    state."""
    value, kind, k = t.load_value[q], t.load_kind[q], t.load_triad[q]
    if kind == FOLLOWER_FORCE or kind == FOLLOWER_TORQUE:
        return value @ mean_directions(t, k, k + 1, k + 2)
    return value


@exported
def load_work(t: Tables, q: int) -> float:
    """Return the work of load q in the time step [J]. It is force times displacement of its point, or pressure
    times swept volume. For a moment it is the sum of f_i . delta(d_i), where f_i are its forces on three
    directions d_i of the body. ``t`` contains all arrays of the model and its state."""
    kind, triad = t.load_kind[q], t.load_triad[q]
    if kind == FORCE or kind == FOLLOWER_FORCE:
        return dot(world_load(t, q), t.change[t.load_point[q]])
    if kind == PRESSURE:
        return pressure_work(t, q)
    turn, total = solve_moment(mean_directions(t, triad, triad + 1, triad + 2), world_load(t, q)), 0.0
    for i in range(3):
        total += dot(cross(turn, mean_vector(t, triad + i)), t.change[triad + i])
    return total


@exported
def add_load_tangents(t: Tables, h: float) -> None:
    """Subtract h times the derivatives of loads that rotate with their bodies from the blocks of the loaded bodies
    in Newton's matrix. They are follower forces and all moments; forces in world axes and pressures are skipped. h
    is the length of the time step [s]. ``t`` contains all arrays of the model and its state.

    The change at constant world force is in ``add_force_tangents``.
    """
    for q in range(t.loads):
        kind, k = t.load_kind[q], t.load_triad[q]
        if kind == FORCE or kind == PRESSURE:
            continue
        if kind == FOLLOWER_FORCE:
            for i in range(3):
                block = t.blocks + t.load_block[3 * q + i]
                subtract_coupling(t, 0.5 * h * along(t.load_value[q], i), block, t.load_point[q], k + i, h)
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
    """Subtract the derivative of load moment q with respect to velocity j of its body from column j of the body's
    block in Newton's matrix. The moment acts as forces on three direction vectors of the body, see docs/theory.md,
    4, (4.16); these forces depend on the directions, and for a moment that follows the body its value does too.
    They are multiplied by the length h of the time step [s]. ``t`` contains all arrays of the model and its state.
    """
    k, b = t.load_triad[q], t.vector_carrier[t.load_triad[q]]
    D, follows = mean_directions(t, k, k + 1, k + 2), t.load_kind[q] == FOLLOWER_TORQUE
    turn = solve_moment(D, world_load(t, q))
    right = vector(0.0, 0.0, 0.0)
    for i in range(3):
        m, dm = mean_vector(t, k + i), 0.5 * motion_column(t, k + i, j)
        right += dot(dm, turn) * m + dot(m, turn) * dm - (2.0 * dot(m, dm)) * turn
        if follows:
            right += along(t.load_value[q], i) * dm
    dt = solve_moment(D, right)
    for i in range(3):
        df = h * (cross(dt, mean_vector(t, k + i)) + cross(turn, 0.5 * motion_column(t, k + i, j)))
        lever = t.lever + t.lever_vectors_begin[k + i]
        for v in range(t.dimension, velocity_count(t, k + i)):  # a direction does not move with V
            block_entry(t, b, velocity_index(t, k + i, v), j)[0] -= dot(lever[v], df)


@compiled
def motion_column(t: Tables, k: int, j: int) -> Vector:
    """Return the derivative dx/dnu_j of point or direction k at the end of the time step with respect to velocity
    j of its body; zero if this velocity does not move it. ``t`` contains all arrays of the model and its state."""
    rigid, motion = t.rigid_of[t.vector_carrier[k]], t.motion + t.lever_vectors_begin[k]
    if j < rigid:
        return motion[j]
    if rigid + t.vector_first[k] <= j < rigid + t.vector_last[k]:
        return motion[j - t.vector_first[k]]
    return vector(0.0, 0.0, 0.0)
