"""Runs of one model with other inputs, and of another duration: costs, and derivatives to samples and to time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.costs import Costs
from phlexible.derivatives.costs_of_runs import CostsOfRun
from phlexible.derivatives.parameters import Build, Built, Parameters, Recipe, Start, check_same
from phlexible.derivatives.runs import TakenRun, take_run
from phlexible.derivatives.shots import CostsOfShots, Shots, shots_along, take_shots
from phlexible.derivatives.step_derivatives import turning
from phlexible.derivatives.steps import functions_of
from phlexible.derivatives.sweeps import is_plain
from phlexible.description.time_functions import Signal
from phlexible.errors import ModelError
from phlexible.step.integration.schemes import StepOptions

LONGER = 1e-6
"""Of the duration, in central differences of the equations."""


@dataclass(frozen=True, eq=False)
class InputRun:
    """A run with some inputs."""

    _costs: CostsOfRun
    _runs: "InputRuns"
    _inputs: dict[str, Signal]
    _run: TakenRun
    _own: Built[Costs]
    _in_shots: bool = False

    @property
    def values(self) -> Array:
        """Of the costs, shape (costs,)."""
        return self._costs.values

    @property
    def travel(self) -> Array:
        """By how much what each cost reads changes in the run, at most, shape (costs,)."""
        return self._costs.travel

    @property
    def velocity_weights(self) -> Array:
        """By which velocities count as those of points, shape (velocities,)."""
        return np.asarray(self._run.assembly.memory["velocity_weight"])

    @cached_property
    def slopes(self) -> Array:
        """Of the costs to all samples, one input after the other, shape (costs, samples).

        Raises:
            PhlexibleError: as ``gradient``.
        """
        found = self._costs.slopes(self._runs.recipe, Parameters(self._inputs, self._runs.scales))
        if self._in_shots and not all(self._costs.loads_alone.values()):
            raise ModelError(
                "shots= needs inputs that are forces and torques; these move what joints hold where shots begin"
            )
        return found

    @property
    def slopes_of_starts(self) -> Array:
        """Of the costs to the numbers of the states in which shots begin, shape (costs, numbers)."""
        costs = self._costs
        return costs.slopes_of_starts if isinstance(costs, CostsOfShots) else np.zeros((len(self.values), 0))

    def shots(self, count: int) -> Shots:
        """The run in so many shots, which begin where it went."""
        return shots_along(self._run, self._runs.steps_of(count))

    def of_duration(self, duration: float) -> Array:
        """Of the costs to the duration, with which samples move and of which each step keeps its share, (costs,).

        Raises:
            ModelError: a run that is more than steps, or a model that becomes another one.
        """
        run, own = self._run, self._own
        if not (self._in_shots or is_plain(run)):
            raise ModelError(
                "bounds of the duration: it can be free in runs that are nothing but steps, without controllers,"
                " events, breakpoints and laws that creep; give a fixed one"
            )
        if self._in_shots and (run.system.moving_frames or run.system.paths):
            raise ModelError("bounds of the duration: with shots= nothing may move as a function of time")
        sides: list[tuple[Array, Array]] = []
        for sign in (1, -1):
            share = 1 + sign * LONGER
            other = self._runs.recipe.made(stretched(self._inputs, share), own)
            check_same(own, other, "the duration")
            missed = [
                each.residuals(other.assembly, functions_of(other.assembly, share * each.times), share * each.sizes)
                for each in run.stretches
            ]
            sides.append((np.concatenate(missed), self._costs.values_at(other, share * run.times)))
        (more, first), (less, second) = sides
        changes = (more - less) / (2 * LONGER)
        ways = np.array(
            [
                turning(each, k) @ each.rows["velocity"][k : k + 2].sum(axis=0)
                for each in run.stretches
                for k in range(each.count)
            ]
        )
        felt = [
            float(np.sum(np.concatenate(each.parts.equations) * changes) + np.sum(each.poses * ways))
            for each in self._costs.adjoints
            if each.poses is not None
        ]
        return (np.array(felt) + (first - second) / (2 * LONGER)) / duration


@dataclass(eq=False)
class InputRuns:
    """Takes runs of the models that a function makes of inputs.

    A model whose inputs are loads and nothing else is built once.

    Attributes:
        build: inputs by name -> model.
        costs: model -> costs.
        steps: how many the runs have.
        initial: as of ``ph.gradient``.
        scales: sizes of inputs by name.
    """

    build: Build
    costs: Callable[[Any], Costs]
    steps: int
    initial: Start
    scales: Mapping[str, float]

    def __post_init__(self) -> None:
        self.recipe: Recipe[Costs] = Recipe(self.build, self.initial, self.costs, "cost")
        self.taken = 0
        self._kept: tuple[Built[Costs], dict[str, Signal]] | None = None
        self._loads_alone: dict[str, bool] = {}

    def steps_of(self, shots: int) -> list[int]:
        """How many steps each of so many shots has."""
        return [int(each) for each in np.diff(np.round(np.linspace(0, self.steps, shots + 1)))]

    def run(self, inputs: dict[str, Signal], duration: float, shots: Shots | None = None) -> InputRun:
        """With signals by name, over a duration [s], in one or in shots.

        Raises:
            PhlexibleError: as ``gradient``.
        """
        own, given = self._made(inputs)
        if shots is not None:
            in_shots = take_shots(own, shots, self.steps_of(len(shots.near) + 1), duration / self.steps)
            self.taken += 1
            found = CostsOfShots(in_shots, own, given)
            found.loads_alone = self._loads_alone
            return InputRun(found, self, inputs, in_shots.run, own, True)
        taken = take_run(own.assembly, own.start, duration, duration / self.steps, StepOptions())
        self.taken += 1
        costs = CostsOfRun(taken, own, given)
        costs.loads_alone = self._loads_alone
        return InputRun(costs, self, inputs, taken, own)

    def _made(self, inputs: dict[str, Signal]) -> tuple[Built[Costs], dict[str, Signal]]:
        """The model, and the signals that it has."""
        if self._kept is not None and self._loads_alone and all(self._loads_alone.values()):
            own, given = self._kept
            if all(np.array_equal(each.times, inputs[name].times) for name, each in given.items()):
                for name, each in given.items():
                    each.values = inputs[name].values
                return own, given
        given = stretched(inputs, 1.0)
        self._kept = self.recipe.made(given), given
        return self._kept


def stretched(inputs: Mapping[str, Signal], share: float) -> dict[str, Signal]:
    """Copies of signals over a share of their time."""
    return {name: Signal(share * each.times, each.values, each.between) for name, each in inputs.items()}
