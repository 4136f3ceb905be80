"""Results written in blocks, so that a killed run leaves a file with every complete block.

The file is in HDF5's single-writer mode while it is written: what a reader or a crash finds is whole
at any time, and ``instants`` says how many rows of every dataset count.
"""

import json
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from types import TracebackType
from typing import Self

import h5py
import numpy as np

from phlexible.errors import ResultFileError
from phlexible.results.files.description import describe
from phlexible.results.files.fields import FIELDS, labels
from phlexible.system.recording import Recording
from phlexible.system.system import System

FORMAT = "phlexible results"
FORMAT_VERSION = 2
CHUNK_BYTES = 2**17
FEWEST_ROWS = 256


class RecordingWriter:
    """Writes the recording of a run to a results file, block by block.

    Args:
        path: of the file; one that exists is replaced.
        system: what was simulated.
        first_block: the first instants, from t = 0 on.

    Raises:
        ResultFileError: the file cannot be written, or the mechanism cannot be described.
    """

    def __init__(self, path: str | PathLike[str], system: System, first_block: Recording) -> None:
        description = json.dumps(describe(system.mechanism))
        try:
            self._file = h5py.File(path, "w", libver=("v110", "v110"))
        except OSError as error:
            raise ResultFileError(f"cannot write {path}: {error}") from error
        _create(self._file, description, system, first_block)
        self._begin(path)
        self.append(first_block)

    @classmethod
    def reopened(cls, path: str | PathLike[str]) -> Self:
        """Goes on with a file that was closed as not complete."""
        writer = cls.__new__(cls)
        try:
            writer._file = h5py.File(path, "r+", libver=("v110", "v110"))
        except OSError as error:
            raise ResultFileError(f"cannot write {path}: {error}") from error
        writer._begin(path)
        return writer

    def _begin(self, path: str | PathLike[str]) -> None:
        self._path = path
        self._instants = int(self._file["instants"][()])
        self._file.swmr_mode = True

    def append(self, block: Recording) -> None:
        """Adds the instants of a block; once this returns they survive a crash.

        Raises:
            ResultFileError: the disk refuses, or the block starts before the last one ends.
        """
        count = len(block.time)
        if count and self._instants and block.time[0] <= self._file["time"][self._instants - 1]:
            raise ResultFileError(f"a block that starts at t = {block.time[0]:g} s is already in {self._path}")
        try:
            for name in FIELDS:
                dataset = self._file[name]
                dataset.resize(self._instants + count, axis=0)
                dataset[self._instants :] = getattr(block, name)
                dataset.flush()
            self._instants += count
            self._file["instants"][...] = self._instants
            self._file["instants"].flush()
        except OSError as error:
            raise ResultFileError(f"cannot write {self._path}: {error}") from error

    def close(self, is_complete: bool = True) -> None:
        """Ends the file; a run that stopped early says so by ``is_complete=False``."""
        if self._file:
            self._file["complete"][...] = is_complete
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(is_complete=kind is None)


def _create(file: h5py.File, description: str, system: System, block: Recording) -> None:
    file.attrs.update(format=FORMAT, format_version=FORMAT_VERSION, phlexible_version=package_version(), units="SI")
    file["description"] = description
    file["instants"], file["complete"] = np.int64(0), np.uint8(0)
    file["instants"].attrs["long_name"] = "number of instants that count in each dataset"
    file["complete"].attrs["long_name"] = "1 once the run has ended properly"
    for name, field in FIELDS.items():
        array = getattr(block, name)
        row = max(1, int(np.prod(array.shape[1:]))) * array.itemsize
        shape, limits = (0, *array.shape[1:]), (None, *(size or None for size in array.shape[1:]))
        chunk = (
            max(1, min(CHUNK_BYTES // row, max(FEWEST_ROWS, len(block.time)))),
            *(max(1, size) for size in array.shape[1:]),
        )
        dataset = file.create_dataset(name, shape, array.dtype, maxshape=limits, chunks=chunk)
        dataset.attrs.update(units=field.units, long_name=field.meaning)
    file["time"].make_scale("time")
    for dimension, names in labels(system, block).items():
        file.create_dataset(dimension, data=names, dtype=h5py.string_dtype())
        file[dimension].make_scale(dimension)
    for name, field in FIELDS.items():
        if name != "time":
            for axis, dimension in enumerate(field.dimensions):
                file[name].dims[axis].attach_scale(file[dimension])


def package_version() -> str:
    """Of phlexible, as installed."""
    try:
        return version("phlexible")
    except PackageNotFoundError:
        return "unknown"
