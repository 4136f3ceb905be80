"""The linearly implicit step: quadratic strains, one linear system a step (docs/theory.md, 5, (5.18) to (5.22))."""

from phlexible.step.compilation.compiled import compiled, entry_point
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import (
    Reals,
    Tables,
    Vector,
    along,
    cross,
    dot,
    reals_at,
    tables_at,
    vector,
)
from phlexible.step.compilation.subnormals import flush_subnormals, put_back
from phlexible.step.kernels.conjugate_gradients import (
    conjugate_gradients,
    find_multipliers,
    hold_nodes,
    missing_of_nodes,
    set_node_inverses,
)
from phlexible.step.kernels.elimination import eliminate, substitute
from phlexible.step.kernels.functions import chord_of, gradients, pull_of
from phlexible.step.kernels.laws import dissipated_by, forces_of_laws, is_held, stored_energy, supplied_by
from phlexible.step.kernels.laws_of_functions import law_tangent
from phlexible.step.kernels.ledger import translational_energy
from phlexible.step.kernels.loads import load_work, pull_of_loads
from phlexible.step.kernels.loop import SAME_SIZE, keep_velocity, set_vectors, step_error, store_reactions
from phlexible.step.kernels.newton import velocity_norm
from phlexible.step.kernels.soft import (
    branch_density,
    branch_slope,
    branch_stress,
    density,
    end_point,
    mean_stress,
    metric_diagonal,
    slope_along,
    slope_change,
    soft_gamma,
    start_slope,
)
from phlexible.step.kernels.step import begin_bodies, begin_ports, constrain, inertia_matrix
from phlexible.step.kernels.vectors import vector_rates
from phlexible.step.tables.declarations import LAW_WIDTH, PRESSURE, SPRING
from phlexible.step.tables.requests import (
    CONVERGED,
    NOT_CONVERGED,
    RELAXATION,
    SINGULAR,
    IntegerRow,
    Numbers,
    RequestRecord,
    Rows1,
    StepRequest,
)

SWEEPS = 40  # of an elimination that is relaxed, or rounds; one and one that finds round-off elsewhere
ROUND_OFF = 1e-15  # of the velocities: smaller changes are none
STALLED = 0.1
ACCEPTABLE = 1e-9


@entry_point
def advance_linearly(
    header: IntegerRow,
    sizes: Rows1,
    request: RequestRecord[StepRequest],
    moving: Numbers,
    load_values: Numbers,
    reactions: Rows1,
    stored: Numbers,
) -> tuple[int, int]:
    """Take up to so many steps of one size, as ``loop.advance`` does; (steps done, status of the last)."""
    register = flush_subnormals()
    t = tables_at(header)
    rows, values, first = reals_at(stored), reals_at(load_values), reals_at(reactions)
    asked, row, kept, h = request[0], 0, -1, sizes[0]
    begin_bodies(t)
    if asked.steps == 0:
        write_linear_row(t, rows)
        vector_rates(t)
    elif not abs(h - t.step_taken[0]) <= SAME_SIZE * h:
        t.dissipated[0] += change_size(t, h)
    for step in range(asked.steps):
        set_vectors(t.load_value, values + 3 * t.load_values * step, t.load_values)
        if step == 0 and not asked.continues:
            t.known_velocities[0] = 0.0
        damping, least, most = asked.numerical_damping, asked.least_speed, asked.gradient_iterations
        status = take_linear_step(t, h, damping, least, asked.is_redundant, most)
        if status != CONVERGED:
            put_back(register)
            return step, status
        t.step_error[0] = max(t.step_error[0], t.last_error[0] / asked.error_length)
        store_reactions(t, first, rows, step, kept)
        kept = -1
        if (asked.since_stored + step + 1) % asked.every == 0:
            kept = row
            row += 1
            write_linear_row(t, rows + t.state_numbers * kept)
    if asked.measures:
        begin_bodies(t)
        begin_ports(t)
        vector_rates(t)
    put_back(register)
    return asked.steps, CONVERGED


@compiled
def change_size(t: Tables, h: float) -> float:
    """What the polarised strains store less in steps of another size, from now on of h."""
    polarised_energies(t)
    before = t.energy[1] + t.energy[3]
    t.step_taken[0] = h
    polarised_energies(t)
    return before - t.energy[1] - t.energy[3]


