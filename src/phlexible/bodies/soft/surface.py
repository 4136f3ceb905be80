"""Surfaces of soft bodies that a pressure acts on, and its forces on their nodes (docs/theory.md, 5)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.mesh.element_mesh import CellKind, standard_element
from phlexible.bodies.soft.mesh import SoftMesh, shape_functions
from phlexible.display.written import short_repr

if TYPE_CHECKING:
    from scipy import sparse

FACES = {  # of scikit-fem's reference cells, by corners
    CellKind.TETRAHEDRON: ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)),
    CellKind.HEXAHEDRON: ((0, 1, 4, 2), (0, 2, 6, 3), (0, 1, 5, 3), (2, 4, 7, 6), (1, 4, 7, 5), (3, 5, 7, 6)),
}
SIDES = {CellKind.TETRAHEDRON: CellKind.TRIANGLE, CellKind.HEXAHEDRON: CellKind.QUADRILATERAL}


@dataclass(frozen=True, eq=False)
class SoftSurface:
    """Faces on nodes of a soft body; along x,1 x x,2 a pressure pushes.

    Attributes:
        nodes: of the body that are on the surface, ascending, shape (k,).
        faces: their places in ``nodes``, face by face, shape (f, m).
        shapes: at the quadrature points weight times N, N,1 and N,2 in reference coordinates, shape (q, m, 3).
    """

    nodes: IntArray
    faces: IntArray
    shapes: Array

    __repr__ = short_repr

    def forces(self, pressure: float, x: Array) -> Array:
        """p sum N (x,1 x x,2) of nodes at x (k, 3), shape (k, 3) [N]."""
        a, b = self._tangents(x)
        pull = pressure * np.einsum("qm,fqi->fmi", self.shapes[..., 0], np.cross(a, b))
        result = np.zeros_like(x)
        np.add.at(result, self.faces, pull)
        return result

    def stiffness(self, pressure: float, x: Array) -> "sparse.csr_array":
        """d(forces)/dx, shape (3 k, 3 k) [N/m]."""
        from scipy import sparse

        a, b = self._tangents(x)
        N, u, v = (self.shapes[..., k] for k in range(3))
        across = np.einsum("qm,fqi->fqmi", u, b) - np.einsum("qm,fqi->fqmi", v, a)  # d(a x b) = dx_m x this
        turned = np.cross(np.eye(3), across[..., None, :])  # (f, q, m, c, i)
        blocks = pressure * np.einsum("qn,fqmci->fnimc", N, turned)
        places = self.faces[:, :, None] * 3 + np.arange(3)
        rows = np.broadcast_to(places[:, :, :, None, None], blocks.shape)
        columns = np.broadcast_to(places[:, None, None, :, :], blocks.shape)
        return sparse.coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), (x.size,) * 2).tocsr()

    def volume(self, x: Array) -> Array:
        """What a closed surface encloses, of nodes (..., k, 3), shape (...) [m3]."""
        a, b = self._tangents(x)
        middle = np.einsum("qm,...fmi->...fqi", self.shapes[..., 0], x[..., self.faces, :])
        return np.asarray(np.einsum("...fqi,...fqi->...", middle, np.cross(a, b)) / 3)

    def _tangents(self, x: Array) -> tuple[Array, Array]:
        own = x[..., self.faces, :]
        own = own - own[..., :1, :]
        u, v = self.shapes[..., 1], self.shapes[..., 2]
        return np.einsum("qm,...fmi->...fqi", u, own), np.einsum("qm,...fmi->...fqi", v, own)


def soft_surface(mesh: SoftMesh, points: IntArray | None) -> SoftSurface | None:
    """All of a sheet, or the faces of a solid whose corners are among the points of the mesh; None: there are none.

    Of a solid they face inwards, so that a pressure presses on it.
    """
    kind = mesh.kind if mesh.is_sheet else SIDES[mesh.kind]
    corners = len(standard_element(kind, 1).doflocs)
    if mesh.is_sheet:
        chosen = mesh.element_nodes
    else:
        chosen = _inward(mesh, _boundary(mesh, kind), corners)
    if points is not None:
        is_in = np.zeros(len(mesh.nodes), dtype=bool)
        is_in[mesh.number[points]] = True
        chosen = chosen[is_in[chosen[:, :corners]].all(axis=1)]
    if not len(chosen):
        return None
    nodes, faces = np.unique(chosen, return_inverse=True)
    return SoftSurface(nodes, faces.reshape(chosen.shape), _shapes(kind, mesh.order))


def _shapes(kind: CellKind, order: int) -> Array:
    from skfem.quadrature import get_quadrature

    element = standard_element(kind, order)
    degree = max(3 * order - 2, 1) if kind is CellKind.TRIANGLE else 3 * order
    at, weights = get_quadrature(element.refdom, degree)
    values, slopes = shape_functions(element, np.asarray(at))
    return np.concatenate([(weights[:, None] * values)[..., None], slopes], axis=2)


def _boundary(mesh: SoftMesh, kind: CellKind) -> IntArray:
    """Nodes of the faces that one element has, in the order of the elements of a sheet."""
    cell, face = (np.asarray(standard_element(k, mesh.order).doflocs).astype(float) for k in (mesh.kind, kind))
    found = []
    for corner, second, *_, last in FACES[mesh.kind]:
        origin = cell[corner]
        places = origin + np.outer(face[:, 0], cell[second] - origin) + np.outer(face[:, 1], cell[last] - origin)
        local = np.abs(places[:, None] - cell[None]).max(axis=2).argmin(axis=1)
        found.append(mesh.element_nodes[:, local])
    faces = np.concatenate(found)
    corners = np.sort(faces[:, : len(FACES[mesh.kind][0])], axis=1)
    _, first, count = np.unique(corners, axis=0, return_index=True, return_counts=True)
    own = first[count == 1]
    cells = np.tile(np.arange(len(mesh.cells)), len(FACES[mesh.kind]))[own]
    return np.column_stack([cells, faces[own]])


def _inward(mesh: SoftMesh, faces: IntArray, corners: int) -> IntArray:
    """The faces, each preceded by its element, with their nodes in the order that turns them inwards."""
    places, nodes = mesh.places, faces[:, 1:]
    middle = places[mesh.corners[faces[:, 0]]].mean(axis=1)
    a, b, c = (places[nodes[:, k]] for k in (0, 1, corners - 1))
    outward = np.einsum("fi,fi->f", np.cross(b - a, c - a), a - middle) > 0
    turned = _mirrored(SIDES[mesh.kind], mesh.order)
    return np.where(outward[:, None], nodes[:, turned], nodes)


def _mirrored(kind: CellKind, order: int) -> IntArray:
    """The nodes of a face with its two reference directions exchanged."""
    places = np.asarray(standard_element(kind, order).doflocs).astype(float)
    apart = np.abs(places[:, ::-1][:, None] - places[None]).max(axis=2)
    return np.asarray(apart.argmin(axis=1), dtype=np.int64)
