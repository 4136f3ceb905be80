"""Numbers that a library finds one after the other: sums of products of others, and functions of one or two."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

Term = tuple[float, tuple[int, ...]]
"""A weight and the places of the numbers that are multiplied by it.

A place from 0 on is one of what is measured, then of these numbers; -1 - k is number k of the state.
"""


class TapeOperation(Enum):
    """How a number is found; values as in model.c.

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


@dataclass(frozen=True)
class TapeNumber:
    """One of them.

    Attributes:
        kind: how it is found.
        terms: of a sum.
        constant: of it.
        of: places that another kind takes.
    """

    kind: TapeOperation
    terms: tuple[Term, ...] = ()
    constant: float = 0.0
    of: tuple[int, ...] = ()


FIRST = 2**32
"""Place of the first of them; how much is measured before them is not known yet."""


class NumberTape:
    """Collects the numbers of a library, output after output."""

    def __init__(self) -> None:
        self._begin, self._known = FIRST, dict[TapeNumber, int]()
        self.numbers: list[TapeNumber] = []

    @property
    def next(self) -> int:
        """How many there are."""
        return len(self.numbers)

    def begin_output(self) -> int:
        """Numbers from here on are found when an output is asked for; those before may be those of another time."""
        self._known.clear()
        return self.next

    def sum(self, terms: Iterable[Term], constant: float = 0.0) -> int:
        """Place of a sum of products."""
        return self._place(TapeNumber(TapeOperation.SUM, tuple(terms), constant))

    def of(self, kind: TapeOperation, *places: int) -> int:
        """Place of a function of other numbers."""
        return self._place(TapeNumber(kind, of=places))

    def end_output(self, places: Sequence[int]) -> None:
        """The numbers of an output stand last, in their order."""
        if list(places) != list(range(self._begin + self.next - len(places), self._begin + self.next)):
            self._known.clear()
            for place in places:
                self.numbers.append(TapeNumber(TapeOperation.SUM, ((1.0, (place,)),)))

    def copied(self, places: Sequence[int]) -> int:
        """Place of the first of copies that stand one after the other."""
        first = self._begin + self.next
        for place in places:
            self.numbers.append(TapeNumber(TapeOperation.SUM, ((1.0, (place,)),)))
        return first

    def _place(self, number: TapeNumber) -> int:
        if number not in self._known:
            self._known[number] = self._begin + self.next
            self.numbers.append(number)
        return self._known[number]

    # Vectors: places of their three components.

    def chord(self, parts: Sequence[tuple[float, Sequence[int]]], total: float) -> list[int]:
        """sum of weights times vectors, of differences to the first: far from the origin sums would cancel.

        Args:
            parts: weights and vectors.
            total: of the weights.
        """
        if len(parts) <= 2 and all(abs(weight) == 1.0 for weight, _ in parts):
            return [self.sum((weight, (own[i],)) for weight, own in parts) for i in range(len(parts[0][1]))]
        first, found = parts[0][1], []
        for i in range(len(first)):
            terms: list[Term] = [(total, (first[i],))] if total else []
            for weight, own in parts[1:]:
                terms.append((weight, (self.sum([(1.0, (own[i],)), (-1.0, (first[i],))]),)))
            found.append(self.sum(terms))
        return found

    def dot(self, pairs: Iterable[tuple[float, Sequence[int], Sequence[int], tuple[int, ...]]]) -> list[Term]:
        """Terms of sums of weights times products of two vectors, times other numbers."""
        return [
            (weight, (a, b, *others))
            for weight, first, second, others in pairs
            for a, b in zip(first, second, strict=True)
        ]

    def cross(self, weight: float, first: Sequence[int], second: Sequence[int]) -> list[list[Term]]:
        """Terms of the three components of a product of two vectors."""
        turned = ((1, 2), (2, 0), (0, 1))
        return [[(weight, (first[j], second[k])), (-weight, (first[k], second[j]))] for j, k in turned]
