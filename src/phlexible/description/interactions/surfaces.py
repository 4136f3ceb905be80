"""Surfaces of contacts, and gaps to them (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, flag, make_immutable, unit_vector
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.fields import Positive, convert_fields
from phlexible.description.interactions.functions import (
    AXES,
    BilinearTerm,
    Chord,
    Coordinate,
    DirectionOf,
    DistanceCoordinate,
    PointOf,
    PositionCoordinate,
    Row,
    WorldAxis,
    between,
    single,
)
from phlexible.description.ports import MovingFrame, Port
from phlexible.description.references import references
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError, ParameterError
from phlexible.shapes.solids import Box, Cylinder, Shape, Sphere, TriangleMesh

# Gaps that are no plain distance: from round and cornered shapes, from a piece of a line; with sliding along them.
#
# The kernels know them by their classes; discrete derivatives are in docs/theory.md, 8.


@dataclass(frozen=True, eq=False)
class GapCoordinate(Coordinate):
    """A length that no joint has and no drive holds."""

    def driven_row(self, path: TimePath) -> Row:
        """A gap is not driven.

        Raises:
            ParameterError: always.
        """
        raise ParameterError(f"{path.name}: a gap cannot be driven")

    @property
    def unit(self) -> str:
        """Unit of the gap: m."""
        return "m"


@dataclass(frozen=True, eq=False)
class RoundedCoordinate(GapCoordinate):
    """The length of the functions (x_b - x_a).d_i (8.26).

    Attributes:
        first: a, carries the directions.
        second: b.
        directions: d_i at right angles.
    """

    first: Port
    second: Port
    directions: tuple[DirectionOf, ...]

    def functions(self) -> tuple[Row, ...]:
        """(x_b - x_a).d_i."""
        chord = between(self.first, self.second)
        return tuple(Row((BilinearTerm(1.0, chord, single(d)),), 0.0, self.name) for d in self.directions)

    def value(self, y: Array) -> float:
        """The length of y [m]."""
        return float(np.linalg.norm(y))

    def gradient(self, y: Array) -> Array:
        """The unit vector along y; zero where y is zero."""
        length = self.value(y)
        return y / length if length else np.zeros(len(y))

    def hessian(self, y: Array) -> Array:
        """The derivative (I - n n^T) / |y| of the unit vector n."""
        length, n = self.value(y), self.gradient(y)
        return (np.eye(len(y)) - np.outer(n, n)) / length if length else np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class NormalForces(GapCoordinate):
    """What stands for the coordinate of a contact among many, whose force is the sum of normal forces."""

    def functions(self) -> tuple[Row, ...]:
        """There are no bilinear functions."""
        return ()

    def value(self, y: Array) -> float:
        """The coordinate is zero at any pose."""
        return 0.0

    def gradient(self, y: Array) -> Array:
        """The gradient has no entries."""
        return np.zeros(0)

    def hessian(self, y: Array) -> Array:
        """The Hessian has no entries."""
        return np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class SlidingCoordinate(PositionCoordinate):
    """The gap of a point to a plane and where the point is along the plane; theta is the gap [m]."""

    across: tuple[DirectionOf, ...]

    def functions(self) -> tuple[Row, ...]:
        """(x_b - x_a) . d with the normal d, then with directions along the plane."""
        chord = between(self.first, self.second)
        along = [Row((BilinearTerm(1.0, chord, single(d)),), 0.0, "along the plane") for d in self.across]
        return (*super().functions(), *along)

    def gradient(self, y: Array) -> Array:
        """(1, 0, ...)."""
        return np.asarray(np.eye(len(y))[0], dtype=np.float64)

    def hessian(self, y: Array) -> Array:
        """0."""
        return np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class RubbingCoordinate(GapCoordinate):
    """A gap, and how the touching places of both bodies slide past each other (8.28).

    Its last functions are the components of sum_k c_k x_k, whose coefficients c_k the kernels find in each step,
    and, where turns are resisted, those of the turn psi (8.46).

    Attributes:
        gap: the coordinate.
        toucher: port with the centre.
        carrier: port of the surface.
        radius: of the sphere that touches [m].
        dimension: 2 or 3.
        resists_turns: whether there is resistance to rolling or drilling.
    """

    gap: Coordinate
    toucher: Port
    carrier: Port
    radius: float
    dimension: int
    resists_turns: bool = False

    points = 2
    """Points in the sum: the centre, then that of the surface."""

    @property
    def turning(self) -> int:
        """Directions of the touching body in the sum."""
        return self.dimension if self.radius and self.toucher.has_orientation else 0

    def functions(self) -> tuple[Row, ...]:
        """Those of the gap, then the components of sliding."""
        parts: list[tuple[float, PointOf | DirectionOf]]
        parts = [(1.0, PointOf(self.toucher)), (-1.0, PointOf(self.carrier))]
        turning = [self.toucher] if self.turning else []
        if self.surface_turns:
            turning.append(self.carrier)
        parts += [(0.0, DirectionOf(port, axis)) for port in turning for axis in AXES[: self.dimension]]
        chord = Chord(tuple(parts))
        along = (
            Row((BilinearTerm(1.0, chord, single(WorldAxis(e))),), 0.0, "sliding") for e in AXES[: self.dimension]
        )
        return (*self.gap.functions(), *along, *self._turning_rows(Chord(tuple(parts[self.points :]))))

    def _turning_rows(self, directions: Chord) -> Iterator[Row]:
        if self.resists_turns:
            for axis in AXES if self.dimension == 3 else AXES[2:]:
                yield Row((BilinearTerm(1.0, directions, single(WorldAxis(axis))),), 0.0, "turning")

    @property
    def surface_turns(self) -> bool:
        """Whether the surface turns with its carrier."""
        return self.carrier.has_orientation and not self.is_grounded

    @property
    def is_grounded(self) -> bool:
        """Whether the ground carries the surface."""
        return isinstance(self.carrier, MovingFrame) and self.carrier.is_fixed

    def reach(self, theta: Array | float, rest: float, side: float) -> Array:
        """Distance of the place that touches from the centre of what touches, between two round ones [m]."""
        is_round = isinstance(self.gap, DistanceCoordinate) and side > 0
        return np.asarray(self.radius * (theta / rest if is_round else 1.0))

    @property
    def gap_count(self) -> int:
        """Functions of the gap."""
        return len(self.gap.functions())

    def value(self, y: Array) -> float:
        """Of the gap."""
        return float(self.gap.value(y[: self.gap_count]))

    def gradient(self, y: Array) -> Array:
        """Zero beyond the gap."""
        return np.concatenate([self.gap.gradient(y[: self.gap_count]), np.zeros(len(y) - self.gap_count)])

    def hessian(self, y: Array) -> Array:
        """Zero beyond the gap."""
        result = np.zeros((len(y), len(y)))
        result[: self.gap_count, : self.gap_count] = self.gap.hessian(y[: self.gap_count])
        return result


# Surfaces that a port carries, for contacts: planes, spheres, cylinders, boxes, capsules (docs/theory.md, 8).


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
        convert_fields(self)
        make_immutable(self)
        for name in (each for each in PORTS if hasattr(self, each)):
            if not isinstance(port := getattr(self, name), Port):
                raise ModelError(
                    f"{type(self).__name__}: {name} must be a port such as ground.at((0, 0, 0)), got {port!r}"
                )

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports that carry the surface."""
        return tuple(each for each in references(self) if isinstance(each, Port))

    @property
    def carrier(self) -> Port:
        """The first of them."""
        return self.ports[0]

    @property
    @abstractmethod
    def thickness(self) -> float:
        """Length of which weights press in a share; 0: it is not thick, or not known [m]."""


