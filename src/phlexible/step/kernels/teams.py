"""Equal floating bodies of one mechanism in lanes: motion, matrices, elimination, energies (docs/theory.md, 4).

A team is up to ``TEAM_LANES`` bodies. The tables of teams, ``own``, are those of the mechanism, ``t``, with a lane
for each body: what the system writes is shared, and numbers of all bodies of a team are stored where the first one
has its numbers in ``t``. So kernels of bodies are those of a mechanism in lanes, called for the first bodies;
couplings of bodies read and write ``t``. Bodies of teams are eliminated before all that they are coupled to.
"""

from phlexible.step.compilation.compiled import compiled, compiled_without_overlap, exported
from phlexible.step.compilation.dense import fill, subtract_product
from phlexible.step.compilation.notation import (
    Integers,
    Reals,
    Tables,
    Truth,
    any_of,
    lanes_from,
    single_floats,
    tables_of_teams,
)
from phlexible.step.kernels.blocks import add_row_scale, factor_visit, solve_visit_rows
from phlexible.step.kernels.floating_bodies import (
    balance_frame,
    begin_frame,
    elastic_tangent,
    frame_energies,
    inertia_tangent,
    move_frame,
    unpack_velocity,
)
from phlexible.step.tables.declarations import FRAME_ENERGIES
from phlexible.step.tables.memory import TEAM_LANES


@compiled
def is_alone(t: Tables, node: int) -> bool:
    """Return whether a node of the elimination (floating body or other) is at present in no team, so that it is
    treated by itself. A team is a set of equal bodies that are computed together in SIMD lanes. ``t`` contains all
    arrays of the model and its state."""
    return any_of(t.in_teams[0] == 0.0) or t.is_in_team[node] == 0


@exported
def form_teams(t: Tables, are_formed: bool) -> None:
    """Switch on or off whether equal bodies are computed together in SIMD lanes, by the one flag ``t.in_teams``. If
    ``are_formed`` is False, each body is computed by itself from now on. The groups of bodies themselves, listed in
    advance in the model, do not change. ``t`` contains all arrays of the model and its state."""
    t.in_teams[0] = 1.0 if are_formed else 0.0


@compiled
def active_team_count(t: Tables) -> int:
    """Return the number of teams (equal bodies that are computed together in SIMD lanes) in use at present; 0 if
    bodies are computed separately. ``t`` contains all arrays of the model and its state."""
    return t.teams if t.in_teams[0] > 0.0 else 0


@compiled
def visit_of(t: Tables, g: int, lane: int) -> int:
    """Return which body SIMD lane ``lane`` of team g computes, as the body's index in the elimination order. A team
    is a set of equal bodies that are computed together, one in each lane; lanes without a body of their own repeat
    the last one. The index is read from ``t.team_visit``; ``t`` contains all arrays of the model and its state.
    """
    return t.team_visit[TEAM_LANES * g + lane]


@compiled
def frame_of(t: Tables, g: int, lane: int) -> int:
    """Return the index of the floating body in SIMD lane ``lane`` of team g (equal bodies that are computed
    together). ``t`` contains all arrays of the model and its state."""
    return t.visit_node[visit_of(t, g, lane)]


@compiled
def lane_starts(t: Tables, g: int, begins: Integers, i: int) -> Integers:
    """Return where the data of each SIMD lane of team g begin, as the array ``t.lane_start``. The indices are
    entries of the table ``begins``: of neighbour i of the body in the lane, or for i = -1 of the body itself. A
    team is a set of equal bodies that are computed together; neighbours of a body are the blocks coupled to it that
    are eliminated later. ``t`` contains all arrays of the model and its state.
    """
    for lane in range(TEAM_LANES):
        t.lane_start[lane] = begins[frame_of(t, g, lane) if i < 0 else later(t, g, lane, i)]
    return t.lane_start


@compiled_without_overlap
def write_lanes(source: Reals, starts: Integers, target: Reals, count: int) -> None:
    """Copy ``count`` entries of ``source`` to each SIMD lane of ``target``, an array whose entries have a value for
    each lane. The entries for lane l begin at the index ``starts[l]`` of ``source`` and are consecutive there.
    """
    for k in range(count):
        target[k] = lanes_from(source + k, starts)


@compiled_without_overlap
def read_lane(source: Reals, target: Reals, lane: int, count: int) -> None:
    """Copy the first ``count`` values of SIMD lane ``lane`` from ``source`` to ``target``. In ``source`` the
    values of all lanes alternate."""
    for k in range(count):
        target[k] = source[TEAM_LANES * k + lane]


@compiled_without_overlap
def read_lanes(source: Reals, target: Reals, starts: Integers, count: int) -> None:
    """Copy the first ``count`` values of each SIMD lane from ``source`` to ``target``. In ``source`` the values of
    all lanes alternate; in ``target`` the values of lane l begin at the index ``starts[l]``."""
    for k in range(count):
        for lane in range(TEAM_LANES):
            target[starts[lane] + k] = source[TEAM_LANES * k + lane]


