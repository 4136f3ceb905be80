"""Velocities projected onto the joints at the state of a run (docs/theory.md, 4; (4.15)).

They are nu - M^-1 G^T (G M^-1 G^T)^-1 (G nu + g_t). In a step of 2 s in which nothing moves Newton's matrix has M,
-2 G^T and G / 2: its assembly and its elimination serve here too.
"""

from phlexible.step.compilation.compiled import compiled, entry_point
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import Reals, Tables, all_of, any_of, rows_at, tables_at, vector, where
from phlexible.step.kernels.floating_bodies import end_rotation, moments_at_end
from phlexible.step.kernels.functions import gradients, rate_of
from phlexible.step.kernels.laws import is_held
from phlexible.step.kernels.laws_of_functions import related_rate
from phlexible.step.kernels.loop import set_vectors
from phlexible.step.kernels.solver.elimination import eliminate, substitute
from phlexible.step.kernels.step import auxiliary_rows, begin_step, constrain, inertia_matrix, release
from phlexible.step.kernels.vectors import end_vectors
from phlexible.step.tables.requests import IntegerRow, Numbers, Rows1

STANDSTILL = 2.0  # length of the step in which nothing moves [s]


@entry_point
def joint_velocities(header: IntegerRow, moving: Numbers, drift: Rows1, found: Numbers, relaxation: float) -> bool:
    """Project the velocities onto the joints; False where constraints are redundant at this pose, in any lane.

    Args:
        header: of the tables; the state in them stays, other tables are recomputed by the next step.
        moving: prescribed vectors at present, (1, 3 vectors).
        drift: g_t of all rows, (rows,).
        found: receives nu, (velocities,).
        relaxation: of redundant constraints (``eliminate``); a second pass corrects its error.
    """
    t = tables_at(header)
    given, drifts, result = rows_at(t, moving), rows_at(t, drift), rows_at(t, found)
    h = STANDSTILL
    copy(t.velocity, result, t.velocities)
    fill(t.velocity, t.velocities, 0.0)
    set_vectors(t.moving0, given, t.moving)
    set_vectors(t.moving1, given, t.moving)
    begin_step(t)
    stand_still(t, h)
    copy(result, t.velocity, t.velocities)
    inertia_matrix(t, h, h, 0.0)
    fill(t.update, t.unknowns, 0.0)
    is_regular = True
    for number in range(2 if relaxation > 0.0 else 1):
        fill(t.trial_update, t.unknowns, 0.0)
        hold_joints(t, drifts, h, number == 0)
        if number == 0:
            is_regular = all_of(eliminate(t, relaxation))
        if not is_regular:
            break
        substitute(t, t.trial_update, 1)
        for i in range(t.velocities):
            t.velocity[i] += t.trial_update[i]
        for i in range(t.unknowns):
            t.update[i] += t.trial_update[i]
    copy(t.update, t.trial_update, t.unknowns)
    for i in range(t.velocities):
        before = result[i]
        result[i] = t.velocity[i]
        t.velocity[i] = before
    return is_regular


@compiled
def hold_joints(t: Tables, drifts: Reals, h: float, is_first: bool) -> None:
    """Write constraint residuals of the velocities into ``trial_update``, and at first the blocks of their
    gradients."""
    for i in range(t.constraints):
        node, begin = t.constraint_node[i], t.functions_begin[i]
        size = t.node_size[node]
        for r in range(t.functions_count[i]):
            held = is_held(t, begin + r)
            if not all_of(held):
                if is_first:
                    (t.blocks + t.node_diagonal[node])[r * (t.node_stride[node] + 1)] = where(held, 0.0, 1.0)
                if not any_of(held):
                    continue
            gradients(t, begin + r)
            if not all_of(held):
                release(t, begin + r, held)
            for e in range(t.function_parts_begin[begin + r], t.function_parts_end[begin + r] if is_first else 0):
                constrain(t, e, r, size, h)
            rate = drifts[begin + r] + rate_of(t, begin + r)
            if t.row_force_count[begin + r] > 0:
                rate += related_rate(t, begin + r, h, is_first)
            t.trial_update[t.node_row[node] + r] = where(held, -rate / h, 0.0)
    for k in range(t.auxiliaries if is_first else 0):
        auxiliary_rows(t, k)


@compiled
def stand_still(t: Tables, h: float) -> None:
    """Set the end of a step of length h without velocities, which equals its start."""
    copy(t.xi0, t.xi1, t.coordinates)
    copy(t.rate0, t.rate1, t.coordinates)
    for b in range(t.carriers):
        t.shift[b] = vector(0.0, 0.0, 0.0)
    for b in range(t.frames):
        c, m = 9 * t.coordinates_begin[b], t.elastic_count[t.type_of[b]] + 1
        t.spin1[b], t.angular1[b] = t.spin0[b], t.angular0[b]
        copy(t.moment_rate0 + c, t.moment_rate1 + c, t.planes * m)
        moments_at_end(t, b, h)
        end_rotation(t, b, h)
    end_vectors(t)
    for y in range(t.chords):
        t.chord_change[y] = vector(0.0, 0.0, 0.0)
