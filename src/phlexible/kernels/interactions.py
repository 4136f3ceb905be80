"""Constraints and laws of functions w that are sums of products of chords (docs/theory.md, 8).

A chord y = sum_i c_i x_i is a sum of vectors, most often a difference of two points or one direction, and
w = sum_t c_t y_a . y_b - constant. Over a step delta(w) = dw/dx(mean) . delta(x) exactly (8.2), so that forces
g dw/dx(mean) do the work g delta(w) (8.3). A constraint demands w = 0 at the end, with g for its multiplier;
a law gives g from w at both ends (``coordinates.py``). Laws without functions are those of rods (``rods.py``).
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.dense import fill
from phlexible.compilation.notation import Reals, Tables, Vector, Vectors, along, dot, vector
from phlexible.kernels.forces.bearings import bear
from phlexible.kernels.forces.coordinates import begin_coordinate, end_coordinate
from phlexible.kernels.forces.relations import held_at, is_held, relate, relation_gap, relation_size
from phlexible.kernels.forces.rods import begin_rods
from phlexible.kernels.forces.sliding import begins_sliding, pull_of_sliding, sliding_gradient, sliding_work
from phlexible.kernels.vectors import couple, end_chord, mean_chord, moved_by, velocity_of
from phlexible.tables.declarations import ANGLE, LAW_WIDTH, MOVING


@compiled
def begin_interactions(t: Tables) -> None:
    """Chords at t_n, coefficients and constants that are functions of time, coordinates of laws."""
    for y in range(t.chords):
        parts, weights = t.chord_vector + t.chord_start[y], t.chord_weight + t.chord_start[y]
        first = t.place0[parts[0]]  # differences to the first: far from the origin sums would cancel
        total = t.chord_total[y] * first
        for i in range(1, t.chord_count[y]):
            total += weights[i] * (t.place0[parts[i]] - first)
        t.chord0[y] = total
    for p in range(t.terms):
        c, time = t.term_coefficient[p], t.term_time[p]
        t.term_mean[p], t.term_end[p] = c, c
        if time >= 0:
            start, end = timed(t.moving0, time), timed(t.moving1, time)
            t.term_mean[p], t.term_end[p] = 0.5 * c * (start + end), c * end
    for m in range(t.functions):
        constant, time = t.function_constant[m], t.function_time[m]
        t.function_end[m] = constant + timed(t.moving1, time) if time >= 0 else constant
    for i in range(t.constraints, t.interactions):
        for m in range(t.interaction_start[i], t.interaction_start[i] + t.function_count[i]):
            total = -t.function_constant[m]
            for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
                total += t.term_mean[p] * dot(t.chord0[t.term_first[p]], t.chord0[t.term_second[p]])
            t.function0[m] = total
        if t.function_count[i] > 0:
            begin_coordinate(t, i)
    begin_rods(t)


@compiled
def timed(moving: Vectors, component: int) -> float:
    """A component of a given vector, by its number."""
    return along(moving[component // 3], component % 3)


@compiled
def pull_on_vectors(t: Tables, h: float, damping: float) -> None:
    """Change of all chords, forces of all laws, and g dw/dx(mean) on every vector (8.3)."""
    for y in range(t.chords):
        parts, weights = t.chord_vector + t.chord_start[y], t.chord_weight + t.chord_start[y]
        first = t.change[parts[0]]
        total = t.chord_total[y] * first
        for i in range(1, t.chord_count[y]):
            total += weights[i] * (t.change[parts[i]] - first)
        t.chord_change[y] = total
    for i in range(t.interactions):
        begin, end = t.interaction_start[i], t.interaction_start[i] + t.function_count[i]
        if i >= t.constraints and end > begin:
            for m in range(begin, end):
                t.function_change[m] = change_of(t, m)
            end_coordinate(t, i, h, damping)
            if begins_sliding(t, i, begin, h):
                pull_of_sliding(t, i)
                end = begin + t.gap_count[i]
        for m in range(begin, end):
            g = t.multiplier1[m] if i < t.constraints else t.generalized[m]
            for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
                a, b = t.term_first[p], t.term_second[p]
                _pull(t, a, (g * t.term_mean[p]) * mean_chord(t, b))
                _pull(t, b, (g * t.term_mean[p]) * mean_chord(t, a))


@compiled
def change_of(t: Tables, m: int) -> float:
    """delta(w) at constant coefficients, from changes only (8.2)."""
    total = 0.0
    for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
        a, b = t.term_first[p], t.term_second[p]
        product = dot(t.chord_change[a], mean_chord(t, b)) + dot(mean_chord(t, a), t.chord_change[b])
        total += t.term_mean[p] * product
    return total


@compiled
def _pull(t: Tables, y: int, force: Vector) -> None:
    for i in range(t.chord_start[y], t.chord_start[y] + t.chord_count[y]):
        t.pull[t.chord_vector[i]] += t.chord_weight[i] * force


@compiled
def gap(t: Tables, m: int) -> float:
    """Value of a constrained function at the end of the step."""
    total = -t.function_end[m]
    for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
        total += t.term_end[p] * dot(end_chord(t, t.term_first[p]), end_chord(t, t.term_second[p]))
    return total + relation_gap(t, m) - held_at(t, m)


@compiled
def gap_size(t: Tables, m: int) -> float:
    """What round-off of a gap is compared with: the sizes of the parts that it is the sum of."""
    total = abs(t.function_end[m])
    for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
        total += abs(t.term_end[p] * dot(end_chord(t, t.term_first[p]), end_chord(t, t.term_second[p])))
    return total + relation_size(t, m)


@compiled
def constraint_residuals(t: Tables, h: float) -> None:
    """w_{n+1} / h, of what is not held the multiplier; auxiliary rows are zero: their unknowns follow the state."""
    for i in range(t.constraints):
        rows, begin = t.residual + t.node_row[t.constraint_node[i]], t.interaction_start[i]
        for r in range(t.function_count[i]):
            rows[r] = gap(t, begin + r) / h if is_held(t, begin + r) else t.multiplier1[begin + r]
    first = t.clusters
    for k in range(t.auxiliaries):
        fill(t.residual + t.node_row[first + k], t.dimension, 0.0)


@compiled
def interaction_tangent(t: Tables, h: float) -> None:
    """All blocks of the interactions: gradients, second derivatives, tangents of laws (8.4)."""
    for i in range(t.interactions):
        begin, count = t.interaction_start[i], t.function_count[i]
        f = i - t.constraints
        numbers = 0
        if f >= 0 and count > 0:
            last = t.group_start[f] + t.group_count[f] - 1
            numbers = t.group_place[last] + t.group_width[last]
            fill(t.left_gradient, count * numbers, 0.0)
            fill(t.right_gradient, count * numbers, 0.0)
        for r in range(count):
            m = begin + r
            if f < 0 and not is_held(t, m):
                node = t.constraint_node[i]
                (t.blocks + t.node_diagonal[node])[r * (t.node_size[node] + 1)] = 1.0
                continue
            if f >= 0 and t.slip_points[f] > 0 and r >= t.gap_count[i]:
                sliding_gradient(t, i, r - t.gap_count[i])
            else:
                _gradients(t, m)
            for e in range(t.function_part[m], t.function_part[m] + t.part_count[m]):
                if f < 0:
                    _constrain(t, e, r, t.node_size[t.constraint_node[i]], h)
                else:
                    _gather(t, f, e, t.left_gradient + r * numbers, t.right_gradient + r * numbers)
            g = t.multiplier1[m] if f < 0 else t.generalized[m]
            for q in range(t.function_pair[m], t.function_pair[m] + t.pair_count[m]):
                c = 0.5 * h * g * t.term_mean[t.pair_term[q]] * t.pair_weight[q]
                couple(t, c, t.blocks + t.pair_upper[q], t.pair_first[q], t.pair_second[q], h)
                couple(t, c, t.blocks + t.pair_lower[q], t.pair_second[q], t.pair_first[q], h)
        if f >= 0 and count > 0:
            _law_blocks(t, f, begin, count, numbers, h)
            relate(t, f, begin, count, numbers, h)
            if t.bearing[f] >= 0:
                bear(t, f, begin, count, numbers, h)
    for k in range(t.auxiliaries):
        _auxiliary_rows(t, k)


@compiled
def _gradients(t: Tables, m: int) -> None:
    """dw/dx of one function at the mean and at the end, by vectors."""
    for e in range(t.function_part[m], t.function_part[m] + t.part_count[m]):
        k = t.part_vector[e]
        t.left[k], t.right[k] = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
        a, b = t.term_first[p], t.term_second[p]
        for _ in range(2):  # both sides of the product
            mean, end = t.term_mean[p] * mean_chord(t, b), t.term_end[p] * end_chord(t, b)
            for i in range(t.chord_start[a], t.chord_start[a] + t.chord_count[a]):
                k = t.chord_vector[i]
                t.left[k] += t.chord_weight[i] * mean
                t.right[k] += t.chord_weight[i] * end
            a, b = b, a


@compiled
def _constrain(t: Tables, e: int, r: int, size: int, h: float) -> None:
    """Row r of a constraint and column of its multiplier, in the blocks of one vector's carrier."""
    k = t.part_vector[e]
    upper, lower = t.blocks + t.part_upper[e], t.blocks + t.part_lower[e]
    lever, motion = t.lever + t.vector_lever[k], t.motion + t.vector_lever[k]
    left, right, width = h * t.left[k], (1.0 / h) * t.right[k], t.carrier_stride[t.vector_carrier[k]]
    for i in range(moved_by(t, k)):
        v = velocity_of(t, k, i)
        upper[v * size + r] -= dot(lever[i], left)
        lower[r * width + v] += dot(motion[i], right)


