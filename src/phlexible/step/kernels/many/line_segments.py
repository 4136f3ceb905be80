"""Distances of line segments from solids, balls and each other (docs/theory.md, 8)."""

from math import sqrt

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
from phlexible.step.kernels.contact import LEAST, clamp_to_unit
from phlexible.step.kernels.many.members import point_distance, position_in_solid, shape_distance
from phlexible.step.kernels.many.meshes import mesh_distance_gradient
from phlexible.step.tables.declarations import BLOCK, INSET, MESH, RIM, RING

# Penetration of line segments and edges of bodies into solids between their ends.
#
# A segment w(s) = (1 - s) a + s b in the axes of a solid, of radius r, has the distance
#
#     F = min over s of phi(w(s)) + (1 - s) A + s B + SHARE l (s - m)^2,    A = max(0, r - phi(a)), B of b
#
# from it: that of its nearest point, minus the penetration of its ends, which are points themselves. On a flat side
# nothing remains; where an edge of the solid is between the ends all of it does. SHARE chooses the middle m of a
# parallel segment, that of the part of the segment within twice the radius of the solid from its centre, so that a
# wheel rolls along a rail as if this had no middle; l is the length of the segment at the start. Segments that
# touch by themselves have A = B = 0.

SHARE = 5e-3
"""Of the length of a piece on a solid, by which the middle of what is parallel is chosen."""
BESIDE = 1e-6  # of the length, by which it touches later: flat sides that are as deep as their ends do not
PARTS = 16  # a piece on what is not convex is looked at in
TURNS = 60
EXACT = 1e-14  # of the length
BENT = 1e-6  # slope along the piece by which two sides of a solid differ at an edge
NEAR = 1e-6
"""Way along a piece, in lengths of it, in which the curvature of a solid is measured."""
SHORT = 1e-8  # of the length: so short a way has no part of its own, which would be round-off


@compiled
def is_segment(t: Tables, m: int) -> bool:
    """Return whether contact shape m (a ball, line segment, rim or solid of a body's surface) is a line segment.
    It is one if its start and end are different points and its kind is neither a rim nor a solid. ``t`` contains
    all arrays of the model and its state."""
    return t.member_kind[m] <= INSET and t.member_start[m] != t.member_end[m]


@compiled
def is_line_over(t: Tables, i: int, j: int) -> bool:
    """Return whether contact shape i is a line segment and contact shape j a solid (plane, block, mesh, ...).
    ``t`` contains all arrays of the model and its state."""
    return t.member_kind[j] > RIM and is_segment(t, i)


@compiled
def solid_distance_gradient(t: Tables, i: int, j: int, w: Vector) -> tuple[float, Vector]:
    """Return the signed distance [m] of a point w from the surface of solid j, negative inside, and its gradient.
    Both w and the gradient are in the solid's axes. Mesh distances are smoothed near edges within the radius of i,
    the ball or segment to which the point belongs. ``t`` contains all arrays of the model and its state."""
    if t.member_kind[j] == MESH:
        return mesh_distance_gradient(t, j, w, t.member_radius[i])
    high, _, slope = secant_parts(shape_distance(t, j, three_secants(w, vector(0.0, 0.0, 0.0))))
    return high, slope


