"""Points of a body from a finite element model: interfaces, nodes, any position in a mesh, by number or name."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
from phlexible.display import written
from phlexible.errors import AttachmentError, ParameterError

OUTSIDE = 1e-6
"""Largest distance of a point from its element, in reference coordinates of the element."""
CANDIDATES = 64
"""Number of elements near a point that are searched."""
SETTLED = 1e-14
"""Last Newton step of reference coordinates, of the order of one, at which the search has converged."""


@dataclass(frozen=True, eq=False)
class InterfaceMotion:
    """Displacements and rotations of k interfaces of a body per unit of each of n elastic coordinates.

    Attributes:
        names: of the interfaces.
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
    def names_text(self) -> str:
        """Names of the interfaces of this body for messages, each in quotes, separated by commas; "none" if there
        are none."""
        return ", ".join(map(repr, self.names)) or "none"

    def locate(self, name: str) -> MaterialPoint:
        """Return the material point of the interface with the given name, on which joints and loads act: position,
        displacement and rotation per unit coordinate. Raise ``AttachmentError`` if the body has no such interface.

        Raises:
            AttachmentError: there is none.
        """
        if name not in self.names:
            raise AttachmentError(
                f"the body has no interface {name!r}; it has {self.names_text}"
                f" (interfaces={{{name!r}: 'rigid'}} of its description makes one where there is such a place)"
            )
        k = self.names.index(name)
        return MaterialPoint(self.positions[k], self.shapes[k], self.rotations[k])


