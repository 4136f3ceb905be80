"""What bodies without elastic coordinates share."""

import numpy as np

from phlexible.bodies.floating_body import StrainEnergy
from phlexible.errors import ParameterError


def no_strain() -> StrainEnergy:
    """The strain energy of n = 0 elastic coordinates."""
    return StrainEnergy(
        stiffness=np.zeros((0, 0)),
        rows=np.zeros((0, 0)),
        weights=np.zeros(0),
        squares=np.zeros((0, 0)),
        factors=np.zeros(0),
        square_strain=np.zeros(0, dtype=np.int64),
    )


def plane_or_space(dimension: int) -> None:
    """Refuses a dimension that is neither 2 nor 3.

    Raises:
        ParameterError: naming the value.
    """
    if dimension not in (2, 3):
        raise ParameterError(f"dimension must be 2 or 3, got {dimension!r}")
