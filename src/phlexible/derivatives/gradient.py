"""The derivative of one number of a motion to any number of parameters, by one run backwards."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, check_callable, positive
from phlexible.derivatives.costs import Cost, Costs
from phlexible.derivatives.costs_of_runs import CostsOfRun
from phlexible.derivatives.long_runs import costs_of_long_run, fits
from phlexible.derivatives.parameters import (
    Build,
    Given,
    Parameters,
    Recipe,
    Start,
    Values,
    check_build,
)
from phlexible.derivatives.runs import instants_of, take_run
from phlexible.display import how_many
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
    memory: float | None = None,
) -> tuple[float, Values]:
    """A cost of a motion and its derivatives to parameters, by the adjoint of the conserving step.

    The exact derivative of the *computed* motion: what central differences of whole runs tend to. It takes one run,
    one backwards, and two evaluations of the equations at the known states for each parameter; for all samples of a
    ``Signal`` together a few. A ``StepWarning`` says of the steps what ``simulate`` says of them.

    Args:
        build: parameters -> model. It is called for each parameter, and must make the same parts each time.
        cost: model -> ``ph.Cost``; sensors are made of the model that it is given.
        parameters: by name, of numbers, arrays and ``ph.Signal``, or one array; ``build`` takes the same.
        duration, step: as of ``simulate`` [s].
        initial: "undeformed", "quasi_static", or a function of the model that returns its start, such as
            ``lambda model: model.equilibrium()``.
        order, numerical_damping, tolerance: as of ``simulate``; with a tolerance ``step`` is that of its output.
        scales: sizes by name of parameters whose value does not tell it, such as zero.
        memory: about what states of the run may take [bytes]; where they take more, some are kept, and the steps
            between are taken once more. Not with controllers, events and laws that remember. None: no limit.

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
    given = chosen.made(chosen.values)
    limit = None if memory is None else positive("memory", memory)
    own = recipe.made(given)
    if limit is not None:
        instants = instants_of(own.assembly, own.start, duration, step, options)
        if not fits(own.assembly, instants, limit):
            value, slopes = costs_of_long_run(own, given, recipe, chosen, instants, options, limit)
            return float(value[0]), chosen.shaped(slopes[0])
    found = CostsOfRun(take_run(own.assembly, own.start, duration, step, options, warns=True), own, given)
    return float(found.values[0]), chosen.shaped(found.slopes(recipe, chosen)[0])


class Objective:
    """A cost as a function of one array, with its gradient: what optimisers take.

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
        """Cost and gradient at flat parameters, shape (parameters,).

        Raises:
            PhlexibleError: as ``gradient``.
        """
        value, slopes = gradient(self._build, self._cost, self.parameters(values), **self._options)
        parts = slopes.values() if isinstance(slopes, dict) else [slopes]
        return value, np.concatenate([np.ravel(part) for part in parts])

    def __repr__(self) -> str:
        return f"Objective({how_many(self.start.size, 'parameter')})"

    def parameters(self, values: ArrayLike) -> Any:
        """Flat parameters as the build function takes them.

        Raises:
            ParameterError: not as many.
        """
        flat = np.asarray(values, dtype=np.float64)
        if flat.shape != self.start.shape:
            raise ParameterError(f"values must have shape {self.start.shape}, got {flat.shape}")
        return self._parameters.made(flat)


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
