"""Newton's method for one step: natural monotonicity, reuse of the factors, stopping (docs/theory.md, 4)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import Choice, Reals, Tables, Truth, any_of, where
from phlexible.step.kernels.families import (
    add_carried_residuals_of_families,
    carry_stresses_of_families,
    keep_stresses_of_families,
    start_stresses_of_families,
)
from phlexible.step.kernels.many.pairs_in_matrix import correct_for_pairs
from phlexible.step.kernels.solver.elimination import eliminate, substitute
from phlexible.step.kernels.step import constraints_close, jacobian, motion_and_forces, residuals
from phlexible.step.tables.requests import CONVERGED, NEARLY_CONVERGED, NOT_CONVERGED, SINGULAR

MAXIMAL_ITERATIONS = 60
MOST_WITH_STRESSES = 20  # carried along: these steps take less than ten, or are halved
TOLERANCE = 1e-14
PREDICTED = 1e-16  # an update that is expected to be smaller is left out
PREDICTED_OF_FEW = 1e-17  # of few unknowns, where another iteration costs next to nothing:
SHARE_OF_PLACES = 1e-13  # of the least speed: a thousandth of what round-off of places makes of velocities
FEW = 12  # what is left out has a sign, and shows after a million steps; with pairs updates fall unevenly
ACCEPTABLE = 1e-8
ACCEPTABLE_AT_SINGULAR = 1e-7  # beside a double root updates end at the square root of round-off
AT_ROUND_OFF = 1e-12  # updates below this that do not fall to a tenth with the Jacobian of their place
STALLED = 0.1
SQUARE_IS_NOTHING = 1e-8  # an update below this, with factors of its place, leaves its square; the next one less
SMALL = 0.1  # updates beyond this fraction of the velocities predict nothing
MULTIPLIER_TOLERANCE = 1e-10  # relative
LEAST_DAMPING = 1.0 / 128.0
KEEP_JACOBIAN = 0.02
OF_INERTIA = 1.0  # multipliers that change Newton's matrix by more: its factors predict nothing
KEEP_OF_PAIRS = 4e-3  # among many, whose factors take less than two residuals
AS_LONG_AS_FACTORS = 8  # iterations that take as long as factors do, of shells
KEEP_WITH_STRESSES = 0.1  # carried along: updates with kept factors fall evenly
PREDICTED_WITH_STRESSES = 1e-14  # of thin shells, whose updates end at 1e-13


@compiled
def velocity_norm(t: Tables, nu: Reals) -> float:
    """Return the largest norm of the velocities of one body, sqrt(sum (w_i nu_i)^2), over all floating bodies and
    nodes [m/s]. nu, shape (velocities,), contains the velocities of all bodies. The weights w, in
    ``t.velocity_weight``, make angular and elastic velocities comparable with linear ones. The result is NaN if a
    velocity is NaN. ``t`` contains all arrays of the model and its state."""
    largest = 0.0
    for b in range(t.carriers):
        total = 0.0
        for i in range(t.velocities_begin[b], t.velocities_end[b]):
            speed = t.velocity_weight[i] * nu[i]
            total += speed * speed
        largest = where((total > largest) | (total != total), total, largest)
    return sqrt(largest)


@compiled
def set_unknowns(t: Tables, length: float, selected: Truth) -> None:
    """Set ``t.velocity1`` and ``t.multiplier1``, the unknowns at the end of the time step, to their saved values
    plus ``length`` times the update of Newton's method. Only the selected lanes (of several mechanisms that
    advance at the same time) change. ``t`` contains all arrays of the model and its state."""
    for i in range(t.velocities):
        t.velocity1[i] = where(selected, t.saved_velocity[i] + length * t.update[i], t.velocity1[i])
    for m in range(t.rows):
        moved = t.saved_multiplier[m] + length * t.update[t.row_unknown[m]]
        t.multiplier1[m] = where(selected, moved, t.multiplier1[m])


@compiled
def next_multiplier_update(t: Tables, make_friction: bool) -> tuple[float, float]:
    """Return an estimate of the relative change of the joint multipliers in the next Newton iteration, and a
    curvature [1/s2]. With the largest entries of the trial update, the last update and the multipliers, the
    estimate is trial^2 / (last multiplier). If friction depends on multipliers (``make_friction``), it is a fixed
    fraction of trial / multiplier. The curvature is the largest product of the last update and ``t.row_curvature``,
    by which multipliers change Newton's matrix. ``t`` contains all arrays of the model and its state.

    Joint forces do no work, so that the velocities alone do not show whether they have converged.
    """
    last, trial, largest, curved = 0.0, 0.0, 0.0, 0.0
    for m in range(t.rows):
        unknown = t.row_unknown[m]
        update = abs(t.update[unknown])
        last, curved = max(last, update), max(curved, update * t.row_curvature[m])
        trial, largest = max(trial, abs(t.trial_update[unknown])), max(largest, abs(t.multiplier1[m]))
    if make_friction:  # which follows them by as much as kept factors miss
        return where(largest > 0.0, KEEP_JACOBIAN * trial / largest, 0.0), curved
    return where(last * largest > 0.0, trial * trial / (last * largest), 0.0), curved


@compiled
def multipliers_make_friction(t: Tables) -> bool:
    """Return whether any force law is friction whose limit depends on a joint force: one with an index in
    ``t.bearing`` that is not negative. ``t`` contains all arrays of the model and its state."""
    for f in range(t.forces):
        if t.bearing[f] >= 0:
            return True
    return False


@compiled
def accept_trial_update(t: Tables) -> None:
    """Copy the trial update of Newton's method to the current update, ``t.update``. The present velocities and
    multipliers, from which it starts, are saved in ``t.saved_velocity`` and ``t.saved_multiplier``, and the
    stresses of force families too. ``t`` contains all arrays of the model and its state."""
    copy(t.trial_update, t.update, t.unknowns)
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.multiplier1, t.saved_multiplier, t.rows)
    keep_stresses_of_families(t, 0.0, 0.0)


@compiled
def compute_trial_update(t: Tables) -> float:
    """Compute the update -J^-1 r of Newton's method from the present residual r with the factored matrix J, and
    store it in ``t.trial_update``. Couplings by contact pairs that J does not contain are corrected by iteration.
    Return the norm of the update's velocities [m/s]. ``t`` contains all arrays of the model and its state."""
    for i in range(t.unknowns):
        t.trial_update[i] = -t.residual[i]
    substitute(t, t.trial_update, 1)
    correct_for_pairs(t, t.trial_update)
    return velocity_norm(t, t.trial_update)


