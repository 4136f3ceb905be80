"""Shape functions against polynomials; moments of cross-sections against integrals, torsion against tables."""

from math import pi

import numpy as np
import pytest
from hypothesis import given, strategies as st

from phlexible.elements import line_functions
from phlexible.elements.line_functions import gauss
from phlexible.elements.sections import CircularSection, RectangularSection, Section

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


def test_a_section_fills_in_what_is_left_out():
    round_one = Section(2.0, 3.0)
    assert (round_one.second_moment_z, round_one.torsion_constant, round_one.polar_moment) == (3.0, 6.0, 6.0)
    other = Section(area=2.0, second_moment_y=3.0, second_moment_z=4.0, torsion_constant=5.0)
    assert (other.area, other.second_moment_y, other.second_moment_z) == (2.0, 3.0, 4.0)
    assert (other.torsion_constant, other.polar_moment) == (5.0, 7.0)
    assert other == Section(2.0, 3.0, 4.0, 5.0) and len({other, Section(2.0, 3.0, 4.0, 5.0)}) == 1


def test_circle_against_polar_integration():
    section = CircularSection(diameter=0.4)
    points, weights = gauss(4)
    r = 0.2 * points
    assert section.area == pytest.approx(2 * pi * 0.2 * weights @ r, rel=1e-14, abs=0)
    for moment in (section.second_moment_y, section.second_moment_z, section.torsion_constant / 2):
        assert moment == pytest.approx(pi * 0.2 * weights @ r**3, rel=1e-14, abs=0)
    assert section.polar_moment == pytest.approx(2 * pi * 0.2 * weights @ r**3, rel=1e-14, abs=0)


def test_rectangle_against_integration_over_width_along_y_and_height_along_z():
    section = RectangularSection(width=0.3, height=0.1)
    points, weights = gauss(3)
    y, z = 0.3 * (points - 0.5), 0.1 * (points - 0.5)
    measure = 0.03 * np.outer(weights, weights)
    assert section.area == pytest.approx(measure.sum(), rel=1e-14, abs=0)
    assert section.second_moment_z == pytest.approx((measure * y[:, None] ** 2).sum(), rel=1e-14, abs=0)
    assert section.second_moment_y == pytest.approx((measure * z**2).sum(), rel=1e-14, abs=0)
    assert section.polar_moment == pytest.approx((measure * (y[:, None] ** 2 + z**2)).sum(), rel=1e-14, abs=0)


@pytest.mark.parametrize("ratio", [1.0, 1.2, 2.0, 7.0, 40.0, 1000.0])
def test_rectangle_torsion_constant_against_the_plain_series(ratio):
    n = np.arange(1, 200_001, 2.0)
    plain = ratio * (1 / 3 - 64 / pi**5 / ratio * (np.tanh(n * pi * ratio / 2) / n**5)[::-1].sum())
    for section in (RectangularSection(ratio, 1.0), RectangularSection(1.0, ratio)):
        assert section.torsion_constant == pytest.approx(plain, rel=1e-14, abs=0)


def test_square_torsion_constant_of_the_tables():
    # Timoshenko and Goodier, Theory of Elasticity, article 109: 0.1406 a^4, here to 12 digits.
    assert RectangularSection(1.0, 1.0).torsion_constant == pytest.approx(0.140577014955, abs=1e-12)
