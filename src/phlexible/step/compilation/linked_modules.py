"""Entry points that Numba has compiled, as modules of LLVM behind functions of C: code that runs without Python.

They come from the same functions as the objects that Python calls (``objects``): where both are compiled for one
processor, their digits are the same.
"""

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numpy import dtype

from phlexible.step.compilation.compiled import without_collection, written_into
from phlexible.step.compilation.modules import WrittenLibrary, result_type

POINTER, INTEGER, STATUS = ir.IntType(8).as_pointer(), ir.IntType(64), ir.IntType(32)
PREFIX = "ph_k_"
"""Of the names of entry points in C."""


@dataclass(frozen=True)
class Argument:
    """What an entry point takes: an array, of which C gives the address and each length; or a whole number.

    Attributes:
        entries: of an array: "int64", "float64", or a dtype with fields; None: a whole number.
        axes: of an array.
    """

    entries: Any = None
    axes: int = 1

    @property
    def type(self) -> Any:
        """As Numba has it."""
        return types.intp if self.entries is None else types.Array(from_dtype(dtype(self.entries)), self.axes, "C")

    @property
    def in_c(self) -> str:
        """Types of its parameters in C."""
        return "int64_t" if self.entries is None else ", ".join(["void *"] + ["int64_t"] * self.axes)


@dataclass(frozen=True)
class Entry:
    """An entry point, in C ``int32_t ph_k_name(arguments, int64_t *results)``, which is 0 unless it fails.

    Attributes:
        function: as ``entry_point`` made it.
        arguments: of it.
    """

    function: Any
    arguments: tuple[Argument, ...]

    @property
    def name(self) -> str:
        """In C."""
        return PREFIX + str(self.function.py_func.__name__)

    @property
    def declaration(self) -> str:
        """In C."""
        return f"int32_t {self.name}({', '.join(each.in_c for each in self.arguments)}, int64_t *);"


@dataclass(frozen=True)
class Modules:
    """What machine code is made of (``machine_code``).

    Attributes:
        border: text of the module with the functions that C calls.
        kept: their names.
        parts: bitcode of each other module, and the name of the one function in it that is called.
        triple: of the machine that Numba compiled them for.
    """

    border: str
    kept: tuple[str, ...]
    parts: tuple[tuple[bytes, str], ...]
    triple: str


def linked(entries: Iterable[Entry]) -> Modules:
    """The modules of entry points; those that nobody has called yet are compiled."""
    context = cpu_target.target_context
    empty = context.codegen()._create_empty_module("border")
    border, kept, parts = empty, list[str](), list[tuple[bytes, str]]()
    for entry in entries:
        kinds = tuple(argument.type for argument in entry.arguments)
        entry.function.compile(kinds)
        made = entry.function.overloads[kinds]
        _write(context, border, entry, made.fndesc)
        kept.append(entry.name)
        parts.append((made.library._get_module_for_linking().as_bitcode(), made.fndesc.mangled_name))
    return Modules(cgutils.normalize_ir_text(str(border)), tuple(kept), tuple(parts), border.triple)


@without_collection
def written(entry: Entry) -> str:
    """An entry point behind its function of C with all that it calls: text of LLVM that nothing has optimized."""
    context, function = cpu_target.target_context, entry.function.py_func
    kinds = tuple(argument.type for argument in entry.arguments)
    result = result_type(inspect.get_annotations(function, eval_str=True)["return"])
    library = WrittenLibrary(context.codegen(), entry.name)
    library.processor = library._final_module.triple
    with global_compiler_lock, context.push_code_library(library):
        made = written_into(context, function, kinds, result)
        module = library.create_ir_module(entry.name)
        _write(context, module, entry, made.fndesc)
        library.add_ir_module(module)
        return library.written()


def _write(context: Any, module: Any, entry: Entry, described: Any) -> None:
    """The function of C around one entry point."""
    given = [kind for argument in entry.arguments for kind in _c_types(argument)]
    function = ir.Function(module, ir.FunctionType(STATUS, [*given, INTEGER.as_pointer()]), entry.name)
    builder = ir.IRBuilder(function.append_basic_block())
    *values, results = function.args
    arguments = [_argument(context, builder, each, values) for each in entry.arguments]
    status, value = context.call_conv.call_function(
        builder, context.declare_function(module, described), described.restype, described.argtypes, arguments
    )
    with builder.if_then(status.is_error, likely=False):
        builder.ret(STATUS(-1))
    kind = described.restype
    if isinstance(kind, types.BaseTuple):
        found = [builder.extract_value(value, k) for k in range(len(kind))]
    else:
        found = [value] if kind is not types.none else []
    for k, each in enumerate(found):
        number = builder.zext(each, INTEGER) if each.type.width < INTEGER.width else each
        builder.store(number, builder.gep(results, [INTEGER(k)]))
    builder.ret(STATUS(0))


def _c_types(argument: Argument) -> list[Any]:
    return [INTEGER] if argument.entries is None else [POINTER, *[INTEGER] * argument.axes]


def _argument(context: Any, builder: Any, argument: Argument, values: list[Any]) -> Any:
    """An array as Numba has it, or the number; takes its values from the first ones."""
    first = values.pop(0)
    if argument.entries is None:
        return first
    array = cgutils.create_struct_proxy(argument.type)(context, builder)
    lengths = [values.pop(0) for _ in range(argument.axes)]
    size = INTEGER(dtype(argument.entries).itemsize)
    strides, count = list[Any](), INTEGER(1)
    for length in reversed(lengths):
        strides.insert(0, builder.mul(count, size))
        count = builder.mul(count, length)
    array.data = builder.bitcast(first, array.data.type)
    array.nitems, array.itemsize = count, size
    array.shape, array.strides = cgutils.pack_array(builder, lengths), cgutils.pack_array(builder, strides)
    return array._getvalue()
