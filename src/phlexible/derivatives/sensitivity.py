"""Derivatives of sensor readings over a whole motion with respect to a few parameters, by the direct method."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, check_callable, non_negative
from phlexible.derivatives.both_sides import differentiate, equal_readings, perturbed_models
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
from phlexible.derivatives.readings import Reader, state_jacobian, states_at
from phlexible.derivatives.runs import LoggedRun, RunInterval, instants_of, simulate_logged
from phlexible.derivatives.steps import LoggedSteps, functions_of
from phlexible.derivatives.sweeps import EquationValues, state_derivatives, zero_values
from phlexible.derivatives.variations import Variation, move, strain_indices
from phlexible.description.interactions.sensor import Sensor
from phlexible.display import short_repr, sparkline, table
from phlexible.errors import ParameterError
from phlexible.measure.kinematics import weighted_point
from phlexible.measure.sensors import checked_sensors
from phlexible.state.initial_state import InitialKind
from phlexible.state.recorded_run import RecordedStates
from phlexible.step.integration.schemes import StepOptions

KEPT = ("position", "rotation", "eta", "velocity", "theta", "locked_at")
"""Stored tables that recordings hold unchanged."""


MISSED = {"multiplier": 1e-8, "velocity": 5e-14}
"""Tolerances on the residual of recorded steps, relative to the residual without these unknowns; the latter for
round-off.
"""

SOME = 50
"""Number of steps in which the tolerance is evaluated."""


def logged_run(recording: RecordedStates, base: Built[Any], options: StepOptions) -> tuple[LoggedRun, Array] | None:
    """Return a recorded motion of equal time steps as a run that can be differentiated, and the residuals of its
    steps (steps, unknowns). ``recording`` has every state of the motion, ``options`` say how its steps were
    computed. Only the first step is simulated again, for unknowns that are not recorded. Return None for joint
    locks, controllers, history variables, halved steps or breakpoints, or if the recorded states do not satisfy the
    equations of the model ``base`` up to round-off.

    None: not such a motion, or its multipliers are not known, so that the steps have to be repeated. The residuals
    tell whether the model has these states; they are not repeated here.

    Args:
        recording: all instants of the motion, at equal distances.
        base: model of the motion.
        options: of its steps.
    """
    assembly, system, count = base.assembly, base.assembly.system, len(recording.time) - 1
    if system.mechanism.switches or assembly.controlled or len(strain_indices(assembly)):
        return None
    if int(recording.halvings[-1]) or int(recording.contact_steps[-1]):
        return None
    step = float(recording.time[-1] - recording.time[0]) / count
    clock = instants_of(assembly, base.start, count * step, step, options)
    if clock.remainder or clock.breakpoints:
        return None
    (begin,) = simulate_logged(assembly, base.start, step, step, options).stretches
    states = np.zeros((count + 1, begin.states.shape[1]))
    rows, first = assembly.memory.rows(states), begin.rows
    for name in KEPT:
        rows[name][:] = getattr(recording, name)
    rows["multiplier"][1:] = _single_step_forces(recording.multipliers, first["multiplier"][1])
    rows["force"][1:] = _single_step_forces(recording.forces, first["force"][1])
    times, sizes = clock.instants(0, count), np.full(count, step)
    steps = LoggedSteps(
        assembly,
        times,
        sizes,
        begin.damping,
        begin.relaxation,
        states,
        functions_of(assembly, times),
    )
    indices = np.stack([np.zeros(count, dtype=np.int64), np.arange(1, count + 1)], axis=1)
    missed, velocities = steps.residuals(assembly.memory, steps.functions), assembly.memory.counts["velocities"]
    if np.abs(missed[:, :velocities]).max(initial=0.0) > _tolerance(steps, velocities):
        return None
    return LoggedRun(assembly, (steps,), (RunInterval(0, 0, count),), (), times, states, indices), missed


def _tolerance(steps: LoggedSteps, velocities: int) -> float:
    """Return the largest residual of the equations of motion that counts as round-off in recorded time steps, in
    their unit. It is a weighted sum of the residuals that appear if one quantity at a time (velocities,
    multipliers, ...) is zero at the ends of some of the steps. Of each, the largest absolute value among the first
    ``velocities`` residuals is taken.
    """
    some, found = np.unique(np.linspace(0, steps.count - 1, SOME).astype(np.int64)), 0.0
    for name, share in MISSED.items():
        pairs = np.stack([steps.states[some], steps.states[some + 1]], axis=1)
        steps.assembly.memory.rows(pairs.reshape(2 * len(some), -1))[name][1::2] = 0.0
        moving = steps.functions.moving[np.stack([some, some + 1], axis=1)]
        missed = steps.residuals_between(pairs, steps.sizes[some], moving, steps.functions.loads[some])
        left = np.abs(missed[:, :velocities]).max(initial=0.0)
        found += share * float(left)
    return found


def _single_step_forces(means: Array, first: Array) -> Array:
    """Return forces of single time steps, shape (steps, forces), from recorded forces that are means over two
    adjacent time steps. ``first`` is the force of the first time step; the others follow by ``x_k+1 = 2 m_k -
    x_k``.

    Args:
        means: at all instants, shape (N + 1, forces); the values at both ends are no means.
        first: of the first step, shape (forces,).
    """
    signs = 1.0 - 2.0 * (np.arange(len(means) - 1) % 2)[:, None]
    terms = np.concatenate([first[None], -2.0 * signs[:-1] * means[1:-1]])
    return np.asarray(signs * np.cumsum(terms, axis=0))


SAME = 1e-6
"""Tolerance on the difference of recorded and repeated steps, relative to the largest number."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Sensor values of a motion over time and their derivatives with respect to parameters.

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
        """Return an HTML table for notebooks with the derivatives of sensor values: for each, its last and largest
        value, and a small curve over time. Of derivatives with several components only the one of largest value is
        shown."""
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
    """Return the derivatives of sensor values with respect to ``parameters`` over the motion in ``recording``, by
    forward differentiation of its time steps. ``build`` makes a model of the parameters, ``measured`` returns its
    sensors; both are called for present and perturbed parameters. If recorded states do not satisfy the equations,
    the motion is simulated again. ``initial`` and ``numerical_damping`` are those of the run; ``scales`` are
    typical parameter sizes.

    Raises:
        ParameterError, ModelError, ConvergenceError: as there.
    """
    options = StepOptions(numerical_damping=non_negative("numerical_damping", numerical_damping)).checked()
    chosen, recipe = Parameters(parameters, scales), _recipe(build, measured, initial)
    own = recipe.build_model(chosen.nested(chosen.values))
    _check_beginning(recording, own)
    recorded = logged_run(recording, own, options)
    found = None if recorded is None else _derivatives(recorded[0], own, recipe, chosen, recorded[1])
    if found is None:
        found = _derivatives(_repeated_run(recording, own, options), own, recipe, chosen)
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
    """Simulate the model that ``build`` makes of the parameters for ``count`` time steps of ``step`` [s]. Return
    the values of its sensors (``measured``) over time and their derivatives with respect to the parameters, by
    forward differentiation. ``initial`` says from which kind of state the run starts.

    Raises:
        ParameterError, ModelError, ConvergenceError: as of ``Motion.sensitivity``.
    """
    recipe = _recipe(build, measured, initial)
    own = recipe.build_model(parameters.nested(parameters.values))
    found = _derivatives(
        simulate_logged(own.assembly, own.start, count * step, step, StepOptions()), own, recipe, parameters
    )
    assert found is not None, "of a run that was taken"
    return found


