"""Coordinates of joints: one number of bilinear functions, and how it depends on them.

A coordinate theta(y) is a function of one or two bilinear functions y of world vectors, like the rows
of joints: a position is y itself, a distance sqrt(y), an angle atan2(s, c) counted over full turns.
Drives hold them, force elements act on them, motions report them (docs/theory.md, 8).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.functions import DirectionOf, Row, Term, between, product, single
from phlexible.interactions.time_paths import Timed, TimeFactor, TimePath
from phlexible.ports.attachments import Port


@dataclass(frozen=True, eq=False)
class Coordinate(ABC):
    """A number that describes where a joint stands.

    Attributes:
        name: how users call it: "angle", "position", "distance", ...
    """

    name: str

    @abstractmethod
    def functions(self) -> tuple[Row, ...]:
        """The bilinear functions y, with constant 0."""

    @abstractmethod
    def value(self, y: Array) -> float:
        """theta(y), angles between -pi and pi."""

    @abstractmethod
    def gradient(self, y: Array) -> Array:
        """d theta/dy, the shape of y."""

    @abstractmethod
    def hessian(self, y: Array) -> Array:
        """d2 theta/dy2, square."""

    @abstractmethod
    def driven_row(self, path: TimePath) -> Row:
        """The function that vanishes where theta = path(t)."""

    def initial_value(self) -> float:
        """theta at the initial pose, undeformed [rad or m]."""
        return self.value(np.array([function.initial_value() for function in self.functions()]))

    @property
    @abstractmethod
    def unit(self) -> str:
        """rad or m."""

    @property
    def is_angle(self) -> bool:
        """Whether it is counted over full turns."""
        return self.unit == "rad"


@dataclass(frozen=True, eq=False)
class LinearCoordinate(Coordinate):
    """One function is the coordinate."""

    def value(self, y: Array) -> float:
        """y itself."""
        return float(y[0])

    def gradient(self, y: Array) -> Array:
        """1."""
        return np.ones(1)

    def hessian(self, y: Array) -> Array:
        """0."""
        return np.zeros((1, 1))


@dataclass(frozen=True, eq=False)
class PositionCoordinate(LinearCoordinate):
    """(x_b - x_a) . d: where the second point is along a direction of the first body [m]."""

    first: Port
    second: Port
    direction: DirectionOf

    def functions(self) -> tuple[Row, ...]:
        """y = (x_b - x_a) . d."""
        return (Row(self._terms(), 0.0, self.name),)

    def _terms(self) -> tuple[Term, ...]:
        return (Term(1.0, between(self.first, self.second), single(self.direction)),)

    def driven_row(self, path: TimePath) -> Row:
        """y - p(t)."""
        return Row(self._terms(), 0.0, f"driven {self.name}", Timed(path, TimeFactor.VALUE))

    @property
    def unit(self) -> str:
        """m."""
        return "m"


@dataclass(frozen=True, eq=False)
class SineCoordinate(PositionCoordinate):
    """(d_a . e_b - e_a . d_b) / 2: the sine of a turn of the second port about an axis of the first.

    For bushings, whose turns are small; it does not count turns.
    """

    axes: tuple[DirectionOf, DirectionOf, DirectionOf, DirectionOf]

    def _terms(self) -> tuple[Term, ...]:
        a1, a2, b1, b2 = self.axes
        return product(a2, b1, 0.5), product(a1, b2, -0.5)

    @property
    def unit(self) -> str:
        """A small angle."""
        return "1"


@dataclass(frozen=True, eq=False)
class StrainCoordinate(LinearCoordinate):
    """A strain of a rod: one sum of products of vectors, which no joint has and no drive holds.

    Attributes:
        terms: the sum.
        unit_of_strain: "1", or "1/m" of a curvature.
    """

    terms: tuple[Term, ...]
    unit_of_strain: str

    def functions(self) -> tuple[Row, ...]:
        """y, the sum."""
        return (Row(self.terms, 0.0, self.name),)

    def driven_row(self, path: TimePath) -> Row:
        """A strain is not driven.

        Raises:
            ParameterError: always.
        """
        raise ParameterError(f"{path.name}: the strain of a rod cannot be driven")

    @property
    def unit(self) -> str:
        """1 or 1/m."""
        return self.unit_of_strain


@dataclass(frozen=True, eq=False)
class DistanceCoordinate(Coordinate):
    """|x_b - x_a| [m]."""

    first: Port
    second: Port

    def functions(self) -> tuple[Row, ...]:
        """y = |x_b - x_a|^2."""
        chord = between(self.first, self.second)
        return (Row((Term(1.0, chord, chord),), 0.0, self.name),)

    def value(self, y: Array) -> float:
        """sqrt(y)."""
        return float(np.sqrt(max(y[0], 0.0)))

    def gradient(self, y: Array) -> Array:
        """1 / (2 sqrt(y))."""
        return np.array([0.5 / self._length(y)])

    def hessian(self, y: Array) -> Array:
        """-1 / (4 y^(3/2))."""
        return np.array([[-0.25 / self._length(y) ** 3]])

    def _length(self, y: Array) -> float:
        length = self.value(y)
        if length == 0.0:
            raise ModelError(
                f"{self.first} and {self.second} coincide: a force along the line between them has no"
                " direction there"
            )
        return length

    def driven_row(self, path: TimePath) -> Row:
        """A distance is held by ``Distance``, not driven.

        Raises:
            ParameterError: always.
        """
        raise ParameterError(f"{path.name}: the distance of two points cannot be driven; use Prismatic")

    @property
    def unit(self) -> str:
        """m."""
        return "m"


@dataclass(frozen=True, eq=False)
class AngleCoordinate(Coordinate):
    """atan2(s, c) with c and s sums of dot products of directions; zero at the initial pose [rad]."""

    cosine: tuple[Term, ...]
    sine: tuple[Term, ...]

    def functions(self) -> tuple[Row, ...]:
        """y = (c, s)."""
        return Row(self.cosine, 0.0, f"cos {self.name}"), Row(self.sine, 0.0, f"sin {self.name}")

    def value(self, y: Array) -> float:
        """atan2(s, c)."""
        return float(np.arctan2(y[1], y[0]))

    def gradient(self, y: Array) -> Array:
        """(-s, c) / (c^2 + s^2)."""
        return np.array([-y[1], y[0]]) / (y @ y)

    def hessian(self, y: Array) -> Array:
        """Of atan2."""
        c, s = y
        return np.array([[2 * c * s, s * s - c * c], [s * s - c * c, -2 * c * s]]) / (y @ y) ** 2

    def driven_row(self, path: TimePath) -> Row:
        """s cos p(t) - c sin p(t), the sine of theta - p (8.15)."""
        cosine, sine = Timed(path, TimeFactor.COSINE), Timed(path, TimeFactor.SINE)
        terms = (
            *(Term(s.coefficient, s.first, s.second, cosine) for s in self.sine),
            *(Term(-c.coefficient, c.first, c.second, sine) for c in self.cosine),
        )
        return Row(terms, 0.0, f"driven {self.name}")

    @property
    def unit(self) -> str:
        """rad."""
        return "rad"


def angle_about(first: Port, second: Port, across: Array, along: Array, dimension: int) -> Coordinate:
    """The angle of the second port from the first one about ``across`` x ``along``.

    With a1 = across and a2 = along, which turn with the first port, and b1 and b2, what they were at the
    initial pose and which turn with the second: c = (a1 . b1 + a2 . b2) / 2 and s = (a2 . b1 - a1 . b2) / 2,
    which do not depend on the two vectors taken, see ``locked_turn``. In the plane both halves are the same.
    """
    a1, a2, b1, b2 = (DirectionOf(port, axis) for port in (first, second) for axis in (across, along))
    if dimension == 2:
        return AngleCoordinate("angle", (product(a1, b1),), (product(a2, b1),))
    cosine = product(a1, b1, 0.5), product(a2, b2, 0.5)
    return AngleCoordinate("angle", cosine, (product(a2, b1, 0.5), product(a1, b2, -0.5)))


def position_along(first: Port, second: Port, axis: Array, name: str = "position") -> Coordinate:
    """Where the second point is along an axis that turns with the first port."""
    return PositionCoordinate(name, first, second, DirectionOf(first, axis))
