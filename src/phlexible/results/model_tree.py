"""A model in words: bodies, joints, loads with their parameters, as tables of text."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from phlexible.mechanism.mechanism import Mechanism

MOST_NUMBERS = 9
HIDDEN = frozenset({"first", "second", "joint", "name", "attachment", "body"})
"""Fields that the heading of a part already says."""


@dataclass(frozen=True)
class Part:
    """One part of a model.

    Attributes:
        heading: name and kind.
        rows: name and value of each parameter that is not None.
    """

    heading: str
    rows: tuple[tuple[str, str], ...]


def model_parts(mechanism: Mechanism) -> dict[str, list[Part]]:
    """All parts of a model, by family; a body placed several times with the same description is told once."""
    bodies = []
    for placed in mechanism.bodies:
        place = [("position", written(placed.place))]
        if placed.data.elastic_count:
            place.append(("coordinates", str(placed.data.elastic_count)))
        heading = f"{placed.name}: {type(placed.body).__name__}, {placed.data.mass:.4g} kg"
        bodies.append(Part(heading, (*place, *_rows(placed.held))))
    families = {
        "bodies": bodies,
        "joints": [Part(str(joint), tuple(_rows(joint))) for joint in mechanism.joints],
        "loads": [Part(str(load), tuple(_rows(load))) for load in mechanism.loads],
        "springs, dampers, motors": [Part(str(each), tuple(_rows(each))) for each in mechanism.elements],
        "drives": [Part(str(drive), tuple(_rows(drive))) for drive in mechanism.drives],
    }
    return {name: parts for name, parts in families.items() if parts}


def counted(mechanism: Mechanism) -> str:
    """ "3 bodies, 4 joints, 1 load, 2 force elements, 1 drive", without what there is none of."""
    counts = (
        (len(mechanism.bodies), "body", "bodies"),
        (len(mechanism.joints), "joint", "joints"),
        (len(mechanism.loads), "load", "loads"),
        (len(mechanism.elements), "force element", "force elements"),
        (len(mechanism.drives), "drive", "drives"),
    )
    found = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return ", ".join(found) or "no bodies"


def written(value: Any) -> str:
    """A parameter in a few characters: never an array of many numbers, never an address."""
    match value:
        case None:
            return ""
        case bool() | str():
            return str(value)
        case Enum():
            return str(value.value)
        case int() | float() | np.number():
            return f"{value:.6g}"
        case np.ndarray() if value.size > MOST_NUMBERS:
            return f"array {' x '.join(map(str, value.shape))}"
        case np.ndarray():
            return _listed(value)
        case tuple() | list():
            if len(value) > MOST_NUMBERS:
                return f"{len(value)} entries"
            return f"({', '.join(written(each) for each in value)})"
    if is_dataclass(value) and getattr(value, "__dataclass_params__").repr:  # noqa: B009  # all have them
        said = [(each.name, getattr(value, each.name)) for each in fields(value) if each.init]
        inside = [f"{name}={written(each)}" for name, each in said if each is not None]
        return f"{type(value).__name__}({', '.join(inside)})"
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)}"
    return str(value)


def _rows(part: Any) -> Iterator[tuple[str, str]]:
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
