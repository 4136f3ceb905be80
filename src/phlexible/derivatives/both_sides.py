"""How all that a run did changes with parameters: from models to both sides of each, as few as will do.

A model is numbers in tables, functions of time, a start and sensors. Each parameter has a model to one side, which
shows what it moves. Parameters that move no number together have one model to their other side in common.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import columns_apart
from phlexible.derivatives.parameters import (
    Built,
    Direction,
    Measured,
    Parameters,
    Recipe,
    check_same,
    check_smooth,
    start_difference,
    start_tables,
)
from phlexible.derivatives.runs import TakenRun
from phlexible.derivatives.steps import Functions
from phlexible.derivatives.sweeps import RunParts, is_plain, other_parts, parts_of_nothing
from phlexible.derivatives.variations import Variation
from phlexible.step.tables.declarations import TABLES, Kind, Writer
from phlexible.step.tables.memory import Memory

ROUNDED = 1e-14
"""Of a number: what is off by chance."""

APART = 1e-5
"""Of a row's changes: how well those of all parameters at once must be the sum of those of each."""

SAMPLES = 5
"""Stretches, and steps of each, in which equations are asked which of them a parameter is in."""

FEW = 1
"""So many have nothing to share."""

REALS = tuple(
    table.name for table in TABLES if table.writer is Writer.SYSTEM and table.kind not in (Kind.COUNT, Kind.INTEGER)
)
INTEGERS = tuple(table.name for table in TABLES if table.writer is Writer.SYSTEM and table.kind is Kind.INTEGER)
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ModelNumbers:
    """What of a model a run is made of, less that of the model that was run.

    Attributes:
        tables: by name, of those that differ.
        moving, loads: given vectors and loads in the steps of each stretch.
        start: the tables of the initial state.
    """

    tables: Mapping[str, Array]
    moving: tuple[Array, ...]
    loads: tuple[Array, ...]
    start: Mapping[str, Array]

    def times(self, factor: float) -> "ModelNumbers":
        """All of it times a number."""
        return ModelNumbers(
            {name: factor * own for name, own in self.tables.items()},
            tuple(factor * own for own in self.moving),
            tuple(factor * own for own in self.loads),
            {name: factor * own for name, own in self.start.items()},
        )

    def plus(self, other: "ModelNumbers") -> "ModelNumbers":
        """The sum."""
        tables = dict(self.tables)
        for name, own in other.tables.items():
            tables[name] = tables[name] + own if name in tables else own
        return ModelNumbers(
            tables,
            tuple(a + b for a, b in zip(self.moving, other.moving, strict=True)),
            tuple(a + b for a, b in zip(self.loads, other.loads, strict=True)),
            {name: own + other.start[name] for name, own in self.start.items()},
        )

    def parts(self) -> dict[str, Array]:
        """All arrays by name."""
        found = {f"table {name}": own for name, own in self.tables.items()}
        found |= {f"moving {k}": own for k, own in enumerate(self.moving)}
        found |= {f"loads {k}": own for k, own in enumerate(self.loads)}
        return found | {f"start {name}": own for name, own in self.start.items()}

    def within(self, masks: Mapping[str, Mask]) -> "ModelNumbers":
        """Zero where parts have no mask, or it says so."""

        def masked(name: str, own: Array) -> Array:
            return np.where(masks[name], own, 0.0) if name in masks else np.zeros_like(own)

        return ModelNumbers(
            {name: masked(f"table {name}", own) for name, own in self.tables.items() if f"table {name}" in masks},
            tuple(masked(f"moving {k}", own) for k, own in enumerate(self.moving)),
            tuple(masked(f"loads {k}", own) for k, own in enumerate(self.loads)),
            {name: masked(f"start {name}", own) for name, own in self.start.items()},
        )


