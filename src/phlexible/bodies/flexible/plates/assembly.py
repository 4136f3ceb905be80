"""Mass and stiffness of a plate, and the geometric stiffness of its retained shapes (docs/theory.md, 3)."""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.mesh.assembly import assembled
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.plates.section import PlateSection
from phlexible.bodies.flexible.plates.strains import UNKNOWNS, PlateQuadrature, plate_quadrature
from phlexible.bodies.flexible.unknowns import Unknowns


def plate_unknowns(mesh: ElementMesh) -> Unknowns:
    """Three displacements and the rotations about x and y of each node."""
    node = np.repeat(np.arange(mesh.node_count), UNKNOWNS)
    return Unknowns(3, node, np.tile(np.arange(UNKNOWNS), mesh.node_count), mesh.nodes[node])


def plate_mass(nodal_mass: sparse.csr_array, section: PlateSection) -> sparse.csr_array:
    """M of the unknowns with rotary inertia from the scalar mass matrix of the nodes [kg]."""
    turning = section.thickness**2 / 12
    return sparse.csr_array(sparse.kron(nodal_mass, sparse.diags_array([1.0, 1.0, 1.0, turning, turning])))


def plate_stiffness(mesh: ElementMesh, section: PlateSection) -> sparse.csr_array:
    """K of the unknowns, shape (5 N, 5 N)."""
    parts = []
    for part in plate_quadrature(mesh, section):
        e, q, _, k = part.strains.shape
        stress = section.stiffness[part.elements, None] @ part.strains * part.weights[..., None, None]
        flat = [each.reshape(e, q * 8, k) for each in (part.strains, stress)]
        parts.append((part.unknowns, np.swapaxes(flat[0], 1, 2) @ flat[1]))
    return assembled(parts, UNKNOWNS * mesh.node_count)


def plate_geometric_stiffness(mesh: ElementMesh, section: PlateSection, shapes: Array) -> Array:
    """H[k, i, j] = int stress_k : Q(phi_i, phi_j) with the linear stress of shape k, shape (n, n, n).

    Args:
        shapes: shape (5 N, n).
    """
    n = shapes.shape[1]
    result = np.zeros((n, n, n))
    for part in plate_quadrature(mesh, section):
        stress = resultants(part, section, shapes) * part.weights[..., None, None]
        slopes, turns, director = surface_gradients(part, shapes)
        forces, moments, shears = stress[:, :, :3], stress[:, :, 3:6], stress[:, :, 6:]
        tensors = _tensor(forces), _tensor(moments)  # (e, q, 2, 2, n)
        for k in range(n):
            pull, bend = (each[..., k] for each in tensors)
            small = _work(slopes, pull, slopes) + section.thickness**2 / 12 * _work(turns, pull, turns)
            mixed = _work(slopes, bend, turns)
            cut = np.einsum("eqa,eqcai,eqcj->ij", shears[..., k], slopes, director, optimize=True)
            result[k] += small + mixed + mixed.T + cut + cut.T
    return np.asarray((result + result.transpose(0, 2, 1)) / 2)


def resultants(part: PlateQuadrature, section: PlateSection, shapes: Array) -> Array:
    """Membrane forces, moments and shear forces of shapes (5 N, n), shape (e, q, 8, n)."""
    strains = part.strains @ shapes[part.unknowns][:, None]
    return np.asarray(section.stiffness[part.elements, None] @ strains)


def surface_gradients(part: PlateQuadrature, shapes: Array) -> tuple[Array, Array, Array]:
    """du_c/dx_a and dd_c/dx_a, shape (e, q, 3, 2, n), and d, shape (e, q, 3, n)."""
    e, n = len(part.elements), shapes.shape[1]
    nodal = shapes[part.unknowns].reshape(e, -1, UNKNOWNS, n)
    across = np.stack([nodal[:, :, 4], -nodal[:, :, 3], np.zeros_like(nodal[:, :, 3])], axis=2)
    slopes = np.einsum("eqak,ekcn->eqcan", part.gradients, nodal[:, :, :3], optimize=True)
    turns = np.einsum("eqak,ekcn->eqcan", part.gradients, across, optimize=True)
    director = np.einsum("qk,ekcn->eqcn", part.values, across, optimize=True)
    return slopes, turns, director


def _tensor(rows: Array) -> Array:
    """xx, yy, xy as symmetric matrices, shape (e, q, 2, 2, n)."""
    return np.stack([rows[:, :, [0, 2]], rows[:, :, [2, 1]]], axis=2)


def _work(left: Array, stress: Array, right: Array) -> Array:
    """sum stress_ab left_ca,i right_cb,j, shape (n, n)."""
    turned = np.einsum("eqab,eqcbj->eqcaj", stress, right, optimize=True)
    n = left.shape[-1]
    return np.asarray(left.reshape(-1, n).T @ turned.reshape(-1, n))
