"""The discretized string: exact integrals, derivatives of its energy, points, refusals."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import phlexible as ph
from phlexible.bodies.mechanics.absolute import elastic_force, elastic_tangent, mass_matrix, strain_energy
from refusals import refused

LENGTH, DENSITY, STIFFNESS = 1.2, 0.7, 30.0
ORDERS = pytest.mark.parametrize("order", [1, 2])


def string(order=1, elements=4, law=None, **options):
    return ph.String(LENGTH, DENSITY, elements, law or ph.LogarithmicLaw(STIFFNESS), order=order, **options)


def nodes(body, function):
    return np.array([function(s) for s in body.mesh.nodes]).ravel()


@ORDERS
@pytest.mark.parametrize("dimension", [2, 3])
def test_kinetic_energy_of_polynomial_velocities_is_exact(order, dimension):
    body = string(order)
    data = body.discretize(dimension)
    rates = nodes(body, lambda s: [1 + 2 * s, *[0.5 * s**order] * (dimension - 1)])
    s = np.polynomial.Polynomial([0, 1])
    density = (1 + 2 * s) ** 2 + (dimension - 1) * (0.5 * s**order) ** 2
    expected = DENSITY / 2 * density.integ()(LENGTH)
    assert rates @ mass_matrix(data) @ rates / 2 == pytest.approx(expected, rel=1e-13)
    assert data.nodal_mass.sum() == pytest.approx(DENSITY * LENGTH)
    assert data.mass == pytest.approx(DENSITY * LENGTH)


@ORDERS
def test_stored_energy_of_a_homogeneous_stretch_is_the_law_times_the_length(order):
    body = string(order)
    q = nodes(body, lambda s: [0.9 * s, 1.2 * s, 0])
    expected = STIFFNESS / 4 * (1.5**2 - np.log(1.5**2) - 1) * LENGTH
    assert strain_energy(body.discretize(3), q) == pytest.approx(expected)


def test_quadratic_elements_integrate_a_quadratic_stretch():
    """St. Venant-Kirchhoff, r = (s + 0.3 s^2, 0): W is a quartic polynomial; 2 points integrate cubics."""
    body = string(2, elements=40, law=ph.StVenantKirchhoffLaw(STIFFNESS))
    s = np.polynomial.Polynomial([0, 1])
    density = STIFFNESS / 8 * ((1 + 0.6 * s) ** 2 - 1) ** 2
    q = nodes(body, lambda s: [s + 0.3 * s**2, 0])
    assert strain_energy(body.discretize(2), q) == pytest.approx(density.integ()(LENGTH), rel=1e-7)


@ORDERS
@pytest.mark.parametrize("dimension", [2, 3])
def test_force_and_tangent_are_derivatives_of_the_energy(order, dimension):
    data = string(order, elements=2).discretize(dimension)
    rng = np.random.default_rng(5)
    q = nodes(string(order, elements=2), lambda s: [1.1 * s, *[0.1 * s] * (dimension - 1)])
    q = q + 0.05 * rng.normal(size=len(q))
    slope = approx_fprime(q, lambda x: strain_energy(data, x), 1e-7)
    assert elastic_force(data, q) == pytest.approx(slope, abs=1e-5 * np.abs(slope).max())
    curvature = approx_fprime(q, lambda x: elastic_force(data, x), 1e-7)
    tangent = elastic_tangent(data, q).toarray()
    assert tangent == pytest.approx(curvature, abs=1e-5 * np.abs(curvature).max())
    assert tangent == pytest.approx(tangent.T, abs=1e-13 * np.abs(tangent).max())


@ORDERS
def test_points_between_nodes_lie_on_the_interpolation(order):
    body = string(order)
    placed = ph.Model().add(body, shape=lambda s: (s, s**order, 0))
    for s in (0.0, 0.17, 0.6, 1.2):
        expected = (s, np.interp(s, body.mesh.nodes, body.mesh.nodes**order) if order == 1 else s**2, 0)
        assert placed.at(s).initial_position() == pytest.approx(expected)
    assert placed.start.point.node == 0 and placed.end.point.node == 4 * order
    assert placed.at(0.17).point.node is None
    assert placed.at(LENGTH / 4).point.node == order


@pytest.mark.parametrize("location", ["origin", "point"])
def test_a_string_has_no_body_frame(location):
    placed = ph.Model().add(string())
    with pytest.raises(ph.AttachmentError, match="it offers start, end and at"):
        _ = placed.origin if location == "origin" else placed.point((0, 0, 0))


def test_a_place_beyond_the_string_is_refused():
    refused(ph.AttachmentError, r"at\(s\) must lie in 0 .. 1.2 m", lambda: ph.Model().add(string()).at(1.3))


def test_shapes_and_springs_that_a_string_does_not_have_are_refused():
    refused(ph.ParameterError, r"order must be 1 \(linear\) or 2", lambda: string(3))
    model = ph.Model()
    placed = model.add(string())
    with pytest.raises(ph.AttachmentError, match="lies between two nodes"):
        model.apply(ph.SpringDamper(placed.at(0.17), model.ground.at((0, 1, 0)), stiffness=1.0))


def test_a_string_that_turns_about_its_end_has_the_momentum_of_a_rod():
    """rho A w l^2 / 2 across and rho A w l^3 / 3 about the end."""
    model = ph.Model()
    model.add(ph.String(2.0, 0.3, 4, ph.LinearLaw(50.0)), "rope", velocity=lambda s: (0.0, 1.5 * s, 0.0))
    start = model.simulate(1e-3, 1e-3, progress=False).momentum
    assert start.linear[0] == pytest.approx([0.0, 0.9, 0.0])
    assert start.angular[0] == pytest.approx([0.0, 0.0, 1.2])
