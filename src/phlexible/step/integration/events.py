"""Events of a run: at prescribed times, or when conditions are satisfied inside a step (docs/theory.md, 8)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.state.recorded_run import RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.clock import SNAP, Clock
from phlexible.step.integration.recorder import recording_of
from phlexible.step.integration.step_calls import completed
from phlexible.step.integration.stored_rows import Storage

if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper

STOP = -1
"""Number of the event that ends the run."""

CLOSE = 1e-12  # of a step: how well instants are found
EPSILON = float(np.finfo(float).eps)


class Watching(Protocol):
    """Protocol of a condition that a run watches, for an event or for its end."""

    def excess(self, recording: RecordedStates) -> Array:
        """Return by how much the watched quantity exceeds its threshold at the instants of ``recording``, shape
        (instants,). Positive means that the condition is satisfied, also for a condition of falling below. The
        instants follow those that were last passed to ``keep``. Each kind of condition implements this method of
        the protocol.

        The instants follow the one that ``keep`` recorded last.
        """

    def keep(self, recording: RecordedStates) -> None:
        """Store what the condition of an event needs of recorded states for later evaluations. It is called when
        the run has accepted its time steps up to the last of these instants. Each kind of condition implements
        this method of the protocol."""


class RunEvents:
    """Prescribed and conditional events of one run: which are due, and when conditions are satisfied.

    Args:
        system: system of the run.
        stepper: computes the steps.
        clock: clock of the run.
        conditions: watched conditions by the number of the event, or STOP.

    Attributes:
        stopped: time at which a condition stopped the run [s], or None.
    """

    def __init__(
        self, system: System, stepper: "Stepper", clock: Clock, conditions: Mapping[int, Watching] | None
    ) -> None:
        self._system, self._stepper, self._clock = system, stepper, clock
        events = system.mechanism.events if system.mechanism.switches else ()
        self._times = {k: each.when for k, each in enumerate(events) if isinstance(each.when, float)}
        self._conditions = dict(conditions or {})
        self._reached: dict[int, float] = {}  # when conditions were found to be met
        self._was_beyond: dict[int, bool] = {}
        self.stopped: float | None = None

    def begin(self, time: float) -> None:
        """Evaluate all conditions of events at ``time``, the start of the run [s], and store whether they are
        satisfied. A condition that is satisfied already must become false before it can trigger its event."""
        if self._conditions:
            self._keep(self._stepper.instant(time))

    @property
    def watches(self) -> bool:
        """Whether any condition of an event, or of the end of the run, has not occurred yet and is still
        watched."""
        return any(map(self._is_pending, self._conditions))

    def regular_run(self, k: int, steps: int) -> int:
        """Return how many time steps from number k on come before the next prescribed event on an instant of the
        grid. The result is at most ``steps``. Events inside of time steps do not count here.
        """
        now, step = self._clock.instant(k), self._clock.step
        ahead = [(time - now) / step for number, time in self._times.items() if self._is_pending(number)]
        return min([steps, *(round(each) for each in ahead if abs(each - round(each)) <= SNAP and round(each) > 0)])

    def due(self, time: float) -> list[int]:
        """Return the numbers of the events that have not occurred and are due at a ``time`` [s], sorted by their
        times. Events at prescribed times are due up to a tiny fraction of a time step later, conditions exactly at
        the time at which they were located."""
        latest = time + SNAP * self._clock.step
        found = [(when, k) for k, when in self._times.items() if self._is_pending(k) and when <= latest]
        found += [(when, k) for k, when in self._reached.items() if self._is_pending(k) and when == time]
        return [k for _, k in sorted(found)]

    def apply(self, number: int, time: float) -> None:
        """Apply the event of this ``number`` at a time [s]: lock or release joints, or end the run. Other
        conditions of events that are satisfied after the jump become due at the same time."""
        if number == STOP:
            self.stopped = time
            return
        self._stepper.apply_event(number, time)
        if self.watches:
            for each in self._beyond(np.array([time]), self._stepper.now(time), slice(None)):
                self._reached[each] = time

    def first_satisfied(self, instants: Array, watched: Mapping[str, Array]) -> int | None:
        """Return the index of the first time step at whose end a condition of a pending event is newly satisfied.
        It was not at the end of the step before. None if there is none; the conditions then store these steps as
        accepted. ``instants`` [s], shape (steps + 1,), begin with the start of the first step; ``watched`` are the
        states at the ends of those steps that were computed, arrays by the names of the state variables.

        Args:
            instants: shape (steps + 1,), of which the first ones were taken.
            watched: ends of the steps that were computed, an array each by the names of the state tables.
        """
        times = instants[1 : len(watched["step_error"]) + 1]
        beyond = self._excesses(times, watched)
        found = []
        for number, values in beyond.items():
            before = np.concatenate([[self._was_beyond[number]], values[:-1] > 0])
            found += np.flatnonzero((values > 0) & ~before)[:1].tolist()
        if found:
            return int(min(found))
        if len(times):
            self._keep(self._recording(times, watched))
        return None

    def satisfied_inside(self, end: float, watched: Mapping[str, Array]) -> list[int]:
        """Return the numbers of pending events whose conditions become satisfied within one time step that ends at
        the time ``end`` [s]. Events that were located at exactly ``end`` are left out. If there is none, the
        conditions store the state at the end as accepted. ``watched`` is this state, arrays by the names of the
        state variables, with a first axis of length 1."""
        found = [n for n in self._beyond(np.array([end]), watched, slice(-1, None)) if self._reached.get(n) != end]
        if not found:
            self._keep(self._recording(np.array([end]), watched))
        return found

    def locate(self, indices: list[int], start: float, end: float, before: Array, last_step: float) -> float:
        """Return the first time [s] at which one of the events ``indices`` occurs in the time step from ``start``
        to ``end``. Their conditions are satisfied at its end. Root finding repeats the step with other lengths from
        the snapshot ``before``, to which the stepper is set back in the end. ``last_step`` is the length of the
        step before [s]. The time of each event is stored.

        Args:
            indices: indices of the conditions, which are satisfied at the end of the step.
            start, end: start and end of the step [s].
            before: snapshot of the stepper at its start.
            last_step: length of the step before it [s].
        """
        for number in indices:
            self._reached[number] = self._located(number, start, end, before, last_step)
        self._stepper.restore(before)
        return min(self._reached[number] for number in indices)

    def _located(self, number: int, start: float, end: float, before: Array, last_step: float) -> float:
        def excess(time: float) -> float:
            self._stepper.restore(before)
            if not time > start:
                return float(self._excesses(np.array([start]), self._stepper.now(start), number)[number][0])
            if not abs(time - start - last_step) <= SNAP * (time - start):
                self._stepper.project(start)
            instants = np.array([start, time])
            size = max(time - start, self._clock.step * CLOSE)
            taken = completed(self._stepper.advance(instants, size, Storage()))
            if not taken.steps:
                return np.inf  # a failed step: look before it
            return float(self._excesses(instants[-1:], taken.rows, number)[number][0])

        if excess(start) > 0:
            return start
        if not excess(end) > 0:
            return end
        from scipy.optimize import brentq  # here: it takes long to import

        least = CLOSE * self._clock.step + 2 * EPSILON * abs(end)
        root = brentq(lambda time: np.clip(excess(time), -1e300, 1e300), start, end, xtol=least, rtol=4 * EPSILON)
        for shift in (0.0, 1.0, 2.0, 4.0, 8.0):
            time = float(root) + shift * least
            if time < end - SNAP * self._clock.step and excess(time) > 0:
                return time if time > start + SNAP * self._clock.step else start
        return end

    def _is_pending(self, number: int) -> bool:
        return self.stopped is None if number == STOP else bool(np.isnan(self._stepper.event_times[number]))

    def _excesses(self, times: Array, rows: Mapping[str, Array], only: int | None = None) -> dict[int, Array]:
        indices = [only] if only is not None else [n for n in self._conditions if self._is_pending(n)]
        if not indices or not len(times):
            return {}
        recording = self._recording(times, rows)
        return {number: self._conditions[number].excess(recording) for number in indices}

    def _beyond(self, times: Array, rows: Mapping[str, Array], which: slice) -> list[int]:
        own = {name: array[which] for name, array in rows.items()}
        found = self._excesses(times, own)
        return [number for number, values in found.items() if values[-1] > 0 and not self._was_beyond[number]]

    def _recording(self, times: Array, rows: Mapping[str, Array]) -> RecordedStates:
        return recording_of(self._system, self._stepper.work_sources, times, rows)

    def _keep(self, recording: RecordedStates) -> None:
        """Store for each pending event whether its condition is satisfied (excess above zero) at the last instant
        of a ``recording``. Each condition stores the instants as accepted."""
        for number, condition in self._conditions.items():
            if self._is_pending(number):
                self._was_beyond[number] = bool(condition.excess(recording)[-1] > 0)
                condition.keep(recording)
