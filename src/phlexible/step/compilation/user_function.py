"""Functions of the user inside compiled loops, called by the address of a double(double).

``user_function`` returns the address of a function: compiled if Numba can compile it, otherwise a callback into
Python, which always works and is slow. Kernels call it (``subnormals.user_value``). An address is a plain integer,
so that no kernel is compiled again for a new function.
"""

import ctypes
import dis
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

KEPT = 256
"""Compiled functions that are kept for models that are built again."""

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function of one number that compiled code can call.

    Attributes:
        address: of double(double), valid as long as this object lives.
        is_compiled: False: each call goes through Python.
        errors: the last exception of a Python function, if any; the compiled code received NaN.
    """

    address: int
    is_compiled: bool
    errors: list[BaseException]
    _keeps: Any  # the compiled function or the callback behind the address


def user_function(function: Callable[[float], float], sample: float = 1.0) -> UserFunction:
    """Compile a user's function from float to float, and return an object with the address by which compiled code
    calls it. If compilation fails, or the compiled value at ``sample`` differs from the Python value, the address
    is that of a callback into Python. The callback stores errors of the function and returns NaN. Known functions
    are not compiled again.

    Variables that the function reads from outside are frozen where it is compiled. Functions that raise errors are
    not compiled: called by address they would return 0 instead.
    """
    try:
        known = _cache_key(function)
        compiled = _compiled_by_numba(function) if known is None else _compiled_once(_Known(known, function))
        expected = float(function(sample))
        if np.isclose(compiled.ctypes(sample), expected, rtol=1e-12, atol=0, equal_nan=True):
            return UserFunction(int(compiled.address), True, [], compiled)
    except Exception:  # whatever Numba or its compiler say about code that is not theirs: Python it is
        pass
    errors: list[BaseException] = []

    def guarded(x: float) -> float:
        if errors and isinstance(errors[0], KeyboardInterrupt):  # the compiled code is to come to its end
            return np.nan
        try:
            return float(function(x))
        except BaseException as error:  # must not cross compiled code, where it would be lost
            error.add_note(f"raised in the time step, for the argument {x!r}")
            errors[:] = [error]
            return np.nan

    callback = _CALLBACK(guarded)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None, "a callback has an address"
    return UserFunction(address, False, errors, callback)


def module_text(user: UserFunction, name: str) -> str:
    """Return the LLVM text of a module with a compiled user function as ``double name(double)``, which returns NaN
    where it fails.

    Its callers in this process, and Python's error checks, are left out; names do not count what was compiled.
    """
    wrapper = user._keeps._wrapper_name
    text = str(user._keeps.inspect_llvm())
    text = re.sub(rf'^define [^\n]*@"?{re.escape(wrapper)}"?\(.*?^}}\n', "", text, flags=re.MULTILINE | re.DOTALL)
    text = text.replace(wrapper.removeprefix("cfunc."), f"{name}_of_numba")
    for number, environment in enumerate(dict.fromkeys(re.findall(r"_ZN08NumbaEnv\w+", text))):
        text = re.sub(rf"{environment}\b", f"{name}_environment_{number}", text)
    head = re.search(rf'^define [^\n]*@"?{name}_of_numba"?\((.*)\)[^)]*$', text, flags=re.MULTILINE)
    assert head is not None, "Numba calls it"
    error = re.search(r"\{[^}]*\}\*\*", head[1])
    target, error_kind = ("double*", error[0]) if error else ("ptr", "ptr")
    return f"""{text}
define double @{name}(double %x) {{
  %place = alloca double
  store double 0x7FF8000000000000, {target} %place
  %status = call i32 @{name}_of_numba({target} %place, {error_kind} null, double %x)
  %value = load double, {target} %place
  ret double %value
}}
"""


@dataclass(frozen=True)
class _Known:
    """A function and all that its machine code depends on, which is the key of a cache."""

    parts: tuple[Any, ...]
    function: Callable[[float], float] = field(compare=False)


@lru_cache(maxsize=KEPT)
def _compiled_once(known: _Known) -> Any:
    return _compiled_by_numba(known.function)


def _compiled_by_numba(function: Callable[[float], float]) -> Any:
    """Return a user's function compiled by ``numba.cfunc`` to a C function double(double), which compiled code
    calls by its address. Raise ``TypeError`` if the function contains a raise or an assert, or refers to functions
    that Numba has compiled.

    Raises:
        TypeError: the function may raise errors.
    """
    from numba import cfunc, types  # here: it takes long to import, and most models have no such functions

    if _may_raise(function):
        raise TypeError
    return cfunc(types.float64(types.float64), error_model="numpy")(function)


def _cache_key(function: Callable[[float], float]) -> tuple[Any, ...] | None:
    """Return the code and the outside values of a user's ``function``, on which its machine code depends, as the
    key of a cache. None if it has default arguments or inner functions, or reads anything else than numbers, NumPy
    and ``math``."""
    if not isinstance(function, FunctionType) or function.__defaults__ or function.__kwdefaults__:
        return None
    code = function.__code__
    if any(isinstance(each, CodeType) for each in code.co_consts):  # what that reads is not seen here
        return None
    around = inspect.getclosurevars(function)
    read = {**around.globals, **around.nonlocals}
    parts: list[Any] = [code, frozenset(around.builtins)]
    for name, value in sorted(read.items()):
        if type(value) is float or isinstance(value, np.number):
            parts.append((name, type(value), np.asarray(value).tobytes()))  # -0.0 is not 0.0
        elif type(value) in (int, bool) or value is np or value is math:
            parts.append((name, type(value), value))
        else:
            return None
    return tuple(parts)


def _may_raise(function: Callable[[float], float]) -> bool:
    """Return whether the code of a Python ``function`` contains a raise or an assert, or refers to functions that
    Numba has compiled. Only its own bytecode, and the global and enclosing variables that it uses, are inspected.
    Errors in other functions that it calls, and implicit ones such as a division by zero, are not found."""
    from numba.core.dispatcher import Dispatcher

    around = inspect.getclosurevars(function)
    called = [*around.nonlocals.values(), *around.globals.values()]
    raises = any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(function))
    return raises or any(isinstance(each, Dispatcher) for each in called)