@compiled
def remove_null_space_multipliers(t: Tables, selected: Truth) -> float:
    """Remove the null-space component, joint forces that cancel each other, from the multipliers ``t.multiplier1``
    of redundant joints. It is computed by solving twice with the factors of the last time step. Return its largest
    entry over the largest multiplier, 0 without multipliers. Only the ``selected`` lanes (of several mechanisms
    that advance at the same time) change. ``t`` contains all arrays of the model and its state.

    The result is its size over that of the multipliers: about the relaxation squared where joints are independent,
    1 where not.

    With the Schur complement S and the relaxation D it is ``P P lambda``, where ``P = (S + D)^-1 D`` preserves the
    null space and removes all but about the relaxation of the rest: applied once the rest would still show in the
    work of drives. Newton's method neither needs nor changes the component, but round-off and the rotation of the
    bodies would let it grow.
    """
    for sweep in range(2):
        copy(t.trial_update, t.update, t.unknowns)
        fill(t.trial_update, t.unknowns, 0.0)
        for m in range(t.rows):
            unknown = t.row_unknown[m]
            multiplier = t.update[unknown] if sweep > 0 else t.multiplier1[m]
            t.trial_update[unknown] = t.row_relaxation[unknown] * multiplier
        substitute(t, t.trial_update, 1)
    part, largest = 0.0, 0.0
    for m in range(t.rows):
        change = t.trial_update[t.row_unknown[m]]
        part, largest = max(part, abs(change)), max(largest, abs(t.multiplier1[m]))
        t.multiplier1[m] -= where(selected, change, 0.0)
    return where(largest > 0.0, part / largest, 0.0)


