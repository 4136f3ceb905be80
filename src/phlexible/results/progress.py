"""Progress bars in a terminal or a notebook, lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from phlexible.algebra.arrays import flag

INTERVAL = 10.0  # of lines [s]


def is_bar_shown(progress: bool | None) -> bool:
    """Return whether to show a progress bar: ``progress`` itself if it is True or False; for None whether output
    goes to a terminal, or to a notebook that has ipywidgets."""
    if progress is not None:
        return flag("progress", progress)
    shell = type(sys.modules["IPython"].get_ipython()).__name__ if "IPython" in sys.modules else ""
    return sys.stderr.isatty() or (shell == "ZMQInteractiveShell" and find_spec("ipywidgets") is not None)


class Lines:
    """Progress report that writes a line to stderr every ten seconds."""

    def __init__(self, what: str) -> None:
        self._what, self._begin = what, time.monotonic()
        self._next = self._begin + INTERVAL

    def __call__(self, done: int, count: int) -> None:
        """Print a line of progress to stderr that ``done`` of ``count`` time steps or runs are finished, with the
        time since the start. Calls within ten seconds after the last line print nothing."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + INTERVAL
            text = f"phlexible: {self._what}: {done} of {count} after {now - self._begin:.0f} s"
            print(text, file=sys.stderr, flush=True)


@contextmanager
def progress_bar(progress: bool | None, what: str = "simulating") -> Iterator[Callable[[int, int], None]]:
    """Context manager that provides a function of (done, count), which the caller calls to report progress. The
    function updates a bar on the terminal. If no bar can be shown, it prints lines to stderr with ``progress``
    None, and does nothing with False. ``what`` is the text beside the bar, which is removed at the end."""
    if not is_bar_shown(progress):
        yield Lines(what) if progress is None else lambda done, count: None
        return
    from rich.progress import Progress

    with Progress(transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, count: bar.update(task, completed=done, total=count)