@compiled
def take_linear_step(t: Tables, h: float, damping: float, least_speed: float, is_redundant: bool, most: int) -> int:
    """One step from the state; its status. The state of a step that fails stays as it was.

    ``most``: conjugate gradients have so many iterations before the matrix is eliminated; 0: none.
    """
    begin_half_step(t, h)
    copy(t.velocity, t.velocity1, t.velocities)
    copy(t.multiplier, t.multiplier1, t.rows)
    linear_residuals(t, h, damping)
    status = CONVERGED
    if most == 0 or not follow_gradients(t, h, damping, least_speed, most):
        linear_matrix(t, h, damping)
        status = SINGULAR
        if eliminate(t, RELAXATION if is_redundant else 0.0):
            status = sweep(t, h, damping, least_speed)
    if status != CONVERGED:
        for b in range(t.carriers):
            t.position[b] -= (0.5 * h) * t.linear0[b]
        return status
    t.last_error[0] = step_error(t, h)
    keep_velocity(t, 1.0)
    t.step_taken[0] = h
    end_linear_step(t, h, damping)
    begin_bodies(t)
    return status


@compiled
def sweep(t: Tables, h: float, damping: float, least_speed: float) -> int:
    """Velocities and multipliers of the step from its matrix; sweeps after the first are for round-off."""
    last = 0.0
    for iteration in range(SWEEPS):
        for i in range(t.unknowns):
            t.trial_update[i] = -t.residual[i]
        substitute(t, t.trial_update)
        for i in range(t.velocities):
            t.velocity1[i] += t.trial_update[i]
        for i in range(t.constraints):
            update, row = t.trial_update + t.node_row[t.constraint_node[i]], t.interaction_start[i]
            for r in range(t.function_count[i]):
                t.multiplier1[row + r] += update[r]
        linear_residuals(t, h, damping)
        t.counter[0] += 1.0
        size = velocity_norm(t, t.trial_update)
        scale = max(velocity_norm(t, t.velocity1), velocity_norm(t, t.velocity), least_speed)
        if not size >= 0.0:
            return NOT_CONVERGED
        if size <= ROUND_OFF * scale or (iteration > 0 and size > STALLED * last and size <= ACCEPTABLE * scale):
            return CONVERGED
        last = size
    return NOT_CONVERGED


@compiled
def follow_gradients(t: Tables, h: float, damping: float, least_speed: float, most: int) -> bool:
    """Velocities and multipliers of the step by conjugate gradients; False: as before, they do not converge."""
    set_node_inverses(t, h, damping)
    hold_nodes(t)
    missing_of_nodes(t)
    if conjugate_gradients(t, h, damping, False, 0.0, least_speed, most) < 0:
        linear_residuals(t, h, damping)
        return False
    for b in range(t.carriers):
        for i in range(t.dimension):
            t.velocity1[t.velocity_start[b] + i] += along(t.cg_solution[b], i)
    linear_residuals(t, h, damping)
    missing_of_nodes(t)
    find_multipliers(t, h)
    linear_residuals(t, h, damping)
    t.counter[0] += 1.0
    return True


# The equations of a step at its half: coordinates q_+, strains L v, forces -L^T s (5.18), (5.19).
#
# Places are those of q_+ during the step, changes of chords zero, so that gradients at the mean and at the end are
# L(q_+) both, and blocks those of the conserving step without what forces turn.


@compiled
def begin_half_step(t: Tables, h: float) -> None:
    """Coordinates to q_+, and the polarised strains e(q_-, q_+) of laws there, with q_- = q_+ - h v_n (5.22)."""
    for b in range(t.carriers):
        t.position[b] += (0.5 * h) * t.linear0[b]
        t.shift[b] = h * t.linear0[b]
    begin_ports(t)
    for y in range(t.chords):
        t.chord_change[y] = vector(0.0, 0.0, 0.0)
    move_vectors(t)
    for i in range(t.constraints, t.interactions):
        m = t.interaction_start[i]
        if t.function_count[i] > 0:
            t.theta0[i - t.constraints] = t.function0[m] - 0.5 * linear_change(t, m)


@compiled
def move_vectors(t: Tables) -> None:
    """The shifts of the carriers to the changes of their points."""
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        t.change[k] = t.shift[b] if b >= 0 and t.vector_is_point[k] == 1 else vector(0.0, 0.0, 0.0)


