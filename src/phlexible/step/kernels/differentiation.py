"""Residuals of steps between known states, in numbers of any kind, and derivatives of steps that were taken.

Derivatives are propagated forwards or backwards (docs/theory.md, 4): a step from the new state to the old one with
-h has the same equations, so that its Newton matrix is the derivative to the old velocities.
"""

from math import atan2

from phlexible.step.compilation.compiled import compiled, entry_point
from phlexible.step.compilation.dense import add_multiple, copy, fill
from phlexible.step.compilation.notation import Reals, Tables, dot, matrix, reals_at, rows_at, tables_at
from phlexible.step.compilation.subnormals import flush_subnormals, restore_control
from phlexible.step.kernels.branches import advance_branches
from phlexible.step.kernels.floating_bodies import (
    advance_frame_branches,
    eye,
    read_rotation_vector,
    skew_of,
    write_rotation_vector,
)
from phlexible.step.kernels.laws import nearest_angle
from phlexible.step.kernels.ledger import compute_energies, copy_history_ends
from phlexible.step.kernels.loop import set_vectors
from phlexible.step.kernels.soft import advance_soft_branches
from phlexible.step.kernels.solver.elimination import eliminate, substitute, transpose_matrix
from phlexible.step.kernels.step import begin_ports, begin_step, inertia_matrix, jacobian, residuals
from phlexible.step.tables.declarations import ANGLE
from phlexible.step.tables.requests import (
    ADJOINT,
    COLUMNS,
    DIRECT,
    DerivativeRequest,
    Floats,
    IntegerRow,
    IntegerRows,
    RequestRecord,
    Rows1,
    Rows2,
)


@entry_point
def differentiate(
    header: IntegerRow,
    request: RequestRecord[DerivativeRequest],
    indices: IntegerRows,
    sizes: Rows1,
    rows: Floats,
    moving: Floats,
    load_values: Floats,
    pose: Floats,
    velocity: Floats,
    equations: Floats,
    work: Floats,
) -> int:
    """Propagate derivatives of the state forwards (DIRECT) or derivatives of costs backwards (ADJOINT) through
    recorded time steps. ``request`` says which, and how many steps and parameters or costs ("changes"). ``sizes``
    are the lengths of the steps, ``rows`` the stored states, ``moving`` and ``load_values`` prescribed vectors and
    loads. ``pose``, ``velocity`` and ``equations`` are input and output, see below. ``header`` locates the model's
    arrays, ``indices`` entries of Newton's matrix, ``work`` is scratch memory. Return the number of steps done:
    fewer than requested if a matrix is singular.

    Args:
        header: of the tables; the state in them is overwritten.
        request: a ``DerivativeRequest``.
        indices: entries of Newton's matrix: index in the blocks, row, column, a line each; (velocity, velocity),
            then (velocity, auxiliary), then (auxiliary, velocity). Among the rows of the first two are constraints
            of both ends of a step (8.30): taken backwards they are the same, where balances change their sign.
        sizes: of the steps, shape (steps,) [s].
        rows: stored instants, one more than steps; multipliers in them are those of the step before.
        moving: prescribed vectors at these instants, (steps + 1, 3 vectors).
        load_values: at the middles of the steps, (steps, 3 loads).
        pose, velocity: (steps + 1, changes, velocities). ADJOINT: derivatives of a cost to the instants, which
            become adjoints that contain the instants after them (9.6). DIRECT: the first is input, the others are
            output (9.4).
        equations: (steps, changes, unknowns). ADJOINT: receives mu (9.5). DIRECT: dF/dp.
        work: memory of ``work_size`` floats.
    """
    register = flush_subnormals()
    t, states, given, values = tables_at(header), reals_at(rows), reals_at(moving), reals_at(load_values)
    q, v, f, scratch = reals_at(pose), reals_at(velocity), reals_at(equations), reals_at(work)
    asked = request[0]
    damping, count = asked.numerical_damping, asked.steps
    wanted, changes = asked.wanted, asked.changes
    entries, nv, n = len(indices), t.velocities, t.unknowns
    constraints_begin = nv + t.dimension * t.auxiliaries
    tangent, momenta = scratch, scratch + entries
    scratch = scratch + 2 * entries
    for number in range(count):
        step = count - 1 - number if wanted == ADJOINT else number
        h = sizes[step]
        for side in range(2):
            is_backwards = side == 0
            sign = -1.0 if is_backwards else 1.0
            first, second = (step + 1, step) if is_backwards else (step, step + 1)
            evaluate_residual(t, states, given, values, first, second, step, sign * h, sign * damping)
            inertia_matrix(t, sign * h, sign * h, 0.0)
            for i in range(asked.velocity_entries):
                momenta[i] = t.blocks[indices[i, 0]] if is_backwards else momenta[i] + t.blocks[indices[i, 0]]
            jacobian(t, sign * h, sign * damping)
            if is_backwards:
                for i in range(entries):
                    tangent[i] = t.blocks[indices[i, 0]]
                    if indices[i, 1] >= constraints_begin:
                        tangent[i] = -tangent[i]
        if wanted == ADJOINT:
            transpose_matrix(t)
        if not eliminate(t, asked.relaxation):
            restore_control(register)
            return number
        for i in range(asked.velocity_entries):
            tangent[i] -= momenta[i]
        u, w, x, extra = scratch, scratch + n, scratch + 2 * n, scratch + 3 * n
        for c in range(changes if wanted == ADJOINT else 0):
            old, own, row = ((step + 1) * changes + c) * nv, (step * changes + c) * nv, (step * changes + c) * n
            copy(q + old, u, nv)
            apply_velocity_map(t, h, u, False, True)
            for i in range(nv):
                u[i] = -v[old + i] - u[i]
            fill(u + nv, n - nv, 0.0)
            substitute(t, u, 1)
            copy(u, f + row, n)
            fill(w, n, 0.0)
            fill(x, nv, 0.0)
            for i in range(asked.velocity_entries):
                w[indices[i, 2]] += tangent[i] * u[indices[i, 1]]
                x[indices[i, 2]] += momenta[i] * u[indices[i, 1]]
            for i in range(asked.velocity_entries, asked.velocity_entries + asked.auxiliary_entries):
                w[indices[i, 2]] += tangent[i] * u[indices[i, 1]]
            for i in range(asked.velocity_entries + asked.auxiliary_entries, entries):
                w[indices[i, 2]] -= tangent[i] * w[indices[i, 1]]
            for i in range(nv):
                w[i] -= v[old + i]
            apply_velocity_map(t, h, w, True, True)
            for i in range(nv):
                q[own + i] += w[i]
                v[own + i] += -v[old + i] - x[i]
        for c in range(0, changes if wanted == DIRECT else 0, COLUMNS):
            width = min(COLUMNS, changes - c)
            u, x, old_rates, extra = scratch, scratch + n * width, scratch + 2 * n * width, scratch + 3 * n * width
            single = scratch + 4 * n * width
            for j in range(width):
                old, row = (step * changes + c + j) * nv, (step * changes + c + j) * n
                copy(q + old, single, nv)
                apply_velocity_map(t, h, single, True, False)
                for i in range(nv):
                    x[i * width + j] = single[i]
                    old_rates[i * width + j] = v[old + i]
                for i in range(n):
                    u[i * width + j] = -f[row + i]
            fill(extra, n * width, 0.0)
            for i in range(asked.velocity_entries + asked.auxiliary_entries, entries):
                add_multiple(extra + indices[i, 1] * width, tangent[i], x + indices[i, 2] * width, width)
            for i in range(asked.velocity_entries):
                target, source = u + indices[i, 1] * width, indices[i, 2] * width
                add_multiple(target, momenta[i], old_rates + source, width)
                add_multiple(target, -tangent[i], x + source, width)
            for i in range(asked.velocity_entries, asked.velocity_entries + asked.auxiliary_entries):
                add_multiple(u + indices[i, 1] * width, tangent[i], extra + indices[i, 2] * width, width)
            substitute(t, u, width)
            for j in range(width):
                new = ((step + 1) * changes + c + j) * nv
                for i in range(nv):
                    single[i] = u[i * width + j]
                    v[new + i] = single[i] - x[i * width + j] - old_rates[i * width + j]
                apply_velocity_map(t, h, single, False, False)
                copy(single, q + new, nv)
    restore_control(register)
    return count


