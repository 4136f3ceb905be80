"""How kernels are compiled: exact about NaN, free to reorder sums, one module for each program.

A kernel function says the types of its arguments and of what it returns, so that nothing is inferred across
calls: ``compiled`` makes it a rule that writes the function into the module of whatever entry point calls it,
once. LLVM then sees the whole program a single time, where separately compiled functions would be optimized
again at each level of calls and turned into machine code that is never run.

Families of forces are programs of their own, so that a model compiles what it has: other programs call what one
``export``s by addresses that stand in the tables (``step/kernels/programs.py``).
"""

import gc
import hashlib
import inspect
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

from numba import njit, types
from numba.core import cgutils, compiler, typed_passes, untyped_passes
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from phlexible.step.compilation.kept_code import KeptCode
from phlexible.step.compilation.notation import (
    FUNCTION_PLACES,
    INTEGER,
    NUMBA_TYPES,
    Written,
    header_number,
)
from phlexible.step.compilation.objects import CHECKED

FAST = {"reassoc", "contract"}
"""Sums may be reordered for vector units; NaN and infinities keep their meaning, since the step looks for them."""

UNUSED_PASSES = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
}

_KERNELS = ("step/kernels", "step/compilation", "step/tables", "papers/kernels")


class _Compiler(compiler.CompilerBase):
    """Numba's passes without those that look for what kernels do not have: closures, functions to inline."""

    def define_pipelines(self) -> list[Any]:
        usual = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = compiler.PassManager("kernels")
        own.passes = [each for each in usual.passes if each[0] not in UNUSED_PASSES]
        own.finalize()
        return [own]


def written_into(
    context: Any, function: Callable[..., Any], parameters: tuple[Any, ...], result: Any, are_apart: bool = False
) -> Any:
    """Write a function into the library that is being made; how Numba describes it, and its types."""
    flags = compiler.Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.no_rewrites, flags.noalias = True, are_apart
    flags.fastmath, flags.error_model = FAST, "numpy"
    typing, library = context.typing_context, context.active_code_library
    return _Compiler(typing, context, library, parameters, result, flags, {}).compile_extra(function)


