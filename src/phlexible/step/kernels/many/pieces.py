"""Penetration of line segments and edges of bodies into solids between their ends (docs/theory.md, 8).

A segment w(s) = (1 - s) a + s b in the axes of a solid, of radius r, has the distance

    F = min over s of phi(w(s)) + (1 - s) A + s B + SHARE l (s - m)^2,    A = max(0, r - phi(a)), B of b

from it: that of its nearest point, minus the penetration of its ends, which are points themselves. On a flat side
nothing remains; where an edge of the solid is between the ends all of it does. SHARE chooses the middle m of a
parallel segment, that of the part of the segment within twice the radius of the solid from its centre, so that a
wheel rolls along a rail as if this had no middle; l is the length of the segment at the start. Segments that touch
by themselves have A = B = 0.
"""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import (
    Tables,
    Vector,
    dot,
    has_derivatives,
    secant_parts,
    three_secants,
    vector,
    with_derivative,
)
from phlexible.step.kernels.contact import clamp_to_unit
from phlexible.step.kernels.many.meshes import mesh_distance_gradient
from phlexible.step.kernels.many.solids import point_distance, position_in_solid, shape_distance
from phlexible.step.tables.declarations import BLOCK, INSET, MESH, RIM, RING
from phlexible.step.tables.piece_distances import BENT, BESIDE, EXACT, PARTS, SHARE, TURNS

NEAR = 1e-6
"""Way along a piece, in lengths of it, in which the curvature of a solid is measured."""
SHORT = 1e-8  # of the length: so short a way has no part of its own, which would be round-off


@compiled
def is_segment(t: Tables, m: int) -> bool:
    """Return whether contact member m is a line segment, that is, has a length. ``t`` holds all tables
    (arrays) of the model and its state."""
    return t.member_kind[m] <= INSET and t.member_start[m] != t.member_end[m]


@compiled
def is_line_over(t: Tables, i: int, j: int) -> bool:
    """Return whether contact member i is a line segment and member j a solid. ``t`` holds all tables (arrays)
    of the model and its state."""
    return t.member_kind[j] > RIM and is_segment(t, i)


@compiled
def solid_distance_gradient(t: Tables, i: int, j: int, w: Vector) -> tuple[float, Vector]:
    """Return the signed distance of a point w from the surface of solid j, negative inside [m], and its
    gradient, both in the solid's axes. i is the contact member that the point belongs to. ``t`` holds all
    tables (arrays) of the model and its state."""
    if t.member_kind[j] == MESH:
        return mesh_distance_gradient(t, j, w, t.member_radius[i])
    high, _, slope = secant_parts(shape_distance(t, j, three_secants(w, vector(0.0, 0.0, 0.0))))
    return high, slope


@compiled
def _segment_middle(t: Tables, i: int, j: int, a: Vector, u: Vector) -> tuple[float, float]:
    """Return the parameter m of the middle of the part of line segment i near solid j, where a parallel
    segment shall touch. Then follows its derivative to the parameter nearest to the solid's centre; a is the
    start and u the vector of the segment in the axes of the solid. ``t`` holds all tables (arrays) of the
    model and its state."""
    around = t.member_around[j]
    if around < 0.0:
        return 0.5, 0.0
    foot, reach = -dot(a, u) / dot(u, u), 2.0 * around / t.member_size[3 * i]
    low, high = foot - reach, foot + reach
    moves = (0.5 if 0.0 < low < 1.0 else 0.0) + (0.5 if 0.0 < high < 1.0 else 0.0)
    return 0.5 * (clamp_to_unit(low) + clamp_to_unit(high)), moves


Place = tuple[float, float, float, Vector]
"""Of a piece: s, F, its slope along s, and that of phi."""


