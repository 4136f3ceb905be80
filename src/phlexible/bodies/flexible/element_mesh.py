"""A mesh of one kind of cells as plain arrays, and the displacement elements on it.

Geometry and numbering are those of scikit-fem, which gives the shape functions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray

CHUNK = 2_000_000  # entries of shape function gradients that are stored at the same time


class CellKind(Enum):
    """Shape of the cells of a mesh: triangle, quadrilateral, tetrahedron or hexahedron."""

    TRIANGLE = "triangle"
    QUADRILATERAL = "quadrilateral"
    TETRAHEDRON = "tetrahedron"
    HEXAHEDRON = "hexahedron"

    @property
    def dimension(self) -> int:
        """Dimension of cells of this kind: 2 for triangles and quadrilaterals, 3 for tetrahedra and hexahedra."""
        return 2 if self in (CellKind.TRIANGLE, CellKind.QUADRILATERAL) else 3

    @property
    def is_simplex(self) -> bool:
        """Whether cells of this kind are triangles or tetrahedra, instead of quadrilaterals or hexahedra."""
        return self in (CellKind.TRIANGLE, CellKind.TETRAHEDRON)


SKFEM_NAMES = {
    CellKind.TRIANGLE: "Tri",
    CellKind.QUADRILATERAL: "Quad",
    CellKind.TETRAHEDRON: "Tet",
    CellKind.HEXAHEDRON: "Hex",
}
SKFEM_CELLS = {f"Mesh{name}{order}": (kind, order) for kind, name in SKFEM_NAMES.items() for order in (1, 2)}
"""Cells and their order by the name of scikit-fem's class."""


def standard_element(kind: CellKind, order: int) -> Any:
    """Return scikit-fem's scalar Lagrange element for a kind of cells (such as triangles) and a polynomial order, 1
    or 2."""
    import skfem

    return getattr(skfem, f"Element{SKFEM_NAMES[kind]}{'P' if kind.is_simplex else ''}{order}")()


