"""Place along a line of a joint that slides, and offsets across it, as functions of vectors (docs/theory.md, 8).

The functions of such a coordinate are the components y of the vectors v_k of the line as seen from the sliding
point. The line is r(s) = sum_k N_k(s) y_k; it passes the point where r = 0. Products N y change by
mean(N) delta(y) + delta(N) mean(y), and delta(N) is delta(s) times a quotient of polynomials that never cancels,
also across the borders of pieces (8.51).
"""

from math import floor, sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import fill
from phlexible.step.compilation.notation import (
    Matrix,
    Tables,
    Vector,
    along,
    cross,
    dot,
    matrix,
    secant_parts,
    three_secants,
    vector,
    where,
)
from phlexible.step.kernels.locks import is_active
from phlexible.step.tables.declarations import FIRST_OFFSET, LAW_WIDTH, PIECE_VECTORS, SLID, STEEP

CORRECTIONS, FEW_CORRECTIONS = 8, 2
ACTING = 8
"""Vectors that act at the same time, at most."""

BEYOND = 0.02


@compiled
def seen_vector(t: Tables, m: int, share: float) -> Vector:
    """Return one vector of the guide line of a sliding joint, in the axes of the joint, after the fraction
    ``share`` of the time step. For a node of the line it is the position relative to the sliding point, for a
    direction the direction itself. Its components are the scalar functions m, m + 1 and, in space, m + 2. ``t``
    contains all arrays of the model and its state.
    """
    x, y = t.function0[m] + share * t.function_change[m], t.function0[m + 1] + share * t.function_change[m + 1]
    if t.dimension == 2:
        return vector(x, y, 0.0 * x)
    return vector(x, y, t.function0[m + 2] + share * t.function_change[m + 2])


@compiled
def piece_at(t: Tables, s: int, position: float) -> int:
    """Return the index of the piece (between two nodes) of line s that contains the arc-length ``position`` along
    it [m]. The index is limited to the pieces that are near the joint in this time step. ``t`` contains all arrays
    of the model and its state."""
    e = floor(position / t.slide_length[s])
    if e < t.slide_low[s]:
        return t.slide_low[s]
    if e > t.slide_high[s]:
        return t.slide_high[s]
    return e


@compiled
def line_at(t: Tables, s: int, base: int, position: float, share: float) -> tuple[Vector, Vector]:
    """Return the point of line s at the arc-length ``position`` [m] and its derivative with respect to this
    position, both relative to the sliding point. They are interpolated by cubic polynomials. ``base`` is the first
    scalar function of the coordinate; ``share`` of the change in the time step is added (0: start, 1: end). ``t``
    contains all arrays of the model and its state."""
    e = piece_at(t, s, position)
    piece, u = t.slide_pieces_begin[s] + e, position / t.slide_length[s] - e
    here, slope = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for k in range(PIECE_VECTORS):
        c = t.slide_coefficient + (16 * piece + 4 * k)
        own = seen_vector(t, base + t.dimension * (t.slide_first[piece] + k), share)
        here += (c[0] + u * (c[1] + u * (c[2] + u * c[3]))) * own
        slope += ((c[1] + u * (2.0 * c[2] + 3.0 * u * c[3])) / t.slide_length[s]) * own
    return here, slope


@compiled
def direction_of(t: Tables, way: Vector, kind: int) -> Vector:
    """Return the vector whose scalar product with a change of the guide line's point, relative to the sliding
    point, changes a sliding joint's coordinate. ``way`` is the derivative of the line with respect to the position
    along it. For the ``kind`` SLID, the position along the line, the result is -way / |way|^2; for FIRST_OFFSET and
    SECOND_OFFSET, offsets across it, a unit vector normal to ``way``. ``t`` contains all arrays of the model and
    its state.
    """
    if kind == SLID:
        return (-1.0 / dot(way, way)) * way
    if t.dimension == 2:
        return (1.0 / sqrt(dot(way, way))) * vector(-way.y, way.x, 0.0 * way.x)
    first = cross(_helper(way), way)
    first = (1.0 / sqrt(dot(first, first))) * first
    return first if kind == FIRST_OFFSET else (1.0 / sqrt(dot(way, way))) * cross(way, first)


