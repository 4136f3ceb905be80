"""Energy, force and tangent of the elements of a soft body, written out (docs/theory.md, 5).

For reading, checking and single evaluations; the time loop has its own compiled form.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import summed_blocks
from phlexible.bodies.skin import SIX
from phlexible.bodies.soft_law import ElementStrains, QuadraticConstitution, as_tensor

Terms = Callable[[Array], Array]


def deformation(group: ElementStrains, x: Array) -> Array:
    """Return the transposed deformation gradients, rows dx/dX_a, at the q quadrature points of a soft body's e
    elements. The shape is (..., e, q, 3, d). ``group`` are the elements, x (..., N, d) the node positions."""
    nodal = x[..., group.nodes, :]
    differences = nodal - nodal[..., :1, :]
    return np.asarray(np.einsum("eqka,...ekd->...eqad", group.gradients, differences, optimize=True))


def metric(group: ElementStrains, x: Array) -> Array:
    """Return the right Cauchy-Green tensors C at the q quadrature points of e elements (``group``) of a soft body,
    shape (..., e, q, 3, 3). Node positions are x (..., N, d). For sheets, the entry C_33 across the thickness is
    set to 1."""
    F = deformation(group, x)
    C = F @ np.swapaxes(F, -1, -2)
    if group.is_sheet:
        C[..., 2, 2] = 1.0
    return np.asarray(C)


def least_volumes(group: ElementStrains, x: Array) -> Array:
    """Return the smallest ratio of deformed to undeformed volume (of a sheet: area) over the quadrature points of
    each of e elements of a soft body, shape (e,). It is negative if a solid element is inverted, never for sheets.
    ``group`` are the elements, x (N, d) the node positions."""
    F = deformation(group, x)
    if not group.is_sheet:
        return np.asarray(np.linalg.det(F).min(axis=-1))
    if x.shape[1] == 2:
        return np.asarray(np.abs(np.linalg.det(F[..., :2, :])).min(axis=-1))
    return np.asarray(np.linalg.norm(np.cross(F[..., 0, :], F[..., 1, :]), axis=-1).min(axis=-1))


def strain_energy(group: ElementStrains, x: Array) -> float:
    """Return the strain energy [J] of a group of elements of a soft body for node positions x (N, d), integrated by
    quadrature."""
    return float((group.weights * group.law.energy(metric(group, x))).sum())


def elastic_force(group: ElementStrains, x: Array, terms: Terms = np.asarray) -> Array:
    """Return the elastic force dV/dx of a group of elements of a soft body on its nodes, shape (N, d) [N]. The node
    positions are x (N, d). With np.abs as ``terms``, all factors of the sum are replaced by absolute values: a
    scale for the balance of forces."""
    return stress_force(group, x, group.law.stress(metric(group, x)), terms)


def elastic_tangent(group: ElementStrains, x: Array) -> sparse.csr_array:
    """Return the tangent stiffness d2V/dx2 of a group of elements of a soft body at node positions x (N, d). It is
    symmetric and sparse, shape (d N, d N) [N/m]. It is the sum of a geometric part (stress) and a material part
    (tangent of the elastic law)."""
    C = metric(group, x)
    blocks = _geometric_blocks(group, x, group.law.stress(C))
    return assembled(group.nodes, x, blocks + _material_blocks(group, x, group.law.tangent(C)))


def stress_force(group: ElementStrains, x: Array, S: Array, terms: Terms = np.asarray) -> Array:
    """Return the nodal forces of second Piola-Kirchhoff stresses S (e, q, 3, 3) in the elements of a soft body, by
    virtual work; shape (N, d) [N]. ``group`` are the elements, ``x`` (N, d) the node positions. With np.abs as
    ``terms``, all factors are replaced by absolute values."""
    forces = np.einsum("eqab,eqbd->eqad", group.weights[..., None, None] * terms(S), terms(deformation(group, x)))
    return nodal_sums(group.nodes, x, np.einsum("eqka,eqad->ekd", terms(group.gradients), forces))


def stress_stiffness(group: ElementStrains, x: Array, S: Array) -> sparse.csr_array:
    """Return the geometric stiffness of constant stresses S (e, q, 3, 3) in the elements of a soft body: the
    derivative of their nodal forces with respect to the node positions, shape (d N, d N) [N/m]. ``group`` are
    the elements. ``x`` are the node positions, shape (N, d)."""
    return assembled(group.nodes, x, _geometric_blocks(group, x, S))


def strain_slopes(group: ElementStrains, x: Array) -> sparse.csr_array:
    """Return the derivatives of six Green-Lagrange strains of soft elements with respect to the node positions x
    (N, d). The result is sparse, shape (6 e q, d N), for q quadrature points in each of e elements (``group``).
    The six strains are E_11, E_22, E_33, 2 E_23, 2 E_13, 2 E_12."""
    rows = _strain_rows(group, x)
    e, q, _, _, d = rows.shape
    columns = np.broadcast_to((group.nodes[:, :, None] * d + np.arange(d))[:, None], (e, q, *rows.shape[3:]))
    blocks = rows.reshape(e * q, 6, -1)
    return summed_blocks(
        np.arange(6 * e * q).reshape(-1, 6), columns.reshape(e * q, -1), blocks, (6 * e * q, x.size)
    )


def viscous_matrix(group: ElementStrains, x: Array) -> sparse.csr_array:
    """Return the damping matrix C of the viscous force -C dx/dt of soft elements (``group``), sparse, shape (d N, d
    N) [N s/m]. The node positions are x (N, d). The viscous modulus is the viscosity times the linear elastic
    tangent of the material."""
    tangent = group.viscosity * QuadraticConstitution(group.law.lame, group.law.shear).tangent(np.eye(3))
    blocks = _material_blocks(group, x, np.broadcast_to(tangent, (*group.weights.shape, 6, 6)))
    return assembled(group.nodes, x, blocks)


def branch_force(group: ElementStrains, x: Array, e: Array) -> Array:
    """Return the nodal forces (N, d) [N] of the stress of Maxwell branches in the soft elements ``group``, as a
    gradient of energy; the caller subtracts them. ``e`` (e, q, 6) are tensor strains E_11, E_22, E_33, E_23, E_13,
    E_12, summed over branches with their shares. The second Piola-Kirchhoff stress is lame tr(E) I + 2 shear E.
    ``x`` (N, d) are node positions."""
    law = QuadraticConstitution(group.law.lame, group.law.shear)
    return stress_force(group, x, law.stress_change(np.eye(3), as_tensor(e)))


def _strain_rows(group: ElementStrains, x: Array) -> Array:
    """Return the derivatives of six Green-Lagrange strains at each quadrature point of soft elements (``group``)
    with respect to the element's node positions. The shape is (e, q, 6, k, d) for k nodes of an element. The six
    are E_11, E_22, E_33, 2 E_23, 2 E_13, 2 E_12. ``x`` (N, d) are the node positions."""
    F, g = deformation(group, x), group.gradients
    rows = [
        np.einsum("eqk,eqd->eqkd", g[..., a], F[..., b, :])
        + (0 if a == b else np.einsum("eqk,eqd->eqkd", g[..., b], F[..., a, :]))
        for a, b in SIX
    ]
    return np.stack(rows, axis=2)


def _material_blocks(group: ElementStrains, x: Array, tangent: Array) -> Array:
    """Return the material part of the tangent stiffness of each of e soft elements, shape (e, k, d, k, d). k is
    the number of nodes, d of dimensions. It is the integral of strain derivatives times ``tangent`` times strain
    derivatives, by quadrature. ``tangent`` (e, q, 6, 6) are the derivatives dS/dE of the stress at q points.
    ``group`` are the elements, ``x`` (N, d) the node positions."""
    rows = _strain_rows(group, x)
    e, q, _, k, d = rows.shape
    flat = rows.reshape(e, q, 6, k * d)
    weighted = (group.weights[..., None, None] * tangent) @ flat
    return np.asarray(np.einsum("eqsm,eqsn->emn", flat, weighted, optimize=True).reshape(e, k, d, k, d))


def _geometric_blocks(group: ElementStrains, x: Array, S: Array) -> Array:
    """Return the geometric stiffness of each element of a soft body under stresses S (e, q, 3, 3), shape (e,
    k, d, k, d). ``group`` are the elements. ``x`` are the node positions, shape (N, d)."""
    weighted = group.weights[..., None, None] * S
    geometric = np.einsum("eqia,eqab,eqjb->eij", group.gradients, weighted, group.gradients, optimize=True)
    return np.asarray(np.einsum("eij,cd->eicjd", geometric, np.eye(x.shape[1])))


def nodal_sums(nodes: IntArray, x: Array, forces: Array) -> Array:
    """Return the forces on the N nodes of a body, shape (N, d): sums of the ``forces`` (e, k, d) on the k ``nodes``
    (e, k) of each element. Of x only the shape (N, d) is used."""
    result = np.zeros_like(x)
    np.add.at(result, nodes, forces)
    return result


def assembled(nodes: IntArray, x: Array, blocks: Array) -> sparse.csr_array:
    """Return the sparse matrix (d N, d N) of a body that is the sum of its element matrices ``blocks`` (e, k, d, k,
    d). The ``nodes`` (e, k) are those of each element; of x only the shape (N, d) is used."""
    d = x.shape[1]
    indices = nodes[:, :, None] * d + np.arange(d)
    return summed_blocks(indices, indices, blocks, (x.size, x.size))
