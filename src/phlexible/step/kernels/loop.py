"""Compiled loop over conserving steps of one size, up to the first that fails (docs/theory.md, 4)."""

from math import sqrt

from phlexible.step.compilation.compiled import compiled, entry_point
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import (
    Choice,
    Reals,
    Tables,
    Truth,
    Vectors,
    all_of,
    any_of,
    dot,
    lane_value,
    request_field,
    rows_at,
    tables_at,
    vector,
    where,
)
from phlexible.step.compilation.subnormals import flush_subnormals, restore_control
from phlexible.step.kernels.contact_steps import find_active_contacts, substeps_around_contacts
from phlexible.step.kernels.ledger import accept_step, compute_energies, energies_balance
from phlexible.step.kernels.solver.conjugate_gradients import solve_by_gradients
from phlexible.step.kernels.solver.newton import (
    ACCEPTABLE,
    ACCEPTABLE_AT_SINGULAR,
    LEAST_DAMPING,
    remove_null_space_multipliers,
    solve_step,
)
from phlexible.step.kernels.step import (
    angles_can_be_counted,
    begin_bodies,
    begin_ports,
    driven_angles_follow,
    drives_are_smooth,
)
from phlexible.step.kernels.teams import form_teams
from phlexible.step.kernels.vectors import vector_rates
from phlexible.step.tables.declarations import MISSES, MOST_PARTS
from phlexible.step.tables.requests import (
    CONVERGED,
    NEARLY_CONVERGED,
    NOT_CONVERGED,
    RELAXATION,
    TOUCHING,
    UNBALANCED,
    Floats,
    IntegerRow,
    RequestRecord,
    Rows1,
    StepRequest,
)

ATTEMPTS = 4
ATTEMPTS_OF_SHELLS = 2  # whose vectors all move: others begin alike
RELAXED_ATTEMPTS = 2  # after those, for joints at a singular position
RECURRENCE = MISSES + 1  # of misses that follow from so many before them: numbers a row of its equations
ENOUGH = 9.0  # equal steps, after which misses tell
FADES = 0.7  # what a product of misses counts a step later
RIDGE = 1e-12  # relative; round-off of their products
FEWEST = 2.0  # iterations, which no better start makes fewer
MOST_MISSED = 4.0  # times the greatest of the last misses: a recurrence that asks for more is of something else
SAME_SIZE = 1e-9  # relative
LITTLE = 1e-2  # of what a ledger may miss, of pairs whose updates go round kinks: shorter steps come nearer
ANOTHER_SOLUTION = 1e4  # times what a ledger may miss: 1e-6 of energies, 1e-10 of their parts; right steps: 1e-16
ROUGH = 1e-3  # of velocities: enough to tell how many parts a step takes that will not be kept
NOTICEABLE = 1e-12  # a share of 1e-6, squared, of multipliers that move nothing: some joints are nearly dependent


