"""Perturbed models on both sides of each parameter, and the derivatives of all parts of a run along them.

A model is numbers in tables, functions of time, a start and sensors. Each parameter has a model to one side, which
shows what it moves. Parameters that move no number together have one model to their other side in common.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import disjoint_columns, disjoint_groups
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
from phlexible.derivatives.runs import LoggedRun
from phlexible.derivatives.steps import ASIDE, Functions, LoggedSteps, has_contact_history
from phlexible.derivatives.sweeps import EquationValues, is_plain, values_without_residuals, zero_values
from phlexible.derivatives.variations import Variation, strain_indices
from phlexible.step.tables.declarations import TABLES, Kind, Writer
from phlexible.step.tables.memory import Memory

# Differences of the numbers of models, and the parameters that change each of them.

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
        """Return all changes of one ``kind`` of model data as a dictionary of arrays. The kinds are "table" (arrays
        of the model) and "start" (initial state), both by the names of their arrays, and "moving" (prescribed
        vectors) and "loads", both by the index of a sequence of time steps between velocity jumps.
        """
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
        """Return a copy of these changes of model data in which entries where the ``masks`` are False are zero.
        Masks are boolean arrays by (kind, name) of an array of data. Arrays of kind "table" without a mask are left
        out of the copy; those of the other kinds (prescribed vectors, loads, initial state) become zero.
        """
        found = {}
        for part, own in self.parts.items():
            if part in masks:
                found[part] = np.where(masks[part], own, 0.0)
            elif part[0] != "table":
                found[part] = np.zeros_like(own)
        return ModelChanges(found)


def _all_parts(
    tables: Mapping[str, Array], moving: Sequence[Array], loads: Sequence[Array], start: Mapping[str, Array]
) -> dict[Part, Array]:
    kinds: dict[str, Mapping[Any, Array]] = {"table": tables, "start": start}
    kinds |= {"moving": dict(enumerate(moving)), "loads": dict(enumerate(loads))}
    return {(kind, name): own for kind, each in kinds.items() for name, own in each.items()}


def sizes_of(run: LoggedRun, base: Built[Any]) -> dict[Part, Array]:
    """Return the data of a run's model by (kind, name), as sizes relative to which changes count as round-off.
    Arrays of the model, prescribed vectors and loads are returned themselves, with signs; for each array of the
    initial state it is its largest absolute value, one number. ``base`` is the model of the ``run``.
    """
    functions = [stretch.functions for stretch in run.stretches]
    tables = {name: base.assembly.memory[name] for name in REALS}
    start = {name: np.abs(table).max(initial=0.0) for name, table in start_tables(base).items()}
    return _all_parts(tables, [f.moving for f in functions], [f.loads for f in functions], start)


def changed_masks(up: ModelChanges, sizes: Mapping[Part, Array]) -> dict[Part, Mask]:
    """Return masks of the model data that change by more than round-off, a fixed fraction of their size. There is
    a boolean array of the shape of the data for each array, by its kind and name. ``up`` are the changes,
    ``sizes`` the sizes. Arrays without such a change are left out."""
    found = {name: np.abs(array) > ROUNDED * np.abs(sizes[name]) for name, array in up.parts.items()}
    return {name: mask for name, mask in found.items() if mask.any()}


def random_factors(count: int) -> Array:
    """Return factors, shape (3, count), by which ``count`` parameters are perturbed together in three models. The
    first row is 1; the others are random between 0.5 and 1, different for all parameters, with a fixed seed. The
    ratios of the three changes of a model entry then tell which parameter changes it."""
    random, indices = np.random.default_rng(2), np.arange(count)
    rows = [(random.permutation(indices) + random.uniform(0.3, 0.7, count)) / count for _ in range(2)]
    return np.stack([np.ones(count), *(0.5 + 0.5 * row for row in rows)])


def separate_masks(
    changes: Sequence[ModelChanges], factors: Array, sizes: Mapping[Part, Array]
) -> list[dict[Part, Mask]] | None:
    """Return for each of several parameters which entries of the model data it changes, as masks by (kind, name).
    Three models had all parameters perturbed together, parameter j by ``factors[i, j]`` times its increment in
    model i; ``changes`` are the differences of their data from the base model. The ratios of an entry's three
    changes identify its parameter. Return None if a ratio fits no single parameter. Changes within round-off of
    ``sizes`` are ignored.

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
    """Split parameters into groups whose members change no common entry of the model data, so that they can be
    perturbed together. ``shared`` maps the index of a parameter to masks of the data that it changes; the groups
    are lists of these indices. Parameters in ``unread`` change no sensor value directly; of all others there is at
    most one in a group.
    """
    sizes = {name: mask.size for masks in shared.values() for name, mask in masks.items()}
    begins = dict(zip(sizes, np.cumsum([1, *sizes.values()]).tolist(), strict=False))
    moved = []
    for k, masks in shared.items():
        measured = np.zeros(int(k not in unread), dtype=np.int64)  # number 0: what is measured
        moved.append(np.concatenate([measured, *(begins[name] + np.flatnonzero(masks[name]) for name in masks)]))
    members = list(shared)
    return [[members[j] for j in group] for group in (disjoint_groups(moved) if moved else ())]


