"""Derivatives from differences, where rounding and kinks leave little to see."""

import numpy as np
import pytest

from phlexible.algebra.user_derivatives import derivatives, find_jump, first_derivatives, run_once, wrong_rate

TIMES = np.linspace(0.0, 1.0, 11)


@pytest.mark.parametrize("place", [0.0, 1.0, 1e3])
def test_slow_motions_far_from_zero_are_seen(place):
    """Short windows see nothing but equal numbers, which agree with each other best."""
    for time in (0.0, 0.5):
        first, second = derivatives(lambda t: place + 1e-6 * t[:, None] ** 2, time)
        assert first == pytest.approx([2e-6 * time], abs=max(place, 1e-6) * 1e-11)
        assert second == pytest.approx([2e-6], abs=max(place, 1e-3) * 2e-8)
    rates = first_derivatives(lambda t: place + 1e-6 * t[:, None] ** 2, TIMES)
    assert rates[:, 0] == pytest.approx(2e-6 * TIMES, abs=max(place, 1e-6) * 1e-11)


@pytest.mark.parametrize(
    ("values", "rates", "time"),
    [
        (np.sin, np.cos, None),
        (lambda t: 0.1 * np.cos(150 * t), lambda t: -15 * np.sin(150 * t), None),
        (lambda t: np.abs(t - 0.5), lambda t: np.sign(t - 0.4999), None),  # either side of a kink
        (lambda t: np.where(t > 0.75, np.nan, t), lambda t: 0 * t + 1, None),
        (np.sin, lambda t: 1.01 * np.cos(t), 0.0),
        (np.sin, lambda t: np.where(t > 0.85, 0.0, np.cos(t)), 0.9),
        (lambda t: 1e3 + 0.15 * np.cos(150 * t), lambda t: -15 * np.sin(151 * t), 1.0),
    ],
)
def test_a_rate_that_is_none_is_found(values, rates, time):
    def column(function):
        def at(times):
            found = function(times)[:, None]
            if np.isnan(found).any():
                raise ValueError("not defined there")
            return found

        return at

    found = wrong_rate(column(values), column(rates), TIMES)
    assert (found and found.time) == time


@pytest.mark.parametrize(
    ("values", "time"),
    [
        (lambda t: np.tanh(1e3 * (t - 0.33)), None),
        (lambda t: np.cos(500 * t), None),
        (lambda t: t**30, None),
        (lambda t: np.where(t > 0.33, 1.0, 0.0), 0.33),
        (lambda t: np.cos(20 * t) + (t >= 0.77), 0.77),
    ],
)
def test_jumps_are_found_and_steep_motions_are_none(values, time):
    jump = find_jump(lambda t: values(t)[:, None], TIMES, 1e-6)
    assert (jump and jump.time) == (time and pytest.approx(time, abs=1e-7))


GAIN = [1.0]


def path(radius, reads_list=False):
    if reads_list:
        return lambda t: radius * GAIN[0] * np.sin(t)
    return lambda t: radius * np.sin(t)


def clock(t):
    import time

    return t + time.time()


def table(t):
    return np.interp(t, *np.loadtxt("table.csv"))


def told(t):
    print(t)
    return max(t, 0.0)


def evaluated(t):
    return eval("GAIN[0]") * t


def test_checks_pass_once_for_functions_of_the_same_code_and_constants():
    runs = []

    def check(function, content=()):
        run_once([function], content, lambda: runs.append(function))
        return len(runs)

    assert [check(path(0.3)), check(path(0.3)), check(path(0.3), [b"other times"])] == [1, 1, 2]
    assert [check(path(0.4)), check(path(1)), check(path(1.0))] == [3, 4, 5]
    assert [check(path(0.3, reads_list=True)), check(path(0.3, reads_list=True))] == [6, 7]  # which may change
    assert [check(lambda t: t + np.random.rand()), check(np.sin), check(np.sin)] == [8, 9, 10]
    assert [check(clock), check(clock), check(table), check(table)] == [11, 12, 13, 14]  # clocks and files
    assert [check(told), check(told), check(evaluated), check(evaluated)] == [15, 16, 17, 18]


def test_a_check_that_fails_fails_each_time():
    def fail():
        raise ValueError("wrong")

    for _ in range(2):
        with pytest.raises(ValueError, match="wrong"):
            run_once([path(0.5)], [b"times"], fail)
