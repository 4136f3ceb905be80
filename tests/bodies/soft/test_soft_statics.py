"""Soft bodies at rest, against closed forms, published numbers and an independent program."""

from functools import partial

import numpy as np
import pytest
import skfem

import phlexible as ph
from phlexible.bodies.mechanics import soft
from phlexible.bodies.mechanics.absolute import elastic_force
from refusals import refused

E, NU = 7.0, 0.3
KINDS = [skfem.MeshTri, skfem.MeshQuad, skfem.MeshTet, skfem.MeshHex]


def distorted(kind, cells=2):
    """A square or cube whose inner nodes lie anyhow."""
    d = 2 if kind in (skfem.MeshTri, skfem.MeshQuad) else 3
    mesh = kind.init_tensor(*[np.linspace(0, 1, cells + 1)] * d)
    p = mesh.p.copy()
    inner = ((p > 0) & (p < 1)).all(axis=0)
    p[:, inner] += np.random.default_rng(1).uniform(-0.12, 0.12, (d, inner.sum()))
    return kind(p, mesh.t)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_patch_of_uniform_strain_is_in_equilibrium(kind, order):
    """Any homogeneous deformation: no force on inner nodes, energy W(C) times the volume, in all elements."""
    law = ph.NeoHookean(E, NU)
    sheet = kind in (skfem.MeshTri, skfem.MeshQuad)
    body = ph.SoftBody(distorted(kind), law, density=1.0, thickness=0.5 if sheet else None, order=order)
    data = body.discretize(3)
    F = np.eye(3) + 0.3 * np.random.default_rng(2).uniform(-1, 1, (3, 3))
    x = body.nodes @ F.T
    inner = ((body.nodes > 1e-9) & (body.nodes < 1 - 1e-9))[:, : 2 if sheet else 3].all(axis=1)
    force = elastic_force(data, x.ravel()).reshape(-1, 3)
    assert inner.any()
    assert np.abs(force[inner]).max() <= 1e-14 * E
    assert np.abs(force).max() > 0.01
    C = F.T @ F
    if sheet:
        C[2], C[:, 2] = (0, 0, 1), (0, 0, 1)
    form, volume = law.constitution(body._plane), 0.5 if sheet else 1.0
    assert soft.strain_energy(data.elements[0], x) == pytest.approx(volume * float(form.energy(C)), rel=1e-13)
    assert data.mass == pytest.approx(volume, rel=1e-13)


def pinned(model, placed, numbers):
    for number in numbers:
        node = placed.node(int(number))
        model.connect(ph.Spherical(model.ground.at(node.initial_position()), node))


def test_cooks_membrane():
    """Plane stress, E = 1, nu = 1/3, unit load: 23.96 at the middle of the loaded edge (Simo, Rifai 1990)."""
    n, small = 8, 1e-5
    grid = skfem.MeshQuad.init_tensor(*[np.linspace(0, 1, n + 1)] * 2)
    x, y = grid.p
    mesh = skfem.MeshQuad(np.array([48 * x, 44 * x + y * (44 - 28 * x)]), grid.t)
    body = ph.SoftBody(mesh, ph.StVenantKirchhoff(1.0, 1 / 3), density=1.0, thickness=1.0, order=2)
    model = ph.Model(dimension=2)
    sheet = model.add(body, "sheet")
    pinned(model, sheet, body.points_where(lambda x: x[0] < 1e-9))
    edge = body.points_where(lambda x: x[0] > 48 - 1e-9)
    edge = edge[np.argsort(body.mesh.points[edge, 1])]
    shares = np.convolve(np.tile([1, 0], n)[:-1], [1, 4, 1]) / (6 * n)  # Simpson, of a uniform traction
    for number, share in zip(edge, shares, strict=True):
        model.apply(ph.Force(sheet.node(int(number)), (0, small * share, 0)))
    sag = (model.equilibrium().position(sheet.point((48, 52, 0)))[1] - 52) / small
    assert sag == pytest.approx(23.96, rel=0.002)


def test_twisted_block():
    """Torque of St. Venant, 0.1405770 G a^4 per twist, of a square block whose ends may warp."""
    twist, a, length = 1e-3, 1.0, 2.0
    mesh = skfem.MeshHex.init_tensor(np.linspace(0, length, 2), *[np.linspace(-a / 2, a / 2, 4)] * 2)
    body = ph.SoftBody(mesh, ph.NeoHookean(E, NU), density=1.0)
    angle = twist * body.nodes[:, 0]
    y, z = body.nodes[:, 1], body.nodes[:, 2]
    turned = [body.nodes[:, 0], y * np.cos(angle) - z * np.sin(angle), y * np.sin(angle) + z * np.cos(angle)]
    model = ph.Model()
    block = model.add(body, "block", shape=np.stack(turned, axis=1))
    ends = body.points_where(lambda x: (x[0] < 1e-9) | (x[0] > length - 1e-9))
    centre = body.points_where(lambda x: np.linalg.norm(x, axis=0) < 1e-9)
    pinned(model, block, centre)  # the axis does not warp
    for number in np.setdiff1d(ends, centre):
        node = block.node(int(number))
        model.connect(ph.Slider(model.ground.at(node.initial_position()), node, axis=(1, 0, 0)))
    q = model.equilibrium().state.position[:, :3].ravel()
    force = elastic_force(block.data, q).reshape(-1, 3)
    far = body.nodes[:, 0] > length - 1e-9
    moment = np.cross(q.reshape(-1, 3)[far], force[far]).sum(axis=0)[0]
    shear = E / (2 * (1 + NU))
    assert moment == pytest.approx(0.140577 * shear * a**4 * twist, rel=0.01)


