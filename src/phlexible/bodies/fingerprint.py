"""Numbers of a body that change whenever its coordinates come to mean something else."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import BodyData


def fingerprint(body: BodyData) -> Array:
    """Integrals that change whenever the meaning of eta does: S and the moments of x with Phi, or M and C."""
    if isinstance(body, AbsoluteBody):
        strains = [part.ravel() for group in body.strains for part in (group.first, group.second, group.weights)]
        elements = [part.ravel() for group in body.elements for part in (group.gradients, group.weights)]
        return np.concatenate([body.nodal_mass.data, *strains, *elements])
    return np.concatenate([body.first_moments.ravel(), body.second_moments[:, :, 0].ravel()])
