"""Members of contact groups: their axes, distances of points from solids, motion and forces at their ends.

Solids are planes, tubes, blocks, rings and meshes that a body carries (docs/theory.md, 8).

A position is w_k = (x_i - x_j).d_k along the axes of the solid. The distance phi(w) of a shape is written once, in
``solid_distances.py``: with secant numbers it gives omega with sum_k omega_k delta(w_k) = delta(phi), without
cancellation.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import (
    Integers,
    Tables,
    Vector,
    cross,
    dot,
    secant_parts,
    three_secants,
    vector,
)
from phlexible.step.kernels.floating_bodies import unit
from phlexible.step.kernels.many.meshes import mesh_distance_change, mesh_distance_gradient
from phlexible.step.kernels.vectors import mean_vector, outer, zero_matrix
from phlexible.step.tables.declarations import MESH, MOVING, RIM
from phlexible.step.tables.solid_distances import solid_distance

RIM_ROUNDING = 0.01
"""Sine of the tilt within which a rim that lies on a plane is round, so that it stands."""
RIM_HEIGHT = (1.0 + RIM_ROUNDING**2) ** 0.5 - RIM_ROUNDING
"""Share of the radius by which a rim is divided, so that on its edge it is as high as the radius."""
MEAN_RADIUS = 2.0 / 3.0  # of a disc


@compiled
def axis_start(t: Tables, axes: Integers, k: int) -> Vector:
    """Return axis k (0, 1, 2) of a contact shape in the world at the start of the time step. ``axes`` contains the
    indices of the shape's body-fixed directions; for a negative index it is axis k of the world. Contact shapes
    are spheres, line segments and solids. ``t`` contains all arrays of the model and its state."""
    return t.world0[axes[k]] if axes[k] >= 0 else unit(k)


@compiled
def axis_change(t: Tables, axes: Integers, k: int) -> Vector:
    """Return the change in the time step of axis k (0, 1, 2) of a contact shape, in the world. ``axes`` contains
    the indices of the shape's body-fixed directions; for a negative index the change is zero. Contact shapes are
    spheres, line segments and solids. ``t`` contains all arrays of the model and its state."""
    return t.change[axes[k]] if axes[k] >= 0 else vector(0.0, 0.0, 0.0)


@compiled
def axis_mean(t: Tables, axes: Integers, k: int) -> Vector:
    """Return the mean of start and end of the time step of axis k (0, 1, 2) of a contact shape, in the world.
    ``axes`` contains the indices of the shape's body-fixed directions; for a negative index it is axis k of the
    world. Contact shapes are spheres, line segments and solids. ``t`` contains all arrays of the model and its
    state."""
    return axis_start(t, axes, k) + 0.5 * axis_change(t, axes, k)


@compiled
def position_in_solid(t: Tables, p: int, j: int) -> tuple[Vector, Vector]:
    """Return the position [m] of point p relative to the centre of solid j at the start of the time step, and its
    change. Both are components in the axes of the solid at the respective time, so that the change contains the
    solid's motion. ``t`` contains all arrays of the model and its state."""
    k, axes = t.member_start[j], t.member_axis + 6 * j
    r, dr = t.world0[p] - t.world0[k], t.change[p] - t.change[k]
    mean = r + 0.5 * dr
    a, b, c = axis_start(t, axes, 0), axis_start(t, axes, 1), axis_start(t, axes, 2)
    da, db, dc = axis_change(t, axes, 0), axis_change(t, axes, 1), axis_change(t, axes, 2)
    w = vector(dot(r, a), dot(r, b), dot(r, c))
    dw = vector(dot(dr, a + 0.5 * da), dot(dr, b + 0.5 * db), dot(dr, c + 0.5 * dc))
    return w, dw + vector(dot(mean, da), dot(mean, db), dot(mean, dc))


@compiled
def distance_over(t: Tables, i: int, j: int, share: float) -> float:
    """Return the signed distance of contact shape i (ball, point or rim) from the surface of solid j [m]. It is
    the one after the fraction ``share`` of the time step (0: start, 1: end); the radius of i is not subtracted.
    ``t`` contains all arrays of the model and its state."""
    if t.member_kind[i] == RIM:
        w, dw = rim_coordinates(t, i, j)
        return rim_distance(t, i, j, w + share * dw)
    w, dw = position_in_solid(t, t.member_start[i], j)
    return point_distance(t, i, j, w + share * dw)


distance_of_solid = compiled(solid_distance)


