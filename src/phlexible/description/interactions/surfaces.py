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
    perpendicular_axes,
    single,
)
from phlexible.description.ports import Attachment, MovingFrame, Port
from phlexible.description.references import references
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError, ParameterError
from phlexible.shapes.solids import Box, Cylinder, Shape, Sphere, TriangleMesh

# Gaps that are no plain distance: from round and cornered shapes, from a piece of a line; with sliding along them.
#
# The kernels know them by their classes; discrete derivatives are in docs/theory.md, 8.


@dataclass(frozen=True, eq=False)
class GapCoordinate(Coordinate):
    """A gap as a coordinate, which no joint has and no drive prescribes."""

    def driven_row(self, path: TimePath) -> Row:
        """Refuse a path, since gaps cannot be driven.

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
    """Length of the vector q, whose q_i is the part of (x_b - x_a).d_i beyond a zone -a_i .. a_i (8.26).

    Attributes:
        first: a, carries the directions.
        second: port b.
        directions: d_i at right angles.
        zones: half-widths a_i of the zone [m].
    """

    first: Port
    second: Port
    directions: tuple[DirectionOf, ...]
    zones: tuple[float, ...]

    def functions(self) -> tuple[Row, ...]:
        """Rows of the functions (x_b - x_a).d_i, one for each direction."""
        chord = between(self.first, self.second)
        return tuple(Row((BilinearTerm(1.0, chord, single(d)),), 0.0, self.name) for d in self.directions)

    def _left(self, y: Array) -> Array:
        zones = np.array(self.zones)
        return np.asarray(y - np.clip(y, -zones, zones))

    def value(self, y: Array) -> float:
        """Length |q| of the rounded vector [m]."""
        return float(np.linalg.norm(self._left(y)))

    def gradient(self, y: Array) -> Array:
        """Gradient q / |q| of the length, zero where q is zero, shape (directions,)."""
        q, length = self._left(y), self.value(y)
        return q / length if length else np.zeros(len(y))

    def hessian(self, y: Array) -> Array:
        """Second derivatives (I - n n^T) / |q| in the components of q that are not zero, shape (directions,
        directions)."""
        length, n = self.value(y), self.gradient(y)
        beyond = np.diag((self._left(y) != 0).astype(np.float64))
        return (beyond - np.outer(n, n)) / length if length else np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class SegmentCoordinate(GapCoordinate):
    """Distance |r - t s| of a point from a line segment, t = r.s / s.s between 0 and 1 (8.27) [m].

    Attributes:
        first, end: ends of the segment; s = x_end - x_first.
        second: the point; r = x_second - x_first.
    """

    first: Port
    end: Port
    second: Port

    def functions(self) -> tuple[Row, ...]:
        """Rows of the functions r.r, r.s and s.s."""
        r, s = between(self.first, self.second), between(self.first, self.end)
        return tuple(Row((BilinearTerm(1.0, a, b),), 0.0, self.name) for a, b in ((r, r), (r, s), (s, s)))

    def _place(self, y: Array) -> float:
        return float(np.clip(y[1] / y[2], 0.0, 1.0))

    def value(self, y: Array) -> float:
        """Distance sqrt(r.r - 2 t r.s + t^2 s.s) [m]."""
        t = self._place(y)
        return float(np.sqrt(max(y[0] - 2 * t * y[1] + t * t * y[2], 0.0)))

    def gradient(self, y: Array) -> Array:
        """Gradient (1, -2 t, t^2) / (2 distance) to (r.r, r.s, s.s), shape (3,), zero at zero distance."""
        t, length = self._place(y), self.value(y)
        return np.array([1.0, -2 * t, t * t]) / (2 * length) if length else np.zeros(3)

    def hessian(self, y: Array) -> Array:
        """Second derivatives of the distance to (r.r, r.s, s.s), shape (3, 3), zero at zero distance."""
        t, length, g = self._place(y), self.value(y), self.gradient(y)
        if not length:
            return np.zeros((3, 3))
        bend = np.zeros((3, 3))
        if 0 < y[1] / y[2] < 1:
            bend[1:, 1:] = np.array([[-2.0, 2 * t], [2 * t, -2 * t * t]]) / y[2]
        return bend / (2 * length) - np.outer(g, g) / length


@dataclass(frozen=True, eq=False)
class SlidingCoordinate(PositionCoordinate):
    """The gap of a point to a plane [m], with further functions for the position along the plane."""

    across: tuple[DirectionOf, ...]

    def functions(self) -> tuple[Row, ...]:
        """Rows of (x_b - x_a) . d with the normal d, then with directions along the plane."""
        chord = between(self.first, self.second)
        along = [Row((BilinearTerm(1.0, chord, single(d)),), 0.0, "along the plane") for d in self.across]
        return (*super().functions(), *along)

    def gradient(self, y: Array) -> Array:
        """Gradient (1, 0, ...) of the gap to its functions, shape (functions,)."""
        return np.asarray(np.eye(len(y))[0], dtype=np.float64)

    def hessian(self, y: Array) -> Array:
        """Second derivatives of the gap, zero, shape (functions, functions)."""
        return np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class RubbingCoordinate(GapCoordinate):
    """A gap, with functions for the relative slip of the contact points of both bodies (8.28).

    Its last functions are the components of sum_k c_k x_k, whose coefficients c_k the kernels compute in each step,
    and, with rolling or drilling resistance, those of the rotation psi (8.46).

    Attributes:
        gap: coordinate of the gap.
        toucher: port with the centre.
        carriers: ports of the surface: one, or two ends of a segment.
        radius: radius of the sphere that touches [m].
        dimension: 2 or 3.
        resists_turns: whether rolling or drilling is resisted.
    """

    gap: Coordinate
    toucher: Port
    carriers: tuple[Port, ...]
    radius: float
    dimension: int
    resists_turns: bool = False

    @property
    def points(self) -> int:
        """Number of points in the sum: the centre, then those of the surface."""
        return 1 + len(self.carriers)

    @property
    def turning(self) -> int:
        """Number of directions of the touching body in the sum."""
        return self.dimension if self.radius and self.toucher.has_orientation else 0

    def functions(self) -> tuple[Row, ...]:
        """Rows of the gap, then of the components of slip, and of rotation where it is resisted."""
        parts: list[tuple[float, PointOf | DirectionOf]] = [(1.0, PointOf(self.toucher))]
        parts += [(-1.0, PointOf(port)) for port in self.carriers]
        turning = [self.toucher] if self.turning else []
        if self.surface_turns:
            turning += self.carriers[:1]
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
        """Whether the surface rotates with its carrier, or with the one body that carries both ends of a
        segment."""
        first, *others = self.carriers
        is_one = all(
            isinstance(first, Attachment) and first.placed is getattr(each, "placed", None) for each in others
        )
        return is_one and first.has_orientation and not (isinstance(first, MovingFrame) and first.is_fixed)

    @property
    def is_grounded(self) -> bool:
        """Whether the ground carries the surface."""
        return all(isinstance(port, MovingFrame) and port.is_fixed for port in self.carriers)

    @property
    def is_on_axis(self) -> bool:
        """Whether a segment is touched on its axis, where its rotation is not known."""
        return self.points > 2 and not (self.surface_turns or self.is_grounded)

    def reach(self, theta: Array | float, rest: float, side: float) -> Array:
        """Distance of the contact point from the centre of the touching sphere, between two round surfaces [m].

        ``theta`` is the distance of the centres or axes, ``rest`` its value without gap.
        """
        is_round = isinstance(self.gap, DistanceCoordinate | SegmentCoordinate) and side > 0
        return np.asarray(self.radius * (theta / rest if is_round else 1.0))

    @property
    def gap_count(self) -> int:
        """Number of functions of the gap."""
        return len(self.gap.functions())

    def value(self, y: Array) -> float:
        """Value of the gap [m], from the first functions."""
        return float(self.gap.value(y[: self.gap_count]))

    def gradient(self, y: Array) -> Array:
        """Gradient of the gap, zero for the functions of slip and rotation, shape (functions,)."""
        return np.concatenate([self.gap.gradient(y[: self.gap_count]), np.zeros(len(y) - self.gap_count)])

    def hessian(self, y: Array) -> Array:
        """Second derivatives of the gap, zero for slip and rotation, shape (functions, functions)."""
        result = np.zeros((len(y), len(y)))
        result[: self.gap_count, : self.gap_count] = self.gap.hessian(y[: self.gap_count])
        return result


# Surfaces that a port carries, for contacts: planes, spheres, cylinders, boxes, capsules (docs/theory.md, 8).


class Gap(NamedTuple):
    """A coordinate, and the position of the surface along it.

    Attributes:
        coordinate: coordinate of the point, or of the centre of a sphere.
        surface: its value on the surface [m].
        side: 1: matter is where it is less, -1: where it is more.
    """

    coordinate: Coordinate
    surface: float
    side: float = 1.0


@dataclass(frozen=True, eq=False)
class Touchable(ABC):
    """A surface for contacts of points and spheres, with ports and directions in world axes at the initial pose."""

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
        """The first port that carries the surface."""
        return self.ports[0]

    @property
    @abstractmethod
    def thickness(self) -> float:
        """Thickness of the matter behind the surface, which limits how deep a point may start [m]; 0: a half
        space."""

    @abstractmethod
    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the gaps of a point from the surface, several for faces of a hollow box.

        Raises:
            ModelError: a port without an orientation that is needed.
            ParameterError: in the plane, a direction that leaves it.
        """

    def _oriented(self, port: Port) -> Port:
        if not port.has_orientation:
            raise ModelError(f"{type(self).__name__}: {port} has no orientation and cannot carry a surface")
        return port


