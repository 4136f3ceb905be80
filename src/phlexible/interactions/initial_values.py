"""Values of bilinear functions and coordinates at the initial pose, undeformed."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.interactions.bilinear import DirectionOf, PointOf, Row, Vector, WorldAxis
from phlexible.interactions.coordinates import Coordinate


def initial_value(coordinate: Coordinate) -> float:
    """theta at the initial pose [rad or m]."""
    return coordinate.value(np.array([_value(row) for row in coordinate.functions()]))


def _value(row: Row) -> float:
    return float(sum(t.coefficient * (_vector(t.first) @ _vector(t.second)) for t in row.terms))


def _vector(vector: Vector) -> Array:
    match vector:
        case PointOf(port=port):
            return port.initial_position()
        case DirectionOf(axis=axis) | WorldAxis(axis=axis):
            return axis
