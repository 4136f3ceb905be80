"""A progress bar for runs in a terminal or a notebook."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from phlexible.algebra.options import flag


def shown(progress: bool | None) -> bool:
    """Whether to show a progress bar; None: on a terminal, and in a notebook that has ipywidgets."""
    if progress is not None:
        return flag("progress", progress)
    shell = type(sys.modules["IPython"].get_ipython()).__name__ if "IPython" in sys.modules else ""
    return sys.stderr.isatty() or (shell == "ZMQInteractiveShell" and find_spec("ipywidgets") is not None)


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