@compiled_without_overlap
def add_lane(source: Reals, target: Reals, lane: int, count: int) -> None:
    """Add the first ``count`` values of SIMD lane ``lane`` of ``source`` to the first ``count`` entries of
    ``target``. In ``source`` the values of all lanes alternate: value k of the lane is at the number of lanes
    times k plus ``lane``."""
    for k in range(count):
        target[k] += source[TEAM_LANES * k + lane]


@exported
def start_teams(t: Tables, continues: bool) -> None:
    """Compute the velocities, elastic coordinates, moments and strains at the start of the time step for all
    groups of equal bodies, from the state. The bodies of a group are computed together in SIMD lanes, and results
    stay in the arrays of the lanes. If the step ``continues`` an accepted one, strains are those of its end. ``t``
    contains all arrays of the model and its state."""
    for g in range(active_team_count(t)):
        own, b = tables_of_teams(t.team[0]), frame_of(t, g, 0)
        v, c, n = t.velocities_begin[b], t.coordinates_begin[b], t.velocities_count[b]
        write_lanes(t.velocity, lane_starts(t, g, t.velocities_begin, -1), own.velocity + v, n)
        write_lanes(t.xi0, lane_starts(t, g, t.coordinates_begin, -1), own.xi0 + c, t.coordinates_count[b])
        numbers = single_floats(own.rotation + b)
        for lane in range(TEAM_LANES):
            rotation = single_floats(t.rotation + frame_of(t, g, lane))
            for k in range(9):
                numbers[TEAM_LANES * k + lane] = rotation[k]
        unpack_velocity(own, b, own.velocity, own.linear0, own.spin0, own.rate0)
        own.xi1[c] = 1.0
        begin_frame(own, b, continues)


@exported
def move_teams(t: Tables, h: float, damping: float) -> None:
    """Compute the motion over a time step of length h [s] of all groups of equal bodies, and their balances
    without external forces. The bodies of a group are computed together in SIMD lanes. Rotations, elastic
    coordinates and residuals of the balances are copied to the arrays of the mechanism. ``damping`` is numerical
    damping, a multiple of the stiffness. ``t`` contains all arrays of the model and its state."""
    for g in range(active_team_count(t)):
        own, b, d = tables_of_teams(t.team[0]), frame_of(t, g, 0), t.dimension
        v, c, n = t.velocities_begin[b], t.coordinates_begin[b], t.velocities_count[b]
        write_lanes(t.velocity1, lane_starts(t, g, t.velocities_begin, -1), own.velocity1 + v, n)
        unpack_velocity(own, b, own.velocity1, own.linear1, own.spin1, own.rate1)
        move_frame(own, b, h, damping)
        balance_frame(own, b, h)
        rows = single_floats(own.residual + (v + d))
        for lane in range(TEAM_LANES):
            f = frame_of(t, g, lane)
            read_lane(single_floats(own.half_turn + b), single_floats(t.half_turn + f), lane, 3)
            read_lane(single_floats(own.rotation1 + b), single_floats(t.rotation1 + f), lane, 9)
            read_lane(single_floats(own.inverse_mean + b), single_floats(t.inverse_mean + f), lane, 9)
        starts = lane_starts(t, g, t.coordinates_begin, -1)
        read_lanes(single_floats(own.xi1 + c), t.xi1, starts, t.coordinates_count[b])
        read_lanes(rows, t.residual + d, lane_starts(t, g, t.velocities_begin, -1), n - d)


@exported
def tangents_of_teams(t: Tables, h: float, damping: float) -> None:
    """Compute the diagonal blocks in Newton's matrix of all bodies that are computed in groups of equal bodies in
    SIMD lanes. A block is the sum of inertia, elasticity with numerical ``damping``, and what interactions have
    added to ``t.blocks`` before. It is stored in the arrays of the lanes. h is the length of the time step [s].
    ``t`` contains all arrays of the model and its state."""
    for g in range(active_team_count(t)):
        own, b, size = tables_of_teams(t.team[0]), frame_of(t, g, 0), t.velocities_count[frame_of(t, g, 0)]
        starts = lane_starts(t, g, t.node_diagonal, -1)
        write_lanes(t.blocks, starts, own.blocks + t.node_diagonal[b], size * size)
        inertia_tangent(own, b, h, 1.0)
        elastic_tangent(own, b, h, damping)


@compiled
def later(t: Tables, g: int, lane: int, i: int) -> int:
    """Return the index of neighbour i of the body in SIMD lane ``lane`` of team g in the list of all neighbours.
    Neighbours of a body are the blocks of Newton's matrix coupled to it that are eliminated later; a team is a set
    of equal bodies that are computed together. ``t`` contains all arrays of the model and its state.
    """
    return t.neighbours_begin[visit_of(t, g, lane)] + i


