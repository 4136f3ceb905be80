"""Numbers of a library that follow from parameters, found from models at several values."""

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.mechanism import Mechanism, first_difference
from phlexible.errors import ParameterError, PhlexibleError
from phlexible.libraries.data import ModelData
from phlexible.libraries.parameters import FunctionFit, ParameterData, ParameterRange, SampledValues
from phlexible.step.tables.declarations import ANGLE, TABLES, Kind
from phlexible.step.tables.memory import OF_TYPES

SCALES = ("velocity_weight", "inverse_inertia", "row_length", "force_energy", "scales", "start of energy")
"""Tables for which rough values suffice: reference values for comparisons, and energies, which model.c computes."""
FORCES = ("start of multiplier", "start of force")
"""Forces at the start, which model.c has with usual values of the parameters only: quotients of sums in masses."""
MOVES = frozenset(
    "vector_base shape chord_weight chord_total term_coefficient function_constant pair_weight"
    " force_factor force_weight length_scale rod_value rod_slope rod_share soft_gradient product_rest face_value"
    " member_radius member_around member_size mesh_low mesh_high mesh_normal mesh_corner mesh_edge_normal"
    " mesh_corner_normal square_factor moving".split()
)
"""Tables of joints and shapes of bodies; states for other numbers of these are not valid for the model."""


AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)


@dataclass(frozen=True, eq=False)
class Variants(Generic[AnyMechanism]):
    """Model as a function of parameters.

    Attributes:
        ranges: of them.
        made: their values -> the model and its outputs.
    """

    ranges: Sequence[ParameterRange]
    made: Callable[[Mapping[str, float]], tuple[AnyMechanism, Mapping[str, Sensor] | None]]


DataOf = Callable[[Mapping[str, float], Sequence[str] | None], ModelData]
"""Function of parameter values and names of inputs that returns the data."""


def with_parameters(
    made: DataOf,
    usual: ModelData,
    ranges: Sequence[ParameterRange],
    inputs: Sequence[str] | None,
    grips: Collection[str] = (),
) -> ModelData:
    """Return library data in which values of the model depend on parameters, by functions that are fitted to
    models built with several parameter values. ``made`` returns the data for given parameters, ``usual`` is the
    data for default values, ``ranges`` are those of the parameters. ``inputs`` are the user's (None: all that do
    not depend on parameters), without ``grips``. Raise ``ParameterError`` if a parameter changes the structure, or
    nothing.

    Args:
        made: data of the model with some values.
        usual: with the usual ones.
        ranges: of the parameters.
        inputs: as of ``build``; None: all whose values no parameter sets.
        grips: names of inputs that are there whatever is chosen.

    Raises:
        ParameterError: parameters that change more than numbers, that no number depends on, or on which numbers
            depend in ways that cannot be written.
    """
    names = [each.name for each in ranges]
    if inputs is None:
        inputs = [name for name in _free_inputs(made, usual, ranges) if name not in grips]
        usual = made(usual_values(ranges), inputs)
    parts, words = usual.value_sections(), usual.packed_values()
    kinds = np.repeat(np.arange(len(parts)), [size for _, size in parts])
    structure = usual.structure

    def sample(values: Sequence[float]) -> Array:
        now = dict(zip(names, values, strict=True))
        said = ", ".join(f"{name} = {value:g}" for name, value in now.items())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                data = made(now, inputs)
            except PhlexibleError as error:
                raise ParameterError(f"the model cannot be built with {said}: {error}") from error
        found = data.packed_values() if data.structure == structure else words[:0]
        found = np.where(is_force, words, found) if len(found) == len(words) else found
        if len(found) != len(words) or not np.array_equal(found[is_same], words[is_same]):
            raise ParameterError(
                f"with {said} {difference(usual, data)}: parameters change numbers of the model, and its parts stay"
                " what they are with usual values; choose ranges without such values, or build a library for each"
            )
        return np.where(is_same, 0.0, found.view(np.float64))

    integers = {name for name, table in usual.memory.system_tables.items() if table.dtype.kind == "i"}
    is_whole = np.isin(kinds, [k for k, (name, _) in enumerate(parts) if name in integers])
    is_force = np.isin(kinds, [k for k, (name, _) in enumerate(parts) if name in FORCES])
    is_same = is_force | is_whole | ~np.isfinite(words.view(np.float64))
    is_scale = np.isin(kinds, [k for k, (name, _) in enumerate(parts) if name in SCALES])
    is_angle = usual.memory["coordinate_of"][usual.memory.counts["constraints"] :] == ANGLE
    is_scale[kinds == next(k for k, (name, _) in enumerate(parts) if name == "start of theta")] = ~is_angle
    meaning = SampledValues([description_of_values(name) for name, _ in parts], kinds, is_scale)
    functions = FunctionFit(ranges, sample, meaning).functions()
    changed = [set[str]() for _ in ranges]
    for index, (terms, _) in zip(functions.indices.tolist(), functions.entries, strict=True):
        for factor in {factor for term in terms.tolist() for factor in functions.terms[term]}:
            changed[functions.basis[factor][0]].add(parts[kinds[index]][0])
    for own, tables in zip(ranges, changed, strict=True):
        if not tables:
            raise ParameterError(f"nothing in the model changes with {own.name}; leave it out of parameters=")
    return replace(usual, parameters=ParameterData(tuple(ranges), functions, tuple(map(_is_tunable, changed))))