class Kernel(Written):
    """A function of kernels, which is written into each program that calls it, once.

    Args:
        function: with types of its arguments and of what it returns.
        are_apart: rows that one argument points to are not those of another: vector units like to know.
    """

    def __init__(self, function: Callable[..., Any], are_apart: bool = False) -> None:
        hints = inspect.get_annotations(function, eval_str=True)
        result = numba_type(hints.pop("return"))
        parameters = tuple(numba_type(hints[name]) for name in inspect.signature(function).parameters)
        self._function, self._are_apart = function, are_apart
        self._written: dict[int, tuple[Any, Any]] = {}  # by the library of a program, which is kept alive here
        super().__init__(function, result, parameters, self._call)

    def is_in(self, library: Any) -> bool:
        """Whether the function is written into a library already."""
        return id(library) in self._written

    def written(self, context: Any) -> Any:
        """How Numba describes the function in the library that is being made."""
        library = context.active_code_library
        if not self.is_in(library):
            with global_compiler_lock:
                made = written_into(context, self._function, self.parameters, self.result, self._are_apart)
            # LLVM may drop the function from the module once it has put it into its callers:
            library._final_module.get_function(made.fndesc.mangled_name).linkage = "linkonce_odr"
            self._written[id(library)] = (library, made.fndesc)
        return self._written[id(library)][1]

    def _call(self, context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return context.call_internal(builder, self.written(context), sig, values)


class Exported(Kernel):
    """A function of one program that others call too, by its address in the tables.

    Where the tables have no address, since a model has no use for the program, it does nothing and returns zero.
    """

    def _call(self, context: Any, builder: Any, sig: Any, values: Any) -> Any:
        if self.is_in(context.active_code_library):
            return super()._call(context, builder, sig, values)
        address = header_number(builder, values[0], FUNCTION_PLACES[self.__name__])
        found = cgutils.alloca_once_value(builder, context.get_constant_null(self.result))
        with builder.if_then(builder.icmp_signed("!=", address, address.type(0))):
            kind = context.call_conv.get_function_type(self.result, self.parameters)
            function = builder.inttoptr(address, kind.as_pointer())
            status, value = context.call_conv.call_function(builder, function, self.result, self.parameters, values)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            builder.store(value, found)
        return builder.load(found)


def compiled(function: Callable[..., Any]) -> Any:
    """Make a function, whose arguments and result have types, one that kernels can call."""
    return Kernel(function)


def compiled_apart(function: Callable[..., Any]) -> Any:
    """The same where rows that one argument points to are not those of another: vector units like to know."""
    return Kernel(function, are_apart=True)


def exported(function: Callable[..., Any]) -> Any:
    """The same for a function in ``FUNCTIONS``, which its program exports (``export``); the tables come first."""
    return Exported(function)


@intrinsic
def export(typing: Any, header: Any, function: Any) -> Any:
    """Write an exported function into this program, and its address into the header of tables."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        kernel = function.typing_key
        found = context.declare_function(builder.module, kernel.written(context))
        numbers = cgutils.create_struct_proxy(header)(context, builder, values[0]).data
        place = builder.gep(numbers, [INTEGER(FUNCTION_PLACES[kernel.__name__])], inbounds=True)
        builder.store(builder.ptrtoint(found, INTEGER), place)
        return context.get_dummy_value()

    return types.none(header, function), generate


def numba_type(hint: Any) -> Any:
    """The type that an annotation of a kernel stands for."""
    if get_origin(hint) is tuple:
        return types.Tuple([numba_type(each) for each in get_args(hint)])
    return NUMBA_TYPES[hint]


def discard_stale_cache(sources: Iterable[Path], kept: Path) -> bool:
    """Remove compiled code that was made from other sources; True if there was any.

    Numba looks at the file of the called function only, while the entry points contain the code of whole
    folders. A stamp beside the cached code holds the digest of all of their files.
    """
    files = sorted(file for folder in sources for file in folder.rglob("*.py"))
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    stamp = kept / "kernels.stamp"
    try:
        if stamp.is_file() and stamp.read_text() == digest:
            return False
        kept.mkdir(parents=True, exist_ok=True)
        for file in [*kept.glob("*.nbi"), *kept.glob("*.nbc")]:
            file.unlink(missing_ok=True)
        stamp.write_text(digest)
    except OSError:  # a read-only installation: its files only change together, Numba notices that
        return False
    return True


def entry_point(function: Any) -> Any:
    """For the few functions that Python calls: compiled by Numba once, then read from its cache.

    Those of the step are called as ``EntryPoint``, which needs no Numba where there is code (``step/programs.py``).
    Other threads of Python go on while one runs. What it writes is the caller's: two runs have two memories.

    Where neither the package nor a folder of the user can be written it is compiled in each process.
    """
    options = {"fastmath": FAST, "error_model": "numpy", "no_cfunc_wrapper": True, "nogil": True}

    def made(**kept: bool) -> Any:
        dispatcher = njit(**kept, **options)(function)
        dispatcher._compiler.compile = without_collection(dispatcher._compiler.compile)
        return dispatcher

    if CHECKED:  # another program under the same name: compiled each time
        return made()
    try:
        dispatcher = made(cache=True)
        dispatcher._cache = KeptCode(function)
    except RuntimeError:  # Numba found no folder for its cache
        return made()
    _discard_once(Path(dispatcher.stats.cache_path))
    return dispatcher


def without_collection(work: Callable[..., Any]) -> Callable[..., Any]:
    """Compiling makes many objects that live until its end: looking for garbage among them takes 3 to 15 %."""

    def done(*arguments: Any) -> Any:
        is_on = gc.isenabled()
        gc.disable()
        try:
            return work(*arguments)
        finally:
            if is_on:
                gc.enable()

    return done


@cache
def _discard_once(folder: Path) -> bool:
    """What is stale in a folder of the cache, when the first entry point with code in it is declared."""
    package = Path(__file__).parents[2]
    return discard_stale_cache([package / each for each in _KERNELS], folder)
