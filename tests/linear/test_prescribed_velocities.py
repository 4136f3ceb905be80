"""Ports with input and output exchanged ([B] (43)): acceleration in, force out, as in two-port models."""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from linear.four_bar_by_hand import DENSITY, link
from phlexible.linear.first_order import energy_form
from phlexible.linear.reduction.state_bases import normal_form_of_states

LENGTH, AREA, RIGIDITY = 0.3, 4e-5, 0.6
MASS = DENSITY * AREA * LENGTH
BASE = ("link.start force", "link.start moment")
CLAMPED = np.array([1.875104068712, 4.6940911329742]) ** 2 * np.sqrt(RIGIDITY / (DENSITY * AREA)) / LENGTH**2


def driven_link(*left_out):
    """A beam whose start is prescribed, with a force at its end."""
    body = link("link", LENGTH, AREA, RIGIDITY)
    for port in BASE:
        body = ph.inverted(body, port)
    kept = [p for p in body.ports if p.name in (*BASE, "link.end force") and p.name not in left_out]
    columns = np.concatenate([np.arange(body.port_size)[body.port_slice(p.name)] for p in kept])
    return ph.LinearModel.of(replace(body, port_map=body.port_map.tocsc()[:, columns], ports=tuple(kept)))


def test_the_base_feels_the_rigid_inertia_and_the_force_at_the_end():
    """At frequency zero: mass, static moment and inertia about the start; forces pass through with their lever."""
    space = driven_link().to_state_space(accelerations=BASE)
    still = space(1e-3j).real
    inertia = np.array([[MASS, 0, 0], [0, MASS, MASS * LENGTH / 2], [0, MASS * LENGTH / 2, MASS * LENGTH**2 / 3]])
    assert still[:3, :3] == pytest.approx(inertia, abs=1e-8 * MASS)
    assert still[:3, 3:] == pytest.approx(np.array([[-1, 0], [0, -1], [0, -LENGTH]]), abs=1e-8)
    poles = np.sort(np.abs(space.poles().imag))
    assert poles[poles > 1.0][:4:2] == pytest.approx(CLAMPED, rel=1e-5)


def test_the_state_space_has_the_response_of_the_model():
    model = driven_link()
    space = model.to_state_space(accelerations=["link.start force", "link.start moment"])
    for omega in (30.0, 300.0, 3000.0):
        exact = model.frequency_response([omega]).values[0]
        found = space(1j * omega) * np.array([1j * omega] * 3 + [1.0, 1.0])
        assert np.abs(found - exact).max() < 1e-9 * np.abs(exact).max()


def test_the_normal_form_has_the_poles_and_residues_of_the_model():
    """What its response leaves over is D + s D_1, of inputs that act by their values and rates."""
    model = driven_link()
    form = normal_form_of_states(energy_form(model))
    rates, s = form.structure - form.dissipation, 1j * np.array([30.0, 300.0, 700.0, 3000.0])
    exact = model.frequency_response(s.imag).values
    unit = np.eye(len(rates))
    dynamic = np.array([form.outputs @ np.linalg.solve(each * unit - rates, form.ports) for each in s])
    left = exact - dynamic
    slope = (left[1] - left[0]) / (s[1] - s[0])
    assert np.abs(dynamic).max() > 0.1 * np.abs(exact).max()
    for k in (2, 3):
        assert np.abs(left[0] + (s[k] - s[0]) * slope - left[k]).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.parametrize("method", ["modal", "craig_bampton", "krylov"])
def test_it_is_reduced_and_keeps_its_inertia(method):
    model = driven_link("link.end force")
    small = model.reduce(8, method)
    assert small.passivity().is_passive
    assert small.order == 8 + 3 + 3  # the prescribed velocities and their forces
    space, exact = (each.to_state_space(accelerations=BASE) for each in (small, model))
    assert space(1e-3j) == pytest.approx(exact(1e-3j), rel=1e-8, abs=1e-12)
    for omega in (100.0, 500.0):
        assert np.abs(space(1j * omega) - exact(1j * omega)).max() < 0.03 * np.abs(exact(1j * omega)).max()


def test_what_is_improper_is_said():
    words = "'rate to link.start force 0' answers to the rate of 'link.start force 0'"
    with pytest.raises(ph.ModelError, match=words):
        driven_link().to_state_space()
    with pytest.raises(ph.ModelError, match="answers to the rate of 'link.start moment'"):
        driven_link().to_state_space(accelerations=["link.start force"])
    with pytest.raises(ph.ParameterError, match="must name inputs that prescribe a velocity .link.start force 0,"):
        driven_link().to_state_space(accelerations=["link.end force"])
    with pytest.raises(ph.ModelError, match="prescribe already"):
        twice = ph.inverted(ph.inverted(link("link", LENGTH, AREA, RIGIDITY), BASE[0]), BASE[1])
        rows = [*range(twice.order), twice.order - 1]
        again = replace(
            twice,
            descriptor=twice.descriptor[rows][:, rows],
            structure=twice.structure[rows][:, rows],
            dissipation=twice.dissipation[rows][:, rows],
            port_map=np.vstack([twice.port_map.toarray(), np.zeros((1, twice.port_size))]),
            states=(*twice.states, replace(twice.states[-1], name="once more")),
            effort_map=None,
        )
        ph.LinearModel.of(again).to_state_space(accelerations=BASE)


def test_a_proper_model_with_prescribed_velocities_needs_no_accelerations():
    """The velocity of the end answers to that of the start, and not to its rate."""
    model = driven_link()
    ends = replace(
        model, outputs=model.outputs[3:], output_matrix=model.output_matrix[3:], differentiations=(0, 0),
        output_units=model.output_units[3:],
    )  # fmt: skip
    space = ends.to_state_space()
    exact = ends.frequency_response([200.0]).values[0]
    assert space(200j) == pytest.approx(exact, rel=1e-8, abs=1e-10)
