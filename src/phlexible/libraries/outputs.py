"""Outputs of a library: measurements of compiled code, and the formulas of sensors applied to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.number_tape import NumberTape, TapeEntry, TapeNumber
from phlexible.description.interactions.functions import Coordinate, KinematicPair
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.sliding import LineCoordinate, Sliding
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError
from phlexible.measure.energy import EnergyKind, EnergyOf
from phlexible.measure.sensors import JointPosition, JointRate
from phlexible.results.live import LiveRun
from phlexible.results.live_readings import QuickReading, quick_reading, vector_reading
from phlexible.state.functions import ConstraintSet
from phlexible.state.instants import Instants, MeasuredInstant, RecordedMotions
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.redundancy import redundancies
from phlexible.state.vectors import CarriedVector, VectorSet
from phlexible.step.integration.recorder import recording_of
from phlexible.step.tables.declarations import MOVING

NEGLIGIBLE = 1e-6
"""Coefficients of redundant constraints below this are round-off."""


class PathNumber(TapeNumber):
    """Symbolic number for the value of a prescribed path. Compiled code has stored its cosine and sine in the two
    entries before it, so that these need no operation.
    """

    __slots__ = ()

    def cos(self) -> TapeNumber:
        """Return the cosine of this prescribed path as a symbolic number, without recording an operation: compiled
        code has stored it two entries before the value.
        """
        return self.tape.number(self.tape.index(self) - 2)

    def sin(self) -> TapeNumber:
        """Return the sine of this prescribed path as a symbolic number, without recording an operation: compiled
        code has stored it in the entry before the value.
        """
        return self.tape.number(self.tape.index(self) - 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class TapedRun(RecordedRun):
    """Run of one instant with numbers of a tape, on which the formulas of sensors are recorded.

    Attributes:
        velocities_on_joints: numbers of the velocities, shape (1, velocities).
        measured: as of ``MeasuredInstant``.
        differentiated: receives what was differentiated in time.
    """

    velocities_on_joints: Array
    measured: "partial[Array]"
    differentiated: list[Array] = field(default_factory=list)

    @cached_property
    def velocities(self) -> Array:
        """Return the velocities of all bodies, projected onto the joint constraints, as symbolic numbers (entries
        of the tape of recorded operations), shape (1, velocities)."""
        return self.velocities_on_joints

    @cached_property
    def multipliers(self) -> Array:
        """Return the constraint multipliers of the last time step as symbolic numbers (entries of the tape of
        recorded operations), shape (1, multipliers)."""
        return self.recording.multipliers

    @cached_property
    def instants(self) -> Instants:
        """Return the state of a model at one instant whose vectors are symbolic numbers. Formulas of sensors that
        are evaluated with it are recorded on the tape (list of operations), which a library repeats."""
        at = self.recording.instants()
        return MeasuredInstant(
            at.time, at.position, at.rotation, at.eta, at.velocity, at.prescribed, measured=self.measured
        )

    def continued_values(self, coordinate: Coordinate) -> Array | None:
        """Return the position along a line as a symbolic number of the state, shape (1,), if the state has it. Each
        time step continues it from the last one. None for other coordinates, whose formulas need no search for a
        piece of a line.
        """
        rows = self.system.rows
        related = [each.coordinate for each in rows.related] if isinstance(rows, ConstraintSet) else []
        if not isinstance(coordinate, LineCoordinate) or coordinate not in related:
            return None
        return self.recording.theta[:, related.index(coordinate) - len(related)]

    def angle_over_turns(self, angle: Array, counted: Array) -> Array:
        """Return the angle of a joint over full turns, shape (instants,) [rad]. It is ``counted``, which the state
        already has; ``angle``, between -pi and pi, is not used.
        """
        return counted

    def rate(self, values: Array) -> Array:
        """Return the symbolic ``values`` unchanged, but mark that the sensor which uses them is a time derivative.
        They are appended to ``differentiated``; compiled code computes the output by its difference over a time
        step.
        """
        self.differentiated.append(values)
        return values


@dataclass(frozen=True, eq=False)
class MeasuredSource:
    """Joint, or points and directions, that compiled code measures.

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
        """Return the number of values that compiled code measures of this source: value and rate of each
        coordinate, or of each vector."""
        (items, *_), weights = self.reading.arguments[1], self.reading.arguments[2]
        return 2 * len(items) if weights is None else 6 * len(items)


