"""How kernels are compiled: exact about NaN, free to reorder sums, entry points cached."""

import hashlib
from pathlib import Path
from typing import Any

from numba import njit


def discard_stale_cache(sources: Path, cache: Path) -> bool:
    """Remove compiled code that was made from other sources; True if there was any.

    Numba looks at the file of the called function only, while the entry points inline all files of
    the folder of sources. A stamp beside the cached code holds the digest of all of them.
    """
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(sources.glob("*.py")))).hexdigest()
    stamp = cache / "kernels.stamp"
    try:
        if stamp.is_file() and stamp.read_text() == digest:
            return False
        cache.mkdir(parents=True, exist_ok=True)
        for file in [*cache.glob("*.nbi"), *cache.glob("*.nbc")]:
            file.unlink(missing_ok=True)
        stamp.write_text(digest)
    except OSError:  # a read-only installation: its files only change together, Numba notices that
        return False
    return True


def is_compiled(entry: Any) -> bool:
    """Whether an entry point is compiled in this process or can be read from its cache."""
    cached = Path(entry.stats.cache_path).glob(f"*{entry.py_func.__name__}-*.nbc")
    return bool(entry.signatures) or any(cached)


# Reassociation lets the compiler use vector units for sums; NaN and infinities keep their meaning,
# since the step looks for them.
_OPTIONS = {"fastmath": {"reassoc", "contract"}, "error_model": "numpy"}

# For functions that only kernels call: without the wrappers for calls from Python.
compiled = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)

# For functions with one caller: part of it, so that LLVM sees them once and not at each level of calls.
inlined = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always", **_OPTIONS)


def entry_point(function: Any) -> Any:
    """For the few functions that Python calls: compiled once, then read from the cache."""
    dispatcher = njit(cache=True, no_cfunc_wrapper=True, **_OPTIONS)(function)
    discard_stale_cache(Path(__file__).parent, Path(dispatcher.stats.cache_path))
    return dispatcher
