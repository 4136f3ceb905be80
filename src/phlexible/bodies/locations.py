"""Locations of attachments on a body, and the material points that the body returns for them."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers, text, vector
from phlexible.algebra.rotations import cross_matrix
from phlexible.errors import ParameterError


@dataclass(frozen=True)
class Start:
    """End of a line body at x = 0."""


@dataclass(frozen=True)
class End:
    """End of a line body at x = length."""


@dataclass(frozen=True)
class Along:
    """The axis point of a line body at distance x [m] from its start."""

    x: float


@dataclass(frozen=True)
class Origin:
    """The origin of the body frame, as a point that moves with the material there."""


@dataclass(frozen=True)
class MaterialPosition:
    """A material point given by its undeformed body coordinates [m]."""

    position: tuple[float, float, float]


@dataclass(frozen=True)
class Interface:
    """A named part of a flexible body that joints and loads act on."""

    name: str


@dataclass(frozen=True)
class Node:
    """A node of a soft body by the number of its point in the mesh."""

    number: int


@dataclass(frozen=True)
class SurfaceNode:
    """A node of a meshed body, by its index among those of the retained shapes, at which contacts may act."""

    number: int


@dataclass(frozen=True)
class Cut:
    """An end of a part of a beam that ``Fixed`` connects to the next part.

    Attributes:
        at_end: at x = length; False: at x = 0.
    """

    at_end: bool


Location = Cut | Start | End | Along | Origin | MaterialPosition | Interface | Node | SurfaceNode


def label_of(location: Location) -> str:
    """Location as users write it after the name of a body."""
    match location:
        case Start() | Cut(at_end=False):
            return "start"
        case End() | Cut():
            return "end"
        case Origin():
            return "origin"
        case Along(x):
            return f"at({x:g})"
        case Interface(name):
            return name
        case Node(number) | SurfaceNode(number):
            return f"node({number})"
        case MaterialPosition(position):
            return f"point({position[0]:g}, {position[1]:g}, {position[2]:g})"


def user_locations(places: Mapping[str, ArrayLike], taken: Iterable[str]) -> dict[str, Location]:
    """Locations that a user named: distances along a line body [m], or body coordinates, shape (3,) [m].

    Raises:
        ParameterError: no mapping of names to positions, a name that is taken, or numbers of another shape.
    """
    if not isinstance(places, Mapping):
        raise ParameterError(f'ports must be a mapping such as {{"middle": 0.5}}, got {places!r}')
    result: dict[str, Location] = {}
    for name, place in places.items():
        if text("a port's name", name) in taken:
            raise ParameterError(f"ports must have new names, but the body already has {name!r}")
        where = f"the position of port {name!r}"
        if np.ndim(numbers(where, place)):
            x, y, z = (float(entry) for entry in vector(where, place))
            result[name] = MaterialPosition((x, y, z))
        else:
            result[name] = Along(float(numbers(where, place)))
    return result


@dataclass(frozen=True, eq=False)
class MaterialPoint:
    """A point of a floating body with n elastic coordinates eta, in the body frame.

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
    """

    position: Array
    shapes: Array
    rotations: Array | None
    node: int | None = None
    stretch: Array | None = None
    is_watched_only: bool = False

    def direction_shapes(self, direction: Array) -> Array:
        """Change of a direction (3,) of the undeformed body with eta: theta x d + stretch d, shape (3, n).

        Zero where the body has no orientation.
        """
        if self.rotations is None:
            return np.zeros_like(self.shapes)
        rotated: Array = -cross_matrix(direction) @ self.rotations
        return rotated if self.stretch is None else rotated + np.outer(direction, self.stretch)


class MaterialPoints(ABC):
    """Material points of one body, which it finds by their locations."""

    @abstractmethod
    def locate(self, location: Location) -> MaterialPoint:
        """Material point at the location.

        Raises:
            AttachmentError: the body has no such location; the message lists those it has.
        """

    @abstractmethod
    def outline(self, count: int) -> tuple[Array, Array]:
        """Polyline for drawings of the body: positions (k, 3) [m] and shape functions (k, 3, n).

        A line body gives ``count`` points of its axis, a rigid body its origin and, where it
        is elsewhere, its center of mass; the points move with eta like a ``MaterialPoint``.
        """
