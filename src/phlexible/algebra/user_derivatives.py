"""Derivatives of functions by differences or complex numbers, and checks of derivatives that users supply."""

import builtins
import itertools
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from opcode import opmap
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError

# First and second time derivatives of a user's function from differences, also where it begins.

DEGREE = 12
BATCH = 3  # number of windows that are sampled in one call
LONGEST = 0.0213  # [s]; no round number, so that no period of a path is likely to be a multiple
SHORTEST = 1e-9  # [s]
GOAL = 1e-11
ROUND_OFF = 16 * float(np.finfo(float).eps)


def derivatives(function: Callable[[Array], Array], time: float, end: float = np.inf) -> tuple[Array, Array]:
    """Return the first and the second derivative of a user's function of time at a time [s], each of the shape of
    one value. Polynomials of degree 12 interpolate samples in a window around the time, which is halved until
    successive derivatives agree. Otherwise the pair with least change is returned, without an error. ``function``
    is called with an array of times (k,) between 0 and ``end`` [s].

    A polynomial of degree 12 through Chebyshev points of a window around the time (after it near 0, before it near
    the ``end`` and where the function ends with a ValueError) is differentiated; the window is halved until two
    successive derivatives agree to 1e-11, or no longer come closer. Short windows in which the values of the
    function differ by their round-off only are useless.

    Raises:
        ValueError: the function refuses times on both sides.
    """
    best_first, best_second = np.inf, np.inf
    here, windows = _longest_windows(function, time, end)
    round_off = float(ROUND_OFF * np.abs(here).max(initial=0.0))
    length = LONGEST
    coarse = fine = windows.pop() if windows else _window_derivatives(function, time, length, end)
    first, second = fine
    while (length := length / 2) > SHORTEST:
        fine = windows.pop() if windows else _window_derivatives(function, time, length, end)
        gaps = (float(np.abs(a - b).max()) for a, b in zip(coarse, fine, strict=True))
        first_gap, second_gap = (gap + round_off / length**k for k, gap in enumerate(gaps, start=1))
        if first_gap < best_first:
            first, best_first = fine[0], first_gap
        if second_gap < best_second:
            second, best_second = fine[1], second_gap
        first_scale, second_scale = (float(np.abs(value).max()) for value in fine)
        if first_gap <= GOAL * first_scale and second_gap <= 100 * GOAL * second_scale:
            break
        if first_gap > 1e3 * best_first and second_gap > 1e3 * best_second:
            break
        coarse = fine
    return first, second


def rough_derivatives(function: Callable[[Array], Array], times: Array) -> Array:
    """Return approximate derivatives of a user's ``function`` of time at many ``times`` [s], shape (times, k).
    They are those of the polynomial through 13 samples in one window of fixed length (0.02 s) around each time.
    Windows are not refined, so that the accuracy is unknown. ``function`` is called once with n times and returns
    (n, k). No time before 0 is used.

    Raises:
        ValueError: the function ends inside a window.
    """
    count = len(times)
    samples, weights = _sample_windows(times, LONGEST)
    values = function(np.concatenate([times, samples.ravel()]))
    return _weighted_changes(values[count:], values[:count], weights) * (2 / LONGEST)


def first_derivatives(function: Callable[[Array], Array], times: Array) -> Array:
    """Return accurate derivatives of a user's function of time at many times [s], shape (times, k). They are those
    of polynomials through samples in windows that are halved until the change is within a tolerance. ``function``
    is called with an array of n times, once for each size of windows, and returns values (n, k). No time before 0
    is used.

    The windows of ``derivatives`` are halved for all times at once until each of them has converged.
    If the function ends inside a window, times are processed one after another.
    """
    try:
        return _joint_derivatives(function, times)
    except ValueError:
        return np.array([derivatives(function, time)[0] for time in times.tolist()])


