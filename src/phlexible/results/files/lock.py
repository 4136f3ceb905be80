"""One writer a results file: a lock beside the file, which the operating system drops with its process."""

import os
import sys
import warnings
from pathlib import Path
from types import TracebackType
from typing import Self

from phlexible.errors import ResultFileError

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """Held while a program writes to a results file; readers need none.

    Args:
        path: of the results file; the lock is the empty file ``.name.lock`` beside it.

    Attributes:
        descriptor: of that file; a copy of this process that keeps it open holds the lock, too. -1: released.

    Raises:
        ResultFileError: another run or program writes to the file, or its folder takes no files.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        self.descriptor = -1
        while self.descriptor < 0:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise ResultFileError(f"cannot write {path}: {error.strerror}") from error
            self.descriptor = self._locked(descriptor, path)

    def _locked(self, descriptor: int, path: Path) -> int:
        """The descriptor, or -1 where its file was removed by who held the lock before."""
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError) as error:
            os.close(descriptor)
            raise ResultFileError(
                f"another run or program is writing to {path}; wait for it to end, or choose another name"
            ) from error
        except OSError as error:
            warnings.warn(
                f"the file system of {path} has no locks ({error.strerror}): see to it that no other run writes "
                "to this file",
                RuntimeWarning,
                stacklevel=6,
            )
            return descriptor
        try:
            if os.path.samestat(os.stat(self._path), os.fstat(descriptor)):
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)
        return -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def release(self) -> None:
        """Let others write."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor < 0:
            return
        if sys.platform != "win32":
            self._path.unlink(missing_ok=True)
        os.close(descriptor)
