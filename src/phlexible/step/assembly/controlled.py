"""Load values that controllers set, and the numbered world vectors that they measure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import ForceValue
from phlexible.description.interactions.functions import Coordinate, KinematicPair, PointOf
from phlexible.description.interactions.loads import PointLoad
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.state_force import FeedbackPart
from phlexible.description.ports import Attachment
from phlexible.state.system import System
from phlexible.step.assembly.interactions import Function, InteractionTables


@dataclass(frozen=True, eq=False)
class MeasuredCoordinate:
    """A measured coordinate, with its functions of numbered chords."""

    coordinate: Coordinate
    functions: tuple[Function, ...]


@dataclass(frozen=True, eq=False)
class MeasuredPoint:
    """A measured point, by the number of its vector."""

    vector: int


Measured = MeasuredCoordinate | MeasuredPoint


@dataclass(frozen=True, eq=False)
class Channel:
    """One measured quantity of a controller, and how its numbers follow from those of compiled code.

    Attributes:
        begin, end: range among the numbers that compiled code measures for the controller.
        map: matrix and offset that are applied to these numbers; None: they are passed unchanged.
        reading: sensor that is read from the whole state instead.
    """

    begin: int
    end: int
    map: tuple[Array, Array] | None = None
    reading: Sensor | None = None


@dataclass(frozen=True, eq=False)
class Target:
    """Load values that a controller sets.

    Attributes:
        column: first of them in a row of load values.
        begin, size: range among the values of the controller.
        direction: direction along which a single value acts, shape (3,); None: values act as they are.
        is_whole: whether the controller has no other values.
        load: load whose three values they are; None: a single value.
    """

    column: int
    begin: int
    size: int
    direction: Array | None = None
    is_whole: bool = True
    load: PointLoad | None = None

    def write(self, values: Array, loads: Array) -> None:
        """Write the ``values`` of a controller, shape (values,), that are for this target into ``loads``,
        shape (load values,), in place. If the target has a direction, three entries become its unit vector
        times the one value."""
        own = values[self.begin : self.begin + self.size]
        if self.direction is not None:
            loads[self.column : self.column + 3] = own[0] * self.direction
        else:
            loads[self.column : self.column + self.size] = own


@dataclass(frozen=True, eq=False)
class ControlledValue:
    """All load values that one controller sets, and what it measures.

    Attributes:
        targets: load values that the controller sets.
        feedback: the controller.
        measured: coordinates and points that compiled code measures.
        channels: quantities that the controller receives; empty: all that is measured, unchanged.
        size: numbers that the controller returns: 1 for a joint, 3 for a load, or all of a ``StateForce``.
        name: name of the load or element, for messages.
        dimension: dimension of the model.
    """

    targets: tuple[Target, ...]
    feedback: Feedback
    measured: tuple[Measured, ...]
    channels: tuple[Channel, ...]
    size: int
    name: str
    dimension: int

    def check_components(self, values: Array, time: float) -> None:
        """Raise ``ParameterError`` if load values that a controller returned at a time [s] point out of the plane
        of a planar model.

        Raises:
            ParameterError: names the load.
        """
        for target in self.targets:
            if target.load is not None:
                own = values[target.begin : target.begin + 3]
                target.load.check_components(own, self.dimension, np.array([time]))

    @property
    def column(self) -> int:
        """First index, in a row of all load values, of the values that this controller of one load sets."""
        return self.targets[0].column


def controlled_values(
    system: System, prescribed: Sequence[tuple[ForceValue, str]], tables: InteractionTables
) -> tuple[ControlledValue, ...]:
    """Return all load values that controllers of a system set, with what each controller measures; the
    vectors that they measure are added to the tables of interactions. ``prescribed`` are the values of
    prescribed forces, each with its name."""
    loads = [(load.value, str(load), load) for load in system.loads]
    forces = [(value, label, None) for value, label in prescribed]
    groups: dict[int, tuple[Feedback, str, list[Target]]] = {}
    for k, (value, name, load) in enumerate([*loads, *forces]):
        size = 1 if load is None else 3
        if not isinstance(value, Feedback):
            continue
        if isinstance(value, FeedbackPart):
            along = value.direction
            vector = load if along is None else None
            own = Target(3 * k, value.begin, 1 if vector is None else 3, along, is_whole=False, load=vector)
            groups.setdefault(id(value.whole), (value, name, []))[2].append(own)
        else:
            groups[-1 - k] = (value, name, [Target(3 * k, 0, size, load=load)])
    return tuple(
        _controlled(feedback, tuple(targets), name, system.dimension, tables)
        for feedback, name, targets in groups.values()
    )


def _controlled(
    feedback: Feedback, targets: tuple[Target, ...], name: str, dimension: int, tables: InteractionTables
) -> ControlledValue:
    measured: list[Measured] = []
    channels: list[Channel] = []
    count = 0
    for item in feedback.measured:
        share = item.linear_reading if isinstance(item, Sensor) else None
        source = share[0] if share is not None else item
        if isinstance(source, Sensor):
            channels.append(Channel(count, count, reading=source))
            continue
        own = _measured(source, dimension, tables)
        size = 6 if isinstance(source, Attachment) else 2 * len(own)
        channels.append(Channel(count, count + size, None if share is None else share[1:]))
        measured += own
        count += size
    is_plain = all(channel.map is None and channel.reading is None for channel in channels)
    total = feedback.whole.size if isinstance(feedback, FeedbackPart) else targets[0].size
    kept = () if is_plain else tuple(channels)
    return ControlledValue(targets, feedback, tuple(measured), kept, total, name, dimension)


def _measured(source: KinematicPair | Attachment, dimension: int, tables: InteractionTables) -> list[Measured]:
    if isinstance(source, Attachment):
        return [MeasuredPoint(tables.collector.add_vector(tables.resolver.resolve(PointOf(source))))]
    found = [source.coordinate(dimension, each) for each in source.coordinate_names]
    return [MeasuredCoordinate(each, tuple(tables.function(row) for row in each.functions())) for each in found]
