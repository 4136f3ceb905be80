"""Entry points of compiled code, called by Python: loaded if machine code fits, otherwise compiled and stored.

They are searched in this order: code of a release (``SHIPPED_FOLDER``), code that an earlier run stored on this
machine; otherwise Numba compiles them. Only then are Numba and the kernels imported.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numpy as np

from phlexible.step.compilation.objects import (
    CHECKED,
    CodeTarget,
    Loaded,
    ModuleFile,
    ObjectFile,
    can_run_machine_code,
    code_settings,
    sources_digest,
    this_system,
    this_target,
)

PACKAGE = Path(__file__).parents[2]
SHIPPED_FOLDER = PACKAGE / "step" / "shipped"
ENDING, MODULE_ENDING = ".object", ".module"


Kept = TypeVar("Kept", ObjectFile, ModuleFile)


class EntryPoint:
    """A function of the kernels that Python calls, loaded or compiled at its first call.

    Other threads of Python run at the same time. It writes to the caller's memory alone: two runs have two
    memories.

    Args:
        module: of the kernels.
        name: of the function in it, decorated as ``entry_point``, with types of its arguments and its result.
        header: type of the entries of its argument "header", where its tables have other numbers than floats.

    Attributes:
        name: of the function and its kind of numbers, as files are called.
    """

    def __init__(self, module: str, name: str, header: np.dtype[Any] | None = None) -> None:
        self.module, self._function_name, self._header = module, name, header
        self.name = "-".join((name, *(str((header.names or ("",))[0]).split() if header is not None else ())))
        self._variants: dict[np.dtype[Any], EntryPoint] = {}
        self._function: Callable[..., Any] | None = None
        self._keeps: Loaded | None = None
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Call this compiled function with the given arguments and return its result. If its machine code is not in
        memory yet, it is loaded or compiled first.

        Raises:
            TypeError: an array has other entries or axes than the function takes, or is not contiguous.
        """
        return (self._function or self.load_or_compile())(*arguments)

    def load_or_compile(self) -> Callable[..., Any]:
        """Return this entry point (function that Python calls) as a callable, after loading or compiling its
        machine code if that is needed. On machines that cannot run it, and in checked mode, Numba's dispatcher is
        returned."""
        with self._lock:
            if self._function is None:
                if CHECKED or not can_run_machine_code():
                    self._function = self.source
                else:
                    self._load(self._on_disk() or self._compiled())
            assert self._function is not None
            return self._function

    @property
    def is_ready(self) -> bool:
        """Return whether this entry point (a compiled function that Python calls) can be called without compiling
        it. If it is not loaded yet, machine code is looked up in the cache on disk and loaded. With checks of
        indices, or where machine code cannot run, only a function that is loaded already counts."""
        with self._lock:
            if self._function is None and not CHECKED and can_run_machine_code():
                found = self._on_disk()
                if found is not None:
                    self._load(found)
            return self._function is not None

    def of(self, header: np.dtype[Any]) -> "EntryPoint":
        """Return the entry point of the same function for tables whose values are of another kind: of several
        mechanisms in SIMD lanes, or of one structure alone. The kind follows from the type of the entries of their
        ``header``, the array of a model's counts and addresses of tables. Entry points are cached."""
        return self._variants.setdefault(header, EntryPoint(self.module, self._function_name, header))

    @property
    def source(self) -> Any:
        """Numba's dispatcher of this entry point, looked up by name in its module: a Python function that compiles
        the code when it is called."""
        return getattr(import_module(self.module), self._function_name)

    @property
    def is_shipped(self) -> bool:
        """Whether the installed release contains machine code of this entry point (compiled function that Python
        calls) that fits this machine."""
        return any(found.fits() for found in self._read(ObjectFile, self._shipped()))

    def _load(self, file: ObjectFile) -> None:
        self._keeps = Loaded(self.name, file.code)
        self._function = self._keeps.function

    def compile_for(self, target: CodeTarget) -> tuple[ObjectFile, ModuleFile]:
        """Compile this entry point for the processor and system ``target``, and return its machine code and its
        LLVM module, as an ``ObjectFile`` and a ``ModuleFile``: bytes with a digest of the sources, ready to be
        written to files. Entry points are compiled functions that Python calls."""
        # Numba is imported with them, here alone:
        from phlexible.step.compilation.modules import machine_code, module_text, settings_for

        text = module_text(self.source.py_func, target.triple, self._header)
        code, calls = machine_code(text, target, settings_for(self._header))
        return ObjectFile(sources_digest(), code, target.needs, calls), self._module(text)

    def module_file(self) -> ModuleFile:
        """Return the LLVM module of this entry point for this system, loaded from disk if one fits, otherwise
        compiled by Numba and stored on disk. Entry points are compiled functions that Python calls."""
        found = None if CHECKED else next((each for each in self._modules() if each.fits()), None)
        if found is None:
            from phlexible.step.compilation.modules import module_text

            found = self._module(module_text(self.source.py_func, this_target().triple))
            self._keep(found, MODULE_ENDING)
        return found

    def _modules(self) -> Iterator[ModuleFile]:
        folder, shipped = code_folder(), [file.with_suffix(MODULE_ENDING) for file in self._shipped()]
        kept = [] if folder is None else [folder / self._cache_file_name(MODULE_ENDING)]
        return self._read(ModuleFile, [*shipped, *kept])

    def _module(self, text: str) -> ModuleFile:
        from phlexible.step.compilation.modules import bitcode, c_declaration

        return ModuleFile(sources_digest(), bitcode(text), c_declaration(self.source.py_func))

    def _on_disk(self) -> ObjectFile | None:
        folder = code_folder()
        kept = [] if folder is None else [folder / self._cache_file_name()]
        return next((found for found in self._read(ObjectFile, [*self._shipped(), *kept]) if found.fits()), None)

    def _read(self, kind: type[Kept], files: Iterable[Path]) -> Iterator[Kept]:
        for file in files:
            try:
                yield kind.read(file)
            except FileNotFoundError:
                pass
            except Exception as error:  # whatever damaged bytes raise
                print(
                    f"phlexible: compiled code in {file.parent} is damaged ({error}) and is compiled again; if this"
                    f" comes back, delete the file {file.name}",
                    file=sys.stderr,
                    flush=True,
                )

    def _compiled(self) -> ObjectFile:
        found, module = self.compile_for(this_target())
        self._keep(found, ENDING)
        if self._header is None:
            self._keep(module, MODULE_ENDING)  # for code that leaves Python: writing it took longer than all else
        return found

    def _keep(self, file: ObjectFile | ModuleFile, ending: str) -> None:
        folder = None if CHECKED else code_folder()
        if folder is not None:
            with suppress(OSError):  # no space left: the next process compiles again
                file.write(folder / self._cache_file_name(ending))

    def _shipped(self) -> list[Path]:
        """Return the files of the installed release that may contain machine code of this entry point (compiled
        function that Python calls). The list is empty if environment variables request other code; whether the
        files exist is not checked."""
        return [] if code_settings() else [SHIPPED_FOLDER / this_system() / f"{self.name}{ENDING}"]

    def _cache_file_name(self, ending: str = ENDING) -> str:
        """Return the name of the cache file for code of this entry point on this kind of machine, since
        different machines may use one folder. It has this ``ending``. Entry points are compiled functions that
        Python calls."""
        target = this_target()
        key = f"{target} {code_settings()} {llvmlite.__version__}"
        return f"{self.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}{ending}"


def code_folder() -> Path | None:
    """Return the folder in which compiled code is stored for later processes; it is created if it is missing. It
    is in NUMBA_CACHE_DIR if this variable is set, else beside the kernels or in the user's cache folder. None if
    no such folder can be written."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    own = f"phlexible_{hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:12]}"
    if given:
        folders = [Path(given) / own]
    else:
        folders = [PACKAGE / "step" / "kernels" / "__pycache__", _user_folder() / own]
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    return None


def _user_folder() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
