"""Costs of a motion and their derivatives with respect to the readings of sensors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, called, check_callable, finite, numbers, positive
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ParameterError

DIFFERENCE = 1e-5
"""Relative step of central differences of users' functions, compared with the largest reading."""

Function = Callable[[Array], Array]
Weight = Callable[[float], float]


class CostTerm(ABC):
    """Scalar function of the readings of one sensor.

    Attributes:
        sensor: the sensor.
    """

    sensor: Sensor

    @abstractmethod
    def value(self, time: Array, readings: Array) -> float:
        """Value of the term for readings (N + 1, components) at the instants (N + 1,) [s]."""

    @abstractmethod
    def slopes(self, time: Array, readings: Array) -> Array:
        """Derivative of the term with respect to each reading, shape (N + 1, components)."""


@dataclass(frozen=True, eq=False)
class IntegralTerm(CostTerm):
    """Integral over time of weight(t) function(reading), by the trapezoidal rule."""

    sensor: Sensor
    function: Function
    weight: Weight | None

    def value(self, time: Array, readings: Array) -> float:
        return float(self._shares(time) @ _called(self.function, readings))

    def slopes(self, time: Array, readings: Array) -> Array:
        return np.asarray(self._shares(time)[:, None] * _differentiated(self.function, readings))

    def _shares(self, time: Array) -> Array:
        shares = _trapezoids(time)
        if self.weight is not None:
            shares = shares * np.array([_weight(self.weight, float(t)) for t in time])
        return np.asarray(shares)


@dataclass(frozen=True, eq=False)
class FinalTerm(CostTerm):
    """Function of the reading at the last instant."""

    sensor: Sensor
    function: Function

    def value(self, time: Array, readings: Array) -> float:
        return float(_called(self.function, readings[-1:])[0])

    def slopes(self, time: Array, readings: Array) -> Array:
        result = np.zeros_like(readings)
        result[-1:] = _differentiated(self.function, readings[-1:])
        return result


@dataclass(frozen=True, eq=False)
class NumberTerm(CostTerm):
    """One component of a reading at one instant.

    Attributes:
        number: of the components.
        instant: of all, -1 the last one.
    """

    sensor: Any
    number: int
    instant: int = -1

    def value(self, time: Array, readings: Array) -> float:
        return float(readings[self.instant, self.number])

    def slopes(self, time: Array, readings: Array) -> Array:
        result = np.zeros_like(readings)
        result[self.instant, self.number] = 1.0
        return result


@dataclass(frozen=True, eq=False)
class PeakTerm(CostTerm):
    """Norm of order p of the reading over time, ``(1/T int |reading|^p dt)^(1/p)``: near the greatest value where p
    is large.
    """

    sensor: Sensor
    power: float

    def value(self, time: Array, readings: Array) -> float:
        size = np.linalg.norm(readings, axis=1)
        largest = float(size.max())
        if largest == 0.0:
            return 0.0
        mean = float(self._shares(time) @ (size / largest) ** self.power)
        return float(largest * mean ** (1 / self.power))

    def slopes(self, time: Array, readings: Array) -> Array:
        """Derivative of the norm, ``shares (size / norm)^(p - 1) dsize``, shape (N + 1, components)."""
        size, norm = np.linalg.norm(readings, axis=1), self.value(time, readings)
        if norm == 0.0:
            return np.zeros_like(readings)
        direction = readings / np.where(size > 0, size, 1.0)[:, None]
        return np.asarray((self._shares(time) * (size / norm) ** (self.power - 1))[:, None] * direction)

    def _shares(self, time: Array) -> Array:
        return np.asarray(_trapezoids(time) / (time[-1] - time[0]))


def _trapezoids(time: Array) -> Array:
    """Weights of the trapezoidal rule at the instants, shape (N + 1,) [s]."""
    steps = np.diff(time, prepend=time[0], append=time[-1])
    return (steps[1:] + steps[:-1]) / 2


