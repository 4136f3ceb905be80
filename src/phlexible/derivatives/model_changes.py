"""Differences of the numbers of models, and the parameters that change each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import disjoint_groups
from phlexible.derivatives.costs import Costs
from phlexible.derivatives.parameters import Built, start_tables
from phlexible.derivatives.runs import TakenRun
from phlexible.derivatives.steps import Functions
from phlexible.step.tables.declarations import TABLES, Kind, Writer

ROUNDED = 1e-14
"""Relative change of a number below which it counts as round-off."""

NEAR = 0.02
"""Tolerance on the ratio of two changes, relative to the distance between the shares of parameters."""

REALS = tuple(
    table.name for table in TABLES if table.writer is Writer.SYSTEM and table.kind not in (Kind.COUNT, Kind.INTEGER)
)
INTEGERS = tuple(table.name for table in TABLES if table.writer is Writer.SYSTEM and table.kind is Kind.INTEGER)
Mask = NDArray[np.bool_]
Part = tuple[str, Any]
"""("table", name), ("moving", stretch), ("loads", stretch) or ("start", name)."""


@dataclass(frozen=True, eq=False)
class ModelChanges:
    """Changes of all numerical data of a perturbed model relative to the model of a run: table entries, prescribed
    vectors, loads and initial state.

    Attributes:
        parts: changes of tables, of prescribed vectors and loads in the steps of stretches, and of the initial
        state.
    """

    parts: Mapping[Part, Array]

    def of(self, kind: str) -> dict[Any, Array]:
        """Return those changes of model data that are of one kind ("table", "moving", "loads" or "start") as
        a dictionary. Its keys are names of tables, or indices of stretches of time steps. A stretch is a
        sequence of time steps without velocity jumps."""
        return {name: own for (each, name), own in self.parts.items() if each == kind}

    def times(self, factor: float) -> "ModelChanges":
        """Return these changes of model data (tables, prescribed values, initial state) multiplied by a factor."""
        return ModelChanges({part: factor * own for part, own in self.parts.items()})

    def plus(self, other: "ModelChanges") -> "ModelChanges":
        """Return the sum of this and the ``other`` set of changes of model data (tables, prescribed values,
        initial state); an array that only one of them has is taken from there."""
        known = self.parts
        sums = {part: known[part] + own if part in known else own for part, own in other.parts.items()}
        return ModelChanges({**known, **sums})

    def within(self, masks: Mapping[Part, Mask]) -> "ModelChanges":
        """Return these changes of model data with zeros where the masks are False. Tables without a mask are left
        out; prescribed values and initial state without a mask become zero."""
        found = {}
        for part, own in self.parts.items():
            if part in masks:
                found[part] = np.where(masks[part], own, 0.0)
            elif part[0] != "table":
                found[part] = np.zeros_like(own)
        return ModelChanges(found)


def _parts(
    tables: Mapping[str, Array], moving: Sequence[Array], loads: Sequence[Array], start: Mapping[str, Array]
) -> dict[Part, Array]:
    kinds: dict[str, Mapping[Any, Array]] = {"table": tables, "start": start}
    kinds |= {"moving": dict(enumerate(moving)), "loads": dict(enumerate(loads))}
    return {(kind, name): own for kind, each in kinds.items() for name, own in each.items()}


def sizes_of(run: TakenRun, base: Built[Any]) -> dict[Part, Array]:
    """Return the sizes of all data of a run's model (tables, prescribed values, initial state), against which
    changes are judged as round-off. They are the data themselves; for the initial state the largest value of
    each table. ``base`` is the model of the run."""
    functions = [stretch.functions for stretch in run.stretches]
    tables = {name: base.assembly.memory[name] for name in REALS}
    start = {name: np.abs(table).max(initial=0.0) for name, table in start_tables(base).items()}
    return _parts(tables, [f.moving for f in functions], [f.loads for f in functions], start)


def changed_masks(up: ModelChanges, sizes: Mapping[Part, Array]) -> dict[Part, Mask]:
    """Return masks of the model data that change by more than round-off (a fixed share of their size): a boolean
    array of the shape of the data for each array, by its kind and name. ``up`` are the changes, ``sizes`` the
    sizes. Arrays without such a change are left out."""
    found = {name: np.abs(array) > ROUNDED * np.abs(sizes[name]) for name, array in up.parts.items()}
    return {name: mask for name, mask in found.items() if mask.any()}


def random_factors(count: int) -> Array:
    """Return random factors for the changes of ``count`` parameters in three models that are perturbed together,
    shape (3, count). The ratios of the three changes of a table entry then tell which parameter changes it."""
    random, indices = np.random.default_rng(2), np.arange(count)
    rows = [(random.permutation(indices) + random.uniform(0.3, 0.7, count)) / count for _ in range(2)]
    return np.stack([np.ones(count), *(0.5 + 0.5 * row for row in rows)])


def separate_masks(
    changes: Sequence[ModelChanges], factors: Array, sizes: Mapping[Part, Array]
) -> list[dict[Part, Mask]] | None:
    """Return for each parameter masks of the model data that it alone changes. In ``changes`` are those of
    three models in which all parameters changed by different ``factors``, shape (3, parameters); their ratios
    tell the parameter. None if two parameters change one entry. ``sizes`` are those of the data, for
    round-off.

    Args:
        changes: of the models.
        factors: of each parameter's difference in each model, shape (models, parameters), ones in the first row.
        sizes: numbers of the model of the run.

    Returns:
        Masks of each parameter, see ``changed_masks``; None: several parameters change the same number.
    """
    found: list[dict[Part, Mask]] = [{} for _ in range(factors.shape[1])]
    order, near = np.argsort(factors[1]), NEAR / factors.shape[1]
    parts = [each.parts for each in changes]
    for name in parts[0].keys() | parts[1].keys() | parts[2].keys():
        if any(name not in each for each in parts):
            return None
        moves = np.any([np.abs(each[name]) > ROUNDED * np.abs(sizes[name]) for each in parts], axis=0)
        if not moves.any():
            continue
        first, second, third = (each[name][moves] for each in parts)
        if not first.all():
            return None
        ratio = second / first
        index = np.clip(np.searchsorted(factors[1][order], ratio), 1, len(order) - 1)
        before, after = order[index - 1], order[index]
        owner = np.where(np.abs(factors[1][before] - ratio) < np.abs(factors[1][after] - ratio), before, after)
        if max(np.abs(factors[1][owner] - ratio).max(), np.abs(factors[2][owner] - third / first).max()) > near:
            return None
        for k in np.unique(owner).tolist():
            mask = np.zeros(moves.shape, dtype=bool)
            mask[moves] = owner == k
            found[k][name] = mask
    return found


def disjoint_parameters(shared: Mapping[int, Mapping[Part, Mask]], unread: set[int]) -> list[list[int]]:
    """Split parameters into groups that can be perturbed together: no entry of the model data is changed by
    two parameters of a group. ``shared`` has masks of the data of each parameter. At most one parameter of a
    group changes sensor readings; those in ``unread`` change none."""
    sizes = {name: mask.size for masks in shared.values() for name, mask in masks.items()}
    begins = dict(zip(sizes, np.cumsum([1, *sizes.values()]).tolist(), strict=False))
    moved = []
    for k, masks in shared.items():
        measured = np.zeros(int(k not in unread), dtype=np.int64)  # number 0: what is measured
        moved.append(np.concatenate([measured, *(begins[name] + np.flatnonzero(masks[name]) for name in masks)]))
    members = list(shared)
    return [[members[j] for j in group] for group in (disjoint_groups(moved) if moved else ())]


def lie_within(other: ModelChanges, masks: Sequence[Mapping[Part, Mask]], sizes: Mapping[Part, Array]) -> bool:
    """Return whether all changes of ``other``, a perturbed model, lie within the masks of the parameters that
    were perturbed. Changes that are round-off of ``sizes`` are ignored."""
    for name, array in other.parts.items():
        moves = np.abs(array) > ROUNDED * np.abs(sizes[name]).max(initial=0.0)
        known = [each[name] for each in masks if name in each]
        if bool((moves & ~np.any(known, axis=0)).any() if known else moves.any()):
            return False
    return True


def equal_readings(first: Array, second: Array) -> bool:
    """Return whether two arrays of sensor readings, ``first`` and ``second``, have the same shape and are
    equal up to round-off."""
    if first.shape != second.shape:
        return False
    return bool((np.abs(second - first) <= ROUNDED * np.abs(first).max(initial=0.0)).all())


def data_changes(run: TakenRun, base: Built[Any], other: Built[Any]) -> ModelChanges | None:
    """Return the changes of all data (tables, prescribed values, initial state) from the model ``base`` of a run to
    the model ``other``. None: their integers or shapes differ, so that changes of numbers do not describe it."""
    first, second = base.assembly.memory, other.assembly.memory
    if not all(_are_equal(first[name], second[name]) for name in INTEGERS):
        return None
    if any(first[name].shape != second[name].shape for name in REALS):
        return None
    tables = {name: second[name] - first[name] for name in REALS if not _are_equal(first[name], second[name])}
    begin = start_tables(base)
    functions = [(stretch.functions, stretch.functions_of(other.assembly)) for stretch in run.stretches]
    moving, loads = [b.moving - a.moving for a, b in functions], [b.loads - a.loads for a, b in functions]
    start = {name: table - begin[name] for name, table in start_tables(other, base).items()}
    return ModelChanges(_parts(tables, moving, loads, start))


def is_load_alone(run: TakenRun, base: Built[Costs], other: Built[Costs], changed: Sequence[Functions]) -> bool:
    """Return whether the samples of a signal change the loads of a model and nothing else. ``other`` was
    rebuilt with changed samples and is compared with the model ``base`` of the run. ``run`` has the recorded
    time steps, ``changed`` are the loads of ``base`` with the changed samples.

    Args:
        run: of the model.
        base: the model.
        other: built anew with other samples.
        changed: the functions of the first one in each stretch, with the same samples put in.
    """
    numbers = data_changes(run, base, other)
    if numbers is None or numbers.of("table") or base.assembly.memory.counts["moving"]:
        return False
    if any(array.any() for array in numbers.of("start").values()):
        return False
    if [each.constant for each in base.measured] != [each.constant for each in other.measured]:
        return False
    stretches = zip(run.stretches, changed, strict=True)
    return all(
        np.array_equal(moved, functions.loads - stretch.functions.loads)
        for moved, (stretch, functions) in zip(numbers.of("loads").values(), stretches, strict=True)
    )


def _are_equal(first: Array, second: Array) -> bool:
    return first is second or (first.shape == second.shape and bool((first == second).all()))
