"""Controllers in a run: their measurements and samples, and user laws that the compiled steps call."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from math import isfinite
from types import FrameType

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, IntArray, function_error, reals
from phlexible.algebra.caching import cached_on_owner
from phlexible.description.ground import frame_angular_velocities, frame_rotations, frame_velocities
from phlexible.description.interactions.feedback import Controller, Feedback, transition_matrices
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ParameterError, PhlexibleError
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.assembly.interactions import (
    ControlledValue,
    Function,
    MeasuredCoordinate,
    MeasuredPoint,
    coordinate_kind,
    measure_tables,
)
from phlexible.step.programs import measure
from phlexible.step.tables.declarations import ANGLE, MOVING
from phlexible.step.tables.requests import POINT

# Controllers that read sensors, are sampled, come late, or have states of their own (docs/theory.md, 8).

EARLY = 1e-9  # of a sampling period

Read = Callable[[], RecordedRun]


def check_periods(mechanism: Mechanism, step: float) -> None:
    """Raise ``ParameterError`` if the sampling period of a controller of the mechanism is not a multiple of the
    time step of the run. Round-off is allowed; controllers without a period are not checked. ``step`` is the
    length of the time step [s].

    Args:
        mechanism: mechanism with its controllers.
        step: step of the run [s].

    Raises:
        ParameterError: names the controller.
    """
    for part in (*mechanism.loads, *mechanism.elements):
        value = getattr(part, "value", None)
        period = value.period if isinstance(value, Feedback) else None
        if period is None:
            continue
        if round(period / step) < 1 or abs(round(period / step) * step - period) > EARLY * period:
            raise ParameterError(
                f"{part} is sampled each {period:g} s, which is no multiple of the step {step:g} s;"
                f" take step={period / max(1, round(period / step)):g}"
            )


class SampledController:
    """One controller with sampling, delay or linear states, and the values that it stores from sample to sample.

    Args:
        value: the controller, with what it measures and sets.
        begin: index of its first number in the array of measurements of all controllers.

    Attributes:
        size: count of the values that it stores.
    """

    def __init__(self, value: ControlledValue, begin: int) -> None:
        self.value, self._begin = value, begin
        feedback, law = value.feedback, value.feedback.law
        self._count = feedback.count
        self._states = law.order if law is not None else 0
        self._queue = feedback.delay_periods + 1
        self.size = 3 + 2 * self._count + self._states + self._queue * value.size
        self.set_memory(np.zeros(self.size))

    def set_memory(self, memory: Array) -> None:
        """Use the array ``memory``, shape (size,), for everything that the controller stores from now on: sample
        times, inputs, states, delayed outputs. Its parts become views of the array. The array is set to zero, and
        the time of the first sample to NaN."""
        memory[:] = 0.0
        memory[0] = np.nan
        ends = np.cumsum([3, self._count, self._count, self._states]).tolist()
        self._clock, self._input, self._readings, self._state = (
            memory[begin:end] for begin, end in zip([0, *ends], ends, strict=False)
        )
        self._values = memory[ends[-1] :].reshape(self._queue, self.value.size)

    def __call__(self, time: float, measurements: Array, read: Read) -> Array:
        """Return the output values of the controller that act from a ``time`` on [s], shape (size,). If a sample is
        due, its inputs are sampled first: from ``measurements``, all values that compiled code has measured, and
        for other sensors from the run of one instant that ``read()`` returns. Between samples the stored output is
        returned.

        Args:
            time: start of the step [s].
            measurements: measurements of all controllers by compiled code, shape (measured values,).
            read: returns the full state as a run of one instant.

        Raises:
            FunctionError: the controller raised; names it and the time.
            ParameterError: it returned something else than finite numbers of its size.
        """
        is_first = bool(np.isnan(self._clock[0]))
        return self.answer(time, lambda: self._measured(measurements, read, is_first))

    def is_due(self, time: float) -> bool:
        """Return whether the controller samples its measurements at a time [s]. It does at the first call, and at
        each time step if it has no period. Otherwise it does from multiples of its period after the first sample
        on."""
        begin, count, _ = self._clock
        period = self.value.feedback.period
        return bool(np.isnan(begin)) or period is None or bool(time >= begin + (count - EARLY) * period)

    def answer(self, time: float, measured: Callable[[], Array]) -> Array:
        """Return the output values of the controller that act from a ``time`` on [s], shape (size,), the stored
        array itself. If a sample is due, ``measured()`` is called first; from the measurements that it returns,
        states and outputs are computed and stored. Between samples the stored output is returned unchanged
        (zero-order hold).

        Raises:
            FunctionError: the controller raised; names it and the time.
            ParameterError: it returned something else than finite numbers of its size.
        """
        clock = self._clock
        is_due, is_first = self.is_due(time), bool(np.isnan(clock[0]))
        if is_first:
            clock[:] = time, 0.0, time
        if is_due:
            self._sample(time, measured(), is_first)
            clock[1:] = clock[1] + 1, time
        found: Array = self._values[0]
        return found

    def _sample(self, time: float, measured: Array, is_first: bool) -> None:
        feedback, law = self.value.feedback, self.value.feedback.law
        given = measured if feedback.target is None else feedback.target_at(time) - measured
        answer: object
        if law is None:
            answer = evaluated(self.value, feedback.controller, time, given)
        else:
            if not is_first and (feedback.period is not None or time > self._clock[2]):
                duration = time - self._clock[2] if feedback.period is None else feedback.period
                A, B = self._move(float(f"{duration:.12g}"))
                self._state[:] = A @ self._state + B @ self._input
            answer = law.C @ self._state + law.D @ given
        self._input[:] = given
        self._values[:-1] = self._values[1:]
        self._values[-1] = checked_values(self.value, answer, time)

    @cached_on_owner
    def _move(self, duration: float) -> tuple[Array, Array]:
        """Return the matrices A and B that advance the states x of a linear controller over a ``duration`` [s]: x
        becomes A x + B u for constant input u. They are computed by ``transition_matrices`` and cached by the
        duration, rounded to 12 digits.

        Durations that differ by round-off give the same matrices.
        """
        law = self.value.feedback.law
        assert law is not None, "asked for of linear laws"
        return transition_matrices(law, duration)

    def _measured(self, measurements: Array, read: Read, is_first: bool) -> Array:
        own = measurements[self._begin :]
        if not self.value.channels:
            return own[: self._count].copy()
        found, index = np.zeros(self._count), 0
        for channel in self.value.channels:
            values = own[channel.begin : channel.end]
            if channel.map is not None:
                values = channel.map[0] @ values - channel.map[1]
            elif channel.reading is not None:
                values = np.asarray(channel.reading.read(read())[0]).ravel()
                if not is_first:
                    values = channel.reading.unwrapped(self._readings[index : index + len(values)], values)
            found[index : index + len(values)] = values
            index += len(values)
        self._readings[:] = found
        return found


def evaluated(
    value: ControlledValue, controller: Callable[[float, Array], object], time: float, measured: Array
) -> object:
    """Return the unchecked result of a ``controller``, called with a time [s] and a measurement array
    ``measured``. An exception that it raises becomes a ``FunctionError`` that names the time and the load that
    ``value`` describes. Errors of this library and Ctrl-C pass unchanged.

    Raises:
        FunctionError: it raised; names it and the time.
    """
    try:
        return controller(time, measured)
    except PhlexibleError:
        raise
    except Exception as error:
        raise function_error(f"the controller of {value.name}", error, f"at t = {time:.9g} s") from error


def checked_values(value: ControlledValue, answer: object, time: float) -> Array:
    """Return the result ``answer`` of a controller's function at a time [s] as an array of finite numbers,
    shape (size,); raise ``ParameterError`` if it is anything else. ``value`` describes the load that it sets.

    Raises:
        ParameterError: anything else than as many finite numbers, or forces out of the plane of a planar model.
    """
    found = np.zeros(0)
    with suppress(ParameterError):
        found = reals("values", answer, largest=ANY_SIZE).ravel()  # type: ignore[arg-type]  # what holds no numbers is refused
    if found.shape != (value.size,) or not np.isfinite(found).all():
        words = {1: "one finite number", 3: "three finite numbers"}
        wanted = words.get(value.size, f"{value.size} finite numbers")
        raise ParameterError(
            f"the controller of {value.name} must return {wanted}, got {answer!r} at t = {time:.9g} s"
        )
    value.check_components(found, time)
    return found


# What controllers measure at the start of a step, and the values that they return.


class Controllers:
    """Caller of all controllers and state-dependent user functions of a mechanism. They are evaluated at the state
    in the memory of an assembly, from positions and rates that compiled code has written there.

    Args:
        assembly: assembly of the mechanism, whose memory contains the state.

    Attributes:
        angles: last values of the measured angles, over full turns; NaN before the first, shape (angles,) [rad].
        memory: stored values of the controllers with samples or states, shape (values,).
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._controlled = assembly.controlled
        self.angles: Array = np.zeros(0)
        self.memory: Array = np.zeros(0)
        self._sampled: tuple[SampledController, ...] = ()
        self._laws: tuple[tuple[ControlledValue, Controller, int, int, int], ...] = ()
        if self._controlled:
            self._begin()

    def _begin(self) -> None:
        assembly = self._assembly
        items: list[tuple[int, int, int, int]] = []
        functions: list[Function] = []
        spans, index = [], 0
        self._measured_items: list[MeasuredCoordinate | MeasuredPoint] = []
        for each in self._controlled:
            begin = index
            for item in each.measured:
                self._measured_items.append(item)
                if isinstance(item, MeasuredPoint):
                    items.append((POINT, item.vector, index, -1))
                    index += 6
                    continue
                angle = sum(known[3] >= 0 for known in items) if item.coordinate.is_angle else -1
                items.append((coordinate_kind(item.coordinate), len(functions), index, angle))
                functions += item.functions
                index += 2
            spans.append((each, each.feedback.controller, begin, index, each.column if each.size == 1 else -1))
        self._laws = tuple(each for each in spans if isinstance(each[0].feedback, StateLaw))
        self._calls = tuple(each for each in spans if each not in self._laws and is_plain(each[0]))
        others = [each for each in spans if each not in self._laws and not is_plain(each[0])]
        self._sampled = tuple(SampledController(each[0], each[2]) for each in others)
        ends = np.cumsum([0, *(each.size for each in self._sampled)]).tolist()
        self.memory = np.zeros(ends[-1])
        for one, begin, end in zip(self._sampled, ends, ends[1:], strict=False):
            one.set_memory(self.memory[begin:end])
        self._memory = (np.asarray(assembly.memory["world0"]), np.asarray(assembly.memory["change"]))
        self.angles = np.full(sum(known[3] >= 0 for known in items), np.nan)
        known = zip(items, self._measured_items, strict=True)
        counted = [(row[3], item.counter) for row, item in known if item.counter is not None]
        self._counted = np.array(counted, dtype=np.int64).reshape(-1, 2).T
        self._tables = measure_tables(items, [function.terms for function in functions], assembly.chords)
        self._measurements = np.zeros(index)
        self._angle_rates = np.array([index + 1 for kind, _, index, _ in items if kind == ANGLE], dtype=np.int64)
        self._moving = [(k, v) for k, v in enumerate(assembly.vectors) if v.carrier == MOVING]

    @property
    def are_needed(self) -> bool:
        """Whether the mechanism has any controller or law of the state that Python evaluates."""
        return bool(self._controlled)

    def moving_rates(self, times: Array) -> Array:
        """Return the time derivatives at ``times`` [s] of all points and directions on ground frames with
        prescribed motion, shape (times, vectors, 3). They are in world axes: velocities of points, and angular
        velocity cross direction. The vectors are those of the model in its order.
        """
        result = np.zeros((len(times), len(self._moving), 3))
        for column, (_, vector) in enumerate(self._moving):
            frame = self._assembly.system.moving_frames[vector.frame]
            if vector.is_point:
                result[:, column] = frame_velocities(frame, times)
            else:
                turned = frame_rotations(frame, times) @ vector.base
                result[:, column] = np.cross(frame_angular_velocities(frame, times), turned)
        return result

    def hold(self, time: float, moving_rates: Array, loads: Array, read: Callable[[], RecordedStates]) -> None:
        """Evaluate all controllers of the mechanism at the start of a time step, a ``time`` [s], and write their
        load values into ``loads``. The caller uses these values unchanged until the next call (zero-order hold).
        ``moving_rates`` are the rates of vectors on moving ground frames at this time. ``read()`` returns the full
        state; it is called at most once, for sensors that need it.

        Args:
            time: start of the step [s].
            moving_rates: rates of the vectors in moving frames at the time, shape (vectors of moving frames, 3).
            loads: receives the values, zero elsewhere, shape (load values,) [N or N m].
            read: gives the full state, for sensors that need it.

        Raises:
            FunctionError: a controller raised; names it and the time.
            ParameterError: one returned something else than finite numbers of its size.
        """
        self._write_moving_rates(moving_rates)
        self._measure(*self._memory, self._last_angles())
        measured = self._measurements.copy()  # theirs to keep
        for each, controller, begin, end, column in self._calls:
            answer = evaluated(each, controller, time, measured[begin:end])
            if type(answer) is float and column >= 0 and isfinite(answer):
                loads[column] = answer
            else:
                loads[each.column : each.column + each.size] = checked_values(each, answer, time)
        if not self._sampled:
            return

        @cache
        def run() -> RecordedRun:
            return RecordedRun(self._assembly.system, read(), is_projected=False)

        for sampled in self._sampled:
            values = sampled(time, measured, run)
            for target in sampled.value.targets:
                target.write(values, loads)

    @property
    def measured_vectors(self) -> IntArray:
        """Sorted indices of the vectors (points and directions on bodies) that the controllers measure, each once,
        shape (vectors,)."""
        items, parts = self._tables[0], self._tables[4]
        return np.unique(np.concatenate([parts, items[items[:, 0] == POINT, 1]]))

    @property
    def law_directions(self) -> Array:
        """Return the load values for a value 1 of each component that state-dependent user functions return, shape
        (components, load values). A row is zero but for a 1 at the load value, or prescribed force, that the
        component sets.
        """
        size = sum(each.size for each, *_ in self._laws)
        found = np.zeros((size, 3 * self._assembly.memory.counts["load_values"]))
        for row, one in zip(found, np.eye(size), strict=True):
            self.write_law_values(one, row[None])
        return found

    def law_lengths(self, reach: float) -> Array:
        """Return lengths by which values of state-dependent user functions are divided to be comparable as forces,
        shape (values,) [m]. They are 1 for functions of several components, which are forces. For a function of one
        value, which may be a torque, it is ``reach``, the size of the model, but at least 1.
        """
        sizes = [each.size for each, *_ in self._laws]
        return np.concatenate([np.full(size, max(1.0, reach) if size == 1 else 1.0) for size in sizes or [0]])

    def largest_counts_by_law(self, counts: IntArray) -> dict[str, int]:
        """Return the largest count of each state-dependent user function by its name, if it is not zero. ``counts``
        has a count for each value that these functions return, one function after the other, shape (values,).
        """
        index, found = 0, dict[str, int]()
        for each, *_ in self._laws:
            if most := int(counts[index : index + each.size].max()):
                found[each.name] = max(most, found.get(each.name, 0))
            index += each.size
        return found

    def vectors_in_step(self) -> tuple[Array, Array]:
        """Return all points and directions in world axes at the start of the last time step, and their changes in
        it, both (vectors, 3). They are copies of the arrays that compiled code has written.
        """
        start, change = self._memory
        return start.copy(), change.copy()

    def mean_laws(self, time: float, h: float, start: Array, change: Array) -> Array:
        """Return the values of all state-dependent user functions at the mean state of a time step, concatenated,
        shape (values,). ``time`` is the middle of the step, h its length [s]. Points and directions begin at
        ``start`` and move by ``change``, both (vectors, 3). The functions measure positions start + change / 2 and
        rates change / h; rates of angles are corrected for finite rotations.

        Args:
            time: middle of the step [s].
            h: its length [s].
            start, change: all vectors at its start, and their changes in it, shape (vectors, 3).
        """
        self._measure(start + 0.5 * change, change / h, self.angles.copy())
        rates = self._measurements[self._angle_rates]  # of the mean directions, 2 tan(delta(angle)/2)/h
        self._measurements[self._angle_rates] = 2.0 * np.arctan(0.5 * h * rates) / h
        return np.concatenate(self._law_values(time))

    def write_law_values(self, law_values: Array, values: Array) -> None:
        """Write the values that state-dependent user functions have returned into the load ``values``, shape
        (instants, load values), in place. ``law_values``, shape (values,), are those of all functions; each is
        written to all instants. Entries that the functions do not set stay the same.
        """
        index = 0
        for each, *_ in self._laws:
            values[:, each.column : each.column + each.size] = law_values[index : index + each.size]
            index += each.size

    def with_law_values(self, time: float, values: Array) -> Array:
        """Return a copy of the load ``values``, shape (load values,), with the present values of all
        state-dependent user functions. They are called with the ``time`` [s] and what they measure at the state in
        memory; entries that they do not set are copied.
        """
        self._write_moving_rates(self.moving_rates(np.array([time]))[0])
        self._measure(*self._memory, self._last_angles().copy())
        result = values.copy()
        self.write_law_values(np.concatenate(self._law_values(time)), result[None])
        return result

    def _last_angles(self) -> Array:
        """Return the last measured angles [rad], with the full turns that force elements along them count."""
        places, forces = self._counted
        self.angles[places] = self._assembly.memory["theta"][forces]
        return self.angles

    def _write_moving_rates(self, moving_rates: Array) -> None:
        for (k, _), rate in zip(self._moving, moving_rates, strict=True):
            self._memory[1][k] = rate

    def _law_values(self, time: float) -> list[Array]:
        """Call all state-dependent user functions with a time [s] and their latest measurements, and return the
        checked results, one array for each function. The measurements must have been computed before; each function
        gets a copy.
        """
        return [
            checked_values(each, law(time, self._measurements[begin:end].copy()), time)
            for each, law, begin, end, _ in self._laws
        ]

    def _measure(self, positions: Array, rates: Array, angles: Array) -> None:
        none = measure(positions, rates, *self._tables, angles, self._measurements)
        if none >= 0:
            item = self._measured_items[none]
            assert isinstance(item, MeasuredCoordinate), "points have a rate"
            item.coordinate.gradient(np.zeros(1))  # says why there is none


