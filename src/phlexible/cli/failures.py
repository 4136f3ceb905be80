"""Failures end in one line and an exit code, not in a traceback."""

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
    """The command line asks for something that does not exist."""


class UserFileError(PhlexibleError, ValueError):
    """A user's model file cannot be run."""


@contextmanager
def one_line_failures(debug: bool) -> Iterator[None]:
    """Ends the program with one line on stderr; with ``debug`` the traceback stands before it."""
    try:
        yield
    except KeyboardInterrupt:
        complain("interrupted", None)
        raise typer.Exit(INTERRUPTED) from None
    except (PhlexibleError, OSError) as error:
        complain(str(error) or type(error).__name__, error if debug else None)
        raise typer.Exit(REFUSED) from None


def complain(message: str, error: BaseException | None) -> None:
    """One line on stderr, after the traceback of the error if one is given."""
    if error is not None:
        traceback.print_exception(error, file=sys.stderr)
    print("phlexible: " + " ".join(message.split()), file=sys.stderr)


def line_in(path: Path, trace: TracebackType | None) -> int | None:
    """The last line of the file that a traceback passes through."""
    lines = [frame.lineno for frame in traceback.extract_tb(trace) if frame.filename == str(path)]
    return lines[-1] if lines else None
