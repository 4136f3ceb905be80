"""Runs of port-Hamiltonian models in equal steps, with any tableau: what tests of the schemes look at."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.papers.collocation import DiscreteGradientLoop, StageLoop, Tableau
from phlexible.papers.equations import Equations, ManyInputs
from phlexible.port_hamiltonian.model import PortHamiltonianModel


def one_by_one(inputs: Callable[[float, Array], Array]) -> ManyInputs:
    """A function u(t, x) of one instant as one of many."""

    def many(times: Array, states: Array) -> Array:
        return np.array([inputs(float(t), x) for t, x in zip(times, states, strict=True)])

    return many


@dataclass(frozen=True, eq=False)
class StateHistory:
    """States at N + 1 instants.

    Attributes:
        time: shape (N + 1,) [s].
        states: shape (N + 1, n).
    """

    time: Array
    states: Array


def collocate(
    model: PortHamiltonianModel,
    tableau: Tableau,
    initial: Array,
    duration: float,
    steps: int,
    inputs: Callable[[float, Array], Array] | None = None,
    is_projected: bool = True,
) -> StateHistory:
    """Integrates from t = 0 in equal steps.

    Args:
        initial: consistent x at t = 0, shape (n,); entries of multipliers do not matter.
        inputs: u(t, x), shape (m,); None: zero.
        is_projected: False leaves out the projection of Gauss schemes (to see what it is good for).

    Raises:
        ConvergenceError: Newton's method fails in a step; take a smaller one.
    """
    step = positive("duration", duration) / steps
    equations = Equations(
        model,
        one_by_one(inputs or (lambda time, x: np.zeros(model.port_size))),
        initial,
        input_states=None if inputs is not None else np.zeros(0, dtype=np.int64),
    )
    is_projected = is_projected and not tableau.is_stiffly_accurate
    loop = StageLoop(equations, tableau, np.asarray(initial, dtype=np.float64), is_projected)
    states = [np.asarray(initial, dtype=np.float64)]
    for k in range(steps):
        states.append(loop.advance(k * step, step, states[-1]).end)
    return StateHistory(step * np.arange(steps + 1, dtype=np.float64), np.array(states))


def integrate_discrete_gradient(
    model: PortHamiltonianModel,
    initial: Array,
    duration: float,
    steps: int,
    inputs: Callable[[float], Array] | None = None,
) -> StateHistory:
    """Integrates from t = 0 in equal steps.

    Args:
        model: any.
        initial: x at t = 0, shape (n,).
        inputs: u(t), taken in the middle of each step, shape (m,); None: zero.

    Raises:
        ConvergenceError: the iteration fails in a step; take a smaller one.
    """
    step = positive("duration", duration) / steps

    def given(time: float, x: Array) -> Array:
        return np.zeros(model.port_size) if inputs is None else np.asarray(inputs(time), dtype=np.float64)

    states = [np.asarray(initial, dtype=np.float64)]
    equations = Equations(model, one_by_one(given), states[0], input_states=np.zeros(0, dtype=np.int64))
    loop = DiscreteGradientLoop(equations, states[0])
    for k in range(steps):
        states.append(loop.advance(k * step, step, states[-1]).end)
    return StateHistory(step * np.arange(steps + 1, dtype=np.float64), np.array(states))