def _joint_derivatives(function: Callable[[Array], Array], times: Array) -> Array:
    """Return the derivatives of a user's ``function`` with k values at many ``times`` [s], shape (times, k). They
    are those of polynomials through samples in a window around each time, which is halved until the change is
    within a tolerance. The function is called once with all times, then once for each window size, with an array
    of n times. It returns values (n, k). No time before 0 is used."""
    here = function(times)
    round_off = ROUND_OFF * np.abs(here).max(axis=1, initial=0.0)
    result = np.zeros_like(here)
    best = np.full(len(times), np.inf)
    open_rows = np.arange(len(times))
    length, coarse = LONGEST, None
    while len(open_rows) and length > SHORTEST:
        samples, weights = _sample_windows(times[open_rows], length)
        fine = _weighted_changes(function(samples.ravel()), here[open_rows], weights) * (2 / length)
        going = np.ones(len(open_rows), dtype=bool)
        if coarse is not None:
            gap = np.abs(fine - coarse).max(axis=1) + round_off[open_rows] / length
            better = gap < best[open_rows]
            result[open_rows[better]], best[open_rows[better]] = fine[better], gap[better]
            going = (gap > GOAL * np.abs(fine).max(axis=1)) & (gap <= 1e3 * best[open_rows])
        open_rows, coarse = open_rows[going], fine[going]
        length /= 2
    return result


def _sample_windows(times: Array, length: float) -> tuple[Array, Array]:
    """Return the sample times in a window of the given ``length`` [s] around each of T times, shape (T, k). Return
    also the weights of the samples in the derivative at that time, shape (T, k); times 2 / ``length`` they give it
    per second. Windows that would begin before 0 begin at the time instead."""
    is_inside = (times - length / 2 >= 0.0)[:, None]
    middle, first = _stencil(0.0), _stencil(-1.0)
    points, weights = (np.where(is_inside, *pair) for pair in zip(middle[:2], first[:2], strict=True))
    return times[:, None] + length / 2 * (points - np.where(is_inside, 0.0, -1.0)), weights


def _weighted_changes(values: Array, here: Array, weights: Array) -> Array:
    """Return, for each of T times, the weighted sum of the differences of a function's samples from its value at
    that time, shape (T, c). These are the samples ``values`` (T k, c), the values ``here`` (T, c) and the
    ``weights`` (T, k)."""
    change = values.reshape(*weights.shape, -1) - here[:, None]
    return np.asarray(np.einsum("tk,tkc->tc", weights, change))


def _longest_windows(
    function: Callable[[Array], Array], time: float, end: float
) -> tuple[Array, list[tuple[Array, Array]]]:
    """Return the value of a user's ``function`` at a time [s], and three estimates of its first and second
    derivative there. Each estimate is a pair (first, second) of the polynomial through 13 samples in a window.
    Windows contain the time and are 0.0053, 0.0107 and 0.0213 s long, in this order; near 0 and ``end`` they are
    one-sided. ``function`` is called once with all sample times.

    The list is empty if the function ends in one of the windows.
    """
    lengths = [LONGEST / 2**k for k in range(BATCH)]
    ratios = [_relative_time(time, length, end) for length in lengths]
    times = [
        time + length / 2 * (_stencil(ratio)[0] - ratio) for length, ratio in zip(lengths, ratios, strict=True)
    ]
    try:
        values = function(np.concatenate([[time], *times]))
    except ValueError:
        return function(np.array([time]))[0], []
    results = []
    for k in reversed(range(BATCH)):
        samples = values[1 + k * (DEGREE + 1) : 1 + (k + 1) * (DEGREE + 1)]
        results.append(_both_derivatives(samples - values[0], lengths[k], ratios[k]))
    return values[0], results


def _relative_time(time: float, length: float, end: float) -> float:
    """Return where a time lies in the window of the given length [s] in which a function is sampled: -1 at
    its beginning, 0 in its middle, 1 at its end. The middle is preferred; the end is taken if the window
    would pass ``end``, the beginning if it would pass 0."""
    if time + length / 2 > end and time - length >= 0.0:
        return 1.0
    return 0.0 if time - length / 2 >= 0.0 else -1.0


