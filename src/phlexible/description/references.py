"""What parts refer to: one walk over their fields, and copies of parts that refer to others."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import FunctionType, NoneType
from typing import Any, TypeVar

import numpy as np

from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod
from phlexible.description.ports import Attachment, ModelPart, PlacedBody

Value = TypeVar("Value")

CLOSED = (str, bytes, int, float, NoneType, np.ndarray, FunctionType, PlacedBody, Body, SplitBeam, Rod)
"""Nothing in them refers to a part: numbers, text, bodies. Nor are objects that users call looked into."""


ENDS = (*CLOSED, ModelPart, Attachment)


def values_in(value: object) -> Iterator[object]:
    """All values in the fields of a dataclass, in tuples, lists and mappings, and what these consist of.

    Parts and attachments are among them, what these refer to is not.
    """
    for each in _direct(value):
        yield each
        if not _is_end(each.__class__):
            yield from values_in(each)


def references(value: object) -> Iterator[ModelPart | Attachment]:
    """Parts of a model, and attachments to bodies, in a joint, load, sensor, ..., in the order of its fields."""
    return (each for each in values_in(value) if isinstance(each, ModelPart | Attachment))


def replaced(part: Value, new: Mapping[Any, Any]) -> Value:
    """A new part that refers to others; whatever is not in the mapping stays.

    Args:
        part: a joint, load, sensor, event, ..., a dataclass.
        new: parts by those that they stand for; attachments move to the same place on the new body.

    Raises:
        AttachmentError: a new body does not have the place.
    """
    return replace(part, **_changes(part, new))  # type: ignore[type-var]


def _direct(value: Any) -> Iterable[Any]:
    if isinstance(value, tuple | list):
        return value
    if _is_mapping(value.__class__):
        return (*value, *value.values())
    return [getattr(value, name) for name in _names(value.__class__)]


def _fields(value: Any) -> dict[str, Any]:
    """Arguments of a dataclass, in which there may be references."""
    return {name: getattr(value, name) for name in _names(value.__class__)}


# What follows from the class of a value alone: parts are walked over again and again.


@cache
def _is_end(kind: Any) -> bool:
    return issubclass(kind, ENDS)


@cache
def _is_mapping(kind: Any) -> bool:
    return issubclass(kind, Mapping)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Arguments of a class of dataclasses in which there may be references; none of others."""
    if issubclass(kind, (*CLOSED, type)) or not is_dataclass(kind):
        return ()
    if issubclass(kind, Callable) and not issubclass(kind, ModelPart):  # type: ignore[arg-type]
        return ()
    return tuple(each.name for each in fields(kind) if each.init)


def _other(value: Any, new: Mapping[Any, Any]) -> Any:
    """The value with other references, itself where it has none of them."""
    match value:
        case ModelPart():
            return new.get(value, value)
        case Attachment(placed=placed, location=location):
            return Attachment(new[placed], location) if placed in new else value
        case tuple() | list():
            items = [_other(each, new) for each in value]
            if all(a is b for a, b in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        case Mapping():
            pairs = tuple(value.items())
            others = _other(pairs, new)
            return value if others is pairs else dict(others)
    changes = _changes(value, new)
    return replace(value, **changes) if changes else value


def _changes(value: Any, new: Mapping[Any, Any]) -> dict[str, Any]:
    """Fields that refer to others, with their new values."""
    pairs = {name: (each, _other(each, new)) for name, each in _fields(value).items()}
    return {name: other for name, (each, other) in pairs.items() if other is not each}
