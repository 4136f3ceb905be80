"""Entry points as modules of LLVM, and as machine code for a processor that need not be this one.

A module holds one entry point with all that it calls, and a Python function around it: ``PyCFunction`` with
METH_FASTCALL, of which nothing depends on the version of Python or of NumPy. So an entry point is compiled once,
where Numba is installed, and called wherever the machine code is (``objects.py``). A C function
is added for code that runs without Python: where both are compiled for one processor, their digits are the same.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args, get_origin

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import as_dtype, from_dtype

from phlexible.step.compilation import passes
from phlexible.step.compilation.compiled import compile_into, without_garbage_collector
from phlexible.step.compilation.notation import tables_of_header
from phlexible.step.compilation.number_kinds import Lanes
from phlexible.step.compilation.objects import (
    ARRAY_TYPE,
    CONTIGUOUS,
    DATA,
    DIMENSIONS,
    ENTRY,
    FLAGS,
    KIND,
    KIND_NUMBER,
    LENGTHS,
    TYPE,
    TYPE_ERROR,
    CodeTarget,
    c_name,
)
from phlexible.step.tables.memory import get_structure
from phlexible.step.tables.requests import ArrayHint, dtype_of

_BYTE, _INT, _LONG, _REAL = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_POINTER = _BYTE.as_pointer()
LIBRARY = {"exp", "exp2", "log", "log2", "log10", "pow", "sin", "cos", "memcpy", "memmove", "memset"}
"""Intrinsics of LLVM that are calls of functions of the system where they are not written out."""


@dataclass(frozen=True)
class _Argument:
    """An argument of an entry point, as a type of Numba.

    Attributes:
        type: of Numba.
        any_shape: whether an array may have any number of axes; the entry point reads it as one row of numbers.
    """

    type: Any
    any_shape: bool = False


def _argument(hint: Any) -> _Argument:
    if hint is int or hint is float:
        return _Argument(types.intp if hint is int else types.float64)
    if isinstance(hint, type) and issubclass(hint, ArrayHint):
        return _Argument(types.Array(from_dtype(np.dtype(hint.entry)), hint.axes or 1, "C"), hint.axes is None)
    (request,) = get_args(hint)  # of ``RequestRecord``
    return _Argument(types.Array(from_dtype(dtype_of(request)), 1, "C"))


def _arguments(function: Callable[..., Any], header: np.dtype[Any] | None = None) -> list[_Argument]:
    """Return descriptions of the arguments of a compiled entry point, in order, from the type annotations of its
    Python ``function``. If ``header`` is given, an argument called "header" is an array of one axis with this
    entry type."""
    hints = inspect.get_annotations(function, eval_str=True)
    if header is not None:
        hints["header"] = type("Header", (ArrayHint,), {"entry": header, "axes": 1})
    return [_argument(hints[name]) for name in inspect.signature(function).parameters]


class WrittenLibrary(CPUCodeLibrary):
    """A library that collects modules as text; their target machine is chosen later."""

    processor = ""

    def create_ir_module(self, name: str) -> Any:
        """Return a new empty LLVM module ``name`` for the processor that this library is made for."""
        module = super().create_ir_module(name)
        module.triple = self.processor
        return module

    def linked_text(self) -> str:
        """Return the LLVM text of all modules of this library linked into one, with Numba's functions for operators
        such as powers."""
        for library in dict.fromkeys(self._linking_libraries):
            module = library._get_module_for_linking().clone()
            module.triple = self._final_module.triple
            self._final_module.link_in(module)
        return str(self._final_module)


MOST_WRITTEN_OUT = 24
"""Unknowns of one structure up to which its program is written out, without loops and calls, which halves the time:
code of more fills the caches, and takes minutes to compile."""


def settings_for(header: np.dtype[Any] | None) -> Mapping[str, str]:
    """Return the settings of LLVM (inlining, loop unrolling) for a program, by the entry type ``header`` of its
    header array. Programs for SIMD lanes, and programs for one small model structure alone, have their own
    settings. For all others, and for None, the result is empty."""
    if header is None:
        return passes.NOTHING
    tables = tables_of_header(types.Array(from_dtype(header), 1, "C"))
    if tables.structure and get_structure(tables.structure).counts["unknowns"] <= MOST_WRITTEN_OUT:
        return passes.WRITTEN_OUT
    return passes.TURN_BY_TURN if isinstance(tables.number_kind, Lanes) else passes.NOTHING


@without_garbage_collector
def module_text(function: Callable[..., Any], triple: str, header: np.dtype[Any] | None = None) -> str:
    """Return the unoptimized LLVM text of an entry point, a compiled ``function`` that Python calls, for the types
    of its annotations. The text contains all functions that it calls, and wrappers by which Python and C call it.
    ``triple``, LLVM's name of processor and system, is its target. If ``header`` is given, it is the entry type of
    the argument of this name.

    Args:
        function: whose arguments and result have types (``step/tables/requests.py``).
        triple: processor and system.
        header: type of the entries of headers of tables, which says their kind of numbers; None: that of floats.
    """
    context = cpu_target.target_context
    arguments, result = _arguments(function, header), inspect.get_annotations(function, eval_str=True)["return"]
    library = WrittenLibrary(context.codegen(), function.__name__)
    library.processor = library._final_module.triple = triple
    with global_compiler_lock, context.push_code_library(library):
        made = compile_into(context, function, tuple(each.type for each in arguments), result_type(result))
        library.add_ir_module(_python_function(context, library, function.__name__, made, arguments))
        module = library.create_ir_module(c_name(function.__name__))
        emit_c_function(context, module, c_name(function.__name__), made.fndesc)
        library.add_ir_module(module)
        definition = rf"^define .*@{re.escape(made.fndesc.mangled_name)}\(.*\)"
        return re.sub(definition, r"\g<0> noinline", library.linked_text(), count=1, flags=re.MULTILINE)


def bitcode(text: str) -> bytes:
    """Return LLVM text converted to LLVM bitcode."""
    found: bytes = binding.parse_assembly(text).as_bitcode()
    return found


def c_declaration(function: Callable[..., Any]) -> str:
    """Return the declaration in C of the C function around an entry point of the compiled time step (a
    compiled function that Python calls too)."""
    return declaration(c_name(function.__name__), [each.type for each in _arguments(function)])


def result_type(hint: Any) -> Any:
    """Return the Numba type of the result of an entry point, from its annotation ``hint`` (None, int, bool or
    a tuple of integers). Entry points are compiled functions that Python calls."""
    if get_origin(hint) is tuple:
        return types.UniTuple(types.intp, len(get_args(hint)))
    return {None: types.none, int: types.intp, bool: types.boolean}[hint]


def _python_function(context: Any, library: Any, name: str, made: Any, arguments: list[_Argument]) -> Any:
    """Emit and return the LLVM module with the function by which Python calls the compiled entry point ``name``.
    Its signature is ``PyObject* (PyObject* self, PyObject** arguments, ssize_t count)``. ``made`` is Numba's
    description of the entry point, a compiled function that Python calls; ``context`` is Numba's target context
    and ``library`` the code library.

    Other threads of Python run at the same time. Arguments that do not fit raise a TypeError.
    """
    module = library.create_ir_module(ENTRY)
    entry = ir.Function(module, ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _LONG]), ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    python = _Python(builder)

    def refuse_unless(fits: Any, text: str) -> None:
        with builder.if_then(builder.not_(fits), likely=False):
            python.call("PyErr_SetString", None, python.place(TYPE_ERROR), python.text(text))
            builder.ret(_POINTER(None))

    count = builder.icmp_signed("==", entry.args[2], _LONG(len(arguments)))
    refuse_unless(count, f"{name} takes {len(arguments)} arguments")
    values = []
    for k, argument in enumerate(arguments):
        given = builder.load(builder.gep(entry.args[1], [_LONG(k)]))
        if isinstance(argument.type, types.Array):
            check = partial(refuse_unless, text=f"argument {k + 1} of {name} must be {_array_text(argument)}")
            values.append(_read_array(context, builder, python, given, argument, check))
            continue
        is_real = argument.type == types.float64
        take = "PyFloat_AsDouble" if is_real else "PyLong_AsLongLong"
        values.append(python.call(take, _REAL if is_real else _LONG, given))
        with builder.if_then(cgutils.is_not_null(builder, python.call("PyErr_Occurred", _POINTER)), likely=False):
            builder.ret(_POINTER(None))
    thread = python.call("PyEval_SaveThread", _POINTER)
    kinds, result = [each.type for each in arguments], made.signature.return_type
    function = context.declare_function(module, made.fndesc)
    status, found = context.call_conv.call_function(builder, function, result, kinds, values)
    python.call("PyEval_RestoreThread", None, thread)
    refuse_unless(status.is_ok, f"{name} ended with an error")
    builder.ret(_python_result(builder, python, result, found))
    return module


class _Python:
    """Writer of calls to functions of Python's stable interface, by name."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def call(self, name: str, result: Any, *values: Any, variable: bool = False) -> Any:
        """Emit an LLVM call of a function of Python's C interface by its name, with the arguments ``values``.
        If ``variable`` their number after the first is not fixed; ``result`` is the type of the result (None:
        nothing); returns the LLVM value of its result.

        Args:
            name: of the function.
            result: type of its result, None: nothing.
            values: arguments.
            variable: whether the number of its arguments after the first is variable.
        """
        kinds = [value.type for value in (values[:1] if variable else values)]
        kind = ir.FunctionType(ir.VoidType() if result is None else result, kinds, var_arg=variable)
        return self._builder.call(cgutils.get_or_insert_function(self._builder.module, kind, name), values)

    def text(self, text: str) -> Any:
        """Add a constant text to the LLVM module, with a zero byte at its end, and return the LLVM value of its
        address."""
        letters = cgutils.make_bytearray(text.encode() + b"\0")
        return self._builder.bitcast(cgutils.global_constant(self._builder.module, "text", letters), _POINTER)

    def place(self, name: str) -> Any:
        """Return the LLVM value of the address of the object ``name`` outside of the module, such as a Python
        type."""
        known = self._builder.module.globals.get(name)
        return known or ir.GlobalVariable(self._builder.module, _BYTE, name)


