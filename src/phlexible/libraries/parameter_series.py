"""Numbers as functions of parameters: sums of products of simple functions, found from samples and checked.

Most numbers of tables are a power of each parameter; others are sums of Chebyshev polynomials, as many as it takes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray
from scipy import fft

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.errors import ParameterError

Sample = Callable[[Sequence[float]], Array]

ITSELF, LOGARITHM, POWER = range(3)
"""What polynomials are of; POWER and above: no polynomials but one of the powers."""
POWERS = (1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0, 0.5, 1.5, -0.5, -1.5)
LADDER = (
    *((ITSELF, 6), (LOGARITHM, 12), (ITSELF, 12), (LOGARITHM, 24), (ITSELF, 24), (LOGARITHM, 48)),
    (ITSELF, 48),
)
"""Series that are tried one after the other: of what, degree."""
SMALL_RUNGS = 3  # what is next to zero has its series by then, or is round-off
SAME = 1e-14  # of a number over its power
RESOLVED, PASSABLE, ROUGH = 1e-13, 1e-10, 1e-2
"""Last terms of a series, of its size: so small that it is long enough; that it may stay; of scales."""
NOTHING = -1
DROPPED = 1e-15  # of the size of a series: terms of round-off
BY_CHANCE = 1e-13  # of the largest number of a table: what is zero but for round-off
MISSED = 1e-9  # of its size: what a series may miss
MOST_SAMPLES = 1500
GOLDEN = 0.6180339887498949
CHECKS = 4


@dataclass(frozen=True)
class Range:
    """A parameter.

    Attributes:
        name: as the build function has it.
        low, usual, high: values; low < high.
    """

    name: str
    low: float
    usual: float
    high: float

    def value(self, x: float, of: int = ITSELF) -> float:
        """At x in -1 .. 1 of it, or of its logarithm."""
        if abs(x) >= 1.0:
            return self.high if x > 0 else self.low
        if of == LOGARITHM:
            return float(np.exp(0.5 * (np.log(self.low) + np.log(self.high) + x * np.log(self.high / self.low))))
        return 0.5 * (self.low + self.high) + 0.5 * x * (self.high - self.low)

    def functions(self, value: float, of: int, degree: int) -> Array:
        """Polynomials up to a degree, or 1 and a power, at a value."""
        if of >= POWER:
            return np.array([1.0, (value / self.high) ** POWERS[of - POWER]])
        low, high = self.low, self.high
        if of == LOGARITHM:
            low, high, value = np.log(low), np.log(high), np.log(value)
        x = ((value - low) - (high - value)) / (high - low)
        return np.asarray(chebyshev.chebvander(x, degree), dtype=np.float64).ravel()


@dataclass(frozen=True, eq=False)
class SampledNumbers:
    """What the numbers are that are sampled.

    Attributes:
        names: of tables, in words.
        table: of each number.
        is_scale: numbers that others are compared with, of which a rough value does.
    """

    names: Sequence[str]
    table: IntArray
    is_scale: BoolArray

    def largest(self, values: Array) -> Array:
        """Of the table of each number."""
        found = np.zeros(len(self.names))
        np.maximum.at(found, self.table, np.abs(values))
        return found[self.table]


@dataclass(frozen=True, eq=False)
class Series:
    """Numbers that parameters change.

    Attributes:
        ranges: of the parameters.
        variables: (parameter, ITSELF, LOGARITHM or a power), with the degree of its polynomials; 1 of a power.
        terms: products of these functions, (variable, degree) each.
        places: of the numbers.
        entries: of each number its terms and their weights.
        error: the largest that was seen, of a number's size.
    """

    ranges: tuple[Range, ...]
    variables: Mapping[tuple[int, int], int]
    terms: tuple[tuple[tuple[tuple[int, int], int], ...], ...]
    places: IntArray
    entries: tuple[tuple[IntArray, Array], ...]
    error: float = 0.0

    def values(self, parameters: Sequence[float]) -> Array:
        """The numbers, as the library finds them, shape (places,)."""
        functions = {
            (k, of): self.ranges[k].functions(parameters[k], of, degree)
            for (k, of), degree in self.variables.items()
        }
        products = np.array([prod(float(functions[key][j]) for key, j in term) for term in self.terms])
        return np.array([weights @ products[terms] for terms, weights in self.entries])


class SeriesFit:
    """Finds series.

    Args:
        ranges: of parameters.
        sample: their values -> numbers, always as many.
        numbers: what they are.

    Raises:
        ParameterError: numbers that are no smooth function of a parameter, by its name; too many samples.
    """

    def __init__(self, ranges: Sequence[Range], sample: Sample, numbers: SampledNumbers) -> None:
        self._ranges, self._take, self._numbers = tuple(ranges), sample, numbers
        self._samples: dict[tuple[float, ...], Array] = {}
        self._usual = self._at([each.usual for each in ranges])
        self._largest = numbers.largest(self._usual)
        self._middle = [each.value(0.6 * (k + 1) * GOLDEN % 0.6 - 0.3) for k, each in enumerate(ranges)]
        self._is_chance = np.zeros(len(self._usual), dtype=bool)

    def found(self) -> Series:
        """All numbers that change."""
        count = len(self._ranges)
        degrees = np.zeros((count, len(self._usual)), dtype=np.int64)
        variables_of = np.zeros_like(degrees)
        for k in range(count):
            degrees[k], variables_of[k] = self._cut(k)
        kinds = np.where(degrees > 0, variables_of, NOTHING)
        terms: dict[tuple[tuple[tuple[int, int], int], ...], int] = {}
        variables: dict[tuple[int, int], int] = {}
        places, entries = list[int](), list[tuple[IntArray, Array]]()
        for kind in np.unique(kinds, axis=1).T:
            if (kind == NOTHING).all():
                continue
            own = np.flatnonzero((kinds == kind[:, None]).all(axis=0))
            keys = [(k, int(kind[k])) for k in np.flatnonzero(kind != NOTHING).tolist()]
            coefficients = self._on_grid(keys, [int(degrees[k, own].max()) for k, _ in keys], own)
            for place, row in zip(own.tolist(), coefficients, strict=True):
                kept = np.argwhere(row)
                numbers = list[int]()
                for index in kept.tolist():
                    each = [(key, 1 if key[1] >= POWER else j) for key, j in zip(keys, index, strict=True)]
                    term = tuple((key, j) for key, j in each if j)
                    for key, j in term:
                        variables[key] = max(variables.get(key, 0), j)
                    numbers.append(terms.setdefault(term, len(terms)))
                places.append(place)
                entries.append((np.array(numbers, dtype=np.int64), row[tuple(kept.T)]))
        found = Series(self._ranges, variables, tuple(terms), np.array(places, dtype=np.int64), tuple(entries))
        return replace(found, error=self._checked(found))

    def _at(self, values: Sequence[float]) -> Array:
        key = tuple(values)
        if key not in self._samples:
            self._samples[key] = self._take(values)
        return self._samples[key]

    def _cut(self, number: int) -> tuple[IntArray, IntArray]:
        """Degrees of all numbers in one parameter, others as they are in the middle, and of what: it, or a power.

        Raises:
            ParameterError: numbers that are no smooth function of it.
        """
        own, size = self._ranges[number], len(self._usual)
        degrees, kinds = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        left: IntArray = np.arange(size)
        missed = np.zeros(0)
        for rung, (of, degree) in enumerate(LADDER):
            if of == LOGARITHM and own.low <= 0.0:
                continue
            at = np.array([own.value(x, of) for x in _points(degree)])
            values = self._along(number, at)[:, left]
            if degree == LADDER[0][1] and own.low > 0.0:
                powers = _powers(values, at / own.high)
                degrees[left[powers > 0]], kinds[left[powers > 0]] = 1, powers[powers > 0]
                left, values = left[powers == 0], values[:, powers == 0]
            series = np.abs(_series(values))
            scale = np.abs(values).max(axis=0)
            spread, last = np.ptp(values, axis=0), series[-2:].max(axis=0)
            is_rough = self._numbers.is_scale[left]
            missed = last / np.maximum(scale, np.finfo(float).tiny)
            is_done = (spread == 0.0) | (missed <= np.where(is_rough, ROUGH, RESOLVED))
            small = spread <= BY_CHANCE * np.maximum(self._largest[left], scale)
            is_chance = small & ~is_done & ((last > 0.2 * series[1:].max(axis=0)) | (rung >= SMALL_RUNGS))
            self._is_chance[left[is_chance]] = True
            kept = series > np.maximum(np.where(is_rough, 0.1 * ROUGH, DROPPED) * scale, 2.0 * last)
            highest = np.where(kept, np.arange(degree + 1)[:, None], 0).max(axis=0)
            degrees[left[is_done]], kinds[left[is_done]] = highest[is_done], of
            is_open = ~(is_done | is_chance)
            left, missed = left[is_open], missed[is_open]
            if not len(left):
                return degrees, kinds
        if missed.max() > PASSABLE:
            self._refuse(own.name, int(left[missed.argmax()]), float(missed.max()))
        degrees[left] = LADDER[-1][1]
        return degrees, kinds

    def _along(self, number: int, at: Array) -> Array:
        """Samples at values of a parameter, (values, numbers)."""
        middle = self._middle
        return np.array([self._at([*middle[:number], x, *middle[number + 1 :]]) for x in at.tolist()])

    def _on_grid(self, keys: Sequence[tuple[int, int]], degrees: Sequence[int], own: IntArray) -> Array:
        """Coefficients of numbers in some parameters, (numbers, degree + 1 of each; 1 of a power)."""
        points = [
            [self._middle[k]] if of >= POWER else [self._ranges[k].value(x, of) for x in _points(degree)]
            for (k, of), degree in zip(keys, degrees, strict=True)
        ]
        if prod(map(len, points)) > MOST_SAMPLES:
            names = ", ".join(self._ranges[k].name for k, _ in keys)
            raise ParameterError(
                f"{names} change numbers of the model together, in ways that more than {MOST_SAMPLES} models would"
                " show; give fewer of them, or shorter ranges"
            )
        values = np.zeros((len(own), *map(len, points)))
        for index in product(*(range(len(each)) for each in points)):
            at = list(self._middle)
            for (k, _), each, j in zip(keys, points, index, strict=True):
                at[k] = each[j]
            values.reshape(len(own), -1)[:, np.ravel_multi_index(index, values.shape[1:])] = self._at(at)[own]
        size = np.abs(values).reshape(len(own), -1).max(axis=1)
        for axis, (k, of) in enumerate(keys, start=1):
            if of >= POWER:
                values /= self._ranges[k].functions(self._middle[k], of, 1)[1]
                size /= self._ranges[k].functions(self._middle[k], of, 1)[1]
            else:
                values = np.moveaxis(_series(np.moveaxis(values, axis, 0)), 0, axis)
        values[np.abs(values) <= DROPPED * size.reshape(-1, *[1] * len(keys))] = 0.0
        return values

    def _checked(self, found: Series) -> float:
        """The largest error at values that were not sampled: of one parameter alone, of all, at ends of all."""
        random = np.random.default_rng(3)
        usual = [each.usual for each in self._ranges]
        tried: list[tuple[str, list[float]]] = []
        for k, own in enumerate(self._ranges):
            for x in random.uniform(-1.0, 1.0, CHECKS // 2):
                tried.append((own.name, [*usual[:k], own.value(float(x)), *usual[k + 1 :]]))
        names = ", ".join(each.name for each in self._ranges)
        for x in random.uniform(-1.0, 1.0, (CHECKS, len(usual))).tolist():
            tried.append((names, [own.value(each) for own, each in zip(self._ranges, x, strict=True)]))
        for ends in random.choice([-1.0, 1.0], (CHECKS, len(usual))).tolist():
            tried.append((names, [own.value(each) for own, each in zip(self._ranges, ends, strict=True)]))
        tried.append((names, usual))
        sizes = np.max([np.abs(each) for each in self._samples.values()], axis=0)
        worst = 0.0
        for name, values in tried:
            exact, followed = self._at(values), self._usual.copy()
            followed[found.places] = found.values(values)
            off = np.abs(followed - exact)
            size, chance = np.maximum(sizes, np.abs(exact)), BY_CHANCE * self._largest
            off[(off <= chance) & (self._is_chance | (size <= chance))] = 0.0
            off[self._numbers.is_scale & (off <= 10 * ROUGH * sizes)] = 0.0
            share = off / np.maximum(size, np.finfo(float).tiny)
            if share.max(initial=0.0) > MISSED:
                self._refuse(name, int(share.argmax()), float(share.max()))
            worst = max(worst, float(share.max(initial=0.0)))
        return worst

    def _refuse(self, name: str, number: int, missed: float) -> None:
        own = self._numbers.names[self._numbers.table[number]]
        raise ParameterError(
            f"{own} are no smooth function of {name}: a series misses one number by {missed:.1g} of its size. A"
            " kink such as abs(x) or max(x, y), modes that change places or a mesh that changes do that: choose a"
            " range without them, or build a library for each value"
        )


def _powers(values: Array, at: Array) -> IntArray:
    """Which power of a parameter numbers are, (numbers,), 0: none; ``values`` are those at some of its values."""
    found = np.zeros(values.shape[1], dtype=np.int64)
    changes = np.ptp(values, axis=0) > 0.0
    for k, power in enumerate(POWERS):
        over = values / at[:, None] ** power
        is_own = changes & (np.ptp(over, axis=0) <= SAME * np.abs(over).max(axis=0))
        found[is_own & (found == 0)] = POWER + k
    return found


def _points(degree: int) -> Array:
    """Of Chebyshev, with both ends."""
    return np.asarray(np.cos(np.pi * np.arange(degree + 1) / degree))


def _series(values: Array) -> Array:
    """Coefficients of values at Chebyshev points, along the first axis."""
    degree = len(values) - 1
    found = np.asarray(fft.dct(values, type=1, axis=0)) / degree
    found[[0, -1]] *= 0.5
    return found


def arrays_of(series: Series) -> Iterable[tuple[str, NDArray[np.int64] | Array]]:
    """What the library reads of series, by name: see ``follow_parameters`` in model.c."""
    first, at = 0, {}
    for key, degree in series.variables.items():
        at[key] = first
        first += degree
    factors = [[at[key] + j - 1 for key, j in term] for term in series.terms]
    yield "term_start", np.cumsum([0, *map(len, factors)])
    yield "term_factor", np.array([x for own in factors for x in own], dtype=np.int64)
    yield "changed_place", series.places
    yield "changed_start", np.cumsum([0, *(len(terms) for terms, _ in series.entries)])
    yield "changed_term", np.concatenate([np.zeros(0, dtype=np.int64), *(terms for terms, _ in series.entries)])
    yield "changed_weight", np.concatenate([np.zeros(0), *(weights for _, weights in series.entries)])