@dataclass(frozen=True, eq=False)
class ElementMesh:
    """Mesh of e cells of one shape with displacement elements of order 1 or 2 on them.

    Attributes:
        kind: of all cells.
        geometry_order: 1: straight cells; 2: curved ones.
        geometry: positions of the geometry's nodes in scikit-fem's order, shape (k, d) [m].
        cells: their vertices, shape (e, vertices).
        order: of the displacement elements, 1 or 2, not below that of the geometry.
    """

    kind: CellKind
    geometry_order: int
    geometry: Array
    cells: IntArray
    order: int

    @property
    def dimension(self) -> int:
        """Dimension of this finite element mesh, 2 (plane) or 3 (space)."""
        return self.kind.dimension

    @property
    def cell_count(self) -> int:
        """Number of elements of this finite element mesh."""
        return len(self.cells)

    @cached_property
    def mesh(self) -> Any:
        """Mesh object of scikit-fem made of the points and cells of this finite element mesh, with elements in the
        same order; cached."""
        import skfem

        make = getattr(skfem, f"Mesh{SKFEM_NAMES[self.kind]}{self.geometry_order}")
        points, cells = np.ascontiguousarray(self.geometry.T), np.ascontiguousarray(self.cells.T.astype(np.int32))
        return make(points, cells, sort_t=False)

    @cached_property
    def element(self) -> Any:
        """Scalar finite element of scikit-fem whose shape functions interpolate each component of the displacement
        on this mesh."""
        return standard_element(self.kind, self.order)

    @cached_property
    def _numbering(self) -> Any:
        """Basis of scikit-fem for this mesh and its displacement element; its degrees of freedom are the
        displacement nodes. Computed once and cached; only its numbering is used, not its quadrature."""
        import skfem

        return skfem.CellBasis(self.mesh, self.element, intorder=1)

    @cached_property
    def nodes(self) -> Array:
        """Positions of the N displacement nodes of this mesh, with z = 0 in the plane, shape (N, 3) [m]."""
        positions = np.zeros((self.node_count, 3))
        positions[:, : self.dimension] = self._numbering.doflocs.T
        return positions

    @property
    def node_count(self) -> int:
        """Number N of displacement nodes of this mesh: vertices and, for quadratic elements, nodes between them."""
        return int(self._numbering.N)

    @cached_property
    def element_nodes(self) -> IntArray:
        """Indices of the k displacement nodes of each element of this mesh, in the order of its shape functions,
        shape (e, k)."""
        return np.asarray(self._numbering.element_dofs.T, dtype=np.int64)

    @cached_property
    def vertex_nodes(self) -> IntArray:
        """Index of the displacement node at each vertex of this mesh, shape (vertices,)."""
        return np.asarray(self._numbering.nodal_dofs[0], dtype=np.int64)

    def facet_nodes(self, facets: IntArray) -> IntArray:
        """Return the ascending indices of all displacement nodes on given facets (sides of elements) of this mesh;
        ``facets`` are facet indices of scikit-fem's mesh."""
        return np.unique(
            np.asarray(self._numbering.get_dofs(facets=facets.astype(np.int32)).flatten(), dtype=np.int64)
        )

    def edge_nodes(self, edges: IntArray) -> IntArray:
        """Return the ascending indices of all displacement nodes on given edges of this solid mesh, ends included;
        ``edges`` are edge indices of scikit-fem's mesh."""
        dofs = self._numbering
        ends = self.vertex_nodes[np.asarray(self.mesh.edges)[:, edges]]
        return np.unique(np.concatenate([ends.ravel(), np.asarray(dofs.edge_dofs)[:, edges].ravel()]))

    @property
    def stiffness_degree(self) -> int:
        """Polynomial degree of the quadrature of the strain energy on this mesh. It is 2 ``order`` on
        quadrilaterals and hexahedra, and max(1, 3 (``order`` - 1)) on triangles and tetrahedra, 2 more if these
        are curved."""
        if not self.kind.is_simplex:
            return 2 * self.order
        return max(3 * (self.order - 1), 1) + (2 if self.geometry_order > 1 else 0)

    @property
    def mass_degree(self) -> int:
        """Polynomial degree of the quadrature of the kinetic energy on this mesh: twice the order of its elements,
        2 more on curved elements."""
        return 2 * self.order + (2 if self.geometry_order > 1 else 0)

    def quadrature(self, degree: int) -> Iterator["CellQuadrature"]:
        """Yield shape functions, their gradients and weights at the quadrature points of this mesh
        (``CellQuadrature``), for chunks of elements that fit into memory. The rule integrates polynomials of
        ``degree`` exactly."""
        import skfem

        sample = skfem.CellBasis(self.mesh, self.element, intorder=degree, elements=np.array([0]))
        numbers = sample.Nbfun * self.dimension * sample.dx.shape[1]
        size = max(1, CHUNK // numbers)
        for first in range(0, self.cell_count, size):
            elements = np.arange(first, min(first + size, self.cell_count))
            basis = skfem.CellBasis(
                self.mesh, self.element, intorder=degree, elements=elements, disable_doflocs=True
            )
            values = np.array([np.broadcast_to(np.asarray(f[0]), basis.dx.shape) for f in basis.basis])
            gradients = np.array([f[0].grad for f in basis.basis])  # (k, d, e, q)
            yield CellQuadrature(
                elements=elements,
                nodes=self.element_nodes[elements],
                weights=np.asarray(basis.dx),
                values=np.ascontiguousarray(values.transpose(1, 2, 0)),
                gradients=np.ascontiguousarray(gradients.transpose(2, 3, 1, 0)),
            )


@dataclass(frozen=True, eq=False)
class CellQuadrature:
    """Values and gradients of the shape functions of e elements at their q quadrature points.

    Attributes:
        elements: their numbers, shape (e,).
        nodes: their nodes, shape (e, k).
        weights: volume of each point, shape (e, q) [m^d].
        values: of the shape functions, shape (e, q, k).
        gradients: shape (e, q, d, k) [1/m].
    """

    elements: IntArray
    nodes: IntArray
    weights: Array
    values: Array
    gradients: Array

    def displacement_gradients(self, shapes: Array) -> Array:
        """Return the gradients du_c/dx_a of n displacement fields at the q quadrature points of each of these e
        elements, shape (e q, d, d, n). The second axis is the component c, the third the direction a in d
        dimensions. ``shapes`` (N, d, n) are the nodal displacements of the fields."""
        local = shapes[self.nodes]  # (e, k, c, n)
        e, q, d, k = self.gradients.shape
        n = local.shape[-1]
        product = self.gradients.reshape(e, q * d, k) @ local.reshape(e, k, -1)  # (e, q a, c n)
        return np.asarray(product.reshape(e * q, d, -1, n).transpose(0, 2, 1, 3))
