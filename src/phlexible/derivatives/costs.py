"""Costs of a motion and their derivatives, to the readings of sensors and to parameters by one pass backwards."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, called, check_callable, finite, positive, reals
from phlexible.derivatives.both_sides import Sides, data_changes, differentiate, equal_readings, perturbed_models
from phlexible.derivatives.parameters import (
    Built,
    Direction,
    Parameters,
    Recipe,
    check_local,
    check_same,
    check_smooth,
    other_values,
    start_difference,
    start_tables,
)
from phlexible.derivatives.readings import Reader, slopes_of_costs
from phlexible.derivatives.runs import LoggedRun
from phlexible.derivatives.steps import Functions, functions_of
from phlexible.derivatives.sweeps import Adjoint, EquationValues, adjoints, equation_values
from phlexible.derivatives.variations import Variation
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ParameterError

DIFFERENCE = 1e-5
"""Relative step of central differences of users' functions, compared with the largest reading."""

Function = Callable[[Array], Array]
Weight = Callable[[float], float]


class CostTerm(ABC):
    """Abstract base class of the terms of a cost: a scalar function of the values of one sensor over a motion,
    with its derivative.

    Attributes:
        sensor: the sensor.
    """

    sensor: Sensor

    @abstractmethod
    def value(self, time: Array, readings: Array) -> float:
        """Return the value of this term of a cost, one number, from the values of its sensor over a motion.
        ``readings`` are these values, shape (instants, components), ``time`` are the instants [s]. It is abstract:
        each subclass defines it, for example as an integral over time.
        """

    @abstractmethod
    def slopes(self, time: Array, readings: Array) -> Array:
        """Return the derivative of this term of a cost with respect to every value of its sensor over a motion,
        shape (instants, components). ``readings`` are the sensor values, in the same shape, ``time`` are the
        instants [s]. Weights of an integral over time are part of the derivative. It is abstract; subclasses
        compute it.
        """


@dataclass(frozen=True, eq=False)
class IntegralTerm(CostTerm):
    """Term of a cost that is the integral over time of weight(t) times a function of the sensor value, by the
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
    """Term of a cost that is a function of the sensor value at the last instant of a motion."""

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
    """Term of a cost that is one component of a sensor value at one instant of a motion.

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
    """Term of a cost that is the norm of order p of the sensor value over time, near the greatest value for large
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
        """Return the derivative of a smooth peak value (norm of order p over time) with respect to every value of
        its sensor, shape (instants, components). ``readings`` are the sensor values, in the same shape, ``time``
        are the instants [s]. The derivative is zero if all values are zero.
        """
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
    """Scalar objective of a motion: a weighted sum of terms, each a function of the values of one sensor, plus a
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
        value of a ``sensor``. ``function`` is called with the sensor values of all instants at once, ``weight``
        with one time after another. The trapezoidal rule over the time steps is used.

        Args:
            sensor: what is read.
            function: of sensor values, an array (instants,) of sensors of one number, else (instants, components),
                that returns (instants,): each from its own instant. None: the sensor value itself, of one number.
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
        """Return a cost of a motion that is a ``function`` of the value of a ``sensor`` at the end of the motion;
        None: the sensor value itself. The function is called with an array of this one value, shape (1,) or (1,
        components), and returns shape (1,).

        Raises:
            ParameterError: no sensor, or something that cannot be called.
        """
        return cls(((1.0, FinalTerm(_sensor(sensor), _checked_function(function))),))

    @classmethod
    def peak(cls, sensor: Sensor, p: float = 16.0) -> Self:
        """Return a cost that is a smooth approximation of the greatest sensor value during a motion, the norm
        ``(1/T int |reading|^p dt)^(1/p)`` of order p. T is the duration. The greater p, the closer the
        approximation; p below 2 raises ``ParameterError``.

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
        """Return the sum of this cost and ``other``, a cost or a number, as a new cost; a number is added to the
        constant."""
        if isinstance(other, Cost):
            return Cost((*self.terms, *other.terms), self.constant + other.constant)
        if np.ndim(other) != 0:
            return NotImplemented
        return Cost(self.terms, self.constant + finite("number added to a cost", other, ANY_SIZE))

    __radd__ = __add__

    def __mul__(self, factor: float) -> "Cost":
        """Return this cost multiplied by a number, ``factor``, as a new cost: all terms and the constant are
        scaled."""
        if np.ndim(factor) != 0:
            return NotImplemented
        number = finite("factor of a cost", factor, ANY_SIZE)
        return Cost(tuple((number * own, term) for own, term in self.terms), number * self.constant)

    __rmul__ = __mul__

    @property
    def sensors(self) -> list[Sensor]:
        """Sensors of the terms of this cost of a motion, one for each term in the same order."""
        return [term.sensor for _, term in self.terms]

    def value(self, time: Array, readings: list[Array]) -> float:
        """Return the value of this cost of a motion for sensor values at the given times [s]. ``readings`` has
        one array for each term: the values of its sensor."""
        parts = zip(self.terms, readings, strict=True)
        return self.constant + sum(factor * term.value(time, _columns(own)) for (factor, term), own in parts)

    def slopes(self, time: Array, readings: list[Array]) -> list[Array]:
        """Return the derivatives of this cost of a motion with respect to the sensor values, as a list of
        arrays: one for each term, in the shape of its sensor values. ``time`` are the instants [s]."""
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
    """Call a user's cost ``function`` once with the sensor values ``readings`` of all instants, and return its
    values, shape (instants,). It receives a copy of shape (instants, components), or (instants,) if there is one
    component. Raise ``ParameterError`` for results of another shape.

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
    """Return the derivatives of a user's cost ``function`` with respect to the sensor values ``readings`` at the
    same instant, shape (instants, components). Central differences perturb one component at all instants at once,
    by a fraction of the largest value. For the identity, ones are returned without a call."""
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


