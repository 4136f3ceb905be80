"""Mass and stiffness of a mesh, and the geometric stiffness of its retained shapes (docs/theory.md, 3)."""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh.materials import ElementMaterials


def mass_matrix(mesh: ElementMesh, materials: ElementMaterials) -> sparse.csr_array:
    """The scalar mass matrix of the nodes, shape (N, N) [kg]: each component of the displacement has it."""
    parts = []
    for part in mesh.quadrature(mesh.mass_degree):
        weighted = part.values * (part.weights * materials.density[part.elements, None])[..., None]
        parts.append((part.nodes, weighted.transpose(0, 2, 1) @ part.values))
    return assembled(parts, mesh.node_count)


def stiffness_matrix(mesh: ElementMesh, materials: ElementMaterials) -> sparse.csr_array:
    """K of the displacements, component after component at each node, shape (N d, N d) [N/m]."""
    d, parts = mesh.dimension, []
    for part in mesh.quadrature(mesh.stiffness_degree):
        e, q, _, k = part.gradients.shape
        gradients = part.gradients.transpose(0, 1, 3, 2).reshape(e, q, k * d)
        weighted = gradients * part.weights[..., None]
        products = (weighted.transpose(0, 2, 1) @ gradients).reshape(e, k, d, k, d)
        lame = materials.lame[part.elements, None, None, None, None]
        shear = materials.shear[part.elements, None, None, None, None]
        blocks = lame * products + shear * products.transpose(0, 1, 4, 3, 2)
        laplace = shear[..., 0, 0] * np.einsum("eajbj->eab", products)
        for i in range(d):
            blocks[:, :, i, :, i] += laplace
        unknowns = (d * part.nodes[..., None] + np.arange(d)).reshape(e, k * d)
        parts.append((unknowns, blocks.reshape(e, k * d, k * d)))
    return assembled(parts, mesh.node_count * d)


def geometric_stiffness(mesh: ElementMesh, materials: ElementMaterials, shapes: Array) -> Array:
    """H[k, i, j] = int stress_k : (grad phi_i)^T grad phi_j, with the linear stress of shape k, shape (n, n, n).

    Args:
        shapes: nodal fields, shape (N, d, n).
    """
    n = shapes.shape[2]
    result = np.zeros((n, n, n))
    for part in mesh.quadrature(mesh.stiffness_degree):
        gradients = part.displacement_gradients(shapes)  # (p, c, a, n)
        elements = np.repeat(part.elements, part.weights.shape[1]).astype(np.int64)
        flat = gradients.reshape(-1, n)
        for k in range(n):
            stress = materials.stress(elements, gradients[..., k]) * part.weights.reshape(-1, 1, 1)
            turned = (stress[:, None] @ gradients).reshape(-1, n)
            result[k] += flat.T @ turned
    return np.asarray((result + result.transpose(0, 2, 1)) / 2)


def quadratic_loads(mesh: ElementMesh, materials: ElementMaterials, shapes: Array) -> Array:
    """-int (B v) : D Q(phi_i, phi_j) of displacements v, for all pairs i <= j, shape (N d, pairs).

    Args:
        shapes: nodal fields, shape (N, d, n).
    """
    d, (first, second) = mesh.dimension, np.triu_indices(shapes.shape[2])
    result = np.zeros((mesh.node_count * d, len(first)))
    for part in mesh.quadrature(mesh.stiffness_degree):
        e, q, _, k = part.gradients.shape
        gradients = part.displacement_gradients(shapes)  # (p, c, a, n)
        elements = np.repeat(part.elements, q).astype(np.int64)
        loads = np.empty((e, k * d, len(first)))
        for number, (i, j) in enumerate(zip(first, second, strict=True)):
            product = gradients[..., i].transpose(0, 2, 1) @ gradients[..., j]  # stress takes the symmetric part
            stress = materials.stress(elements, product) * part.weights.reshape(-1, 1, 1)
            flat = part.gradients.transpose(0, 3, 1, 2).reshape(e, k, q * d)
            loads[:, :, number] = (flat @ stress.reshape(e, q * d, d)).reshape(e, k * d)
        np.subtract.at(result, (d * part.nodes[..., None] + np.arange(d)).reshape(e, k * d), loads)
    return result


def assembled(parts: list[tuple[np.ndarray, Array]], size: int) -> sparse.csr_array:
    """The sum of element matrices (e, k, k) on unknowns (e, k), symmetric."""
    total = sparse.csr_array((size, size))
    for unknowns, blocks in parts:
        k = unknowns.shape[1]
        rows = np.repeat(unknowns, k, axis=1).ravel()
        columns = np.tile(unknowns, (1, k)).ravel()
        total = total + sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(size, size)).tocsr()
    return sparse.csr_array((total + total.T) / 2)
