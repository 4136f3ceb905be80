"""Costs of a motion and their derivatives with respect to the readings of sensors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, called, check_callable, finite, positive, reals
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ParameterError

DIFFERENCE = 1e-5
"""Relative step of central differences of users' functions, compared with the largest reading."""

Function = Callable[[Array], Array]
Weight = Callable[[float], float]


class CostTerm(ABC):
    """Abstract base class of the terms of a cost: a scalar function of the readings of one sensor over a motion,
    with its derivative.

    Attributes:
        sensor: the sensor.
    """

    sensor: Sensor

    @abstractmethod
    def value(self, time: Array, readings: Array) -> float:
        """Return the value of this term of a cost for the readings of its sensor over a motion. Readings have shape
        (instants, components), times [s] (instants,)."""

    @abstractmethod
    def slopes(self, time: Array, readings: Array) -> Array:
        """Return the derivative of this term of a cost with respect to every reading of its sensor over a motion,
        shape (instants, components). The weights of the integral over time are included."""


@dataclass(frozen=True, eq=False)
class IntegralTerm(CostTerm):
    """Term of a cost that is the integral over time of weight(t) times a function of the sensor reading, by the
    trapezoidal rule.
    """

    sensor: Sensor
    function: Function
    weight: Weight | None

    def value(self, time: Array, readings: Array) -> float:
        return float(self._shares(time) @ _evaluate(self.function, readings))

    def slopes(self, time: Array, readings: Array) -> Array:
        return np.asarray(self._shares(time)[:, None] * _derivatives(self.function, readings))

    def _shares(self, time: Array) -> Array:
        shares = _trapezoids(time)
        if self.weight is not None:
            shares = shares * np.array([_weight(self.weight, float(t)) for t in time])
        return np.asarray(shares)


@dataclass(frozen=True, eq=False)
class FinalTerm(CostTerm):
    """Term of a cost that is a function of the sensor reading at the last instant of a motion."""

    sensor: Sensor
    function: Function

    def value(self, time: Array, readings: Array) -> float:
        return float(_evaluate(self.function, readings[-1:])[0])

    def slopes(self, time: Array, readings: Array) -> Array:
        result = np.zeros_like(readings)
        result[-1:] = _derivatives(self.function, readings[-1:])
        return result


@dataclass(frozen=True, eq=False)
class NumberTerm(CostTerm):
    """Term of a cost that is one component of a sensor reading at one instant of a motion.

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
    """Term of a cost that is the norm of order p of the sensor reading over time, near the greatest value for large
    p. It is ``(1/T int |reading|^p dt)^(1/p)`` for a motion of duration T.
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
        """Return the derivative of a smooth peak value (norm of order p over time) with respect to every reading of
        its sensor, shape (instants, components)."""
        size, norm = np.linalg.norm(readings, axis=1), self.value(time, readings)
        if norm == 0.0:
            return np.zeros_like(readings)
        direction = readings / np.where(size > 0, size, 1.0)[:, None]
        return np.asarray((self._shares(time) * (size / norm) ** (self.power - 1))[:, None] * direction)

    def _shares(self, time: Array) -> Array:
        return np.asarray(_trapezoids(time) / (time[-1] - time[0]))


def _trapezoids(time: Array) -> Array:
    """Return the weights of the trapezoidal rule for integrals over the instants ``time`` [s], shape
    (instants,)."""
    steps = np.diff(time, prepend=time[0], append=time[-1])
    return (steps[1:] + steps[:-1]) / 2


