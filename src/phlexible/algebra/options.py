"""Checks of what users hand in beside numbers in the plain sense: counts, options, names, flags, paths of files."""

import os
from collections.abc import Mapping
from enum import Enum
from operator import index
from typing import Any, TypeVar

import numpy as np

from phlexible.algebra.arrays import NO_NUMBERS, finite, numbers
from phlexible.errors import ParameterError

MOST = 10**9
EXPECTED = "a sequence of times such as (0.5, 1.0)"

Option = TypeVar("Option", bound=Enum)


def whole(name: str, value: object, least: int = 1) -> int:
    """The value as an int, refused unless it is a whole number of at least ``least``; floats are none."""
    try:
        number = index(value)  # type: ignore[arg-type]  # what is none raises
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, NO_NUMBERS):
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if number > MOST:
        raise ParameterError(f"{name} must be at most {MOST:g}, got {value!r}")
    return number


def plane_or_space(value: object) -> int:
    """The dimension of a body that needs a plane to move in, refused unless it is 2 or 3."""
    if isinstance(value, int | np.integer) and int(value) in (2, 3):
        return int(value)
    on_a_line = "; on a line there are PointMass, String and Rod, which stretches as the axis of a beam does"
    is_line = isinstance(value, int | np.integer) and not isinstance(value, bool) and value == 1
    raise ParameterError(
        f"dimension must be 2 (the xy plane) or 3 (space), got {value!r}{on_a_line if is_line else ''}"
    )


def line_plane_or_space(value: object) -> int:
    """The dimension of a model, refused unless it is 1, 2 or 3."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) in (1, 2, 3):
        return int(value)
    raise ParameterError(f"dimension must be 1 (the x axis), 2 (the xy plane) or 3 (space), got {value!r}")


def option(name: str, value: object, options: type[Option]) -> Option:
    """The member of the enumeration that the value is or names."""
    try:
        return options(value)
    except ValueError:
        allowed = ", ".join(repr(each.value) for each in options)
        raise ParameterError(f"{name} must be one of {allowed}, got {value!r}") from None


def flag(name: str, value: object) -> bool:
    """The value as a bool, refused unless it is True or False (of Python or NumPy)."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise ParameterError(f"{name} must be True or False, got {value!r}")


def text(name: str, value: object) -> str:
    """The value, refused unless it is text that is not empty and that files can hold."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ParameterError(f"{name} must be text that is not empty and without NUL, got {value!r}")
    return value


def optional_text(name: str, value: object) -> str | None:
    """The same, or None."""
    return None if value is None else text(name, value)


def times(name: str, value: object) -> tuple[float, ...]:
    """Finite numbers, refused unless they come as a sequence."""
    found = numbers(name, value, EXPECTED)  # type: ignore[arg-type]  # what holds no numbers is refused
    if found.ndim != 1:
        raise ParameterError(f"{name} must be {EXPECTED}, got {value!r}")
    return tuple(finite(name, each) for each in found.tolist())


def file_path(name: str, value: object) -> str:
    """The path of a file as text, refused unless it is text or a ``pathlib.Path``."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    return text(name, path)


def mapping(name: str, value: object) -> dict[str, Any]:
    """A dictionary by names; None: an empty one.

    Raises:
        ParameterError: says what is wanted.
    """
    if not isinstance(value, Mapping | None):
        raise ParameterError(f"{name} must be a dictionary by names, got {value!r}")
    return dict(value or {})