@dataclass(frozen=True, eq=False)
class Beside(Generic[Measured]):
    """The models to both sides of a parameter.

    Attributes:
        direction, label: of the parameter.
        own: the model that was run.
        more, less: those beside, where others may have gone to the other side too that change nothing of what is
            measured; None: what is measured is the same.
        up, down: their numbers; None where their integers are others, so that nothing can be said of numbers alone.
    """

    direction: Direction
    label: str
    own: Built[Measured]
    more: Built[Measured]
    less: Built[Measured] | None
    up: ModelNumbers | None
    down: ModelNumbers | None

    @property
    def measured(self) -> tuple[Built[Measured], Built[Measured]]:
        """Whose sensors are read to both sides: where numbers alone are known they read the same."""
        return (self.more, self.less) if self.less is not None else (self.own, self.own)

    @property
    def start(self) -> Variation:
        """d(initial state)/dp, (velocities,) each."""
        own = start_tables(self.own)
        sides = []
        for built, numbers in ((self.less, self.down), (self.more, self.up)):
            if numbers is None:
                assert built is not None, "of a model of which nothing is known but itself"
                sides.append(start_tables(built))
            else:
                sides.append({name: table + numbers.start[name] for name, table in own.items()})
        return start_difference(sides[0], sides[1], self.own.assembly.system.layout, 2 * self.direction.size)


def models_beside(
    run: TakenRun,
    own: Built[Measured],
    recipe: Recipe[Measured],
    chosen: Parameters,
    directions: Sequence[Direction],
    reads_alike: Callable[[Built[Measured]], bool],
) -> list[Beside[Measured]]:
    """Models to both sides of parameters.

    Args:
        run: that was taken.
        own: its model.
        recipe: how models are made.
        chosen: where derivatives are taken.
        directions: of single parameters.
        reads_alike: whether what is measured on another model says the same of the states of the run.

    Raises:
        ModelError, ParameterError: models that cannot be differentiated, or that become others.
    """

    def made(directions: Sequence[Direction], sign: int) -> Built[Measured]:
        change = np.sum([direction.change for direction in directions], axis=0)
        other = recipe.made(chosen.made(chosen.values + sign * change))
        check_same(own, other, " or ".join(chosen.label(direction) for direction in directions))
        return other

    mores = [made([direction], 1) for direction in directions]
    ups = [numbers_of(run, own, more) for more in mores]
    shared: dict[int, Mapping[str, Mask]] = {}
    alike: set[int] = set()
    if is_plain(run) and len(directions) > FEW:
        sizes = _sizes(run, own)
        for k, (direction, more, up) in enumerate(zip(directions, mores, ups, strict=True)):
            # a product with a parameter that is zero now is moved by one of the two alone
            if up is not None and chosen.values[direction.number] != 0:
                shared[k] = _moved(up, sizes)
                if reads_alike(more):
                    alike.add(k)
    lesses: dict[int, Built[Measured]] = {}
    downs: dict[int, ModelNumbers | None] = {}
    for group in _without_common(shared, alike):
        if len(group) == 1:
            continue
        less = made([directions[k] for k in group], -1)
        other = numbers_of(run, own, less)
        if other is not None and _are_of(other, [shared[k] for k in group], sizes):
            downs |= {k: other.within(shared[k]) for k in group}
            lesses |= {k: less for k in group if k not in alike}
    for k, direction in enumerate(directions):
        if k not in downs:
            lesses[k] = made([direction], -1)
            downs[k] = numbers_of(run, own, lesses[k])
    return [
        Beside(direction, chosen.label(direction), own, mores[k], lesses.get(k), ups[k], downs[k])
        for k, direction in enumerate(directions)
    ]


def _sizes(run: TakenRun, own: Built[Any]) -> dict[str, Array]:
    """Of the numbers of the model that was run: each its own, of starts the largest of each table."""
    functions = [stretch.functions for stretch in run.stretches]
    tables = {name: own.assembly.memory[name] for name in REALS}
    start = {name: np.abs(table).max(initial=0.0) for name, table in start_tables(own).items()}
    return ModelNumbers(
        tables, tuple(f.moving for f in functions), tuple(f.loads for f in functions), start
    ).parts()


def _moved(up: ModelNumbers, sizes: Mapping[str, Array]) -> dict[str, Mask]:
    """Which numbers a parameter moves, by the names of the parts that have some."""
    found = {name: np.abs(array) > ROUNDED * np.abs(sizes[name]) for name, array in up.parts().items()}
    return {name: mask for name, mask in found.items() if mask.any()}