@compiled
def _value_at(t: Tables, i: int, j: int, a: Vector, u: Vector, ends: tuple[float, float, float], s: float) -> Place:
    """Return, at parameter s, the function whose minimum along line segment i is the distance from solid j: the
    tuple (s, value, derivative to s, normal). The normal is the gradient of the solid's distance. a is the start
    and u the vector of the segment in the axes of the solid; ``ends`` are the penetrations A, B of its ends and the
    preferred middle m. ``t`` holds all tables.

    ``bristle_force``: A, B and m.
    """
    share = SHARE * t.member_size[3 * i]
    A, B, middle = ends
    high, n = solid_distance_gradient(t, i, j, a + s * u)
    value = high + (1.0 - s) * A + s * B + share * (s - middle) * (s - middle)
    return s, value, dot(n, u) + B - A + 2.0 * share * (s - middle), n


@compiled
def _tangent_intersection(low: Place, high: Place) -> float:
    """Return the parameter along a line segment at which two tangents of a distance function intersect. One falls
    at the point ``low``, one rises at ``high``; a point is the tuple (parameter, value, derivative, normal)."""
    x, f, g, _ = low
    y, e, k, _ = high
    return (e - f + g * x - k * y) / (g - k)


@compiled
def _minimum_at_edge(t: Tables, i: int, middle: float, low: Place, high: Place) -> tuple[float, float, Vector]:
    """Return the least distance of line segment i from an edge of a solid, its parameter s and the gradient
    of the solid's distance. The edge is between the points ``low`` and ``high``; unlike an iteration the
    formula keeps derivatives of dual numbers. ``middle`` is the parameter that parallel segments prefer.
    ``t`` holds all tables (arrays) of the model and its state."""
    bend = 2.0 * SHARE * t.member_size[3 * i]
    x, f, g, n = low
    y, e, k, m = high
    before, after = x - middle, y - middle
    f, e = f - 0.5 * bend * before * before, e - 0.5 * bend * after * after
    g, k = g - bend * before, k - bend * after
    s = (e - f + g * x - k * y) / (g - k)
    along = bend * (s - middle)
    share = (k + along) / (k - g)
    return f + g * (s - x) + 0.5 * along * (s - middle), s, m + share * (n - m)


@compiled
def _bracketed_minimum(
    t: Tables, i: int, j: int, a: Vector, u: Vector, ends: tuple[float, float, float], low: Place, high: Place
) -> tuple[float, float, Vector]:
    """Return the least distance of line segment i from solid j, its parameter s and the gradient of the
    solid's distance there. The segment starts at a and has the vector u, in the axes of the solid. The
    minimum is found by an iteration between ``low``, where the distance falls, and ``high``, where it rises;
    the range of parameters and the preferred one are ``ends``. ``t`` holds all tables (arrays) of the model
    and its state.

    Where two smooth parts intersect in an edge both have a share, so that nothing is left along the segment.
    """
    length = t.member_size[3 * i]
    for turn in range(TURNS):
        x, f, g, n = low
        y, e, k, m = high
        cut = _tangent_intersection(low, high)
        bound, s = f + g * (cut - x), cut
        if turn % 2 == 1:
            s = (x * k - y * g) / (k - g)
        if not x < s < y:
            s = 0.5 * (x + y)
        here = _value_at(t, i, j, a, u, ends, s)
        _, value, slope, normal = here
        if abs(slope) <= EXACT * length:
            if has_derivatives(s):  # a step of Newton's method gives s its derivatives
                _, _, _, beside = _value_at(t, i, j, a, u, ends, s + NEAR)
                bend = 2.0 * SHARE * length + dot(beside - normal, u) / NEAR
                if bend > 0.0:
                    s = with_derivative(s, -1.0 / bend, slope)
            return value, s, normal
        is_edge = dot(m - n, u) > BENT * length
        if (turn % 2 == 0 and is_edge and value - bound <= EXACT * length) or y - x <= EXACT:
            if has_derivatives(s) and is_edge:
                return _minimum_at_edge(t, i, ends[2], low, high)
            share = k / (k - g)
            return value, s, m + share * (n - m)
        if slope < 0.0:
            low = here
        else:
            high = here
    x, f, g, n = low
    y, e, k, m = high
    share = k / (k - g)
    return min(f, e), x if f < e else y, m + share * (n - m)


