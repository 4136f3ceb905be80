"""Context with one BLAS thread for NumPy and SciPy while many small matrices are processed.

Their OpenBLAS starts a thread for each core from matrices of about 200 rows on, and waits for it actively: if other
programs use the cores, a product takes ten times as long as with one thread, and otherwise the gain is small.
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
    """Number of threads in the OpenBLAS libraries of NumPy and SciPy, which is one while somebody uses the
    context.
    """

    def __init__(self) -> None:
        self._lock, self._users, self._before = Lock(), 0, list[int]()

    @cached_property
    def _libraries(self) -> list[tuple[Any, Any]]:
        """Return the functions of each OpenBLAS library that comes with NumPy or SciPy, as a list of pairs: a
        function that returns the number of threads, and one that sets it."""
        pairs = []
        for package in (np.__file__, scipy.__file__):
            package_folder = Path(str(package)).parent
            folders = package_folder.parent / f"{package_folder.name}.libs", package_folder / ".dylibs"
            for file in sorted(library for folder in folders for library in folder.glob("*openblas*")):
                try:
                    library = ctypes.CDLL(str(file))
                except OSError:
                    continue
                for name in NAMES:
                    if hasattr(library, name.format("set")) and hasattr(library, name.format("get")):
                        pairs.append((getattr(library, name.format("get")), getattr(library, name.format("set"))))
                        break
        return pairs

    def enter(self) -> None:
        """Count one more user of this context, in which BLAS uses one thread. The first user stores the numbers of
        threads of all OpenBLAS libraries and sets them to one. A lock makes this safe from several threads."""
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = [get() for get, _ in self._libraries]
                self._set([1] * len(self._before))

    def leave(self) -> None:
        """Leave the context with one BLAS thread: count one user of it less, and after the last one restore the
        numbers of threads that the OpenBLAS libraries had before."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._set(self._before)

    def _set(self, counts: list[int]) -> None:
        """Set the number of threads of each loaded OpenBLAS library to the entry of ``counts`` at its index."""
        for (_, change), count in zip(self._libraries, counts, strict=True):
            change(count)


_threads = _Threads()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context manager in which NumPy and SciPy use one BLAS thread, in all Python threads; afterwards the number of
    threads is restored."""
    _threads.enter()
    try:
        yield
    finally:
        _threads.leave()
