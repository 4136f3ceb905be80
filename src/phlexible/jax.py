"""Runs as differentiable functions of JAX: ``phlexible.jax.simulate`` (``pip install phlexible[jax]``)."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

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
    example: Mapping[str, Any] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Simulate a model and return sensor readings as JAX arrays that ``jax.grad`` can differentiate, by the
    adjoint of the run. The function ``build`` makes the model from ``parameters`` and ``inputs`` (signals) by
    name, ``sensors`` its sensors. The run takes ``duration`` in time steps of ``step`` [s].

    Losses of them are differentiated to parameters (of bodies, controllers, initial states) and samples of inputs
    by ``ph.gradient``, once for each vjp. Second derivatives are refused, and JAX refuses ``jax.jvp``. Runs are
    computed in float64; arrays have the precision that JAX is set to (``jax_enable_x64``).

    Args:
        build: parameters and inputs by name -> model: numbers, arrays of NumPy, and a ``ph.Signal`` of each input.
        sensors: model -> sensors by name.
        parameters: numbers or arrays by name.
        duration, step: as of ``simulate`` [s].
        inputs: by name the times (n,) [s] and the values (n,) of a signal that is linear between them.
        initial, order, numerical_damping, tolerance: as of ``ph.gradient``.
        example: numbers for all parameters and samples. Inside of ``jax.jit`` and ``jax.vmap``, which know shapes
            only, one run of them says which shapes the readings have; elsewhere it is not needed.

    Returns:
        The instants, shape (N + 1,) [s], and arrays by the names of the sensors, (N + 1,) or (N + 1, components).

    Raises:
        MissingExtraError: JAX is not installed.
        ParameterError: names that are given twice; no example where one is needed.
        PhlexibleError: as ``ph.gradient``.
    """
    from phlexible.derivatives.gradient import ReadingsOfRuns  # with the compiler

    jax, options = optional("jax", "jax"), StepOptions(order, 1, numerical_damping, tolerance).checked()
    runs = ReadingsOfRuns(build, sensors, parameters, inputs or {}, duration, step, initial, options)
    named, names = runs.values, list[str]()

    def read(*values: Any) -> tuple[Any, ...]:
        time, found = runs.read(values)
        names[:] = found
        return (time, *found.values())

    def vjp(values: Any, weights: Any) -> tuple[Any, ...]:
        felt = {name: np.asarray(each, dtype=np.float64) for name, each in zip(names, weights, strict=True)}
        return tuple(runs.vjp(values, felt))

    def shapes(arrays: Any) -> Any:
        return [jax.ShapeDtypeStruct(np.shape(each), jax.numpy.asarray(0.0).dtype) for each in arrays]

    def called(function: Callable[..., Any], like: Callable[[], Any], *values: Any) -> Any:
        """Return the values of a NumPy ``function`` of arrays as a tuple of JAX arrays, also while JAX traces and
        knows only shapes. When traced, ``function`` is called later as a callback, one call after the other under
        ``vmap``. Otherwise it is called at once. The function ``like``, without arguments, returns arrays of the
        same shapes and types as the results."""
        if not any(isinstance(each, jax.core.Tracer) for each in jax.tree.leaves(values)):
            return tuple(jax.numpy.asarray(each) for each in function(*jax.tree.map(np.asarray, values)))
        expected = shapes(like())

        def cast(*numbers: Any) -> Any:
            return tuple(np.asarray(f, dtype=e.dtype) for f, e in zip(function(*numbers), expected, strict=True))

        return jax.pure_callback(cast, tuple(expected), *values, vmap_method="sequential")

    def example_run() -> Any:
        if example is None or set(example) != set(named):
            raise ParameterError(
                f"inside of jax.jit and jax.vmap numbers are not known yet; give example= with numbers for "
                f"{', '.join(named)}, with which one run finds the shapes of the readings"
            )
        return read(*(example[name] for name in named))

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def slopes(values: Any, weights: Any) -> Any:
        return called(vjp, lambda: values, values, weights)

    @slopes.defjvp  # type: ignore[untyped-decorator]
    def refuse(primals: Any, tangents: Any) -> Any:
        raise ModelError("second derivatives of a run are not known: phlexible.jax.simulate has first ones only")

    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def run(*values: Any) -> Any:
        return called(read, example_run, *values)

    run.defvjp(lambda *values: (run(*values), values), lambda values, weights: slopes(values, weights[1:]))
    time, *readings = run(*(jax.numpy.asarray(each, dtype=float) for each in named.values()))
    return time, dict(zip(names, readings, strict=True))
