"""A floating body whose elastic coordinates are amplitudes of retained shapes with unit mass."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import MODAL, FloatingBody, StrainEnergy
from phlexible.bodies.locations import MaterialPoints


def retained_body(
    dimension: int,
    nodes: Array,
    moments: tuple[float, Array, Array],
    strain: StrainEnergy,
    damping: Array,
    viscosity: float,
    points: MaterialPoints,
) -> FloatingBody:
    """The body of meshes, plates and matrices.

    Args:
        dimension: 2 or 3.
        nodes: places, shape (nodes, 2 or 3) [m].
        moments: mass, first and second moments, of ``inertia.mesh_moments``.
        strain: of the amplitudes.
        damping: shape (amplitudes,) * 2 [1/s].
        viscosity: [s].
        points: where attachments are.
    """
    mass, first, second = moments
    return FloatingBody(
        dimension=dimension,
        mass=mass,
        first_moments=first,
        second_moments=second,
        rotates=True,
        strain=strain,
        damping=damping,
        viscosity=viscosity,
        points=points,
        size=float(np.ptp(nodes, axis=0).max()),
        elastic_units=(MODAL,) * len(damping),
    )
