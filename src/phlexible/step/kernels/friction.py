"""Friction where bodies touch: places of both that slide past each other (docs/theory.md, 8).

Sliding is s = sum_k c_k delta(x_k) over points and directions of both bodies, whose coefficients c_k make it the
difference of the displacements of the two places that are where they touch at the mean (8.28). The force on x_k is
c_k f, so that the work is f.s; forces and moments on both bodies are opposite. How c_k change with the motion is
left out of Newton's matrix. What rolls and drills turns by psi past the other body (8.46), and feels couples.
"""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.notation import Integers, Reals, Tables, Vector, along, cross, dot, vector, where
from phlexible.step.kernels.bristles import bend, bent, held_by, put, resist_sliding
from phlexible.step.kernels.contact import clamped
from phlexible.step.kernels.floating_bodies import unit
from phlexible.step.kernels.vectors import mean_chord, mean_place
from phlexible.step.tables.declarations import BRISTLE, DISTANCE, GIVEN, LAW_WIDTH, MOVING, SEGMENT


@exported
def begins_sliding(t: Tables, i: int, first: int, h: float) -> bool:
    """Force and tangent of friction of interaction i, if it has this friction; its gap is known."""
    f = i - t.constraints
    if t.slip_points[f] == 0:
        return False
    chord, count, d = sliding_chord(t, i), t.gap_count[i], t.dimension
    weights, parts = t.slip_weight + t.slip_parts_begin[f], t.chord_vector + t.chord_parts_begin[chord]
    n = _normal(t, first, count, parts[0])
    _weigh(t, i, chord, n)
    slip = vector(0.0, 0.0, 0.0)
    for k in range(t.chord_parts_count[chord]):
        slip += weights[k] * t.change[parts[k]]
    slip -= dot(slip, n) * n
    _slide(t, i, first, slip, n, h)
    if t.functions_count[i] > count + d:
        _turn(t, i, first + count + d, n, h)
    return True


@compiled
def _slide(t: Tables, i: int, first: int, slip: Vector, n: Vector, h: float) -> None:
    """Force and tangent of friction against sliding."""
    f, count, axes, z = i - t.constraints, t.gap_count[i], -1, vector(0.0, 0.0, 0.0)
    own, normal = t.bristle_of[f], t.push_side[f] * t.scalar_force[f]
    if own >= 0:
        axes = _axes(t, i)
        z = _carried(t, own, axes, n)
    force, to_normal, e, a, b = resist_sliding(t, f, z, slip, t.friction[f], normal, h)
    for r in range(t.dimension):
        row = first + count + r
        t.generalized[row] = -along(force, r)
        D = t.tangent + LAW_WIDTH * row
        for s in range(count):
            D[s] = -along(to_normal, r) * t.push_side[f] * t.force_slope[f] * t.slope[first + s]
        for s in range(t.dimension):
            across = (1.0 if r == s else 0.0) - along(n, r) * along(n, s)
            D[count + s] = b * along(e, r) * along(e, s) - a * across
    for r in range(count):
        for s in range(t.dimension):
            t.tangent[LAW_WIDTH * (first + r) + count + s] = 0.0
    if own >= 0:
        _carry(t, own, axes, n)