@compiled
def _gather(t: Tables, f: int, e: int, left: Reals, right: Reals) -> None:
    """Gradient of a law's function by its groups: carriers, then auxiliary vectors."""
    k, group = t.part_vector[e], t.group_start[f] + t.part_upper[e]
    lever, motion = t.lever + t.vector_lever[k], t.motion + t.vector_lever[k]
    left, own = left + t.group_place[group], right + t.group_place[group]
    for i in range(moved_by(t, k)):
        v = velocity_of(t, k, i)
        left[v] += dot(lever[i], t.left[k])
        own[v] += dot(motion[i], t.right[k])
    if t.part_lower[e] >= 0:
        auxiliary = right + t.group_place[t.group_start[f] + t.part_lower[e]]
        for i in range(t.dimension):
            auxiliary[i] = along(t.right[k], i)


@compiled
def gather_gap(t: Tables, f: int) -> None:
    """How the force along the coordinate of a law enters the balances of its groups: row 0 of ``left_gradient``.

    With the levers of the step that was tried last.
    """
    begin, last = t.interaction_start[t.constraints + f], t.group_start[f] + t.group_count[f] - 1
    numbers, count = t.group_place[last] + t.group_width[last], t.gap_count[t.constraints + f]
    fill(t.left_gradient, count * numbers, 0.0)
    for r in range(count):
        _gradients(t, begin + r)
        for e in range(t.function_part[begin + r], t.function_part[begin + r] + t.part_count[begin + r]):
            _gather(t, f, e, t.left_gradient + r * numbers, t.right_gradient + r * numbers)
    for j in range(numbers):
        total = 0.0
        for r in range(count):
            total += t.along[begin + r] * t.left_gradient[r * numbers + j]
        t.left_gradient[j] = total


