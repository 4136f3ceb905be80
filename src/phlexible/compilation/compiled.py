"""How kernels are compiled: exact about NaN, free to reorder sums, one module for each entry point.

A kernel function says the types of its arguments and of what it returns, so that nothing is inferred across
calls: ``compiled`` makes it a rule that writes the function into the module of whatever entry point calls it,
once. LLVM then sees the whole program a single time, where separately compiled functions would be optimized
again at each level of calls and turned into machine code that nobody runs.
"""

import hashlib
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args, get_origin

from numba import njit, types
from numba.core import compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from phlexible.compilation.notation import CHECKED, NUMBA_TYPES

FAST = {"reassoc", "contract"}
"""Sums may be reordered for vector units; NaN and infinities keep their meaning, since the step looks for them."""

_KERNELS = ("kernels", "compilation", "tables")


def compiled(function: Callable[..., Any]) -> Any:
    """Make a function, whose arguments and result have types, one that kernels can call."""
    return _kernel(function, are_apart=False)


def compiled_apart(function: Callable[..., Any]) -> Any:
    """The same where rows that one argument points to are not those of another: vector units like to know."""
    return _kernel(function, are_apart=True)


def _kernel(function: Callable[..., Any], are_apart: bool) -> Any:
    hints = inspect.get_annotations(function, eval_str=True)
    result = numba_type(hints.pop("return"))
    parameters = tuple(numba_type(hints[name]) for name in inspect.signature(function).parameters)
    written: dict[int, tuple[Any, Any]] = {}  # by the library of an entry point, which is kept alive here

    def rule(typing: Any, *arguments: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            library = context.active_code_library
            if id(library) not in written:
                with global_compiler_lock:
                    flags = compiler.Flags()
                    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
                    flags.no_rewrites, flags.noalias = True, are_apart
                    flags.fastmath, flags.error_model = FAST, "numpy"
                    made = compiler.compile_internal(
                        context.typing_context, context, library, function, parameters, result, flags, {}
                    )
                _discardable(library, made.fndesc)
                written[id(library)] = (library, made.fndesc)
            return context.call_internal(builder, written[id(library)][1], signature, values)

        return result(*parameters), generate

    own = inspect.signature(function)
    context = inspect.Parameter("typing", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    rule.__signature__ = own.replace(parameters=[context, *own.parameters.values()])  # type: ignore[attr-defined]
    rule.__name__, rule.__doc__ = function.__name__, function.__doc__
    return intrinsic(rule)


def numba_type(hint: Any) -> Any:
    """The type that an annotation of a kernel stands for."""
    if get_origin(hint) is tuple:
        return types.Tuple([numba_type(each) for each in get_args(hint)])
    return NUMBA_TYPES[hint]


def _discardable(library: Any, description: Any) -> None:
    """Let LLVM drop the function from the module once it has put it into its callers."""
    library._final_module.get_function(description.mangled_name).linkage = "linkonce_odr"


def discard_stale_cache(sources: Iterable[Path], cache: Path) -> bool:
    """Remove compiled code that was made from other sources; True if there was any.

    Numba looks at the file of the called function only, while the entry points contain the code of whole
    folders. A stamp beside the cached code holds the digest of all of their files.
    """
    files = sorted(file for folder in sources for file in folder.rglob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
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
    if entry.overloads or not is_kept(entry):
        return bool(entry.overloads)
    return any(Path(entry.stats.cache_path).glob(f"*{entry.py_func.__name__}-*.nbc"))


def is_kept(entry: Any) -> bool:
    """Whether what is compiled is written to a cache, for other processes."""
    return entry.stats.cache_path is not None


def kept_in(entry: Any) -> Path | None:
    """The folder that what is compiled is written to; None: nowhere."""
    return Path(entry.stats.cache_path) if is_kept(entry) else None


def entry_point(function: Any) -> Any:
    """For the few functions that Python calls: compiled once, then read from the cache.

    Where neither the package nor a folder of the user can be written it is compiled in each process.
    """
    options = {"fastmath": FAST, "error_model": "numpy", "no_cfunc_wrapper": True}
    if CHECKED:  # another program under the same name: compiled each time
        return njit(**options)(function)
    try:
        dispatcher = njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no folder for its cache
        return njit(**options)(function)
    package = Path(__file__).parent.parent
    discard_stale_cache([package / folder for folder in _KERNELS], Path(dispatcher.stats.cache_path))
    return dispatcher
