"""Stretch of the middle surface that no displacement relaxes (docs/theory.md, 3).

A plate that curves in two directions must stretch: by the part of its quadratic membrane strain that is no strain
of any displacement.
"""

from collections.abc import Callable

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.plates.assembly import surface_gradients
from phlexible.bodies.flexible.plates.section import PlateSection
from phlexible.bodies.flexible.plates.strains import plate_quadrature

SOFT = 0.1
"""Membrane strain of a shape by itself, of that of the softest at equal energy, below which it takes no part."""
FELT = 0.1
"""Strain without linear part, of the unrelaxed strain at equal energy, that is left out."""


def surface_strains(
    mesh: ElementMesh, section: PlateSection, shapes: Array, frequencies: Array, relaxed: Callable[[Array], Array]
) -> Array:
    """C of strains eta . C eta / 2 of weight one (3.19), shape (m, n, n).

    Args:
        shapes: shape (5 N, n).
        frequencies: of the shapes, shape (n,) [rad/s].
        relaxed: displacements (5 N, k) under loads (5 N, k) that leave no resultant.
    """
    n = shapes.shape[1]
    soft = _soft(mesh, section, shapes / frequencies)
    pairs = [(i, j) for k, i in enumerate(soft) for j in soft[k:]]
    if not pairs:
        return np.zeros((0, n, n))
    energies, loads = _quadratic(mesh, section, shapes / frequencies, pairs)
    rest = energies - loads.T @ relaxed(loads)
    twice = np.array([1.0 if i == j else np.sqrt(2.0) for i, j in pairs])
    values, vectors = np.linalg.eigh((rest + rest.T) / 2 * np.outer(twice, twice))
    scale = float((np.diag(energies) * twice**2).max())
    found = []
    for value, vector in zip(values[::-1], vectors.T[::-1], strict=True):
        if value < FELT**2 * scale:
            break
        matrix = np.zeros((n, n))
        for (i, j), share in zip(pairs, vector, strict=True):
            matrix[i, j] = matrix[j, i] = share if i == j else share / np.sqrt(2.0)
        found.append(np.sqrt(value) * frequencies[:, None] * matrix * frequencies)
    return np.array(found).reshape(-1, n, n)


def _soft(mesh: ElementMesh, section: PlateSection, shapes: Array) -> list[int]:
    """Numbers of the shapes that turn much."""
    own = np.zeros(shapes.shape[1])
    for part in plate_quadrature(mesh, section):
        slopes, _, _ = surface_gradients(part, shapes)
        strain = _products(slopes, slopes)
        stress = np.einsum("eab,eqbn->eqan", section.membrane[part.elements], strain, optimize=True)
        own += np.einsum("eq,eqan,eqan->n", part.weights, stress, strain, optimize=True)
    return [int(k) for k in np.flatnonzero(np.sqrt(own) > SOFT * np.sqrt(own.max(initial=0.0)))]


def _quadratic(
    mesh: ElementMesh, section: PlateSection, shapes: Array, pairs: list[tuple[int, int]]
) -> tuple[Array, Array]:
    """int Q_p . D Q_q over all pairs p and q, and the loads int B^T D Q_p."""
    first, second = np.array(pairs).T
    energies, loads = np.zeros((len(pairs),) * 2), np.zeros((len(shapes), len(pairs)))
    for part in plate_quadrature(mesh, section):
        slopes, _, _ = surface_gradients(part, shapes)
        strain = _products(slopes[..., first], slopes[..., second])
        stress = np.einsum(
            "eq,eab,eqbp->eqap", part.weights, section.membrane[part.elements], strain, optimize=True
        )
        energies += strain.reshape(-1, len(pairs)).T @ stress.reshape(-1, len(pairs))
        own = np.einsum("eqai,eqap->eip", part.strains[:, :, :3], stress, optimize=True)
        np.add.at(loads, part.unknowns, own)
    return energies, loads


def _products(left: Array, right: Array) -> Array:
    """Membrane strain (xx, yy, 2 xy) of (grad a)^T grad b, shape (e, q, 3, n)."""
    xx, yy = ((left[:, :, :, a] * right[:, :, :, a]).sum(axis=2) for a in (0, 1))
    xy = (left[:, :, :, 0] * right[:, :, :, 1] + left[:, :, :, 1] * right[:, :, :, 0]).sum(axis=2)
    return np.stack([xx, yy, xy], axis=2)
