"""The equations of one conserving step and their exact derivative (docs/theory.md, 4 and 8)."""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import (
    Tables,
    Truth,
    all_of,
    along,
    any_of,
    dot,
    vector,
    where,
)
from phlexible.step.kernels.families import (
    add_tangents_of_families,
    balance_families,
    begin_families,
    forces_of_families,
)
from phlexible.step.kernels.floating_bodies import (
    angular_momentum,
    balance_frame,
    begin_frame,
    elastic_tangent,
    inertia_tangent,
    moments,
    move_frame,
    unpack_velocity,
)
from phlexible.step.kernels.functions import add_curvature, chord_of, gradients, pull_of, timed
from phlexible.step.kernels.laws import held_at, is_held, relation_gap, relation_size
from phlexible.step.kernels.laws_of_functions import law_tangent, pull_of_laws
from phlexible.step.kernels.teams import is_alone, move_teams, start_teams, tangents_of_teams
from phlexible.step.kernels.vectors import (
    apply_forces,
    begin_vectors,
    end_chord,
    end_vectors,
    force_tangent,
    levers_and_motions,
    mean_chord,
    moved_by,
    velocity_of,
)
from phlexible.step.tables.declarations import ANGLE, MOVING

# What acts between bodies: constraints, and the families of forces (docs/theory.md, 8).
#
# A constraint demands that a function w (``functions.py``) is zero at the end of the step, with the force g along
# it for its multiplier. Families of forces are programs of their own: what a model does not have does nothing
# here.

GAP_TOLERANCE = 1e-12  # of relaxed joints, relative
GAP_ROUND_OFF = 1e-14


@compiled
def begin_interactions(t: Tables) -> None:
    """Compute chords at t_n, coefficients and constants that are functions of time, and the families' start."""
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
    begin_families(t, 0.0, 0.0)


@compiled
def pull_on_vectors(t: Tables, h: float, damping: float) -> None:
    """Compute changes of all chords, and add forces of constraints and laws to the vectors (8.3)."""
    for y in range(t.chords):
        if t.chord_moves[y] == 1:
            t.chord_change[y] = chord_of(t, y, t.change)
    for i in range(t.constraints):
        for m in range(t.functions_begin[i], t.functions_end[i]):
            pull_of(t, m, t.multiplier1[m])
    pull_of_laws(t, h, damping)


@compiled
def gap(t: Tables, m: int) -> float:
    """Return the value of constraint row m at the end of the step."""
    total = -t.function_end[m]
    for p in range(t.terms_begin[m], t.terms_end[m]):
        total += t.term_end[p] * dot(end_chord(t, t.term_first[p]), end_chord(t, t.term_second[p]))
    return total + relation_gap(t, m) - held_at(t, m)


@compiled
def gap_size(t: Tables, m: int) -> float:
    """Sum of the absolute terms of a constraint row, which its round-off is compared with."""
    total = abs(t.function_end[m])
    for p in range(t.terms_begin[m], t.terms_end[m]):
        total += abs(t.term_end[p] * dot(end_chord(t, t.term_first[p]), end_chord(t, t.term_second[p])))
    return total + relation_size(t, m)


@compiled
def constraint_residuals(t: Tables, h: float) -> None:
    """Write the residuals of constraint rows: w_{n+1} / h, or the multiplier of an inactive row.

    Auxiliary rows are zero: their unknowns follow the state.
    """
    share = 1.0 / h
    for i in range(t.constraints):
        rows, begin = t.residual + t.node_row[t.constraint_node[i]], t.functions_begin[i]
        for r in range(t.functions_count[i]):
            held = is_held(t, begin + r)
            rows[r] = where(held, share * gap(t, begin + r), t.multiplier1[begin + r])
    first = t.clusters
    for k in range(t.auxiliaries):
        fill(t.residual + t.node_row[first + k], t.dimension, 0.0)


