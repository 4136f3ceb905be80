"""Equal bodies of one mechanism in lanes: their motion, matrices and elimination (docs/theory.md, 4).

A team of up to ``ABREAST`` bodies is one frame of the tables of the teams, ``t``, in which the kernels of bodies
are those of a mechanism in lanes; ``model`` is the mechanism itself, where what couples bodies reads and writes.
Bodies in teams are coupled to nothing that is eliminated before them: they come first.
"""

from phlexible.step.compilation.compiled import compiled, compiled_apart, exported
from phlexible.step.compilation.dense import (
    copy,
    factor,
    fill,
    product,
    scale,
    solve,
    solve_vector,
    subtract_image,
    subtract_product,
)
from phlexible.step.compilation.notation import Integers, Reals, Tables, Truth, any_of
from phlexible.step.compilation.teams import (
    gathered,
    reals_of,
    scattered,
    single_numbers,
    sum_of_lanes,
    tables_of_teams,
)
from phlexible.step.kernels.floating_bodies import (
    balance_frame,
    begin_frame,
    dissipation,
    elastic_tangent,
    energy_at_end,
    energy_at_start,
    inertia_tangent,
    move_frame,
    parts_of_energies,
    rotational_energy,
    strain_energy,
    unpack_velocity,
)
from phlexible.step.tables.declarations import ABREAST

# Numbers between lanes and the places of bodies in the tables of the mechanism.


@compiled_apart
def gather(source: Reals, places: Integers, target: Reals, count: int) -> None:
    """``count`` numbers of each lane, from its place on."""
    for k in range(count):
        target[k] = gathered(source, places, k)


@compiled_apart
def gather_rows(source: Reals, places: Integers, target: Reals, stride: int, rows: int, columns: int) -> None:
    """A (rows, columns) block of each lane, from its place on, into rows that begin ``stride`` apart."""
    for i in range(rows):
        for j in range(columns):
            target[i * stride + j] = gathered(source, places, i * columns + j)


@compiled_apart
def add_gathered(source: Reals, places: Integers, target: Reals, n: int, moved: Integers, count: int) -> None:
    """Add entries of the (n, n) block of each lane: of ``count`` rows and the same columns."""
    for i in range(count):
        for j in range(count):
            k = moved[i] * n + moved[j]
            target[k] += gathered(source, places, k)


@compiled_apart
def scatter(source: Reals, target: Reals, places: Integers, count: int) -> None:
    """``count`` numbers of each lane to its place."""
    for k in range(count):
        scattered(target, places, k, source[k])


# Motion.


@exported
def form_teams(model: Tables, are_formed: bool) -> None:
    """From now on bodies step in their teams, where there are some; or each alone."""
    if model.team[0] == 0:
        return
    t, visits = tables_of_teams(model, model.team[0]), 0
    for g in range(t.teams):
        for lane in range(ABREAST):
            model.in_team[t.team_frame[ABREAST * g + lane]] = 1 if are_formed else 0
        visits += t.team_count[g]
    model.team[1] = visits if are_formed else 0
    fill(model.team_energy, 5, 0.0)


@exported
def start_teams(model: Tables) -> None:
    """Velocities, coordinates, moments and strains of all teams at t_n, from the state."""
    if model.team[1] == 0:
        return
    t = tables_of_teams(model, model.team[0])
    for g in range(t.teams):
        c, e, n = t.coordinate_start[g], t.elastic_start[g], t.elastic_count[t.type_of[g]]
        gather(model.velocity, t.team_velocity + ABREAST * g, t.velocity + t.velocity_start[g], t.width_of[g])
        gather(model.eta, t.team_elastic + ABREAST * g, t.eta + e, n)
        gather(reals_of(model.rotation), t.team_matrix + ABREAST * g, reals_of(t.rotation + g), 9)
        unpack_velocity(t, g, t.velocity, t.linear0, t.spin0, t.rate0)
        t.xi0[c], t.xi1[c] = 1.0, 1.0
        copy(t.eta + e, t.xi0 + (c + 1), n)
        begin_frame(t, g)


