"""Section forces of a beam from its elastic coordinates and their rates.

The stress resultants of the discretization itself, element by element: normal force and torque are
constant on an element, bending moments linear, so that shear, which balances the slope of the moment,
is constant; with ``theory="timoshenko"`` shear forces and torque are linear, and follow from the shear strain.
They are exact for a beam that is loaded at nodes only; under loads and inertia along the
axis they are most accurate at the points that ``stations`` gives.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.algebra.sparse import as_array
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.mesh import BeamMesh, Measure
from phlexible.bodies.beam.points import ROUND_OFF, BeamPoints
from phlexible.bodies.beam.strain import Strain
from phlexible.bodies.floating_body import FloatingBody
from phlexible.errors import ParameterError

STATIONS = 2  # Gauss points of an element, where moments converge fastest


@dataclass(frozen=True, eq=False)
class SectionResultants:
    """Force (N, Q_y, Q_z) and moment (M_x, M_y, M_z) on the positive face, local axes of the section.

    Attributes:
        force: shape (T, s, 3) [N].
        moment: shape (T, s, 3) [N m].
    """

    force: Array
    moment: Array


def stations(mesh: BeamMesh) -> Array:
    """Where section forces are most accurate: two Gauss points an element, shape (2 elements,) [m]."""
    return mesh.gauss_points(STATIONS)[0]


def places_along(length: float, x: ArrayLike) -> Array:
    """Given places along a beam of that length [m], in their order, shape (s,) [m].

    Raises:
        ParameterError: no numbers in one row, or one outside 0 <= x <= length.
    """
    places = np.atleast_1d(numbers("x", x, "places along the beam [m]"))
    slack = ROUND_OFF * length
    if places.ndim != 1 or not places.size or not np.all((places >= -slack) & (places <= length + slack)):
        raise ParameterError(f"x must lie in 0 <= x <= {length:g} (the length of the beam), got {x!r}")
    return np.clip(places, 0.0, length)


def section_resultants(
    beam: Beam, data: FloatingBody, x: Array, eta: Array, rates: Array | None, inner: Array | None = None
) -> SectionResultants:
    """Resultants at places x (s,) [m] for coordinates (T, n); at a node those of the element to its right.

    Those of the elements (``ElementForces``); without shear Q_y = -dM_z/dx, Q_z = dM_y/dx.

    Args:
        rates: deta/dt, shape (T, n), for the viscous part of the stress, D tau deps/dt; None: without.
        inner: shares times strains of branches, of coordinates and scalar strains (T, n + s); None: none.
    """
    points = data.points
    assert isinstance(points, BeamPoints), "beams find their points by their mesh"
    mesh = points.mesh
    is_quadratic = beam.strain is Strain.VON_KARMAN
    law = beam.element_forces(points)
    found = law.forces(x, eta, rates, data.viscosity, is_quadratic, inner)
    if not mesh.shears:
        gap = mesh.element_length / 2
        element = mesh.located(x * (1 + ROUND_OFF))[0].astype(np.float64)
        before = (element + 0.25) * mesh.element_length
        ends = [
            law.forces(place, eta, rates, data.viscosity, is_quadratic, inner) for place in (before, before + gap)
        ]
        change = (ends[1] - ends[0]) / gap
        found[:, :, Measure.SHEAR_Y] = -change[:, :, Measure.BEND_Z]
        found[:, :, Measure.SHEAR_Z] = change[:, :, Measure.BEND_Y]
    return SectionResultants(found[:, :, :3], found[:, :, 3:])


@dataclass(frozen=True, eq=False)
class ResultantRows:
    """Resultants at one place as (N, Q_y, Q_z, M_x, M_y, M_z) = linear eta + squares (slopes eta)^2 / 2.

    With viscosity D the viscous part is linear D deta/dt + squares D (slopes eta) (slopes deta/dt).

    Attributes:
        linear: shape (6, n).
        squares: shape (6, k).
        slopes: shape (k, n); none of a beam whose strains are linear.
        creep: of shares times strains of branches, of eta and of scalar strains, shape (6, n + s).
    """

    linear: Array
    squares: Array
    slopes: Array
    creep: Array


def resultant_rows(beam: Beam, data: FloatingBody, x: float) -> ResultantRows:
    """What ``section_resultants`` finds at a place x [m], as rows of eta."""
    points = data.points
    assert isinstance(points, BeamPoints), "beams find their points by their mesh"
    mesh, law = points.mesh, beam.element_forces(points)
    count = len(law.factors) if beam.strain is Strain.VON_KARMAN else 0

    def tested(place: float) -> tuple[Array, int]:
        """Of the strains of the element at a place, shape (6, s)."""
        element, share = mesh.located(np.array([place * (1 + ROUND_OFF)]))
        found, phi = np.zeros((6, len(law.kinds))), law.functions(share)[0]
        for k, kind in enumerate(law.kinds):
            found[kind] += phi[k] * law.stiffness[int(element[0]), k]
        return found, int(element[0])

    rows, element = tested(x)
    if not mesh.shears:
        gap = mesh.element_length / 2
        before = (element + 0.25) * mesh.element_length
        change = (tested(before + gap)[0] - tested(before)[0]) / gap
        rows[Measure.SHEAR_Y], rows[Measure.SHEAR_Z] = -change[Measure.BEND_Z], change[Measure.BEND_Y]
    strains = np.concatenate([as_array(each[[element]]) for each in law.strains])
    slopes = as_array(law.slopes[count * element : count * (element + 1)])
    lagging = np.concatenate([strains, np.zeros((len(strains), len(data.strain.weights)))], axis=1)
    if count:  # the stretch of an element has a strain of its own
        coupling = law.stiffness[element, 0, 1:] / law.stiffness[element, 0, 0]
        lagging[0] = -coupling @ lagging[1:]
        lagging[0, strains.shape[1] + element] = mesh.element_length
    return ResultantRows(rows @ strains, rows[:, :1] * law.factors[:count], slopes, rows @ lagging)
