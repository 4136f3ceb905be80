"""The one table of joint functions: sums of dot products of points and directions.

Every joint is a set of functions g = sum_i c_i (x_k . x_l) - constant of world vectors x: points
``r + R rho``, directions ``R delta``, fixed or prescribed vectors (formulation, section 4). The
constant is the value at the initial pose or zero. A new joint is a new list of rows, not new code.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.interactions.time_paths import Timed
from phlexible.ports.attachments import Port

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
class Term:
    """coefficient * (first . second), times a prescribed function of time in the rows of drives."""

    coefficient: float
    first: Vector
    second: Vector
    factor: Timed | None = None


@dataclass(frozen=True, eq=False)
class Row:
    """One joint function g = sum of terms - constant - offset(t), demanded to vanish.

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


def coincident_points(a: Port, b: Port, dimension: int) -> tuple[Row, ...]:
    """x_b - x_a = 0: one row for each world axis."""
    return tuple(along_fixed_axis(a, b, AXES[k], f"point along {'xyz'[k]}") for k in range(dimension))


def along_fixed_axis(a: Port, b: Port, axis: Array, label: str) -> Row:
    """(x_b - x_a) . axis = 0 with an axis that never turns."""
    direction = WorldAxis(axis)
    return Row((Term(1.0, PointOf(b), direction), Term(-1.0, PointOf(a), direction)), 0.0, label)


def along_turning_axis(a: Port, b: Port, axis: Array, label: str) -> Row:
    """(x_b - x_a) . d_a = 0 with a direction that turns with a."""
    direction = DirectionOf(a, axis)
    return Row((Term(1.0, PointOf(b), direction), Term(-1.0, PointOf(a), direction)), 0.0, label)


def perpendicular(a: Port, axis_a: Array, b: Port, axis_b: Array, label: str) -> Row:
    """d_a . d_b = 0."""
    return Row((Term(1.0, DirectionOf(a, axis_a), DirectionOf(b, axis_b)),), 0.0, label)


def constant_distance(a: Port, b: Port, length: float, label: str) -> Row:
    """|x_b - x_a|^2 = length^2, divided by 2 length so that it is a length."""
    first, second = PointOf(a), PointOf(b)
    factor = 1 / (2 * length)
    terms = (Term(factor, second, second), Term(factor, first, first), Term(-2 * factor, first, second))
    return Row(terms, factor * length**2, label)


def perpendicular_axes(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed triad (first, second, axis).

    In the plane (axis in the xy plane) the second one is -z or z, the first one lies in the plane.
    """
    helper = AXES[2] if abs(axis[2]) < 0.9 else AXES[0]
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)
