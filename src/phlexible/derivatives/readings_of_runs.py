"""Readings of sensors in a run as a function of parameters, with adjoints, for automatic differentiation
elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, check_callable
from phlexible.derivatives.costs import Cost, CostTerm
from phlexible.derivatives.gradient import gradient
from phlexible.derivatives.parameters import Build, Recipe, Start, check_build
from phlexible.derivatives.readings import Reader
from phlexible.derivatives.runs import take_run
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.time_functions import Signal
from phlexible.errors import ParameterError
from phlexible.step.integration.schemes import StepOptions


@dataclass(frozen=True, eq=False)
class WeightedTerm(CostTerm):
    """Term of a cost that is the sum of sensor readings over all instants, each multiplied by a constant weight.

    Attributes:
        weights: shape (N + 1, components).
    """

    sensor: Sensor
    weights: Array

    def value(self, time: Array, readings: Array) -> float:
        return float(np.sum(self.weights * readings))

    def slopes(self, time: Array, readings: Array) -> Array:
        return self.weights


def named_values(parameters: Mapping[str, Any], inputs: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return one dictionary by name with all ``parameters`` and the sample values of all ``inputs``. Each
    input is given as a pair (times, values); a name in both raises an error.

    Raises:
        ParameterError: a name that both have.
    """
    if both := set(parameters) & set(inputs):
        raise ParameterError(f"parameters and inputs both have {', '.join(sorted(both))}")
    return {**parameters, **{name: samples for name, (_, samples) in inputs.items()}}


def built_from(values: Mapping[str, Array], inputs: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the argument for a user's build function: a dictionary of the arrays ``values`` by name. An array of
    no axis is a float there; one whose name is in ``inputs`` is a ``Signal`` of its values at the sample times,
    the first of the pair (times, values) in ``inputs``."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        own = np.asarray(value, dtype=np.float64)
        if name in inputs:
            found[name] = Signal(np.asarray(inputs[name][0], dtype=np.float64), own)
        else:
            found[name] = own if own.ndim else float(own)
    return found


@dataclass(frozen=True, eq=False)
class ReadingsOfRuns:
    """Sensor readings of a run as a differentiable function of the parameters of its model, for automatic
    differentiation in other libraries.

    Attributes:
        build: parameters -> model.
        sensors: model -> sensors by name.
        duration, step: of the runs [s].
        initial, options: as of ``ph.gradient``.
    """

    build: Build
    sensors: Callable[[Any], Mapping[str, Sensor]]
    duration: float
    step: float
    initial: Start
    options: StepOptions

    def __post_init__(self) -> None:
        check_build(self.build)
        check_callable("sensors", self.sensors, "model")

    def read(self, parameters: Mapping[str, Any]) -> tuple[Array, dict[str, Array]]:
        """Simulate the model that belongs to the parameters. Return the instants, shape (instants,) [s], and the
        sensor readings by name, shape (instants,) or (instants, components).

        Raises:
            PhlexibleError: as ``ph.gradient``.
        """
        recipe = Recipe(self.build, self.initial, self._checked_sensors, "sensors")
        own = recipe.build_model(dict(parameters))
        run = take_run(own.assembly, own.start, self.duration, self.step, self.options)
        found = Reader(run.assembly, run.times).read_all(list(own.measured.values()), run.rows)
        return run.times, dict(zip(own.measured, found, strict=True))

    def vjp(self, parameters: Mapping[str, Any], weights: Mapping[str, Array]) -> dict[str, Any]:
        """Return the derivatives of the sum of all sensor readings times ``weights`` with respect to the
        parameters, by name (vector-Jacobian product). The model is simulated and differentiated by the adjoint
        method."""

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
            parameters,
            duration=self.duration,
            step=self.step,
            initial=self.initial,
            order=self.options.order,
            numerical_damping=self.options.numerical_damping,
            tolerance=self.options.tolerance,
        )
        assert isinstance(found, dict), "parameters were given by name"
        return found

    def _checked_sensors(self, model: Any) -> dict[str, Sensor]:
        found = self.sensors(model)
        if not (isinstance(found, Mapping) and found and all(isinstance(each, Sensor) for each in found.values())):
            raise ParameterError(f"sensors must return sensors by name, {{'tip': ph.Position(...)}}, got {found!r}")
        return dict(found)
