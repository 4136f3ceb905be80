"""Compiler of the kernels: exact about NaN, free to reorder sums, one module for each program.

A kernel function declares the types of its arguments and its result, so that nothing is inferred across calls:
``compiled`` makes it a rule that writes the function into the module of whatever entry point calls it, once. LLVM
then sees the whole program a single time, where separately compiled functions would be optimized again at each
level of calls and turned into machine code that is never run.

Families of forces are separate programs, so that a model compiles only what it has: other programs call exported
functions by addresses in the tables (``step/kernels/programs.py``).
"""

import gc
import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, get_args, get_origin

from llvmlite import ir
from llvmlite.binding import Linkage
from numba import njit, typeof, types
from numba.core import cgutils, compiler, typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import signature
from numba.extending import intrinsic

from phlexible.step.compilation import passes
from phlexible.step.compilation.kept_code import SealedCodeCache
from phlexible.step.compilation.lanes import LaneForm, common_kind
from phlexible.step.compilation.notation import (
    FORMS,
    FUNCTION_PLACES,
    SHARED_NUMBER,
    RowsType,
    Tables,
    TablesType,
    Written,
    header_address,
    header_number,
    tables_of_header,
    tuple_form,
)
from phlexible.step.compilation.number_kinds import INDEX, INTEGER, Lanes, NumberKind
from phlexible.step.compilation.objects import CHECKED
from phlexible.step.tables.functions import FAMILIES
from phlexible.step.tables.structures import get_structure

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

_KERNELS = ("step/kernels", "step/compilation", "step/tables")


class _Compiler(compiler.CompilerBase):
    """Numba's pipeline without passes for features that kernels do not have: closures, functions to inline."""

    def define_pipelines(self) -> list[Any]:
        usual = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = compiler.PassManager("kernels")
        own.passes = [each for each in usual.passes if each[0] not in UNUSED_PASSES]
        own.finalize()
        return [own]


def compile_into(
    context: Any, function: Callable[..., Any], parameters: tuple[Any, ...], result: Any, are_separate: bool = False
) -> Any:
    """Compile a Python function with Numba to LLVM code in the library (LLVM module) in progress of
    ``context``. Its arguments and result have the Numba types ``parameters`` and ``result``; arrays do not
    overlap if they ``are_separate``. Returns Numba's description of the compiled function with its types.

    Args:
        context: of Numba, with the library.
        function: to write.
        parameters, result: types of its arguments and its result.
        are_separate: arrays that two arguments point to do not overlap.
    """
    flags = compiler.Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.no_rewrites, flags.noalias = True, are_separate
    flags.fastmath, flags.error_model = FAST, "numpy"
    typing, library = context.typing_context, context.active_code_library
    return _Compiler(typing, context, library, parameters, result, flags, {}).compile_extra(function)


class ProgramOfKernels(JITCodeLibrary):
    """A library of one program, whose functions are visible to no other library.

    Numba distinguishes functions of one name, such as those that ``rows_times`` makes, by a number that each
    process counts from one. So a program from the cache and one that was just compiled can have a name in common,
    and the linker would use the function of the first for both.
    """

    extra_settings: Mapping[str, str] = {}

    def _optimize_final_module(self) -> None:
        with passes.settings(self.extra_settings):
            super()._optimize_final_module()
        for each in self._final_module.functions:
            if each.linkage is Linkage.linkonce_odr:
                each.linkage = "internal"  # not before: LLVM would put all that is called once into its caller


class ProgramInLanes(ProgramOfKernels):
    """A library of a program for several mechanisms at once."""

    extra_settings = passes.TURN_BY_TURN


class ProgramOfStructure(ProgramOfKernels):
    """A library of a program for one structure of few unknowns, without loops and calls, which halves the time."""

    MOST = 24
    """Unknowns: code of more fills the caches, and takes minutes to compile."""
    extra_settings = passes.WRITTEN_OUT


def choose_program_class(library: Any, arguments: Sequence[Any]) -> None:
    """Change the class of a Numba library to that of a program of the time step, when the first kernel
    function is compiled into it. The types of its ``arguments`` decide whether that is general, in SIMD
    lanes, or of one structure. Kernels are compiled functions of the time step."""
    if type(library) is JITCodeLibrary:
        library.__class__ = ProgramOfKernels
    if type(library) is not ProgramOfKernels or not arguments or not isinstance(arguments[0], TablesType):
        return
    tables = arguments[0]
    known = get_structure(tables.structure).counts["unknowns"] if tables.structure else ProgramOfStructure.MOST + 1
    if known <= ProgramOfStructure.MOST:
        library.__class__ = ProgramOfStructure
    elif isinstance(tables.number_kind, Lanes):
        library.__class__ = ProgramInLanes


