"""A study: one model with many parameters, each run built and measured, on all cores or on a cluster."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import file_path, flag, text
from phlexible.algebra.user_functions import check_callable
from phlexible.display.written import shortened
from phlexible.errors import ParameterError
from phlexible.results.extras import optional
from phlexible.results.progress import progress_bar, shown
from phlexible.studies.executors import finished_runs
from phlexible.studies.journal import Journal, key
from phlexible.studies.outcome import Outcome, packed_task
from phlexible.studies.parameters import runs_of

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class Failure:
    """A run that failed: its parameters, and why."""

    parameters: dict[str, Any]
    reason: str


@dataclass(frozen=True, eq=False)
class Study:
    """What came of all runs; ``study["peak"]`` is an array of what ``measure`` called "peak".

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
        return f"Study({len(self.outcomes)} runs{failed}: {shortened(self.names) or 'nothing measured'})"

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Runs that failed."""
        pairs = zip(self.parameters, self.outcomes, strict=True)
        return tuple(Failure(parameters, outcome.failure) for parameters, outcome in pairs if outcome.failure)

    @property
    def names(self) -> tuple[str, ...]:
        """Of what was measured."""
        return tuple(dict.fromkeys(name for each in self.outcomes for name in each.values or ()))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the grid, or (runs,)."""
        return (len(self.outcomes),) if self.axes is None else tuple(len(each) for each in self.axes.values())

    def __getitem__(self, name: str) -> Array:
        """What was measured under a name, NaN where runs failed, shape ``shape`` and that of a value.

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
        """A row for each run: parameters, what was measured, "failure"; for ``pandas.DataFrame`` or ``csv``."""
        rows = []
        for parameters, outcome in zip(self.parameters, self.outcomes, strict=True):
            values = {name: value if value.ndim else float(value) for name, value in (outcome.values or {}).items()}
            rows.append({**parameters, **values, "failure": outcome.failure})
        return rows

    def to_xarray(self) -> "xarray.Dataset":
        """A dataset over the axes of the grid, or over "run" (needs ``phlexible[xarray]``).

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
            f"{len(self.outcomes)} runs, {seconds:.3g} s in all; measured: {', '.join(self.names) or 'nothing'}",
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
    """Build and measure a model for many parameters, each run in whatever process is free.

    A run that fails is recorded with its parameters, and the others go on. So is one whose process dies,
    and dies in two more trials alone.

    Args:
        build: parameters by name -> a model.
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
    """
    check_callable("measure", measure, "model")
    if not callable(build):
        raise ParameterError(f"build must be a function of the parameters that returns a model, got {build!r}")
    runs, axes = runs_of(parameters)
    _check_parameters(build, runs[0])
    anew, show, task = flag("overwrite", overwrite), shown(progress), packed_task(build, measure)
    file = None if output is None else Journal(file_path("output", output), list(runs[0]), anew)
    found: dict[int, Outcome] = {}
    with file or nullcontext() as journal, progress_bar(show or progress, "runs") as report:
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
    return Study(tuple(runs), tuple(found[number] for number in range(len(runs))), axes)


def _check_parameters(build: Callable[..., Any], first: dict[str, Any]) -> None:
    try:
        inspect.signature(build).bind(**first)
    except ValueError:  # some functions of other languages do not tell
        pass
    except TypeError as error:
        raise ParameterError(f"build must take the parameters {', '.join(first)} by name: {error}") from None
