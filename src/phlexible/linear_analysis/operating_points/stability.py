"""Is a static equilibrium stable? Its stiffness must not be negative on the motions that joints allow."""

import numpy as np

from phlexible.errors import EquilibriumError
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.linear_analysis.modes.symmetric_modes import lowest_symmetric_modes

NEGATIVE = 1e-9
LOOKED_AT = 6


def growth(mechanics: LinearMechanics) -> float:
    """Greatest rate [1/s] at which a small motion grows; 0: the potential energy has no maximum."""
    squares = lowest_symmetric_modes(mechanics, LOOKED_AT).squares
    scale = float(np.abs(squares).max(initial=0.0))
    return float(np.sqrt(-squares[0])) if squares.size and squares[0] < -NEGATIVE * scale else 0.0


def check_stability(mechanics: LinearMechanics) -> None:
    """Refuses a point with a motion whose potential energy has a maximum.

    Raises:
        EquilibriumError: gives the rate at which the motion would grow.
    """
    if rate := growth(mechanics):
        raise EquilibriumError(
            f"the static equilibrium is unstable: a motion grows with exp({rate:.4g} t); move"
            " the initial pose towards the stable one, or give state="
        )
