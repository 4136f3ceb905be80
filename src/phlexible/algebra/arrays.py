"""Array types and the checks of numbers that users hand in."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.errors import ParameterError

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]


def positive(name: str, value: float) -> float:
    """The value as a float, refused unless it is finite and positive."""
    number = finite(name, value)
    if not number > 0:
        raise ParameterError(f"{name} must be positive, got {value!r}")
    return number


def non_negative(name: str, value: float) -> float:
    """The value as a float, refused unless it is finite and not negative."""
    number = finite(name, value)
    if number < 0:
        raise ParameterError(f"{name} must not be negative, got {value!r}")
    return number


def finite(name: str, value: float) -> float:
    """The value as a float, refused unless it is one finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be one number, got {value!r}") from None
    if not np.isfinite(number):
        raise ParameterError(f"{name} must be finite, got {value!r}")
    return number


def vector(name: str, value: ArrayLike) -> Array:
    """The value as three finite numbers, shape (3,), read-only."""
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be three numbers, got {value!r}") from None
    if result.shape != (3,):
        raise ParameterError(f"{name} must have shape (3,), got shape {result.shape}: {value!r}")
    if not np.isfinite(result).all():
        raise ParameterError(f"{name} must be finite, got {value!r}")
    result.flags.writeable = False
    return result


def unit_vector(name: str, value: ArrayLike) -> Array:
    """The value divided by its length, shape (3,); refused if it is zero."""
    result = vector(name, value)
    length = float(np.linalg.norm(result))
    if length == 0:
        raise ParameterError(f"{name} must not be zero, got {value!r}")
    result = result / length
    result.flags.writeable = False
    return result
