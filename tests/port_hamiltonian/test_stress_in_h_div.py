"""Solids with stresses in H(div): the elements, closed forms, nothing that locks, balance of power."""

import numpy as np
import pytest
import skfem
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import spsolve
from skfem import MeshQuad, MeshTet, MeshTri
from skfem.helpers import div, dot

import phlexible as ph
from phlexible.papers import solid

BOUNDARIES = {
    "left": lambda x: x[0] < 1e-9,
    "ends": lambda x: (x[0] < 1e-9) | (x[0] > 1 - 1e-9),
    "rim": lambda x: x[0] > -1,
}


def cube(cells, dimension=2, shaken=0.0):
    kind = {2: MeshTri, 3: MeshTet}[dimension]
    mesh = kind.init_tensor(*[np.linspace(0, 1, cells + 1)] * dimension)
    inner = (np.abs(mesh.p - 0.5) < 0.5 - 1e-9).all(axis=0)
    places = mesh.p + shaken / cells * inner * np.random.default_rng(0).uniform(-1, 1, mesh.p.shape)
    return kind(places, mesh.t).with_boundaries(BOUNDARIES)


def model_of(mesh, poissons_ratio=0.3, clamped=None, **options):
    """E = rho = 1, plane strain unless something else is asked for."""
    return solid(mesh, 1.0, poissons_ratio, 1.0, clamped=clamped, stress="h_div", **{"plane": "strain", **options})


def shapes_of(model):
    """Frequencies and shapes, stresses and rates of rotation eliminated."""
    v, rest = model.state_slice("velocity"), slice(model.state_slice("velocity").stop, model.state_size)
    turning = model.structure[rest, rest]  # S below, -S^T beside
    rate = model.structure[rest, v]
    eliminated = spsolve((model.descriptor[rest, rest] - turning).tocsc(), rate.tocsc())
    squares, shapes = eigh((rate.T @ eliminated).toarray(), model.descriptor[v, v].toarray())
    return np.sqrt(np.abs(squares)), shapes


def frequencies(model):
    return shapes_of(model)[0]


def transverse(poissons_ratio):
    """Speed of shear waves where E = rho = 1."""
    return np.sqrt(1 / 2 / (1 + poissons_ratio))


def test_the_elements_are_those_of_scikit_fem():
    """Two rows of its BDM1, velocities and rotations constant: the same frequencies."""
    mesh, nu = cube(4, shaken=0.2), 0.3
    stress = skfem.Basis(mesh, skfem.ElementTriBDM1(), intorder=2)
    cells = stress.with_element(skfem.ElementTriP0())

    def matrix(form, *bases):
        return skfem.BilinearForm(form).assemble(*bases)

    mass = matrix(lambda a, b, w: dot(a, b), stress)
    trace = [[matrix(lambda a, b, w, i=i, j=j: a[j] * b[i], stress) for j in range(2)] for i in range(2)]
    C = sparse.block_array(
        [[mass - nu * trace[0][0], -nu * trace[0][1]], [-nu * trace[1][0], mass - nu * trace[1][1]]]
    ) / (2 * transverse(nu) ** 2)
    part = matrix(lambda a, b, w: div(a) * b, stress, cells)
    D = sparse.block_diag([part, part]).toarray()
    x, y = (matrix(lambda a, b, w, i=i: a[i] * b, stress, cells) for i in range(2))
    S = sparse.hstack([y, -x]).toarray()
    zero = np.zeros((len(S), len(S)))
    saddle = np.block([[C.toarray(), S.T], [S, zero]])
    wide = np.hstack([D, np.zeros((len(D), len(S)))])
    volumes = np.tile(matrix(lambda a, b, w: a * b, cells).diagonal(), 2)
    expected = np.sqrt(eigh(wide @ np.linalg.solve(saddle, wide.T), np.diag(volumes), eigvals_only=True))
    found = ph.LinearModel.of(model_of(mesh, nu, "rim", lumped=False)).modes(4)
    assert found.frequencies == pytest.approx(expected[:4], rel=1e-11)


MODELS = {
    (dimension, clamped, is_lumped): (cube({2: 3, 3: 1}[dimension], dimension, 0.2), clamped, is_lumped)
    for dimension in (2, 3)
    for clamped in (None, "left")
    for is_lumped in (True, False)
}


@pytest.mark.parametrize("case", MODELS)
def test_structure_and_rigid_motions(case):
    """With dependent equations of symmetry at the free edges of a cube."""
    mesh, clamped, is_lumped = MODELS[case]
    model = model_of(mesh, clamped=clamped, lumped=is_lumped)
    figures = ph.check_structure(model, np.random.default_rng(0).normal(size=model.state_size))
    assert figures.skewness == 0
    assert figures.power < 1e-14
    assert figures.gradient < 1e-9
    modes = ph.LinearModel.of(model).modes(7)
    assert modes.rigid_modes == (0 if clamped else 3 * (mesh.dim() - 1))
    assert modes.frequencies[modes.rigid_modes] > 0.1


