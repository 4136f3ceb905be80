"""Coefficients of collocation schemes for port-Hamiltonian descriptor models of index 2.

Hairer, Lubich, Roche, *The numerical solution of differential-algebraic systems by Runge-Kutta
methods* (1989), for Radau IIA; Ascher, Petzold, *Projected implicit Runge-Kutta methods for
differential-algebraic equations* (1991), for Gauss with a projection at the end of each step.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array

R3, R6, R15 = np.sqrt(3.0), np.sqrt(6.0), np.sqrt(15.0)


@dataclass(frozen=True, eq=False)
class Tableau:
    """An implicit Runge-Kutta scheme of s stages.

    Attributes:
        name: of the scheme.
        matrix: a_ij, shape (s, s).
        weights: b_j, shape (s,).
        nodes: c_i, shape (s,).
        order: of the differential states, for index 2 as for ordinary equations.
        algebraic_order: of the multipliers at the ends of the steps, for index 2.
        is_stiffly_accurate: the last stage is the end of the step, so that algebraic equations hold
            there; otherwise the end is projected onto them.
    """

    name: str
    matrix: Array
    weights: Array
    nodes: Array
    order: int
    algebraic_order: int
    is_stiffly_accurate: bool

    @property
    def stages(self) -> int:
        """s."""
        return len(self.weights)

    def weights_at(self, node: float) -> Array:
        """Values at a node, 0 the start and 1 the end of the step, of the polynomials through the stages, (s,)."""
        powers = np.vander(self.nodes, increasing=True)
        return np.asarray(np.linalg.solve(powers.T, node ** np.arange(self.stages)))


GAUSS_LEGENDRE_1 = Tableau(
    "Gauss-Legendre 1 (implicit midpoint)",
    np.array([[1 / 2]]),
    np.array([1.0]),
    np.array([1 / 2]),
    order=2,
    algebraic_order=1,
    is_stiffly_accurate=False,
)
GAUSS_LEGENDRE_2 = Tableau(
    "Gauss-Legendre 2",
    np.array([[1 / 4, 1 / 4 - R3 / 6], [1 / 4 + R3 / 6, 1 / 4]]),
    np.array([1 / 2, 1 / 2]),
    np.array([1 / 2 - R3 / 6, 1 / 2 + R3 / 6]),
    order=4,
    algebraic_order=2,
    is_stiffly_accurate=False,
)
GAUSS_LEGENDRE_3 = Tableau(
    "Gauss-Legendre 3",
    np.array(
        [
            [5 / 36, 2 / 9 - R15 / 15, 5 / 36 - R15 / 30],
            [5 / 36 + R15 / 24, 2 / 9, 5 / 36 - R15 / 24],
            [5 / 36 + R15 / 30, 2 / 9 + R15 / 15, 5 / 36],
        ]
    ),
    np.array([5 / 18, 4 / 9, 5 / 18]),
    np.array([1 / 2 - R15 / 10, 1 / 2, 1 / 2 + R15 / 10]),
    order=6,
    algebraic_order=3,
    is_stiffly_accurate=False,
)
RADAU_IIA_2 = Tableau(
    "Radau IIA 2",
    np.array([[5 / 12, -1 / 12], [3 / 4, 1 / 4]]),
    np.array([3 / 4, 1 / 4]),
    np.array([1 / 3, 1.0]),
    order=3,
    algebraic_order=2,
    is_stiffly_accurate=True,
)
RADAU_IIA_3 = Tableau(
    "Radau IIA 3",
    np.array(
        [
            [(88 - 7 * R6) / 360, (296 - 169 * R6) / 1800, (-2 + 3 * R6) / 225],
            [(296 + 169 * R6) / 1800, (88 + 7 * R6) / 360, (-2 - 3 * R6) / 225],
            [(16 - R6) / 36, (16 + R6) / 36, 1 / 9],
        ]
    ),
    np.array([(16 - R6) / 36, (16 + R6) / 36, 1 / 9]),
    np.array([(4 - R6) / 10, (4 + R6) / 10, 1.0]),
    order=5,
    algebraic_order=3,
    is_stiffly_accurate=True,
)

TABLEAUX = (GAUSS_LEGENDRE_1, GAUSS_LEGENDRE_2, GAUSS_LEGENDRE_3, RADAU_IIA_2, RADAU_IIA_3)
