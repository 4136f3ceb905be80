"""Energy, force and tangent of the elements of a soft body, written out (docs/theory.md, 5).

For reading, checking and single evaluations; the time loop has its own compiled form.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import summed_blocks
from phlexible.bodies.soft_law import PAIRS, ElementStrains, QuadraticConstitution

LEAST_STRAIN = 1e-5


def deformation(group: ElementStrains, x: Array) -> Array:
    """Return the deformation gradient at the q points of e elements for node positions x (..., N, d), its rows
    dx/dX_a. The result has shape (..., e, q, 3, d).
    """
    nodal = x[..., group.nodes, :]
    differences = nodal - nodal[..., :1, :]
    return np.asarray(np.einsum("eqka,...ekd->...eqad", group.gradients, differences, optimize=True))


def metric(group: ElementStrains, x: Array) -> Array:
    """Return the right Cauchy-Green tensor C at the q points of e elements for node positions x, shape (..., e, q,
    3, 3).
    """
    F = deformation(group, x)
    C = F @ np.swapaxes(F, -1, -2)
    if group.is_sheet:
        C[..., 2, 2] = 1.0
    return np.asarray(C)


def least_volumes(group: ElementStrains, x: Array) -> Array:
    """Return the smallest ratio of deformed to undeformed volume (or area) in each element, shape (e,); negative if
    a solid is inverted."""
    F = deformation(group, x)
    if not group.is_sheet:
        return np.asarray(np.linalg.det(F).min(axis=-1))
    if x.shape[1] == 2:
        return np.asarray(np.abs(np.linalg.det(F[..., :2, :])).min(axis=-1))
    return np.asarray(np.linalg.norm(np.cross(F[..., 0, :], F[..., 1, :]), axis=-1).min(axis=-1))


def strain_energy(group: ElementStrains, x: Array) -> float:
    """Return the strain energy of a group of soft elements for node positions x (N, d) [J]."""
    return float((group.weights * group.law.energy(metric(group, x))).sum())


def elastic_force(group: ElementStrains, x: Array) -> Array:
    """Return the elastic force dV/dx of a group of soft elements for node positions x, shape (N, d) [N]."""
    return stress_force(group, x, group.law.stress(metric(group, x)))


def gross_force(group: ElementStrains, x: Array) -> Array:
    """Return the sum of the absolute values of the terms of the elastic force, at least that of a strain of 1e-5.
    The result has shape (N, d) [N].
    """
    S = np.abs(group.law.stress(metric(group, x)))
    S += LEAST_STRAIN * group.law.shear * np.diag([1.0, 1.0, 0.0 if group.is_sheet else 1.0])
    forces = np.einsum(
        "eqka,eqab,eqbd->eqkd", np.abs(group.gradients), S, np.abs(deformation(group, x)), optimize=True
    )
    return _nodal_sums(group, x, np.einsum("eq,eqkd->ekd", group.weights, forces))


def elastic_tangent(group: ElementStrains, x: Array) -> sparse.csr_array:
    """Return the symmetric tangent stiffness d2V/dx2 of a group of soft elements, shape (d N, d N) [N/m]."""
    C = metric(group, x)
    blocks = _geometric_blocks(group, x, group.law.stress(C))
    return _assembled(group, x, blocks + _material_blocks(group, x, group.law.tangent(C)))


def stress_force(group: ElementStrains, x: Array, S: Array) -> Array:
    """Return the nodal forces that do the same work as second Piola-Kirchhoff stresses S (e, q, 3, 3) in the
    elements, shape (N, d) [N].
    """
    forces = np.einsum("eqab,eqbd->eqad", group.weights[..., None, None] * S, deformation(group, x))
    return _nodal_sums(group, x, np.einsum("eqka,eqad->ekd", group.gradients, forces))


def stress_stiffness(group: ElementStrains, x: Array, S: Array) -> sparse.csr_array:
    """Return the derivative of the nodal forces of constant stresses S with respect to the node positions,
    symmetric, shape (d N, d N) [N/m].
    """
    return _assembled(group, x, _geometric_blocks(group, x, S))


def strain_slopes(group: ElementStrains, x: Array) -> sparse.csr_array:
    """Return the derivatives of the six Green-Lagrange strains (shear doubled) at each point with respect to the
    node positions, shape (6 e q, d N).
    """
    rows = _strain_rows(group, x)
    e, q, _, _, d = rows.shape
    columns = np.broadcast_to((group.nodes[:, :, None] * d + np.arange(d))[:, None], (e, q, *rows.shape[3:]))
    blocks = rows.reshape(e * q, 6, -1)
    return summed_blocks(
        np.arange(6 * e * q).reshape(-1, 6), columns.reshape(e * q, -1), blocks, (6 * e * q, x.size)
    )


def viscous_matrix(group: ElementStrains, x: Array) -> sparse.csr_array:
    """Return the damping matrix C of the viscous force -C dx/dt of a group of soft elements, symmetric, positive
    semi-definite. The result has shape (d N, d N) [N s/m].
    """
    tangent = group.viscosity * QuadraticConstitution(group.law.lame, group.law.shear).tangent(np.eye(3))
    blocks = _material_blocks(group, x, np.broadcast_to(tangent, (*group.weights.shape, 6, 6)))
    return _assembled(group, x, blocks)


def branch_force(group: ElementStrains, x: Array, e: Array) -> Array:
    """Return the nodal forces of springs with the linear elasticity of the elements and given strains e (e, q, 6),
    shape (N, d) [N].
    """
    E = np.empty((*e.shape[:2], 3, 3))
    for k, (a, b) in enumerate(PAIRS):
        E[..., a, b] = E[..., b, a] = e[..., k]
    law = QuadraticConstitution(group.law.lame, group.law.shear)
    return stress_force(group, x, law.change(np.broadcast_to(np.eye(3), E.shape), E))


def _strain_rows(group: ElementStrains, x: Array) -> Array:
    """Return the derivatives of the six Green-Lagrange strains (shear doubled) at each point with respect to the k
    nodes of its element. The result has shape (e, q, 6, k, d).
    """
    F, g = deformation(group, x), group.gradients
    rows = [
        np.einsum("eqk,eqd->eqkd", g[..., a], F[..., b, :])
        + (0 if a == b else np.einsum("eqk,eqd->eqkd", g[..., b], F[..., a, :]))
        for a, b in PAIRS
    ]
    return np.stack(rows, axis=2)


def _material_blocks(group: ElementStrains, x: Array, tangent: Array) -> Array:
    """Return the stiffness of each element from the tangent of its material law (e, q, 6, 6), shape (e, k, d, k,
    d).
    """
    rows = _strain_rows(group, x)
    e, q, _, k, d = rows.shape
    flat = rows.reshape(e, q, 6, k * d)
    weighted = (group.weights[..., None, None] * tangent) @ flat
    return np.asarray(np.einsum("eqsm,eqsn->emn", flat, weighted, optimize=True).reshape(e, k, d, k, d))


def _geometric_blocks(group: ElementStrains, x: Array, S: Array) -> Array:
    """Return the geometric stiffness of each element under stresses S (e, q, 3, 3), shape (e, k, d, k, d)."""
    weighted = group.weights[..., None, None] * S
    geometric = np.einsum("eqia,eqab,eqjb->eij", group.gradients, weighted, group.gradients, optimize=True)
    return np.asarray(np.einsum("eij,cd->eicjd", geometric, np.eye(x.shape[1])))


def _nodal_sums(group: ElementStrains, x: Array, forces: Array) -> Array:
    """Sum forces on the k nodes of each element, shape (e, k, d), to forces on all nodes, shape (N, d)."""
    result = np.zeros_like(x)
    np.add.at(result, group.nodes, forces)
    return result


def _assembled(group: ElementStrains, x: Array, blocks: Array) -> sparse.csr_array:
    """Sum matrix blocks (e, k, d, k, d), which belong to the k nodes of each element, to a sparse matrix. The
    result has shape (d N, d N).
    """
    d = x.shape[1]
    indices = group.nodes[:, :, None] * d + np.arange(d)
    return summed_blocks(indices, indices, blocks, (x.size, x.size))