def _window_derivatives(
    function: Callable[[Array], Array], time: float, length: float, end: float
) -> tuple[Array, Array]:
    """Return the first and the second derivative of a user's function at a time [s], those of the polynomial
    through 13 samples in a window. The window has the given length [s] and the time in its middle. It is shifted
    where it would begin before 0 or pass ``end``. If the function raises ``ValueError``, a window that ends at the
    time is tried once, unless it would begin before 0."""
    position = _relative_time(time, length, end)
    try:
        return _interpolant_derivatives(function, time, length, position)
    except ValueError:
        if time - length < 0.0:
            raise
        return _interpolant_derivatives(function, time, length, 1.0)


def _interpolant_derivatives(
    function: Callable[[Array], Array], time: float, length: float, position: float
) -> tuple[Array, Array]:
    """Return the first and the second derivative, at a time [s], of the polynomial of degree 12 through the samples
    of a function. These are in a window of the given length [s]. ``position`` is the position of the time in it: -1
    beginning, 1 end."""
    points = _stencil(position)[0]
    values = function(np.append(time + length / 2 * (points - position), time))
    return _both_derivatives(values[:-1] - values[-1], length, position)


def _both_derivatives(change: Array, length: float, position: float) -> tuple[Array, Array]:
    """Return the first and the second derivative of a function at a time from samples in a window. ``change``
    (samples, ...) are the differences between the samples and its value at the time. The window has a ``length``
    [s], and the time is at ``position``, from -1 (beginning) to 1 (end)."""
    _, first, second = _stencil(position)
    flat, shape = change.reshape(len(change), -1), change.shape[1:]
    return ((first @ flat) * (2 / length)).reshape(shape), ((second @ flat) * (2 / length) ** 2).reshape(shape)


@cache
def _stencil(position: float) -> tuple[Array, Array, Array]:
    """Return the 13 Chebyshev points of [-1, 1] with two arrays of weights, each (13,), for derivatives at
    ``position`` in that interval. The weighted sum of samples at the points is the first or second derivative of
    the polynomial of degree 12 through the samples."""
    points = np.sort(np.polynomial.chebyshev.chebpts2(DEGREE + 1))
    to_coefficients = np.linalg.inv(np.polynomial.chebyshev.chebvander(points, DEGREE))
    basis = np.eye(DEGREE + 1)
    first, second = (
        np.polynomial.chebyshev.chebval(position, np.polynomial.chebyshev.chebder(basis, m)) @ to_coefficients
        for m in (1, 2)
    )
    return points, first, second


# Functions whose code and constants are known are checked and evaluated once: builds of one model make equal ones.

CONSTANTS = (int, float, complex, bool, str, bytes, type(None))
PURE_MODULES = ("math", "cmath", "numpy")
IMPURE = frozenset(("random", "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap"))
PURE_BUILTINS = frozenset(
    "abs bool complex divmod enumerate float int len list max min pow range round sum tuple zip".split()
)


@dataclass(frozen=True)
class _Evaluation:
    """Check or evaluation of functions; it is the same as another one with equal ``content``."""

    content: tuple[object, ...]
    run: Callable[[], Any] = field(compare=False)


@lru_cache(64)
def _result(evaluation: _Evaluation) -> Any:
    return evaluation.run()


def run_once(functions: Sequence[object], content: Sequence[object], run: Callable[[], Any]) -> Any:
    """Return the result of ``run``, a check or an evaluation of a user's ``functions``. It is not called again for
    functions with equal code and constants and equal ``content``, other data such as times as bytes. It is always
    called if a function may depend on something else, such as variables or random numbers. Exceptions are passed
    on, and not cached.

    Raises:
        Exception: what ``run`` raises.
    """
    contents = tuple(map(function_content, functions))
    return run() if None in contents else _result(_Evaluation((*contents, *content), run))