@compiled
def _segment_middle(t: Tables, i: int, j: int, a: Vector, u: Vector) -> tuple[float, float]:
    """Return the parameter (0 to 1) at which segment i touches solid j if it is parallel to its surface, and a
    derivative. It is the middle of that part of the segment which is within twice the solid's radius of the point
    nearest to its centre. The derivative is that of the parameter with respect to the parameter of this point. a is
    the start and u the vector of the segment in the solid's axes. For infinite solids the results are 0.5 and 0.
    """
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
    """Return value and derivative, at parameter s, of the function whose minimum over segment i is its distance
    from solid j. The value is the solid's distance at a + s u, plus (1 - s) A + s B, plus a small multiple of (s -
    m)^2. A and B are the penetrations of both ends and m the preferred parameter, ``ends`` = (A, B, m); a is the
    start and u the vector of the segment in the solid's axes. The result is the tuple (s, value, derivative with
    respect to s, gradient of the solid's distance).
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
    """Return the least distance of line segment i from an edge of a solid, its parameter s and the distance's
    gradient. The minimum is at the intersection of the tangents in the points ``low`` and ``high`` on both sides
    of the edge. A small quadratic term around ``middle`` is included. A closed formula, unlike an iteration, keeps
    derivatives of dual numbers. ``t`` contains all arrays of the model and its state."""
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
    """Return the least distance of line segment i from solid j, the parameter s of that point, and the gradient of
    the solid's distance. It is the minimum of ``_value_at`` between the points ``low``, where the value falls, and
    ``high``, where it rises. The interval is reduced by intersections of tangents and by secants in turn, at most a
    fixed number of times; then the better end counts. a, u and ``ends`` are those of ``_value_at``.

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
    """Return the least distance of line segment i from solid j [m], its parameter s, and the gradient of the
    solid's distance there. It is the minimum of ``_value_at`` for s from 0 to 1, of which a, u and ``ends`` are
    arguments; ``first`` and ``last`` are distance and gradient at both ends. Where the distance exceeds the
    segment's radius, a lower bound may be returned. Solids that are not convex are searched interval by interval.
    ``t`` contains all arrays of the model and its state.
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
    """Return the signed distance [m] of line segment i from solid j, the parameter s of the contact, and two
    gradients. The gradients are with respect to the end positions a and b, which are in the axes of the solid. The
    penetration of the ends themselves, interpolated along the segment, is subtracted from the depth. ``t``
    contains all arrays of the model and its state."""
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
    """Return False if quick tests show that line segment i is too far from solid j to touch it, else True. The
    segment has the ends a and b, in the axes of the solid. It cannot touch if it lies beyond a face of the solid's
    box (block, mesh), or if its middle is farther than its radius plus half its length. ``t`` contains all arrays
    of the model and its state.
    """
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
    """Return the signed distance of the axis of line segment i from solid j after the fraction ``share`` of the
    time step (0: start, 1: end) [m]. If a quick test says that they cannot touch, twice the radius plus the size
    of the segment is returned. ``t`` contains all arrays of the model and its state."""
    a, da = position_in_solid(t, t.member_start[i], j)
    b, db = position_in_solid(t, t.member_end[i], j)
    a, b = a + share * da, b + share * db
    if not segment_may_touch(t, i, j, a, b):
        return 2.0 * t.member_radius[i] + t.member_size[3 * i]
    F, _, _, _ = segment_solid_distance(t, i, j, a, b)
    return F


@compiled
def segment_distance_change(t: Tables, i: int, j: int) -> tuple[float, float, float, Vector, Vector]:
    """Return the signed distance of line segment i from solid j at the start of the time step, its change [m], and
    three further values. They are the mean parameter s of the contact and discrete gradients with respect to both
    ends; their products with the end displacements, in the solid's axes, sum to the change. If the segment is too
    far to touch at start and end, a large distance and no change are returned. ``t`` contains all arrays of the
    model and its state."""
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


# Penetration of a ball in a line segment that shares nodes with others, so that all segments push once.
#
# With the penetration x of the ball in the segment, x_a and x_b in its ends and p + 1 the exponent of the energy,
# the penetration is
#
#     z = (x^(p+1) - (c_a x_a^(p+1) + c_b x_b^(p+1)) / 2)^(1/(p+1)),    c = 1 - g(alpha) g(beta)
#
# with c = 0 at ends of the line, and g from 0 to 1 in the shares alpha and beta of both segments, from the node on,
# at which they are nearest to the ball: in a valley each segment touches by itself. On a straight line the energies
# of all segments add up to that of one. z is a function of products of the vectors A, B from the ball to the ends,
# P and Q to the far ends of the segments before and after.


Depth = tuple[float, float, float, Vector, Vector, Vector]
"""z, x, the share s along the piece, derivatives of z with respect to (AA, AB, BB), (PP, PA) and (QQ, QB)."""


@compiled
def _shared_node_factor(ff: float, fn: float, nn: float, ne: float, ee: float) -> tuple[float, Vector, Vector]:
    """Return a factor c from 0 to 1 for the energy that two adjacent line segments share at their common node n,
    with its derivatives. It is the contact energy of a ball; f and e are the far ends of the segments; ``ff``,
    ``fn``, ... are scalar products of the vectors from the ball's centre to f, n and e. c is 1 unless the centre is
    projected inside both segments; then it decreases smoothly, to 0 where both projections are at least half a
    segment away from n. The derivatives are two vectors, with respect to (ff, fn, 0) and to (nn, ne, ee).
    """
    first, second, none = ff - 2.0 * fn + nn, nn - 2.0 * ne + ee, vector(0.0, 0.0, 0.0)
    alpha, beta = (nn - fn) / first, (nn - ne) / second
    if alpha <= 0.0 or beta <= 0.0:
        return 1.0, none, none
    a, b = min(2.0 * alpha, 1.0), min(2.0 * beta, 1.0)
    g, k = a * a * (3.0 - 2.0 * a), b * b * (3.0 - 2.0 * b)
    on_alpha, on_beta = -12.0 * a * (1.0 - a) * k / first, -12.0 * b * (1.0 - b) * g / second
    on_far = vector(-alpha * on_alpha, (2.0 * alpha - 1.0) * on_alpha, 0.0)
    own_slope = (1.0 - alpha) * on_alpha + (1.0 - beta) * on_beta
    return 1.0 - g * k, on_far, vector(own_slope, (2.0 * beta - 1.0) * on_beta, -beta * on_beta)


@compiled
def _shared_node_energy(
    is_shared: bool, reach: float, p: float, F: Vector, A: Vector, inner: float, other: float
) -> tuple[float, Vector, Vector]:
    """Return half the contact energy of a ball at the end A of a segment, which an adjacent segment shares, and its
    derivatives. The energy is c x^(p+1) / 2 with the penetration x = ``reach`` - |A| and the factor c of
    ``_shared_node_factor``, from 0 to 1; it is 0 if x <= 0 or not ``is_shared``. Vectors lead from the ball's
    centre to A, to the other end B and to F, the far end of the adjacent segment; ``inner`` is A . B, ``other`` is
    B . B. The derivatives are two vectors, with respect to (F . F, F . A, 0), with opposite sign, and to (A . A, A
    . B, B . B).

    The derivatives are those with respect to (FF, FA), with the opposite sign, and to (AA, AB, BB) of the segment
    from A to B.
    """
    own, none = dot(A, A), vector(0.0, 0.0, 0.0)
    far = sqrt(own)
    x = reach - far
    if not is_shared or x <= 0.0:
        return 0.0, none, none
    power = x if p == 1.0 else x**p
    c, on_far, bends = _shared_node_factor(dot(F, F), dot(F, A), own, inner, other)
    energy, slope = 0.5 * power * x, -0.25 * (p + 1.0) * power / max(far, LEAST)
    return c * energy, -energy * on_far, vector(c * slope, 0.0, 0.0) + energy * bends


@compiled
def shared_penetration(
    reach: float, p: float, has_before: bool, has_after: bool, A: Vector, B: Vector, P: Vector, Q: Vector
) -> Depth:
    """Return the penetration z of a ball in one segment of a line, such that z^(p+1) of all segments add up to one
    contact. z^(p+1) is x^(p+1) minus half of x^(p+1) at both ends that adjacent segments share (less in a valley).
    p is the exponent of the contact law, x the penetration in the segment alone; x and z are negative if they do
    not touch. Derivatives are returned too.

    A and B are vectors from the ball to the segment's ends, P and Q to the far ends of the segments before and
    after, which exist if ``has_before`` and ``has_after``. Ball and segment touch at the distance ``reach``. The
    results are those of ``Depth``: z, x, the parameter of the nearest point along the segment, and derivatives of
    z.
    """
    AA, AB, BB, none = dot(A, A), dot(A, B), dot(B, B), vector(0.0, 0.0, 0.0)
    s = clamp_to_unit((AA - AB) / (AA - 2.0 * AB + BB))
    e = A + s * (B - A)
    far = sqrt(dot(e, e))
    x, half = reach - far, -0.5 / max(far, LEAST)
    on_own = half * vector((1.0 - s) * (1.0 - s), 2.0 * s * (1.0 - s), s * s)
    if x <= 0.0:
        return x, x, s, on_own, none, none
    power = x if p == 1.0 else x**p
    first, on_before, start = _shared_node_energy(has_before, reach, p, P, A, AB, BB)
    last, on_after, end = _shared_node_energy(has_after, reach, p, Q, B, AB, AA)
    W = power * x - first - last
    on_own = (p + 1.0) * power * on_own - start - vector(end.z, end.y, end.x)
    if W <= 0.0:
        return 0.0, x, s, none, none, none
    z = sqrt(W) if p == 1.0 else W ** (1.0 / (p + 1.0))
    share = z / ((p + 1.0) * W)
    return z, x, s, share * on_own, share * on_before, share * on_after


@compiled
def shared_ends(t: Tables, m: int) -> tuple[bool, bool]:
    """Return whether line segment m shares its start, and whether it shares its end, with another segment of its
    line. ``t`` contains all arrays of the model and its state."""
    return t.member_far[2 * m] != t.member_start[m], t.member_far[2 * m + 1] != t.member_end[m]


@compiled
def is_ball_on_line(t: Tables, i: int, j: int) -> bool:
    """Return whether one of contact shapes i and j is a ball and the other a segment of a line. A ball may be a
    point; a line consists of segments that share ends with another segment. For solids and single segments the
    result is False. ``t`` contains all arrays of the model and its state."""
    if t.member_kind[i] > INSET or t.member_kind[j] > INSET:
        return False
    is_ball, is_other = t.member_start[i] == t.member_end[i], t.member_start[j] == t.member_end[j]
    m = j if is_ball else i
    before, after = shared_ends(t, m)
    return is_ball != is_other and (before or after)


@compiled
def vectors_from_ball(t: Tables, m: int, k: int, share: float) -> tuple[Vector, Vector, Vector, Vector]:
    """Return four vectors from the centre of ball k to nodes of a line, in world axes [m]. The nodes are the start
    and end of line segment m, then the far ends of the segments before and after it. Positions are those after the
    fraction ``share`` of the time step, 0 at its start, 1 at its end. ``t`` contains all arrays of the model and
    its state."""
    y, p, q = t.member_start[k], t.member_start[m], t.member_end[m]
    o, w = t.member_far[2 * m], t.member_far[2 * m + 1]
    x = t.world0[y] + share * t.change[y]
    a, b = t.world0[p] + share * t.change[p], t.world0[q] + share * t.change[q]
    return a - x, b - x, t.world0[o] + share * t.change[o] - x, t.world0[w] + share * t.change[w] - x


@compiled
def penetration_on_line(t: Tables, m: int, k: int, p: float, share: float) -> Depth:
    """Return the penetration of ball k that is attributed to line segment m after the fraction ``share`` of the
    time step (0: start, 1: end), and its derivatives. Adjacent segments of a line share one contact force. p is
    the exponent of the contact force. ``t`` contains all arrays of the model and its state."""
    A, B, P, Q = vectors_from_ball(t, m, k, share)
    has_before, has_after = shared_ends(t, m)
    return shared_penetration(t.member_radius[m] + t.member_radius[k], p, has_before, has_after, A, B, P, Q)


# Distances of two line segments, or spheres.
#
# Two pieces x_p + s u and x_k + t v, spheres without u or v, are F apart, the least of
#
#     F^2 = |e|^2 + SHARE_OF_LINES (u.u (s - 1/2)^2 + v.v (t - 1/2)^2),    e = x_p - x_k + s u - t v
#
# for s, t between 0 and 1. The second part, of two pieces, is small and chooses the middle of what is parallel
# (8.32).

SHARE_OF_LINES = 1e-4
"""Share of squared lengths by which the middle of what is parallel is chosen."""


@compiled
def squared_distance_excess(ru: float, rv: float, uu: float, uv: float, vv: float, s: float, t: float) -> float:
    """Return the squared distance of the points at parameters s and t of two line segments, minus that of their
    starts. It follows from scalar products of the segment vectors u, v and the difference r of their starts: ``ru``
    is r . u, ``uv`` is u . v, and so on. A small multiple of the squared distances of both points from the middles
    is added, so that parallel segments have a unique minimum.
    """
    own = SHARE_OF_LINES * (uu * (s - 0.5) ** 2 + vv * (t - 0.5) ** 2)
    return 2.0 * s * ru - 2.0 * t * rv + s * s * uu + t * t * vv - 2.0 * s * t * uv + own


@compiled
def nearest_parameters(ru: float, rv: float, uu: float, uv: float, vv: float) -> tuple[float, float]:
    """Return the parameters s and t, between 0 and 1, of the nearest points of two line segments. Arguments are
    scalar products of the segment vectors u, v and the difference r of their starts: ``ru`` is r . u, ``uv`` is u
    . v, and so on. Middles of parallel segments are preferred; the parameter is 1/2 for a ball, whose vector is
    zero."""
    if uu == 0.0:
        return 0.5, clamp_to_unit(rv / vv) if vv > 0.0 else 0.5
    if vv == 0.0:
        return clamp_to_unit(-ru / uu), 0.5
    A, C = (1.0 + SHARE_OF_LINES) * uu, (1.0 + SHARE_OF_LINES) * vv
    p, q = 0.5 * SHARE_OF_LINES * uu - ru, 0.5 * SHARE_OF_LINES * vv + rv
    determinant = A * C - uv * uv
    s, t = (C * p + uv * q) / determinant, (A * q + uv * p) / determinant
    if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
        return s, t
    best, least, s, t = 0, 0.0, 0.0, 0.0
    for edge in range(4):
        end = float(edge % 2)
        a, b = (end, clamp_to_unit((q + uv * end) / C)) if edge < 2 else (clamp_to_unit((p + uv * end) / A), end)
        value = squared_distance_excess(ru, rv, uu, uv, vv, a, b)
        if best == 0 or value < least:
            best, least, s, t = 1, value, a, b
    return s, t


@compiled
def segment_distance(r: Vector, u: Vector, v: Vector) -> tuple[float, float, float]:
    """Return the distance F of two line segments [m] and the parameters s and t (0 to 1) of their nearest points.
    r is the difference of their starts, u and v are their vectors. If both have a length, F^2 has an additional
    small term in the distances of s and t from 1/2, which makes nearest points of parallel segments unique."""
    ru, rv, uu, uv, vv = dot(r, u), dot(r, v), dot(u, u), dot(u, v), dot(v, v)
    s, t = nearest_parameters(ru, rv, uu, uv, vv)
    e = r + s * u - t * v
    beside = SHARE_OF_LINES * (uu * (s - 0.5) ** 2 + vv * (t - 0.5) ** 2) if uu > 0.0 and vv > 0.0 else 0.0
    return sqrt(dot(e, e) + beside), s, t
