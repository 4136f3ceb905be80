"""Surfaces that a port carries, for contacts: planes, spheres, cylinders, boxes, capsules (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, hold_own, positive, unit_vector
from phlexible.algebra.options import flag
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.coordinates import Coordinate, DistanceCoordinate, PositionCoordinate
from phlexible.interactions.functions import AXES, DirectionOf, perpendicular_axes
from phlexible.interactions.resisting.gaps import RoundedCoordinate, SegmentCoordinate
from phlexible.ports.attachments import Attachment, MovingFrame, Port
from phlexible.shapes.solids import Box, Cylinder, Shape, Sphere


class Gap(NamedTuple):
    """A coordinate and where the surface is along it.

    Attributes:
        coordinate: of the point, or the centre of a sphere.
        surface: its value on the surface [m].
        side: 1: matter is where it is less, -1: where it is more.
    """

    coordinate: Coordinate
    surface: float
    side: float = 1.0


@dataclass(frozen=True, eq=False)
class Touchable(ABC):
    """What points and spheres touch. Made of ports and of directions in world axes at the initial pose."""

    def __post_init__(self) -> None:
        hold_own(self)
        for port in self._values():
            if not isinstance(port, Attachment | MovingFrame):
                raise ModelError(f"{type(self).__name__} takes a port such as ground.at((0, 0, 0)), got {port!r}")

    @property
    def ports(self) -> tuple[Port, ...]:
        """What carries it."""
        return tuple(value for value in self._values() if isinstance(value, Attachment | MovingFrame))

    def _values(self) -> list[Any]:
        return [getattr(self, each.name) for each in fields(self) if each.name in PORTS]

    @property
    def carrier(self) -> Port:
        """The first of them."""
        return self.ports[0]

    def moved(self, change: Callable[[Port], Port]) -> Self:
        """The same on other ports."""
        ports = {each.name: getattr(self, each.name) for each in fields(self) if each.name in PORTS}
        return replace(self, **{name: change(port) for name, port in ports.items()})

    @property
    @abstractmethod
    def thickness(self) -> float:
        """How deep a point may start is a share of it; 0: it is not thick [m]."""

    @property
    def needs_radius(self) -> bool:
        """Whether only spheres touch it: it has edges."""
        return False

    @abstractmethod
    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Where a point is from it.

        Raises:
            ModelError: a port without an orientation that is needed.
            ParameterError: in the plane, a direction that leaves it.
        """

    def _oriented(self, port: Port) -> Port:
        if not port.has_orientation:
            raise ModelError(f"{type(self).__name__}: {port} has no orientation and carries none")
        return port


PORTS = ("port", "start", "end")


@dataclass(frozen=True, eq=False)
class Plane(Touchable):
    """A plane through a port; bodies are on the side that the normal points to.

    Attributes:
        port: of the ground or a body, which carries it.
        normal: world axes at the initial pose, shape (3,).

    Raises:
        ModelError: no port.
        ParameterError: no direction.
    """

    port: Port
    normal: ArrayLike = field(default=(0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.unit_normal()

    def unit_normal(self) -> Array:
        """The normal divided by its length, shape (3,)."""
        return unit_vector("normal", self.normal)

    @property
    def thickness(self) -> float:
        """None."""
        return 0.0

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """The height above it."""
        normal = self.unit_normal()
        if normal[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"normal of {self} must {where}, got {self.normal!r}")
        up = DirectionOf(self._oriented(self.port), normal)
        return (Gap(PositionCoordinate("gap", self.port, other, up), 0.0),)


@dataclass(frozen=True, eq=False)
class Surface(Touchable):
    """The surface of a shape about a port, which carries it.

    Attributes:
        port: the center of the shape.
        shape: a ``Sphere``, a ``Cylinder``, which goes on beyond its ends, or a ``Box``, whose edges only spheres
            touch; axes are those of the port's body, on the ground x, y, z. In the plane circles and rectangles.
        inside: bodies are inside of it.

    Raises:
        ModelError: no port, or no such shape.
    """

    port: Port
    shape: Shape
    inside: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.shape, Sphere | Cylinder | Box):
            raise ModelError(f"Surface takes a Sphere, Cylinder or Box, got {self.shape!r}")
        if self.shape.center is not None:
            raise ModelError(f"{self.shape!r} has a center of its own; give Surface the port that is there instead")
        flag("inside", self.inside)

    @property
    def thickness(self) -> float:
        """The radius, or the shortest edge."""
        if isinstance(self.shape, Sphere | Cylinder):
            return self.shape.radius
        return float(np.min(np.asarray(self._box.size)))

    @property
    def needs_radius(self) -> bool:
        """Of a box from outside."""
        return isinstance(self.shape, Box) and not self.inside

    @property
    def _box(self) -> Box:
        assert isinstance(self.shape, Box), "asked for where it is one"
        return self.shape

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """The distance from center or axis, from a box, or the places between its faces."""
        side = -1.0 if self.inside else 1.0
        if isinstance(self.shape, Box):
            return self._box_gaps(other, dimension)
        is_round = isinstance(self.shape, Sphere)
        if isinstance(self.shape, Cylinder) and dimension < 3:
            if np.abs(self._turned(np.asarray(self.shape.axis))[:dimension]).any():
                raise ParameterError(f"axis of {self.shape} must be z in the plane")
            is_round = True
        if is_round:
            return (Gap(DistanceCoordinate("gap", self.port, other), self.thickness, side),)
        assert isinstance(self.shape, Cylinder), "what is left"
        axis = self._turned(np.asarray(self.shape.axis))
        across = tuple(DirectionOf(self._oriented(self.port), each) for each in perpendicular_axes(axis))
        return (Gap(RoundedCoordinate("gap", self.port, other, across, (0.0, 0.0)), self.thickness, side),)

    def _box_gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        half = np.asarray(self._box.size, dtype=np.float64)[:dimension] / 2
        along = tuple(DirectionOf(self._oriented(self.port), self._turned(axis)) for axis in AXES[:dimension])
        if not self.inside:
            return (Gap(RoundedCoordinate("gap", self.port, other, along, tuple(half.tolist())), 0.0),)
        places = [PositionCoordinate("gap", self.port, other, each) for each in along]
        return tuple(
            Gap(place, -side * float(end), side)
            for place, end in zip(places, half, strict=True)
            for side in (1.0, -1.0)
        )

    def _turned(self, axis: Array) -> Array:
        """A direction of the shape, world axes at the initial pose."""
        return self.port.placed.rotation @ axis if isinstance(self.port, Attachment) else axis


@dataclass(frozen=True, eq=False)
class Capsule(Touchable):
    """A straight piece between two ports with a radius, round at its ends: of a beam, a rod or a string.

    Attributes:
        start, end: of one body or of two, nodes of strings.
        radius: [m].
    """

    start: Port
    end: Port
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "radius", positive("radius", self.radius))
        if np.linalg.norm(self.end.initial_position() - self.start.initial_position()) == 0:
            raise ModelError(f"{self} has no length: {self.start} and {self.end} coincide")

    @property
    def thickness(self) -> float:
        """The radius."""
        return self.radius

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """The distance from the piece."""
        return (Gap(SegmentCoordinate("gap", self.start, self.end, other), self.radius),)
