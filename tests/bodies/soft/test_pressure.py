"""Pressure on soft bodies: exact work p delta(V), closed forms of a balloon and a round sheet, solids."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from mechanisms import grounded
from phlexible.bodies.soft_mesh import soft_surface
from phlexible.gallery.soft_bodies import disc


def octahedral_sphere(radius, halvings):
    """A closed surface of triangles that go counter-clockwise seen from outside."""
    corners = np.vstack([np.eye(3), -np.eye(3)])
    cells = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    triangles = corners[np.array(cells)]
    for _ in range(halvings):
        a, b, c = (triangles[:, k] for k in range(3))
        d, e, f = a + b, b + c, c + a
        triangles = np.concatenate([np.stack(t, axis=1) for t in ((a, d, f), (d, b, e), (f, e, c), (d, e, f))])
        triangles /= np.linalg.norm(triangles, axis=2, keepdims=True)
    places, numbers = np.unique(triangles.reshape(-1, 3).round(12), axis=0, return_inverse=True)
    return radius * places, numbers.reshape(-1, 3)


def enclosed(motion, placed, surface):
    nodes = motion.elastic_coordinates(placed).reshape(len(motion.time), -1, 3)
    return surface.volume(nodes[:, surface.nodes])


@pytest.mark.parametrize("order", [1, 2])
def test_a_pressure_in_a_balloon_supplies_p_delta_v(order):
    """Over every step, at any deformation; what it does to a closed surface has no resultant."""
    body = ph.SoftBody(octahedral_sphere(0.1, 1), ph.NeoHookean(1e6, 0.45), 1000.0, 1e-3, order=order)
    model = ph.Model()
    balloon = model.add(body, "balloon", shape=lambda x: x * [1.2, 1, 0.9], angular_velocity=(0, 0, 20))
    pressure = model.apply(ph.Pressure(balloon, lambda t: 5e3 * t / 0.02, name="gas"))
    motion = model.simulate(0.02, 2.5e-4, progress=False)
    volume = enclosed(motion, balloon, soft_surface(body.mesh, None))
    assert volume[-1] > 1.1 * volume[0]
    middles = (motion.time[1:] + motion.time[:-1]) / 2
    work = np.cumsum([pressure.at_time(t) * dV for t, dV in zip(middles, np.diff(volume), strict=True)])
    assert motion.energy.work["gas"][1:] == pytest.approx(work, rel=1e-10, abs=1e-12)
    spin = motion.momentum.angular[:, 2]
    assert np.abs(motion.momentum.linear).max() <= 1e-12 * spin[0]
    assert spin == pytest.approx(spin[0], rel=1e-3)


def test_a_balloon_of_rubber_rests_at_the_closed_form():
    """p = 2 G t/R (1/l - 1/l^7) of an incompressible sphere; the miss falls by the square of the facets."""
    modulus, thickness, radius, stretch = 1e6, 1e-3, 0.1, 1.15
    pressure = 2 * modulus / 3 * thickness / radius * (1 / stretch - stretch**-7)
    misses = []
    for halvings in (2, 3):
        sphere = octahedral_sphere(radius, halvings)
        body = ph.SoftBody(sphere, ph.NeoHookean(modulus, 0.5), 1000.0, thickness, order=1)
        model = ph.Model()
        model.apply(ph.Pressure(model.add(body, "balloon", shape=lambda x: stretch * x), pressure))
        nodes = model.equilibrium().state.position
        misses.append(abs(np.linalg.norm(nodes - nodes.mean(axis=0), axis=1).mean() / radius - stretch))
    assert misses[1] < 0.01
    assert misses[0] / misses[1] == pytest.approx(4, abs=0.8)


def test_a_round_sheet_rises_as_hencky_says():
    """0.6537 a (p a / E t)^(1/3) for nu = 0.3: the flat sheet has no stiffness of its own across."""
    modulus, thickness, pressure = 1e9, 1e-3, 1000.0
    rise = 0.6537 * (pressure / (modulus * thickness)) ** (1 / 3)
    body = ph.SoftBody(disc(1.0, 8), ph.StVenantKirchhoff(modulus, 0.3), 1000.0, thickness, order=1)
    model = ph.Model()
    sheet = model.add(body, "sheet", shape=lambda x: [x[0], x[1], rise * (1 - x[0] ** 2 - x[1] ** 2)])
    for number in body.points_where(lambda x: np.hypot(x[0], x[1]) > 0.999):
        node = sheet.node(int(number))
        model.connect(ph.Spherical(model.ground.at((*node.initial_position()[:2], 0.0)), node))
    model.apply(ph.Pressure(sheet, pressure))
    assert model.equilibrium().position(sheet.point((0, 0, 0)))[2] == pytest.approx(rise, rel=0.01)


@pytest.mark.parametrize("kind", [skfem.MeshTet, skfem.MeshHex])
def test_a_pressed_solid_shrinks_by_its_bulk_modulus(kind):
    """Pressure on all faces of a block: strain -p (1 - 2 nu) / E; on one face it is a force against its normal."""
    mesh = kind.init_tensor(*[np.linspace(0, 1, 2)] * 3)
    body = ph.SoftBody(mesh, ph.StVenantKirchhoff(1e6, 0.3), 1000.0, interfaces={"top": lambda x: x[2] > 1 - 1e-9})
    model, block, _ = grounded(body, ph.Spherical, by=(0, 0, 0), name="block")
    model.connect(ph.Slider(model.ground.at((1, 0, 0)), block.point((1, 0, 0)), axis=(1, 0, 0)))
    pinned = model.connect(ph.Distance(model.ground.at((0, 1, 1)), block.point((0, 1, 0))))
    model.apply(ph.Pressure(block, 1.0))
    equilibrium = model.equilibrium()
    assert equilibrium.position(block.point((1, 0, 0)))[0] - 1 == pytest.approx(-0.4e-6, rel=1e-4)
    assert np.abs(equilibrium.reaction(pinned)).max() < 1e-6
    load = ph.Pressure(block["top"], 2.0).entries()[0]
    force = load.surface.forces(2.0, body.nodes[load.surface.nodes])
    assert force.sum(axis=0) == pytest.approx([0, 0, -2.0], abs=1e-12)


def test_impossible_pressures_are_refused():
    body = ph.SoftBody(skfem.MeshTet(), ph.NeoHookean(1e6, 0.3), 1.0, interfaces={"corner": [0]})
    placed = ph.Model().add(body, "body")
    flat = ph.SoftBody(skfem.MeshTri(), ph.NeoHookean(1e6, 0.3), 1.0, 0.1)
    for make, match in (
        (lambda: ph.Pressure(placed["corner"], 1.0), "no face of an element"),
        (lambda: ph.Pressure(placed.node(0), 1.0), "acts on a soft body, or on an interface"),
        (lambda: ph.Pressure(ph.Model(dimension=2).add(flat), 1.0), "needs a model in space"),
    ):
        with pytest.raises(ph.ModelError, match=match):
            make()


def test_a_rigid_group_of_a_soft_body_is_refused_in_words():
    with pytest.raises(ph.ParameterError, match=r"'l' must be numbers of nodes.*means of nodes, never rigid"):
        ph.SoftBody(skfem.MeshTet(), ph.NeoHookean(1e6, 0.3), 1.0, interfaces={"l": (lambda x: x[0] < 1, "rigid")})
