"""Strain energy of a beam: linear, or von Karman with one mean axial strain per element (docs/theory.md, 3)."""

from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.resultants import ElementForces
from phlexible.bodies.floating_body import StrainEnergy


class Strain(StrEnum):
    """LINEAR: u'. VON_KARMAN: u' + (v'^2 + w'^2)/2, which stiffens a stretched or spinning beam."""

    LINEAR = "linear"
    VON_KARMAN = "von_karman"


def beam_strain(forces: ElementForces, strain: Strain) -> StrainEnergy:
    """V of coordinates eta, with the section forces eliminated: e.S e / 2 of the tested strains e.

    Linear: all of it in the stiffness. Von Karman: e_N holds the squares of the slopes, and the energy is
    ``S_NN (e_N + sum S_No e_o / S_NN)^2 / 2 + e_o.(S_oo - S_oN S_No / S_NN) e_o / 2``: one scalar strain an
    element, divided by its length, ``eps = (1/l) int u' + (v'^2 + w'^2)/2`` plus what couples with stretch (3.7);
    pointwise strain would lock.
    """
    length, n = forces.mesh.element_length, forces.strains.shape[2]
    if strain is Strain.LINEAR:
        empty = np.zeros((0, n))
        stiffness = _energy(forces.stiffness, forces.strains)
        return StrainEnergy(stiffness, empty, np.zeros(0), empty, np.zeros(0), np.zeros(0, dtype=np.int64))
    whole = forces.stiffness
    stretch = whole[:, 0, 0]
    coupling = whole[:, 0, 1:] / stretch[:, None]
    rows = forces.strains[:, 0] + np.einsum("es,esn->en", coupling, forces.strains[:, 1:])
    others = whole[:, 1:, 1:] - coupling[:, :, None] * whole[:, 0, None, 1:]
    count = len(forces.factors)
    return StrainEnergy(
        stiffness=_energy(others, forces.strains[:, 1:]),
        rows=rows / length,
        weights=stretch * length**2,
        squares=forces.slopes.reshape(-1, n),
        factors=np.tile(forces.factors / length, forces.mesh.elements),
        square_strain=np.repeat(np.arange(forces.mesh.elements, dtype=np.int64), count),
    )


def linear_stiffness(strain: StrainEnergy) -> Array:
    """The stiffness at eta = 0, axial strains included, shape (n, n)."""
    result: Array = strain.stiffness + strain.rows.T @ (strain.weights[:, None] * strain.rows)
    return result


def _energy(stiffness: Array, strains: Array) -> Array:
    """sum_e B_e^T S_e B_e as a symmetric matrix."""
    root = np.linalg.cholesky(stiffness).transpose(0, 2, 1) @ strains
    flat = root.reshape(-1, strains.shape[2])
    result: Array = flat.T @ flat
    return result
