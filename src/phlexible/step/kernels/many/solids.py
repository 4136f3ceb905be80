"""Distances of points from solids that a body carries: planes, tubes, blocks, rings, meshes (docs/theory.md, 8).

A position is w_k = (x_i - x_j).d_k along the axes of the solid. The distance phi(w) of a shape is written once, in
``solid_distances.py``: with secant numbers it gives omega with sum_k omega_k delta(w_k) = delta(phi), without
cancellation.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Integers, Tables, Vector, dot, secant_parts, three_secants, vector
from phlexible.step.kernels.floating_bodies import unit
from phlexible.step.kernels.many.meshes import mesh_distance, mesh_distance_change
from phlexible.step.kernels.vectors import mean_vector
from phlexible.step.tables.declarations import MESH, RIM
from phlexible.step.tables.piece_distances import RIM_HEIGHT, RIM_ROUNDING
from phlexible.step.tables.solid_distances import solid_distance

MEAN_RADIUS = 2.0 / 3.0  # of a disc


@compiled
def axis_start(t: Tables, axes: Integers, k: int) -> Vector:
    """Return axis k (0, 1, 2) of a contact member in the world at the start of the time step. ``axes`` holds
    the indices of its directions; without them it is the axis of the world. Contact members are spheres, line
    segments and solids. ``t`` holds all tables (arrays) of the model and its state."""
    return t.world0[axes[k]] if axes[k] >= 0 else unit(k)


@compiled
def axis_change(t: Tables, axes: Integers, k: int) -> Vector:
    """Return the change in the time step of axis k (0, 1, 2) of a contact member in the world. ``axes`` holds
    the indices of its directions; without them it is zero. Contact members are spheres, line segments and
    solids. ``t`` holds all tables (arrays) of the model and its state."""
    return t.change[axes[k]] if axes[k] >= 0 else vector(0.0, 0.0, 0.0)


@compiled
def axis_mean(t: Tables, axes: Integers, k: int) -> Vector:
    """Return the mean over the time step of axis k (0, 1, 2) of a contact member in the world. ``axes`` holds
    the indices of its directions; without them it is the axis of the world. Contact members are spheres, line
    segments and solids. ``t`` holds all tables (arrays) of the model and its state."""
    return axis_start(t, axes, k) + 0.5 * axis_change(t, axes, k)


@compiled
def position_in_solid(t: Tables, p: int, j: int) -> tuple[Vector, Vector]:
    """Return the position of point p in the axes of solid j at the start of the time step, and its change in
    it [m]. ``t`` holds all tables (arrays) of the model and its state."""
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
    """Return the signed distance of contact member i (ball, point or rim) from the surface of solid j after
    ``share`` of the time step (0: start, 1: end) [m]; the radius of i is not subtracted. ``t`` holds all
    tables (arrays) of the model and its state."""
    if t.member_kind[i] == RIM:
        w, dw = rim_coordinates(t, i, j)
        return rim_distance(t, i, j, w + share * dw)
    w, dw = position_in_solid(t, t.member_start[i], j)
    return point_distance(t, i, j, w + share * dw)


distance_of_solid = compiled(solid_distance)


@compiled
def shape_distance(t: Tables, j: int, w: Vector) -> float:
    """Return the signed distance of a point w from the surface of solid j (not a mesh), in the solid's axes,
    negative inside [m]. ``t`` holds all tables (arrays) of the model and its state."""
    size = t.member_size + 3 * j
    return distance_of_solid(t.member_kind[j], size[0], size[1], size[2], w.x, w.y, w.z)


@compiled
def point_distance(t: Tables, i: int, j: int, w: Vector) -> float:
    """Return the signed distance of a point w of member i from the surface of solid j, in the solid's axes,
    negative inside [m]. The solid may be a mesh. ``t`` holds all tables (arrays) of the model and its state."""
    if t.member_kind[j] == MESH:
        return mesh_distance(t, j, w, t.member_radius[i])
    return shape_distance(t, j, w)


@compiled
def distance_change(t: Tables, i: int, j: int) -> tuple[float, float, Vector]:
    """Return the signed distance of contact member i (ball, point or rim) from solid j as the time step
    starts, and its change [m]. Then follows the discrete gradient omega to the coordinates w of i in the axes
    of j, for which omega . delta(w) is exactly the change. ``t`` holds all tables (arrays) of the model and
    its state."""
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
    """Return three numbers that describe rim i (a circle with axis a) over plane j at the start of the time
    step, and their changes. They are (n . a, 0, height of its centre), with the unit normal n of the plane.
    ``t`` holds all tables (arrays) of the model and its state."""
    w, dw = position_in_solid(t, t.member_start[i], j)
    own, other = t.member_axis + 6 * i, t.member_axis + 6 * j
    a, da, n, dn = axis_start(t, own, 2), axis_change(t, own, 2), axis_start(t, other, 2), axis_change(t, other, 2)
    return vector(dot(n, a), 0.0, w.z), vector(dot(n + 0.5 * dn, da) + dot(dn, a + 0.5 * da), 0.0, dw.z)


@compiled
def rim_distance(t: Tables, i: int, j: int, w: Vector) -> float:
    """Return the height of the lowest point of rim i (a circle) over plane j [m], smooth also where it lies
    flat. w are its numbers of ``rim_coordinates``. ``t`` holds all tables (arrays) of the model and its
    state."""
    size, root = t.member_size + 3 * i, sqrt(abs(1.0 - w.x * w.x + RIM_ROUNDING * RIM_ROUNDING))
    return w.z + size[1] * w.x - size[0] * (root - RIM_ROUNDING) / RIM_HEIGHT - t.member_size[3 * j]


@compiled
def drilling_radius(t: Tables, i: int, n: Vector) -> float:
    """Return the radius at which friction resists the spinning of rim i about the normal n of the plane below
    it [m]. It is that of the rim where it lies flat (for a disc two thirds of it), almost 0 where it stands,
    and 0 for members that are no rims. ``t`` holds all tables (arrays) of the model and its state."""
    if t.member_kind[i] != RIM:
        return 0.0
    share = dot(n, axis_mean(t, t.member_axis + 6 * i, 2))
    square = abs(1.0 - share * share + RIM_ROUNDING * RIM_ROUNDING)
    own = t.member_size[3 * i] * (1.0 if t.member_radius[i] > 0.0 else MEAN_RADIUS)
    return own * RIM_ROUNDING * RIM_ROUNDING / square


@compiled
def lowest_rim_point(t: Tables, i: int, n: Vector) -> Vector:
    """Return the lowest point of rim i (a circle) over a plane with unit normal n, at the mean of the time
    step [m]. ``t`` holds all tables (arrays) of the model and its state."""
    a, size = axis_mean(t, t.member_axis + 6 * i, 2), t.member_size + 3 * i
    a = (1.0 / sqrt(dot(a, a))) * a
    across, root = n - dot(n, a) * a, sqrt(abs(1.0 - dot(n, a) ** 2 + RIM_ROUNDING * RIM_ROUNDING))
    return mean_vector(t, t.member_start[i]) + size[1] * a - (size[0] / root) * across
