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
    """Context that ends the program with one line on stderr; with ``debug`` after the traceback."""
    try:
        yield
    except KeyboardInterrupt:
        complain("interrupted", None)
        raise typer.Exit(INTERRUPTED) from None
    except (PhlexibleError, OSError) as error:
        complain(str(error) or type(error).__name__, error if debug else None)
        raise typer.Exit(REFUSED) from None


def complain(message: str, error: BaseException | None) -> None:
    """Write one line to stderr, after the traceback of the error if one is given."""
    if error is not None:
        traceback.print_exception(error, file=sys.stderr)
    print("phlexible: " + " ".join(message.split()), file=sys.stderr)


def line_in(path: Path, trace: TracebackType | None) -> int | None:
    """Last line of the file that a traceback passes through."""
    lines = [frame.lineno for frame in traceback.extract_tb(trace) if frame.filename == str(path)]
    return lines[-1] if lines else None