@exported
def move_teams(model: Tables, h: float, damping: float) -> None:
    """Where the bodies of all teams are at velocity1, and what their elasticity does over the step."""
    if model.team[1] == 0:
        return
    t = tables_of_teams(model, model.team[0])
    for g in range(t.teams):
        c, n, own = t.coordinate_start[g] + 1, t.elastic_count[t.type_of[g]], ABREAST * g
        gather(model.velocity1, t.team_velocity + own, t.velocity1 + t.velocity_start[g], t.width_of[g])
        unpack_velocity(t, g, t.velocity1, t.linear1, t.spin1, t.rate1)
        move_frame(t, g, h, damping)
        scatter(t.xi1 + c, model.xi1 + 1, t.team_coordinate + own, n)
        scatter(reals_of(t.half_turn + g), reals_of(model.half_turn), t.team_vector + own, 3)
        scatter(reals_of(t.rotation1 + g), reals_of(model.rotation1), t.team_matrix + own, 9)
        scatter(reals_of(t.inverse_mean + g), reals_of(model.inverse_mean), t.team_matrix + own, 9)


@exported
def balance_teams(model: Tables, h: float) -> None:
    """Balances of rotation and deformation, without what acts from outside, into the rows of the residual."""
    if model.team[1] == 0:
        return
    t = tables_of_teams(model, model.team[0])
    d = t.dimension
    for g in range(t.teams):
        balance_frame(t, g, h)
        rows = t.residual + (t.velocity_start[g] + d)
        scatter(rows, model.residual + d, t.team_velocity + ABREAST * g, t.width_of[g] - d)


@exported
def tangents_of_teams(model: Tables, h: float, damping: float) -> None:
    """What inertia and elasticity of the bodies put into their blocks; others write into those of the mechanism."""
    if model.team[1] == 0:
        return
    t = tables_of_teams(model, model.team[0])
    for g in range(t.teams):
        n = t.width_of[g]
        fill(t.blocks + t.node_diagonal[g], n * n, 0.0)
        inertia_tangent(t, g, h, 1.0)
        elastic_tangent(t, g, h, damping)


# Elimination.


@exported
def factor_teams(model: Tables, relaxation: float) -> Truth:
    """Eliminate all bodies of the teams; whether one is singular."""
    if model.team[1] == 0:
        return False
    t = tables_of_teams(model, model.team[0])
    for g in range(t.teams):
        if any_of(not factor_team(model, t, g)):
            return True
        for lane in range(t.team_count[g]):
            add_product(model, t, g, lane, relaxation > 0.0)
    return False


@compiled
def factor_team(model: Tables, t: Tables, g: int) -> Truth:
    """Factor the blocks of a team, and find what its bodies change in those of their slots."""
    n, m, apart, column = t.width_of[g], t.team_columns[g], t.node_apart[g], 0
    block, upper, lower = t.blocks + t.node_diagonal[g], t.blocks + t.team_upper[g], t.blocks + t.team_lower[g]
    moved, count = t.team_moved + t.team_first_moved[g], t.team_moved_count[g]
    add_gathered(model.blocks, t.team_diagonal + ABREAST * g, block, n, moved, count)
    for k in range(t.team_slot[g], t.team_slot[g] + t.team_slot_count[g]):
        size = t.slot_size[k]
        gather_rows(model.blocks, t.slot_upper + ABREAST * k, upper + column, m, n, size)
        gather(model.blocks, t.slot_lower + ABREAST * k, lower + column * n, n * size)
        column += size
    rest, pivots = block + apart * (n + 1), t.pivots + 2 * t.node_row[g]
    is_regular = factor(rest, n - apart, n, pivots)
    if apart > 0:
        scale(upper, apart * m, 1.0 / block[0])
    solve(rest, n - apart, n, pivots, upper + apart * m, m, m)
    fill(t.product, m * m, 0.0)
    subtract_product(lower, m, n, upper, m, t.product, m)
    return is_regular


@compiled
def add_product(model: Tables, t: Tables, g: int, lane: int, measures: bool) -> None:
    """What one body of a team changes in the blocks of its slots, and on the diagonals of those of constraints."""
    m, first, count = t.team_columns[g], t.team_slot[g], t.team_slot_count[g]
    own, row, pair = single_numbers(t.product) + lane, 0, ABREAST * t.team_pair[g] + lane
    for i in range(first, first + count):
        column, rows = 0, t.slot_size[i]
        for j in range(first, first + count):
            target, stride, columns = model.blocks + t.slot_target[pair], t.slot_stride[pair], t.slot_size[j]
            for r in range(rows):
                for s in range(columns):
                    target[r * stride + s] += own[ABREAST * ((row + r) * m + column + s)]
            pair += ABREAST
            column += columns
        if measures and t.slot_is_held[i] == 1:
            for r in range(rows):
                held = model.unknown_row[t.slot_row[ABREAST * i + lane] + r]
                model.row_scale[held] += own[ABREAST * (row + r) * (m + 1)]
        row += rows


