"""Results files: save, load, and what a run needs to go on from one."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from time import sleep
from typing import Any, TypeVar

import h5py
import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ResultFileError
from phlexible.observables.run import RecordedRun
from phlexible.results.files.blocks import FORMAT, FORMAT_VERSION, RecordingWriter
from phlexible.results.files.description import describe, differences, rebuild
from phlexible.results.files.fields import FIELDS
from phlexible.results.files.unfinished import UnfinishedFile, is_unfinished
from phlexible.system.layout import State
from phlexible.system.recording import Recording
from phlexible.system.system import System, system_of

Found = TypeVar("Found")
TRIES, PAUSE = 4, 0.05  # of reading a file that a run is writing to [s]


@dataclass(frozen=True, eq=False)
class ResumePoint:
    """Where a stored run ends.

    Attributes:
        state: at the last stored instant.
        work: done so far by each source of ``work_names``, shape (sources,) [J].
        work_names: in the order of the file.
        dissipated: so far [J].
        iterations, halvings: so far.
        theta: coordinates of forces, shape (forces,).
    """

    state: State
    work: Array
    work_names: tuple[str, ...]
    dissipated: float
    iterations: int
    halvings: int
    theta: Array


def save(run: RecordedRun, path: str | PathLike[str], is_complete: bool = True) -> None:
    """Writes a run to one results file; a file of that name is replaced once the new one is whole.

    Raises:
        ResultFileError: the file cannot be written, or the model cannot be described.
    """
    draft = _draft(path)
    RecordingWriter(draft, run.system, run.recording).close(is_complete)
    os.replace(draft, path)


def load(path: str | PathLike[str]) -> RecordedRun:
    """The run in a results file, also one whose writer is still running or was killed.

    Raises:
        ResultFileError: no such file, not a results file, or a damaged one.
    """
    recording, description, _ = _contents(path)
    return RecordedRun(system_of(rebuild(description)), recording)


def is_complete(path: str | PathLike[str]) -> bool:
    """True if the run in the file ended properly."""
    return _contents(path, last_only=True)[2]


def read_for_resume(path: str | PathLike[str], system: System) -> ResumePoint:
    """Where the run of this mechanism in a file ends. Functions of time are compared at t = 0 only.

    Raises:
        ResultFileError: not a results file, or one of another mechanism; the message says what differs.
    """
    rec, stored, _ = _contents(path, last_only=True)
    unlike = differences(stored, json.loads(json.dumps(describe(system.mechanism))))
    if unlike:
        listed = "\n  ".join(unlike[:10]) + (f"\n  and {len(unlike) - 10} more" if len(unlike) > 10 else "")
        raise ResultFileError(f"{path} holds a run of another model; resume needs the same one:\n  {listed}")
    return ResumePoint(
        rec.state(0),
        rec.work[0],
        rec.work_names,
        float(rec.dissipated[0]),
        int(rec.iterations[0]),
        int(rec.halvings[0]),
        rec.theta[0],
    )


def resumed_writer(path: str | PathLike[str], system: System) -> RecordingWriter:
    """A writer that goes on behind the last instant of a file.

    The file of a killed run is still marked as being written, so it is first replaced by a copy.

    Raises:
        ResultFileError: as ``read_for_resume``.
    """
    read_for_resume(path, system)
    recording, _, _ = _contents(path)
    save(RecordedRun(system, recording), path, is_complete=False)
    return RecordingWriter.reopened(path)


def concatenate(recordings: list[Recording]) -> Recording:
    """One recording out of consecutive ones of the same mechanism."""
    parts: dict[str, Any] = {name: np.concatenate([getattr(each, name) for each in recordings]) for name in FIELDS}
    return replace(recordings[0], **parts)


@contextmanager
def _opened(path: str | PathLike[str]) -> Iterator[h5py.File]:
    if not Path(path).is_file():
        raise ResultFileError(f"there is no file {path}")
    try:
        with _open_for_reading(path) as file:
            if file.attrs.get("format") != FORMAT:
                raise ResultFileError(f"{path} is an HDF5 file, but not one of phlexible's results")
            if file.attrs["format_version"] < FORMAT_VERSION:
                raise ResultFileError(
                    f"{path} has format version {file.attrs['format_version']}, written by phlexible "
                    f"{file.attrs['phlexible_version']} with other coordinates of bodies than this version has; "
                    "simulate again, or read it with that version"
                )
            if file.attrs["format_version"] > FORMAT_VERSION:
                raise ResultFileError(
                    f"{path} has format version {file.attrs['format_version']}, this phlexible reads up to "
                    f"{FORMAT_VERSION}; install phlexible {file.attrs['phlexible_version']} or newer"
                )
            yield file
    except ResultFileError:
        raise
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise ResultFileError(f"{path} is not a results file, or it is damaged: {error}") from error


@contextmanager
def _open_for_reading(path: str | PathLike[str]) -> Iterator[h5py.File]:
    if not is_unfinished(path):
        with h5py.File(path, "r") as file:
            yield file
        return
    with UnfinishedFile(path) as raw, h5py.File(raw, "r") as file:
        yield file


def _tried(read: Callable[[], Found], path: str | PathLike[str]) -> Found:
    """What ``read`` returns; once more where a run may just have changed the file."""
    for _ in range(TRIES - 1):
        try:
            return read()
        except ResultFileError:
            if not Path(path).is_file() or not is_unfinished(path):
                raise
            sleep(PAUSE)
    return read()


def _contents(path: str | PathLike[str], last_only: bool = False) -> tuple[Recording, dict[str, Any], bool]:
    """Recording, description and whether the run ended properly."""

    def read() -> tuple[Recording, dict[str, Any], bool]:
        with _opened(path) as file:
            description = json.loads(file["description"].asstr()[()])
            return _read(file, last_only), description, bool(file["complete"][()])

    return _tried(read, path)


def _read(file: h5py.File, last_only: bool = False) -> Recording:
    instants = int(file["instants"][()])
    if instants == 0:
        raise ResultFileError(f"{file.filename} holds no instant yet")
    rows = slice(instants - 1 if last_only else 0, instants)
    arrays = {name: file[name][rows] for name in FIELDS}
    if any(len(array) != rows.stop - rows.start for array in arrays.values()):
        raise ResultFileError(f"{file.filename} is damaged: fewer instants than it says")
    names = tuple(file["source"].asstr()[()])
    assert {field.name for field in fields(Recording)} == {*arrays, "work_names"}
    return Recording(**arrays, work_names=names)


def _draft(path: str | PathLike[str]) -> Path:
    target = Path(path)
    return target.with_name(f".{target.name}.part")
