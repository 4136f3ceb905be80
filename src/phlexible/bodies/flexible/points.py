"""Material points of a body from a finite element model: interfaces, nodes, any place in a mesh."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, IntArray, vector
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.locations import (
    Interface,
    Location,
    MaterialPoint,
    MaterialPoints,
    MaterialPosition,
    Origin,
    SurfaceNode,
    label_of,
)
from phlexible.errors import AttachmentError

OUTSIDE = 1e-6
"""How far out of its element a point may be, in the element's own coordinates."""
CANDIDATES = 64
"""Elements near a point that are searched for it."""
SETTLED = 1e-14
"""Last change of an element's own coordinates, of the order of one, after which they are known."""


@dataclass(frozen=True, eq=False)
class InterfaceMotion:
    """How k interfaces of a body with n elastic coordinates move.

    Attributes:
        names: by which users find them.
        positions: shape (k, 3) [m].
        shapes: their displacement, shape (k, 3, n).
        rotations: their small rotation, shape (k, 3, n).
        areas: area times outward normal of flat ones, zero of others, shape (k, 3) [m2].
    """

    names: tuple[str, ...]
    positions: Array
    shapes: Array
    rotations: Array
    areas: Array

    @property
    def listed(self) -> str:
        """The names for messages."""
        return ", ".join(map(repr, self.names)) or "none"

    def locate(self, name: str) -> MaterialPoint:
        """The interface of a name.

        Raises:
            AttachmentError: there is none.
        """
        if name not in self.names:
            raise AttachmentError(
                f"the body has no interface {name!r}; it has {self.listed}"
                f" (interfaces={{{name!r}: 'rigid'}} of its description makes one where there is such a place)"
            )
        k = self.names.index(name)
        return MaterialPoint(self.positions[k], self.shapes[k], self.rotations[k])


@dataclass(frozen=True, eq=False)
class FlexiblePoints(MaterialPoints):
    """Points of a body from a finite element model with n elastic coordinates.

    Attributes:
        shapes: displacement of the nodes, shape (N, 3, n).
        interfaces: what joints and loads act on.
    """

    shapes: Array
    interfaces: InterfaceMotion

    @property
    @abstractmethod
    def nodes(self) -> Array:
        """Places of the nodes, shape (N, 3) [m]."""

    @property
    def surface_nodes(self) -> IntArray:
        """Numbers of those that other bodies touch: corners on the surface; all, where that is not known."""
        return np.arange(len(self.shapes))

    def in_basis(self, chosen: Array) -> Self:
        """The same points for coordinates of a smaller basis, whose columns are ``chosen`` (n, k)."""
        faces = self.interfaces
        moved = replace(faces, shapes=faces.shapes @ chosen, rotations=faces.rotations @ chosen)
        return replace(self, shapes=self.shapes @ chosen, interfaces=moved)

    @abstractmethod
    def inside(self, place: Array, described: str) -> MaterialPoint:
        """The material point at a place of the undeformed body.

        Raises:
            AttachmentError: the body is not there.
        """

    def locate(self, location: Location) -> MaterialPoint:
        """An interface, or another place, which joints and loads cannot act on.

        Raises:
            AttachmentError: no interface of that name, or a place outside the body.
        """
        match location:
            case Interface(name):
                return self.interfaces.locate(name)
            case Origin():
                return self.inside(np.zeros(3), "the origin of the mesh")
            case SurfaceNode(number):
                return MaterialPoint(self.nodes[number], self.shapes[number], None, is_watched_only=True)
            case MaterialPosition(position):
                return self.inside(vector("position", position), f"the point {position}")
        raise AttachmentError(
            f"a body from a mesh and a plate have no {label_of(location)}: joints and loads act on interfaces, "
            f'part["name"] ({self.interfaces.listed}; the body is described with interfaces=...), '
            "sensors at point((x, y, z)) too"
        )

    def outline(self, count: int) -> tuple[Array, Array]:
        """The interfaces one after the other; without them two nodes far apart."""
        if len(self.interfaces.names) > 1:
            return self.interfaces.positions, self.interfaces.shapes
        axis = int(np.ptp(self.nodes, axis=0).argmax())
        ends = [int(self.nodes[:, axis].argmin()), int(self.nodes[:, axis].argmax())]
        return self.nodes[ends], self.shapes[ends]

    def nearest(self, place: Array) -> int:
        """Number of the node closest to a place."""
        return int(((self.nodes - place) ** 2).sum(axis=1).argmin())

    def refuse(self, described: str, place: Array) -> AttachmentError:
        """That a place is not in the body, with the nearest that is."""
        shown = ", ".join(f"{c:g}" for c in self.nodes[self.nearest(place)])
        return AttachmentError(
            f"{described} is outside the mesh; the nearest node is at ({shown}), interfaces are "
            f"{self.interfaces.listed}"
        )