@entry_point
def advance(
    header: IntegerRow,
    sizes: Rows1,
    request: RequestRecord[StepRequest],
    moving: Floats,
    load_values: Floats,
    reactions: Floats,
    stored: Floats,
) -> tuple[int, int]:
    """Advance the state by the number of time steps that ``request`` asks for, or until one fails. Return the
    number of completed steps and the status of the last one (converged, or why it failed). A step consists of
    substeps of lengths ``sizes`` [s]; if one fails, the state is that before the step. With 0 steps the present
    state is stored. ``moving`` and ``load_values`` are prescribed vectors and loads, ``header`` locates the model's
    arrays. ``reactions`` receives multipliers and forces of the first step, ``stored`` the requested states.

    Args:
        header: of the tables; the state in them is advanced.
        sizes: of the substeps that a step consists of, one or more [s]; all of them are computed or none.
        request: a ``StepRequest``: how many steps, how they are computed, and which are stored.
        moving: prescribed vectors at the ends of the substeps, (count substeps + 1, 3 vectors).
        load_values: at the middles of the substeps, (count substeps, 3 loads).
        reactions: receives multipliers and forces of the first step.
        stored: receives the stored instants, a row each: the state tables. Multipliers and forces are the mean of
            the adjacent steps where both are known.
    """
    register = flush_subnormals()
    t = tables_at(header)
    rows, given = rows_at(t, stored), rows_at(t, moving)
    values, first = rows_at(t, load_values), rows_at(t, reactions)
    error_length, least_speed = request_field(t, request, "error_length"), request_field(t, request, "least_speed")
    asked, row, kept = request[0], 0, -1
    count, is_around = asked.steps, asked.is_around_contacts
    form_teams(t, True)
    begin_bodies(t, False)
    if count == 0:
        set_vectors(t.moving0, given, t.moving)
        store_state(t, rows)
        vector_rates(t)
        row = 1
    are_equal, longest = len(sizes) == 1, 0.0
    substeps, total = len(sizes), sizes.sum()
    for part in range(substeps):
        longest = max(longest, abs(sizes[part]))
    if is_around:
        are_equal = abs(sizes[0] - sizes[substeps - 1]) <= SAME_SIZE * longest
    for step in range(count):
        if substeps > 1:
            copy(t.state, t.saved_state, t.state_size)
            fill(t.mean_reaction, t.reactions, 0.0)
        asked_parts = 1.0 + 0.0 * t.parts[0]
        for part in range(substeps):
            place = step * substeps + part
            set_vectors(t.moving0, given + 3 * t.moving * place, t.moving)
            set_vectors(t.moving1, given + 3 * t.moving * (place + 1), t.moving)
            set_vectors(t.load_value, values + 3 * t.load_values * place, t.load_values)
            if place == 0 and not asked.continues:
                t.known_velocities[0] = 0.0
                t.parts[0] = 1.0
            if are_equal or (part == 0 and not is_around):  # the first part is as long as the last
                differs = abs(sizes[part] - t.step_taken[0]) > SAME_SIZE * longest
                t.known_velocities[0] = where(differs, 0.0, t.known_velocities[0])
            wanted = 0.0 if is_around else longest
            is_tried = asked.is_tried and place == 0
            damping, most, own = asked.numerical_damping, asked.gradient_iterations, -1
            if substeps > 1 and substeps == t.recurrences and not is_around:
                own = part
            status = take_step(
                t, sizes[part], damping, least_speed, asked.is_redundant, wanted, is_tried, most, own
            )
            if any_of(status == TOUCHING):
                asked_parts = max(asked_parts, t.parts[0])
                if part + 1 < substeps and any_of(asked_parts < MOST_PARTS):  # contacts of later substeps ask too
                    status = take_step(
                        t, sizes[part], damping, least_speed, asked.is_redundant, 0.0, True, most, own
                    )
            if part + 1 == substeps or any_of(status != CONVERGED):
                status = where(asked_parts > 1.0, TOUCHING, status)
            if any_of(status != CONVERGED):
                if substeps > 1:
                    copy(t.saved_state, t.state, t.state_size)
                    t.parts[0] = asked_parts
                form_teams(t, False)
                restore_control(register)
                t.status[0] = status
                return step, lane_value(status, 0)
            for i in range(t.reactions if substeps > 1 else 0):
                t.mean_reaction[i] += sizes[part] / total * t.reaction[i]
            t.step_taken[0] = sizes[part]
            if are_equal:
                t.step_error[0] = max(t.step_error[0], t.last_error[0] / error_length)
        if substeps > 1:
            copy(t.mean_reaction, t.reaction, t.reactions)
        if is_around:
            t.counter[2] += substeps
        store_reactions(t, first, rows, step, kept)
        kept = -1
        if (asked.since_stored + step + 1) % asked.every == 0:
            kept = row
            row += 1
            set_vectors(t.moving0, given + 3 * t.moving * (step + 1) * substeps, t.moving)
            store_state(t, rows + t.row_size * kept)
    if asked.measures:
        set_vectors(t.moving0, given + 3 * t.moving * count * substeps, t.moving)
        begin_bodies(t, False)
        begin_ports(t)
        vector_rates(t)
    form_teams(t, False)
    restore_control(register)
    return count, CONVERGED