@dataclass(frozen=True, eq=False)
class Cost:
    """Scalar objective of a motion: a weighted sum of terms, each a function of the readings of one sensor, plus a
    constant. Costs can be added and multiplied by numbers.

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
        """Return a cost of a motion that is the integral over time of ``weight`` (t) times a ``function`` of the
        reading of a ``sensor``. ``function`` is called with the readings of all instants at once, ``weight`` with
        one time after another. The trapezoidal rule over the time steps is used.

        Args:
            sensor: what is read.
            function: of readings, an array (instants,) of sensors of one number, else (instants, components), that
                returns (instants,): each from its own instant. None: the reading itself, of one number.
            weight: of time [s]; None: 1.

        Raises:
            ParameterError: no sensor, or something that cannot be called.
        """
        chosen = _checked_function(function)
        if weight is not None:
            check_callable("weight", weight, "t")
        return cls(((1.0, IntegralTerm(_sensor(sensor), chosen, weight)),))

    @classmethod
    def final(cls, sensor: Sensor, function: Function | None = None) -> Self:
        """Return a cost of a motion that is a ``function`` of the reading of a ``sensor`` at the end of the
        motion; None: the reading itself. The function is called with an array of this one reading, (1,) or (1,
        components), and returns (1,).

        Raises:
            ParameterError: no sensor, or something that cannot be called.
        """
        return cls(((1.0, FinalTerm(_sensor(sensor), _checked_function(function))),))

    @classmethod
    def peak(cls, sensor: Sensor, p: float = 16.0) -> Self:
        """Return a cost that is a smooth approximation of the greatest reading of a sensor during a motion, ``(1/T
        int |reading|^p dt)^(1/p)``. T is the duration; the approximation is the closer the greater p.

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
        """Return the sum of this cost and ``other``, a cost or a number."""
        if isinstance(other, Cost):
            return Cost((*self.terms, *other.terms), self.constant + other.constant)
        if np.ndim(other) != 0:
            return NotImplemented
        return Cost(self.terms, self.constant + finite("number added to a cost", other, ANY_SIZE))

    __radd__ = __add__

    def __mul__(self, factor: float) -> "Cost":
        """Return this cost multiplied by a number, ``factor``: all terms and the constant are scaled."""
        if np.ndim(factor) != 0:
            return NotImplemented
        number = finite("factor of a cost", factor, ANY_SIZE)
        return Cost(tuple((number * own, term) for own, term in self.terms), number * self.constant)

    __rmul__ = __mul__

    @property
    def sensors(self) -> list[Sensor]:
        """Sensors that the terms of this cost of a motion read, one for each term in the same order."""
        return [term.sensor for _, term in self.terms]

    def value(self, time: Array, readings: list[Array]) -> float:
        """Return the value of this cost of a motion for sensor readings at the given times [s]. ``readings`` has
        one array for each term: the readings of its sensor."""
        parts = zip(self.terms, readings, strict=True)
        return self.constant + sum(factor * term.value(time, _columns(own)) for (factor, term), own in parts)

    def slopes(self, time: Array, readings: list[Array]) -> list[Array]:
        """Return the derivatives of this cost of a motion with respect to the sensor readings, as a list of
        arrays: one for each term, in the shape of its readings. ``time`` are the instants [s]."""
        return [
            factor * term.slopes(time, _columns(own)).reshape(own.shape)
            for (factor, term), own in zip(self.terms, readings, strict=True)
        ]


Costs = Sequence[Cost]


def _columns(readings: Array) -> Array:
    return readings.reshape(len(readings), -1)


def _sensor(value: object) -> Sensor:
    if not isinstance(value, Sensor):
        raise ParameterError(f"a cost takes a sensor such as ph.Position(beam.end), got {value!r}")
    return value


def _checked_function(function: Function | None) -> Function:
    if function is None:
        return _itself
    check_callable("function", function, "readings")
    return function


def _weight(weight: Weight, time: float) -> float:
    at = f"at t = {time:.9g} s"
    return finite(f"weight of a cost {at}", called(weight, "weight of a cost", time, at=at))


def _itself(readings: Array) -> Array:
    return readings


def _evaluate(function: Function, readings: Array) -> Array:
    """Return the values of a user's cost ``function`` at sensor ``readings``, one for each instant, shape
    (instants,); raise ``ParameterError`` for another shape.

    Raises:
        ParameterError: values of another shape.
    """
    given = readings[:, 0] if readings.shape[1] == 1 else readings
    answer = called(function, "the function of a cost", given.copy(), at="for the readings of the run")
    values = reals("values of a cost's function", answer, largest=ANY_SIZE)
    if values.shape != (len(readings),):
        raise ParameterError(
            f"a cost needs one number an instant, shape ({len(readings)},), from readings of shape {given.shape},"
            f" got shape {values.shape}: give function= that makes it, such as lambda y: y[:, 0]"
        )
    return values


def _derivatives(function: Function, readings: Array) -> Array:
    """Return the derivatives of a user's cost ``function`` with respect to the sensor ``readings`` at each
    instant by central differences, shape (instants, components)."""
    if function is _itself and readings.shape[1] == 1:
        return np.ones_like(readings)
    step = DIFFERENCE * (float(np.abs(readings).max(initial=0.0)) or 1.0)
    result = np.zeros_like(readings)
    for k in range(readings.shape[1]):
        change = np.zeros(readings.shape[1])
        change[k] = step
        more, less = _evaluate(function, readings + change), _evaluate(function, readings - change)
        result[:, k] = (more - less) / (2 * step)
    return result
