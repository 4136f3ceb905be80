"""Rod, plate and solid as velocity-stress models: structure, static and dynamic numbers."""

import numpy as np
import pytest
from scipy.linalg import eigh
from skfem import (
    Basis,
    ElementHex2,
    ElementQuad1,
    ElementQuad2,
    ElementTetP1,
    ElementTriP1,
    ElementTriP2,
    ElementVector,
    MeshHex,
    MeshQuad,
    MeshTet,
    MeshTri,
    MeshTri2,
)
from skfem.models.elasticity import linear_elasticity

import phlexible as ph
from phlexible.papers.elastodynamics import rod, solid

E, RHO = 3.0, 2.0


PLATE = np.linspace(0, 2, 9), np.linspace(0, 1, 4)
BLOCK = np.linspace(0, 2, 5), np.linspace(0, 1, 3), np.linspace(0, 1, 3)
SQUARES = MeshQuad.init_tensor(np.linspace(0, 2, 4), np.linspace(0, 1, 3))
CUBES = np.linspace(0, 2, 3), np.linspace(0, 1, 2), np.linspace(0, 1, 2)


def plate(clamped=None, mesh=None, **options):
    mesh = (mesh or MeshTri.init_tensor(*PLATE)).with_boundaries({"left": lambda x: x[0] == 0})
    return solid(mesh, E, 0.3, RHO, 0.1, clamped, **options)


def squares(clamped=None, **options):
    return plate(clamped, SQUARES, **options)


def block():
    return solid(MeshTet.init_tensor(*BLOCK), E, 0.3, RHO, 1.0)


def cubes(order, kind=MeshHex):
    return solid(kind.init_tensor(*CUBES), E, 0.3, RHO, order=order)


def disc():
    """Curved triangles, velocities of second order."""
    return solid(MeshTri2.init_circle(1), E, 0.3, RHO, 0.1)


MODELS = {
    "quadrilaterals": squares,
    "clamped quadrilaterals of order 2": lambda: squares("left", order=2),
    "hexahedra": lambda: cubes(1),
    "hexahedra of order 2": lambda: cubes(2),
    "tetrahedra of order 2": lambda: cubes(2, MeshTet),
    "curved triangles": disc,
    "rod": lambda: rod(2.0, 4, E, RHO, 0.3),
    "clamped rod": lambda: rod(2.0, 4, E, RHO, 0.3, is_clamped=True),
    "plate": plate,
    "clamped plate": lambda: plate("left"),
    "block": block,
}


def parts(model):
    """M, M_sigma, D."""
    v, s = (model.state_slice(name) for name in ("velocity", "stress"))
    matrices = model.descriptor[v, v], model.descriptor[s, s], model.structure[s, v]
    return [matrix.toarray() for matrix in matrices]


def stiffness(model):
    _, compliance, rate = parts(model)
    return rate.T @ np.linalg.solve(compliance, rate)


@pytest.mark.parametrize("name", MODELS)
def test_structure_and_power(name):
    model = MODELS[name]()
    figures = ph.check_structure(model, np.random.default_rng(0).normal(size=model.state_size))
    assert figures.skewness == 0
    assert figures.power < 1e-14
    assert figures.gradient < 1e-9


def test_clamped_rod_has_the_exact_frequencies():
    model = rod(2.0, 40, E, RHO, 0.3, is_clamped=True)
    mass = parts(model)[0]
    found = np.sqrt(eigh(stiffness(model), mass, eigvals_only=True)[:3])
    exact = np.array([1, 3, 5]) * np.pi / 2 * np.sqrt(E / RHO) / 2.0
    # linear elements are too stiff by (k h)^2 / 24
    assert found == pytest.approx(exact * (1 + (exact * np.sqrt(RHO / E) * 0.05) ** 2 / 24), rel=1e-4)