class Kernel(Written):
    """A function of the kernels, which is written once into each program that calls it.

    Args:
        function: with types of its arguments and its result.
        are_separate: rows that two arguments point to do not overlap, which allows vector instructions.
    """

    def __init__(self, function: Callable[..., Any], are_separate: bool = False) -> None:
        self._function, self._are_separate = function, are_separate
        # by the library of a program, which is kept alive here, and the types of the arguments:
        self._written: dict[tuple[int, tuple[Any, ...]], tuple[Any, Any]] = {}
        super().__init__(function, *self._forms_of(function), self._call)

    def _forms_of(self, function: Callable[..., Any]) -> tuple[LaneForm, tuple[LaneForm, ...]]:
        """Return the forms (type for each kind of numbers) of the result and of the arguments of a kernel function,
        from its annotations. Kernels are compiled functions of the time step."""
        hints = inspect.get_annotations(function, eval_str=True)
        return form_of(hints["return"]), tuple(
            form_of(hints[name]) for name in inspect.signature(function).parameters
        )

    def signature_of(self, arguments: Sequence[Any]) -> Any:
        """Return the Numba signature of this kernel function (compiled, of the time step) for arguments of these
        types; the result has as many SIMD lanes (mechanisms at the same time) as the widest argument.

        A ``float``, and rows of numbers, are as wide as those of the arguments.
        """
        number_kind = common_kind(arguments)
        pairs = zip(self.forms, arguments, strict=True)
        own = (form.at(common_kind([each]) if form is SHARED_NUMBER else number_kind) for form, each in pairs)
        return signature(self.result.at(number_kind), *_passed_types(own, arguments))

    def is_compiled_in(self, library: Any, sig: Any) -> bool:
        """Return whether this kernel function (compiled, of the time step) has been compiled into a library
        (program) for the argument types of the signature ``sig``."""
        return (id(library), sig.args) in self._written

    def compiled_once(self, context: Any, sig: Any) -> Any:
        """Return Numba's description of this kernel function (compiled, of the time step) for the types of
        the signature ``sig``. It is compiled into the library in progress of Numba's ``context`` if it is not
        there yet."""
        library = context.active_code_library
        if not self.is_compiled_in(library, sig):
            choose_program_class(library, sig.args)
            with global_compiler_lock:
                made = compile_into(context, self._function, sig.args, sig.return_type, self._are_separate)
            # LLVM may drop the function from the module once it has put it into its callers:
            library._final_module.get_function(made.fndesc.mangled_name).linkage = "linkonce_odr"
            self._written[id(library), sig.args] = (library, made.fndesc)
        return self._written[id(library), sig.args][1]

    def _call(self, context: Any, builder: Any, sig: Any, values: Any) -> Any:
        return context.call_internal(builder, self.compiled_once(context, sig), sig, values)


class LaneByLane(Kernel):
    """A function of numbers with branches on them, which lanes call one after the other."""

    def _call(self, context: Any, builder: Any, sig: Any, values: Any) -> Any:
        number_kind = common_kind(sig.args)
        if not isinstance(number_kind, Lanes):
            return super()._call(context, builder, sig, values)
        single, members = self.signature_of([form.alone for form in self.forms]), member_types(sig.return_type)
        found = [ir.Constant(context.get_value_type(each), ir.Undefined) for each in members]
        for lane in range(number_kind.count):
            pairs = zip(sig.args, values, strict=True)
            own = [
                builder.extract_element(value, INDEX(lane)) if common_kind([kind]) == number_kind else value
                for kind, value in pairs
            ]
            answer = super()._call(context, builder, single, own)
            for k in range(len(members)):
                number = builder.extract_value(answer, k) if len(members) > 1 else answer
                found[k] = builder.insert_element(found[k], number, INDEX(lane))
        return context.make_tuple(builder, sig.return_type, found) if len(members) > 1 else found[0]


def member_types(kind: Any) -> Sequence[Any]:
    """Return the Numba types of the members of the result type ``kind``: those of a tuple, or the type
    itself."""
    return tuple(kind.types) if isinstance(kind, types.BaseTuple) else (kind,)


