"""Numbers that are prescribed functions of time, with their rates: the paths of drives."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, numbers
from phlexible.algebra.differences import derivatives, first_derivatives
from phlexible.algebra.given_rates import refuse_wrong_rate
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_functions import called
from phlexible.errors import ParameterError
from phlexible.ports.time_functions import AGREEMENT, is_plain, probes, several

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
    if len(times):
        asked, some = several(times), probes(times)
        try:
            found = function(asked)  # type: ignore[arg-type]
            values = found if is_plain(found, asked) else numbers(name, found, largest=ANY_SIZE)
            values = np.broadcast_to(values, asked.shape)
            single = np.array([number_at(function, name, float(times[k])) for k in some])
            if np.isfinite(values).all():
                if np.abs(values[some] - single).max() <= AGREEMENT * np.abs(values).max():
                    return np.array(values[: len(times)])
        except Exception:  # a function for single times may fail in any way here; it is then called one by one
            pass
            pass
    return np.array([number_at(function, name, float(t)) for t in times], dtype=np.float64)


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