@pytest.mark.parametrize(
    ("model", "mesh", "element", "degree", "state"),
    [
        (block, MeshTet.init_tensor(*BLOCK), ElementTetP1(), 2, "space"),
        (plate, MeshTri.init_tensor(*PLATE), ElementTriP1(), 2, "stress"),
        (lambda: plate(plane="strain"), MeshTri.init_tensor(*PLATE), ElementTriP1(), 2, "strain"),
        (squares, SQUARES, ElementQuad1(), 2, "stress"),
        (lambda: squares(order=2), SQUARES, ElementQuad2(), 4, "stress"),
        (disc, MeshTri2.init_circle(1), ElementTriP2(), 4, "stress"),
        (lambda: cubes(2), MeshHex.init_tensor(*CUBES), ElementHex2(), 4, "space"),
    ],
)
def test_eliminated_stress_is_the_stiffness_of_scikit_fem(model, mesh, element, degree, state):
    basis = Basis(mesh, ElementVector(element), intorder=degree)
    lame = {"stress": E * 0.3 / (1 - 0.09)}.get(state, E * 0.3 / 1.3 / 0.4)
    expected = (0.1 if mesh.dim() == 2 else 1.0) * linear_elasticity(lame, E / 2.6).assemble(basis)
    assert stiffness(model()) == pytest.approx(expected.toarray(), abs=1e-11)


@pytest.mark.parametrize(
    ("make", "mesh", "modulus", "surface"),
    [
        (plate, MeshTri.init_tensor(*PLATE), E / (1 - 0.09), 0.6),  # plane stress
        (block, MeshTet.init_tensor(*BLOCK), E * 0.7 / 1.3 / 0.4, 10.0),
    ],
)
def test_a_uniform_stretch_has_its_stress_and_a_uniform_traction_the_work_of_its_resultant(
    make, mesh, modulus, surface
):
    """v_x = x, and the traction (1, 0, ..) on the whole boundary against v = e_x."""
    model, d = make(), mesh.dim()
    mass, compliance, rate = parts(model)
    assert mass.sum() == pytest.approx(d * RHO * (0.1 if d == 2 else 1.0) * 2.0)
    stretch = np.vstack([mesh.p[:1], np.zeros((d - 1, mesh.p.shape[1]))]).T.ravel()
    stress = np.linalg.solve(compliance, rate @ stretch)
    assert stress.reshape(-1, 3 if d == 2 else 6)[:, 0] == pytest.approx(modulus)
    columns = model.port_slice("boundary traction")
    ones = np.zeros(columns.stop - columns.start)
    ones[::d] = 1.0
    moved = np.zeros(model.state_size)
    moved[: mass.shape[0] : d] = 1.0
    assert ones @ model.output(moved)[columns] == pytest.approx(surface)
    assert model.output_coordinates(moved, "boundary traction") == pytest.approx(ones)


def test_curved_triangles_turn_without_strain():
    """Velocities of first order would strain: they are refused."""
    mesh = MeshTri2.init_circle(1)
    model = disc()
    turn = np.zeros(model.state_size)
    places = Basis(mesh, ElementVector(ElementTriP2())).doflocs
    velocity = model.state_slice("velocity")
    component = np.arange(velocity.stop) % 2
    turn[velocity] = np.where(component == 0, -places[1], places[0])
    assert np.abs(model.structure @ turn).max() < 1e-14
    with pytest.raises(ph.ParameterError, match="order must be 2 on a MeshTri2"):
        solid(mesh, E, 0.3, RHO, order=1)


def test_bending_with_one_element_across_the_thickness():
    """A clamped strip of 8 x 1 quadrilaterals, length 20 heights: order 2 is a beam, order 1 is far too stiff."""
    high, found = 0.1, []
    for order in (1, 2):
        mesh = MeshQuad.init_tensor(np.linspace(0, 2, 9), np.linspace(0, high, 2))
        mesh = mesh.with_boundaries({"left": lambda x: x[0] == 0})
        model = solid(mesh, E, 0.0, RHO, 1.0, "left", order=order)
        found.append(np.sqrt(eigh(stiffness(model), parts(model)[0], eigvals_only=True)[0]))
    exact = 1.87510407**2 * np.sqrt(E * high**2 / 12 / RHO) / 2.0**2
    assert found[1] == pytest.approx(exact, rel=5e-3)
    assert found[0] > 1.3 * exact


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plate("top"), "left"),
        (lambda: solid(None, 1.0, 0.3, 1.0), "MeshTri"),
        (lambda: squares(order=3), "order must be 1 or 2"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ph.ParameterError, match=message):
        call()