def lie_within(other: ModelChanges, masks: Sequence[Mapping[Part, Mask]], sizes: Mapping[Part, Array]) -> bool:
    """Return whether all changes of model data in ``other`` lie within at least one of the ``masks``. ``other`` are
    the changes of a model with several perturbed parameters, ``masks`` the entries that each of these changes
    alone, as boolean arrays by (kind, name). Changes below round-off of the largest value in ``sizes`` are ignored.
    """
    for name, array in other.parts.items():
        moves = np.abs(array) > ROUNDED * np.abs(sizes[name]).max(initial=0.0)
        known = [each[name] for each in masks if name in each]
        if bool((moves & ~np.any(known, axis=0)).any() if known else moves.any()):
            return False
    return True


def equal_readings(first: Array, second: Array) -> bool:
    """Return whether two arrays of sensor values, ``first`` and ``second``, have the same shape and are equal up
    to round-off. Round-off is relative to the largest value of ``first``."""
    if first.shape != second.shape:
        return False
    return bool((np.abs(second - first) <= ROUNDED * np.abs(first).max(initial=0.0)).all())


def data_changes(run: LoggedRun, base: Built[Any], other: Built[Any]) -> ModelChanges | None:
    """Return all data of the model ``other`` minus those of ``base``, the model of a run. Data are the
    floating-point arrays of the model, of which equal ones are left out, prescribed vectors and loads at the
    instants of the ``run``, and the initial state. Return None if integer arrays or shapes differ, so that
    differences do not describe the change.
    """
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
    return ModelChanges(_all_parts(tables, moving, loads, start))


def _are_equal(first: Array, second: Array) -> bool:
    return first is second or (first.shape == second.shape and bool((first == second).all()))


# Models on both sides of each parameter.

APART = 1e-5
"""Tolerance on the sum of single changes against the change of all parameters together, relative to the changes of
a row.
"""

SAMPLES = 5
"""Number of stretches, and of steps in each, in which the dependence of the equations on a parameter is probed."""


NEARER = 0.03
"""Factor of shorter differences of parameters, taken once and twice, where equations have kinks."""

EVEN = 1e-4
"""Largest even part of a change, relative to the odd part, that shows no kink."""

CLEAR = 1e-3
"""Largest difference of slopes on the better side of a kink, relative to the greatest change."""

STRAIGHT = 1e-4
"""Largest difference of slopes on either side of a kink at the recorded state, relative to the bend there."""

FEW = 1
"""Number of parameters up to which nothing is shared."""


