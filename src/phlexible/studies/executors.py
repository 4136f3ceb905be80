"""Who carries out the runs: processes of our own, or any executor with ``submit`` or ``map``."""

import multiprocessing
import os
import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from typing import Any

from phlexible.errors import ParameterError
from phlexible.studies.outcome import Outcome, carry_out
from phlexible.studies.warm_up import warm_up

Finished = Iterator[tuple[int, Outcome]]
"""Number and outcome of each run, as they end."""

WATCH_SECONDS = 1.0
"""How often a process of ours asks who its parent is, should nothing tell it that the parent ended."""

LOST = "its process ended (killed, out of memory, or a crash)"


def cores() -> int:
    """How many processes this one may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def finished_runs(
    task: bytes, runs: Sequence[tuple[int, dict[str, Any]]], executor: Any, lock: int | None = None
) -> Finished:
    """All runs, each with its number.

    Args:
        task: ``packed_task``.
        runs: numbers and parameters.
        executor: None: processes on all cores; a number of them; or anything with ``submit`` or ``map``.
        lock: descriptor of a lock that is this process's alone, or None.

    Raises:
        ParameterError: an executor of another kind.
    """
    if executor is None or (isinstance(executor, int) and not isinstance(executor, bool) and executor > 0):
        return _own_processes(task, runs, executor or cores(), lock)
    if callable(getattr(executor, "submit", None)):
        return _submitted(task, runs, executor)
    if callable(getattr(executor, "map", None)):
        return _mapped(task, runs, executor)
    raise ParameterError(
        "executor must be None (processes on all cores), a number of processes, or something with submit or map,"
        f" such as a ProcessPoolExecutor or a dask.distributed Client, got {executor!r}"
    )


def _own_processes(
    task: bytes, runs: Sequence[tuple[int, dict[str, Any]]], workers: int, lock: int | None
) -> Finished:
    """Processes that are started anew where one of them dies; who was at work then is tried again, alone.

    A run that was only waiting for its process is a suspect too: it is the second death alone that tells.
    """
    parameters = dict(runs)
    waiting, suspects, died_alone = deque(parameters), deque[int](), set[int]()
    pool = _pool(min(workers, len(parameters)), lock)
    at_work: dict[Future[Outcome], int] = {}
    try:
        while waiting or suspects or at_work:
            is_alone = bool(suspects) and not at_work
            source, most = (suspects, 1) if is_alone else (waiting, 0 if suspects else workers + 1)
            lost: list[int] = []
            while source and len(at_work) < most and not lost:
                number = source.popleft()
                try:
                    at_work[pool.submit(carry_out, task, parameters[number])] = number
                except BrokenExecutor:
                    lost.append(number)
            for future in wait(at_work, return_when=FIRST_COMPLETED).done:
                number = at_work.pop(future)
                try:
                    yield number, future.result()
                except BrokenExecutor:
                    lost.append(number)
            if lost:
                lost += at_work.values()
                at_work.clear()
                pool.shutdown(wait=False)
                pool = _pool(min(workers, len(parameters)), lock)
                if is_alone and lost[0] in died_alone:
                    yield lost[0], Outcome(None, f"WorkerLost: {LOST}", is_lost=True)
                else:
                    died_alone.update(lost if is_alone else ())
                    suspects += sorted(lost)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(workers: int, lock: int | None) -> ProcessPoolExecutor:
    """Copies of this process where the system makes them: they have loaded everything already."""
    is_forked = "fork" in multiprocessing.get_all_start_methods()
    if is_forked:
        warm_up()
    context = multiprocessing.get_context("fork" if is_forked else None)
    return ProcessPoolExecutor(workers, context, _begin, (os.getpid(), lock if is_forked else None))


def _begin(parent: int, lock: int | None) -> None:
    """First thing in a process of ours: let go of the lock that a copy has, and see to it that it ends in time."""
    if lock is not None:
        os.close(lock)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Ends this process when its parent ends, however that was killed; nobody else would tell it.

    The pipe that tells at once stays open where others inherited its end, so who the parent is is asked as well.
    """
    process = multiprocessing.parent_process()
    while process is not None and process.is_alive() and os.getppid() == parent:
        process.join(WATCH_SECONDS)
    os._exit(1)


def _submitted(task: bytes, runs: Sequence[tuple[int, dict[str, Any]]], executor: Any) -> Finished:
    """Futures of any kind that tell when they are done, as those of ``concurrent.futures`` and of Dask."""
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    futures: dict[int, Any] = {}
    for number, parameters in runs:
        futures[number] = future = executor.submit(carry_out, task, parameters)
        future.add_done_callback(lambda _, number=number: done.put(number))
    while futures:
        number = done.get()
        try:
            yield number, futures.pop(number).result()
        except Exception as error:  # of the executor: a run's own errors are outcomes
            yield number, Outcome(None, f"{type(error).__name__}: {error}", is_lost=True)


def _mapped(task: bytes, runs: Sequence[tuple[int, dict[str, Any]]], executor: Any) -> Finished:
    """In their order, as ``map`` gives them."""
    found = executor.map(carry_out, [task] * len(runs), [parameters for _, parameters in runs])
    for (number, _), outcome in zip(runs, found, strict=True):
        yield number, outcome
