"""How far places are from solids that a body carries: planes, tubes, blocks, rings, meshes (docs/theory.md, 8).

A place is w_k = (x_i - x_j).d_k along the axes of the solid. The distance phi(w) is a chain of sums and lengths,
whose discrete gradients are multiplied: omega with sum_k omega_k delta(w_k) = delta(phi), without cancellation.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Integers, Tables, Vector, along, dot, vector, where
from phlexible.step.kernels.floating_bodies import unit
from phlexible.step.kernels.many.meshes import height_over_mesh, rise_over_mesh
from phlexible.step.tables.declarations import BALL_INSIDE, BLOCK, DRUM, MESH, PLANE, RING, TUBE

NEVER = -1e30  # a side that nothing is beyond
LEAST = 1e-300


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
def place_in(t: Tables, i: int, j: int) -> tuple[Vector, Vector]:
    """w of the centre of member i in the axes of solid j at the start of the step, and delta(w)."""
    return seen_in(t, t.member_start[i], j)


@compiled
def seen_in(t: Tables, p: int, j: int) -> tuple[Vector, Vector]:
    """The same of a point p."""
    k, axes = t.member_start[j], t.member_axis + 6 * j
    r, dr = t.place0[p] - t.place0[k], t.change[p] - t.change[k]
    mean = r + 0.5 * dr
    a, b, c = axis_start(t, axes, 0), axis_start(t, axes, 1), axis_start(t, axes, 2)
    da, db, dc = axis_change(t, axes, 0), axis_change(t, axes, 1), axis_change(t, axes, 2)
    w = vector(dot(r, a), dot(r, b), dot(r, c))
    dw = vector(dot(dr, a + 0.5 * da), dot(dr, b + 0.5 * db), dot(dr, c + 0.5 * dc))
    return w, dw + vector(dot(mean, da), dot(mean, db), dot(mean, dc))


@compiled
def height_at_start(t: Tables, i: int, j: int) -> float:
    """phi of member i over solid j."""
    w, _ = place_in(t, i, j)
    return height_at(t, i, j, w)


@compiled
def height_at_end(t: Tables, i: int, j: int) -> float:
    """The same at the end of the step."""
    w, dw = place_in(t, i, j)
    return height_at(t, i, j, w + dw)


@compiled
def _beyond(q: Vector) -> float:
    """Distance from a corner whose sides q is beyond: |q_+|, or, where none is, the largest, which is negative."""
    a, b, c = max(q.x, 0.0), max(q.y, 0.0), max(q.z, 0.0)
    out = sqrt(a * a + b * b + c * c)
    return out if out > 0.0 else max(q.x, max(q.y, q.z))


@compiled
def _sides(t: Tables, j: int, w: Vector) -> Vector:
    """How far beyond the sides of a block or drum a place is."""
    size = t.member_size + 3 * j
    if t.member_kind[j] == BLOCK:
        return vector(abs(w.x) - size[0], abs(w.y) - size[1], abs(w.z) - size[2])
    return vector(sqrt(w.x * w.x + w.y * w.y) - size[0], NEVER, abs(w.z) - size[1])


@compiled
def height_at(t: Tables, i: int, j: int, w: Vector) -> float:
    """phi of a place, of member i, in the axes of a solid; negative within its matter."""
    kind, size = t.member_kind[j], t.member_size + 3 * j
    if kind == PLANE:
        return w.z - size[0]
    if kind == BALL_INSIDE:
        return size[0] - sqrt(dot(w, w))
    if kind == TUBE:
        return size[1] * (sqrt(w.x * w.x + w.y * w.y) - size[0])
    if kind == RING:
        r = sqrt(w.x * w.x + w.y * w.y + size[2] * size[2])
        ring = r - size[2] * size[2] / r - size[0]
        return sqrt(ring * ring + w.z * w.z) - size[1]
    if kind == MESH:
        return height_over_mesh(t, j, w, t.member_radius[i])
    return _beyond(_sides(t, j, w))


@compiled
def rise(t: Tables, i: int, j: int, w: Vector, dw: Vector) -> tuple[float, float, Vector]:
    """phi at the start, its change, and omega."""
    kind, size, end = t.member_kind[j], t.member_size + 3 * j, w + dw
    if kind == MESH:
        return rise_over_mesh(t, j, w, dw, t.member_radius[i])
    if kind == PLANE:
        return w.z - size[0], dw.z, vector(0.0, 0.0, 1.0)
    if kind == BALL_INSIDE:
        l0, l1 = sqrt(dot(w, w)), sqrt(dot(end, end))
        omega = (-1.0 / max(l0 + l1, LEAST)) * (w + end)
        return size[0] - l0, dot(omega, dw), omega
    soft = size[2] * size[2] if kind == RING else 0.0
    r0, r1 = sqrt(w.x * w.x + w.y * w.y + soft), sqrt(end.x * end.x + end.y * end.y + soft)
    out = (1.0 / max(r0 + r1, LEAST)) * vector(w.x + end.x, w.y + end.y, 0.0)
    dr = dot(out, dw)
    if kind == TUBE:
        return size[1] * (r0 - size[0]), size[1] * dr, size[1] * out
    if kind == RING:
        a0, a1 = r0 - soft / r0 - size[0], r1 - soft / r1 - size[0]
        out = (1.0 + soft / (r0 * r1)) * out
        l0, l1 = sqrt(a0 * a0 + w.z * w.z), sqrt(a1 * a1 + end.z * end.z)
        both = max(l0 + l1, LEAST)
        omega = ((a0 + a1) / both) * out + vector(0.0, 0.0, (w.z + end.z) / both)
        return l0 - size[1], dot(omega, dw), omega
    q, e = _sides(t, j, w), _sides(t, j, end)
    up = (abs(w.z) + abs(end.z)) if abs(w.z) + abs(end.z) > 0.0 else 1.0
    high = (w.z + end.z) / up
    if kind == DRUM:
        before, change, slope = _rounded(q, e, vector(dr, 0.0, high * dw.z))
        return before, change, slope.x * out + vector(0.0, 0.0, slope.z * high)
    x, y = max(abs(w.x) + abs(end.x), LEAST), max(abs(w.y) + abs(end.y), LEAST)
    x, y = (w.x + end.x) / x, (w.y + end.y) / y
    before, change, slope = _rounded(q, e, vector(x * dw.x, y * dw.y, high * dw.z))
    return before, change, vector(slope.x * x, slope.y * y, slope.z * high)


@compiled
def _highest(q: Vector) -> int:
    if q.x >= q.y and q.x >= q.z:
        return 0
    return 1 if q.y >= q.z else 2


@compiled
def _share(q: float, e: float, dq: float) -> float:
    """delta(q_+) / delta(q)."""
    if q > 0.0 and e > 0.0:
        return 1.0
    if q <= 0.0 and e <= 0.0:
        return 0.0
    return (max(e, 0.0) - max(q, 0.0)) / where(dq != 0.0, dq, 1.0)


@compiled
def _count(q: Vector) -> int:
    return (1 if q.x > 0.0 else 0) + (1 if q.y > 0.0 else 0) + (1 if q.z > 0.0 else 0)


@compiled
def _rounded(q: Vector, e: Vector, dq: Vector) -> tuple[float, float, Vector]:
    """The distance from a corner at q, its change to that at e = q + dq, and its slopes along dq."""
    before, after, m = _beyond(q), _beyond(e), _highest(q)
    if m == _highest(e) and _count(q) <= 1 and _count(e) <= 1:  # one side at both ends
        return before, along(dq, m), unit(m)
    if before > 0.0 and after > 0.0:
        both = before + after
        slope = vector(
            (max(q.x, 0.0) + max(e.x, 0.0)) * _share(q.x, e.x, dq.x) / both,
            (max(q.y, 0.0) + max(e.y, 0.0)) * _share(q.y, e.y, dq.y) / both,
            (max(q.z, 0.0) + max(e.z, 0.0)) * _share(q.z, e.z, dq.z) / both,
        )
        return before, dot(slope, dq), slope
    slope = 0.5 * (_outward(q, before) + _outward(e, after))
    square = dot(dq, dq)
    change = after - before
    slope += where(square > 0.0, (change - dot(slope, dq)) / where(square > 0.0, square, 1.0), 0.0) * dq
    return before, change, slope


@compiled
def _outward(q: Vector, distance: float) -> Vector:
    if distance > 0.0:
        return (1.0 / distance) * vector(max(q.x, 0.0), max(q.y, 0.0), max(q.z, 0.0))
    return unit(_highest(q))
