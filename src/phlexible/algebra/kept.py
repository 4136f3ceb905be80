"""What follows from an object that never changes, computed once and kept with it."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

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