@dataclass(frozen=True, eq=False)
class Sides(Generic[Measured]):
    """Two models made from perturbed parameters, one with a parameter increased and one with it decreased, for
    central differences with respect to that parameter.

    Attributes:
        direction, label: of the parameter.
        base: the model that was run.
        more, less: models with the increased and the decreased parameter. Other parameters that do not change the
            sensor values may be decreased in ``less`` too; None: the sensor values do not depend on the parameter.
        up, down: changes of their arrays; None where arrays of integers differ, so that changes of numbers alone do
            not describe the model.
    """

    direction: Direction
    label: str
    base: Built[Measured]
    more: Built[Measured]
    less: Built[Measured] | None
    up: ModelChanges | None
    down: ModelChanges | None

    @property
    def measured(self) -> tuple[Built[Measured], Built[Measured]]:
        """Return the pair of models (parameter increased, decreased) whose sensor values give the central
        difference for this parameter. If sensor values do not depend on it (no decreased model was built), both
        are the unperturbed model."""
        return (self.more, self.less) if self.less is not None else (self.base, self.base)

    @property
    def start(self) -> Variation:
        """Derivative of the initial state of a run with respect to this parameter, by a central difference of the
        models with it increased and decreased. It has changes of pose and velocities, shape (velocities,) each,
        and of strains of Maxwell branches, friction spring deflections and impact speeds."""
        own = start_tables(self.base)
        sides = []
        for built, numbers in ((self.less, self.down), (self.more, self.up)):
            if numbers is None:
                assert built is not None, "of a model of which nothing is known but itself"
                sides.append(start_tables(built, self.base))
            else:
                sides.append({name: table + numbers.parts["start", name] for name, table in own.items()})
        return start_difference(sides[0], sides[1], self.base.assembly.system.layout, 2 * self.direction.size)


def perturbed_models(
    run: LoggedRun,
    base: Built[Measured],
    recipe: Recipe[Measured],
    varied: Parameters,
    directions: Sequence[Direction],
    reads_same: Callable[[Built[Measured]], bool],
) -> list[Sides[Measured]]:
    """Build models for central differences, with each parameter in ``directions`` increased and decreased, and
    return one ``Sides`` for each direction. ``varied`` are all parameters, with their values. Parameters that
    change different data share models, to save calls of the build function; the changes of each are then separated.
    If sensor values do not change with a parameter, its decreased model may be left out. ``base`` is the run's
    model, ``recipe`` builds models, ``reads_same`` tells whether a model's sensor values equal those of ``base``.

    Args:
        run: the run that is differentiated.
        base: its model.
        recipe: makes a model from parameters.
        varied: parameters at which derivatives are computed.
        directions: of single parameters.
        reads_same: whether the sensors of another model give the same values at the states of the run.

    Raises:
        ModelError, ParameterError: models that cannot be differentiated, or whose unknowns change with a parameter.
    """

    def made(directions: Sequence[Direction], sign: int, weights: Array | None = None) -> Built[Measured]:
        changes = np.stack([direction.change for direction in directions])
        change = changes.sum(axis=0) if weights is None else weights @ changes
        other = recipe.build_model(varied.nested(varied.values + sign * change), base)
        check_same(base, other, " or ".join(varied.label(direction) for direction in directions), run)
        return other

    mores: dict[int, Built[Measured]] = {}
    ups: dict[int, ModelChanges | None] = {}
    shared: dict[int, Mapping[Part, Mask]] = {}
    alike: set[int] = set()
    is_shared = is_plain(run) and len(directions) > FEW
    sizes = sizes_of(run, base) if is_shared else {}
    if is_shared:
        for members in varied.array_groups(directions):
            weights = random_factors(len(members))
            together = [directions[k] for k in members]
            more = made(together, 1)
            changes = [data_changes(run, base, more)]
            changes += [
                data_changes(run, base, made(together, 1, row)) for row in weights[1:] if changes[-1] is not None
            ]
            numbers = [each for each in changes if each is not None]
            masks = separate_masks(numbers, weights, sizes) if len(numbers) == len(weights) else None
            if masks is None or not reads_same(more):
                continue
            for k, own_masks in zip(members, masks, strict=True):
                mores[k], ups[k], shared[k] = more, numbers[0].within(own_masks), own_masks
                alike.add(k)
    for k, direction in enumerate(directions):
        if k in mores:
            continue
        mores[k] = made([direction], 1)
        ups[k] = up = data_changes(run, base, mores[k])
        # a product with a parameter that is zero now is moved by one of the two alone
        if is_shared and up is not None and varied.values[direction.number] != 0:
            shared[k] = changed_masks(up, sizes)
            if reads_same(mores[k]):
                alike.add(k)
    lesses: dict[int, Built[Measured]] = {}
    downs: dict[int, ModelChanges | None] = {}
    for group in disjoint_parameters(shared, alike):
        if len(group) == 1:
            continue
        less = made([directions[k] for k in group], -1)
        other = data_changes(run, base, less)
        if other is not None and lie_within(other, [shared[k] for k in group], sizes):
            downs |= {k: other.within(shared[k]) for k in group}
            lesses |= {k: less for k in group if k not in alike}
    for k, direction in enumerate(directions):
        if k not in downs:
            lesses[k] = made([direction], -1)
            downs[k] = data_changes(run, base, lesses[k])
    return [
        Sides(direction, varied.label(direction), base, mores[k], lesses.get(k), ups[k], downs[k])
        for k, direction in enumerate(directions)
    ]


