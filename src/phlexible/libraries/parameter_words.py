"""What parameters of a library change that they cannot: in the words of users, naming parts of the model."""

from collections.abc import Callable, Sequence

import numpy as np

from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.libraries.data import ModelData
from phlexible.step.tables.declarations import TABLES, Kind
from phlexible.step.tables.memory import OF_TYPES

PARTS: dict[str, Callable[[Mechanism], Sequence[object]]] = {
    "body": lambda mechanism: mechanism.bodies,
    "joint": lambda mechanism: mechanism.joints,
    "drive": lambda mechanism: mechanism.drives,
    "load": lambda mechanism: mechanism.loads,
    "element": lambda mechanism: mechanism.elements,
    "relation": lambda mechanism: mechanism.relations,
}
"""Kinds of parts by the words for them."""
OF_BODIES = "masses, stiffnesses or shapes of a body"
WORDS = {
    "start of": "the start",
    "moving": "the path of a moving frame or drive",
    "measured": "what outputs are measured by",
    "mass": OF_BODIES,
    "weight": "weights of bodies",
    "vector": "where joints, springs or loads are on bodies",
    "shape": "where joints, springs or loads are on bodies",
    "chord": "where joints, springs or loads are on bodies",
    "term": "what joints and springs hold",
    "function": "what joints and springs hold",
    "soft": "masses or stiffnesses of a string, shell or soft body",
    "face": "where pressure acts",
    "rod": "shapes of a rod",
    "member": "contacts of many bodies",
    "mesh": "surfaces of contacts",
    "contact": "contacts of many bodies",
    **dict.fromkeys(("bristle", "friction", "bearing", "slip"), "friction"),
    **dict.fromkeys(("force", "push", "pair", "branch", "fading"), "a spring, damper, contact or creeping law"),
}
"""Numbers by how the names of their tables begin."""
_OF_TYPES = {table.name for table in TABLES if table.kind is not Kind.INTEGER and table.size in OF_TYPES}


def numbers_in_words(table: str) -> str:
    """What the numbers of a table of ``ModelData.parts_of_numbers`` are."""
    if table in _OF_TYPES:
        return OF_BODIES
    return next((words for begin, words in WORDS.items() if table.startswith(begin)), f"numbers of {table!r}")


def difference(usual: ModelData, other: ModelData) -> str:
    """What another model has that the usual one has not, as the end of "with stiffness = 0 ..."."""
    first, second = usual.stepper.assembly.system.mechanism, other.stepper.assembly.system.mechanism
    for kind, of in PARTS.items():
        own, its = _by_name(of(first)), _by_name(of(second))
        for name in [*its.keys() - own.keys(), *own.keys() - its.keys()]:
            return f"the model has {'a' if name in its else 'no'} {kind} {name!r}"
        for name, part in own.items():
            if type(part) is not type(its[name]):
                return f"the {kind} {name!r} is a {type(its[name]).__name__}, not a {type(part).__name__}"
    for body, now in zip(first.bodies, second.bodies, strict=True):
        if type(body.body) is not type(now.body):
            return f"the body {body.name!r} is a {type(now.body).__name__}, not a {type(body.body).__name__}"
        count, usual_count = now.data.elastic_count, body.data.elastic_count
        if count != usual_count:
            return (
                f"the body {body.name!r} has {count} elastic coordinates (by elements or modes), not {usual_count}"
            )
    names, others = (data.stepper.inputs for data in (usual, other))
    for name in [*others.keys() - names.keys(), *names.keys() - others.keys()]:
        an = "an" if name in others else "no"
        return f"{name!r} is {an} input, as a constant force or torque without stiffness is"
    for given, another in zip(usual.inputs, other.inputs, strict=True):
        if not np.array_equal(given.start, another.start):
            words = "an input is set by itself: leave it out of inputs="
            return f"the input {given.name!r} has another value ({words})"
    if [each.name for each in usual.outputs.outputs] != [each.name for each in other.outputs.outputs]:
        return "the outputs are others"
    return (
        "a law, joint, contact or function of time is put together in another way, or other shapes are the lowest"
        " of modes="
    )


def _by_name(parts: Sequence[object]) -> dict[str, object]:
    return {getattr(part, "name", None) or str(part): part for part in parts}
