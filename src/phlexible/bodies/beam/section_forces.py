"""Section forces of a beam from its elastic coordinates and their rates.

The stress resultants of the discretization itself, element by element: normal force and torque are
constant on an element, bending moments linear, so that shear, which balances the slope of the moment,
is constant. They are exact for a beam that is loaded at nodes only; under loads and inertia along the
axis they are most accurate at the points that ``stations`` gives.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.mesh import BeamMesh
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
    beam: Beam, data: FloatingBody, x: Array, eta: Array, rates: Array | None
) -> SectionResultants:
    """Resultants at places x (s,) [m] for coordinates (T, n); at a node those of the element to its right.

    N = EA eps, M_x = G J theta', M_y = -E I_y w'', M_z = E I_z v'', Q_y = -dM_z/dx, Q_z = dM_y/dx.

    Args:
        rates: deta/dt, shape (T, n), for the viscous part of the stress, D tau deps/dt; None: without.
    """
    points = data.points
    assert isinstance(points, BeamPoints), "beams find their points by their mesh"
    mesh, section, modulus = points.mesh, beam.section, beam.material.youngs_modulus
    element = np.minimum((x / mesh.element_length * (1 + ROUND_OFF)).astype(np.int64), mesh.elements - 1)
    # Strains but the axial one are linear in eta, so their viscous part needs no more than this sum.
    moved = eta if rates is None else eta + data.viscosity * rates
    before, gap = (element + 0.25) * mesh.element_length, 0.5 * mesh.element_length
    at, later = points.fields(before), points.fields(before + gap)
    share = (x - before) / gap
    bend_z, slope_z = _line(modulus * section.second_moment_z * moved, at.curvature_y, later.curvature_y, share)
    bend_y, slope_y = _line(-modulus * section.second_moment_y * moved, at.curvature_z, later.curvature_z, share)
    normal = modulus * section.area * _axial_strains(beam, data, eta, rates)[:, element]
    torsion = beam.material.shear_modulus * section.torsion_constant * moved @ at.twist_rate.T
    return SectionResultants(
        np.stack([normal, -slope_z / gap, slope_y / gap], axis=2), np.stack([torsion, bend_y, bend_z], axis=2)
    )


def _line(coordinates: Array, first: Array, second: Array, share: Array) -> tuple[Array, Array]:
    """A moment that is linear on its element, (T, s), and its change from the first to the second point."""
    begin = coordinates @ first.T
    change = coordinates @ second.T - begin
    return begin + share * change, change


def _axial_strains(beam: Beam, data: FloatingBody, eta: Array, rates: Array | None) -> Array:
    """eps + tau deps/dt of the elements, shape (T, elements); mean strains with von Karman strain."""
    points, strain = data.points, data.strain
    assert isinstance(points, BeamPoints)
    mesh = points.mesh
    if beam.strain is Strain.LINEAR:
        middle: Array = mesh.gauss_points(1)[0]
        moved = eta if rates is None else eta + data.viscosity * rates
        return np.asarray(moved @ points.fields(middle).stretch.T)
    slopes = eta @ strain.squares.T
    squares = slopes**2 / 2
    result = eta @ strain.rows.T
    if rates is not None:
        squares += data.viscosity * slopes * (rates @ strain.squares.T)
        result = result + data.viscosity * rates @ strain.rows.T
    per_element = (squares * strain.factors).reshape(len(eta), mesh.elements, -1)
    return np.asarray(result + per_element.sum(axis=2))
