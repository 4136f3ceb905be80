"""Flushing of subnormal numbers, below 2.2e-308, to zero in compiled loops, where they are a hundred times slower.

Vibrations that die out, and first updates of long chains, are full of such numbers; all of them are far below
round-off. The control register of the processor is restored where the loop ends, and around functions of users.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from phlexible.step.compilation.objects import CHECKED

_REGISTER = ir.IntType(64)
_MXCSR = ir.IntType(32)
_PLACE = ir.IntType(8).as_pointer()
_X86, _ARM = ("x86_64", "amd64"), ("aarch64", "arm64")


def _processor(builder: Any) -> str:
    """Return the name of the processor that the LLVM module is compiled for, which need not be this machine.
    ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    return str(builder.module.triple.split("-")[0])


def _flush_bits(builder: Any) -> Any:
    """Return the bits of the processor's floating-point control register that flush subnormal numbers to
    zero, as an LLVM constant. They are FTZ and DAZ of MXCSR, or FZ of FPCR. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    return _REGISTER(0x8040 if _processor(builder) in _X86 else 1 << 24)


def _control_register(builder: Any) -> Any:
    """Emit LLVM code that reads the processor's floating-point control register; returns the LLVM value, 0 on
    processors whose register is not known. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    if _processor(builder) in _X86:
        address = cgutils.alloca_once(builder, _MXCSR)
        store = _function(builder, "llvm.x86.sse.stmxcsr", ir.VoidType(), [_PLACE])
        builder.call(store, [builder.bitcast(address, _PLACE)])
        return builder.zext(builder.load(address), _REGISTER)
    if _processor(builder) in _ARM:
        return builder.call(_function(builder, "llvm.aarch64.get.fpcr", _REGISTER, []), [])
    return _REGISTER(0)


def _set_control(builder: Any, value: Any) -> None:
    if _processor(builder) in _X86:
        address = cgutils.alloca_once(builder, _MXCSR)
        builder.store(builder.trunc(value, _MXCSR), address)
        load = _function(builder, "llvm.x86.sse.ldmxcsr", ir.VoidType(), [_PLACE])
        builder.call(load, [builder.bitcast(address, _PLACE)])
    elif _processor(builder) in _ARM:
        builder.call(_function(builder, "llvm.aarch64.set.fpcr", ir.VoidType(), [_REGISTER]), [value])


def _function(builder: Any, name: str, result: Any, parameters: list[Any]) -> Any:
    known = builder.module.globals.get(name)
    return known or ir.Function(builder.module, ir.FunctionType(result, parameters), name)


@intrinsic
def flush_subnormals(typing: Any) -> Any:
    """Make the processor treat subnormal numbers (magnitude below 2.2e-308) as zero, and return the former value of
    its control register as int64. ``restore_control`` sets this value again. Kernels that are compiled with index
    checks get the value too, but the register stays unchanged. This is a Numba intrinsic: compiled code calls it
    without arguments, and ``typing`` is Numba's typing context.

    Checked kernels, which may leave by an error, do not flush.
    """

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        before = _control_register(builder)
        if not CHECKED:
            _set_control(builder, builder.or_(before, _flush_bits(builder)))
        return before

    return types.int64(), generate


@intrinsic
def restore_control(typing: Any, before: Any) -> Any:
    """Set the processor's floating-point control register to the value ``before`` that ``flush_subnormals``
    returned. It is a Numba intrinsic for compiled code. ``typing`` is Numba's typing context."""

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        _set_control(builder, values[0])
        return context.get_dummy_value()

    return types.none(types.int64), generate


@intrinsic
def user_value(typing: Any, address: Any, x: Any) -> Any:
    """Call a user's function double(double) by its ``address`` in compiled code, and return its value at x.
    Subnormal numbers are permitted in it. It is a Numba intrinsic; ``typing`` is Numba's typing context."""
    if not isinstance(address, types.Integer):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = ir.DoubleType()
        pointer = builder.inttoptr(arguments[0], ir.FunctionType(number, [number]).as_pointer())
        value = context.cast(builder, arguments[1], signature.args[1], types.float64)
        before = _control_register(builder)
        _set_control(builder, builder.and_(before, builder.not_(_flush_bits(builder))))
        found = builder.call(pointer, [value])
        _set_control(builder, before)
        return found

    return types.float64(address, types.float64), generate
