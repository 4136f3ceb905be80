"""Runs that are too long to be remembered: states here and there, and the steps between taken once more."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.costs import Costs
from phlexible.derivatives.costs_of_runs import CostsOfRun
from phlexible.derivatives.fading import strain_places
from phlexible.derivatives.parameters import Built, Parameters, Recipe
from phlexible.derivatives.readings import Sight, slopes_of_costs
from phlexible.derivatives.runs import (
    RecordingStepper,
    Stepped,
    TakenRun,
    has_redundancy,
    run_of,
    taken_by,
)
from phlexible.derivatives.sweeps import Adjoint, adjoints
from phlexible.derivatives.variations import Variation
from phlexible.description.time_functions import Signal
from phlexible.errors import ModelError, ParameterError
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.clock import Clock
from phlexible.step.integration.schemes import StepOptions
from phlexible.step.integration.simulation import BLOCK_BYTES
from phlexible.step.integration.step_calls import Calls, completed
from phlexible.step.integration.stored_rows import Advance, Storage

BYTES = 8
MORE_THAN_STEPS = (
    "memory= is for runs without controllers, events, functions of the state and laws that creep or stick; leave it"
    " out there"
)
FEWEST = 16
"""Steps at a time."""

LOOKED_AT = 1000
"""Instants, for warnings of long steps."""


@dataclass(frozen=True, eq=False)
class RepeatedPiece:
    """Steps of a run that can be taken once more, with the same digits.

    Attributes:
        snapshot: of the stepper before them.
        calls: what was asked of the stepper.
        first: row of the tables of the state before them, (numbers,).
        times: of the instants at their ends and between, (T,) [s].
    """

    snapshot: Array
    calls: tuple[Callable[[], object], ...]
    first: Array
    times: Array


class ForgettingStepper(RecordingStepper):
    """A stepper that hands over what it did, and forgets it but for where it began.

    Args:
        assembly, order, numerical_damping, is_redundant: as of a stepper.
        most: steps that it remembers, more or less.
        grid: instants at which pieces may end, (T,) [s].
        take: is given each piece, and what was done in it, before the next one begins.
    """

    def __init__(
        self,
        assembly: Assembly,
        order: int,
        numerical_damping: float,
        is_redundant: bool,
        most: int,
        grid: Array,
        take: Callable[[RepeatedPiece, Sequence[Any]], None],
    ) -> None:
        super().__init__(assembly, order, numerical_damping, is_redundant)
        self._most, self._grid, self._take = most, grid, take
        self._calls: list[tuple[int, Callable[[], object]]] = []  # with how much was done before each
        self._forgotten = 0
        self._begin: tuple[Array, Array] | None = None

    @property
    def numbers_a_step(self) -> int:
        """So many that few steps are taken at a time."""
        return max(super().numbers_a_step, BLOCK_BYTES // (BYTES * max(1, self._most // 2)))

    def advance(self, instants: Array, step: float, storage: Storage) -> Calls[Advance]:
        """Take steps as ``Stepper.advance`` does."""
        done = sum(len(each.sizes) for each in self.log if isinstance(each, Stepped))
        if done + len(instants) - 1 > self._most and np.isin(instants[0], self._grid):
            self.close()
        steps = super().advance
        self._note(lambda: completed(steps(instants, step, storage)))
        return (yield from steps(instants, step, storage))

    def project(self, time: float) -> None:
        """Bring velocities back onto the joints."""
        self._note(partial(super().project, time))
        super().project(time)

    def _note(self, call: Callable[[], object]) -> None:
        """Remember a call, which can be repeated."""
        if self._begin is None:
            self._begin = super().snapshot(), self.memory.state.copy()
        self._calls.append((self._forgotten + len(self.log), call))

    def close(self) -> None:
        """Hand over what was done since the last time."""
        if not self.log:
            return
        assert self._begin is not None, "something was done"
        steps = [each for each in self.log if isinstance(each, Stepped)]
        times = self._grid[(self._grid >= steps[0].times[0]) & (self._grid <= steps[-1].times[-1])]
        piece = RepeatedPiece(self._begin[0], tuple(call for _, call in self._calls), self._begin[1], times)
        self._take(piece, self.log)
        self._forgotten += len(self.log)
        self.log.clear()
        self._calls.clear()
        self._begin = None

    def again(self, piece: RepeatedPiece) -> Sequence[Any]:
        """What was done in a piece, done once more."""
        self.log.clear()
        super().restore(np.append(piece.snapshot[:-1], 0))
        for call in piece.calls:
            call()
        return list(self.log)

    def snapshot(self) -> Array:
        """With how much was done so far, and forgotten."""
        found = super().snapshot()
        found[-1] += self._forgotten
        return found

    def restore(self, snapshot: Array) -> None:
        """Put a snapshot back, and forget what was done since."""
        done = int(snapshot[-1])
        super().restore(np.append(snapshot[:-1], max(0, done - self._forgotten)))
        self._calls = [call for call in self._calls if call[0] < done]


@dataclass(frozen=True, eq=False)
class RememberingRecipe(Recipe[Costs]):
    """A recipe that makes each model once, and keeps it."""

    _kept: dict[Any, Built[Costs]] = field(default_factory=dict)

    def made(self, parameters: Any, beside: Built[Any] | None = None) -> Built[Costs]:
        """The model with these parameters, see ``Recipe``."""
        key = _key(parameters)
        if key not in self._kept:
            self._kept[key] = super().made(parameters, beside)
        return self._kept[key]


def _key(given: Any) -> Any:
    """The numbers of parameters."""
    if isinstance(given, Mapping):
        return tuple((name, _key(each)) for name, each in given.items())
    return (given.values if isinstance(given, Signal) else np.asarray(given)).tobytes()


class CostsOfPiece(CostsOfRun):
    """Shares of a piece of a run in derivatives of costs of the whole run.

    Args:
        run, own, given: as of ``CostsOfRun``, of the piece.
        weights: what each cost feels of readings in the piece.
        after: what each feels of the state at its end besides; None: nothing follows.
        is_first: nothing comes before it.
    """

    def __init__(
        self,
        run: TakenRun,
        own: Built[Costs],
        given: Any,
        weights: list[list[Array]],
        after: Sequence[Variation] | None,
        is_first: bool,
    ) -> None:
        super().__init__(run, own, given)
        self._own_weights, self._after, self._is_at_start = weights, after, is_first

    @property
    def _weights(self) -> list[list[Array]]:  # known already
        return self._own_weights

    @cached_property
    def adjoints(self) -> list[Adjoint]:
        """What each cost feels."""
        run, sight = self._run, Sight(self._run.assembly, self._run.times)
        pairs = zip(self._own.measured, self._weights, strict=True)
        slopes = slopes_of_costs(sight, run.rows, [list(zip(cost.sensors, w, strict=True)) for cost, w in pairs])
        return adjoints(run, slopes, self._after)

    def _of_sensors(self, more: Built[Costs], less: Built[Costs]) -> Array:
        read = [self._read(built, self._run.times) for built in (more, less)]
        return np.array(
            [
                sum(float(np.sum(w * (a - b))) for w, a, b in zip(weights, first, second, strict=True))
                for weights, first, second in zip(self._weights, *read, strict=True)
            ]
        )


def _numbers_a_step(assembly: Assembly) -> int:
    """That are in memory at a time, of states, of what is given, and of slopes and equations."""
    counts = assembly.memory.counts
    given = 3 * (counts["moving"] + counts["load_values"])
    return 3 * counts["state_numbers"] + 3 * given + 6 * (counts["unknowns"] + counts["velocities"])


def fits(assembly: Assembly, instants: Clock, memory: float) -> bool:
    """Whether all steps of a run may be remembered at once."""
    return instants.count <= FEWEST or BYTES * _numbers_a_step(assembly) * instants.count <= memory


def costs_of_long_run(
    own: Built[Costs],
    given: Any,
    recipe: Recipe[Costs],
    chosen: Parameters,
    instants: Clock,
    options: StepOptions,
    memory: float,
) -> tuple[Array, Array]:
    """Costs, (costs,), and their derivatives to all parameters, (costs, parameters), of a run in pieces.

    Args:
        own: the model.
        given: what it was made of, with its own signals.
        recipe: how models are made.
        chosen: where derivatives are taken.
        instants: when steps begin and end.
        options: of the steps.
        memory: about as much may be used [bytes].

    Raises:
        ParameterError: memory for too few steps.
        ModelError: a run that is more than steps.
    """
    assembly, count = own.assembly, instants.count
    kept = 2 * assembly.memory.counts["state_numbers"]  # of each piece
    least = 2 * BYTES * (count * kept * _numbers_a_step(assembly)) ** 0.5
    most = int(memory / (2 * BYTES * _numbers_a_step(assembly)))
    if most < FEWEST or memory < least:
        least = max(least, 2 * FEWEST * BYTES * _numbers_a_step(assembly))
        raise ParameterError(
            f"memory must be at least {1.01 * least:.3g} for {count} steps of this model, got {memory!r}"
        )
    if assembly.system.mechanism.events or assembly.controlled or len(strain_places(assembly)):
        raise ModelError(MORE_THAN_STEPS)
    working = replace(own, assembly=replace(assembly, memory=assembly.memory.fresh()))
    sensors = [sensor for cost in own.measured for sensor in cost.sensors]
    pieces: list[RepeatedPiece] = []
    read: list[list[Array]] = [[] for _ in sensors]

    def run_in(piece: RepeatedPiece, log: Sequence[Any]) -> TakenRun:
        return run_of(working.assembly, stepper, log, piece.first, piece.times)

    def take(piece: RepeatedPiece, log: Sequence[Any]) -> None:
        run = run_in(piece, log)
        for values, each in zip(read, Sight(run.assembly, run.times).read_all(sensors, run.rows), strict=True):
            values.append(each[1:] if pieces else each)
        pieces.append(piece)

    grid = np.array([instants.instant(k) for k in range(instants.first, count + 1)])
    redundant = has_redundancy(assembly, own.start)
    stepper = ForgettingStepper(assembly, options.order, options.numerical_damping, redundant, most, grid, take)
    options = replace(options, every=max(1, count // LOOKED_AT))
    taken_by(stepper, assembly, own.start, instants, options, warns=True)
    stepper.close()
    rest = iter([np.concatenate(values) for values in read])
    readings = [[next(rest) for _ in cost.sensors] for cost in own.measured]
    weights = [cost.slopes(grid, each) for cost, each in zip(own.measured, readings, strict=True)]
    remembering = RememberingRecipe(recipe.build, recipe.start, recipe.measure, recipe.argument)
    slopes = np.zeros((len(own.measured), len(chosen)))
    loads_alone: dict[str, bool] = {}
    after: list[Variation] | None = None
    last = len(grid)
    for number, piece in reversed(list(enumerate(pieces))):
        first = last - len(piece.times)
        part = [[each[first:last].copy() for each in cost] for cost in weights]
        for each in [each for cost in part for each in cost] if number else []:
            each[0] = 0.0  # is felt at the end of the piece before
        costs = CostsOfPiece(run_in(piece, stepper.again(piece)), working, given, part, after, number == 0)
        costs.loads_alone = loads_alone
        slopes += costs.slopes(remembering, chosen)
        after, last = [each.start for each in costs.adjoints], first + 1
    for direction in chosen.numbers():
        sides = [remembering.made(chosen.made(chosen.values + sign * direction.change)) for sign in (1, -1)]
        for k, (more, less) in enumerate(zip(*(side.measured for side in sides), strict=True)):
            change = more.value(grid, readings[k]) - less.value(grid, readings[k])
            slopes[k, direction.number] += change / (2 * direction.size)
    return np.array([cost.value(grid, each) for cost, each in zip(own.measured, readings, strict=True)]), slopes
