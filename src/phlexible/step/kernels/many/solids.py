"""How far places are from solids that a body carries: planes, tubes, blocks, rings, meshes (docs/theory.md, 8).

A place is w_k = (x_i - x_j).d_k along the axes of the solid. The distance phi(w) of a shape is written once: with
secant numbers it gives omega with sum_k omega_k delta(w_k) = delta(phi), without cancellation.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Integers, Tables, Vector, dot, secant_parts, three_secants, vector
from phlexible.step.kernels.floating_bodies import unit
from phlexible.step.kernels.many.meshes import height_over_mesh, rise_over_mesh
from phlexible.step.tables.declarations import BALL_INSIDE, BLOCK, MESH, PLANE, RING, TUBE

NEVER = -1e30  # a side that nothing is beyond


@compiled
def axis_start(t: Tables, axes: Integers, k: int) -> Vector:
    """Axis k of a member at the start of the step; that of the world where it has none."""
    return t.place0[axes[k]] if axes[k] >= 0 else unit(k)


@compiled
def axis_change(t: Tables, axes: Integers, k: int) -> Vector:
    """Its change in the step."""
    return t.change[axes[k]] if axes[k] >= 0 else vector(0.0, 0.0, 0.0)


@compiled
def axis_mean(t: Tables, axes: Integers, k: int) -> Vector:
    """Its mean."""
    return axis_start(t, axes, k) + 0.5 * axis_change(t, axes, k)


@compiled
def seen_in(t: Tables, p: int, j: int) -> tuple[Vector, Vector]:
    """w of a point p in the axes of solid j at the start of the step, and delta(w)."""
    k, axes = t.member_start[j], t.member_axis + 6 * j
    r, dr = t.place0[p] - t.place0[k], t.change[p] - t.change[k]
    mean = r + 0.5 * dr
    a, b, c = axis_start(t, axes, 0), axis_start(t, axes, 1), axis_start(t, axes, 2)
    da, db, dc = axis_change(t, axes, 0), axis_change(t, axes, 1), axis_change(t, axes, 2)
    w = vector(dot(r, a), dot(r, b), dot(r, c))
    dw = vector(dot(dr, a + 0.5 * da), dot(dr, b + 0.5 * db), dot(dr, c + 0.5 * dc))
    return w, dw + vector(dot(mean, da), dot(mean, db), dot(mean, dc))


@compiled
def height_over(t: Tables, i: int, j: int, share: float) -> float:
    """phi of member i over solid j; ``share`` 0: at the start of the step, 1: at its end."""
    w, dw = seen_in(t, t.member_start[i], j)
    return height_at(t, i, j, w + share * dw)


@compiled
def _beyond(q: Vector) -> float:
    """Distance from a corner whose sides q is beyond: |q_+|, or, where none is, the largest, which is negative."""
    a, b, c = max(q.x, 0.0), max(q.y, 0.0), max(q.z, 0.0)
    return sqrt(a * a + b * b + c * c) + min(max(q.x, q.y, q.z), 0.0)


@compiled
def shape_distance(t: Tables, j: int, w: Vector) -> float:
    """Signed distance of a place in the axes of a solid from its surface; negative within its matter."""
    kind, size = t.member_kind[j], t.member_size + 3 * j
    if kind == PLANE:
        return w.z - size[0]
    if kind == BALL_INSIDE:
        return size[0] - sqrt(dot(w, w))
    if kind == BLOCK:
        return _beyond(vector(abs(w.x) - size[0], abs(w.y) - size[1], abs(w.z) - size[2]))
    if kind == RING:
        r = sqrt(w.x * w.x + w.y * w.y + size[2] * size[2])
        ring = r - size[2] * size[2] / r - size[0]
        return sqrt(ring * ring + w.z * w.z) - size[1]
    out = sqrt(w.x * w.x + w.y * w.y) - size[0]
    if kind == TUBE:
        return size[1] * out
    return _beyond(vector(out, NEVER, abs(w.z) - size[1]))


@compiled
def height_at(t: Tables, i: int, j: int, w: Vector) -> float:
    """phi of a place, of member i, in the axes of a solid."""
    if t.member_kind[j] == MESH:
        return height_over_mesh(t, j, w, t.member_radius[i])
    return shape_distance(t, j, w)


@compiled
def rise(t: Tables, i: int, j: int, w: Vector, dw: Vector) -> tuple[float, float, Vector]:
    """phi at the start, its change, and omega."""
    if t.member_kind[j] == MESH:
        return rise_over_mesh(t, j, w, dw, t.member_radius[i])
    return secant_parts(shape_distance(t, j, three_secants(w, dw)))
