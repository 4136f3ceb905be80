"""Outputs of a library: formulas of sensors applied to the measurements of compiled code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.number_tape import NumberTape, TapeEntry
from phlexible.description.interactions.functions import KinematicPair
from phlexible.description.interactions.sensor import LinearReading, Sensor
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ModelError
from phlexible.libraries.measured_values import MeasuredSource, MeasuredValues
from phlexible.measure.sensors import EnergyKind, EnergyOf, JointPosition, JointRate
from phlexible.results.live import LiveRun


@dataclass(frozen=True, eq=False)
class Output:
    """Output of a library, from a sensor.

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
    """Outputs, measured sources, and the numbers computed from them."""

    outputs: tuple[Output, ...]
    sources: tuple[MeasuredSource, ...]
    entries: tuple[TapeEntry, ...]


def joint_outputs(model: Mechanism, has_rates: bool = True) -> dict[str, Sensor]:
    """Return sensors for the coordinates of all joints of a model, and if ``has_rates`` for their rates. They are
    the default outputs of a library; their names are the texts of the sensors, with the name of the joint."""
    kinds = (JointPosition, JointRate) if has_rates else (JointPosition,)
    free = [joint for joint in model.joints if isinstance(joint, KinematicPair) and _is_measured(joint, model)]
    return {str(sensor): sensor for joint in free for sensor in (kind(joint) for kind in kinds)}


def page_outputs(model: Mechanism) -> dict[str, Sensor]:
    """Return sensors for the coordinates of all joints and for the energies of a model; they are the default
    outputs of a live page. Names are the texts of the joint sensors, and "total", "kinetic" and so on for
    energies."""
    energies = [EnergyKind.TOTAL, EnergyKind.KINETIC, EnergyKind.STRAIN, EnergyKind.GRAVITY]
    energies += [EnergyKind.SPRING] if model.elements else []
    return joint_outputs(model, has_rates=False) | {kind.value: EnergyOf(kind) for kind in energies}


def _is_measured(joint: KinematicPair, model: Mechanism) -> bool:
    """Return whether a joint of a model has free coordinates that exist for its bodies; an angle does not on
    a point mass."""
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
        measurements.

        Raises:
            ModelError: one that needs Python, or of another model.
        """
        found = tuple(self._output(name, sensor) for name, sensor in sensors.items())
        return Outputs(found, self._measured.sources, tuple(self._tape.entries))

    def measured(self, name: str, items: Sequence[object]) -> tuple[int, int]:
        """Return the range (first, end) of the numbers on the tape that a controller measures of joints,
        attachments or sensors (``items``). ``name`` is that of the controller.

        Rates are those of the step, as controllers have them.

        Raises:
            ModelError: what compiled models do not find, or what one instant does not tell.
        """
        values = list[object]()
        for item in items:
            if not isinstance(item, Sensor):
                values += self._measured.of_source(name, item)
            elif item.linear_reading is not None:
                values += self._of_linear_reading(name, item.linear_reading)
            elif type(item).unwrapped is not Sensor.unwrapped:
                raise ModelError(
                    f"{name}: a controller of a compiled model cannot measure {item}, which goes on from sample"
                    " to sample; take the JointPosition of a joint"
                )
            else:
                values += self._values(name, item)[0]
        return self._tape.output(values)

    def _of_linear_reading(self, name: str, reading: LinearReading) -> list[object]:
        source, weights, offset = reading
        found: list[object] = (weights @ np.array(self._measured.of_source(name, source)) - offset).tolist()
        return found

    def _output(self, name: str, sensor: Sensor) -> Output:
        is_shifted = self._from_start and sensor.is_energy
        start = float(sensor.read(self._measured.run)[0]) if is_shifted else 0.0
        values, is_acceleration = self._values(name, sensor)
        counted = self._tape.output([value - start for value in values] if start else values)
        components = sensor.components if len(sensor.components) == len(values) else ()
        return Output(name, sensor.unit, str(sensor), components, len(values), *counted, start, is_acceleration)

    def _values(self, name: str, sensor: Sensor) -> tuple[list, bool]:  # type: ignore[type-arg]  # numbers of the tape
        """Return the numbers of a sensor as recorded operations, and whether its value is their difference
        over a time step (an acceleration). ``name`` is that of the output.

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