@compiled
def _turn(t: Tables, i: int, first: int, n: Vector, h: float) -> None:
    """Couples and their tangent of what rolls and drills; ``first`` of the functions that are turns."""
    f, begin, turns = i - t.constraints, t.functions_begin[i], t.functions_end[i] - first
    psi, axes, normal = _turned(t, i), _axes(t, i), t.push_side[f] * t.scalar_force[f]
    along_n = dot(psi, n)
    couple, to_normal, e, a, s = 0.0 * n, 0.0 * n, 0.0 * n, 0.0, 0.0
    if t.rolling_of[f] >= 0:
        b = t.rolling_of[f]
        if t.dimension == 2:
            axes = -1
        lever = held_by(t, b, t.bristle_lever[b])
        couple, to_normal, e, a, s = bend(t, f, b, _carried(t, b, axes, n), psi - along_n * n, lever * normal, h)
        to_normal = lever * to_normal
        _carry(t, b, axes, n)
    steep = 0.0
    if t.drilling_of[f] >= 0:
        b = t.drilling_of[f]
        lever = held_by(t, b, t.bristle_lever[b])
        moment, to_limit, g, stiff, less = bend(t, f, b, bent(t, b), vector(along_n, 0.0, 0.0), lever * normal, h)
        couple, to_normal = couple + moment.x * n, to_normal + (lever * to_limit.x) * n
        steep = stiff - less * g.x * g.x
    own = first - begin
    for r in range(turns):
        axis = r if turns > 1 else 2
        t.generalized[first + r] = -along(couple, axis)
        D = t.tangent + LAW_WIDTH * (first + r)
        for m in range(own):
            D[m] = 0.0
            t.tangent[LAW_WIDTH * (begin + m) + own + r] = 0.0
        for m in range(t.gap_count[i]):
            D[m] = -along(to_normal, axis) * t.push_side[f] * t.force_slope[f] * t.slope[begin + m]
        for m in range(turns):
            other = m if turns > 1 else 2
            across = along(n, axis) * along(n, other)
            same = 1.0 if axis == other else 0.0
            D[own + m] = s * along(e, axis) * along(e, other) - a * (same - across) - steep * across


@compiled
def _turned(t: Tables, i: int) -> Vector:
    """How the body that touches turns past the other in the step (8.46)."""
    f, chord = i - t.constraints, sliding_chord(t, i)
    parts, points, turning = t.chord_vector + t.chord_parts_begin[chord], t.slip_points[f], t.slip_turning[f]
    psi, first = turn_of(t, parts + points, turning), points + turning
    if t.chord_parts_count[chord] > first:
        psi -= turn_of(t, parts + first, t.chord_parts_count[chord] - first)
    return psi


@compiled
def turn_of(t: Tables, parts: Integers, count: int) -> Vector:
    """B^-1 sum m x delta(d) over directions of one body, m their means."""
    moment = vector(0.0, 0.0, 0.0)
    for k in range(count):
        moment += cross(mean_place(t, parts[k]), t.change[parts[k]])
    return spread(t, parts, count, moment)


@compiled
def spread(t: Tables, parts: Integers, count: int, moment: Vector) -> Vector:
    """B^-1 of a moment, B = sum |m|^2 I - m m^T."""
    a, b, c = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for k in range(count):
        m = mean_place(t, parts[k])
        square = dot(m, m)
        a += square * unit(0) - m.x * m
        b += square * unit(1) - m.y * m
        c += square * unit(2) - m.z * m
    volume = 1.0 / dot(a, cross(b, c))
    return volume * vector(dot(moment, cross(b, c)), dot(moment, cross(c, a)), dot(moment, cross(a, b)))


@compiled
def _couple(t: Tables, i: int) -> Vector:
    """On the body that touches; the other has the opposite one."""
    first, last = t.functions_begin[i] + t.gap_count[i] + t.dimension, t.functions_end[i]
    row = t.generalized + first
    if last == first:
        return vector(0.0, 0.0, 0.0)
    return vector(row[0], row[1], row[2]) if last - first > 1 else vector(0.0, 0.0, row[0])


@compiled
def _pull_of_couple(t: Tables, i: int, couple: Vector, k: int) -> Vector:
    """On part k of the sum that slides, which is a direction of either body: B^-1 couple x m."""
    f, chord = i - t.constraints, sliding_chord(t, i)
    parts, points, turning = t.chord_vector + t.chord_parts_begin[chord], t.slip_points[f], t.slip_turning[f]
    if k < points:
        return vector(0.0, 0.0, 0.0)
    m, first = mean_place(t, parts[k]), points + turning
    if k < first:
        return cross(spread(t, parts + points, turning, couple), m)
    return -1.0 * cross(spread(t, parts + first, t.chord_parts_count[chord] - first, couple), m)


