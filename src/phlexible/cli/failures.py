"""Handling of failures by one line and an exit code instead of a traceback."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import typer

from phlexible.errors import PhlexibleError

REFUSED = 2
FAILED = 1
INTERRUPTED = 130


class UsageError(PhlexibleError, ValueError):
    """An error in the command line of the user."""


class UserFileError(PhlexibleError, ValueError):
    """An error of a user's model file."""


@contextmanager
def one_line_failures(debug: bool) -> Iterator[None]:
    """Context manager in which an error ends the program with one line on stderr and an exit code. With ``debug``
    the traceback is printed first."""
    try:
        yield
    except KeyboardInterrupt:
        complain("interrupted", None)
        raise typer.Exit(INTERRUPTED) from None
    except (PhlexibleError, OSError) as error:
        complain(str(error) or type(error).__name__, error if debug else None)
        raise typer.Exit(REFUSED) from None


def complain(message: str, error: BaseException | None) -> None:
    """Print an error message as one line on stderr, after the traceback of the error if one is given."""
    if error is not None:
        traceback.print_exception(error, file=sys.stderr)
    print("phlexible: " + " ".join(message.split()), file=sys.stderr)


def line_in(path: Path, trace: TracebackType | None) -> int | None:
    """Return the number of the last line of the file ``path`` that a traceback (``trace``) passes through;
    None if it passes through none."""
    lines = [frame.lineno for frame in traceback.extract_tb(trace) if frame.filename == str(path)]
    return lines[-1] if lines else None
