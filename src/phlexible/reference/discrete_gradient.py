"""The discrete gradient scheme on the port-Hamiltonian form: (33)-(36) of Kinon et al. (2023).

    E(x_m) (x_1 - x_0) = h (J - R)(x_m) z(x_0, x_1) + h B(x_m) u(t_m),   E^T z . (x_1 - x_0) = H(x_1) - H(x_0)

with x_m = (x_0 + x_1) / 2, for any model: multipliers are constant over a step, and algebraic rows hold at x_m
with the efforts of the step. The power balance is exact: J is skew whatever its argument. For a string this is
the conserving step of the kernels with the state C.
"""

from collections.abc import Callable

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.port_hamiltonian.model import PortHamiltonianModel
from phlexible.reference.collocation import StageLoop, StateHistory
from phlexible.reference.compiled_bodies import fast
from phlexible.reference.equations import Equations, one_by_one
from phlexible.reference.tableaux import GAUSS_LEGENDRE_1


class DiscreteGradientLoop(StageLoop):
    """The midpoint rule with the discrete effort in place of z(x_m); Newton's matrix is that of the midpoint rule.

    Args:
        equations: of the model.
        initial: a state, shape (n,).
    """

    expected = 1e-16

    def __init__(self, equations: Equations, initial: Array) -> None:
        super().__init__(equations, GAUSS_LEGENDRE_1, initial, is_projected=False)

    def _efforts(self, x: Array, step: float, k: Array, states: Array) -> Array:
        algebraic = self.equations.is_algebraic
        start, end = np.where(algebraic, k[0], x), np.where(algebraic, k[0], x + step * k[0])
        return self.equations.model.discrete_effort(start, end)[None]


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
    equations = Equations(fast(model), one_by_one(given), states[0], depends_on_state=False)
    loop = DiscreteGradientLoop(equations, states[0])
    for k in range(steps):
        states.append(loop.advance(k * step, step, states[-1]).end)
    return StateHistory(step * np.arange(steps + 1, dtype=np.float64), np.array(states))