# Costs of a run that was taken, and their derivatives to parameters.


class CostsOfRun:
    """Values of several costs for one recorded run, and their derivatives with respect to parameters by a single
    adjoint pass.

    Args:
        run: the run.
        own: its model.
        given: parameters of that model, with the signals that it uses.

    Attributes:
        values: of the costs, shape (costs,).
        loads_alone: by the names of signals, whether they change loads and nothing else; cached.
    """

    _is_at_start = True  # the run begins where the model does
    _after: Sequence[Variation] | None = None  # what costs feel of its end, by what follows

    def __init__(self, run: LoggedRun, base: Built[Costs], parameters: Any) -> None:
        self._run, self._base, self._parameters = run, base, parameters
        self._readings = self._read(base, run.times)
        self.values: Array = self._valued(base.measured, self._readings, run.times)
        self.loads_alone: dict[str, bool] = {}

    def _read(self, other: Built[Costs], times: Array) -> list[list[Array]]:
        """Return the values of all sensors of the costs of ``other``, a (perturbed) model, at the recorded states
        of this run. Each entry of the list belongs to a cost and has an array for each of its sensors. The states
        are taken to occur at ``times`` [s], which matters for sensors of prescribed motions.
        """
        sensors = [sensor for cost in other.measured for sensor in cost.sensors]
        rest = iter(Reader(other.assembly, times).read_all(sensors, self._run.rows))
        return [[next(rest) for _ in cost.sensors] for cost in other.measured]

    def values_at(self, other: Built[Costs], times: Array) -> Array:
        """Return the costs of ``other``, a (perturbed) model, at the recorded states of this run as if they
        occurred at ``times`` [s], shape (costs,)."""
        return self._valued(other.measured, self._read(other, times), times)

    @staticmethod
    def _valued(costs: Costs, readings: list[list[Array]], times: Array) -> Array:
        return np.array([cost.value(times, own) for cost, own in zip(costs, readings, strict=True)])

    @property
    def travel(self) -> Array:
        """Range of the sensor values of each cost of this run, greatest minus least over time, shape (costs,). Of
        several sensors or components of a cost the largest range is taken; without sensors it is 0.
        """
        readings = ([float(np.ptp(own, axis=0).max(initial=0.0)) for own in each] for each in self._readings)
        return np.array([max(each, default=0.0) for each in readings])

    @cached_property
    def _weights(self) -> list[list[Array]]:
        """Derivatives of each cost of this run with respect to its sensor values. The list has an entry for each
        cost with an array, shaped as the sensor values, for each of its sensors."""
        pairs = zip(self._base.measured, self._readings, strict=True)
        return [cost.slopes(self._run.times, own) for cost, own in pairs]

    @cached_property
    def adjoints(self) -> list[Adjoint]:
        """Adjoint of each cost of this run: its derivatives with respect to the initial state and to the
        equations of all time steps, from one pass backwards in time."""
        return adjoints(self._run, self._to_states, self._after)

    @property
    def _to_states(self) -> list[Variation]:
        """Derivatives of each cost of this run, through its sensor values alone, with respect to the poses and
        velocities at all stored instants."""
        run, pairs = self._run, zip(self._base.measured, self._weights, strict=True)
        felt = [list(zip(cost.sensors, own, strict=True)) for cost, own in pairs]
        return slopes_of_costs(Reader(run.assembly, run.times), run.rows, felt)

    def slopes(self, recipe: Recipe[Costs], varied: Parameters) -> Array:
        """Return the derivatives of all costs of this run with respect to all parameters by the adjoint method,
        shape (costs, parameters). Residuals and sensors are differentiated by central differences at the recorded
        states; residuals are multiplied by the adjoints. ``recipe`` builds the perturbed models, ``varied`` has
        the parameters. Samples of a signal that act in different time steps are perturbed together; if they change
        only loads, no model is built.

        Raises:
            PhlexibleError: as ``gradient``.
        """
        run, own = self._run, self._base
        found = np.zeros((len(self.values), len(varied)))

        def made(direction: Direction, sign: int) -> Built[Costs]:
            other = recipe.build_model(varied.nested(varied.values + sign * direction.change), own)
            check_same(own, other, varied.label(direction), run)
            return other

        directions = varied.scalar_directions() if not run.is_controlled else varied.single_directions()
        together: list[Direction] = []
        for name in varied.signals if not run.is_controlled else []:
            signal = self._parameters[name]
            if name not in self.loads_alone:
                signs = varied.random_direction(name)
                with other_values(signal, varied.nested(varied.values + signs.change)[name].values):
                    changed = self._present_loads()
                self.loads_alone[name] = is_load_alone(run, own, made(signs, 1), changed)
            if not self.loads_alone[name]:
                if run.jumps:
                    directions += varied.single_directions(name)
                else:
                    together += varied.sample_directions(name, run, is_load=False)
                continue
            for direction in varied.sample_directions(name, run, is_load=True):
                both = {}
                for sign in (1, -1):
                    values = varied.nested(varied.values + sign * direction.change)[name].values
                    with other_values(signal, values):
                        both[sign] = self._present_loads()
                self._add_load(found, direction, both[1], both[-1], name)
        for direction in together:
            self._add_samples(found, direction, made(direction, 1), made(direction, -1), varied.label(direction))
        models = perturbed_models(run, own, recipe, varied, directions, self._reads_same)
        for model in models:
            self._add_start_and_sensors(found, model)
        shares = np.zeros((len(self.values), len(models)))

        def take(number: int, changes: EquationValues) -> None:
            shares[:, number] = [each.parts.times(changes) for each in self.adjoints]

        differentiate(run, models, take)
        for model, share in zip(models, shares.T, strict=True):
            found[:, model.direction.number] += share
        return found

    def _reads_same(self, other: Built[Costs]) -> bool:
        """Return whether a perturbed model (``other``) gives the same costs as this run's model at the recorded
        states. Constants and numbers of terms must be equal, sensor values and values of the cost functions equal
        up to round-off."""
        pairs = zip(self._base.measured, other.measured, strict=True)
        if any(own.constant != cost.constant or len(own.terms) != len(cost.terms) for own, cost in pairs):
            return False
        read = self._read(other, self._run.times)
        for own, cost in zip(self._readings, read, strict=True):
            if not all(equal_readings(first, second) for first, second in zip(own, cost, strict=True)):
                return False
        return equal_readings(self.values, self._valued(other.measured, read, self._run.times))

    def _add_start_and_sensors(self, slopes: Array, model: Sides[Costs]) -> None:
        """Add to ``slopes`` (costs, parameters), in place, the derivatives with respect to one parameter through
        the sensors and the initial state. Sensor values at the recorded states are differenced between the two
        perturbed models in ``model``. The change of the initial state is multiplied by the adjoint there.
        Derivatives through the equations of motion are added elsewhere."""
        change, number = model.start, model.direction.number
        if model.less is not None:
            slopes[:, number] += self._of_sensors(model.more, model.less) / (2 * model.direction.size)
        for row, adjoint in zip(slopes, self.adjoints, strict=True):
            if self._is_at_start:
                row[number] += adjoint.start.times(change)

    def _of_sensors(self, more: Built[Costs], less: Built[Costs]) -> Array:
        """Return the costs of the perturbed model ``more`` minus the costs of ``less``, shape (costs,). The
        sensors of both models are evaluated at the same recorded states of this run."""
        return self.values_at(more, self._run.times) - self.values_at(less, self._run.times)

    def _present_loads(self) -> list[Functions]:
        """Prescribed motions and loads of this run, evaluated with the sample values that its signals have at the
        time of access. The list has one ``Functions`` object for each sequence of time steps between velocity
        jumps."""
        return [functions_of(self._run.assembly, own.times) for own in self._run.stretches]

    def _add_load(
        self, slopes: Array, direction: Direction, more: Sequence[Functions], less: Sequence[Functions], label: str
    ) -> None:
        """Add to ``slopes`` (costs, parameters), in place, the derivatives with respect to those samples of a
        signal that ``direction`` changes. The signal changes only loads; ``more`` and ``less`` have the prescribed
        vectors and loads with the samples increased and decreased, an object for each sequence of time steps
        between velocity jumps. The change of each step's residual, times the adjoint, counts for the sample that
        acts in that step. If other steps change, raise ``ParameterError`` with ``label``, the name of the signal.
        """
        assert direction.steps is not None, "of samples"
        changes = [
            own.residuals(own.assembly.memory, first) - own.residuals(own.assembly.memory, second)
            for own, first, second in zip(self._run.stretches, more, less, strict=True)
        ]
        check_local(np.concatenate(changes), direction.steps >= 0, label)
        acting = direction.steps >= 0
        for row, felt in zip(slopes, self.adjoints, strict=True):
            both = zip(felt.parts.equations, changes, strict=True)
            shares = np.concatenate([np.einsum("ki,ki->k", mu, change) for mu, change in both])
            np.add.at(row, direction.steps[acting], shares[acting] / (2 * direction.size))

    def _add_samples(
        self, slopes: Array, direction: Direction, more: Built[Costs], less: Built[Costs], label: str
    ) -> None:
        """Add to ``slopes`` (costs, parameters), in place, the derivatives with respect to samples of a signal
        that act in different time steps. The model ``more`` has all of these samples increased, ``less``
        decreased. Each step's change of the equations, times the adjoint, counts for the sample that acts in the
        step. Changes of sensors and initial state count likewise. ``label`` is the signal's name, for messages."""
        run, twice = self._run, 2 * direction.size
        upper, lower = (equation_values(run, own.assembly) for own in (more, less))
        for stretch, first, second in zip(run.stretches, upper.equations, lower.equations, strict=True):
            check_smooth(first, second, label, partial(stretch.residuals, run.assembly.memory, stretch.functions))
        changes, layout = upper.minus(lower, twice), run.system.layout
        change = start_difference(start_tables(less, self._base), start_tables(more, self._base), layout, twice)
        assert direction.steps is not None, "of samples"
        check_local(np.concatenate(changes.equations) * twice, direction.steps >= 0, label)
        read = [self._read(own, run.times) for own in (more, less)]
        for number, (row, adjoint) in enumerate(zip(slopes, self.adjoints, strict=True)):
            at_instants = np.zeros(len(run.times))
            for weight, first, second in zip(self._weights[number], read[0][number], read[1][number], strict=True):
                at_instants += (weight * (first - second)).reshape(len(run.times), -1).sum(axis=1) / twice
            if self._is_at_start:
                at_instants[0] += adjoint.start.times(change)
            _add_to_samples(row, direction, _changes_in_steps(adjoint.parts, changes), at_instants)