@compiled
def _minimum_on_segment(
    t: Tables,
    i: int,
    j: int,
    a: Vector,
    u: Vector,
    ends: tuple[float, float, float],
    first: tuple[float, Vector],
    last: tuple[float, Vector],
) -> tuple[float, float, Vector]:
    """Return the least distance of line segment i from solid j [m], its parameter s and the gradient of the
    solid's distance there. a is the start and u the vector of the segment; ``first`` and ``last`` are
    distance and gradient at its ends. ``t`` holds all tables (arrays) of the model and its state.

    Between ends that are too far to touch it is a lower bound of F.
    """
    share, radius = SHARE * t.member_size[3 * i], t.member_radius[i]
    A, B, middle = ends
    begin, n = first
    end, m = last
    rest = 1.0 - middle
    f, g = begin + A + share * middle * middle, dot(n, u) + B - A - 2.0 * share * middle
    e, k = end + B + share * rest * rest, dot(m, u) + B - A + 2.0 * share * rest
    low, top = (0.0, f, g, n), (1.0, e, k, m)
    best, at, slope = f, 0.0, n
    if e < best:
        best, at, slope = e, 1.0, m
    if t.member_kind[j] < RING:  # convex
        if g >= 0.0 or k <= 0.0:
            return best, at, slope
        if dot(m - n, u) <= EXACT * t.member_size[3 * i]:  # phi is straight along the piece
            at = -0.5 * g / share
            return f + 0.5 * g * at, at, n
        cut = _tangent_intersection(low, top)
        if f + g * cut >= radius:
            weight = k / (k - g)
            return f + g * cut, cut, m + weight * (n - m)
        return _bracketed_minimum(t, i, j, a, u, ends, low, top)
    steepest = 2.02 * dot(u, u) ** 0.5 + 2.0 * share
    while low[0] < 1.0:
        x, f, g, n = low
        s = x + max((f - radius) / steepest, 1.0 / PARTS)
        high = top
        if s < 1.0:
            high = _value_at(t, i, j, a, u, ends, s)
        s, value, rising, normal = high
        if value < best:
            best, at, slope = value, s, normal
        if g < 0.0 < rising and f + g * (_tangent_intersection(low, high) - x) < min(best, radius):
            found, place, across = _bracketed_minimum(t, i, j, a, u, ends, low, high)
            if found <= best:  # more exact than the ends of the interval
                best, at, slope = found, place, across
        low = high
    return best, at, slope


@compiled
def segment_solid_distance(t: Tables, i: int, j: int, a: Vector, b: Vector) -> tuple[float, float, Vector, Vector]:
    """Return the signed distance of line segment i from solid j [m] and the parameter s of the contact, then
    the gradients to both ends. The ends a and b are in the axes of the solid; what they penetrate by
    themselves is left out. ``t`` holds all tables (arrays) of the model and its state."""
    radius, u = t.member_radius[i], b - a
    first, n = solid_distance_gradient(t, i, j, a)
    last, m = solid_distance_gradient(t, i, j, b)
    A, B = 0.0, 0.0
    if t.member_size[3 * i + 2] == 0.0:
        A, B = max(radius - first, 0.0), max(radius - last, 0.0)
    middle, moves = _segment_middle(t, i, j, a, u)
    F, s, slope = _minimum_on_segment(t, i, j, a, u, (A, B, middle), (first, n), (last, m))
    on_a, on_b = (1.0 - s) * slope, s * slope
    if moves > 0.0:
        square = dot(u, u)
        foot = -dot(a, u) / square
        share = 2.0 * SHARE * t.member_size[3 * i] * (middle - s) * moves / square
        on_a += share * (a + (2.0 * foot - 1.0) * u)
        on_b -= share * (a + 2.0 * foot * u)
    if A > 0.0:
        on_a -= (1.0 - s) * n
    if B > 0.0:
        on_b -= s * m
    return F + BESIDE * t.member_size[3 * i], s, on_a, on_b


