"""Many live runs at once: stepped in lanes where they can be, and read by rows."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.sensor import Sensor, Share
from phlexible.errors import ConvergenceError
from phlexible.results.live import LiveRun

if TYPE_CHECKING:
    from phlexible.results.live_readings import QuickReading, RowsOfReadings
    from phlexible.step.integration.company import LaneLoop, StepCall


class LiveRows:
    """Live runs that are stepped and read together; past steps are forgotten.

    Args:
        runs: all of them.
        groups: numbers of those that are stepped in lanes together.
        width: lanes; 1: one run after the other.
        threads: that share the steps.

    Attributes:
        runs: all of them; another one may take the place of one.
    """

    def __init__(self, runs: Sequence[LiveRun], groups: Sequence[Sequence[int]], width: int, threads: int) -> None:
        self.runs = list(runs)
        self._groups, self._width, self._threads = groups, width, threads
        self._lanes: list[LaneLoop | None] = [None] * len(groups)
        self._calls: list[tuple[int, list[LiveRun], list[StepCall]] | None] = [None] * len(groups)
        self._readings: dict[Any, RowsOfReadings] = {}

    def step(self, which: Sequence[bool], count: int) -> dict[int, ConvergenceError]:
        """So many steps of some runs; what failed, by the number of the run."""
        errors: dict[int, ConvergenceError] = {}

        def go(group: int) -> None:
            errors.update(self._step(group, [k for k in self._groups[group] if which[k]], count))

        for _ in shared(go, range(len(self._groups)), self._threads):
            pass
        return errors

    def read(self, name: Any, sensors: Sequence[Sensor]) -> Array:
        """What a sensor of each run reads now, shape (runs,) or (runs, numbers); ``name``: of the sensors, any."""
        found = [run.reading(sensor) for run, sensor in zip(self.runs, sensors, strict=True)]
        known = [each for each in found if each is not None]
        rows = self._rows_of(name, known) if len(known) == len(self.runs) and self._width > 1 else None
        if rows is None:
            return np.array([run.read(sensor) for run, sensor in zip(self.runs, sensors, strict=True)])
        numbers = np.concatenate([run.row for run in self.runs])
        state = self.runs[0].memory.rows(numbers)
        velocity = state["velocity"] if rows.is_of_places else self._velocities()
        if velocity is None:
            return np.array([run.read(sensor) for run, sensor in zip(self.runs, sensors, strict=True)])
        values = rows.read(state, velocity)
        return values if values.shape[1] > 1 else values[:, 0]

    def _rows_of(self, name: Any, known: "list[tuple[Share, QuickReading]]") -> "RowsOfReadings | None":
        from phlexible.results.live_readings import RowsOfReadings  # with the compiler

        own = self._readings.get(name)
        if own is None:
            if len({len(run.memory.state) for run in self.runs}) > 1:
                return None
            own = self._readings[name] = RowsOfReadings(known)
        return own if own.put(known) else None

    def _velocities(self) -> Array | None:
        """Velocities that satisfy the joints, in lanes where they are not known; None: not of all runs."""
        for group, numbers in enumerate(self._groups):
            lanes, new = self._lanes[group], [k for k in numbers if not self.runs[k].has_own_velocities]
            found = None if lanes is None else lanes.joint_velocities([self.runs[k].memory for k in new])
            for place, k in enumerate(new):
                if found is not None:
                    self.runs[k].velocities(found[place])
        rows = [run.velocities() for run in self.runs]
        return None if any(row is None for row in rows) else np.array(rows)

    def _step(self, group: int, which: Sequence[int], count: int) -> dict[int, ConvergenceError]:
        taken = self._together(group, which, count) if self._width > 1 and len(which) > 1 else [0] * len(which)
        errors: dict[int, ConvergenceError] = {}
        for k, own in zip(which, taken, strict=True):
            try:
                if own < count:
                    self.runs[k].step(count - own)
            except ConvergenceError as error:
                errors[k] = error
            self.runs[k].forget()
        return errors

    def _together(self, group: int, which: Sequence[int], count: int) -> list[int]:
        """How many steps of each run were taken in lanes."""
        lanes = self._lanes[group]
        if lanes is None:
            from phlexible.step.integration.company import LaneLoop  # with the compiler

            lanes = self._lanes[group] = LaneLoop(self._width)
        runs = [self.runs[k] for k in which]
        if (known := self._calls[group]) is not None and known[0] == count and _are(known[1], runs):
            return _again(lanes, known[2], runs, count)
        asked = [run.ask(count) for run in runs]
        calls = [each.call for each in asked if each is not None and each.call.can_join]
        lanes.take(calls)
        pairs = list(zip(runs, asked, strict=True))
        taken = [run.answer(each) if each is not None and each.call.is_in_lanes else 0 for run, each in pairs]
        are_all = min(taken) == count and all(run.is_steady for run in runs)
        self._calls[group] = (count, runs, calls) if are_all else None
        return taken


def _are(known: Sequence[LiveRun], runs: Sequence[LiveRun]) -> bool:
    """Whether these are the runs whose calls are known, and nothing has come between."""
    if len(known) != len(runs):
        return False
    return all(run is own and run.is_steady for run, own in zip(runs, known, strict=True))


def _again(lanes: "LaneLoop", calls: "Sequence[StepCall]", runs: Sequence[LiveRun], count: int) -> list[int]:
    """The same steps once more, with the loads that are given now: how many of each run were taken."""
    done, rows = lanes.again(calls, np.array([run.loads for run in runs]).T)
    for lane, run in enumerate(runs):
        run.arrived(done, rows[:, :, lane].copy() if done == count else None)
    return [done] * len(runs)  # what is left is for each alone


def shared(task: Callable[[int], None], which: Sequence[int], threads: int) -> Iterator[None]:
    """The task for each number, shared by threads; one value as each is done."""
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