PORTS = ("port", "start", "end")
OF_TWO = Sphere | Cylinder | Box
"""Shapes whose gaps contacts of two know, and inside of which bodies may be; others are searched."""


@dataclass(frozen=True, eq=False)
class Plane(Touchable):
    """A plane through a port; bodies are on the side that the normal points to.

    Attributes:
        port: port of the ground or of a body, which carries the plane.
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
        """Normal of the plane as one vector, which all contacts with it share."""
        return DirectionOf(self._oriented(self.port), self.unit_normal())

    @property
    def thickness(self) -> float:
        """Thickness of the plane [m], zero, which stands for a half space."""
        return 0.0

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the height of a point above the plane as a gap."""
        if self.unit_normal()[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"normal of {self} must {where}, got {self.normal!r}")
        return (Gap(PositionCoordinate("gap", self.port, other, self._up), 0.0),)


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
        if self.inside and not isinstance(self.shape, OF_TWO):
            raise ModelError(
                f"Surface: bodies are outside of a {type(self.shape).__name__}; leave out inside="
                " (a hollow mesh has walls of its own)"
            )
        if isinstance(self.shape, TriangleMesh):
            self.shape.tree()

    @property
    def thickness(self) -> float:
        """Thickness of the shape [m]: the radius, or the shortest edge."""
        if isinstance(self.shape, Sphere | Cylinder):
            return self.shape.radius
        assert isinstance(self.shape, Box), "others have no contact of two"
        return float(np.min(np.asarray(self.shape.size)))

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the gap from center, axis or box, or the gaps from all faces of a hollow box."""
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
        assert isinstance(self.shape, Box), "asked for where it is one"
        half = np.asarray(self.shape.size, dtype=np.float64)[:dimension] / 2
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
        """Rotate a direction of the shape to world axes at the initial pose."""
        return self.port.placed.rotation @ axis if isinstance(self.port, Attachment) else axis


@dataclass(frozen=True, eq=False)
class Capsule(Touchable):
    """A line segment between two ports with a radius, round at its ends: of a beam, a rod or a string.

    Attributes:
        start, end: ends of the segment, ports of one body or of two, such as nodes of strings.
        radius: radius around the segment [m].
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
        """Thickness of the capsule, its radius [m]."""
        return self.radius

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the gap of a point from the line segment."""
        return (Gap(SegmentCoordinate("gap", self.start, self.end, other), self.radius),)