def _changes_in_steps(adjoint: EquationValues, changes: EquationValues) -> Array:
    """Return how much each time step of a run contributes to the change of a cost, shape (steps,). It is the dot
    product of the cost's ``adjoint`` with the ``changes`` of the residual of the step, and of the history variables
    at its end, at constant states.
    """
    both = zip(adjoint.equations, changes.equations, strict=True)
    found = np.concatenate([np.einsum("ki,ki->k", mu, own) for mu, own in both])
    both = zip(adjoint.strains, changes.strains, strict=True)
    return np.asarray(found + np.concatenate([np.einsum("kb,kb->k", ends, own) for ends, own in both]))


def _add_to_samples(row: Array, direction: Direction, in_steps: Array, at_instants: Array) -> None:
    """Add changes of a cost to ``row``, shape (parameters,), its derivatives with respect to all parameters, in
    place. Changes caused in each time step (``in_steps``) and at each instant (``at_instants``) are added to the
    entry of that sample of ``direction`` which acts there; where none acts they are dropped.
    """
    assert direction.steps is not None and direction.instants is not None, "of samples"
    for indices, shares in ((direction.steps, in_steps), (direction.instants, at_instants)):
        acting = indices >= 0
        np.add.at(row, indices[acting], shares[acting])


def is_load_alone(run: LoggedRun, base: Built[Costs], other: Built[Costs], changed: Sequence[Functions]) -> bool:
    """Return whether a signal changes loads of a model and nothing else. The model ``other``, built with changed
    samples, is compared exactly with ``base``. Arrays, initial states and constants of costs must be equal, there
    may be no prescribed motions, and its loads must equal ``changed``, the loads of ``base`` with these samples.

    Args:
        run: of the model.
        base: the model.
        other: built anew with other samples.
        changed: the functions of the first one in each stretch, with the same samples put in.
    """
    numbers = data_changes(run, base, other)
    if numbers is None or numbers.of("table") or base.assembly.memory.counts["moving"]:
        return False
    if any(array.any() for array in numbers.of("start").values()):
        return False
    if [each.constant for each in base.measured] != [each.constant for each in other.measured]:
        return False
    stretches = zip(run.stretches, changed, strict=True)
    return all(
        np.array_equal(moved, functions.loads - stretch.functions.loads)
        for moved, (stretch, functions) in zip(numbers.of("loads").values(), stretches, strict=True)
    )
