"""The file of a study: a line of JSON for each run that ended, written at once, read again after a kill."""

import json
import math
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from phlexible.errors import ParameterError, ResultFileError
from phlexible.results.files.lock import FileLock
from phlexible.studies.outcome import Outcome

VERSION = 1


class Journal:
    """Outcomes by the parameters of their runs; a context, in which nobody else writes to the file.

    Args:
        path: of the file; a broken last line of a killed study is taken away.
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
                raise ResultFileError(f"cannot write {path}: {error.strerror}") from error
            raise

    @property
    def lock(self) -> int:
        """Descriptor of the lock, which processes that are copies of this one must not keep."""
        return self._lock.descriptor

    def write(self, parameters: dict[str, Any], outcome: Outcome) -> None:
        """One more run."""
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
        for line in lines[1:]:
            self._remember(json.loads(line))
        if len(whole) < len(data):
            with self._path.open("r+b") as file:
                file.truncate(len(whole))

    def _remember(self, line: dict[str, Any]) -> None:
        found = line.get("values")
        values = None if found is None else {name: np.array(each, dtype=np.float64) for name, each in found.items()}
        self.known[key(line["parameters"])] = Outcome(
            values,
            line.get("failure", ""),
            tuple(line.get("warnings", ())),
            line["seconds"],
            line.get("is_lost", False),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._lock.release()


def key(parameters: dict[str, Any]) -> str:
    """The same for the same parameters.

    Raises:
        ParameterError: values that a file cannot hold.
    """
    return json.dumps(_plain(parameters), sort_keys=True)


def _plain(value: Any) -> Any:
    """Numbers, texts, None and truth values, and lists and mappings of them."""
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ParameterError(f"with output= parameters must be finite numbers, texts or lists of them, got {value!r}")
