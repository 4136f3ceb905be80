"""Costs of a run that was taken, and their derivatives to parameters by one pass backwards."""

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.derivatives.both_sides import Sides, differentiate, perturbed_models
from phlexible.derivatives.costs import Costs
from phlexible.derivatives.model_changes import equal_readings, is_load_alone
from phlexible.derivatives.parameters import (
    Built,
    Direction,
    Parameters,
    Recipe,
    check_local,
    check_same,
    check_smooth,
    other_values,
    start_difference,
    start_tables,
)
from phlexible.derivatives.readings import Reader, slopes_of_costs
from phlexible.derivatives.runs import TakenRun
from phlexible.derivatives.steps import Functions, functions_of
from phlexible.derivatives.sweeps import Adjoint, RunParts, adjoints, parts_of
from phlexible.derivatives.variations import Variation


class CostsOfRun:
    """Values of several costs for one recorded run, and their derivatives with respect to parameters by a single
    adjoint pass.

    Args:
        run: the run.
        own: its model.
        given: parameters of that model, with the signals that it uses.

    Attributes:
        values: of the costs, shape (costs,).
        loads_alone: by the names of signals, whether they change loads and nothing else; cached.
    """

    _is_at_start = True  # the run begins where the model does
    _after: Sequence[Variation] | None = None  # what costs feel of its end, by what follows

    def __init__(self, run: TakenRun, base: Built[Costs], parameters: Any) -> None:
        self._run, self._base, self._parameters = run, base, parameters
        self._readings = self._read(base, run.times)
        self.values: Array = self._valued(base.measured, self._readings, run.times)
        self.loads_alone: dict[str, bool] = {}

    def _read(self, other: Built[Costs], times: Array) -> list[list[Array]]:
        """Return the readings of the sensors of ``other``, a (perturbed) model, at the recorded states of this run,
        as if they occurred at ``times`` [s]. The list has an entry for each cost with an array for each of its
        sensors."""
        sensors = [sensor for cost in other.measured for sensor in cost.sensors]
        rest = iter(Reader(other.assembly, times).read_all(sensors, self._run.rows))
        return [[next(rest) for _ in cost.sensors] for cost in other.measured]

    def values_at(self, other: Built[Costs], times: Array) -> Array:
        """Return the costs of ``other``, a (perturbed) model, at the recorded states of this run as if they
        occurred at ``times`` [s], shape (costs,)."""
        return self._valued(other.measured, self._read(other, times), times)

    @staticmethod
    def _valued(costs: Costs, readings: list[list[Array]], times: Array) -> Array:
        return np.array([cost.value(times, own) for cost, own in zip(costs, readings, strict=True)])

    @property
    def travel(self) -> Array:
        """Range (greatest minus least value over time) of the sensor readings behind each cost of this run, the
        largest one of its sensors, shape (costs,)."""
        readings = ([float(np.ptp(own, axis=0).max(initial=0.0)) for own in each] for each in self._readings)
        return np.array([max(each, default=0.0) for each in readings])

    @cached_property
    def _weights(self) -> list[list[Array]]:
        """Derivatives of each cost of this run with respect to its sensor readings. The list has an entry for each
        cost with an array, shaped as the readings, for each of its sensors."""
        pairs = zip(self._base.measured, self._readings, strict=True)
        return [cost.slopes(self._run.times, own) for cost, own in pairs]

    @cached_property
    def adjoints(self) -> list[Adjoint]:
        """Adjoint of each cost of this run: its derivatives with respect to the initial state and to the
        equations of all time steps, from one pass backwards in time."""
        return adjoints(self._run, self._to_states, self._after)

    @property
    def _to_states(self) -> list[Variation]:
        """Derivatives of each cost of this run, through its sensor readings alone, with respect to the poses and
        velocities at all stored instants."""
        run, pairs = self._run, zip(self._base.measured, self._weights, strict=True)
        felt = [list(zip(cost.sensors, own, strict=True)) for cost, own in pairs]
        return slopes_of_costs(Reader(run.assembly, run.times), run.rows, felt)

    def slopes(self, recipe: Recipe[Costs], varied: Parameters) -> Array:
        """Return the derivatives of all costs of this run with respect to all parameters by the adjoint
        method, shape (costs, parameters). ``recipe`` builds the models with perturbed varied ``varied``.

        Raises:
            PhlexibleError: as ``gradient``.
        """
        run, own = self._run, self._base
        found = np.zeros((len(self.values), len(varied)))

        def made(direction: Direction, sign: int) -> Built[Costs]:
            other = recipe.build_model(varied.nested(varied.values + sign * direction.change), own)
            check_same(own, other, varied.label(direction), run)
            return other

        directions = varied.scalar_directions() if not run.is_controlled else varied.single_directions()
        together: list[Direction] = []
        for name in varied.signals if not run.is_controlled else []:
            signal = self._parameters[name]
            if name not in self.loads_alone:
                signs = varied.random_direction(name)
                with other_values(signal, varied.nested(varied.values + signs.change)[name].values):
                    changed = self._present_loads()
                self.loads_alone[name] = is_load_alone(run, own, made(signs, 1), changed)
            if not self.loads_alone[name]:
                if run.jumps:
                    directions += varied.single_directions(name)
                else:
                    together += varied.sample_directions(name, run, is_load=False)
                continue
            for direction in varied.sample_directions(name, run, is_load=True):
                both = {}
                for sign in (1, -1):
                    values = varied.nested(varied.values + sign * direction.change)[name].values
                    with other_values(signal, values):
                        both[sign] = self._present_loads()
                self._add_load(found, direction, both[1], both[-1], name)
        for direction in together:
            self._add_samples(found, direction, made(direction, 1), made(direction, -1), varied.label(direction))
        models = perturbed_models(run, own, recipe, varied, directions, self._reads_same)
        for model in models:
            self._add_start_and_sensors(found, model)
        shares = np.zeros((len(self.values), len(models)))

        def take(number: int, changes: RunParts) -> None:
            shares[:, number] = [each.parts.times(changes) for each in self.adjoints]

        differentiate(run, models, take)
        for model, share in zip(models, shares.T, strict=True):
            found[:, model.direction.number] += share
        return found

    def _reads_same(self, other: Built[Costs]) -> bool:
        """Return whether the costs of ``other``, a perturbed model, have the same constants, terms and sensor
        readings. Readings are compared at the recorded states of this run, up to round-off."""
        pairs = zip(self._base.measured, other.measured, strict=True)
        if any(own.constant != cost.constant or len(own.terms) != len(cost.terms) for own, cost in pairs):
            return False
        read = self._read(other, self._run.times)
        for own, cost in zip(self._readings, read, strict=True):
            if not all(equal_readings(first, second) for first, second in zip(own, cost, strict=True)):
                return False
        return equal_readings(self.values, self._valued(other.measured, read, self._run.times))

    def _add_start_and_sensors(self, slopes: Array, model: Sides[Costs]) -> None:
        """Add to ``slopes`` (costs, parameters) the derivatives with respect to one parameter through the initial
        state and through the sensors. ``model`` has the two models perturbed in this parameter; other parts are
        added elsewhere."""
        change, number = model.start, model.direction.number
        if model.less is not None:
            slopes[:, number] += self._of_sensors(model.more, model.less) / (2 * model.direction.size)
        for row, adjoint in zip(slopes, self.adjoints, strict=True):
            if self._is_at_start:
                row[number] += adjoint.start.times(change)

    def _of_sensors(self, more: Built[Costs], less: Built[Costs]) -> Array:
        """Return the costs of the perturbed model ``more`` minus those of ``less``, both read at the same recorded
        states of this run, shape (costs,)."""
        return self.values_at(more, self._run.times) - self.values_at(less, self._run.times)

    def _present_loads(self) -> list[Functions]:
        """Prescribed vectors and loads of this run, evaluated with the sample values that its signals have
        now. The list has one ``Functions`` for each stretch of time steps without velocity jumps."""
        return [functions_of(self._run.assembly, own.times) for own in self._run.stretches]

    def _add_load(
        self, slopes: Array, direction: Direction, more: Sequence[Functions], less: Sequence[Functions], label: str
    ) -> None:
        """Add to ``slopes`` (costs, parameters) the derivatives with respect to samples of a signal that
        changes loads and nothing else. ``more`` and ``less`` are the loads with these samples, those of
        ``direction``, increased and decreased. ``label`` names the signal in messages."""
        assert direction.steps is not None, "of samples"
        changes = [
            own.residuals(own.assembly.memory, first) - own.residuals(own.assembly.memory, second)
            for own, first, second in zip(self._run.stretches, more, less, strict=True)
        ]
        check_local(np.concatenate(changes), direction.steps >= 0, label)
        acting = direction.steps >= 0
        for row, felt in zip(slopes, self.adjoints, strict=True):
            both = zip(felt.parts.equations, changes, strict=True)
            shares = np.concatenate([np.einsum("ki,ki->k", mu, change) for mu, change in both])
            np.add.at(row, direction.steps[acting], shares[acting] / (2 * direction.size))

    def _add_samples(
        self, slopes: Array, direction: Direction, more: Built[Costs], less: Built[Costs], label: str
    ) -> None:
        """Add to ``slopes`` (costs, parameters) the derivatives with respect to those samples of a signal
        that act in different time steps. All of them are increased in the model ``more`` and decreased in
        ``less``, since each time step depends on one of them. ``direction`` has the samples; ``label`` names
        the signal in messages."""
        run, twice = self._run, 2 * direction.size
        upper, lower = (parts_of(run, own.assembly) for own in (more, less))
        for stretch, first, second in zip(run.stretches, upper.equations, lower.equations, strict=True):
            check_smooth(first, second, label, partial(stretch.residuals, run.assembly.memory, stretch.functions))
        changes, layout = upper.minus(lower, twice), run.system.layout
        change = start_difference(start_tables(less, self._base), start_tables(more, self._base), layout, twice)
        assert direction.steps is not None, "of samples"
        check_local(np.concatenate(changes.equations) * twice, direction.steps >= 0, label)
        read = [self._read(own, run.times) for own in (more, less)]
        for number, (row, adjoint) in enumerate(zip(slopes, self.adjoints, strict=True)):
            at_instants = np.zeros(len(run.times))
            for weight, first, second in zip(self._weights[number], read[0][number], read[1][number], strict=True):
                at_instants += (weight * (first - second)).reshape(len(run.times), -1).sum(axis=1) / twice
            if self._is_at_start:
                at_instants[0] += adjoint.start.times(change)
            _add_to_samples(row, direction, _changes_in_steps(adjoint.parts, changes), at_instants)


def _changes_in_steps(adjoint: RunParts, changes: RunParts) -> Array:
    """Return the change of a cost that the equations and history variables of each time step of a run cause,
    shape (steps,). It is the dot product of the cost's adjoint and the ``changes`` of the equations. History
    variables are strains of Maxwell branches, deflections of friction springs and impact speeds."""
    both = zip(adjoint.equations, changes.equations, strict=True)
    found = np.concatenate([np.einsum("ki,ki->k", mu, own) for mu, own in both])
    both = zip(adjoint.strains, changes.strains, strict=True)
    return np.asarray(found + np.concatenate([np.einsum("kb,kb->k", ends, own) for ends, own in both]))


def _add_to_samples(row: Array, direction: Direction, in_steps: Array, at_instants: Array) -> None:
    """Add changes of a cost to ``row``, its derivatives with respect to parameters, in place. A change in a
    time step (``in_steps``) or at an instant (``at_instants``) goes to the sample of ``direction`` that acts
    there; without one it is dropped."""
    assert direction.steps is not None and direction.instants is not None, "of samples"
    for indices, shares in ((direction.steps, in_steps), (direction.instants, at_instants)):
        acting = indices >= 0
        np.add.at(row, indices[acting], shares[acting])
