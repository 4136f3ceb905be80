"""The integrators of port-Hamiltonian models that users choose from, by name."""

from enum import StrEnum

from phlexible.algebra.arrays import Array
from phlexible.reference.collocation import StageLoop
from phlexible.reference.discrete_gradient import DiscreteGradientLoop
from phlexible.reference.equations import Equations
from phlexible.reference.tableaux import GAUSS_LEGENDRE_1, GAUSS_LEGENDRE_2, RADAU_IIA_3


class Method(StrEnum):
    """GAUSS2: order 4, quadratic energies kept exactly. RADAU3: order 5, damps fast motions.
    MIDPOINT: order 2, symmetric. DISCRETE_GRADIENT: order 2, symmetric, power balance exact for any energy.
    """

    GAUSS2 = "gauss2"
    RADAU3 = "radau3"
    MIDPOINT = "midpoint"
    DISCRETE_GRADIENT = "discrete_gradient"


def stage_loop(method: Method, equations: Equations, initial: Array) -> StageLoop:
    """What takes the steps of a method.

    The midpoint rule is left without projection: it has order 2 in the states as it is, and stays symmetric.
    """
    match method:
        case Method.GAUSS2:
            return StageLoop(equations, GAUSS_LEGENDRE_2, initial, is_projected=True)
        case Method.RADAU3:
            return StageLoop(equations, RADAU_IIA_3, initial, is_projected=False)
        case Method.MIDPOINT:
            return StageLoop(equations, GAUSS_LEGENDRE_1, initial, is_projected=False)
        case Method.DISCRETE_GRADIENT:
            return DiscreteGradientLoop(equations, initial)
