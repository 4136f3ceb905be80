"""Studies that build and measure a model for many parameters, on all cores or on a cluster."""

import inspect
import json
import math
import multiprocessing
import os
import pickle
import queue
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from itertools import product
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from phlexible.algebra.arrays import (
    Array,
    check_callable,
    file_path,
    finite,
    flag,
    option,
    reals,
    text,
    whole,
    whole_runs,
)
from phlexible.bodies.rigid_body import RigidBody
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.loads import Force
from phlexible.display import how_many, shortened
from phlexible.errors import ParameterError, ResultFileError, warn_of_runs
from phlexible.extras import optional
from phlexible.model import Model
from phlexible.results.files.writing import FileLock
from phlexible.results.progress import is_bar_shown, progress_bar

if TYPE_CHECKING:
    import xarray


# The parameters of the runs of a study: a grid, a list, or random samples.

Parameters = dict[str, Any]


class Distribution(Protocol):
    """Distribution with random numbers, such as ``scipy.stats.norm(1.0, 0.1)``."""

    def rvs(self, *, size: int, random_state: np.random.Generator) -> Any:
        """Draw ``size`` random numbers from the distribution with the generator ``random_state``, and return them.
        It is a protocol method, which distributions of SciPy implement."""


def runs_of(
    parameters: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
) -> tuple[list[Parameters], dict[str, list[Any]] | None]:
    """Return the parameters of all runs of a study in order, and the values along each axis of its grid.
    ``parameters`` is a dictionary of values, of which all combinations are run, or a list of dictionaries with
    equal names. A list has no grid, so that None is returned for it. Anything else, or an empty list, raises
    ``ParameterError``.

    Raises:
        ParameterError: neither a grid nor a list, or an empty one, or runs that have not the same parameters.
    """
    if isinstance(parameters, Mapping):
        return _grid(parameters)
    if not isinstance(parameters, list | tuple) or not parameters:
        raise ParameterError(
            f"parameters must be a grid such as {{'speed': [1, 2]}} or a list such as [{{'speed': 1}}], got"
            f" {parameters!r}"
        )
    for each in parameters:
        if not isinstance(each, Mapping) or set(each) != set(parameters[0]):
            raise ParameterError(
                f"all runs of a study have the same parameters, got {each!r} and {parameters[0]!r}"
            )
    return [{text("parameter", name): value for name, value in each.items()} for each in parameters], None


def _grid(parameters: Mapping[str, Sequence[Any]]) -> tuple[list[Parameters], dict[str, list[Any]]]:
    axes: dict[str, list[Any]] = {}
    for name, values in parameters.items():
        if not isinstance(values, list | tuple | np.ndarray | range) or len(values) == 0:
            raise ParameterError(f"{name} must be a list of values such as [1.0, 2.0], got {values!r}")
        axes[text("parameter", name)] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not axes:
        raise ParameterError("parameters must have at least one name with its values, got {}")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())], axes


class SampleMethod(Enum):
    """Method of drawing samples.

    RANDOM: each by itself. LATIN: a Latin hypercube, which covers the ranges more evenly.
    """

    RANDOM = "random"
    LATIN = "latin"


