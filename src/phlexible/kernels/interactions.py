"""What acts between bodies: constraints, and the families of forces (docs/theory.md, 8).

A constraint demands that a function w (``functions.py``) is zero at the end of the step, with the force g along it
for its multiplier. Families of forces are programs of their own: what a model does not have does nothing here.
"""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.dense import fill
from phlexible.compilation.notation import Tables, along, dot
from phlexible.kernels.forces.laws_of_functions import begin_laws, law_tangent, pull_of_laws
from phlexible.kernels.forces.relations import held_at, is_held, relation_gap, relation_size
from phlexible.kernels.forces.rods import begin_rods
from phlexible.kernels.forces.sliding import sliding_work
from phlexible.kernels.functions import add_curvature, chord_of, gradients, pull_of, timed
from phlexible.kernels.vectors import end_chord, mean_chord, moved_by, velocity_of
from phlexible.tables.declarations import ANGLE, MOVING

GAP_TOLERANCE = 1e-12  # of relaxed joints, relative
GAP_ROUND_OFF = 1e-14


@compiled
def begin_interactions(t: Tables) -> None:
    """Chords at t_n, coefficients and constants that are functions of time; laws and rods."""
    for y in range(t.chords):
        t.chord0[y] = chord_of(t, y, t.place0)
    for p in range(t.terms):
        c, time = t.term_coefficient[p], t.term_time[p]
        t.term_mean[p], t.term_end[p] = c, c
        if time >= 0:
            start, end = timed(t.moving0, time), timed(t.moving1, time)
            t.term_mean[p], t.term_end[p] = 0.5 * c * (start + end), c * end
    for m in range(t.functions):
        constant, time = t.function_constant[m], t.function_time[m]
        t.function_end[m] = constant + timed(t.moving1, time) if time >= 0 else constant
    begin_laws(t)
    begin_rods(t)


@compiled
def pull_on_vectors(t: Tables, h: float, damping: float) -> None:
    """Change of all chords, and what constraints and laws pull on every vector with (8.3)."""
    for y in range(t.chords):
        t.chord_change[y] = chord_of(t, y, t.change)
    for i in range(t.constraints):
        for m in range(t.interaction_start[i], t.interaction_start[i] + t.function_count[i]):
            pull_of(t, m, t.multiplier1[m])
    pull_of_laws(t, h, damping)


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


@exported
def constraints_close(t: Tables) -> bool:
    """Whether all constrained functions vanish at the end of the step.

    With relaxed joints small updates of the velocities do not show it: multipliers of joints that
    contradict each other grow from update to update and move nothing.
    """
    for row in range(t.rows):
        if not is_held(t, row):
            continue
        if not abs(gap(t, row)) <= GAP_TOLERANCE * t.row_length[row] + GAP_ROUND_OFF * gap_size(t, row):
            return False
    return True


@compiled
def interaction_tangent(t: Tables, h: float) -> None:
    """All blocks of the interactions: gradients, second derivatives, tangents of laws (8.4)."""
    for i in range(t.constraints):
        node, begin = t.constraint_node[i], t.interaction_start[i]
        size = t.node_size[node]
        for r in range(t.function_count[i]):
            m = begin + r
            if not is_held(t, m):
                (t.blocks + t.node_diagonal[node])[r * (size + 1)] = 1.0
                continue
            gradients(t, m)
            for e in range(t.function_part[m], t.function_part[m] + t.part_count[m]):
                constrain(t, e, r, size, h)
            add_curvature(t, m, t.multiplier1[m], h)
    law_tangent(t, h)
    for k in range(t.auxiliaries):
        auxiliary_rows(t, k)


@compiled
def constrain(t: Tables, e: int, r: int, size: int, h: float) -> None:
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
def auxiliary_rows(t: Tables, k: int) -> None:
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
