"""Users' functions of time at many times at once, where they allow it."""

from collections.abc import Callable
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, numbers

PROBES = 4
AGREEMENT = 1e-12


def several(times: Array) -> Array:
    """At least two times, so that what a function does with them does not depend on how many there are.

    Powers, for example, have other last digits for arrays than for numbers; with it a run has the same
    digits however its steps are grouped, and after it is resumed.
    """
    return np.repeat(times, 2) if len(times) == 1 else times


def probes(times: Array) -> list[int]:
    """Which of the times are asked for one by one as well."""
    last = len(times) - 1
    return [0] if last == 0 else sorted({share * last // (PROBES - 1) for share in range(PROBES)})


def at_all_times(function: Callable[[float], ArrayLike], times: Array) -> Array | None:
    """A vector function of time evaluated in one call, shape (times, 3); None where that fails.

    Most functions are written with NumPy and take an array of times as they are. Whether this one does
    is checked: components must broadcast to one number a time, be finite, and agree with single calls
    at some of the times.
    """
    if not len(times):
        return None
    asked = several(times)
    values, some = np.empty((len(asked), 3)), probes(times)
    try:
        x, y, z = function(asked)  # type: ignore[arg-type, misc, str-unpack]
        for k, component in enumerate((x, y, z)):
            if is_plain(component, asked):
                values[:, k] = component
            else:
                values[:, k] = np.broadcast_to(numbers("component", component, largest=ANY_SIZE), asked.shape)
        single = np.array([function(time) for time in times[some].tolist()])
        single = single if single.dtype == np.float64 else numbers("value", single, largest=ANY_SIZE)
    except Exception:  # a function for single times may fail in any way here; it is then called one by one
        return None
    scale = np.abs(values).max()
    if single.shape != (len(some), 3) or not scale < np.inf:
        return None
    return values[: len(times)] if np.abs(values[some] - single).max() <= AGREEMENT * scale else None


def is_plain(value: object, times: Array) -> TypeGuard[Array]:
    """Whether a function of times returned one number for each, so that nothing has to be converted."""
    return type(value) is np.ndarray and value.dtype == np.float64 and value.shape == times.shape
