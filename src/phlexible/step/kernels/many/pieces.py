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
from phlexible.step.kernels.contact import clamped
from phlexible.step.kernels.many.meshes import slope_over_mesh
from phlexible.step.kernels.many.solids import height_at, seen_in, shape_distance
from phlexible.step.tables.declarations import BLOCK, INSET, MESH, RIM, RING
from phlexible.step.tables.piece_distances import BENT, BESIDE, EXACT, PARTS, SHARE, TURNS

NEAR = 1e-6
"""Way along a piece, in lengths of it, in which the curvature of a solid is measured."""
SHORT = 1e-8  # of the length: so short a way has no part of its own, which would be round-off


@compiled
def is_piece(t: Tables, m: int) -> bool:
    """Whether a member has a length, so that it is a line segment."""
    return t.member_kind[m] <= INSET and t.member_start[m] != t.member_end[m]


@compiled
def is_across(t: Tables, i: int, j: int) -> bool:
    """Whether member i is a line segment and j a solid."""
    return t.member_kind[j] > RIM and is_piece(t, i)


@compiled
def slope_at(t: Tables, i: int, j: int, w: Vector) -> tuple[float, Vector]:
    """Return the signed distance phi of a point in the axes of solid j, and its gradient."""
    if t.member_kind[j] == MESH:
        return slope_over_mesh(t, j, w, t.member_radius[i])
    high, _, slope = secant_parts(shape_distance(t, j, three_secants(w, vector(0.0, 0.0, 0.0))))
    return high, slope


@compiled
def _middle(t: Tables, i: int, j: int, a: Vector, u: Vector) -> tuple[float, float]:
    """Return m of segment i and solid j, and its derivative to the parameter of the solid's centre."""
    around = t.member_around[j]
    if around < 0.0:
        return 0.5, 0.0
    foot, reach = -dot(a, u) / dot(u, u), 2.0 * around / t.member_size[3 * i]
    low, high = foot - reach, foot + reach
    moves = (0.5 if 0.0 < low < 1.0 else 0.0) + (0.5 if 0.0 < high < 1.0 else 0.0)
    return 0.5 * (clamped(low) + clamped(high)), moves


Place = tuple[float, float, float, Vector]
"""Of a piece: s, F, its slope along s, and that of phi."""


@compiled
def _between(t: Tables, i: int, j: int, a: Vector, u: Vector, held: tuple[float, float, float], s: float) -> Place:
    """Return s, the function whose minimum is F, its derivative along s, and the gradient of phi.

    ``held``: A, B and m.
    """
    share = SHARE * t.member_size[3 * i]
    A, B, middle = held
    high, n = slope_at(t, i, j, a + s * u)
    value = high + (1.0 - s) * A + s * B + share * (s - middle) * (s - middle)
    return s, value, dot(n, u) + B - A + 2.0 * share * (s - middle), n


@compiled
def _cut(low: Place, high: Place) -> float:
    """Return the parameter at which tangents with slopes g < 0 < k intersect."""
    x, f, g, _ = low
    y, e, k, _ = high
    return (e - f + g * x - k * y) / (g - k)


@compiled
def _at_edge(t: Tables, i: int, middle: float, low: Place, high: Place) -> tuple[float, float, Vector]:
    """Return F, s and the gradient of phi where two sides of a solid intersect, with derivatives that iterates
    lack."""
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
def _least(
    t: Tables, i: int, j: int, a: Vector, u: Vector, held: tuple[float, float, float], low: Place, high: Place
) -> tuple[float, float, Vector]:
    """Return F, s and the gradient of phi between points where F falls and rises.

    Where two smooth parts intersect in an edge both have a share, so that nothing is left along the segment.
    """
    length = t.member_size[3 * i]
    for turn in range(TURNS):
        x, f, g, n = low
        y, e, k, m = high
        cut = _cut(low, high)
        bound, s = f + g * (cut - x), cut
        if turn % 2 == 1:
            s = (x * k - y * g) / (k - g)
        if not x < s < y:
            s = 0.5 * (x + y)
        here = _between(t, i, j, a, u, held, s)
        _, value, slope, normal = here
        if abs(slope) <= EXACT * length:
            if has_derivatives(s):  # a step of Newton's method gives s its derivatives
                _, _, _, beside = _between(t, i, j, a, u, held, s + NEAR)
                bend = 2.0 * SHARE * length + dot(beside - normal, u) / NEAR
                if bend > 0.0:
                    s = with_derivative(s, -1.0 / bend, slope)
            return value, s, normal
        is_edge = dot(m - n, u) > BENT * length
        if (turn % 2 == 0 and is_edge and value - bound <= EXACT * length) or y - x <= EXACT:
            if has_derivatives(s) and is_edge:
                return _at_edge(t, i, held[2], low, high)
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
def _nearest(
    t: Tables,
    i: int,
    j: int,
    a: Vector,
    u: Vector,
    held: tuple[float, float, float],
    first: tuple[float, Vector],
    last: tuple[float, Vector],
) -> tuple[float, float, Vector]:
    """Return F, s and the gradient of phi there, of a segment with phi and its gradient at its ends.

    Between ends that are too far to touch it is a lower bound of F.
    """
    share, radius = SHARE * t.member_size[3 * i], t.member_radius[i]
    A, B, middle = held
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
        cut = _cut(low, top)
        if f + g * cut >= radius:
            weight = k / (k - g)
            return f + g * cut, cut, m + weight * (n - m)
        return _least(t, i, j, a, u, held, low, top)
    steepest = 2.02 * dot(u, u) ** 0.5 + 2.0 * share
    while low[0] < 1.0:
        x, f, g, n = low
        s = x + max((f - radius) / steepest, 1.0 / PARTS)
        high = top
        if s < 1.0:
            high = _between(t, i, j, a, u, held, s)
        s, value, rising, normal = high
        if value < best:
            best, at, slope = value, s, normal
        if g < 0.0 < rising and f + g * (_cut(low, high) - x) < min(best, radius):
            found, place, across = _least(t, i, j, a, u, held, low, high)
            if found <= best:  # more exact than the ends of the interval
                best, at, slope = found, place, across
        low = high
    return best, at, slope