class MeasuredValues:
    """Positions of all measurements: velocities of bodies, drifts of joints, moving vectors, then sources.

    Args:
        run: of the model, at its start.
        tape: receives what is found from them.

    Attributes:
        run: the instant of the start.
    """

    def __init__(self, run: LiveRun, tape: NumberTape) -> None:
        self.run: RecordedRun = run.now
        self._tape, self._assembly = tape, run.stepper.assembly
        self._work_sources = run.stepper.work_sources
        counts = self._assembly.memory.counts
        self._moving = counts["velocities"] + counts["rows"]
        self._begin = self._moving + 3 * counts["moving"]
        moving = enumerate(self._assembly.moving)
        self._keys = {part.key: k for k, part in moving if isinstance(part, CarriedVector)}
        self._sources: dict[object, MeasuredSource] = {}
        self._origins: list[object] = []
        self._state = self._entries(-1, -1 - counts["row_size"], -1)
        self._velocities = self._entries(0, counts["velocities"])

    @cached_property
    def _ambiguous(self) -> list[int]:
        """Ascending indices of the scalar constraints that are linearly dependent on others or that others depend
        on, at the start. Their multipliers are not unique and cannot be determined from one state.
        """
        state = self.run.recording.state(0)
        found = redundancies(self._assembly.system, state, self.run.instants)
        return sorted({row for each in found for row, c in each.combination.items() if abs(c) > NEGLIGIBLE})

    @property
    def sources(self) -> tuple[MeasuredSource, ...]:
        """Return all sources (joints, or sets of points and directions) that compiled code measures, in the order
        in which they were registered."""
        return tuple(self._sources.values())

    def taped_run(self, name: str) -> TapedRun:
        """Return a run of one instant whose states are symbolic numbers, so that evaluating a sensor records its
        arithmetic operations. Joint forces that are not unique, and quantities that compiled code does not have,
        are NaN. ``name`` is the output's name in messages."""
        system = self._assembly.system
        rows = dict(self._assembly.memory.rows(self._state[None]))
        rows["counter"] = np.zeros(rows["counter"].shape)
        rows["multiplier"] = rows["multiplier"].copy()
        rows["multiplier"][:, self._ambiguous] = np.nan
        paths = np.array([[self._path(path) for path in system.paths]], dtype=object).reshape(1, -1)
        nothing = np.full((1, len(system.moving_frames), 3), np.nan)
        turns = np.full((1, len(system.moving_frames), 3, 3), np.nan)
        given = RecordedMotions(nothing, turns, nothing, nothing, paths, np.full(paths.shape, np.nan))
        recording = recording_of(system, self._work_sources, np.array([np.nan]), rows, prescribed=given)
        measured = partial(self._vectors, name)
        return TapedRun(system, recording, velocities_on_joints=self._velocities[None], measured=measured)

    def of_source(self, name: str, origin: object) -> list[TapeNumber]:
        """Return symbolic numbers for the coordinates and rates of a joint, or position and velocity of a point,
        that compiled code measures. The joint or point ``origin`` is registered at its first use. A symbolic number
        stands for a result in the list of recorded operations (the tape). Raise ``ModelError`` if compiled code
        cannot measure it; ``name`` is the controller or sensor, for messages.

        Raises:
            ModelError: a joint whose coordinates compiled code does not measure.
        """
        if id(origin) not in self._sources:
            reading = quick_reading(self.run, origin, with_moving_frames=True)  # type: ignore[arg-type]
            if reading is None:
                raise ModelError(f"{name}: compiled models do not measure coordinates of {origin}")
            self._add(id(origin), reading, name, str(origin))
            self._origins.append(origin)
        source = self._sources[id(origin)]
        numbers, gather = self._of_source(source), source.reading.arguments[2]
        places, forces = source.reading.counted
        numbers[places] = self._assembly.memory.rows(self._state[None])["theta"][0, forces]
        found: list[TapeNumber] = (numbers if gather is None else gather @ numbers).tolist()
        return found

    def _path(self, path: TimePath) -> PathNumber:
        number = next(k for k, part in enumerate(self._assembly.moving) if part is path)
        return PathNumber(self._tape, {(self._moving + 3 * number + 2,): 1.0})

    def _vectors(self, name: str, wanted: VectorSet) -> Array:
        """Return k positions and directions (index 0) and their rates (index 1) as symbolic numbers, shape (2, 1,
        k, 3). Symbolic numbers stand for results in the list of recorded operations (the tape), from which outputs
        are compiled. ``wanted`` is the set of these vectors; at its first use it is added to what the tape reads.
        ``name`` is the sensor in messages.

        Raises:
            ModelError: one that moves with a frame that no joint holds.
        """
        key = tuple(vector.key for vector in wanted.vectors)
        if key not in self._sources:
            self._add(key, vector_reading(self._assembly.system.layout, wanted.vectors), name, "it")
        return self._of_source(self._sources[key]).reshape(1, len(key), 2, 3).transpose(2, 0, 1, 3)

    def _of_source(self, source: MeasuredSource) -> Array:
        first = self._begin + source.first
        return self._entries(first, first + source.count)

    def _entries(self, *indices: int) -> Array:
        """Return symbolic numbers (entries of the tape of recorded operations) with the indices
        ``range(*indices)``, as an array of objects, shape (count,)."""
        found = np.empty(len(range(*indices)), dtype=object)
        found[:] = [self._tape.number(index) for index in range(*indices)]
        return found

    def _add(self, key: object, reading: QuickReading, name: str, label: str) -> None:
        moves = [self._keys.get(vector.key, -1) for vector in reading.carried]
        if any(vector.carrier == MOVING and k < 0 for vector, k in zip(reading.carried, moves, strict=True)):
            raise ModelError(
                f"output {name!r}: {label} is measured at or along axes of a moving frame that no joint or element"
                " holds; measure a position or a velocity of a body instead"
            )
        first = sum(each.count for each in self._sources.values())
        self._sources[key] = MeasuredSource(reading, np.array(moves, dtype=np.int64), first)