@compiled
def shape_distance(t: Tables, j: int, w: Vector) -> float:
    """Return the signed distance of a point w from the surface of solid j (not a mesh), in the solid's axes,
    negative inside [m]. ``t`` contains all arrays of the model and its state."""
    size = t.member_size + 3 * j
    return distance_of_solid(t.member_kind[j], size[0], size[1], size[2], w.x, w.y, w.z)


@compiled
def point_distance(t: Tables, i: int, j: int, w: Vector) -> float:
    """Return the signed distance of a point w from the surface of solid j, in the solid's axes, negative inside
    [m]. The solid may be a mesh; then the radius of i, the ball or segment of the point, decides whether the
    distance is smoothed. ``t`` contains all arrays of the model and its state."""
    if t.member_kind[j] == MESH:
        return mesh_distance_gradient(t, j, w, t.member_radius[i])[0]
    return shape_distance(t, j, w)


@compiled
def distance_change(t: Tables, i: int, j: int) -> tuple[float, float, Vector]:
    """Return the signed distance of contact shape i from solid j at the start of the time step, its change, and a
    discrete gradient. i is a ball, a point or a rim. The gradient times the change of the position of i in the axes
    of j is exactly the change of the distance; for a rim, ``rim_coordinates`` take the place of the position. The
    radius of a ball is not subtracted. ``t`` contains all arrays of the model and its state.
    """
    if t.member_kind[i] == RIM:
        w, dw = rim_coordinates(t, i, j)
        return secant_parts(rim_distance(t, i, j, three_secants(w, dw)))
    w, dw = position_in_solid(t, t.member_start[i], j)
    if t.member_kind[j] == MESH:
        return mesh_distance_change(t, j, w, dw, t.member_radius[i])
    return secant_parts(shape_distance(t, j, three_secants(w, dw)))


# Rims: circles of radius R about an axis a, B beyond the middle x, with a round edge or the tube of a torus around.


@compiled
def rim_coordinates(t: Tables, i: int, j: int) -> tuple[Vector, Vector]:
    """Return the coordinates (n . a, 0, z) of rim i over plane j at the start of the time step, and their changes
    in it. The rim is a circle with the unit axis a, n is the unit normal of the plane, and z the height of the
    circle's centre over it [m]. ``t`` contains all arrays of the model and its state.
    """
    w, dw = position_in_solid(t, t.member_start[i], j)
    own, other = t.member_axis + 6 * i, t.member_axis + 6 * j
    a, da, n, dn = axis_start(t, own, 2), axis_change(t, own, 2), axis_start(t, other, 2), axis_change(t, other, 2)
    return vector(dot(n, a), 0.0, w.z), vector(dot(n + 0.5 * dn, da) + dot(dn, a + 0.5 * da), 0.0, dw.z)


@compiled
def rim_distance(t: Tables, i: int, j: int, w: Vector) -> float:
    """Return the height of the lowest point of rim i (a circle) over plane j [m], smooth also where the rim lies
    flat. w are the coordinates of the rim from ``rim_coordinates``: n . a, 0 and height of the centre. ``t``
    contains all arrays of the model and its state."""
    size, root = t.member_size + 3 * i, sqrt(abs(1.0 - w.x * w.x + RIM_ROUNDING * RIM_ROUNDING))
    return w.z + size[1] * w.x - size[0] * (root - RIM_ROUNDING) / RIM_HEIGHT - t.member_size[3 * j]


@compiled
def drilling_radius(t: Tables, i: int, n: Vector) -> float:
    """Return the radius [m] at which friction resists the spinning of rim i (a circle) about the normal n of the
    plane that it touches. It is the radius of the rim where it lies flat (for a disc two thirds of it) and almost
    0 where it stands upright. It is 0 if contact shape i is no rim. ``t`` contains all arrays of the model and its
    state."""
    if t.member_kind[i] != RIM:
        return 0.0
    share = dot(n, axis_mean(t, t.member_axis + 6 * i, 2))
    square = abs(1.0 - share * share + RIM_ROUNDING * RIM_ROUNDING)
    own = t.member_size[3 * i] * (1.0 if t.member_radius[i] > 0.0 else MEAN_RADIUS)
    return own * RIM_ROUNDING * RIM_ROUNDING / square


