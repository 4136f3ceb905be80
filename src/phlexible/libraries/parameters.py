"""Parameters of a library, set without Python, and functions of them for the numbers of a model."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, BoolArray, IntArray, finite, text
from phlexible.errors import ParameterError
from phlexible.libraries.c_text import integers, quoted, reals, records

Sample = Callable[[Sequence[float]], Array]


class BasisFunction(NamedTuple):
    """Function of a parameter p that numbers are linear in: (p / size)**exponent, or sin(p / size + phase) where
    the exponent is zero.

    Attributes:
        exponent, phase: of the function.
        size: None: largest absolute value of the parameter.
    """

    exponent: float
    phase: float = 0.0
    size: float | None = None

    def values(self, parameter: float | Array, largest: float) -> Array:
        """Return the values of the function at ``parameter``, of the same shape: x^exponent, or sin(x + phase)
        if the exponent is zero. x is the parameter divided by the function's size, or by ``largest`` if that is
        zero."""
        x = np.asarray(parameter) / (self.size or largest)
        return np.asarray(x**self.exponent if self.exponent else np.sin(x + self.phase))


FAMILIES: tuple[tuple[BasisFunction, ...], ...] = (
    *((BasisFunction(power),) for power in (1.0, 2.0, 3.0, 4.0)),
    *((BasisFunction(0.0, 0.5 * np.pi, size), BasisFunction(0.0, 0.0, size)) for size in (1.0, 180.0 / np.pi)),
    *((BasisFunction(power),) for power in (-1.0, -2.0, -3.0, -4.0, 0.5, 1.5, -0.5, -1.5)),
)
"""Families of functions of a parameter; a number is linear in those of one: a power, or cosine and sine of an angle
in radians or degrees."""
ANY_SIGN = 6
"""Number of families, the first ones, that zero and negative values have."""
SAMPLED = (1.0, -0.9, 0.15, -1.0, -0.55, -0.2, 0.6)
"""Values of a parameter, -1 and 1 at the ends of its range. The first two or three give a function, others check
it."""
LINEAR = 1e-10
"""Largest error of a linear function, relative to the largest value of its number."""
ROUND_OFF = 1e-15
BY_CHANCE = 1e-13
"""Change of a number that round-off explains, relative to the largest number of its table."""
NOISE = 0.2
"""Error of a linear function relative to the change of its number: more is round-off, if the change is small."""
MOST_ERROR = 1e-9
"""Largest error of all parameters together, relative to the number."""
MOST_SAMPLES = 1500
GOLDEN = 0.6180339887498949
CHECKS = 4


@dataclass(frozen=True)
class Range:
    """Range of a parameter.

    Attributes:
        name: of the argument of the build function.
        low, usual, high: values; low < high.
    """

    name: str
    low: float
    usual: float
    high: float

    @property
    def size(self) -> float:
        """Return the largest absolute value in the range of a parameter, by which values are divided before powers
        are taken."""
        return max(abs(self.low), abs(self.high))

    def value(self, x: float) -> float:
        """Return the parameter value at a relative position x in its range, by linear interpolation. x = -1 is the
        low end and 1 the high end; at or beyond these, exactly the ends are returned."""
        if abs(x) >= 1.0:
            return self.high if x > 0 else self.low
        return 0.5 * (self.low + self.high) + 0.5 * x * (self.high - self.low)

    def basis(self, family: Iterable[BasisFunction]) -> Array:
        """Return the values of basis functions (``family``) of this parameter at sample points of its range, shape
        (samples, functions).
        """
        at = np.array([self.value(x) for x in SAMPLED])
        return np.transpose([each.values(at, self.size) for each in family])


@dataclass(frozen=True, eq=False)
class SampledValues:
    """Names and tables of the numbers that are sampled.

    Attributes:
        names: of tables, in words.
        table: of each number.
        is_scale: whether other numbers are only compared with this one, so that a rough value does.
    """

    names: Sequence[str]
    table: IntArray
    is_scale: BoolArray

    def largest(self, values: Array) -> Array:
        """Return for each value of a model the largest absolute value in the array to which it belongs, shape
        (values,), as a scale for round-off. ``values`` are all values."""
        found = np.zeros(len(self.names))
        np.maximum.at(found, self.table, np.abs(values))
        return found[self.table]


@dataclass(frozen=True, eq=False)
class ParameterFunctions:
    """Numbers that depend on parameters, as sums of products of powers.

    Attributes:
        ranges: of the parameters.
        basis: the parameter and the function of it, of each factor of a term.
        terms: indices of the factors whose product each term is.
        indices: of the numbers.
        entries: indices of the terms and their coefficients, of each number.
        error: largest error that was found, relative to a number's size.
    """

    ranges: tuple[Range, ...]
    basis: tuple[tuple[int, BasisFunction], ...]
    terms: tuple[tuple[int, ...], ...]
    indices: IntArray
    entries: tuple[tuple[IntArray, Array], ...]
    error: float = 0.0

    def values(self, parameters: Sequence[float]) -> Array:
        """Return all values of a model that depend on parameters, for given parameters, as the library computes
        them: sums of weighted products of basis functions."""
        factors = [float(own.values(parameters[k], self.ranges[k].size)) for k, own in self.basis]
        products = np.array([prod(factors[j] for j in term) for term in self.terms])
        return np.array([weights @ products[terms] for terms, weights in self.entries])

    def arrays(self) -> Iterable[tuple[str, NDArray[np.int64] | Array]]:
        """Yield pairs (name, array) that describe these functions in generated C code: the factors of each
        product, the indices of the model values that change, and the products and weights of each. Lists of
        different lengths are concatenated, with an array of their begins (name ``..._start``)."""
        none = np.zeros(0, dtype=np.int64)
        yield "term_start", np.cumsum([0, *map(len, self.terms)])
        yield "term_factor", np.array([j for term in self.terms for j in term], dtype=np.int64)
        yield "changed_place", self.indices
        yield "changed_start", np.cumsum([0, *(len(terms) for terms, _ in self.entries)])
        yield "changed_term", np.concatenate([none, *(terms for terms, _ in self.entries)])
        yield "changed_weight", np.concatenate([np.zeros(0), *(weights for _, weights in self.entries)])


class FunctionFit:
    """Fit of functions of the parameters to the values of a model, from models that are built at sampled parameter
    values. A value is a sum of products with one function of each parameter.

    Args:
        ranges: of parameters.
        sample: returns the numbers for values of the parameters.
        numbers: their meaning.

    Raises:
        ParameterError: numbers that are not linear in a power of a parameter, by its name; too many samples.
    """

    def __init__(self, ranges: Sequence[Range], sample: Sample, values: SampledValues) -> None:
        self._ranges, self._sample, self._values = tuple(ranges), sample, values
        self._samples: dict[tuple[float, ...], Array] = {}
        self._usual = self._at([each.usual for each in ranges])
        self._chance = BY_CHANCE * values.largest(self._usual)
        self._is_chance = np.zeros(len(self._usual), dtype=bool)
        self._middle = [each.value(0.6 * (k + 1) * GOLDEN % 0.6 - 0.3) for k, each in enumerate(ranges)]

    def functions(self) -> ParameterFunctions:
        """Return fitted functions for all values of a model that change with its parameters, as sums of products
        of functions of single parameters. Each value uses the families that fit its samples best. The largest
        error at random parameters is stored in the result; ``ParameterError`` is raised if it is too large."""
        kinds = np.array([self._best_families(k) for k in range(len(self._ranges))])
        basis, terms = dict[tuple[int, BasisFunction], int](), dict[tuple[int, ...], int]()
        indices, entries = list[int](), list[tuple[IntArray, Array]]()
        for kind in np.unique(kinds, axis=1).T:
            keys = [(k, FAMILIES[kind[k]]) for k in np.flatnonzero(kind >= 0).tolist()]
            if not keys:
                continue
            own = np.flatnonzero((kinds == kind[:, None]).all(axis=0))
            of_keys = [[basis.setdefault((k, each), len(basis)) for each in family] for k, family in keys]
            for index, row in zip(own.tolist(), self._coefficients(keys, own), strict=True):
                used = np.argwhere(row)
                factors = [[of[j - 1] for of, j in zip(of_keys, own, strict=True) if j] for own in used.tolist()]
                numbers = [terms.setdefault(tuple(term), len(terms)) for term in factors]
                indices.append(index)
                entries.append((np.array(numbers, dtype=np.int64), row[tuple(used.T)]))
        found = ParameterFunctions(
            self._ranges, tuple(basis), tuple(terms), np.array(indices, dtype=np.int64), tuple(entries)
        )
        return replace(found, error=self._largest_error(found))

    def _at(self, values: Sequence[float]) -> Array:
        key = tuple(values)
        if key not in self._samples:
            self._samples[key] = self._sample(values)
        return self._samples[key]

    def _best_families(self, number: int) -> IntArray:
        """Return for each value of a model the index of the family of functions that fits its dependence on one
        parameter best. ``number`` is the index of the parameter, of which samples are taken. Families are powers,
        reciprocals and others, in which the fit is linear; -1 stands for a value that changes by no more than
        round-off. Raise ``ParameterError`` if a value does not fit within 1e-10 of its size.

        Raises:
            ParameterError: a number is linear in none.
        """
        own, middle = self._ranges[number], self._middle
        values = np.array([self._at([*middle[:number], own.value(x), *middle[number + 1 :]]) for x in SAMPLED])
        scale, spread = np.abs(values).max(axis=0), np.ptp(values, axis=0)
        errors = np.full((len(FAMILIES), len(scale)), np.inf)
        for k, family in enumerate(FAMILIES if own.low > 0.0 else FAMILIES[:ANY_SIGN]):
            x = own.basis(family)
            fitted = values[0] + (x - x[0]) @ _slopes(x, values)
            errors[k] = np.abs(values - fitted).max(axis=0) / np.maximum(scale, np.finfo(float).tiny)
        # of families that fit to round-off the first one
        families = np.where(errors <= BY_CHANCE, 0.0, errors).argmin(axis=0)
        error = errors.min(axis=0)
        is_linear = (error <= LINEAR) | self._values.is_scale
        is_small = spread <= np.maximum(self._chance, BY_CHANCE * scale)
        is_noise = (error * scale > NOISE * spread) | (spread <= 0.1 * self._chance)
        is_chance = (spread > 0.0) & ~is_linear & is_small & is_noise
        is_changed = (spread > 0.0) & ~is_chance
        self._is_chance |= is_chance
        missed = np.where(is_changed & ~is_linear, error, 0.0)
        if missed.any():
            self._refuse(own.name, int(missed.argmax()), float(missed.max()))
        return np.where(is_changed, families, -1)

    def _coefficients(self, keys: Sequence[tuple[int, tuple[BasisFunction, ...]]], indices: IntArray) -> Array:
        """Return the coefficients of the model values ``indices`` as sums of products, in which each parameter
        contributes one function or the constant 1. ``keys`` are pairs (index of the parameter, its functions). The
        shape is (values, 1 + functions of the first parameter, ...); entry 0 of an axis is the constant. The sums
        interpolate models built at all combinations of sampled parameter values; if these are too many,
        ``ParameterError`` is raised. Coefficients at round-off become zero.
        """
        shape = tuple(1 + len(family) for _, family in keys)
        if prod(shape) > MOST_SAMPLES:
            names = ", ".join(self._ranges[k].name for k, _ in keys)
            raise ParameterError(
                f"{names} change numbers of the model together, in ways that more than {MOST_SAMPLES} models would"
                " show; give fewer of them"
            )
        found = np.zeros((*shape, len(indices)))
        for index in np.ndindex(*shape):
            at = list(self._middle)
            for (k, _), j in zip(keys, index, strict=True):
                at[k] = self._ranges[k].value(SAMPLED[j])
            found[index] = self._at(at)[indices]
        values = np.moveaxis(found, -1, 0)
        size = np.abs(found).reshape(-1, len(indices)).max(axis=0).reshape(-1, *[1] * len(keys))
        for axis, (k, family) in enumerate(keys, start=1):
            x, first = self._ranges[k].basis(family), np.moveaxis(values, axis, 0)
            slopes = _slopes(x, first)
            values = np.moveaxis(np.stack([first[0] - np.tensordot(x[0], slopes, 1), *slopes]), 0, axis)
        values[np.abs(values) <= ROUND_OFF * size] = 0.0
        return values

    def _largest_error(self, functions: ParameterFunctions) -> float:
        """Return the largest relative error of fitted ``functions`` at random parameter values, with a fixed seed.
        Values vary for one parameter alone, for all within their ranges, and at ends of all ranges. The model is
        built for each. Errors within round-off count as zero. ParameterError is raised if an error exceeds the
        limit."""
        random = np.random.default_rng(3)
        usual = [each.usual for each in self._ranges]
        tried: list[tuple[str, list[float]]] = []
        for k, own in enumerate(self._ranges):
            for x in random.uniform(-1.0, 1.0, CHECKS // 2):
                tried.append((own.name, [*usual[:k], own.value(float(x)), *usual[k + 1 :]]))
        names = ", ".join(each.name for each in self._ranges)
        shape = (CHECKS, len(usual))
        for row in np.vstack([random.uniform(-1.0, 1.0, shape), random.choice([-1.0, 1.0], shape)]).tolist():
            tried.append((names, [own.value(x) for own, x in zip(self._ranges, row, strict=True)]))
        tried.append((names, usual))
        sizes = np.max([np.abs(each) for each in self._samples.values()], axis=0)
        worst = 0.0
        for name, values in tried:
            exact, computed = self._at(values), self._usual.copy()
            computed[functions.indices] = functions.values(values)
            error, size = np.abs(computed - exact), np.maximum(sizes, np.abs(exact))
            error[(error <= self._chance) & (self._is_chance | (size <= self._chance))] = 0.0
            error[self._values.is_scale] = 0.0
            error /= np.maximum(size, np.finfo(float).tiny)
            if error.max(initial=0.0) > MOST_ERROR:
                self._refuse(name, int(error.argmax()), float(error.max()))
            worst = max(worst, float(error.max(initial=0.0)))
        return worst

    def _refuse(self, name: str, number: int, error: float) -> None:
        own = self._values.names[self._values.table[number]]
        raise ParameterError(
            f"{own} are not linear in {name} or a power of it, or in its cosine and sine: the best one is off by"
            f" {error:.1g} of a number. A length of a flexible body does that, modes, a kink such as abs(x): leave"
            " it out of parameters=, and write the numbers for each value with"
            " ph.build(model, step, 'value.tables'), which library.load_tables() reads"
        )


def _slopes(x: Array, values: Array) -> Array:
    """Return the coefficients, shape (functions, ...), with which basis functions reproduce the change of sampled
    ``values`` from the first sample. x are the functions at the samples, shape (samples, functions). Only the first
    1 + functions samples are used, which determine the coefficients.
    """
    count = 1 + x.shape[1]
    first = (values[1:count] - values[0]).reshape(count - 1, -1)
    found = np.linalg.lstsq(x[1:count] - x[0], first, rcond=None)[0]
    return np.asarray(found.reshape(count - 1, *values.shape[1:]))


WHAT = ("low end", "value", "high end")


@dataclass(frozen=True)
class ParameterRange(Range):
    """Range of a parameter as the user gave it; ``unit`` may be empty."""

    unit: str = ""


@dataclass(frozen=True, eq=False)
class ParameterData:
    """Parameters of a library, and the numbers that follow from them.

    Attributes:
        ranges: of each.
        functions: numbers that follow from them.
        tunable: whether each may change between steps.
    """

    ranges: tuple[ParameterRange, ...]
    functions: ParameterFunctions
    tunable: tuple[bool, ...]

    @property
    def message(self) -> str:
        """Return a message that says how many values of a model depend on its parameters, and how accurately the
        fitted functions give them."""
        names = ", ".join(each.name for each in self.ranges)
        return (
            f"parameters {names}: {len(self.functions.indices)} numbers of the model follow, off by at most"
            f" {self.functions.error:.1e} of their size where that was tried"
        )


def parameters_in_c(data: ParameterData | None) -> Iterable[str]:
    """Yield the lines of C source that declare the parameters of a library and how values of the model depend on
    them. Parameters have names, units, ranges and whether they can change during a run; values are sums of
    products of functions. For None, macros of value 0 and a dummy entry are defined."""
    yield f"#define PH_PARAMETERS {0 if data is None else len(data.ranges)}"
    rows = [
        (quoted(own.name), quoted(own.unit), own.low, own.usual, own.high, int(is_tunable))
        for own, is_tunable in (zip(data.ranges, data.tunable, strict=True) if data else ())
    ]
    fields = "const char *name, *unit; double low, usual, high; int is_tunable;"
    yield from records("ph_parameter", fields, {"ph_parameters": rows})
    if data is None:
        yield "#define PH_PRODUCTS 0"
        return
    functions = data.functions
    yield f"#define PH_FACTORS {len(functions.basis)}"
    yield f"#define PH_TERMS {len(functions.terms)}"
    yield "#define PH_PRODUCTS (PH_FACTORS + PH_TERMS)"
    yield f"#define PH_CHANGED {len(functions.indices)}"
    factors = [(k, own.size or data.ranges[k].size, own.exponent, own.phase) for k, own in functions.basis]
    fields = "int parameter; double size, exponent, phase;"
    yield from records("ph_factor", fields, {"ph_factors": factors})
    for name, array in functions.arrays():
        is_whole = array.dtype.kind == "i"
        yield integers(f"ph_{name}", array.tolist(), "int32_t") if is_whole else reals(f"ph_{name}", array)


def ranges_of(user_ranges: Mapping[str, Sequence[object]]) -> tuple[ParameterRange, ...]:
    """Return the ranges of parameters from the user's dictionary of (low, value, high) or (low, value, high,
    unit). Raise ``ParameterError`` for an empty dictionary, other tuples, numbers that are not finite, a unit that
    is no text, and unless low <= value <= high and low < high.

    Raises:
        ParameterError: no (low, value, high), or (low, value, high, unit), by name.
    """
    words = "parameters must be (low, value, high), or (low, value, high, unit), by name"
    if not isinstance(user_ranges, Mapping) or not user_ranges:
        raise ParameterError(f"{words}, such as {{'stiffness': (10.0, 20.0, 40.0, 'N/m')}}, got {user_ranges!r}")
    found = []
    for key, values in user_ranges.items():
        name = text("parameter", key)
        if not isinstance(values, list | tuple) or len(values) not in (3, 4):
            raise ParameterError(f"{words}; got {values!r} for {name}")
        low, usual, high = (finite(f"{what} of {name}", x) for what, x in zip(WHAT, values, strict=False))
        if not low <= usual <= high or not low < high:
            raise ParameterError(f"{words}, in this order; got {values!r} for {name}")
        unit = values[3] if len(values) == 4 else ""
        if not isinstance(unit, str):
            raise ParameterError(f"the unit of {name} must be a text such as 'N/m', got {unit!r}")
        found.append(ParameterRange(name, low, usual, high, unit))
    return tuple(found)