def function_content(function: object) -> tuple[object, ...] | None:
    """Return what the values of a user's function depend on, code and constants, as a hashable tuple. Return None
    if they may depend on something else: variables that can change, other functions, modules, random numbers,
    files."""
    if not isinstance(function, FunctionType):
        return None
    code, cells = function.__code__, [cell.cell_contents for cell in function.__closure__ or ()]
    used = {name for name in code.co_names if name in vars(builtins) and name not in function.__globals__}
    if not IMPURE.isdisjoint(code.co_names) or not used <= PURE_BUILTINS:
        return None
    if CodeType in map(type, code.co_consts) or opmap["IMPORT_NAME"] in code.co_code[::2]:
        return None
    given = [function.__globals__[name] for name in code.co_names if name in function.__globals__]
    content: list[object] = [code]
    for value in (*cells, *given, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if not (isinstance(value, CONSTANTS) or (isinstance(value, ModuleType) and value.__name__ in PURE_MODULES)):
            return None
        content.append(value.__name__ if isinstance(value, ModuleType) else (type(value), repr(value)))
    return tuple(content)


# Checks whether a user's rate is the derivative of a function of time, and whether the function jumps.

Values = Callable[[Array], Array]
"""Function that returns values at many times, shape (times, k)."""

AGREEMENT = 1e-3  # of the fastest rate
CLEARLY = 1e-4  # of it: below, one window is enough
RATE_ROUND_OFF = 1e-9  # of the values, in a second
JUMP_SHARE = 0.75  # of the change over a step that stays in one half of it, halving after halving
HALVINGS = 30
SOON = np.array([0.0, 0.005, 0.02])
"""Times at which a rate is checked when it is passed [s]; a run checks it at its times."""


class WrongRate(NamedTuple):
    """Rate that a user supplied at a time [s] and the difference quotient of the function, which disagree, each of
    shape (k,).
    """

    time: float
    rate: Array
    quotient: Array


class Jump(NamedTuple):
    """Jump of a user's function at a time [s], with the values before and after, each of shape (k,)."""

    time: float
    before: Array
    after: Array


def refuse_wrong_rate(name: str, values: Values, rates: Values, times: Array) -> None:
    """Raise ``ParameterError`` if a user's function ``rates`` is not the time derivative of the user's function
    ``values`` at the given ``times`` [s]. The derivative is computed by finite differences; the tolerance is 1e-3
    of the largest rate. At kinks the rate of either side is accepted. Both functions take an array of times;
    ``name`` stands in the message.

    Raises:
        ParameterError: the message has the time, the rate and the difference quotient.
    """
    if wrong := wrong_rate(values, rates, times):
        raise ParameterError(
            f"{name} must be the derivative: at t = {wrong.time:.6g} s it is {as_text(wrong.rate)}, the function"
            f" itself changes by {as_text(wrong.quotient)} a second; correct it or leave it out"
        )


def wrong_rate(values: Values, rates: Values, times: Array) -> WrongRate | None:
    """Compare a user's function ``rates`` with finite differences of the function ``values``, and return the time
    of greatest disagreement with both derivatives, or None. Both functions map n times to values (n, k). They agree
    if the difference at all ``times`` is below 1e-3 of the largest rate; at a kink it is enough that the rate is
    that of one side.

    Times at which a function raises ValueError are left out.
    """
    if _clearly_agree(values, rates, times):
        return None
    try:
        results = _compare_rates(values, rates, times)
    except ValueError:  # a function ends, or is not defined somewhere
        results = []
        for time in times:
            with suppress(ValueError):
                results += _compare_rates(values, rates, np.array([time]))
    fastest = max((np.abs([result.rate, result.quotient]).max() for result in results), default=0.0)
    for result in sorted(results, key=_rate_error, reverse=True):
        allowed = AGREEMENT * fastest + RATE_ROUND_OFF * np.abs(values(np.array([result.time]))).max()
        if _rate_error(result) <= allowed:
            return None
        if not any(np.abs(result.rate - side).max() <= allowed for side in _one_sided_rates(values, result.time)):
            return result
    return None


def find_jump(values: Values, times: Array, smallest: float) -> Jump | None:
    """Return the first discontinuity of a function of time that is larger than ``smallest``, found by recursive
    halving of intervals between the ascending ``times``. The result has its time and the values before and after
    it; None if there is none. Only intervals are halved in which one half has most of the change. The function
    ``values`` maps n times to values (n, k).

    A smooth change is spread over both halves of a short interval; a jump stays in one of them.
    """
    f = values(times)
    wide = np.flatnonzero(_largest_component(np.diff(f, axis=0)) > smallest)
    if not len(wide):
        return None
    middles = (times[wide] + times[wide + 1]) / 2
    low, middle, high = f[wide], values(middles), f[wide + 1]
    share = JUMP_SHARE * _largest_component(high - low)
    suspicious = (_largest_component(middle - low) > share) | (_largest_component(high - middle) > share)
    for k in wide[suspicious]:
        if jump := _narrow_jump(values, (float(times[k]), float(times[k + 1])), (f[k], f[k + 1]), smallest):
            return jump
    return None


def as_text(vector: Array) -> str:
    """Return a vector as text for messages, such as "(1, 0.5)", with six digits; a vector of one component without
    parentheses."""
    numbers_ = ", ".join(f"{component:.6g}" for component in vector)
    return numbers_ if len(vector) == 1 else f"({numbers_})"


def _narrow_jump(
    values: Values, ends: tuple[float, float], at: tuple[Array, Array], smallest: float, depth: int = 0
) -> Jump | None:
    """Return the discontinuity of a function between the two times ``ends``, found by recursive halving of the
    interval. The search follows a half with more than 75 per cent of the change, the earlier half first. The
    result has the later end of the last interval as its time, and the values at both ends. None if the change is
    at most ``smallest`` or spread over both halves. ``at`` are the values at ``ends``."""
    (begin, end), (low, high) = ends, at
    if float(_largest_component(high - low)) <= smallest:
        return None
    if depth == HALVINGS:
        return Jump(end, low, high)
    middle = (begin + end) / 2
    value = values(np.array([middle]))[0]
    share, jump = JUMP_SHARE * float(_largest_component(high - low)), None
    if float(_largest_component(value - low)) > share:
        jump = _narrow_jump(values, (begin, middle), (low, value), smallest, depth + 1)
    if jump is None and float(_largest_component(high - value)) > share:
        jump = _narrow_jump(values, (middle, end), (value, high), smallest, depth + 1)
    return jump


def _clearly_agree(values: Values, rates: Values, times: Array) -> bool:
    """Return whether a user's function ``rates`` clearly agrees with the derivative of the function ``values`` at
    all ``times``. True means that it differs from rough derivatives of ``values`` (one window of samples at each
    time) by at most 1e-4 of the largest rate. Otherwise, or if a function raises ``ValueError``, return False; a
    finer check then has to decide."""
    with suppress(ValueError):
        user_rates = rates(times)
        gap = np.abs(user_rates - rough_derivatives(values, times)).max(axis=1)
        return bool((gap <= CLEARLY * np.abs(user_rates).max()).all())
    return False


def _compare_rates(values: Values, rates: Values, times: Array) -> list[WrongRate]:
    """Return, for each of ``times``, a record of the time, the value of the user's function ``rates`` there, and
    the derivative of the function ``values``. The derivative is computed by finite differences. Whether both agree
    is not judged."""
    triples = zip(times.tolist(), rates(times), first_derivatives(values, times), strict=True)
    return [WrongRate(*triple) for triple in triples]


def _one_sided_rates(values: Values, time: float) -> list[Array]:
    """Return the one-sided derivatives of a function of time just after and just before a time [s]. The result is
    a list of up to two arrays (k,) for k values of the function. Each is computed from samples on one side only. A
    side on which the function raises ``ValueError`` is left out."""
    sides = []
    with suppress(ValueError):
        sides.append(derivatives(lambda later: values(time + later), 0.0)[0])
    with suppress(ValueError):
        sides.append(-derivatives(lambda earlier: values(time - earlier), 0.0)[0])
    return sides


def _rate_error(wrong: WrongRate) -> float:
    """Return the largest absolute component of the difference between the rate that a user supplied and the
    difference quotient of the function, both in ``wrong``."""
    return float(np.abs(wrong.rate - wrong.quotient).max())


def _largest_component(vectors: Array) -> Array:
    """Return the largest absolute value of the components of each vector, for an array of vectors (..., k); shape
    (...). Components become rows, over which it is found many times faster."""
    return np.asarray(np.ascontiguousarray(np.abs(vectors).T).max(axis=0).T)


# Check whether one scalar function is the derivative of another: its mean is the difference quotient of the other.

Function = Callable[[float], float]

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)
PIECES = 64
KINKS = 2  # of these pieces may contain one