@compiled
def store_reactions(t: Tables, first: Reals, rows: Reals, step: int, stored_row: int) -> None:
    """Store the joint multipliers and element forces of the last time step. They are copied to ``first`` if
    ``step``, the number of the step in this call of the loop, is 0. If ``stored_row`` is not -1, they are averaged
    with those in this row of the stored states ``rows``, which are of the step before. ``t`` contains all arrays of
    the model and its state.
    """
    for i in range(t.reactions):
        if step == 0:
            first[i] = t.reaction[i]
        if stored_row >= 0:
            own = t.row_size * (stored_row + 1) - t.reactions + i
            rows[own] = 0.5 * (rows[own] + t.reaction[i])


@compiled
def take_step(
    t: Tables,
    h: float,
    damping: float,
    least_speed: float,
    is_redundant: bool,
    longest: float,
    is_tried: bool,
    most: int,
    part: int,
) -> Choice:
    """Attempt one time step of length h [s] from several initial guesses in turn, and accept it if all lanes
    (mechanisms that advance together) converge. Return a status for each lane: converged, not converged, singular,
    energy unbalanced, or contacts require substeps, which is only checked if the user's step ``longest`` [s] is
    above 0. ``is_redundant``: joints are; ``is_tried``: the guess of the first attempt is set already; ``most``:
    iterations of conjugate gradients before the matrix is eliminated; ``part``: index of the substep, or -1.
    ``damping`` is numerical damping, ``least_speed`` [m/s] the least reference of tolerances.

    If one lane cannot complete the step, no lane does. No attempt of one lane changes the result of another. If
    contacts request substeps, the step is not accepted. ``is_tried``: the first attempt begins with the result of
    the last try. ``part``: substep of a composed step that has recurrences; else -1.
    """
    begin_ports(t)
    t.ledger[0], t.ledger[1] = 0.0, 0.0
    iterated, depended, opened = t.counter[0], t.counter[1], t.counter[3]
    rest = drives_are_smooth(t)  # lanes that have no solution yet
    status = where(rest, NOT_CONVERGED, NOT_CONVERGED)
    attempts = ATTEMPTS if is_redundant else ATTEMPTS + RELAXED_ATTEMPTS
    for attempt in range(attempts):
        if not any_of(rest):
            break
        if t.product_elements > 0 and ATTEMPTS_OF_SHELLS <= attempt % ATTEMPTS:
            continue
        is_relaxed = is_redundant or attempt >= ATTEMPTS
        # Where updates from an extrapolated start have to be shortened, a shell had better start where it is.
        shortest = 1.0 if t.product_elements > 0 and attempt == 0 else LEAST_DAMPING
        if attempt > 0 or not is_tried:
            set_initial_guess(t, h, attempt, is_redundant, part, rest)
        relaxation = RELAXATION if is_relaxed else 0.0
        acceptable = ACCEPTABLE_AT_SINGULAR if attempt >= ATTEMPTS else ACCEPTABLE
        products = -1
        if most > 0 and attempt == 0 and not is_relaxed:
            products = solve_by_gradients(t, h, damping, least_speed, most)
            if products < 0:
                set_initial_guess(t, h, attempt, is_redundant, part, rest)
        found, iterations = where(rest, CONVERGED, CONVERGED), where(rest, float(products), 0.0)
        if products < 0 and attempt == 0 and longest > 0.0 and t.members > 0 and any_of(t.parts[0] > 1.0):
            found, iterations = solve_step(
                t, h, damping, least_speed, relaxation, acceptable, rest, ROUGH, shortest
            )
            t.counter[0] += where(rest, iterations, 0.0)
            if all_of(found == CONVERGED) and any_of(
                contacts_request_substeps(t, h, longest, damping, least_speed)
            ):
                status = where(rest, TOUCHING, TOUCHING)
                break
        if products < 0:
            found, iterations = solve_step(t, h, damping, least_speed, relaxation, acceptable, rest, 0.0, shortest)
        t.counter[0] += where(rest, iterations, 0.0)
        stopped = rest & ((found == CONVERGED) | (found == NEARLY_CONVERGED))
        if any_of(stopped):
            found = checked_status(t, h, damping, ACCEPTABLE * least_speed, is_relaxed, found, stopped)
        status = where(rest, found, status)
        solved = rest & (status == CONVERGED)
        rest = rest & (not solved)
        if is_relaxed and any_of(solved):
            remove_redundant_multipliers(t, h, damping, ACCEPTABLE * least_speed, solved)
    if longest > 0.0 and not any_of(status == TOUCHING):
        status = where(contacts_request_substeps(t, h, longest, damping, least_speed), TOUCHING, status)
    are_solved = status == CONVERGED
    if not all_of(are_solved):  # lanes that have a solution take the step once more, without the others
        t.counter[0] = where(are_solved, iterated, t.counter[0])
        t.counter[1], t.counter[3] = depended, opened  # of steps that are taken
    else:
        t.last_error[0] = estimated_step_error(t, h)
        store_prediction_errors(t, h, part, t.counter[0] - iterated, is_redundant)
        accept_step(t, h, damping)
        begin_bodies(t, True)
    return status


