"""Functions of users in compiled loops: compiled where possible, Python otherwise, errors kept."""

import math

import numpy as np
import pytest
from numba import njit

from phlexible.step.compilation.subnormals import user_value
from phlexible.step.compilation.user_function import user_function


@njit
def _sum_of_values(address, places):
    total = 0.0
    for x in places:
        total += user_value(address, x)
    return total


@njit
def _twice(x):
    return 2 * x


PLACES = np.linspace(0.5, 2.0, 7)
TABLE = {1.0: 5.0}


class Cubic:
    """Numba cannot compile a method of an object."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x**3


@pytest.mark.parametrize(
    ("function", "is_compiled"),
    [
        (lambda x: 3 * x**2, True),
        (lambda x: math.log(x) - np.sqrt(x), True),
        (lambda x: x if x > 1 else 0.0, True),
        (lambda x: 1, True),
        (Cubic(2.0), False),
        (lambda x: TABLE.get(x, x), False),
        (np.exp, False),
        (lambda x: _twice(x), False),  # what it raised would be lost
    ],
)
def test_compiled_code_gets_the_value_of_the_python_function(function, is_compiled):
    user = user_function(function)
    assert user.is_compiled == is_compiled
    assert _sum_of_values(user.address, PLACES) == pytest.approx(sum(float(function(x)) for x in PLACES), rel=1e-14)
    assert user.errors == []


def test_one_compiled_loop_serves_all_functions():
    _sum_of_values(user_function(lambda x: x).address, PLACES)
    known = len(_sum_of_values.signatures)
    _sum_of_values(user_function(lambda x: 2 * x).address, PLACES)
    assert len(_sum_of_values.signatures) == known


def test_what_is_compiled_is_found_again_where_all_that_it_reads_is_the_same():
    """Of models that are built again; neither numbers of another type nor of another sign are the same."""

    def made(k):
        return user_function(lambda x: k * x)

    assert made(0.0).address == made(0.0).address
    others = [made(k) for k in (0.0, -0.0, 0, False, np.float32(0.0), np.float64(0.0), 2.0)]
    assert len({user.address for user in others}) == len(others)

    def of_array(k):
        held = np.array([k])
        return user_function(lambda x: held[0] * x)

    assert [_sum_of_values(of_array(k).address, PLACES[:1]) for k in (2.0, 3.0)] == [1.0, 1.5]


@pytest.mark.parametrize("through_python", [False, True])
def test_an_exception_is_nan_in_the_loop_and_kept(through_python):
    """Numba would print that of what it compiles and go on with 0."""

    def limited(x):
        if x > 1:
            raise KeyError("no such place")
        return x

    user = user_function((lambda x: limited(x)) if through_python else limited)
    assert not user.is_compiled
    assert np.isnan(_sum_of_values(user.address, PLACES))
    assert isinstance(user.errors[0], KeyError)


def test_values_that_the_compiled_function_would_change_stay_with_python():
    class Half(float):
        pass

    user = user_function(lambda x: 7 // 2 * x if isinstance(x, Half) else x / 2)
    assert _sum_of_values(user.address, PLACES) == pytest.approx(PLACES.sum() / 2)