def test_statics_agree_with_an_independent_program():
    """A bar of linear tetrahedra under a tip force that bends it by a third, neo-Hookean: all nodes."""
    mesh = skfem.MeshTet.init_tensor(np.linspace(0, 2, 3), np.linspace(0, 0.6, 2), np.linspace(0, 0.5, 2))
    x0, cells = mesh.p.T, mesh.t.T
    clamped = x0[:, 0] < 1e-9
    force = np.zeros_like(x0)
    force[x0[:, 0] > 2 - 1e-9] = (0.01, -0.03, 0.02)
    body = ph.SoftBody(mesh, ph.NeoHookean(E, NU), density=1.0, order=1)
    model = ph.Model()
    bar = model.add(body, "bar")
    pinned(model, bar, np.flatnonzero(clamped))
    for number in np.flatnonzero(force.any(axis=1)):
        model.apply(ph.Force(bar.node(int(number)), force[number]))
    equilibrium = model.equilibrium()
    found = np.array([equilibrium.position(bar.node(k)) for k in range(len(x0))])
    expected = solved(x0, cells, clamped, force)
    assert np.abs(expected - x0).max() > 0.3
    assert found == pytest.approx(expected, abs=1e-9)


def solved(x0, cells, clamped, force):
    """Newton's method for P = mu (F - F^-T) + lame ln J F^-T, written for F and apart from the package."""
    mu, lame = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
    free = np.flatnonzero(np.repeat(~clamped, 3))
    x = x0.copy()
    slopes = [np.linalg.inv(np.column_stack([np.ones(4), x0[cell]]))[1:].T for cell in cells]
    volumes = [abs(np.linalg.det(np.column_stack([np.ones(4), x0[cell]]))) / 6 for cell in cells]
    for share in [*np.linspace(0.1, 1, 10), 1, 1, 1, 1]:
        residual, K = -share * force.ravel(), np.zeros((x.size,) * 2)
        for cell, dN, volume in zip(cells, slopes, volumes, strict=True):
            F = x[cell].T @ dN
            G, J = np.linalg.inv(F).T, np.linalg.det(F)
            P = mu * (F - G) + lame * np.log(J) * G
            A = mu * np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3)) + lame * np.einsum("ij,kl->ijkl", G, G)
            A += (mu - lame * np.log(J)) * np.einsum("il,kj->ijkl", G, G)
            own = (3 * cell[:, None] + np.arange(3)).ravel()
            residual[own] += volume * (dN @ P.T).ravel()
            K[np.ix_(own, own)] += volume * np.einsum("aj,ijkl,bl->aibk", dN, A, dN).reshape(12, 12)
        step = np.linalg.solve(K[np.ix_(free, free)], residual[free])
        x.ravel()[free] -= step
    assert np.abs(step).max() < 1e-12
    return x


@pytest.mark.parametrize("law", [ph.NeoHookean(2e11, 0.3), ph.StVenantKirchhoff(2e11, 0.3)])
@pytest.mark.parametrize("cells", [skfem.MeshQuad, skfem.MeshHex])
def test_small_strains_store_the_energy_of_hooke(cells, law):
    """Parts of an energy that are as large as E cancel at a strain of 1e-7; what is left is 5e-15 of them."""
    strain, dimension = 1e-7, cells.elem.refdom.dim()
    mesh = cells.init_tensor(*[np.linspace(0, 1, 2)] * dimension)
    body = ph.SoftBody(mesh, law, 7800.0, thickness=1.0 if dimension == 2 else None)
    model = ph.Model(dimension=dimension)
    shape = body.nodes * (1 + strain, 1 - 0.3 * strain, 1 - 0.3 * strain)
    model.add(body, "cube", shape=shape)
    assert model.simulate(1e-9, 1e-9).energy.strain[0] == pytest.approx(2e11 * strain**2 / 2, rel=1e-5)


