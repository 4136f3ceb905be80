"""Many mechanisms at once, which differ in parameters, initial states or inputs; threads share the work."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import nullcontext
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from threading import Lock, local
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.algebra.arrays import (
    Array,
    BoolArray,
    called,
    check_callable,
    flag,
    option,
    positive,
    read_only,
    text,
    whole,
    whole_runs,
)
from phlexible.description.interactions.sensor import Sensor
from phlexible.display import how_many, shortened
from phlexible.errors import ModelError, ParameterError, deferred_warnings, warn_of_runs
from phlexible.measure.quality import balance_error
from phlexible.model import Model, simulation
from phlexible.results.live import LiveRun, SavedInstant
from phlexible.results.live_rows import LiveRows, run_in_threads
from phlexible.results.motion import Motion
from phlexible.results.progress import is_bar_shown, progress_bar
from phlexible.state.recorded_run import LEAST
from phlexible.step.integration.lane_loop import LaneLoop, run_in_lanes
from phlexible.step.integration.schemes import StepOptions
from phlexible.step.integration.step_calls import TURN, WholeRun, completed
from phlexible.tools.study import check_parameters, cores, runs_of

if TYPE_CHECKING:
    from phlexible.gpu.held_threads import Device
    from phlexible.state.initial_state import InitialKind

WORTH_LANES = 64
"""Mechanisms from which on lanes are worth their compilation."""
WORTH_STEPS = 1e6
"""Least number of steps of all mechanisms for lanes; compilation takes as long as 10^6 to 10^7 single steps."""

Build = Callable[..., Model]
SensorsOf = Callable[[Model], Mapping[str, Sensor]]


def batch(build: Build, parameters: Mapping[str, ArrayLike] | Sequence[Mapping[str, Any]]) -> "Batch":
    """Make a batch of n mechanisms for different ``parameters``, to be simulated together by
    ``batch.simulate(...)`` or stepped by ``batch.start(...)``. The function ``build`` is called with the
    parameters of one mechanism as keywords, and returns its model.

    A study (``ph.study``) takes any function that measures a model, and processes; a batch takes sensors, needs no
    other process, and gives arrays over mechanisms, in live runs too.

    Args:
        build: parameters as keywords -> a model.
        parameters: arrays of one length n by name, ``{"crank_speed": speeds, "diameter": diameters}``; or a list of
            parameters by name, such as ``ph.samples(100, crank_speed=(100, 150))``.

    Raises:
        ParameterError: arrays of several lengths, none at all, or parameters that ``build`` does not take.

    Example:
        >>> def build(height):
        ...     model = ph.Model(gravity=(0, 0, -9.81))
        ...     stone = model.add(ph.PointMass(1.0), "stone", position=(0, 0, height))
        ...     return model
        >>> stones = ph.batch(build, {"height": [1.0, 2.0, 3.0]})
        >>> runs = stones.simulate(0.1, 1e-2, lambda model: {"place": ph.Position(model["stone"].origin)})
        >>> runs["place"].shape, runs["place"][:, -1, 2].round(6).tolist()
        ((3, 11, 3), [0.95095, 1.95095, 2.95095])
    """
    if not callable(build):
        raise ParameterError(f"build must be a function of the parameters that returns a model, got {build!r}")
    rows = _rows(parameters) if isinstance(parameters, Mapping) else runs_of(parameters)[0]
    check_parameters(build, rows[0])
    return Batch(build, tuple(rows))


def _rows(columns: Mapping[str, ArrayLike]) -> list[dict[str, Any]]:
    """Return the parameters of a batch as a list of dictionaries, one for each mechanism, from the user's arrays
    by name (``columns``). Entry k of all arrays belongs to mechanism k. Raise ``ParameterError`` for no arrays,
    empty arrays, other types, or different lengths."""
    wanted = "parameters must be arrays of one length by name, such as {'speed': [1.0, 2.0]}"
    values: dict[str, list[Any]] = {}
    for name, column in columns.items():
        if isinstance(column, str | bytes) or not isinstance(column, Sequence | np.ndarray) or not len(column):
            raise ParameterError(f"{wanted}, got {column!r} for {name!r}")
        values[text("parameter", name)] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    lengths = {name: len(column) for name, column in values.items()}
    if len(set(lengths.values())) != 1:
        got = ", ".join(f"{length} of {name!r}" for name, length in lengths.items()) or "none"
        raise ParameterError(f"{wanted}, got {got}; all combinations of values are what ph.study runs")
    return [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]


@dataclass(frozen=True, eq=False)
class Batch:
    """n mechanisms of one structure; made by ``ph.batch``.

    Attributes:
        build: parameters as keywords -> a model.
        parameters: of each mechanism.
    """

    build: Build
    parameters: tuple[dict[str, Any], ...]

    def __len__(self) -> int:
        return len(self.parameters)

    def __repr__(self) -> str:
        return f"Batch({len(self)} mechanisms of {', '.join(self.parameters[0])})"

    def model(self, number: int) -> Model:
        """Return the model of one mechanism of the batch, built by the user's function with the parameters of this
        mechanism; ``number`` is its index from 0.

        Raises:
            ModelError: ``build`` returned something else.
        """
        given = self.parameters[number]
        model = called(partial(self.build, **given), "build", at=f"for the parameters {given}")
        if not isinstance(model, Model):
            raise ModelError(f"build must return a Model, got {model!r}")
        return model

    def simulate(
        self,
        duration: float,
        step: float,
        sensors: SensorsOf,
        *,
        initial: "InitialKind | str" = "undeformed",
        order: int = 2,
        every: int = 1,
        numerical_damping: float = 0.0,
        threads: int | None = None,
        lanes: bool | None = None,
        specialize: bool = False,
        progress: bool | None = None,
    ) -> "BatchRuns":
        """Simulate all mechanisms of the batch from t = 0 for ``duration`` [s] and return the values of their
        ``sensors`` as arrays. Time steps have the length ``step`` [s]; motions are not stored. ``sensors`` is a
        function of a model. The work is divided among ``threads``, and similar mechanisms are stepped together in
        SIMD ``lanes``. Failed mechanisms have NaN after the failure; an error is raised only if all give no value.

        A mechanism that cannot be built, or a step of which fails, is recorded, and the others go on; what was read
        before it failed is there. Every number is that of ``model.simulate`` of this mechanism alone, in lanes up
        to rounding.

        Mechanisms of one structure are stepped in lanes: as many at once as a vector register holds numbers, 2, 4
        or 8. Those that have contacts or stops, controllers, or functions of their own for laws go one by one, and
        so does a mechanism that halves a step, for this step: ``BatchRuns.in_lanes`` tells.

        Args:
            duration, step, initial, order, every, numerical_damping: as of ``Model.simulate``.
            sensors: model -> sensors by name.
            threads: that share the work; None: one for each core. The numbers do not depend on it.
            lanes: whether mechanisms are stepped in lanes, for which the time step is compiled once more; None:
                where there are 64 or more, which take 10^6 steps or more together.
            specialize: whether mechanisms are stepped in lanes by a program in which what they have in common is
                constant: which bodies, joints, loads and laws there are. It is compiled for each structure, which
                takes as long as some 10^7 steps, and kept; small mechanisms gain by it.
            progress: as of ``Model.simulate``.

        Raises:
            ParameterError: numbers or option strings out of range, ``lanes`` or ``specialize`` that is no truth or
                contradicts the other, or ``sensors`` that gives no sensors by name.
            Exception: what the first mechanism failed with, where all of them fail.
        """
        check_callable("sensors", sensors, "model")
        duration, step = positive("duration", duration), positive("step", step)
        workers = cores() if threads is None else whole("threads", threads)
        options = {"initial": initial, "order": order, "every": every, "numerical_damping": numerical_damping}
        width = lanes_for(len(self), lanes, specialize, duration / step)
        groups = _groups(self.parameters, width)
        found: dict[int, _Reading] = {}
        own, turn = local(), Lock() if workers > 1 else None  # of each thread: lanes, whose memory its groups share

        def run(group: int) -> None:
            lanes = vars(own).setdefault("lanes", LaneLoop(width, specialize)) if width > 1 else None
            found.update(
                copy_context().run(self._read, groups[group], lanes, turn, duration, step, sensors, options)
            )

        is_bar_shown(progress)
        with progress_bar(progress, "mechanisms") as report:
            run(0)  # in this thread: what is compiled is compiled once
            for _ in run_in_threads(run, range(1, len(groups)), workers):
                report(len(found), len(self))
        readings = [found[number] for number in range(len(self))]
        if all(each.values is None for each in readings):
            raise next(each.error for each in readings if each.error is not None)
        given = {number: each.warnings for number, each in enumerate(readings) if each.warnings}
        warn_of_runs(given, len(self))
        return BatchRuns(self, duration, step, options, *_arrays(readings), given)

    def start(
        self,
        step: float,
        *,
        initial: "InitialKind | str" = "undeformed",
        numerical_damping: float = 0.0,
        threads: int | None = 1,
        lanes: bool | None = None,
        specialize: bool = False,
        device: str | None = None,
    ) -> "LiveBatch":
        """Start live runs of all mechanisms of the batch in time steps of ``step`` [s], and return them as a
        ``LiveBatch``. They are stepped together, with arrays of inputs that can change between time steps.
        ``initial`` is the start, ``numerical_damping`` a factor of the scheme. ``threads``, SIMD ``lanes`` and
        ``specialize`` say how the work is divided; ``device`` "cuda" steps them on a GPU instead.

        Args:
            step, initial, numerical_damping: as of ``Model.start``.
            threads: that share the steps; None: one for each core. It pays where a call of ``step`` takes
                milliseconds.
            lanes: as of ``simulate``; None: where there are 64 or more.
            specialize: as of ``simulate``.
            device: "cuda": an NVIDIA GPU, whose threads step one mechanism each; for some
                thousands of one structure, without contacts and functions. The step is compiled for each
                structure, which takes a minute or two, and kept. None: this processor.

        Raises:
            ParameterError: numbers or option strings out of range; mechanisms with other inputs than the first; in
                ``step``, those that the device does not step.
            DeviceError: there is no such device.
            ModelError: as of ``Model.start``.
        """
        workers = cores() if threads is None else whole("threads", threads)
        width, chosen = lanes_for(len(self), lanes, specialize), device_for(device, lanes, specialize)
        models = [self.model(number) for number in range(len(self))]
        given, runs = dict[int, list[str]](), list[LiveRun]()
        for number, model in enumerate(models):
            with deferred_warnings() as given[number]:
                runs.append(model.start(step, initial=initial, numerical_damping=numerical_damping))
        warn_of_runs(given, len(self))
        if chosen is not None:
            return LiveBatch(tuple(models), runs, 1, [range(len(runs))], len(runs) + 1, chosen)
        return LiveBatch(tuple(models), runs, workers, _groups(self.parameters, width), width, None, specialize)

    def _read(
        self,
        indices: Sequence[int],
        lanes: LaneLoop | None,
        turn: "Lock | None",
        duration: float,
        step: float,
        sensors: SensorsOf,
        options: Mapping[str, Any],
    ) -> "dict[int, _Reading]":
        """Simulate the mechanisms ``indices`` of the batch and return a dictionary from these numbers to sensor
        values, warnings and errors. Each simulation takes ``duration`` with time step ``step``, both in s;
        ``options`` has the initial state and the options of the step. ``sensors`` is the user's function from a
        model to its sensors. With ``lanes``, two or more different models are computed at the same time in SIMD
        lanes, otherwise one after the other. ``turn`` is a lock under which only one thread computes, or None. If a
        model cannot be built or simulated, the error is stored, with the values up to it; errors of ``sensors`` are
        raised.

        The sensors of a model that was built are the caller's mistakes, the rest are failures.
        """
        found, built = dict[int, _Reading](), dict[int, tuple[Model, Mapping[str, Sensor]]]()
        initial, rest = options["initial"], {name: each for name, each in options.items() if name != "initial"}
        for number in indices:
            try:
                model = self.model(number)
            except Exception as error:
                found[number] = _Reading(error=error)
                continue
            built[number] = model, _named(called(sensors, "sensors", model, at=f"for mechanism {number}"))

        def run(number: int) -> WholeRun[_Reading]:
            model, wanted = built[number]
            with whole_runs(), deferred_warnings() as given:
                try:
                    motion = yield from simulation(model, duration, step, initial, StepOptions(**rest))
                    reading = _Reading.of(motion, wanted)
                except Exception as error:
                    before, reading = getattr(error, "motion", None), _Reading(error=error)
                    if isinstance(before, Motion) and len(before.time) >= LEAST:  # as many as accelerations take
                        reading = _Reading.of(before, wanted, error)
            return replace(reading, warnings=tuple(given))

        TURN.set(turn)
        with turn or nullcontext():
            if lanes is None or len(built) < 2 or len({id(model) for model, _ in built.values()}) < len(built):
                return found | {number: completed(run(number)) for number in built}
            readings, shares = run_in_lanes([run(number) for number in built], lanes)
        for number, reading, share in zip(built, readings, shares.tolist(), strict=True):
            if isinstance(reading, Exception):
                raise reading
            found[number] = replace(reading, in_lanes=share)
        return found


def lanes_for(count: int, lanes: bool | None, specialize: bool = False, steps: float = np.inf) -> int:
    """Return how many mechanisms are stepped at the same time in SIMD lanes (vector registers of the processor),
    for a batch of ``count`` mechanisms; 1: without lanes. ``lanes`` and ``specialize`` are the user's options,
    ``steps`` the number of time steps. With ``lanes`` None, lanes are used from 64 mechanisms and a total of 10^6
    time steps on, and always with ``specialize``.

    Raises:
        ParameterError: ``lanes`` or ``specialize`` is no truth, or they contradict each other.
    """
    if not isinstance(lanes, bool | None):
        raise ParameterError(f"lanes must be True, False or None, got {lanes!r}")
    if flag("specialize", specialize) and lanes is False:
        raise ParameterError("specialize=True is for lanes; leave out lanes=False")
    are_worth_it = count >= WORTH_LANES and count * steps >= WORTH_STEPS
    if not (specialize or (are_worth_it if lanes is None else lanes)):
        return 1
    from phlexible.step.compilation.number_kinds import lanes_of_processor  # with the compiler

    return lanes_of_processor()


class DeviceKind(Enum):
    """Devices that can step mechanisms in place of the processor."""

    CUDA = "cuda"


def device_for(device: str | None, lanes: bool | None, specialize: bool) -> "Device | None":
    """Return the function that steps mechanisms on a device such as a GPU, from the user's option; None: on
    the processor. ``lanes`` and ``specialize`` are the options that it excludes.

    Raises:
        ParameterError: no such device, or lanes beside it or a program for them.
        DeviceError: it is not there.
    """
    if device is None:
        return None
    option("device", device, DeviceKind)
    if lanes or specialize:
        raise ParameterError(
            f"device={device!r} steps mechanisms in threads of its own, by a program for their structure; leave out"
            " lanes=True and specialize=True"
        )
    from phlexible.gpu.cuda import cuda  # with the compiler
    from phlexible.gpu.held_threads import ThreadStepper

    return partial(ThreadStepper, processor=cuda())


def _groups(parameters: Sequence[Mapping[str, Any]], width: int) -> list[list[int]]:
    """Divide the mechanisms of a batch into groups that are stepped together in SIMD lanes, and return lists of up
    to ``width`` mechanism numbers. They are sorted first by the text of ``parameters`` that are no floats, then by
    floats, so that similar mechanisms are in one group; for width 1 the order is kept.

    Mechanisms are sorted first by parameters that are no real numbers, on which structure may depend, then by the
    others, so that all mechanisms of a group need about as many iterations.
    """

    def key(number: int) -> tuple[list[str], list[float]]:
        row = parameters[number]
        reals = [value for value in row.values() if isinstance(value, float)]
        return [repr(value) for value in row.values() if not isinstance(value, float)], reals

    order = sorted(range(len(parameters)), key=key) if width > 1 else list(range(len(parameters)))
    return [order[begin : begin + width] for begin in range(0, len(order), width)]


@dataclass(frozen=True, eq=False)
class _Reading:
    """Instants, values by name, energy balance error and failure of a run."""

    time: Array = field(default_factory=lambda: np.zeros(0))
    values: dict[str, Array] | None = None
    balance_error: float = np.nan
    error: Exception | None = None
    in_lanes: float = 0.0
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, motion: Motion, sensors: Mapping[str, Sensor], error: Exception | None = None) -> "_Reading":
        values = {name: np.array(motion[sensor]) for name, sensor in sensors.items()}  # no views of rows
        return cls(motion.time.copy(), values, balance_error(motion.run), error)


def _arrays(readings: Sequence[_Reading]) -> tuple[Array, dict[str, Array], Array, Array, dict[int, Exception]]:
    """Return the results of all mechanisms of a batch as a tuple: instants of the longest run, sensor values by
    name, energy balance errors, fractions of steps in SIMD lanes, and failures. All arrays have a first axis of
    mechanisms. Values after the end of a shorter run are NaN. Failures are exceptions by index of the mechanism.
    ``readings`` are the single results."""
    longest = max((each for each in readings if each.values is not None), key=lambda each: len(each.time))
    assert longest.values is not None, "one of them was read"
    n, values = len(readings), dict[str, Array]()
    for name, example in longest.values.items():
        values[name] = np.full((n, *example.shape), np.nan)
        for row, each in zip(values[name], readings, strict=True):
            if each.values is not None:
                row[: len(each.time)] = each.values[name]
    failures = {number: each.error for number, each in enumerate(readings) if each.error is not None}
    errors, shares = (np.array([getattr(each, of) for each in readings]) for of in ("balance_error", "in_lanes"))
    return longest.time, values, errors, shares, failures


@dataclass(frozen=True, eq=False)
class BatchRuns:
    """Sensor values of all runs of a batch.

    Attributes:
        batch: the mechanisms.
        duration, step, options: of the runs.
        time: instants, shape (instants,) [s].
        values: by the names of the sensors, each of shape (n, instants) or (n, instants, components of the
            sensor); NaN from where a run failed on.
        balance_error: of energy, relative to the greatest energies of each run, shape (n,); NaN where none began.
        in_lanes: fraction of the steps of each run that were taken with other mechanisms in lanes, shape (n,).
        failures: errors by the number of the mechanism.
        warnings: that were given, in words, by the number of the mechanism.
    """

    batch: Batch
    duration: float
    step: float
    options: Mapping[str, Any]
    time: Array
    values: Mapping[str, Array]
    balance_error: Array
    in_lanes: Array
    failures: Mapping[int, Exception]
    warnings: Mapping[int, tuple[str, ...]]

    def __getitem__(self, name: str) -> Array:
        """Return the values of the sensor ``name`` in all mechanisms of the batch, shape (n, instants) or (n,
        instants, components).

        Raises:
            ParameterError: no sensor of that name.
        """
        if name not in self.values:
            raise ParameterError(f"no sensor is named {name!r}; there are: {', '.join(self.values) or 'none'}")
        return self.values[name]

    def motion(self, number: int) -> Motion:
        """Return the full motion of mechanism ``number`` (from 0) of the batch. Motions are not stored, so this
        mechanism is simulated again alone with the same options.

        Raises:
            ParameterError: no such mechanism.
            Exception: what it failed with.
        """
        chosen = whole("number", number, 0)
        if chosen >= len(self.batch):
            raise ParameterError(f"number must be below {len(self.batch)}, got {number!r}")
        with whole_runs():
            return self.batch.model(chosen).simulate(self.duration, self.step, progress=False, **self.options)

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        runs, names = how_many(len(self.batch), "run"), shortened(tuple(self.values))
        return f"BatchRuns({runs}{failed}, {len(self.time)} instants: {names})"


# Live batches: many runs that are stepped by hand.


class BatchInputs(MutableMapping[str, Array]):
    """Inputs of all runs by name: a row for each mechanism.

    Args:
        rows: runs with the same inputs.
    """

    def __init__(self, rows: LiveRows) -> None:
        self._rows = rows
        self._known = rows.updated_runs()[0].inputs

    def __getitem__(self, name: str) -> Array:
        """Return the input ``name`` of all mechanisms of a live batch. The shape is (n,) for a force or
        torque in a joint, (n, 3) for a load; it is read-only."""
        found = np.array([run.inputs[name] for run in self._rows.updated_runs()])
        return read_only(found[:, 0] if found.shape[1] == 1 else found)

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        """Set the input ``name`` of a live batch to a value for each mechanism, or to one value for all. It
        acts from the next time step on.

        Raises:
            ParameterError: no input of that name, another shape, numbers that are not finite, or a force out of the
                plane of a planar model.
        """
        self._rows.set_input(name, value)

    def __delitem__(self, name: str) -> None:
        """Raise an error, because an input (``name``) of a live batch cannot be removed."""
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class LiveBatch:
    """Mechanisms that are stepped by hand, each as ``LiveRun`` does; made by ``Batch.start``.

    Past steps are not kept. A mechanism a step of which fails stays where that step began, is in ``failures`` until
    it is restored, and takes no steps until then.

    Attributes:
        models: of all mechanisms.
        inputs: of the steps to come, by name: a row for each mechanism.
        failures: errors by the number of the mechanism.
    """

    def __init__(
        self,
        models: tuple[Model, ...],
        runs: Sequence[LiveRun],
        threads: int,
        groups: Sequence[Sequence[int]],
        width: int,
        device: "Device | None" = None,
        is_specialized: bool = False,
    ) -> None:
        known = [{name: len(value) for name, value in run.inputs.items()} for run in runs]
        for number, names in enumerate(known):
            if names != known[0]:
                raise ParameterError(
                    "mechanisms of a batch have the same inputs; number 0 has"
                    f" {', '.join(known[0]) or 'none'}, number {number} {', '.join(names) or 'none'}"
                )
        self._rows = LiveRows(runs, groups, width, threads, device, is_specialized)
        self.models, self.inputs = models, BatchInputs(self._rows)
        self.failures: dict[int, Exception] = {}
        self._sensors: dict[Any, dict[str, list[Sensor]]] = {}

    def __getstate__(self) -> dict[str, object]:
        """Return the state of a live batch for pickles and copies, without its cached sensors."""
        return {**self.__dict__, "_sensors": {}}

    def __copy__(self) -> "LiveBatch":
        return deepcopy(self)

    def __len__(self) -> int:
        return len(self.models)

    @property
    def time(self) -> Array:
        """Return the time that each mechanism of a live batch has reached, shape (n,) [s]."""
        return self._rows.time.copy()

    def step(self, count: int = 1) -> None:
        """Advance all mechanisms of a live batch that have not failed by ``count`` time steps. Mechanisms that
        fail now are stored with their error in ``failures``.

        Raises:
            ParameterError: no count.
        """
        steps = whole("count", count)
        go_on = np.ones(len(self), dtype=bool)
        go_on[list(self.failures)] = False
        self.failures.update(self._rows.step(go_on, steps))

    def read(self, sensors: SensorsOf) -> dict[str, Array]:
        """Return the present values of sensors in all n mechanisms of a live batch, by name, each of shape (n,) or
        (n, components). ``sensors`` is a function of a model that returns its sensors by name. It is called once
        with each model, and the sensors are cached. ParameterError is raised if names differ between mechanisms.

        Args:
            sensors: model -> sensors by name; asked once for each function.

        Raises:
            ParameterError: ``sensors`` gives no sensors by name, or other names for other mechanisms.
        """
        check_callable("sensors", sensors, "model")
        if sensors not in self._sensors:
            found = [_named(sensors(model)) for model in self.models]
            for number, each in enumerate(found):
                if each.keys() != found[0].keys():
                    raise ParameterError(
                        "sensors must have the same names for all mechanisms of a batch; number 0 has"
                        f" {', '.join(found[0])}, number {number} {', '.join(each)}"
                    )
            self._sensors[sensors] = {name: [each[name] for each in found] for name in found[0]}
        wanted = self._sensors[sensors]
        return {name: self._rows.read((sensors, name), own) for name, own in wanted.items()}

    def save(self) -> tuple[SavedInstant, ...]:
        """Return the present states of all mechanisms of a live batch with their inputs, for ``restore``."""
        return tuple(run.save() for run in self._rows.updated_runs())

    def restore(self, saved: Sequence[SavedInstant], where: ArrayLike | None = None) -> None:
        """Restore the states ``saved`` of those mechanisms of a live batch that the mask ``where`` selects (None:
        all), and forget their failures; other mechanisms are unchanged. ``saved`` is the tuple or list that
        ``save`` returned, with one state for each mechanism; otherwise ``ParameterError`` is raised.

        Args:
            saved: from ``save`` of this batch.
            where: which ones, truth values of shape (n,); None: all.

        Raises:
            ParameterError: another number of mechanisms or truth values, or states of other models.
        """
        if not isinstance(saved, tuple | list) or len(saved) != len(self):
            raise ParameterError(f"saved must be what save() of this batch gave, got {saved!r}")
        for number in np.flatnonzero(self._mask(where)).tolist():
            self._rows.continue_run(number, saved[number])
            self.failures.pop(number, None)

    def _mask(self, where: ArrayLike | None) -> BoolArray:
        if where is None:
            return np.ones(len(self), dtype=bool)
        mask: NDArray[Any] = np.asarray(where)
        if mask.shape != (len(self),) or mask.dtype != np.bool_:
            raise ParameterError(f"where must be {len(self)} truth values, got {where!r}")
        return mask

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return f"LiveBatch({len(self)} mechanisms{failed}, inputs {', '.join(self.inputs) or 'none'})"


def _named(value: Any) -> dict[str, Sensor]:
    """Return the sensors that a user's function of a model returned (``value``) as a dictionary by name. Raise
    ``ParameterError`` unless it is a mapping of at least one sensor by name.

    Raises:
        ParameterError: they are none.
    """
    if not isinstance(value, Mapping) or not value or not all(isinstance(each, Sensor) for each in value.values()):
        raise ParameterError(
            f'sensors must return sensors by name, such as {{"tip": Position(model["beam"].end)}}, got {value!r}'
        )
    return {text("name of a sensor", name): sensor for name, sensor in value.items()}
