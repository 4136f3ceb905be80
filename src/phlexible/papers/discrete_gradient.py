"""The discrete gradient scheme on the port-Hamiltonian form: (33)-(36) of Kinon et al. (2023).

    E(x_m) (x_1 - x_0) = h (J - R)(x_m) z(x_0, x_1) + h B(x_m) u(t_m),   E^T z . (x_1 - x_0) = H(x_1) - H(x_0)

with x_m = (x_0 + x_1) / 2, for any model: multipliers are constant over a step, and algebraic rows hold at x_m
with the efforts of the step. The power balance is exact: J is skew whatever its argument. For a string this is
the conserving step of the kernels with the state C.
"""

from phlexible.algebra.arrays import Array
from phlexible.papers.collocation import GAUSS_LEGENDRE_1, StageLoop
from phlexible.papers.equations import Equations


class DiscreteGradientLoop(StageLoop):
    """The midpoint rule with the discrete effort in place of z(x_m); Newton's matrix is that of the midpoint rule.

    Args:
        equations: of the model.
        initial: a state, shape (n,).
    """

    expected = 1e-16

    def __init__(self, equations: Equations, initial: Array) -> None:
        super().__init__(equations, GAUSS_LEGENDRE_1, initial, is_projected=False)

    def _efforts(self, x: Array, step: float, k: Array) -> Array:
        algebraic = self.equations.is_algebraic
        start, end = x.copy(), x + step * k[0]
        start[algebraic] = end[algebraic] = k[0, algebraic]
        return self.equations.model.discrete_effort(start, end)[None]
