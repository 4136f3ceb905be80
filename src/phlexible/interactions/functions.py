"""Functions of world vectors that everything between bodies is made of (docs/theory.md, 8).

A function is w = sum_t c_t y_a . y_b - constant. A chord y is a sum of vectors: one direction, or the
difference of two points. Points are ``x_c + R rho``, directions ``R delta``, or fixed or prescribed. Joints
demand that such functions vanish, forces act along them. A new joint or force is a new list of functions, not
new code.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross
from phlexible.interactions.time_paths import Timed
from phlexible.ports.attachments import MovingFrame, Port

AXES = np.eye(3)


@dataclass(frozen=True, eq=False)
class PointOf:
    """The world position of a port."""

    port: Port


@dataclass(frozen=True, eq=False)
class DirectionOf:
    """A direction that is ``axis`` in the world at the initial pose and then turns with the port.

    On a flexible body it turns with the slopes at the port, on a moving frame with the frame.
    """

    port: Port
    axis: Array


@dataclass(frozen=True, eq=False)
class WorldAxis:
    """A direction that never turns."""

    axis: Array


Vector = PointOf | DirectionOf | WorldAxis


@dataclass(frozen=True, eq=False)
class Chord:
    """A sum of vectors, each with its weight: y = sum_i weight_i x_i."""

    parts: tuple[tuple[float, Vector], ...]

    @property
    def is_direction(self) -> bool:
        """Whether it is made of directions only, so that its length has no unit."""
        return not any(isinstance(vector, PointOf) for _, vector in self.parts)


def between(a: Port, b: Port) -> Chord:
    """x_b - x_a."""
    return Chord(((1.0, PointOf(b)), (-1.0, PointOf(a))))


def single(vector: Vector) -> Chord:
    """One vector as a chord."""
    return Chord(((1.0, vector),))


@dataclass(frozen=True, eq=False)
class Term:
    """coefficient * (first . second), times a prescribed function of time in the rows of drives."""

    coefficient: float
    first: Chord
    second: Chord
    factor: Timed | None = None

    def vectors(self) -> Iterator[Vector]:
        """All vectors of both chords."""
        for chord in (self.first, self.second):
            yield from (vector for _, vector in chord.parts)


@dataclass(frozen=True, eq=False)
class Row:
    """One function g = sum of terms - constant - offset(t), demanded to vanish.

    Attributes:
        terms: the sum.
        constant: subtracted from it.
        label: what it holds, for messages.
        offset: subtracted too; of driven positions.
    """

    terms: tuple[Term, ...]
    constant: float
    label: str
    offset: Timed | None = None

    @property
    def is_angle(self) -> bool:
        """True where only directions meet: g is a cosine and no length."""
        return all(term.first.is_direction and term.second.is_direction for term in self.terms)

    def initial_value(self) -> float:
        """The sum of the terms at the initial pose, undeformed."""
        return float(sum(t.coefficient * (initial_chord(t.first) @ initial_chord(t.second)) for t in self.terms))


def initial_chord(chord: Chord) -> Array:
    """A chord at the initial pose, undeformed, shape (3,)."""
    return np.asarray(sum(weight * initial_vector(vector) for weight, vector in chord.parts))


def initial_vector(vector: Vector) -> Array:
    """A vector at the initial pose, undeformed, shape (3,)."""
    match vector:
        case PointOf(port=port):
            return port.initial_position()
        case DirectionOf(axis=axis) | WorldAxis(axis=axis):
            return axis


def coincident_points(a: Port, b: Port, dimension: int) -> tuple[Row, ...]:
    """x_b - x_a = 0: one row for each world axis."""
    return tuple(along_fixed_axis(a, b, AXES[k], f"point along {'xyz'[k]}") for k in range(dimension))


def along_fixed_axis(a: Port, b: Port, axis: Array, label: str) -> Row:
    """(x_b - x_a) . axis = 0 with an axis that never turns."""
    return Row((Term(1.0, between(a, b), single(WorldAxis(axis))),), 0.0, label)


def along_turning_axis(a: Port, b: Port, axis: Array, label: str) -> Row:
    """(x_b - x_a) . d_a = 0 with a direction that turns with a."""
    return Row((Term(1.0, between(a, b), single(DirectionOf(a, axis))),), 0.0, label)


def perpendicular(a: Port, axis_a: Array, b: Port, axis_b: Array, label: str) -> Row:
    """d_a . d_b = 0."""
    return Row((product(DirectionOf(a, axis_a), DirectionOf(b, axis_b)),), 0.0, label)


def locked_turn(a: Port, b: Port, axes: Sequence[Array], label: str) -> Row:
    """(d_a1 . d_b2 - d_a2 . d_b1) / 2 = 0: the sine of the turn in the plane of two unit vectors.

    Directions that turn with slopes stay unit vectors to first order only. To second order d_a1 . d_b2 alone
    depends on which two vectors of the plane are taken, and this does not.
    """
    one, two = axes
    return Row(
        (
            product(DirectionOf(a, one), DirectionOf(b, two), 0.5),
            product(DirectionOf(a, two), DirectionOf(b, one), -0.5),
        ),
        0.0,
        label,
    )


def product(first: Vector, second: Vector, coefficient: float = 1.0) -> Term:
    """The term coefficient * (first . second) of two vectors."""
    return Term(coefficient, single(first), single(second))


def constant_distance(a: Port, b: Port, length: float, label: str) -> Row:
    """|x_b - x_a|^2 = length^2, divided by 2 length so that it is a length."""
    chord, factor = between(a, b), 1 / (2 * length)
    return Row((Term(factor, chord, chord),), factor * length**2, label)


def perpendicular_axes(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed triad (first, second, axis).

    In the plane (axis in the xy plane) the second one is -z or z, the first one lies in the plane.
    """
    helper = AXES[2] if abs(axis[2]) < 0.9 else AXES[0]
    first = cross(helper, axis)
    first /= np.linalg.norm(first)
    return first, cross(axis, first)


def moving_frame(vector: Vector) -> MovingFrame | None:
    """The frame that moves a vector as a function of time; None: none does."""
    if isinstance(vector, WorldAxis) or not isinstance(vector.port, MovingFrame) or vector.port.is_fixed:
        return None
    if isinstance(vector, DirectionOf) and vector.port.rotation is None:
        return None
    return vector.port