@exported
def forward_teams(model: Tables, b: Reals) -> None:
    """Solve with the factors of the teams for their rows of b, and subtract what they change in others."""
    if model.team[1] == 0:
        return
    t = tables_of_teams(model, model.team[0])
    for g in range(t.teams):
        n, m, apart, x = t.width_of[g], t.team_columns[g], t.node_apart[g], t.update + t.node_row[g]
        block, lower = t.blocks + t.node_diagonal[g], t.blocks + t.team_lower[g]
        gather(b, t.team_row + ABREAST * g, x, n)
        if apart > 0:
            scale(x, apart, 1.0 / block[0])
        solve_vector(block + apart * (n + 1), n - apart, n, t.pivots + 2 * t.node_row[g], x + apart)
        for r in range(m):
            t.product[r] = product(lower + r * n, x, n)
        for lane in range(t.team_count[g]):
            subtract_lane(t, g, lane, b)


@compiled
def subtract_lane(t: Tables, g: int, lane: int, b: Reals) -> None:
    """What one body of a team changes in the rows of its slots."""
    own = single_numbers(t.product) + lane
    for k in range(t.team_slot[g], t.team_slot[g] + t.team_slot_count[g]):
        rows = b + t.slot_row[ABREAST * k + lane]
        for r in range(t.slot_size[k]):
            rows[r] -= own[ABREAST * r]
        own = own + ABREAST * t.slot_size[k]


@exported
def backward_teams(model: Tables, b: Reals) -> None:
    """The rows of the bodies of the teams, once those of all others are known."""
    if model.team[1] == 0:
        return
    t = tables_of_teams(model, model.team[0])
    for g in range(t.teams):
        n, m, x, column = t.width_of[g], t.team_columns[g], t.update + t.node_row[g], 0
        for k in range(t.team_slot[g], t.team_slot[g] + t.team_slot_count[g]):
            gather(b, t.slot_row + ABREAST * k, t.product + column, t.slot_size[k])
            column += t.slot_size[k]
        subtract_image(t.blocks + t.team_upper[g], n, m, t.product, x)
        scatter(x, b, t.team_row + ABREAST * g, n)


# Energies.


@exported
def losses_of_teams(model: Tables, h: float, damping: float) -> float:
    """Energy that the bodies of the teams lose in the step."""
    lost = 0.0
    if model.team[1] != 0:
        t = tables_of_teams(model, model.team[0])
        for g in range(t.teams):
            lost += sum_of_lanes(dissipation(t, g, h, damping), t.team_count[g])
    return lost


@exported
def energies_over_step_of_teams(model: Tables) -> None:
    """How energies of rotation, deformation and strain change in the step, and the sum of their sizes."""
    if model.team[1] == 0:
        return
    t, change, size = tables_of_teams(model, model.team[0]), 0.0, 0.0
    for g in range(t.teams):
        start, end, count = energy_at_start(t, g), energy_at_end(t, g), t.team_count[g]
        change += sum_of_lanes(end - start, count)
        size += sum_of_lanes(abs(end) + abs(start), count)
    model.team_energy[0], model.team_energy[1] = change, size


@exported
def round_off_of_teams(model: Tables) -> None:
    """Sizes of the parts that strain energies at both ends of the step are the sum of."""
    if model.team[1] == 0:
        return
    t, parts = tables_of_teams(model, model.team[0]), 0.0
    for g in range(t.teams):
        parts += sum_of_lanes(parts_of_energies(t, g), t.team_count[g])
    model.team_energy[2] = parts


@exported
def energies_of_teams(model: Tables) -> None:
    """Kinetic energy of rotation and deformation, and strain energy, at the state of ``start_teams``."""
    if model.team[1] == 0:
        return
    t, kinetic, strain = tables_of_teams(model, model.team[0]), 0.0, 0.0
    for g in range(t.teams):
        count, eta = t.team_count[g], t.xi0 + (t.coordinate_start[g] + 1)
        moving = rotational_energy(t, g, t.spin0, t.rate0, t.angular0, t.moment0, t.moment_rate0)
        kinetic += sum_of_lanes(moving, count)
        strain += sum_of_lanes(strain_energy(t, g, eta, t.strain0), count)
    model.team_energy[3], model.team_energy[4] = kinetic, strain
