"""Numbers that are prescribed functions of time, with their rates: the paths of drives."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.differences import derivatives, first_derivatives
from phlexible.errors import ParameterError

ScalarFunction = Callable[[float], float]
PROBES = 4
AGREEMENT = 1e-12
JUMP_SHARE = 0.75  # of the change over a step that stays in one half of it, halving after halving
HALVINGS = 30


@dataclass(frozen=True, eq=False)
class TimePath:
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
        return finite_number(self.function(time), self.name, time)

    def rates(self, time: float) -> tuple[float, float]:
        """dp/dt and d2p/dt2."""
        if self.rate is None:
            first, second = derivatives(lambda t: np.array([self(t)]), time)
            return float(first[0]), float(second[0])
        rate = self.rate
        slope = finite_number(rate(time), f"rate of {self.name}", time)
        return slope, float(derivatives(lambda t: np.array([float(rate(t))]), time)[0][0])

    def rates_at(self, times: Array) -> Array:
        """dp/dt at many times, shape (times,)."""
        if self.rate is not None:
            return numbers_at(self.rate, times, f"rate of {self.name}")
        return first_derivatives(lambda t: self.at_times(t)[:, None], times)[:, 0]

    def at_times(self, times: Array) -> Array:
        """p at many times, shape (times,)."""
        return numbers_at(self.function, times, self.name)


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
    if len(times) > PROBES:
        probes = np.linspace(0, len(times) - 1, PROBES).astype(int)
        try:
            values = np.broadcast_to(np.asarray(function(times), dtype=np.float64), times.shape)  # type: ignore[arg-type]
            single = np.array([float(function(float(times[k]))) for k in probes])
            if np.isfinite(values).all():
                if np.abs(values[probes] - single).max() <= AGREEMENT * np.abs(values).max():
                    return np.array(values)
        except Exception:
            pass
    return np.array([finite_number(function(float(t)), name, float(t)) for t in times], dtype=np.float64)


def finite_number(value: object, name: str, time: float) -> float:
    """The value as a float.

    Raises:
        ParameterError: it is no finite number.
    """
    try:
        number = float(np.asarray(value, dtype=np.float64).reshape(()))
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise ParameterError(f"{name} must be one finite number, got {value!r} at t = {time:.12g} s")
    return number


def refuse_jump(path: TimePath, times: Array, smallest: float) -> None:
    """Refuses a path that jumps by more than ``smallest`` between two of the times.

    A smooth change is spread over both halves of a short interval; a jump stays in one of them.

    Raises:
        ParameterError: names the path and where it jumps.
    """
    values = path.at_times(times)
    for k in np.flatnonzero(np.abs(np.diff(values)) > smallest):
        begin, end = float(times[k]), float(times[k + 1])
        low, high = float(values[k]), float(values[k + 1])
        for _ in range(HALVINGS):
            middle = (begin + end) / 2
            value = path(middle)
            if abs(value - low) > JUMP_SHARE * abs(high - low):
                end, high = middle, value
            elif abs(high - value) > JUMP_SHARE * abs(high - low):
                begin, low = middle, value
            else:
                break
            if abs(high - low) <= smallest:
                break
        else:
            raise ParameterError(
                f"{path.name} jumps from {low:.6g} to {high:.6g} at t = {end:.9g} s; a drive must be"
                " continuous (prescribe a ramp, or use a torque or force instead)"
            )
