"""The derivative of every state to parameters, forwards through the steps (docs/theory.md, 9)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.step_derivatives import StepDerivatives, StepMatrices
from phlexible.derivatives.taken_steps import TakenSteps
from phlexible.derivatives.variations import Variation


def state_derivatives(run: TakenSteps, start: Variation, equations: Array) -> Variation:
    """d(state)/dp of all instants, each (N + 1, velocities, p) (9.4).

    Args:
        run: the steps.
        start: of the first state, each (velocities, p).
        equations: dF/dp of each step at its states, shape (N, unknowns, p).
    """
    shape = (run.count + 1, *start.pose.shape)
    result = Variation(np.zeros(shape), np.zeros(shape))
    result.pose[0], result.velocity[0] = start.pose, start.velocity
    for part in StepMatrices(run).forwards():
        for k in range(part.count):
            at = part.first + k
            pose, velocity = _step(part, k, result.pose[at], result.velocity[at], equations[at])
            result.pose[at + 1], result.velocity[at + 1] = pose, velocity
    return result


def _step(part: StepDerivatives, k: int, pose: Array, velocity: Array, equations: Array) -> tuple[Array, Array]:
    """N (y, dlambda) = -dF/dp - (N' - I - I') K^-1 dq_n + (I + I') dnu_n with y = K^-1 dq_n+1 (9.4)."""
    nv, kinematics = len(pose), part.kinematics
    as_rates = kinematics.backward(k, pose)
    right = -equations
    right[:nv] += part.inertia[k] @ velocity - part.reverse[k] @ as_rates
    y = part.newton.solve(k, right)[:nv]
    return kinematics.forward(k, y), y - as_rates - velocity
