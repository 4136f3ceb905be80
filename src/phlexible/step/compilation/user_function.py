"""Functions of the user inside compiled loops: double(double) by address.

``user_function`` gives the address of a function: compiled where Numba can compile it, otherwise a
callback into Python, which always works and is slow. Kernels call it (``subnormals.call``). An
address is a plain integer, so that no kernel is compiled again for a new function.
"""

import ctypes
import dis
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function of one number that compiled code can call.

    Attributes:
        address: of double(double), valid as long as this object lives.
        is_compiled: False: each call goes through Python.
        errors: the last exception of a Python function, if any; the compiled code got NaN for it.
    """

    address: int
    is_compiled: bool
    errors: list[BaseException]
    _keeps: Any  # the compiled function or the callback behind the address


def user_function(function: Callable[[float], float], sample: float = 1.0) -> UserFunction:
    """The address of a function of one number.

    What the function reads from around it is frozen where it is compiled. A compiled function whose
    value at ``sample`` is not that of the Python function is not used, and functions that raise errors are not
    compiled: called by address they would return 0 instead.
    """
    from numba import cfunc, types  # here: it takes long to import, and most models have no such functions

    try:
        if _may_raise(function):
            raise TypeError
        compiled = cfunc(types.float64(types.float64), error_model="numpy")(function)
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
    """A module of LLVM in which a function that was compiled is ``double name(double)``, NaN where it fails.

    What calls it in this process, and asks Python after errors, is left out; names do not count what was compiled.
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
    place, error_kind = ("double*", error[0]) if error else ("ptr", "ptr")
    return f"""{text}
define double @{name}(double %x) {{
  %place = alloca double
  store double 0x7FF8000000000000, {place} %place
  %status = call i32 @{name}_of_numba({place} %place, {error_kind} null, double %x)
  %value = load double, {place} %place
  ret double %value
}}
"""


def _may_raise(function: Callable[[float], float]) -> bool:
    """Whether a Python function has a raise or an assert, or calls functions that Numba has compiled."""
    from numba.core.dispatcher import Dispatcher

    around = inspect.getclosurevars(function)
    called = [*around.nonlocals.values(), *around.globals.values()]
    raises = any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(function))
    return raises or any(isinstance(each, Dispatcher) for each in called)
