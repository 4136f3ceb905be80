"""Shape functions of one element against the polynomials that they must reproduce."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from phlexible.elements import line_functions

LENGTH = 0.7
S = np.linspace(0, 1, 9)
coefficients = st.lists(st.floats(-3, 3), min_size=4, max_size=4)


@given(coefficients)
def test_hermite_functions_reproduce_every_cubic(numbers):
    cubic = np.polynomial.Polynomial(numbers)
    slope, ends = cubic.deriv(), np.array([0, LENGTH])
    nodal = np.column_stack([cubic(ends), slope(ends)]).ravel()
    x = LENGTH * S
    assert line_functions.hermite_values(S, LENGTH) @ nodal == pytest.approx(cubic(x), abs=1e-13)
    assert line_functions.hermite_slopes(S, LENGTH) @ nodal == pytest.approx(slope(x), abs=1e-12)
    assert line_functions.hermite_curvatures(S, LENGTH) @ nodal == pytest.approx(cubic.deriv(2)(x), abs=1e-11)


@given(coefficients)
def test_lagrange_functions_reproduce_every_straight_line(numbers):
    line = np.polynomial.Polynomial(numbers[:2])
    nodal = line(np.array([0, LENGTH]))
    assert line_functions.lagrange_values(S) @ nodal == pytest.approx(line(LENGTH * S), abs=1e-14)
    assert line_functions.lagrange_slopes(S, LENGTH) @ nodal == pytest.approx(np.full(9, numbers[1]), abs=1e-13)


@pytest.mark.parametrize("count", range(1, 6))
def test_gauss_is_exact_up_to_degree_2n_minus_1_and_no_further(count):
    points, weights = line_functions.gauss(count)
    powers = np.arange(2 * count + 1)
    errors = weights @ points[:, None] ** powers - 1 / (powers + 1)
    assert np.abs(errors[:-1]).max() < 1e-15
    assert abs(errors[-1]) > 1e-6
