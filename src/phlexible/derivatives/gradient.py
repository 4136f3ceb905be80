"""The derivative of one number of a motion to any number of parameters, by one run backwards."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, check_callable, non_negative, positive
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
from phlexible.derivatives.readings import Sight, sight_of, state_slopes
from phlexible.derivatives.steps import Adjoint, Functions, TakenSteps, adjoint, functions_of, take_steps
from phlexible.errors import ParameterError
from phlexible.state.initial_state import InitialKind
from phlexible.step.integration.clock import clock


def gradient(
    build: Build,
    cost: Callable[[Any], Cost],
    parameters: Given,
    *,
    duration: float,
    step: float,
    initial: Start = InitialKind.UNDEFORMED,
    numerical_damping: float = 0.0,
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
        duration: a whole number of steps [s].
        step: [s].
        initial: "undeformed", "quasi_static", or a function of the model that returns its start, such as
            ``lambda model: model.equilibrium()``.
        numerical_damping: as of ``simulate``.
        scales: sizes by name of parameters whose value does not tell it, such as zero.

    Returns:
        The cost, and its derivatives: by name numbers or arrays as the parameters were given, or one array.

    Raises:
        ParameterError: a build function that returns no model, a cost that is none, numbers out of range.
        ModelError: parts that cannot be differentiated (controllers in Python, events, contacts and
            stops), sensors that read forces or accelerations, or a model whose parts change with a parameter.
        ConvergenceError: a step of this size did not converge.

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
    chosen, count = Parameters(parameters, scales), steps_of(duration, step)
    recipe = Recipe(build, initial, lambda model: checked_cost(cost(model)), "cost")
    given = chosen.made(chosen.values)
    own = recipe.made(given)
    damping = non_negative("numerical_damping", numerical_damping)
    run = take_steps(own.assembly, own.start, positive("step", step), count, damping)
    found = _Evaluation(run, own)
    slopes = np.zeros(len(chosen))

    def made(direction: Direction, sign: int) -> Built[Cost]:
        other = recipe.made(chosen.made(chosen.values + sign * direction.change))
        check_same(own, other, chosen.label(direction))
        return other

    directions = chosen.numbers()
    for name in chosen.signals:
        signs = chosen.signs(name)
        with other_values(given[name], chosen.made(chosen.values + signs.change)[name].values):
            changed = functions_of(own.assembly, run.times)
        if not is_load_alone(own, made(signs, 1), changed, run.times):
            directions += chosen.samples(name, run.times, is_load=False)
            continue
        for direction in chosen.samples(name, run.times, is_load=True):
            both = {}
            for sign in (1, -1):
                values = chosen.made(chosen.values + sign * direction.change)[name].values
                with other_values(given[name], values):
                    both[sign] = functions_of(own.assembly, run.times)
            found.add_load(slopes, direction, both[1], both[-1], name)
    for direction in directions:
        found.add(slopes, direction, made(direction, 1), made(direction, -1), chosen.label(direction))
    return found.value, chosen.shaped(slopes)


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
        run: steps that were taken.
        own: the model.
    """

    def __init__(self, run: TakenSteps, own: Built[Cost]) -> None:
        self._run, self._cost = run, own.measured
        self._all = np.arange(run.count + 1)
        readings = sight_of(run).read(self._cost.sensors, run.rows, self._all)
        self.value = self._cost.value(run.times, readings)
        self._weights = self._cost.slopes(run.times, readings)
        self._adjoint: Adjoint = adjoint(run, state_slopes(run, self._cost.sensors, self._weights))

    def add_load(self, slopes: Array, direction: Direction, more: Functions, less: Functions, label: str) -> None:
        """The share of samples that change loads and nothing else."""
        change = self._run.residuals(self._run.assembly, more) - self._run.residuals(self._run.assembly, less)
        assert direction.steps is not None, "of samples"
        check_local(change, direction.steps >= 0, label)
        shares = np.einsum("ki,ki->k", self._adjoint.steps, change) / (2 * direction.size)
        acting = direction.steps >= 0
        np.add.at(slopes, direction.steps[acting], shares[acting])

    def add(self, slopes: Array, direction: Direction, more: Built[Cost], less: Built[Cost], label: str) -> None:
        """The share of each step and of the start in the derivatives along a direction."""
        run, twice = self._run, 2 * direction.size
        sights = [Sight(own.assembly, run.times, functions_of(own.assembly, run.times)) for own in (more, less)]
        upper, lower = (run.residuals(sight.assembly, sight.functions) for sight in sights)
        check_smooth(upper, lower, label)
        in_steps = np.einsum("ki,ki->k", self._adjoint.steps, upper - lower) / twice
        start, change = self._adjoint.start, start_change(more, less, direction.size)
        at_start = float(start.pose @ change.pose + start.velocity @ change.velocity)
        read = [
            sight.read(own.measured.sensors, run.rows, self._all)
            for sight, own in zip(sights, (more, less), strict=True)
        ]
        if direction.number >= 0:
            values = [own.measured.value(run.times, given) for own, given in zip((more, less), read, strict=True)]
            slopes[direction.number] += in_steps.sum() + at_start + (values[0] - values[1]) / twice
            return
        assert direction.steps is not None and direction.instants is not None, "of samples"
        check_local(upper - lower, direction.steps >= 0, label)
        at_instants = np.zeros(len(self._all))
        for weight, first, second in zip(self._weights, *read, strict=True):
            at_instants += (weight * (first - second)).reshape(len(self._all), -1).sum(axis=1) / twice
        at_instants[0] += at_start
        for places, shares in ((direction.steps, in_steps), (direction.instants, at_instants)):
            acting = places >= 0
            np.add.at(slopes, places[acting], shares[acting])


def steps_of(duration: float, step: float) -> int:
    """How many steps a run takes.

    Raises:
        ParameterError: not a whole number.
    """
    found = clock(0.0, duration, step, ())
    if found.remainder or found.full < 1:
        raise ParameterError(
            f"derivatives need steps of one size: duration must be a multiple of step = {step:g}, got {duration:g}"
        )
    return found.full


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