@compiled
def _law_blocks(t: Tables, f: int, begin: int, count: int, numbers: int, h: float) -> None:
    """Subtract h left (dg/dw) right: the mean on the left, the end on the right."""
    groups, blocks = t.group_start[f], t.group_block + t.group_block_start[f]
    for a in range(t.carrier_count[f]):
        for b in range(t.group_count[f]):
            place = blocks[a * t.group_count[f] + b]
            if place < 0:
                continue
            width, stride = t.group_width[groups + b], t.group_stride[groups + b]
            for r in range(count):
                left = t.left_gradient + (r * numbers + t.group_place[groups + a])
                for s in range(count):
                    slope = h * t.tangent[LAW_WIDTH * (begin + r) + s]
                    right = t.right_gradient + (s * numbers + t.group_place[groups + b])
                    for i in range(t.group_width[groups + a] if slope != 0.0 else 0):
                        line, x = t.blocks + (place + i * stride), slope * left[i]
                        for j in range(width):
                            line[j] -= x * right[j]


@compiled
def _auxiliary_rows(t: Tables, k: int) -> None:
    """Rows of an auxiliary: dx_{n+1} - sum_i motion_i dnu_i = 0."""
    vector_number, d = t.auxiliary_vector[k], t.dimension
    width, motion = t.width_of[t.vector_carrier[vector_number]], t.motion + t.vector_lever[vector_number]
    lower, diagonal = t.blocks + t.auxiliary_lower[k], t.blocks + t.node_diagonal[t.clusters + k]
    for i in range(d):
        diagonal[i * d + i] = 1.0
    for j in range(moved_by(t, vector_number)):
        for i in range(d):
            lower[i * width + velocity_of(t, vector_number, j)] -= along(motion[j], i)


@compiled
def given_work(t: Tables, i: int) -> float:
    """Work of moving frames and of paths in interaction i: - g times what they change w by (8.5)."""
    total, count = 0.0, t.function_count[i]
    if i >= t.constraints and t.slip_points[i - t.constraints] > 0:
        total, count = sliding_work(t, i), t.gap_count[i]
    for m in range(t.interaction_start[i], t.interaction_start[i] + count):
        g, time = t.multiplier1[m] if i < t.constraints else t.generalized[m], t.function_time[m]
        if time >= 0:
            total += g * (timed(t.moving1, time) - timed(t.moving0, time))
        for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
            a, b = t.term_first[p], t.term_second[p]
            if t.term_time[p] >= 0:
                products = dot(t.chord0[a], t.chord0[b]) + dot(end_chord(t, a), end_chord(t, b))
                total -= g * (t.term_end[p] - t.term_mean[p]) * products
            for _ in range(2):
                force = (g * t.term_mean[p]) * mean_chord(t, b)
                for k in range(t.chord_start[a], t.chord_start[a] + t.chord_count[a]):
                    if t.vector_carrier[t.chord_vector[k]] == MOVING:
                        total -= t.chord_weight[k] * dot(force, t.change[t.chord_vector[k]])
                a, b = b, a
    return total


@compiled
def angles_can_be_counted(t: Tables) -> bool:
    """Whether no angle of a law turned by a right angle or more, and no driven one is to."""
    for i in range(t.constraints, t.interactions):
        if t.coordinate_of[i] == ANGLE and not abs(t.theta_change[i - t.constraints]) < 1.5707:
            return False
    return True


@compiled
def drives_are_smooth(t: Tables) -> bool:
    """Whether no driven angle is to turn by a right angle or more in this step."""
    for p in range(t.terms):
        if t.term_time[p] >= 0:
            path = t.term_time[p] // 3
            if not abs(t.moving1[path].z - t.moving0[path].z) < 1.5707:
                return False
    return True
