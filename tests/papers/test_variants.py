"""What the forms of a body keep over time: energy, the stress that belongs to the strain, the motion."""

import numpy as np
import pytest

import phlexible as ph
from bodies.forms import beam
from phlexible.papers.floating_forms import BodyState

SPIN = np.array([0.0, 0.0, 8.0])


def spun(variant, elements, steps=40, strain="linear", duration=0.05):
    """A bent free beam, at rest in its frame, which turns; the form, first and last state."""
    form = beam(frame="cantilever", elements=elements, strain=strain).port_hamiltonian(variant, dimension=2)
    nodes = np.linspace(0.0, 0.5, elements + 1)[1:]
    eta = np.column_stack([0 * nodes, 0.1 * nodes**2, 0.2 * nodes]).ravel()
    rate = -form.convection(eta) @ SPIN  # so that deta/dt = 0 in every form
    stress = form.stress_space.stress(eta)
    start = form.joined(BodyState(np.zeros(3), np.eye(3), eta, np.zeros(3), SPIN, rate, stress))
    return form, start, ph.integrate(form, start, None, duration, duration / steps, "gauss2").states[-1]


def tip(form, x):
    state, point = form.split(x), form.body.points.locate(form.locations["end"])
    return state.position + state.rotation @ (point.position + point.shapes @ state.displacement)


@pytest.mark.slow
def test_constant_mass_approaches_the_full_form_as_elements_are_added():
    gaps = []
    for elements in (1, 2, 4):
        runs = [spun(variant, elements, steps=20, duration=0.025) for variant in ("full", "constant_mass")]
        tips = [tip(form, end) for form, _, end in runs]
        gaps.append(np.abs(tips[0] - tips[1]).max())
    assert gaps[1] < gaps[0] / 2 and gaps[2] < gaps[1] / 2


def test_gauss_keeps_the_quadratic_energy_of_constant_mass_exactly_and_zeroth_order_does_not():
    changes = {}
    for variant in ("full", "constant_mass", "zeroth_order"):
        form, start, end = spun(variant, 2)
        changes[variant] = abs(form.storage(end) / form.storage(start) - 1)
    assert changes["constant_mass"] < 1e-12
    assert changes["full"] < 1e-6  # the energy is of fourth degree: order 4 in the step
    assert changes["zeroth_order"] > 1e-3


@pytest.mark.parametrize("variant", ["full", "constant_mass"])
def test_stress_stays_that_of_the_strain(variant):
    form, _, end = spun(variant, 2, steps=80, strain="von_karman")
    state = form.split(end)
    expected = form.stress_space.stress(state.displacement)
    assert state.stress == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