@compiled
def apply_velocity_map(t: Tables, h: float, x: Reals, is_inverse: bool, is_transposed: bool) -> None:
    """Replace the velocities x, shape (velocities,), by K x, where K is a matrix of the last evaluated time step,
    of length h [s]. K maps the sum of velocity changes at both ends to the change of the end pose: h / 2, and for
    rotations a 3 x 3 matrix for each body, which yields rotation vectors in world axes. If ``is_inverse``, its
    inverse is used, if ``is_transposed``, its transpose. See docs/theory.md, 9, (9.2). ``t`` contains all arrays of
    the model and its state.
    """
    factor = 2.0 / h if is_inverse else 0.5 * h
    for i in range(t.velocities):
        x[i] *= factor
    for b in range(t.frames):
        axes, own = t.axes_of[b], x + (t.velocities_begin[b] + t.dimension)
        a, R, y = t.half_turn[b], t.rotation[b], read_rotation_vector(own, axes)
        skew, outer = skew_of(a), matrix(a.x * a, a.y * a, a.z * a)
        share = 1.0 / (1.0 + dot(a, a))
        if is_inverse:
            y = R @ ((eye() + skew + outer) @ y) if is_transposed else (eye() - skew + outer) @ (y @ R)
        else:
            y = share * ((eye() - skew) @ (y @ R)) if is_transposed else share * (R @ ((eye() + skew) @ y))
        write_rotation_vector(own, y, axes)


