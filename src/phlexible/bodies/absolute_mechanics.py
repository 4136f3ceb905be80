"""Energy, forces and matrices of one body in absolute coordinates, written out (formulation, section 5).

For reading, checking and single evaluations; the time loop has its own compiled form. With
``G_g = 2 A_g q`` for ``C_g = q^T A_g q`` the elastic force is ``sum w W'(C) G`` and the tangent
``sum w (2 W' A + W'' G G^T)``.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains


def mass_matrix(body: AbsoluteBody) -> sparse.csr_array:
    """M of the kinetic energy dq/dt . M dq/dt / 2, constant, shape (d N, d N)."""
    return sparse.csr_array(sparse.kron(body.nodal_mass, sparse.eye_array(body.dimension), "csr"))


def strains(body: AbsoluteBody, group: QuadraticStrains, q: Array) -> Array:
    """C_g of a group, shape (g,)."""
    x = q.reshape(-1, body.dimension)[group.nodes]
    return np.asarray(np.einsum("gij,gid,gjd->g", group.forms, x, x))


def strain_energy(body: AbsoluteBody, q: Array) -> float:
    """sum_g w_g W(C_g) [J]."""
    return float(sum(group.weights @ group.law.energy(strains(body, group, q)) for group in body.strains))


def elastic_force(body: AbsoluteBody, q: Array) -> Array:
    """dV/dq, shape (d N,) [N]."""
    force = np.zeros((body.node_count, body.dimension))
    for group in body.strains:
        pull = group.weights * group.law.derivative(strains(body, group, q))
        np.add.at(force, group.nodes, pull[:, None, None] * _gradients(body, group, q))
    return force.ravel()


def elastic_tangent(body: AbsoluteBody, q: Array) -> sparse.csr_array:
    """d2V/dq2, symmetric, shape (d N, d N) [N/m]."""
    total = sparse.csr_array((body.elastic_count,) * 2)
    one = np.eye(body.dimension)
    for group in body.strains:
        C = strains(body, group, q)
        slope, gradients = group.weights * group.law.derivative(C), _gradients(body, group, q)
        curvature = group.weights * group.law.curvature(C)
        blocks = np.einsum("g,gij,ab->giajb", 2 * slope, group.forms, one)
        blocks += np.einsum("g,gia,gjb->giajb", curvature, gradients, gradients)
        total += _assembled(body, group, blocks)
    return sparse.csr_array(total)


def viscous_matrix(body: AbsoluteBody, q: Array) -> sparse.csr_array:
    """C of the force -C dq/dt at q, symmetric, positive semi-definite, shape (d N, d N) [N s/m]."""
    total = sparse.csr_array((body.elastic_count,) * 2)
    for group in body.strains:
        if group.viscosity:
            gradients = _gradients(body, group, q)
            weights = group.weights * group.viscosity * group.law.modulus / 4
            total += _assembled(body, group, np.einsum("g,gia,gjb->giajb", weights, gradients, gradients))
    return sparse.csr_array(total)


def form_columns(body: AbsoluteBody, group: QuadraticStrains, nodes: Array) -> sparse.csr_array:
    """Columns w_g A_g q of nodes (N, d), shape (d N, g)."""
    d = body.dimension
    pulls = group.weights[:, None, None] * np.einsum("gij,gjd->gid", group.forms, nodes[group.nodes])
    rows = group.nodes[:, :, None] * d + np.arange(d)
    place = np.broadcast_to(np.arange(len(pulls))[:, None, None], pulls.shape)
    entries = (pulls.ravel(), (rows.ravel(), place.ravel()))
    return sparse.coo_array(entries, (body.elastic_count, len(pulls))).tocsr()


def assembled_forms(body: AbsoluteBody, group: QuadraticStrains, factors: Array) -> sparse.csr_array:
    """sum_g factors[g] A_g, shape (d N, d N)."""
    one = np.eye(body.dimension)
    return _assembled(body, group, np.einsum("g,gij,ab->giajb", factors, group.forms, one))


def _gradients(body: AbsoluteBody, group: QuadraticStrains, q: Array) -> Array:
    """dC_g / dq of the nodes of each strain, shape (g, k, d)."""
    x = q.reshape(-1, body.dimension)[group.nodes]
    return np.asarray(2 * np.einsum("gij,gjd->gid", group.forms, x))


def _assembled(body: AbsoluteBody, group: QuadraticStrains, blocks: Array) -> sparse.csr_array:
    """Blocks (g, k, d, k, d) over the nodes of each strain, added up."""
    places = group.nodes[:, :, None] * body.dimension + np.arange(body.dimension)
    rows = np.broadcast_to(places[:, :, :, None, None], blocks.shape)
    columns = np.broadcast_to(places[:, None, None, :, :], blocks.shape)
    entries = (blocks.ravel(), (rows.ravel(), columns.ravel()))
    return sparse.coo_array(entries, (body.elastic_count,) * 2).tocsr()
