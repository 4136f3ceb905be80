"""Gaps that are no plain distance: from round and cornered shapes, from a piece of a line; with sliding along them.

The kernels know them by their classes; discrete derivatives are in docs/theory.md, 8.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError
from phlexible.interactions.coordinates import Coordinate, PositionCoordinate
from phlexible.interactions.functions import (
    AXES,
    Chord,
    DirectionOf,
    PointOf,
    Row,
    Term,
    WorldAxis,
    between,
    single,
)
from phlexible.interactions.time_paths import TimePath
from phlexible.ports.attachments import Attachment, MovingFrame, Port


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
        """m."""
        return "m"


@dataclass(frozen=True, eq=False)
class RoundedCoordinate(GapCoordinate):
    """The length of (q_1, q_2, ...) with q_i what is left of (x_b - x_a).d_i beyond a zone -a_i .. a_i (8.26).

    Attributes:
        first: a, carries the directions.
        second: b.
        directions: d_i at right angles.
        zones: a_i [m].
    """

    first: Port
    second: Port
    directions: tuple[DirectionOf, ...]
    zones: tuple[float, ...]

    def functions(self) -> tuple[Row, ...]:
        """(x_b - x_a).d_i."""
        chord = between(self.first, self.second)
        return tuple(Row((Term(1.0, chord, single(d)),), 0.0, self.name) for d in self.directions)

    def _left(self, y: Array) -> Array:
        zones = np.array(self.zones)
        return np.asarray(y - np.clip(y, -zones, zones))

    def value(self, y: Array) -> float:
        """|q|."""
        return float(np.linalg.norm(self._left(y)))

    def gradient(self, y: Array) -> Array:
        """q / |q|."""
        q, length = self._left(y), self.value(y)
        return q / length if length else np.zeros(len(y))

    def hessian(self, y: Array) -> Array:
        """(I - n n^T) / |q| where q is not zero."""
        length, n = self.value(y), self.gradient(y)
        beyond = np.diag((self._left(y) != 0).astype(np.float64))
        return (beyond - np.outer(n, n)) / length if length else np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class SegmentCoordinate(GapCoordinate):
    """The distance of a point from a straight piece of a line: |r - t s|, t = r.s / s.s between 0 and 1 (8.27).

    Attributes:
        first, end: of the piece; s = x_end - x_first.
        second: the point; r = x_second - x_first.
    """

    first: Port
    end: Port
    second: Port

    def functions(self) -> tuple[Row, ...]:
        """r.r, r.s, s.s."""
        r, s = between(self.first, self.second), between(self.first, self.end)
        return tuple(Row((Term(1.0, a, b),), 0.0, self.name) for a, b in ((r, r), (r, s), (s, s)))

    def _place(self, y: Array) -> float:
        return float(np.clip(y[1] / y[2], 0.0, 1.0))

    def value(self, y: Array) -> float:
        """sqrt(r.r - 2 t r.s + t^2 s.s)."""
        t = self._place(y)
        return float(np.sqrt(max(y[0] - 2 * t * y[1] + t * t * y[2], 0.0)))

    def gradient(self, y: Array) -> Array:
        """(1, -2 t, t^2) / 2 value."""
        t, length = self._place(y), self.value(y)
        return np.array([1.0, -2 * t, t * t]) / (2 * length) if length else np.zeros(3)

    def hessian(self, y: Array) -> Array:
        """Where the value is not zero."""
        t, length, g = self._place(y), self.value(y), self.gradient(y)
        if not length:
            return np.zeros((3, 3))
        bend = np.zeros((3, 3))
        if 0 < y[1] / y[2] < 1:
            bend[1:, 1:] = np.array([[-2.0, 2 * t], [2 * t, -2 * t * t]]) / y[2]
        return bend / (2 * length) - np.outer(g, g) / length


@dataclass(frozen=True, eq=False)
class SlidingCoordinate(PositionCoordinate):
    """The gap of a point to a plane and where the point is along the plane; theta is the gap [m]."""

    across: tuple[DirectionOf, ...]

    def functions(self) -> tuple[Row, ...]:
        """(x_b - x_a) . d with the normal d, then with directions along the plane."""
        chord = between(self.first, self.second)
        along = [Row((Term(1.0, chord, single(d)),), 0.0, "along the plane") for d in self.across]
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

    Its last functions are the components of sum_k c_k x_k, whose coefficients c_k the kernels find in each step.

    Attributes:
        gap: the coordinate.
        toucher: port with the centre.
        carriers: ports of the surface: one, or two ends of a piece.
        radius: of the sphere that touches [m].
        dimension: 2 or 3.
    """

    gap: Coordinate
    toucher: Port
    carriers: tuple[Port, ...]
    radius: float
    dimension: int

    @property
    def points(self) -> int:
        """Points in the sum: the centre, then those of the surface."""
        return 1 + len(self.carriers)

    @property
    def turning(self) -> int:
        """Directions of the touching body in the sum."""
        return self.dimension if self.radius and self.toucher.has_orientation else 0

    def functions(self) -> tuple[Row, ...]:
        """Those of the gap, then the components of sliding."""
        parts: list[tuple[float, PointOf | DirectionOf]] = [(1.0, PointOf(self.toucher))]
        parts += [(-1.0, PointOf(port)) for port in self.carriers]
        if self.turning:
            parts += [(0.0, DirectionOf(self.toucher, axis)) for axis in AXES[: self.dimension]]
        if len(self.carriers) == 1 and _turns(self.carriers[0]):
            parts += [(0.0, DirectionOf(self.carriers[0], axis)) for axis in AXES[: self.dimension]]
        chord = Chord(tuple(parts))
        along = (Row((Term(1.0, chord, single(WorldAxis(e))),), 0.0, "sliding") for e in AXES[: self.dimension])
        return (*self.gap.functions(), *along)

    @property
    def gap_count(self) -> int:
        """Functions of the gap."""
        return len(self.gap.functions())

    def value(self, y: Array) -> float:
        """Of the gap."""
        return self.gap.value(y[: self.gap_count])

    def gradient(self, y: Array) -> Array:
        """Zero beyond the gap."""
        return np.concatenate([self.gap.gradient(y[: self.gap_count]), np.zeros(self.dimension)])

    def hessian(self, y: Array) -> Array:
        """Zero beyond the gap."""
        result = np.zeros((len(y), len(y)))
        result[: self.gap_count, : self.gap_count] = self.gap.hessian(y[: self.gap_count])
        return result


def _turns(port: Port) -> bool:
    if isinstance(port, MovingFrame):
        return not port.is_fixed
    return isinstance(port, Attachment) and port.has_orientation
