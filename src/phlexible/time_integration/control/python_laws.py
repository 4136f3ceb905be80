"""Laws of users that compiled code calls through Python: Ctrl-C waits for the end of the call, errors are kept."""

import ctypes
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.assembly.assembly import Assembly
from phlexible.compilation.user_function import UserFunction
from phlexible.time_integration.control.controllers import Controllers

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


class StateLaws:
    """Behind ``address`` load values are written from the mean state of a trial step of length h.

    Args:
        controllers: whose laws.
        part: the part of the step that is taken, as the kernels write it, shape (1,).

    Attributes:
        address: of double(h); 0 where there is no law.
        middles: times at the middles of the parts of the step that is taken [s].
        errors: what a law raised; the compiled code got NaN for its values.
        is_compiled: False.
    """

    is_compiled = False

    def __init__(self, controllers: Controllers, part: IntArray) -> None:
        self._controllers, self.errors, self.address = controllers, list[BaseException](), 0
        self._part, self.middles = part, np.zeros(1)
        if controllers.have_laws:
            self._callback = _CALLBACK(self._called)
            self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _called(self, h: float) -> float:
        if self.errors:  # the compiled code is to come to its end
            self._controllers.fail()
            return 0.0
        try:
            self._controllers.obey_in_step(float(self.middles[self._part[0]]), h)
        except BaseException as error:  # must not cross compiled code, where it would be lost
            self.errors[:] = [error]
            self._controllers.fail()
        return 0.0


NOTHING = nullcontext()


class PythonLaws:
    """The functions of laws that could not be compiled.

    An exception must not cross compiled code. Ctrl-C would be lost there, so it is held back until the steps that
    it came in are done and stored; a second one ends a function that hangs, and with it these steps.

    Args:
        assembly: whose laws.
        state_laws: those that are functions of the state.
    """

    def __init__(self, assembly: Assembly, state_laws: StateLaws) -> None:
        functions = [each for law in assembly.laws for each in law.functions or ()]
        self._functions: list[UserFunction | StateLaws] = [each for each in functions if not each.is_compiled]
        if state_laws.address:
            self._functions.append(state_laws)
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
