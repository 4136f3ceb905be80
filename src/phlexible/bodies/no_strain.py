"""The strain energy of bodies without elastic coordinates."""

import numpy as np

from phlexible.bodies.floating_body import StrainEnergy


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
