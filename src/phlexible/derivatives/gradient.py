"""The derivative of one number of a motion to any number of parameters, by one run backwards."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, check_callable
from phlexible.derivatives.costs import Cost
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
    start_change,
)
from phlexible.derivatives.readings import Sight, state_slopes
from phlexible.derivatives.runs import TakenRun, take_run
from phlexible.derivatives.steps import Functions, functions_of
from phlexible.derivatives.sweeps import Adjoint, adjoint, parts_of
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
    recipe = Recipe(build, initial, lambda model: checked_cost(cost(model)), "cost")
    given = chosen.made(chosen.values)
    own = recipe.made(given)
    run = take_run(own.assembly, own.start, duration, step, options)
    found = _Evaluation(run, own)
    slopes = np.zeros(len(chosen))

    def made(direction: Direction, sign: int) -> Built[Cost]:
        other = recipe.made(chosen.made(chosen.values + sign * direction.change))
        check_same(own, other, chosen.label(direction))
        return other

    directions = chosen.numbers() if not run.is_controlled else chosen.singles()
    for name in chosen.signals if not run.is_controlled else []:
        signs = chosen.signs(name)
        with other_values(given[name], chosen.made(chosen.values + signs.change)[name].values):
            changed = _given_in(run)
        if not is_load_alone(own, made(signs, 1), changed, run):
            directions += chosen.samples(name, run, is_load=False) if not run.jumps else chosen.singles(name)
            continue
        for direction in chosen.samples(name, run, is_load=True):
            both = {}
            for sign in (1, -1):
                values = chosen.made(chosen.values + sign * direction.change)[name].values
                with other_values(given[name], values):
                    both[sign] = _given_in(run)
            found.add_load(slopes, direction, both[1], both[-1], name)
    for direction in directions:
        found.add(slopes, direction, made(direction, 1), made(direction, -1), chosen.label(direction))
    return found.value, chosen.shaped(slopes)


def _given_in(run: TakenRun) -> list[Functions]:
    """What functions of time give in the steps of each stretch now."""
    return [functions_of(run.assembly, own.times) for own in run.stretches]


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


class _Evaluation:
    """A run with its adjoint.

    Args:
        run: that was taken.
        own: the model.
    """

    def __init__(self, run: TakenRun, own: Built[Cost]) -> None:
        self._run, self._cost = run, own.measured
        sight = Sight(run.assembly, run.times)
        readings = sight.read_all(self._cost.sensors, run.rows)
        self.value = self._cost.value(run.times, readings)
        self._weights = self._cost.slopes(run.times, readings)
        self._adjoint: Adjoint = adjoint(run, state_slopes(sight, run.rows, self._cost.sensors, self._weights))

    def add_load(
        self, slopes: Array, direction: Direction, more: Sequence[Functions], less: Sequence[Functions], label: str
    ) -> None:
        """The share of samples that change loads and nothing else."""
        assert direction.steps is not None, "of samples"
        stretches, felt = self._run.stretches, self._adjoint.parts.equations
        changes = [
            own.residuals(own.assembly, first) - own.residuals(own.assembly, second)
            for own, first, second in zip(stretches, more, less, strict=True)
        ]
        check_local(np.concatenate(changes), direction.steps >= 0, label)
        both = zip(felt, changes, strict=True)
        shares = np.concatenate([np.einsum("ki,ki->k", mu, change) for mu, change in both]) / (2 * direction.size)
        acting = direction.steps >= 0
        np.add.at(slopes, direction.steps[acting], shares[acting])

    def add(self, slopes: Array, direction: Direction, more: Built[Cost], less: Built[Cost], label: str) -> None:
        """The share of each step and of the start in the derivatives along a direction."""
        run, twice = self._run, 2 * direction.size
        upper, lower = (parts_of(run, own.assembly) for own in (more, less))
        for first, second in zip(upper.equations, lower.equations, strict=True):
            check_smooth(first, second, label)
        changes, felt = upper.minus(lower, twice), self._adjoint.parts
        start, change = self._adjoint.start, start_change(more, less, direction.size)
        at_start = float(start.pose @ change.pose + start.velocity @ change.velocity)
        read = [Sight(own.assembly, run.times).read_all(own.measured.sensors, run.rows) for own in (more, less)]
        if direction.number >= 0:
            values = [own.measured.value(run.times, given) for own, given in zip((more, less), read, strict=True)]
            slopes[direction.number] += felt.times(changes) + at_start + (values[0] - values[1]) / twice
            return
        assert direction.steps is not None and direction.instants is not None, "of samples"
        check_local(np.concatenate(changes.equations) * twice, direction.steps >= 0, label)
        both = zip(felt.equations, changes.equations, strict=True)
        in_steps = np.concatenate([np.einsum("ki,ki->k", mu, own) for mu, own in both])
        both = zip(felt.strains, changes.strains, strict=True)
        in_steps += np.concatenate([np.einsum("kb,kb->k", ends, own) for ends, own in both])
        at_instants = np.zeros(len(run.times))
        for weight, first, second in zip(self._weights, *read, strict=True):
            at_instants += (weight * (first - second)).reshape(len(run.times), -1).sum(axis=1) / twice
        at_instants[0] += at_start
        for places, shares in ((direction.steps, in_steps), (direction.instants, at_instants)):
            acting = places >= 0
            np.add.at(slopes, places[acting], shares[acting])


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