@compiled
def differentiated_direction(t: Tables, way: Vector, kind: int) -> tuple[Vector, Matrix]:
    """Return the direction that ``direction_of`` returns for a vector ``way`` and a coordinate of this ``kind``,
    and its derivative with respect to the vector. ``t`` contains all arrays of the model and its state."""
    found = direction_of(t, three_secants(way, vector(0.0, 0.0, 0.0)), kind)
    x, y, z = secant_parts(found.x), secant_parts(found.y), secant_parts(found.z)
    return vector(x[0], y[0], z[0]), matrix(x[2], y[2], z[2])


@compiled
def _helper(way: Vector) -> Vector:
    is_flat = abs(way.z) < STEEP * sqrt(dot(way, way))
    return vector(where(is_flat, 0.0, 1.0), 0.0, where(is_flat, 1.0, 0.0))


@exported
def start_slide(t: Tables, i: int) -> float:
    """Return the coordinate [m] of interaction i, a joint that slides along a line, at the start of the time step.
    It is the position along the line, by a few steps of Newton's method from the last position, or 0 for an offset
    across the line. The active pieces of the line, the position and the tangent there are stored. If an event has
    released the joint, no piece is active and the last coordinate is returned. ``t`` contains all arrays of the
    model and its state."""
    f, base = i - t.constraints, t.functions_begin[i]
    s = t.slide_of[f]
    fill(t.function_change + base, t.functions_count[i], 0.0)
    fill(t.generalized + base, t.functions_count[i], 0.0)
    t.slide_low[s], t.slide_high[s] = 0, t.slide_pieces_count[s] - 1
    place = t.theta[t.slide_guide[s]]
    if not is_active(t, t.force_row[t.slide_guide[s]]):
        t.acting_first[f], t.acting_count[f], t.theta_change[f] = base, 0, 0.0
        t.loss[f] = 0.0
        return t.theta[f]
    here, slope = line_at(t, s, base, place, 0.0)
    for _ in range(FEW_CORRECTIONS):
        place -= dot(here, slope) / dot(slope, slope)
        here, slope = line_at(t, s, base, place, 0.0)
    e = piece_at(t, s, place)
    if e > 0:
        t.slide_low[s] = e - 1
    if e < t.slide_high[s]:
        t.slide_high[s] = e + 1
    first = t.slide_first[t.slide_pieces_begin[s] + t.slide_low[s]]
    last = t.slide_first[t.slide_pieces_begin[s] + t.slide_high[s]] + PIECE_VECTORS
    t.acting_first[f], t.acting_count[f] = base + t.dimension * first, t.dimension * (last - first)
    t.slide_start[s], t.slide_along[s] = place, slope
    return place if t.coordinate_of[i] == SLID else 0.0 * place  # ``slide_weights`` measures offsets


@exported
def acting_of_slide(t: Tables, i: int) -> tuple[int, int]:
    """Return the index of the first scalar function of interaction i that acts in this time step, and the number
    of such functions. Interaction i is a law of a joint that slides along a line; its active functions are those
    of the pieces of the line near the joint. ``t`` contains all arrays of the model and its state."""
    f = i - t.constraints
    return t.acting_first[f], t.acting_count[f]


@compiled
def add_weights(t: Tables, s: int, first: int, begin: float, position: float) -> None:
    """Compute the weights of the vectors of line s by which the sliding point is interpolated in a time step. The
    point moves from ``begin`` to ``position`` [m] along the line, whose pieces are cubic polynomials.
    ``t.slide_weight`` receives four arrays: means of the weights at both ends, their difference quotients, the
    derivatives of these quotients with respect to ``position``, and the weights at the end. ``t.slide_slope``
    receives the derivatives of the last along the line. ``first`` is the index of the first vector that acts. ``t``
    contains all arrays of the model and its state.
    """
    mean, quotient, steeper, end = t.slide_weight, t.slide_weight + 8, t.slide_weight + 16, t.slide_weight + 24
    fill(t.slide_weight, 4 * ACTING, 0.0)
    fill(t.slide_slope, ACTING, 0.0)
    size, e0, e1 = t.slide_length[s], piece_at(t, s, begin), piece_at(t, s, position)
    for side in range(2):
        piece = t.slide_pieces_begin[s] + (e1 if side == 1 else e0)
        u = position / size - e1 if side == 1 else begin / size - e0
        for k in range(PIECE_VECTORS):
            c, n = t.slide_coefficient + (16 * piece + 4 * k), t.slide_first[piece] - first + k
            value = c[0] + u * (c[1] + u * (c[2] + u * c[3]))
            mean[n] += 0.5 * value
            if side == 1:
                end[n] = value
                t.slide_slope[n] = (c[1] + u * (2.0 * c[2] + 3.0 * u * c[3])) / size
    low, high, grows = (e0, e1, True) if e0 <= e1 else (e1, e0, False)
    for e in range(low, high + 1):
        a, b, share = begin, position, 1.0 + 0.0 * begin
        if low < high:
            a = where(e == low, begin if grows else position, size * e)
            b = where(e == high, position if grows else begin, size * (e + 1))
            share = (b - a) / abs(position - begin)
        piece, u, v = t.slide_pieces_begin[s] + e, a / size - e, b / size - e
        for k in range(PIECE_VECTORS):
            c, n = t.slide_coefficient + (16 * piece + 4 * k), t.slide_first[piece] - first + k
            quotient[n] += share * (c[1] + c[2] * (u + v) + c[3] * (u * u + u * v + v * v)) / size
            if low == high:
                steeper[n] = (c[2] + c[3] * (u + 2.0 * v)) / (size * size)
    if low < high:
        for n in range(ACTING):
            steeper[n] = (t.slide_slope[n] - quotient[n]) / (position - begin)