@dataclass(frozen=True, eq=False)
class FlexiblePoints(MaterialPoints):
    """Material points of a body from a finite element model with N nodes and n elastic coordinates.

    Attributes:
        shapes: displacement of the nodes, shape (N, 3, n).
        interfaces: on which joints and loads act.
    """

    shapes: Array
    interfaces: InterfaceMotion

    @property
    @abstractmethod
    def nodes(self) -> Array:
        """Undeformed positions of the N finite element nodes of this body, shape (N, 3) [m]. Abstract: each kind of
        body implements it."""

    @property
    def surface_nodes(self) -> IntArray:
        """Indices of the nodes of this body at which contact forces may act. By default all nodes; bodies with a
        known surface return only its vertices."""
        return np.arange(len(self.shapes))

    def in_smaller_basis(self, basis: Array) -> Self:
        """Return a copy of these material points of a body for k new elastic coordinates in place of n. The old
        coordinates are ``basis`` (n, k) times the new ones. Displacements and rotations per unit coordinate, of
        nodes and interfaces, are multiplied by it."""
        interfaces = self.interfaces
        reduced = replace(interfaces, shapes=interfaces.shapes @ basis, rotations=interfaces.rotations @ basis)
        return replace(self, shapes=self.shapes @ basis, interfaces=reduced)

    @abstractmethod
    def point_inside(self, position: Array, described: str) -> MaterialPoint:
        """Return the material point at an undeformed position (3,) [m] in this body; raise ``AttachmentError`` if
        the body is not there. ``described`` names the position in the message. Abstract: each kind of body
        implements it.

        Raises:
            AttachmentError: the body is not there.
        """

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of this body at a ``location``: an interface, the origin, a surface node or
        another position. Points other than interfaces are usable by sensors only; joints and loads cannot act
        there. Raise ``AttachmentError`` for other locations, unknown interfaces, and positions outside of the
        body.

        Raises:
            AttachmentError: no interface of that name, or a position outside the body.
        """
        match location:
            case Interface(name):
                return self.interfaces.locate(name)
            case Origin():
                return self.point_inside(np.zeros(3), "the origin of the mesh")
            case SurfaceNode(number):
                return MaterialPoint(self.nodes[number], self.shapes[number], None, is_watched_only=True)
            case MaterialPosition(position):
                return self.point_inside(vector("position", position), f"the point {position}")
        raise AttachmentError(
            f"a body from a mesh and a plate have no {label_of(location)}: joints and loads act on interfaces, "
            f'part["name"] ({self.interfaces.names_text}; the body is described with interfaces=...), '
            "sensors at point((x, y, z)) too"
        )

    def outline(self, count: int) -> tuple[Array, Array]:
        """Return the line that pictures draw for this body: k positions (k, 3) [m] and displacements per unit of
        each elastic coordinate (k, 3, n). It goes through all interfaces in order. With fewer than two, it joins
        the two extreme nodes along the axis of largest extent. ``count`` is not used."""
        if len(self.interfaces.names) > 1:
            return self.interfaces.positions, self.interfaces.shapes
        axis = int(np.ptp(self.nodes, axis=0).argmax())
        ends = [int(self.nodes[:, axis].argmin()), int(self.nodes[:, axis].argmax())]
        return self.nodes[ends], self.shapes[ends]

    def nearest(self, position: Array) -> int:
        """Return the index of the node of this body that is closest to a position (3,) [m]."""
        return int(((self.nodes - position) ** 2).sum(axis=1).argmin())

    def outside_error(self, described: str, position: Array) -> AttachmentError:
        """Return (not raise) an ``AttachmentError`` with the message that a position is not in this body. The
        message begins with ``described`` and names the nearest node and the interfaces."""
        shown = ", ".join(f"{c:g}" for c in self.nodes[self.nearest(position)])
        return AttachmentError(
            f"{described} is outside the mesh; the nearest node is at ({shown}), interfaces are "
            f"{self.interfaces.names_text}"
        )


@dataclass(frozen=True, eq=False)
class NodePoints(FlexiblePoints):
    """Material points of a body that is described at its N nodes only, without a mesh.

    Attributes:
        positions: positions of the nodes, shape (N, 3) [m].
        rotations: of the nodes, shape (N, 3, n); None: they have none.
    """

    positions: Array
    rotations: Array | None

    def in_smaller_basis(self, basis: Array) -> Self:
        """Return a copy of these material points of a body for k elastic coordinates in place of n. Displacements
        and rotations of nodes and interfaces per unit coordinate are multiplied by ``basis`` (n, k). The old
        coordinates are ``basis`` times the new coordinates."""
        rotations = None if self.rotations is None else self.rotations @ basis
        return replace(super().in_smaller_basis(basis), rotations=rotations)

    @property
    def nodes(self) -> Array:
        """Undeformed positions of the N nodes of this body, which is known at its nodes only, shape (N, 3) [m]."""
        return self.positions

    def point_inside(self, position: Array, described: str) -> MaterialPoint:
        """Return the material point of the node nearest to an undeformed position (3,) [m] of this body, with its
        displacement and rotation shapes. It is marked as usable by sensors only. Raise ``AttachmentError`` if the
        node is farther away than a small fraction of the body's extent. ``described`` names the position in the
        message.

        Raises:
            AttachmentError: no node is there.
        """
        node = self.nearest(position)
        if np.abs(self.positions[node] - position).max() > OUTSIDE * np.ptp(self.positions, axis=0).max():
            raise self.outside_error(described, position)
        rotations = None if self.rotations is None else self.rotations[node]
        return MaterialPoint(self.positions[node], self.shapes[node], rotations, is_watched_only=True)


@dataclass(frozen=True, eq=False)
class MeshPoints(FlexiblePoints):
    """Material points at any position in a mesh, whose displacements the shape functions of its elements
    interpolate.

    Attributes:
        mesh: in which points are searched.
    """

    mesh: ElementMesh

    @property
    def nodes(self) -> Array:
        """Undeformed positions of the N displacement nodes of this body's mesh, shape (N, 3) [m]."""
        return self.mesh.nodes

    @property
    def surface_nodes(self) -> IntArray:
        """Indices of the displacement nodes at vertices on the surface of this body's mesh; contact forces may act
        at them."""
        mesh = self.mesh.mesh
        return np.asarray(self.mesh.vertex_nodes[np.unique(mesh.facets[:, mesh.boundary_facets()])])

    def point_inside(self, position: Array, described: str) -> MaterialPoint:
        """Return the material point at an undeformed position (3,) [m] in the mesh of this body, usable by sensors
        only. Its displacement shapes are interpolated in its element; its rotation is half the curl of these.
        Raise ``AttachmentError`` outside of the mesh, or for z other than 0 in a plane mesh; ``described`` names
        the position in the message.

        Raises:
            AttachmentError: outside the mesh.
        """
        d = self.mesh.dimension
        if d == 2 and position[2] != 0:
            raise AttachmentError(f"{described} must have z = 0 in a plane mesh")
        cell = cell_at(self.mesh, position[:d])
        if cell is None:
            raise self.outside_error(described, position)
        values, gradients = cell.functions()
        shapes_of_nodes = self.shapes[self.mesh.element_nodes[cell.element]]  # (k, 3, n)
        shapes = np.einsum("k,kcn->cn", values, shapes_of_nodes)
        slopes = np.zeros((3, 3, shapes_of_nodes.shape[2]))
        slopes[:, :d] = np.einsum("ka,kcn->can", gradients, shapes_of_nodes)
        rotations = np.array([slopes[b, a] - slopes[a, b] for a, b in ((1, 2), (2, 0), (0, 1))]) / 2
        return MaterialPoint(position, shapes, rotations, is_watched_only=True)


