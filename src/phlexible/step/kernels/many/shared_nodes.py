"""Penetration of a ball in a line segment that shares nodes with others, so that all segments push once.

With the penetration x of the ball in the segment, x_a and x_b in its ends and p + 1 the exponent of the energy, the
penetration (docs/theory.md, 8) is

    z = (x^(p+1) - (c_a x_a^(p+1) + c_b x_b^(p+1)) / 2)^(1/(p+1)),    c = 1 - g(alpha) g(beta)

with c = 0 at ends of the line, and g from 0 to 1 in the shares alpha and beta of both segments, from the node on,
at which they are nearest to the ball: in a valley each segment touches by itself. On a straight line the energies
of all segments add up to that of one. z is a function of products of the vectors A, B from the ball to the ends, P
and Q to the far ends of the segments before and after.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.notation import Tables, Vector, dot, vector
from phlexible.step.kernels.contact import LEAST, clamp_to_unit
from phlexible.step.tables.declarations import INSET

Depth = tuple[float, float, float, Vector, Vector, Vector]
"""z, x, the share s along the piece, derivatives of z with respect to (AA, AB, BB), (PP, PA) and (QQ, QB)."""


@compiled
def _shared_node_factor(ff: float, fn: float, nn: float, ne: float, ee: float) -> tuple[float, Vector, Vector]:
    """Return the factor c (0 .. 1) by which two adjacent segments of a line share the contact energy at their
    common node n, and its derivatives with respect to (ff, fn) and (nn, ne, ee), scalar products of the vectors
    from the ball to the far ends f and e and to the node n.

    Products of the vectors to the node n, the far ends f of one segment and e of the other: ff, fn, nn, ne and ee.
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
def _half_end_energy(
    is_shared: bool, reach: float, p: float, F: Vector, A: Vector, inner: float, other: float
) -> tuple[float, Vector, Vector]:
    """Return half of the contact energy of a ball at an end A of a segment that is shared with the adjacent one.
    Then follow derivatives to scalar products. It is c x^(p+1) / 2 with the penetration x = ``reach`` - |A|; 0 if
    not ``is_shared``. F is the far end of the adjacent segment, ``inner`` is A . B and ``other`` B . B with the
    segment's other end B; all are vectors from the ball.

    They are those with respect to (FF, FA), with the opposite sign, and to (AA, AB, BB) of the segment from A to B.
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
    """Return the penetration z of a ball in one segment of a line, such that z^(p+1) of all segments add up to
    one contact. It is x^(p+1), minus half of that of both ends that adjacent segments share (less in a valley). p
    is the exponent of the contact law, x the penetration in the segment alone; x and z are negative if they do
    not touch.

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
    first, on_before, start = _half_end_energy(has_before, reach, p, P, A, AB, BB)
    last, on_after, end = _half_end_energy(has_after, reach, p, Q, B, AB, AA)
    W = power * x - first - last
    on_own = (p + 1.0) * power * on_own - start - vector(end.z, end.y, end.x)
    if W <= 0.0:
        return 0.0, x, s, none, none, none
    z = sqrt(W) if p == 1.0 else W ** (1.0 / (p + 1.0))
    share = z / ((p + 1.0) * W)
    return z, x, s, share * on_own, share * on_before, share * on_after


@compiled
def shared_ends(t: Tables, m: int) -> tuple[bool, bool]:
    """Return whether line segment m shares its start, and whether it shares its end, with another segment of
    its line. ``t`` holds all tables (arrays) of the model and its state."""
    return t.member_far[2 * m] != t.member_start[m], t.member_far[2 * m + 1] != t.member_end[m]


@compiled
def is_ball_on_line(t: Tables, i: int, j: int) -> bool:
    """Return whether one of contact members i and j is a ball, and the other a line segment that shares an
    end with another segment. ``t`` holds all tables (arrays) of the model and its state."""
    if t.member_kind[i] > INSET or t.member_kind[j] > INSET:
        return False
    is_ball, is_other = t.member_start[i] == t.member_end[i], t.member_start[j] == t.member_end[j]
    m = j if is_ball else i
    before, after = shared_ends(t, m)
    return is_ball != is_other and (before or after)


@compiled
def vectors_from_ball(t: Tables, m: int, k: int, share: float) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the world vectors from the centre of ball k to both ends of line segment m after ``share`` of
    the time step [m]. Then follow those to the far ends of the segments before and after it. The share is 0
    at the start of the time step, 1 at its end. World vectors are points of bodies, or directions fixed to
    them, in world axes. ``t`` holds all tables (arrays) of the model and its state."""
    y, p, q = t.member_start[k], t.member_start[m], t.member_end[m]
    o, w = t.member_far[2 * m], t.member_far[2 * m + 1]
    x = t.world0[y] + share * t.change[y]
    a, b = t.world0[p] + share * t.change[p], t.world0[q] + share * t.change[q]
    return a - x, b - x, t.world0[o] + share * t.change[o] - x, t.world0[w] + share * t.change[w] - x


@compiled
def penetration_on_line(t: Tables, m: int, k: int, p: float, share: float) -> Depth:
    """Return the penetration of ball k in line segment m after ``share`` of the time step (0: start, 1: end),
    as its share in that of the whole line, and its derivatives; p is the exponent of the contact force. ``t``
    holds all tables (arrays) of the model and its state."""
    A, B, P, Q = vectors_from_ball(t, m, k, share)
    has_before, has_after = shared_ends(t, m)
    return shared_penetration(t.member_radius[m] + t.member_radius[k], p, has_before, has_after, A, B, P, Q)