@pytest.mark.parametrize("is_lumped", [True, False])
@pytest.mark.parametrize(("dimension", "cells"), [(2, 4), (3, 2)])
def test_a_moved_side_and_a_body_force_do_the_work_that_becomes_energy(dimension, cells, is_lumped):
    """Midpoint rule on shaken cells; the stress stays weakly symmetric and its traction is the output."""
    model = model_of(cube(cells, dimension, 0.2), 0.4999, "left", lumped=is_lumped)
    v = model.state_slice("velocity")
    sizes = {port.name: port.size for port in model.ports}
    along = np.eye(dimension)
    inputs = {
        "body force": lambda t: np.cos(4 * t) * np.tile(along[0], sizes["body force"] // dimension),
        "boundary velocity": lambda t: np.sin(6 * t) * np.tile(along[1], sizes["boundary velocity"] // dimension),
    }
    run = ph.integrate(model, np.zeros(model.state_size), inputs, 5.0, 0.05, method="midpoint")
    assert run.energy.max() > 0.1
    assert np.abs(run.balance_error).max() < 1e-13 * run.energy.max()
    # momentum: of the body force, and of the tractions at the side
    momentum = (model.descriptor[v, v] @ run.states[:, v].T).reshape(-1, dimension, len(run.time)).sum(axis=0)
    middle = run.time[:-1] + 0.025
    traction = run.output("boundary velocity").reshape(len(run.time), -1, dimension).sum(axis=1)
    pushed = np.cos(4 * middle) * along[0][:, None] + (traction[1:] + traction[:-1]).T / 2
    assert np.diff(momentum, axis=1) == pytest.approx(0.05 * pushed, abs=1e-12)
    stress = model.stress(run.states[-1])
    mean = stress.mean(axis=1)
    volumes = np.asarray(model.port("body force").mass.diagonal())[::dimension]
    skew = mean - mean.transpose(0, 2, 1)
    assert np.abs(np.einsum("t,tkl->kl", volumes, skew)).max() < 1e-13 * np.abs(stress).max()
    assert np.abs(skew).max() < (1.0 if is_lumped else 1e-12) * np.abs(stress).max()


@pytest.mark.parametrize(("dimension", "plane"), [(2, "stress"), (2, "strain"), (3, "stress")])
@pytest.mark.parametrize("is_lumped", [True, False])
def test_a_uniform_rate_of_strain_gives_uniform_stress(dimension, plane, is_lumped):
    """Velocities G x of the boundary and of the cells, which also turn: ds/dt is D G, symmetric, everywhere."""
    nu, d = 0.3, dimension
    mesh = cube(3 if d == 2 else 2, d, 0.2)
    model = model_of(mesh, nu, "rim", plane=plane, lumped=is_lumped)
    G = np.random.default_rng(1).normal(size=(d, d))
    x = np.zeros(model.state_size)
    x[model.state_slice("velocity")] = (mesh.p[:, mesh.t].mean(axis=1).T @ G.T).ravel()
    facets = np.sort(mesh.boundaries["rim"])
    given = mesh.p[:, mesh.facets[:, facets]]  # (d, corners, facets)
    u = np.zeros(model.port_size)
    u[model.port_slice("boundary velocity")] = np.einsum("kl,lcf->fck", G, given).ravel()
    rates = model.forces(x, u)
    s = model.state_slice("stress")
    if is_lumped:
        found = np.zeros_like(x)
        found[s] = spsolve(model.descriptor[s, s].tocsc(), rates[s])
    else:
        turning = model.structure[model.state_slice("rotation"), s]
        saddle = sparse.block_array([[model.descriptor[s, s], turning.T], [turning, None]])
        right = np.concatenate([rates[s], np.zeros(turning.shape[0])])
        found = np.concatenate([0 * x[model.state_slice("velocity")], spsolve(saddle.tocsc(), right)])
    strain, shear = (G + G.T) / 2, transverse(nu) ** 2
    lame = 2 * shear * nu / ((1 - 2 * nu) if (d, plane) != (2, "stress") else (1 - nu))
    expected = lame * np.trace(strain) * np.eye(d) + 2 * shear * strain
    stress = model.stress(found)
    assert stress == pytest.approx(np.broadcast_to(expected, stress.shape), abs=1e-12)


def lame_gap(cells, dimension, nu):
    """Of the mode most like (cos pi x sin pi y, -sin pi x cos pi y), which no traction holds: sqrt(2) pi c_T."""
    mesh = cube(cells, dimension).scaled((1.0, 1.0, 0.6)[:dimension])  # any height: there is no motion along it
    model = model_of(mesh, nu)
    found, shapes = shapes_of(model)
    x, y = np.pi * mesh.p[:, mesh.t].mean(axis=1)[:2]
    lame = np.zeros((len(x), dimension))
    lame[:, 0], lame[:, 1] = np.cos(x) * np.sin(y), -np.sin(x) * np.cos(y)
    share = np.abs(shapes.T @ (model.descriptor[: lame.size, : lame.size] @ lame.ravel()))
    assert share.max() > 0.8 * np.linalg.norm(share)
    return found[share.argmax()] / (np.sqrt(2) * np.pi * transverse(nu)) - 1


@pytest.mark.parametrize("nu", [0.3, 0.4999])
def test_lame_modes_of_a_free_square_and_cube(nu):
    """Without change of volume: the same of any Poisson's ratio but for c_T (G. Lame 1852)."""
    assert np.abs(lame_gap(16, 2, nu)) < 3e-3
    assert np.abs(lame_gap(3, 3, nu)) < 1.2e-2


@pytest.mark.parametrize(("is_lumped", "cells", "gap"), [(True, 8, 8e-3), (False, 4, 4e-2)])
def test_a_clamped_square_does_not_lock_and_converges_with_the_square(is_lumped, cells, gap):
    """Towards nu = 1/2 omega^2 = 52.3447 c_T^2, of Stokes' flow; elements of displacements are far off."""
    nu = 0.49999
    exact = np.sqrt(52.3446911) * transverse(nu)
    meshes = cube(cells), cube(2 * cells)
    gaps = [frequencies(model_of(each, nu, "rim", lumped=is_lumped))[0] / exact - 1 for each in meshes]
    assert 0 < gaps[1] < gap
    assert gaps[0] / gaps[1] == pytest.approx(3.1 if is_lumped else 3.9, abs=0.15)
    if is_lumped:
        assert frequencies(solid(meshes[1], 1.0, nu, 1.0, clamped="rim", plane="strain"))[0] > 3 * exact


def test_a_clamped_plate_in_its_plane():
    """omega a sqrt(rho (1 - nu^2) / E) of N. S. Bardell, R. S. Langley, J. M. Dunsdon (1996)."""
    found = frequencies(model_of(cube(16), 0.3, "rim", plane="stress")) * np.sqrt(1 - 0.3**2)
    assert found[:4] == pytest.approx([3.555, 3.555, 4.235, 5.186], rel=5e-3)


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_compliance_is_one_block_for_each_vertex(dimension):
    mesh = cube(3 if dimension == 2 else 2, dimension, 0.2)
    model = model_of(mesh, clamped="left")
    s = model.state_slice("stress")
    _, block = connected_components(model.descriptor[s, s])
    at_vertex = dimension * np.bincount(mesh.facets.ravel()).max()
    assert 4 < np.bincount(block).max() < at_vertex


@pytest.mark.parametrize("dimension", [2, 3])
def test_axes_place_and_unit_of_length_do_not_matter(dimension):
    """In space with dependent equations at edges that lie along no axis."""
    mesh = cube(5 - dimension, dimension, 0.2)
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(dimension, dimension)))[0]
    turn[0] *= np.linalg.det(turn)
    moved = type(mesh)(1e3 * (turn @ mesh.p + 5.0), mesh.t)
    found, expected = frequencies(model_of(moved)), frequencies(model_of(mesh))
    assert 1e3 * found[6:] == pytest.approx(expected[6:], rel=1e-9)


