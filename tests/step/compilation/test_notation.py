"""Vectors, matrices and rows in compiled code are what NumPy says."""

import numpy as np
import pytest

from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import along, cross, dot, matrix, reals_at, row, transposed, vector


@entry_point
def _operations(numbers, results):
    x, out = reals_at(numbers), reals_at(results)
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


def test_operations_are_those_of_numpy():
    x, out = np.random.default_rng(1).normal(size=15), np.zeros(16)
    a, b, M = x[:3], x[3:6], x[6:].reshape(3, 3)
    _operations(x, out)
    assert out[:3] == pytest.approx(2 * a - b + np.cross(a, b) + M @ a - b @ M, rel=1e-14)
    assert out[3:12] == pytest.approx((M @ M.T + 3 * M - M).ravel(), rel=1e-14)
    assert out[12:15] == pytest.approx(b, abs=0)
    assert out[15] == pytest.approx(-a @ b + a[0] * b[1] * M[1, 2], rel=1e-14)