@dataclass(frozen=True, eq=False)
class CellPosition:
    """Position in a mesh, given by an element and coordinates in its reference element.

    Attributes:
        mesh: in which it is.
        element: number of the element.
        local: its coordinates in the reference element, shape (d,).
    """

    mesh: ElementMesh
    element: int
    local: Array

    def functions(self) -> tuple[Array, Array]:
        """Return the values of the k shape functions of the element at this position in a mesh, and their gradients
        in mesh axes. The shapes are (k,) and (k, d) [1/m]."""
        mapping, X = self.mesh.mesh.mapping(), self.local[:, None]
        numbers = np.array([self.element], dtype=np.int32)
        count = self.mesh.element_nodes.shape[1]
        functions = [self.mesh.element.gbasis(mapping, X, k, numbers)[0] for k in range(count)]
        values = np.array([np.ravel(np.asarray(function))[0] for function in functions])
        return values, np.array([function.grad[:, 0, 0] for function in functions])


def cell_at(mesh: ElementMesh, position: Array) -> CellPosition | None:
    """Return the element of a mesh that contains a position (d,) [m], with the reference coordinates of the
    position in it. Only the elements with the nearest centres are tested, by Newton's method; the one in which the
    position lies deepest is returned. Return None if the position is outside of all by more than a tolerance in
    reference coordinates."""
    centers = mesh.geometry[mesh.cells].mean(axis=1)
    nearest = np.argsort(((centers - position) ** 2).sum(axis=1))[:CANDIDATES].astype(np.int32)
    local = _local_coordinates(mesh, nearest, position)
    outside = _distance_outside(mesh, local)
    best = int(outside.argmin())
    return CellPosition(mesh, int(nearest[best]), local[:, best]) if outside[best] <= OUTSIDE else None


def _local_coordinates(mesh: ElementMesh, elements: NDArray[np.int32], position: Array) -> Array:
    """Return the reference coordinates of a position in each of e ``elements`` of a mesh of d dimensions, shape
    (d, e). They are found by Newton's method from the middle, at most 25 steps, each component limited to 1. They
    may lie outside of the reference cell. They are NaN where the position is missed by more than 1e-9 of the
    element's size."""
    mapping = mesh.mesh.mapping()
    middle = np.asarray(mesh.mesh.elem.refdom.p).mean(axis=1)
    X = np.tile(middle[:, None, None], (1, len(elements), 1))
    for _ in range(25):
        gap = np.asarray(mapping.F(X, elements))[:, :, 0] - position[:, None]
        slope = np.moveaxis(np.asarray(mapping.DF(X, elements))[..., 0], -1, 0)
        step = np.linalg.solve(slope, gap.T[..., None])[..., 0].T
        X[:, :, 0] -= np.clip(step, -1.0, 1.0)
        if np.abs(step).max() <= SETTLED:
            break
    gap = np.asarray(mapping.F(X, elements))[:, :, 0] - position[:, None]
    size = np.ptp(mesh.geometry[mesh.cells[elements]], axis=1).max(axis=1)
    X[:, np.abs(gap).max(axis=0) > 1e-9 * size, 0] = np.nan
    return X[:, :, 0]


