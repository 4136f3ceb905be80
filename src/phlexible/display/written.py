"""Values in a few characters: never an array of many numbers, never an address in memory."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

MOST_NUMBERS = 9
LONGEST = 160  # characters of a part inside of another
HIDDEN = frozenset({"first", "second", "joint", "name", "attachment", "body"})
"""Parameters that the name of a joint, load or body tells."""


def written(value: Any) -> str:
    """A value for a table or a line of text."""
    match value:
        case None:
            return "None"
        case bool():
            return str(value)
        case str():
            return value
        case Enum():
            return str(value.value)
        case int() | float() | complex() | np.number():
            return f"{value:.6g}"
        case np.ndarray() if value.size > MOST_NUMBERS:
            return f"array {' x '.join(map(str, value.shape))}"
        case np.ndarray():
            return _listed(value)
        case dict():
            return f"{{{', '.join(map(str, value))}}}" if len(value) <= MOST_NUMBERS else f"{len(value)} entries"
        case tuple() | list():
            if len(value) > MOST_NUMBERS:
                return f"{len(value)} entries"
            return f"({', '.join(written(each) for each in value)})"
    if is_dataclass(value) and getattr(value, "__dataclass_params__").repr:  # noqa: B009  # all have them
        inside = short_repr(value)
        return inside if len(inside) <= LONGEST else f"{type(value).__name__}(...)"
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)}"
    return str(value)


def shortened(names: Sequence[str], most: int = MOST_NUMBERS) -> str:
    """A few of many names, one after the other."""
    some = ", ".join(names[:most])
    return some if len(names) <= most else f"{some} and {len(names) - most} more"


def numbered(name: str, taken: Container[str], start: int) -> str:
    """The name with the first number from ``start`` on that is free."""
    number = start
    while (candidate := f"{name} {number}") in taken:
        number += 1
    return candidate


def short_repr(value: Any) -> str:
    """The repr of a dataclass without whole arrays; ``__repr__ = short_repr`` in its class."""
    said = [(each.name, getattr(value, each.name)) for each in fields(value) if each.init and each.repr]
    inside = [f"{name}={written(each)}" for name, each in said if each is not None]
    return f"{type(value).__name__}({', '.join(inside)})"


def described(part: Any) -> Iterator[tuple[str, str]]:
    """Name and value of each parameter of a dataclass that is not None, but for what its name says already."""
    if not is_dataclass(part):
        return
    for field in fields(part):
        value = getattr(part, field.name)
        if field.init and field.name not in HIDDEN and not field.name.startswith("_") and value is not None:
            if not (isinstance(value, tuple) and not value):
                yield field.name, written(value)


def _listed(array: Any) -> str:
    if array.ndim == 0:
        return f"{float(array):.6g}"
    return "(" + ", ".join(_listed(each) if each.ndim else f"{each:.6g}" for each in array) + ")"
