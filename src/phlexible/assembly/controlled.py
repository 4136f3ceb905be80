"""Load values that controllers set, and the numbered world vectors that they measure."""

from collections.abc import Sequence
from dataclasses import dataclass

from phlexible.assembly.functions import Function
from phlexible.assembly.interactions import InteractionTables
from phlexible.errors import ModelError
from phlexible.interactions.coordinates import Coordinate
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.force_elements import ForceValue
from phlexible.interactions.functions import PointOf
from phlexible.interactions.pair import KinematicPair
from phlexible.ports.attachments import Attachment
from phlexible.system.system import System


@dataclass(frozen=True, eq=False)
class MeasuredCoordinate:
    """A coordinate and its functions, whose chords are numbered."""

    coordinate: Coordinate
    functions: tuple[Function, ...]


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
        size: numbers that the controller returns: 1 for joints, 3 for loads.
        name: of the load or element, for messages.
    """

    column: int
    feedback: Feedback
    measured: tuple[Measured, ...]
    size: int
    name: str


def controlled_values(
    system: System, prescribed: Sequence[tuple[ForceValue, str]], tables: InteractionTables
) -> tuple[ControlledValue, ...]:
    """All load values that controllers set; what they measure is added to the vectors."""
    loads = [(load.value, str(load), 3) for load in system.loads]
    forces = [(value, label, 1) for value, label in prescribed]
    return tuple(
        _controlled(value, 3 * k, size, name, system.dimension, tables)
        for k, (value, name, size) in enumerate([*loads, *forces])
        if isinstance(value, Feedback)
    )


def _controlled(
    feedback: Feedback, column: int, size: int, name: str, dimension: int, tables: InteractionTables
) -> ControlledValue:
    measured: list[Measured] = []
    for item in feedback.measured:
        if isinstance(item, Attachment):
            vector = tables.resolver.resolve(PointOf(item))
            measured.append(MeasuredPoint(tables.collector.vector(vector)))
            continue
        for coordinate in _coordinates(item, dimension, name):
            functions = tuple(tables.function(row) for row in coordinate.functions())
            measured.append(MeasuredCoordinate(coordinate, functions))
    return ControlledValue(column, feedback, tuple(measured), size, name)


def _coordinates(item: object, dimension: int, name: str) -> Sequence[Coordinate]:
    if not isinstance(item, KinematicPair):
        raise ModelError(f"the controller of {name} measures joints and attachments, got {item!r}")
    found = item.coordinates(dimension)
    if not found:
        raise ModelError(f"the controller of {name} cannot measure {item}: it has no coordinate")
    return found
