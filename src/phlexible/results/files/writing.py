"""Writing of files as a whole, by one writer, without interruption."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from phlexible.errors import ResultFileError, warn_user, writing

# Ctrl-C waits while numbers are written.


@contextmanager
def uninterrupted(is_file: bool = True) -> Iterator[None]:
    """Context manager that defers Ctrl-C (SIGINT) to its end, so that memory and results file agree. It does
    nothing if ``is_file`` is false, since signal handlers cost time, and outside the main thread."""
    if not is_file or threading.current_thread() is not threading.main_thread():
        yield  # others are not interrupted
        return
    arrived: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if arrived:
            signal.raise_signal(signal.SIGINT)


# One writer a results file: a lock beside the file, which the operating system drops with its process.

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock(AbstractContextManager["FileLock"]):
    """Lock of a results file while a program writes to it; readers need none.

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
            with writing(path):
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            self.descriptor = self._locked(descriptor, path)

    def _locked(self, descriptor: int, path: Path) -> int:
        """Lock the open lock file (``descriptor``) of the results file ``path`` and return the descriptor. If
        the lock file was removed meanwhile, the descriptor is closed and -1 returned; the caller tries again.
        ResultFileError is raised if another process has the lock. File systems without locks cause a warning
        only."""
        try:
            _lock(descriptor)
        except (BlockingIOError, PermissionError) as error:
            os.close(descriptor)
            raise ResultFileError(
                f"another run or program is writing to {path}; wait for it to end, or choose another name"
            ) from error
        except OSError as error:
            warn_user(
                f"the file system of {path} has no locks ({error.strerror}): see to it that no other run writes "
                "to this file",
                RuntimeWarning,
            )
            return descriptor
        try:
            if os.path.samestat(os.stat(self._path), os.fstat(descriptor)):
                return descriptor
        except FileNotFoundError:
            pass
        os.close(descriptor)
        return -1

    def __exit__(self, *raised: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock of the results file by closing the lock file, which is removed first (not on Windows).
        Later calls do nothing."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor < 0:
            return
        if sys.platform != "win32":
            self._path.unlink(missing_ok=True)
        os.close(descriptor)


# Files that take the place of others only when they are whole.


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Context manager that provides the path of a draft file in the same folder. At the end of the context the
    draft is flushed to disk and replaces the file ``path`` in one step; after an error the draft is removed.
    ResultFileError is raised if ``path`` is a folder or device, or if writing fails.

    Raises:
        ResultFileError: the disk refuses.
    """
    refuse_existing(path, overwrite=True)
    draft = path.with_name(f".{path.name}.part")
    try:
        with writing(path):
            yield draft
            with open(draft, "r+b") as file:
                os.fsync(file.fileno())
            os.replace(draft, path)
    except BaseException:
        with suppress(OSError):  # the first error says more
            draft.unlink(missing_ok=True)
        raise


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Raise ``ResultFileError`` if ``path`` cannot be written: it is a folder or device, or an existing file
    and ``overwrite`` is false.

    Raises:
        ResultFileError: says how to go on.
    """
    if path.exists() and not path.is_file():
        raise ResultFileError(f"cannot write {path}: it is not a file")
    if path.exists() and not overwrite:
        raise ResultFileError(
            f"{path} exists already; choose another name, go on with it by model.resume, or pass overwrite=True "
            "to replace it"
        )