@dataclass(frozen=True, eq=False)
class NodePoints(FlexiblePoints):
    """Points of a body that is known at its nodes only.

    Attributes:
        places: of the nodes, shape (N, 3) [m].
        rotations: of the nodes, shape (N, 3, n); None: they have none.
    """

    places: Array
    rotations: Array | None

    def in_basis(self, chosen: Array) -> Self:
        """The same points for coordinates of a smaller basis, whose columns are ``chosen`` (n, k)."""
        own = None if self.rotations is None else self.rotations @ chosen
        return replace(super().in_basis(chosen), rotations=own)

    @property
    def nodes(self) -> Array:
        """Places of the nodes, shape (N, 3) [m]."""
        return self.places

    def inside(self, place: Array, described: str) -> MaterialPoint:
        """A node.

        Raises:
            AttachmentError: no node is there.
        """
        node = self.nearest(place)
        if np.abs(self.places[node] - place).max() > OUTSIDE * np.ptp(self.places, axis=0).max():
            raise self.refuse(described, place)
        turns = None if self.rotations is None else self.rotations[node]
        return MaterialPoint(self.places[node], self.shapes[node], turns, is_watched_only=True)


@dataclass(frozen=True, eq=False)
class MeshPoints(FlexiblePoints):
    """Points anywhere in a mesh.

    Attributes:
        mesh: where they are looked for.
    """

    mesh: ElementMesh

    @property
    def nodes(self) -> Array:
        """Places of the displacement nodes, shape (N, 3) [m]."""
        return self.mesh.nodes

    @property
    def surface_nodes(self) -> IntArray:
        """Corners of elements on the surface."""
        given = self.mesh.mesh
        return np.asarray(self.mesh.vertex_nodes[np.unique(given.facets[:, given.boundary_facets()])])

    def inside(self, place: Array, described: str) -> MaterialPoint:
        """The point in its element; it turns with the skew part of the displacement gradient.

        Raises:
            AttachmentError: outside the mesh.
        """
        d = self.mesh.dimension
        if d == 2 and place[2] != 0:
            raise AttachmentError(f"{described} must have z = 0 in a plane mesh")
        found = cell_at(self.mesh, place[:d])
        if found is None:
            raise self.refuse(described, place)
        values, gradients = found.functions()
        own = self.shapes[self.mesh.element_nodes[found.element]]  # (k, 3, n)
        shapes = np.einsum("k,kcn->cn", values, own)
        slopes = np.zeros((3, 3, own.shape[2]))
        slopes[:, :d] = np.einsum("ka,kcn->can", gradients, own)
        turns = np.array([slopes[b, a] - slopes[a, b] for a, b in ((1, 2), (2, 0), (0, 1))]) / 2
        return MaterialPoint(place, shapes, turns, is_watched_only=True)


@dataclass(frozen=True, eq=False)
class CellPlace:
    """A place in a mesh.

    Attributes:
        mesh: in which it is.
        element: number of the element.
        local: its coordinates in the reference element, shape (d,).
    """

    mesh: ElementMesh
    element: int
    local: Array

    def functions(self) -> tuple[Array, Array]:
        """Shape functions of the element there, shape (k,), and their gradients, shape (k, d) [1/m]."""
        mapping, X = self.mesh.mesh.mapping(), self.local[:, None]
        numbers = np.array([self.element], dtype=np.int32)
        count = self.mesh.element_nodes.shape[1]
        found = [self.mesh.element.gbasis(mapping, X, k, numbers)[0] for k in range(count)]
        values = np.array([np.ravel(np.asarray(each))[0] for each in found])
        return values, np.array([each.grad[:, 0, 0] for each in found])


def cell_at(mesh: ElementMesh, place: Array) -> CellPlace | None:
    """The element around a place (d,); None: outside the mesh."""
    centers = mesh.geometry[mesh.cells].mean(axis=1)
    near = np.argsort(((centers - place) ** 2).sum(axis=1))[:CANDIDATES].astype(np.int32)
    local = _local_coordinates(mesh, near, place)
    outside = _outside(mesh, local)
    best = int(outside.argmin())
    return CellPlace(mesh, int(near[best]), local[:, best]) if outside[best] <= OUTSIDE else None


def _local_coordinates(mesh: ElementMesh, elements: NDArray[np.int32], place: Array) -> Array:
    """Coordinates of a place in each of these elements by Newton's method, shape (d, e); nan where it fails."""
    mapping = mesh.mesh.mapping()
    middle = np.asarray(mesh.mesh.elem.refdom.p).mean(axis=1)
    X = np.tile(middle[:, None, None], (1, len(elements), 1))
    for _ in range(25):
        gap = np.asarray(mapping.F(X, elements))[:, :, 0] - place[:, None]
        slope = np.moveaxis(np.asarray(mapping.DF(X, elements))[..., 0], -1, 0)
        step = np.linalg.solve(slope, gap.T[..., None])[..., 0].T
        X[:, :, 0] -= np.clip(step, -1.0, 1.0)
        if np.abs(step).max() <= SETTLED:
            break
    gap = np.asarray(mapping.F(X, elements))[:, :, 0] - place[:, None]
    size = np.ptp(mesh.geometry[mesh.cells[elements]], axis=1).max(axis=1)
    X[:, np.abs(gap).max(axis=0) > 1e-9 * size, 0] = np.nan
    return X[:, :, 0]


def _outside(mesh: ElementMesh, local: Array) -> Array:
    """How far each point is out of its reference element; infinite where it was not found."""
    over = -local.min(axis=0)
    over = np.maximum(over, local.sum(axis=0) - 1 if mesh.kind.is_simplex else local.max(axis=0) - 1)
    return np.where(np.isnan(over), np.inf, over)
