"""Sensors as numbers: sums of what compiled code measures of joints and points, and of numbers of the state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.functions import KinematicPair
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.relations import JointRelation
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import MovingFrame, PlacedBody, Port
from phlexible.errors import ModelError
from phlexible.measure.kinematics import oriented_body
from phlexible.measure.sensors import (
    Angle,
    AngularVelocity,
    ElasticDisplacement,
    ElementForce,
    EnergyKind,
    EnergyOf,
    JointPosition,
    JointRate,
    Position,
    Quaternion,
    Rotation,
)
from phlexible.results.live import LiveRun
from phlexible.results.live_readings import QuickReading, quick_reading, reading_of_vectors
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.vectors import CarriedVector
from phlexible.step.tables.declarations import MOVING

KNOWN = (
    "positions, displacements and velocities of attachments, turns and angular velocities of rigid bodies,"
    " positions and rates of joints, forces of elements, elastic displacements and energies"
)


@dataclass(frozen=True, eq=False)
class MeasuredSource:
    """A joint or a point that compiled code measures.

    Attributes:
        reading: its tables.
        moves: of each vector its number among the moving ones, or -1.
        first: place of its first number among all that are measured.
    """

    reading: QuickReading
    moves: IntArray
    first: int

    @property
    def count(self) -> int:
        """How many numbers are measured."""
        (items, *_), weights = self.reading.numbers[1], self.reading.numbers[2]
        return 2 * len(items) if weights is None else 6 * len(items)


@dataclass(frozen=True, eq=False)
class Sum:
    """constant + sum of weights times numbers: measured ones by their place, those of the state by -1 - place."""

    places: tuple[int, ...]
    weights: tuple[float, ...]
    constant: float = 0.0


class Turning(Enum):
    """What is found of the turn of a rigid body; values as in model.c."""

    SPIN = 1
    ANGLE = 2
    QUATERNION = 3


@dataclass(frozen=True, eq=False)
class Output:
    """A sensor as the library has it.

    Attributes:
        name, unit, description: of it.
        sums: one for each number; none of what turns.
        turning: what turns, or None.
        place: of the first number of the body's turn since the start, among all that are measured.
        axis: that spins and angles are about, world axes.
    """

    name: str
    unit: str
    description: str
    sums: tuple[Sum, ...] = ()
    turning: Turning | None = None
    place: int = 0
    axis: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def size(self) -> int:
        """How many numbers."""
        return len(self.sums) or (4 if self.turning is Turning.QUATERNION else 1)


@dataclass(frozen=True, eq=False)
class Outputs:
    """All outputs, and what is measured for them."""

    outputs: tuple[Output, ...]
    sources: tuple[MeasuredSource, ...]


def _no_rates(name: str) -> str:
    return (
        f"output {name!r}: rates are not found by compiled models with gears or other relations, or with joints"
        " that hold a motion twice; take positions, and differences of them"
    )


def joint_outputs(model: Mechanism, has_rates: bool = True) -> dict[str, Sensor]:
    """Coordinates of all joints and, where they are found, their rates by name."""
    kinds = (JointPosition, JointRate) if has_rates else (JointPosition,)
    free = [joint for joint in model.joints if isinstance(joint, KinematicPair) and _is_measured(joint, model)]
    return {str(sensor): sensor for joint in free for sensor in (kind(joint) for kind in kinds)}


def page_outputs(model: Mechanism) -> dict[str, Sensor]:
    """Coordinates of all joints, and energies, by name."""
    energies = (EnergyKind.TOTAL, EnergyKind.KINETIC, EnergyKind.STRAIN, EnergyKind.GRAVITY)
    return joint_outputs(model, has_rates=False) | {kind.value: EnergyOf(kind) for kind in energies}


def _is_measured(joint: KinematicPair, model: Mechanism) -> bool:
    """Whether it leaves coordinates free that the bodies have: point masses have no angles."""
    try:
        return bool(joint.coordinates(model.dimension))
    except ModelError:
        return False


class OutputTables:
    """Makes outputs of sensors.

    Args:
        run: of the model, at its start.
        has_rates: velocities are brought onto the joints by the elimination of a step.
    """

    def __init__(self, run: LiveRun, has_rates: bool) -> None:
        self._has_rates = has_rates
        self._run: RecordedRun = run.now
        self._assembly, self._memory = run.stepper.assembly, run.stepper.assembly.memory
        moving = enumerate(self._assembly.moving)
        self._keys = {part.key: k for k, part in moving if isinstance(part, CarriedVector)}
        self._work = sorted({column for own in run.stepper.work_sources.values() for column in own})
        self._sources: dict[object, MeasuredSource] = {}
        self._kept: list[object] = []

    def of(self, sensors: Mapping[str, Sensor]) -> Outputs:
        """Of sensors by name.

        Raises:
            ModelError: one that needs Python, or of another model.
        """
        found = tuple(self._output(name, sensor) for name, sensor in sensors.items())
        return Outputs(found, tuple(self._sources.values()))

    def _output(self, name: str, sensor: Sensor) -> Output:
        words = name, sensor.unit, str(sensor)
        match sensor:
            case AngularVelocity() if not self._has_rates:
                raise ModelError(_no_rates(name))
            case AngularVelocity() | Angle():
                kind = Turning.SPIN if isinstance(sensor, AngularVelocity) else Turning.ANGLE
                x, y, z = sensor.axis.tolist()
                place = self._turn(name, sensor, sensor.attachment, sensor.attachment.placed.rotation)
                return Output(*words, turning=kind, place=place, axis=(x, y, z))
            case Quaternion():
                place = self._turn(name, sensor, sensor.target, np.eye(3))
                return Output(*words, turning=Turning.QUATERNION, place=place)
            case Rotation():
                place = self._turn(name, sensor, sensor.target, np.eye(3))
                return Output(*words, tuple(Sum((place + 6 * j + i,), (1.0,)) for i in range(3) for j in range(3)))
        return Output(*words, tuple(self._sums(name, sensor)))

    def _turn(self, name: str, sensor: Sensor, target: PlacedBody | Port, axes: Array) -> int:
        """Place of three vectors that turn with a rigid body, given in its axes as rows.

        Raises:
            ModelError: of a frame of the ground, or of a flexible body, where material turns in the frame.
        """
        frames = self._assembly.system.frames
        index = -1 if isinstance(target, MovingFrame) else oriented_body(self._run, target)
        if index < 0 or (frames[index].elastic_count and not isinstance(target, PlacedBody)):
            raise ModelError(
                f"output {name!r}: {sensor} is not of a rigid body; compiled models measure how these turn, and"
                " Rotation(body) and Quaternion(body) of the frames of flexible ones"
            )
        key = index, axes.tobytes()
        if key not in self._sources:
            nothing = np.zeros((3, frames[index].elastic_count))
            vectors = [CarriedVector(index, False, np.array(axis), nothing) for axis in axes]
            reading = reading_of_vectors(self._run.system.layout, vectors)
            self._add(key, reading, np.full(3, -1, dtype=np.int64))
        return self._sources[key].first

    def _add(self, key: object, reading: QuickReading, moves: IntArray) -> None:
        first = sum(each.count for each in self._sources.values())
        self._sources[key] = MeasuredSource(reading, moves, first)

    def _sums(self, name: str, sensor: Sensor) -> Sequence[Sum]:
        if sensor.share is not None:
            return self._of_share(name, sensor)
        match sensor:
            case EnergyOf():
                return [self._energy(EnergyKind(sensor.kind))]
            case ElementForce():
                return self._force(sensor)
            case ElasticDisplacement() if isinstance(sensor.attachment.placed.data, FloatingBody):
                return self._elastic(sensor)
            case ElasticDisplacement():
                start = Position(sensor.attachment)
                return [
                    Sum(own.places, own.weights, own.constant - float(begin))
                    for own, begin in zip(
                        self._of_share(name, start), sensor.attachment.initial_position(), strict=True
                    )
                ]
        raise ModelError(
            f"output {name!r}: {sensor} is not measured by compiled models, which know {KNOWN}; read it in Python"
            " from the motion, or take some of these instead"
        )

    def _of_share(self, name: str, sensor: Sensor) -> list[Sum]:
        share = sensor.share
        assert share is not None, "asked of those that have one"
        origin, weights, offset = share
        source = self._source(name, origin)
        if not (self._has_rates or source.reading.is_of_places(share)):
            raise ModelError(_no_rates(name))
        if (gather := source.reading.numbers[2]) is not None:
            weights = weights @ gather
        found = []
        for row, shift in zip(weights, offset, strict=True):
            places = np.flatnonzero(row)
            found.append(
                Sum(tuple(source.first + int(k) for k in places), tuple(row[places].tolist()), -float(shift))
            )
        return found

    def _source(self, name: str, origin: object) -> MeasuredSource:
        if id(origin) not in self._sources:
            reading = quick_reading(self._run, origin, beside_moving=True)  # type: ignore[arg-type]
            if reading is None:
                raise ModelError(
                    f"output {name!r}: coordinates of {origin} that roll or are rounded are not measured by"
                    f" compiled models, which know {KNOWN}"
                )
            moves = [self._keys[vector.key] if vector.key in self._keys else -1 for vector in reading.carried]
            if any(vector.carrier == MOVING and k < 0 for vector, k in zip(reading.carried, moves, strict=True)):
                raise ModelError(
                    f"output {name!r}: {origin} is measured along axes of a moving frame that no joint holds;"
                    " measure a position or a velocity instead"
                )
            self._add(id(origin), reading, np.array(moves, dtype=np.int64))
            self._kept.append(origin)
        return self._sources[id(origin)]

    def _energy(self, kind: EnergyKind) -> Sum:
        first = self._memory.place("energy")
        parts = (EnergyKind.KINETIC, EnergyKind.STRAIN, EnergyKind.GRAVITY, EnergyKind.SPRING)
        if kind is EnergyKind.DISSIPATED:
            places = [self._memory.place("dissipated")]
        elif kind is EnergyKind.SUPPLIED:
            places = [self._memory.place("work") + column for column in self._work]
        else:
            places = [first + k for k, part in enumerate(parts) if kind in (part, EnergyKind.TOTAL)]
        return Sum(tuple(-1 - place for place in places), (1.0,) * len(places))

    def _force(self, sensor: ElementForce) -> list[Sum]:
        system, element = self._assembly.system, sensor.element
        if isinstance(element, Drive | JointRelation):
            parts = (*system.mechanism.drives, *system.mechanism.relations)
            numbers = [k for k, part in enumerate(parts, start=len(system.mechanism.joints)) if part is element]
            places = [int(system.layout.multiplier[k]) for k in numbers]
            first = self._memory.place("multiplier")
        else:
            places = [k for k, each in enumerate(system.forces) if each.element is element]
            first = self._memory.place("force")
        if not places:
            raise ModelError(f"{element!r} has no force along a coordinate in this model")
        return [Sum((-1 - first - place,), (1.0,)) for place in places]

    def _elastic(self, sensor: ElasticDisplacement) -> list[Sum]:
        index = self._run.body_index(sensor.attachment, "attachment")
        begin = self._memory.place("eta") + int(self._assembly.system.layout.eta[index])
        shapes: Array = sensor.attachment.point.shapes
        return [
            Sum(tuple(-1 - begin - int(k) for k in np.flatnonzero(row)), tuple(row[np.flatnonzero(row)].tolist()))
            for row in np.asarray(shapes).reshape(3, -1)
        ]
