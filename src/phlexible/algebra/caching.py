"""Caches of functions of immutable objects or of numbers."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from phlexible.algebra.arrays import Array

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


def cached_on_owner(function: Function) -> Function:
    """Decorator for a function of an object, and of hashable arguments by position if it has some: each result is
    computed at the first call with these arguments and stored in an attribute of the object.

    Models that are built together share descriptions of bodies, and with them the cached results.
    """
    name = f"_{function.__name__}"

    @wraps(function)
    def cached(owner: Any, *arguments: Any) -> Any:
        results: dict[tuple[Any, ...], Any] = vars(owner).setdefault(name, {})
        if arguments not in results:
            results[arguments] = function(owner, *arguments)
        return results[arguments]

    return cached  # type: ignore[return-value]  # of the same signature


CACHED_SIZE, CACHED_COUNT = 4096, 64
"""Limits of ``cached_by_values``: largest number of entries of an array, and number of cached results."""


class _HashableArray(NamedTuple):
    """Content and shape of an array, which can be a key of a cache; a call returns the array."""

    content: bytes
    shape: tuple[int, ...]

    def __call__(self) -> Array:
        return np.frombuffer(self.content).reshape(self.shape)


def cached_by_values(function: Callable[..., Result]) -> Callable[..., Result]:
    """Decorator for a function of arrays and hashable values: its last 64 results are stored and returned again
    when all arguments have the same values. Arrays are compared by content, not by identity."""

    @lru_cache(CACHED_COUNT)
    def result_of(*arguments: Any) -> Result:
        return function(*(value() if isinstance(value, _HashableArray) else value for value in arguments))

    @wraps(function)
    def cached(*arguments: Any) -> Result:
        return result_of(*(_hashable(value) if isinstance(value, np.ndarray) else value for value in arguments))

    return cached


def _hashable(array: Array) -> _HashableArray:
    """Return the content (as float64) and the shape of an array as a hashable tuple, which serves as a key of a
    cache."""
    return _HashableArray(np.asarray(array, dtype=np.float64).tobytes(), array.shape)