@exported
def constraints_close(t: Tables) -> Truth:
    """Whether all active constraint rows vanish at the end of the step.

    With relaxed joints small updates of the velocities do not show it: multipliers of joints that contradict each
    other grow from update to update and move nothing.
    """
    close = True
    for row in range(t.rows):
        most = GAP_TOLERANCE * t.row_length[row] + GAP_ROUND_OFF * gap_size(t, row)
        close = close & ((abs(gap(t, row)) <= most) | (not is_held(t, row)))
        if not any_of(close):
            return close
    return close


@compiled
def interaction_tangent(t: Tables, h: float) -> None:
    """Add all blocks of the interactions to Newton's matrix: gradients, second derivatives, tangents of laws
    (8.4)."""
    for i in range(t.constraints):
        node, begin = t.constraint_node[i], t.functions_begin[i]
        size = t.node_size[node]
        for r in range(t.functions_count[i]):
            m = begin + r
            held = is_held(t, m)
            if not all_of(held):
                (t.blocks + t.node_diagonal[node])[r * (t.node_stride[node] + 1)] = where(held, 0.0, 1.0)
                if not any_of(held):
                    continue
            gradients(t, m)
            if not all_of(held):
                release(t, m, held)
            for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
                constrain(t, e, r, size, h)
            add_curvature(t, m, where(held, t.multiplier1[m], 0.0), h)
    law_tangent(t, h)
    for k in range(t.auxiliaries):
        auxiliary_rows(t, k)


@compiled
def release(t: Tables, m: int, held: Truth) -> None:
    """Set the gradient of function m to zero in lanes where it is inactive."""
    nothing = vector(0.0, 0.0, 0.0)
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        k = t.part_vector[e]
        t.left[k], t.right[k] = where(held, t.left[k], nothing), where(held, t.right[k], nothing)


@compiled
def constrain(t: Tables, e: int, r: int, size: int, h: float) -> None:
    """Add row r of a constraint, and the column of its multiplier, to the blocks of one vector's carrier."""
    k, d = t.part_vector[e], t.dimension
    upper, lower = t.blocks + t.part_upper[e], t.blocks + t.part_lower[e]
    lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
    left, right, width = h * t.left[k], (1.0 / h) * t.right[k], t.carrier_stride[t.vector_carrier[k]]
    if t.vector_is_point[k] == 1:  # V moves it as it is
        mean = 0.5 * t.right[k]
        for i in range(d):
            upper[i * size + r] -= along(left, i)
            lower[r * width + i] += along(mean, i)
    for i in range(d, moved_by(t, k)):
        v = velocity_of(t, k, i)
        upper[v * size + r] -= dot(lever[i], left)
        lower[r * width + v] += dot(motion[i], right)


@compiled
def auxiliary_rows(t: Tables, k: int) -> None:
    """Write the rows of auxiliary k, dx_{n+1} - sum_i motion_i dnu_i = 0, into its blocks."""
    vector_number, d = t.auxiliary_vector[k], t.dimension
    width = t.velocities_count[t.vector_carrier[vector_number]]
    motion = t.motion + t.lever_vectors_begin[vector_number]
    lower, diagonal = t.blocks + t.auxiliary_lower[k], t.blocks + t.node_diagonal[t.clusters + k]
    for i in range(d):
        diagonal[i * d + i] = 1.0
    for j in range(moved_by(t, vector_number)):
        for i in range(d):
            lower[i * width + velocity_of(t, vector_number, j)] -= along(motion[j], i)


