"""The mesh of a soft body: nodes that all carry mass, and shape functions at quadrature points of its elements."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.nested_dissection import clusters
from phlexible.bodies.flexible.mesh.element_mesh import CellKind, standard_element
from phlexible.bodies.flexible.mesh.given_mesh import CORNERS, GivenMesh
from phlexible.bodies.soft.constitution import Constitution
from phlexible.bodies.soft.element_strains import ElementStrains
from phlexible.display.written import short_repr
from phlexible.errors import ParameterError

if TYPE_CHECKING:
    from scipy import sparse

FLAT = 1e-9
"""Volume or area of an element, relative to its extent, below which it has none."""


@dataclass(frozen=True, eq=False)
class SoftMesh:
    """Elements of one kind whose geometry and displacements have the same shape functions.

    Attributes:
        kind: of all elements.
        order: of their shape functions, 1 or 2.
        points: all points of the mesh that the user gave, then nodes between them, shape (p, 3) [m].
        cells: of each element its points in scikit-fem's order, corners first, shape (e, k).
    """

    kind: CellKind
    order: int
    points: Array
    cells: IntArray

    __repr__ = short_repr

    @classmethod
    def of(cls, given: GivenMesh, order: int) -> Self:
        """The elements of a mesh that a user gave, with nodes between its points where they are of order 2.

        Raises:
            ParameterError: elements of order 1 on curved cells.
        """
        if order < given.geometry_order:
            raise ParameterError(
                "order must be 2 on a mesh of second order: elements of order 1 strain when curved cells turn"
            )
        if order == given.geometry_order:
            return cls(given.kind, order, given.points, given.cells)
        local = np.asarray(standard_element(given.kind, 2).doflocs, dtype=np.float64)
        count = CORNERS[given.kind]
        shares = shape_functions(standard_element(given.kind, 1), local[count:].T)[
            0
        ]  # of the corners in each added node
        owners, places = [], []
        for share in shares:
            used = share > 1e-9
            owner = np.full((len(given.cells), count), -1)
            owner[:, : used.sum()] = np.sort(given.corners[:, used], axis=1)
            owners.append(owner)
            places.append(np.einsum("c,eci->ei", share[used], given.points[given.corners[:, used]]))
        _, first, number = np.unique(np.concatenate(owners), axis=0, return_index=True, return_inverse=True)
        added = np.concatenate(places)[first]
        numbers = len(given.points) + number.reshape(len(shares), -1).T
        return cls(given.kind, 2, np.vstack([given.points, added]), np.hstack([given.corners, numbers]))

    @property
    def is_sheet(self) -> bool:
        """Triangles and quadrilaterals, which have a thickness."""
        return self.kind.dimension == 2

    @cached_property
    def nodes(self) -> IntArray:
        """Points that belong to elements, in the order in which the body has them as nodes, shape (N,).

        Those of a cluster follow one another.
        """
        return np.concatenate(self._clusters)

    @cached_property
    def clusters(self) -> tuple[int, ...]:
        """How many nodes each cluster has, in their order."""
        return tuple(len(cluster) for cluster in self._clusters)

    @cached_property
    def _clusters(self) -> list[IntArray]:
        used, cells = np.unique(self.cells, return_inverse=True)
        found = clusters(cells.reshape(self.cells.shape), self.points[used])
        return [used[np.sort(cluster)] for cluster in found]

    @cached_property
    def number(self) -> IntArray:
        """Node of each point; -1 of those that belong to no element, shape (p,)."""
        number = np.full(len(self.points), -1)
        number[self.nodes] = np.arange(len(self.nodes))
        return number

    @property
    def places(self) -> Array:
        """Of the nodes, shape (N, 3) [m]."""
        return self.points[self.nodes]

    @property
    def element_nodes(self) -> IntArray:
        """Nodes of each element, shape (e, k)."""
        return self.number[self.cells]

    @property
    def corners(self) -> IntArray:
        """Nodes at the corners of each element, shape (e, c)."""
        return self.element_nodes[:, : CORNERS[self.kind]]

    @property
    def strain_degree(self) -> int:
        """Degree of the quadrature of stored energy."""
        return max(2 * (self.order - 1), 1) if self.kind.is_simplex else 2 * self.order

    def quadrature(self, degree: int) -> tuple[Array, Array, Array]:
        """Values of the shape functions (q, k), gradients (e, q, k, 3) and volumes (or areas) of the points (e, q).

        Gradients in a sheet are along two orthonormal directions of it, which differ from point to point; the third
        is zero.

        Raises:
            ParameterError: names elements that are flat or folded.
        """
        from skfem.quadrature import get_quadrature

        element = standard_element(self.kind, self.order)
        at, weights = get_quadrature(element.refdom, degree)
        values, slopes = shape_functions(element, np.asarray(at))
        x = self.points[self.cells]
        base = x - x[:, :1]
        J = np.einsum("qka,eki->eqia", slopes, base)
        extent = np.ptp(x, axis=1).max(axis=1) ** self.kind.dimension
        gradients = np.zeros((*J.shape[:2], values.shape[1], 3))
        if self.is_sheet:
            R = np.asarray(np.linalg.qr(J, mode="r"))
            size = np.abs(R[..., 0, 0] * R[..., 1, 1])
            self._refuse(size.min(axis=1) <= FLAT * extent, "are flat, they have no area")
            gradients[..., :2] = np.einsum("eqba,qkb->eqka", np.linalg.inv(R), slopes)
            normal = np.cross(J[..., 0], J[..., 1])
            folded = (np.einsum("eqi,ei->eq", normal, normal[:, 0]) <= 0).any(axis=1)
            self._refuse(folded, "are folded over")
        else:
            determinant = np.linalg.det(J)
            self._refuse(np.abs(determinant).min(axis=1) <= FLAT * extent, "are flat, they have no volume")
            folded = determinant.min(axis=1) * determinant.max(axis=1) < 0
            self._refuse(folded, "are folded: their volume is negative in places")
            size = np.abs(determinant)
            gradients[:] = np.einsum("eqba,qkb->eqka", np.linalg.inv(J), slopes)
        gradients[:, :, 0] = -gradients[:, :, 1:].sum(axis=2)  # so that no rigid motion strains
        return values, gradients, size * weights

    def mass(self, density: float, thickness: float) -> "sparse.csr_array":
        """int rho N_i N_j dV, shape (N, N) [kg]."""
        from scipy import sparse

        values, _, volumes = self.quadrature(2 * self.order)
        blocks = density * thickness * np.einsum("eq,qi,qj->eij", volumes, values, values)
        nodes, count = self.element_nodes, self.cells.shape[1]
        rows, columns = np.repeat(nodes, count, axis=1), np.tile(nodes, (1, count))
        size = len(self.nodes)
        return sparse.coo_array((blocks.ravel(), (rows.ravel(), columns.ravel())), (size, size)).tocsr()

    def strains(self, law: Constitution, thickness: float, viscosity: float) -> ElementStrains:
        """What the elements store."""
        _, gradients, volumes = self.quadrature(self.strain_degree)
        return ElementStrains(self.element_nodes, gradients, thickness * volumes, law, self.is_sheet, viscosity)

    def _refuse(self, wrong: Any, what: str) -> None:
        if wrong.any():
            numbers = np.flatnonzero(wrong)
            listed = ", ".join(map(str, numbers[:8])) + (f", ... ({len(numbers)})" if len(numbers) > 8 else "")
            raise ParameterError(f"mesh: elements {listed} {what}; move their nodes, or mesh the body again")


def shape_functions(element: Any, at: Array) -> tuple[Array, Array]:
    """Shape functions at points (d, q) of the reference cell and their slopes, shapes (q, k) and (q, k, d)."""
    values, slopes = [], []
    for k in range(len(element.doflocs)):
        value, slope = element.lbasis(at, k)
        values.append(np.broadcast_to(np.asarray(value, dtype=np.float64), at.shape[1]))
        slopes.append(np.broadcast_to(np.asarray(slope, dtype=np.float64), at.shape))
    return np.stack(values, axis=1), np.stack(slopes).transpose(2, 0, 1)