def samples(
    count: int, seed: int = 0, method: SampleMethod | str = "random", **ranges: tuple[float, float] | Distribution
) -> list[Parameters]:
    """Draw ``count`` random parameter sets for a study, uniformly or from distributions, and return them as a list
    of dictionaries. ``ranges`` give (low, high) or a ``scipy.stats`` distribution for each parameter name.
    ``method`` "random" draws independently, "latin" a Latin hypercube. The same ``seed`` gives the same samples.
    ParameterError is raised for no ranges, and for ranges of other kinds.

    Args:
        count: how many.
        seed: of NumPy's generator.
        method: "random", each sample by itself; or "latin", a Latin hypercube: one sample in each of ``count``
            equally probable intervals of each parameter.
        ranges: by the name of the parameter (low, high), or a distribution of ``scipy.stats``.

    Raises:
        ParameterError: a range that is neither, or whose ends are the wrong way round, another method, or a
            distribution without quantiles (``ppf``) with "latin".

    Example:
        >>> points = ph.samples(4, seed=1, stiffness=(10.0, 20.0), mass=(1.0, 2.0))
        >>> len(points), sorted(points[0])
        (4, ['mass', 'stiffness'])
    """
    number, random = whole("count", count), np.random.default_rng(whole("seed", seed, least=0))
    columns: dict[str, list[float]] = {}
    shares = None
    if option("method", method, SampleMethod) is SampleMethod.LATIN and ranges:
        from scipy.stats.qmc import LatinHypercube  # here: few programs need it

        shares = dict(zip(ranges, LatinHypercube(len(ranges), rng=random).random(number).T, strict=True))
    for name, given in ranges.items():
        if isinstance(given, list | tuple) and len(given) == 2:
            low, high = finite(f"low end of {name}", given[0]), finite(f"high end of {name}", given[1])
            if low > high:
                raise ParameterError(f"{name} must be (low, high) with low <= high, got {given!r}")
            uniform = random.uniform(low, high, number) if shares is None else low + (high - low) * shares[name]
            columns[name] = uniform.tolist()
        elif shares is not None and hasattr(given, "ppf"):
            columns[name] = np.asarray(given.ppf(shares[name]), dtype=np.float64).tolist()
        elif shares is None and hasattr(given, "rvs"):
            columns[name] = np.asarray(given.rvs(size=number, random_state=random), dtype=np.float64).tolist()
        else:
            raise ParameterError(f"{name} must be (low, high) or a distribution of scipy.stats, got {given!r}")
    if not columns:
        raise ParameterError("samples takes ranges by name, such as samples(100, speed=(1.0, 2.0))")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


# One run of a study, carried out wherever an executor puts it.

Values = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Outcome:
    """Result of one run.

    Attributes:
        values: measured values by name; None: the run failed.
        failure: reason of the failure; empty if there is none.
        warnings: texts of the warnings.
        seconds: wall time [s].
        is_lost: whether it failed because its process ended, and may succeed another time.
    """

    values: Values | None
    failure: str = ""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    is_lost: bool = False


def packed_task(build: Callable[..., Any], measure: Callable[[Any], Any]) -> bytes:
    """Return the user's functions ``build`` and ``measure`` pickled by cloudpickle as one bytes object, which
    another process can unpack. Lambdas and functions of a notebook are allowed. ParameterError is raised if they
    refer to something that cannot be pickled.

    Raises:
        ParameterError: they hold something that cannot be sent.
    """
    from cloudpickle import dumps  # here: few programs need it

    try:
        return bytes(dumps((build, measure)))
    except Exception as error:
        raise ParameterError(
            f"build and measure cannot be sent to other processes: {error}; let them hold numbers and arrays only"
        ) from error


def carry_out(task: bytes, parameters: dict[str, Any]) -> Outcome:
    """Build and measure one model of a study with the given ``parameters``, and return an ``Outcome`` with values,
    warnings and the computing time [s]. ``task`` are the pickled functions of the study. An exception becomes the
    outcome's failure text, so that other runs go on. Warnings are collected in a main thread only."""
    begin = time.perf_counter()
    caught: list[warnings.WarningMessage] = []
    is_main = threading.current_thread() is threading.main_thread()  # warnings belong to the whole process
    context: AbstractContextManager[Any] = warnings.catch_warnings(record=True) if is_main else nullcontext(caught)
    try:
        with whole_runs(), context as caught:
            build, measure = _functions(task)
            values, failure = checked_values(measure(build(**parameters))), ""
    except Exception as error:
        values, failure = None, f"{type(error).__name__}: {error}"
    said = tuple(dict.fromkeys(f"{each.category.__name__}: {each.message}" for each in caught))
    return Outcome(values, failure, said, time.perf_counter() - begin)


def checked_values(measured: Any) -> Values:
    """Convert what the user's function ``measure`` returned (``measured``) to a dictionary of arrays of floats by
    name, and return it. A number or array alone gets the name "value". Values that are no numbers raise
    ``ParameterError``.

    Raises:
        ParameterError: it is neither a number, nor an array, nor such things by name.
    """
    by_name = measured if isinstance(measured, dict) else {"value": measured}
    try:
        return {str(name): reals(str(name), value) for name, value in by_name.items()}
    except ParameterError as error:
        raise ParameterError(f"measure must return numbers or arrays, or a dict of them by name: {error}") from None