@compiled
def linear_change(t: Tables, m: int) -> float:
    """L(q_+) of the changes of all vectors, of a function of laws or constraints."""
    total = 0.0
    for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
        a, b = t.term_first[p], t.term_second[p]
        product = dot(chord_of(t, a, t.change), t.chord0[b]) + dot(t.chord0[a], chord_of(t, b, t.change))
        total += t.term_coefficient[p] * product
    return total


@compiled
def linear_residuals(t: Tables, h: float, damping: float) -> None:
    """Balances of all carriers and changes of all constraints over h, at velocity1 and multiplier1."""
    fill(t.residual, t.unknowns, 0.0)
    for k in range(t.vectors):
        t.pull[k], t.change[k] = vector(0.0, 0.0, 0.0), vector(0.0, 0.0, 0.0)
    pull_of_loads(t)
    for b in range(t.carriers):
        own = t.velocity1 + t.velocity_start[b]
        d = t.dimension
        t.linear1[b] = vector(own[0], own[1] if d > 1 else 0.0, own[2] if d == 3 else 0.0)
        t.shift[b] = (0.5 * h) * (t.linear0[b] + t.linear1[b])
        t.force_sum[b] = t.weight[b]
    move_vectors(t)
    for i in range(t.constraints):
        begin, rows = t.interaction_start[i], t.residual + t.node_row[t.constraint_node[i]]
        for r in range(t.function_count[i]):
            m = begin + r
            pull_of(t, m, t.multiplier1[m])
            rows[r] = linear_change(t, m) / h if is_held(t, m) else t.multiplier1[m]
    for i in range(t.constraints, t.interactions):
        f, m = i - t.constraints, t.interaction_start[i]
        if t.function_count[i] > 0:
            t.theta_change[f] = linear_change(t, m)
            forces_of_laws(t, f, 1, h, damping)
            pull_of(t, m, t.scalar_force[f])
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        if b >= 0 and t.vector_is_point[k] == 1:
            t.force_sum[b] += t.pull[k]
    for q in range(t.loads):
        if t.load_kind[q] == PRESSURE:
            press(t, q, h)
    for p in range(t.mass_pairs):
        a, b = t.mass_first[p], t.mass_second[p]
        rows, change = t.residual + t.velocity_start[a], t.mass[p] * (t.linear1[b] - t.linear0[b])
        for i in range(t.dimension):
            rows[i] += along(change, i)
    for b in range(t.carriers):
        rows = t.residual + t.velocity_start[b]
        for i in range(t.dimension):
            rows[i] -= h * along(t.force_sum[b], i)
    add_half_step_forces(t, h, damping)


@compiled
def press(t: Tables, q: int, h: float) -> float:
    """Add the forces of a pressure on the normals at q_+ to its nodes; their work on the shifts."""
    work = 0.0
    for f in range(t.load_face[q], t.load_face[q] + t.load_face_count[q]):
        m, first = t.face_count[f], t.face_first[f]
        for p in range(t.face_point_count[f]):
            shape = t.face_shape[f] + p * m
            push = t.load_value[q].x * cross(face_tangent(t, f, shape, 1), face_tangent(t, f, shape, 2))
            for i in range(m):
                b, weight = t.face_node[first + i], t.face_number[shape + i].x
                t.force_sum[b] += weight * push
                work += weight * dot(push, t.shift[b])
    return work


@compiled
def face_tangent(t: Tables, f: int, shape: int, a: int) -> Vector:
    """x,r (a = 1) or x,s (a = 2) of face f at the places."""
    return slope_along(t.position, t.face_node + t.face_first[f], t.face_number + shape, t.face_count[f], a)


@compiled
def linear_matrix(t: Tables, h: float, damping: float) -> None:
    """M + h^2/4 (1 + 2 gamma) L^T C^-1 L, with the rows and columns of the constraints."""
    inertia_matrix(t, h, 1.0)
    for i in range(t.constraints, t.interactions):
        m = t.interaction_start[i]
        if t.function_count[i] > 0:
            t.generalized[m], t.tangent[LAW_WIDTH * m] = 0.0, t.force_slope[i - t.constraints]
    law_tangent(t, h)
    for i in range(t.constraints):
        node, begin = t.constraint_node[i], t.interaction_start[i]
        size = t.node_size[node]
        for r in range(t.function_count[i]):
            if not is_held(t, begin + r):
                (t.blocks + t.node_diagonal[node])[r * (t.node_stride[node] + 1)] = 1.0
                continue
            gradients(t, begin + r)
            for e in range(t.function_part[begin + r], t.function_part[begin + r] + t.part_count[begin + r]):
                constrain(t, e, r, size, h)
    add_half_step_blocks(t, h, damping)


