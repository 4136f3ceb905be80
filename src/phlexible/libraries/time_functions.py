"""Functions of time as data: constants, polynomials, harmonics on a line, or pieces with a checked error."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import factorial

import numpy as np
from numpy.polynomial import chebyshev, polynomial

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError

Columns = Callable[[Array], Array]
"""Function of times (n,) that returns values (n, columns)."""

SAME = 1e-14  # of the largest part of a function: differences that are none
EXACT = 1e-13  # of the greatest value: what pieces may miss
DEGREE = 10
SHORTEST = 2.0**-44  # of the duration: pieces around jumps of a derivative
MOST_PIECES = 20_000
SCALES = 10  # windows, each four times as long as the one before, in which functions are looked at
PROBES = 48  # times in each
WINDOW = 256  # steps, the first one
HIGHEST = 5  # degree of a polynomial
GOLDEN = 0.618033988749895


@dataclass(frozen=True, eq=False)
class Piece:
    """Polynomial of ``(t - begin) * scale`` in ascending powers; the first piece counts before its begin too."""

    begin: float
    scale: float
    coefficients: tuple[float, ...]


ZERO = Piece(0.0, 1.0, (0.0,))


@dataclass(frozen=True, eq=False)
class Column:
    """Scalar function of time in the form that libraries evaluate: a sum of waves, plus a piecewise polynomial. A
    wave is a tuple of frequency [rad/s] and the factors of cosine and sine.
    """

    pieces: tuple[Piece, ...] = ()
    waves: tuple[tuple[float, float, float], ...] = ()

    def __call__(self, times: Array) -> Array:
        """Return the values of a function of time (sum of harmonics and polynomial pieces) at times [s], shape
        (n,), computed as in the library."""
        found = np.zeros(len(times))
        for frequency, cosine, sine in self.waves:
            found += cosine * np.cos(frequency * times) + sine * np.sin(frequency * times)
        if self.pieces:
            begins = np.array([piece.begin for piece in self.pieces])
            indices = np.clip(np.searchsorted(begins, times, side="right") - 1, 0, None)
            for k in np.unique(indices):
                own, piece = indices == k, self.pieces[k]
                found[own] += polynomial.polyval((times[own] - piece.begin) * piece.scale, piece.coefficients)
        return found


@dataclass(frozen=True, eq=False)
class TimeData:
    """Functions of time as data.

    Attributes:
        columns: one for each number.
        end: of the times for which they are valid [s].
        messages: messages about approximations and their errors.
    """

    columns: tuple[Column, ...]
    end: float = np.inf
    messages: tuple[str, ...] = field(default=())


def time_data(
    values: Columns,
    names: Sequence[str],
    start: float,
    step: float,
    duration: float | None,
    kinks: Sequence[float],
    keeps_zeros: bool = False,
) -> TimeData:
    """Return functions of time in a form that compiled libraries evaluate. ``values`` computes all of them at given
    instants. Each is recognized, from samples of a run that begins at ``start`` with time steps of ``step`` [s], as
    constant, polynomial, or harmonic with or without a linear term. Other functions become piecewise polynomials
    for ``duration`` [s]; ``ParameterError`` if that is None. ``names`` are for messages, ``kinks`` are the times of
    jumps. With ``keeps_zeros``, functions without polynomial get a zero one.

    Args:
        values: of all of them.
        names: of each, for messages.
        start: of the run [s].
        step: of the run [s].
        duration: up to which what is none of the simple functions is approximated [s]; None: that is refused.
        kinks: times where functions jump or kink [s].
        keeps_zeros: where there is no constant, there is a place for one.

    Raises:
        ParameterError: a function that needs a duration, or cannot be approximated.
    """
    times = _probe_times(start, step, duration, kinks)
    seen = _evaluated(values, times, len(names))
    columns, words, end = list[Column](), list[str](), np.inf
    for k, name in enumerate(names):

        def signal(times: Array, k: int = k) -> Array:
            return np.asarray(values(np.asarray(times, dtype=np.float64))[:, k])

        found = None
        if seen is not None:
            y = seen[:, k]
            known = signal, times, y, start, step
            found = _constant(y) or _polynomial(*known) or _harmonic(*known) or _harmonic(*known, on_line=True)
        if found is None:
            if duration is None:
                raise ParameterError(
                    f"{name} is a function of time that is neither constant, a polynomial of degree {HIGHEST} nor a"
                    " harmonic, on a line or not: give build(duration=...) [s], up to which it becomes a table, or"
                    " make it an input"
                )
            found, error = _pieces(signal, start, start + duration, kinks, name)
            words.append(f"{name}: {len(found.pieces)} pieces up to {start + duration:g} s, error {error:.1e}")
            end = start + duration
        columns.append(replace(found, pieces=found.pieces or (ZERO,)) if keeps_zeros else found)
    return TimeData(tuple(columns), end, tuple(words))


# Sums of functions, and their mean rates over steps, as servos have them.

JUST_BEFORE = 1e-9  # of a step: a jump at the end of a step counts in that step, whatever the round-off


def weighted_sum(parts: Sequence[tuple[float, Column]]) -> Column:
    """Return the weighted sum of functions of time (harmonics and polynomial pieces) as one such function.
    ``parts`` are pairs of factor and function."""
    waves = dict[float, tuple[float, float]]()
    for factor, column in parts:
        for w, cosine, sine in column.waves:
            last = waves.get(w, (0.0, 0.0))
            waves[w] = last[0] + factor * cosine, last[1] + factor * sine
    own = [(factor, column.pieces) for factor, column in parts if column.pieces]
    pieces = [
        _sum(begin, [(factor, piece, 0.0) for (factor, _), piece in zip(own, chosen, strict=True)])
        for begin, chosen in (_sections([pieces for _, pieces in own], [0.0] * len(own)) if own else ())
    ]
    return Column(tuple(pieces), tuple((w, *both) for w, both in waves.items()))


def mean_rates(column: Column, step: float) -> Column:
    """Return the rate (f(t + h/2) - f(t - h/2)) / h of a function of time f as a function of the same kind. f
    is ``column``, h is ``step`` [s]."""
    half = step / 2
    factors = [2 * np.sin(w * half) / step for w, _, _ in column.waves]
    waves = [(w, f * sine, -f * cosine) for f, (w, cosine, sine) in zip(factors, column.waves, strict=True)]
    pieces = list[Piece]()
    for cut, (after, before) in _sections([column.pieces] * 2, [half, -half]):
        begin = cut - JUST_BEFORE * step if pieces else cut
        if after is before:  # without cancellation
            rate: Array = np.zeros(1)
            for k in range(1, len(after.coefficients), 2):
                share = after.scale**k * half ** (k - 1) / factorial(k)
                slope = polynomial.polyder(after.coefficients, k) * share
                rate = np.asarray(polynomial.polyadd(rate, slope), dtype=np.float64)
            pieces.append(_sum(begin, [(1.0, replace(after, coefficients=tuple(rate.tolist())), 0.0)]))
        else:
            pieces.append(_sum(begin, [(1 / step, after, half), (-1 / step, before, -half)]))
    return Column(tuple(pieces), tuple(waves))


def _sections(parts: Sequence[tuple[Piece, ...]], shifts: Sequence[float]) -> Iterator[tuple[float, list[Piece]]]:
    """Yield the time intervals in which none of several shifted piecewise polynomials changes its piece, as (begin,
    pieces). Each polynomial in ``parts`` is shifted to earlier times by its entry of ``shifts`` [s]. ``pieces`` has
    the piece of each that is valid in the interval; the last interval has no end. Nothing is yielded if one of the
    polynomials has no pieces.
    """
    if not all(parts):
        return
    begins = [np.array([piece.begin for piece in pieces[1:]]) for pieces in parts]
    cuts = np.unique(np.concatenate([own - shift for own, shift in zip(begins, shifts, strict=True)]))
    for begin, end in pairwise([min(pieces[0].begin for pieces in parts), *cuts.tolist(), np.inf]):
        inside = begin + min(end - begin, 1.0) / 2
        indices = [int(np.searchsorted(own, inside + shift)) for own, shift in zip(begins, shifts, strict=True)]
        yield begin, [pieces[k] for pieces, k in zip(parts, indices, strict=True)]


def _sum(begin: float, parts: Sequence[tuple[float, Piece, float]]) -> Piece:
    """Return the sum of weight * piece(t + shift) over ``parts`` (weight, piece, shift) as one polynomial in
    (t - ``begin``). A piece is a polynomial of scaled time; a positive shift moves it to earlier times."""
    scale = max(piece.scale for _, piece, _ in parts)
    found: Array = np.zeros(1)
    for factor, piece, shift in parts:
        inner = [(begin + shift - piece.begin) * piece.scale, piece.scale / scale]
        own: Array = np.zeros(1)
        for coefficient in piece.coefficients[::-1]:
            own = np.asarray(polynomial.polyadd(polynomial.polymul(own, inner), [coefficient]), dtype=np.float64)
        found = np.asarray(polynomial.polyadd(found, factor * own), dtype=np.float64)
    return Piece(begin, scale, tuple(float(x) for x in found))


def _probe_times(start: float, step: float, duration: float | None, kinks: Sequence[float]) -> Array:
    """Return the times [s] at which unknown functions of time are sampled: 48 in each of several windows, and
    around ``kinks``. The run begins at ``start`` and has time steps of length ``step``. With a ``duration`` there
    is one window; without (None) there are ten, the first 256 steps long, each four times as long as the one
    before."""
    lengths = [duration] if duration is not None else [WINDOW * step * 4.0**k for k in range(SCALES)]
    found = [start, *(time for length in lengths for time in spread(start, length, PROBES).tolist())]
    for kink in kinks:
        found += [kink - step / 2, kink, kink + step / 2]
    return np.unique([time for time in found if time >= start])


def spread(start: float, length: float, count: int = 64) -> Array:
    """Return times in an interval of a ``length`` from ``start`` [s], shape (count,): start + length * frac(k g)
    for k = 1, 2, ... Here frac is the fractional part, and g = 0.618 the golden ratio. The times are not in order,
    and not commensurable with any period."""
    return np.asarray(start + length * (np.arange(1, count + 1) * GOLDEN % 1.0), dtype=np.float64)


def _evaluated(values: Columns, times: Array, count: int) -> Array | None:
    """Return the values of the user's functions at all times, shape (times, count), by one call of ``values``.
    Return None if the call raises any exception, as functions may at late times."""
    try:
        return np.asarray(values(times)).reshape(len(times), count)
    except Exception:  # whatever a function of a user raises beyond its range
        return None


def _constant(y: Array) -> Column | None:
    if not (y == y[0]).all():
        return None
    return Column((Piece(0.0, 1.0, (float(y[0]),)),) if y[0] else ())


def _polynomial(signal: Columns, times: Array, y: Array, start: float, step: float) -> Column | None:
    for degree in range(1, HIGHEST + 1):
        x, powers = np.arange(degree + 1.0), np.arange(degree + 1)
        best, error = np.zeros(degree + 1), np.full(degree + 1, np.inf)
        last = (times[-1] - start) / HIGHEST
        length = 2.0 ** np.floor(np.log2(min(64 * step, last)))
        while length <= last:  # each coefficient from the window where it is known best
            values = signal(start + length * x)
            found = np.linalg.solve(np.vander(x, increasing=True), values) / length**powers
            known = 8 * np.finfo(float).eps * np.abs(values).max() / length**powers
            best, error = np.where(known < error, found, best), np.minimum(known, error)
            length *= 4.0
        written = np.array([_rounded(c, e) for c, e in zip(best, error, strict=True)])
        for scaled in written, best:
            column = Column((Piece(start, 1.0, tuple(float(c) for c in scaled)),))
            sizes = polynomial.polyval(times - start, np.abs(scaled))
            if (np.abs(column(times) - y) <= SAME * sizes + np.finfo(float).tiny).all():
                return column
    return None


def _rounded(number: float, error: float) -> float:
    """Return the value with the fewest significant digits that differs from ``number`` by at most ``error``;
    ``number`` itself if none does. It is 0 if that is close enough. A user probably wrote this value."""
    shorter = (0.0, *(float(f"{number:.{digits}g}") for digits in range(1, 16)))
    return next((x for x in shorter if abs(x - number) <= error), number)


def _harmonic(
    signal: Columns, times: Array, y: Array, start: float, step: float, on_line: bool = False
) -> Column | None:
    """Return a harmonic function of time that fits the samples y of ``signal`` at the ``times``, or None. It is c +
    a cos(w t) + b sin(w t). If ``on_line``, a linear term v t is added. The frequency w follows from a three-term
    recursion of equidistant samples from ``start`` on, 1, 16 or 256 time steps apart, and is then refined by least
    squares. ``step`` is the time step [s].
    """
    for stride in (step, 16 * step, 256 * step):
        if start + 67 * stride > times[-1]:
            break
        z = np.diff(signal(start + stride * np.arange(67.0)), n=2 if on_line else 1)  # which the line has none of
        middle, both = z[1:-1], z[2:] + z[:-2]
        if not middle @ middle > 0:
            continue
        cosine = both @ middle / (2 * middle @ middle)
        missed = np.abs(both - 2 * cosine * middle).max()
        if abs(cosine) >= 1 or missed > 1e-9 * np.abs(z).max():
            continue
        frequency = float(np.arccos(cosine)) / stride
        found = _refined(signal, times, y, start, stride, frequency, on_line)
        if found is not None:
            return found
    return None


def _refined(
    signal: Columns, times: Array, y: Array, start: float, stride: float, w: float, on_line: bool
) -> Column | None:
    """Return a harmonic function of time with a frequency near w [rad/s] that fits the samples y of ``signal`` at
    the ``times``, or None. It is a constant plus sine and cosine, plus a straight line if ``on_line``. The
    frequency is fitted in ever longer windows from ``start`` [s] on, the first of 64 times ``stride`` [s]. If it
    fits rounded to few decimal digits, these are used.
    """
    found: Array = np.zeros(5)
    for length in stride * 64 * 4.0 ** np.arange(8):
        if start + length > times[-1]:
            break
        t = spread(start, float(length))
        for _ in range(4):
            found = _fitted(_fit_columns(t, w, found, on_line), signal(t))
            if not abs(found[3]) < 1 / length:
                return None
            w += float(found[3])
    for digits in range(1, 15):  # the frequency that somebody wrote, if it is one
        rounded = float(f"{w:.{digits}g}")
        column = _wave(signal, start, stride, rounded, on_line)
        if _matches_samples(column, times, y):
            return column
    column = _wave(signal, start, stride, w, on_line)
    return column if _matches_samples(column, times, y) else None


def _fit_columns(t: Array, w: float, last: Array, on_line: bool) -> Array:
    """Return the columns of a least-squares fit of a harmonic at times t, shape (times, 4 or 5): 1, cos, sin,
    the derivative with respect to the frequency w, and (if ``on_line``) t. ``last`` are the coefficients of
    the last fit."""
    cosine, sine = np.cos(w * t), np.sin(w * t)
    found = [np.ones(len(t)), cosine, sine, t * (last[2] * cosine - last[1] * sine), t]
    return np.stack(found if on_line else found[:4], axis=1)


def _wave(signal: Columns, start: float, stride: float, w: float, on_line: bool) -> Column:
    t = spread(start, 64 * stride * (64 if on_line else 1))  # a slope is found over many periods
    y = signal(t)
    base = np.delete(_fit_columns(t, w, np.zeros(4), on_line), 3, axis=1)
    found = _fitted(base, y)
    found = found + _fitted(base, y - base @ found)
    constant, cosine, sine, *slope = (
        float(x) for x in np.where(np.abs(found) < 4e-16 * np.abs(found).max(), 0.0, found)
    )
    for digits in range(1, 16):  # numbers that somebody wrote
        short = [float(f"{x:.{digits}g}") for x in (constant, cosine, sine, *slope)]
        if np.abs(np.array(short) - (constant, cosine, sine, *slope)).max() <= 4e-16 * np.abs(found).max():
            constant, cosine, sine, *slope = short
            break
    line = (constant, *slope)
    return Column((Piece(0.0, 1.0, line),) if any(line) else (), ((w, cosine, sine),))


def _fitted(base: Array, y: Array) -> Array:
    return np.asarray(np.linalg.lstsq(base, y, rcond=None)[0], dtype=np.float64)


def _matches_samples(column: Column, times: Array, y: Array) -> bool:
    """Return whether a function of time (``column``), a harmonic plus a linear function if any, equals sampled
    values y at ``times`` up to round-off. The tolerance is relative to the size of the terms, and grows with w t,
    the phase of the harmonic, which is rounded too."""
    w, cosine, sine = column.waves[0]
    line = column.pieces[0].coefficients if column.pieces else (0.0,)
    size = abs(cosine) + abs(sine) + polynomial.polyval(np.abs(times), np.abs(line))
    return bool((np.abs(column(times) - y) <= size * (SAME + 4e-16 * np.abs(w * times))).all())


def _pieces(signal: Columns, begin: float, end: float, kinks: Sequence[float], name: str) -> tuple[Column, float]:
    """Return piecewise polynomials that approximate a function of time (``signal``) from ``begin`` to ``end`` [s],
    and their largest error. They interpolate at Chebyshev points with degree 10. Pieces start at ``kinks`` and are
    halved until their error at check points is at most 1e-13 of the largest value. ParameterError, with ``name``,
    is raised if pieces become too short or too many.

    Raises:
        ParameterError: a function that jumps, or is too rough.
    """
    cuts = [begin, *sorted({kink for kink in kinks if begin < kink < end}), end]
    open_ones = list(pairwise(cuts))[::-1]
    nodes = (1 + chebyshev.chebpts1(DEGREE + 1)) / 2
    checks = spread(0.0, 1.0, 2 * DEGREE)
    scale = float(np.abs(signal(begin + (end - begin) * (np.arange(512) + 0.5) / 512)).max()) or 1.0
    found, worst = list[Piece](), 0.0
    while open_ones:
        a, b = open_ones.pop()
        length = b - a
        fitted = np.asarray(chebyshev.chebfit(2 * nodes - 1, signal(a + length * nodes), DEGREE), dtype=np.float64)
        powers = _in_powers(fitted)
        missed = float(np.abs(polynomial.polyval(checks, powers) - signal(a + length * checks)).max())
        if missed <= EXACT * scale:
            found.append(Piece(a, 1 / length, tuple(float(x) for x in powers)))
            worst = max(worst, missed)
        elif length < SHORTEST * (end - begin) or len(found) + len(open_ones) > MOST_PIECES:
            raise ParameterError(
                f"{name} cannot be written as pieces of polynomials: near t = {a:.9g} s it misses {missed:.2g} of"
                f" {scale:.2g}; if it jumps there, say so by breakpoints=, or make it an input"
            )
        else:
            middle = a + length / 2
            open_ones += [(middle, b), (a, middle)]
    return Column(tuple(found)), worst


def _in_powers(fitted: Array) -> Array:
    """Convert a Chebyshev series on the interval from -1 to 1 to ascending powers of x, and return the new
    coefficients. Here x = (s + 1) / 2 for the variable s of the series, so that x is zero at the start of the
    interval and one at its end. ``fitted`` are the coefficients of the series, lowest degree first."""
    outer = chebyshev.cheb2poly(fitted)
    total, power = np.zeros(len(outer)), np.array([1.0])
    for coefficient in outer:
        total[: len(power)] += coefficient * power
        power = polynomial.polymul(power, [-1.0, 2.0])
    return total
