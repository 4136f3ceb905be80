"""Steps of several mechanisms of one structure, a lane each (``step/compilation/number_kinds.py``).

Calls for the same steps are taken in lanes, the others one by one. So a lane whose step fails, or whose steps are
divided around contacts, continues alone, and joins the others when its steps agree with theirs again. If only every
n-th step is stored, a lane waits until the stored steps of the others coincide with its own. The digits of a lane
do not depend on how mechanisms are grouped, except that bodies with equal parameters in all mechanisms share them,
in a program of their own.
"""

from collections.abc import Sequence
from contextvars import copy_context
from math import prod
from sys import maxsize
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.state.many_starts import batched_starts
from phlexible.step.integration.step_calls import ALONE, Loop, Result, StartCall, StepCall, WholeRun, out_of_turn
from phlexible.step.programs import advance, alone, announce_structure, connect_lanes
from phlexible.step.tables.memory import LANES, LaneMemory, Memory, specialized_structure
from phlexible.step.tables.requests import CONVERGED

CACHED_ROWS = 16
"""Stored instants of all lanes that are distributed together, while they are in the caches of the processor."""


class LanesOfStructures:
    """Cache of lane memory, which groups of mechanisms of one structure use one after the other.

    Groups whose mechanisms have the same tables share it, so that it stays in the caches of the processor.

    Args:
        width: number of lanes.
        is_specialized: steps are computed by a program for the structure alone.
    """

    def __init__(self, width: int, is_specialized: bool) -> None:
        self._width, self._is_specialized = width, is_specialized
        self._known: dict[object, tuple[Memory, LaneMemory | None]] = {}

    def of(self, memories: Sequence[Memory], group: int = 0) -> LaneMemory | None:
        """Return memory in SIMD lanes, one lane for each mechanism, in which mechanisms of one structure can
        advance together. Their own arrays are ``memories``, which are not copied here. The memory is cached: by the
        constant arrays if all mechanisms share them, else by ``group``, a number of the caller. None if the
        structure cannot be computed in lanes.

        Args:
            memories: tables of the mechanisms.
            group: number of the group, which identifies its memory where tables differ.
        """
        first = memories[0]
        are_same = all(memory.system_tables is first.system_tables for memory in memories)
        have_types = are_same or all(memory.type_digest == first.type_digest for memory in memories)
        name = id(first.system_tables) if are_same else (group, have_types)
        known, lanes = self._known.get(name, (None, None))
        if known is first if lanes is None else lanes.fits(first):
            return lanes
        lanes = None
        if not alone(first):
            lanes = LaneMemory(first, self._width, self._is_specialized, have_types)
            if not self._is_specialized:
                connect_lanes(lanes, first)
        self._known[name] = first, lanes  # kept, so that no other tables have their address
        return lanes


class LaneLoop:
    """Computes steps of several mechanisms of one structure at once, each time for the calls that request the
    same.

    Args:
        width: number of lanes.
        is_specialized: steps are computed by a program for the structure alone.
    """

    def __init__(self, width: int, is_specialized: bool = False) -> None:
        self._structures, self._announced = LanesOfStructures(width, is_specialized), list[LaneMemory]()
        self._stored: Array = np.empty(1)  # pages that are new to the process take longer than steps

    def take(self, calls: Sequence[StepCall]) -> list[StepCall]:
        """Make the largest group of ``calls`` with equal step sizes and options together, one mechanism in each
        SIMD lane. Results are stored in the calls. Calls of the group that are at another distance from their next
        stored instant do not advance; they are returned, to be passed again later, when both coincide. With fewer
        than two calls, or a structure that lanes do not support, nothing happens and the list is empty.

        Returns:
            Calls that should wait: once the others have been taken, the stored steps of both coincide.
        """
        known: dict[Any, list[StepCall]] = {}
        for call in calls:
            known.setdefault(call.key, []).append(call)
        most = max(known.values(), key=len, default=[])
        if len(most) < 2 or (lanes := self._structures.of([call.memory for call in most])) is None:
            return []
        fitting = [call for call in most if lanes.fits(call.memory)]  # the first does
        phases = [call.since_stored for call in fitting]
        phase = max(phases, key=phases.count)
        leading = [call for call in fitting if call.since_stored == phase]
        waiting = [call for call in fitting if call.since_stored != phase]
        every = int(fitting[0].request[0]["every"])
        steps = min([(call.since_stored - phase) % every for call in waiting], default=maxsize)
        if len(leading) > 1:
            self._take(lanes, leading, steps)
        else:
            leading[0].most = steps
        return waiting

    def _take(self, lanes: LaneMemory, calls: Sequence[StepCall], most: int) -> None:
        """Advance several runs at once, one in each SIMD lane, by the same number of time steps. ``calls`` are
        their prepared calls of the compiled loop; the shortest call determines the number, at most ``most``.
        Present state, stored states, reactions, number of time steps and status are written into each call. Unused
        lanes repeat the first call."""
        first, width = calls[0], lanes.width
        spread = [*calls, *[first] * (width - len(calls))]
        steps, substeps = min(most, *(int(call.request[0]["steps"]) for call in calls)), len(first.sizes)
        requests = np.concatenate([call.request for call in spread])
        requests["steps"], requests["continues"] = steps, True
        for call in calls:
            if not call.request[0]["continues"]:
                call.memory["known_velocities"][0] = 0.0
        lanes.set_memories([call.memory for call in calls])
        moving = np.stack([call.moving[: steps * substeps + 1] for call in spread], -1)
        loads = np.stack([call.loads[: steps * substeps] for call in spread], -1)
        reactions = np.zeros((len(first.reactions), width))
        kept = (int(first.request[0]["since_stored"]) + steps) // int(first.request[0]["every"])
        shape = kept, first.rows.shape[1], width
        if self._stored.size < prod(shape):
            self._stored = np.empty(prod(shape))
        rows = self._stored[: prod(shape)].reshape(shape)
        arguments = lanes.header, first.sizes, requests, moving, loads, reactions, rows
        if lanes.is_specialized and lanes not in self._announced:
            announce_structure(advance.of(lanes.header.dtype))
            self._announced = [lanes]
        done = int(out_of_turn(advance.of(lanes.header.dtype), *arguments)[0])
        for lane, call in enumerate(calls):
            call.memory.state[:] = lanes.state[:, lane]
            call.reactions[:] = reactions[:, lane]
            call.is_in_lanes = True
            call.taken = (done, CONVERGED if done == steps else int(lanes.status[lane]))
        for begin in range(0, kept, CACHED_ROWS):
            part = rows[begin : begin + CACHED_ROWS]
            for lane, call in enumerate(calls):
                call.rows[begin : begin + len(part)] = part[:, :, lane]