@compiled
def contacts_request_substeps(t: Tables, h: float, longest: float, damping: float, least_speed: float) -> Truth:
    """Return whether contacts that were active in the time step of length h [s] just attempted require substeps.
    The number of equal substeps is stored in ``t.parts`` (1: none); it follows from contact stiffness, mobility and
    the user's step ``longest`` [s]. Round-off of penetrations is judged by h times ``least_speed`` [m/s].
    ``damping`` is numerical damping, a multiple of the stiffness. ``t`` contains all arrays of the model and its
    state.
    """
    t.parts[0] = 1.0
    if any_of(find_active_contacts(t, abs(h) * least_speed)):
        t.parts[0] = substeps_around_contacts(t, h, longest, damping)
    return t.parts[0] > 1.0


@compiled
def remove_redundant_multipliers(t: Tables, h: float, damping: float, still: float, selected: Truth) -> None:
    """Remove the null-space component, joint forces that cancel each other, from the multipliers ``t.multiplier1``
    of redundant joints. This is done in the ``selected`` lanes (mechanisms that advance at the same time). Where
    the energy balance would no longer close, the multipliers are restored. h is the length of the time step [s],
    ``damping`` numerical damping; velocities below ``still`` [m/s] are round-off. ``t`` contains all arrays of the
    model and its state.

    For joints that are nearly redundant, that component would have a small effect, and moving frames would do work
    with other forces than those of the step: if the energy balance opens, the multipliers stay.
    """
    copy(t.multiplier1, t.saved_multiplier, t.rows)
    is_noticed = selected & (remove_null_space_multipliers(t, selected) > NOTICEABLE)
    t.counter[1] += where(is_noticed, 1.0, 0.0)
    opens = selected & (not energies_balance(t, h, damping, still, True, 1.0))
    if any_of(opens):
        for i in range(t.rows):
            t.multiplier1[i] = where(opens, t.saved_multiplier[i], t.multiplier1[i])


