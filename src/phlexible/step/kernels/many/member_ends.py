"""Points near the axes of members: motion and forces by the ends of the members (docs/theory.md, 8).

A point at the arm r from an end x with the directions d_i moves by delta(x) + T r, T = sum_i delta(d_i) g_i^T, with
the dual vectors g_i of the directions at the mean, sum_i (g_i.r) d_i = r. A force f on it is f on x and (g_i.r) f
on d_i: moments M = sum f r^T are summed and applied to the directions at last, M g_i. End e is the start, 2 m, or
the end, 2 m + 1, of member m.
"""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Matrix, Tables, Vector, cross, dot, matrix, vector
from phlexible.step.kernels.many.solids import axis_change, axis_mean
from phlexible.step.kernels.vectors import mean_vector, outer
from phlexible.step.tables.declarations import MOVING


@compiled
def axis_point(t: Tables, m: int, s: float) -> Vector:
    """Return the world position at the mean of the time step of the point at parameter s (0: start, 1: end)
    on the axis of contact member m [m]. Contact members are spheres, line segments and solids. ``t`` holds
    all tables (arrays) of the model and its state."""
    return (1.0 - s) * mean_vector(t, t.member_start[m]) + s * mean_vector(t, t.member_end[m])


@compiled
def zero_matrix() -> Matrix:
    """Return a 3 x 3 matrix of zeros."""
    nothing = vector(0.0, 0.0, 0.0)
    return matrix(nothing, nothing, nothing)


@compiled
def clear_end_frames(t: Tables) -> None:
    """Mark the rotations that are cached for the ends of all contact members as out of date. It is called at
    the start of each evaluation of the contact forces, which computes them anew where they are needed.
    Contact members are spheres, line segments and solids. ``t`` holds all tables (arrays) of the model and
    its state."""
    for n in range(t.turning_ends[0]):
        t.end_is_known[t.turning_end[n]] = 0
    t.turning_ends[0] = 0


@compiled
def cache_end_frames(t: Tables, m: int) -> bool:
    """Compute, unless this evaluation has done so, how the ends of contact member m (ball, segment, solid)
    rotate in the time step, and store it; return False if the member has no rotation (nodes of strings).
    ``t`` holds all tables (arrays) of the model and its state."""
    if t.member_axis[6 * m] < 0:
        return False
    _cache_end_frame(t, 2 * m)
    if t.member_start[m] != t.member_end[m]:
        _cache_end_frame(t, 2 * m + 1)
    return True


@compiled
def _cache_end_frame(t: Tables, e: int) -> None:
    if t.end_is_known[e] == 1:
        return
    axes, g = t.member_axis + 3 * e, t.end_dual + 3 * e
    a, b, c = axis_mean(t, axes, 0), axis_mean(t, axes, 1), axis_mean(t, axes, 2)
    share = 1.0 / dot(a, cross(b, c))
    g[0], g[1], g[2] = share * cross(b, c), share * cross(c, a), share * cross(a, b)
    turn = outer(axis_change(t, axes, 0), g[0]) + outer(axis_change(t, axes, 1), g[1])
    t.end_turn[e], t.end_moment[e] = turn + outer(axis_change(t, axes, 2), g[2]), zero_matrix()
    t.end_is_known[e], t.turning_end[t.turning_ends[0]] = 1, e
    t.turning_ends[0] += 1


@compiled
def components_in_axes(t: Tables, m: int, v: Vector) -> Vector:
    """Return the components of a world vector v in the body-fixed axes at the start of contact member m,
    whose frame ``cache_end_frames`` has stored. World vectors are points of bodies, or directions fixed to
    them, in world axes. Contact members are spheres, line segments and solids. ``t`` holds all tables
    (arrays) of the model and its state."""
    g = t.end_dual + 6 * m
    return vector(dot(g[0], v), dot(g[1], v), dot(g[2], v))


@compiled
def point_displacement(t: Tables, m: int, s: float, arm: Vector) -> Vector:
    """Return the displacement in the time step of a point at ``arm`` from the point at parameter s of contact
    member m's axis [m]. ``cache_end_frames`` must have been called for m. Contact members are spheres, line
    segments and solids. ``t`` holds all tables (arrays) of the model and its state."""
    p, q, turns = t.member_start[m], t.member_end[m], t.member_axis[6 * m] >= 0
    if p == q:
        return t.change[p] + t.end_turn[2 * m] @ arm if turns else t.change[p]
    moved = (1.0 - s) * t.change[p] + s * t.change[q]
    if not turns:
        return moved
    return moved + (1.0 - s) * (t.end_turn[2 * m] @ arm) + s * (t.end_turn[2 * m + 1] @ arm)


@compiled
def apply_point_force(t: Tables, m: int, s: float, arm: Vector, f: Vector) -> None:
    """Add the force f on a point of contact member m to the forces ``t.pull`` on the member's ends. The point
    is at ``arm`` from the point at parameter s of its axis; the moment is collected and applied by
    ``apply_end_moments``. Contact members are spheres, line segments and solids. ``t`` holds all tables
    (arrays) of the model and its state."""
    p, q, turns = t.member_start[m], t.member_end[m], t.member_axis[6 * m] >= 0
    if p == q:
        t.pull[p] += f
        if turns:
            t.end_moment[2 * m] = t.end_moment[2 * m] + outer(f, arm)
        return
    t.pull[p] += (1.0 - s) * f
    t.pull[q] += s * f
    if turns:
        t.end_moment[2 * m] = t.end_moment[2 * m] + outer((1.0 - s) * f, arm)
        t.end_moment[2 * m + 1] = t.end_moment[2 * m + 1] + outer(s * f, arm)


@compiled
def apply_end_moments(t: Tables) -> None:
    """Apply the collected moments of all contact forces as forces (in ``t.pull``) on the body-fixed
    directions at the ends of contact members. The work of those that move as functions of time is subtracted
    from ``t.frame_work``. Contact members are spheres, line segments and solids. ``t`` holds all tables
    (arrays) of the model and its state."""
    for n in range(t.turning_ends[0]):
        e = t.turning_end[n]
        moment, axes, g = t.end_moment[e], t.member_axis + 3 * e, t.end_dual + 3 * e
        for k in range(3):
            force = moment @ g[k]
            t.pull[axes[k]] += force
            if t.vector_carrier[axes[k]] == MOVING:
                law = t.contact_group_law[t.member_contact_group[e // 2]]
                t.frame_work[law] -= dot(force, t.change[axes[k]])


@compiled
def moving_frame_work(t: Tables, m: int) -> float:
    """Return the work in the time step of the present forces on those vectors of contact member m that are
    prescribed functions of time [J]. Contact members are spheres, line segments and solids. ``t`` holds all
    tables (arrays) of the model and its state."""
    p, q, total = t.member_start[m], t.member_end[m], _moving_vector_work(t, t.member_start[m])
    if q != p:
        total += _moving_vector_work(t, q)
    for k in range(6 * m, 6 * m + (3 if p == q else 6)):
        total += _moving_vector_work(t, t.member_axis[k])
    return total


@compiled
def _moving_vector_work(t: Tables, k: int) -> float:
    if k < 0 or t.vector_carrier[k] != MOVING:
        return 0.0
    return dot(t.pull[k], t.change[k])
