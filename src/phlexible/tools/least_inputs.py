"""The inputs of least size for which outputs of steps are where they shall be, all steps at once."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.step_matrices import StepMatrices


def reach_of(steps: StepMatrices) -> Array:
    """How far a constant input of size 1 moves the outputs over the run, shape (inputs,)."""
    count, n, inputs = steps.inputs.shape
    x, greatest = np.zeros((n, inputs)), np.zeros(inputs)
    for k in range(count):
        x = steps.states[k] @ x + steps.inputs[k]
        greatest = np.maximum(greatest, np.abs(steps.outputs[k + 1] @ x).max(axis=0))
    return greatest


def least_change(
    steps: StepMatrices, left: Array, used: Array, weight: Array, velocity: Array, rest: Array
) -> Array:
    """The change du of the inputs with the least sum of three squares over all steps (docs/theory.md, 9; (9.13)):
    |left - C dx|^2 of the outputs, |weight (used + du)|^2 of the inputs, |rest (velocity + dv)|^2 at the end.

    Backwards in time what is still to come is |R dx - d|^2 with a triangular R, by orthogonal transformations,
    which keep twice the digits of a Riccati equation; forwards each change follows from that of the state (9.14).

    Args:
        steps: their matrices.
        left: of the outputs to their places, shape (N + 1, outputs).
        used: inputs so far, shape (N, inputs).
        weight: of the inputs, shape (inputs,).
        velocity: at the end, shape (velocities,).
        rest: its weights, shape (velocities,).

    Returns:
        Shape (N, inputs).
    """
    count, n, m = steps.inputs.shape
    half = n // 2
    end = np.zeros((half, n + 1))
    end[:, half:n], end[:, n] = np.diag(rest), -rest * velocity
    ahead = _triangular(np.vstack([end, np.column_stack([steps.outputs[-1], left[-1]])]))[:n]
    gains = np.zeros((count, m, m + n + 1))
    for k in range(count - 1, -1, -1):
        R, d = ahead[:, :n], ahead[:, n:]
        own = np.column_stack([np.diag(weight), np.zeros((m, n)), -weight * used[k]])
        both = _triangular(np.vstack([own, np.hstack([R @ steps.inputs[k], R @ steps.states[k], d])]))
        gains[k] = both[:m]
        here = np.column_stack([steps.outputs[k], left[k]])
        ahead = _triangular(np.vstack([both[m : m + n, m:], here]))[:n]
    x, change = np.zeros(n), np.zeros((count, m))
    for k in range(count):
        own = gains[k]
        change[k] = np.linalg.solve(own[:, :m], own[:, -1] - own[:, m:-1] @ x)
        x = steps.states[k] @ x + steps.inputs[k] @ change[k]
    return change


def _triangular(matrix: Array) -> Array:
    return np.asarray(np.linalg.qr(matrix, mode="r"))