@compiled
def checked_status(
    t: Tables, h: float, damping: float, still: float, is_relaxed: bool, status: Choice, selected: Truth
) -> Choice:
    """Return the status of a time step of length h [s] after Newton's method has stopped; lanes (mechanisms that
    advance together) that are not ``selected`` keep ``status``. It is "not converged" if an angle turned by a right
    angle or more, or a driven angle is half a turn away, "unbalanced" if the energy balance is far from closed,
    else "converged"; balances that are open by less are counted in ``t.counter``. ``damping``, ``still`` and
    ``is_relaxed`` are those of ``energies_balance``.

    A step far longer than a period can stop where updates are small and the residual is not: its energy balance
    shows it, as it does where the iteration has converged far away. A converged step whose balance is open by less
    is counted and accepted.
    """
    are_counted = angles_can_be_counted(t) & driven_angles_follow(t)
    if not any_of(selected & are_counted):
        return where(selected, NOT_CONVERGED, status)
    is_near = status == NEARLY_CONVERGED
    share = where(is_near, LITTLE if t.members > 0 else 1.0, 1.0)
    opens = selected & are_counted & (not energies_balance(t, h, damping, still, is_relaxed, share))
    is_other = is_near | (t.ledger[0] > ANOTHER_SOLUTION * t.ledger[1])
    t.counter[3] += where(opens & (not is_other), 1.0, 0.0)
    found = where(opens & is_other, UNBALANCED, CONVERGED)
    return where(selected, where(are_counted, found, NOT_CONVERGED), status)


@compiled
def set_initial_guess(t: Tables, h: float, attempt: int, is_redundant: bool, part: int, selected: Truth) -> None:
    """Write the velocities and multipliers with which attempt number ``attempt`` of a time step of length h begins
    to ``t.velocity1`` and ``t.multiplier1``. Attempt 0 extrapolates the velocities. Later ones, in turn, reverse
    all present velocities, reverse elastic rates only, start at zero or at the present velocities. Multipliers are
    those of the state. Only ``selected`` lanes (mechanisms that advance at the same time) change.
    ``is_redundant``: constraints depend on each other; ``part``: index of the substep of a composed step, else -1.

    The first attempt extrapolates velocities linearly, with a predicted error of the extrapolation
    (``store_prediction_errors``), or uses nu_n where there is no step before. In a step far longer than a period nu
    changes its sign at the end of each step, and such a start may lie many amplitudes away from the solution; then
    follow -nu_n, which leaves the bodies where they are; -nu_n for the elastic rates only; zero. Relaxed attempts
    begin at nu_n.
    """
    for i in range(t.rows):
        t.multiplier1[i] = where(selected, t.multiplier[i], t.multiplier1[i])
    if attempt == 0:
        extrapolate_velocities(t, h, is_redundant, part, selected)
        return
    kind = attempt % ATTEMPTS
    for b in range(t.carriers):
        begin = t.velocities_begin[b]
        for i in range(begin, begin + t.velocities_count[b]):
            now = t.velocity[i]
            if kind == 1 or (kind == 2 and i >= begin + t.rigid_of[b]):
                now = -now
            elif kind == 3:
                now = 0.0
            t.velocity1[i] = where(selected, now, t.velocity1[i])


@compiled
def extrapolate_velocities(t: Tables, h: float, is_redundant: bool, part: int, selected: Truth) -> None:
    """Write a first guess of the velocities at the end of a time step to ``t.velocity1``. They are extrapolated
    linearly from the last two; h is the step's length [s]. After enough equal steps the error of the extrapolation,
    predicted by a recurrence from earlier errors, is added, unless it is much larger than these; never if
    ``is_redundant`` (joints are). ``part`` is the index of the substep, else -1. Only the ``selected`` lanes
    (mechanisms that advance at the same time) change. ``t`` contains all arrays of the model and its state.

    The error is not predicted for redundant joints: each iteration closes relaxed joints further, and too few are
    left then.
    """
    length, seen = step_length_ratio(t, h), 2
    is_learnt = (t.known_velocities[0] >= ENOUGH) & (abs(length - 1.0) <= SAME_SIZE)
    if part >= 0:
        is_learnt, seen = t.known_velocities[0] >= ENOUGH + t.recurrences, MISSES
    n = t.velocities
    for i in range(n):
        line = t.velocity[i] + length * (t.velocity[i] - t.previous_velocity[i])
        t.velocity1[i] = where(selected, line, t.velocity1[i])
    if is_redundant or not any_of(is_learnt):
        return
    solve_recurrence(t, t.miss_product + RECURRENCE * RECURRENCE * max(part, 0))
    found, largest = 0.0, 0.0
    for i in range(n):
        miss = 0.0
        for k in range(MISSES):
            miss += t.recurrence[RECURRENCE * k + MISSES] * t.line_miss[k * n + i]
        weight, t.saved_velocity[i] = t.velocity_weight[i], miss
        found += (weight * miss) * (weight * miss)
    for k in range(seen):
        size = 0.0
        for i in range(n):
            weighted = t.velocity_weight[i] * t.line_miss[k * n + i]
            size += weighted * weighted
        largest = max(largest, size)
    is_followed = selected & is_learnt & (found <= MOST_MISSED * MOST_MISSED * largest)
    for i in range(n):
        t.velocity1[i] += where(is_followed, t.saved_velocity[i], 0.0)


