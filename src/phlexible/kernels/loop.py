"""The compiled entry point: many conserving steps of one size, stopping at the first that fails."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled, entry_point, inlined
from phlexible.kernels.dense import copy, fill
from phlexible.kernels.forces import drives_are_smooth, turns_are_small
from phlexible.kernels.ledger import end_step, energies, ledger_closes
from phlexible.kernels.newton import CONVERGED, NOT_CONVERGED, remove_idle_multipliers, solve_step
from phlexible.kernels.pointers import pointer_to
from phlexible.kernels.step import begin_step

ATTEMPTS = 4
RELAXED_ATTEMPTS = 2  # after those, for joints at a singular position
RELAXATION = 1e-10
NOTICEABLE = 1e-6  # multipliers that move nothing: some joints are nearly dependent


@entry_point
def advance(
    int_array,
    real_array,
    sizes,
    damping,
    count,
    every,
    phase,
    moving,
    load_values,
    least_scale,
    is_redundant,
    first_multiplier,
    stored,
    continues,
    write_first,
):
    """Take up to ``count`` steps of one size; (steps done, status of the last).

    Args:
        int_array, real_array: the tables of ``tables.py``; the state in them is moved.
        sizes: of the substeps that a step consists of, one or more [s]; all of them are taken or none.
        damping: numerical damping gamma.
        every: store each every-th step; ``phase`` steps have been taken since the last one stored.
        moving: given vectors at the ends of the substeps, (count substeps + 1, 3 vectors).
        load_values: at the middles of the substeps, (count substeps, 3 loads).
        least_scale: see ``solve_step`` [m/s].
        is_redundant: joints hold a motion twice, so that Newton's matrix needs relaxation.
        first_multiplier: receives the multipliers of the first step, (rows,).
        stored: receives the stored instants, a row each; see ``write_row``. Multipliers are the mean
            of the adjacent steps where both are known.
        continues: the last step before this call had the same size, and ended at this state.
        write_first: store the state before the first step too, in row 0.
    """
    ints, reals = pointer_to(int_array), pointer_to(real_array)
    row = 0
    kept = -1
    rows = ints[at.ROWS]
    if write_first:
        copy_table(reals, ints[at.MOVING0], moving, 0)
        write_row(ints, reals, stored, 0)
        row = 1
    substeps = len(sizes)
    state = ints[at.STATE_POSITION]
    for step in range(count):
        if substeps > 1:
            copy(reals, state, ints[at.SAVED_STATE], state - ints[at.SAVED_STATE])
            fill(reals, ints[at.MEAN_MULTIPLIER], rows, 0.0)
        for part in range(substeps):
            place = step * substeps + part
            copy_table(reals, ints[at.MOVING0], moving, place)
            copy_table(reals, ints[at.MOVING1], moving, place + 1)
            copy_table(reals, ints[at.LOAD_VALUE], load_values, place)
            extrapolate = substeps == 1 and (step > 0 or continues)
            status = take_step(ints, reals, sizes[part], damping, least_scale, extrapolate, is_redundant)
            if status != CONVERGED:
                if substeps > 1:
                    copy(reals, ints[at.SAVED_STATE], state, state - ints[at.SAVED_STATE])
                return step, status
            if substeps > 1:
                for i in range(rows):
                    reals[ints[at.MEAN_MULTIPLIER] + i] += (
                        sizes[part] / sizes.sum() * reals[ints[at.STATE_MULTIPLIER] + i]
                    )
        if substeps > 1:
            copy(reals, ints[at.MEAN_MULTIPLIER], ints[at.STATE_MULTIPLIER], rows)
        if step == 0:
            for i in range(rows):
                first_multiplier[i] = reals[ints[at.STATE_MULTIPLIER] + i]
        if kept >= 0:
            start = stored.shape[1] - rows
            for i in range(rows):
                stored[kept, start + i] = 0.5 * (
                    stored[kept, start + i] + reals[ints[at.STATE_MULTIPLIER] + i]
                )
            kept = -1
        if (phase + step + 1) % every == 0:
            kept = row
            row += 1
            copy_table(reals, ints[at.MOVING0], moving, (step + 1) * substeps)
            write_row(ints, reals, stored, kept)
    return count, CONVERGED


@inlined
def take_step(ints, reals, h, damping, least_scale, extrapolate, is_redundant):
    """One step from the state to the next; its status."""
    begin_step(ints, reals)
    status = NOT_CONVERGED
    attempts = ATTEMPTS if is_redundant else ATTEMPTS + RELAXED_ATTEMPTS
    for attempt in range(attempts if drives_are_smooth(ints, reals) else 0):
        is_relaxed = is_redundant or attempt >= ATTEMPTS
        guess(ints, reals, attempt % ATTEMPTS, extrapolate and attempt <= ATTEMPTS)
        relaxation = RELAXATION if is_relaxed else 0.0
        status, iterations = solve_step(ints, reals, h, damping, least_scale, relaxation)
        ints[ints[at.STATE_COUNTER]] += iterations
        if status == CONVERGED and not turns_are_small(ints, reals):
            status = NOT_CONVERGED
        if status == CONVERGED and not ledger_closes(ints, reals, h, damping):
            status = NOT_CONVERGED
        if status == CONVERGED:
            if is_relaxed and remove_idle_multipliers(ints, reals) > NOTICEABLE:
                ints[ints[at.STATE_COUNTER] + 1] += 1
            break
    copy(reals, ints[at.STATE_VELOCITY], ints[at.PREVIOUS_VELOCITY], ints[at.VELOCITIES])
    if status == CONVERGED:
        end_step(ints, reals, h, damping)
    return status


@compiled
def guess(ints, reals, attempt, extrapolate):
    """Where Newton's method starts in this attempt.

    First nu_n, or the line through nu_{n-1} and nu_n where there is one. In a step far longer than a
    period nu changes its sign at the end of each step, and a start at nu_n lies many amplitudes away
    from the solution; then -nu_n, which leaves the bodies where they are; then -nu_n for the
    elastic rates only; then zero.
    """
    copy(reals, ints[at.STATE_MULTIPLIER], ints[at.MULTIPLIER], ints[at.ROWS])
    for b in range(ints[at.BODIES]):
        begin, end = ints[ints[at.VELOCITY_START] + b], ints[ints[at.VELOCITY_START] + b + 1]
        first_elastic = end - ints[ints[at.ELASTIC_COUNT] + ints[ints[at.TYPE_OF] + b]]
        for i in range(begin, end):
            now = reals[ints[at.STATE_VELOCITY] + i]
            value = now
            if attempt == 0 and extrapolate:
                value = 2.0 * now - reals[ints[at.PREVIOUS_VELOCITY] + i]
            elif attempt == 1 or (attempt == 2 and i >= first_elastic):
                value = -now
            elif attempt == 3:
                value = 0.0
            reals[ints[at.VELOCITY] + i] = value


@compiled
def copy_table(reals, target, table, row):
    """A row of a table of functions of time into its place."""
    for i in range(table.shape[1]):
        reals[target + i] = table[row, i]


@compiled
def write_row(ints, reals, stored, row):
    """The state into a row: kinetic, strain, gravity and spring energy, dissipated, iterations, then
    the tables from STATE_POSITION to STATE_THETA but with STATE_MULTIPLIER last and without the
    rotations of nodes of absolute bodies, which never turn."""
    begin_step(ints, reals)
    place = energies(ints, reals, stored, row)
    stored[row, place] = reals[ints[at.STATE_DISSIPATED]]
    stored[row, place + 1] = ints[ints[at.STATE_COUNTER]]
    place += 2
    for i in range(ints[at.STATE_POSITION], ints[at.STATE_ROTATION] + 9 * ints[at.FLOATING]):
        stored[row, place] = reals[i]
        place += 1
    for i in range(ints[at.STATE_ELASTIC], ints[at.STATE_MULTIPLIER]):
        stored[row, place] = reals[i]
        place += 1
    for i in range(ints[at.STATE_WORK], ints[at.STATE_DISSIPATED]):
        stored[row, place] = reals[i]
        place += 1
    for i in range(ints[at.STATE_MULTIPLIER], ints[at.STATE_WORK]):
        stored[row, place] = reals[i]
        place += 1