def _read_array(context: Any, builder: Any, python: _Python, passed: Any, argument: _Argument, check: Any) -> Any:
    """Emit LLVM code that checks a Python object ``passed`` and returns its memory as Numba's array struct,
    without a reference count. It must be a contiguous NumPy array with the entry type and number of axes of
    ``argument``. If ``argument`` permits any shape, the struct has one axis over all entries. ``check`` emits the
    error of a failed test. ``python`` has Python's C interface, ``context`` is Numba's target context, ``builder``
    llvmlite's ``IRBuilder``."""

    def field(object_: Any, offset: int, kind: Any) -> Any:
        return builder.load(builder.bitcast(builder.gep(object_, [_LONG(offset)]), kind.as_pointer()))

    check(builder.icmp_unsigned("==", field(passed, TYPE, _POINTER), python.place(ARRAY_TYPE)))
    kind, dtype = argument.type, as_dtype(argument.type.dtype)
    axes, flags = field(passed, DIMENSIONS, _INT), field(passed, FLAGS, _INT)
    description = field(passed, KIND, _POINTER)
    number, needed = field(description, KIND_NUMBER, _INT), _INT(CONTIGUOUS)
    fits = builder.icmp_signed("==", builder.and_(flags, needed), needed)
    fits = builder.and_(fits, builder.icmp_signed("==", number, _entry_type_number(builder.module.triple, dtype)))
    if not argument.any_shape:
        fits = builder.and_(fits, builder.icmp_signed("==", axes, _INT(kind.ndim)))
    check(fits)
    lengths = field(passed, LENGTHS, _LONG.as_pointer())
    if argument.any_shape:
        total = cgutils.alloca_once_value(builder, _LONG(1))
        with cgutils.for_range(builder, builder.sext(axes, _LONG)) as loop:
            length = builder.load(builder.gep(lengths, [loop.index]))
            builder.store(builder.mul(builder.load(total), length), total)
        shape = [builder.load(total)]
    else:
        shape = [builder.load(builder.gep(lengths, [_LONG(i)])) for i in range(kind.ndim)]
    strides = [_LONG(dtype.itemsize)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = make_array(kind)(context, builder)
    data = builder.bitcast(field(passed, DATA, _POINTER), array.data.type)
    populate_array(array, data, shape, strides, _LONG(dtype.itemsize), None)
    return array._getvalue()


def _entry_type_number(triple: str, dtype: np.dtype[Any]) -> Any:
    """Return, as an LLVM constant, the number by which NumPy's C interface identifies the entry type ``dtype``.
    For 64-bit integers it differs on Windows, which ``triple`` (LLVM's name of processor and system) tells."""
    if dtype == np.int64:
        return _INT(9 if "windows" in triple else 7)
    return _INT(dtype.num)


def _array_text(argument: _Argument) -> str:
    """Return a text that describes the array which an entry point (compiled function that Python calls) expects as
    an argument, for error messages."""
    dtype, axes = as_dtype(argument.type.dtype), "" if argument.any_shape else f" with {argument.type.ndim} axes"
    return f"a contiguous array of {'records' if dtype.fields else dtype}{axes}"


def _python_result(builder: Any, python: _Python, result: Any, value: Any) -> Any:
    """Emit LLVM code that converts ``value``, the result of a compiled entry point (compiled function that
    Python calls) to a Python object; returns the LLVM value of its address. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code. ``python`` writes calls of Python's C interface."""
    components = cgutils.unpack_tuple(builder, value) if isinstance(result, types.BaseTuple) else [value]
    format_ = "" if result == types.none else "L" * len(components)
    if len(components) > 1:
        format_ = f"({format_})"
    if result == types.boolean:
        components = [python.call("PyBool_FromLong", _POINTER, builder.zext(value, _LONG))]
        format_ = "N"
    values = components if format_ else []
    return python.call("Py_BuildValue", _POINTER, python.text(format_), *values, variable=True)


# Functions of C around entry points, for code that runs without Python.


def declaration(name: str, kinds: Sequence[Any]) -> str:
    """Return the declaration of function ``name`` in C, ``int32_t name(arguments, int64_t *results)``. The types
    of its arguments follow from ``kinds``, their Numba types; arrays become an address and lengths. The function
    returns 0 unless it fails.

    Args:
        name: of the function.
        kinds: types of the arguments in Numba; for an array C passes the address and each length.
    """
    given = ["void *" if kind == _POINTER else "double" if kind == _REAL else "int64_t" for kind in _in_c(kinds)]
    return f"int32_t {name}({', '.join(given)}, int64_t *);"


def emit_c_function(context: Any, module: Any, name: str, described: Any) -> None:
    """Emit an LLVM function ``name`` with the calling convention of C that calls a compiled entry point, into
    ``module``. It returns 0, or -1 after an error, and writes results as 64-bit values to the address in its last
    argument. An array is passed as an address and its lengths. ``described`` is Numba's description of the entry
    point, ``context`` Numba's target context."""
    kinds = described.argtypes
    function = ir.Function(module, ir.FunctionType(_INT, [*_in_c(kinds), _LONG.as_pointer()]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    *values, results = function.args
    arguments = [_call_argument(context, builder, kind, values) for kind in kinds]
    status, value = context.call_conv.call_function(
        builder, context.declare_function(module, described), described.restype, kinds, arguments
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(_INT(-1))
    kind = described.restype
    if isinstance(kind, types.BaseTuple):
        found = [builder.extract_value(value, k) for k in range(len(kind))]
    else:
        found = [value] if kind is not types.none else []
    for k, each in enumerate(found):
        number = builder.zext(each, _LONG) if each.type.width < _LONG.width else each
        builder.store(number, builder.gep(results, [_LONG(k)]))
    builder.ret(_INT(0))


def _in_c(kinds: Sequence[Any]) -> list[Any]:
    found = list[Any]()
    for kind in kinds:
        if isinstance(kind, types.Array):
            found += [_POINTER, *[_LONG] * kind.ndim]
        else:
            found.append(_REAL if kind == types.float64 else _LONG)
    return found


def _call_argument(context: Any, builder: Any, kind: Any, values: list[Any]) -> Any:
    """Return the LLVM value of one argument of a call, of Numba's type ``kind``: a number, or an array built
    from address and lengths. The parameters that it consists of are removed from ``values``. ``context`` is
    Numba's target context, ``builder`` llvmlite's ``IRBuilder``, which writes the code."""
    first = values.pop(0)
    if not isinstance(kind, types.Array):
        return first
    return emit_array(context, builder, kind, first, *[values.pop(0) for _ in range(kind.ndim)])


def emit_array(context: Any, builder: Any, kind: Any, first: Any, *lengths: Any) -> Any:
    """Emit LLVM code that builds a contiguous array of Numba's type ``kind`` from its address ``first`` and
    its ``lengths``; returns the LLVM value of the array. ``context`` is Numba's target context, ``builder``
    llvmlite's ``IRBuilder``, which writes the code."""
    array = cgutils.create_struct_proxy(kind)(context, builder)
    size = _LONG(as_dtype(kind.dtype).itemsize)
    strides, count = list[Any](), _LONG(1)
    for length in reversed(lengths):
        strides.insert(0, builder.mul(count, size))
        count = builder.mul(count, length)
    array.data = builder.bitcast(first, array.data.type)
    array.nitems, array.itemsize = count, size
    array.shape, array.strides = cgutils.pack_array(builder, lengths), cgutils.pack_array(builder, strides)
    return array._getvalue()


def machine_code(text: str, target: CodeTarget, settings: Mapping[str, str]) -> tuple[bytes, list[str]]:
    """Return the optimized machine code of an LLVM module ``text``, and the sorted names of the outside functions
    that it calls. All functions but the wrapper that Python calls become private, and unused ones are removed. The
    code is for the processor ``target``. ``settings`` are global settings of LLVM, as ``settings_for`` returns
    them."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = target.machine(passes.level())
    module = binding.parse_assembly(text)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    passes.optimize(module, machine, values=settings)
    passes.make_private(module, {ENTRY})
    passes.remove_unused(module, machine)
    module.verify()
    outside = [each.name for each in (*module.functions, *module.global_variables) if each.is_declaration]
    names = (name.split(".")[1] if name.startswith("llvm.") else name for name in outside)  # llvm.exp.f64 is exp
    inside = {name.split(".")[1] for name in outside if name.startswith("llvm.")} - LIBRARY
    return machine.emit_object(module), sorted({*names} - inside)
