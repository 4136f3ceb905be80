"""Energy, forces and matrices of one body in absolute coordinates, written out (docs/theory.md, 5).

For reading, checking and single evaluations; the time loop has its own compiled form. With
``G_g = 2 A_g q`` for ``C_g = q^T A_g q`` the elastic force is ``sum w W'(C) G`` and the tangent
``sum w (2 W' A + W'' G G^T)`` (5.3).
"""

from typing import Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import summed_blocks
from phlexible.bodies import product_elements
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains
from phlexible.bodies.mechanics import soft
from phlexible.bodies.mechanics.soft import Terms

ROUND_OFF = 1e-14


def mass_matrix(body: AbsoluteBody) -> sparse.csr_array:
    """Return the constant mass matrix of a string or soft body with N nodes in dimension d, sparse, shape (d N, d
    N) [kg]: the nodal mass matrix for each component."""
    return sparse.csr_array(sparse.kron(body.nodal_mass, sparse.eye_array(body.dimension), "csr"))


def strain_values(group: QuadraticStrains, x: Array) -> Array:
    """Return the scalar strains C_g (squared stretches) of a group of string elements for node positions x (..., N,
    d) [m], shape (..., g)."""
    u, v = _strain_vectors(group, x)
    return np.asarray((u * v).sum(axis=-1))


def strain_rates(group: QuadraticStrains, x: Array, v: Array) -> Array:
    """Return the time derivatives dC_g/dt of the scalar strains of a group of string elements, shape (..., g). Node
    positions are x, their velocities v, both (..., N, d)."""
    (first, second), (first_rate, second_rate) = _strain_vectors(group, x), _strain_vectors(group, v)
    return np.asarray((first_rate * second + first * second_rate).sum(axis=-1))


def strains(body: AbsoluteBody, group: QuadraticStrains, q: Array) -> Array:
    """Return the scalar strains C_g (squared stretches) of one group of elements of a string, for the coordinates q
    (d N,) of the body; shape (g,)."""
    return strain_values(group, q.reshape(-1, body.dimension))


def strain_energy(body: AbsoluteBody, q: Array) -> float:
    """Return the strain energy [J] of a string, soft body or shell at the vectors q (d N,) of its N nodes. It is
    summed over scalar strains (law of each strain times its weight) and all groups of finite elements. d is the
    dimension."""
    energy = sum(group.weights @ group.law.energy(strains(body, group, q)) for group in body.strains)
    nodes = node_positions(body, q)
    return float(energy + sum(kind.strain_energy(group, nodes) for kind, group in _elements(body)))


def elastic_force(body: AbsoluteBody, q: Array, terms: Terms = np.asarray) -> Array:
    """Return the gradient dV/dq of the strain energy V of a string or soft body, shape (d N,) [N]. q (d N,) are
    its node positions; the elastic force on the nodes is minus the gradient. With np.abs as ``terms``, stresses
    and strain gradients are replaced by absolute values, which gives a scale of the force for tolerances."""
    force = np.zeros((body.node_count, body.dimension))
    for group in body.strains:
        forces = group.weights * terms(group.law.derivative(strains(body, group, q)))
        np.add.at(force, group.nodes, forces[:, None, None] * terms(_gradients(body, group, q)))
    for kind, elements in _elements(body):
        force += kind.elastic_force(elements, node_positions(body, q), terms)
    return force.ravel()


def elastic_tangent(body: AbsoluteBody, q: Array) -> sparse.csr_array:
    """Return the tangent stiffness d2V/dq2 of a string or soft body at node positions q (d N,), sparse, shape (d
    N, d N) [N/m]. It is the symmetric sum of a material part (law's second derivative times strain gradients) and
    a geometric part (stress times second derivatives of strains). In strings, stresses below the round-off of
    strains are set to zero."""
    total = sparse.csr_array((body.elastic_count,) * 2)
    for group in body.strains:
        C, gradients = strains(body, group, q), _gradients(body, group, q)
        curvature = group.weights * group.law.curvature(C)
        stress = group.weights * group.law.derivative(C)
        rounding = 4 * np.finfo(float).eps * np.abs(group.first).sum(axis=1) * np.abs(q).max()  # of C
        total += assembled_forms(body, group, np.where(np.abs(stress) > curvature * rounding, stress, 0.0))
        total += _assembled(body, group, np.einsum("g,gia,gjb->giajb", curvature, gradients, gradients))
    for kind, elements in _elements(body):
        total += kind.elastic_tangent(elements, node_positions(body, q))
    return sparse.csr_array(total)