@exported
def slide_weights(t: Tables, i: int) -> None:
    """Compute the weights omega of the discrete derivative of a sliding joint's coordinate with respect to its
    scalar functions. Interaction i is the joint; the coordinate is the position along its line, or an offset
    across it. The position at the end of the step is computed by Newton's method. The weights are stored in
    ``t.along``, derivatives of the coordinate at the end in ``t.slope``, derivatives of the weights in
    ``t.tangent``. ``t`` contains all arrays of the model and its state.

    The tangent at the start of the step only serves to compute the position at its end: weights are the same for
    the step backwards.
    """
    f, base, kind, d = i - t.constraints, t.functions_begin[i], t.coordinate_of[i], t.dimension
    s, start, count = t.slide_of[f], t.acting_first[f], t.acting_count[f] // d
    tangent, place = t.slide_along[s], t.slide_start[s]
    for _ in range(CORRECTIONS):
        here, slope = line_at(t, s, base, place, 1.0)
        place -= dot(tangent, here) / dot(tangent, slope)
    add_weights(t, s, (start - base) // d, t.slide_start[s], place)
    mean, quotient, steeper, end = t.slide_weight, t.slide_weight + 8, t.slide_weight + 16, t.slide_weight + 24
    way, bend, slope = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    change, gain = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for n in range(count):
        middle, last = seen_vector(t, start + d * n, 0.5), seen_vector(t, start + d * n, 1.0)
        way += quotient[n] * middle
        bend += steeper[n] * middle
        slope += t.slide_slope[n] * last
        change += (2.0 * mean[n]) * (last - middle)
        gain += t.slide_slope[n] * (last - middle)
    (weight, turn), steep = differentiated_direction(t, way, kind), dot(tangent, slope)
    if kind != SLID:
        t.theta0[f] = dot(weight, line_at(t, s, base, t.slide_start[s], 0.0)[0])
    for n in range(count):
        for j in range(d):
            t.along[start + d * n + j] = mean[n] * along(weight, j)
    for n in range(count):
        for j in range(d):
            m = start + d * n + j
            axis = vector(1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            moved = -end[n] * along(tangent, j) / steep  # of the place
            turned = turn @ ((0.5 * quotient[n]) * axis + moved * bend)
            t.slope[m] = moved * dot(weight, gain) + dot(turned, change) + mean[n] * along(weight, j)
            for k in range(count):
                grown = 0.5 * t.slide_slope[k] * moved
                for l in range(d):
                    bent = grown * along(weight, l) + mean[k] * along(turned, l)
                    t.tangent[LAW_WIDTH * (start + d * k + l) + m - start] = bent


@exported
def slides_stay_near(t: Tables) -> bool:
    """Return whether each joint that slides along a line ends the time step on the pieces that act in it. It may
    be beyond an end of the line by a fiftieth of its length, at most by half a piece. ``t`` contains all arrays of
    the model and its state."""
    are_near = True
    for s in range(t.slides):
        f, size, low, high = t.slide_guide[s], t.slide_length[s], t.slide_low[s], t.slide_high[s]
        place = (t.theta0[f] + t.theta_change[f]) / size
        count, before, after = t.slide_pieces_count[s], 0.0, 0.0
        if low == 0:
            before = min(0.5, BEYOND * count)
        if high == count - 1:
            after = min(0.5, BEYOND * count)
        if is_active(t, t.force_row[t.slide_guide[s]]):
            are_near = are_near & (place >= low - before) & (place <= high + 1 + after)
    return are_near