@compiled
def step_length_ratio(t: Tables, h: float) -> float:
    """Return h divided by the length of the last time step, the factor of the last change of velocity in a linear
    extrapolation; 0 if there was no time step before. ``t`` contains all arrays of the model and its state."""
    return where(t.known_velocities[0] > 0.0, h / t.step_taken[0], 0.0)


@compiled
def solve_recurrence(t: Tables, products: Reals) -> None:
    """Compute the six coefficients of a linear recurrence by which each velocity extrapolation error follows from
    the six errors before it. They are a regularized least-squares fit, solved by symmetric elimination from
    ``products``, the scalar products of past errors, and stored in the last column of ``t.recurrence``. ``t``
    contains all arrays of the model and its state.

    An error that is a combination of later ones has the coefficient 0.
    """
    for i in range(MISSES):
        row = t.recurrence + RECURRENCE * i
        for j in range(i, MISSES):  # symmetric
            row[j] = products[RECURRENCE * (i + 1) + j + 1]
        row[i] += RIDGE * row[i]
        row[MISSES] = products[i + 1]
    for k in range(MISSES):
        row = t.recurrence + RECURRENCE * k
        inverse = where(row[k] > 0.0, 1.0 / row[k], 0.0)
        for i in range(k + 1, MISSES):
            other, factor = t.recurrence + RECURRENCE * i, row[i] * inverse
            for j in range(i, RECURRENCE):
                other[j] -= factor * row[j]
        row[k] = inverse
    for k in range(MISSES - 1, -1, -1):
        row = t.recurrence + RECURRENCE * k
        rest = row[MISSES]
        for j in range(k + 1, MISSES):
            rest -= row[j] * t.recurrence[RECURRENCE * j + MISSES]
        row[MISSES] = rest * row[k]


@compiled
def estimated_step_error(t: Tables, h: float) -> float:
    """Return the estimated discretization error [m] of the displacement in a time step of length h [s], the
    largest of all bodies. It is h / 12 times the weighted norm of the second differences of a body's velocities,
    corrected for its rotation. It is 0 if no time step of this size came before. See docs/theory.md, 4, (4.22).
    ``t`` contains all arrays of the model and its state."""
    largest, is_known = 0.0, t.known_velocities[0] >= 1.0
    if not any_of(is_known):
        return 0.0
    for b in range(t.carriers):
        total, begin = 0.0, t.velocities_begin[b]
        turn = h * h * dot(t.spin1[b], t.spin1[b]) if b < t.frames else 0.0
        for i in range(begin, begin + t.velocities_count[b]):
            second = t.velocity1[i] - 2.0 * t.velocity[i] + t.previous_velocity[i]
            if t.dimension <= i - begin < t.rigid_of[b]:
                second -= turn * t.velocity1[i]
            weighted = t.velocity_weight[i] * second
            total += weighted * weighted
        largest = max(largest, abs(h) * sqrt(total) / 12.0)
    return where(is_known, largest, 0.0)


