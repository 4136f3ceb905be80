"""Secant numbers have the change of a function in a step without cancellation, and weights whose product it is."""

from math import sqrt

import numpy as np
import pytest

from phlexible.step.compilation.compiled import compiled, entry_point
from phlexible.step.compilation.notation import Vector, dot, rows_at, secant_parts, tables_at, three_secants, vector
from phlexible.step.tables.memory import DUAL, HEADER

RNG = np.random.default_rng(3)


@compiled
def _function(w: Vector, c: float) -> float:
    q = max(w.x, w.y, 0.0) - min(w.z, c)
    return -q * sqrt(dot(w, w) + c) / (2.0 + abs(w.y)) + 1.0 - w.x * w.z / 3.0


@entry_point
def _secant(header, numbers, results):
    t = tables_at(header)
    x, out = rows_at(t, numbers), rows_at(t, results)
    w = three_secants(vector(x[0], x[1], x[2]), vector(x[3], x[4], x[5]))
    out[0], out[1], c = secant_parts(_function(w, x[6]))
    out[2], out[3], out[4] = c.x, c.y, c.z
    out[5] = _function(vector(x[0], x[1], x[2]), x[6])
    out[6] = _function(vector(x[0] + x[3], x[1] + x[4], x[2] + x[5]), x[6])


def _found(header, given):
    numbers = np.asarray(given, dtype=np.float64)
    results = np.zeros((7, *numbers.shape[1:]))
    _secant(header, numbers, results)
    return results


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-9, 0.0])
def test_change_is_the_product_of_weights_and_changes_and_that_of_the_function(size):
    header = np.zeros(HEADER, dtype=np.int64)
    for _ in range(100):
        w, dw = RNG.normal(size=3), size * RNG.normal(size=3)
        value, change, *weights, start, end = _found(header, [*w, *dw, 0.2])
        assert value == start
        assert change == pytest.approx(end - start, abs=2e-15), "of values that are about one"
        assert weights @ dw == pytest.approx(change, abs=1e-14 * size)


def test_weights_are_the_gradient_where_nothing_changes():
    header, h = np.zeros(HEADER, dtype=np.int64), 1e-6
    w = np.array([0.7, -0.4, 0.1])
    weights = _found(header, [*w, 0.0, 0.0, 0.0, 0.2])[2:5]
    ends = [[_found(header, [*(w + s * h * e), 0, 0, 0, 0.2])[0] for s in (1, -1)] for e in np.eye(3)]
    assert weights == pytest.approx(np.diff(ends, axis=1)[:, 0] / (-2 * h), rel=1e-8)


def test_secants_of_dual_numbers_have_the_derivatives_of_change_and_weights():
    header, h, lanes = np.zeros(HEADER, dtype=np.int64), 1e-6, 4
    given, direction = np.array([0.7, -0.4, 0.1, 0.3, -0.5, 0.2, 0.2]), RNG.normal(size=7)
    dual = np.zeros((7, 2, lanes))
    dual[:, 0, 0], dual[:, 1, 0] = given, direction
    found = _found(header.view([(f"{DUAL}{lanes}", np.int64)]), dual.reshape(7, -1)).reshape(7, 2, lanes)
    ends = [_found(header, given + s * h * direction) for s in (1, -1)]
    assert found[:, 0, 0] == pytest.approx(_found(header, given), rel=1e-15)
    assert found[:, 1, 0] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-7)
