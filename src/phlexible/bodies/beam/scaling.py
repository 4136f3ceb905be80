"""Arrays of uniform beams, scaled from those of a beam with elements of 1 m (docs/theory.md, 3)."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from phlexible.algebra.arrays import Array, make_arrays_read_only
from phlexible.algebra.sparse import Matrix
from phlexible.bodies.beam.bases import BeamBasis, Frame, coordinate_units, frame_basis
from phlexible.bodies.beam.mesh import (
    BeamMesh,
    Measure,
    beam_inertia,
    beam_moments,
    section_moments,
    section_stiffness,
    section_strains,
)
from phlexible.bodies.beam.strain import Strain, assembled_stiffness, beam_strain, element_forces
from phlexible.bodies.floating_body import LocalMoments, StrainEnergy
from phlexible.bodies.material import Material
from phlexible.elements.sections import GeneralSection, UniformSection

# Where stretch, shear, twist and bending of a uniform section are not coupled, the mass integrals of a beam are
# sums over its mass per length, rho I_z and rho I_y, its stiffness a sum over EA, GA_y, GA_z, GJ, EI_y and EI_z.
# What these multiply depends on the number of elements, the frame and the theory, and by powers on the length of an
# element.

MOST_COORDINATES, STRUCTURES = 100, 16
"""Number of mesh coordinates of the largest beams that are scaled, and number of structures that are stored."""
POWERS = np.array([1.0, 1.0, 1.0, 3.0, 3.0, 3.0])
"""Powers of length in the unit of each section stiffness (EA, GA_y, GA_z, GJ, EI_y, EI_z): kg m/s2, kg m3/s2."""


@dataclass(frozen=True, eq=False)
class BeamArrays:
    """Mass integrals and strain energy of a beam as functions of its elastic coordinates.

    Attributes:
        columns: mesh coordinates per unit of each of n elastic coordinates, shape (mesh.size, n).
        units: of the n elastic coordinates.
        mass: [kg].
        first_moments: S, shape (3, n + 1).
        second_moments: W, shape (3, 3, n + 1, n + 1).
        strain: strain energy.
    """

    columns: Matrix
    units: tuple[str, ...]
    mass: float
    first_moments: Array
    second_moments: Array | LocalMoments
    strain: StrainEnergy


def scaled_arrays(
    mesh: BeamMesh, section: UniformSection, material: Material | None, frame: Frame, strain: Strain, rotates: bool
) -> tuple[BeamArrays, BeamBasis] | None:
    """Return the arrays of a uniform beam and the basis of its coordinates, by scaling cached arrays of a unit
    beam. That has elements of length 1 m and a unit section. Return None for more than 100 mesh coordinates, for a
    section stiffness or mass matrix that is not diagonal, or for the mean-axis ``frame``. ``rotates`` says whether
    sections have rotary inertia of bending."""
    if mesh.size > MOST_COORDINATES or frame is Frame.MEAN_AXIS:
        return None
    stiffness, moments = section_stiffness(section, material, mesh.theory), section_moments(section, material)
    if any(np.count_nonzero(own) > np.count_nonzero(own.diagonal()) for own in (stiffness, moments)):
        return None
    arrays, basis, measures = _unit_beam(mesh.unit, frame, strain, rotates)
    length, own = mesh.element_length, arrays.strain
    inertia = moments.diagonal() * (length, 1 / length, 1 / length)
    if not rotates:
        inertia[1:] = inertia[1:].mean()  # which the spin about the axis alone has
    sizes = np.array([length, *(1.0 if unit == "m" else length for unit in arrays.units)])
    products, scaled = np.outer(sizes, sizes), stiffness.diagonal() / length**POWERS
    scaled_strain = replace(
        own,
        stiffness=_combined(scaled[measures], np.asarray(own.stiffness)) * products[1:, 1:],
        rows=own.rows * (sizes[1:] / length),
        weights=own.weights * (scaled[Measure.STRETCH] * length**2),
        squares=own.squares * (sizes[1:] / length),
    )
    inertia = inertia[: mesh.dimension]
    first = _combined(inertia, arrays.first_moments) * sizes
    second = _combined(inertia, np.asarray(arrays.second_moments)) * products
    mass = float(inertia[0]) * arrays.mass
    return BeamArrays(basis.columns, arrays.units, mass, first, second, scaled_strain), basis


def _combined(factors: Array, arrays: Array) -> Array:
    """Return the weighted sum of k ``arrays``, shape (k, ...), with ``factors`` (k,). It is summed array by array
    instead of by BLAS, whose round-off differs between entries, so that symmetric matrices stay symmetric."""
    return np.asarray(sum(factor * array for factor, array in zip(factors, arrays, strict=True)))


@lru_cache(STRUCTURES)
def _unit_beam(
    mesh: BeamMesh, frame: Frame, strain: Strain, rotates: bool
) -> tuple[BeamArrays, BeamBasis, list[Measure]]:
    """Return mass and stiffness arrays of a beam with elements of length 1 m and unit section properties, its shape
    functions, and its strain measures. Arrays of real beams follow from them by scaling; they are read-only and
    cached. Mass arrays have a leading axis for the area integrals of 1, y^2 and z^2 (the first two in the plane),
    each equal to 1 in turn. The stiffness has a leading axis for the returned strain measures, each with unit
    stiffness; stretch is left out for von Karman strain. The ``BeamBasis`` has the shapes that fit the body
    ``frame``, as columns over the unknowns of ``mesh``. ``rotates`` says whether sections have rotary inertia of
    bending."""
    section = GeneralSection(np.eye(6), np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0]))
    inertia = beam_inertia(mesh, section, None, (), rotates)
    basis = frame_basis(frame, mesh, lambda _: inertia, is_sparse=False)
    moments: list[tuple[Array, Array | LocalMoments]] = []
    for component in (0, 2, 3)[: mesh.dimension]:  # 1, y and z
        alone = np.zeros_like(inertia.moments)
        alone[:, component, component] = inertia.moments[:, component, component]
        spin = inertia.spin / 2 if component else 0.0
        moments.append(beam_moments(mesh, basis.columns, replace(inertia, moments=alone, spin=spin)))
    forces = element_forces(mesh, basis.columns, section, None)
    measures = section_strains(mesh.theory, mesh.dimension)[strain is Strain.VON_KARMAN :]
    members = [forces.coefficients_of(measure) for measure in measures]
    stiffness = [
        assembled_stiffness(forces.stiffness[:, kept][:, :, kept], [forces.strains[k] for k in kept])
        for kept in members
    ]
    first, second = (np.array(own) for own in zip(*moments, strict=True))
    energy = replace(beam_strain(forces, strain), stiffness=np.array(stiffness))
    mass = float(mesh.elements)
    unit = BeamArrays(basis.columns, coordinate_units(mesh, basis.columns, "1"), mass, first, second, energy)
    for record in (unit, energy, basis):
        make_arrays_read_only(record)
    return unit, basis, measures