@compiled
def end_linear_step(t: Tables, h: float, damping: float) -> None:
    """Accept the step: new state, work of every source, dissipated energy; places are still those of q_+."""
    for f in range(t.forces):
        t.dissipated[0] += dissipated_by(t, f, h, damping)
        t.force[f] = t.scalar_force[f]
        t.work[t.loads + t.constraints + f] += supplied_by(t, f)
    t.dissipated[0] += t.soft_loss[0] + end_half_step(t, h)
    for q in range(t.loads):
        t.work[q] += press(t, q, h) if t.load_kind[q] == PRESSURE else load_work(t, q)
    for b in range(t.carriers):
        t.position[b] += t.shift[b] - (0.5 * h) * t.linear0[b]
    copy(t.velocity1, t.velocity, t.velocities)
    copy(t.multiplier1, t.multiplier, t.rows)


@compiled
def write_linear_row(t: Tables, stored: Reals) -> None:
    """The state, with its energies, into a row."""
    polarised_energies(t)
    copy(t.state, stored, t.state_numbers)
    t.step_error[0] = 0.0


@compiled
def polarised_energies(t: Tables) -> None:
    """Energies at the state, those of strains polarised over the size of the last step: e(q) - Q(h v/2) (5.22)."""
    half = 0.5 * t.step_taken[0]
    begin_ports(t)
    gravity, strain, spring = 0.0, 0.0, 0.0
    for b in range(t.carriers):
        gravity -= dot(t.weight[b], t.position[b])
        t.shift[b] = half * t.linear0[b]
    move_vectors(t)
    for f in range(t.forces):
        i = t.constraints + f
        t.theta[f] = t.theta0[f]
        if t.function_count[i] > 0:
            m = t.interaction_start[i]
            for p in range(t.function_term[m], t.function_term[m] + t.term_count[m]):
                a, b = t.term_first[p], t.term_second[p]
                t.theta[f] -= t.term_coefficient[p] * dot(chord_of(t, a, t.change), chord_of(t, b, t.change))
        energy = stored_energy(t, f, t.theta[f])
        if t.energy_of[f] == SPRING:
            spring += energy
        else:
            strain += energy
    for e in range(t.soft_elements):
        for p in range(t.soft_point_count[e]):
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            u, v, w = slope_change(t, e, p, 0), slope_change(t, e, p, 1), slope_change(t, e, p, 2)
            c = metric_diagonal(t, e, x, y, z) - vector(dot(u, u), dot(v, v), dot(w, w))
            o = vector(dot(y, z) - dot(v, w), dot(x, z) - dot(u, w), dot(x, y) - dot(u, v))
            own = density(t, t.soft_group[e], c, o) + branch_density(t, e, p)
            strain += t.soft_weight[t.soft_point[e] + p] * own
    kinetic = translational_energy(t, t.linear0)
    t.energy[0], t.energy[1], t.energy[2], t.energy[3] = kinetic, strain, gravity, spring


# Elements of soft bodies of the law of St. Venant and Kirchhoff, at q_+ as above.


