"""Vectors and matrices as numbers in registers, in LLVM's terms: what the operators of ``notation.py`` are made of.

Rows of matrices share registers of four, so that their products and sums take a third of the instructions.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

REAL = ir.DoubleType()
FLAGS = ("reassoc", "contract")  # sums may be reordered; NaN and infinities keep their meaning
FOUR = ir.VectorType(REAL, 4)
INDEX = ir.IntType(32)


def parts(builder: Any, value: Any, size: int = 3) -> list[Any]:
    """The numbers of a vector or matrix."""
    return [builder.extract_value(value, i) for i in range(size)]


def made(builder: Any, numbers: Sequence[Any]) -> Any:
    """A vector or matrix from its numbers."""
    result = ir.Constant(ir.LiteralStructType([REAL] * len(numbers)), ir.Undefined)
    for i, number in enumerate(numbers):
        result = builder.insert_value(result, number, i)
    return result


def times(builder: Any, a: Any, b: Any) -> Any:
    """a b."""
    return builder.fmul(a, b, flags=FLAGS)


def total(builder: Any, products: Sequence[tuple[Any, Any]]) -> Any:
    """The sum of products a b."""
    found = None
    for a, b in products:
        product = times(builder, a, b)
        found = product if found is None else builder.fadd(found, product, flags=FLAGS)
    return found


def packed(builder: Any, numbers: Sequence[Any]) -> Any:
    """Up to four numbers in one register."""
    register = ir.Constant(FOUR, ir.Undefined)
    for i, number in enumerate(numbers):
        register = builder.insert_element(register, number, ir.Constant(INDEX, i))
    return register


def repeated(builder: Any, number: Any) -> Any:
    """The same number four times."""
    first = ir.Constant(ir.VectorType(INDEX, 4), [0] * 4)
    return builder.shuffle_vector(packed(builder, [number]), ir.Constant(FOUR, ir.Undefined), first)


def rows_of(builder: Any, m: Any) -> list[Any]:
    """Rows of a matrix, each in one register."""
    nine = parts(builder, m, 9)
    return [packed(builder, nine[i : i + 3]) for i in (0, 3, 6)]


def of_rows(builder: Any, rows: Sequence[Any]) -> Any:
    """The matrix with rows in registers."""
    return made(builder, [builder.extract_element(r, ir.Constant(INDEX, i)) for r in rows for i in range(3)])
