"""Locations of attachments on a body, and the material points that the body returns for them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, reals, text, vector
from phlexible.algebra.rotations import cross_matrix
from phlexible.errors import ParameterError


@dataclass(frozen=True)
class Start:
    """Location of the end of a beam, rod or string at x = 0."""


@dataclass(frozen=True)
class End:
    """Location of the end of a beam, rod or string at x = length."""


@dataclass(frozen=True)
class Along:
    """Location on the axis of a beam, rod or string at distance x [m] from its start."""

    x: float


@dataclass(frozen=True)
class SurfaceParameters:
    """Location on a shell by the parameters u and v of its surface, each from 0 to 1."""

    u: float
    v: float


@dataclass(frozen=True)
class Origin:
    """Location of the origin of the body frame, as the material point there."""


@dataclass(frozen=True)
class MaterialPosition:
    """Location of a material point by its undeformed coordinates in body axes [m]."""

    position: tuple[float, float, float]


@dataclass(frozen=True)
class Interface:
    """Location of a named interface of a flexible body, on which joints and loads act."""

    name: str


@dataclass(frozen=True)
class Node:
    """Location of a node of a soft body by its index in the mesh."""

    number: int


@dataclass(frozen=True)
class SurfaceNode:
    """Location of a node of a body from a mesh at which contact forces may act, by its index among the nodes of the
    body.
    """

    number: int


@dataclass(frozen=True)
class Cut:
    """Location of an end of one part of a split beam, which ``Fixed`` connects to the next part.

    Attributes:
        at_end: at x = length; False: at x = 0.
    """

    at_end: bool


Location = (
    Cut | Start | End | Along | SurfaceParameters | Origin | MaterialPosition | Interface | Node | SurfaceNode
)


def label_of(location: Location) -> str:
    """Return the text with which users write a location on a body, after the body's name: "start", "at(0.5)",
    "node(3)" and so on. It stands in error messages."""
    match location:
        case Start() | Cut(at_end=False):
            return "start"
        case End() | Cut():
            return "end"
        case Origin():
            return "origin"
        case Along(x):
            return f"at({x:g})"
        case SurfaceParameters(u, v):
            return f"at({u:g}, {v:g})"
        case Interface(name):
            return name
        case Node(number) | SurfaceNode(number):
            return f"node({number})"
        case MaterialPosition(position):
            return f"point({position[0]:g}, {position[1]:g}, {position[2]:g})"


def user_locations(locations: Mapping[str, ArrayLike], taken: Iterable[str]) -> dict[str, Location]:
    """Convert a user's mapping of names to positions on a body (``locations``) to location objects, a dictionary
    by name. A number is a distance along a beam, rod or string [m], a vector (3,) a position in body coordinates
    [m]. Raise ``ParameterError`` for names in ``taken`` and for other values; positions are not compared with the
    body.

    Raises:
        ParameterError: no mapping of names to positions, a name that is taken, or numbers of another shape.
    """
    if not isinstance(locations, Mapping):
        raise ParameterError(f'ports must be a mapping such as {{"middle": 0.5}}, got {locations!r}')
    result: dict[str, Location] = {}
    for name, location in locations.items():
        if text("a port's name", name) in taken:
            raise ParameterError(f"ports must have new names, but the body already has {name!r}")
        where = f"the position of port {name!r}"
        if np.ndim(reals(where, location)):
            x, y, z = (float(entry) for entry in vector(where, location))
            result[name] = MaterialPosition((x, y, z))
        else:
            result[name] = Along(float(reals(where, location)))
    return result


@dataclass(frozen=True, eq=False)
class MaterialPoint:
    """Material point of a floating body with n elastic coordinates eta, in body axes: its undeformed position and
    its displacement and rotation per unit of eta.

    The point is at ``position + shapes @ eta``; the material around it is rotated by the small
    rotation vector ``rotations @ eta``.

    Attributes:
        position: undeformed position, shape (3,) [m].
        shapes: shape functions there, shape (3, n).
        rotations: rotation of the material there, shape (3, n) [rad per unit of eta]; None
            where the body has no orientation (a point mass).
        node: index of the node at the point, on a body in absolute coordinates; None: there is no node.
        stretch: shape (n,); directions there are longer by ``stretch @ eta``, see ``BeamPoints``. None: their
            length is constant to first order.
        is_watched_only: True: only sensors may use the point, not joints and loads: the body does not have the
            shapes of its response to them.
        directions: of a shell, weights of its unknown vectors whose sums are directions there: three of an edge or
            patch, the directors of a node, one between nodes, shape (k, N); None: the body has no nodal directors.
        fixed_nodes: numbers of the nodes that a fixed joint holds one by one, of an edge of a shell that is not
            averaged.
        fixes_directors: whether it holds their directors too.
        stays_in_plane: whether it holds nodes and directors only in their plane.
    """

    position: Array
    shapes: Array
    rotations: Array | None
    node: int | None = None
    stretch: Array | None = None
    is_watched_only: bool = False
    directions: Array | None = None
    fixed_nodes: tuple[int, ...] = ()
    fixes_directors: bool = False
    stays_in_plane: bool = False

    @classmethod
    def of_nodes(cls, weights: Array, dimension: int) -> Self:
        """Return the material point of a body whose elastic coordinates are node positions in ``dimension``
        dimensions, at the weighted sum of its nodes. ``weights`` has shape (N,); if only one is not zero, the point
        is that node."""
        nodes = np.flatnonzero(weights)
        shapes = np.asarray(np.kron(weights, np.eye(3, dimension)), dtype=np.float64)
        return cls(np.zeros(3), shapes, None, int(nodes[0]) if len(nodes) == 1 else None)

    def direction_shapes(self, direction: Array) -> Array:
        """Return the change of a unit vector ``direction`` (3,) per unit of each of n elastic coordinates, shape
        (3, n). The vector is fixed to the material at this point; the change is the cross product of the point's
        rotation and the vector. At cuts of split beams the vector is lengthened too (``stretch``). The result is
        zero if the point has no rotation."""
        if self.rotations is None or not self.rotations.size:
            return np.zeros_like(self.shapes)
        rotated: Array = -cross_matrix(direction) @ self.rotations
        return rotated if self.stretch is None else rotated + np.outer(direction, self.stretch)


class MaterialPoints(ABC):
    """Base class of the material points of one body, which are found by their locations."""

    @abstractmethod
    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of this body at a ``location`` such as its start: undeformed position,
        displacement and rotation per unit of each elastic coordinate. Raise ``AttachmentError`` if the body has no
        such location. Abstract: each kind of body implements it.

        Raises:
            AttachmentError: the body has no such location; the message lists those it has.
        """

    @abstractmethod
    def outline(self, count: int) -> tuple[Array, Array]:
        """Return a polyline that pictures draw for this body: undeformed positions (k, 3) [m] and displacements per
        unit of each elastic coordinate (k, 3, n). Line bodies have ``count`` points, rigid bodies the origin and
        centre of mass. Abstract: each kind of body implements it.

        A line body gives ``count`` points of its axis, a rigid body its origin and, where it
        is elsewhere, its center of mass; the points move with eta like a ``MaterialPoint``.
        """
