"""From the slopes of a cost at the states back to those at anything: backwards in time (docs/theory.md, 9)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.step_derivatives import StepMatrices
from phlexible.derivatives.taken_steps import TakenSteps
from phlexible.derivatives.variations import Variation


@dataclass(frozen=True, eq=False)
class Adjoint:
    """What a cost feels.

    Attributes:
        start: its derivative to the initial state, shape (velocities,) each.
        steps: mu of each step: dJ = mu . dF where the equations F of the step change, shape (N, unknowns).
    """

    start: Variation
    steps: Array


def adjoint(run: TakenSteps, slopes: Variation) -> Adjoint:
    """Of a cost with derivatives ``slopes`` to the states of all instants, (N + 1, velocities) each (9.5, 9.6)."""
    nv = run.assembly.memory.counts["velocities"]
    steps = np.zeros((run.count, run.assembly.memory.counts["unknowns"]))
    right = np.zeros(run.assembly.memory.counts["unknowns"])
    pose, velocity = slopes.pose[-1].copy(), slopes.velocity[-1].copy()
    for part in StepMatrices(run).backwards():
        for k in range(part.count - 1, -1, -1):
            right[:nv] = -velocity - part.kinematics.forward_transposed(k, pose)
            mu = part.newton.solve_transposed(k, right)
            own, at = mu[:nv], part.first + k
            pose = part.kinematics.backward_transposed(k, own @ part.reverse[k] - velocity) + slopes.pose[at]
            velocity = slopes.velocity[at] - velocity - own @ part.inertia[k]
            steps[at] = mu
    return Adjoint(Variation(pose, velocity), steps)