class Exported(Kernel):
    """A function of one program that other programs call by its address in the tables.

    Where the tables have no address, as models without the program, it does nothing and returns zero. Lanes share
    every ``float``; a ``Number``, and rows, have a value for each lane.
    """

    def signature_of(self, arguments: Sequence[Any]) -> Any:
        """Return the Numba signature with which other programs call this exported kernel function (compiled, of the
        time step). Its SIMD lanes (mechanisms at the same time) are those of the tables among the arguments."""
        found = self.signature_for(common_kind(arguments[:1]))
        return signature(found.return_type, *_passed_types(found.args, arguments))

    def signature_for(self, number_kind: NumberKind) -> Any:
        """Return the Numba signature of this exported kernel function for numbers of a kind (of one mechanism, of
        several in SIMD lanes, or dual numbers). Kernels are compiled functions of the time step."""
        own = [form.alone if form is SHARED_NUMBER else form.at(number_kind) for form in self.forms]
        return signature(self.result.at(number_kind), *own)

    def _call(self, context: Any, builder: Any, sig: Any, values: Any) -> Any:
        structure = sig.args[0].structure
        is_known = bool(structure) and self.__name__ in get_structure(structure).functions
        if is_known or self.is_compiled_in(context.active_code_library, sig):
            return super()._call(context, builder, sig, values)
        if structure:
            return context.get_constant_null(sig.return_type)
        for given, known in zip(sig.args[1:], self.signature_for(sig.args[0].number_kind).args[1:], strict=True):
            if common_kind([given]) != common_kind([known]):  # the program at that address would read other numbers
                raise TypeError(f"{self.__name__} in another program takes {known}, got {given}")
        address = header_number(builder, values[0], FUNCTION_PLACES[self.__name__])
        result = sig.return_type
        found = cgutils.alloca_once_value(builder, context.get_constant_null(result))
        with builder.if_then(builder.icmp_signed("!=", address, address.type(0))):
            kind = context.call_conv.get_function_type(result, sig.args)
            function = builder.inttoptr(address, kind.as_pointer())
            status, value = context.call_conv.call_function(builder, function, result, sig.args, values)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            builder.store(value, found)
        return builder.load(found)


def _passed_types(kinds: Iterable[Any], arguments: Sequence[Any]) -> Iterator[Any]:
    """Yield the types of the arguments of a call. They are those passed (``arguments``) for tables, and for
    rows of the same kind of entries, with their structure and lanes; those of the signature (``kinds``) for
    all others."""
    for each, kind in zip(kinds, arguments, strict=True):
        is_kept = isinstance(kind, RowsType) and isinstance(each, RowsType) and kind.kind is each.kind
        yield kind if is_kept or isinstance(kind, TablesType) else each


def compiled(function: Callable[..., Any]) -> Any:
    """Decorator that makes an annotated Python function callable from compiled kernels, into whose program it is
    compiled. Kernels are compiled functions of the time step."""
    return Kernel(function)


def compiled_lane_by_lane(function: Callable[..., Any]) -> Any:
    """Decorator for a kernel function (compiled, of the time step) that branches on its numbers: where several
    mechanisms are stepped in SIMD lanes, it is called for one lane after the other."""
    return LaneByLane(function)


def compiled_without_overlap(function: Callable[..., Any]) -> Any:
    """Decorator for a kernel function (compiled, of the time step) whose array arguments do not overlap in memory,
    so that LLVM may use vector instructions."""
    return Kernel(function, are_separate=True)


def exported(function: Callable[..., Any]) -> Any:
    """Decorator for a kernel function (compiled, of the time step) listed in ``FUNCTIONS``, which other programs
    call by an address in the tables; its first argument are the tables."""
    return Exported(function)