@compiled
def over_solid(t: Tables, i: int, j: int, a: Vector, b: Vector) -> tuple[float, float, Vector, Vector]:
    """Return F and s of segment i with ends a and b in the axes of solid j, and the gradients of F to both."""
    radius, u = t.member_radius[i], b - a
    first, n = slope_at(t, i, j, a)
    last, m = slope_at(t, i, j, b)
    A, B = 0.0, 0.0
    if t.member_size[3 * i + 2] == 0.0:
        A, B = max(radius - first, 0.0), max(radius - last, 0.0)
    middle, moves = _middle(t, i, j, a, u)
    F, s, slope = _nearest(t, i, j, a, u, (A, B, middle), (first, n), (last, m))
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
def is_beside(a: Vector, b: Vector, low: Vector, high: Vector, radius: float) -> bool:
    """Whether both ends are outside of one side of a box, by the radius."""
    if min(a.x, b.x) > high.x + radius or max(a.x, b.x) < low.x - radius:
        return True
    if min(a.y, b.y) > high.y + radius or max(a.y, b.y) < low.y - radius:
        return True
    return min(a.z, b.z) > high.z + radius or max(a.z, b.z) < low.z - radius


@compiled
def may_be_across(t: Tables, i: int, j: int, a: Vector, b: Vector) -> bool:
    """Whether segment i may be close enough to solid j to touch it; False: it cannot."""
    u, kind, size = b - a, t.member_kind[j], t.member_size + 3 * j
    if kind == BLOCK:
        high = vector(size[0], size[1], size[2])
        if is_beside(a, b, -1.0 * high, high, t.member_radius[i]):
            return False
    if kind == MESH:
        box = t.member_mesh[j]
        if is_beside(a, b, t.mesh_low[box], t.mesh_high[box], t.member_radius[i]):
            return False
    middle = height_at(t, i, j, a + 0.5 * u)
    return middle <= t.member_radius[i] + 0.5 * dot(u, u) ** 0.5


@compiled
def distance_across(t: Tables, i: int, j: int, share: float) -> float:
    """Return F of a segment and a solid; ``share`` 0: at the start of the step, 1: at its end."""
    a, da = seen_in(t, t.member_start[i], j)
    b, db = seen_in(t, t.member_end[i], j)
    a, b = a + share * da, b + share * db
    if not may_be_across(t, i, j, a, b):
        return 2.0 * t.member_radius[i] + t.member_size[3 * i]
    F, _, _, _ = over_solid(t, i, j, a, b)
    return F


@compiled
def rise_across(t: Tables, i: int, j: int) -> tuple[float, float, float, Vector, Vector]:
    """Return F at the start of the step, its change, s at the mean, and discrete gradients to both ends."""
    radius, length = t.member_radius[i], t.member_size[3 * i]
    a, da = seen_in(t, t.member_start[i], j)
    b, db = seen_in(t, t.member_end[i], j)
    if not (may_be_across(t, i, j, a, b) or may_be_across(t, i, j, a + da, b + db)):
        return radius + length, 0.0, 0.5, a, b
    before, s, on_a, on_b = over_solid(t, i, j, a, b)
    after, z, then_a, then_b = over_solid(t, i, j, a + da, b + db)
    on_a, on_b, square = 0.5 * (on_a + then_a), 0.5 * (on_b + then_b), dot(da, da) + dot(db, db)
    change = dot(on_a, da) + dot(on_b, db)
    if square > SHORT * SHORT * length * length:
        more = (after - before - change) / square
        on_a, on_b = on_a + more * da, on_b + more * db
        change = after - before
    return before, change, 0.5 * (s + z), on_a, on_b