def test_thickness_and_density_scale_what_they_should():
    mesh = cube(4)
    thin = model_of(mesh, plane="stress", clamped="left")
    thick = solid(mesh, 3.0, 0.3, 2.0, 0.1, "left", stress="h_div")
    ratio = ph.LinearModel.of(thick).modes(4).frequencies / ph.LinearModel.of(thin).modes(4).frequencies
    assert ratio == pytest.approx(np.sqrt(3.0 / 2.0))
    assert thick.port("boundary velocity").mass.sum() == pytest.approx(0.1 * 2)  # of both components


def test_an_exchanged_port_makes_a_boundary_free():
    mesh = cube(3, shaken=0.2)
    loaded = ph.inverted(model_of(mesh, clamped="rim", lumped=False), "boundary velocity")
    found, free = (ph.LinearModel.of(each).modes(8) for each in (loaded, model_of(mesh, lumped=False)))
    assert found.rigid_modes == 3
    assert found.frequencies == pytest.approx(free.frequencies, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: model_of(MeshQuad()), "MeshTri or MeshTet of straight cells"),
        (lambda: model_of(cube(2), order=1), "order must be left out"),
        (lambda: model_of(cube(2), clamped="top"), "left, ends, rim"),
        (lambda: model_of(cube(2), 0.5), "poissons_ratio"),
        (lambda: model_of(cube(2), lumped=1), "lumped must be True or False"),
        (lambda: model_of(cube(2), plane="thin"), "plane must be one of"),
        (lambda: solid(cube(2), 1.0, 0.3, 1.0, stress="hdiv"), "stress must be one of 'discontinuous', 'h_div'"),
        (
            lambda: model_of(cube(2).with_boundaries({"middle": np.arange(16)}), clamped="middle"),
            "8 of 'middle' lie inside",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ph.ParameterError, match=message):
        call()