def exporting(kernels: Sequence[Exported]) -> Any:
    """Return a function for compiled code that compiles exported kernel functions (``kernels``) into its
    program. It stores their addresses in the header of a model's tables. Kernels are compiled functions of
    the time step."""

    @intrinsic
    def exports(typing: Any, header: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            tables, header_start = tables_of_header(header), header_address(context, builder, header, values[0])
            for kernel in kernels:
                known = kernel.signature_for(tables.number_kind)
                own = signature(known.return_type, tables, *known.args[1:])
                found = context.declare_function(builder.module, kernel.compiled_once(context, own))
                address = builder.gep(header_start, [INTEGER(FUNCTION_PLACES[kernel.__name__])], inbounds=True)
                builder.store(builder.ptrtoint(found, INTEGER), address)
            return context.get_dummy_value()

        return types.none(header), generate

    return exports


class ForFamilies(Written):
    """A function of (tables, h, damping) that calls the exported function of each family for one role.

    Args:
        role: an attribute of ``ForceFamily``.
        kernels: functions by their names.
        further: types of further arguments, as in annotations.
    """

    def __init__(self, role: str, kernels: Mapping[str, Any], *further: Any) -> None:
        self._called = [kernels[name] for family in FAMILIES if (name := getattr(family, role))]
        given = FORMS[Tables], SHARED_NUMBER, SHARED_NUMBER, *(FORMS[each] for each in further)

        def function() -> None:
            """Call the compiled function of each family of forces, one after the other."""

        function.__name__ = f"{role}_of_families"
        super().__init__(function, FORMS[None], given, self._calls)

    def signature_of(self, arguments: Sequence[Any]) -> Any:
        """Return the Numba signature that returns nothing and takes ``arguments`` (Numba types). It is that
        of the compiled function that calls one function for each family of forces of a model."""
        return signature(types.none, *arguments)

    def _calls(self, context: Any, builder: Any, sig: Any, values: Any) -> Any:
        for kernel in self._called:
            count = len(kernel.forms)
            kernel._call(context, builder, kernel.signature_of(sig.args[:count]), values[:count])
        return context.get_dummy_value()


def form_of(hint: Any) -> LaneForm:
    """Return the form (type for each kind of numbers) of a value of a kernel, from its annotation ``hint``.
    Annotations are such as ``float``, ``Vector`` or a tuple of these. Kernels are compiled functions of the
    time step."""
    if get_origin(hint) is not tuple:
        return FORMS[hint]
    return tuple_form([form_of(each) for each in get_args(hint)])


def discard_stale_cache(sources: Iterable[Path], cache: Path) -> bool:
    """Remove compiled code that was made from source files other than ``sources`` from the folder ``cache``,
    and return whether there was any.

    Numba compares the file of the called function only, while the entry points contain the code of whole folders. A
    stamp beside the cached code holds the digest of all of their files.
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


def has_signature(entry: Any, *arguments: Any) -> bool:
    """Return whether an entry point (function that Python calls) has been compiled in this process, or stored in
    its cache. It must be for arguments of the types of these."""
    sig = tuple(typeof(each) for each in arguments)
    if sig in entry.overloads or not isinstance(entry._cache, SealedCodeCache):
        return sig in entry.overloads
    return bool(entry._cache.has(sig, entry.targetdescr.target_context))


def entry_point(function: Any) -> Any:
    """Decorator for a function that Python calls: Numba compiles it once and reads it from its cache in later
    processes.

    Those of the step are called as ``EntryPoint``, which needs no Numba where there is code (``step/programs.py``).
    Other threads of Python run at the same time. It writes to the caller's memory alone: two runs have two
    memories.

    Where neither the package nor a folder of the user can be written it is compiled in each process.
    """
    options = {"fastmath": FAST, "error_model": "numpy", "no_cfunc_wrapper": True, "nogil": True}

    def made(**kept: bool) -> Any:
        dispatcher = njit(**kept, **options)(function)
        dispatcher._compiler.compile = without_garbage_collector(dispatcher._compiler.compile)
        return dispatcher

    if CHECKED:  # another program under the same name: compiled each time
        return made()
    try:
        dispatcher = made(cache=True)
        dispatcher._cache = SealedCodeCache(function)
    except RuntimeError:  # Numba found no folder for its cache
        return made()
    _discard_once(Path(dispatcher.stats.cache_path))
    return dispatcher


def entry_point_for(header: type, name: str, function: Any) -> Any:
    """Return a copy of a function as an entry point whose argument ``header`` has another type, under a name in the
    module of the function. Entry points are compiled functions that Python calls. A header is the array of a
    model's counts and addresses of tables."""
    made = FunctionType(function.__code__, function.__globals__, name)
    made.__qualname__, made.__module__, made.__doc__ = name, function.__globals__["__name__"], function.__doc__
    made.__annotations__ = {**function.__annotations__, "header": header}
    return entry_point(made)


def without_garbage_collector(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same as ``work`` with Python's garbage collection switched off while it runs.

    Compilation makes many objects that live until its end: a collection among them takes 3 to 15 % of its time.
    """

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
    """Remove compiled code of other source files from a cache folder, at most once in a process; return whether
    there was any."""
    package = Path(__file__).parents[2]
    return discard_stale_cache([package / each for each in _KERNELS], folder)
