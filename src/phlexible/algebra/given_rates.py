"""Is what a user gives as the rate of a function of time its derivative? And does the function jump?"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.differences import derivatives, first_derivatives, rough_derivatives
from phlexible.errors import ParameterError

Values = Callable[[Array], Array]
"""Values at many times, shape (times, k)."""

AGREEMENT = 1e-3  # of the fastest rate
CLEARLY = 1e-4  # of it: what decides without more ado
ROUND_OFF = 1e-9  # of the values, in a second
JUMP_SHARE = 0.75  # of the change over a step that stays in one half of it, halving after halving
HALVINGS = 30
SOON = np.array([0.0, 0.005, 0.02])
"""[s] Times at which a rate is checked where it is given; a run checks it at its own times."""


class WrongRate(NamedTuple):
    """What was given at a time, and what the function says there, each of shape (k,)."""

    time: float
    given: Array
    found: Array


class Jump(NamedTuple):
    """When a function jumps, and its values before and after, each of shape (k,)."""

    time: float
    before: Array
    after: Array


def refuse_wrong_rate(name: str, values: Values, rates: Values, times: Array) -> None:
    """Refuses a rate that is not that of its function.

    Raises:
        ParameterError: says where, what was given and what the function does.
    """
    if wrong := wrong_rate(values, rates, times):
        raise ParameterError(
            f"{name} must be the derivative: at t = {wrong.time:.6g} s it is {listed(wrong.given)}, the function"
            f" itself changes by {listed(wrong.found)} a second; correct it or leave it out"
        )


def wrong_rate(values: Values, rates: Values, times: Array) -> WrongRate | None:
    """The worst of the times at which a rate is not the derivative, not even of one side of a kink; None: none.

    Times at which a function refuses to be asked are left out.
    """
    if _agree(values, rates, times):
        return None
    try:
        found = _compared(values, rates, times)
    except ValueError:  # a function ends, or is not defined somewhere
        found = []
        for time in times:
            with suppress(ValueError):
                found += _compared(values, rates, np.array([time]))
    fastest = max((np.abs([each.given, each.found]).max() for each in found), default=0.0)
    for each in sorted(found, key=_gap, reverse=True):
        allowed = AGREEMENT * fastest + ROUND_OFF * np.abs(values(np.array([each.time]))).max()
        if _gap(each) <= allowed:
            return None
        if not any(np.abs(each.given - side).max() <= allowed for side in _one_sided(values, each.time)):
            return each
    return None


def find_jump(values: Values, times: Array, smallest: float) -> Jump | None:
    """The first jump by more than ``smallest`` between two of the times; None: there is none.

    A smooth change is spread over both halves of a short interval; a jump stays in one of them.
    """
    known = values(times)
    wide = np.flatnonzero(_size(np.diff(known, axis=0)) > smallest)
    if not len(wide):
        return None
    middles = (times[wide] + times[wide + 1]) / 2
    low, middle, high = known[wide], values(middles), known[wide + 1]
    share = JUMP_SHARE * _size(high - low)
    suspicious = (_size(middle - low) > share) | (_size(high - middle) > share)
    for k in wide[suspicious]:
        if jump := _narrowed(values, (float(times[k]), float(times[k + 1])), (known[k], known[k + 1]), smallest):
            return jump
    return None


def listed(vector: Array) -> str:
    """Its components in a message; of a single number that."""
    words = ", ".join(f"{component:.6g}" for component in vector)
    return words if len(vector) == 1 else f"({words})"


def _narrowed(
    values: Values, ends: tuple[float, float], at: tuple[Array, Array], smallest: float, depth: int = 0
) -> Jump | None:
    """The jump between two times, where the change stays in one half; None where it is spread over both."""
    (begin, end), (low, high) = ends, at
    if float(_size(high - low)) <= smallest:
        return None
    if depth == HALVINGS:
        return Jump(end, low, high)
    middle = (begin + end) / 2
    value = values(np.array([middle]))[0]
    share, found = JUMP_SHARE * float(_size(high - low)), None
    if float(_size(value - low)) > share:
        found = _narrowed(values, (begin, middle), (low, value), smallest, depth + 1)
    if found is None and float(_size(high - value)) > share:
        found = _narrowed(values, (middle, end), (value, high), smallest, depth + 1)
    return found


def _agree(values: Values, rates: Values, times: Array) -> bool:
    """Whether rates clearly are derivatives, which a single window of each mostly shows."""
    with suppress(ValueError):
        given = rates(times)
        gap = np.abs(given - rough_derivatives(values, times)).max(axis=1)
        return bool((gap <= CLEARLY * np.abs(given).max()).all())
    return False


def _compared(values: Values, rates: Values, times: Array) -> list[WrongRate]:
    triples = zip(times.tolist(), rates(times), first_derivatives(values, times), strict=True)
    return [WrongRate(*triple) for triple in triples]


def _one_sided(values: Values, time: float) -> list[Array]:
    """Derivatives after and before a time, where there are any."""
    sides = []
    with suppress(ValueError):
        sides.append(derivatives(lambda t: values(np.array([t]))[0], time, begin=time)[0])
    with suppress(ValueError):
        sides.append(-derivatives(lambda t: values(np.array([-t]))[0], -time, begin=-time)[0])
    return sides


def _gap(each: WrongRate) -> float:
    return float(np.abs(each.given - each.found).max())


def _size(vectors: Array) -> Array:
    return np.asarray(np.abs(vectors).max(axis=-1))
