"""Surface of a body from a mesh, and the stress at its nodes."""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh_matrices import ElementMaterials
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.skin import SIX, Skin, split_faces
from phlexible.shapes.surfaces import shading_vertices

# Stress at the nodes of a mesh (docs/theory.md, 3).


def stress_shapes(mesh: ElementMesh, materials: ElementMaterials, shapes: Array, nodes: IntArray) -> Array:
    """Return the linear stress (k, 6, n) [Pa] at k ``nodes`` of a mesh per unit of each of n displacement
    ``shapes`` (N, d, n). Components are xx, yy, zz, yz, xz, xy in body axes; zz of plane strain is included.
    Stress is evaluated at the nodes of each element and averaged over the elements at a node. ``materials`` has
    the elastic constants.

    Components xx, yy, zz, yz, xz, xy in body axes; of a plane mesh those of plane stress or strain in the plane.

    Args:
        shapes: nodal fields, shape (N, d, n).
    """
    import skfem

    d, n = mesh.dimension, shapes.shape[2]
    index_of = np.full(mesh.node_count, -1)
    index_of[nodes] = np.arange(len(nodes))
    total, count = np.zeros((len(nodes), 6, n)), np.zeros(len(nodes))
    touched = np.flatnonzero((index_of[mesh.element_nodes] >= 0).any(axis=1))
    local = np.asarray(mesh.element.doflocs).T  # the nodes in the reference element, (d, k)
    points, weights = local, np.ones(local.shape[1])
    for first in range(0, len(touched), 512):
        elements = touched[first : first + 512]
        basis = skfem.CellBasis(
            mesh.mesh, mesh.element, quadrature=(points, weights), elements=elements, disable_doflocs=True
        )
        gradients = np.array([f[0].grad for f in basis.basis])  # (k, d, e, q)
        shapes_of_elements = shapes[mesh.element_nodes[elements]]  # (e, k, c, n)
        slopes = np.einsum("kaeq,ekcn->eqcan", gradients, shapes_of_elements, optimize=True)
        e, q = slopes.shape[:2]
        numbers = np.repeat(elements, q).astype(np.int64)
        at = index_of[mesh.element_nodes[elements]].ravel()
        for k in range(n):
            stress = materials.stress(numbers, slopes[..., k].reshape(e * q, d, d)) / materials.thickness
            entries = np.zeros((e * q, 6))
            for row, (a, b) in enumerate(SIX):
                if max(a, b) < d:
                    entries[:, row] = stress[:, a, b]
            if materials.is_plane_strain:
                trace = np.trace(slopes[..., k].reshape(e * q, d, d), axis1=1, axis2=2)
                entries[:, 2] = materials.lame[numbers] / materials.thickness * trace
            np.add.at(total[..., k], at[at >= 0], entries[at >= 0])
        np.add.at(count, at[at >= 0], 1)
    return np.asarray(total / count[:, None, None])


def stress_coordinates(data: FloatingBody, frequencies: Array, eta: Array) -> Array:
    """Return the factors (T, n) by which the stresses of a body's n displacement shapes are multiplied and summed
    at T instants. They are the elastic coordinates eta (T, n) plus the quadratic strain of each shape over its
    frequency [rad/s], so that the sum includes nonlinear stress. Strains without linear part are left out.
    ``data`` are the arrays of the body.

    The stress is the second Piola-Kirchhoff stress in body axes; displacements that relax quadratic strain do no
    work.
    """
    strain = data.strain
    half_squares = strain.factors * (eta @ strain.squares.T) ** 2 / 2
    result = eta.copy()
    for row, linear in enumerate(strain.rows):
        if not linear.any():  # a strain without linear part
            continue
        k = int(np.abs(linear).argmax())
        result[:, k] += half_squares[:, strain.square_strain == row].sum(axis=1) / frequencies[k]
    return result


def von_mises(stress: Array) -> Array:
    """Return the von Mises equivalent stress, shape (...), of stress components xx, yy, zz, yz, xz, xy, given as
    (..., 6)."""
    xx, yy, zz, yz, xz, xy = np.moveaxis(stress, -1, 0)
    deviator = (xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2
    return np.asarray(np.sqrt(deviator / 2 + 3 * (yz**2 + xz**2 + xy**2)))


# Skin of a body from a mesh: its surface, or in the plane all of its cells.


def mesh_skin(mesh: ElementMesh, shapes: Array) -> Skin:
    """Return the surface that pictures draw for a body from a mesh (a ``Skin``), as triangles: the boundary of a
    solid, or all cells of a plane mesh. The vertices move with the displacement ``shapes`` (N, 3, n) of the nodes.
    Vertices at sharp edges are doubled, with one normal for each side, for shading."""
    triangles = plane_triangles(mesh) if mesh.dimension == 2 else _surface_triangles(mesh)
    used, numbered = np.unique(triangles, return_inverse=True)
    triangles = numbered.reshape(-1, 3).astype(np.int64)
    nodes = mesh.vertex_nodes[used]
    positions = mesh.nodes[nodes]
    corners, normals, faces = shading_vertices(positions, triangles)
    vertex_shapes = shapes[nodes]
    return Skin(
        positions=positions,
        shapes=vertex_shapes,
        rotations=np.zeros_like(vertex_shapes),
        vertex_nodes=corners,
        offsets=np.zeros((len(corners), 3)),
        normals=normals,
        triangles=faces,
    )


def plane_triangles(mesh: ElementMesh) -> IntArray:
    """Return all cells of a plane mesh as counter-clockwise triangles of vertex indices, shape (t, 3);
    quadrilaterals are split in two."""
    triangles = split_faces(mesh.cells)
    a, b, c = (mesh.geometry[triangles[:, k]] for k in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    return np.where((area > 0)[:, None], triangles, triangles[:, ::-1])


def _surface_triangles(mesh: ElementMesh) -> IntArray:
    """Return the boundary of a solid mesh as triangles of vertex indices, counter-clockwise seen from outside,
    shape (t, 3). Quadrilateral facets are cut along a diagonal. Outside is away from the middle of the element."""
    source = mesh.mesh
    facets = source.boundary_facets()
    vertices = np.asarray(source.facets.T[facets], dtype=np.int64)
    inside = mesh.geometry[mesh.cells[source.f2t[0, facets]]].mean(axis=1)
    away = mesh.geometry[vertices].mean(axis=1) - inside
    if vertices.shape[1] == 4:
        vertices, away = _ordered_around(mesh.geometry, vertices), np.concatenate([away, away])
    triangles = split_faces(vertices)
    a, b, c = (mesh.geometry[triangles[:, k]] for k in range(3))
    outward = np.einsum("ti,ti->t", np.cross(b - a, c - a), away) > 0
    return np.where(outward[:, None], triangles, triangles[:, ::-1])


def _ordered_around(positions: Array, corners: IntArray) -> IntArray:
    """Return the four vertex indices of each of f facets, ``corners`` (f, 4), sorted in cyclic order, shape (f,
    4). The order is by angle around the mean of the vertices, in the plane of the first three. ``positions`` (N,
    3) are the positions of all vertices."""
    p = positions[corners]
    middle = p - p.mean(axis=1, keepdims=True)
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    first = middle[:, 0]
    second = np.cross(normal, first)
    scale = np.linalg.norm(normal, axis=1, keepdims=True)
    angle = np.arctan2(np.einsum("fki,fi->fk", middle, second) / scale, np.einsum("fki,fi->fk", middle, first))
    return np.take_along_axis(corners, np.argsort(angle, axis=1), axis=1)
