"""The equations of one conserving step and their exact derivative (docs/theory.md, 4 and 8)."""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import Tables, Truth, all_of, along, any_of, dot, vector, where
from phlexible.step.kernels.families import (
    add_tangents_of_families,
    balance_families,
    begin_families,
    forces_of_families,
)
from phlexible.step.kernels.floating_bodies import (
    balance_frame,
    begin_frame,
    elastic_tangent,
    inertia_tangent,
    move_frame,
    unpack_velocity,
)
from phlexible.step.kernels.functions import (
    add_second_derivatives,
    apply_function_force,
    compute_gradients,
    prescribed_component,
    rotational_curvature,
    weighted_sum,
)
from phlexible.step.kernels.laws import relation_size, relation_value
from phlexible.step.kernels.laws_of_functions import add_law_tangents, apply_law_forces
from phlexible.step.kernels.locks import is_active, locked_value
from phlexible.step.kernels.sliding import slides_stay_near
from phlexible.step.kernels.teams import is_alone, move_teams, start_teams, tangents_of_teams
from phlexible.step.kernels.vectors import (
    add_force_tangents,
    apply_forces,
    begin_vectors,
    end_difference,
    end_vectors,
    levers_and_motions,
    mean_difference,
    velocity_count,
    velocity_index,
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
    """Compute at the start of the time step all difference vectors, ``t.chord0``, and the coefficients of scalar
    functions that change with time, ``t.term_mean`` and ``t.term_end``. The force families (springs, rods, ...)
    compute their starting values too. ``t`` contains all arrays of the model and its state."""
    for y in range(t.chords):
        t.chord0[y] = weighted_sum(t, y, t.world0)
    for p in range(t.terms):
        c, time = t.term_coefficient[p], t.term_time[p]
        t.term_mean[p], t.term_end[p] = c, c
        if time >= 0:
            start, end = prescribed_component(t.moving0, time), prescribed_component(t.moving1, time)
            t.term_mean[p], t.term_end[p] = 0.5 * c * (start + end), c * end
    for m in range(t.functions):
        constant, time = t.function_constant[m], t.function_time[m]
        t.function_end[m] = constant + prescribed_component(t.moving1, time) if time >= 0 else constant
    begin_families(t, 0.0, 0.0)


@compiled
def apply_interaction_forces(t: Tables, h: float, damping: float) -> None:
    """Add the forces of constraints and force elements on points and directions over a time step of length h
    [s] to ``t.pull``. Before, the changes of all vector differences are written to ``t.chord_change``. The
    generalized forces of constraints are their multipliers at the end of the step. ``damping`` is numerical
    damping, a multiple of the stiffness. See docs/theory.md, 8, (8.3). ``t`` contains all arrays of the model
    and its state."""
    for y in range(t.chords):
        if t.chord_moves[y] == 1:
            t.chord_change[y] = weighted_sum(t, y, t.change)
    for m in range(t.rows):
        apply_function_force(t, m, t.multiplier1[m])
    apply_law_forces(t, h, damping)


@compiled
def constraint_value(t: Tables, m: int) -> float:
    """Return the value of constraint row m at the end of the time step [m, or 1 for cosines]. It is zero if the
    constraint is satisfied. A row is one scalar equation of a joint or drive. ``t`` contains all arrays of the
    model and its state."""
    total = -t.function_end[m]
    for p in range(t.terms_begin[m], t.terms_end[m]):
        total += t.term_end[p] * dot(end_difference(t, t.term_first[p]), end_difference(t, t.term_second[p]))
    return total + relation_value(t, m) - locked_value(t, m)


@compiled
def constraint_scale(t: Tables, m: int) -> float:
    """Return a bound of the sum of the absolute values of the terms of constraint row m, the scale of its
    round-off. It is for the end of the time step. A row is one scalar equation of a joint or drive; terms are
    its constant, scalar products and coordinates of a relation. ``t`` contains all arrays of the model and its
    state."""
    total = abs(t.function_end[m])
    for p in range(t.terms_begin[m], t.terms_end[m]):
        total += abs(t.term_end[p] * dot(end_difference(t, t.term_first[p]), end_difference(t, t.term_second[p])))
    return total + relation_size(t, m)


@compiled
def constraint_residuals(t: Tables, h: float) -> None:
    """Write the residual of all constraint rows (equations of joints and drives) for a time step of length h to
    ``t.residual``. It is the value of the constraint at the end of the step divided by h. For an inactive row it
    is the multiplier itself, which is thus zero. Rows of auxiliary unknowns, which follow the bodies, are set to
    zero. ``t`` contains all arrays of the model and its state."""
    share = 1.0 / h
    for m in range(t.rows):
        value = share * constraint_value(t, m)
        t.residual[t.row_unknown[m]] = where(is_active(t, m), value, t.multiplier1[m])
    first = t.clusters
    for k in range(t.auxiliaries):
        fill(t.residual + t.node_row[first + k], t.dimension, 0.0)


@exported
def constraints_close(t: Tables) -> Truth:
    """Return whether all active constraint rows (scalar equations of joints and drives) are satisfied at the end
    of the time step. The allowed error is a fixed fraction of the row's length scale (1 for cosines) plus its
    round-off. ``t`` contains all arrays of the model and its state.

    With relaxed joints small updates of the velocities do not show it: multipliers of joints that contradict each
    other grow from update to update and move nothing.
    """
    close = True
    for row in range(t.rows):
        most = GAP_TOLERANCE * t.row_length[row] + GAP_ROUND_OFF * constraint_scale(t, row)
        close = close & ((abs(constraint_value(t, row)) <= most) | (not is_active(t, row)))
        if not any_of(close):
            return close
    return close


@compiled
def add_interaction_tangents(t: Tables, h: float) -> None:
    """Add the derivatives of the residual due to constraints and force elements over a time step of length h [s]
    to Newton's matrix ``t.blocks``. They are constraint gradients, geometric stiffness and minus h times force
    derivatives. Inactive constraints get 1 on the diagonal; rows of auxiliary unknowns are written too. See
    docs/theory.md, 8, (8.4). ``t`` contains all arrays of the model and its state."""
    for i in range(t.constraints):
        for r in range(t.functions_count[i]):
            m = t.functions_begin[i] + r
            held = is_active(t, m)
            set_constraint_row(t, i, r, held, h, True)
            if any_of(held):
                t.row_curvature[m] = 0.0
                for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
                    t.row_curvature[m] += rotational_curvature(t, t.part_vector[e])
                add_second_derivatives(t, m, where(held, t.multiplier1[m], 0.0), h)
    add_law_tangents(t, h)
    for k in range(t.auxiliaries):
        set_auxiliary_rows(t, k)


@compiled
def set_constraint_row(t: Tables, i: int, r: int, active: Truth, h: float, is_written: bool) -> None:
    """Compute the gradients of row r of constraint i, which is active in the lanes ``active``. If ``is_written``,
    also add the derivatives of this row and of its forces to Newton's matrix ``t.blocks``, for a time step of
    length h [s]; where the row is not active, its multiplier becomes zero. ``t`` contains all arrays of the model
    and its state."""
    node, m = t.constraint_node[i], t.functions_begin[i] + r
    if is_written and not all_of(active):
        (t.blocks + t.node_diagonal[node])[r * (t.node_stride[node] + 1)] = where(active, 0.0, 1.0)
    if not any_of(active):
        return
    compute_gradients(t, m)
    if not all_of(active):
        clear_inactive_gradients(t, m, active)
    for e in range(t.function_parts_begin[m], t.function_parts_end[m] if is_written else 0):
        add_constraint_blocks(t, e, r, t.node_size[node], h)


@compiled
def clear_inactive_gradients(t: Tables, m: int, active: Truth) -> None:
    """Set the stored gradients ``t.left`` and ``t.right`` of scalar function m to zero in those lanes in which its
    constraint is not active. Lanes are mechanisms that advance at the same time. ``t`` contains all arrays of the
    model and its state."""
    nothing = vector(0.0, 0.0, 0.0)
    for e in range(t.function_parts_begin[m], t.function_parts_end[m]):
        k = t.part_vector[e]
        t.left[k], t.right[k] = where(active, t.left[k], nothing), where(active, t.right[k], nothing)


@compiled
def add_constraint_blocks(t: Tables, e: int, r: int, size: int, h: float) -> None:
    """Add derivatives of scalar constraint r with respect to one point or direction to the blocks of its body in
    Newton's matrix. The joint has ``size`` scalar constraints. The row of the constraint gets its gradient at the
    end of the step, the multiplier's column minus h times the generalized force at the mean pose. e is the index of
    the vector in the list of all vectors of constraints, h the length of the time step [s]. ``t`` contains all
    arrays of the model and its state.
    """
    k, d = t.part_vector[e], t.dimension
    upper, lower = t.blocks + t.part_upper[e], t.blocks + t.part_lower[e]
    lever, motion = t.lever + t.lever_vectors_begin[k], t.motion + t.lever_vectors_begin[k]
    left, right, width = h * t.left[k], (1.0 / h) * t.right[k], t.carrier_stride[t.vector_carrier[k]]
    if t.vector_is_point[k] == 1:  # V moves it as it is
        mean = 0.5 * t.right[k]
        for i in range(d):
            upper[i * size + r] -= along(left, i)
            lower[r * width + i] += along(mean, i)
    for i in range(d, velocity_count(t, k)):
        v = velocity_index(t, k, i)
        upper[v * size + r] -= dot(lever[i], left)
        lower[r * width + v] += dot(motion[i], right)


@compiled
def set_auxiliary_rows(t: Tables, k: int) -> None:
    """Write the rows of auxiliary unknown k into Newton's matrix ``t.blocks``. The unknown is the change dx of a
    point or direction of an elastic body in an iteration. Its equation says that dx equals the derivative of the
    vector times the velocity changes of the body: ones on the diagonal, minus that derivative in the columns of
    the body. ``t`` contains all arrays of the model and its state."""
    vector_number, d = t.auxiliary_vector[k], t.dimension
    width = t.velocities_count[t.vector_carrier[vector_number]]
    motion = t.motion + t.lever_vectors_begin[vector_number]
    lower, diagonal = t.blocks + t.auxiliary_lower[k], t.blocks + t.node_diagonal[t.clusters + k]
    for i in range(d):
        diagonal[i * d + i] = 1.0
    for j in range(velocity_count(t, vector_number)):
        for i in range(d):
            lower[i * width + velocity_index(t, vector_number, j)] -= along(motion[j], i)


@compiled
def prescribed_motion_work(t: Tables, i: int) -> float:
    """Return the work in the time step [J] that prescribed motions (moving frames and driven paths) do through
    interaction i. For each scalar function it is minus the generalized force times the change of the function that
    they cause. It is 0 if the model has no prescribed motion. Interactions are first the constraints, then the
    force elements. See docs/theory.md, 8, (8.5). ``t`` contains all arrays of the model and its state."""
    if t.moving == 0:
        return 0.0
    total = t.frame_work[i - t.constraints] if i >= t.constraints else 0.0
    for m in range(t.functions_begin[i], t.functions_end[i]):
        g, time = t.multiplier1[m] if i < t.constraints else t.generalized[m], t.function_time[m]
        if time >= 0:
            total += g * (prescribed_component(t.moving1, time) - prescribed_component(t.moving0, time))
        for p in range(t.terms_begin[m], t.terms_end[m]):
            a, b = t.term_first[p], t.term_second[p]
            if t.term_time[p] >= 0:
                products = dot(t.chord0[a], t.chord0[b]) + dot(end_difference(t, a), end_difference(t, b))
                total -= g * (t.term_end[p] - t.term_mean[p]) * products
            for _ in range(2):
                force = (g * t.term_mean[p]) * mean_difference(t, b)
                for k in range(t.chord_parts_begin[a], t.chord_parts_end[a]):
                    if t.vector_carrier[t.chord_vector[k]] == MOVING:
                        total -= t.chord_weight[k] * dot(force, t.change[t.chord_vector[k]])
                a, b = b, a
    return total


@compiled
def angles_can_be_counted(t: Tables) -> Truth:
    """Return whether the angle of each force element turned by less than a right angle (1.5707 rad) in the time
    step. Full turns can then be counted. Joints that slide along lines must also end near the pieces of the line
    at which the step started. ``t`` contains all arrays of the model and its state."""
    are_small = slides_stay_near(t) if t.slides > 0 else True
    for i in range(t.constraints, t.interactions):
        if t.coordinate_of[i] == ANGLE:
            are_small = are_small & (abs(t.theta_change[i - t.constraints]) < 1.5707)
    return are_small


@compiled
def drives_are_smooth(t: Tables) -> Truth:
    """Return whether all prescribed motions change little from start to end of this time step. A prescribed
    path in use must change by less than 1.5707 (rad or m). A direction of a moving frame (a ground frame with
    prescribed motion) must turn by less than a right angle. ``t`` contains all arrays of the model and its
    state."""
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
    """Return whether all driven angles are on their prescribed path at the end of the time step, and not half a
    turn away. The equation of the drive, docs/theory.md, 8, (8.15), is satisfied half a turn away too. The sign of
    the derivative of the equation with respect to the path distinguishes both. Inactive rows are not checked.
    ``t`` contains all arrays of the model and its state."""
    follow = True
    for m in range(t.rows):
        first, cosine, is_driven = t.terms_begin[m], 0.0, False
        for p in range(first, first + t.terms_count[m]):
            time = t.term_time[p]
            if time >= 0:
                path = t.moving1[time // 3]
                slope = path.y if time % 3 == 0 else -path.x
                product = dot(end_difference(t, t.term_first[p]), end_difference(t, t.term_second[p]))
                cosine += t.term_coefficient[p] * slope * product
                is_driven = True
        if is_driven:
            follow = follow & ((cosine > 0.0) | (not is_active(t, m)))
    return follow


# The equations of one conserving step and their exact derivative, for everything (docs/theory.md, 4).


@compiled
def begin_step(t: Tables) -> None:
    """Compute from the state everything at the start of the time step that does not change during the solution:
    body quantities, points, difference vectors, prescribed motions. ``t`` contains all arrays of the model and its
    state."""
    begin_bodies(t, False)
    begin_ports(t)


@exported
def begin_bodies(t: Tables, continues: bool) -> None:
    """Compute the quantities of all floating bodies and nodes at the start of the time step from the state. They
    are velocities, elastic coordinates, mass moments and strains, in ``t.linear0``, ``t.spin0``, ``t.rate0``,
    ``t.xi0``, ``t.moment0`` and ``t.strain0``. If the step ``continues`` an accepted one, strains at the end of
    that step are copied instead of computed. Groups of equal bodies do so in SIMD lanes. ``t`` contains all arrays
    of the model and its state."""
    for b in range(t.carriers):
        unpack_velocity(t, b, t.velocity, t.linear0, t.spin0, t.rate0)
    for b in range(t.frames):
        c = t.coordinates_begin[b]
        t.xi0[c], t.xi1[c] = 1.0, 1.0
        copy(t.eta + t.elastic_begin[b], t.xi0 + (c + 1), t.velocities_count[b] - t.rigid_of[b])
        if is_alone(t, b):
            begin_frame(t, b, continues)
    start_teams(t, continues)


@exported
def begin_ports(t: Tables) -> None:
    """Compute the world positions of all points and directions at the start of the time step, and the scalar
    functions of interactions at these positions. For prescribed points the change in the time step is computed
    too. Results are stored in ``t.world0``, ``t.change``, ``t.chord0``, ``t.function0`` and ``t.theta0``. ``t``
    contains all arrays of the model and its state."""
    begin_vectors(t)
    begin_interactions(t)


@exported
def residuals(t: Tables, h: float, damping: float) -> None:
    """Compute the residual of the equations of a time step of length h for the present guess of velocities and
    multipliers at its end. It is in ``t.residual``, shape (unknowns,): balances of all bodies, then constraints.
    ``damping`` is numerical damping, a multiple of the stiffness. ``t`` contains all arrays of the model and its
    state."""
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
    fill(t.family_work, 3, 0.0)
    balance_families(t, h, damping)
    constraint_residuals(t, h)


@exported
def move_carriers(t: Tables, h: float, damping: float) -> None:
    """Compute the motion of all bodies and nodes over a time step of length h for given velocities at its end.
    These are the guess ``t.velocity1``; bodies move with half the sum of both ends. Written are poses at the end
    (``t.xi1``, ``t.rotation1``) and changes of points (``t.change``). ``damping`` is numerical damping, a multiple
    of the stiffness. ``t`` contains all arrays of the model and its state."""
    for b in range(t.carriers):
        unpack_velocity(t, b, t.velocity1, t.linear1, t.spin1, t.rate1)
        t.shift[b] = (0.5 * h) * (t.linear0[b] + t.linear1[b])  # h mean(V) (4.4)
    for b in range(t.frames):
        if is_alone(t, b):
            move_frame(t, b, h, damping)
    move_teams(t, h, damping)
    end_vectors(t)


@exported
def motion_and_forces(t: Tables, h: float, damping: float) -> None:
    """Compute the motion of all bodies over a time step of length h for the guess ``t.velocity1`` of the
    velocities at its end. Poses at the end are written as ``move_carriers`` does. Mean forces of all interactions
    are written to ``t.pull``, changes of difference vectors to ``t.chord_change``. ``damping`` is numerical
    damping, a multiple of the stiffness. ``t`` contains all arrays of the model and its state."""
    move_carriers(t, h, damping)
    apply_interaction_forces(t, h, damping)
    forces_of_families(t, h, damping)


@exported
def jacobian(t: Tables, h: float, damping: float) -> None:
    """Compute Newton's matrix, the exact derivative of ``residuals`` with respect to velocities and multipliers at
    the end of the time step. It uses values that the last call of ``residuals`` stored. Its blocks overwrite
    ``t.blocks``; couplings of bodies by contact pairs are stored separately. h is the length of the time step [s],
    ``damping`` numerical damping. ``t`` contains all arrays of the model and its state."""
    inertia_matrix(t, h, h, 1.0)
    for b in range(t.frames):
        if is_alone(t, b):
            elastic_tangent(t, b, h, damping)
    add_force_tangents(t, h)
    add_tangents_of_families(t, h, damping)
    add_interaction_tangents(t, h)
    tangents_of_teams(t, h, damping)


@exported
def inertia_matrix(t: Tables, h: float, turning: float, moves: float) -> None:
    """Set Newton's matrix ``t.blocks`` to its inertia part alone, for a time step of length h [s]. ``turning`` is
    the length h in its gyroscopic terms; 0 leaves these out. With ``moves`` 1 the change of the pose by the
    velocities counts, with 0 the pose is constant. The motions of points per unit velocity (``t.motion``) and the
    levers of forces on them (``t.lever``) are written as well. ``t`` contains all arrays of the model and its
    state.

    ``turning`` = 0 leaves the mass matrix where nothing rotates in the step. With ``moves`` = 0 it is the
    derivative of the left sides of (4.6) to (4.8) at constant pose, with 1 all of it.
    """
    fill(t.blocks, t.block_entries, 0.0)
    for b in range(t.frames):
        if is_alone(t, b):
            inertia_tangent(t, b, turning, moves)
    add_masses(t)
    for k in range(t.vectors):
        if t.vector_carrier[k] >= 0:
            levers_and_motions(t, k, h)


@compiled
def add_masses(t: Tables) -> None:
    """Add the masses of all floating bodies and nodes to the diagonals of the blocks of linear velocities in
    Newton's matrix ``t.blocks``. A body has one mass. Nodes of strings and soft bodies also have coupling masses
    with neighbours, which are added to the blocks of these pairs of nodes. ``t`` contains all arrays of the model
    and its state."""
    for p in range(t.mass_pairs):
        b = t.mass_second[p]
        block, width = t.blocks + t.mass_block[p], t.corner_stride[b] if b < t.frames else t.carrier_stride[b]
        for i in range(t.dimension):
            block[i * width + i] += t.mass[p]
