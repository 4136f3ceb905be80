"""Data of a library from a model at its start: inputs, outputs, functions of time, controllers."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.drives import ServoPush
from phlexible.description.interactions.force_elements import JointElement
from phlexible.description.interactions.loads import Load, Torque
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError, ParameterError
from phlexible.libraries.data import (
    InputData,
    ModelData,
    UserEnergies,
    check_controllers,
    controllers_of,
    targets_at,
)
from phlexible.libraries.outputs import OutputTables, joint_outputs
from phlexible.libraries.time_functions import TimeData, mean_rates, time_data, weighted_sum
from phlexible.results.live import LiveRun
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.integration.clock import breakpoints_of


class RunTimes(NamedTuple):
    """Last arguments of ``time_data``, which are the same for all functions of time of a library."""

    start: float
    step: float
    duration: float | None
    kinks: Sequence[float]
    keeps_zeros: bool


def library_data(
    run: LiveRun,
    step: float,
    name: str,
    inputs: Sequence[str] | None,
    outputs: Mapping[str, Sensor] | None,
    duration: float | None,
    grips: Sequence[Load] = (),
    from_start: bool = False,
    has_parameters: bool = False,
) -> ModelData:
    """Return all data of a compiled library (``name``) of a model at the start of a ``run``: inputs, outputs,
    functions of time, controllers and the model's arrays. ``inputs`` and ``outputs`` are the user's (None:
    defaults). Functions of time are known up to ``duration`` [s]; ``step`` is the time step [s]. ``grips`` are
    loads that become inputs too, ``from_start`` counts energies from the start, ``has_parameters`` says whether
    values depend on parameters.

    Args:
        run: of the model.
        step, name, inputs, outputs, duration: as of ``build``.
        grips: loads that become inputs after those of users.
        from_start: energies are those since the start.
        has_parameters: numbers follow parameters: those that are zero may be others.

    Raises:
        ModelError, ParameterError: as of ``build``.
    """
    assembly, model = run.stepper.assembly, run.now.mechanism
    if run.stepper.is_controlled or run.stepper.has_laws:
        check_controllers(assembly.controlled)
    times = RunTimes(run.time, run.step_size, duration, breakpoints_of(model), has_parameters)
    moving, loads = _moving_data(assembly, times), _load_data(assembly, times)
    measured = joint_outputs(model) if outputs is None else outputs
    if not isinstance(measured, Mapping) or not all(isinstance(each, Sensor) for each in measured.values()):
        raise ParameterError(
            f"outputs must be sensors by name such as {{'tip': Position(beam.end)}}, got {outputs!r}"
        )
    makes = OutputTables(run, from_start)
    controllers = controllers_of(assembly.controlled, makes)
    watched = makes.source_count
    tables = makes.of({str(key): sensor for key, sensor in measured.items()})
    targets = _target_data(assembly, times)
    given = _inputs(run, inputs, [str(load) for load in grips])
    energies = UserEnergies(assembly)
    return ModelData(
        name, step, run.time, run.stepper, given, tables, moving, loads, controllers, watched, targets, energies
    )


def check_events(mechanism: Mechanism) -> None:
    """Raise ModelError if a model (``mechanism``) has events (locked or released joints), which compiled
    libraries do not support.

    Raises:
        ModelError: naming them.
    """
    if mechanism.events:
        raise ModelError(
            f"a compiled model has no events, and the model has {', '.join(map(str, mechanism.events))};"
            " build one library for each part of the motion, or leave them out"
        )


def _inputs(run: LiveRun, names: Sequence[str] | None, grips: Sequence[str]) -> tuple[InputData, ...]:
    known = {name: given for name, given in run.stepper.inputs.items() if name not in grips}
    for name in names or ():
        if name not in known:
            words = ", ".join(repr(each) for each in known) or "none"
            raise ParameterError(
                f"no input is named {name!r}; inputs are constant loads, torques and forces of the model: {words}"
            )
    found = []
    for name in (*(known if names is None else names), *grips):
        index, value, load = run.stepper.inputs[name]
        found.append(InputData(name, _unit(run.now.mechanism, name, load), index, value))
    return tuple(found)


def _unit(mechanism: Mechanism, name: str, load: Load | None) -> str:
    if load is not None:
        return "N m" if isinstance(load, Torque) else "N"
    element = next(each for each in mechanism.elements if str(each) == name)
    is_angle = isinstance(element, JointElement) and element.coordinate.endswith("angle")
    return "N m" if is_angle else "N"


def _moving_data(assembly: Assembly, run_times: RunTimes) -> TimeData:
    """Return the prescribed moving vectors and paths of a model as functions of time, three components each, for a
    library. For a path (prescribed value of an angle or displacement), only the value, the third component, is
    stored; its cosine and sine are replaced by zero. ``assembly`` has the model's arrays, ``run_times`` are start,
    time step and duration [s]."""
    names, paths = list[str](), list[bool]()
    for part in assembly.moving:
        is_path = isinstance(part, TimePath)
        own = part.name if isinstance(part, TimePath) else f"path of {assembly.system.moving_frames[part.frame]}"
        names += [own] * 3
        paths += [is_path, is_path, False]

    def values(times: Array) -> Array:
        found = assembly.moving_values(times)
        found[:, np.array(paths, dtype=bool)] = 0.0
        return found

    return time_data(values, names, *run_times)


def _target_data(assembly: Assembly, run_times: RunTimes) -> TimeData:
    """Return the targets (reference values) of all controllers of a model as fitted functions of time for a
    library, one column for each component. Controllers without a target are left out. ``assembly`` has the model's
    arrays; ``run_times`` are start, time step and duration of the run [s]."""
    aimed = [each for each in assembly.controlled if each.feedback.target is not None]
    names = [f"target of {each.name}" for each in aimed for _ in range(each.feedback.count)]

    def values(times: Array) -> Array:
        return targets_at([each.feedback for each in aimed], times).reshape(len(times), len(names))

    return time_data(values, names, *run_times)


def _load_data(assembly: Assembly, run_times: RunTimes) -> TimeData:
    names = [str(load) for load in assembly.system.loads] + [name for _, name in assembly.prescribed]
    pushes = {
        k: value
        for k, (value, _) in enumerate(assembly.prescribed, start=len(assembly.system.loads))
        if isinstance(value, ServoPush)
    }

    def values(times: Array) -> Array:
        found = assembly.load_values(times)
        found[:, [3 * k for k in pushes]] = 0.0
        return found

    found = time_data(values, [name for name in names for _ in range(3)], *run_times)
    columns, words, end = list(found.columns), found.messages, found.end
    for k, push in pushes.items():  # of the target, whose differences have no round-off as data
        target, has_rate = push.target, push.kd and push.target.rate is not None

        def paths(times: Array, target: TimePath = target, has_rate: object = has_rate) -> Array:
            return np.stack([target.at_times(times), *([target.rates_at(times)] if has_rate else [])], axis=1)

        own = [f"target of {names[k]}", *([f"rate of the target of {names[k]}"] if has_rate else [])]
        data = time_data(paths, own, *run_times)
        index = data.columns[0]
        rate = data.columns[1] if has_rate else mean_rates(index, run_times.step)
        columns[3 * k] = weighted_sum([(push.kp, index), *([(push.kd, rate)] if push.kd else [])])
        words, end = (*words, *data.messages), min(end, data.end)
    return TimeData(tuple(columns), end, words)
