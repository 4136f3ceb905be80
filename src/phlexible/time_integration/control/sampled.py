"""Controllers that read sensors, are sampled, come late, or have states of their own (docs/theory.md, 8)."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, numbers
from phlexible.assembly.controlled import ControlledValue
from phlexible.errors import ParameterError
from phlexible.interactions.control.held_input import moves
from phlexible.system.recording import Recording
from phlexible.system.system import System
from phlexible.time_integration.control.measured import StateMeasurement
from phlexible.time_integration.control.periods import EARLY

Read = Callable[[], Recording]


class SampledController:
    """One controller with what it remembers from sample to sample.

    Args:
        system: what moves.
        value: the controller.
        begin: of what compiled code measures for it.

    Attributes:
        size: of the numbers that it remembers.
    """

    def __init__(self, system: System, value: ControlledValue, begin: int) -> None:
        self._system, self.value, self._begin = system, value, begin
        feedback, law = value.feedback, value.feedback.law
        self._count = feedback.count
        self._states = law.order if law is not None else 0
        self._queue = feedback.periods_of_delay + 1
        self.size = 3 + 2 * self._count + self._states + self._queue * value.size
        self._moves: dict[float, tuple[Array, Array]] = {}
        self.put(np.zeros(self.size))

    def put(self, memory: Array) -> None:
        """Where it remembers, shape (size,); forgets all."""
        memory[:] = 0.0
        memory[0] = np.nan
        ends = np.cumsum([3, self._count, self._count, self._states]).tolist()
        self._clock, self._input, self._readings, self._state = (
            memory[begin:end] for begin, end in zip([0, *ends], ends, strict=False)
        )
        self._values = memory[ends[-1] :].reshape(self._queue, self.value.size)

    def __call__(self, time: float, numbers: Array, read: Read) -> Array:
        """The values that act from a time on, shape (size,); asks the controller where a sample is due.

        Args:
            time: [s].
            numbers: what compiled code measured for all controllers.
            read: gives the whole state.

        Raises:
            ParameterError: the controller returned something else than finite numbers of its size.
        """
        feedback, clock = self.value.feedback, self._clock
        is_first = bool(np.isnan(clock[0]))
        if is_first:
            clock[:] = time, 0.0, time
        period = feedback.period
        if period is None or time >= clock[0] + (clock[1] - EARLY) * period:
            self._sample(time, self._measured(numbers, read, is_first), is_first)
            clock[1:] = clock[1] + 1, time
        found: Array = self._values[0]
        return found

    def _sample(self, time: float, measured: Array, is_first: bool) -> None:
        feedback, law = self.value.feedback, self.value.feedback.law
        given = measured if feedback.target is None else feedback.target_at(time) - measured
        answer: object
        if law is None:
            answer = feedback.controller(time, given)
        else:
            if not is_first and (feedback.period is not None or time > self._clock[2]):
                A, B = self._move(time - self._clock[2] if feedback.period is None else feedback.period)
                self._state[:] = A @ self._state + B @ self._input
            answer = law.C @ self._state + law.D @ given
        self._input[:] = given
        self._values[:-1] = self._values[1:]
        self._values[-1] = checked_values(self.value, answer, time)

    def _move(self, duration: float) -> tuple[Array, Array]:
        """Of the state of a linear law, over times that differ by round-off the same."""
        law = self.value.feedback.law
        assert law is not None, "asked for of linear laws"
        duration = float(f"{duration:.12g}")
        if duration not in self._moves:
            self._moves[duration] = moves(law, duration)
        return self._moves[duration]

    def _measured(self, numbers: Array, read: Read, is_first: bool) -> Array:
        own = numbers[self._begin :]
        if not self.value.channels:
            return own[: self._count].copy()
        found, place = np.zeros(self._count), 0
        for channel in self.value.channels:
            values = own[channel.begin : channel.end]
            if channel.map is not None:
                values = channel.map[0] @ values - channel.map[1]
            elif isinstance(channel.reading, StateMeasurement):
                values = channel.reading.at_instant(self._system, read())
                if not is_first:
                    values = channel.reading.continued(self._readings[place : place + len(values)], values)
            found[place : place + len(values)] = values
            place += len(values)
        self._readings[:] = found
        return found


def checked_values(value: ControlledValue, answer: object, time: float) -> Array:
    """What a controller returned, as numbers, shape (size,).

    Raises:
        ParameterError: anything else than as many finite numbers, or forces out of the plane of a planar model.
    """
    found = np.zeros(0)
    with suppress(ParameterError):
        found = numbers("values", answer, largest=ANY_SIZE).ravel()  # type: ignore[arg-type]  # what holds no numbers is refused
    if found.shape != (value.size,) or not np.isfinite(found).all():
        words = {1: "one finite number", 3: "three finite numbers"}
        wanted = words.get(value.size, f"{value.size} finite numbers")
        raise ParameterError(
            f"the controller of {value.name} must return {wanted}, got {answer!r} at t = {time:.9g} s"
        )
    value.check_inside(found, time)
    return found
