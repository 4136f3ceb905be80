"""Soft bodies in motion: the ten integrals, order 2, frequencies, viscosity, joints, files, refusals."""

from itertools import pairwise

import numpy as np
import pytest
import skfem

import phlexible as ph
from refusals import refused

NEO = ph.NeoHookean(5e4, 0.4)
VENANT = ph.StVenantKirchhoff(5e4, 0.3)


def bar(dimension=3, cells=3, **options):
    kind = skfem.MeshTet if dimension == 3 else skfem.MeshQuad
    mesh = kind.init_tensor(np.linspace(0, 0.6, cells + 1), *[np.linspace(0, 0.2, 2)] * (dimension - 1))
    options = {"law": NEO, "thickness": None if dimension == 3 else 0.1, **options}
    return ph.SoftBody(mesh, density=1100.0, **options)


def thrown(body, dimension=3):
    model = ph.Model(dimension=dimension)
    flat = np.array([1.0, 1.0, dimension == 3])
    model.add(
        body,
        "body",
        shape=lambda x: flat * [1.3 * x[0], 0.9 * x[1] + 0.3 * x[0] ** 2, x[2]],
        velocity=lambda x: flat * [1 - x[1], 2 * x[0], 3 * x[0]],
        angular_velocity=(4.0, -3.0, 5.0) if dimension == 3 else (0, 0, 5.0),
    )
    return model


def test_second_order_in_time():
    model = thrown(bar(2), dimension=2)
    ends = [model.simulate(0.03, h, progress=False).recording.position[-1] for h in (5e-4, 2.5e-4, 1.25e-4)]
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.15)


def test_frequencies_are_those_of_the_same_mesh_as_a_flexible_body():
    """Two ways to mass and stiffness that share no line: clamped, first three frequencies."""
    mesh = skfem.MeshHex.init_tensor(np.linspace(0, 0.6, 3), *[np.linspace(0, 0.2, 2)] * 2)
    soft = ph.SoftBody(mesh, VENANT, density=1100.0)
    model = ph.Model()
    placed = model.add(soft, "body")
    for number in soft.points_where(lambda x: x[0] < 1e-9):
        node = placed.node(int(number))
        model.connect(ph.Spherical(model.ground.at(node.initial_position()), node))
    rubber = ph.Material(5e4, 1100.0, 0.3)
    interfaces = {"root": (lambda x: x[0] < 1e-9, "rigid")}
    body = ph.FlexibleBody.from_mesh(mesh, rubber, interfaces, modes=6, frame="root", inertial_shapes=False)
    other = ph.Model()
    other.connect(ph.Fixed(other.ground.at((0, 0.1, 0.1)), other.add(body, "body")["root"]))
    expected = other.linearize().modes(3).frequencies
    assert model.linearize().modes(3).frequencies == pytest.approx(expected, rel=1e-8)


def test_viscosity_takes_what_the_ledger_says():
    """Energy falls in every step; the balance closes; orders beyond 2 are refused."""
    model = thrown(bar(2, viscosity=2e-3), dimension=2)
    motion = model.simulate(0.2, 2e-3, progress=False)
    assert np.all(np.diff(motion.energy.total) < 0)
    assert motion.energy.dissipated[-1] > 0.3 * motion.energy.strain[0]
    assert np.abs(motion.energy.balance_error).max() <= 1e-12 * motion.energy.total[0]
    refused(ph.ModelError, "damping of body", lambda: model.simulate(0.01, 2e-3, order=4))