@compiled
def lowest_rim_point(t: Tables, i: int, n: Vector) -> Vector:
    """Return the lowest point [m] of rim i (a circle on a body) over a plane with unit normal n, in world axes.
    The pose is that at the middle of the time step. Where the rim lies almost flat the point moves smoothly to its
    centre. ``t`` contains all arrays of the model and its state."""
    a, size = axis_mean(t, t.member_axis + 6 * i, 2), t.member_size + 3 * i
    a = (1.0 / sqrt(dot(a, a))) * a
    across, root = n - dot(n, a) * a, sqrt(abs(1.0 - dot(n, a) ** 2 + RIM_ROUNDING * RIM_ROUNDING))
    return mean_vector(t, t.member_start[i]) + size[1] * a - (size[0] / root) * across


# Points near the axes of members: motion and forces by the ends of the members.
#
# A point at the arm r from an end x with the directions d_i moves by delta(x) + T r, T = sum_i delta(d_i) g_i^T,
# with the dual vectors g_i of the directions at the mean, sum_i (g_i.r) d_i = r. A force f on it is f on x and
# (g_i.r) f on d_i: moments M = sum f r^T are summed and applied to the directions at last, M g_i. End e is the
# start, 2 m, or the end, 2 m + 1, of member m.


@compiled
def axis_point(t: Tables, m: int, s: float) -> Vector:
    """Return the world position at the mean of the time step of the point at parameter s (0: start, 1: end) on the
    axis of contact shape m [m]. Contact shapes are spheres, line segments and solids. ``t`` contains all arrays of
    the model and its state."""
    return (1.0 - s) * mean_vector(t, t.member_start[m]) + s * mean_vector(t, t.member_end[m])


@compiled
def clear_end_frames(t: Tables) -> None:
    """Mark the rotations that are cached for the ends of all contact shapes as out of date. It is called at the
    start of each evaluation of the contact forces, which computes them anew where they are needed. Contact shapes
    are spheres, line segments and solids. ``t`` contains all arrays of the model and its state."""
    for n in range(t.turning_ends[0]):
        t.end_is_known[t.turning_end[n]] = 0
    t.turning_ends[0] = 0


@compiled
def cache_end_frames(t: Tables, m: int) -> bool:
    """Compute, unless this evaluation has done so, how the ends of contact shape m (ball, segment, solid) rotate
    in the time step, and store it; return False if the shape has no rotation (nodes of strings). ``t`` contains
    all arrays of the model and its state."""
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
    """Return the components of a world vector v in the body-fixed axes at the start of contact shape m. The axes
    are those at the mean of the time step. ``cache_end_frames`` must have stored these axes for m, which is not
    checked. Contact shapes are spheres, line segments and solids. ``t`` contains all arrays of the model and its
    state.
    """
    g = t.end_dual + 6 * m
    return vector(dot(g[0], v), dot(g[1], v), dot(g[2], v))


@compiled
def point_displacement(t: Tables, m: int, s: float, arm: Vector) -> Vector:
    """Return the displacement in the time step of a point of contact shape m, in world axes [m]. The point is at
    ``arm`` from the point at parameter s of the shape's axis; without rotation ``arm`` does not count.
    ``cache_end_frames`` must have been called for m, which is not checked. Contact shapes are spheres, line
    segments and solids. ``t`` contains all arrays of the model and its state."""
    p, q, turns = t.member_start[m], t.member_end[m], t.member_axis[6 * m] >= 0
    if p == q:
        return t.change[p] + t.end_turn[2 * m] @ arm if turns else t.change[p]
    moved = (1.0 - s) * t.change[p] + s * t.change[q]
    if not turns:
        return moved
    return moved + (1.0 - s) * (t.end_turn[2 * m] @ arm) + s * (t.end_turn[2 * m + 1] @ arm)


@compiled
def apply_point_force(t: Tables, m: int, s: float, arm: Vector, f: Vector) -> None:
    """Add the force f on a point of contact shape m to the forces ``t.pull`` on the shape's ends. The point is at
    ``arm`` from the point at parameter s of its axis; the moment is collected and applied by
    ``apply_end_moments``. Contact shapes are spheres, line segments and solids. ``t`` contains all arrays of the
    model and its state."""
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
    """Add the collected moments of all contact forces to ``t.pull``, as forces on the body-fixed directions at the
    ends of contact shapes. The work on directions that are prescribed functions of time is subtracted from
    ``t.frame_work``. Contact shapes are spheres, line segments and solids. ``t`` contains all arrays of the model
    and its state."""
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
    """Return the work [J] of the contact forces ``t.pull`` in the time step on prescribed vectors of contact shape
    m. The vectors, functions of time, are end points and body-fixed directions; all others contribute 0. Contact
    shapes are spheres, line segments and solids. ``t`` contains all arrays of the model and its state."""
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
