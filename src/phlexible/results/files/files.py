"""Results files: save, load, and what a run needs to go on from one."""

import json
import os
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from phlexible.errors import ResultFileError
from phlexible.observables.run import RecordedRun
from phlexible.results.files.description import describe, differences, rebuild
from phlexible.results.files.fields import labels
from phlexible.results.files.hdf5 import read_hdf5, write_hdf5
from phlexible.results.files.journal import is_journal
from phlexible.results.files.lock import FileLock
from phlexible.results.files.replacing import replacing
from phlexible.results.files.stored import Stored, check_recording
from phlexible.results.files.unfinished import read_unfinished
from phlexible.system.system import System, system_of
from phlexible.time_integration.checkpoint import Checkpoint


@dataclass(frozen=True, eq=False)
class SavedRun:
    """The run in a file.

    Attributes:
        run: what moved, and how.
        is_complete: it ended properly.
        checkpoint: where it can go on, or None.
    """

    run: RecordedRun
    is_complete: bool
    checkpoint: Checkpoint | None


def save(path: str | PathLike[str], run: SavedRun) -> None:
    """Writes a run to a results file; a file of that name is replaced once the new one is whole.

    Raises:
        ResultFileError: the file cannot be written, another run is writing it, or the model cannot be described.
    """
    target, description = real_path(path), describe(run.run.mechanism)
    with FileLock(target):
        write(target, run, description)


def write(path: Path, run: SavedRun, description: dict[str, Any]) -> None:
    """The same where the lock is held, with the description of the mechanism."""
    system, recording = run.run.system, run.run.recording
    stored = Stored(description, recording, run.checkpoint, run.is_complete)
    with replacing(path) as draft:
        write_hdf5(draft, stored, labels(system, recording))


def load(path: str | PathLike[str]) -> SavedRun:
    """The run in a results file, also one whose writer is still running or was killed.

    Raises:
        ResultFileError: no such file, not a results file, or a damaged one.
    """
    return _checked(real_path(path))[0]


def load_for_resume(path: str | PathLike[str], system: System) -> tuple[SavedRun, Checkpoint]:
    """The run of this mechanism in a file, and where it goes on. Functions of time are compared at t = 0 only.

    Raises:
        ResultFileError: not a results file, one of another mechanism, whose differences the message says, or
            one that holds no checkpoint.
    """
    loaded, stored = _checked(real_path(path))
    unlike = differences(stored.description, json.loads(json.dumps(describe(system.mechanism))))
    if unlike:
        listed = "\n  ".join(unlike[:10]) + (f"\n  and {len(unlike) - 10} more" if len(unlike) > 10 else "")
        raise ResultFileError(f"{path} holds a run of another model; resume needs the same one:\n  {listed}")
    if stored.checkpoint is None:
        raise ResultFileError(f"{path} holds no checkpoint that a run could go on from; simulate again")
    return loaded, stored.checkpoint


def real_path(path: str | PathLike[str]) -> Path:
    """The file itself behind symbolic links."""
    return Path(os.path.realpath(path))


def _checked(path: Path) -> tuple[SavedRun, Stored]:
    if not path.is_file():
        raise ResultFileError(f"there is no file {path}")
    try:
        stored = read_unfinished(path) if is_journal(path) else read_hdf5(path)
        system = system_of(rebuild(stored.description))
        check_recording(path, stored.recording, system)
    except ResultFileError:
        raise
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise ResultFileError(f"{path} is not a results file, or it is damaged: {reason}") from error
    return SavedRun(RecordedRun(system, stored.recording), stored.is_complete, stored.checkpoint), stored
