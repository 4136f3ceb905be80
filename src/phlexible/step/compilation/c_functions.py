"""Functions of C around entry points, for code that runs without Python.

They stand in the same modules as the functions that Python calls (``modules``): where both are compiled for one
processor, their digits are the same.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.numpy_support import as_dtype

POINTER, INTEGER, REAL, STATUS = ir.IntType(8).as_pointer(), ir.IntType(64), ir.DoubleType(), ir.IntType(32)


def declaration(name: str, kinds: Sequence[Any]) -> str:
    """Return the declaration of function ``name`` in C, ``int32_t name(arguments, int64_t *results)``. Its
    arguments have types that follow from ``kinds``, those in Numba; the function returns 0 unless it fails.

    Args:
        name: of the function.
        kinds: types of the arguments in Numba; for an array C passes the address and each length.
    """
    given = ["void *" if kind == POINTER else "double" if kind == REAL else "int64_t" for kind in _in_c(kinds)]
    return f"int32_t {name}({', '.join(given)}, int64_t *);"


def emit_c_function(context: Any, module: Any, name: str, described: Any) -> None:
    """Emit an LLVM function ``name`` with the calling convention of C into a module, which calls one compiled
    entry point. ``described`` is Numba's description of it, ``context`` Numba's target context. Entry points
    are compiled functions that Python calls."""
    kinds = described.argtypes
    function = ir.Function(module, ir.FunctionType(STATUS, [*_in_c(kinds), INTEGER.as_pointer()]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    *values, results = function.args
    arguments = [_call_argument(context, builder, kind, values) for kind in kinds]
    status, value = context.call_conv.call_function(
        builder, context.declare_function(module, described), described.restype, kinds, arguments
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


def _in_c(kinds: Sequence[Any]) -> list[Any]:
    found = list[Any]()
    for kind in kinds:
        if isinstance(kind, types.Array):
            found += [POINTER, *[INTEGER] * kind.ndim]
        else:
            found.append(REAL if kind == types.float64 else INTEGER)
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
    size = INTEGER(as_dtype(kind.dtype).itemsize)
    strides, count = list[Any](), INTEGER(1)
    for length in reversed(lengths):
        strides.insert(0, builder.mul(count, size))
        count = builder.mul(count, length)
    array.data = builder.bitcast(first, array.data.type)
    array.nitems, array.itemsize = count, size
    array.shape, array.strides = cgutils.pack_array(builder, lengths), cgutils.pack_array(builder, strides)
    return array._getvalue()