PORTS = ("port", "start", "end")
HOLLOW = Sphere | Cylinder | Box
"""Shapes inside of which bodies may be."""


@dataclass(frozen=True, eq=False)
class Plane(Touchable):
    """A plane through a port; bodies are on the side that the normal points to.

    Attributes:
        port: of the ground or a body, which carries it.
        normal: world axes at the initial pose, shape (3,).

    Raises:
        ModelError: no port.
        ParameterError: no direction.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
        >>> ball = model.add(ph.RigidBody.sphere(0.1, density=500.0), "ball", position=(0, 0, 0.15))
        >>> touch = model.apply(ph.Contact(ball.origin, floor, stiffness=1e5, radius=0.1))
        >>> motion = model.simulate(0.2, step=1e-3)
        >>> print(round(motion.position(ball.origin)[:, 2].min(), 3))  # it goes 3 mm into the floor
        0.097
    """

    port: Port
    normal: ArrayLike = field(default=(0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.unit_normal()

    @cached_on_owner
    def unit_normal(self) -> Array:
        """The normal divided by its length, shape (3,)."""
        return unit_vector("normal", self.normal)

    @cached_property
    def _up(self) -> DirectionOf:
        """The same for all that touch it."""
        if not self.port.has_orientation:
            raise ModelError(f"Plane: {self.port} has no orientation and carries none")
        return DirectionOf(self.port, self.unit_normal())

    @property
    def thickness(self) -> float:
        """Distance of the surface from the plane [m]: zero."""
        return 0.0

    def gap(self, other: Port, dimension: int) -> Gap:
        """The height of a point above it.

        Raises:
            ModelError: a port without an orientation.
            ParameterError: a normal that leaves the plane of the model.
        """
        if self.unit_normal()[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"normal of {self} must {where}, got {self.normal!r}")
        return Gap(PositionCoordinate("gap", self.port, other, self._up), 0.0)


@dataclass(frozen=True, eq=False)
class Surface(Touchable):
    """The surface of a shape about a port, which carries it.

    Attributes:
        port: the center of the shape.
        shape: a ``Sphere``, a ``Cylinder``, which goes on beyond its ends, a ``Box``, or, in space, a ``Torus`` or
            a closed ``TriangleMesh``; axes are those of the port's body, on the ground x, y, z. In the plane
            circles and rectangles.
        inside: bodies are inside of it.

    Raises:
        ModelError: no port, or no such shape.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bowl = ph.Surface(model.ground.at((0, 0, 1)), ph.Sphere(1.0), inside=True)
        >>> ball = model.add(ph.RigidBody.sphere(0.1, density=500.0), "ball", position=(0.3, 0, 0.2))
        >>> touch = model.apply(ph.Contact(ball.origin, bowl, stiffness=1e5, radius=0.1))
        >>> motion = model.simulate(0.5, step=1e-3)
        >>> bool(motion.position(ball.origin)[-1, 0] < 0.1)  # it slides towards the lowest place
        True
    """

    port: Port
    shape: Shape
    inside: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.shape, Shape):
            raise ModelError(f"Surface: shape must be one such as Sphere(0.1), got {self.shape!r}")
        if self.shape.center is not None and np.any(self.shape.center):
            raise ModelError(f"{self.shape!r} has center=; leave it out and give Surface a port at that place")
        flag("inside", self.inside)
        if self.inside and not isinstance(self.shape, HOLLOW):
            raise ModelError(
                f"Surface: bodies are outside of a {type(self.shape).__name__}; leave out inside="
                " (a hollow mesh has walls of its own)"
            )
        if isinstance(self.shape, TriangleMesh):
            self.shape.tree()

    @property
    def thickness(self) -> float:
        """The radius, or the shortest edge; 0 of other shapes."""
        if isinstance(self.shape, Sphere | Cylinder):
            return self.shape.radius
        return float(np.min(np.asarray(self.shape.size))) if isinstance(self.shape, Box) else 0.0

    def gap(self, other: Port, dimension: int) -> Gap:
        """The distance of a point from the centre of a sphere; other shapes have none."""
        assert isinstance(self.shape, Sphere), "others are searched"
        return Gap(DistanceCoordinate("gap", self.port, other), self.shape.radius, -1.0 if self.inside else 1.0)


@dataclass(frozen=True, eq=False)
class Capsule(Touchable):
    """A straight piece between two ports with a radius, round at its ends: of a beam, a rod or a string.

    Attributes:
        start, end: of one body or of two, nodes of strings.
        radius: [m].
    """

    start: Port
    end: Port
    radius: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.linalg.norm(self.end.initial_position() - self.start.initial_position()) == 0:
            raise ModelError(f"{self} has no length: {self.start} and {self.end} coincide")

    @property
    def thickness(self) -> float:
        """Distance of the surface from its axis: the radius [m]."""
        return self.radius
