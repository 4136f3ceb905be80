"""Ctrl-C waits while numbers are written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Interruptions from the keyboard inside come at the end, so that memory and file hold the same."""
    if threading.current_thread() is not threading.main_thread():
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
