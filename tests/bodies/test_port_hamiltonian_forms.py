"""The papers' matrices of one body against Newton's law, and laws that power cannot see."""

import numpy as np
import pytest

import phlexible as ph
from bodies.forms import BODIES, FORMS, beam, random_state, velocity_slice
from phlexible.bodies.mechanics import floating

GRAVITY = (1.0, -9.0, 0.0)


def rate(form, x, u=None):
    forces = form.forces(x, np.zeros(form.port_size) if u is None else u)
    return np.linalg.solve(form.descriptor_matrix(x), forces)


def momenta(form, x):
    """Linear and angular momentum in world axes, from the mass matrix that the form uses."""
    body, state = form.body, form.split(x)
    mass = floating.mass_matrix(body, form.inertia_displacement(state.displacement))
    full = np.zeros(6 + body.elastic_count)
    full[floating.velocity_components(body)] = mass @ x[velocity_slice(form)]
    linear = state.rotation @ full[:3]
    return np.concatenate([linear, state.rotation @ full[3:6] + np.cross(state.position, linear)])


def slope(function, x, direction, step=1e-5):
    ends = [function(x + t * step * direction) for t in (-2, -1, 1, 2)]
    return (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)


@pytest.mark.parametrize("stress", ["discontinuous", "hermite"])
@pytest.mark.parametrize("variant", ["full", "constant_mass"])
@pytest.mark.parametrize(("name", "dimension"), FORMS)
def test_structure_gradient_and_power(name, dimension, variant, stress):
    if not isinstance(BODIES[name], ph.Beam):
        stress = "discontinuous"  # only beams have moments
    form = BODIES[name].port_hamiltonian(variant, dimension=dimension, gravity=GRAVITY, stress=stress)
    for state in (random_state(form)[0], form.rest_state):
        figures = ph.check_structure(form, state)
        assert max(figures.skewness, figures.symmetry, figures.definiteness, figures.power) < 1e-14
        assert figures.gradient < 1e-9


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("name", "dimension"), FORMS)
def test_full_form_is_newtons_law(name, dimension, seed):
    form = BODIES[name].port_hamiltonian(dimension=dimension)
    x, eta, nu = random_state(form, seed, bend=0.1)
    x[velocity_slice(form).stop :] = 0.0  # stress would hide the inertia: it is compared below
    expected = floating.quadratic_velocity_forces(form.body, eta, nu)
    r, begin = form.dissipation_matrix(x), velocity_slice(form)
    mass = floating.mass_matrix(form.body, eta)
    expected = np.linalg.solve(mass, expected - r[begin, begin] @ nu)
    gap = rate(form, x)[begin] - expected
    assert gap @ mass @ gap <= 1e-24 * (expected @ mass @ expected)


@pytest.mark.parametrize(("name", "dimension"), FORMS)
def test_stress_states_carry_the_elastic_force(name, dimension):
    form = BODIES[name].port_hamiltonian(dimension=dimension)
    x, eta, nu = random_state(form)
    still = x.copy()
    still[velocity_slice(form)] = 0.0
    force = form.forces(still, np.zeros(form.port_size))[velocity_slice(form)]
    expected = -floating.elastic_force(form.body, eta)
    assert force[form.body.rigid_count :] == pytest.approx(expected, abs=1e-10 * np.abs(expected).max(initial=0))
    space = form.stress_space
    direction = nu[form.body.rigid_count :]
    growth = np.linalg.solve(space.compliance, space.strain_rate_matrix(eta) @ direction)
    assert growth == pytest.approx(slope(space.stress, eta, direction), rel=1e-7, abs=1e-4)