@compiled
def store_prediction_errors(t: Tables, h: float, part: int, iterations: float, is_redundant: bool) -> None:
    """Store the velocities of this time step and the error of their linear extrapolation, from which the next first
    guess is predicted. Errors go to ``t.line_miss``, their weighted scalar products with earlier errors to
    ``t.miss_product``. Only velocities are stored if ``is_redundant``, or if no more than a few Newton
    ``iterations`` were needed. Earlier errors are discarded if the step length h [s] differs from the last one.
    ``part`` is the index of a substep with its own record of errors, else -1.

    Smooth motions and vibrations of a few frequencies obey linear recurrences from one equal step to the next, and
    so do these errors. All velocities have one recurrence, so that the world axes do not affect the solution where
    a step is so long that it has several. Older products fade. In composed steps, whose substeps are not equal,
    each substep has its own recurrence, that of the same substep in the steps before. Errors are stored from the
    first step on that takes more than the fewest iterations: before it there is nothing to gain. Models with
    redundant joints do not use them.
    """
    length, n, rows = step_length_ratio(t, h), t.velocities, RECURRENCE
    known, is_known = t.known_velocities[0], t.known_velocities[0] > 0.0
    if part < 0:
        is_known, rows = is_known & (abs(length - 1.0) <= SAME_SIZE), 1
    is_known = is_known & ((known > 1.0) | (iterations > FEWEST))
    if is_redundant or not any_of(is_known):
        store_velocity(t, 1.0)
        return
    goes_on = is_known & (known > 1.0)
    if not all_of(goes_on):
        for k in range(RECURRENCE * RECURRENCE * t.recurrences):
            t.miss_product[k] = where(goes_on, t.miss_product[k], 0.0)
        for k in range(MISSES * n):
            t.line_miss[k] = where(goes_on, t.line_miss[k], 0.0)
    products = t.miss_product + RECURRENCE * RECURRENCE * max(part, 0)
    for i in range(n):
        line = t.velocity[i] + length * (t.velocity[i] - t.previous_velocity[i])
        t.saved_velocity[i] = where(is_known, t.velocity1[i] - line, 0.0)
    if part < 0:
        for i in range(MISSES, 0, -1):
            for j in range(MISSES, i - 1, -1):
                products[RECURRENCE * i + j] = products[RECURRENCE * (i - 1) + j - 1]
    for k in range(rows):
        first = t.saved_velocity if k == 0 else t.line_miss + n * (k - 1)
        for j in range(k, RECURRENCE):
            older = t.saved_velocity if j == 0 else t.line_miss + n * (j - 1)
            total = FADES * products[RECURRENCE * k + j]
            for i in range(n):
                weight = t.velocity_weight[i]
                total += (weight * first[i]) * (weight * older[i])
            products[RECURRENCE * k + j] = total
    for k in range(MISSES - 1, 0, -1):
        copy(t.line_miss + n * (k - 1), t.line_miss + n * k, n)
    copy(t.saved_velocity, t.line_miss, n)
    enough = ENOUGH
    if part >= 0:
        enough = ENOUGH + t.recurrences
    store_velocity(t, where(is_known, min(known + 1.0, enough), 1.0))


@compiled
def store_velocity(t: Tables, known: float) -> None:
    """Copy the velocities at the start of the time step to ``t.previous_velocity``, from where the next time step
    extrapolates. ``known``, the number of equal time steps that precede the next one, is written to
    ``t.known_velocities``. ``t`` contains all arrays of the model and its state."""
    copy(t.velocity, t.previous_velocity, t.velocities)
    t.known_velocities[0] = known


@compiled
def set_vectors(target: Vectors, source: Reals, count: int) -> None:
    """Copy the values of ``count`` prescribed vectors from ``source``, an array with the three components of each
    in turn, into the vectors ``target``."""
    for k in range(count):
        target[k] = vector(source[3 * k], source[3 * k + 1], source[3 * k + 2])


@compiled
def store_state(t: Tables, stored: Reals) -> None:
    """Compute the energies of the present state and copy all arrays that a run stores to ``stored``, shape (row
    size,). Among them is ``t.step_error``, the largest error of a time step since the last stored state, which is
    set to zero afterwards. ``t`` contains all arrays of the model and its state.
    """
    begin_ports(t)
    compute_energies(t)
    copy(t.state, stored, t.row_size)
    t.step_error[0] = 0.0