@lru_cache(maxsize=4)
def _functions(task: bytes) -> Any:
    """Return the functions ``build`` and ``measure`` of a study, unpacked from bytes (``task``) and cached in
    the process."""
    return pickle.loads(task)


# The file of a study: a line of JSON for each run that ended, written at once, read again after a kill.

VERSION = 1


class StudyJournal(AbstractContextManager["StudyJournal"]):
    """Results of runs by their parameters, in a file that no other process writes to within the context.

    Args:
        path: of the file; a broken last line of a killed study is removed.
        names: of the parameters.
        overwrite: whether to begin anew where there is a file.

    Attributes:
        known: outcomes of the file, by ``key`` of their parameters.

    Raises:
        ResultFileError: a file of something else, or one that cannot be written or that another study writes to.
    """

    def __init__(self, path: str, names: list[str], overwrite: bool) -> None:
        self._path = Path(path).absolute()
        self._header = {"phlexible_study": VERSION, "parameters": sorted(names)}
        self._lock = FileLock(self._path)
        self.known: dict[str, Outcome] = {}
        try:
            if self._path.exists() and not overwrite:
                self._read()
            else:
                self._path.write_text(json.dumps(self._header) + "\n", encoding="utf-8")
            self._file = self._path.open("a", encoding="utf-8")
        except BaseException as error:
            self._lock.release()
            if isinstance(error, OSError) and not isinstance(error, ResultFileError):
                raise ResultFileError.of_writing(path, error) from error
            raise

    @property
    def lock(self) -> int:
        """Return the file descriptor of the lock on a study's file. Forked processes must close it, so that the
        lock ends with this process."""
        return self._lock.descriptor

    def write(self, parameters: dict[str, Any], outcome: Outcome) -> None:
        """Append the outcome of one run of a study, with its ``parameters``, to the study's file as a line of
        JSON. The line has parameters, computing time [s], and values, failure and warnings if there are any. The
        file is flushed, so that the line survives a crash."""
        line: dict[str, Any] = {"parameters": _plain(parameters), "seconds": outcome.seconds}
        if outcome.values is not None:
            line["values"] = {name: value.tolist() for name, value in outcome.values.items()}
        if outcome.failure:
            line |= {"failure": outcome.failure, "is_lost": outcome.is_lost}
        if outcome.warnings:
            line["warnings"] = outcome.warnings
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        try:
            lines = whole.decode("utf-8").splitlines()
            header = json.loads(lines[0]) if lines else None
        except ValueError:
            header = None
        if header != self._header:
            raise ResultFileError(
                f"{self._path} is no study of the parameters {', '.join(self._header['parameters'])}; name another"  # type: ignore[arg-type]
                " file, or give overwrite=True"
            )
        for number, line in enumerate(lines[1:], start=2):
            try:
                self._store_line(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise ResultFileError(
                    f"line {number} of {self._path} is damaged ({type(error).__name__}: {error}); take it out of"
                    " the file, and its run is done again"
                ) from error
        if len(whole) < len(data):
            with self._path.open("r+b") as file:
                file.truncate(len(whole))

    def _store_line(self, line: dict[str, Any]) -> None:
        found = line.get("values")
        values = None if found is None else {name: np.array(each, dtype=np.float64) for name, each in found.items()}
        self.known[key(line["parameters"])] = Outcome(
            values,
            line.get("failure", ""),
            tuple(line.get("warnings", ())),
            line["seconds"],
            line.get("is_lost", False),
        )

    def __exit__(self, *raised: object) -> None:
        self._file.close()
        self._lock.release()


def key(parameters: dict[str, Any]) -> str:
    """Return a text that is equal for equal parameters of a run. It identifies the run's results in a study's
    file.

    Raises:
        ParameterError: values that a file cannot hold.
    """
    return json.dumps(_plain(parameters), sort_keys=True)


def _plain(value: Any) -> Any:
    """Convert a value to a value that JSON can store, recursively. Finite numbers, texts, None and booleans are
    unchanged. NumPy arrays and scalars, lists and tuples become lists or numbers; dictionaries get their keys as
    texts. Raise ParameterError for other values, such as NaN."""
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ParameterError(f"with output= parameters must be finite numbers, texts or lists of them, got {value!r}")


# The compiled time step, ready before it is needed.


def warm_up() -> None:
    """Load the compiled time step into this process, or compile it if no process of this version has done so, by
    simulating a trivial model."""
    model = Model()
    body = model.add(RigidBody(1.0, (1.0, 1.0, 1.0)), "body")
    model.apply(Force(body.origin, Feedback(lambda time, measured: (0.0, 0.0, 0.0), [body.origin])))
    model.simulate(1e-3, 1e-3, progress=False)


# Who carries out the runs: processes of our own, or any executor with ``submit`` or ``map``.

Finished = Iterator[tuple[int, Outcome]]
"""Number and result of each run, in the order in which they end."""

WATCH_SECONDS = 1.0
"""Period at which a worker process checks that its parent still exists [s]."""

LOST = "its process ended (killed, out of memory, or a crash)"


def cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def finished_runs(
    task: bytes, runs: Sequence[tuple[int, dict[str, Any]]], executor: Any, lock: int | None = None
) -> Finished:
    """Yield the index and result of each of the ``runs`` of a study as it finishes. An ``executor`` of None or a
    number means so many worker processes (None: all cores). Otherwise it is the user's object with ``submit`` or
    ``map``; anything else raises ``ParameterError``. ``task`` are the pickled functions of the study, ``lock`` is
    the file descriptor of a lock that forked workers close.

    Args:
        task: ``packed_task``.
        runs: numbers and parameters.
        executor: None: processes on all cores; a number of them; or anything with ``submit`` or ``map``.
        lock: descriptor of a lock that is this process's alone, or None.

    Raises:
        ParameterError: an executor of another kind.
    """
    if executor is None or (
        isinstance(executor, int | np.integer) and not isinstance(executor, bool) and executor > 0
    ):
        return _worker_results(task, runs, cores() if executor is None else int(executor), lock)
    if callable(getattr(executor, "submit", None)):
        return _submitted(task, runs, executor)
    if callable(getattr(executor, "map", None)):
        return _mapped(task, runs, executor)
    raise ParameterError(
        "executor must be None (processes on all cores), a number of processes, or something with submit or map,"
        f" such as a ProcessPoolExecutor or a dask.distributed Client, got {executor!r}"
    )


def _worker_results(
    task: bytes, runs: Sequence[tuple[int, dict[str, Any]]], workers: int, lock: int | None
) -> Finished:
    """Yield (number, result) of each run of a study as it finishes, computed in at most ``workers`` processes.
    ``runs`` has numbers and parameters, ``task`` the pickled functions. If a process dies, the pool is restarted
    and all runs that were active are repeated, one at a time. A run whose process dies twice while it runs alone
    is reported as lost. Workers close the file descriptor ``lock``.

    Runs that were active then are repeated one at a time; a run is lost if its process dies again.
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
    """Return a pool of worker processes for a study. They are forked from this process, after it has loaded the
    compiled time step, if the system allows it. ``lock`` is the descriptor of a lock of this process, which forked
    workers close."""
    is_forked = "fork" in multiprocessing.get_all_start_methods()
    if is_forked:
        warm_up()
    context = multiprocessing.get_context("fork" if is_forked else None)
    return ProcessPoolExecutor(workers, context, _initialize_worker, (os.getpid(), lock if is_forked else None))


def _initialize_worker(parent: int, lock: int | None) -> None:
    """Initialize a worker process of a study: close the inherited ``lock``, and start watching for the end of
    the ``parent`` process."""
    if lock is not None:
        os.close(lock)
    threading.Thread(target=_exit_with_parent, args=(parent,), daemon=True).start()


def _exit_with_parent(parent: int) -> None:
    """Wait until the process ``parent`` (its id) ends, then end this worker process at once with exit code 1.

    The pipe that reports this stays open where others inherited its end, so the parent's id is compared as well.
    """
    process = multiprocessing.parent_process()
    while process is not None and process.is_alive() and os.getppid() == parent:
        process.join(WATCH_SECONDS)
    os._exit(1)


def _submitted(task: bytes, runs: Sequence[tuple[int, dict[str, Any]]], executor: Any) -> Finished:
    """Yield (number, result) of each of the ``runs`` of a study as it is finished by the user's ``executor``. The
    executor needs ``submit`` and futures with callbacks, as in ``concurrent.futures`` and Dask. All runs are
    submitted at once. An exception of the executor becomes a lost run with its message. ``task`` are the pickled
    functions of the study."""
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
    """Yield the results of ``runs`` of a study in order, computed by the ``map`` of the user's ``executor``.
    ``task`` are the packed functions of the study."""
    found = executor.map(carry_out, [task] * len(runs), [parameters for _, parameters in runs])
    for (number, _), outcome in zip(runs, found, strict=True):
        yield number, outcome


@dataclass(frozen=True)
class Failure:
    """Parameters of a run that failed, and the reason."""

    parameters: dict[str, Any]
    reason: str


@dataclass(frozen=True, eq=False)
class Study:
    """Results of all runs; ``study["peak"]`` is an array of the values measured as "peak".

    Attributes:
        parameters: of each run.
        outcomes: in the same order.
        axes: values along each axis of a grid; None: the runs are a list.
    """

    parameters: tuple[dict[str, Any], ...]
    outcomes: tuple[Outcome, ...]
    axes: Mapping[str, list[Any]] | None

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"Study({how_many(len(self.outcomes), 'run')}{failed}: {shortened(self.names) or 'nothing measured'})"
        )

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Return the runs of the study that failed, with their parameters and error messages."""
        pairs = zip(self.parameters, self.outcomes, strict=True)
        return tuple(Failure(parameters, outcome.failure) for parameters, outcome in pairs if outcome.failure)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the values that were measured in the runs of the study."""
        return tuple(dict.fromkeys(name for each in self.outcomes for name in each.values or ()))

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the study's grid of parameters, or (runs,) if it has no grid."""
        return (len(self.outcomes),) if self.axes is None else tuple(len(each) for each in self.axes.values())

    def __getitem__(self, name: str) -> Array:
        """Return the values measured under a ``name`` in all runs of a study as one array. The shape is
        ``study.shape`` followed by the shape of a single value; runs that failed or did not measure it give NaN.
        Raise ``ParameterError`` if no run has the name, or if value shapes differ between runs.

        Raises:
            ParameterError: no such name, or values of several shapes.
        """
        text("name", name)
        found = [None if each.values is None else each.values.get(name) for each in self.outcomes]
        shapes = {each.shape for each in found if each is not None}
        if len(shapes) != 1:
            why = f"arrays of several shapes, {sorted(shapes)}: use study.table()" if shapes else "not there"
            raise ParameterError(f"{name!r} is {why}; measured were: {', '.join(self.names) or 'nothing'}")
        (shape,) = shapes
        missing = np.full(shape, np.nan)
        return np.array([missing if each is None else each for each in found]).reshape(*self.shape, *shape)

    def table(self) -> list[dict[str, Any]]:
        """Return a list with one dictionary for each run: parameters, measured values and "failure"; for
        ``pandas.DataFrame`` or ``csv``."""
        rows = []
        for parameters, outcome in zip(self.parameters, self.outcomes, strict=True):
            values = {name: value if value.ndim else float(value) for name, value in (outcome.values or {}).items()}
            rows.append({**parameters, **values, "failure": outcome.failure})
        return rows

    def to_xarray(self) -> "xarray.Dataset":
        """Return the study as a dataset of xarray over the axes of its grid, or over "run" (needs
        ``phlexible[xarray]``).

        Raises:
            MissingExtraError: xarray is not installed; ``table`` needs nothing.
            ParameterError: values of several shapes.
        """
        xr = optional("xarray", "xarray")
        dimensions = ("run",) if self.axes is None else tuple(self.axes)
        variables: dict[str, Any] = {}
        for name in self.names:
            values = self[name]
            inner = tuple(f"{name}_{k}" for k in range(values.ndim - len(dimensions)))
            variables[name] = (dimensions + inner, values)
        reasons = np.array([outcome.failure for outcome in self.outcomes], dtype=object).reshape(self.shape)
        variables["failure"] = (dimensions, reasons)
        if self.axes is None:
            names = self.parameters[0]
            coordinates: dict[str, Any] = {
                name: ("run", [each[name] for each in self.parameters]) for name in names
            }
        else:
            coordinates = dict(self.axes)
        dataset: xarray.Dataset = xr.Dataset(variables, coordinates)
        return dataset

    def __str__(self) -> str:
        seconds = sum(outcome.seconds for outcome in self.outcomes)
        lines = [
            f"{how_many(len(self.outcomes), 'run')}, {seconds:.3g} s in all;"
            f" measured: {', '.join(self.names) or 'nothing'}",
            *(f"failed: {each.parameters}: {each.reason}" for each in self.failures),
        ]
        return "\n".join(lines)


def study(
    build: Callable[..., Any],
    parameters: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    measure: Callable[[Any], Any],
    executor: Any = None,
    *,
    output: str | PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
) -> Study:
    """Build and measure a model for many ``parameters``, and return the results of all runs. The function
    ``build`` is called with the parameters of a run as keywords and returns a model, ``measure`` is called with
    this model. Runs are computed on all cores or by an ``executor`` (a cluster, say). Results are written to the
    file ``output`` and reused from there, unless ``overwrite``.

    A run that fails is recorded with its parameters, and the others go on. So is one whose process dies,
    and dies in two more trials alone.

    Args:
        build: parameters as keywords -> a model.
        parameters: a grid by name, ``{"crank_speed": [100, 150], "diameter": [5e-3, 6e-3]}``: all combinations; or
            a list of parameters by name, ``ph.samples(100, crank_speed=(100, 150))`` for random ones.
        measure: model -> a number, an array, or a dict of them by name; it simulates what it needs.
        executor: None: processes on all cores; a number of processes; or anything with ``submit`` or ``map``: those
            of ``concurrent.futures``, a ``dask.distributed.Client`` (``phlexible[cluster]``), a pool of MPI.
        output: file to which each run is written as it ends. Where it is there, runs that are in it are taken from
            it, as after a kill; those lost with their process are tried again. It does not know ``build`` and
            ``measure``: after changing them begin anew.
        overwrite: whether to begin anew where there is a file ``output``.
        progress: whether to show a progress bar; None: on a terminal; elsewhere a line each ten
            seconds to stderr.

    Raises:
        ParameterError: neither a grid nor a list, an executor of another kind, or functions that cannot be sent.
        ResultFileError: ``output`` is something else, or cannot be written.

    Example:
        >>> def build(height):
        ...     model = ph.Model(gravity=(0, 0, -9.81))
        ...     stone = model.add(ph.PointMass(1.0), "stone", position=(0, 0, height))
        ...     return model
        >>> def fall(model):
        ...     return {"end": model.simulate(0.1, step=1e-2).position(model["stone"].origin)[-1, 2]}
        >>> study = ph.study(build, {"height": [1.0, 2.0]}, fall, executor=1)
        >>> study["end"].round(6)
        array([0.95095, 1.95095])
    """
    check_callable("measure", measure, "model")
    if not callable(build):
        raise ParameterError(f"build must be a function of the parameters that returns a model, got {build!r}")
    runs, axes = runs_of(parameters)
    check_parameters(build, runs[0])
    is_bar_shown(progress)  # refused before a file is written
    anew, task = flag("overwrite", overwrite), packed_task(build, measure)
    file = None if output is None else StudyJournal(file_path("output", output), list(runs[0]), anew)
    found: dict[int, Outcome] = {}
    with file or nullcontext() as journal, progress_bar(progress, "runs") as report:
        if journal is not None:
            known = {number: journal.known.get(key(each)) for number, each in enumerate(runs)}
            found = {number: outcome for number, outcome in known.items() if outcome and not outcome.is_lost}
        report(len(found), len(runs))
        missing = [(number, each) for number, each in enumerate(runs) if number not in found]
        lock = None if journal is None else journal.lock
        for number, outcome in finished_runs(task, missing, executor, lock) if missing else ():
            found[number] = outcome
            if journal is not None:
                journal.write(runs[number], outcome)
            report(len(found), len(runs))
    warn_of_runs({number: outcome.warnings for number, outcome in found.items()}, len(runs))
    return Study(tuple(runs), tuple(found[number] for number in range(len(runs))), axes)


def check_parameters(build: Callable[..., Any], first: dict[str, Any]) -> None:
    """Raise ParameterError if the signature of the user's function ``build`` does not accept the parameters of the
    ``first`` run as keywords. The function is not called; functions without a readable signature pass.

    Raises:
        ParameterError: says which.
    """
    try:
        inspect.signature(build).bind(**first)
    except ValueError:  # some functions of other languages do not tell
        pass
    except TypeError as error:
        raise ParameterError(f"build must take the parameters {', '.join(first)} by name: {error}") from None