def _without_common(shared: Mapping[int, Mapping[str, Mask]], alike: set[int]) -> list[list[int]]:
    """Parameters in groups that move no number together, in which one at most changes what is measured."""
    groups: list[tuple[list[int], dict[str, Mask]]] = []
    for k, masks in shared.items():
        found = None
        for members, used in groups:
            is_measured = k not in alike and any(member not in alike for member in members)
            common = any(name in used and bool((mask & used[name]).any()) for name, mask in masks.items())
            if not (is_measured or common):
                found = members, used
                break
        if found is None:
            groups.append(found := ([], {}))
        found[0].append(k)
        for name, mask in masks.items():
            found[1][name] = mask | found[1][name] if name in found[1] else mask
    return [members for members, _ in groups]


def _are_of(other: ModelNumbers, masks: Sequence[Mapping[str, Mask]], sizes: Mapping[str, Array]) -> bool:
    """Whether parameters move the same numbers to this side: others, such as zeros, at most by chance."""
    for name, array in other.parts().items():
        moves = np.abs(array) > ROUNDED * np.abs(sizes[name]).max(initial=0.0)
        known = [each[name] for each in masks if name in each]
        if bool((moves & ~np.any(known, axis=0)).any() if known else moves.any()):
            return False
    return True


def numbers_of(run: TakenRun, own: Built[Any], other: Built[Any]) -> ModelNumbers | None:
    """What differs of another model; None: integers of its tables."""
    first, second = own.assembly.memory, other.assembly.memory
    if not all(np.array_equal(first[name], second[name]) for name in INTEGERS):
        return None
    if any(first[name].shape != second[name].shape for name in REALS):
        return None
    tables = {name: second[name] - first[name] for name in REALS if not np.array_equal(first[name], second[name])}
    functions = [(stretch.functions, stretch.functions_of(other.assembly)) for stretch in run.stretches]
    return ModelNumbers(
        tables,
        tuple(b.moving - a.moving for a, b in functions),
        tuple(b.loads - a.loads for a, b in functions),
        {name: table - getattr(own.start, name) for name, table in start_tables(other).items()},
    )


# What equations of steps and all else that a run did become.


def each_change(run: TakenRun, models: Sequence[Beside[Any]], take: Callable[[int, RunParts], None]) -> None:
    """Give d(what a run is made of)/dp at its states to ``take``, with the number of each model.

    Equations of several parameters that are in none together are asked at once. Where that turns out to be wrong,
    ``take`` gets all of them a second time.

    Raises:
        ModelError: equations that are no smooth function of a parameter.
    """
    numbered = [k for k, model in enumerate(models) if not (model.up is None or model.down is None)]
    groups = _groups(run, models, numbered)
    if not _take_groups(run, models, groups, take):
        _take_groups(run, models, [[k] for k in numbered], take)
    for k, model in enumerate(models):
        if model.up is None or model.down is None:
            assert model.less is not None, "integers of its tables are others"
            sides = [
                [own.residuals(built.assembly, own.functions_of(built.assembly)) for own in run.stretches]
                for built in (model.more, model.less)
            ]
            take(k, _parts(run, model, *sides))


def _take_groups(
    run: TakenRun,
    models: Sequence[Beside[Any]],
    groups: Sequence[list[int]],
    take: Callable[[int, RunParts], None],
) -> bool:
    """Whether parameters of a group have no equation in common, as far as can be seen."""
    own, together = run.assembly.memory, [group for group in groups if len(group) > 1]
    shares = np.random.default_rng(4).uniform(0.5, 1.0, len(models))
    rest = [np.zeros((stretch.count, own.counts["unknowns"])) for stretch in run.stretches]
    sizes = [np.zeros_like(each) for each in rest]
    for group in groups:
        sides = [_missed(run, own, side) for side in _sums(models, group, np.ones(len(models)))]
        for k in group:
            touched = _touched(run, models[k]) if len(group) > 1 else np.ones(own.counts["unknowns"], dtype=bool)
            both = [[each * touched for each in side] for side in sides] if len(group) > 1 else sides
            take(k, _parts(run, models[k], *both))
            if len(group) > 1:
                for missed, size, first, second in zip(rest, sizes, *both, strict=True):
                    missed -= shares[k] * (first - second)
                    size += shares[k] * np.abs(first - second)
    if not together:
        return True
    everyone = [k for group in together for k in group]
    sides = [_missed(run, own, side) for side in _sums(models, everyone, shares)]
    for stretch, missed, size, first, second in zip(run.stretches, rest, sizes, *sides, strict=True):
        missed += first - second
        by_chance = 4 * np.abs(stretch.residuals_of(own, stretch.functions)).max(axis=0, initial=0.0)
        if (np.abs(missed).max(axis=0, initial=0.0) > APART * size.max(axis=0, initial=0.0) + by_chance).any():
            return False
    return True


