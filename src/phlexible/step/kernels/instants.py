"""Velocities that satisfy the joints, and forces of contact pairs, at the state of a run without a step.

The velocities are nu - M^-1 G^T (G M^-1 G^T)^-1 (G nu + g_t) (docs/theory.md, 4; (4.15)). In a step of 2 s in which
nothing moves Newton's matrix has M, -2 G^T and G / 2: its assembly and its elimination serve here too. Forces of
pairs are those of a step so short that nothing moves ((4.23)).
"""

from phlexible.step.compilation.compiled import compiled, entry_point
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import (
    Reals,
    Tables,
    all_of,
    any_of,
    dot,
    reals_at,
    rows_at,
    tables_at,
    vector,
    where,
)
from phlexible.step.compilation.subnormals import flush_subnormals, restore_control
from phlexible.step.kernels.functions import rate_of_function
from phlexible.step.kernels.laws_of_functions import relation_rate
from phlexible.step.kernels.locks import is_active
from phlexible.step.kernels.loop import set_vectors
from phlexible.step.kernels.many.contacts_among_many import apply_contact_forces
from phlexible.step.kernels.solver.elimination import eliminate, substitute
from phlexible.step.kernels.step import (
    begin_step,
    inertia_matrix,
    motion_and_forces,
    move_carriers,
    set_auxiliary_rows,
    set_constraint_row,
)
from phlexible.step.kernels.vectors import levers_and_motions, velocity_count, velocity_index
from phlexible.step.tables.requests import Floats, IntegerRow, Rows1

STANDSTILL = 2.0  # length of the step in which nothing moves [s]


@entry_point
def joint_velocities(header: IntegerRow, moving: Floats, drift: Floats, out: Floats, relaxation: float) -> bool:
    """Project the velocities of the state in the mass norm so that they satisfy all joints and drives, and write
    them to ``out``, shape (velocities,). The state itself does not change. ``moving`` are the prescribed vectors at
    present, ``drift`` the partial time derivatives of all constraints; ``header`` locates the model's arrays.
    ``relaxation`` is that of ``eliminate``, for redundant constraints, else 0. Return False where constraints are
    redundant in any lane (mechanisms computed at the same time); ``out`` is then of no use. See docs/theory.md, 4,
    (4.15).

    Args:
        header: of the tables; the state in them stays, other tables are recomputed by the next step.
        moving: prescribed vectors at present, (1, 3 vectors).
        drift: g_t of all rows, (rows,).
        out: receives nu, (velocities,).
        relaxation: of redundant constraints (``eliminate``); a second pass corrects its error.
    """
    t = tables_at(header)
    given, drifts, result = rows_at(t, moving), rows_at(t, drift), rows_at(t, out)
    h = STANDSTILL
    copy(t.velocity, result, t.velocities)
    fill(t.velocity, t.velocities, 0.0)
    set_vectors(t.moving0, given, t.moving)
    set_vectors(t.moving1, given, t.moving)
    begin_step(t)
    fill(t.velocity1, t.velocities, 0.0)
    move_carriers(t, h, 0.0)
    for y in range(t.chords):
        t.chord_change[y] = vector(0.0, 0.0, 0.0)
    copy(result, t.velocity, t.velocities)
    inertia_matrix(t, h, h, 0.0)
    fill(t.update, t.unknowns, 0.0)
    is_regular = True
    for number in range(2 if relaxation > 0.0 else 1):
        fill(t.trial_update, t.unknowns, 0.0)
        set_joint_equations(t, drifts, h, number == 0)
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
def set_joint_equations(t: Tables, drifts: Reals, h: float, is_first: bool) -> None:
    """Write the right side of the linear equations that remove the constraint rates of the present velocities to
    ``t.trial_update``. For each constraint it is minus its rate over h, or 0 if it is inactive. ``drifts`` are the
    partial time derivatives of the constraints. If ``is_first``, the gradients of the constraints are also written
    to Newton's matrix. h is the (very short) length of the time step whose matrix is used [s]. ``t`` contains all
    arrays of the model and its state.
    """
    for i in range(t.constraints):
        for r in range(t.functions_count[i]):
            m = t.functions_begin[i] + r
            held = is_active(t, m)
            set_constraint_row(t, i, r, held, h, is_first)
            if any_of(held):
                rate = drifts[m] + rate_of_function(t, m)
                if t.row_force_count[m] > 0:
                    rate += relation_rate(t, m, h, is_first)
                t.trial_update[t.row_unknown[m]] = where(held, -rate / h, 0.0)
    for k in range(t.auxiliaries if is_first else 0):
        set_auxiliary_rows(t, k)


@entry_point
def pair_forces(header: IntegerRow, h: float, moving: Floats, ending: Floats, forces: Rows1) -> None:
    """Add the generalized forces of all contact pairs, with friction, to ``forces``, shape (velocities,). They are
    evaluated at the velocities of the state over a very short time step ``h`` [s], which may be negative.
    ``moving`` and ``ending`` are the prescribed vectors at its start and end; ``header`` is the array with the
    addresses of the model's arrays.

    The state does not change; tables of an attempted step are overwritten by this evaluation.

    Args:
        header: of the tables.
        h: so short that nothing moves much, or less than zero [s].
        moving, ending: prescribed vectors at the state and at the end of the step, (3 vectors,).
        forces: receive the sums, (velocities,).
    """
    register = flush_subnormals()
    t = tables_at(header)
    set_vectors(t.moving0, reals_at(moving), t.moving)
    set_vectors(t.moving1, reals_at(ending), t.moving)
    begin_step(t)
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.velocity, t.velocity1, t.velocities)
    motion_and_forces(t, h, 0.0)
    for k in range(t.vectors):
        t.pull[k] = vector(0.0, 0.0, 0.0)
    apply_contact_forces(t, h)
    for k in range(t.vectors):
        b = t.vector_carrier[k]
        if b >= 0 and dot(t.pull[k], t.pull[k]) > 0.0:
            levers_and_motions(t, k, h)
            for i in range(velocity_count(t, k)):
                own = t.velocities_begin[b] + velocity_index(t, k, i)
                forces[own] += dot((t.lever + t.lever_vectors_begin[k])[i], t.pull[k])
    copy(t.saved_velocity, t.velocity1, t.velocities)
    restore_control(register)
