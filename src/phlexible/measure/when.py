"""Conditions that trigger events and the end of a run, as thresholds of sensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, called, check_callable, finite
from phlexible.algebra.portable import Portable
from phlexible.algebra.rotations import nearest_turns
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.events import Condition
from phlexible.errors import ParameterError
from phlexible.measure.sensors import checked_sensors
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.events import STOP


@dataclass(frozen=True, eq=False)
class When(Portable, Condition):
    """Condition on a measured quantity that triggers an event or ends a run: it is met where the quantity passes a
    threshold. The instant is found inside of steps, to round-off of the time.

    One that is met already waits until it is no more.

    Attributes:
        quantity: a sensor of one number, or a function ``(t, *readings)`` of what the sensors ``of`` measure.
        above: met where the quantity becomes greater.
        below: met where it becomes smaller; one of the two.
        of: sensors of a function.

    Raises:
        ParameterError: neither sensor nor function, a sensor of several numbers, an acceleration, not exactly one
            threshold.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone", position=(0, 0, 1))
        >>> landed = ph.When(ph.Displacement(stone.origin, (0, 0, 1)), below=-1.0)
        >>> motion = model.simulate(1.0, step=1e-2, stop=landed)
        >>> round(float(motion.time[-1]), 4)  # sqrt(2 h / g)
        0.4515
    """

    quantity: Sensor | Callable[..., float]
    above: float | None = None
    below: float | None = None
    of: Sequence[Sensor] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", tuple(checked_sensors("of", self.of)))
        if isinstance(self.quantity, Sensor):
            if self.of:
                raise ParameterError("of= belongs to a function; a sensor measures by itself")
            self._check_count(len(self.quantity.components))
        else:
            check_callable("quantity", self.quantity, "t", *(f"reading {k + 1}" for k in range(len(self.of))))
        for each in self.sensors:
            if each.is_of_motion:
                raise ParameterError(
                    f"When cannot wait for {each}: its values are only of a motion; take a rate or a force"
                )
        if (self.above is None) == (self.below is None):
            raise ParameterError(f"When takes either above= or below=, got {self.above!r} and {self.below!r}")
        for name in ("above", "below"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, finite(name, value))

    def __str__(self) -> str:
        name = str(self.quantity) if isinstance(self.quantity, Sensor) else "a function"
        return f"{name} > {self.above:g}" if self.above is not None else f"{name} < {self.below:g}"

    def excess(self, times: Array, readings: Sequence[Array]) -> Array:
        """Return by how much the quantity of this condition is beyond its threshold at the given ``times`` [s],
        shape (instants,). It is positive if the condition is met: quantity minus ``above``, or ``below`` minus
        quantity. ``readings`` are sensor values at these times. The quantity is the first sensor, or a user's
        function of time and all sensor values."""
        if isinstance(self.quantity, Sensor):
            values = readings[0]
            self._check_count(values[0].size)
        else:
            rows = zip(times.tolist(), *readings, strict=True)
            values = np.array([self._value(self.quantity, *row) for row in rows])
        if self.above is not None:
            return np.asarray(values - self.above)
        assert self.below is not None, "one of them is given"
        return np.asarray(self.below - values)

    def _value(self, function: Callable[..., float], time: float, *readings: object) -> float:
        at = f"at t = {time:.9g} s"
        value = called(function, f"the condition {self}", time, *readings, at=at)
        return finite(f"the value of {self} {at}", value, ANY_SIZE)

    def _check_count(self, count: int) -> None:
        if count > 1:
            what = f"When takes a sensor of one number, {self.quantity} has {count}"
            raise ParameterError(f"{what}; give it a direction, or take a function of it")

    @property
    def sensors(self) -> tuple[Sensor, ...]:
        """Sensors whose values decide whether this condition is met: the quantity itself if it is a sensor, else
        the sensors whose values are passed to the user's function."""
        return (self.quantity,) if isinstance(self.quantity, Sensor) else tuple(self.of)


class WatchedCondition:
    """Condition that is evaluated while a run goes on; measured angles continue over full turns from the last
    stored instant.

    Args:
        condition: condition that is evaluated.
        system: system of the run.
    """

    def __init__(self, condition: When, system: System) -> None:
        self._condition, self._system = condition, system
        self._last: list[Array] = []

    def excess(self, recording: RecordedStates) -> Array:
        """Return by how much the quantity of the watched condition is beyond its threshold at the instants of
        recorded states (``recording``), shape (instants,); positive where the condition is met. Angles continue
        over full turns from the values that ``keep`` stored."""
        return self._condition.excess(recording.time, self._readings(recording))

    def keep(self, recording: RecordedStates) -> None:
        """Store the sensor values of the watched condition at the last instant of recorded states (``recording``).
        Later angles are continued from these values over full turns."""
        self._last = [values[-1] for values in self._readings(recording)]

    def _readings(self, recording: RecordedStates) -> list[Array]:
        run, found = RecordedRun(self._system, recording), []
        for number, sensor in enumerate(self._condition.sensors):
            values = sensor.read(run)
            if self._last and sensor.unit == "rad":
                values = values + nearest_turns(values[0], self._last[number]) - values[0]
            found.append(values)
        return found


def watched_conditions(
    system: System, stop: When | None, so_far: RecordedStates | None
) -> dict[int, WatchedCondition]:
    """Return the conditions that trigger events or end a run, as a dictionary by the index of the event (a special
    index for ``stop``). They are objects that evaluate a condition of the ``system`` during the run; events at
    given times are left out. ``stop`` is the condition that ends the run. ``so_far`` are the recorded states of a
    continued run, which the conditions then also store.

    Args:
        system: system of the run.
        stop: condition that ends the run, or None.
        so_far: states of a run that is continued, or None.
    """
    waiting = {k: event.when for k, event in enumerate(system.mechanism.events)} | {STOP: stop}
    found = {k: WatchedCondition(each, system) for k, each in waiting.items() if isinstance(each, When)}
    for each in found.values():
        if so_far is not None:
            each.keep(so_far)
    return found