@entry_point
def step_equations(
    header: IntegerRow,
    count: int,
    stride: int,
    damping: float,
    sizes: Rows1,
    rows: Floats,
    moving: Floats,
    load_values: Floats,
    equations: Floats,
    ends: Floats,
) -> None:
    """Compute the residuals of ``count`` recorded time steps of lengths ``sizes`` and write them to ``equations``,
    shape (count, unknowns). Step k leads from row k ``stride`` of the states ``rows`` to the next row, with
    prescribed vectors ``moving`` and ``load_values``; ``header`` locates the model's arrays. If ``ends`` is not
    empty, it receives the states at the start with the history variables of the end. ``damping`` is numerical
    damping, a multiple of the stiffness.

    Args:
        header: of the tables; the state in them is overwritten.
        count: of steps.
        stride: rows from the first instant of one step to that of the next; 1: each begins where one ended.
        damping: numerical, gamma.
        sizes: of the steps, shape (count,) [s].
        rows: stored instants; multipliers in the second one of a step are those of the step.
        moving: prescribed vectors at these instants, (., 3 vectors).
        load_values: at the middles of the steps, (count, 3 loads).
        equations: receives the residuals, (count, unknowns).
        ends: receives the first instants with strains and bristles at the end, (count, state size); empty:
            nothing.
    """
    register, t = flush_subnormals(), tables_at(header)
    given, loads, lengths = reals_at(moving), reals_at(load_values), reals_at(sizes)
    states, missed, after = rows_at(t, rows), rows_at(t, equations), rows_at(t, ends)
    for k in range(count):
        evaluate_residual(t, states, given, loads, k * stride, k * stride + 1, k, lengths[k], damping)
        copy(t.residual, missed + k * t.unknowns, t.unknowns)
        if len(ends) > 0:
            advance_history_variables(t, lengths[k])
            copy(t.state, after + k * t.state_size, t.state_size)
    restore_control(register)


@compiled
def evaluate_residual(
    t: Tables,
    states: Reals,
    moving: Reals,
    load_values: Reals,
    first: int,
    second: int,
    step: int,
    h: float,
    damping: float,
) -> None:
    """Compute the residual of the equations of one time step of length h [s] between two stored ``states``, and
    store it in ``t.residual``. The step goes from state number ``first`` to ``second``; multipliers are those of
    the later number. The state of the model becomes that of ``first``. ``moving`` are the prescribed vectors at
    all stored states; of ``load_values`` those of number ``step`` are used. ``damping`` is numerical damping.
    ``t`` contains all arrays of the model."""
    copy(states + max(first, second) * t.state_size, t.state, t.state_size)
    copy(t.multiplier, t.multiplier1, t.rows)
    copy(states + second * t.state_size, t.state, t.state_size)
    copy(t.velocity, t.velocity1, t.velocities)
    copy(states + first * t.state_size, t.state, t.state_size)
    set_vectors(t.moving0, moving + 3 * t.moving * first, t.moving)
    set_vectors(t.moving1, moving + 3 * t.moving * second, t.moving)
    set_vectors(t.load_value, load_values + 3 * t.load_values * step, t.load_values)
    begin_step(t)
    measure_angles(t)
    residuals(t, h, damping)


@compiled
def advance_history_variables(t: Tables, h: float) -> None:
    """Replace the history variables in the state by their values at the end of the time step of length h [s].
    Strains of Maxwell branches (creep) are integrated. Deflections of friction springs, impact speeds of contacts
    and flows through guides of tendons are copied from the last evaluated residual. ``t`` contains all arrays of
    the model and its state."""
    for f in range(t.forces):
        advance_branches(t, f, h)
    advance_soft_branches(t, h)
    for b in range(t.frames):
        advance_frame_branches(t, b, h)
    copy_history_ends(t)


@entry_point
def energies_at(header: IntegerRow, count: int, rows: Floats, moving: Floats, energy_rows: Rows2) -> None:
    """Compute the kinetic, strain, gravity and spring energy [J] of the mechanism at stored states, and write them
    to ``energy_rows``, shape (count, 4). The ``count`` states are in ``rows``; each is copied into the model's
    memory, so that the last one remains there. ``moving`` are the prescribed vectors at these states; ``header``
    is the array with the addresses of the model's arrays."""
    t, states, given = tables_at(header), reals_at(rows), reals_at(moving)
    for k in range(count):
        copy(states + k * t.state_size, t.state, t.state_size)
        set_vectors(t.moving0, given + 3 * t.moving * k, t.moving)
        set_vectors(t.moving1, given + 3 * t.moving * k, t.moving)
        begin_step(t)
        measure_angles(t)
        for f in range(t.forces):
            t.theta[f] = t.theta0[f]
        begin_ports(t)
        compute_energies(t)
        for i in range(4):
            energy_rows[k, i] = t.energy[i]


@compiled
def measure_angles(t: Tables) -> None:
    """Compute the angles of all force elements at the present pose and store them in ``t.theta0`` [rad]. Of the
    angles that differ by full turns, the one nearest to the counted angle ``t.theta`` is stored. Other coordinates
    do not change. ``t`` contains all arrays of the model and its state.

    Parameters may have changed the pose since.
    """
    for i in range(t.constraints, t.interactions):
        if t.coordinate_of[i] == ANGLE:
            f, first = i - t.constraints, t.functions_begin[i]
            t.theta0[f] = nearest_angle(atan2(t.function0[first + 1], t.function0[first]), t.theta[f])
