"""The derivatives of everything that sensors read in a motion to a few parameters, by the direct way."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, check_callable, non_negative
from phlexible.derivatives.both_sides import each_change, models_beside
from phlexible.derivatives.fading import strain_places
from phlexible.derivatives.model_numbers import are_alike
from phlexible.derivatives.parameters import (
    Build,
    Built,
    Given,
    Parameters,
    Recipe,
    Start,
    Values,
    check_build,
)
from phlexible.derivatives.readings import Sight, state_jacobian, states_at
from phlexible.derivatives.recorded_runs import recorded_run
from phlexible.derivatives.runs import TakenRun, take_run
from phlexible.derivatives.sweeps import RunParts, parts_of_nothing, state_derivatives
from phlexible.derivatives.variations import Variation, moved
from phlexible.description.interactions.sensor import Sensor
from phlexible.display import short_repr, sparkline, table
from phlexible.errors import ParameterError
from phlexible.measure.places import weighed_place
from phlexible.measure.sensors import sensors
from phlexible.state.initial_state import InitialKind
from phlexible.state.recording import RecordedStates
from phlexible.step.integration.schemes import StepOptions

SAME = 1e-6
"""Of the largest number: how near the steps of the model that was built must be to those of the motion."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives of readings over time to parameters.

    Attributes:
        time: shape (N + 1,) [s].
        readings: of each sensor, shape (N + 1,) or (N + 1, components).
        derivatives: of each sensor to each parameter: by name, or one array as the parameters were given, shape
            (N + 1,) or (N + 1, components) each, after the shape of an array of parameters.
    """

    time: Array
    readings: tuple[Array, ...]
    derivatives: tuple[Values, ...]

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """For notebooks: how each derivative goes over time."""
        rows = []
        for number, slopes in enumerate(self.derivatives):
            named = slopes if isinstance(slopes, dict) else {"parameters": slopes}
            for name, values in named.items():
                curves = np.moveaxis(np.asarray(values), -1 if np.ndim(self.readings[number]) == 1 else -2, 0)
                largest = curves.reshape(len(self.time), -1)
                curve = largest[:, np.abs(largest).max(axis=0).argmax()]
                label = f"reading {number + 1} to {name}"
                rows.append((label, f"{curve[-1]:.4g}", f"{np.abs(curve).max():.4g}", sparkline(curve, label)))
        heads = ("derivative of", "at the end", "largest", "over time")
        return table(rows, heads, f"Sensitivity over {self.time[-1] - self.time[0]:g} s")


def sensitivity(
    recording: RecordedStates,
    build: Build,
    parameters: Given,
    measured: Callable[[Any], Sequence[Sensor] | Sensor],
    initial: Start,
    numerical_damping: float,
    scales: Mapping[str, float] | None,
) -> Sensitivity:
    """Of a recorded motion of the model that ``build`` makes of ``parameters``; see ``Motion.sensitivity``.

    Raises:
        ParameterError, ModelError, ConvergenceError: as there.
    """
    options = StepOptions(numerical_damping=non_negative("numerical_damping", numerical_damping)).checked()
    chosen, recipe = Parameters(parameters, scales), _recipe(build, measured, initial)
    own = recipe.made(chosen.made(chosen.values))
    _check_beginning(recording, own)
    recorded = recorded_run(recording, own, options)
    found = None if recorded is None else _derivatives(recorded[0], own, recipe, chosen, recorded[1])
    if found is None:
        found = _derivatives(_taken_again(recording, own, options), own, recipe, chosen)
    assert found is not None, "of a run that was taken"
    return found


def sensitivity_of_run(
    build: Build,
    parameters: Parameters,
    measured: Callable[[Any], Sequence[Sensor] | Sensor],
    step: float,
    count: int,
    initial: Start = InitialKind.UNDEFORMED,
) -> Sensitivity:
    """The same of so many steps that are taken for it.

    Raises:
        ParameterError, ModelError, ConvergenceError: as of ``Motion.sensitivity``.
    """
    recipe = _recipe(build, measured, initial)
    own = recipe.made(parameters.made(parameters.values))
    found = _derivatives(
        take_run(own.assembly, own.start, count * step, step, StepOptions()), own, recipe, parameters
    )
    assert found is not None, "of a run that was taken"
    return found


def _recipe(
    build: Build, measured: Callable[[Any], Sequence[Sensor] | Sensor], initial: Start
) -> Recipe[Sequence[Sensor]]:
    check_build(build)
    check_callable("sensors", measured, "model")
    return Recipe(
        build, initial, lambda model: sensors("what the sensors' function returns", measured(model)), "sensors"
    )


def _derivatives(
    run: TakenRun,
    own: Built[Sequence[Sensor]],
    recipe: Recipe[Sequence[Sensor]],
    chosen: Parameters,
    missed: Array | None = None,
) -> Sensitivity | None:
    """Of readings of a run.

    Args:
        run, own, recipe, chosen: the run, its model, how models are made and of which parameters.
        missed: by the equations of a run that was recorded, (N, unknowns); None: it was taken.

    Returns:
        None: the model does not give a recorded run again.
    """
    directions = chosen.singles()
    readings = Sight(run.assembly, run.times).read_all(own.measured, run.rows)

    def reads_alike(other: Built[Sequence[Sensor]]) -> bool:
        found = Sight(other.assembly, run.times).read_all(other.measured, run.rows)
        return all(are_alike(first, second) for first, second in zip(readings, found, strict=True))

    models = models_beside(run, own, recipe, chosen, directions, reads_alike)
    changes = [parts_of_nothing(run)] * len(models)

    def take(number: int, found: RunParts) -> None:
        changes[number] = found

    each_change(run, models, take)
    starts = [model.start for model in models]
    if missed is not None:  # it changes the states beside the parameters
        changes.append(replace(parts_of_nothing(run), equations=(missed,)))
        nothing, strains = np.zeros(run.velocities), np.zeros(len(strain_places(run.assembly)))
        starts.append(Variation(nothing, nothing, strains))
    start = Variation(
        *(np.stack([getattr(each, name) for each in starts], axis=0) for name in ("pose", "velocity", "strains"))
    )
    states = state_derivatives(run, start, changes)
    if missed is not None:
        if not _is_same(run, Variation(states.pose[:, -1], states.velocity[:, -1])):
            return None
        states = Variation(states.pose[:, :-1], states.velocity[:, :-1])
    slopes = [np.zeros((len(chosen), *values.shape)) for values in readings]
    own_sight = Sight(run.assembly, run.times)
    places = [number for number, sensor in enumerate(own.measured) if weighed_place(sensor) is not None]
    others = [number for number in range(len(slopes)) if number not in places]
    for number in places:
        changes_of_place = state_jacobian(own_sight, run.rows, own.measured[number]).push_all(states)
        slopes[number] += changes_of_place.reshape(slopes[number].shape)
    for k, model in enumerate(models):
        size = model.direction.size
        for built, sign in zip(model.measured, (1, -1), strict=True):
            sight, change = Sight(built.assembly, run.times), sign * size
            if others:
                read = _read_beside(run, sight, [built.measured[number] for number in others], states, k, change)
                for number, values in zip(others, read, strict=True):
                    slopes[number][k] += values / (2 * change)
            if places and model.less is not None:
                read = sight.read_all([built.measured[number] for number in places], run.rows)
                for number, values in zip(places, read, strict=True):
                    slopes[number][k] += values / (2 * change)
    return Sensitivity(run.times, tuple(readings), tuple(chosen.shaped(each) for each in slopes))


def _read_beside(
    run: TakenRun, sight: Sight, given: Sequence[Sensor], states: Variation, number: int, change: float
) -> list[Array]:
    """Readings of a changed model at states that have changed with it."""
    rows = states_at(run.rows, np.arange(len(run.times)))
    moved(run.system.layout, rows, Variation(change * states.pose[:, number], change * states.velocity[:, number]))
    return sight.read_all(given, rows)


def _is_same(run: TakenRun, change: Variation) -> bool:
    """Whether states that change by so much, (T, velocities) each, are those of the same motion."""
    layout = run.system.layout
    pairs = (
        (change.pose[:, layout.linear], run.rows["position"]),
        (change.pose[:, layout.spin[2]], np.ones(1)),
        (change.velocity, run.rows["velocity"]),
    )
    return all(np.abs(own).max(initial=0.0) <= SAME * _size(table) for own, table in pairs)


def _size(table: Array) -> float:
    return max(float(np.abs(table).max(initial=0.0)), 1e-300)


def _check_beginning(recording: RecordedStates, own: Built[Any]) -> None:
    """Refuses motions of steps of several sizes, and those that began otherwise than the model that was built.

    Raises:
        ParameterError: names what is different.
    """
    times = recording.time
    if len(times) < 2 or np.ptp(np.diff(times)) > 1e-9 * (times[-1] - times[0]):
        raise ParameterError("derivatives need a motion with steps of one size, all of them stored (every=1)")
    for name in ("position", "rotation", "eta", "velocity"):
        first, start = getattr(recording, name)[0], getattr(own.start, name)
        if first.shape != start.shape or np.abs(first - start).max(initial=0.0) > SAME * _size(
            getattr(recording, name)
        ):
            raise ParameterError(
                f"the motion began with another {name} than the model that build makes of the parameters: give the"
                " parameters that the motion was made with, and initial= as it was"
            )


def _taken_again(recording: RecordedStates, own: Built[Any], options: StepOptions) -> TakenRun:
    """The steps of a motion.

    Raises:
        ParameterError: the model that was built, or the steps that are stored, are not those of the motion.
    """
    duration = float(recording.time[-1] - recording.time[0])
    step = duration / (len(recording.time) - 1)
    run = take_run(own.assembly, own.start, duration, step, options)
    for name in ("position", "rotation", "velocity"):
        given = getattr(recording, name)
        if np.abs(run.rows[name] - given).max(initial=0.0) > SAME * _size(given):
            raise ParameterError(
                f"steps of {step:g} s do not give this motion again: all steps must be stored (every=1, order=2),"
                " and build, parameters and numerical_damping= be those that it was made with"
            )
    return run
