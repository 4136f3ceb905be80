"""Strings: exact integrals, derivatives, points; laws of the paper and of users; refusals."""

from decimal import Decimal, localcontext

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


EA = 20.0
LAWS = [ph.LogarithmicLaw(EA), ph.LinearLaw(EA), ph.StVenantKirchhoffLaw(EA)]
AXIAL_STIFFNESS = Decimal(EA)
EXACT = [  # W, dW/dC and d2W/dC2 with as many digits as wanted
    (
        lambda C: AXIAL_STIFFNESS / 4 * (C - C.ln() - 1),  # (7)
        lambda C: AXIAL_STIFFNESS / 4 * (1 - 1 / C),
        lambda C: AXIAL_STIFFNESS / 4 / C**2,
    ),
    (
        lambda C: AXIAL_STIFFNESS / 2 * (C.sqrt() - 1) ** 2,  # (11)
        lambda C: AXIAL_STIFFNESS / 2 * (1 - 1 / C.sqrt()),
        lambda C: AXIAL_STIFFNESS / 4 / C.sqrt() ** 3,
    ),
    (
        lambda C: AXIAL_STIFFNESS / 8 * (C - 1) ** 2,  # (12)
        lambda C: AXIAL_STIFFNESS / 4 * (C - 1),
        lambda C: AXIAL_STIFFNESS / 4,
    ),
]
PAIRS = list(zip(LAWS, EXACT, strict=True))
STRAINS = [0.2, 0.9, 1.0, 1.0 + 1e-9, 1.7, 4.0]


def user_law(stiffness=EA):
    return ph.Law(lambda C: stiffness / 4 * (C - np.log(C) - 1), lambda C: stiffness / 4 * (1 - 1 / C))


@pytest.mark.parametrize(("law", "exact"), PAIRS)
@pytest.mark.parametrize("C", STRAINS)
def test_energy_stress_and_tension_are_those_of_the_paper(law, exact, C):
    with localcontext() as context:
        context.prec = 40
        energy, slope, curvature = (float(function(Decimal(C))) for function in exact)
    assert float(law.energy(C)) == pytest.approx(energy, rel=1e-12, abs=1e-15 * EA * abs(C - 1))
    assert float(law.stress(C)) == pytest.approx(2 * slope, rel=1e-12, abs=1e-14)
    assert float(law.tension(C)) == pytest.approx(2 * slope * np.sqrt(C), rel=1e-12, abs=1e-14)
    assert float(law.curvature(C)) == pytest.approx(curvature, rel=1e-12)


@pytest.mark.parametrize(("law", "exact"), PAIRS)
@pytest.mark.parametrize("C0", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("change", [1e-14, 1e-11, -1e-8, 1e-5, -1e-2, 0.3])
def test_discrete_derivative_does_not_cancel(law, exact, C0, change):
    C1 = C0 + change
    with localcontext() as context:
        context.prec = 50
        a, b = Decimal(C0), Decimal(C1)
        quotient = float((exact[0](b) - exact[0](a)) / (b - a))
    assert float(law.discrete_derivative(C0, C1)) == pytest.approx(quotient, rel=0, abs=1e-14 * EA)
    assert float(law.discrete_derivative(C0, C0)) == pytest.approx(float(law.derivative(C0)), abs=1e-15)


@pytest.mark.parametrize("C0", [0.4, 1.0, 2.0])
@pytest.mark.parametrize("change", [0.0, 1e-12, -1e-8, 1e-4, 0.05, -0.2])
def test_a_users_law_has_the_discrete_derivative_of_the_law_it_copies(C0, change):
    mine, known, C = user_law(), LAWS[0], np.array([[C0, 1.0], [1.5, 2.0]])
    found = mine.discrete_derivative(C, C + change)
    assert found == pytest.approx(known.discrete_derivative(C, C + change), abs=1e-12)
    assert mine.modulus == pytest.approx(EA, rel=1e-8)
    assert mine.tension(C) == pytest.approx(known.tension(C))


@pytest.mark.parametrize("change", [1e-6, 1e-3, 0.05, 0.5])
def test_a_kink_does_not_cost_energy(change):
    slack = ph.Law(lambda C: 2.5 * max(C - 1, 0.0) ** 2, lambda C: 5.0 * max(C - 1, 0.0))
    C0, C1 = 1 - change / 3, 1 + 2 * change / 3
    force = slack.discrete_derivative(C0, C1)
    assert force * (C1 - C0) == pytest.approx(slack.energy(C1) - slack.energy(C0), abs=1e-14)


@pytest.mark.parametrize(
    ("W", "dW", "words"),
    [
        (lambda C: (C - 1) ** 2, lambda C: C - 1, "dW must be the derivative of W: between C = 0.25"),
        (lambda C: (C - 1) ** 2, lambda C: 2.00001 * (C - 1), "dW must be the derivative"),
        (lambda C: np.sqrt(C) ** 3, lambda C: 3 * np.sqrt(C) ** 2, "not the stretch"),
        (lambda C: 1 / (C - 0.25), lambda C: -1 / (C - 0.25) ** 2, "W raised ZeroDivisionError at C = 0.25"),
    ],
)
def test_a_law_that_does_not_match_itself_is_refused(W, dW, words):
    with pytest.raises(ph.ParameterError, match=words):
        ph.Law(W, dW)
