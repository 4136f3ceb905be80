"""Saving and loading of results files, and resuming a run."""

import io
import json
import os
from dataclasses import dataclass
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ResultFileError
from phlexible.results.files.description import compare_trees, describe_mechanism, rebuild_mechanism
from phlexible.results.files.journal import (
    FIELDS,
    HEADER,
    Stored,
    check_kind,
    check_recording,
    checkpoint_as_json,
    checkpoint_from_json,
    is_journal,
    labels,
    read_unfinished,
)
from phlexible.results.files.writing import FileLock, replacing
from phlexible.state.recorded_run import RecordedRun, RecordedStates
from phlexible.state.system import System, system_of
from phlexible.step.integration.clock import Checkpoint

# Finished results as HDF5: written at once, read without trust.
#
# HDF5 crashes at the end of a process that it could not write for, so it never sees an error of the disk.
# A file from elsewhere may name other files for its numbers, or claim more of them than it has.

CHUNK_BYTES = 2**17


class _Disk(io.FileIO):
    """File that stores the first error of the disk instead of raising it."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        length = len(rest)
        try:
            while self.error is None and len(rest):
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.error = error
        return length

    def truncate(self, size: int | None = None) -> int:
        try:
            if self.error is None:
                super().truncate(size)
        except OSError as error:
            self.error = error
        return size or 0


def write_hdf5(path: Path, stored: Stored, labels: dict[str, list[str]]) -> None:
    """Write the contents ``stored`` of a results file as HDF5 to a new file ``path``. ``labels`` has, for each
    dimension of its arrays except time, the names of the entries; they are written as coordinates.

    Raises:
        OSError: the disk refuses; the file is of no use then.
    """
    with _Disk(path, "w+") as disk:
        try:
            with h5py.File(disk, "w", libver=("v110", "v110")) as file:  # whose metadata have checksums
                _fill(file, stored, labels)
        finally:
            if disk.error is not None:
                raise disk.error


def _fill(file: h5py.File, stored: Stored, labels: dict[str, list[str]]) -> None:
    file.attrs.update(**HEADER, units="SI", complete=stored.is_complete)
    _add_dataset(file, "description", _text_array([json.dumps(stored.description)]))
    if stored.checkpoint is not None:
        text, numbers = checkpoint_as_json(stored.checkpoint)
        _add_dataset(file, "checkpoint", numbers)
        _add_dataset(file, "checkpoint_text", _text_array([json.dumps(text)]))
    for name, field in FIELDS.items():
        dataset = _add_dataset(file, name, getattr(stored.recording, name))
        dataset.attrs.update(units=field.units, long_name=field.meaning)
    file["time"].make_scale("time")
    for dimension, names in labels.items():
        _add_dataset(file, dimension, _text_array(names)).make_scale(dimension)
    for name, field in FIELDS.items():
        if name != "time":
            for axis, dimension in enumerate(field.dimensions):
                file[name].dims[axis].attach_scale(file[dimension])


def _add_dataset(file: h5py.File, name: str, array: Array) -> h5py.Dataset:
    """Create a dataset ``name`` of an ``array`` in an HDF5 ``file``, with checksums and in chunks of whole
    rows, and return it."""
    if not array.size:
        return file.create_dataset(name, data=array)
    rows = max(1, CHUNK_BYTES // max(1, array.nbytes // len(array)))
    chunks = (min(rows, len(array)), *array.shape[1:])
    return file.create_dataset(name, data=array, chunks=chunks, fletcher32=True)


def _text_array(texts: list[str]) -> Array:
    """Return texts as a NumPy array of UTF-8 strings for HDF5, all of one length in bytes, that of the longest text
    (at least 1). HDF5 stores strings of fixed length in the dataset itself, not in a separate heap."""
    encoded = [text.encode() for text in texts]
    length = max([1, *map(len, encoded)])
    return np.array(encoded, dtype=h5py.string_dtype("utf-8", length))


def read_hdf5(path: Path) -> Stored:
    """Return the contents of the HDF5 results file ``path``: description of the mechanism, recorded states,
    checkpoint (None if there is none), and whether the run is complete. Each array must lie in the file with the
    size it claims, before memory is allocated. ResultFileError is raised for damaged files and other formats or
    versions.

    Raises:
        ResultFileError: another kind of file, another version, or one that points outside of itself or
            claims more than it holds.
        Exception: of h5py, for a damaged file.
    """
    with h5py.File(path, "r") as file:
        check_kind(path, *(_python_value(file.attrs.get(name)) for name in HEADER))
        reader = _Reader(file, path)
        description = json.loads(reader.texts("description")[0])
        arrays: dict[str, Any] = {name: reader.values(name) for name in FIELDS}
        names = tuple(reader.texts("source"))
        checkpoint = None
        if file.get("checkpoint", getlink=True) is not None:
            text = json.loads(reader.texts("checkpoint_text")[0])
            checkpoint = checkpoint_from_json(text, reader.values("checkpoint"))
        return Stored(
            description, RecordedStates(**arrays, work_names=names), checkpoint, bool(file.attrs["complete"])
        )


class _Reader:
    """Reader of datasets that lie in their file and are no larger than it."""

    def __init__(self, file: h5py.File, path: Path) -> None:
        self._file, self._path = file, path
        self._left = path.stat().st_size

    def values(self, name: str) -> Array:
        dataset = self._dataset(name)
        if dataset.dtype.kind not in "fi" or dataset.dtype.itemsize != 8:
            raise ResultFileError(f"{self._path} is damaged: {name} holds {dataset.dtype}, not numbers")
        return np.asarray(dataset[()])

    def texts(self, name: str) -> list[str]:
        dataset = self._dataset(name)
        if dataset.dtype.kind != "S":
            raise ResultFileError(f"{self._path} is damaged: {name} holds {dataset.dtype}, not texts")
        return [text.decode() for text in np.asarray(dataset[()]).ravel().tolist()]

    def _dataset(self, name: str) -> h5py.Dataset:
        """Return the HDF5 dataset of this name after checking that its data lie completely in this file.
        ``ResultFileError`` is raised for a missing dataset, links, external data, and a claimed size beyond the
        stored size or the bytes not yet claimed. The claimed size is subtracted from these bytes,
        ``self._left``."""
        if not isinstance(self._file.get(name, getlink=True), h5py.HardLink):
            raise ResultFileError(f"{self._path} is damaged: {name} is missing, or only a link to something else")
        dataset = self._file[name]
        if not isinstance(dataset, h5py.Dataset) or dataset.is_virtual or dataset.external:
            raise ResultFileError(f"{self._path} takes {name} from another file, which results files never do")
        claimed = prod(dataset.shape) * dataset.dtype.itemsize
        chunk = prod(dataset.chunks) * dataset.dtype.itemsize if dataset.chunks else 0
        self._left -= claimed
        if self._left < 0 or max(claimed, chunk) > dataset.id.get_storage_size():
            raise ResultFileError(f"{self._path} is damaged: it has fewer bytes than {name} claims")
        return dataset


def _python_value(value: Any) -> Any:
    """Return an HDF5 attribute as a plain Python value: bytes as text, NumPy scalars as Python numbers."""
    return value.decode() if isinstance(value, bytes) else value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True, eq=False)
class SavedRun:
    """Recorded run of a file.

    Attributes:
        run: the run.
        is_complete: whether it ended properly.
        checkpoint: state from which it can be resumed, or None.
    """

    run: RecordedRun
    is_complete: bool
    checkpoint: Checkpoint | None


def save(path: str | PathLike[str], run: SavedRun) -> None:
    """Write a recorded run to the results file ``path``, which is locked meanwhile. An existing file of that name
    is replaced once the new one is complete.

    Raises:
        ResultFileError: the file cannot be written, another run is writing it, or the model cannot be described.
    """
    target, description = real_path(path), describe_mechanism(run.run.mechanism)
    with FileLock(target):
        write_results(target, run, description)


def write_results(path: Path, run: SavedRun, description: dict[str, Any]) -> None:
    """Write a recorded run and the JSON description of its mechanism to the HDF5 results file ``path``; the caller
    must have locked the file."""
    system, recording = run.run.system, run.run.recording
    stored = Stored(description, recording, run.checkpoint, run.is_complete)
    with replacing(path) as draft:
        write_hdf5(draft, stored, labels(system, recording))


def load(path: str | PathLike[str]) -> SavedRun:
    """Return the recorded run in the results file ``path``. The file may also be one whose writer is still running
    or was killed; then the run ends at the last complete block.

    Raises:
        ResultFileError: no such file, not a results file, or a damaged one.
    """
    return _checked(real_path(path))[0]


def load_for_resume(path: str | PathLike[str], system: System) -> tuple[SavedRun, Checkpoint]:
    """Return the recorded run in the results file ``path`` and the checkpoint (last full state) from which it can
    be continued. ResultFileError is raised without a checkpoint, or if the mechanism in the file differs from the
    mechanism of ``system``. Functions of time are compared by their values at t = 0 only.

    Raises:
        ResultFileError: not a results file, one of another mechanism, whose differences the message says, or
            one that holds no checkpoint.
    """
    loaded, stored = _checked(real_path(path))
    unlike = compare_trees(stored.description, json.loads(json.dumps(describe_mechanism(system.mechanism))))
    if unlike:
        listed = "\n  ".join(unlike[:10]) + (f"\n  and {len(unlike) - 10} more" if len(unlike) > 10 else "")
        raise ResultFileError(f"{path} holds a run of another model; resume needs the same one:\n  {listed}")
    if stored.checkpoint is None:
        raise ResultFileError(f"{path} holds no checkpoint that a run could go on from; simulate again")
    return loaded, stored.checkpoint


def real_path(path: str | PathLike[str]) -> Path:
    """Return a path with all symbolic links resolved."""
    return Path(os.path.realpath(path))


def _checked(path: Path) -> tuple[SavedRun, Stored]:
    if not path.is_file():
        raise ResultFileError(f"there is no file {path}")
    try:
        stored = read_unfinished(path) if is_journal(path) else read_hdf5(path)
        system = system_of(rebuild_mechanism(stored.description))
        check_recording(path, stored.recording, system)
    except ResultFileError:
        raise
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise ResultFileError(f"{path} is not a results file, or it is damaged: {reason}") from error
    return SavedRun(RecordedRun(system, stored.recording), stored.is_complete, stored.checkpoint), stored