@compiled
def add_half_step_forces(t: Tables, h: float, damping: float) -> None:
    """Add h L^T mean(s) of all elements to the balances of their nodes; what they lose in the step."""
    lost = 0.0
    for e in range(t.soft_elements):
        g, gamma, k, first = t.soft_group[e], soft_gamma(t, e, h, damping), t.soft_count[e], t.soft_first[e]
        nodes = t.soft_node + first
        for p in range(t.soft_point_count[e]):
            weight, slope = t.soft_weight[t.soft_point[e] + p], t.soft_slope[e] + p * k
            grad = t.soft_gradient + slope
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            u, v, w = slope_change(t, e, p, 0), slope_change(t, e, p, 1), slope_change(t, e, p, 2)
            dc = vector(2.0 * dot(x, u), 2.0 * dot(y, v), 2.0 * dot(z, w))
            do = vector(dot(y, w) + dot(z, v), dot(x, w) + dot(z, u), dot(x, v) + dot(y, u))
            a, b = h * slope_along(t.linear0, nodes, grad, k, 0), h * slope_along(t.linear0, nodes, grad, k, 1)
            s = h * slope_along(t.linear0, nodes, grad, k, 2)
            c = metric_diagonal(t, e, x, y, z) - vector(dot(x, a), dot(y, b), dot(z, s))
            o = vector(dot(y, z), dot(x, z), dot(x, y))
            o = o - 0.5 * vector(dot(y, s) + dot(z, b), dot(x, s) + dot(z, a), dot(x, b) + dot(y, a))
            normal, shear = mean_stress(t, g, c, o, dc, do, gamma)
            if gamma != 0.0:
                n, r = mean_stress(t, g, c, o, dc, do, 0.0)
                lost += weight * (0.5 * dot(normal - n, dc) + dot(shear - r, do))
            if t.soft_branch_count[g] > 0:
                n, r = branch_stress(t, e, p, dc, do, h)
                normal, shear = normal + n, shear + r
            tx = (h * weight) * (normal.x * x + shear.z * y + shear.y * z)
            ty = (h * weight) * (shear.z * x + normal.y * y + shear.x * z)
            tz = (h * weight) * (shear.y * x + shear.x * y + normal.z * z)
            for i in range(k):
                own = grad[i]
                pull = own.x * tx + own.y * ty + own.z * tz
                rows = t.residual + t.velocity_start[nodes[i]]
                for d in range(t.dimension):
                    rows[d] += along(pull, d)
    t.soft_loss[0] = lost


@compiled
def end_half_step(t: Tables, h: float) -> float:
    """Strains of the branches of all elements at the end of the step; what their dashpots lose [J]."""
    lost = 0.0
    for e in range(t.soft_elements):
        for p in range(t.soft_point_count[e] if t.soft_branch_count[t.soft_group[e]] > 0 else 0):
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            u, v, w = slope_change(t, e, p, 0), slope_change(t, e, p, 1), slope_change(t, e, p, 2)
            dc = vector(2.0 * dot(x, u), 2.0 * dot(y, v), 2.0 * dot(z, w))
            do = vector(dot(y, w) + dot(z, v), dot(x, w) + dot(z, u), dot(x, v) + dot(y, u))
            lost += end_point(t, e, p, dc, do, h)
    return lost


@compiled
def add_half_step_blocks(t: Tables, h: float, damping: float) -> None:
    """Add h^2/4 (1 + 2 gamma) L^T C^-1 L of all elements to the blocks of their nodes."""
    for e in range(t.soft_elements):
        g, gamma, k, first = t.soft_group[e], soft_gamma(t, e, h, damping), t.soft_count[e], t.soft_first[e]
        factor = 0.25 * h * h * (1.0 + 2.0 * (gamma + branch_slope(t, g, h)))
        lame, double_shear = t.soft_lame[g], 2.0 * t.soft_shear[g]
        for p in range(t.soft_point_count[e]):
            weight, slope = factor * t.soft_weight[t.soft_point[e] + p], t.soft_slope[e] + p * k
            x, y, z = start_slope(t, e, p, 0), start_slope(t, e, p, 1), start_slope(t, e, p, 2)
            for j in range(k):
                n, width = t.soft_gradient[slope + j], t.carrier_stride[t.soft_node[first + j]]
                for axis in range(t.dimension):
                    u, v, w = along(x, axis), along(y, axis), along(z, axis)
                    e0, e1, e2 = n.x * u, n.y * v, n.z * w
                    trace = lame * (e0 + e1 + e2)
                    s0, s1, s2 = (
                        trace + double_shear * e0,
                        trace + double_shear * e1,
                        trace + double_shear * e2,
                    )
                    s3 = 0.5 * double_shear * (n.y * w + n.z * v)
                    s4, s5 = 0.5 * double_shear * (n.x * w + n.z * u), 0.5 * double_shear * (n.x * v + n.y * u)
                    tx, ty, tz = s0 * x + s5 * y + s4 * z, s5 * x + s1 * y + s3 * z, s4 * x + s3 * y + s2 * z
                    for i in range(k):
                        own = t.soft_gradient[slope + i]
                        pull = weight * (own.x * tx + own.y * ty + own.z * tz)
                        block = t.blocks + (t.soft_block[t.soft_pair[e] + i * k + j] + axis)
                        for d in range(t.dimension):
                            block[d * width] += along(pull, d)
