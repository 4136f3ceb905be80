"""Tape of NumPy arithmetic: sums of products and functions of earlier numbers.

A formula in NumPy is evaluated with arrays of ``TapeNumber`` (dtype object), which record its operations on a tape;
compiled code evaluates the tape for other numbers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any, TypeAlias

import numpy as np

from phlexible.algebra.arrays import Array

Term = tuple[float, tuple[int, ...]]
"""A weight and the indices of the numbers that are multiplied by it.

An index from 0 on is that of a measured number, from ``FIRST`` on that of a tape entry; -1 - k is number k of the
state.
"""

FIRST = 2**32
"""Index of the first entry of the tape; the number of measured values before it is not known in advance."""


class TapeOperation(Enum):
    """Operation of one entry of a tape of arithmetic, numbered as in the exported C program (model.c).

    SUM: constant + sum of weights times products. ROOT: square root. INVERSE: 1 / x. SINE, VERSINE, REST:
    sin t / t, (1 - cos t) / t^2, (t - sin t) / t^3 of t^2. ANGLE: 2 atan2(x, y). SIDE: x with the sign of y.
    QUATERNION_X to _W: of the matrix whose nine entries begin at a place.
    """

    SUM = 0
    ROOT = 1
    INVERSE = 2
    SINE = 3
    VERSINE = 4
    REST = 5
    ANGLE = 6
    SIDE = 7
    QUATERNION_X = 8
    QUATERNION_Y = 9
    QUATERNION_Z = 10
    QUATERNION_W = 11


QUATERNION = tuple(TapeOperation(TapeOperation.QUATERNION_X.value + k) for k in range(4))


@dataclass(frozen=True)
class TapeEntry:
    """One entry of a tape of arithmetic: an operation on earlier numbers that results in one number.

    Attributes:
        kind: operation.
        terms: of a sum.
        constant: of a sum.
        of: indices of the arguments of another operation.
    """

    kind: TapeOperation
    terms: tuple[Term, ...] = ()
    constant: float = 0.0
    of: tuple[int, ...] = ()

    @property
    def arguments(self) -> set[int]:
        """Return the set of the indices of the numbers that are arguments of this entry's operation: earlier
        entries of the tape (record of arithmetic), measured values, numbers of the state. A quaternion component
        has all nine entries of the rotation matrix as arguments."""
        if self.kind in QUATERNION:
            return {self.of[0] + k for k in range(9)}
        return {*self.of, *(index for _, indices in self.terms for index in indices)}

    @property
    def is_computable(self) -> bool:
        """Return whether no constant and no weight of this entry of the tape (record of arithmetic) is NaN. NaN
        marks values that compiled code does not have, such as functions of time."""
        return not any(map(math.isnan, (self.constant, *(weight for weight, _ in self.terms))))

    def reindexed(self, indices: dict[int, int]) -> "TapeEntry":
        """Return a copy of this entry of the tape (record of arithmetic) whose arguments have other indices: the
        keys of ``indices`` are replaced by their values, other indices stay."""
        terms = tuple((weight, tuple(indices.get(k, k) for k in factors)) for weight, factors in self.terms)
        return TapeEntry(self.kind, terms, self.constant, tuple(indices.get(k, k) for k in self.of))


class NumberTape:
    """Tape that records arithmetic of NumPy for one or several outputs, so that compiled code can repeat it with
    other numbers.
    """

    def __init__(self) -> None:
        self.entries: list[TapeEntry] = []
        self._open: list[TapeEntry] = []
        self._indices = dict[TapeEntry, int]()

    def number(self, index: int) -> "TapeNumber":
        """Return a ``TapeNumber``, whose arithmetic is recorded on this tape, for the number with the index
        ``index``: a measured value, a number of the state (negative index), or an earlier entry of the tape."""
        return TapeNumber(self, {(index,): 1.0})

    def output(self, values: Sequence[object]) -> tuple[int, int]:
        """Append the recorded operations that compute the given ``values`` to this tape's entries and return their
        range (first index, last + 1). The values are its last entries, in their order. Recorded operations that
        the values do not need are dropped, and indices are adapted. Then the record since the last output is
        cleared."""
        indices = [self.entry(self.as_sum(value)) for value in values]
        needed = self._required_entries(indices)
        begin, offsets = len(self.entries), dict[int, int]()
        for index in sorted(needed):
            offsets[index] = FIRST + len(self.entries)
            self.entries.append(self._open[index - FIRST].reindexed(offsets))
        last = [offsets[index] for index in indices]
        if last != list(range(FIRST + len(self.entries) - len(indices), FIRST + len(self.entries))):
            self.entries += [TapeEntry(TapeOperation.SUM, ((1.0, (index,)),)) for index in last]
        self._open.clear()
        self._indices.clear()
        return begin, len(self.entries)

    def check(self, values: Sequence[object]) -> None:
        """Raise ``TypeError`` if one of the given values, traced through the operations recorded on this tape, has
        no value in compiled code. Such values depend, for example, on a function of time.

        Raises:
            TypeError: a value is a function of time, or of something else that is not measured.
        """
        needed = self._required_entries([self.entry(self.as_sum(value)) for value in values])
        if not all(self._open[index - FIRST].is_computable for index in needed):
            raise TypeError("it needs a function of time, or a force of redundant joints")

    def _required_entries(self, indices: Sequence[int]) -> set[int]:
        """Return the set of indices of the entries ``indices`` of this tape (record of arithmetic), and of all
        earlier entries from which these are computed."""
        needed, waiting = set[int](), list(indices)
        while waiting:
            index = waiting.pop()
            if index not in needed:
                needed.add(index)
                waiting += [each for each in self._open[index - FIRST].arguments if each >= FIRST]
        return needed

    def entry(self, entry: TapeEntry) -> int:
        """Return the index of an operation (``entry``) on this tape (record of arithmetic). An operation that
        is already recorded is used again, a new one is appended."""
        if entry not in self._indices:
            self._indices[entry] = FIRST + len(self._open)
            self._open.append(entry)
        return self._indices[entry]

    def record(self, kind: TapeOperation, *values: object) -> "TapeNumber":
        """Record the operation ``kind``, such as a square root or a sine, with the numbers ``values`` as
        arguments on this tape; return its result as a ``TapeNumber``."""
        return self.number(self.entry(TapeEntry(kind, of=tuple(map(self.index, values)))))

    def index(self, value: object) -> int:
        """Return the index of an entry with a given ``value`` on this tape (record of arithmetic). If the value is
        exactly one recorded entry, its index is returned. Any other sum, product or constant is recorded as a new
        entry, unless an equal one exists."""
        sum_ = self.as_sum(value)
        if not sum_.constant and len(sum_.terms) == 1 and sum_.terms[0][0] == 1.0 and len(sum_.terms[0][1]) == 1:
            return sum_.terms[0][1][0]
        return self.entry(sum_)

    def append_row(self, values: Sequence[object]) -> int:
        """Append several numbers (``values``) to this tape (record of arithmetic) as consecutive entries, and
        return the index of the first of them. Operations of many arguments read them by that index."""
        entries = [self.as_sum(value) for value in values]
        self._open += entries
        return FIRST + len(self._open) - len(entries)

    def as_sum(self, value: object) -> TapeEntry:
        """Convert a number (``value``) to an entry of the kind SUM: a constant plus weights times products of
        earlier entries. An ordinary number becomes the constant. The entry is returned, not appended to this tape
        (record of arithmetic)."""
        if isinstance(value, TapeNumber):
            terms = tuple((weight, indices) for indices, weight in value.terms.items())
            return TapeEntry(TapeOperation.SUM, terms, value.constant)
        return TapeEntry(TapeOperation.SUM, constant=float(value))  # type: ignore[arg-type]  # numbers of NumPy


class TapeNumber:
    """Number that records the arithmetic done with it on a tape: a constant plus a sum of weights times products of
    other numbers. It is an entry of NumPy arrays.

    Comparisons raise errors, since values are not known when the tape is written.

    Args:
        tape: on which operations are recorded.
        terms: weights by the indices of the factors.
        constant: added to them.
    """

    __slots__ = ("constant", "tape", "terms")

    def __init__(self, tape: NumberTape, terms: dict[tuple[int, ...], float], constant: float = 0.0) -> None:
        self.tape, self.terms, self.constant = tape, terms, constant

    def record(self, kind: TapeOperation, *arguments: object) -> "TapeNumber":
        """Record the operation ``kind`` with this number as first argument, and ``arguments`` as others, on its
        tape (record of arithmetic). Return the result as a new ``TapeNumber``."""
        return self.tape.record(kind, self, *arguments)

    def _scaled(self, factor: float) -> "TapeNumber | float":
        """Return this tape number times a known ``factor``. A tape number stands for a value not yet known and
        records the arithmetic done with it. The result is a new tape number, or 0.0 if the factor is zero; nothing
        is appended to the tape."""
        if factor == 0.0:
            return 0.0
        terms = {indices: factor * weight for indices, weight in self.terms.items()}
        return TapeNumber(self.tape, terms, factor * self.constant)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, TapeNumber):
            return TapeNumber(self.tape, self.terms, self.constant + float(other))
        terms = dict(self.terms)
        for indices, weight in other.terms.items():
            terms[indices] = terms.get(indices, 0.0) + weight
        return TapeNumber(self.tape, terms, self.constant + other.constant)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self._scaled(-1.0)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, TapeNumber):
            return self._scaled(float(other))
        first, second = (
            factor if factor.is_product else self.tape.number(self.tape.index(factor)) for factor in (self, other)
        )
        ((one, weight),), ((two, factor),) = first.terms.items(), second.terms.items()
        return TapeNumber(self.tape, {tuple(sorted(one + two)): weight * factor})

    __rmul__ = __mul__

    @property
    def is_product(self) -> bool:
        """Return whether this tape number (which records the arithmetic done with it) is one weight times a
        product of recorded numbers: one term and no constant."""
        return len(self.terms) == 1 and not self.constant

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self * (other.record(TapeOperation.INVERSE) if isinstance(other, TapeNumber) else 1.0 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return other * self.record(TapeOperation.INVERSE)

    def __pow__(self, exponent: Any) -> Any:
        if exponent != 2:
            raise TypeError(f"a number is raised to the power {exponent!r}")
        return self * self

    def __abs__(self) -> Any:
        return self.record(TapeOperation.SIDE, self)

    def __bool__(self) -> bool:
        return True  # it may be different from zero

    def __float__(self) -> float:
        raise TypeError("a function of Python needs the value of a number")

    def _compared(self, other: object) -> bool:
        """Raise ``TypeError`` in place of any comparison with ``other``, because a tape number (which records the
        arithmetic done with it) has no value yet. All comparison operators of the class call this."""
        raise TypeError("a function of Python compares numbers")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__

    # Methods that functions of NumPy call.

    def sqrt(self) -> "TapeNumber":
        """Return the square root of this tape number as a new tape number, and record the operation. ``np.sqrt``
        calls this for arrays of objects."""
        return self.record(TapeOperation.ROOT)

    def hypot(self, other: Any) -> "TapeNumber":
        """Return sqrt(x^2 + y^2) of this tape number x and another number y (``other``) as a new tape number,
        and record the operations. ``np.hypot`` calls this for arrays of objects."""
        return (self * self + other * other).sqrt()  # type: ignore[no-any-return]

    def arctan2(self, other: Any) -> Any:
        """Return the angle [rad] atan2(y, x) of this tape number y and another number x (``other``) as a new
        tape number, and record the operation. ``np.arctan2`` calls this for arrays of objects."""
        return 0.5 * self.record(TapeOperation.ANGLE, other)


# Functions that NumPy does not have, of arrays of floats or of tape numbers.

ArrayFunction: TypeAlias = Callable[..., Array]


def _taped(kind: TapeOperation) -> Callable[[ArrayFunction], ArrayFunction]:
    """Return a decorator for functions of arrays. Where an argument is a ``TapeNumber`` the decorated function
    records the operation ``kind`` on its tape instead of computing values; for floats it is the function itself."""

    def decorated(function: ArrayFunction) -> ArrayFunction:
        def one(*values: object) -> object:
            taped = next((value for value in values if isinstance(value, TapeNumber)), None)
            return function(*values) if taped is None else taped.tape.record(kind, *values)

        @wraps(function)
        def evaluated(*arrays: Array) -> Array:
            if any(np.asarray(array).dtype == object for array in arrays):
                return np.asarray(np.frompyfunc(one, len(arrays), 1)(*arrays), dtype=object)
            return function(*arrays)

        return evaluated

    return decorated


@_taped(TapeOperation.SINE)
def sine_quotient(square: Array) -> Array:
    """Return sin(t) / t, elementwise and 1 at t = 0, for arrays of t^2 passed as ``square``. These may be floats or
    tape numbers, which record the operation."""
    return np.sinc(np.sqrt(square) / np.pi)


@_taped(TapeOperation.VERSINE)
def versine_quotient(square: Array) -> Array:
    """Return (1 - cos t) / t^2, elementwise and 1/2 at t = 0, for arrays of t^2 passed as ``square``. These may be
    floats or tape numbers, which record the operation."""
    half: Array = np.sinc(np.sqrt(square) / (2 * np.pi))
    return half**2 / 2


@_taped(TapeOperation.REST)
def sine_rest_quotient(square: Array) -> Array:
    """Return (t - sin t) / t^3, elementwise and 1/6 at t = 0, for arrays of t^2 passed as ``square``. Near zero it
    is a series. These may be floats or tape numbers, which record the operation."""
    size = np.where(square > 1e-4, np.sqrt(square), 1.0)
    return np.where(square > 1e-4, (size - np.sin(size)) / size**3, 1 / 6 - square / 120 + square**2 / 5040)


@_taped(TapeOperation.SIDE)
def with_sign_of(x: Array, y: Array) -> Array:
    """Return, elementwise, x where y >= 0 and -x where y < 0, for arrays of floats or of tape numbers (which record
    their arithmetic)."""
    return np.where(y < 0.0, -x, x)


def exceeds(x: Array, level: float) -> Array:
    """Return, elementwise, 1.0 where x > ``level`` and 0.0 elsewhere, for arrays of floats or of tape numbers;
    these record their arithmetic and cannot be compared."""
    return np.asarray(0.5 - 0.5 * with_sign_of(1.0, level - x))


def quaternions(matrices: Array) -> Array:
    """Return the unit quaternions, scalar last, of rotation matrices (T, 3, 3) of floats or tape numbers, shape (T,
    4).
    """
    if matrices.dtype == object:
        return np.array([_quaternion(matrix.ravel().tolist()) for matrix in matrices], dtype=object)
    from scipy.spatial.transform import Rotation  # takes long to import

    return np.asarray(Rotation.from_matrix(matrices).as_quat())


def continuous_quaternions(matrices: Array) -> Array:
    """Return the unit quaternions, scalar last, of rotation matrices (T, ..., 3, 3) at T instants, shape (T, ...,
    4). The sign of each is chosen so that its product with the quaternion one instant before is not negative.
    Matrices are floats, or tape numbers (recorded arithmetic) of one instant."""
    found = quaternions(matrices.reshape(-1, 3, 3)).reshape(*matrices.shape[:-2], 4)
    jumps = np.where((found[1:] * found[:-1]).sum(axis=-1).astype(np.float64) < 0, -1.0, 1.0)
    found[1:] *= np.cumprod(jumps, axis=0)[..., None]
    return found


def _quaternion(entries: Sequence[object]) -> list[object]:
    """Return the unit quaternion (x, y, z, w), as four tape numbers, of a rotation matrix given by its nine entries
    row by row; record the operations on their tape."""
    tape = next(entry.tape for entry in entries if isinstance(entry, TapeNumber))
    first = tape.append_row(entries)
    return [tape.number(tape.entry(TapeEntry(kind, of=(first,)))) for kind in QUATERNION]
