"""Many live runs at once: stepped in lanes where they can be, and read by rows.

Runs nothing of which depends on time but their inputs are held: as long as nobody asks for one of them, their
states, loads and times are arrays, and the runs themselves are left behind. What comes back is written into them.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.description.interactions.sensor import Sensor
from phlexible.errors import ConvergenceError, ParameterError
from phlexible.results.live import LiveRun, SavedInstant
from phlexible.step.integration.step_calls import completed

if TYPE_CHECKING:
    from phlexible.gpu.held_threads import Device, ThreadStepper
    from phlexible.results.live_readings import RowsOfReadings
    from phlexible.step.integration.held_lanes import LaneStepper
    from phlexible.step.integration.lane_loop import LaneLoop, LanesOfStructures

READ = ("position", "rotation", "eta", "velocity", "theta")
"""Tables that sensors are read from."""


class _InLanes:
    """Runs whose states are stored in lanes, or in threads of a GPU.

    Args:
        runs: with calls that can join and have one key.
        lanes: what holds them.

    Attributes:
        steps: of each run since its start.
    """

    def __init__(self, runs: Sequence[LiveRun], lanes: "LaneStepper | ThreadStepper") -> None:
        self.runs, self.lanes = list(runs), lanes
        self.steps: IntArray = np.array([run.steps for run in runs])
        self._origins, self._step_size = np.array([run.origin for run in runs]), runs[0].step_size
        self._base = np.stack([run.stepper.steady_loads_of_model for run in runs], axis=-1)
        self._inputs: dict[str, Array] = {}  # that runs do not know yet
        self._is_ahead, self._has_rows = np.zeros(len(runs), dtype=bool), True
        for lane, run in enumerate(runs):
            lanes.row[:, lane] = run.row[0]

    @property
    def time(self) -> Array:
        """Return the simulated time that each run has reached, shape (runs,) [s]: its start plus its number of
        time steps times the step size."""
        return np.asarray(self._origins + self._step_size * self.steps)

    def set_input(self, name: str, rows: Array) -> None:
        """Set the load ``name`` in several runs that are computed together in SIMD lanes or GPU threads, one row of
        ``rows`` for each run. ``rows`` has the shape (runs, components). The arrays of the lanes change
        immediately; the Python objects of the single runs get the values later, when they are updated from these.
        """
        indices, change = self.runs[0].inputs.change_of(name, rows)
        self.lanes.loads[indices, : len(self.runs)] = self._base[indices] + change.T
        self._inputs[name] = rows
        self._is_ahead[:] = True

    def step(self, count: int, which: BoolArray) -> tuple[int, bool]:
        """Advance the runs for which the mask ``which`` (runs,) is true by up to ``count`` time steps in SIMD
        lanes. Return the number of time steps taken, the same for all, and whether a lane has new warnings. The
        states stay in the lanes; the run objects are marked as outdated."""
        done, tells = cast("LaneStepper", self.lanes).step(count, which)
        self.steps += done * which
        self._is_ahead |= which
        self._has_rows = self._has_rows and done == count
        return done, tells

    def step_in_threads(self, count: int, which: BoolArray) -> Iterator[tuple[int, ConvergenceError]]:
        """Advance the runs of this group for which ``which`` is true by ``count`` time steps in GPU threads. Yield
        index and convergence error of each run that failed. A run whose thread stops early takes the remaining
        time steps on the CPU, and its state is copied back to its thread."""
        threads = cast("ThreadStepper", self.lanes)
        taken, tell = threads.step(count, which)
        self.steps += taken
        self._is_ahead |= which
        for lane in np.flatnonzero(tell | (which & (taken < count))).tolist():
            self._update_run(lane, has_row=bool(taken[lane] == count))
            run = self.runs[lane]
            try:
                if taken[lane] < count:
                    run.step(int(count - taken[lane]))
            except ConvergenceError as error:
                yield lane, error
            run.discard_earlier()
            threads.set_lane(lane, run.stepper.memory.state, run.row[0], run.loads, run.continues)
            self.steps[lane] = run.steps

    def continue_run(self, lane: int, saved: SavedInstant) -> None:
        """Set the run with the index ``lane`` in this group of runs, which are advanced in parallel, to a
        ``saved`` instant of the same model. State, time, inputs and loads are also written to its SIMD lane or GPU
        thread."""
        run = self.runs[lane]
        run.continue_from(saved)
        self.lanes.set_lane(lane, run.stepper.memory.state, run.row[0], run.loads)
        self.steps[lane], self._is_ahead[lane] = saved.steps, False
        for name, rows in self._inputs.items():
            rows[lane] = saved.inputs[name]

    def update_runs(self) -> None:
        """Copy the states that lanes or GPU threads computed back into their live run objects, for all runs that
        were advanced since the last copy."""
        for lane in np.flatnonzero(self._is_ahead).tolist():
            self._update_run(lane, self._has_rows)

    def _update_run(self, lane: int, has_row: bool) -> None:
        run = self.runs[lane]
        for name, values in self._inputs.items():
            run.inputs[name] = values[lane]
        run.adopt(int(self.steps[lane]), self.lanes.state[:, lane], self.lanes.row[:, lane] if has_row else None)
        self._is_ahead[lane] = False


class LiveRows:
    """Live runs that are stepped and read together; past steps are forgotten.

    Args:
        runs: all of them.
        groups: numbers of those that are stepped in lanes together.
        width: lanes; 1: one run after the other.
        threads: that share the steps.
        device: whose threads take all steps in place of lanes; the groups are one then.
        is_specialized: steps in lanes are taken by a program for the structure alone.

    Attributes:
        time: reached by each run, shape (runs,) [s].
    """

    def __init__(
        self,
        runs: Sequence[LiveRun],
        groups: Sequence[Sequence[int]],
        width: int,
        threads: int,
        device: "Device | None" = None,
        is_specialized: bool = False,
    ) -> None:
        self._runs, self._width, self._device = list(runs), width, device
        self._is_specialized = is_specialized
        self._groups: list[IntArray] = [np.array(group, dtype=np.int64) for group in groups]
        self._slices = [_as_slice(numbers) for numbers in self._groups]
        self._group_of = {int(k): (g, lane) for g, group in enumerate(groups) for lane, k in enumerate(group)}
        self._threads = max(1, min(threads, len(groups)))
        self._moved: list[_InLanes | None] = [None] * len(groups)
        self._lanes: list[LaneLoop | None] = [None] * len(groups)
        self._known: list[LanesOfStructures | None] = [None] * self._threads
        self._readings: dict[Any, tuple[int, RowsOfReadings | None]] = {}  # and how often runs were replaced then
        self._now: dict[str, Array] | None = None  # what is read,
        self._has_velocities = False  # and whether its velocities satisfy the joints
        self._replaced, self._replaced_at = 0, np.zeros(len(runs), dtype=np.int64)
        self._are_shown = False
        self._are_alone = [False] * len(groups)  # of a structure that has no lanes, or of several
        self._have_failed = np.zeros(len(runs), dtype=bool)  # and were not put elsewhere
        self.time: Array = np.array([run.time for run in runs])

    def __reduce__(self) -> tuple[object, ...]:
        """Return what pickles and copies of this collection of live runs are made from; the copies have memory of
        their own."""
        arguments = (self._groups, self._width, self._threads, self._device, self._is_specialized)
        return type(self), (list(self.updated_runs()), *arguments), {"_have_failed": self._have_failed}

    @property
    def runs(self) -> list[LiveRun]:
        """Return a list of all live runs of this collection. From this access on they are updated after each time
        step, which is slower, since the user may read and change them between time steps."""
        self._are_shown = True
        return list(self.updated_runs())

    def updated_runs(self) -> Sequence[LiveRun]:
        """Return all live runs of this collection, updated to the present states that lanes or threads have
        computed, for reading only."""
        for held in self._moved:
            if held is not None:
                held.update_runs()
        return self._runs

    def replace(self, number: int, run: LiveRun) -> None:
        """Replace the live run with the index ``number`` in this collection by another ``run``. The states of the
        runs of its group are first copied back from SIMD lanes or the GPU, which are discarded until the next
        step. Cached sensor values and an earlier failure of the replaced run are forgotten."""
        group = self._group_of[number][0]
        self._discard_lanes(group)
        self._are_alone[group], self._now = False, None
        self._runs[number], self.time[number], self._have_failed[number] = run, run.time, False
        self._replaced += 1
        self._replaced_at[number] = self._replaced

    def continue_run(self, number: int, saved: SavedInstant) -> None:
        """Set the live run with the index ``number`` to the instant that ``saved`` stores. It may come from
        another run of the same system; another system raises ``ParameterError``. The run's SIMD lane or GPU thread
        is set too, cached sensor values are discarded, and an earlier failure of the run is forgotten.

        Raises:
            ParameterError: it was of another model.
        """
        self._discard_lanes_if_shown()
        group, lane = self._group_of[number]
        if (held := self._moved[group]) is not None:
            held.continue_run(lane, saved)
        else:
            self._runs[number].continue_from(saved)
        self.time[number], self._have_failed[number], self._now = saved.time, False, None

    def set_input(self, name: str, values: ArrayLike) -> None:
        """Set the input of this ``name`` in all live runs from the next time step on. ``values`` has a row for
        each run, or is one value for all: a force [N], torque [N m] or load vector. Runs in SIMD lanes or GPU
        threads get the values there. ParameterError is raised for unknown names, wrong shapes and values that are
        not finite.

        Raises:
            ParameterError: they do not fit.
        """
        self._discard_lanes_if_shown()
        rows = self._runs[0].inputs.checked_rows(name, values, len(self._runs))
        rows = rows.copy()
        for numbers, index, held in zip(self._groups, self._slices, self._moved, strict=True):
            if held is not None:
                held.set_input(name, rows[index])
                continue
            for k in numbers.tolist():
                self._runs[k].inputs[name] = rows[k]

    def step(self, which: BoolArray, count: int) -> dict[int, ConvergenceError]:
        """Advance the live runs of the mask ``which``, shape (runs,), by ``count`` time steps. Groups of equal
        runs are divided among threads; each advances its runs in SIMD lanes or on the GPU if possible. Return
        convergence errors as a dictionary by index of the run; runs without an error are not in it."""
        errors: dict[int, ConvergenceError] = {}
        self._discard_lanes_if_shown()
        self._now = None

        def go(thread: int) -> None:
            for group in range(thread, len(self._groups), self._threads):
                own = which[self._slices[group]]
                if own.any():
                    errors.update(self._step(group, own, count, thread))

        for _ in run_in_threads(go, range(self._threads), self._threads):
            pass
        if self._are_shown:
            self.updated_runs()
        return errors

    def read(self, name: Any, sensors: Sequence[Sensor]) -> Array:
        """Return the present values of one sensor in all live runs, shape (runs,), or (runs, components). They are
        evaluated by one compiled call where possible, else run by run. ``sensors`` has the sensor object of each
        run. ``name`` is any hashable key, by which the compiled evaluation is cached.

        Args:
            name: of the sensors, any.
            sensors: of each run; of runs that were not replaced those of the last call with this name.
        """
        rows = self._common_reading(name, sensors)
        if rows is not None and (found := self._sensor_tables(not rows.needs_positions_only)) is not None:
            values = rows.read(found, found["velocity"])
            return values if values.shape[1] > 1 else values[:, 0]
        return np.array([run.read(sensor) for run, sensor in zip(self.updated_runs(), sensors, strict=True)])

    def _common_reading(self, name: Any, sensors: Sequence[Sensor]) -> "RowsOfReadings | None":
        """Return one object that evaluates a sensor in all live runs by compiled code, cached under ``name``.
        ``sensors`` has the sensor of each run. When runs were replaced, only their data are stored anew in the
        cached object. Return None if a sensor cannot be compiled or the runs differ in structure; the runs must
        then be evaluated one after the other."""
        from phlexible.results.live_readings import RowsOfReadings  # with the compiler

        version, rows = self._readings.get(name, (-1, None))
        if version == self._replaced:
            return rows
        new = np.flatnonzero(self._replaced_at > version).tolist() if rows is not None else range(len(self._runs))
        found = {k: self._runs[k].reading(sensors[k]) for k in new}
        known = {k: each for k, each in found.items() if each is not None}
        length = len(self._runs[0].stepper.memory.state)
        are_equal = self._width > 1 and all(len(self._runs[k].stepper.memory.state) == length for k in new)
        if len(known) < len(found) or not are_equal:
            rows = None
        elif rows is None or not rows.set_readings(known):
            rows = RowsOfReadings(len(self._runs), next(iter(known.values())))
            every = ((run, sensor) for run, sensor in zip(self._runs, sensors, strict=True))
            again = {k: reading for k, (run, own) in enumerate(every) if (reading := run.reading(own)) is not None}
            rows = rows if len(again) == len(self._runs) and rows.set_readings(again) else None
        self._readings[name] = self._replaced, rows
        return rows

    def _sensor_tables(self, with_rates: bool) -> dict[str, Array] | None:
        """Return the state arrays from which sensors are evaluated, as a dictionary: "position", "rotation", "eta"
        (elastic coordinates) and "velocity", each with the first axis (live runs,). They are copied from CPU or
        GPU and cached until a run changes. With ``with_rates`` velocities are projected so that they satisfy the
        joints; the result is None if the projection fails for any run."""
        example = self._runs[0].stepper.memory
        if self._now is None:
            last = max(example.offset_of(name) + example.state_sizes[name] for name in READ)
            rows = np.zeros((len(self._runs), last))
            for numbers, index, held in zip(self._groups, self._slices, self._moved, strict=True):
                if held is not None:
                    rows[index] = held.lanes.row[:last, : len(numbers)].T
                    continue
                for k in numbers.tolist():
                    rows[k] = self._runs[k].row[0, :last]
            tables = example.rows(rows)
            self._now = {name: np.ascontiguousarray(tables[name]) for name in READ}
            self._has_velocities = False
        if with_rates and not self._has_velocities:
            if not self._fill_velocities(self._now["velocity"]):
                return None
            self._has_velocities = True
        return self._now

    def _fill_velocities(self, projected: Array) -> bool:
        """Store the current velocities of all live runs, projected so that they satisfy the joints, in the array
        ``projected``, one row for each run. Return False at the first run for which the projection is not
        available, with the rows after it unfilled; else True."""
        for numbers, index, held in zip(self._groups, self._slices, self._moved, strict=True):
            if held is not None:
                velocities = held.lanes.velocities() if held.runs[0].stepper.projects_at_once else None
                if velocities is None:
                    return False
                projected[index] = velocities[:, : len(numbers)].T
                continue
            for k in numbers.tolist():
                velocity = self._runs[k].velocities()
                if velocity is None:
                    return False
                projected[k] = velocity
        return True

    def _step(self, group: int, which: BoolArray, count: int, thread: int) -> dict[int, ConvergenceError]:
        numbers, done = self._groups[group], 0
        held = self._moved[group]
        if self._device is not None:
            return self._step_on(self._device, group, which, count)
        if held is None and not (self._are_alone[group] or self._have_failed[numbers].any()):
            held = self._moved[group] = self._move_to_lanes(group, count, thread)
        if held is not None:
            done, tells = held.step(count, which)
            self.time[self._slices[group]] = held.time
            if done == count:
                if tells:
                    held.update_runs()
                return {}
            self._discard_lanes(group)
        return self._step_outside_lanes(group, numbers[which].tolist(), count - done)

    def _step_outside_lanes(self, group: int, which: Sequence[int], count: int) -> dict[int, ConvergenceError]:
        """Advance the live runs ``which`` of a ``group`` by ``count`` time steps from the states stored in each
        run. Two or more runs are advanced together in SIMD lanes during this call, one or none one after the
        other. Return a dictionary from run index to convergence error; other errors are raised. Only the last
        instant of each run stays stored."""
        runs = [self._runs[k] for k in which]
        if self._width == 1 or len(which) < 2:
            results: list[Exception | None] = [_step_and_catch(run, count) for run in runs]
        else:
            from phlexible.step.integration.lane_loop import LaneLoop, run_in_lanes  # with the compiler

            lanes = self._lanes[group] = self._lanes[group] or LaneLoop(self._width, self._is_specialized)
            results, _ = run_in_lanes([run.step_generator(count, keeps_all=False) for run in runs], lanes)
        errors: dict[int, ConvergenceError] = {}
        for k, run, error in zip(which, runs, results, strict=True):
            if isinstance(error, ConvergenceError):
                errors[k], self._have_failed[k] = error, True
            elif error is not None:
                raise error
            run.discard_earlier()
            self.time[k] = run.time
        return errors

    def _step_on(self, device: "Device", group: int, which: BoolArray, count: int) -> dict[int, ConvergenceError]:
        """Advance the selected live runs (mask ``which``) of a ``group`` by ``count`` time steps on the GPU
        ``device``, one run in each thread. At the first call the states of all runs in the group are copied to the
        GPU, where they stay. Update the times of the group; return a dictionary from run number to convergence
        error, also marked in ``self._have_failed``.

        Raises:
            ParameterError: it cannot step them.
        """
        held, numbers = self._moved[group], self._groups[group]
        if held is None:
            held = self._moved[group] = _InLanes([self._runs[k] for k in numbers], self._threads_for(device, group))
        errors = {int(numbers[lane]): error for lane, error in held.step_in_threads(count, which)}
        self._have_failed[list(errors)] = True
        self.time[self._slices[group]] = held.time
        return errors

    def _threads_for(self, device: "Device", group: int) -> "ThreadStepper":
        runs = [self._runs[k] for k in self._groups[group]]
        if not all(run.is_steady for run in runs):
            raise ParameterError("a GPU steps no controllers, functions of time or forces of the state, but inputs")
        calls = [run.next_call(1) for run in runs]
        first = calls[0].memory.structure
        if len({call.key for call in calls}) > 1 or any(call.memory.structure != first for call in calls):
            raise ParameterError("a GPU steps mechanisms of one structure, which differ in numbers")
        return device(calls)

    def _move_to_lanes(self, group: int, count: int, thread: int) -> "_InLanes | None":
        """Move the states of a ``group`` of live runs into SIMD lanes, one run a lane, and return the object that
        advances them together. None if there are fewer than two runs, a run halves its steps, has controllers or
        functions of time, or structures or options differ. ``count`` is the number of time steps to come,
        ``thread`` the index of the calling thread."""
        runs = [self._runs[k] for k in self._groups[group]]
        if self._width == 1 or len(runs) < 2 or any(run.is_halving or not run.is_steady for run in runs):
            return None
        from phlexible.step.integration.held_lanes import LaneStepper  # with the compiler
        from phlexible.step.integration.lane_loop import LanesOfStructures

        calls = [run.next_call(count) for run in runs]
        if not all(call.can_join for call in calls) or len({call.key for call in calls}) > 1:
            return None
        known = self._known[thread] = self._known[thread] or LanesOfStructures(self._width, self._is_specialized)
        lanes = known.of([call.memory for call in calls], group)
        if lanes is not None and all(lanes.fits(call.memory) for call in calls):
            return _InLanes(runs, LaneStepper(calls, lanes))
        self._are_alone[group] = True
        return None

    def _discard_lanes(self, group: int) -> None:
        """Copy the states in the lanes of a group back into its live runs and discard the lanes."""
        if (held := self._moved[group]) is not None:
            held.update_runs()
            self._moved[group] = None

    def _discard_lanes_if_shown(self) -> None:
        """Copy all states in lanes back into the live runs and discard the lanes, if the user may have changed the
        runs. That is so once the user has had access to them."""
        if self._are_shown:
            for group in range(len(self._groups)):
                self._discard_lanes(group)


def _step_and_catch(run: LiveRun, count: int) -> ConvergenceError | None:
    """Advance one live run by ``count`` time steps, storing only the last instant, and return its convergence
    error; None if all time steps succeeded. Other errors are raised."""
    try:
        completed(run.step_generator(count, keeps_all=False))
    except ConvergenceError as error:
        return error
    return None


def _as_slice(indices: IntArray) -> "slice | IntArray":
    """Return the ``indices`` as a slice where they are consecutive, so that NumPy makes views instead
    of copies; otherwise the indices themselves."""
    first, count = int(indices[0]), len(indices)
    is_row = bool((indices == np.arange(first, first + count)).all())
    return slice(first, first + count) if is_row else indices


def run_in_threads(task: Callable[[int], None], which: Sequence[int], threads: int) -> Iterator[None]:
    """Call ``task`` with each number of ``which`` in a pool of ``threads`` threads, and yield None after each
    finished call, in the order of ``which``. With one thread or number, the calls are made directly, without a
    pool. After an error the remaining calls are cancelled, and the error is raised."""
    if threads == 1 or len(which) < 2:
        for number in which:
            task(number)
            yield
        return
    with ThreadPoolExecutor(min(threads, len(which))) as pool:
        try:
            yield from pool.map(task, which)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
