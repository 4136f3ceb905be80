"""Caches of functions of immutable objects."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def cached_on_owner(function: Function) -> Function:
    """Return a decorated function, of an object and hashable positional arguments, that computes each result once.
    Results are stored in a dictionary in the object's attribute "_" + function name, by the arguments. A result
    that is the object itself is not stored and computed again.

    Models that are built together share descriptions of bodies, and with them the cached results.
    """
    name = f"_{function.__name__}"

    @wraps(function)
    def cached(owner: Any, *arguments: Any) -> Any:
        results: dict[tuple[Any, ...], Any] = vars(owner).get(name) or vars(owner).setdefault(name, {})
        if arguments not in results:
            if (made := function(owner, *arguments)) is owner:
                return made  # not stored: an object that refers to itself is not freed when it is no longer used
            results[arguments] = made
        return results[arguments]

    return cached  # type: ignore[return-value]  # of the same signature


CACHED_SIZE, CACHED_COUNT = 4096, 64
"""Largest number of entries of a cached array, and number of cached results."""