def _recipe(
    build: Build, measured: Callable[[Any], Sequence[Sensor] | Sensor], initial: Start
) -> Recipe[Sequence[Sensor]]:
    check_build(build)
    check_callable("sensors", measured, "model")
    return Recipe(
        build, initial, lambda m: checked_sensors("what the sensors' function returns", measured(m)), "sensors"
    )


def _derivatives(
    run: LoggedRun,
    base: Built[Sequence[Sensor]],
    recipe: Recipe[Sequence[Sensor]],
    varied: Parameters,
    residuals: Array | None = None,
) -> Sensitivity | None:
    """Return the sensor values of a run and their derivatives with respect to all parameters ``varied``, by
    forward differentiation through all time steps. ``base`` is the run's model; ``recipe`` builds the perturbed
    models. For a recorded run, the ``residuals`` of its equations are propagated like a parameter. If they would
    move the recorded states, None is returned. For a simulated run ``residuals`` is None.

    Args:
        run, base, recipe, varied: the run, its model, the recipe of models, and parameters.
        residuals: of the equations of a recorded run, shape (N, unknowns); None: the steps were computed here.

    Returns:
        None: the model does not reproduce a recorded run.
    """
    directions = varied.single_directions()
    readings = Reader(run.assembly, run.times).read_all(base.measured, run.rows)

    def reads_same(other: Built[Sequence[Sensor]]) -> bool:
        found = Reader(other.assembly, run.times).read_all(other.measured, run.rows)
        return all(equal_readings(first, second) for first, second in zip(readings, found, strict=True))

    models = perturbed_models(run, base, recipe, varied, directions, reads_same)
    changes = [zero_values(run)] * len(models)

    def take(number: int, parts: EquationValues) -> None:
        changes[number] = parts

    differentiate(run, models, take)
    starts = [model.start for model in models]
    if residuals is not None:  # it changes the states beside the parameters
        changes.append(replace(zero_values(run), equations=(residuals,)))
        nothing, strains = np.zeros(run.velocities), np.zeros(len(strain_indices(run.assembly)))
        starts.append(Variation(nothing, nothing, strains))
    start = Variation(
        *(np.stack([getattr(each, name) for each in starts], axis=0) for name in ("pose", "velocity", "strains"))
    )
    states = state_derivatives(run, start, changes)
    if residuals is not None:
        if not _is_same(run, Variation(states.pose[:, -1], states.velocity[:, -1])):
            return None
        states = Variation(states.pose[:, :-1], states.velocity[:, :-1])
    slopes = [np.zeros((len(varied), *values.shape)) for values in readings]
    own_reader = Reader(run.assembly, run.times)
    indices = [number for number, sensor in enumerate(base.measured) if weighted_point(sensor) is not None]
    others = [number for number in range(len(slopes)) if number not in indices]
    for number in indices:
        changes_of_place = state_jacobian(own_reader, run.rows, base.measured[number]).jvp_all(states)
        slopes[number] += changes_of_place.reshape(slopes[number].shape)
    for k, model in enumerate(models):
        size = model.direction.size
        for built, sign in zip(model.measured, (1, -1), strict=True):
            reader, change = Reader(built.assembly, run.times), sign * size
            if others:
                read = _read_nearby(run, reader, [built.measured[number] for number in others], states, k, change)
                for number, values in zip(others, read, strict=True):
                    slopes[number][k] += values / (2 * change)
            if indices and model.less is not None:
                read = reader.read_all([built.measured[number] for number in indices], run.rows)
                for number, values in zip(indices, read, strict=True):
                    slopes[number][k] += values / (2 * change)
    return Sensitivity(run.times, tuple(readings), tuple(varied.structured(each) for each in slopes))