@compiled
def factor_newtons_matrix(
    t: Tables, h: float, damping: float, relaxation: float, selected: Truth, active: Truth
) -> Truth:
    """Compute Newton's matrix at the velocities and multipliers of the last residual, and factor it in
    ``t.blocks``. Return False in lanes where it is singular. Only the ``selected`` lanes (of several mechanisms
    that advance at the same time) get new factors. Other lanes keep their factors: all of them with ``relaxation``
    > 0, else those that are ``active``; the rest is undefined. h is the length of the time step [s], ``damping``
    numerical damping, ``relaxation`` that of ``eliminate``. ``t`` contains all arrays of the model and its state.

    Only these lanes get new factors: the others keep theirs, so that the digits of a lane do not depend on the
    others. Lanes that are not ``active`` do not need factors, unless these are relaxed.
    """
    keeps = not selected
    if relaxation == 0.0:
        keeps = keeps & active
    if any_of(keeps):
        copy(t.blocks, t.other_blocks, t.stored_entries)
        copy(t.row_relaxation, t.other_relaxation, t.kept_rows)
        for i in range(t.kept_pivots):
            t.other_pivots[i] = t.pivots[i]
    jacobian(t, h, damping)
    for b in range(t.carriers):
        t.factored_shift[b] = where(selected, t.shift[b], t.factored_shift[b])
    is_regular = eliminate(t, relaxation)
    if any_of(keeps):
        for i in range(t.stored_entries):
            t.blocks[i] = where(keeps, t.other_blocks[i], t.blocks[i])
        for i in range(t.kept_rows):
            t.row_relaxation[i] = where(keeps, t.other_relaxation[i], t.row_relaxation[i])
        for i in range(t.kept_pivots):
            t.pivots[i] = where(keeps, t.other_pivots[i], t.pivots[i])
    return is_regular


