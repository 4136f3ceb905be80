"""Numba's cache with digests, so that damaged files are recognized and compiled again."""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.serialize import dumps

from phlexible.step.compilation.objects import read_sealed, write_sealed


class SealedCodeCache(FunctionCache):
    """Numba's cache of one function, which reads no damaged files; damaged machine code would end the process.

    Args:
        function: that is compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        impl = self._impl
        self._cache_file = _SealedFiles(self.cache_path, impl.filename_base, impl.locator.get_source_stamp())

    def has(self, sig: Any, target_context: Any) -> bool:
        """Return whether the cache of this compiled function contains code for arguments of the types in the
        signature ``sig``, on Numba's ``target_context`` (a processor)."""
        key = self._index_key(sig, target_context.codegen())
        return key in self._cache_file._load_index()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code in the cache of this compiled function for the types of the signature ``sig``, on
        Numba's ``target_context`` (a processor); None if there is none or its files are damaged, which are
        then removed."""
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # whatever unpickling damaged bytes raises
            folder = Path(self.cache_path)
            print(
                f"phlexible: compiled code in {folder} is damaged ({type(error).__name__}: {error}) and is compiled"
                " again; if this comes back, delete the files *.nbi and *.nbc in that folder",
                file=sys.stderr,
                flush=True,
            )
            for file in folder.glob(f"{self._impl.filename_base}.*nb[ci]"):
                file.unlink(missing_ok=True)
            return None


class _SealedFiles(IndexDataCacheFile):
    """Cache files of machine code that begin with their digest."""

    def _save_data(self, name: str, data: Any) -> None:
        write_sealed(Path(self._data_path(name)), {}, dumps(data))

    def _load_data(self, name: str) -> Any:
        return pickle.loads(read_sealed(Path(self._data_path(name)))[1])
