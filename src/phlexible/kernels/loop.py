"""The compiled entry point: many conserving steps of one size, stopping at the first that fails."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled, entry_point
from phlexible.kernels.dense import copy
from phlexible.kernels.ledger import end_step, energies
from phlexible.kernels.newton import CONVERGED, solve_step
from phlexible.kernels.pointers import pointer_to
from phlexible.kernels.step import begin_step


@entry_point
def advance(
    int_array,
    real_array,
    h,
    damping,
    count,
    every,
    phase,
    moving,
    load_values,
    least_scale,
    first_multiplier,
    stored,
    write_first,
):
    """Take up to ``count`` steps of size h; (steps done, status of the last).

    Args:
        int_array, real_array: the tables of ``tables.py``; the state in them is moved.
        damping: numerical damping gamma.
        every: store each every-th step; ``phase`` steps have been taken since the last one stored.
        moving: given vectors at the ends of the steps, (count + 1, 3 vectors).
        load_values: at the middles of the steps, (count, 3 loads).
        least_scale: see ``solve_step`` [m/s].
        first_multiplier: receives the multipliers of the first step, (rows,).
        stored: receives the stored instants, a row each; see ``write_row``. Multipliers are the mean
            of the adjacent steps where both are known.
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
    for step in range(count):
        copy_table(reals, ints[at.MOVING0], moving, step)
        copy_table(reals, ints[at.MOVING1], moving, step + 1)
        copy_table(reals, ints[at.LOAD_VALUE], load_values, step)
        begin_step(ints, reals)
        guess(ints, reals, step > 0)
        copy(reals, ints[at.STATE_MULTIPLIER], ints[at.MULTIPLIER], rows)
        status, iterations = solve_step(ints, reals, h, damping, least_scale)
        ints[ints[at.STATE_COUNTER]] += iterations
        if status != CONVERGED:
            return step, status
        end_step(ints, reals, h, damping)
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
            copy_table(reals, ints[at.MOVING0], moving, step + 1)
            write_row(ints, reals, stored, kept)
    return count, CONVERGED


@compiled
def guess(ints, reals, extrapolate):
    """Start Newton's method at nu_n, or on the line through nu_{n-1} and nu_n; keep nu_n for the next."""
    for i in range(ints[at.VELOCITIES]):
        now = reals[ints[at.STATE_VELOCITY] + i]
        before = reals[ints[at.PREVIOUS_VELOCITY] + i]
        reals[ints[at.VELOCITY] + i] = 2.0 * now - before if extrapolate else now
        reals[ints[at.PREVIOUS_VELOCITY] + i] = now


@compiled
def copy_table(reals, target, table, row):
    """A row of a table of functions of time into its place."""
    for i in range(table.shape[1]):
        reals[target + i] = table[row, i]


@compiled
def write_row(ints, reals, stored, row):
    """The state into a row: kinetic, strain and gravity energy, dissipated, iterations, then the
    tables from STATE_POSITION to STATE_WORK but with STATE_MULTIPLIER last."""
    begin_step(ints, reals)
    place = energies(ints, reals, stored, row)
    stored[row, place] = reals[ints[at.STATE_DISSIPATED]]
    stored[row, place + 1] = ints[ints[at.STATE_COUNTER]]
    place += 2
    for i in range(ints[at.STATE_POSITION], ints[at.STATE_MULTIPLIER]):
        stored[row, place] = reals[i]
        place += 1
    for i in range(ints[at.STATE_WORK], ints[at.STATE_DISSIPATED]):
        stored[row, place] = reals[i]
        place += 1
    for i in range(ints[at.STATE_MULTIPLIER], ints[at.STATE_WORK]):
        stored[row, place] = reals[i]
        place += 1