class Disagreement(NamedTuple):
    """Interval in which a slope is not the derivative of a function: its ends, the difference quotient and the mean
    of the slope.
    """

    begin: float
    end: float
    growth: float
    mean: float


def disagreement(energy: Function, slope: Function, arguments: Array, tolerance: float) -> Disagreement | None:
    """Return the first interval between neighbouring ``arguments`` in which a user's function ``slope`` is not the
    derivative of the function ``energy``; None if there is none. The difference quotient of the energy and the
    mean of the slope are compared. They must differ by more than ``tolerance``, also in more than two of 64 equal
    parts, so that single kinks are accepted.

    A kink makes the quadrature wrong in its interval and in the few pieces of it that contain the kink; a wrong
    slope makes it wrong in most pieces.
    """
    for begin, end in itertools.pairwise(arguments.tolist()):
        growth, mean = quotient_of(energy, begin, end), mean_value(slope, begin, end)
        if abs(growth - mean) <= tolerance:
            continue
        pieces = itertools.pairwise(np.linspace(begin, end, PIECES + 1).tolist())
        wrong = [not abs(quotient_of(energy, a, b) - mean_value(slope, a, b)) <= tolerance for a, b in pieces]
        if sum(wrong) > KINKS:
            return Disagreement(begin, end, growth, mean)
    return None