def usual_values(ranges: Sequence[ParameterRange]) -> dict[str, float]:
    """Return the default value of each parameter of a library by name: the middle value of the user's (low, value,
    high). ``ranges`` are the ranges of all parameters."""
    return {each.name: each.usual for each in ranges}


def _free_inputs(made: DataOf, usual: ModelData, ranges: Sequence[ParameterRange]) -> list[str]:
    """Return the names of the inputs of a library whose initial values do not depend on its parameters. Each
    parameter is set to both ends of its range, all others to their defaults, and the initial values are compared
    exactly with the default ones. ``made`` returns the model data for given values, ``usual`` is the data for
    default values."""
    found = {each.name: each.start for each in usual.inputs}
    for own in ranges:
        for value in (own.low, own.high):
            other = {each.name: each.start for each in made(usual_values(ranges) | {own.name: value}, None).inputs}
            found = {name: x for name, x in found.items() if name in other and np.array_equal(other[name], x)}
    return list(found)


def _is_tunable(tables: set[str]) -> bool:
    return not tables & MOVES and any(not name.startswith("start of") and name not in SCALES for name in tables)


# What parameters change that they cannot, in the words of users, naming parts of the model.

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
    "product": "stiffnesses or shapes of a shell",
    "face": "where pressure acts",
    "rod": "shapes of a rod",
    "member": "contacts",
    "roll": "what rolls",
    "mesh": "surfaces of contacts",
    "contact": "contacts",
    **dict.fromkeys(("bristle", "friction", "bearing"), "friction"),
    **dict.fromkeys(("force", "push", "pair", "branch", "fading"), "a spring, damper, contact or creeping law"),
}
"""Descriptions of numbers by the first letters of their tables."""
_OF_TYPES = {table.name for table in TABLES if table.kind is not Kind.INTEGER and table.size in OF_TYPES}


def description_of_values(table: str) -> str:
    """Return a phrase that describes the values in an array of a model, such as "masses of bodies", for error
    messages. ``table`` is the name of the array, which is named itself if no phrase is known."""
    if table in _OF_TYPES:
        return OF_BODIES
    return next((words for begin, words in WORDS.items() if table.startswith(begin)), f"numbers of {table!r}")


def difference(usual: ModelData, other: ModelData) -> str:
    """Return a text on the first difference in structure between a model with ``other`` parameter values and the
    ``usual`` one. It is the end of an error message. Bodies, joints, elements, inputs, their values and names of
    outputs are compared. If all are equal, a general text on laws, joints and modes is returned."""
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
