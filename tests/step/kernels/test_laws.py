"""The compiled laws are the laws of the bodies, and their slopes are derivatives."""

import numpy as np
import pytest

import phlexible as ph
from laws.cases import LAW_CASES
from phlexible.bodies.string_law import TensionOnly
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.compilation.compiled import entry_point
from phlexible.step.compilation.notation import tables_at
from phlexible.step.kernels.laws import discrete_gradient, stored_energy


@entry_point
def _values(header, theta, change):
    t = tables_at(header)
    gradient, slope = discrete_gradient(t, 0, theta, change)
    return stored_energy(t, 0, theta), gradient, slope


LAWS = [kind for kind in LAW_CASES if kind is not TensionOnly]  # with a kink at C = 1
STIFFNESS = 20.0


def assembled(law):
    """One strain of unit weight: a string of one linear element of unit length."""
    model = ph.Model()
    model.add(ph.String(1.0, 1.0, 1, law))
    return assemble(system_of(model))


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("C0", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("change", [0.0, 1e-12, -3e-8, 2e-5, -4e-3, 0.02, -0.2, 1.4])
def test_compiled_laws_are_those_of_the_bodies(kind, C0, change):
    law = LAW_CASES[kind](STIFFNESS)
    header = assembled(law).memory.header
    energy, force, slope = _values(header, C0, change)
    assert energy == pytest.approx(float(law.energy(C0)), rel=1e-13, abs=1e-15)
    assert force == pytest.approx(float(law.discrete_derivative(C0, C0 + change)), rel=1e-9, abs=1e-9)
    shift = 1e-4
    steps = [_values(header, C0, change + s)[1] for s in (shift, -shift)]
    assert slope == pytest.approx((steps[0] - steps[1]) / (2 * shift), rel=3e-5)
    steps = [float(law.derivative(C0 + s)) for s in (shift, -shift)]
    assert float(law.curvature(C0)) == pytest.approx((steps[0] - steps[1]) / (2 * shift), rel=3e-5, abs=1e-9)


@pytest.mark.parametrize("kind", LAWS)
def test_a_collapsed_string_has_no_force_but_by_a_linear_law(kind):
    header = assembled(LAW_CASES[kind](STIFFNESS)).memory.header
    is_defined = kind is ph.StVenantKirchhoffLaw  # its stress is linear in C: polarised strains may be negative
    assert np.isnan(_values(header, 1.0, -1.0)[1]) != is_defined
    assert np.isnan(_values(header, -0.1, 0.2)[0]) != is_defined
