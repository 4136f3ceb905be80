"""Functions of time: users' functions at many times at once, signals between samples, paths with their rates."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from math import isfinite
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, called, numbers, option
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_derivatives import derivatives, first_derivatives, refuse_wrong_rate
from phlexible.errors import ParameterError

# Users' functions of time at many times at once, where they allow it.

PROBES = 4
AGREEMENT = 1e-12
FEW = 2  # times of a step that is taken alone
ENOUGH = 8

_KNOWN: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
"""How often in a row a function of time took an array and agreed with single calls; below zero: did not."""


def _takes_arrays(function: object, times: Array) -> bool | None:
    """Of a function that is asked step by step, for few times, once that is known; None: it has to be tried."""
    try:
        known = _KNOWN.get(function, 0)
    except TypeError:  # nothing that can be remembered
        return None
    return known > 0 if abs(known) >= ENOUGH and len(times) <= FEW else None


def _learn(function: object, agrees: bool) -> None:
    with suppress(TypeError):
        known = _KNOWN.get(function, 0)
        _KNOWN[function] = max(known, 0) + 1 if agrees else min(known, 0) - 1


def several(times: Array) -> Array:
    """At least two times, so that what a function does with them does not depend on how many there are.

    Powers, for example, have other last digits for arrays than for numbers; with it a run has the same
    digits however its steps are grouped, and after it is resumed.
    """
    return times.repeat(2) if len(times) == 1 else times


def probes(times: Array) -> list[int]:
    """Which of the times are asked for one by one as well."""
    last = len(times) - 1
    return [0] if last == 0 else sorted({share * last // (PROBES - 1) for share in range(PROBES)})


def _at_once(
    function: object, times: Array, many: Callable[[Array], Array], one: Callable[[float], ArrayLike]
) -> Array | None:
    """A function of time evaluated in one call, shape (times, ...); None where that fails.

    Most functions are written with NumPy and take an array of times as they are. Whether this one does is checked:
    values must be finite, and agree with single calls at some of the times, until that is known.

    Args:
        function: of the user.
        times: that it is asked for.
        many: its values at two times or more.
        one: its value at a time.
    """
    is_known, found = _takes_arrays(function, times), None
    if not len(times) or is_known is False:
        return None
    with suppress(Exception):  # a function for single times may fail in any way here; it is then called one by one
        values = many(several(times))
        if is_known:
            return values[: len(times)] if all(map(isfinite, values.ravel().tolist())) else None
        some = probes(times)
        single = np.array([one(time) for time in times[some].tolist()])
        single = single if single.dtype == np.float64 else numbers("value", single, largest=ANY_SIZE)
        scale = np.abs(values).max()
        if single.shape == values[some].shape and scale < np.inf:
            found = values[: len(times)] if np.abs(values[some] - single).max() <= AGREEMENT * scale else None
    if not is_known:
        _learn(function, found is not None)
    return found


def at_all_times(function: Callable[[float], ArrayLike], times: Array) -> Array | None:
    """A vector function of time evaluated in one call, shape (times, 3); None where that fails."""

    def many(at: Array) -> Array:
        values = np.empty((len(at), 3))
        x, y, z = function(at)  # type: ignore[arg-type, misc, str-unpack]
        for k, component in enumerate((x, y, z)):
            if type(component) is float or is_plain(component, at):
                values[:, k] = component
            else:
                values[:, k] = np.broadcast_to(numbers("component", component, largest=ANY_SIZE), at.shape)
        return values

    return _at_once(function, times, many, function)


def is_plain(value: object, times: Array) -> TypeGuard[Array]:
    """Whether a function of times returned one number for each, so that nothing has to be converted."""
    return type(value) is np.ndarray and value.dtype == np.float64 and value.shape == times.shape


# Functions of time between given samples, whose values can be parameters.


class Between(Enum):
    """What a signal is between its samples."""

    LINEAR = "linear"
    CONSTANT = "constant"


class Signal(Portable):
    """A function of time that is linear between samples, and constant before and after them.

    ``ph.Force(tip, lambda t: (signal(t), 0.0, 0.0))``, ``joint.torque(signal)``, ``joint.drive(angle=signal)``.

    Args:
        times: of the samples, ascending, shape (n,) [s].
        values: at these times, shape (n,).
        between: "linear", or "constant": each value holds until the time of the next one.

    Raises:
        ParameterError: other shapes, another word, times that do not ascend, numbers that are not finite.

    Example:
        >>> push = ph.Signal([0.0, 0.1, 1.0], [0.0, 1.0, 1.0])  # a table, linear between
        >>> push(0.05)
        0.5
    """

    def __init__(self, times: ArrayLike, values: ArrayLike, between: Between | str = Between.LINEAR) -> None:
        self.between = option("between", between, Between)
        self.times: Array = numbers("times of a signal", times).copy()
        self.values: Array = numbers("values of a signal", values).copy()
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
        """The value then; of an array of times an array [s]."""
        if self.between is Between.CONSTANT:
            before = np.searchsorted(self.times, time, "right") - 1
            value = np.asarray(self.values[np.maximum(before, 0)])
        else:
            value = np.asarray(np.interp(time, self.times, self.values))
        return float(value) if value.ndim == 0 else value  # type: ignore[return-value]  # of arrays

    def __repr__(self) -> str:
        return f"Signal({len(self.times)} samples from {self.times[0]:g} to {self.times[-1]:g} s)"

    def with_values(self, values: ArrayLike) -> "Signal":
        """The same times with other values."""
        return Signal(self.times, values, self.between)


# Numbers that are prescribed functions of time, with their rates: the paths of drives.

ScalarFunction = Callable[[float], float]


@dataclass(frozen=True, eq=False)
class TimePath(Portable):
    """A number p(t). Compared by identity.

    Attributes:
        function: t [s] -> p.
        rate: t -> dp/dt; None: differences of the function.
        name: for messages.
    """

    function: ScalarFunction
    rate: ScalarFunction | None
    name: str

    def __call__(self, time: float) -> float:
        """p(t).

        Raises:
            ParameterError: the function returns no finite number.
        """
        return number_at(self.function, self.name, time)

    def rates(self, time: float, end: float = np.inf) -> tuple[float, float]:
        """dp/dt and d2p/dt2, from differences up to ``end``."""
        if self.rate is None:
            first, second = derivatives(lambda t: np.array([self(t)]), time, end=end, many=self.column_at)
            return float(first[0]), float(second[0])
        rate = self.rate
        name = f"rate of {self.name}"
        slope = number_at(rate, name, time)

        def many(times: Array) -> Array:
            return numbers_at(rate, times, name)[:, None]

        return slope, float(derivatives(lambda t: many(np.array([t]))[0], time, end=end, many=many)[0][0])

    def rates_at(self, times: Array) -> Array:
        """dp/dt at many times, shape (times,)."""
        if self.rate is not None:
            return numbers_at(self.rate, times, f"rate of {self.name}")
        return first_derivatives(lambda t: self.at_times(t)[:, None], times)[:, 0]

    def at_times(self, times: Array) -> Array:
        """p at many times, shape (times,)."""
        return numbers_at(self.function, times, self.name)

    def column_at(self, times: Array) -> Array:
        """The same, shape (times, 1)."""
        return self.at_times(times)[:, None]

    def check_rate(self, times: Array) -> None:
        """Refuses a rate that is not dp/dt.

        Raises:
            ParameterError: says where, and by how much.
        """
        if self.rate is not None:
            name = f"rate of {self.name}"
            refuse_wrong_rate(name, self.column_at, lambda t: self.rates_at(t)[:, None], times)


class TimeFactor(Enum):
    """What of a path multiplies a term or is subtracted from a row."""

    COSINE = 0
    SINE = 1
    VALUE = 2

    def of(self, value: float) -> float:
        """cos p, sin p or p."""
        return float((np.cos, np.sin, float)[self.value](value))

    def derivatives(self, value: float, rate: float, second: float) -> tuple[float, float]:
        """First and second time derivative along a path."""
        match self:
            case TimeFactor.COSINE:
                return -np.sin(value) * rate, -np.cos(value) * rate**2 - np.sin(value) * second
            case TimeFactor.SINE:
                return np.cos(value) * rate, -np.sin(value) * rate**2 + np.cos(value) * second
            case TimeFactor.VALUE:
                return rate, second


@dataclass(frozen=True, eq=False)
class Timed:
    """A factor or an offset that follows a path."""

    path: TimePath
    factor: TimeFactor

    def now(self, time: float) -> float:
        """The value."""
        return self.factor.of(self.path(time))

    def at(self, time: float) -> tuple[float, float, float]:
        """Value, first and second time derivative."""
        value, (rate, second) = self.path(time), self.path.rates(time)
        return (self.factor.of(value), *self.factor.derivatives(value, rate, second))


def numbers_at(function: ScalarFunction, times: Array, name: str) -> Array:
    """A number function at many times, in one call where it allows that, shape (times,).

    Raises:
        ParameterError: a value is no finite number; names the time.
    """

    def many(at: Array) -> Array:
        found = function(at)  # type: ignore[arg-type]
        values = found if is_plain(found, at) else numbers(name, found, largest=ANY_SIZE)
        return np.broadcast_to(values, at.shape)

    found = _at_once(function, times, many, lambda time: number_at(function, name, time))
    return np.array([number_at(function, name, float(t)) for t in times] if found is None else found)


def number_at(function: ScalarFunction, name: str, time: float) -> float:
    """The value of a user's function at a time.

    Raises:
        ParameterError: it is no finite number.
        FunctionError: the function raises.
    """
    at = f"at t = {time:.12g} s"
    value = called(function, name, time, at=at)
    try:
        number = float(numbers(name, value, largest=ANY_SIZE).reshape(()))
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        raise ParameterError(f"{name} must be one finite number, got {value!r} {at}")
    return number
