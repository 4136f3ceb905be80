"""What can be measured: one set of descriptions for motions, equilibria, linear outputs and tables."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError
from phlexible.interactions.control.measurement import Availability
from phlexible.observables.reader import Reader
from phlexible.observables.run import RecordedRun
from phlexible.system.recording import Recording
from phlexible.system.system import System
from phlexible.time_integration.control.measured import StateMeasurement


class Sensor(StateMeasurement):
    """A quantity of a model; ``motion[sensor]`` is what it measured."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """SI unit, "1" for plain numbers."""

    @abstractmethod
    def read(self, reader: Reader) -> Array:
        """Values at the stored instants, shape (N + 1,), or (N + 1, components)."""

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components where there are several; empty: one number an instant."""
        return ()

    @property
    def availability(self) -> Availability:
        """Of most sensors at each instant."""
        return Availability.AT_ONCE

    @property
    def count(self) -> int:
        """One, or the components."""
        return max(1, len(self.components))

    def at_instant(self, system: System, recording: Recording) -> Array:
        """What it measures at one instant, shape (count,); rates as the step has them."""
        return np.asarray(self.read(Reader(RecordedRun(system, recording), is_projected=False))[0]).ravel()


def sensors(name: str, given: object) -> list[Sensor]:
    """A list of sensors, refused unless each is one.

    Raises:
        ParameterError: naming the first that is none.
    """
    if isinstance(given, Sensor):
        given = [given]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ParameterError(f"{name} must be a list of sensors such as [Position(beam.end)], got {given!r}")
    for each in given:
        if not isinstance(each, Sensor):
            raise ParameterError(f"{name} takes sensors such as Position(beam.end), got {each!r}")
    return list(given)


def columns(given: Sequence[Sensor], reader: Reader) -> dict[str, Array]:
    """Values by name and unit, one column a component: "position of beam.end x [m]"."""
    found: dict[str, Array] = {}
    for sensor in given:
        values = sensor.read(reader)
        flat = values.reshape(len(values), -1)
        names = sensor.components or ([""] if flat.shape[1] == 1 else [str(k) for k in range(flat.shape[1])])
        for name, column in zip(names, flat.T, strict=True):
            found[f"{sensor} {name}".rstrip() + f" [{sensor.unit}]"] = np.ascontiguousarray(column)
    return found