@compiled
def _axes(t: Tables, i: int) -> int:
    """First of the directions that carry a bristle, of the surface if it has some; -1: those of the world."""
    f, chord = i - t.constraints, sliding_chord(t, i)
    first = t.slip_points[f] + t.slip_turning[f]
    if t.chord_parts_count[chord] <= first:
        if t.slip_turning[f] == 0 or t.vector_carrier[t.chord_vector[t.chord_parts_begin[chord] + 1]] == GIVEN:
            return -1
        first = t.slip_points[f]
    return t.chord_parts_begin[chord] + first


@compiled
def _in_world(t: Tables, own: Reals, axes: int) -> Vector:
    if axes < 0:
        return vector(own[0], own[1], own[2])
    parts = t.chord_vector + axes
    v = own[0] * mean_place(t, parts[0]) + own[1] * mean_place(t, parts[1])
    return v + own[2] * mean_place(t, parts[2]) if t.dimension == 3 else v


@compiled
def _carried(t: Tables, b: int, axes: int, n: Vector) -> Vector:
    """z of bristle b at the mean of the step, with its length: turned with its axes, then as little as may be."""
    own = t.bristle + BRISTLE * b
    size = sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
    z, m = _in_world(t, own, axes), _in_world(t, own + 3, axes)
    length = sqrt(dot(m, m))
    both = where(length > 0.0, 1.0 / length, 0.0) * m + n
    square = dot(both, both)
    turns = (length > 0.0) & (square > 1.0)  # the shortest turn from m to n
    z += where(turns, 2.0 * dot(m, z) / length, 0.0) * n - where(turns, 2.0 * dot(both, z) / square, 0.0) * both
    z -= dot(z, n) * n
    length = sqrt(dot(z, z))
    return where(length > 0.0, size / length, 1.0) * z


@compiled
def _carry(t: Tables, b: int, axes: int, n: Vector) -> None:
    """Bristle b and normal at the end of the step into their axes; the bristle keeps its length."""
    own = t.bristle_end + BRISTLE * b
    put(own + 3, n)
    if axes < 0:
        return
    z = vector(own[0], own[1], own[2])
    _lead(t, t.chord_vector + axes, own, z, 1.0)
    _lead(t, t.chord_vector + axes, own + 3, n, 1.0)
    size = sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
    share = where(size > 0.0, sqrt(dot(z, z)) / size, 1.0)
    own[0], own[1], own[2] = share * own[0], share * own[1], share * own[2]


@compiled
def sliding_chord(t: Tables, i: int) -> int:
    """The sum that sliding is; all its components have it."""
    return t.term_first[t.terms_begin[t.functions_begin[i] + t.gap_count[i]]]


@exported
def pull_of_sliding(t: Tables, i: int) -> None:
    """Add c_k f, and what couples are on directions, to the forces on the vectors."""
    f, force, couple = i - t.constraints, _force(t, i), _couple(t, i)
    chord, weights = sliding_chord(t, i), t.slip_weight + t.slip_parts_begin[f]
    has_couple = t.functions_count[i] > t.gap_count[i] + t.dimension
    for k in range(t.chord_parts_count[chord]):
        number = t.chord_vector[t.chord_parts_begin[chord] + k]
        t.pull[number] += weights[k] * force
        if has_couple:
            t.pull[number] += _pull_of_couple(t, i, couple, k)


@exported
def sliding_gradient(t: Tables, i: int, component: int) -> None:
    """ds/dx of one component at constant coefficients, by vectors; after these dpsi/dx."""
    f, chord, turn = i - t.constraints, sliding_chord(t, i), component - t.dimension
    weights = t.slip_weight + t.slip_parts_begin[f]
    for k in range(t.chord_parts_count[chord]):
        number = t.chord_vector[t.chord_parts_begin[chord] + k]
        if turn >= 0:
            t.left[number] = _pull_of_couple(t, i, unit(turn if t.dimension == 3 else 2), k)
        else:
            t.left[number] = weights[k] * unit(component)
        t.right[number] = t.left[number]


