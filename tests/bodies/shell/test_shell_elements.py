"""Elements, meshes and ports of shells: rank, rigid motion, folds, directions, masses, refused meshes."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from bodies.shell.linear_cases import LinearShell, grid, shell_of
from phlexible.algebra.arrays import Array
from phlexible.bodies.locations import Interface
from phlexible.bodies.shell.elements import products
from phlexible.bodies.shell.shell import Shell
from phlexible.errors import MeshWarning
from refusals import refused

STEEL = ph.Material(210e9, 7850.0)
TURN = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()
SQUARE = np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])


def curved(distortion: float = 0.25, **options: Any) -> Shell:
    """A shallow curved shell of distorted elements, with the edges u = 0 and u = 1 and a patch as interfaces."""
    u, v, cells, numbers = grid(4, 3, distortion)
    points = np.column_stack([u, 0.7 * v, 0.3 * u * v + 0.2 * u**2])
    interfaces = {"first": numbers[0], "last": (numbers[-1], "rigid"), "patch": numbers[1:3].ravel()}
    return Shell((points, cells), 0.01, STEEL, interfaces, **options)


def vectors_of(shell: Shell) -> Array:
    mesh = shell.soft_mesh
    return mesh.vectors(shell.nodes, mesh.gyration * mesh.directors)


def test_an_element_has_no_other_mechanisms_than_rigid_motions() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        points = SQUARE + rng.uniform(-0.25, 0.25, (4, 3))
        K = shell_of(points, np.array([[0, 1, 2, 3]]), 0.05, 1e6, 0.3).stiffness.toarray()
        scale = 1 / np.sqrt(K.diagonal())
        values = np.linalg.eigvalsh(scale[:, None] * K * scale)
        assert values[6] > 1e-5 > 1e-9 > np.abs(values[:6]).max()


def test_rigid_motion_far_away_does_not_strain() -> None:
    elements = curved().soft_mesh.elements
    moved = products(elements.X @ TURN.T + 5.0, elements.D @ TURN.T)
    assert np.abs(moved - products(elements.X, elements.D)).max() < 1e-14


def test_directions_of_ports_turn_with_the_shell() -> None:
    for shell in (curved(), Shell.plate(1.0, 0.2, 0.01, STEEL), Shell.cylinder(0.5, 1.0, 0.01, STEEL)):
        points, rest = shell.discretize(3).points, vectors_of(shell)
        for name in shell.port_locations():
            port = points.locate(Interface(name))
            assert port.directions is not None
            start = port.directions @ rest
            assert np.abs(start @ start.T - np.eye(3)).max() < 1e-12
            moved = rest @ TURN.T + shell.soft_mesh.moves[:, None] * np.array([1.0, 2.0, 3.0])
            assert np.abs(port.directions @ moved - start @ TURN.T).max() < 1e-12


def test_slope_across_an_edge_is_of_second_order() -> None:
    errors = []
    for count in (8, 16):
        shell = Shell.plate(1.0, 0.2, 0.01, STEEL, elements=(count, 2))
        points, mesh = shell.discretize(3).points, shell.soft_mesh
        angle = mesh.positions[:, 0] * 0.8  # of a circular arc
        bent = np.column_stack([np.sin(angle) / 0.8, mesh.positions[:, 1], (1 - np.cos(angle)) / 0.8])
        normal = mesh.gyration * np.column_stack([-np.sin(angle), 0 * angle, np.cos(angle)])
        bent = np.where(mesh.moves[:, None] > 0, bent, normal)
        port = points.locate(Interface("end"))
        assert port.directions is not None
        across = port.directions @ bent
        errors.append(np.abs(across[0] - np.sign(across[0, 0]) * np.array([np.cos(0.8), 0, np.sin(0.8)])).max())
        assert errors[-1] < 0.05 / count
    assert errors[1] < 0.3 * errors[0]


def test_faces_of_a_box_have_folds_at_its_edges() -> None:
    points = np.array([[x, y, z] for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])
    cells = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    mesh = Shell((points, np.array(cells)), 0.01, STEEL).soft_mesh
    assert len(mesh.directors) == 24 and len(mesh.folds) == 24
    normals, middles = mesh.elements.normals(np.zeros((1, 2)))[:, 0], mesh.points[mesh.cells].mean(axis=1) - 0.5
    outward = np.einsum("ei,ei->e", normals, middles)
    assert (outward > 0).all() or (outward < 0).all()  # all elements face one way
    assert np.abs(mesh.directors[mesh.corner_directors] - 4 * normals[:, None] / 1.0).max() < 1e-12


def test_flanges_of_a_branch_share_directors() -> None:
    points = np.array([(x, y, 0.0) for y in (-1.0, 0, 1) for x in (0.0, 1)] + [(0, 0, 1.0), (1, 0, 1)])
    cells = np.array([(0, 1, 3, 2), (5, 4, 2, 3), (2, 3, 7, 6)])  # the second faces the other way
    mesh = Shell((points, cells), 0.01, STEEL).soft_mesh
    assert len(mesh.directors) == 6 + 2 + 2 and len(mesh.folds) == 2


def test_directors_are_normals_of_the_user() -> None:
    shell = curved(directors=lambda x: (-0.3 * x[1] - 0.4 * x[0], -0.3 / 0.7 * x[0], 1.0))
    D, own = shell.soft_mesh.directors, curved().soft_mesh.directors
    assert 0 < np.abs(D - own).max() < 0.15
    assert np.abs(np.linalg.norm(D, axis=1) - 1).max() < 1e-15


def test_mass_and_inertia_of_a_cylinder() -> None:
    R, L, t = 0.5, 1.2, 0.02
    shell = Shell.cylinder(R, L, t, STEEL, elements=(2, 64))
    body, rest = shell.discretize(3), vectors_of(shell)
    mass = STEEL.density * t * L * 2 * np.pi * R
    assert body.mass == pytest.approx(mass, rel=1e-3)
    spin = np.cross([1.0, 0, 0], rest)
    kinetic = np.einsum("ni,nm,mi->", spin, body.nodal_mass.toarray(), spin)
    assert kinetic == pytest.approx(mass * (R**2 + t**2 / 12), rel=4e-3)
    about_z = np.cross([0, 0, 1.0], rest - body.moves[:, None] * np.array([L / 2, 0, 0]))
    kinetic = np.einsum("ni,nm,mi->", about_z, body.nodal_mass.toarray(), about_z)
    assert kinetic == pytest.approx(mass * (R**2 / 2 + L**2 / 12), rel=5e-3)


def test_an_offset_moves_mass_and_stiffness_along_the_directors() -> None:
    t, e = 0.02, 0.007
    shell = Shell.plate(1.0, 0.2, t, STEEL, offset=e)
    body, rest = shell.discretize(3), vectors_of(shell)
    assert body.moves is not None
    static = body.moves @ body.nodal_mass @ rest
    assert static / shell.mass == pytest.approx([0.5, 0.0, e], abs=1e-12)
    kinetic = (body.nodal_mass @ np.cross([1.0, 0, 0], rest) * np.cross([1.0, 0, 0], rest)).sum()
    assert kinetic == pytest.approx(shell.mass * (0.2**2 / 12 + t**2 / 12 + e**2), rel=1e-12)
    deflections = []  # of a cantilever with its middle at the mesh, and of one with an offset
    for offset in (0.0, e):
        own = LinearShell(Shell.plate(1.0, 0.2, t, ph.Material(210e9, 7850.0, 0.0), offset=offset))
        first, last = (np.flatnonzero(own.mesh.points[:, 0] == x) for x in (0.0, 1.0))
        own.hold(first, (0, 1, 2), (0, 1, 2))
        own.load[own.mesh.node_at[last], 2] = 1 / len(last)
        deflections.append(own.displacements()[last, 2].mean())
    assert deflections[1] == pytest.approx(deflections[0], rel=1e-6)


def test_velocities_of_directors_are_those_of_normals() -> None:
    shell, spin = curved(), np.array([0.3, -2.0, 1.1])
    start = np.zeros(3), np.eye(3)
    field = shell.initial_nodes(3, None, lambda x: np.cross(spin, x), *start)
    turned = shell.with_rotation(shell.initial_nodes(3, None, None, *start), spin, np.zeros(3))
    assert field.velocities is not None and turned.velocities is not None
    assert np.abs(field.velocities - turned.velocities).max() < 1e-14
    swelling = shell.initial_nodes(3, None, lambda x: 2.0 * x, *start)
    assert swelling.velocities is not None
    at, g = shell.soft_mesh.director_at, shell.soft_mesh.gyration
    stretching = (swelling.velocities[at] * swelling.positions[at]).sum(axis=1) / g**2
    assert np.abs(stretching).max() < 1e-14 < 1e-3 < np.abs(field.velocities[at]).max() / g
    shape = shell.initial_nodes(3, lambda x: TURN @ x, None, *start)
    placed = shell.initial_nodes(3, None, None, np.zeros(3), TURN)
    assert np.abs(shape.positions - placed.positions).max() < 1e-14


def test_stress_of_a_stretched_and_bent_plate_in_any_position() -> None:
    t, stretch, curvature, nu = 0.01, 1e-4, 1e-2, 0.3
    shell = Shell.plate(1.0, 0.2, t, STEEL, elements=(16, 2))
    mesh, (x, y, _) = shell.soft_mesh, shell.nodes.T
    angle, radius = curvature * x, (1 + stretch) / curvature
    arc = np.column_stack([radius * np.sin(angle), y, radius * (1 - np.cos(angle))])
    normals = np.column_stack([-np.sin(angle), 0 * x, np.cos(angle)])
    vectors = mesh.vectors(arc, mesh.gyration * normals[np.searchsorted(mesh.used, mesh.director_nodes)])
    moved = vectors @ TURN.T + mesh.moves[:, None] * np.array([3.0, 1, 2])
    found = shell.surface_stress(np.array([mesh.vectors(shell.nodes, mesh.gyration * mesh.directors), moved]))
    assert np.abs(found[0]).max() < 1e-3
    plane = STEEL.youngs_modulus / (1 - nu**2)
    for k, height in enumerate((t / 2, 0.0, -t / 2)):
        sigma = plane * (stretch - height * curvature)
        own = found[1, 51 * k : 51 * (k + 1)]
        assert own[:, 0] == pytest.approx(sigma, rel=4e-4, abs=5e-5 * plane * stretch)
        assert own[:, 1] == pytest.approx(nu * sigma, rel=4e-4, abs=5e-5 * plane * stretch)
        assert np.abs(own[:, 2:]).max() < 1e-3 * plane * stretch
    assert shell.surface_positions[[0, 51, 102], 2].tolist() == [t / 2, 0.0, -t / 2]


@pytest.mark.parametrize(
    ("points", "cells", "message"),
    [
        (SQUARE[[0, 1, 2, 2]], [(0, 1, 2, 3)], "two nodes in one place; triangles name one node twice"),
        (SQUARE * [1, 1, 0] + [[0, 0, 0], [0, 0, 0], [-0.8, -0.8, 0], [0, 0, 0]], [(0, 1, 2, 3)], "are folded"),
    ],
)
def test_elements_that_are_no_convex_quadrilaterals_are_refused(
    points: Array, cells: list[tuple[int, ...]], message: str
) -> None:
    refused(ph.ParameterError, message, lambda: Shell((points, np.array(cells)), 0.01, STEEL))


def test_a_surface_with_one_side_is_refused() -> None:
    a = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    rims = []
    for s in (-0.5, 0.5):
        out = 2 + s * np.cos(a / 2)
        rims.append(np.column_stack([out * np.cos(a), out * np.sin(a), s * np.sin(a / 2)]))
    cells = [(k, k + 1, 25 + k, 24 + k) for k in range(23)] + [(23, 24, 0, 47)]
    refused(ph.ParameterError, "one side", lambda: Shell((np.concatenate(rims), np.array(cells)), 0.01, STEEL))


def test_coarse_curves_are_said() -> None:
    with pytest.warns(MeshWarning, match="meet at 45 degrees"):
        Shell.of(lambda u, v: (np.cos(2 * np.pi * u), np.sin(2 * np.pi * u), v), 0.01, STEEL, (8, 2))


def test_lengths_in_millimetres_are_said() -> None:
    with pytest.warns(MeshWarning, match="are its lengths in millimetres. Give metres$"):
        Shell.plate(200.0, 100.0, 1.0, STEEL)
    with pytest.warns(MeshWarning, match="thickness = 0.5 m is more than the 0.125 m of the sides"):
        Shell.plate(1.0, 0.25, 0.5, STEEL, (8, 2))


def test_slits_are_said_and_parts_that_touch_at_a_node_are_refused() -> None:
    u, v, cells, _ = grid(4, 2)
    points, slit = np.column_stack([u, v, 0 * u]), cells.copy()
    slit[3][slit[3] == 7] = len(points)
    with pytest.warns(MeshWarning, match="1 nodes are where others are"):
        Shell((np.concatenate([points, points[[7]]]), slit), 0.01, STEEL)
    with pytest.raises(ph.ParameterError, match="2 parts that share no sides"):
        Shell((np.concatenate([SQUARE, SQUARE[1:] + SQUARE[2]]), [(0, 1, 2, 3), (2, 4, 5, 6)]), 0.01, STEEL)


def test_elements_of_a_mesh_may_face_both_ways() -> None:
    u, v, cells, _ = grid(3, 2)
    points = np.column_stack([u, v, 0.1 * u**2])
    mixed = np.where(np.arange(6)[:, None] % 2, cells[:, ::-1], cells)
    one, two = (Shell((points, each), 0.01, STEEL).soft_mesh for each in (cells, mixed))
    assert two.directors == pytest.approx(one.directors, abs=1e-15)
    assert not len(two.folds)


def test_a_mean_that_leaves_out_nodes_is_refused() -> None:
    with pytest.raises(ph.ParameterError, match="leaves out 1 of 4"):
        Shell.plate(1.0, 1.0, 0.01, STEEL, (4, 2), {"some": ([0, 1, 2, 9], "average")})