@compiled
def solve_step(
    t: Tables,
    h: float,
    damping: float,
    least_speed: float,
    relaxation: float,
    acceptable: float,
    selected: Truth,
    enough: float,
    shortest: float,
) -> tuple[Choice, float]:
    """Solve the equations of one time step of length h [s] by a quasi-Newton method with a line search. It starts
    from ``t.velocity1`` and ``t.multiplier1`` and replaces both in the ``selected`` lanes. Return the status
    (converged, nearly, not, singular) and the number of iterations of each lane. Tolerances are relative to the
    velocities, at least ``least_speed`` [m/s]; updates below ``acceptable`` may stall, updates below ``enough`` end
    the iteration, and updates are not shortened below ``shortest``. ``relaxation`` is that of ``eliminate``,
    ``damping`` numerical damping.

    Natural monotonicity: a step length t is accepted when the simplified update |J^-1 r| at the trial point has
    fallen to (1 - t / 4) of the update. While it falls fast the factored Jacobian is used again. ``least_speed``
    [m/s] keeps the tolerance above round-off at rest. ``relaxation`` of redundant joints: see ``eliminate``; 0
    without. Updates below ``acceptable`` may stall. It ends when the next update would be below ``enough``, a
    fraction of the velocities; 0: as close as possible.

    Stresses of some families are carried along (5.30). The residual is then that of unknowns and stresses (5.31),
    with which updates fall fast with stored factors too. These are computed anew if they would take longer.

    A lane that has converged leaves ``active`` and does not change: what follows from its unknowns is computed
    again with each residual of the others, and is the same.
    """
    start_norm = velocity_norm(t, t.velocity)
    residuals(t, h, damping)
    start_stresses_of_families(t, 0.0, 0.0)
    t.history[0] = 0.0
    predicted = PREDICTED_OF_FEW if t.unknowns <= FEW or t.members > 0 else PREDICTED
    iterations, is_behind = 0, False
    active, wants, fresh = selected, selected, selected  # fresh: factors are of the place of the last residuals
    status, taken, make_friction = where(selected, NOT_CONVERGED, CONVERGED), 0.0, multipliers_make_friction(t)
    exact = selected & (not selected)  # factors are to be of the stresses of their place, not of carried ones
    rate, size = 1.0, 0.0  # at which updates fall with these factors, nearly the same from one to the next
    has_stresses = t.product_elements > 0  # of shells, that Newton's method iterates as independent unknowns
    most = MOST_WITH_STRESSES if has_stresses else MAXIMAL_ITERATIONS
    reliable = KEEP_WITH_STRESSES if has_stresses else KEEP_JACOBIAN
    predicted = PREDICTED_WITH_STRESSES if has_stresses else predicted
    while iterations < most:
        wants = wants & active
        if any_of(wants):
            t.carries_stress[0] = where(exact, 0.0, 1.0)
            is_regular = factor_newtons_matrix(t, h, damping, relaxation, wants, active) | (not wants)
            if has_stresses and iterations > 0:  # residuals were corrected with the last factors
                residuals(t, h, damping)
                add_carried_residuals_of_families(t, h, damping, 0.0 * t.carries_stress[0])  # a number of each lane
            status, active = where(is_regular, status, SINGULAR), active & is_regular
            if not any_of(active):
                break
            size = where(wants, compute_trial_update(t), size)
            rate, fresh = where(wants, 1.0, rate), fresh | wants
        accept_trial_update(t)
        scale = max(start_norm, velocity_norm(t, t.velocity1), least_speed)
        t.history[iterations] = size / scale
        iterations += 1
        if iterations < most:
            t.history[iterations] = 0.0  # where it ends
        taken = where(active, taken + 1.0, taken)
        length, searching = 1.0, active
        while True:
            set_unknowns(t, length, active)
            residuals(t, h, damping)
            add_carried_residuals_of_families(t, h, damping, length)
            is_behind = False
            trial = compute_trial_update(t)
            accepted = (trial <= (1.0 - 0.25 * length) * size) | (size <= TOLERANCE * scale)
            accepted = accepted | ((size <= acceptable * scale) & (fresh | (rate <= reliable)))
            searching = searching & (not accepted)
            is_stuck = searching & ((length <= shortest) | (not fresh))
            length = where(is_stuck, 0.0, where(searching, 0.5 * length, length))
            searching = searching & (not is_stuck)
            if not any_of(searching):
                break
        is_stuck = active & (length == 0.0)
        if any_of(is_stuck):
            set_unknowns(t, length, is_stuck)
            residuals(t, h, damping)
            active = active & (not (is_stuck & fresh & (exact | (not has_stresses))))
        carry_stresses_of_families(t, h, damping, length)
        exact = is_stuck & fresh
        going = active & (not is_stuck)
        contraction = where(size > 0.0, trial / size, 0.0)
        is_whole = going & (length == 1.0)
        if relaxation != 0.0:
            is_closed = constraints_close(t)
            going, is_whole = going & is_closed, is_whole & is_closed
        follows = (taken <= 1.0) & make_friction  # the first update brings multipliers to their size
        done = going & (not follows) & ((size <= TOLERANCE * scale) | (trial < enough * scale))
        rate = min(contraction, rate)  # where one falls less, what is left of it is round-off
        # The next update would be rate * trial, once the updates are small; what iterated pairs leave of it.
        left, goal = max(rate, t.pair_left[0]) * trial, predicted * scale
        if t.members == 0 and relaxation == 0.0:  # those of pairs are not exact, nor those near dependent joints
            goal = max(goal, SHARE_OF_PLACES * least_speed)
            if t.forces == 0 and not has_stresses:  # laws have kinks, squares are not small in thin shells
                left = where(fresh & (size <= SQUARE_IS_NOTHING * scale), 0.0, left)
        last, is_bent = is_whole & (not done) & (size <= SMALL * scale) & (left <= goal), active & (not active)
        if any_of(last):
            change, curved = next_multiplier_update(t, make_friction)
            # The last update of multipliers adds a share of the inertia to Newton's matrix, which its factors lack.
            share = 0.5 * h * h * curved if relaxation == 0.0 else 0.0
            is_bent = last & (share > OF_INERTIA) & (share * trial > goal)
            last = last & (change <= MULTIPLIER_TOLERANCE) & (not is_bent)
            if any_of(last):
                accept_trial_update(t)
                set_unknowns(t, where(last, 1.0, 0.0), last)
                is_behind = True
                taken, done = where(last, taken + 1.0, taken), done | last
        may_stall = is_whole & (not done) & (not follows) & (fresh | (rate <= reliable))
        stalls = may_stall & (contraction > STALLED) & (size <= AT_ROUND_OFF * scale)
        nearly = may_stall & (not stalls) & (contraction > 0.75) & (size <= acceptable * scale)
        status = where(done | stalls, CONVERGED, where(nearly, NEARLY_CONVERGED, status))
        active = active & (not (done | stalls | nearly))
        if not any_of(active):
            break
        is_slow = contraction > (KEEP_JACOBIAN if t.members == 0 else KEEP_OF_PAIRS)
        if has_stresses:
            is_slow = is_slow & (trial * contraction**AS_LONG_AS_FACTORS > goal)
        wants = is_stuck | is_bent | is_slow
        size, rate, fresh = trial, where(fresh, 1.0, contraction), fresh & (not fresh)
    t.carries_stress[0] = 0.0
    if is_behind and has_stresses:  # whose work the ledger compares
        residuals(t, h, damping)
    elif is_behind:
        motion_and_forces(t, h, damping)
    return status, taken