def viscous_matrix(body: AbsoluteBody, q: Array) -> sparse.csr_array:
    """Return the damping matrix C(q) of the viscous force -C dq/dt of a string or soft body, sparse, shape (d N, d
    N) [N s/m]. q (d N,) are the node positions; C is symmetric. It is the sum over all elements with Kelvin-Voigt
    viscosity of strain gradients times viscous modulus times strain gradients; zero without viscosity."""
    total = sparse.csr_array((body.elastic_count,) * 2)
    for group in body.strains:
        if group.viscosity:
            gradients = _gradients(body, group, q)
            weights = group.weights * group.viscosity * group.law.viscous_modulus(strains(body, group, q))
            total += _assembled(body, group, np.einsum("g,gia,gjb->giajb", weights, gradients, gradients))
    for kind, elements in _elements(body):
        if elements.viscosity:
            total += kind.viscous_matrix(elements, node_positions(body, q))
    return sparse.csr_array(total)


def node_positions(body: AbsoluteBody, q: Array) -> Array:
    """Return the coordinates q (d N,) of a string or soft body as positions of its N nodes, shape (N, d)."""
    return q.reshape(-1, body.dimension)


def with_row_sum(rows: Array) -> Array:
    """Return rows (g, k) with the sum of each appended as a last entry, shape (g, k + 1). A sum that is only
    round-off is set to zero."""
    total = rows.sum(axis=1, keepdims=True)
    total[np.abs(total) <= ROUND_OFF * np.abs(rows).max(axis=1, keepdims=True)] = 0.0
    return np.hstack([rows, total])


def strain_gradients(body: AbsoluteBody, group: QuadraticStrains, nodes: Array) -> sparse.csr_array:
    """Return the gradients dC_g/dq of the squared stretches C_g of a ``group`` of string elements as columns of a
    sparse matrix, shape (d N, g). C has one value for each of g quadrature points. The N nodes of the ``body`` are
    at the positions ``nodes`` (N, d), which form q."""
    d, gradients = body.dimension, _gradients(body, group, nodes.ravel())
    rows = group.nodes[:, :, None] * d + np.arange(d)
    columns = np.broadcast_to(np.arange(len(gradients))[:, None, None], gradients.shape)
    entries = (gradients.ravel(), (rows.ravel(), columns.ravel()))
    return sparse.coo_array(entries, (body.elastic_count, len(gradients))).tocsr()


def assembled_forms(body: AbsoluteBody, group: QuadraticStrains, factors: Array) -> sparse.csr_array:
    """Return the weighted sum of the constant second derivatives of the strains of a ``group`` of string elements
    of a ``body``. It is sum_g factors[g] d2C_g/dq2 with squared stretches C and node positions q, sparse, shape (d
    N, d N). ``factors`` (g,) has one weight for each strain."""
    one = np.eye(body.dimension)
    half = np.einsum("g,gi,gj->gij", factors, group.first, group.second)
    return _assembled(body, group, np.einsum("gij,ab->giajb", half + half.transpose(0, 2, 1), one))


def _elements(body: AbsoluteBody) -> list[tuple[Any, Any]]:
    """Return a list of pairs (module, group) for all groups of finite elements of a body: soft elements, then
    shell elements. The module has the functions that compute energies and forces of that kind of elements. Groups
    of string elements are not included."""
    return [*((soft, group) for group in body.elements), *((product_elements, group) for group in body.products)]


def _strain_vectors(group: QuadraticStrains, x: Array) -> tuple[Array, Array]:
    """Return the two vectors u and v, each (..., g, d), whose dot product is the strain of each of g string
    elements. Both are weighted sums of the node positions x (..., N, d) in d dimensions. They are computed from
    differences to the first node of each element, so that rigid translations cause no round-off. If both sums have
    the same weights, v is the array u."""
    nodal = x[..., group.nodes, :]
    origin, differences = nodal[..., 0, :], nodal[..., 1:, :] - nodal[..., :1, :]

    def vector(rows: Array) -> Array:
        total = with_row_sum(rows)[:, -1:]
        return np.asarray((rows[:, None, 1:] @ differences)[..., 0, :] + total * origin)

    u = vector(group.first)
    return u, u if group.second is group.first else vector(group.second)


def gradients_of_strains(group: QuadraticStrains, x: Array) -> Array:
    """Return the gradient of each strain of a group of string elements with respect to the positions of its k
    nodes; shape (..., g, k, d). Node positions are x (..., N, d)."""
    u, v = _strain_vectors(group, x)
    return np.asarray(group.first[:, :, None] * v[..., None, :] + group.second[:, :, None] * u[..., None, :])


def _gradients(body: AbsoluteBody, group: QuadraticStrains, q: Array) -> Array:
    """Return the gradient of each strain of a group of string elements with respect to the positions of its k
    nodes, shape (g, k, d). The coordinates of the body are q (d N,)."""
    return gradients_of_strains(group, node_positions(body, q))


def _assembled(body: AbsoluteBody, group: QuadraticStrains, blocks: Array) -> sparse.csr_array:
    """Return the sparse matrix (d N, d N) of a string (``body``) that is the sum of matrix ``blocks`` (g, k, d, k,
    d). Block g is added at the rows and columns of the k nodes of strain g of the ``group``, with d components
    each."""
    indices = group.nodes[:, :, None] * body.dimension + np.arange(body.dimension)
    return summed_blocks(indices, indices, blocks, (body.elastic_count,) * 2)
