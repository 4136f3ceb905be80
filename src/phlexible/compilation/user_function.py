"""Functions of the user inside compiled loops: double(double) by address.

``user_function`` gives the address of a function: compiled where Numba can compile it, otherwise a
callback into Python, which always works and is slow. ``call`` calls an address from compiled code. An
address is a plain integer, so that no kernel is compiled again for a new function.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


@intrinsic
def call(typingctx, address, x):
    """The value at x of the double(double) function at an integer address."""
    if not isinstance(address, types.Integer):
        return None

    def generate(context, builder, signature, arguments):
        number = ir.DoubleType()
        pointer = builder.inttoptr(arguments[0], ir.FunctionType(number, [number]).as_pointer())
        return builder.call(pointer, [context.cast(builder, arguments[1], signature.args[1], types.float64)])

    return types.float64(address, types.float64), generate


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function of one number that compiled code can call.

    Attributes:
        address: of double(double), valid as long as this object lives.
        is_compiled: False: each call goes through Python.
        errors: exceptions of a Python function; the compiled code got NaN for them.
    """

    address: int
    is_compiled: bool
    errors: list[Exception]
    _keeps: Any  # the compiled function or the callback behind the address


def user_function(function: Callable[[float], float], sample: float = 1.0) -> UserFunction:
    """The address of a function of one number.

    What the function reads from around it is frozen where it is compiled. A compiled function whose
    value at ``sample`` is not that of the Python function is not used.
    """
    try:
        compiled = cfunc(types.float64(types.float64), error_model="numpy")(function)
        expected = float(function(sample))
        if np.isclose(compiled.ctypes(sample), expected, rtol=1e-12, atol=0, equal_nan=True):
            return UserFunction(int(compiled.address), True, [], compiled)
    except Exception:  # whatever Numba or its compiler say about code that is not theirs: Python it is
        pass
    errors: list[Exception] = []

    def guarded(x: float) -> float:
        try:
            return float(function(x))
        except Exception as error:  # must not cross compiled code
            errors.append(error)
            return np.nan

    callback = _CALLBACK(guarded)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None, "a callback has an address"
    return UserFunction(address, False, errors, callback)
