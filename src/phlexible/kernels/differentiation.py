"""What a step's equations become when something changes: residuals at known states, and their derivatives.

Of steps that have been taken, forwards and backwards (docs/theory.md, 4): a step from the new state to the old one
with -h has the same equations, so that its Newton matrix is the derivative to the old velocities.
"""

from math import atan2

from phlexible.compilation.compiled import compiled, entry_point
from phlexible.compilation.dense import copy, fill
from phlexible.compilation.notation import Matrix, Tables, cross, reals_at, tables_at, vector
from phlexible.kernels.forces.relations import nearest_turn
from phlexible.kernels.inertia import add_column, inertia
from phlexible.kernels.ledger import energies
from phlexible.kernels.loop import set_vectors
from phlexible.kernels.moments import add_moments, axis_of, contract, contract_crossing, crossing, one, unit
from phlexible.kernels.step import begin_ports, begin_step, jacobian, residuals
from phlexible.tables.declarations import ANGLE


@entry_point
def differentiate(header, options, how, places, rows, moving, load_values, residual, tangent, momenta):
    """Residuals of steps that were taken, and their derivatives to the new velocities.

    Args:
        header: of the tables; the state in them is moved.
        options: size of the steps [s], negative to go backwards, and numerical damping gamma, negative alike.
        how: number of steps, and whether they are taken backwards.
        places: of the entries of the derivatives: in the blocks, in a matrix of the unknowns, in one of the
            velocities (or -1), a row each; no rows: residuals alone.
        rows: stored instants, one more than steps; multipliers in them are those of the step before.
        moving: given vectors at these instants, (steps + 1, 3 vectors).
        load_values: at the middles of the steps, (steps, 3 loads).
        residual: receives the residuals, (steps, unknowns).
        tangent: receives Newton's matrix, (steps, unknowns unknowns), where it was zero.
        momenta: receives that of the inertia alone at constant pose, (steps, velocities velocities), alike.
    """
    t, states, given, values = tables_at(header), reals_at(rows), reals_at(moving), reals_at(load_values)
    h, damping = options[0], options[1]
    for step in range(how[0]):
        first, second = (step + 1, step) if how[1] != 0 else (step, step + 1)
        copy(states + (step + 1) * t.state_numbers, t.state, t.state_numbers)
        copy(t.multiplier, t.multiplier1, t.rows)
        copy(states + second * t.state_numbers, t.state, t.state_numbers)
        copy(t.velocity, t.velocity1, t.velocities)
        copy(states + first * t.state_numbers, t.state, t.state_numbers)
        set_vectors(t.moving0, given + 3 * t.moving * first, t.moving)
        set_vectors(t.moving1, given + 3 * t.moving * second, t.moving)
        set_vectors(t.load_value, values + 3 * t.load_values * step, t.load_values)
        begin_step(t)
        measure_angles(t)
        residuals(t, h, damping)
        for i in range(t.unknowns):
            residual[step, i] = t.residual[i]
        if len(places) > 0:
            jacobian(t, h, damping)
            for i in range(len(places)):
                tangent[step, places[i, 1]] = t.blocks[places[i, 0]]
            momentum_tangent(t, h)
            for i in range(len(places)):
                if places[i, 2] >= 0:
                    momenta[step, places[i, 2]] = t.blocks[places[i, 0]]


@entry_point
def energies_at(header, count, rows, moving, found):
    """Kinetic, strain, gravity and spring energy at stored instants, into (instants, 4) [J]."""
    t, states, given = tables_at(header), reals_at(rows), reals_at(moving)
    for k in range(count):
        copy(states + k * t.state_numbers, t.state, t.state_numbers)
        set_vectors(t.moving0, given + 3 * t.moving * k, t.moving)
        set_vectors(t.moving1, given + 3 * t.moving * k, t.moving)
        begin_step(t)
        measure_angles(t)
        for f in range(t.forces):
            t.theta[f] = t.theta0[f]
        begin_ports(t)
        energies(t)
        for i in range(4):
            found[k, i] = t.energy[i]


@compiled
def measure_angles(t: Tables) -> None:
    """Angles of laws as they are at the pose, over the full turns that were counted: parameters may move them."""
    for i in range(t.constraints, t.interactions):
        if t.coordinate_of[i] == ANGLE:
            f, first = i - t.constraints, t.interaction_start[i]
            t.theta0[f] = nearest_turn(atan2(t.function0[first + 1], t.function0[first]), t.theta[f])


@compiled
def momentum_tangent(t: Tables, h: float) -> None:
    """The derivative of the left sides of (4.6) to (4.8) to the new velocities at constant pose, as blocks."""
    fill(t.blocks, t.block_numbers, 0.0)
    for b in range(t.frames):
        frame_tangent(t, b, h)
    for p in range(t.mass_pairs):
        b = t.mass_second[p]
        block, width = t.blocks + t.mass_block[p], t.corner_stride[b] if b < t.frames else t.width_of[b]
        for i in range(t.dimension):
            block[i * width + i] += t.mass[p]


@compiled
def frame_tangent(t: Tables, b: int, h: float) -> None:
    """Of one frame: ``inertia_tangent`` without what eta moves."""
    kind, axes, d, across = t.type_of[b], t.axes_of[b], t.dimension, t.corner_stride[b]
    c = t.coordinate_start[b]
    m, half, own = t.elastic_count[kind] + 1, 0.5 * h, 9 * c
    corner = t.blocks + (t.node_diagonal[b] + d * (across + 1))
    side, bottom = t.blocks + (t.side[b] + d), t.blocks + (t.bottom[b] + d * t.bottom_stride[b])
    a, p, w0 = t.half_turn[b], t.angular0[b] + t.angular1[b], crossing(t.spin0[b])
    N0, N1, D0 = t.moment0 + own, t.moment1 + own, t.moment_rate0 + own
    J = inertia(t, t.xi1 + c, t.moment1 + own, m) if m > 1 else t.rigid_inertia[kind]
    pi = t.scratch
    for l in range(axes):
        e = unit(axis_of(l, axes))
        add_column(corner + l, across, J @ e + cross(a, J @ e) + (0.25 * h) * cross(e, p), axes)
        if m == 1:
            continue
        E = crossing(e)
        fill(pi + l * m, m, 0.0)  # dpi_r . e to deta/dt
        contract(t, pi + l * m, E, N1, m)
        slope, C = pi + 3 * m, 0.5 * half * both_orders(E, w0)
        fill(slope, m, 0.0)  # rows of eta to w . e
        contract(t, slope, E + C, N1, m)
        contract(t, slope, C, N0, m)
        contract_crossing(t, slope, half * e, D0, m)
        for j in range(1, m):
            side[(j - 1) * t.side_stride[b] + l] = slope[j]
    if m == 1:
        return
    for j in range(1, m):
        dpi = vector(0.0, 0.0, pi[j]) if axes == 1 else vector(pi[j], pi[m + j], pi[2 * m + j])
        add_column(bottom + (j - 1), t.bottom_stride[b], dpi + cross(a, dpi), axes)
    add_moments(t, b, one() + half * w0)


@compiled
def both_orders(A: Matrix, B: Matrix) -> Matrix:
    """A B + B A."""
    return A @ B + B @ A
