"""Strain energy of a beam: linear, or von Karman with one mean axial strain per element (docs/theory.md, 3)."""

from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.mesh import BeamMesh
from phlexible.bodies.floating_body import StrainEnergy
from phlexible.bodies.material import Material
from phlexible.elements.quadrature import gauss
from phlexible.elements.sections import CrossSection

SLOPE_POINTS = 3  # v'^2 is of degree 4


class Strain(StrEnum):
    """LINEAR: u'. VON_KARMAN: u' + (v'^2 + w'^2)/2, which stiffens a stretched or spinning beam."""

    LINEAR = "linear"
    VON_KARMAN = "von_karman"


def beam_strain(
    mesh: BeamMesh, basis: Array, section: CrossSection, material: Material, strain: Strain
) -> StrainEnergy:
    """V of coordinates eta, where ``basis @ eta`` (mesh.size, n) are the coordinates of the mesh.

    Bending and torsion: int EI_z v''^2 + EI_y w''^2 + G J theta'^2 in the stiffness. Axial: int EA
    u'^2 there too, or with von Karman strain one scalar strain an element of weight EA l,
    ``eps = (1/l) int u' + (v'^2 + w'^2)/2`` (3.7); pointwise strain would lock.
    """
    axial_stiffness = material.youngs_modulus * section.area
    x, weights = mesh.gauss_points(2)
    at = mesh.fields(x, basis)
    stiffness = (
        _energy(at.curvature_y, material.youngs_modulus * section.second_moment_z * weights)
        + _energy(at.curvature_z, material.youngs_modulus * section.second_moment_y * weights)
        + _energy(at.twist_rate, material.shear_modulus * section.torsion_constant * weights)
    )
    n = basis.shape[1]
    if strain is Strain.LINEAR:
        stiffness += _energy(at.stretch, axial_stiffness * weights)
        empty = np.zeros((0, n))
        return StrainEnergy(stiffness, empty, np.zeros(0), empty, np.zeros(0), np.zeros(0, dtype=np.int64))

    middle = (np.arange(mesh.elements, dtype=np.float64) + 0.5) * mesh.element_length
    slopes = mesh.fields(mesh.gauss_points(SLOPE_POINTS)[0], basis)
    planes = [slopes.slope_y] if mesh.dimension == 2 else [slopes.slope_y, slopes.slope_z]
    per_element = [plane.reshape(mesh.elements, SLOPE_POINTS, n) for plane in planes]
    count = SLOPE_POINTS * len(planes)
    return StrainEnergy(
        stiffness=stiffness,
        rows=mesh.fields(middle, basis).stretch,
        weights=np.full(mesh.elements, axial_stiffness * mesh.element_length),
        squares=np.concatenate(per_element, axis=1).reshape(-1, n),
        factors=np.tile(gauss(SLOPE_POINTS)[1], mesh.elements * len(planes)),
        square_strain=np.repeat(np.arange(mesh.elements, dtype=np.int64), count),
    )


def linear_stiffness(strain: StrainEnergy) -> Array:
    """The stiffness at eta = 0, axial strains included, shape (n, n)."""
    result: Array = strain.stiffness + strain.rows.T @ (strain.weights[:, None] * strain.rows)
    return result


def _energy(rates: Array, weights: Array) -> Array:
    """int weight rate^2 as a symmetric matrix; rates (k, n), weights (k,)."""
    root = np.sqrt(weights)[:, None] * rates
    result: Array = root.T @ root
    return result
