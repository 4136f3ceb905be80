"""Large motion of retained shapes: Green-Lagrange strain and modal derivatives (docs/theory.md, 3)."""

from collections.abc import Callable
from enum import StrEnum

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.flexible.interfaces import MeshInterface, TiedStructure, rotation_displacements
from phlexible.bodies.flexible.mesh_matrices import ElementMaterials, quadratic_loads
from phlexible.bodies.flexible.structure import FramedStructure, Unknowns
from phlexible.bodies.floating_body import StrainEnergy

# Green-Lagrange strain of retained shapes, condensed to as many scalar strains (docs/theory.md, 3).


class MeshStrain(StrEnum):
    """Choice of the strain of bodies from meshes: linear, or Green-Lagrange, which stiffens geometrically.

    LINEAR: no geometric stiffening. GREEN_LAGRANGE: exact in rotation, condensed to the retained shapes.
    """

    LINEAR = "linear"
    GREEN_LAGRANGE = "green_lagrange"


NEGLIGIBLE = 1e-6
"""Geometric stiffness, relative to the stiffness of the shapes and to the largest one, that is left out."""


def linear_strain(frequencies: Array) -> StrainEnergy:
    """Return the linear strain energy V = sum_k omega_k^2 eta_k^2 / 2 of n displacement shapes of unit mass with
    frequencies omega (n,) [rad/s]."""
    empty = np.zeros((0, len(frequencies)))
    return StrainEnergy(
        np.diag(frequencies**2), empty, np.zeros(0), empty, np.zeros(0), np.zeros(0, dtype=np.int64)
    )


def projected_stiffness(shapes: Array, matrix_of: Callable[[Array], sparse.csr_array]) -> Array:
    """Return the geometric stiffness matrices H[k, i, j] = phi_i . K_sigma(phi_k) phi_j of n displacement
    ``shapes`` phi (N, n), shape (n, n, n), symmetrized in i and j. The function ``matrix_of`` is called with each
    phi_k (N,) and returns the sparse geometric stiffness K_sigma (N, N) of its stress.

    Args:
        shapes: shape (N, n).
        matrix_of: function that returns K_sigma of the stress of a displacement (N,).
    """
    matrices = []
    for shape in shapes.T:
        small = shapes.T @ (matrix_of(shape) @ shapes)
        matrices.append((small + small.T) / 2)
    return np.array(matrices).reshape((shapes.shape[1],) * 3)


def condensed_strain(
    frequencies: Array, geometric: Array, negligible: float = NEGLIGIBLE, unrelaxed: Array | None = None
) -> StrainEnergy:
    """Return the strain energy V = sum_k eps_k^2 / 2 of n displacement shapes with amplitudes eta. The strains are
    eps_k = omega_k eta_k + eta.C_k eta / 2. ``frequencies`` are omega_k [rad/s]; C_k = H_k / omega_k with
    ``geometric`` stiffness H_k. Each C of ``unrelaxed`` adds a strain eta.C eta / 2. Eigenvalues of the scaled H_k
    below ``negligible`` times the largest entry are dropped; without any, eps_k is linear.

    Displacements that are not retained relax the quadratic strain, except its projection on the linear strains of
    the retained shapes. C_k is split into squares in coordinates of equal strain energy, in which entries are
    comparable: shapes with negligible rotation are left out.

    Args:
        frequencies: omega, shape (n,) [rad/s].
        geometric: H, shape (n, n, n).
        negligible: see ``NEGLIGIBLE``.
        unrelaxed: C of further strains eta . C eta / 2 that are not relaxed (3.19), shape (m, n, n).
    """
    n = len(frequencies)
    scaled = geometric / (frequencies[:, None, None] * frequencies[:, None] * frequencies)
    limit = negligible * np.abs(scaled).max(initial=0.0)
    rows, squares, factors, owners, rest = [], [], [], [], np.zeros(n)
    for k in range(n):
        turning = np.abs(scaled[k]).max(axis=1) > limit
        values, vectors = np.linalg.eigh(scaled[k] * np.outer(turning, turning))
        keep = np.abs(values) > limit
        if not keep.any():
            rest[k] = frequencies[k] ** 2
            continue
        vectors[~turning] = 0.0
        rows.append(frequencies[k] * np.eye(n)[k])
        squares.append((frequencies[:, None] * vectors[:, keep]).T)
        factors.append(values[keep])
        owners.append(np.full(int(keep.sum()), len(rows) - 1))
    for matrix in np.zeros((0, n, n)) if unrelaxed is None else unrelaxed:
        values, vectors = np.linalg.eigh(matrix / np.outer(frequencies, frequencies))
        keep = np.abs(values) > negligible * np.abs(values).max(initial=0.0)
        rows.append(np.zeros(n))
        squares.append((frequencies[:, None] * vectors[:, keep]).T)
        factors.append(values[keep])
        owners.append(np.full(int(keep.sum()), len(rows) - 1))
    return StrainEnergy(
        stiffness=np.diag(rest),
        rows=np.array(rows).reshape(-1, n),
        weights=np.ones(len(rows)),
        squares=np.vstack([*squares, np.zeros((0, n))]),
        factors=np.concatenate([*factors, np.zeros(0)]),
        square_strain=np.concatenate([*owners, np.zeros(0)]).astype(np.int64),
    )


# Modal derivatives: displacements that relax the quadratic strain of other displacements (docs/theory.md, 3).

NEGLIGIBLE_DERIVATIVE = 0.1
"""Size of a derivative, relative to the largest one at unit energies of the shapes, that is left out."""


def derivative_loads(
    mesh: ElementMesh,
    materials: ElementMaterials,
    unknowns: Unknowns,
    interfaces: tuple[MeshInterface, ...],
    tied: TiedStructure,
    framed: FramedStructure,
    shapes: Array,
) -> Array:
    """Return m loads (q, m) on a structure whose static responses are modal derivatives of displacement ``shapes``
    (q, n). Loads are forces of the quadratic strain of each pair of shapes, less forces of second-order rotations
    of ``interfaces``. Pairs are combined by eigenvectors of the mutual energies of their responses. Combinations
    with less than 0.1 of the largest amplitude are left out. ``framed`` computes responses, ``tied`` has the
    structure.

    Derivatives of all pairs are ordered by their energy at unit energies of the shapes.
    """
    d = mesh.dimension
    rotations = np.zeros((len(interfaces), 3, shapes.shape[1]))
    rotations[:, unknowns.spin_axes] = np.array([(tied.rows[port.name] @ shapes)[d:] for port in interfaces])
    fields = unknowns.vectors(np.asarray(tied.columns @ shapes), mesh.node_count)[:, :d]
    missing = tied.untied.stiffness @ rotation_displacements(interfaces, unknowns, rotations)
    first, second = np.triu_indices(shapes.shape[1])
    times = np.where(first == second, 1.0, np.sqrt(2.0))
    loads = np.asarray(tied.columns.T @ (quadratic_loads(mesh, materials, fields) - missing)) * times
    energies = loads.T @ framed.responses(loads)
    values, vectors = np.linalg.eigh((energies + energies.T) / 2)
    return np.asarray(loads @ vectors[:, values > NEGLIGIBLE_DERIVATIVE**2 * values[-1]])