@pytest.mark.parametrize("variant", ["full", "constant_mass"])
@pytest.mark.parametrize(("name", "dimension"), FORMS)
def test_momentum_changes_by_the_applied_forces_only(name, dimension, variant):
    form = BODIES[name].port_hamiltonian(variant, dimension=dimension)
    x, _, _ = random_state(form)
    rng = np.random.default_rng(3)
    u, force = np.zeros(form.port_size), np.zeros(3)
    first = form.ports[0]
    u[form.port_slice(first.name)] = rng.normal(size=first.size)
    force[: first.size] = u[form.port_slice(first.name)]
    change = slope(lambda y: momenta(form, y), x, rate(form, x, u))
    state = form.split(x)
    point = form.body.points.locate(next(iter(form.locations.values())))
    world = state.rotation @ force
    arm = state.position + state.rotation @ (point.position + point.shapes @ state.displacement)
    scale = np.abs(momenta(form, x)).max() * np.abs(rate(form, x, u)[velocity_slice(form)]).max()
    assert change[:dimension] == pytest.approx(world[:dimension], abs=1e-9 * (1 + scale))
    if form.body.rotates and (variant == "full" or not form.body.elastic_count):
        kept = slice(5, 6) if dimension == 2 else slice(3, 6)
        expected = np.cross(arm, world)[kept.start - 3 :]
        assert change[kept] == pytest.approx(expected, abs=1e-9 * (1 + scale))


@pytest.mark.parametrize("variant", ["full", "constant_mass"])
def test_outputs_are_the_velocities_of_the_ends(variant):
    form = beam(frame="cantilever").port_hamiltonian(variant)
    x, eta, _ = random_state(form)
    state, point = form.split(x), form.body.points.locate(form.locations["end"])
    v, w = state.velocity, state.angular_velocity
    rates = rate(form, x)[form.state_slice("displacement")]
    expected = v + np.cross(w, point.position + point.shapes @ eta) + point.shapes @ rates
    assert form.output(x)[form.port_slice("end force")] == pytest.approx(expected)
    assert form.output(x)[form.port_slice("end moment")] == pytest.approx(w + point.rotations @ rates)
    if variant == "constant_mass":  # the state is the absolute elastic velocity, up to a projection
        assert np.abs(rates - state.elastic_velocity).max() > 1e-3


def test_distributed_output_without_its_mass_matrix_is_the_velocity_field():
    form = beam().port_hamiltonian()
    x, _, nu = random_state(form)
    x[velocity_slice(form)] = np.concatenate([[1.0, 2.0, 3.0, 0, 0, 0], nu[6:]])
    found = form.output_coordinates(x, "distributed force")
    assert found == pytest.approx(np.concatenate([[1.0, 2.0, 3.0], nu[6:]]))


@pytest.mark.parametrize("dimension", [2, 3])
def test_gravity_as_potential_and_as_distributed_force_agree(dimension):
    body = beam()
    heavy = body.port_hamiltonian(dimension=dimension, gravity=GRAVITY)
    light = body.port_hamiltonian(dimension=dimension)
    x, _, _ = random_state(light)
    u = np.zeros(light.port_size)
    begin = light.port_slice("distributed force").start
    u[begin : begin + dimension] = (light.split(x).rotation.T @ GRAVITY)[:dimension]
    assert rate(light, x, u) == pytest.approx(rate(heavy, x), rel=1e-10, abs=1e-8)


def test_zeroth_order_is_refused_by_name_and_right_for_a_straight_body():
    body = beam()
    form = body.port_hamiltonian("zeroth_order")
    with pytest.raises(ph.StructureError, match=r"not skew in block \(angular_velocity, elastic_velocity\)"):
        ph.check_structure(form, random_state(form)[0])
    full = body.port_hamiltonian()
    gaps = []
    for bend in (1e-2, 1e-3):
        x = random_state(form, bend=bend)[0]
        x[velocity_slice(form).stop :] = 0.0
        gaps.append(np.abs(rate(form, x) - rate(full, x)).max())
    assert np.log10(gaps[0] / gaps[1]) == pytest.approx(1, abs=0.1)


def test_a_rigid_body_has_no_moment_functions():
    with pytest.raises(ph.ParameterError, match="discontinuous"):
        ph.RigidBody(1.0, (1, 1, 1)).port_hamiltonian(stress="hermite")
