"""Energy, force and tangent of elements whose energy is a form of products of nodal vectors (docs/theory.md, 5).

For reading, checking and single evaluations; the time loop has its own compiled form.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.mechanics.soft import Terms, assembled, nodal_sums
from phlexible.bodies.product_elements import ProductElements


def products_and_gradients(group: ProductElements, x: Array) -> tuple[Array, Array]:
    """Return the n products p of each of e elements, shape (e, n), and their derivatives to its k nodes. These have
    the shape (e, n, k, d) for nodes x (N, d)."""
    first, second = _factors(group)
    u, v = (np.einsum("nk,ekd->end", rows, x[group.nodes], optimize=True) for rows in (first, second))
    slopes = np.einsum("nk,end->enkd", first, v) + np.einsum("nk,end->enkd", second, u)
    return np.asarray((u * v).sum(axis=-1)), np.asarray(slopes)


def stress(group: ProductElements, strain: Array) -> Array:
    """Return H times numbers of the products of each element, shape (e, n)."""
    return np.asarray(np.einsum("eij,ej->ei", stiffness_matrices(group), strain))


def strain_energy(group: ProductElements, x: Array) -> float:
    """Return the strain energy [J] of a group of product elements for nodes x (N, d)."""
    strain = products_and_gradients(group, x)[0] - group.rest
    return float((strain * stress(group, strain)).sum() / 2)


def elastic_force(group: ProductElements, x: Array, terms: Terms = np.asarray) -> Array:
    """Return the elastic force dU/dx of a group of product elements on its nodes x (N, d); shape (N, d) [N]. With
    np.abs as ``terms`` it is the sum of the absolute values of its terms."""
    p, slopes = products_and_gradients(group, x)
    forces = np.einsum("en,enkd->ekd", terms(stress(group, p - group.rest)), terms(slopes))
    return nodal_sums(group.nodes, x, forces)


def elastic_tangent(group: ProductElements, x: Array) -> sparse.csr_array:
    """Return the tangent stiffness d2U/dx2 of a group of product elements at nodes x (N, d), symmetric and sparse;
    shape (d N, d N) [N/m]."""
    p, slopes = products_and_gradients(group, x)
    blocks = _material_blocks(group, slopes) + _geometric_blocks(group, stress(group, p - group.rest), x.shape[1])
    return assembled(group.nodes, x, blocks)


def geometric_stiffness(group: ProductElements, x: Array, change: Array) -> sparse.csr_array:
    """Return the geometric stiffness of the stress that a small displacement ``change`` (N, d) of nodes x (N, d)
    adds to product elements, sparse; shape (d N, d N) [N/m]."""
    strain = np.einsum("enkd,ekd->en", products_and_gradients(group, x)[1], change[group.nodes])
    return assembled(group.nodes, x, _geometric_blocks(group, stress(group, strain), x.shape[1]))


def viscous_matrix(group: ProductElements, x: Array) -> sparse.csr_array:
    """Return the damping matrix C of the viscous force -C dx/dt of product elements at nodes x (N, d); shape (d N,
    d N) [N s/m]."""
    return assembled(group.nodes, x, group.viscosity * _material_blocks(group, products_and_gradients(group, x)[1]))


def stiffness_matrices(group: ProductElements) -> Array:
    """Return the matrices H of all e elements of a group as dense arrays, shape (e, n, n): the stored square
    blocks ``group.stiffness``, of the sizes ``group.blocks``, along the diagonal, and zeros elsewhere."""
    e, n = group.rest.shape
    H, begin, row = np.zeros((e, n, n)), 0, 0
    for size in group.blocks:
        own = slice(row, row + size)
        H[:, own, own] = group.stiffness[:, begin : begin + size**2].reshape(e, size, size)
        begin, row = begin + size**2, row + size
    return H


def _factors(group: ProductElements) -> tuple[Array, Array]:
    """Return the weights of the nodes of an element in both vectors of each product, two arrays (n, k)."""
    vectors = np.eye(group.nodes.shape[1])
    vectors[: group.position_count, 0] -= 1.0
    first, second = (group.pairs + (group.position_count > 0)).T
    return vectors[first], vectors[second]


def _material_blocks(group: ProductElements, slopes: Array) -> Array:
    """Return B^T H B of each element for the derivatives B of its products (e, n, k, d), shape (e, k, d, k, d)."""
    e, n, k, d = slopes.shape
    flat = slopes.reshape(e, n, k * d)
    return np.asarray((flat.swapaxes(1, 2) @ stiffness_matrices(group) @ flat).reshape(e, k, d, k, d))


def _geometric_blocks(group: ProductElements, stresses: Array, dimension: int) -> Array:
    """Return the second derivatives of the products of each element times their ``stresses`` (e, n). The shape is
    (e, k, d, k, d) in space of ``dimension`` d."""
    first, second = _factors(group)
    half = np.einsum("en,nk,nl->ekl", stresses, first, second, optimize=True)
    return np.asarray(np.einsum("ekl,cd->ekcld", half + half.swapaxes(1, 2), np.eye(dimension)))