@exported
def sliding_work(t: Tables, i: int) -> float:
    """Work of moving frames: less c_k f . delta(x_k) of their vectors."""
    f, force, couple, total = i - t.constraints, _force(t, i), _couple(t, i), 0.0
    chord, weights = sliding_chord(t, i), t.slip_weight + t.slip_parts_begin[f]
    has_couple = t.functions_count[i] > t.gap_count[i] + t.dimension
    for k in range(t.chord_parts_count[chord]):
        number = t.chord_vector[t.chord_parts_begin[chord] + k]
        if t.vector_carrier[number] == MOVING:
            total -= weights[k] * dot(force, t.change[number])
            if has_couple:
                total -= dot(_pull_of_couple(t, i, couple, k), t.change[number])
    return total


@compiled
def _force(t: Tables, i: int) -> Vector:
    row = t.generalized + (t.functions_begin[i] + t.gap_count[i])
    return vector(row[0], row[1], row[2] if t.dimension == 3 else 0.0)


@compiled
def _normal(t: Tables, first: int, count: int, k: int) -> Vector:
    """dtheta/dx of the vector k that touches, as a unit vector; zero where it has none."""
    n = vector(0.0, 0.0, 0.0)
    for m in range(first, first + count):
        for p in range(t.terms_begin[m], t.terms_end[m]):
            a, b = t.term_first[p], t.term_second[p]
            c = t.along[m] * t.term_mean[p]
            n += (c * _weight_in(t, a, k)) * mean_chord(t, b) + (c * _weight_in(t, b, k)) * mean_chord(t, a)
    size = sqrt(dot(n, n))
    return where(size > 0.0, 1.0 / size, 1.0) * n


@compiled
def _weight_in(t: Tables, chord: int, k: int) -> float:
    total = 0.0
    for e in range(t.chord_parts_begin[chord], t.chord_parts_end[chord]):
        if t.chord_vector[e] == k:
            total += t.chord_weight[e]
    return total


@compiled
def _weigh(t: Tables, i: int, chord: int, n: Vector) -> None:
    """c_k: 1 and -1 of points, and directions of both bodies that lead from these to where they touch."""
    f, parts = i - t.constraints, t.chord_vector + t.chord_parts_begin[chord]
    weights, points, turning = t.slip_weight + t.slip_parts_begin[f], t.slip_points[f], t.slip_turning[f]
    first, own, radius = points + turning, mean_place(t, parts[1]), t.slip_radius[f]
    if t.coordinate_of[i] == DISTANCE or t.coordinate_of[i] == SEGMENT:  # two round ones, in the middle of both
        share = (t.theta0[f] + 0.5 * t.theta_change[f]) / t.force_rest[f]
        radius *= where(t.push_side[f] > 0.0, share, 1.0)
    arm = (-t.push_side[f] * radius) * n
    weights[0], weights[1] = 1.0, -1.0
    if t.coordinate_of[i] == SEGMENT:
        w, dw = t.function0 + t.functions_begin[i], t.function_change + t.functions_begin[i]
        place = 0.5 * (clamped(w[1] / w[2]) + clamped((w[1] + dw[1]) / (w[2] + dw[2])))
        weights[1], weights[2] = place - 1.0, -place
        own += place * (mean_place(t, parts[2]) - own)
        if t.chord_parts_count[chord] == first and t.vector_carrier[parts[1]] != GIVEN:  # nobody knows how it turns
            arm = own - mean_place(t, parts[0])
    if turning > 0:
        _lead(t, parts + points, weights + points, arm, 1.0)
    if t.chord_parts_count[chord] > first:
        _lead(t, parts + first, weights + first, mean_place(t, parts[0]) + arm - own, -1.0)


@compiled
def _lead(t: Tables, parts: Integers, weights: Reals, arm: Vector, sign: float) -> None:
    """Coefficients of the directions of a body that make up sign times ``arm`` at the mean."""
    a, b = mean_place(t, parts[0]), mean_place(t, parts[1])
    c = mean_place(t, parts[2]) if t.dimension == 3 else unit(2)
    volume = dot(a, cross(b, c))
    weights[0] = sign * dot(arm, cross(b, c)) / volume
    weights[1] = sign * dot(arm, cross(c, a)) / volume
    if t.dimension == 3:
        weights[2] = sign * dot(arm, cross(a, b)) / volume
