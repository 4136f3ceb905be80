"""Elastic constants and the ranges they must lie in."""

import numpy as np
import pytest

from phlexible.bodies.material import Material
from phlexible.errors import ParameterError


def test_shear_modulus():
    assert Material(2.6e11, 7870.0, 0.3).shear_modulus == pytest.approx(1e11)
    assert Material(3.0, 1.0, poissons_ratio=0.5).shear_modulus == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"youngs_modulus": 0.0}, "youngs_modulus must be positive, got 0.0"),
        ({"youngs_modulus": np.inf}, "youngs_modulus must be finite, got inf"),
        ({"density": -1}, "density must be positive, got -1"),
        ({"poissons_ratio": 0.51}, r"poissons_ratio must lie in \(-1, 0.5\], got 0.51"),
        ({"poissons_ratio": -1}, r"poissons_ratio must lie in \(-1, 0.5\], got -1.0"),
        ({"poissons_ratio": np.nan}, "poissons_ratio must be finite, got nan"),
        ({"viscosity": -1e-9}, "viscosity must not be negative, got -1e-09"),
    ],
)
def test_a_bad_constant_is_named(arguments, message):
    with pytest.raises(ParameterError, match=f"^{message}$"):
        Material(**({"youngs_modulus": 1.0, "density": 1.0} | arguments))