@compiled
def given_work(t: Tables, i: int) -> float:
    """Return the work of moving frames and paths in interaction i: -g times the change of w that they cause (8.5)
    [J].
    """
    if t.moving == 0:
        return 0.0
    total = t.frame_work[i - t.constraints] if i >= t.constraints else 0.0
    for m in range(t.functions_begin[i], t.functions_end[i]):
        g, time = t.multiplier1[m] if i < t.constraints else t.generalized[m], t.function_time[m]
        if time >= 0:
            total += g * (timed(t.moving1, time) - timed(t.moving0, time))
        for p in range(t.terms_begin[m], t.terms_end[m]):
            a, b = t.term_first[p], t.term_second[p]
            if t.term_time[p] >= 0:
                products = dot(t.chord0[a], t.chord0[b]) + dot(end_chord(t, a), end_chord(t, b))
                total -= g * (t.term_end[p] - t.term_mean[p]) * products
            for _ in range(2):
                force = (g * t.term_mean[p]) * mean_chord(t, b)
                for k in range(t.chord_parts_begin[a], t.chord_parts_end[a]):
                    if t.vector_carrier[t.chord_vector[k]] == MOVING:
                        total -= t.chord_weight[k] * dot(force, t.change[t.chord_vector[k]])
                a, b = b, a
    return total


@compiled
def angles_can_be_counted(t: Tables) -> Truth:
    """Whether no angle of a law turned by a right angle or more in the step."""
    are_small = True
    for i in range(t.constraints, t.interactions):
        if t.coordinate_of[i] == ANGLE:
            are_small = are_small & (abs(t.theta_change[i - t.constraints]) < 1.5707)
    return are_small


@compiled
def drives_are_smooth(t: Tables) -> Truth:
    """Whether no driven angle and no moving frame turns by a right angle or more in this step."""
    are_small = True
    for k in range(t.vectors):
        if t.vector_carrier[k] == MOVING and t.vector_is_point[k] == 0:
            moving = t.vector_moving[k]
            are_small = are_small & (dot(t.moving0[moving], t.moving1[moving]) > 0.0)
    for p in range(t.terms):
        if t.term_time[p] >= 0:
            path = t.term_time[p] // 3
            are_small = are_small & (abs(t.moving1[path].z - t.moving0[path].z) < 1.5707)
    return are_small


