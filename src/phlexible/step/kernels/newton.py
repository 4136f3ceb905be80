"""Newton's method for one step: natural monotonicity, reuse of the factors, stopping (docs/theory.md, 4)."""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.dense import copy, fill
from phlexible.step.compilation.notation import Reals, Tables
from phlexible.step.kernels.elimination import eliminate, substitute
from phlexible.step.kernels.step import constraints_close, jacobian, motion_and_forces, residuals
from phlexible.step.tables.requests import CONVERGED, NEARLY_CONVERGED, NOT_CONVERGED, SINGULAR

MAXIMAL_ITERATIONS = 60
TOLERANCE = 1e-14
PREDICTED = 1e-16  # an update that is expected to be smaller is left out
PREDICTED_OF_FEW = 1e-17  # of few unknowns, where another iteration costs next to nothing:
FEW = 12  # what is left out has a sign, and shows after a million steps
ACCEPTABLE = 1e-8
ACCEPTABLE_AT_SINGULAR = 1e-7  # beside a double root updates end at the square root of round-off
AT_ROUND_OFF = 1e-12  # updates below this that do not fall to a tenth with the Jacobian of their place
STALLED = 0.1
SMALL = 0.1  # updates beyond this fraction of the velocities predict nothing
MULTIPLIER_TOLERANCE = 1e-10  # relative
LEAST_DAMPING = 1.0 / 128.0
KEEP_JACOBIAN = 0.02


@compiled
def velocity_norm(t: Tables, nu: Reals) -> float:
    """Largest weighted velocity of a carrier [m/s]."""
    largest = 0.0
    for b in range(t.carriers):
        total = 0.0
        for i in range(t.velocity_start[b], t.velocity_start[b] + t.width_of[b]):
            total += (t.velocity_weight[i] * nu[i]) ** 2
        if total != total:
            return total
        largest = max(largest, total)
    return largest**0.5


@compiled
def move(t: Tables, length: float) -> None:
    """saved + length * update into the unknowns; auxiliaries are not unknowns of their own."""
    for i in range(t.velocities):
        t.velocity1[i] = t.saved_velocity[i] + length * t.update[i]
    for i in range(t.constraints):
        update, row = t.update + t.node_row[t.constraint_node[i]], t.interaction_start[i]
        for r in range(t.function_count[i]):
            t.multiplier1[row + r] = t.saved_multiplier[row + r] + length * update[r]


@compiled
def next_multiplier_update(t: Tables) -> float:
    """Relative change of the multipliers after the trial update, if it falls as from the last to the trial.

    Joint forces do no work, so that the velocities alone do not show whether they have converged.
    """
    last, trial, largest = 0.0, 0.0, 0.0
    for i in range(t.constraints):
        place, row = t.node_row[t.constraint_node[i]], t.interaction_start[i]
        for r in range(t.function_count[i]):
            last = max(last, abs(t.update[place + r]))
            trial = max(trial, abs(t.trial_update[place + r]))
            largest = max(largest, abs(t.multiplier1[row + r]))
    return trial * trial / (last * largest) if last * largest > 0.0 else 0.0


@compiled
def save(t: Tables) -> None:
    """The trial update becomes the update, from here."""
    copy(t.trial_update, t.update, t.unknowns)
    copy(t.velocity1, t.saved_velocity, t.velocities)
    copy(t.multiplier1, t.saved_multiplier, t.rows)


@compiled
def trial_update(t: Tables) -> float:
    """-J^-1 residual with the factored Jacobian into ``trial_update``; its norm."""
    for i in range(t.unknowns):
        t.trial_update[i] = -t.residual[i]
    substitute(t, t.trial_update)
    return velocity_norm(t, t.trial_update)