def _distance_outside(mesh: ElementMesh, local: Array) -> Array:
    """Return how far points lie outside of the reference cell, given by reference coordinates ``local`` (d, e) in e
    elements, shape (e,). It is the largest violation of a bound of the cell: negative inside, infinite for NaN."""
    over = -local.min(axis=0)
    over = np.maximum(over, local.sum(axis=0) - 1 if mesh.kind.is_simplex else local.max(axis=0) - 1)
    return np.where(np.isnan(over), np.inf, over)


def selected_points(name: str, nodes: Any, positions: Array, groups: Mapping[str, IntArray]) -> IntArray:
    """Return the indices of the mesh points that a user chose by ``nodes``: a list of indices, the name of one of
    ``groups``, or a function. The function is called once with all ``positions`` as x (3, k) and returns True or
    False for each point. Raise ``ParameterError`` for other values.

    Args:
        name: name of the choice in error messages.
        nodes: numbers, a function of position, or the name of a group.
        positions: of all points, shape (k, 3) [m].
        groups: points by name.

    Raises:
        ParameterError: none of these.
    """
    if callable(nodes):
        return points_where(name, nodes, positions)
    return listed_points(name, nodes, len(positions), groups)


def points_where(name: str, function: Callable[[Array], ArrayLike], positions: Array) -> IntArray:
    """Return the ascending indices of those ``positions`` (k, 3) [m] at which a user's ``function`` is True. It is
    called once with all positions, as an array x (3, k). Raise ``ParameterError`` if it fails or does not return k
    booleans; ``name`` begins the message.

    Raises:
        ParameterError: the function fails, or returns anything but a truth value for each place.
    """
    try:
        answer = np.asarray(function(positions.T.copy()))
    except Exception as error:
        raise ParameterError(
            f"{name}: its function of places x (x[0], x[1], x[2] are arrays) raised {error!r}"
        ) from error
    if answer.shape != (len(positions),) or answer.dtype != np.bool_:
        raise ParameterError(
            f"{name}: its function of positions x (x[0], x[1], x[2] are arrays, {(len(positions),)}) must return "
            f"True or False for each place, such as lambda x: x[0] < 1e-6, got {answer!r}"
        )
    return np.flatnonzero(answer)


def listed_points(name: str, nodes: Any, count: int, groups: Mapping[str, IntArray]) -> IntArray:
    """Return the indices of mesh points that a user listed in ``nodes``, or the members of the group that
    ``nodes`` names. Raise ``ParameterError`` for an unknown group, an empty or other list, and indices outside of
    0 to ``count`` - 1. ``name`` is the name of the argument, for messages.

    Raises:
        ParameterError: no list of whole numbers, a number that is none of a point, or no such group.
    """
    if isinstance(nodes, str):
        if nodes in groups:
            return groups[nodes]
        known = ", ".join(map(repr, groups)) or "none"
        raise ParameterError(f"{name}: there is no group {nodes!r} of elements, facets or nodes, only {known}")
    try:
        numbers = np.asarray(nodes)
    except (TypeError, ValueError):  # of different kinds, or of different lengths
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers) or bool in map(type, nodes):
        raise ParameterError(
            f"{name} must be numbers of nodes, a function of places or a group's name, got {written(nodes)}"
        )
    numbers = numbers.astype(np.int64)
    outside = numbers[(numbers < 0) | (numbers >= count)]
    if len(outside):
        raise ParameterError(f"{name}: the nodes are 0 to {count - 1}, got {outside[0]}")
    return numbers
