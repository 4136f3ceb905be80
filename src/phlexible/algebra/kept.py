"""What follows from an object that never changes, or from numbers, computed once and kept."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from phlexible.algebra.arrays import Array

Owner = TypeVar("Owner")
Found = TypeVar("Found")


def kept(function: Callable[[Owner], Found]) -> Callable[[Owner], Found]:
    """The function of one object, whose answer the object keeps, as ``cached_property`` does of a method.

    Models that are built beside one another share descriptions of bodies, and with these what follows from them.
    """
    name = f"_{function.__name__}"

    @wraps(function)
    def found(owner: Owner) -> Found:
        known = vars(owner)
        if name not in known:
            known[name] = function(owner)
        result: Found = known[name]
        return result

    return found


KEPT_SIZE, KEPT_COUNT = 4096, 64
"""Of ``kept_by_numbers``: numbers of an array, beyond which it takes much memory, and how many answers are kept."""


class _Numbers(NamedTuple):
    content: bytes
    shape: tuple[int, ...]

    def __call__(self) -> Array:
        return np.frombuffer(self.content).reshape(self.shape)


def kept_by_numbers(function: Callable[..., Found]) -> Callable[..., Found]:
    """The function of arrays and of what hashes, whose last answers are kept: equal arrays share one."""

    @lru_cache(KEPT_COUNT)
    def answer(*given: Any) -> Found:
        return function(*(each() if isinstance(each, _Numbers) else each for each in given))

    @wraps(function)
    def found(*given: Any) -> Found:
        return answer(*(_numbers(each) if isinstance(each, np.ndarray) else each for each in given))

    return found


def _numbers(array: Array) -> _Numbers:
    return _Numbers(np.asarray(array, dtype=np.float64).tobytes(), array.shape)
