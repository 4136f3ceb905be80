"""The derivative of one number of a motion to any number of parameters, by one run backwards."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, check_callable
from phlexible.derivatives.both_sides import Beside, each_change, models_beside
from phlexible.derivatives.costs import Cost, Costs
from phlexible.derivatives.parameters import (
    Build,
    Built,
    Direction,
    Given,
    Parameters,
    Recipe,
    Start,
    Values,
    check_local,
    check_same,
    check_smooth,
    is_load_alone,
    other_values,
    start_difference,
    start_tables,
)
from phlexible.derivatives.readings import Sight, slopes_of_costs
from phlexible.derivatives.runs import TakenRun, take_run
from phlexible.derivatives.steps import Functions, functions_of
from phlexible.derivatives.sweeps import Adjoint, RunParts, adjoints, parts_of
from phlexible.errors import ParameterError
from phlexible.state.initial_state import InitialKind
from phlexible.step.integration.schemes import StepOptions


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
) -> tuple[float, Values]:
    """A cost of a motion and its derivatives to parameters, by the adjoint of the conserving step.

    The exact derivative of the *computed* motion: what central differences of whole runs tend to. It takes one run,
    one backwards, and two evaluations of the equations at the known states for each parameter; for all samples of a
    ``Signal`` together a few.

    Args:
        build: parameters -> model. It is called for each parameter, and must make the same parts each time.
        cost: model -> ``ph.Cost``; sensors are made of the model that it is given.
        parameters: by name, of numbers, arrays and ``ph.Signal``, or one array; ``build`` takes the same.
        duration, step: as of ``simulate`` [s].
        initial: "undeformed", "quasi_static", or a function of the model that returns its start, such as
            ``lambda model: model.equilibrium()``.
        order, numerical_damping, tolerance: as of ``simulate``; with a tolerance ``step`` is that of its output.
        scales: sizes by name of parameters whose value does not tell it, such as zero.

    Returns:
        The cost, and its derivatives: by name numbers or arrays as the parameters were given, or one array.

    Raises:
        ParameterError: a build function that returns no model, a cost that is none, numbers out of range.
        ModelError: parts that cannot be differentiated (rolling), sensors that read forces or
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
    check_callable("build", build, "parameters")
    check_callable("cost", cost, "model")
    chosen, options = Parameters(parameters, scales), StepOptions(order, 1, numerical_damping, tolerance).checked()
    recipe: Recipe[Costs] = Recipe(build, initial, lambda model: [checked_cost(cost(model))], "cost")
    given = chosen.made(chosen.values)
    own = recipe.made(given)
    found = CostsOfRun(take_run(own.assembly, own.start, duration, step, options), own, given)
    return float(found.values[0]), chosen.shaped(found.slopes(recipe, chosen)[0])


class Objective:
    """A cost as a function of one array, with its gradient: what optimisers take.

    ``scipy.optimize.minimize(objective, objective.start, jac=True)``; arguments as of ``gradient``.

    Attributes:
        start: the given parameters, flat, shape (parameters,).
    """

    def __init__(self, build: Build, cost: Callable[[Any], Cost], parameters: Given, **options: Any) -> None:
        check_callable("build", build, "parameters")
        check_callable("cost", cost, "model")
        self._build, self._cost, self._options = build, cost, options
        self._parameters = Parameters(parameters, options.get("scales"))
        self.start: Array = self._parameters.values.copy()

    def __call__(self, values: ArrayLike) -> tuple[float, Array]:
        """Cost and gradient at flat parameters, shape (parameters,).

        Raises:
            PhlexibleError: as ``gradient``.
        """
        value, slopes = gradient(self._build, self._cost, self.parameters(values), **self._options)
        parts = slopes.values() if isinstance(slopes, dict) else [slopes]
        return value, np.concatenate([np.ravel(part) for part in parts])

    def __repr__(self) -> str:
        return f"Objective({self.start.size} parameters)"

    def parameters(self, values: ArrayLike) -> Any:
        """Flat parameters as the build function takes them.

        Raises:
            ParameterError: not as many.
        """
        flat = np.asarray(values, dtype=np.float64)
        if flat.shape != self.start.shape:
            raise ParameterError(f"values must have shape {self.start.shape}, got {flat.shape}")
        return self._parameters.made(flat)


