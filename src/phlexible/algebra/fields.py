"""Fields of descriptions by types that say what users may give and what is kept: ``mass: Positive``."""

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
"""Makes of the name of a field and of what a user gave what the field holds, or refuses it."""

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
    """The check of a field that holds a member of an enumeration."""
    return lambda name, value: option(name, value, options)


def convert_fields(record: Any) -> None:
    """Makes of the fields of a frozen dataclass what their types say, in ``__post_init__``.

    A field of type ``Annotated[..., check]`` gets ``check(name, value)``; None stays where its type allows it.

    Raises:
        ParameterError: names the first field that cannot hold its value.
    """
    held = vars(record)
    for name, check, allows_none in _checks(record.__class__):
        if held[name] is not None or not allows_none:
            held[name] = check(name, held[name])


def set_fields(record: object, **values: object) -> None:
    """Sets fields of a frozen dataclass while it is made, which follow from several others."""
    vars(record).update(values)


@cache
def _checks(kind: Any) -> tuple[tuple[str, Check, bool], ...]:
    """Fields with a check, and whether None is no value to be checked."""
    found = []
    for each in fields(kind):
        types = get_args(each.type) if get_origin(each.type) in (Union, UnionType) else (each.type,)
        checks = [part.__metadata__[0] for part in types if get_origin(part) is Annotated]
        found += [(each.name, check, NoneType in types) for check in checks if each.init]
    return tuple(found)
