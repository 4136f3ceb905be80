"""One thread for the matrix products and factors of NumPy and SciPy while many small ones are asked for.

Their OpenBLAS wakes a thread for each core from matrices of about 200 rows on, and waits for it in a loop: where
other programs have the cores, a product takes ten times as long as with one thread, and without them it gains
little.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import scipy

NAMES = [f"{front}openblas_{{}}_num_threads{end}" for front in ("scipy_", "") for end in ("64_", "")]


class _Threads:
    """The libraries beside NumPy and SciPy; several that need one thread at the same time are counted."""

    def __init__(self) -> None:
        self._lock, self._users, self._before = Lock(), 0, list[int]()

    @cached_property
    def _libraries(self) -> list[tuple[Any, Any]]:
        """Functions that get and set the number of threads, of each library that is an OpenBLAS."""
        found = []
        for package in (np.__file__, scipy.__file__):
            own = Path(str(package)).parent
            folders = own.parent / f"{own.name}.libs", own / ".dylibs"
            for file in sorted(each for folder in folders for each in folder.glob("*openblas*")):
                try:
                    library = ctypes.CDLL(str(file))
                except OSError:
                    continue
                for name in NAMES:
                    if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                        found.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                        break
        return found

    def enter(self) -> None:
        """One thread from now on."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = [get() for get, _ in self._libraries]
                self._set([1] * len(self._before))

    def leave(self) -> None:
        """As many as before, when the last one leaves."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._set(self._before)

    def _set(self, counts: list[int]) -> None:
        for (_, change), count in zip(self._libraries, counts, strict=True):
            change(count)


_threads = _Threads()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """What is inside has one thread of BLAS, in all threads of Python; other libraries go on as before."""
    _threads.enter()
    try:
        yield
    finally:
        _threads.leave()
