"""Moments of cross-sections against integrals, torsion constants against tables."""

from math import pi

import numpy as np
import pytest

from phlexible.elements.line_functions import gauss
from phlexible.elements.sections import CircularSection, RectangularSection, Section


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
