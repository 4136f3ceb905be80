"""What users give as inputs of a port-Hamiltonian model, as one function u(t, x)."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array
from phlexible.algebra.user_functions import called
from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.model import PortHamiltonianModel
from phlexible.reference.equations import Inputs, ManyInputs, one_by_one

Signal: TypeAlias = ArrayLike | Callable[..., ArrayLike]
"""Numbers, a function of t, or a function of t and the state x."""

GivenInputs: TypeAlias = Callable[..., ArrayLike] | Mapping[str, Signal] | None


@dataclass(frozen=True)
class AskedInputs:
    """u of many instants, and whether it asks for x."""

    function: ManyInputs
    depends_on_state: bool


def asked_inputs(model: PortHamiltonianModel, given: GivenInputs, x: Array) -> AskedInputs:
    """The inputs as one function, tried at t = 0 and the initial state.

    Raises:
        ParameterError: no function or table of ports, a port that the model does not have, or a wrong shape.
        ModelError: no such port.
        FunctionError: a function raised.
    """
    if given is None:
        return AskedInputs(model.given_inputs, True)
    if callable(given):
        whole, asks = _signal("inputs", given, model.port_size)
        result = AskedInputs(one_by_one(whole), asks)
    elif isinstance(given, Mapping):
        parts = [
            (model.port_slice(name), *_signal(f"the input of {name!r}", each, model.port(name).size))
            for name, each in given.items()
        ]

        size = model.port_size

        def joined(time: float, x: Array) -> Array:
            u = np.zeros(size)
            for place, function, _ in parts:
                u[place] = function(time, x)
            return u

        result = AskedInputs(one_by_one(joined), any(asks for _, _, asks in parts))
    else:
        raise ParameterError(
            f"inputs must be None, a function u(t) or u(t, x), or a dict of ports such as "
            f"{{'start force': u}}, got {given!r}"
        )
    result.function(np.zeros(1), x[None])
    return result


def _signal(name: str, given: Any, size: int) -> tuple[Inputs, bool]:
    """u(t, x) of one port or of all, and whether it asks for x."""
    if not callable(given):
        value = _checked(name, given, size)
        return (lambda time, x: value), False
    asks = _arguments(name, given) == 2

    def function(time: float, x: Array) -> Array:
        values = (time, x) if asks else (time,)
        return _checked(name, called(given, name, *values, at=f"at t = {time:g} s"), size)

    return function, asks


def _checked(name: str, value: Any, size: int) -> Array:
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be {size} numbers, got {value!r}") from None
    found = found.reshape(1) if found.ndim == 0 and size == 1 else found
    if found.shape != (size,) or not np.isfinite(found).all():
        raise ParameterError(f"{name} must be {size} finite numbers, got {value!r}")
    return found


def _arguments(name: str, function: Callable[..., Any]) -> int:
    """1 for u(t), 2 for u(t, x): arguments that have to be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in kinds and p.default is inspect.Parameter.empty]
    if len(needed) not in (1, 2):
        raise ParameterError(f"{name} must be a function of t, or of t and x; it takes {len(needed)} arguments")
    return len(needed)
