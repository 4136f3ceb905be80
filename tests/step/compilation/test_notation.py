"""Vectors, rows, choices and secant numbers in compiled code are what NumPy says, also in lanes."""

from math import floor, log1p, sqrt

import numpy as np
import pytest

from phlexible.step.compilation.compiled import compiled, compiled_lane_by_lane, entry_point
from phlexible.step.compilation.notation import (
    Vector,
    all_of,
    along,
    any_of,
    cross,
    dot,
    is_same_in_lanes,
    matrix,
    row,
    rows_at,
    secant_parts,
    tables_at,
    three_secants,
    transposed,
    vector,
    where,
)
from phlexible.step.tables.memory import DUAL, HEADER, LANES


def header_of(width):
    header = np.zeros(HEADER, dtype=np.int64)
    return header if width == 1 else header.view([(f"{LANES}{width}", np.int64)])


@entry_point
def _operations(header, numbers, results):
    t = tables_at(header)
    x, out = rows_at(t, numbers), rows_at(t, results)
    a, b = vector(x[0], x[1], x[2]), vector(x[3], x[4], x[5])
    M = matrix(vector(x[6], x[7], x[8]), vector(x[9], x[10], x[11]), vector(x[12], x[13], x[14]))
    s = 2.0 * a - b + cross(a, b)
    s += M @ a
    s -= b @ M
    N = M @ transposed(M) + 3 * M - M
    shifted = x + 3
    for i in range(3):
        out[i] = along(s, i)
        for j in range(3):
            out[3 + 3 * i + j] = along(row(N, i), j)
        (out + 12)[i] = shifted[i]
    out[15] = dot(a, -b) + a.x * b.y * row(M, 1).z


@pytest.mark.parametrize("width", [1, 4])
def test_operations_are_those_of_numpy(width):
    numbers, results = np.random.default_rng(1).normal(size=(15, width)), np.zeros((16, width))
    _operations(header_of(width), numbers.squeeze(), results)
    for x, out in zip(numbers.T, results.T, strict=True):
        a, b, M = x[:3], x[3:6], x[6:].reshape(3, 3)
        assert out[:3] == pytest.approx(2 * a - b + np.cross(a, b) + M @ a - b @ M, rel=1e-14)
        assert out[3:12] == pytest.approx((M @ M.T + 3 * M - M).ravel(), rel=1e-14)
        assert out[12:15] == pytest.approx(b, abs=0)
        assert out[15] == pytest.approx(-a @ b + a[0] * b[1] * M[1, 2], rel=1e-14)


@compiled_lane_by_lane
def _branched(x: float, exponent: int) -> tuple[float, float]:
    if x > 0.0:
        return x**exponent, 1.0
    return 0.0, -1.0


@entry_point
def _choices(header, numbers, results):
    t = tables_at(header)
    x, out = rows_at(t, numbers), rows_at(t, results)
    is_greater, largest, place = x[0] > x[1], x[0], 0
    for i in range(1, 4):
        is_larger = x[i] > largest
        largest, place = where(is_larger, x[i], largest), where(is_larger, i, place)
    out[0], out[1] = largest, place
    out[2] = where(is_greater & (not (x[1] == x[2])) | (x[3] != x[3]), max(x[0], x[1], x[2]), min(x[0], -1.0))
    out[3] = where(is_greater, vector(x[0], 1.0, 0.0), vector(0.0, 2.0, x[1])).y
    out[4] = sqrt(abs(x[0])) + floor(x[1]) + log1p(abs(x[2]))
    out[5], out[6] = _branched(x[0], 3)
    out[7] = 1.0 if any_of(is_greater) else 0.0
    out[8] = 1.0 if all_of(is_greater) else 0.0
    out[9] = 1.0 if is_same_in_lanes(place) else 0.0


@pytest.mark.parametrize("width", [1, 4])
def test_choices_are_made_in_each_lane(width):
    numbers, results = np.random.default_rng(5).normal(size=(4, width)), np.zeros((10, width))
    numbers[3, -1] = np.nan
    _choices(header_of(width), numbers.squeeze(), results)
    places = []
    for x, out in zip(numbers.T, results.T, strict=True):
        places.append(int(np.nanargmax(x)))
        greater = max(x[:3]) if x[0] > x[1] or np.isnan(x[3]) else min(x[0], -1.0)
        assert out[0] == np.nanmax(x) and out[1] == places[-1] and out[2] == greater
        assert out[3] == (1.0 if x[0] > x[1] else 2.0)
        assert out[4] == pytest.approx(np.sqrt(abs(x[0])) + np.floor(x[1]) + np.log1p(abs(x[2])), rel=1e-15)
        assert out[5:7].tolist() == pytest.approx([x[0] ** 3, 1.0] if x[0] > 0 else [0.0, -1.0])
    is_greater = numbers[0] > numbers[1]
    assert len(set(is_greater)) == min(width, 2), "lanes differ"
    assert results[7:, 0].tolist() == [is_greater.any(), is_greater.all(), len(set(places)) == 1]


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
