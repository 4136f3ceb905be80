"""Laws of users that compiled code calls through Python: Ctrl-C waits for the end of the call, errors are kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType

from phlexible.assembly.assembly import Assembly

NOTHING = nullcontext()


class PythonLaws:
    """The functions of laws that could not be compiled.

    An exception must not cross compiled code. Ctrl-C would be lost there, so it is held back until the steps that
    it came in are done and stored; a second one ends a function that hangs, and with it these steps.

    Args:
        assembly: whose laws.
    """

    def __init__(self, assembly: Assembly) -> None:
        functions = [each for law in assembly.laws for each in law.functions or ()]
        self._functions = [each for each in functions if not each.is_compiled]
        self._is_interrupted = False

    def called(self) -> AbstractContextManager[None]:
        """While compiled code runs, which itself is not interrupted."""
        return self._held() if self._functions else NOTHING

    @contextmanager
    def _held(self) -> Iterator[None]:
        for each in self._functions:
            each.errors.clear()
        if threading.current_thread() is not threading.main_thread():
            yield  # other threads are not interrupted
            return
        before = signal.signal(signal.SIGINT, self._hold)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        if isinstance(self.error, KeyboardInterrupt):
            raise self.error

    def _hold(self, number: int, frame: FrameType | None) -> None:
        if self._is_interrupted:
            raise KeyboardInterrupt
        self._is_interrupted = True

    def let_interrupt(self) -> None:
        """Ctrl-C that was held back comes now."""
        if self._is_interrupted:
            self._is_interrupted = False
            signal.raise_signal(signal.SIGINT)

    @property
    def error(self) -> BaseException | None:
        """What one of the functions raised last; the compiled code went on with NaN."""
        return next((error for each in self._functions for error in each.errors), None)
