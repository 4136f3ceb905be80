"""Remark 3: rigid bodies with momenta as states; velocity forces of a free body; boundary ports anywhere."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from bodies.forms import random_state
from mechanisms import beam
from phlexible.bodies.mechanics import floating
from phlexible.bodies.rigid_body import RigidBody
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


BODIES = {
    "planar beam": beam().discretize(2),
    "beam": beam().discretize(3),
    "cantilever": beam(frame="cantilever").discretize(3),
    "rigid body": RigidBody(2.0, (1.0, 2.0, 2.5), center=(0.1, 0.2, 0.3)).discretize(3),
}
CASES = [(name, seed) for name in BODIES for seed in (0, 1)]


def arbitrary(name, seed):
    body, rng = BODIES[name], np.random.default_rng(seed)
    eta, nu = 0.1 * rng.normal(size=body.elastic_count), rng.normal(size=body.velocity_count)
    acceleration = np.linalg.solve(
        floating.mass_matrix(body, eta), floating.quadratic_velocity_forces(body, eta, nu)
    )
    return body, eta, nu, acceleration


def moments(body, eta, nu, turn, place):
    """Linear and angular momentum in world axes (about the world origin), and pi of eta."""
    full = np.zeros(6 + body.elastic_count)
    full[floating.velocity_components(body)] = floating.mass_matrix(body, eta) @ nu
    linear = turn @ full[:3]
    return linear, turn @ full[3:6] + np.cross(place, linear), full[6:]


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_a_free_body_keeps_its_momenta_and_obeys_lagrange(name, seed):
    body, eta, nu, acceleration = arbitrary(name, seed)
    _, w, rate = floating.split_velocity(body, nu)
    eps, ends = 1e-5, []
    for t in (-eps, eps):
        half, _, _ = floating.split_velocity(body, nu + t / 2 * acceleration)
        turn = Rotation.from_rotvec(t * w).as_matrix()
        ends.append(moments(body, eta + t * rate, nu + t * acceleration, turn, t * half))
    linear, angular, elastic = ((b - a) / (2 * eps) for a, b in zip(*ends, strict=True))
    tolerance = 1e-7 * np.linalg.norm(floating.mass_matrix(body, eta) @ nu)
    kept = list(range(3)) if body.dimension == 3 else [2]
    assert linear[: body.dimension] == pytest.approx(np.zeros(body.dimension), abs=tolerance)
    assert angular[kept] == pytest.approx(np.zeros(len(kept)), abs=tolerance)
    energy = [
        [nu @ floating.mass_matrix(body, eta + t * unit) @ nu / 2 for t in (-0.5, 0.5)] for unit in np.eye(len(eta))
    ]
    assert elastic == pytest.approx(np.array([b - a for a, b in energy]), abs=tolerance)


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_forces_of_a_body_that_turns_without_bending_are_those_of_its_balance(name, seed):
    body, eta, nu, acceleration = arbitrary(name, seed)
    body = floating.centred(body)[0]
    nu[body.rigid_count :], acceleration[body.rigid_count :] = 0, 0
    turning = np.where(np.arange(len(nu)) < body.dimension, 0, nu)
    forces = floating.mass_matrix(body, eta) @ acceleration - floating.quadratic_velocity_forces(body, eta, turning)
    assert floating.rigid_motion_forces(body, eta, nu, acceleration) == pytest.approx(
        forces, abs=1e-13 * np.abs(forces).max()
    )
    direction, eps = np.random.default_rng(7).normal(size=len(eta)), 1e-4
    ends = [floating.rigid_motion_forces(body, eta + t * direction, nu, acceleration) for t in (-eps, eps)]
    found = floating.rigid_motion_tangent(body, eta, nu, acceleration) @ direction
    assert found == pytest.approx((ends[1] - ends[0]) / (2 * eps), abs=1e-9 * (1 + np.abs(found).max(initial=0)))
