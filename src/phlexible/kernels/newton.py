"""Newton's method for one step: natural monotonicity, reuse of the factors, stopping (formulation, 4)."""

from phlexible.kernels import tables as at
from phlexible.kernels.compiled import compiled, inlined
from phlexible.kernels.couplings import row_value
from phlexible.kernels.dense import copy, fill
from phlexible.kernels.elimination import eliminate, substitute
from phlexible.kernels.step import jacobian, residuals

CONVERGED = 0
NOT_CONVERGED = 1
SINGULAR = 2
MAXIMAL_ITERATIONS = 60
TOLERANCE = 1e-14
PREDICTED = 1e-16  # an update that is expected to be smaller is left out
PREDICTED_OF_FEW = 1e-17  # of few unknowns, where another iteration costs next to nothing:
FEW = 12  # what is left out has a sign, and shows after a million steps
ACCEPTABLE = 1e-8
SMALL = 0.1  # updates beyond this fraction of the velocities predict nothing
MULTIPLIER_TOLERANCE = 1e-10  # relative
LEAST_DAMPING = 1.0 / 128.0
KEEP_JACOBIAN = 0.05
GAP_TOLERANCE = 1e-12  # of relaxed joints, relative
GAP_ROUND_OFF = 1e-14


@compiled
def velocity_norm(ints, reals, x):
    """Largest weighted velocity of a body [m/s]."""
    largest = 0.0
    for b in range(ints[at.BODIES]):
        total = 0.0
        for i in range(ints[ints[at.VELOCITY_START] + b], ints[ints[at.VELOCITY_START] + b + 1]):
            total += (reals[ints[at.VELOCITY_WEIGHT] + i] * reals[x + i]) ** 2
        if total != total:
            return total
        largest = max(largest, total)
    return largest**0.5


@compiled
def move(ints, reals, length):
    """saved + length * update into the unknowns; partners' rows are not unknowns of their own."""
    for i in range(ints[at.VELOCITIES]):
        reals[ints[at.VELOCITY] + i] = (
            reals[ints[at.SAVED_VELOCITY] + i] + length * reals[ints[at.UPDATE] + i]
        )
    for j in range(ints[at.JOINTS]):
        begin = ints[ints[at.JOINT_ROW_START] + j]
        for r in range(begin, ints[ints[at.JOINT_ROW_START] + j + 1]):
            reals[ints[at.MULTIPLIER] + r] = (
                reals[ints[at.SAVED_MULTIPLIER] + r]
                + length * reals[ints[at.UPDATE] + (ints[ints[at.JOINT_NODE_ROW] + j] + r - begin)]
            )


@compiled
def next_multiplier_update(ints, reals):
    """Relative change of the multipliers after the trial update, if it falls as from the last to the trial.

    Joint forces do no work, so that the velocities alone do not show whether they have converged.
    """
    last, trial, largest = 0.0, 0.0, 0.0
    for j in range(ints[at.JOINTS]):
        begin = ints[ints[at.JOINT_ROW_START] + j]
        place = ints[ints[at.JOINT_NODE_ROW] + j]
        for r in range(ints[ints[at.JOINT_ROW_START] + j + 1] - begin):
            last = max(last, abs(reals[ints[at.UPDATE] + place + r]))
            trial = max(trial, abs(reals[ints[at.TRIAL_UPDATE] + place + r]))
            largest = max(largest, abs(reals[ints[at.MULTIPLIER] + begin + r]))
    return trial * trial / (last * largest) if last * largest > 0.0 else 0.0


@compiled
def finish(ints, reals):
    """Add the last trial update without asking for another one."""
    copy(reals, ints[at.TRIAL_UPDATE], ints[at.UPDATE], ints[at.UNKNOWNS])
    copy(reals, ints[at.VELOCITY], ints[at.SAVED_VELOCITY], ints[at.VELOCITIES])
    copy(reals, ints[at.MULTIPLIER], ints[at.SAVED_MULTIPLIER], ints[at.ROWS])
    move(ints, reals, 1.0)


@compiled
def trial_update(ints, reals):
    """-J^-1 residual with the factored Jacobian into TRIAL_UPDATE; its norm."""
    for i in range(ints[at.UNKNOWNS]):
        reals[ints[at.TRIAL_UPDATE] + i] = -reals[ints[at.RESIDUAL] + i]
    substitute(ints, reals, ints[at.TRIAL_UPDATE])
    return velocity_norm(ints, reals, ints[at.TRIAL_UPDATE])


@compiled
def joints_close(ints, reals):
    """Whether all joint functions vanish at the end of the step.

    With relaxed joints small updates of the velocities do not show it: multipliers of joints that
    contradict each other grow from update to update and move nothing.
    """
    constraints = ints[at.JOINTS] - ints[at.FORCES]
    for row in range(ints[ints[at.JOINT_ROW_START] + constraints]):
        value, size = row_value(ints, reals, row, ints[at.X1])
        constant = reals[ints[at.ROW_END] + row]
        allowed = GAP_TOLERANCE * reals[ints[at.ROW_LENGTH] + row] + GAP_ROUND_OFF * (size + abs(constant))
        if not abs(value - constant) <= allowed:
            return False
    return True


