"""Sensors as numbers of a library: what compiled code measures of joints and points, and what follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.functions import KinematicPair
from phlexible.description.interactions.loads import Axes
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.errors import ModelError
from phlexible.libraries.force_outputs import ForceNumbers
from phlexible.libraries.measured_numbers import KNOWN, MeasuredNumbers, MeasuredSource
from phlexible.libraries.number_tape import NumberTape, TapeNumber, TapeOperation, Term
from phlexible.measure.kinematics import oriented_body
from phlexible.measure.sensors import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Displacement,
    ElasticDisplacement,
    ElementForce,
    EnergyKind,
    EnergyOf,
    JointAcceleration,
    JointPosition,
    JointRate,
    Position,
    Quaternion,
    Reaction,
    Rotation,
    SectionForce,
    Stress,
    Tension,
    Velocity,
)
from phlexible.results.live import LiveRun
from phlexible.state.vectors import CarriedVector

QUATERNION = (
    TapeOperation.QUATERNION_X,
    TapeOperation.QUATERNION_Y,
    TapeOperation.QUATERNION_Z,
    TapeOperation.QUATERNION_W,
)


@dataclass(frozen=True, eq=False)
class Output:
    """A sensor as the library has it.

    Attributes:
        name, unit, description: of it.
        components: names of its numbers, where there are several.
        size: how many numbers it has.
        begin, end: of the numbers of the tape that are found for it, of which the last ones are its own.
        start: of an energy that counts from the start: what it was there; 0 of others.
        is_acceleration: its numbers are rates, whose differences over steps forwards and backwards it is.
    """

    name: str
    unit: str
    description: str
    components: tuple[str, ...]
    size: int
    begin: int
    end: int
    start: float = 0.0
    is_acceleration: bool = False


@dataclass(frozen=True, eq=False)
class Outputs:
    """All outputs, what is measured for them, and the numbers that follow."""

    outputs: tuple[Output, ...]
    sources: tuple[MeasuredSource, ...]
    numbers: tuple[TapeNumber, ...]


def joint_outputs(model: Mechanism, has_rates: bool = True) -> dict[str, Sensor]:
    """Coordinates of all joints and, where they are asked for, their rates by name."""
    kinds = (JointPosition, JointRate) if has_rates else (JointPosition,)
    free = [joint for joint in model.joints if isinstance(joint, KinematicPair) and _is_measured(joint, model)]
    return {str(sensor): sensor for joint in free for sensor in (kind(joint) for kind in kinds)}


def page_outputs(model: Mechanism) -> dict[str, Sensor]:
    """Coordinates of all joints, and energies, by name."""
    energies = [EnergyKind.TOTAL, EnergyKind.KINETIC, EnergyKind.STRAIN, EnergyKind.GRAVITY]
    energies += [EnergyKind.SPRING] if model.elements else []
    return joint_outputs(model, has_rates=False) | {kind.value: EnergyOf(kind) for kind in energies}


def _is_measured(joint: KinematicPair, model: Mechanism) -> bool:
    """Whether it leaves coordinates free that the bodies have: point masses have no angles."""
    try:
        return bool(joint.coordinates(model.dimension))
    except ModelError:
        return False


def rate_of(sensor: Sensor) -> Sensor | None:
    """What an acceleration is the rate of; None of other sensors."""
    match sensor:
        case Acceleration():
            return Velocity(sensor.attachment, sensor.direction)
        case AngularAcceleration():
            return AngularVelocity(sensor.attachment, sensor.direction)
        case JointAcceleration():
            return JointRate(sensor.joint, sensor.coordinate)
    return None


class OutputTables:
    """Makes outputs of sensors.

    Args:
        run: of the model, at its start.
        from_start: energies are those since the start: of large ones small changes can be seen.
    """

    def __init__(self, run: LiveRun, from_start: bool = False) -> None:
        self._measured, self._tape = MeasuredNumbers(run), NumberTape()
        self._from_start = from_start
        self._work = sorted({column for own in run.stepper.work_sources.values() for column in own})

    @property
    def source_count(self) -> int:
        """How many sources there are so far."""
        return len(self._measured.sources)

    def of(self, sensors: Mapping[str, Sensor]) -> Outputs:
        """Of sensors by name.

        Raises:
            ModelError: one that needs Python, or of another model.
        """
        found = tuple(self._output(name, sensor) for name, sensor in sensors.items())
        return Outputs(found, self._measured.sources, tuple(self._tape.numbers))

    def measured(self, name: str, items: Sequence[object]) -> tuple[int, int]:
        """Range of the numbers that a controller measures, of which the last ones are its own.

        Rates are those of the step, as controllers have them.

        Raises:
            ModelError: what compiled models do not find, or what one instant does not tell.
        """
        begin, places = self._tape.begin_output(), list[int]()
        for item in items:
            if isinstance(item, Sensor) and item.share is not None:
                places += self._of_share(name, item, takes_any_rates=True)
            elif isinstance(item, Sensor):
                if type(item).continued is not Sensor.continued:
                    raise ModelError(
                        f"{name}: a controller of a compiled model cannot measure {item}, which goes on from sample"
                        " to sample; take the JointPosition of a joint"
                    )
                with self._measured.without_rates():
                    places += self._places(name, item)
            else:
                first, reading = self._measured.of_source(name, item)
                gather = reading.numbers[2]
                rows = np.eye(2 * len(reading.numbers[1][0])) if gather is None else gather
                places += [self._weighted(row, first) for row in rows]
        self._tape.end_output(places)
        return begin, len(self._tape.numbers)

    def _output(self, name: str, sensor: Sensor) -> Output:
        begin = self._tape.begin_output()
        rate = rate_of(sensor)
        places = self._places(name, sensor if rate is None else rate)
        self._tape.end_output(places)
        components = sensor.components if len(sensor.components) == len(places) else ()
        counted = begin, len(self._tape.numbers), self._start(sensor)
        return Output(name, sensor.unit, str(sensor), components, len(places), *counted, rate is not None)

    def _start(self, sensor: Sensor) -> float:
        """What an energy is at the start, where that is taken off; else 0."""
        is_shifted = self._from_start and isinstance(sensor, EnergyOf)
        return float(sensor.read(self._measured.run)[0]) if is_shifted else 0.0

    def _places(self, name: str, sensor: Sensor) -> Sequence[int]:
        """Of the numbers of a sensor.

        Raises:
            ModelError: one that compiled models do not find, or of another model.
        """
        forces = ForceNumbers(name, self._measured, self._tape)
        match sensor:
            case _ if sensor.share is not None:
                return self._of_share(name, sensor)
            case AngularVelocity():
                spin = self._angular_velocity(name, sensor, sensor.attachment)
                return [self._tape.sum((float(x), (w,)) for x, w in zip(sensor.axis, spin, strict=True))]
            case Angle():
                return [self._angle(name, sensor)]
            case Rotation():
                return self._matrix(name, sensor, sensor.target, np.eye(3))
            case Quaternion():
                return self._quaternion(self._matrix(name, sensor, sensor.target, np.eye(3)))
            case Position():
                weights, found = self._measured.run.point(sensor.port)
                parts = self._measured.vectors(name, found.vectors)
                pairs = [(float(weight), own) for weight, (own, _) in zip(weights, parts, strict=True)]
                return self._tape.chord(pairs, float(weights.sum()))
            case EnergyOf():
                return [self._energy(EnergyKind(sensor.kind), self._start(sensor))]
            case ElasticDisplacement():
                return self._elastic(name, sensor)
            case ElementForce():
                return forces.of_element(sensor.element)
            case Reaction():
                return self._along(name, sensor, forces.reaction(sensor))
            case SectionForce():
                return forces.in_section(sensor.body, float(sensor.x))
            case Stress():
                return [forces.stress(sensor.body, float(sensor.x))]
            case Tension():
                return forces.tension(sensor.string)
        raise ModelError(
            f"output {name!r}: {sensor} is not measured by compiled models, which know {KNOWN}; read it in Python"
            " from the motion, or take some of these instead"
        )

    def _along(self, name: str, sensor: Reaction, world: list[int]) -> list[int]:
        """A vector along the axes that the sensor asks for."""
        run = self._measured.run
        second = run.mechanism.joints[run.joint_index(sensor.joint)].second
        if sensor.axes is Axes.WORLD or (isinstance(second, MovingFrame) and second.is_fixed):
            return world
        turned = self._matrix(name, sensor, second, np.eye(3))
        return [self._tape.sum((1.0, (turned[3 * j + i], world[j])) for j in range(3)) for i in range(3)]

    def _of_share(self, name: str, sensor: Sensor, takes_any_rates: bool = False) -> list[int]:
        share = sensor.share
        assert share is not None, "asked of those that have one"
        origin, weights, offset = share
        first, reading = self._measured.of_source(name, origin)
        if not takes_any_rates and not reading.is_of_places(share):
            self._measured.need_rates(name)
        if (gather := reading.numbers[2]) is not None:
            weights = weights @ gather
        return [self._weighted(row, first, -float(shift)) for row, shift in zip(weights, offset, strict=True)]

    def _weighted(self, row: Array, first: int, constant: float = 0.0) -> int:
        """A sum of numbers that stand one after the other, upwards, or of the state downwards."""
        side = 1 if first >= 0 else -1
        places = np.flatnonzero(row)
        return self._tape.sum(((float(row[k]), (first + side * int(k),)) for k in places), constant)

    def _energy(self, kind: EnergyKind, start: float) -> int:
        parts = (EnergyKind.KINETIC, EnergyKind.STRAIN, EnergyKind.GRAVITY, EnergyKind.SPRING)
        state = self._measured.state
        if kind is EnergyKind.DISSIPATED:
            places = [state("dissipated")]
        elif kind is EnergyKind.SUPPLIED:
            places = [state("work", column) for column in self._work]
        else:
            places = [state("energy", k) for k, part in enumerate(parts) if kind in (part, EnergyKind.TOTAL)]
        return self._tape.sum(((1.0, (place,)) for place in places), -start)

    def _elastic(self, name: str, sensor: ElasticDisplacement) -> list[int]:
        attachment = sensor.attachment
        if isinstance(attachment.placed.data, FloatingBody):
            return self._of_elastic(attachment, sensor.axes @ attachment.point.shapes)
        if sensor.direction is not None:
            return self._of_share(name, Displacement(attachment, sensor.direction))
        places = self._of_share(name, Position(attachment))
        return [
            self._tape.sum([(1.0, (place,))], -float(begin))
            for place, begin in zip(places, attachment.initial_position(), strict=True)
        ]

    def _of_elastic(self, attachment: Attachment, rows: Array) -> list[int]:
        """Sums of the elastic coordinates of a body."""
        index = self._measured.run.body_index(attachment, "attachment")
        first = self._measured.state("eta", int(self._measured.run.system.layout.eta[index]))
        return [self._weighted(row, first) for row in np.atleast_2d(rows)]

    # Turns.

    def _body(self, name: str, sensor: Sensor, target: PlacedBody | Port) -> int:
        """Index of what turns.

        Raises:
            ModelError: a frame of the ground.
        """
        if isinstance(target, MovingFrame):
            raise ModelError(
                f"output {name!r}: {sensor} is a function of time, which is known without the model;"
                f" compiled models know {KNOWN}"
            )
        return oriented_body(self._measured.run, target)

    def _axes(self, name: str, index: int, axes: Array) -> list[tuple[range, range]]:
        """Places and rates of vectors, given in the axes of a frame as rows, that turn with it."""
        nothing = np.zeros((3, self._measured.run.system.frames[index].elastic_count))
        return self._measured.vectors(name, [CarriedVector(index, False, np.array(a), nothing) for a in axes])

    def _bend(self, target: PlacedBody | Port, index: int) -> tuple[list[int], Array] | None:
        """Places of the small turn of the material in its frame, and its rows; None: it does not turn there."""
        if isinstance(target, PlacedBody) or not self._measured.run.system.frames[index].elastic_count:
            return None
        assert isinstance(target, Attachment), "of a body"
        rows = target.point.rotations
        return None if rows is None else (self._of_elastic(target, np.asarray(rows)), np.asarray(rows))

    def _matrix(self, name: str, sensor: Sensor, target: PlacedBody | Port, axes: Array) -> list[int]:
        """Places of R E A^T, row after row: of a frame, the turn of the material in it, and axes as rows."""
        index = self._body(name, sensor, target)
        bend = self._bend(target, index)
        if bend is None:
            columns = [own for own, _ in self._axes(name, index, axes)]
            return [self._tape.sum([(1.0, (columns[j][i],))]) for i in range(3) for j in range(3)]
        frame = [own for own, _ in self._axes(name, index, np.eye(3))]
        turned = self._exponential(bend[0])
        return [
            self._tape.sum(
                (float(axes[j, m]), (frame[k][i], turned[3 * k + m]))
                for k in range(3)
                for m in range(3)
                if axes[j, m]
            )
            for i in range(3)
            for j in range(3)
        ]

    def _exponential(self, bend: list[int]) -> list[int]:
        """Places of exp([theta]), row after row: (1 - b t^2) I + a [theta] + b theta theta^T."""
        square = self._tape.sum((1.0, (x, x)) for x in bend)
        a, b = self._tape.of(TapeOperation.SINE, square), self._tape.of(TapeOperation.VERSINE, square)
        cross = {(0, 1): (-1.0, 2), (1, 0): (1.0, 2), (0, 2): (1.0, 1), (2, 0): (-1.0, 1), (1, 2): (-1.0, 0)}
        cross[2, 1] = (1.0, 0)
        found = []
        for i in range(3):
            for j in range(3):
                terms: list[Term] = [(1.0, (b, bend[i], bend[j]))]
                if i == j:
                    terms.append((-1.0, (b, square)))
                else:
                    sign, axis = cross[i, j]
                    terms.append((sign, (a, bend[axis])))
                found.append(self._tape.sum(terms, 1.0 if i == j else 0.0))
        return found

    def _quaternion(self, matrix: list[int]) -> list[int]:
        first = self._tape.copied(matrix)
        return [self._tape.of(kind, first) for kind in QUATERNION]

    def _angle(self, name: str, sensor: Angle) -> int:
        """About the axis, of the turn since the start."""
        attachment = sensor.attachment
        *turn, w = self._quaternion(self._matrix(name, sensor, attachment, attachment.placed.rotation))
        about = self._tape.sum((float(x), (q,)) for x, q in zip(sensor.axis, turn, strict=True))
        return self._tape.of(TapeOperation.ANGLE, about, w)

    def _angular_velocity(self, name: str, sensor: Sensor, attachment: Attachment) -> list[int]:
        """World axes: half of the sum of three axes times their rates, and R (d + b theta x d + c theta x ...)."""
        self._measured.need_rates(name)
        index = self._body(name, sensor, attachment)
        axes = self._axes(name, index, np.eye(3))
        crossed = [self._tape.cross(0.5, own, rates) for own, rates in axes]
        terms = [[term for each in crossed for term in each[i]] for i in range(3)]
        bend = self._bend(attachment, index)
        if bend is not None:
            theta, rows = bend
            begin = int(self._measured.run.system.layout.velocity[index + 1]) - rows.shape[1]
            rates = [self._weighted(row, self._measured.velocity(name, begin)) for row in rows.reshape(3, -1)]
            first = [self._tape.sum(each) for each in self._tape.cross(1.0, theta, rates)]
            second = [self._tape.sum(each) for each in self._tape.cross(1.0, theta, first)]
            square = self._tape.sum((1.0, (x, x)) for x in theta)
            b, c = self._tape.of(TapeOperation.VERSINE, square), self._tape.of(TapeOperation.REST, square)
            own = [
                self._tape.sum([(1.0, (rates[k],)), (1.0, (b, first[k])), (1.0, (c, second[k]))]) for k in range(3)
            ]
            for i in range(3):
                terms[i] += [(1.0, (axes[k][0][i], own[k])) for k in range(3)]
        return [self._tape.sum(each) for each in terms]
