"""Runs of one model with other inputs, and of another duration: costs, and derivatives to samples and to time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.costs import Costs
from phlexible.derivatives.costs_of_runs import CostsOfRun
from phlexible.derivatives.dense_steps import turning
from phlexible.derivatives.parameters import Build, Built, Parameters, Recipe, Start, check_same
from phlexible.derivatives.runs import TakenRun, take_run
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

    @property
    def values(self) -> Array:
        """Of the costs, shape (costs,)."""
        return self._costs.values

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
        return self._costs.slopes(self._runs.recipe, Parameters(self._inputs, self._runs.scales))

    def of_duration(self, duration: float) -> Array:
        """Of the costs to the duration, with which samples move and of which each step keeps its share, (costs,).

        Raises:
            ModelError: a run that is more than steps, or a model that becomes another one.
        """
        run, own = self._run, self._own
        if not is_plain(run):
            raise ModelError(
                "bounds of the duration: it can be free in runs that are nothing but steps, without controllers,"
                " events, breakpoints and laws that creep; give a fixed one"
            )
        stretch, sides = run.stretches[0], []
        for sign in (1, -1):
            share = 1 + sign * LONGER
            other = self._runs.recipe.made(stretched(self._inputs, share), own)
            check_same(own, other, "the duration")
            times = share * run.times
            missed = stretch.residuals(other.assembly, functions_of(other.assembly, times), share * stretch.sizes)
            sides.append((missed, self._costs.values_at(other, times)))
        (more, first), (less, second) = sides
        missed = (more - less) / (2 * LONGER)
        ways = np.array(
            [turning(stretch, k) @ stretch.rows["velocity"][k : k + 2].sum(axis=0) for k in range(self._runs.steps)]
        )
        felt = [
            float(np.sum(each.parts.equations[0] * missed) + np.sum(each.poses[1:] * ways))
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

    def run(self, inputs: dict[str, Signal], duration: float) -> InputRun:
        """With signals by name, over a duration [s].

        Raises:
            PhlexibleError: as ``gradient``.
        """
        own, given = self._made(inputs)
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
