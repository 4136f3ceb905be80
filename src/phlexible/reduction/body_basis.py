"""From a basis of a whole model to a basis of the elastic coordinates of one body."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.reduced_basis import independent
from phlexible.bodies.mechanics.floating import elastic_tangent
from phlexible.errors import ModelError
from phlexible.linear_analysis.linearize import Linearization
from phlexible.ports.attachments import PlacedBody

RIGID = 1e-8  # of the most strained column


def body_deformations(linear: Linearization, body: PlacedBody, basis: Array) -> Array:
    """The elastic rows of a body in a basis over all motions (n, k), without dependent columns.

    In the coordinates of its description, so that ``modes=`` takes them.

    Rigid motion drops out by itself: in the body frame it is no deformation.

    Raises:
        ModelError: a body of another model, or one that cannot deform.
    """
    index = next((k for k, placed in enumerate(linear.system.bodies) if placed is body), None)
    if index is None:
        raise ModelError(f"{body!r} is not in the model that was linearized")
    count = body.data.elastic_count
    if not count or isinstance(body.data, AbsoluteBody):
        raise ModelError(f"{body!r} has no elastic coordinates in a frame of its own")
    end = int(linear.system.layout.velocity[index + 1])
    columns = basis[end - count : end]
    stiffness = elastic_tangent(body.data, np.zeros(count))
    strength = np.sqrt(np.abs(np.einsum("ij,ij->j", columns, stiffness @ columns)))
    strained = strength > RIGID * strength.max(initial=0.0)
    found = independent(np.zeros((count, 0)), columns[:, strained], stiffness)
    return body.body.described_coordinates(found, body.held, linear.system.dimension)
