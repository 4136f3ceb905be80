"""Files that take the place of others only when they are whole."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from phlexible.errors import ResultFileError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The name of a draft, which takes the place of ``path`` at the end; nothing of it is left after an error.

    Raises:
        ResultFileError: the disk refuses.
    """
    refuse_existing(path, overwrite=True)
    draft = path.with_name(f".{path.name}.part")
    try:
        yield draft
        with open(draft, "r+b") as file:
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException as error:
        try:
            draft.unlink(missing_ok=True)
        except OSError:
            pass  # the first error says more
        if isinstance(error, OSError) and not isinstance(error, ResultFileError):
            raise cannot_write(path, error) from error
        raise


def cannot_write(path: Path, error: OSError) -> ResultFileError:
    """The error for a disk that refuses."""
    return ResultFileError(f"cannot write {path}: {error.strerror or error}")


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Refuses a name that is taken: by a file unless it may be replaced, and by folders and devices.

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
