"""Port-Hamiltonian forms of soft bodies with strains as states: structure, the conserving step, volumes."""

from dataclasses import replace

import numpy as np
import pytest
import skfem
from scipy.sparse.linalg import eigsh

import phlexible as ph

MOONEY = ph.InvariantLaw(
    (lambda I: 4.0 * (I - 3), lambda I: 4.0 + 0 * I),
    (lambda I: 2.0 * (I - 3) + (I - 3) ** 2, lambda I: 2.0 + 2 * (I - 3)),
    (lambda I: 5.0 * np.log(I) ** 2 - 8.0 * np.log(I), lambda I: (10.0 * np.log(I) - 8.0) / I),
)
TETRAHEDRA = skfem.MeshTet.init_tensor(*[np.linspace(0, 1, 2)] * 3)
SHEET = {"thickness": 0.1}
BODIES = {
    "Venant": (TETRAHEDRA, ph.StVenantKirchhoff(30.0, 0.3), {"order": 1}),
    "neo-Hookean": (skfem.MeshHex(), ph.NeoHookean(30.0, 0.3), {"order": 1}),
    "Mooney": (TETRAHEDRA, MOONEY, {"order": 1, "viscosity": 0.02}),
    "membrane": (skfem.MeshTri(), ph.NeoHookean(30.0, 0.4), SHEET),
    "plane strain": (skfem.MeshQuad(), ph.NeoHookean(30.0, 0.4), {**SHEET, "plane": "strain"}),
}
CASES = [(name, "green_lagrange") for name in ("Venant", "neo-Hookean", "membrane")]
CASES += [(name, "mean_volume") for name in ("neo-Hookean", "plane strain")]
CASES += [(name, "polyconvex") for name in ("Mooney", "membrane")]
BEND = np.array([[1.2, 0.1, 0.0], [0.0, 0.9, 0.2], [0.1, 0.0, 1.1]])


def soft(name, **options):
    mesh, law, own = BODIES[name]
    return ph.SoftBody(mesh, law, density=3.0, interfaces={"right": lambda x: x[0] > 1 - 1e-9}, **own, **options)


def bent(x):
    return BEND @ x + [0, 0, 0.1 * x[0] ** 2]


def speed(x):
    return np.sin(x + 1)


@pytest.mark.parametrize(("name", "strains"), CASES)
def test_it_rests_undeformed_and_its_products_are_those_of_its_matrices(name, strains):
    rest, rng = soft(name).port_hamiltonian(strains=strains), np.random.default_rng(1)
    still = rest.initial_state
    assert rest.forces(still, np.zeros(rest.port_size)) == pytest.approx(np.zeros(len(still)), abs=1e-13)
    form = soft(name).port_hamiltonian(strains=strains, gravity=(1, 2, -9), shape=bent, velocity=speed)
    x = form.initial_state + 0.02 * rng.normal(size=form.state_size)
    z, u, far = rng.normal(size=len(x)), rng.normal(size=form.port_size), x + 1e-9 * rng.normal(size=len(x))
    whole = (form.structure_matrix(x) - form.dissipation_matrix(x)) @ z + form.port_matrix(x) @ u
    assert form.flows(x[None], z[None], u[None])[0] == pytest.approx(whole, abs=1e-12)
    assert form.output_products(x[None], z[None])[0] == pytest.approx(form.port_matrix(x).T @ z, abs=1e-13)
    assert form.discrete_effort(x, far) == pytest.approx(form.effort((x + far) / 2), abs=1e-12 * np.abs(x).max())


@pytest.mark.parametrize(("name", "strains"), [case for case in CASES if case[1] != "mean_volume"])
def test_it_moves_as_the_conserving_step_to_round_off(name, strains):
    """The discrete gradient: positions, power, and strains that stay those of the shape."""
    body, push = soft(name), (0.3, 0.2, -0.5)
    options = {"shape": bent, "velocity": speed}
    model = ph.Model(gravity=(0, 0, -9.0))
    placed = model.add(body, "body", **options)
    model.apply(ph.Force(placed["right"], push))
    motion = model.simulate(0.05, 0.01, progress=False)
    form = body.port_hamiltonian(strains=strains, gravity=(0, 0, -9.0), **options)
    run = ph.integrate(form, form.initial_state, {"right": push}, 0.05, 0.01, method="discrete_gradient")
    expected = [motion.position(placed.node(int(n))) for n in body.soft_mesh.nodes]
    found = run.state("position").reshape(len(run.time), -1, 3)
    assert found == pytest.approx(np.stack(expected, axis=1), abs=1e-13)
    assert np.abs(run.balance_error).max() < 1e-14 * np.abs(run.energy).max()
    assert max(np.abs(form.strain_gap(x)).max() for x in run.states) < 1e-13


