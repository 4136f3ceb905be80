"""A progress bar for runs in a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from phlexible.algebra.options import flag


def shown(progress: bool | None) -> bool:
    """Whether to show a progress bar; None: on a terminal."""
    return sys.stderr.isatty() if progress is None else flag("progress", progress)


@contextmanager
def progress_bar(show: bool, what: str = "simulating") -> Iterator[Callable[[int, int], None]]:
    """Gives a function of (done, in all); shows nothing where ``show`` is False."""
    if not show:
        yield lambda done, count: None
        return
    from rich.progress import Progress

    with Progress(transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
