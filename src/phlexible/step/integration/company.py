"""Mechanisms of one structure whose steps are taken together, a lane each (``step/compilation/lanes.py``).

Each has a run of its own, in a thread of its own; only the compiled loop is shared. Its calls meet here: when all
that still run have called, those that ask for the same steps are taken in lanes, the others one by one. So a lane
whose step fails, or that takes parts of steps, goes on alone, and joins the others when its steps are theirs again;
where only each so many steps are stored, one waits until the others have come to steps of which the same are.
What a lane gets does not depend on its company: digits are the same however mechanisms are grouped, but for whether
all have the same bodies, whose numbers lanes then share, by a program of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.step.programs import advance, alone, announce_structure, connect_lanes
from phlexible.step.tables.memory import LaneMemory, Memory
from phlexible.step.tables.requests import CONVERGED

Loop = Callable[..., tuple[int, int]]
"""Takes steps as ``advance`` does."""

SHARED = ("numerical_damping", "is_redundant", "every")
"""What requests of mechanisms in lanes have in common."""
ALONE = ("measures", "is_around_contacts", "is_tried", "gradient_iterations")
"""Requests of these are for a mechanism alone."""


@dataclass(eq=False)
class StepCall:
    """Steps that one mechanism asks for: arguments of ``advance``, and what came of it."""

    memory: Memory
    sizes: Array
    request: Any
    moving: Array
    loads: Array
    reactions: Array
    rows: Array
    taken: tuple[int, int] | None = None
    error: BaseException | None = None
    is_in_lanes: bool = False
    most: int | None = None  # steps that are to be taken alone

    @property
    def key(self) -> tuple[Any, ...]:
        """What mechanisms whose steps are taken in lanes have in common."""
        own = self.request[0]
        return self.sizes.tobytes(), *(own[name] for name in SHARED)

    @property
    def since_stored(self) -> int:
        """Steps since the last one that was stored: in lanes the same steps are."""
        return int(self.request[0]["since_stored"])

    @property
    def can_join(self) -> bool:
        """Whether lanes take such steps: no parts around contacts, no trials, nothing to be measured."""
        own = self.request[0]
        return bool(own["steps"]) and not any(own[name] for name in ALONE)

    @property
    def is_done(self) -> bool:
        """Whether steps were taken, or an error is known."""
        return self.taken is not None or self.error is not None

    def take(self) -> None:
        """Alone."""
        request = self.request.copy()
        if self.most is not None:
            request["steps"] = np.minimum(request["steps"], self.most)
        arguments = self.sizes, request, self.moving, self.loads, self.reactions, self.rows
        self.taken = advance(self.memory.header, *arguments)


class LaneLoop:
    """Takes steps of several mechanisms of one structure at once, each time of those that ask for the same.

    Args:
        width: lanes.
        is_specialized: by a program for their structure alone.
    """

    def __init__(self, width: int, is_specialized: bool = False) -> None:
        self._width, self._is_specialized, self._is_first = width, is_specialized, True
        self._lanes: LaneMemory | None = None
        self._refused: Memory | None = None  # of a structure that has no lanes

    def take(self, calls: Sequence[StepCall]) -> list[StepCall]:
        """As many of the calls as ask for the same steps; none where there are not two.

        Returns:
            Calls that should wait: those that are taken reach the step after which both store the same ones.
        """
        known: dict[Any, list[StepCall]] = {}
        for call in calls:
            known.setdefault(call.key, []).append(call)
        most = max(known.values(), key=len, default=[])
        if len(most) < 2 or most[0].memory is self._refused:
            return []
        have_types = all(call.memory.types == most[0].memory.types for call in most)
        if self._lanes is None or (self._lanes.have_types and not have_types):
            if alone(most[0].memory):
                self._refused = most[0].memory
                return []
            lanes = LaneMemory(most[0].memory, self._width, self._is_specialized, have_types)
            self._is_first = True
            if not self._is_specialized:
                connect_lanes(lanes, most[0].memory)
            self._lanes = lanes  # not before all functions are there: a run tries again what failed
        fitting = [call for call in most if self._lanes.fits(call.memory)]
        if len(fitting) < 2:
            return []
        phases = [call.since_stored for call in fitting]
        phase = max(phases, key=phases.count)
        leading = [call for call in fitting if call.since_stored == phase]
        waiting = [call for call in fitting if call.since_stored != phase]
        every = int(fitting[0].request[0]["every"])
        steps = min([(call.since_stored - phase) % every for call in waiting], default=None)
        if len(leading) > 1:
            self._take(self._lanes, leading, steps)
        else:
            leading[0].most = steps
        return waiting

    def _take(self, lanes: LaneMemory, calls: Sequence[StepCall], most: int | None) -> None:
        """As many steps as the one has that asks for the fewest, and at most so many."""
        first, width = calls[0], self._width
        spread = [*calls, *[first] * (width - len(calls))]
        steps, substeps = min(int(call.request[0]["steps"]) for call in calls), len(first.sizes)
        steps = steps if most is None else min(steps, most)
        requests = np.concatenate([call.request for call in spread])
        requests["steps"], requests["continues"] = steps, True
        for call in calls:
            if not call.request[0]["continues"]:
                call.memory["known_velocities"][0] = 0.0
        lanes.put([call.memory for call in calls])
        moving = np.stack([call.moving[: steps * substeps + 1] for call in spread], -1)
        loads = np.stack([call.loads[: steps * substeps] for call in spread], -1)
        reactions = np.zeros((len(first.reactions), width))
        kept = (int(first.request[0]["since_stored"]) + steps) // int(first.request[0]["every"])
        rows = np.zeros((kept, first.rows.shape[1], width))
        arguments = lanes.header, first.sizes, requests, moving, loads, reactions, rows
        if self._is_specialized and self._is_first:
            announce_structure(*arguments)
        self._is_first, done = False, int(advance.source(*arguments)[0])
        for lane, call in enumerate(calls):
            call.memory.state[:] = lanes.state[:, lane]
            call.rows[:kept] = rows[:, :, lane]
            call.reactions[:] = reactions[:, lane]
            call.taken, call.is_in_lanes = (done, CONVERGED if done == steps else int(lanes.status[lane])), True


class Company:
    """So many mechanisms, each of which calls its own ``loop`` until it ``leave``s.

    Args:
        count: of the mechanisms.
        width: lanes.
        is_specialized: they are stepped by a program for their structure alone.
    """

    def __init__(self, count: int, width: int, is_specialized: bool = False) -> None:
        self._lanes, self._running = LaneLoop(width, is_specialized), set(range(count))
        self._calls: dict[int, StepCall] = {}
        self._all_here = Condition()
        self._is_over = False
        self._steps = np.zeros((count, 2))  # of each mechanism: in lanes, alone

    def loop(self, number: int) -> Callable[[Memory], Loop]:
        """What takes the steps of a mechanism whose memory is given."""

        def of(memory: Memory) -> Loop:
            def called(header: Any, *arguments: Any) -> tuple[int, int]:
                return self._called(number, StepCall(memory, *arguments))

            return called

        return of

    def leave(self, number: int) -> None:
        """A mechanism takes no more steps."""
        with self._all_here:
            self._running.discard(number)
            self._meet()

    def stop(self) -> None:
        """All calls end with ``KeyboardInterrupt``."""
        with self._all_here:
            self._is_over = True
            self._all_here.notify_all()

    @property
    def share_in_lanes(self) -> Array:
        """Of the steps of each mechanism so far, those that were taken in lanes, shape (count,)."""
        return np.asarray(self._steps[:, 0] / np.maximum(1, self._steps.sum(axis=1)), dtype=np.float64)

    def _called(self, number: int, call: StepCall) -> tuple[int, int]:
        if not call.can_join:
            call.take()
        else:
            with self._all_here:
                self._calls[number] = call
                self._meet()
                self._all_here.wait_for(lambda: self._is_over or call.is_done)
        if self._is_over:
            raise KeyboardInterrupt
        if call.error is not None:
            raise RuntimeError(str(call.error)) from call.error  # of each thread, which adds its motion
        assert call.taken is not None, "either it was taken or an error is known"
        self._steps[number, 0 if call.is_in_lanes else 1] += call.taken[0]
        return call.taken

    def _meet(self) -> None:
        """Once all that run have called: the steps that they ask for."""
        if not self._calls or len(self._calls) < len(self._running):
            return
        numbered = sorted(self._calls.items())
        calls = [call for _, call in numbered]
        self._calls.clear()
        try:
            waiting = self._lanes.take(calls)
            for call in calls:
                if call.taken is None and call not in waiting:
                    call.take()
            self._calls.update((number, call) for number, call in numbered if call in waiting)
        except BaseException as error:
            for call in calls:
                call.error = error
        self._all_here.notify_all()