@dataclass(frozen=True, eq=False)
class Cost:
    """A weighted sum of terms and a number that the motion does not change; costs add up, and scale.

    ``ph.Cost.final(tip, lambda y: (y - 1) ** 2) + 0.1 * ph.Cost.integral(rate) + beam_mass``

    Attributes:
        terms: with their factors.
        constant: a number such as a mass, which may depend on parameters.
    """

    terms: tuple[tuple[float, CostTerm], ...] = ()
    constant: float = 0.0

    __array_ufunc__ = None  # numbers of NumPy leave sums and products to this class

    @classmethod
    def integral(cls, sensor: Sensor, function: Function | None = None, weight: Weight | None = None) -> Self:
        """``int weight(t) function(reading) dt`` over the run, by the trapezoidal rule at the steps.

        Args:
            sensor: what is read.
            function: of readings, an array (instants,) of sensors of one number, else (instants, components), that
                returns (instants,): each from its own instant. None: the reading itself, of one number.
            weight: of time [s]; None: 1.

        Raises:
            ParameterError: no sensor, or something that cannot be called.
        """
        chosen = _chosen(function)
        if weight is not None:
            check_callable("weight", weight, "t")
        return cls(((1.0, IntegralTerm(_sensor(sensor), chosen, weight)),))

    @classmethod
    def final(cls, sensor: Sensor, function: Function | None = None) -> Self:
        """``function(reading)`` at the end of the run; arguments as of ``integral``.

        Raises:
            ParameterError: no sensor, or something that cannot be called.
        """
        return cls(((1.0, FinalTerm(_sensor(sensor), _chosen(function))),))

    @classmethod
    def peak(cls, sensor: Sensor, p: float = 16.0) -> Self:
        """``(1/T int |reading|^p dt)^(1/p)``, a smooth number that comes near the greatest reading as p grows.

        Args:
            sensor: what is read; of several components their length counts.
            p: 2 or more.

        Raises:
            ParameterError: no sensor, or p below 2.
        """
        power = positive("p", p)
        if power < 2:
            raise ParameterError(f"p must be 2 or more, got {p!r}: below it the norm has kinks")
        return cls(((1.0, PeakTerm(_sensor(sensor), power)),))

    def __add__(self, other: "Cost | float") -> "Cost":
        """The sum of costs, or of a cost and a number."""
        if isinstance(other, Cost):
            return Cost((*self.terms, *other.terms), self.constant + other.constant)
        if np.ndim(other) != 0:
            return NotImplemented
        return Cost(self.terms, self.constant + finite("number added to a cost", other, ANY_SIZE))

    __radd__ = __add__

    def __mul__(self, factor: float) -> "Cost":
        """The cost times a number."""
        if np.ndim(factor) != 0:
            return NotImplemented
        number = finite("factor of a cost", factor, ANY_SIZE)
        return Cost(tuple((number * own, term) for own, term in self.terms), number * self.constant)

    __rmul__ = __mul__

    @property
    def sensors(self) -> list[Sensor]:
        """Sensors of all terms, in their order."""
        return [term.sensor for _, term in self.terms]

    def value(self, time: Array, readings: list[Array]) -> float:
        """Value of the cost for the readings of ``sensors``."""
        parts = zip(self.terms, readings, strict=True)
        return self.constant + sum(factor * term.value(time, _columns(own)) for (factor, term), own in parts)

    def slopes(self, time: Array, readings: list[Array]) -> list[Array]:
        """Derivatives of the cost with respect to the readings, shaped as these."""
        return [
            factor * term.slopes(time, _columns(own)).reshape(own.shape)
            for (factor, term), own in zip(self.terms, readings, strict=True)
        ]


Costs = Sequence[Cost]


def _columns(readings: Array) -> Array:
    return readings.reshape(len(readings), -1)


def _sensor(given: object) -> Sensor:
    if not isinstance(given, Sensor):
        raise ParameterError(f"a cost takes a sensor such as ph.Position(beam.end), got {given!r}")
    return given


def _chosen(function: Function | None) -> Function:
    if function is None:
        return _itself
    check_callable("function", function, "readings")
    return function


def _weight(weight: Weight, time: float) -> float:
    at = f"at t = {time:.9g} s"
    return finite(f"weight of a cost {at}", called(weight, "weight of a cost", time, at=at))


def _itself(readings: Array) -> Array:
    return readings


def _called(function: Function, readings: Array) -> Array:
    """Values of a user's function of the readings, shape (N + 1,).

    Raises:
        ParameterError: values of another shape.
    """
    given = readings[:, 0] if readings.shape[1] == 1 else readings
    answer = called(function, "the function of a cost", given.copy(), at="for the readings of the run")
    values = numbers("values of a cost's function", answer, largest=ANY_SIZE)
    if values.shape != (len(readings),):
        raise ParameterError(
            f"a cost needs one number an instant, shape ({len(readings)},), from readings of shape {given.shape},"
            f" got shape {values.shape}: give function= that makes it, such as lambda y: y[:, 0]"
        )
    return values


def _differentiated(function: Function, readings: Array) -> Array:
    """Derivatives of each instant's number to its readings, shape (N + 1, components)."""
    if function is _itself and readings.shape[1] == 1:
        return np.ones_like(readings)
    step = DIFFERENCE * (float(np.abs(readings).max(initial=0.0)) or 1.0)
    result = np.zeros_like(readings)
    for k in range(readings.shape[1]):
        change = np.zeros(readings.shape[1])
        change[k] = step
        more, less = _called(function, readings + change), _called(function, readings - change)
        result[:, k] = (more - less) / (2 * step)
    return result