@exported
def eliminate_teams(t: Tables, relaxation: float) -> Truth:
    """Factor the diagonal blocks of all groups of equal bodies, and update the blocks that are eliminated later.
    The bodies of a group are computed together in SIMD lanes. Return True, without further groups, as soon as a
    body is singular. ``relaxation`` is the relative term added for redundant constraints; if it is positive,
    scales of constraint rows are updated. ``t`` contains all arrays of the model and its state."""
    for g in range(active_team_count(t)):
        own, first = tables_of_teams(t.team[0]), visit_of(t, g, 0)
        n, count = t.visit_size[first], t.neighbours_count[first]
        for i in range(count):
            k, size = later(t, g, 0, i), n * t.neighbour_size[later(t, g, 0, i)]
            write_lanes(t.blocks, lane_starts(t, g, t.upper, i), own.blocks + t.upper[k], size)
            write_lanes(t.blocks, lane_starts(t, g, t.lower, i), own.blocks + t.lower[k], size)
        if any_of(not factor_visit(own, first)):
            return True
        for i in range(count):
            for j in range(count):
                _add_product(t, own, g, i, j, relaxation > 0.0 and i == j)
    return False


@compiled
def _add_product(t: Tables, team: Tables, g: int, i: int, j: int, measures: bool) -> None:
    """Subtract the products L_i U_j of factored off-diagonal blocks from the blocks of Newton's matrix that couple
    neighbours i and j (Schur complement). This is done for all bodies of group g, equal bodies that are eliminated
    together in SIMD lanes; ``team`` contains the arrays of the lanes. If ``measures``, the scale of constraint
    rows is updated as well. ``t`` contains all arrays of the model and its state."""
    product, n = team.scratch, t.visit_size[visit_of(t, g, 0)]
    rows, columns = t.neighbour_size[later(t, g, 0, i)], t.neighbour_size[later(t, g, 0, j)]
    lower, upper = team.blocks + t.lower[later(t, g, 0, i)], team.blocks + t.upper[later(t, g, 0, j)]
    fill(product, rows * columns, 0.0)
    subtract_product(lower, rows, n, upper, columns, product, columns)
    for lane in range(t.team_count[g]):
        visit = visit_of(t, g, lane)
        place = t.targets_begin[visit] + i * t.neighbours_count[visit] + j
        if measures:
            add_row_scale(t, visit, i, 1.0)
        for r in range(rows):
            row = t.blocks + (t.target[place] + r * t.target_stride[place])
            add_lane(single_floats(product + r * columns), row, lane, columns)
        if measures:
            add_row_scale(t, visit, i, -1.0)


@exported
def substitute_teams(t: Tables, b: Reals, returns: bool) -> None:
    """Do the forward substitution, or back substitution if ``returns``, for the rows of all groups of equal
    bodies. The bodies of a group are computed together in SIMD lanes. The right side b, shape (unknowns,), changes
    in place; going forward, the rows of later blocks are updated too. ``t`` contains all arrays of the model and
    its state."""
    for g in range(active_team_count(t)):
        own, first = tables_of_teams(t.team[0]), visit_of(t, g, 0)
        n, x, y = t.visit_size[first], own.update + t.visit_row[first], single_floats(own.scratch)
        if not returns:
            write_lanes(b, lane_starts(t, g, t.node_row, -1), x, n)
            solve_visit_rows(own, first, x, 1)
        for i in range(t.neighbours_count[first]):
            k, size = later(t, g, 0, i), t.neighbour_size[later(t, g, 0, i)]
            if returns:
                write_lanes(b, lane_starts(t, g, t.neighbour_row, i), own.scratch, size)
                subtract_product(own.blocks + t.upper[k], n, size, own.scratch, 1, x, 1)
                continue
            fill(own.scratch, size, 0.0)
            subtract_product(own.blocks + t.lower[k], size, n, x, 1, own.scratch, 1)
            for lane in range(t.team_count[g]):
                add_lane(y, b + t.neighbour_row[later(t, g, lane, i)], lane, size)
        if returns:
            read_lanes(single_floats(x), b, lane_starts(t, g, t.node_row, -1), n)


@exported
def energies_of_teams(t: Tables, h: float, damping: float, with_parts: bool) -> None:
    """Add the energies and losses in the time step of all groups of equal bodies to ``t.frame_energy``, shape (6,)
    [J]. They are kinetic and strain energy at start and end, the loss, and if ``with_parts`` a scale of round-off.
    The bodies of a group are computed together in SIMD lanes. h is the length of the time step [s], ``damping``
    numerical damping. ``t`` contains all arrays of the model and its state."""
    for g in range(active_team_count(t)):
        own = tables_of_teams(t.team[0])
        frame_energies(own, frame_of(t, g, 0), h, damping, with_parts, own.frame_energy)
        for lane in range(t.team_count[g]):
            add_lane(single_floats(own.frame_energy), t.frame_energy, lane, FRAME_ENERGIES)
