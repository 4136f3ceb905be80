"""References between parts, found by one walk over their fields, and copies of parts with other references."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from types import FunctionType, NoneType
from typing import Any, TypeVar

import numpy as np

from phlexible.algebra.caching import cached_on_owner
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod
from phlexible.description.ports import Attachment, ModelPart, PlacedBody

Value = TypeVar("Value")

CLOSED = (str, bytes, int, float, NoneType, np.ndarray, FunctionType, PlacedBody, Body, SplitBeam, Rod)
"""Types without references to parts: numbers, text, bodies. User functions are not searched either."""


ENDS = (*CLOSED, ModelPart, Attachment)


def nested_values(value: object) -> Iterator[object]:
    """Yield all values in the fields of a dataclass, tuple, list or mapping, and recursively the values in them,
    depth first. Model parts and points of bodies inside are yielded but not searched."""
    for component in _direct(value):
        yield component
        if not _is_end(component.__class__):
            yield from nested_values(component)


@cached_on_owner
def references(value: object) -> tuple[ModelPart | Attachment, ...]:
    """Return all model parts and points of bodies to which a value (joint, load, sensor) refers, directly or in
    nested fields, as a cached tuple. They are in the order of the fields; repeated references are returned
    repeatedly. Parts inside other parts are not searched."""
    return tuple(found for found in nested_values(value) if isinstance(found, ModelPart | Attachment))


def with_replaced_references(part: Value, new: Mapping[Any, Any]) -> Value:
    """Return a copy of a dataclass ``part`` in which references to other model parts are replaced as in the
    mapping ``new``. This includes nested fields. A point of a replaced body moves to the same location on the new
    body. Other values stay as they are.

    Args:
        part: a joint, load, sensor, event, ..., a dataclass.
        new: parts by those that they replace; attachments move to the same location on the new body.

    Raises:
        AttachmentError: a new body does not have the location.
    """
    return replace(part, **_changes(part, new))  # type: ignore[type-var]


def _direct(value: Any) -> Iterable[Any]:
    if isinstance(value, tuple | list):
        return value
    if _is_mapping(value.__class__):
        return (*value, *value.values())
    return [getattr(value, name) for name in _names(value.__class__)]


# Properties of the class of a value, cached because parts are searched often.


@cache
def _is_end(kind: Any) -> bool:
    return issubclass(kind, ENDS)


@cache
def _is_mapping(kind: Any) -> bool:
    return issubclass(kind, Mapping)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Return the names of the constructor fields of a dataclass type (``kind``), which may contain references to
    parts of a model. The tuple is empty for other types, closed types without references, and callables that are
    no model parts."""
    if issubclass(kind, (*CLOSED, type)) or not is_dataclass(kind):
        return ()
    if issubclass(kind, Callable) and not issubclass(kind, ModelPart):  # type: ignore[arg-type]
        return ()
    return tuple(each.name for each in fields(kind) if each.init)


def _with_references(value: Any, new: Mapping[Any, Any]) -> Any:
    """Return ``value`` with all parts of a model (bodies, joints, loads) in it replaced by the mapping ``new``
    from old to new parts. Tuples, lists, mappings, dataclasses and points of bodies are traversed recursively and
    copied where something changes. If nothing changes, ``value`` itself is returned."""
    match value:
        case ModelPart():
            return new.get(value, value)
        case Attachment(placed=placed, location=location):
            return Attachment(new[placed], location) if placed in new else value
        case tuple() | list():
            items = [_with_references(item, new) for item in value]
            if all(a is b for a, b in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        case Mapping():
            pairs = tuple(value.items())
            new_pairs = _with_references(pairs, new)
            return value if new_pairs is pairs else dict(new_pairs)
    changes = _changes(value, new)
    return replace(value, **changes) if changes else value


def _changes(value: Any, new: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a dictionary from the names of those fields of a dataclass that refer to replaced parts to their new
    values. It is empty if nothing changes."""
    pairs = {name: (old := getattr(value, name), _with_references(old, new)) for name in _names(value.__class__)}
    return {name: changed for name, (old, changed) in pairs.items() if changed is not old}