def quotient_of(function: Function, begin: float, end: float) -> float:
    """Return the difference quotient (f(end) - f(begin)) / (end - begin) of a scalar ``function`` f of one
    number. ``begin`` and ``end`` must differ: equal ones divide by zero."""
    return (float(function(end)) - float(function(begin))) / (end - begin)


def mean_value(function: Function, begin: float, end: float) -> float:
    """Return the mean value of a scalar function on the interval from ``begin`` to ``end``, by Gauss quadrature
    with 8 points."""
    arguments = (begin + end) / 2 + (end - begin) / 2 * POINTS
    return float(sum(w * float(function(float(x))) for w, x in zip(WEIGHTS, arguments, strict=True))) / 2


# Derivatives of functions of this package, which are analytic and may be evaluated with complex numbers.

TINY = 1e-30


def exact_slope(function: Callable[[Array], Array], x: Array, direction: Array) -> Array:
    """Return the derivative of a function of real numbers ``x`` along a ``direction`` of the same shape. It is the
    imaginary part of the value at a complex argument near ``x``, without round-off of differences. The function
    must be analytic in pieces, of which comparisons of real parts choose one.

    After Squire and Trapp, *Using complex variables to estimate derivatives of real functions* (1998).
    """
    return np.asarray(np.asarray(function(x + 1j * TINY * direction)).imag / TINY)
