"""The compiled laws are the laws of the bodies, and their slopes are derivatives."""

import numpy as np
import pytest
from numba import njit

import phlexible as ph
from phlexible.compilation.user_function import user_function
from phlexible.kernels import laws


@njit
def _values(kind, stiffness, energy, derivative, C0, change):
    force = laws.law_force(kind, stiffness, energy, derivative, C0, change)
    slope = laws.law_slope(kind, stiffness, derivative, force, C0, change)
    return laws.law_energy(kind, stiffness, energy, C0), force, slope


ENERGY, DERIVATIVE = lambda C: 3.0 * (C - 1) ** 2 + C**3 - 3 * C, lambda C: 6.0 * (C - 1) + 3 * C**2 - 3
USERS = [user_function(ENERGY), user_function(DERIVATIVE)]
CASES = [
    (ph.LogarithmicLaw(20.0), laws.LOGARITHMIC, 20.0),
    (ph.LinearLaw(20.0), laws.LINEAR, 20.0),
    (ph.StVenantKirchhoffLaw(20.0), laws.ST_VENANT_KIRCHHOFF, 20.0),
    (ph.Law(ENERGY, DERIVATIVE), laws.USER, 48.0),
]


@pytest.mark.parametrize(("law", "kind", "stiffness"), CASES)
@pytest.mark.parametrize("C0", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("change", [0.0, 1e-12, -3e-8, 2e-5, -4e-3, 0.02, -0.2, 1.4])
def test_compiled_laws_are_those_of_the_bodies(law, kind, stiffness, C0, change):
    addresses = (USERS[0].address, USERS[1].address)
    energy, force, slope = _values(kind, stiffness, *addresses, C0, change)
    assert energy == pytest.approx(float(law.energy(C0)), rel=1e-13, abs=1e-15)
    assert force == pytest.approx(float(law.discrete_derivative(C0, C0 + change)), rel=1e-9, abs=1e-9)
    shift = 1e-4
    steps = [_values(kind, stiffness, *addresses, C0, change + s)[1] for s in (shift, -shift)]
    assert slope == pytest.approx((steps[0] - steps[1]) / (2 * shift), rel=3e-5)


@pytest.mark.parametrize(("law", "kind", "stiffness"), CASES)
def test_a_collapsed_string_has_no_force(law, kind, stiffness):
    addresses = (USERS[0].address, USERS[1].address)
    assert np.isnan(_values(kind, stiffness, *addresses, 1.0, -1.0)[1])
    assert np.isnan(_values(kind, stiffness, *addresses, -0.1, 0.2)[0])