def _parts(run: TakenRun, model: Beside[Any], upper: Sequence[Array], lower: Sequence[Array]) -> RunParts:
    """Changes of all parts, of the equations to both sides."""
    for stretch, first, second in zip(run.stretches, upper, lower, strict=True):
        check_smooth(
            first, second, model.label, partial(stretch.residuals_of, run.assembly.memory, stretch.functions)
        )
    twice = 2 * model.direction.size
    equations = tuple((first - second) / twice for first, second in zip(upper, lower, strict=True))
    if model.less is None:
        return replace(parts_of_nothing(run), equations=equations)
    others = [other_parts(run, built.assembly) for built in (model.more, model.less)]
    return replace(others[0].minus(others[1], twice), equations=equations)


def _sums(models: Sequence[Beside[Any]], group: Sequence[int], shares: Array) -> tuple[ModelNumbers, ModelNumbers]:
    """ModelNumbers to both sides of all of a group at once."""
    both = []
    for side in ("up", "down"):
        found: ModelNumbers | None = None
        for k in group:
            own = getattr(models[k], side)
            own = own if shares[k] == 1.0 else own.times(shares[k])
            found = own if found is None else found.plus(own)
        assert found is not None, "groups have members"
        both.append(found)
    return both[0], both[1]


def _missed(run: TakenRun, own: Memory, side: ModelNumbers) -> list[Array]:
    """What equations with other numbers miss in the steps of each stretch."""
    memory, found = _with(own, side), []
    for stretch, moving, loads in zip(run.stretches, side.moving, side.loads, strict=True):
        given = stretch.functions
        functions = Functions(given.moving + moving, given.loads + loads)
        found.append(stretch.residuals_of(memory, functions))
    return found


def _touched(run: TakenRun, model: Beside[Any]) -> NDArray[np.bool_]:
    """Which equations a parameter is in, in some steps of the run, (unknowns,)."""
    own = run.assembly.memory
    found = np.zeros(own.counts["unknowns"], dtype=bool)
    assert model.up is not None and model.down is not None, "numbers of its model are known"
    sides = [(side, _with(own, side)) for side in (model.up, model.down)]
    for number in _some(len(run.stretches)):
        stretch = run.stretches[number]
        given = [
            np.flatnonzero(model.up.loads[number].any(axis=1)),
            np.flatnonzero(model.up.moving[number][1:].any(axis=1)),
        ]
        for k in sorted(
            {*_some(stretch.count), *(int(own[j]) for own in given if len(own) for j in _some(len(own)))}
        ):
            one = stretch.one(k)
            missed = []
            for side, memory in sides:
                moving, loads = side.moving[number][k : k + 2], side.loads[number][k : k + 1]
                functions = Functions(one.functions.moving + moving, one.functions.loads + loads)
                missed.append(one.residuals_of(memory, functions)[0])
            found |= missed[0] != missed[1]
    return found


def _with(own: Memory, side: ModelNumbers) -> Memory:
    return own.with_numbers({name: own[name] + change for name, change in side.tables.items()})


def _some(count: int) -> list[int]:
    return sorted({int(k) for k in np.linspace(0, count - 1, SAMPLES)})


def _groups(run: TakenRun, models: Sequence[Beside[Any]], numbered: Sequence[int]) -> list[list[int]]:
    """Models that are in no equation together."""
    if len(numbered) <= FEW:
        return [[k] for k in numbered]
    pattern = np.stack([_touched(run, models[k]) for k in numbered], axis=1)
    return [[numbered[k] for k in group] for group in columns_apart(sparse.csc_array(pattern))]
