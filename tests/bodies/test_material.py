"""Elastic constants and the ranges they must lie in."""

import pytest

from phlexible.bodies.material import Material


def test_shear_modulus():
    assert Material(2.6e11, 7870.0, 0.3).shear_modulus == pytest.approx(1e11)
    assert Material(3.0, 1.0, poissons_ratio=0.5).shear_modulus == pytest.approx(1.0)
