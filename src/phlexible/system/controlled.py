"""Load values that controllers set, and the numbered world vectors that they measure."""

from collections.abc import Sequence
from dataclasses import dataclass

from phlexible.errors import ModelError
from phlexible.interactions.bilinear import PointOf, Vector
from phlexible.interactions.coordinates import Coordinate
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.loads import PointLoad
from phlexible.joints.joint import Joint
from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import Attachment
from phlexible.system.coupling_tables import VectorTable
from phlexible.system.force_tables import ForceTable


@dataclass(frozen=True, eq=False)
class MeasuredCoordinate:
    """A coordinate, its functions as (coefficient, vector, vector), the vectors by their numbers."""

    coordinate: Coordinate
    functions: tuple[tuple[tuple[float, int, int], ...], ...]


@dataclass(frozen=True, eq=False)
class MeasuredPoint:
    """A point by the number of its vector."""

    vector: int


Measured = MeasuredCoordinate | MeasuredPoint


@dataclass(frozen=True, eq=False)
class ControlledValue:
    """A load value that a controller sets.

    Attributes:
        column: first of its three numbers in a row of load values.
        feedback: the controller.
        measured: what it is given.
        vectors: the world vectors in that, by their numbers.
        size: numbers that the controller returns: 1 for joints, 3 for loads.
        name: of the load or element, for messages.
    """

    column: int
    feedback: Feedback
    measured: tuple[Measured, ...]
    vectors: dict[int, Vector]
    size: int
    name: str


def controlled_values(
    mechanism: Mechanism, entries: Sequence[PointLoad], table: ForceTable, vectors: VectorTable
) -> tuple[ControlledValue, ...]:
    """All load values that controllers set; what they measure is added to the vectors."""
    loads = [(load.value, str(load), 3) for load in entries]
    forces = [(value, label, 1) for value, label in zip(table.values, table.labels, strict=True)]
    return tuple(
        _controlled(value, 3 * k, size, name, mechanism.dimension, vectors)
        for k, (value, name, size) in enumerate([*loads, *forces])
        if isinstance(value, Feedback)
    )


def _controlled(
    feedback: Feedback, column: int, size: int, name: str, dimension: int, table: VectorTable
) -> ControlledValue:
    known: dict[int, Vector] = {}

    def number(vector: Vector) -> int:
        found = table.add(vector)
        known[found] = vector
        return found

    measured: list[Measured] = []
    for item in feedback.measured:
        if isinstance(item, Attachment):
            measured.append(MeasuredPoint(number(PointOf(item))))
            continue
        for coordinate in _coordinates(item, dimension, name):
            functions = tuple(
                tuple((t.coefficient, number(t.first), number(t.second)) for t in function.terms)
                for function in coordinate.functions()
            )
            measured.append(MeasuredCoordinate(coordinate, functions))
    return ControlledValue(column, feedback, tuple(measured), known, size, name)


def _coordinates(item: object, dimension: int, name: str) -> Sequence[Coordinate]:
    if not isinstance(item, Joint):
        raise ModelError(f"the controller of {name} measures joints and attachments, got {item!r}")
    found = item.coordinates(dimension)
    if not found:
        raise ModelError(f"the controller of {name} cannot measure {item}: it has no coordinate")
    return found
