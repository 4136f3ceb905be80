"""Inverses of blocks of three and six rows, those of sections and rigid bodies: sizes that LLVM knows.

Solving with the factors of such a block, one number after the other, takes longer than a product with its inverse.
"""

from typing import Any

from phlexible.compilation.compiled import compiled, compiled_apart
from phlexible.compilation.dense import copy, fill, product, subtract_rows
from phlexible.compilation.notation import Integers, Reals

SIX = 6


def inversion_of(n: int) -> Any:
    """The function that inverts a block of n rows, ``stride`` apart, in place; False where it is singular."""

    @compiled_apart
    def subtract(x: float, top: Reals, own: Reals) -> None:
        for j in range(n):
            own[j] -= x * top[j]

    @compiled_apart
    def swap(a: Reals, b: Reals) -> None:
        for j in range(n):
            a[j], b[j] = b[j], a[j]

    @compiled
    def invert(a: Reals, stride: int, pivots: Integers) -> bool:
        for k in range(n):
            largest, pivot, top = 0.0, k, a + k * stride
            for i in range(k, n):
                value = abs(a[i * stride + k])
                if value > largest:
                    largest, pivot = value, i
            if not 0.0 < largest < 1e300:
                return False
            pivots[k] = pivot
            if pivot != k:
                swap(top, a + pivot * stride)
            inverse = 1.0 / top[k]
            top[k] = 1.0
            for j in range(n):
                top[j] *= inverse
            for i in range(n):
                if i != k:
                    own = a + i * stride
                    x = own[k]
                    own[k] = 0.0
                    subtract(x, top, own)
        for k in range(n - 1, -1, -1):
            if pivots[k] != k:
                for i in range(n):
                    own = a + i * stride
                    own[k], own[pivots[k]] = own[pivots[k]], own[k]
        return True

    return invert


invert_three, invert_six = inversion_of(3), inversion_of(SIX)


@compiled
def invert(a: Reals, n: int, stride: int, pivots: Integers) -> bool:
    """Invert the (n, n) block a, whose rows begin ``stride`` apart, in place; False where it is singular."""
    is_regular: bool = invert_three(a, stride, pivots) if n == 3 else invert_six(a, stride, pivots)
    return is_regular


@compiled
def multiply(a: Reals, n: int, stride: int, b: Reals, columns: int, copied: Reals) -> None:
    """b = a b for the (n, columns) block b, in place; ``copied``: room for 36 numbers."""
    if columns > SIX:
        for begin in range(0, columns, SIX):
            _multiply_part(a, n, stride, b + begin, columns, min(SIX, columns - begin), copied)
        return
    for j in range(n * columns):
        copied[j] = -b[j]
    fill(b, n * columns, 0.0)
    for i in range(n):
        subtract_rows(a + i * stride, n, copied, columns, b + i * columns, columns)


@compiled
def _multiply_part(a: Reals, n: int, stride: int, b: Reals, columns: int, width: int, copied: Reals) -> None:
    """``multiply`` for some of the columns."""
    for i in range(n):
        for j in range(width):
            copied[i * SIX + j] = -b[i * columns + j]
    for i in range(n):
        fill(b + i * columns, width, 0.0)
        subtract_rows(a + i * stride, n, copied, SIX, b + i * columns, width)


@compiled
def multiply_vector(a: Reals, n: int, stride: int, b: Reals, copied: Reals) -> None:
    """b = a b for one right-hand side."""
    copy(b, copied, n)
    if n == SIX:
        for i in range(SIX):
            b[i] = _six(a + i * stride, copied)
    else:
        for i in range(n):
            b[i] = product(a + i * stride, copied, n)


@compiled
def _six(a: Reals, x: Reals) -> float:
    total: float = a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + a[3] * x[3] + a[4] * x[4] + a[5] * x[5]
    return total
