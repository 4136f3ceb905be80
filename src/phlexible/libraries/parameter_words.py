"""What parameters of a library change that they cannot: in the words of users, naming parts of the model."""

import numpy as np

from phlexible.description.mechanism.differences import first_difference
from phlexible.libraries.data import ModelData
from phlexible.step.tables.declarations import TABLES, Kind
from phlexible.step.tables.memory import OF_TYPES

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
    if found := first_difference(first, second):
        return found
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