def _read_nearby(
    run: LoggedRun, reader: Reader, sensors: Sequence[Sensor], states: Variation, number: int, change: float
) -> list[Array]:
    """Return the sensor values of a model with parameter ``number`` changed by ``change``, at all instants of a
    run. The recorded states are shifted by ``change`` times their derivatives ``states`` with respect to this
    parameter, so that differences of two results give total derivatives. ``reader`` evaluates sensors of the
    changed model.
    """
    rows = states_at(run.rows, np.arange(len(run.times)))
    move(run.system.layout, rows, Variation(change * states.pose[:, number], change * states.velocity[:, number]))
    return reader.read_all(sensors, rows)


def _is_same(run: LoggedRun, change: Variation) -> bool:
    """Return whether a ``change`` of pose and velocities at all instants of a ``run`` is negligible (round-off).
    Translations are compared with the largest position, rotations with 1 rad, velocities with the largest
    velocity, all up to one relative tolerance. Elastic coordinates are not compared."""
    layout = run.system.layout
    pairs = (
        (change.pose[:, layout.linear], run.rows["position"]),
        (change.pose[:, layout.spin[2]], np.ones(1)),
        (change.velocity, run.rows["velocity"]),
    )
    return all(np.abs(own).max(initial=0.0) <= SAME * _size(table) for own, table in pairs)


def _size(table: Array) -> float:
    return max(float(np.abs(table).max(initial=0.0)), 1e-300)


def _check_beginning(recording: RecordedStates, base: Built[Any]) -> None:
    """Raise ``ParameterError`` if a recorded motion does not begin in the initial state of the model ``base``, or
    if its time steps differ in size. Step sizes are compared to 1e-9 of the duration. Position, rotation, elastic
    coordinates and velocity in ``recording`` are compared, up to a small share of the largest recorded value; the
    message names the first that differs.

    Raises:
        ParameterError: with the name of the quantity that differs.
    """
    times = recording.time
    if len(times) < 2 or np.ptp(np.diff(times)) > 1e-9 * (times[-1] - times[0]):
        raise ParameterError("derivatives need a motion with steps of one size, all of them stored (every=1)")
    for name in ("position", "rotation", "eta", "velocity"):
        first, start = getattr(recording, name)[0], getattr(base.start, name)
        if first.shape != start.shape or np.abs(first - start).max(initial=0.0) > SAME * _size(
            getattr(recording, name)
        ):
            raise ParameterError(
                f"the motion began with another {name} than the model that build makes of the parameters: give the"
                " parameters that the motion was made with, and initial= as it was"
            )


def _repeated_run(recording: RecordedStates, base: Built[Any], options: StepOptions) -> LoggedRun:
    """Simulate the time steps of a recorded motion again, with everything stored that derivatives need, and return
    the run. ``base`` is the model; the constant step size follows from the times in ``recording``, and ``options``
    say how steps are computed. Raise ``ParameterError`` if positions, rotations or velocities differ from the
    recorded ones by more than a small share of the largest recorded value.

    Raises:
        ParameterError: the model or the stored steps are not those of the motion.
    """
    duration = float(recording.time[-1] - recording.time[0])
    step = duration / (len(recording.time) - 1)
    run = simulate_logged(base.assembly, base.start, duration, step, options)
    for name in ("position", "rotation", "velocity"):
        given = getattr(recording, name)
        if np.abs(run.rows[name] - given).max(initial=0.0) > SAME * _size(given):
            raise ParameterError(
                f"steps of {step:g} s do not give this motion again: all steps must be stored (every=1, order=2),"
                " and build, parameters and numerical_damping= be those that it was made with"
            )
    return run