@compiled
def remove_null_space_multipliers(t: Tables) -> float:
    """Take the part out of the multipliers that moves nothing, with the relaxed factors of the last step;
    its size over that of the multipliers: about the relaxation squared where joints are independent, 1 where not.

    With the Schur complement S and the relaxation D it is ``P P lambda``, where ``P = (S + D)^-1 D`` keeps what
    moves nothing and takes all but about the relaxation of the rest: once would still be seen in the work of
    drives. Newton's method neither needs nor changes the part, but round-off and the turning of the bodies
    would let it grow.
    """
    for sweep in range(2):
        copy(t.trial_update, t.update, t.unknowns)
        fill(t.trial_update, t.unknowns, 0.0)
        for i in range(t.constraints):
            place, row = t.node_row[t.constraint_node[i]], t.interaction_start[i]
            for r in range(t.function_count[i]):
                kept = t.multiplier1[row + r] if sweep == 0 else t.update[place + r]
                t.trial_update[place + r] = t.row_relaxation[row + r] * kept
        substitute(t, t.trial_update)
    part, largest = 0.0, 0.0
    for i in range(t.constraints):
        place, row = t.node_row[t.constraint_node[i]], t.interaction_start[i]
        for r in range(t.function_count[i]):
            part, largest = (
                max(part, abs(t.trial_update[place + r])),
                max(largest, abs(t.multiplier1[row + r])),
            )
            t.multiplier1[row + r] -= t.trial_update[place + r]
    return part / largest if largest > 0.0 else 0.0


@compiled
def solve_step(
    t: Tables, h: float, damping: float, least_speed: float, relaxation: float, acceptable: float
) -> tuple[int, int]:
    """Newton's method from velocity1 and multiplier1; (status, iterations).

    Natural monotonicity: a step length t is accepted when the simplified update |J^-1 r| at the
    trial point has fallen to (1 - t / 4) of the update. While it falls fast the factored
    Jacobian is used again. ``least_speed`` [m/s] keeps the tolerance above round-off at rest.
    ``relaxation`` of redundant joints: see ``eliminate``; 0 without. Updates below ``acceptable`` may stall.
    """
    start_norm = velocity_norm(t, t.velocity)
    residuals(t, h, damping)
    fill(t.history, MAXIMAL_ITERATIONS, 0.0)
    goal = PREDICTED_OF_FEW if t.unknowns <= FEW else PREDICTED
    iterations = 0
    while iterations < MAXIMAL_ITERATIONS:
        rate = 1.0  # at which updates fall with these factors, nearly the same from one to the next
        jacobian(t, h, damping)
        if not eliminate(t, relaxation):
            return (SINGULAR, iterations)
        size = trial_update(t)
        fresh = True
        while iterations < MAXIMAL_ITERATIONS:
            save(t)
            scale = max(start_norm, velocity_norm(t, t.velocity1), least_speed)
            t.history[iterations] = size / scale
            iterations += 1
            length = 1.0
            while True:
                move(t, length)
                residuals(t, h, damping)
                trial = trial_update(t)
                if trial <= (1.0 - 0.25 * length) * size or size <= TOLERANCE * scale:
                    break
                if size <= acceptable * scale and (fresh or rate <= KEEP_JACOBIAN):
                    break
                if length <= LEAST_DAMPING or not fresh:
                    length = 0.0
                    break
                length *= 0.5
            if length == 0.0:
                move(t, 0.0)
                residuals(t, h, damping)
                if fresh:
                    return (NOT_CONVERGED, iterations)
                break
            contraction = trial / size if size > 0.0 else 0.0
            is_closed = relaxation == 0.0 or constraints_close(t)
            if size <= TOLERANCE * scale and is_closed:
                return (CONVERGED, iterations)
            rate = min(contraction, rate)  # where one falls less, what is left of it is round-off
            # The next update would be rate * trial, once the updates are small.
            if (
                length == 1.0
                and is_closed
                and size <= SMALL * scale
                and rate * trial <= goal * scale
                and next_multiplier_update(t) <= MULTIPLIER_TOLERANCE
            ):
                save(t)
                move(t, 1.0)
                motion_and_forces(t, h, damping)
                return (CONVERGED, iterations + 1)
            if (fresh or rate <= KEEP_JACOBIAN) and length == 1.0 and is_closed:
                if contraction > STALLED and size <= AT_ROUND_OFF * scale:
                    return (CONVERGED, iterations)
                if contraction > 0.75 and size <= acceptable * scale:
                    return (NEARLY_CONVERGED, iterations)
            size, rate = trial, 1.0 if fresh else contraction
            fresh = False
            if contraction > KEEP_JACOBIAN:
                break
    return (NOT_CONVERGED, iterations)