@compiled
def remove_idle_multipliers(ints, reals):
    """Take the part out of the multipliers that moves nothing, with the relaxed factors of the last step;
    its size over that of the multipliers: about relaxation where joints are independent, 1 where not.

    With the Schur complement S and the relaxation D the part is ``(S + D)^-1 D lambda``. Newton's method
    neither needs nor changes it, but round-off and the turning of the bodies would let it grow.
    """
    fill(reals, ints[at.TRIAL_UPDATE], ints[at.UNKNOWNS], 0.0)
    idle, largest = 0.0, 0.0
    for add in (True, False):
        for j in range(ints[at.JOINTS] - ints[at.FORCES]):
            begin = ints[ints[at.JOINT_ROW_START] + j]
            for r in range(begin, ints[ints[at.JOINT_ROW_START] + j + 1]):
                place = ints[at.TRIAL_UPDATE] + (ints[ints[at.JOINT_NODE_ROW] + j] + r - begin)
                if add:
                    relaxation = reals[ints[at.ROW_RELAXATION] + r]
                    reals[place] = relaxation * reals[ints[at.MULTIPLIER] + r]
                else:
                    idle = max(idle, abs(reals[place]))
                    largest = max(largest, abs(reals[ints[at.MULTIPLIER] + r]))
                    reals[ints[at.MULTIPLIER] + r] -= reals[place]
        if add:
            substitute(ints, reals, ints[at.TRIAL_UPDATE])
    return idle / largest if largest > 0.0 else 0.0


@inlined
def solve_step(ints, reals, h, damping, least_scale, relaxation):
    """Newton's method from VELOCITY and MULTIPLIER; (status, iterations).

    Natural monotonicity: a step length t is accepted when the simplified update |J^-1 r| at the
    trial point has fallen to (1 - t / 4) of the update. While it falls fast the factored
    Jacobian is used again. ``least_scale`` [m/s] keeps the tolerance above round-off at rest.
    ``relaxation`` of redundant joints: see ``eliminate``; 0 without.
    """
    start_norm = velocity_norm(ints, reals, ints[at.STATE_VELOCITY])
    residuals(ints, reals, h, damping)
    fill(reals, ints[at.HISTORY], MAXIMAL_ITERATIONS, 0.0)
    goal = PREDICTED_OF_FEW if ints[at.UNKNOWNS] <= FEW else PREDICTED
    iterations = 0
    while iterations < MAXIMAL_ITERATIONS:
        jacobian(ints, reals, h, damping)
        if not eliminate(ints, reals, relaxation):
            return (SINGULAR, iterations)
        size = trial_update(ints, reals)
        fresh = True
        while iterations < MAXIMAL_ITERATIONS:
            copy(reals, ints[at.TRIAL_UPDATE], ints[at.UPDATE], ints[at.UNKNOWNS])
            copy(reals, ints[at.VELOCITY], ints[at.SAVED_VELOCITY], ints[at.VELOCITIES])
            copy(reals, ints[at.MULTIPLIER], ints[at.SAVED_MULTIPLIER], ints[at.ROWS])
            scale = max(start_norm, velocity_norm(ints, reals, ints[at.VELOCITY]), least_scale)
            reals[ints[at.HISTORY] + iterations] = size / scale
            iterations += 1
            length = 1.0
            while True:
                move(ints, reals, length)
                residuals(ints, reals, h, damping)
                trial = trial_update(ints, reals)
                if trial <= (1.0 - 0.25 * length) * size or size <= TOLERANCE * scale:
                    break
                if size <= ACCEPTABLE * scale and fresh:
                    break
                if length <= LEAST_DAMPING or not fresh:
                    length = 0.0
                    break
                length *= 0.5
            if length == 0.0:
                move(ints, reals, 0.0)
                residuals(ints, reals, h, damping)
                if fresh:
                    return (NOT_CONVERGED, iterations)
                break
            contraction = trial / size if size > 0.0 else 0.0
            is_closed = relaxation == 0.0 or joints_close(ints, reals)
            if size <= TOLERANCE * scale and is_closed:
                return (CONVERGED, iterations)
            # The next update would be contraction * trial, once the updates are small.
            if (
                length == 1.0
                and is_closed
                and size <= SMALL * scale
                and contraction * trial <= goal * scale
                and next_multiplier_update(ints, reals) <= MULTIPLIER_TOLERANCE
            ):
                finish(ints, reals)
                residuals(ints, reals, h, damping)
                return (CONVERGED, iterations + 1)
            if fresh and length == 1.0 and contraction > 0.75 and size <= ACCEPTABLE * scale and is_closed:
                return (CONVERGED, iterations)
            size = trial
            fresh = False
            if contraction > KEEP_JACOBIAN:
                break
    return (NOT_CONVERGED, iterations)
