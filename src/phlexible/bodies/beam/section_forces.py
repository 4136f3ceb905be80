"""Section forces of a beam from its elastic coordinates and their rates.

They are the stress resultants of the discretization, element by element: normal force and torque are
constant on an element, bending moments linear, so that shear, which balances the slope of the moment,
is constant; with ``theory="timoshenko"`` shear forces and torque are linear, and follow from the shear strain.
They are exact for a beam that is loaded at nodes only; under loads and inertia along the
axis they are most accurate at the points that ``stations`` gives.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, reals
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.mesh import BeamMesh, Measure
from phlexible.bodies.beam.points import ROUND_OFF, BeamPoints
from phlexible.bodies.beam.strain import Strain
from phlexible.bodies.floating_body import FloatingBody
from phlexible.errors import ParameterError

STATIONS = 2  # Gauss points of an element, where moments converge fastest


@dataclass(frozen=True, eq=False)
class SectionResultants:
    """Section force (N, Q_y, Q_z) and moment (M_x, M_y, M_z) on the positive face of cross-sections of a beam, in
    local axes of the section.

    Attributes:
        force: shape (T, s, 3) [N].
        moment: shape (T, s, 3) [N m].
    """

    force: Array
    moment: Array


def stations(mesh: BeamMesh) -> Array:
    """Return the positions along a beam at which its section forces are most accurate: two Gauss points in
    each element, shape (2 elements,) [m]. ``mesh`` is the finite element mesh."""
    return mesh.gauss_points(STATIONS)[0]


def checked_positions(length: float, x: ArrayLike) -> Array:
    """Convert positions along a beam, passed by the user, to an array in their order, shape (s,) [m]. Raise
    ``ParameterError`` outside 0 <= x <= length.

    Raises:
        ParameterError: no numbers in one row, or one outside 0 <= x <= length.
    """
    s = np.atleast_1d(reals("x", x, "positions along the beam [m]"))
    slack = ROUND_OFF * length
    if s.ndim != 1 or not s.size or not np.all(np.abs(s - length / 2) <= length / 2 + slack):
        raise ParameterError(f"x must lie in 0 <= x <= {length:g} (the length of the beam), got {x!r}")
    return np.clip(s, 0.0, length)


def section_resultants(
    beam: Beam, data: FloatingBody, x: Array, eta: Array, rates: Array | None, inner: Array | None = None
) -> SectionResultants:
    """Return section forces and moments of a ``beam`` at the positions x (s,) [m] along it, for elastic
    coordinates eta (T, n) at T instants. Shapes are (T, s, 3) [N] and (T, s, 3) [N m]. ``inner`` are the
    strains of Maxwell branches. At a node the forces are those of the element to its right. ``data`` are the
    arrays of the beam; ``rates`` are those of ``eta``, for viscous stress.

    Without shear Q_y = -dM_z/dx and Q_z = dM_y/dx.

    Args:
        rates: deta/dt, shape (T, n), for the viscous part of the stress, D tau deps/dt; None: without.
        inner: shares times strains of branches, of coordinates and scalar strains (T, n + s); None: none.
    """
    points = data.points
    assert isinstance(points, BeamPoints), "beams find their points by their mesh"
    mesh = points.mesh
    is_quadratic = beam.strain is Strain.VON_KARMAN
    law = beam.element_forces(points)
    forces = law.forces(x, eta, rates, data.viscosity, is_quadratic, inner)
    if not mesh.has_shear:
        gap = mesh.element_length / 2
        element = mesh.locate_elements(x * (1 + ROUND_OFF))[0].astype(np.float64)
        before = (element + 0.25) * mesh.element_length
        ends = [
            law.forces(position, eta, rates, data.viscosity, is_quadratic, inner)
            for position in (before, before + gap)
        ]
        change = (ends[1] - ends[0]) / gap
        forces[:, :, Measure.SHEAR_Y] = -change[:, :, Measure.BEND_Z]
        forces[:, :, Measure.SHEAR_Z] = change[:, :, Measure.BEND_Y]
    return SectionResultants(forces[:, :, :3], forces[:, :, 3:])
