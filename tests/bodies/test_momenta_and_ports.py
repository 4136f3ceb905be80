"""Remark 3: rigid bodies with momenta as states; boundary ports anywhere on a body."""

import numpy as np
import pytest

import phlexible as ph
from bodies.forms import random_state
from refusals import refused

GRAVITY = (1.0, -9.0, 0.5)


def block():
    return ph.RigidBody(3.0, [[0.4, 0.05, 0], [0.05, 0.5, 0], [0, 0, 0.6]], center=(0.1, 0.2, -0.3))


@pytest.mark.parametrize(
    ("body", "dimension"),
    [(block(), 3), (ph.RigidBody(3.0, 0.6, center=(0.1, 0.2, 0)), 2), (ph.PointMass(2.0), 3)],
    ids=["in space", "in the plane", "point mass"],
)
def test_momenta_move_as_velocities_do_and_h_is_a_function_of_them(body, dimension):
    gravity = GRAVITY[:dimension] + (0.0,) * (3 - dimension)
    form = body.port_hamiltonian(dimension=dimension, gravity=gravity)
    momentum = ph.with_momenta(form)
    x = random_state(form)[0]
    p = momentum.momenta(x)
    assert momentum.velocities(p) == pytest.approx(x)
    figures = ph.check_structure(momentum, p)
    assert max(figures.skewness, figures.power) < 1e-14 and figures.gradient < 1e-9
    assert (momentum.descriptor_matrix(p) == np.eye(momentum.state_size)).all()
    u = np.random.default_rng(3).normal(size=form.port_size)
    mass = form.descriptor_matrix(x)  # constant: no deformation
    assert momentum.forces(p, u) == pytest.approx(mass @ np.linalg.solve(mass, form.forces(x, u)), rel=1e-12)
    assert momentum.storage(p) == pytest.approx(form.storage(x))
    units = [state.unit for state in momentum.states]
    assert units[-1] == ("kg m/s" if isinstance(body, ph.PointMass) else "kg m^2/s")


def test_ports_sit_anywhere_on_a_beam():
    """In the middle of a clamped beam: F L^3 / (24 EI) there, F (L/2)^2 (5 L) / (12 EI) at the end."""
    length, rigidity = 2.0, 2e11 * 0.03 * 0.02**3 / 12
    section = ph.RectangularSection(width=0.02, height=0.03)
    beam = ph.Beam(length, section, ph.Material(2e11, 7800.0), 4, "cantilever")
    form = beam.port_hamiltonian(dimension=2, ports={"middle": 1.0, "third": 2 / 3})
    assert [port.name for port in form.ports][-4:-1] == ["middle moment", "third force", "third moment"]
    model = ph.inverted(ph.inverted(ph.linearized(form), "start force"), "start moment")
    seen = ph.LinearModel.of(model)
    across = [model.port_slice(f"{name} force").start + 1 for name in ("middle", "end")]
    slow = 1e-2
    moved = seen.frequency_response([slow]).values[0][across, across[0]] / (1j * slow)
    expected = np.array([(length / 2) ** 3 / 3, (length / 2) ** 2 * (5 * length / 2) / 6]) / rigidity
    assert moved.real == pytest.approx(expected, rel=1e-6)


def test_ports_of_a_rigid_body_have_their_lever_arms():
    arm = np.array([0.5, -0.2, 0.1])
    form = block().port_hamiltonian(ports={"corner": arm})
    x = random_state(form)[0]
    v, w = x[form.state_slice("velocity")], x[form.state_slice("angular_velocity")]
    assert form.output(x)[form.port_slice("corner force")] == pytest.approx(v + np.cross(w, arm))
    assert form.output(x)[form.port_slice("corner moment")] == pytest.approx(w)


def test_what_is_refused():
    beam = ph.Beam(1.0, ph.RectangularSection(0.02, 0.03), ph.Material(2e11, 7800.0), 2)
    refused(ph.ModelError, "bodies that do not deform", lambda: ph.with_momenta(beam.port_hamiltonian()))
    refused(ph.ModelError, "form must be what body.port_hamiltonian", lambda: ph.with_momenta(beam))
    refused(ph.ModelError, "form must be what body.port_hamiltonian", lambda: ph.linearized(beam))
    refused(ph.AttachmentError, "1.5", lambda: beam.port_hamiltonian(ports={"beyond": 1.5}))
    refused(ph.AttachmentError, "RigidBody has no", lambda: block().port_hamiltonian(ports={"middle": 0.5}))
    refused(ph.ParameterError, "ports must have new names", lambda: beam.port_hamiltonian(ports={"end": 0.5}))
    refused(ph.ParameterError, "must be a mapping", lambda: beam.port_hamiltonian(ports=[0.5]))
