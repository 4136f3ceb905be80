"""Types of dataclass fields with checks that convert or refuse user input: ``mass: Positive``."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    checked_damping_ratio,
    checked_relaxation_time,
    finite,
    flag,
    non_negative,
    option,
    optional_text,
    positive,
    times,
    unit_vector,
    vector,
    whole,
)

Check = Callable[[str, Any], Any]
"""Function of the name of a field and a user's value that returns the converted value, or refuses it."""

Positive = Annotated[float, positive]
NonNegative = Annotated[float, non_negative]
DampingRatio = Annotated[float | Sequence[float], checked_damping_ratio]
RelaxationTime = Annotated[float, checked_relaxation_time]
Finite = Annotated[float, finite]
Count = Annotated[int, whole]
Flag = Annotated[bool, flag]
Vector = Annotated[ArrayLike, vector]
UnitVector = Annotated[ArrayLike, unit_vector]
Name = Annotated[str | None, optional_text]
Times = Annotated[Sequence[float], times]


def option_of(options: type[Enum]) -> Check:
    """Return a function that checks a field of a dataclass: it converts a user's value to a member of the
    enumeration ``options``, or raises ``ParameterError``. It stands in annotations such as ``Annotated[str,
    option_of(Method)]``."""
    return lambda name, value: option(name, value, options)


def convert_fields(record: Any) -> None:
    """Check and convert, in place, all fields of ``record``, a frozen dataclass, whose type annotation has a
    check, such as ``mass: Annotated[float, positive]``. It is called in ``__post_init__``.

    A field of type ``Annotated[..., check]`` gets ``check(name, value)``; None is allowed if the type allows it.

    Raises:
        ParameterError: a field has a wrong value; the message names the first one.
    """
    values = vars(record)
    for name, check, allows_none in _checks(record.__class__):
        if values[name] is not None or not allows_none:
            values[name] = check(name, values[name])


def set_fields(record: object, **values: object) -> None:
    """Set fields of ``record``, a frozen dataclass, by keyword to values computed in its ``__init__`` or
    ``__post_init__``, where ordinary assignment is refused."""
    vars(record).update(values)


def field_values(record: Any, kind: Any = None) -> dict[str, Any]:
    """Return the fields of ``record``, an instance of a dataclass, by name: all of them, or those of its base class
    ``kind``."""
    return {each.name: getattr(record, each.name) for each in fields(kind or record)}


@cache
def _checks(kind: Any) -> tuple[tuple[str, Check, bool], ...]:
    """Return name, check function and whether None is allowed, for each checked field of the dataclass ``kind``:
    each that is an argument of its constructor and has a check in its type annotation."""
    result = []
    for entry in fields(kind):
        types = get_args(entry.type) if get_origin(entry.type) in (Union, UnionType) else (entry.type,)
        checks = [part.__metadata__[0] for part in types if get_origin(part) is Annotated]
        result += [(entry.name, check, NoneType in types) for check in checks if entry.init]
    return tuple(result)
