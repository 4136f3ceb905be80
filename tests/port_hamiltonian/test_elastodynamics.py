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

from phlexible.errors import ParameterError
from phlexible.papers.elastodynamics import rod, solid
from phlexible.port_hamiltonian.structure_check import check_structure

E, RHO = 3.0, 2.0


def plate(clamped=None, poissons_ratio=0.3):
    mesh = MeshTri.init_tensor(np.linspace(0, 2, 9), np.linspace(0, 1, 4))
    return solid(mesh.with_boundaries({"left": lambda x: x[0] == 0}), E, poissons_ratio, RHO, 0.1, clamped)


def block(clamped=None, poissons_ratio=0.3):
    mesh = MeshTet.init_tensor(np.linspace(0, 2, 5), np.linspace(0, 1, 3), np.linspace(0, 1, 3))
    return solid(mesh.with_boundaries({"left": lambda x: x[0] == 0}), E, poissons_ratio, RHO, 1.0, clamped)


SQUARES = MeshQuad.init_tensor(np.linspace(0, 2, 4), np.linspace(0, 1, 3))
CUBES = np.linspace(0, 2, 3), np.linspace(0, 1, 2), np.linspace(0, 1, 2)


def squares(clamped=None, order=None, poissons_ratio=0.3, thickness=0.1):
    mesh = SQUARES.with_boundaries({"left": lambda x: x[0] == 0})
    return solid(mesh, E, poissons_ratio, RHO, thickness, clamped, order=order)


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
    x = np.random.default_rng(0).normal(size=model.state_size)
    figures = check_structure(model, x)
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


def test_eliminated_stress_is_the_stiffness_of_scikit_fem():
    mesh = MeshTet.init_tensor(np.linspace(0, 2, 5), np.linspace(0, 1, 3), np.linspace(0, 1, 3))
    lame, shear = E * 0.3 / 1.3 / 0.4, E / 2.6
    expected = linear_elasticity(lame, shear).assemble(Basis(mesh, ElementVector(ElementTetP1())))
    assert stiffness(block()) == pytest.approx(expected.toarray(), abs=1e-12)
    mesh = MeshTri.init_tensor(np.linspace(0, 2, 9), np.linspace(0, 1, 4))
    plane = E * 0.3 / (1 - 0.09)  # plane stress
    for state, first in (("stress", plane), ("strain", lame)):
        expected = 0.1 * linear_elasticity(first, shear).assemble(Basis(mesh, ElementVector(ElementTriP1())))
        found = solid(mesh, E, 0.3, RHO, 0.1, plane=state)
        assert stiffness(found) == pytest.approx(expected.toarray(), abs=1e-12)


def expected_stiffness(mesh, element, plane, degree):
    basis = Basis(mesh, ElementVector(element), intorder=degree)
    lame = E * 0.3 / (1 - 0.09) if plane else E * 0.3 / 1.3 / 0.4
    return (0.1 if plane else 1.0) * linear_elasticity(lame, E / 2.6).assemble(basis).toarray()


@pytest.mark.parametrize(
    ("model", "mesh", "element", "degree"),
    [
        (squares, MeshQuad.init_tensor(np.linspace(0, 2, 4), np.linspace(0, 1, 3)), ElementQuad1(), 2),
        (
            lambda: squares(order=2),
            MeshQuad.init_tensor(np.linspace(0, 2, 4), np.linspace(0, 1, 3)),
            ElementQuad2(),
            4,
        ),
        (disc, MeshTri2.init_circle(1), ElementTriP2(), 4),
        (lambda: cubes(2), MeshHex.init_tensor(*CUBES), ElementHex2(), 4),
    ],
)
def test_stress_at_quadrature_points_is_eliminated_to_the_stiffness_of_scikit_fem(model, mesh, element, degree):
    assert stiffness(model()) == pytest.approx(
        expected_stiffness(mesh, element, mesh.dim() == 2, degree), abs=1e-11
    )


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
    with pytest.raises(ParameterError, match="order must be 2 on a MeshTri2"):
        solid(mesh, E, 0.3, RHO, order=1)


def test_bending_with_one_element_across_the_thickness():
    """A clamped strip of 8 x 1 quadrilaterals, length 20 heights: order 2 is a beam, order 1 is far too stiff."""
    high, found = 0.1, []
    for order in (1, 2):
        mesh = MeshQuad.init_tensor(np.linspace(0, 2, 9), np.linspace(0, high, 2))
        mesh = mesh.with_boundaries({"left": lambda x: x[0] == 0})
        model = solid(mesh, E, 0.0, RHO, 1.0, "left", order=order)
        squares = eigh(stiffness(model), parts(model)[0], eigvals_only=True)
        found.append(np.sqrt(squares[0]))
    exact = 1.87510407**2 * np.sqrt(E * high**2 / 12 / RHO) / 2.0**2
    assert found[1] == pytest.approx(exact, rel=5e-3)
    assert found[0] > 1.3 * exact


@pytest.mark.parametrize(("make", "area", "d"), [(plate, 0.1, 2), (block, 1.0, 3)])
def test_a_pull_at_both_ends_gives_uniform_stress(make, area, d):
    model, sigma = make(), 0.7
    mass, compliance, rate = parts(model)
    assert mass.sum() == pytest.approx(d * RHO * area * 2.0)
    place = positions(model, d)
    # the power of the traction on x = 0 and x = 2 against v_x = x is sigma * volume
    stretch = np.zeros(model.state_size)
    stretch[: mass.shape[0]] = np.where(np.arange(mass.shape[0]) % d == 0, place[:, 0].repeat(d), 0)
    strain = rate @ stretch[: mass.shape[0]]
    stress = np.linalg.solve(compliance, strain)
    energy = stretch[: mass.shape[0]] @ stiffness(model) @ stretch[: mass.shape[0]] / 2
    # uniaxial strain: plane stress E/(1-nu^2), in space (lambda + 2 mu)
    modulus = E / (1 - 0.09) if d == 2 else E * 0.7 / 1.3 / 0.4
    assert stress.reshape(-1, 3 if d == 2 else 6)[:, 0] == pytest.approx(modulus)
    assert energy == pytest.approx(modulus * area * 2.0 / 2)
    # a uniform traction (1, 0, ..) on the whole boundary: its power against v = e_x is the surface
    columns = model.port_slice("boundary traction")
    ones = np.zeros(columns.stop - columns.start)
    ones[::d] = 1.0
    moved = np.zeros(model.state_size)
    moved[: mass.shape[0] : d] = 1.0
    surface = 6 * 0.1 if d == 2 else 2 * (1 + 2 + 2)
    assert ones @ model.output(moved)[columns] == pytest.approx(surface)
    assert model.output_coordinates(moved, "boundary traction") == pytest.approx(ones)
    assert sigma * surface > 0


def positions(model, d):
    if d == 2:
        return MeshTri.init_tensor(np.linspace(0, 2, 9), np.linspace(0, 1, 4)).p.T
    return MeshTet.init_tensor(np.linspace(0, 2, 5), np.linspace(0, 1, 3), np.linspace(0, 1, 3)).p.T


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rod(1.0, 0, 1.0, 1.0), "elements"),
        (lambda: rod(-1.0, 2, 1.0, 1.0), "length"),
        (lambda: plate("top"), "left"),
        (lambda: plate(poissons_ratio=0.5), "poissons_ratio"),
        (lambda: solid(None, 1.0, 0.3, 1.0), "MeshTri"),
        (lambda: squares(order=3), "order must be 1 or 2"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
