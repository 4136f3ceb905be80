"""Elements whose strain energy is a constant quadratic form of dot products of nodal vectors (docs/theory.md, 5).

Any element of a St. Venant-Kirchhoff material is of this kind: strings (1 product), membrane triangles (3),
tetrahedra (6), shells with assumed strains and stresses (22), folds between two directors (1). The step integrates
nothing and does not know which element it is.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.mechanics.soft import Terms, assembled, nodal_sums
from phlexible.display import short_repr


@dataclass(frozen=True, eq=False)
class ProductElements:
    """Group of e elements with the strain energy ``U = sum (p - p0).H (p - p0) / 2`` of n products of vectors.

    The products are ``p = y_a . y_b``. The k nodes of an element are places, then directors. The vectors y are the
    differences of all places but the first to the first one, then the directors themselves, so that positions far
    from the origin cost no digits.

    Attributes:
        nodes: nodes of each element, shape (e, k).
        position_count: number of the first nodes that are places; 0 for elements of directors alone.
        pairs: numbers (a, b) of both vectors of each product, a <= b, shape (n, 2).
        blocks: sizes of the diagonal blocks of H, whose products follow each other; their sum is n.
        stiffness: blocks of H, row by row, one after the other, shape (e, sum of the squares of ``blocks``); each
            is symmetric [J per square of the products].
        rest: products p0 without strain, shape (e, n).
        viscosity: Kelvin-Voigt time tau [s]: H dp/dt adds tau times itself to the stress H (p - p0).
    """

    nodes: IntArray
    position_count: int
    pairs: IntArray
    blocks: tuple[int, ...]
    stiffness: Array
    rest: Array
    viscosity: float = 0.0

    __repr__ = short_repr


# Energy, force and tangent, for reading, checking and single evaluations; the time loop has its own compiled form.


def products_and_gradients(group: ProductElements, x: Array) -> tuple[Array, Array]:
    """Return the n dot products of nodal vectors in each of e elements, and their derivatives with respect to its
    k nodal vectors. The shapes are (e, n) and (e, n, k, d) in d dimensions. x (N, d) are the nodal vectors of the
    body (positions, or directors of a shell). ``group`` has the pairs of each product."""
    first, second = _factors(group)
    u, v = (np.einsum("nk,ekd->end", rows, x[group.nodes], optimize=True) for rows in (first, second))
    slopes = np.einsum("nk,end->enkd", first, v) + np.einsum("nk,end->enkd", second, u)
    return np.asarray((u * v).sum(axis=-1)), np.asarray(slopes)


def stress(group: ProductElements, strain: Array) -> Array:
    """Return the stresses H s of e product elements for their n strains s (``strain``, shape (e, n)), shape (e,
    n). A strain is a dot product of nodal vectors minus its value at rest; H is the stiffness matrix of each
    element."""
    return np.asarray(np.einsum("eij,ej->ei", stiffness_matrices(group), strain))


def strain_energy(group: ProductElements, x: Array) -> float:
    """Return the strain energy [J] of a group of product elements for nodal vectors x (N, d): the sum of s.H s / 2
    with strains s, dot products of nodal vectors minus their values at rest."""
    strain = products_and_gradients(group, x)[0] - group.rest
    return float((strain * stress(group, strain)).sum() / 2)


def elastic_force(group: ProductElements, x: Array, terms: Terms = np.asarray) -> Array:
    """Return the gradient dU/dx of the energy of a group of product elements with respect to node vectors x (N,
    d), shape (N, d) [N]. The energy U is quadratic in dot products of nodal vectors, less their rest values. With
    np.abs as ``terms``, all factors of the sum are replaced by absolute values, for a scale of round-off."""
    p, slopes = products_and_gradients(group, x)
    forces = np.einsum("en,enkd->ekd", terms(stress(group, p - group.rest)), terms(slopes))
    return nodal_sums(group.nodes, x, forces)


def elastic_tangent(group: ProductElements, x: Array) -> sparse.csr_array:
    """Return the tangent stiffness d2U/dx2 of a group of product elements (energy quadratic in dot products of
    nodal vectors) at nodes x (N, d). It is symmetric and sparse, shape (d N, d N) [N/m]."""
    p, slopes = products_and_gradients(group, x)
    blocks = _material_blocks(group, slopes) + _geometric_blocks(group, stress(group, p - group.rest), x.shape[1])
    return assembled(group.nodes, x, blocks)


def geometric_stiffness(group: ProductElements, x: Array, change: Array) -> sparse.csr_array:
    """Return the geometric stiffness of the stress that a small displacement ``change`` (N, d) adds to product
    elements at nodes x (N, d). The stress is linear in the displacement. The result is sparse, shape (d N, d N)
    [N/m]."""
    strain = np.einsum("enkd,ekd->en", products_and_gradients(group, x)[1], change[group.nodes])
    return assembled(group.nodes, x, _geometric_blocks(group, stress(group, strain), x.shape[1]))


def viscous_matrix(group: ProductElements, x: Array) -> sparse.csr_array:
    """Return the damping matrix C of the viscous force -C dx/dt of product elements, sparse, shape (d N, d N) [N
    s/m]. It is the viscosity times the stiffness without its geometric part at nodal vectors x (N, d). Their energy
    is quadratic in dot products of nodal vectors."""
    return assembled(group.nodes, x, group.viscosity * _material_blocks(group, products_and_gradients(group, x)[1]))


def stiffness_matrices(group: ProductElements) -> Array:
    """Return the stiffness matrices H of all e elements of a group as dense arrays, shape (e, n, n) for n strains
    of an element. The square blocks stored in ``group.stiffness``, of the sizes ``group.blocks``, stand along the
    diagonal; all other entries are zero."""
    e, n = group.rest.shape
    H, begin, row = np.zeros((e, n, n)), 0, 0
    for size in group.blocks:
        own = slice(row, row + size)
        H[:, own, own] = group.stiffness[:, begin : begin + size**2].reshape(e, size, size)
        begin, row = begin + size**2, row + size
    return H


def _factors(group: ProductElements) -> tuple[Array, Array]:
    """Return the weights of an element's k nodal vectors in the two vectors of each of its n dot products, as two
    arrays (n, k). Positions are used as differences to the position of the first node, directors unchanged.
    ``group`` are the elements."""
    vectors = np.eye(group.nodes.shape[1])
    vectors[: group.position_count, 0] -= 1.0
    first, second = (group.pairs + (group.position_count > 0)).T
    return vectors[first], vectors[second]


def _material_blocks(group: ProductElements, slopes: Array) -> Array:
    """Return B^T H B of each of e product elements, shape (e, k, d, k, d). B are the derivatives ``slopes`` (e, n,
    k, d) of its n dot products, H its stiffness matrix."""
    e, n, k, d = slopes.shape
    flat = slopes.reshape(e, n, k * d)
    return np.asarray((flat.swapaxes(1, 2) @ stiffness_matrices(group) @ flat).reshape(e, k, d, k, d))


def _geometric_blocks(group: ProductElements, stresses: Array, dimension: int) -> Array:
    """Return the second derivatives of the n dot products of each element, summed with its ``stresses`` (e, n) as
    weights. The shape is (e, k, d, k, d) in space of ``dimension`` d. They do not depend on the nodal vectors."""
    first, second = _factors(group)
    half = np.einsum("en,nk,nl->ekl", stresses, first, second, optimize=True)
    return np.asarray(np.einsum("ekl,cd->ekcld", half + half.swapaxes(1, 2), np.eye(dimension)))
