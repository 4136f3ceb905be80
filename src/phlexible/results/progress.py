"""A progress bar for runs in a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(show: bool) -> Iterator[Callable[[int, int], None]]:
    """Gives a function of (steps done, steps in all); shows nothing where ``show`` is False."""
    if not show:
        yield lambda done, count: None
        return
    from rich.progress import Progress

    with Progress(transient=True) as bar:
        task = bar.add_task("simulating", total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