def test_mean_volumes_keep_momenta_in_any_frame_with_order_2():
    turn, ends = np.linalg.qr(np.array([[1.0, 2, 0], [0, 1, 3], [1, 0, 1]]))[0], []
    turn *= np.linalg.det(turn)
    for R in (np.eye(3), turn):
        form = soft("neo-Hookean").port_hamiltonian(
            strains="mean_volume", shape=lambda x, R=R: R @ bent(x), velocity=lambda x, R=R: R @ speed(x)
        )
        run = ph.integrate(form, form.initial_state, None, 0.05, 0.01, method="discrete_gradient")
        momenta = np.array([np.concatenate(form.momenta(x)) for x in run.states])
        assert np.ptp(momenta, axis=0) == pytest.approx(np.zeros(6), abs=1e-13)
        assert np.ptp(run.energy) < 1e-13 * run.energy[0]
        assert max(np.abs(form.strain_gap(x)).max() for x in run.states) < 1e-13
        ends.append(run.state("position")[-1].reshape(-1, 3) @ R)
    assert ends[0] == pytest.approx(ends[1], abs=1e-13)
    exact = ph.integrate(form, form.initial_state, None, 0.05, 2.5e-3).states[-1]
    finer = ph.integrate(form, form.initial_state, None, 0.05, 5e-3, method="discrete_gradient").states[-1]
    coarse, fine = (np.abs(state - exact).max() for state in (run.states[-1], finer))
    assert np.log2(coarse / fine) == pytest.approx(2, abs=0.1)


def first_frequency(cells, order, strains, poissons_ratio=0.4999):
    """Of a wall 2 m long and 1 m high with G = 1 Pa, clamped on one side, in plane strain."""
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 2, 2 * cells + 1), np.linspace(0, 1, cells + 1))
    law = ph.NeoHookean(2 * (1 + poissons_ratio), poissons_ratio)
    body = ph.SoftBody(mesh, law, density=1.0, thickness=1.0, order=order, plane="strain")
    form = body.port_hamiltonian(dimension=2, strains=strains)
    x = form.initial_state
    slope, v = -form.defect_slope(x, 0 * x, np.zeros(form.port_size)), form.state_slice("velocity")
    following = slope[v.stop :, v] / form.descriptor_matrix(x)[v.stop :, v.stop :].diagonal()[:, None]
    stiffness = -(slope[v, : v.start] + slope[v, v.stop :] @ following)
    free = np.flatnonzero(np.repeat(body.nodes[:, 0] > 1e-9, 2))
    chosen = [each.tocsc()[free][:, free] for each in (stiffness, form.descriptor_matrix(x)[v, v])]
    return float(np.sqrt(eigsh(chosen[0], 1, chosen[1], sigma=0)[0][0]))


def test_mean_volumes_do_not_lock():
    """Elements of order 1 at nu = 0.4999, against order 2 on a finer mesh: 2 % in place of 82 %."""
    exact = first_frequency(12, 2, "polyconvex")
    assert first_frequency(4, 1, "mean_volume") == pytest.approx(exact, rel=0.03)
    assert first_frequency(4, 1, "polyconvex") > 1.7 * exact


def test_ports_are_tractions_and_forces_of_the_mass():
    """Uniform ones add up to the area times the traction, and to the mass; edges inside of a sheet have none."""
    whole, right = (lambda x: x[0] > -1), (lambda x: x[0] > 1 - 1e-9)
    for name, chosen, area, mass in (
        ("neo-Hookean", right, 1.0, 3.0),
        ("neo-Hookean", whole, 6.0, 3.0),
        ("membrane", right, 0.1, 0.3),
        ("membrane", whole, 0.4, 0.3),
    ):
        body = replace(soft(name), interfaces={"right": chosen})
        form = body.port_hamiltonian(strains="polyconvex", velocity=(1.0, 2.0, 3.0))
        assert [port.name for port in form.ports] == ["right", "distributed force", "right traction"]
        u = np.zeros(form.port_size)
        for port, size in (("right traction", area), ("distributed force", mass)):
            u[form.port_slice(port)] = np.tile([0.0, 2.0, 0.0], form.port(port).size // 3)
            push = (form.port_matrix(form.initial_state) @ u)[form.state_slice("velocity")].reshape(-1, 3)
            assert push.sum(axis=0) == pytest.approx([0, 2 * size, 0], abs=1e-14)
            assert form.output_coordinates(form.initial_state, port)[:3] == pytest.approx([1, 2, 3])
            u[:] = 0.0


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("Venant", {"strains": "polyconvex"}, "function of E alone: take strains='green_lagrange'"),
        ("membrane", {"strains": "mean_volume"}, "take strains='polyconvex'"),
        ("Venant", {"strains": "almansi"}, "strains must be one of"),
        ("Venant", {"strains": "green_lagrange", "stresses": True}, "not both"),
    ],
)
def test_strains_that_a_body_does_not_have_are_refused(name, options, words):
    with pytest.raises(ph.ParameterError, match=words):
        soft(name).port_hamiltonian(**options)