# What equations of steps and all else that a run did become.


def differentiate(
    run: LoggedRun, models: Sequence[Sides[Any]], take: Callable[[int, EquationValues], None]
) -> None:
    """Compute the derivatives of a run's equations with respect to each parameter at constant states, by central
    differences. For each of the perturbed ``models``, ``take`` is called with its index and an ``EquationValues``:
    derivatives of the residuals of time steps, velocity jumps, controller values and events. Parameters that
    change different equations are evaluated together; if that fails a check, one by one (``take`` is called
    again).

    Equations of several parameters that have no equation in common are evaluated together. Where that turns out to
    be wrong, ``take`` gets all of them a second time.

    Raises:
        ModelError: equations that are no smooth function of a parameter.
    """
    numbered = [k for k, model in enumerate(models) if not (model.up is None or model.down is None)]
    touched = {k: _affected_equations(run, models[k]) for k in numbered} if len(numbered) > FEW else {}
    groups = _groups(numbered, touched)
    if not _differentiate_groups(run, models, groups, touched, take):
        _differentiate_groups(run, models, [[k] for k in numbered], touched, take)
    for k, model in enumerate(models):
        if model.up is None or model.down is None:
            assert model.less is not None, "integers of its tables are others"
            sides = [
                [own.residuals(built.assembly.memory, own.functions_of(built.assembly)) for own in run.stretches]
                for built in (model.more, model.less)
            ]
            take(k, _parts(run, model, *sides))


def _differentiate_groups(
    run: LoggedRun,
    models: Sequence[Sides[Any]],
    groups: Sequence[list[int]],
    touched: Mapping[int, NDArray[np.bool_]],
    take: Callable[[int, EquationValues], None],
) -> bool:
    """Evaluate the equations of a run with perturbed ``models``, a group of parameters at once, and pass the
    derivatives of each model to ``take``. A model in a group gets the equations that its mask in ``touched``
    selects. A last evaluation with random weights tests that no equation depends on two parameters of a group.
    Return False if one does; the derivatives are then wrong.

    Args:
        run, models, take: as of ``differentiate``.
        groups: indices of models whose equations are evaluated together.
        touched: equations that depend on each parameter, shape (unknowns,), where groups have several.
    """
    own, together = run.assembly.memory, [group for group in groups if len(group) > 1]
    shares = np.random.default_rng(4).uniform(0.5, 1.0, len(models))
    rest = [np.zeros((stretch.count, own.counts["unknowns"])) for stretch in run.stretches]
    sizes = [np.zeros_like(each) for each in rest]
    for group in groups:
        sides = [_residuals(run, own, side) for side in _sums(models, group, np.ones(len(models)))]
        for k in group:
            both = [[each * touched[k] for each in side] for side in sides] if len(group) > 1 else sides
            take(k, _parts(run, models[k], *both))
            if len(group) > 1:
                for missed, size, first, second in zip(rest, sizes, *both, strict=True):
                    missed -= shares[k] * (first - second)
                    size += shares[k] * np.abs(first - second)
    if not together:
        return True
    everyone = [k for group in together for k in group]
    sides = [_residuals(run, own, side) for side in _sums(models, everyone, shares)]
    for stretch, missed, size, first, second in zip(run.stretches, rest, sizes, *sides, strict=True):
        missed += first - second
        excess = np.abs(missed).max(axis=0, initial=0.0) - APART * size.max(axis=0, initial=0.0)
        if (excess > 0).any():
            by_chance = 4 * np.abs(stretch.residuals(own, stretch.functions)).max(axis=0, initial=0.0)
            if (excess > by_chance).any():
                return False
    return True