@compiled
def driven_angles_follow(t: Tables) -> Truth:
    """Whether driven angles end at their paths and not half a turn away, where (8.15) vanishes too.

    There cos(theta - p), minus its derivative by p, is negative.
    """
    follow = True
    for m in range(t.rows):
        first, cosine, is_driven = t.terms_begin[m], 0.0, False
        for p in range(first, first + t.terms_count[m]):
            time = t.term_time[p]
            if time >= 0:
                path = t.moving1[time // 3]
                slope = path.y if time % 3 == 0 else -path.x
                product = dot(end_chord(t, t.term_first[p]), end_chord(t, t.term_second[p]))
                cosine += t.term_coefficient[p] * slope * product
                is_driven = True
        if is_driven:
            follow = follow & ((cosine > 0.0) | (not is_held(t, m)))
    return follow


# The equations of one conserving step and their exact derivative, for everything (docs/theory.md, 4).


@compiled
def begin_step(t: Tables) -> None:
    """Compute everything at t_n that does not change during the step, from the state."""
    begin_bodies(t)
    begin_ports(t)


@exported
def begin_bodies(t: Tables) -> None:
    """Compute velocities, coordinates, moments and strains of all carriers at t_n, from the state."""
    for b in range(t.carriers):
        unpack_velocity(t, b, t.velocity, t.linear0, t.spin0, t.rate0)
    for b in range(t.frames):
        c = t.coordinates_begin[b]
        t.xi0[c], t.xi1[c] = 1.0, 1.0
        copy(t.eta + t.elastic_begin[b], t.xi0 + (c + 1), t.velocities_count[b] - t.rigid_of[b])
        if is_alone(t, b):
            begin_frame(t, b)
    start_teams(t)


@exported
def begin_ports(t: Tables) -> None:
    """Compute vectors and their functions at t_n, and prescribed vectors at both ends."""
    begin_vectors(t)
    begin_interactions(t)


@exported
def start_from_end(t: Tables) -> None:
    """Set the results of ``begin_bodies`` after an accepted step from the end of that step.

    Moments of the points, which the step has added to, are computed anew: so they stay those of eta.
    """
    for b in range(t.carriers):
        t.linear0[b] = t.linear1[b]
    copy(t.xi1, t.xi0, t.coordinates)
    copy(t.rate1, t.rate0, t.coordinates)
    copy(t.strain1, t.strain0, t.frame_strains)
    copy(t.slope1, t.slope0, t.frame_squares)
    for b in range(t.frames):
        c, m = 9 * t.coordinates_begin[b], t.elastic_count[t.type_of[b]] + 1
        t.spin0[b] = t.spin1[b]
        if is_alone(t, b):
            if m > 1:
                copy(t.moment_rate1 + c, t.moment_rate0 + c, t.planes * m)
                moments(t, b, t.xi0, t.moment0)
            t.angular0[b] = angular_momentum(t, b, t.spin0[b], t.xi0, t.moment0, t.moment_rate0)
    start_teams(t)


@exported
def residuals(t: Tables, h: float, damping: float) -> None:
    """Compute the residuals of all balances and constraints at velocity1 and multiplier1."""
    motion_and_forces(t, h, damping)
    for b in range(t.carriers):
        fill(t.residual + t.velocities_begin[b], t.dimension, 0.0)
    for p in range(t.mass_pairs):  # m delta(V) (4.6)
        a, b, d = t.mass_first[p], t.mass_second[p], t.dimension
        rows, begin = t.residual + t.velocities_begin[a], t.velocities_begin[b]
        old, new = t.velocity + begin, t.velocity1 + begin
        for i in range(d):
            rows[i] += t.mass[p] * (new[i] - old[i])
    for b in range(t.frames):
        if is_alone(t, b):
            balance_frame(t, b, h)
    apply_forces(t, h)
    balance_families(t, h, damping)
    constraint_residuals(t, h)


@exported
def motion_and_forces(t: Tables, h: float, damping: float) -> None:
    """Compute the motion of everything at velocity1, and the forces over the step."""
    for b in range(t.carriers):
        unpack_velocity(t, b, t.velocity1, t.linear1, t.spin1, t.rate1)
        t.shift[b] = (0.5 * h) * (t.linear0[b] + t.linear1[b])  # h mean(V) (4.4)
    for b in range(t.frames):
        if is_alone(t, b):
            move_frame(t, b, h, damping)
    move_teams(t, h, damping)
    end_vectors(t)
    pull_on_vectors(t, h, damping)
    forces_of_families(t, h, damping)


@exported
def jacobian(t: Tables, h: float, damping: float) -> None:
    """Compute Newton's matrix in blocks at the point of the last ``residuals``."""
    inertia_matrix(t, h, h, 1.0)
    for b in range(t.frames):
        if is_alone(t, b):
            elastic_tangent(t, b, h, damping)
    force_tangent(t, h)
    add_tangents_of_families(t, h, damping)
    interaction_tangent(t, h)
    tangents_of_teams(t, h, damping)


@exported
def inertia_matrix(t: Tables, h: float, turning: float, moves: float) -> None:
    """Write the inertia part of Newton's matrix, and compute levers and motions of all vectors.

    ``turning``: step of the gyroscopic terms; 0 leaves the mass matrix where nothing rotates in the step. With
    ``moves`` 0 the derivative of the left sides of (4.6) to (4.8) at constant pose, with 1 all of it.
    """
    fill(t.blocks, t.block_numbers, 0.0)
    for b in range(t.frames):
        if is_alone(t, b):
            inertia_tangent(t, b, turning, moves)
    add_masses(t)
    for k in range(t.vectors):
        if t.vector_carrier[k] >= 0:
            levers_and_motions(t, k, h)


@compiled
def add_masses(t: Tables) -> None:
    """Add the masses to the blocks of the linear velocities V."""
    for p in range(t.mass_pairs):
        b = t.mass_second[p]
        block, width = t.blocks + t.mass_block[p], t.corner_stride[b] if b < t.frames else t.carrier_stride[b]
        for i in range(t.dimension):
            block[i * width + i] += t.mass[p]