class CostsOfRun:
    """Costs of a run, and their derivatives.

    Args:
        run: that was taken.
        own: its model.
        given: what that was made of: where derivatives are taken, with its own signals.

    Attributes:
        values: of the costs, shape (costs,).
        loads_alone: by the names of signals, whether they change loads and nothing else; found once.
    """

    def __init__(self, run: TakenRun, own: Built[Costs], given: Any) -> None:
        self._run, self._own, self._given = run, own, given
        self._readings = self._read(own, run.times)
        self.values: Array = self._valued(own.measured, self._readings, run.times)
        self.loads_alone: dict[str, bool] = {}

    def _read(self, other: Built[Costs], times: Array) -> list[list[Array]]:
        """Readings of the sensors of each cost of a model, at the states of the run, at other times."""
        sensors = [sensor for cost in other.measured for sensor in cost.sensors]
        rest = iter(Sight(other.assembly, times).read_all(sensors, self._run.rows))
        return [[next(rest) for _ in cost.sensors] for cost in other.measured]

    def values_at(self, other: Built[Costs], times: Array) -> Array:
        """Costs of another model at the states of the run, at other times, shape (costs,)."""
        return self._valued(other.measured, self._read(other, times), times)

    @staticmethod
    def _valued(costs: Costs, readings: list[list[Array]], times: Array) -> Array:
        return np.array([cost.value(times, own) for cost, own in zip(costs, readings, strict=True)])

    @cached_property
    def _weights(self) -> list[list[Array]]:
        """What each cost feels of its readings."""
        pairs = zip(self._own.measured, self._readings, strict=True)
        return [cost.slopes(self._run.times, own) for cost, own in pairs]

    @cached_property
    def adjoints(self) -> list[Adjoint]:
        """What each cost feels."""
        run, pairs = self._run, zip(self._own.measured, self._weights, strict=True)
        sight = Sight(run.assembly, run.times)
        felt = [list(zip(cost.sensors, own, strict=True)) for cost, own in pairs]
        return adjoints(run, slopes_of_costs(sight, run.rows, felt))

    def slopes(self, recipe: Recipe[Costs], chosen: Parameters) -> Array:
        """Of all costs to all parameters, shape (costs, parameters).

        Raises:
            PhlexibleError: as ``gradient``.
        """
        run, own = self._run, self._own
        found = np.zeros((len(self.values), len(chosen)))

        def made(direction: Direction, sign: int) -> Built[Costs]:
            other = recipe.made(chosen.made(chosen.values + sign * direction.change))
            check_same(own, other, chosen.label(direction))
            return other

        directions = chosen.numbers() if not run.is_controlled else chosen.singles()
        together: list[Direction] = []
        for name in chosen.signals if not run.is_controlled else []:
            signal = self._given[name]
            if name not in self.loads_alone:
                signs = chosen.signs(name)
                with other_values(signal, chosen.made(chosen.values + signs.change)[name].values):
                    changed = self._given_now()
                self.loads_alone[name] = is_load_alone(own, made(signs, 1), changed, run)
            if not self.loads_alone[name]:
                if run.jumps:
                    directions += chosen.singles(name)
                else:
                    together += chosen.samples(name, run, is_load=False)
                continue
            for direction in chosen.samples(name, run, is_load=True):
                both = {}
                for sign in (1, -1):
                    values = chosen.made(chosen.values + sign * direction.change)[name].values
                    with other_values(signal, values):
                        both[sign] = self._given_now()
                self._add_load(found, direction, both[1], both[-1], name)
        for direction in together:
            self._add_samples(found, direction, made(direction, 1), made(direction, -1), chosen.label(direction))
        models = models_beside(run, own, recipe, chosen, directions, self._reads_alike)
        for model in models:
            self._add_start_and_sensors(found, model)
        shares = np.zeros((len(self.values), len(models)))

        def take(number: int, changes: RunParts) -> None:
            shares[:, number] = [each.parts.times(changes) for each in self.adjoints]

        each_change(run, models, take)
        for model, share in zip(models, shares.T, strict=True):
            found[:, model.direction.number] += share
        return found

    def _reads_alike(self, other: Built[Costs]) -> bool:
        """Whether costs of another model are the same numbers of the states of the run."""
        pairs = zip(self._own.measured, other.measured, strict=True)
        if any(own.constant != cost.constant or len(own.terms) != len(cost.terms) for own, cost in pairs):
            return False
        read = self._read(other, self._run.times)
        for own, cost in zip(self._readings, read, strict=True):
            if not all(np.array_equal(first, second) for first, second in zip(own, cost, strict=True)):
                return False
        return np.array_equal(self._valued(other.measured, read, self._run.times), self.values)

    def _add_start_and_sensors(self, slopes: Array, model: Beside[Costs]) -> None:
        """What costs change by with the initial state, and by themselves."""
        change, direct, number = model.start, np.zeros(len(self.values)), model.direction.number
        if model.less is not None:
            first, second = (self.values_at(built, self._run.times) for built in (model.more, model.less))
            direct = (first - second) / (2 * model.direction.size)
        for row, adjoint, own in zip(slopes, self.adjoints, direct.tolist(), strict=True):
            row[number] += adjoint.start.pose @ change.pose + adjoint.start.velocity @ change.velocity + own

    def _given_now(self) -> list[Functions]:
        """What functions of time give in the steps of each stretch now."""
        return [functions_of(self._run.assembly, own.times) for own in self._run.stretches]

    def _add_load(
        self, slopes: Array, direction: Direction, more: Sequence[Functions], less: Sequence[Functions], label: str
    ) -> None:
        """The share of samples that change loads and nothing else."""
        assert direction.steps is not None, "of samples"
        changes = [
            own.residuals(own.assembly, first) - own.residuals(own.assembly, second)
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
        """The share of each step and of the start in the derivatives to samples that are far from each other."""
        run, twice = self._run, 2 * direction.size
        upper, lower = (parts_of(run, own.assembly) for own in (more, less))
        for first, second in zip(upper.equations, lower.equations, strict=True):
            check_smooth(first, second, label)
        changes, layout = upper.minus(lower, twice), run.system.layout
        change = start_difference(start_tables(less), start_tables(more), layout, twice)
        assert direction.steps is not None, "of samples"
        check_local(np.concatenate(changes.equations) * twice, direction.steps >= 0, label)
        read = [self._read(own, run.times) for own in (more, less)]
        for number, (row, adjoint) in enumerate(zip(slopes, self.adjoints, strict=True)):
            at_instants = np.zeros(len(run.times))
            for weight, first, second in zip(self._weights[number], read[0][number], read[1][number], strict=True):
                at_instants += (weight * (first - second)).reshape(len(run.times), -1).sum(axis=1) / twice
            at_instants[0] += adjoint.start.pose @ change.pose + adjoint.start.velocity @ change.velocity
            _share_out(row, direction, _in_steps(adjoint.parts, changes), at_instants)


def _in_steps(felt: RunParts, changes: RunParts) -> Array:
    """What is felt of changes of the equations of each step, shape (N,)."""
    both = zip(felt.equations, changes.equations, strict=True)
    found = np.concatenate([np.einsum("ki,ki->k", mu, own) for mu, own in both])
    both = zip(felt.strains, changes.strains, strict=True)
    return np.asarray(found + np.concatenate([np.einsum("kb,kb->k", ends, own) for ends, own in both]))


def _share_out(row: Array, direction: Direction, in_steps: Array, at_instants: Array) -> None:
    """To the samples that act in steps and at instants."""
    assert direction.steps is not None and direction.instants is not None, "of samples"
    for places, shares in ((direction.steps, in_steps), (direction.instants, at_instants)):
        acting = places >= 0
        np.add.at(row, places[acting], shares[acting])


def checked_cost(given: object) -> Cost:
    """A cost with terms.

    Raises:
        ParameterError: something else.
    """
    if not isinstance(given, Cost):
        raise ParameterError(
            f"cost must be a function of the model that returns a ph.Cost, such as lambda model:"
            f" ph.Cost.final(ph.Position(model['tip'].origin), lambda x: x[:, 0]); it returned {given!r}"
        )
    return given
