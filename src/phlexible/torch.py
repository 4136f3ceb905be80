"""Runs as differentiable functions of PyTorch: ``phlexible.torch.simulate`` (``pip install phlexible[torch]``)."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.parameters import Build, Start
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ModelError, ParameterError
from phlexible.extras import optional
from phlexible.state.initial_state import InitialKind
from phlexible.step.integration.schemes import StepOptions


def simulate(
    build: Build,
    sensors: Callable[[Any], Mapping[str, Sensor]],
    parameters: Mapping[str, Any],
    *,
    duration: float,
    step: float,
    inputs: Mapping[str, tuple[Any, Any]] | None = None,
    initial: Start = InitialKind.UNDEFORMED,
    order: int = 2,
    numerical_damping: float = 0.0,
    tolerance: float | None = None,
) -> tuple[Array, dict[str, Any]]:
    """Simulate a model and return sensor values as PyTorch tensors that ``backward`` can differentiate, by the
    adjoint method. ``build`` makes the model from dictionaries of ``parameters`` and ``inputs`` (as signals),
    ``sensors`` its sensors. The run takes ``duration`` in time steps of ``step`` [s]. Return the instants and a
    dictionary of tensors. Second derivatives are refused.

    Losses of them are differentiated to parameters (of bodies, controllers, initial states) and samples of inputs
    by ``ph.gradient``, once for each ``backward``. Second derivatives are refused.

    Args:
        build: parameters and inputs by name -> model: numbers, arrays of NumPy, and a ``ph.Signal`` of each input.
        sensors: model -> sensors by name.
        parameters: tensors by name.
        duration, step: as of ``simulate`` [s].
        inputs: by name the times (n,) [s] and a tensor of the values (n,) of a signal that is linear between them.
        initial, order, numerical_damping, tolerance: as of ``ph.gradient``.

    Returns:
        The instants, shape (N + 1,) [s], and tensors by the names of the sensors, (N + 1,) or (N + 1, components).

    Raises:
        MissingExtraError: PyTorch is not installed.
        ParameterError: no tensors, names that are given twice.
        PhlexibleError: as ``ph.gradient``.
    """
    from phlexible.derivatives.gradient import ReadingsOfRuns  # with the compiler

    torch, options = optional("torch", "torch"), StepOptions(order, 1, numerical_damping, tolerance).checked()
    runs = ReadingsOfRuns(build, sensors, parameters, inputs or {}, duration, step, initial, options)
    for name, tensor in runs.values.items():
        if not isinstance(tensor, torch.Tensor):
            raise ParameterError(f"{name} must be a tensor of PyTorch, got {tensor!r}")
    seen: dict[str, Any] = {}
    readings = _functions()[0].apply(runs, seen, *runs.values.values())
    return seen["time"], dict(zip(seen["names"], readings, strict=True))


def _arrays(tensors: Iterable[Any]) -> list[Array]:
    """Return PyTorch tensors as NumPy arrays of the same numbers."""
    return [each.detach().cpu().numpy() for each in tensors]


@cache
def _functions() -> tuple[Any, Any]:
    """Import PyTorch and return two subclasses of its ``autograd.Function``: one simulates a run, the other
    computes its derivatives. The first takes ``runs``, a dictionary ``seen`` and the parameter tensors, and returns
    one tensor for each sensor; it stores times and sensor names in ``seen``. Its backward pass calls the second,
    which takes the derivatives of a loss with respect to all sensor values and returns those with respect to the
    parameters. Differentiating the second raises ``ModelError``."""
    torch = optional("torch", "torch")

    class SlopesOfRun(torch.autograd.Function):  # type: ignore[misc, name-defined]  # known when it is installed
        @staticmethod
        def forward(context: Any, runs: Any, names: list[str], *both: Any) -> Any:
            weights, tensors = _arrays(both[: len(names)]), both[len(names) :]
            felt = {name: weight.astype(np.float64) for name, weight in zip(names, weights, strict=True)}
            return tuple(
                torch.as_tensor(slope, dtype=tensor.dtype, device=tensor.device)
                for slope, tensor in zip(runs.vjp(_arrays(tensors), felt), tensors, strict=True)
            )

        @staticmethod
        def backward(context: Any, *weights: Any) -> Any:
            raise ModelError(
                "second derivatives of a run are not known: phlexible.torch.simulate has first ones only; leave out"
                " create_graph=True"
            )

    class SimulatedRun(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(context: Any, runs: Any, seen: dict[str, Any], *tensors: Any) -> Any:
            seen["time"], found = runs.read(_arrays(tensors))
            context.runs, context.names = runs, seen.setdefault("names", list(found))
            context.save_for_backward(*tensors)
            return tuple(torch.as_tensor(np.array(values), device=tensors[0].device) for values in found.values())

        @staticmethod
        def backward(context: Any, *weights: Any) -> Any:
            tensors = context.saved_tensors
            slopes = SlopesOfRun.apply(context.runs, context.names, *weights, *tensors)
            return (None, None, *slopes)

    return SimulatedRun, SlopesOfRun
