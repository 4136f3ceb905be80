"""Static equilibria by Newton's method on all nodes: St. Venant-Kirchhoff elements, no reduction."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve


def equilibrium(mesh, materials, held, load, steps=5):
    """Displacements (N, d) under dead loads (N d,) with some unknowns held, raised in steps."""
    d = mesh.dimension
    u, free = np.zeros(mesh.node_count * d), np.setdiff1d(np.arange(mesh.node_count * d), held)
    for share in np.linspace(0, 1, steps + 1)[1:]:
        for _ in range(30):
            force, tangent = forces(mesh, materials, u.reshape(-1, d))
            step = spsolve(tangent[free][:, free].tocsc(), (share * load - force)[free])
            u[free] += step
            if np.abs(step).max() < 1e-12 * np.ptp(mesh.nodes):
                break
        else:
            raise AssertionError("Newton's method did not converge")
    return u.reshape(-1, d)


def forces(mesh, materials, u):
    """dV/du and d2V/du2 of V = int E : D E / 2 with Green-Lagrange strain E."""
    d, total, parts = mesh.dimension, np.zeros(mesh.node_count * mesh.dimension), []
    for part in mesh.quadrature(mesh.stiffness_degree):
        e, q, _, k = part.gradients.shape
        slope = part.displacement_gradients(u[:, :, None])[..., 0].reshape(e, q, d, d)
        deformation = np.eye(d) + slope
        strain = (np.swapaxes(deformation, 2, 3) @ deformation - np.eye(d)) / 2
        stress = _stress(materials, part.elements, strain)
        change = np.einsum("eqca,eqbk->eqabkc", deformation, part.gradients)
        change = (change + np.swapaxes(change, 2, 3)).reshape(e, q, d, d, k * d) / 2
        answer = np.moveaxis(_stress(materials, part.elements, np.moveaxis(change, -1, 2)), 2, -1)
        unknowns = (d * part.nodes[..., None] + np.arange(d)).reshape(e, k * d)
        np.add.at(total, unknowns, np.einsum("eq,eqab,eqabi->ei", part.weights, stress, change))
        blocks = np.einsum("eq,eqabi,eqabj->eij", part.weights, change, answer, optimize=True)
        scalar = np.einsum(
            "eq,eqab,eqak,eqbl->ekl", part.weights, stress, part.gradients, part.gradients, optimize=True
        )
        blocks = blocks + np.einsum("ekl,ij->ekilj", scalar, np.eye(d)).reshape(e, k * d, k * d)
        parts.append((unknowns, blocks))
    rows = np.concatenate([np.repeat(n, n.shape[1], axis=1).ravel() for n, _ in parts])
    columns = np.concatenate([np.tile(n, (1, n.shape[1])).ravel() for n, _ in parts])
    values = np.concatenate([block.ravel() for _, block in parts])
    return total, sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(len(total),) * 2))


def _stress(materials, elements, strain):
    """lame tr(E) I + 2 shear E for strains (e, q, ..., d, d)."""
    extra = (1,) * (strain.ndim - 4)
    lame, shear = (each[elements].reshape(-1, 1, *extra) for each in (materials.lame, materials.shear))
    trace = np.trace(strain, axis1=-2, axis2=-1)
    return (lame * trace)[..., None, None] * np.eye(strain.shape[-1]) + 2 * shear[..., None, None] * strain
