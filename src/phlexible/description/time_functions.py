"""User functions of time at many times at once, signals between samples, and paths with their rates."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from math import isfinite
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, called, option, reals, warn_of_degrees
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_derivatives import derivatives, first_derivatives, refuse_wrong_rate, run_once
from phlexible.errors import ParameterError

# User functions of time at many times at once, if they allow it.

PROBES = 4
AGREEMENT = 1e-12
FEW = 2  # number of times of a single step
ENOUGH = 8
SHARED = 2**13  # most times of an evaluation that is shared by equal functions, such as those of a batch

_AGREEMENTS: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""Number of consecutive calls with an array of times that agreed with single calls; negative: that did not."""
_LAST: WeakKeyDictionary[Any, tuple[Array, Array]] = WeakKeyDictionary()
"""Last times, of an array that cannot be changed, and the values there: checks, steps and recordings share them."""


def at_least_two(times: Array) -> Array:
    """Return the times unchanged, or repeated if there is only one. A user's function is thereby always called with
    an array of at least two times.

    Powers, for example, have other last digits for arrays than for numbers; with it a run has the same
    digits however its steps are grouped, and after it is resumed.
    """
    return times.repeat(2) if len(times) == 1 else times


@lru_cache
def probe_indices(count: int) -> list[int]:
    """Return the indices of up to four of ``count`` times, evenly spread, with the first and the last. At these
    times values of one call with an array are compared with single calls."""
    return sorted({share * (count - 1) // (PROBES - 1) for share in range(PROBES)})


def _vectorized(
    function: object, times: Array, batched: Callable[[Array], Array], one: Callable[[float], ArrayLike]
) -> Array | None:
    """Evaluate a user's ``function`` of time at all ``times`` in one call, if it accepts arrays of times; otherwise
    return None. ``batched`` makes this call, ``one`` a call with one time. Until both agreed often enough, they are
    compared at up to four of the times; a function for which they differed once gives None from then on. A call
    that fails, values that are not finite, and no times give None too. The result has the shape (times, ...). The
    last one is cached, and returned again for the same read-only array of times.

    Most functions are written with NumPy and take an array of times. Whether this one does is checked: values must
    be finite, and agree with single calls at some of the times, until that is known.

    Args:
        function: of the user.
        times: at which it is evaluated.
        batched: evaluates it at two times or more.
        one: evaluates it at a time.
    """
    try:
        hash(ref(function))
    except TypeError:  # without a hash, or without weak references: nothing is known of it
        function = batched
    agreements = _AGREEMENTS.get(function, 0)
    is_known = abs(agreements) >= ENOUGH and len(times) <= FEW
    if not len(times) or (is_known and agreements < 0):
        return None
    if not times.flags.writeable and (last := _LAST.get(function)) is not None and last[0] is times:
        return last[1]
    compute = partial(_evaluated, times, batched, None if is_known else one)
    if is_known:
        return compute()
    key = batched.__qualname__, times.tobytes()
    result: Array | None = run_once([function], key, compute) if len(times) <= SHARED else compute()
    _AGREEMENTS[function] = min(agreements, 0) - 1 if result is None else max(agreements, 0) + 1
    if result is not None and not times.flags.writeable:
        _LAST[function] = times, result
    return result


def _evaluated(
    times: Array, batched: Callable[[Array], Array], one: Callable[[float], ArrayLike] | None
) -> Array | None:
    """Return the finite values of a function at ``times`` from one call of ``batched``; None if a call fails, or if
    single calls of ``one`` at up to four of the times have other values. With ``one`` they are read-only."""
    with suppress(Exception):  # a function for single times may fail in any way here; it is then called one by one
        values = batched(at_least_two(times))
        if one is None:
            return values[: len(times)] if all(map(isfinite, values.ravel().tolist())) else None
        some = probe_indices(len(times))
        single, probed = np.array([one(time) for time in times[some].tolist()]), values[some]
        single = single if single.dtype == np.float64 else reals("value", single, largest=ANY_SIZE)
        scale = np.abs(values).max()
        if single.shape == probed.shape and scale < np.inf and np.abs(probed - single).max() <= AGREEMENT * scale:
            values.flags.writeable = False
            return values[: len(times)]
    return None


def vector_values_at(function: Callable[[float], ArrayLike], times: Array) -> Array | None:
    """Return the values of a user's vector ``function`` of time, shape (times, 3), from one call with all
    ``times``. The function must return three components, each an array of shape (times,) or a number. Return None
    if that call fails or its values differ from calls with one time."""

    def batched(at: Array) -> Array:
        values = np.empty((len(at), 3))
        x, y, z = function(at)  # type: ignore[arg-type, misc, str-unpack]
        for k, component in enumerate((x, y, z)):
            if type(component) is float or is_float_array(component, at):
                values[:, k] = component
            else:
                values[:, k] = np.broadcast_to(reals("component", component, largest=ANY_SIZE), at.shape)
        return values

    return _vectorized(function, times, batched, function)


def is_float_array(value: object, times: Array) -> TypeGuard[Array]:
    """Return whether a value is already a float array with one number for each time, so that it needs no
    conversion."""
    return type(value) is np.ndarray and value.dtype == np.float64 and value.shape == times.shape


# Functions of time between given samples, whose values can be parameters.


class Between(Enum):
    """Kind of interpolation of a signal between its samples: linear or constant."""

    LINEAR = "linear"
    CONSTANT = "constant"


class Signal(Portable):
    """Function of time given by samples: linear between them (or constant until the next one), and constant before
    the first and after the last.

    ``ph.Force(tip, lambda t: (signal(t), 0.0, 0.0))``, ``joint.torque(signal)``, ``joint.drive(angle=signal)``.

    Args:
        times: of the samples, ascending, shape (n,) [s].
        values: at these times, shape (n,).
        between: "linear", or "constant": each value applies until the time of the next one.

    Raises:
        ParameterError: other shapes, another word, times that do not ascend, numbers that are not finite.

    Example:
        >>> push = ph.Signal([0.0, 0.1, 1.0], [0.0, 1.0, 1.0])  # a table, linear between
        >>> push(0.05)
        0.5
    """

    def __init__(self, times: ArrayLike, values: ArrayLike, between: Between | str = Between.LINEAR) -> None:
        self.between = option("between", between, Between)
        self.times: Array = reals("times of a signal", times).copy()
        self.values: Array = reals("values of a signal", values).copy()
        if self.times.ndim != 1 or self.times.shape != self.values.shape or len(self.times) < 2:
            raise ParameterError(
                "a signal needs times and values of one length, two or more, got shapes"
                f" {self.times.shape} and {self.values.shape}"
            )
        if not (np.isfinite(self.times).all() and np.isfinite(self.values).all()):
            raise ParameterError("times and values of a signal must be finite")
        if not (np.diff(self.times) > 0).all():
            raise ParameterError("the times of a signal must ascend")
        self.times.flags.writeable = self.values.flags.writeable = False

    def __call__(self, time: float) -> float:
        """Return the value of this signal (samples over time) at a ``time`` [s], by linear interpolation; with
        ``Between.CONSTANT`` the last sample at or before the time. Before the first sample it is the first value,
        after the last one the last value. An array of times gives an array of values."""
        if self.between is Between.CONSTANT:
            before = np.searchsorted(self.times, time, "right") - 1
            value = np.asarray(self.values[np.maximum(before, 0)])
        else:
            value = np.asarray(np.interp(time, self.times, self.values))
        return float(value) if value.ndim == 0 else value  # type: ignore[return-value]  # of arrays

    def __repr__(self) -> str:
        return f"Signal({len(self.times)} samples from {self.times[0]:g} to {self.times[-1]:g} s)"

    def with_values(self, values: ArrayLike) -> "Signal":
        """Return a new signal (samples over time) with the same sample times and interpolation, and other sample
        values of shape (n,)."""
        return Signal(self.times, values, self.between)


# Prescribed scalar functions of time with their rates: the paths of drives.

ScalarFunction = Callable[[float], float]
LATER, STEADY = 1e-3, 1e-6  # [s]; largest relative change of a constant rate
SAMPLING = 1e-3, 1e-2, 0.1, 1.0  # sampling intervals at which a path is tested for being harmonic [s]
SAMPLES, WELL_SAMPLED = 8.0, 0.99  # their number; greatest cosine of the angle between two


@dataclass(frozen=True, eq=False)
class TimePath(Portable):
    """Prescribed scalar function of time p(t) with its rate, such as the path of a drive. Compared by identity.

    Attributes:
        function: t [s] -> p.
        rate: t -> dp/dt; None: differences of the function.
        name: name for messages.
    """

    function: ScalarFunction
    rate: ScalarFunction | None
    name: str

    def __call__(self, time: float) -> float:
        """Return the value p(t) of a prescribed scalar path, such as the angle of a drive, at a time [s]. The
        user's function is called once; ParameterError with the time is raised unless it returns one finite number.

        Raises:
            ParameterError: the function returns no finite number.
        """
        return number_at(self.function, self.name, time)

    def rates(self, time: float, end: float = np.inf) -> tuple[float, float]:
        """Return the first and second time derivative of this prescribed function of time at a ``time`` [s]. With
        a rate given by the user, the first is its value and the second its finite difference; else both are finite
        differences of the function. Differences use no time after ``end`` [s]."""
        if self.rate is None:
            first, second = derivatives(self.values_as_column, time, end)
            return float(first[0]), float(second[0])
        rate = self.rate
        name = f"rate of {self.name}"
        slope = number_at(rate, name, time)
        second, _ = derivatives(lambda times: values_at(rate, times, name)[:, None], time, end)
        return slope, float(second[0])

    def rates_at(self, times: Array) -> Array:
        """Return the time derivatives dp/dt of a prescribed scalar path p(t) at many times [s], shape (times,):
        values of the user's rate if given, else finite differences of the path."""
        if self.rate is not None:
            return values_at(self.rate, times, f"rate of {self.name}")
        return first_derivatives(lambda t: self.at_times(t)[:, None], times)[:, 0]

    def at_times(self, times: Array) -> Array:
        """Return the values of a prescribed scalar path p(t) at many times [s], shape (times,). The user's
        function is called once with the array if it accepts that, else once for each time; values are checked to
        be finite."""
        return values_at(self.function, times, self.name)

    def values_as_column(self, times: Array) -> Array:
        """Return the values of a prescribed scalar path p(t) at many times [s] as a column, shape (times, 1)."""
        return self.at_times(times)[:, None]

    def check_rate(self, times: Array) -> None:
        """Raise ParameterError if the rate function that the user gave for a prescribed path is not its time
        derivative at the given ``times`` [s]. The rate is compared with differences of the path. Nothing is
        checked without a rate, and the same functions and times are checked only once.

        Raises:
            ParameterError: the message has the time and the difference.
        """
        if self.rate is not None:
            name, rates = f"rate of {self.name}", lambda t: self.rates_at(t)[:, None]
            check = partial(refuse_wrong_rate, name, self.values_as_column, rates, times)
            run_once((self.function, self.rate), [times.tobytes()], check)

    def warn_of_degrees(self) -> None:
        """Warn if this prescribed angle is probably given in degrees instead of radians. If equally spaced samples
        satisfy the recurrence of a harmonic function, its amplitude is judged. Else, if the rates at two times are
        equal, the rate is judged: multiples of 45; of a constant, the angle. Any other function, and one that
        fails, is accepted."""
        for interval in SAMPLING:
            with suppress(Exception):  # data may end, and then nothing is known
                change = np.diff(self.at_times(interval * np.arange(SAMPLES)))
                middle, sides = change[1:-1], change[2:] + change[:-2]
                cosine = float(middle @ sides) / float(2 * middle @ middle)
                error = np.abs(sides - 2 * cosine * middle).max()  # zero of a constant and a harmonic function
                if abs(cosine) < WELL_SAMPLED and error < STEADY * np.abs(change).max():
                    square = change[0] ** 2 + change[1] ** 2 - 2 * cosine * change[0] * change[1]
                    amplitude = np.sqrt(square / (1 - cosine**2) / (2 - 2 * cosine))
                    warn_of_degrees(f"amplitude of {self.name}", float(f"{amplitude:.6g}"))
                    return
        first, later = self.rates(0.0)[0], self.rates(LATER)[0]
        if abs(later - first) < STEADY * abs(first):
            warn_of_degrees(f"rate of {self.name}", float(f"{first:.6g}"), multiple=45.0)
        elif first == later == 0:
            warn_of_degrees(self.name, float(self.at_times(np.zeros(1))[0]))


class TimeFactor(Enum):
    """Function of a prescribed path p (cos p, sin p or p) that multiplies a term of a constraint function or is
    subtracted from it.
    """

    COSINE = 0
    SINE = 1
    VALUE = 2


@dataclass(frozen=True, eq=False)
class Timed:
    """Factor or offset in a constraint function that is cos p, sin p or p for a prescribed path p(t)."""

    path: TimePath
    factor: TimeFactor


def values_at(function: ScalarFunction, times: Array, name: str) -> Array:
    """Return the values of a user's scalar ``function`` at all ``times`` [s], shape (times,). It is called once
    with the array if it accepts that, else once for each time. Values that are no finite numbers raise
    ParameterError with ``name`` and time.

    Raises:
        ParameterError: a value is not a finite number; the message names the time.
    """

    def batched(at: Array) -> Array:
        raw = function(at)  # type: ignore[arg-type]
        values = raw if is_float_array(raw, at) else reals(name, raw, largest=ANY_SIZE)
        return np.broadcast_to(values, at.shape).copy()  # the function may use its array again

    values = _vectorized(function, times, batched, lambda time: number_at(function, name, time))
    return np.array([number_at(function, name, float(t)) for t in times] if values is None else values)


def number_at(function: ScalarFunction, name: str, time: float) -> float:
    """Return the value of a user's scalar ``function`` of time at a ``time`` [s] as float. ParameterError is
    raised if the value is not one finite number, FunctionError if the function raises. ``name`` is the name of the
    function in the messages.

    Raises:
        ParameterError: it is not a finite number.
        FunctionError: the function raises.
    """
    at = f"at t = {time:.12g} s"
    value = called(function, name, time, at=at)
    try:
        number = float(reals(name, value, largest=ANY_SIZE).reshape(()))
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ParameterError(f"{name} must be one finite number, got {value!r} {at}")
    return number
