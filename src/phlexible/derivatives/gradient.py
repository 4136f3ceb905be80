"""Derivative of a cost of a motion with respect to any number of parameters, by one run backwards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, check_callable, positive
from phlexible.derivatives.costs import Cost, Costs, CostsOfRun, CostTerm
from phlexible.derivatives.parameters import (
    Build,
    Built,
    Given,
    Parameters,
    Recipe,
    Start,
    Values,
    check_build,
)
from phlexible.derivatives.readings import Reader
from phlexible.derivatives.runs import (
    LoggedRun,
    RecordingStepper,
    Stepped,
    has_redundancy,
    instants_of,
    integrate_logged,
    run_from_log,
    simulate_logged,
)
from phlexible.derivatives.variations import Variation, strain_indices
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.time_functions import Signal
from phlexible.display import how_many
from phlexible.errors import ModelError, ParameterError
from phlexible.state.initial_state import InitialKind
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.clock import Clock
from phlexible.step.integration.schemes import StepOptions
from phlexible.step.integration.simulation import CHUNK_BYTES
from phlexible.step.integration.step_calls import Calls, completed
from phlexible.step.integration.stored_rows import Advance, Storage

BYTES = 8
MORE_THAN_STEPS = (
    "memory= is for runs without controllers, events, functions of the state and laws that creep or stick; leave it"
    " out there"
)
FEWEST = 16
"""Least number of steps in a piece."""

LOOKED_AT = 1000
"""Number of instants that are checked for long steps."""


@dataclass(frozen=True, eq=False)
class RepeatedInterval:
    """Section of a run that can be repeated bit by bit from a snapshot of the stepper, so that its states need not
    be stored.

    Attributes:
        snapshot: of the stepper before them.
        calls: repeated calls of the stepper.
        first: stored state before them, shape (state size,).
        times: of the stored instants of the piece, shape (T,) [s].
    """

    snapshot: Array
    calls: tuple[Callable[[], object], ...]
    first: Array
    times: Array


class IntervalStepper(RecordingStepper):
    """Logging stepper for long runs: it hands over its log in sections and stores only a snapshot at the beginning
    of each.

    Args:
        assembly, order, numerical_damping, is_redundant: as of a stepper.
        most: approximate number of steps in a piece.
        grid: instants at which pieces may end, shape (T,) [s].
        take: receives each piece and its log before the next one begins.
    """

    def __init__(
        self,
        assembly: Assembly,
        order: int,
        numerical_damping: float,
        is_redundant: bool,
        most: int,
        grid: Array,
        take: Callable[[RepeatedInterval, Sequence[Any]], None],
    ) -> None:
        super().__init__(assembly, order, numerical_damping, is_redundant)
        self._most, self._grid, self._take = most, grid, take
        self._calls: list[tuple[int, Callable[[], object]]] = []  # with how much was done before each
        self._forgotten = 0
        self._begin: tuple[Array, Array] | None = None

    @property
    def values_per_step(self) -> int:
        """Number of values that this time stepper needs in memory for a time step, from which the number of time
        steps per call is chosen. It is increased so that a call takes at most about half a section of the run."""
        return max(super().values_per_step, CHUNK_BYTES // (BYTES * max(1, self._most // 2)))

    def advance(self, instants: Array, step: float, storage: Storage) -> Calls[Advance]:
        """Compute time steps of length ``step`` [s] between the given ``instants`` [s], log them, and store the
        call so that it can be repeated. If the log would exceed the allowed number of steps and the first instant
        is a stored one, the present interval of the run is closed first. ``storage`` says which instants are
        returned."""
        done = sum(len(each.sizes) for each in self.log if isinstance(each, Stepped))
        if done + len(instants) - 1 > self._most and np.isin(instants[0], self._grid):
            self.close()
        steps = super().advance
        self._note_call(lambda: completed(steps(instants, step, storage)))
        return (yield from steps(instants, step, storage))

    def project(self, time: float) -> None:
        """Project the velocities onto the joint constraints at a time [s]. The call is stored, so that it can be
        repeated when this section of the run is differentiated."""
        self._note_call(partial(super().project, time))
        super().project(time)

    def _note_call(self, call: Callable[[], object]) -> None:
        """Store a function that repeats a ``call`` of this time stepper, with the present number of log entries, in
        ``self._calls``. Before the first call of a section of the run, a snapshot of the stepper and a copy of the
        state are stored in ``self._begin``. The call itself is not made here.
        """
        if self._begin is None:
            self._begin = super().snapshot(), self.memory.state.copy()
        self._calls.append((self._forgotten + len(self.log), call))

    def close(self) -> None:
        """End the present section of a long run and hand its log to the function given at construction; nothing
        happens if the log is empty. The function is called with the log and a ``RepeatedInterval``: the snapshot at
        the start, the calls by which the section can be computed again, and its stored instants. Then log and calls
        are cleared, to save memory.
        """
        if not self.log:
            return
        assert self._begin is not None, "something was done"
        steps = [each for each in self.log if isinstance(each, Stepped)]
        times = self._grid[(self._grid >= steps[0].times[0]) & (self._grid <= steps[-1].times[-1])]
        interval = RepeatedInterval(self._begin[0], tuple(call for _, call in self._calls), self._begin[1], times)
        self._take(interval, self.log)
        self._forgotten += len(self.log)
        self.log.clear()
        self._calls.clear()
        self._begin = None

    def repeat(self, interval: RepeatedInterval) -> Sequence[Any]:
        """Repeat the time steps of one section (``interval``) of a long run from its snapshot, bit by bit.
        Return their log: states and prescribed values of all time steps."""
        self.log.clear()
        super().restore(np.append(interval.snapshot[:-1], 0))
        for call in interval.calls:
            call()
        return list(self.log)

    def snapshot(self) -> Array:
        """Return the state of this time stepper as an array, from which it can be restored. The last entry counts
        all log entries so far, including those that were already removed from the log."""
        found = super().snapshot()
        found[-1] += self._forgotten
        return found

    def restore(self, snapshot: Array) -> None:
        """Set this time stepper back to a snapshot, and remove the log entries and stored calls that were made
        since. Entries of sections that were closed already cannot be removed."""
        done = int(snapshot[-1])
        super().restore(np.append(snapshot[:-1], max(0, done - self._forgotten)))
        self._calls = [call for call in self._calls if call[0] < done]


@dataclass(frozen=True, eq=False)
class CachingRecipe(Recipe[Costs]):
    """Recipe for models from parameters that builds each model once and caches it."""

    _models: dict[Any, Built[Costs]] = field(default_factory=dict)

    def build_model(self, parameters: Any, similar: Built[Any] | None = None) -> Built[Costs]:
        """Return the model that the user's build function makes of these parameters, from a cache if it was
        built before. ``similar`` is a similar model, whose equal data are shared."""
        key = _key(parameters)
        if key not in self._models:
            self._models[key] = super().build_model(parameters, similar)
        return self._models[key]


def _key(parameters: Any) -> Any:
    """Return a hashable key that is equal for equal parameter values: bytes of an array or of the samples of
    a signal, for dictionaries a tuple of pairs (name, key), also nested."""
    if isinstance(parameters, Mapping):
        return tuple((name, _key(each)) for name, each in parameters.items())
    return (parameters.values if isinstance(parameters, Signal) else np.asarray(parameters)).tobytes()


class CostsOfInterval(CostsOfRun):
    """Contributions of one section of a long run to the derivatives of costs of the whole run.

    Args:
        run, own, given: as of ``CostsOfRun``, of the piece.
        weights: derivatives of each cost with respect to the sensor values in the piece.
        after: derivatives of each cost with respect to the state at its end through later pieces; None: the last
            piece.
        is_first: whether it is the first piece.
    """

    def __init__(
        self,
        run: LoggedRun,
        base: Built[Costs],
        parameters: Any,
        weights: list[list[Array]],
        after: Sequence[Variation] | None,
        is_first: bool,
    ) -> None:
        super().__init__(run, base, parameters)
        self._section_weights, self._after, self._is_at_start = weights, after, is_first

    @property
    def _weights(self) -> list[list[Array]]:  # known already
        return self._section_weights

    def _of_sensors(self, more: Built[Costs], less: Built[Costs]) -> Array:
        read = [self._read(built, self._run.times) for built in (more, less)]
        return np.array(
            [
                sum(float(np.sum(w * (a - b))) for w, a, b in zip(weights, first, second, strict=True))
                for weights, first, second in zip(self._weights, *read, strict=True)
            ]
        )


def _values_per_step(assembly: Assembly) -> int:
    """Return an estimate of how many floating-point values must be stored to differentiate one time step of a
    model. It is a weighted sum of the sizes of state, loads, prescribed vectors, unknowns and velocities.
    ``assembly`` contains the model's arrays."""
    counts = assembly.memory.counts
    given = 3 * (counts["moving"] + counts["load_values"])
    return 3 * counts["state_size"] + 3 * given + 6 * (counts["unknowns"] + counts["velocities"])