def _parts(run: LoggedRun, model: Sides[Any], upper: Sequence[Array], lower: Sequence[Array]) -> EquationValues:
    """Return the derivatives of all equations of a run with respect to one parameter, by central differences of
    residuals. ``upper`` and ``lower`` have residuals (steps, unknowns) with the parameter of ``model`` increased
    and decreased, one array for each time interval between velocity jumps. Raise ``ModelError`` if the differences
    to both sides are not opposite. With contact history, differences beside kinks are shorter or one-sided."""
    twice, equations, strains = 2 * model.direction.size, [], {}
    for number, (stretch, first, second) in enumerate(zip(run.stretches, upper, lower, strict=True)):
        if model.up is not None and model.down is not None and has_contact_history(stretch):
            slopes = _one_sided_changes(run.assembly.memory, model, stretch, number) / model.direction.size
            own, strains[number] = np.split(slopes, [first.shape[1]], axis=1)
            equations.append(own)
        else:
            check_smooth(
                first, second, model.label, partial(stretch.residuals, run.assembly.memory, stretch.functions)
            )
            equations.append((first - second) / twice)
    if model.less is None:
        return replace(zero_values(run), equations=tuple(equations))
    others = [values_without_residuals(run, built.assembly) for built in (model.more, model.less)]
    found = others[0].minus(others[1], twice)
    ends = tuple(strains.get(number, own) for number, own in enumerate(found.strains))
    return replace(found, equations=tuple(equations), strains=ends)


def _one_sided_changes(base: Memory, model: Sides[Any], stretch: LoggedSteps, number: int) -> Array:
    """Return the linear changes of the residuals and of the history variables for an increment of a parameter. The
    shape is (steps, unknowns + history variables). They are those of the branch that each recorded step took.
    ``model`` has the parameter's increment to both sides, ``number`` is the index of the time interval ``stretch``;
    ``base`` are the model's arrays.

    Contacts that begin and friction springs (bristles) at their limits are kinks. Beside one, changes to one side
    are proportional to the increment and those to the other are not. A bristle that has slipped begins the next
    step at its limit or very near it, where forces kink with the limit and with z. Right for changes of both
    together is the mean over two slightly different z, the same as in ``step_derivative``.

    Raises:
        ModelError: a kink at a recorded state that remains once deflections are slightly smaller or larger, or
            kinks on both sides.
    """
    sides = cast("tuple[ModelChanges, ModelChanges]", (model.up, model.down))

    def changes(steps: LoggedSteps, share: float) -> list[Array]:
        """Return the changes of ``steps`` for a ``share`` of the increment to both sides, divided by it."""
        rest = steps.residuals_and_strains(base, steps.functions)
        return [
            (steps.residuals_and_strains(_with(base, side), _functions_in(steps, side, number)) - rest) / share
            for side in (own.times(share) for own in sides)
        ]

    def branch(steps: LoggedSteps, is_chosen: NDArray[np.bool_]) -> Array:
        """Return the changes of ``steps`` on the side on which they are straight. Where ``is_chosen``, they must be
        so on one side, and no kink may be at the states themselves."""
        shorter = [changes(steps, NEARER**power) for power in (1, 2)]
        bent = [np.abs(near - nearer) for near, nearer in zip(*shorter, strict=True)]
        ahead, behind = (
            nearer + NEARER / (1 - NEARER) * (nearer - near) for near, nearer in zip(*shorter, strict=True)
        )
        unclear = np.where(is_chosen, np.minimum(*bent), 0.0)
        check_smooth(ahead + unclear, unclear - ahead, model.label, lambda: missed, CLEAR)
        is_on_kink = is_chosen & (np.maximum(*bent) < STRAIGHT * np.abs(ahead + behind))
        check_smooth(is_on_kink * ahead, is_on_kink * behind, model.label, lambda: missed)
        return np.asarray(np.where(bent[0] < bent[1], ahead, -behind))

    missed = stretch.residuals(base, stretch.functions) / NEARER**2
    up, down = changes(stretch, 1.0)
    has_kink = np.abs(up + down) > EVEN * np.abs(up - down)
    if not has_kink.any():
        return (up - down) / 2
    sums = np.zeros_like(up)
    for share in (1 - ASIDE, 1 + ASIDE):
        states = stretch.states.copy()
        states[:, strain_indices(stretch.assembly)] *= share
        sums += branch(replace(stretch, states=states), has_kink)
    return np.where(has_kink, sums / 2, (up - down) / 2)


