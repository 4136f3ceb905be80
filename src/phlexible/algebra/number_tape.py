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
    def places(self) -> set[int]:
        """Indices of the earlier tape entries that the operation uses."""
        taken = {place for _, places in self.terms for place in places if place >= FIRST}
        if self.kind in QUATERNION:
            return {self.of[0] + k for k in range(9)}
        return taken | {place for place in self.of if place >= FIRST}

    @property
    def is_known(self) -> bool:
        """Whether none of the entry's constants is NaN, which marks values that are not measured."""
        return not any(map(math.isnan, (self.constant, *(weight for weight, _ in self.terms))))

    def moved(self, places: dict[int, int]) -> "TapeEntry":
        """Return this entry with the indices of tape entries replaced by those in ``places``."""
        terms = tuple((weight, tuple(places.get(k, k) for k in factors)) for weight, factors in self.terms)
        return TapeEntry(self.kind, terms, self.constant, tuple(places.get(k, k) for k in self.of))


class NumberTape:
    """Tape that records arithmetic of NumPy for one or several outputs, so that compiled code can repeat it with
    other numbers.
    """

    def __init__(self) -> None:
        self.entries: list[TapeEntry] = []
        self._open: list[TapeEntry] = []
        self._indices = dict[TapeEntry, int]()

    def number(self, place: int) -> "TapeNumber":
        """Return the number with the given index: a measured value, a number of the state, or a tape entry."""
        return TapeNumber(self, {(place,): 1.0})

    def output(self, values: Sequence[object]) -> tuple[int, int]:
        """Append the entries that the given values need to the tape, those of the values last. Return the range of
        indices, begin and end.
        """
        indices = [self.entry(self.sum_of(value)) for value in values]
        needed = self._needed(indices)
        begin, places = len(self.entries), dict[int, int]()
        for place in sorted(needed):
            places[place] = FIRST + len(self.entries)
            self.entries.append(self._open[place - FIRST].moved(places))
        last = [places[place] for place in indices]
        if last != list(range(FIRST + len(self.entries) - len(indices), FIRST + len(self.entries))):
            self.entries += [TapeEntry(TapeOperation.SUM, ((1.0, (place,)),)) for place in last]
        self._open.clear()
        self._indices.clear()
        return begin, len(self.entries)

    def check(self, values: Sequence[object]) -> None:
        """Raise an error if the given values depend on quantities that are not measured.

        Raises:
            TypeError: a value is a function of time, or of something else that is not measured.
        """
        needed = self._needed([self.entry(self.sum_of(value)) for value in values])
        if not all(self._open[place - FIRST].is_known for place in needed):
            raise TypeError("it needs a function of time, or a force of redundant joints")

    def _needed(self, places: Sequence[int]) -> set[int]:
        """Return the indices of the given recorded entries and of all entries that they use."""
        needed, waiting = set[int](), list(places)
        while waiting:
            place = waiting.pop()
            if place not in needed:
                needed.add(place)
                waiting += self._open[place - FIRST].places
        return needed

    def entry(self, entry: TapeEntry) -> int:
        """Return the index of an operation on the tape; it is recorded if it is new."""
        if entry not in self._indices:
            self._indices[entry] = FIRST + len(self._open)
            self._open.append(entry)
        return self._indices[entry]

    def function(self, kind: TapeOperation, *values: object) -> "TapeNumber":
        """Record an operation on the given numbers and return its result."""
        return self.number(self.entry(TapeEntry(kind, of=tuple(map(self.place, values)))))

    def place(self, value: object) -> int:
        """Return the index of a number; a sum is recorded on the tape first."""
        sum_ = self.sum_of(value)
        if not sum_.constant and len(sum_.terms) == 1 and sum_.terms[0][0] == 1.0 and len(sum_.terms[0][1]) == 1:
            return sum_.terms[0][1][0]
        return self.entry(sum_)

    def row(self, values: Sequence[object]) -> int:
        """Record several numbers as consecutive entries and return the index of the first."""
        entries = [self.sum_of(value) for value in values]
        self._open += entries
        return FIRST + len(self._open) - len(entries)

    def sum_of(self, value: object) -> TapeEntry:
        """Return a number as a tape entry of kind SUM, without recording it."""
        if isinstance(value, TapeNumber):
            terms = tuple((weight, places) for places, weight in value.terms.items())
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

    def function(self, kind: TapeOperation, *arguments: object) -> "TapeNumber":
        """Record an operation on this number and others, and return its result."""
        return self.tape.function(kind, self, *arguments)

    def _scaled(self, factor: float) -> "TapeNumber | float":
        """Return this number times a factor; 0.0 if the factor is zero."""
        if factor == 0.0:
            return 0.0
        terms = {places: factor * weight for places, weight in self.terms.items()}
        return TapeNumber(self.tape, terms, factor * self.constant)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, TapeNumber):
            return TapeNumber(self.tape, self.terms, self.constant + float(other))
        terms = dict(self.terms)
        for places, weight in other.terms.items():
            terms[places] = terms.get(places, 0.0) + weight
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
            factor if factor.is_product else self.tape.number(self.tape.place(factor)) for factor in (self, other)
        )
        ((one, weight),), ((two, factor),) = first.terms.items(), second.terms.items()
        return TapeNumber(self.tape, {tuple(sorted(one + two)): weight * factor})

    __rmul__ = __mul__

    @property
    def is_product(self) -> bool:
        """Whether this number is one weight times a product, without constant and further terms."""
        return len(self.terms) == 1 and not self.constant

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self * (other.function(TapeOperation.INVERSE) if isinstance(other, TapeNumber) else 1.0 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return other * self.function(TapeOperation.INVERSE)

    def __pow__(self, exponent: Any) -> Any:
        if exponent != 2:
            raise TypeError(f"a number is raised to the power {exponent!r}")
        return self * self

    def __abs__(self) -> Any:
        return self.function(TapeOperation.SIDE, self)

    def __bool__(self) -> bool:
        return True  # it may be different from zero

    def __float__(self) -> float:
        raise TypeError("a function of Python needs the value of a number")

    def _compared(self, other: object) -> bool:
        """Raise an error, since numbers on a tape have no values that could be compared."""
        raise TypeError("a function of Python compares numbers")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compared
    __hash__ = object.__hash__

    # Methods that functions of NumPy call.

    def sqrt(self) -> "TapeNumber":
        """Record the square root of this number and return it."""
        return self.function(TapeOperation.ROOT)

    def hypot(self, other: Any) -> "TapeNumber":
        """Record the length of the vector of this number and another, and return it."""
        return (self * self + other * other).sqrt()  # type: ignore[no-any-return]

    def arctan2(self, other: Any) -> Any:
        """Record the angle [rad] whose sine and cosine are proportional to this number and ``other``, and return
        it.
        """
        return 0.5 * self.function(TapeOperation.ANGLE, other)


# Functions that NumPy does not have, of arrays of floats or of tape numbers.

ArrayFunction: TypeAlias = Callable[..., Array]


def _taped(kind: TapeOperation) -> Callable[[ArrayFunction], ArrayFunction]:
    """Return a decorator that records a function of arrays as an operation if its arguments are tape numbers."""

    def decorated(function: ArrayFunction) -> ArrayFunction:
        def one(*values: object) -> object:
            taped = next((value for value in values if isinstance(value, TapeNumber)), None)
            return function(*values) if taped is None else taped.tape.function(kind, *values)

        @wraps(function)
        def evaluated(*arrays: Array) -> Array:
            if any(np.asarray(array).dtype == object for array in arrays):
                return np.asarray(np.frompyfunc(one, len(arrays), 1)(*arrays), dtype=object)
            return function(*arrays)

        return evaluated

    return decorated


@_taped(TapeOperation.SINE)
def sine_quotient(square: Array) -> Array:
    """Return sin t / t for t^2 given as ``square``, of its shape."""
    return np.sinc(np.sqrt(square) / np.pi)


@_taped(TapeOperation.VERSINE)
def versine_quotient(square: Array) -> Array:
    """Return (1 - cos t) / t^2 for t^2 given as ``square``, of its shape."""
    half: Array = np.sinc(np.sqrt(square) / (2 * np.pi))
    return half**2 / 2


@_taped(TapeOperation.REST)
def sine_rest_quotient(square: Array) -> Array:
    """Return (t - sin t) / t^3 for t^2 given as ``square``, of its shape; by a series near zero."""
    size = np.where(square > 1e-4, np.sqrt(square), 1.0)
    return np.where(square > 1e-4, (size - np.sin(size)) / size**3, 1 / 6 - square / 120 + square**2 / 5040)


@_taped(TapeOperation.SIDE)
def with_sign_of(x: Array, y: Array) -> Array:
    """Return x where y is not negative, else -x, for arrays of floats or tape numbers."""
    return np.where(y < 0.0, -x, x)


def exceeds(x: Array, level: float) -> Array:
    """Return 1 where x is greater than ``level``, else 0, for arrays of floats or tape numbers."""
    return np.asarray(0.5 - 0.5 * with_sign_of(1.0, level - x))


def quaternions(matrices: Array) -> Array:
    """Return the unit quaternions, scalar last, of rotation matrices (T, 3, 3) of floats or tape numbers, shape (T,
    4).
    """
    if matrices.dtype == object:
        return np.array([_quaternion(matrix.ravel().tolist()) for matrix in matrices], dtype=object)
    from scipy.spatial.transform import Rotation  # takes long to import

    return np.asarray(Rotation.from_matrix(matrices).as_quat())


def _quaternion(entries: Sequence[object]) -> list[object]:
    """Record the unit quaternion, scalar last, of a rotation matrix given by its nine entries, and return its four
    numbers.
    """
    tape = next(entry.tape for entry in entries if isinstance(entry, TapeNumber))
    first = tape.row(entries)
    return [tape.number(tape.entry(TapeEntry(kind, of=(first,)))) for kind in QUATERNION]