@dataclass(frozen=True, eq=False)
class Output:
    """Output of a library, from a sensor.

    Attributes:
        name, unit, description: of it.
        components: their names, where there are several.
        size: how many components it has.
        begin, end: of the values of the tape that are found for it, of which the last ones are its own.
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
    """Outputs, measured sources, and the numbers computed from them."""

    outputs: tuple[Output, ...]
    sources: tuple[MeasuredSource, ...]
    entries: tuple[TapeEntry, ...]


def joint_outputs(model: Mechanism, has_rates: bool = True) -> dict[str, Sensor]:
    """Return sensors for the coordinates of all joints of a model, and if ``has_rates`` for their rates. Rates
    along lines are left out, which compiled models do not measure. The sensors are the default outputs of a
    library; their names are the texts of the sensors, with the name of the joint."""
    kinds = (JointPosition, JointRate) if has_rates else (JointPosition,)
    free = [joint for joint in model.joints if isinstance(joint, KinematicPair) and _is_measured(joint, model)]
    sensors = [kind(joint) for joint in free for kind in (kinds[:1] if isinstance(joint, Sliding) else kinds)]
    return {str(sensor): sensor for sensor in sensors}


def page_outputs(model: Mechanism) -> dict[str, Sensor]:
    """Return sensors for the coordinates of all joints and for the energies of a model; they are the default
    outputs of a live page. Names are the texts of the joint sensors, and "total", "kinetic" and so on for
    energies."""
    energies = [EnergyKind.TOTAL, EnergyKind.KINETIC, EnergyKind.STRAIN, EnergyKind.GRAVITY]
    energies += [EnergyKind.SPRING] if model.elements else []
    return joint_outputs(model, has_rates=False) | {kind.value: EnergyOf(kind) for kind in energies}


def _is_measured(joint: KinematicPair, model: Mechanism) -> bool:
    """Return whether a joint has free coordinates (relative angles or lengths) that can be computed for its two
    bodies. It is False for a joint without free coordinates, and where they are not defined: point masses have no
    angles, for example. ``model`` gives the dimension.
    """
    try:
        return bool(joint.coordinates(model.dimension))
    except ModelError:
        return False


class OutputTables:
    """Builder of outputs from sensors.

    Args:
        run: of the model, at its start.
        from_start: energies are those since the start: of large ones small changes can be seen.
    """

    def __init__(self, run: LiveRun, from_start: bool = False) -> None:
        self._tape = NumberTape()
        self._measured = MeasuredValues(run, self._tape)
        self._from_start = from_start

    @property
    def source_count(self) -> int:
        """Return the number of measured sources (joints, or points and directions) that outputs have needed so
        far."""
        return len(self._measured.sources)

    def of(self, sensors: Mapping[str, Sensor]) -> Outputs:
        """Return the outputs of a library for sensors by name, with the operations that compute them from
        measurements of compiled code. Raise ``ModelError`` for a sensor that needs Python or belongs to another
        model.

        Raises:
            ModelError: one that needs Python, or of another model.
        """
        found = tuple(self._output(name, sensor) for name, sensor in sensors.items())
        return Outputs(found, self._measured.sources, tuple(self._tape.entries))

    def measured(self, name: str, items: Sequence[object]) -> tuple[int, int]:
        """Record the operations that compute what a controller measures, and return the range (first, end) of the
        results in the list. ``items`` are joints, points or sensors, in the order of the controller's inputs. Raise
        ``ModelError`` for sensors that count full turns from sample to sample; ``name`` is the controller in
        messages.

        Rates are those of the step, as controllers have them.

        Raises:
            ModelError: what compiled models do not find, or what one instant does not tell.
        """
        values = list[object]()
        for item in items:
            if not isinstance(item, Sensor):
                values += self._measured.of_source(name, item)
            elif item.linear_reading is not None:
                source, weights, offset = item.linear_reading
                values += (weights @ np.array(self._measured.of_source(name, source)) - offset).tolist()
            elif type(item).unwrapped is not Sensor.unwrapped:
                raise ModelError(
                    f"{name}: a controller of a compiled model cannot measure {item}, which goes on from sample"
                    " to sample; take the JointPosition of a joint"
                )
            else:
                values += self._values(name, item)[0]
        return self._tape.output(values)

    def _output(self, name: str, sensor: Sensor) -> Output:
        is_shifted = self._from_start and sensor.is_energy
        start = float(sensor.read(self._measured.run)[0]) if is_shifted else 0.0
        values, is_acceleration = self._values(name, sensor)
        counted = self._tape.output([value - start for value in values] if start else values)
        components = sensor.components if len(sensor.components) == len(values) else ()
        return Output(name, sensor.unit, str(sensor), components, len(values), *counted, start, is_acceleration)

    def _values(self, name: str, sensor: Sensor) -> tuple[list, bool]:  # type: ignore[type-arg]  # numbers of the tape
        """Return the values of a sensor as symbolic numbers, and whether they must be differenced over a time step.
        The sensor's formula is evaluated once with symbolic numbers, which records its operations. Raise
        ``ModelError`` if it uses operations that compiled code does not have, or belongs to another model; ``name``
        is the output's name in messages.

        Raises:
            ModelError: one that compiled models do not find, or of another model.
        """
        run = self._measured.taped_run(name)
        try:
            with np.errstate(invalid="ignore"):  # NaN stands for what is not measured
                values = np.asarray(sensor.read(run)[0], dtype=object).ravel().tolist()
            self._tape.check(values)
        except TypeError as error:  # of NumPy and of numbers of the tape, which have not all functions
            raise ModelError(
                f"output {name!r}: {sensor} is not measured by compiled models: {error}; read it in Python from the"
                " motion, or take another sensor instead"
            ) from error
        return values, bool(run.differentiated)