def run_in_lanes(runs: Sequence[WholeRun[Result]], lanes: LaneLoop) -> tuple[list[Result | Exception], Array]:
    """Run several mechanisms (``runs``), in SIMD lanes where they request the same time steps. Return what each
    run returned or raised, and the fraction of its time steps that were computed in lanes, shape (runs,).

    Args:
        runs: each continues in a context of its own.
        lanes: lanes that compute the steps.

    Returns:
        What each run returned or raised; the fractions of their steps that were computed in lanes, shape (runs,).
        Steps that are repeated in halves or up to an event count each time.
    """
    contexts = [copy_context() for _ in runs]
    results: list[Any] = [None] * len(runs)
    calls, memories = dict[int, StepCall](), dict[int, Memory]()  # of runs whose steps can be in lanes
    steps, rest = np.zeros((len(runs), 2)), set(range(len(runs)))  # in lanes, alone
    try:
        while rest:
            starts = dict[int, StartCall]()
            for k in sorted(rest - calls.keys()):
                try:
                    while not (call := contexts[k].run(next, runs[k])).can_join:
                        call.take()
                    if isinstance(call, StartCall):
                        starts[k] = call
                    else:
                        calls[k], memories[k] = call, call.memory
                except Exception as end:
                    results[k] = end.value if isinstance(end, StopIteration) else end
                    rest.discard(k)
            if starts:
                found = batched_starts([call.system for call in starts.values()])
                for call, start in zip(starts.values(), found, strict=True):
                    call.start = start
                continue
            numbered = sorted(calls.items())
            waiting: list[StepCall] = []
            try:
                waiting = lanes.take([call for _, call in numbered])
            except Exception as error:  # of every call
                for _, call in numbered:
                    call.error = RuntimeError(str(error))
                    call.error.__cause__ = error
            for k, call in numbered:
                if call in waiting:
                    continue
                if call.taken is None and call.error is None:
                    call.take()
                steps[k, 0] += call.steps_taken * call.is_in_lanes
                del calls[k]
    finally:
        for context, run in zip(contexts, runs, strict=True):
            context.run(run.close)
    steps[list(memories), 1] = [memory.steps_alone for memory in memories.values()]
    return results, np.asarray(steps[:, 0] / np.maximum(1, steps.sum(axis=1)))


def specialized_loop(memory: Memory) -> Loop:
    """Return a function that computes time steps of one mechanism by a faster program, which is compiled for its
    structure alone. ``memory`` contains the mechanism's arrays. The function has the arguments of the general loop
    ``advance`` and calls it for trial steps, steps around contacts and other special calls. For mechanisms that
    SIMD lanes do not support, or with groups of equal bodies, the result is ``advance`` itself.

    Trials, and all else that lanes refuse, use the general loop too. Mechanisms with teams gain more by these.
    """
    if alone(memory) or memory.counts["teams"]:
        return advance
    kind = np.dtype([(f"{LANES}1 {specialized_structure(memory, memory).register()}", np.int64)])
    loop, is_first = advance.of(kind), True

    def taken(header: Any, sizes: Array, request: Any, *arguments: Any) -> tuple[int, int]:
        nonlocal is_first
        if not request[0]["steps"] or any(request[0][name] for name in ALONE):
            steps, status = advance(header, sizes, request, *arguments)
            return steps, status
        if is_first:
            announce_structure(loop)
        is_first = False
        steps, status = loop(header.view(kind), sizes, request, *arguments)
        return int(steps), int(status)

    return taken
