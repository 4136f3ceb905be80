"""First and second time derivatives of a user's function from differences, also where it begins."""

from collections.abc import Callable
from functools import cache

import numpy as np

from phlexible.algebra.arrays import Array

DEGREE = 12
TOGETHER = 3  # windows whose samples are asked for at once
LONGEST = 0.0213  # [s]; no round number, so that no period of a path is likely to be a multiple
SHORTEST = 1e-9  # [s]
GOAL = 1e-11
ROUND_OFF = 16 * float(np.finfo(float).eps)


def derivatives(
    function: Callable[[float], Array],
    time: float,
    begin: float = 0.0,
    end: float = np.inf,
    many: Callable[[Array], Array] | None = None,
) -> tuple[Array, Array]:
    """df/dt and d2f/dt2 at a time; f returns arrays of one shape, ``many`` those of many times, where it is known.

    A polynomial of degree 12 through Chebyshev points of a window around the time (after it near the
    ``begin``, before it near the ``end`` and where the function ends with a ValueError) is differentiated;
    the window is halved until two successive derivatives agree to 1e-11, or no longer come closer. Short
    windows in which the values of the function differ by their round-off only tell nothing.

    Raises:
        ValueError: the function refuses times on both sides.
    """
    sampled = many or (lambda times: np.array([function(t) for t in times.tolist()]))
    best_first, best_second = np.inf, np.inf
    here, windows = _longest_windows(sampled, time, begin, end)
    round_off = float(ROUND_OFF * np.abs(here).max(initial=0.0))
    length = LONGEST
    coarse = fine = windows.pop() if windows else _window_derivatives(sampled, time, length, begin, end)
    first, second = fine
    while (length := length / 2) > SHORTEST:
        fine = windows.pop() if windows else _window_derivatives(sampled, time, length, begin, end)
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


def rough_derivatives(function: Callable[[Array], Array], times: Array, begin: float = 0.0) -> Array:
    """df/dt as ``first_derivatives``, of the longest window alone: nobody knows how good it is.

    Raises:
        ValueError: the function ends inside a window.
    """
    count = len(times)
    samples, weights = _windows(times, LONGEST, begin)
    values = function(np.concatenate([times, samples.ravel()]))
    return _changes(values[count:], values[:count], weights) * (2 / LONGEST)


def first_derivatives(function: Callable[[Array], Array], times: Array, begin: float = 0.0) -> Array:
    """df/dt at many times, shape (times, k), for a function of arrays of times with values (times, k).

    The windows of ``derivatives`` are halved for all times together until each of them has converged.
    Where the function ends inside a window, times are done one by one.
    """
    try:
        return _joint_derivatives(function, times, begin)
    except ValueError:
        return np.array([derivatives(lambda t: function(np.array([t]))[0], time, begin)[0] for time in times])


def _joint_derivatives(function: Callable[[Array], Array], times: Array, begin: float) -> Array:
    here = function(times)
    round_off = ROUND_OFF * np.abs(here).max(axis=1, initial=0.0)
    result = np.zeros_like(here)
    best = np.full(len(times), np.inf)
    open_rows = np.arange(len(times))
    length, coarse = LONGEST, None
    while len(open_rows) and length > SHORTEST:
        samples, weights = _windows(times[open_rows], length, begin)
        fine = _changes(function(samples.ravel()), here[open_rows], weights) * (2 / length)
        going = np.ones(len(open_rows), dtype=bool)
        if coarse is not None:
            gap = np.abs(fine - coarse).max(axis=1) + round_off[open_rows] / length
            better = gap < best[open_rows]
            result[open_rows[better]], best[open_rows[better]] = fine[better], gap[better]
            going = (gap > GOAL * np.abs(fine).max(axis=1)) & (gap <= 1e3 * best[open_rows])
        open_rows, coarse = open_rows[going], fine[going]
        length /= 2
    return result


def _windows(times: Array, length: float, begin: float) -> tuple[Array, Array]:
    """Times of samples in windows around the times, or after those near ``begin``, and their weights, (T, k)."""
    is_inside = (times - length / 2 >= begin)[:, None]
    middle, first = _weights(0.0), _weights(-1.0)
    points, weights = (np.where(is_inside, *pair) for pair in zip(middle[:2], first[:2], strict=True))
    return times[:, None] + length / 2 * (points - np.where(is_inside, 0.0, -1.0)), weights


def _changes(values: Array, here: Array, weights: Array) -> Array:
    """Weighted sums of the samples (T k, c) of each time, less its own value (T, c)."""
    change = values.reshape(*weights.shape, -1) - here[:, None]
    return np.asarray(np.einsum("tk,tkc->tc", weights, change))


def _longest_windows(
    function: Callable[[Array], Array], time: float, begin: float, end: float
) -> tuple[Array, list[tuple[Array, Array]]]:
    """f at the time, and the derivatives on the windows that are mostly needed, the longest one last.

    None of them where the function ends in one.
    """
    lengths = [LONGEST / 2**k for k in range(TOGETHER)]
    places = [_place(time, length, begin, end) for length in lengths]
    times = [
        time + length / 2 * (_weights(place)[0] - place) for length, place in zip(lengths, places, strict=True)
    ]
    try:
        values = function(np.concatenate([[time], *times]))
    except ValueError:
        return function(np.array([time]))[0], []
    found = []
    for k in reversed(range(TOGETHER)):
        own = values[1 + k * (DEGREE + 1) : 1 + (k + 1) * (DEGREE + 1)]
        found.append(_weighted(own - values[0], lengths[k], places[k]))
    return values[0], found


def _place(time: float, length: float, begin: float, end: float) -> float:
    """Of a time in its window: -1 at its beginning, 0 in the middle, 1 at its end."""
    if time + length / 2 > end and time - length >= begin:
        return 1.0
    return 0.0 if time - length / 2 >= begin else -1.0


def _window_derivatives(
    function: Callable[[Array], Array], time: float, length: float, begin: float, end: float
) -> tuple[Array, Array]:
    """The derivatives of the interpolant on one window of the given length [s]."""
    place = _place(time, length, begin, end)
    try:
        return _interpolant_derivatives(function, time, length, place)
    except ValueError:
        if time - length < begin:
            raise
        return _interpolant_derivatives(function, time, length, 1.0)


def _interpolant_derivatives(
    function: Callable[[Array], Array], time: float, length: float, place: float
) -> tuple[Array, Array]:
    points = _weights(place)[0]
    values = function(np.append(time + length / 2 * (points - place), time))
    return _weighted(values[:-1] - values[-1], length, place)


def _weighted(change: Array, length: float, place: float) -> tuple[Array, Array]:
    """Both derivatives from the changes of the samples of a window against the value at the place."""
    _, first, second = _weights(place)
    flat, shape = change.reshape(len(change), -1), change.shape[1:]
    return ((first @ flat) * (2 / length)).reshape(shape), ((second @ flat) * (2 / length) ** 2).reshape(shape)


@cache
def _weights(place: float) -> tuple[Array, Array, Array]:
    """Chebyshev points of [-1, 1] and the weights of both derivatives at a place."""
    points = np.sort(np.polynomial.chebyshev.chebpts2(DEGREE + 1))
    to_coefficients = np.linalg.inv(np.polynomial.chebyshev.chebvander(points, DEGREE))
    basis = np.eye(DEGREE + 1)
    first, second = (
        np.polynomial.chebyshev.chebval(place, np.polynomial.chebyshev.chebder(basis, m)) @ to_coefficients
        for m in (1, 2)
    )
    return points, first, second
