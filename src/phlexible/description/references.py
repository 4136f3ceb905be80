"""What parts refer to: one walk over their fields, and copies of parts that refer to others."""

from collections.abc import Iterator, Mapping
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
        if not isinstance(each, ENDS):
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


def _direct(value: object) -> Iterator[object]:
    match value:
        case tuple() | list():
            yield from value
        case Mapping():
            yield from value
            yield from value.values()
        case _:
            yield from _fields(value).values()


def _fields(value: object) -> dict[str, Any]:
    """Arguments of a dataclass, in which there may be references."""
    if isinstance(value, CLOSED) or not is_dataclass(value) or isinstance(value, type):
        return {}
    if callable(value) and not isinstance(value, ModelPart):
        return {}
    return {name: getattr(value, name) for name in _names(type(value))}


@cache
def _names(kind: type) -> tuple[str, ...]:
    """Arguments of a class of dataclasses."""
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