def fits_in_memory(assembly: Assembly, instants: Clock, memory: float) -> bool:
    """Return whether a complete run can be stored for its derivatives within ``memory`` [bytes], by an estimate of
    the values per time step. It is always True for very few time steps. ``instants`` is the clock of the run,
    ``assembly`` contains the model's arrays."""
    return instants.count <= FEWEST or BYTES * _values_per_step(assembly) * instants.count <= memory


def costs_of_long_run(
    base: Built[Costs],
    arguments: Any,
    recipe: Recipe[Costs],
    varied: Parameters,
    instants: Clock,
    options: StepOptions,
    memory: float,
) -> tuple[Array, Array]:
    """Return the costs of a long run, shape (costs,), and their derivatives, shape (costs, parameters). The run is
    simulated once; then it is repeated and differentiated in sections, the last one first, so that ``memory``
    [bytes] suffices. ``base`` is the model, built by ``recipe`` from ``arguments``; ``varied`` are the parameters,
    ``instants`` are those of the time steps, ``options`` how these are computed. Raise ``ModelError`` for
    controllers, events or history variables, ``ParameterError`` for too little memory.

    Args:
        base: the model.
        arguments: what it was made of, with its own signals.
        recipe: how models are made.
        varied: where derivatives are computed.
        instants: when steps begin and end.
        options: of the steps.
        memory: about as much may be used [bytes].

    Raises:
        ParameterError: memory for too few steps.
        ModelError: a run that is more than steps.
    """
    assembly, count = base.assembly, instants.count
    kept = 2 * assembly.memory.counts["state_size"]  # of each piece
    least = 2 * BYTES * (count * kept * _values_per_step(assembly)) ** 0.5
    most = int(memory / (2 * BYTES * _values_per_step(assembly)))
    if most < FEWEST or memory < least:
        least = max(least, 2 * FEWEST * BYTES * _values_per_step(assembly))
        raise ParameterError(
            f"memory must be at least {1.01 * least:.3g} for {count} steps of this model, got {memory!r}"
        )
    if assembly.system.mechanism.events or assembly.controlled or len(strain_indices(assembly)):
        raise ModelError(MORE_THAN_STEPS)
    working = replace(base, assembly=replace(assembly, memory=assembly.memory.fresh()))
    sensors = [sensor for cost in base.measured for sensor in cost.sensors]
    intervals: list[RepeatedInterval] = []
    read: list[list[Array]] = [[] for _ in sensors]

    def run_in(chunk: RepeatedInterval, log: Sequence[Any]) -> LoggedRun:
        return run_from_log(working.assembly, stepper, log, chunk.first, chunk.times)

    def take(chunk: RepeatedInterval, log: Sequence[Any]) -> None:
        run = run_in(chunk, log)
        for values, each in zip(read, Reader(run.assembly, run.times).read_all(sensors, run.rows), strict=True):
            values.append(each[1:] if intervals else each)
        intervals.append(chunk)

    grid = np.array([instants.instant(k) for k in range(instants.first, count + 1)])
    redundant = has_redundancy(assembly, base.start)
    stepper = IntervalStepper(assembly, options.order, options.numerical_damping, redundant, most, grid, take)
    options = replace(options, every=max(1, count // LOOKED_AT))
    integrate_logged(stepper, assembly, base.start, instants, options, warns=True)
    stepper.close()
    rest = iter([np.concatenate(values) for values in read])
    readings = [[next(rest) for _ in cost.sensors] for cost in base.measured]
    weights = [cost.slopes(grid, each) for cost, each in zip(base.measured, readings, strict=True)]
    cached = CachingRecipe(recipe.build, recipe.start, recipe.measure, recipe.argument)
    slopes = np.zeros((len(base.measured), len(varied)))
    loads_alone: dict[str, bool] = {}
    after: list[Variation] | None = None
    last = len(grid)
    for number, chunk in reversed(list(enumerate(intervals))):
        first = last - len(chunk.times)
        part = [[each[first:last].copy() for each in cost] for cost in weights]
        for each in [each for cost in part for each in cost] if number else []:
            each[0] = 0.0  # is felt at the end of the piece before
        costs = CostsOfInterval(run_in(chunk, stepper.repeat(chunk)), working, arguments, part, after, number == 0)
        costs.loads_alone = loads_alone
        slopes += costs.slopes(cached, varied)
        after, last = [each.start for each in costs.adjoints], first + 1
    for direction in varied.scalar_directions():
        sides = [cached.build_model(varied.nested(varied.values + sign * direction.change)) for sign in (1, -1)]
        for k, (more, less) in enumerate(zip(*(side.measured for side in sides), strict=True)):
            change = more.value(grid, readings[k]) - less.value(grid, readings[k])
            slopes[k, direction.number] += change / (2 * direction.size)
    return np.array([cost.value(grid, each) for cost, each in zip(base.measured, readings, strict=True)]), slopes


def gradient(
    build: Build,
    cost: Callable[[Any], Cost],
    parameters: Given,
    *,
    duration: float,
    step: float,
    initial: Start = InitialKind.UNDEFORMED,
    order: int = 2,
    numerical_damping: float = 0.0,
    tolerance: float | None = None,
    scales: Mapping[str, float] | None = None,
    memory: float | None = None,
) -> tuple[float, Values]:
    """Return a ``cost`` of a simulated motion, a number, and its derivatives with respect to ``parameters`` of the
    model, in their structure. ``build`` is called with the parameters and returns a model; ``cost`` is called with
    the model. The motion of ``duration`` in time steps of ``step`` [s] is differentiated by one adjoint pass. If
    ``memory`` [bytes] does not suffice, sections of the run are simulated again.

    The exact derivative of the *computed* motion: what central differences of whole runs tend to. It takes one run,
    one backwards, and two evaluations of the equations at the known states for each parameter; for all samples of a
    ``Signal`` together a few. A ``StepWarning`` says of the steps what ``simulate`` says of them.

    Args:
        build: parameters, a dictionary by name or one array -> model. It is called for each parameter, and must
            make the same parts each time.
        cost: model -> ``ph.Cost``; sensors are made of the model that it is given.
        parameters: by name, of numbers, arrays and ``ph.Signal``, or one array; ``build`` takes the same.
        duration, step: as of ``simulate`` [s].
        initial: "undeformed", "quasi_static", or a function of the model that returns its start, such as
            ``lambda model: model.equilibrium()``.
        order, numerical_damping, tolerance: as of ``simulate``; with a tolerance ``step`` is that of its output.
        scales: sizes by name of parameters whose value does not tell it, such as zero.
        memory: about what states of the run may take [bytes]; where they take more, some are kept, and the steps
            between are taken once more. Not with controllers, events and laws that have history
            variables. None: no limit.

    Returns:
        The cost, and its derivatives: by name numbers or arrays as the parameters were given, or one array.

    Raises:
        ParameterError: a build function that returns no model, a cost that is none, numbers out of range.
        ModelError: parts that cannot be differentiated, sensors that read forces or
            accelerations, or a model whose parts change with a parameter.
        ConvergenceError: a step did not converge.

    Example:
        >>> def build(p):
        ...     model = ph.Model(dimension=2)
        ...     cart = model.add(ph.RigidBody(p["mass"], 0.1), "cart")
        ...     rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, name="rail"))
        ...     push = model.apply(rail.force(2.0))
        ...     return model
        >>> def way(model):
        ...     return ph.Cost.final(ph.JointPosition(model.joint("rail")))
        >>> value, slopes = ph.gradient(build, way, {"mass": 4.0}, duration=1.0, step=1e-2)
        >>> round(value, 9), round(slopes["mass"], 9)  # F t^2 / (2 m) and its derivative
        (0.25, -0.0625)
    """
    check_build(build)
    check_callable("cost", cost, "model")
    chosen, options = Parameters(parameters, scales), StepOptions(order, 1, numerical_damping, tolerance).checked()
    recipe: Recipe[Costs] = Recipe(build, initial, lambda model: [checked_cost(cost(model))], "cost")
    given = chosen.nested(chosen.values)
    limit = None if memory is None else positive("memory", memory)
    own = recipe.build_model(given)
    if limit is not None:
        instants = instants_of(own.assembly, own.start, duration, step, options)
        if not fits_in_memory(own.assembly, instants, limit):
            value, slopes = costs_of_long_run(own, given, recipe, chosen, instants, options, limit)
            return float(value[0]), chosen.structured(slopes[0])
    found = CostsOfRun(simulate_logged(own.assembly, own.start, duration, step, options, warns=True), own, given)
    return float(found.values[0]), chosen.structured(found.slopes(recipe, chosen)[0])


class Objective:
    """Cost of a motion as a function of one flat array of parameters, with its gradient, for optimizers such as
    SciPy's.

    ``scipy.optimize.minimize(objective, objective.start, jac=True)``; arguments as of ``gradient``.

    Attributes:
        start: the given parameters, flat, shape (parameters,).
    """

    def __init__(self, build: Build, cost: Callable[[Any], Cost], parameters: Given, **options: Any) -> None:
        check_build(build)
        check_callable("cost", cost, "model")
        self._build, self._cost, self._options = build, cost, options
        self._parameters = Parameters(parameters, options.get("scales"))
        self.start: Array = self._parameters.values.copy()

    def __call__(self, values: ArrayLike) -> tuple[float, Array]:
        """Return the cost of the motion and its gradient, shape (parameters,), for one flat array of
        parameters ``values``, as optimizers call it.

        Raises:
            PhlexibleError: as ``gradient``.
        """
        value, slopes = gradient(self._build, self._cost, self.parameters(values), **self._options)
        parts = slopes.values() if isinstance(slopes, dict) else [slopes]
        return value, np.concatenate([np.ravel(part) for part in parts])

    def __repr__(self) -> str:
        return f"Objective({how_many(self.start.size, 'parameter')})"

    def parameters(self, values: ArrayLike) -> Any:
        """Convert one flat array of parameters, ``values`` of shape (parameters,), to the argument of the
        user's build function: a dictionary by name, or one array.

        Raises:
            ParameterError: not as many.
        """
        flat = np.asarray(values, dtype=np.float64)
        if flat.shape != self.start.shape:
            raise ParameterError(f"values must have shape {self.start.shape}, got {flat.shape}")
        return self._parameters.nested(flat)


def checked_cost(value: object) -> Cost:
    """Return the value of the user's cost function if it is a ``Cost``; raise ``ParameterError`` for anything else.

    Raises:
        ParameterError: something else.
    """
    if not isinstance(value, Cost):
        raise ParameterError(
            f"cost must be a function of the model that returns a ph.Cost, such as lambda model:"
            f" ph.Cost.final(ph.Position(model['tip'].origin), lambda x: x[:, 0]); it returned {value!r}"
        )
    return value


# Readings of sensors in a run as a function of parameters, with adjoints, for automatic differentiation elsewhere.


@dataclass(frozen=True, eq=False)
class WeightedTerm(CostTerm):
    """Term of a cost that is the sum of sensor values over all instants, each multiplied by a constant weight.

    Attributes:
        weights: shape (N + 1, components).
    """

    sensor: Sensor
    weights: Array

    def value(self, time: Array, readings: Array) -> float:
        return float(np.sum(self.weights * readings))

    def slopes(self, time: Array, readings: Array) -> Array:
        return self.weights


@dataclass(frozen=True, eq=False)
class ReadingsOfRuns:
    """Sensor values of a run as a differentiable function of the parameters of its model, for automatic
    differentiation in other libraries.

    Attributes:
        build: parameters -> model.
        sensors: model -> sensors by name.
        parameters: numbers or arrays by name.
        inputs: pair (times, values) of each signal by name.
        duration, step: of the runs [s].
        initial, options: as of ``ph.gradient``.
    """

    build: Build
    sensors: Callable[[Any], Mapping[str, Sensor]]
    parameters: Mapping[str, Any]
    inputs: Mapping[str, tuple[Any, Any]]
    duration: float
    step: float
    initial: Start
    options: StepOptions

    def __post_init__(self) -> None:
        if both := set(self.parameters) & set(self.inputs):
            raise ParameterError(f"parameters and inputs both have {', '.join(sorted(both))}")
        check_build(self.build)
        check_callable("sensors", self.sensors, "model")

    @property
    def values(self) -> dict[str, Any]:
        """Arrays of all parameters and of the sample values of all inputs, in one dictionary by name."""
        return {**self.parameters, **{name: samples for name, (_, samples) in self.inputs.items()}}

    def _built_from(self, arrays: Iterable[Any]) -> dict[str, Any]:
        """Return the argument of the user's build function, a dictionary from the names of the parameters and
        inputs to values. ``arrays`` are the values in the order of ``self.values``. A scalar array becomes a float
        and an array of an input a ``Signal`` with these samples at the input's times. Other arrays are converted
        to float64."""
        found: dict[str, Any] = {}
        for name, value in zip(self.values, arrays, strict=True):
            own = np.asarray(value, dtype=np.float64)
            if name in self.inputs:
                found[name] = Signal(np.asarray(self.inputs[name][0], dtype=np.float64), own)
            else:
                found[name] = own if own.ndim else float(own)
        return found

    def read(self, arrays: Iterable[Any]) -> tuple[Array, dict[str, Array]]:
        """Build and simulate the model with other ``arrays`` for all ``values`` (parameters and inputs). Return
        the instants, shape (instants,) [s], and the sensor values by name, shape (instants,) or (instants,
        components).

        Raises:
            PhlexibleError: as ``ph.gradient``.
        """
        recipe = Recipe(self.build, self.initial, self._checked_sensors, "sensors")
        own = recipe.build_model(self._built_from(arrays))
        run = simulate_logged(own.assembly, own.start, self.duration, self.step, self.options)
        found = Reader(run.assembly, run.times).read_all(list(own.measured.values()), run.rows)
        return run.times, dict(zip(own.measured, found, strict=True))

    def vjp(self, arrays: Iterable[Any], weights: Mapping[str, Array]) -> list[Array]:
        """Return the derivatives of the weighted sum of all sensor values with respect to each of the ``arrays``,
        a list (vector-Jacobian product). ``weights`` has an array for each sensor by name, over all instants. The
        model with these arrays is simulated and differentiated by the adjoint method."""

        def cost(model: Any) -> Cost:
            return Cost(
                tuple(
                    (1.0, WeightedTerm(sensor, weights[name].reshape(len(weights[name]), -1)))
                    for name, sensor in self._checked_sensors(model).items()
                )
            )

        _, found = gradient(
            self.build,
            cost,
            self._built_from(arrays),
            duration=self.duration,
            step=self.step,
            initial=self.initial,
            order=self.options.order,
            numerical_damping=self.options.numerical_damping,
            tolerance=self.options.tolerance,
        )
        assert isinstance(found, dict), "parameters were given by name"
        return [np.asarray(slope) for slope in found.values()]

    def _checked_sensors(self, model: Any) -> dict[str, Sensor]:
        found = self.sensors(model)
        if not (isinstance(found, Mapping) and found and all(isinstance(each, Sensor) for each in found.values())):
            raise ParameterError(f"sensors must return sensors by name, {{'tip': ph.Position(...)}}, got {found!r}")
        return dict(found)
