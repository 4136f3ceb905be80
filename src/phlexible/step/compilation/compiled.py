"""Compiler of the kernels: exact about NaN, free to reorder sums, one module for each program.

A kernel function declares the types of its arguments and its result, so that nothing is inferred across calls:
``compiled`` makes it a rule that writes the function into the module of whatever entry point calls it, once. LLVM
then sees the whole program a single time, where separately compiled functions would be optimized again at each
level of calls and turned into machine code that is never run.

Families of forces are separate programs, so that a model compiles only what it has: other programs call exported
functions by addresses in the tables (``step/kernels/programs.py``).
"""

import gc
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, compiler, typed_passes, untyped_passes
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import signature
from numba.extending import intrinsic

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
from phlexible.step.compilation.number_kinds import INDEX, INTEGER, Dual, LaneForm, Lanes, NumberKind, common_kind
from phlexible.step.tables.functions import FAMILIES
from phlexible.step.tables.memory import get_structure

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
    """Compile a Python function with Numba to LLVM code, in the code library that is in progress in ``context``.
    Arguments and result have the Numba types ``parameters`` and ``result``. Memory of arrays does not overlap if
    they ``are_separate``, which is not checked. Return Numba's description of the compiled function.

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


class Kernel(Written):
    """A function of the kernels, which is written once into each program that calls it.

    Args:
        function: with types of its arguments and its result.
        are_separate: rows that two arguments point to do not overlap, which allows vector instructions.
    """

    def __init__(self, function: Callable[..., Any], are_separate: bool = False, is_inlined: bool = False) -> None:
        self._function, self._are_separate, self._is_inlined = function, are_separate, is_inlined
        # by the library of a program, which is kept alive here, and the types of the arguments:
        self._written: dict[tuple[int, tuple[Any, ...]], tuple[Any, Any]] = {}
        super().__init__(function, *self._forms_of(function), self._call)

    def _forms_of(self, function: Callable[..., Any]) -> tuple[LaneForm, tuple[LaneForm, ...]]:
        """Return the type rules of the result and of the arguments of a kernel (compiled function of the time
        step), from its annotations. A rule (``LaneForm``) gives the Numba type for each kind of numbers: plain
        floats, SIMD lanes, dual numbers. ``function`` is the kernel's Python function."""
        hints = inspect.get_annotations(function, eval_str=True)
        return form_of(hints["return"]), tuple(
            form_of(hints[name]) for name in inspect.signature(function).parameters
        )

    def signature_of(self, arguments: Sequence[Any]) -> Any:
        """Return the Numba signature of this kernel (compiled function of the time step) for arguments of these
        Numba types. The result has the kind of numbers that the arguments have in common: plain floats, SIMD lanes
        or dual numbers.
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
            with global_compiler_lock:
                made = compile_into(context, self._function, sig.args, sig.return_type, self._are_separate)
            # LLVM may drop the function from the module once it has put it into its callers:
            written = library._final_module.get_function(made.fndesc.mangled_name)
            written.linkage = "linkonce_odr"
            if self._is_inlined:
                written.add_function_attribute("alwaysinline")
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
        """Return the Numba signature with which other programs call this exported kernel (compiled function of the
        time step). Its kind of numbers (plain floats, SIMD lanes or dual numbers) is that of the model's arrays,
        the first of the ``arguments``."""
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
    """Yield the types with which the arguments of a call are passed. Tables, and rows with the expected kind of
    entries, have the types of the ``arguments`` (with their structure and lanes). All other arguments are
    converted to the types of the signature, ``kinds``."""
    for each, kind in zip(kinds, arguments, strict=True):
        is_kept = isinstance(kind, RowsType) and isinstance(each, RowsType) and kind.kind is each.kind
        yield kind if is_kept or isinstance(kind, TablesType) else each


def compiled(function: Callable[..., Any]) -> Any:
    """Decorator that makes an annotated Python function callable from compiled kernels, into whose program it is
    compiled. Kernels are compiled functions of the time step."""
    return Kernel(function)


def compiled_inline(function: Callable[..., Any]) -> Any:
    """Decorator for a kernel function (compiled, of the time step) that LLVM inlines into all its callers. It is
    for functions so short that a call would take as long as their work."""
    return Kernel(function, is_inlined=True)


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


def exporting(kernels: Sequence[Exported], of_equations: Sequence[Exported]) -> Any:
    """Return a function for compiled code that stores the addresses of ``kernels``, compiled functions of the time
    step, in the header of a model's arrays. The kernels are compiled into the program that calls it. For headers
    of dual numbers only the kernels ``of_equations`` are."""

    @intrinsic
    def exports(typing: Any, header: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
            tables, header_start = tables_of_header(header), header_address(context, builder, header, values[0])
            for kernel in of_equations if isinstance(tables.number_kind, Dual) else kernels:
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
            """Do nothing in Python. In compiled code the function of this name calls one compiled function of each
            family of forces."""

        function.__name__ = f"{role}_of_families"
        super().__init__(function, FORMS[None], given, self._calls)

    def signature_of(self, arguments: Sequence[Any]) -> Any:
        """Return the Numba signature of this function of compiled code, which takes ``arguments`` (Numba types)
        and returns nothing. The function calls one compiled function for each family of forces of a model."""
        return signature(types.none, *arguments)

    def _calls(self, context: Any, builder: Any, sig: Any, values: Any) -> Any:
        for kernel in self._called:
            count = len(kernel.forms)
            kernel._call(context, builder, kernel.signature_of(sig.args[:count]), values[:count])
        return context.get_dummy_value()


def form_of(hint: Any) -> LaneForm:
    """Return the form of a value of a kernel (compiled function of the time step) from its annotation ``hint``.
    Annotations are ``float``, ``Vector`` and others, or a tuple of these. A form gives the Numba type of the value
    for each kind of numbers: plain floats, SIMD lanes, dual numbers."""
    if get_origin(hint) is not tuple:
        return FORMS[hint]
    return tuple_form([form_of(each) for each in get_args(hint)])


def entry_point(function: Any) -> Any:
    """Return Numba's dispatcher of a ``function`` that Python calls, to be used as a decorator. The dispatcher
    compiles the function at its first call in each process; compiled code runs while other threads of Python run.

    Entry points of the step are called as ``EntryPoint``, which stores their machine code (``step/programs.py``).
    They write to the caller's memory alone: two runs have two memories.
    """
    dispatcher = njit(fastmath=FAST, error_model="numpy", no_cfunc_wrapper=True, nogil=True)(function)
    dispatcher._compiler.compile = without_garbage_collector(dispatcher._compiler.compile)
    return dispatcher


def without_garbage_collector(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls ``work`` with the same arguments and result while Python's garbage collection
    is switched off. The former setting is restored afterwards.

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