def _sums(models: Sequence[Sides[Any]], group: Sequence[int], weights: Array) -> tuple[ModelChanges, ModelChanges]:
    """Return the weighted sums of the changes of model data by several perturbed parameters, for all increased and
    for all decreased. The sums are over the indices in ``group`` (at least one), each model of ``models`` times its
    entry of ``weights``, shape (models,).
    """
    both = []
    for side in ("up", "down"):
        found: ModelChanges | None = None
        for k in group:
            own = getattr(models[k], side)
            own = own if weights[k] == 1.0 else own.times(weights[k])
            found = own if found is None else found.plus(own)
        assert found is not None, "groups have members"
        both.append(found)
    return both[0], both[1]


def _residuals(run: LoggedRun, base: Memory, side: ModelChanges) -> list[Array]:
    """Return the residuals of all recorded time steps of a run when its model data are changed by ``side``, added
    to the tables ``base``. The list has an array (steps, unknowns) for each sequence of time steps between
    velocity jumps."""
    return [_residuals_in(stretch, base, side, number) for number, stretch in enumerate(run.stretches)]


def _residuals_in(stretch: LoggedSteps, base: Memory, side: ModelChanges, number: int) -> Array:
    """Return the residuals of the time steps of one stretch, shape (steps, unknowns), when the model data are
    changed by ``side``. ``base`` are the tables of the model, ``number`` the index of the stretch (time steps
    without velocity jumps between them) in the run."""
    return stretch.residuals(_with(base, side), _functions_in(stretch, side, number))


def _functions_in(stretch: LoggedSteps, side: ModelChanges, number: int) -> Functions:
    given = stretch.functions
    return Functions(given.moving + side.parts["moving", number], given.loads + side.parts["loads", number])


def _affected_equations(run: LoggedRun, model: Sides[Any]) -> NDArray[np.bool_]:
    """Return a mask (unknowns,) of those equations of a time step that a parameter changes. An equation counts if
    its residuals with the increased and the decreased ``model`` differ in any bit. They are evaluated at recorded
    states of a sample of time steps, among them some in which the parameter changes loads or prescribed vectors.
    """
    own = run.assembly.memory
    found = np.zeros(own.counts["unknowns"], dtype=bool)
    assert model.up is not None and model.down is not None, "numbers of its model are known"
    sides = [(side, _with(own, side)) for side in (model.up, model.down)]
    for number in _some(len(run.stretches)):
        stretch = run.stretches[number]
        given = [
            np.flatnonzero(model.up.parts["loads", number].any(axis=1)),
            np.flatnonzero(model.up.parts["moving", number][1:].any(axis=1)),
        ]
        for k in sorted(
            {*_some(stretch.count), *(int(own[j]) for own in given if len(own) for j in _some(len(own)))}
        ):
            one = stretch.single_step(k)
            missed = []
            for side, memory in sides:
                moving, loads = side.parts["moving", number][k : k + 2], side.parts["loads", number][k : k + 1]
                functions = Functions(one.functions.moving + moving, one.functions.loads + loads)
                missed.append(one.residuals(memory, functions)[0])
            found |= missed[0] != missed[1]
    return found


def _with(base: Memory, side: ModelChanges) -> Memory:
    return base.with_changed_tables({name: base[name] + change for name, change in side.of("table").items()})


def _some(count: int) -> list[int]:
    return sorted({int(k) for k in np.linspace(0, count - 1, SAMPLES)})


def _groups(numbered: Sequence[int], touched: Mapping[int, NDArray[np.bool_]]) -> list[list[int]]:
    """Split the indices of perturbed models (``numbered``) into groups such that no equation depends on the
    parameters of two models of a group. The masks ``touched``, shape (unknowns,), say which equations each
    parameter changes."""
    if not touched:
        return [[k] for k in numbered]
    pattern = np.stack([touched[k] for k in numbered], axis=1)
    return [[numbered[k] for k in group] for group in disjoint_columns(sparse.csc_array(pattern))]
