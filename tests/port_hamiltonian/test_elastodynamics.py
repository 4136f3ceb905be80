"""Rod, plate and solid as velocity-stress models: structure, static and dynamic numbers."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from skfem import Basis, ElementTetP1, ElementTriP1, ElementVector, MeshTet, MeshTri
from skfem.models.elasticity import linear_elasticity

from phlexible.errors import ParameterError
from phlexible.port_hamiltonian.elastodynamics import rod, solid
from phlexible.port_hamiltonian.structure_check import check_structure

E, RHO = 3.0, 2.0


def plate(clamped=None, poissons_ratio=0.3):
    mesh = MeshTri.init_tensor(np.linspace(0, 2, 9), np.linspace(0, 1, 4))
    return solid(mesh.with_boundaries({"left": lambda x: x[0] == 0}), E, poissons_ratio, RHO, 0.1, clamped)


def block(clamped=None, poissons_ratio=0.3):
    mesh = MeshTet.init_tensor(np.linspace(0, 2, 5), np.linspace(0, 1, 3), np.linspace(0, 1, 3))
    return solid(mesh.with_boundaries({"left": lambda x: x[0] == 0}), E, poissons_ratio, RHO, 1.0, clamped)


MODELS = {
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
    expected = 0.1 * linear_elasticity(plane, shear).assemble(Basis(mesh, ElementVector(ElementTriP1())))
    assert stiffness(plate()) == pytest.approx(expected.toarray(), abs=1e-12)


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


def test_matrices_are_sparse():
    model = rod(1.0, 1000, 1.0, 1.0)
    assert check_structure(model, np.random.default_rng(0).normal(size=model.state_size)).power < 1e-14
    assert sparse.issparse(model.descriptor) and model.descriptor.nnz < 10 * model.state_size


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rod(1.0, 0, 1.0, 1.0), "elements"),
        (lambda: rod(-1.0, 2, 1.0, 1.0), "length"),
        (lambda: plate("top"), "left"),
        (lambda: plate(poissons_ratio=0.5), "poissons_ratio"),
        (lambda: solid(None, 1.0, 0.3, 1.0), "MeshTri"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