def test_a_weight_hangs_on_the_mean_of_an_end():
    """The mean of an interface carries a joint; a force on it is a traction; energy closes."""
    body = bar(interfaces={"top": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > 0.6 - 1e-9})
    model = ph.Model(gravity=(9.81, 0, 0))
    placed = model.add(body, "body")
    for number in body.points_where(lambda x: x[0] < 1e-9):
        node = placed.node(int(number))
        model.connect(ph.Spherical(model.ground.at(node.initial_position()), node))
    bob = model.add(ph.PointMass(1.0), "bob", placed["end"].initial_position())
    joint = model.connect(ph.Spherical(placed["end"], bob.origin))
    model.apply(ph.Force(placed["end"], lambda t: (0, 0, -3.0), name="pull"))
    motion = model.simulate(0.2, 2e-3, progress=False)
    travel = np.ptp(motion.position(placed["end"])[[0, -1], 2])
    assert motion.energy.work["pull"][-1] == pytest.approx(3.0 * travel, rel=1e-10)
    end = body.points_where(lambda x: x[0] > 0.6 - 1e-9)
    shares = (np.abs(body.mesh.points[end, 1:] - 0.1) < 1e-9).sum(axis=1) / 6  # of two quadratic triangles
    mean = sum(share * motion.position(placed.node(int(k))) for share, k in zip(shares, end, strict=True))
    assert motion.position(bob.origin) == pytest.approx(mean, abs=1e-12)
    assert model.equilibrium().reaction(joint) == pytest.approx([-9.81, 0, 0], abs=1e-6)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ph.SoftBody("nothing.msh", NEO, 1.0), "there is no file"),
        (lambda: ph.SoftBody(skfem.MeshTet(), "rubber", 1.0), "law must be a stored energy"),
        (lambda: ph.SoftBody(skfem.MeshTet(), NEO, 0.0), "density"),
        (lambda: ph.SoftBody(skfem.MeshTri(), NEO, 1.0), "thickness must be given"),
        (lambda: ph.SoftBody(skfem.MeshTet(), NEO, 1.0, thickness=0.1), "thickness is for sheets"),
        (lambda: ph.SoftBody(skfem.MeshTet(), NEO, 1.0, order=3), "order must be 1"),
        (lambda: ph.SoftBody(skfem.MeshTet(), ph.NeoHookean(1.0, 0.5), 1.0), "keeps the volume"),
        (lambda: ph.SoftBody((np.zeros((3, 3)), [[0, 1, 2]]), NEO, 1.0, 0.1), "elements 0 are flat"),
        (lambda: ph.SoftBody((np.eye(3), [[0, 1, 7]]), NEO, 1.0, 0.1), r"points 0 \.\. 2"),
        (lambda: bar(interfaces={"end": lambda x: x[0] > 9}), "interface 'end': there is no node in it"),
        (lambda: bar(interfaces={"end": [10**6]}), "the nodes are 0"),
        (lambda: ph.Model(dimension=2).add(bar()), "needs a model in space"),
        (lambda: ph.Model().add(bar(), shape=lambda x: [-x[0], x[1], x[2]]), "must not invert element"),
        (lambda: ph.Model().add(bar(), shape=np.zeros((2, 3))), r"one row a node, of shape \(\d+, 3\)"),
    ],
)
def test_bad_bodies_are_refused(make, match):
    refused(ph.ParameterError, match, make)


def test_surfaces_in_space_come_from_arrays_scikit_fem_and_meshio():
    meshio = pytest.importorskip("meshio")
    points, cells = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.5], [1, 1, 0.3]]), np.array([[0, 1, 2], [1, 3, 2]])
    surface = skfem.MeshTri(points.T.copy(), cells.T.copy())
    meshes = [(points, cells), surface, meshio.Mesh(points, [("triangle", cells)])]
    areas = [np.linalg.norm(np.cross(points[b] - points[a], points[c] - points[a])) / 2 for a, b, c in cells]
    for mesh in meshes:
        sheet = ph.SoftBody(mesh, NEO, 1000.0, 0.01)
        assert sheet.discretize(3).mass == pytest.approx(1000.0 * 0.01 * sum(areas), rel=1e-12)
    sheet = ph.FlexibleBody.from_mesh(meshes[1], ph.Material(1e6, 1e3), modes=4, thickness=0.01)
    assert sheet.mass == pytest.approx(1000.0 * 0.01 * sum(areas), rel=1e-12)


def test_places_that_are_no_nodes_are_refused():
    placed = ph.Model().add(bar(), "body")
    for ask, match in (
        (lambda: placed.point((0.11, 0.1, 0.1)), "the nearest is node"),
        (lambda: placed.node(10**6), "the mesh has points 0"),
        (lambda: placed["hub"], "no interface 'hub'; it has none"),
        (lambda: placed.start, "the body has no"),
    ):
        with pytest.raises(ph.AttachmentError, match=match):
            ask()