def is_plain(value: ControlledValue) -> bool:
    """Return whether a controller is a plain function that is called at each time step with present measurements
    and sets all values of one load. It then has no sampling period, target, linear states or inputs from sensor
    objects. ``value`` describes the controller and the loads that it sets."""
    return not value.channels and value.feedback.is_plain_function and value.targets[0].is_whole


# Laws of users that compiled code calls through Python: Ctrl-C waits for the end of the call, errors are kept.


class PythonLaws:
    """Guards the calls of law functions that run in Python because they could not be compiled.

    An exception must not cross compiled code. Ctrl-C would be lost there, so it is held back until the steps that
    it came in are done and stored; a second one ends a function that hangs, and with it these steps.

    Args:
        assembly: assembly with the laws.

    Attributes:
        guard: context manager around compiled code, which holds Ctrl-C back; None: no law runs in Python.
    """

    def __init__(self, assembly: Assembly) -> None:
        functions = [each for law in assembly.laws for each in law.functions or ()]
        self._functions = [each for each in functions if not each.is_compiled]
        self._is_interrupted = False
        self.guard = self._guarded if self._functions else None

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        for each in self._functions:
            each.errors.clear()
        if threading.current_thread() is not threading.main_thread():
            yield  # other threads are not interrupted
            return
        before = signal.signal(signal.SIGINT, self._hold)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if isinstance(self.error, KeyboardInterrupt):
            raise self.error

    def _hold(self, number: int, frame: FrameType | None) -> None:
        if self._is_interrupted:
            raise KeyboardInterrupt
        self._is_interrupted = True

    def raise_deferred(self) -> None:
        """Raise the signal SIGINT (Ctrl-C) that arrived while compiled time steps called law functions in Python
        and was deferred. Nothing happens if there was none."""
        if self._is_interrupted:
            self._is_interrupted = False
            signal.raise_signal(signal.SIGINT)

    @property
    def error(self) -> BaseException | None:
        """Exception that a law function of the user raised when compiled time steps called it last, or None;
        the compiled code continued with NaN."""
        return next((error for each in self._functions for error in each.errors), None)
