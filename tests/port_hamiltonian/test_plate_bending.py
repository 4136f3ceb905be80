"""Plates in the form (29) by the elements of Hellan, Herrmann and Johnson, and by those of Plate."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse.linalg import spsolve
from skfem import Basis, ElementTriP2, ElementTriP3, MeshQuad, MeshTri, MeshTri2

import phlexible as ph
from phlexible.bodies.flexible.moment_elements import moment_elements
from phlexible.papers import bending_plate, thin_plate

THIN, E, RHO = 2e-3, 2.0e11, 8000.0
STEEL = ph.Material(E, RHO, 0.3)
BENDING = E * THIN**3 / 12 / (1 - 0.3**2)
UNIT = np.sqrt(BENDING / (RHO * THIN))
EXACT = {  # omega a^2 sqrt(rho h / D) of square plates, Legendre-Ritz method
    "supported": [19.7392, 49.3480, 49.3480, 78.9568, 98.6960, 98.6960],
    "clamped": [35.98519, 73.39385, 73.39385, 108.2165, 131.5808, 132.2048],
    "free": [13.468197, 19.596137, 24.270201, 34.800891, 34.800891, 61.093234],
    "cantilever": [3.471008, 8.506286, 21.28409, 27.19874, 30.95460, 54.18437],
}
EDGES = {
    "supported": {"supported": "rim"},
    "clamped": {"clamped": "rim"},
    "free": {},
    "cantilever": {"clamped": "left"},
}


def square(cells, kind=MeshTri):
    lines = np.linspace(0, 1, cells + 1)
    return kind.init_tensor(lines, lines).with_boundaries(
        {"left": lambda x: x[0] < 1e-9, "rim": lambda x: x[0] > -1}
    )


def hellan_herrmann_johnson(support, cells, order=1):
    return thin_plate(square(cells), E, 0.3, RHO, THIN, order=order, **EDGES[support])


def blocks(model):
    """M, M_sigma, D."""
    v, s = (model.state_slice(block.name) for block in model.states)
    return model.descriptor[v, v], model.descriptor[s, s], model.structure[s, v]


def stiffness(model):
    _, compliance, rate = blocks(model)
    return rate.T @ spsolve(compliance.tocsc(), rate.tocsc()).toarray()


def frequencies(model, rigid=0):
    squares = eigh(stiffness(model), blocks(model)[0].toarray(), eigvals_only=True)
    return np.sqrt(np.abs(squares))[rigid : rigid + 6] / UNIT


@pytest.mark.parametrize("support", EXACT)
def test_mixed_elements_have_the_frequencies_of_plates(support):
    """2 x 8 x 8 triangles within 0.5 %, of the fourth order."""
    rigid = 3 if support == "free" else 0
    errors = [frequencies(hellan_herrmann_johnson(support, n), rigid) / EXACT[support] - 1 for n in (4, 8)]
    assert errors[1] == pytest.approx(np.zeros(6), abs=5e-3)
    if support in ("clamped", "free"):
        assert (errors[0] / errors[1] > 4.5).all()


@pytest.mark.parametrize(("order", "cells", "ratio"), [(0, (4, 8), 2**2), (2, (2, 4), 2**6)])
def test_the_lowest_order_converges_with_the_square_the_highest_with_the_sixth_power(order, cells, ratio):
    exact = 2 * np.pi**2  # of a supported square
    errors = [frequencies(hellan_herrmann_johnson("supported", n, order))[0] / exact - 1 for n in cells]
    assert errors[0] / errors[1] == pytest.approx(ratio, rel=0.25)
    assert abs(errors[1]) < (2e-2 if order == 0 else 2e-5)


@pytest.mark.parametrize("order", [1, 2])
def test_a_polynomial_deflection_has_exact_moments(order):
    """w of order 2 or 3 whose turns at the rim are given, on shaken triangles: their energy."""
    mesh, nu = square(3), 0.3
    inner = (np.abs(mesh.p - 0.5) < 0.49).all(axis=0)
    mesh = MeshTri(mesh.p + 0.08 * inner * np.random.default_rng(0).normal(size=mesh.p.shape), mesh.t)
    element = (ElementTriP2, ElementTriP3)[order - 1]()
    moments, basis = moment_elements(mesh, element, order), Basis(mesh, element, intorder=4)
    x, y = basis.doflocs
    w = x**2 - 3 * x * y if order == 1 else x**3 - 2 * x * y**2
    right = np.zeros(moments.moment_indices.max() + 1)
    np.add.at(right, moments.moment_indices, np.einsum("tmp,tp->tm", moments.rates, w[basis.element_dofs.T]))
    for facet in mesh.boundary_facets():
        first, last = mesh.p[:, mesh.facets[:, facet]].T
        share = np.linspace(0, 1, order + 1)
        x, y = (1 - share) * first[:, None] + share * last[:, None]
        slope = np.array([2 * x - 3 * y, -3 * x] if order == 1 else [3 * x**2 - 2 * y**2, -4 * x * y])
        own = np.array([(1 - share) ** (order - j) * share**j for j in range(order + 1)]).T
        turn = np.linalg.solve(own, moments.normals[facet] @ slope)
        right[(order + 1) * facet + np.arange(order + 1)] += moments.lengths[facet] * moments.on_edge @ turn
    blocks = moments.compliance(nu)
    compliance = np.zeros((len(right), len(right)))
    np.add.at(compliance, (moments.moment_indices[:, :, None], moments.moment_indices[:, None]), blocks)
    energy = right @ np.linalg.solve(compliance, right) / 2
    x, y = np.asarray(basis.global_coordinates())
    one = np.ones_like(x)
    bent = [[2 * one, -3 * one], [-3 * one, 0 * one]] if order == 1 else [[6 * x, -4 * y], [-4 * y, -4 * x]]
    bent = np.array(bent)
    exact = (bent**2).sum(axis=(0, 1)) + nu / (1 - nu) * (bent[0, 0] + bent[1, 1]) ** 2
    assert energy == pytest.approx((exact * basis.dx).sum() / 2 / (1 + nu), rel=1e-12)


@pytest.mark.parametrize("kind", [MeshQuad, MeshTri])
@pytest.mark.parametrize("theory", ["kirchhoff", "mindlin"])
def test_the_elements_of_plates_in_the_form_of_the_paper(theory, kind):
    model = bending_plate(square(6 if kind is MeshQuad else 7, kind), STEEL, THIN, clamped="left", theory=theory)
    assert frequencies(model) == pytest.approx(EXACT["cantilever"], rel=5e-3)


MODELS = {
    **{f"mixed {support}": lambda s=support: hellan_herrmann_johnson(s, 3) for support in EXACT},
    "lowest order": lambda: hellan_herrmann_johnson("cantilever", 3, 0),
    "highest order": lambda: hellan_herrmann_johnson("cantilever", 2, 2),
    "quadrilaterals": lambda: bending_plate(square(2, MeshQuad), STEEL, 0.1, clamped="left"),
    "supported": lambda: bending_plate(square(2), STEEL, 0.1, supported="left", theory="kirchhoff"),
}


@pytest.mark.parametrize("name", MODELS)
def test_structure_and_power(name):
    model = MODELS[name]()
    figures = ph.check_structure(model, np.random.default_rng(0).normal(size=model.state_size))
    assert figures.skewness == 0
    assert figures.power < 1e-14


def test_forces_on_the_plate_and_its_edges_do_the_work_of_their_resultants():
    """Uniform forces against the rigid motions 1, x and y: powers of 1 N/m^2 and of 1 N/m all round."""
    model = bending_plate(square(3, MeshQuad), STEEL, 0.1)
    names = [port.name for port in model.ports]
    assert names == ["body force", "boundary force", "boundary moment"]
    moved = np.zeros(model.state_size)
    place = np.array([1.0, 0, 0])  # w = 1
    count = model.state_slice("velocity").stop // 3
    moved[: 3 * count] = np.tile(place, count)
    output = model.output(moved)
    assert [output[model.port_slice(name)].sum() for name in names] == pytest.approx([1, 4, 0])
    moved[: 3 * count] = np.tile([0, 1.0, 0], count)  # turns about x
    assert model.output(moved)[model.port_slice("boundary moment")][::2].sum() == pytest.approx(4)
    mixed = hellan_herrmann_johnson("free", 3)
    moved = np.zeros(mixed.state_size)
    moved[mixed.state_slice("velocity")] = 1.0
    output = mixed.output(moved)
    assert [output[mixed.port_slice(n)].sum() for n in ("body force", "boundary force")] == pytest.approx([1, 4])
    assert np.abs(mixed.structure @ moved).max() < 1e-12  # a rigid motion has no curvature


def test_an_edge_that_turns_as_prescribed():
    """w = x with its edge is a rigid turn, w = x^2 is bent by the moment 2 D; dw/dn = -1 there does the work -2 D.

    The moment of x^2 is projected, since it is zero at the free end.
    """
    mesh = square(3)
    model = thin_plate(mesh, E, 0.0, RHO, THIN, clamped="left")
    x = Basis(mesh, ElementTriP2()).doflocs[0]
    x = x[x > 1e-9]
    _, compliance, rate = blocks(model)
    port = model.port_map[model.state_slice("moment"), model.port_slice("boundary rotation")].toarray()
    turn, gap, *_ = np.linalg.lstsq(port, -rate @ x)
    assert gap == pytest.approx(0, abs=1e-20)
    moment = spsolve(compliance.tocsc(), rate @ x**2)
    assert (port.T @ moment) @ turn == pytest.approx(-2 * E * THIN**3 / 12, rel=1e-4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: thin_plate(MeshQuad(), E, 0.3, RHO, THIN), "MeshTri of straight triangles"),
        (lambda: thin_plate(MeshTri2(), E, 0.3, RHO, THIN), "MeshTri of straight triangles"),
        (lambda: thin_plate(square(2), E, 0.3, RHO, THIN, order=3), "order must be 0, 1 or 2"),
        (lambda: thin_plate(square(2), E, 0.3, RHO, 0.0), "thickness"),
        (lambda: thin_plate(square(2), E, 0.7, RHO, THIN), "poissons_ratio"),
        (lambda: thin_plate(square(2), E, 0.3, RHO, THIN, clamped="top"), "left, rim"),
        (lambda: thin_plate(square(2), E, 0.3, RHO, THIN, clamped="left", supported="rim"), "share edges"),
        (lambda: bending_plate(square(2), STEEL, THIN, clamped="top"), "left, rim"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ph.ParameterError, match=message):
        call()