@compiled
def is_outside_box_face(a: Vector, b: Vector, low: Vector, high: Vector, radius: float) -> bool:
    """Return whether both ends a and b of a segment lie beyond the same face of an axis-aligned box by more than
    ``radius``. The corners of the box are ``low`` and ``high``; such a segment cannot touch it."""
    if min(a.x, b.x) > high.x + radius or max(a.x, b.x) < low.x - radius:
        return True
    if min(a.y, b.y) > high.y + radius or max(a.y, b.y) < low.y - radius:
        return True
    return min(a.z, b.z) > high.z + radius or max(a.z, b.z) < low.z - radius


@compiled
def segment_may_touch(t: Tables, i: int, j: int, a: Vector, b: Vector) -> bool:
    """Return False if line segment i with ends a and b, in the axes of solid j, is too far from it to touch.
    That is so if it lies beyond a face of its box (block, mesh), or its middle is farther than radius plus
    half the length. ``t`` holds all tables (arrays) of the model and its state."""
    u, kind, size = b - a, t.member_kind[j], t.member_size + 3 * j
    if kind == BLOCK:
        high = vector(size[0], size[1], size[2])
        if is_outside_box_face(a, b, -1.0 * high, high, t.member_radius[i]):
            return False
    if kind == MESH:
        box = t.member_mesh[j]
        if is_outside_box_face(a, b, t.mesh_low[box], t.mesh_high[box], t.member_radius[i]):
            return False
    middle = point_distance(t, i, j, a + 0.5 * u)
    return middle <= t.member_radius[i] + 0.5 * dot(u, u) ** 0.5


@compiled
def line_distance(t: Tables, i: int, j: int, share: float) -> float:
    """Return the signed distance of the axis of line segment i from solid j after ``share`` of the time step
    (0: start, 1: end) [m]. If a quick test says that they cannot touch, twice the radius plus the size of the
    segment is returned. ``t`` holds all tables (arrays) of the model and its state."""
    a, da = position_in_solid(t, t.member_start[i], j)
    b, db = position_in_solid(t, t.member_end[i], j)
    a, b = a + share * da, b + share * db
    if not segment_may_touch(t, i, j, a, b):
        return 2.0 * t.member_radius[i] + t.member_size[3 * i]
    F, _, _, _ = segment_solid_distance(t, i, j, a, b)
    return F


@compiled
def segment_distance_change(t: Tables, i: int, j: int) -> tuple[float, float, float, Vector, Vector]:
    """Return the signed distance of line segment i from solid j at the start of the time step, and its change
    [m]. Then follow the parameter s of the contact at the mean, and the discrete gradients to both ends,
    whose products with their displacements sum to the change. ``t`` holds all tables (arrays) of the model
    and its state."""
    radius, length = t.member_radius[i], t.member_size[3 * i]
    a, da = position_in_solid(t, t.member_start[i], j)
    b, db = position_in_solid(t, t.member_end[i], j)
    if not (segment_may_touch(t, i, j, a, b) or segment_may_touch(t, i, j, a + da, b + db)):
        return radius + length, 0.0, 0.5, a, b
    before, s, on_a, on_b = segment_solid_distance(t, i, j, a, b)
    after, z, then_a, then_b = segment_solid_distance(t, i, j, a + da, b + db)
    on_a, on_b, square = 0.5 * (on_a + then_a), 0.5 * (on_b + then_b), dot(da, da) + dot(db, db)
    change = dot(on_a, da) + dot(on_b, db)
    if square > SHORT * SHORT * length * length:
        more = (after - before - change) / square
        on_a, on_b = on_a + more * da, on_b + more * db
        change = after - before
    return before, change, 0.5 * (s + z), on_a, on_b