def uneven(kind, lengths=(0.6, 0.2, 0.1)):
    """A bar whose elements are four times as long at one side as at the other."""
    d = 2 if kind in (skfem.MeshTri, skfem.MeshQuad) else 3
    return kind.init_tensor(*[length * np.array([0, 0.1, 0.3, 0.6, 1.0]) for length in lengths[:d]])


def at_the_end(x):
    return x[0] > 0.6 - 1e-9


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_force_on_an_end_is_a_uniform_traction(kind, order):
    """A bar without lateral contraction gets longer by F L / (E A), at each node of its end."""
    d = 2 if kind in (skfem.MeshTri, skfem.MeshQuad) else 3
    law, thickness = ph.StVenantKirchhoff(E, 0.0), 0.1 if d == 2 else None
    ends = {"end": at_the_end}
    body = ph.SoftBody(uneven(kind), law, density=1.0, thickness=thickness, order=order, interfaces=ends)
    model = ph.Model(dimension=d)
    bar = model.add(body, "bar")
    pinned(model, bar, body.points_where(lambda x: x[0] < 1e-9))
    force, rest = 1e-7 * E * 0.02, bar["end"].initial_position()
    model.apply(ph.Force(bar["end"], force * np.eye(3)[0]))
    stretched = model.equilibrium()
    np.testing.assert_allclose(rest, [0.6, 0.1, 0.05 if d == 3 else 0.0], atol=1e-14)
    for number in body.points_where(at_the_end):
        node = bar.node(int(number))
        stretch = stretched.position(node) - node.initial_position()
        np.testing.assert_allclose(stretch, 0.6e-7 * np.eye(3)[0], rtol=1e-5, atol=1e-13)


@pytest.mark.parametrize(
    ("kind", "chosen", "middle"),
    [
        (skfem.MeshTet, lambda x: at_the_end(x) & (x[2] < 1e-9), (0.6, 0.1, 0.0)),  # an edge
        (skfem.MeshTet, lambda x: abs(x[0] - 0.18) < 1e-9, (0.18, 0.1, 0.05)),  # a section
        (skfem.MeshHex, lambda x: at_the_end(x) | (x[2] < 1e-9), ((0.12 * 0.3 + 0.02 * 0.6) / 0.14, 0.1, 1 / 140)),
        (skfem.MeshTet, lambda x: x[0] > 0.06 - 1e-9, (0.33, 0.1, 0.05)),  # whole elements
        (skfem.MeshHex, lambda x: x[0] > 0.06 - 1e-9, (0.33, 0.1, 0.05)),
        (skfem.MeshTri, lambda x: x[0] > 0.18 - 1e-9, (0.39, 0.1, 0.0)),  # elements of a sheet
        (skfem.MeshQuad, lambda x: x[1] < 1e-9, (0.3, 0.0, 0.0)),
        (skfem.MeshQuad, lambda x: abs(x[1] - 0.06) < 1e-9, (0.3, 0.06, 0.0)),  # a line inside
        (skfem.MeshQuad, lambda x: (x[0] < 1e-9) & (x[1] % 0.2 < 1e-9), (0.0, 0.1, 0.0)),  # two nodes
    ],
)
@pytest.mark.parametrize("order", [1, 2])
def test_an_interface_is_at_the_centroid_of_its_region(kind, order, chosen, middle):
    thickness = 0.1 if kind in (skfem.MeshTri, skfem.MeshQuad) else None
    law, parts = ph.NeoHookean(E, NU), {"part": chosen}
    body = ph.SoftBody(uneven(kind), law, density=1.0, thickness=thickness, order=order, interfaces=parts)
    np.testing.assert_allclose(ph.Model().add(body)["part"].initial_position(), middle, atol=1e-14)


def test_a_node_away_from_the_area_of_an_interface_is_refused():
    """Nodes of elements beside the area, of an uneven rim, are not."""
    law = ph.NeoHookean(E, NU)
    for beside in ((0.0, 0.0, 0.0), (0.36, 0.0, 0.0)):
        end = {"part": lambda x, at=beside: at_the_end(x) | (np.abs(x.T - at).sum(axis=1) < 1e-9)}
        make = partial(ph.SoftBody, uneven(skfem.MeshHex), law, density=1.0, order=1, interfaces=end)
        if beside[0]:
            np.testing.assert_allclose(ph.Model().add(make())["part"].initial_position()[0], 0.6, atol=1e-14)
        else:
            refused(ph.ParameterError, r"leaves out 1 of 26 chosen nodes, .* make an interface of each", make)


def test_a_shell_node_away_from_an_interface_is_refused():
    parts = {"part": lambda x: (x[0] < 0.11) | ((abs(x[0] - 0.5) < 0.01) & (x[1] < -0.49))}
    with pytest.raises(ph.ParameterError, match="leaves out 1 of 23 chosen nodes"):
        ph.Shell.plate(1.0, 1.0, 0.01, ph.Material(2e11, 7800.0, 0.3), (10, 10), interfaces=parts)
