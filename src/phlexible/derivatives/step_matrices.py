"""Small changes from step to step as matrices: of states, of inputs, of what sensors read (docs/theory.md, 9)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.readings import Sight, state_slopes
from phlexible.derivatives.step_derivatives import DifferentiableSteps
from phlexible.description.interactions.sensor import Sensor


@dataclass(frozen=True, eq=False)
class StepMatrices:
    """``dx_n+1 = A_n dx_n + B_n du_n`` of steps that were taken, and ``dy_n = C_n dx_n``.

    A change dx has the numbers of the pose, then those of the velocities.

    Attributes:
        states: A, shape (N, 2 velocities, 2 velocities).
        inputs: B, shape (N, 2 velocities, inputs).
        outputs: C of all instants, shape (N + 1, outputs, 2 velocities).
    """

    states: Array
    inputs: Array
    outputs: Array


def step_matrices(run: DifferentiableSteps, forces: Array, sensors: Sequence[Sensor]) -> StepMatrices:
    """Of all steps of a run.

    Args:
        run: the steps.
        forces: dF/du of the equations of each step, shape (N, inputs, unknowns), as of ``load_slopes``.
        sensors: of one or several numbers each.

    Raises:
        ModelError: a step whose matrix is singular, or sensors that read more than a state.
    """
    size, inputs = run.assembly.memory.counts["velocities"], forces.shape[1]
    A, B = np.zeros((run.count, 2 * size, 2 * size)), np.zeros((run.count, 2 * size, inputs))
    each = np.zeros((2, 2 * size + inputs, size))  # of pose and velocity, each number alone
    each[0, :size], each[1, size : 2 * size] = np.eye(size), np.eye(size)
    equations = np.zeros((2 * size + inputs, forces.shape[2]))
    for k in range(run.count):
        equations[2 * size :] = forces[k]
        pose, velocity = np.zeros((2, 2, *each.shape[1:]))
        pose[0], velocity[0] = each
        run.push(k, k + 1, pose, velocity, equations[None].copy())
        both = np.concatenate([pose[1], velocity[1]], axis=1).T
        A[k], B[k] = both[:, : 2 * size], both[:, 2 * size :]
    return StepMatrices(A, B, output_slopes(run, sensors))


def output_slopes(run: DifferentiableSteps, sensors: Sequence[Sensor]) -> Array:
    """d(readings)/d(states) of all instants, shape (N + 1, readings, 2 velocities)."""
    rows, sight = [], Sight(run.assembly, run.times)
    for sensor in sensors:
        for component in range(sensor.count):
            weights = np.zeros((run.count + 1, sensor.count))
            weights[:, component] = 1.0
            found = state_slopes(sight, run.rows, [sensor], [weights])
            rows.append(np.concatenate([found.pose, found.velocity], axis=1))
    return np.stack(rows, axis=1)


def load_slopes(run: DifferentiableSteps, directions: Array) -> Array:
    """dF/du of inputs that are multiples of load values, shape (N, inputs, unknowns); F is linear in them.

    Args:
        directions: of the load values, shape (inputs, 3 values).
    """
    rows = []
    for direction in directions:
        both = [
            run.residuals(run.assembly, replace(run.functions, loads=run.functions.loads + sign * direction))
            for sign in (0.5, -0.5)
        ]
        rows.append(both[0] - both[1])
    return np.stack(rows, axis=1)
