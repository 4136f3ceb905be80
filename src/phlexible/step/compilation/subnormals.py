"""Numbers below 2.2e-308 are zero in compiled loops, where processors take a hundred times longer for them.

Vibrations that die out, and first updates of long chains, are full of such numbers; none of them matters beside
round-off. The control register of the processor is put back where the loop ends, and around functions of users.
"""

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from phlexible.step.compilation.notation import CHECKED

_REGISTER = ir.IntType(64)
_MXCSR = ir.IntType(32)
_PLACE = ir.IntType(8).as_pointer()
_PROCESSOR = binding.get_process_triple().split("-")[0]
_IS_X86 = _PROCESSOR in ("x86_64", "amd64")
_IS_ARM = _PROCESSOR in ("aarch64", "arm64")
_FLUSHING = 0x8040 if _IS_X86 else 1 << 24
"""Bits that make subnormal results and arguments zero: FTZ and DAZ of MXCSR, FZ of FPCR."""


def _control(builder: Any) -> Any:
    """The control register of floating point; 0 on processors whose register is not known here."""
    if _IS_X86:
        place = cgutils.alloca_once(builder, _MXCSR)
        store = _function(builder, "llvm.x86.sse.stmxcsr", ir.VoidType(), [_PLACE])
        builder.call(store, [builder.bitcast(place, _PLACE)])
        return builder.zext(builder.load(place), _REGISTER)
    if _IS_ARM:
        return builder.call(_function(builder, "llvm.aarch64.get.fpcr", _REGISTER, []), [])
    return _REGISTER(0)


def _set_control(builder: Any, value: Any) -> None:
    if _IS_X86:
        place = cgutils.alloca_once(builder, _MXCSR)
        builder.store(builder.trunc(value, _MXCSR), place)
        load = _function(builder, "llvm.x86.sse.ldmxcsr", ir.VoidType(), [_PLACE])
        builder.call(load, [builder.bitcast(place, _PLACE)])
    elif _IS_ARM:
        builder.call(_function(builder, "llvm.aarch64.set.fpcr", ir.VoidType(), [_REGISTER]), [value])


def _function(builder: Any, name: str, result: Any, parameters: list[Any]) -> Any:
    known = builder.module.globals.get(name)
    return known or ir.Function(builder.module, ir.FunctionType(result, parameters), name)


@intrinsic
def flush_subnormals(typing: Any) -> Any:
    """From here on subnormal numbers are zero; what the control register was, for ``put_back``.

    Checked kernels, which may leave by an error, do not flush.
    """

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        before = _control(builder)
        if not CHECKED:
            _set_control(builder, builder.or_(before, _REGISTER(_FLUSHING)))
        return before

    return types.int64(), generate


@intrinsic
def put_back(typing: Any, before: Any) -> Any:
    """Set the control register to what it was."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        _set_control(builder, values[0])
        return context.get_dummy_value()

    return types.none(types.int64), generate


def call_outside(builder: Any, function: Any, arguments: list[Any]) -> Any:
    """Call a function of a user, for which subnormal numbers are what they are; what it returns."""
    before = _control(builder)
    _set_control(builder, builder.and_(before, _REGISTER(~_FLUSHING)))
    value = builder.call(function, arguments)
    _set_control(builder, before)
    return value
