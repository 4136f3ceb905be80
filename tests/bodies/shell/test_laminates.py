"""Layers of a shell: stiffness, mass, stress of each layer, and the direction from which angles count."""

import numpy as np
import pytest

import phlexible as ph
from bodies.shell import linear_cases as cases
from phlexible.algebra.arrays import Array
from phlexible.bodies.shell.shell import Shell

CARBON = ph.OrthotropicMaterial(140e9, 10e9, 5e9, 0.3, 1600.0, 3e9)
FOAM = ph.Material(1e8, 60.0, 0.25)
ANGLES = [(0.0, np.pi / 2), (0.0, np.pi / 6)]
LENGTH, WIDTH = 1.0, 0.2


def strip(laminate: ph.Laminate, distortion: float = 0.0, offset: float = 0.0) -> Shell:
    u, v, cells, _ = cases.grid(6, 2, distortion)
    points = np.column_stack([LENGTH * u, WIDTH * v, 0 * u])
    return Shell((points, cells), laminate.thickness, laminate, offset=offset)


def under_edge_loads(shell: Shell, force: float, moment: float) -> tuple[Array, Array]:
    """Nodes (N, 3) of a strip without supports, and displacements of nodes and directors (N, 2, 3) under a force
    [N/m] and a moment [N] per length of both short edges."""
    linear = cases.LinearShell(shell)
    mesh = linear.mesh
    x, y, _ = mesh.points.T
    linear.hold(np.flatnonzero((x < 1e-9) & (y < 1e-9)), cases.XYZ, (0, 1))
    linear.hold(np.flatnonzero((x > LENGTH - 1e-9) & (y < 1e-9)), (1,))
    for end, sign in ((x < 1e-9, -1.0), (x > LENGTH - 1e-9, 1.0)):
        edge = np.flatnonzero(end)[np.argsort(y[end])]
        weights = sign * WIDTH * cases.shares(len(edge))
        linear.load[mesh.node_at[edge], 0] = force * weights
        linear.load[mesh.director_at[edge], 0] = moment * weights / mesh.gyration
    found = linear.solution()
    own = found[mesh.node_at[mesh.used]], found[mesh.director_at] / mesh.gyration
    return shell.nodes, np.stack(own, axis=1)


def strains(places: Array, found: Array) -> tuple[Array, float]:
    """Strains and curvatures (6,) of displacements that are linear in position, and how far they are from it."""
    columns = np.column_stack([np.ones(len(places)), places[:, :2]])
    flat = np.column_stack([found[:, 0, :2], found[:, 1, :2]])
    slopes = np.linalg.lstsq(columns, flat, rcond=None)[0]
    (a, b), (c, d) = slopes[1:, :2]
    (e, f), (g, h) = slopes[1:, 2:]
    away = np.abs(columns @ slopes - flat) / np.repeat([np.abs(flat[:, :2]).max(), np.abs(flat[:, 2:]).max()], 2)
    return np.array([a, d, b + c, e, h, f + g]), float(away.max())


@pytest.mark.parametrize("distortion", [0.0, 0.25])
@pytest.mark.parametrize("angles", ANGLES)
@pytest.mark.parametrize(("force", "moment"), [(1e3, 0.0), (0.0, 1.0)])
def test_a_strip_has_the_strains_of_laminate_theory(
    angles: tuple[float, float], distortion: float, force: float, moment: float
) -> None:
    laminate = ph.Laminate([(CARBON, 1e-3, angle) for angle in angles], axis=(1, 0, 0))
    found, away = strains(*under_edge_loads(strip(laminate, distortion), force, moment))
    wanted = np.linalg.solve(laminate.stiffness, [force, 0, 0, moment, 0, 0])
    scale = np.sqrt(np.abs(wanted @ np.array([force, 0, 0, moment, 0, 0])) / np.diag(laminate.stiffness))
    assert (np.abs(found - wanted) / scale).max() < 1e-8
    assert away < 1e-6


@pytest.mark.parametrize("angles", [*ANGLES, (0.3, -0.7)])
def test_stiffness_is_that_of_classical_laminate_theory(angles: tuple[float, float]) -> None:
    """Stiffness of layers in the axes of the laminate by Tsai and Pagano, integrals by differences of powers."""
    Q = CARBON.plane_stress
    A = np.zeros((6, 6))
    for (low, high), angle in zip([(-1e-3, 0.0), (0.0, 1e-3)], angles, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        law = np.zeros((3, 3))
        law[0, 0] = Q[0, 0] * c**4 + 2 * (Q[0, 1] + 2 * Q[2, 2]) * s**2 * c**2 + Q[1, 1] * s**4
        law[1, 1] = Q[0, 0] * s**4 + 2 * (Q[0, 1] + 2 * Q[2, 2]) * s**2 * c**2 + Q[1, 1] * c**4
        law[0, 1] = (Q[0, 0] + Q[1, 1] - 4 * Q[2, 2]) * s**2 * c**2 + Q[0, 1] * (s**4 + c**4)
        law[2, 2] = (Q[0, 0] + Q[1, 1] - 2 * Q[0, 1] - 2 * Q[2, 2]) * s**2 * c**2 + Q[2, 2] * (s**4 + c**4)
        law[0, 2] = (Q[0, 0] - Q[0, 1] - 2 * Q[2, 2]) * s * c**3 + (Q[0, 1] - Q[1, 1] + 2 * Q[2, 2]) * s**3 * c
        law[1, 2] = (Q[0, 0] - Q[0, 1] - 2 * Q[2, 2]) * s**3 * c + (Q[0, 1] - Q[1, 1] + 2 * Q[2, 2]) * s * c**3
        law[1, 0], law[2, 0], law[2, 1] = law[0, 1], law[0, 2], law[1, 2]
        powers = [(high**k - low**k) / k for k in (1, 2, 3)]
        A += np.kron([[powers[0], powers[1]], [powers[1], powers[2]]], law)
    found, scale = ph.Laminate([(CARBON, 1e-3, angle) for angle in angles]).stiffness, np.sqrt(np.diag(A))
    assert (np.abs(found - A) / np.outer(scale, scale)).max() < 1e-13


def test_stress_of_each_layer_is_in_balance_with_the_force() -> None:
    laminate, force = ph.Laminate([(CARBON, 1e-3, 0.0), (CARBON, 2e-3, np.pi / 2)], axis=(1, 0, 0)), 1e3
    shell, small = strip(laminate), 1e-2
    mesh, (_, found) = shell.soft_mesh, under_edge_loads(shell, force, 0.0)
    x, d = shell.nodes, mesh.directors
    both = [mesh.vectors(x + s * found[:, 0], mesh.gyration * (d + s * found[:, 1])) for s in (small, -small)]
    up, down = shell.surface_stress(np.array(both)).reshape(2, 4, -1, 6)  # top and bottom of each, from above
    stress = (up - down) / (2 * small)
    heights = shell.surface_positions.reshape(4, -1, 3)[..., 2]
    assert heights == pytest.approx(np.repeat([[1.5e-3], [-0.5e-3], [-0.5e-3], [-1.5e-3]], 21, axis=1))
    total = 2e-3 * stress[:2, :, 0].mean(axis=0) + 1e-3 * stress[2:, :, 0].mean(axis=0)
    assert total == pytest.approx(force, rel=1e-6)
    strain = np.linalg.solve(laminate.stiffness, [force, 0, 0, 0, 0, 0])
    for k, height in enumerate(heights[:, 0]):
        turned = CARBON.plane_stress[[[1], [0]], [1, 0]] if k < 2 else CARBON.plane_stress[:2, :2]
        wanted = turned @ (strain[:2] + height * strain[3:5])
        assert stress[k, 10, :2] == pytest.approx(wanted, rel=1e-6, abs=1e-6 * np.abs(stress).max())


def test_layers_of_one_material_are_that_material() -> None:
    steel = ph.Material(210e9, 7850.0, 0.3)
    whole = Shell.plate(1.0, 0.3, 6e-3, steel, (3, 2), offset=1e-3).discretize(3)
    layers = ph.Laminate([(steel, 1e-3, 0.4), (steel, 2e-3, 0.0), (steel, 3e-3, 1.0)])
    parts = Shell.plate(1.0, 0.3, layers.thickness, layers, (3, 2), offset=1e-3).discretize(3)
    for one, two in zip(whole.products, parts.products, strict=True):
        assert np.abs(one.stiffness - two.stiffness).max() < 1e-12 * np.abs(one.stiffness).max()
    assert abs(whole.nodal_mass - parts.nodal_mass).max() < 1e-12 * abs(whole.nodal_mass).max()


def test_density_varies_with_the_layers() -> None:
    """Energy of a rotation about a line below the mesh: rho (y^2 + z^2) dV of each layer."""
    laminate = ph.Laminate([(CARBON, 1e-3, 0.0), (FOAM, 0.02, 0.0), (CARBON, 3e-3, 0.0)])
    shell = Shell.plate(LENGTH, WIDTH, laminate.thickness, laminate, (3, 2))
    body, mesh, below = shell.discretize(3), shell.soft_mesh, 0.03
    turned = mesh.vectors(
        np.cross([1.0, 0, 0], shell.nodes + [0, 0, below]), mesh.gyration * np.cross([1.0, 0, 0], mesh.directors)
    )
    energy = np.einsum("ai,ab,bi->", turned, body.nodal_mass.toarray(), turned) / 2
    exact, low = 0.0, below - laminate.thickness / 2
    for material, thickness, _ in laminate.layers:
        high = low + thickness
        exact += material.density * LENGTH * (WIDTH**3 / 12 * thickness + WIDTH * (high**3 - low**3) / 3) / 2
        low = high
    assert energy == pytest.approx(exact, rel=1e-12)
    assert shell.mass == pytest.approx(LENGTH * WIDTH * (1600 * 4e-3 + 60 * 0.02))


def test_the_direction_of_fibres_does_not_depend_on_the_mesh() -> None:
    """Angles count from the axis, or along u; about the directors."""

    def stiffness(shell: Shell) -> Array:
        linear = cases.LinearShell(shell)
        order = [linear.mesh.node_at[linear.mesh.used], linear.mesh.director_at]
        at = (3 * np.concatenate(order)[:, None] + np.arange(3)).ravel()
        return linear.stiffness.toarray()[np.ix_(at, at)]

    u, v, cells, _ = cases.grid(3, 2, 0.2)
    points = np.column_stack([u, 0.3 * v, 0 * u])
    ply = [(CARBON, 1e-3, 0.3)]
    one = stiffness(Shell((points, cells), 1e-3, ph.Laminate(ply, axis=(1, 0, 0))))
    turned = ph.Laminate([(CARBON, 1e-3, 0.0)], axis=(np.cos(0.3), np.sin(0.3), 0))
    for laminate, other in ((turned, cells), (ph.Laminate(ply, axis=(1, 0, 0)), np.roll(cells, 1, axis=1))):
        assert np.abs(stiffness(Shell((points, other), 1e-3, laminate)) - one).max() < 1e-9 * np.abs(one).max()
    laminates = [ph.Laminate([(CARBON, 1e-3, 0.0)], axis=axis) for axis in (None, (0, 1, 0))]
    along_u, along_y = (stiffness(Shell.of(lambda u, v: (-0.3 * v, u, 0), 1e-3, m, (3, 2))) for m in laminates)
    assert np.abs(along_u - along_y).max() < 1e-9 * np.abs(along_u).max()


def test_files_keep_laminates_and_points(tmp_path) -> None:
    laminate = ph.Laminate([(CARBON, 1e-3, 0.0), (CARBON, 1e-3, np.pi / 2)])
    model = ph.Model(gravity=(0, 0, -9.81))
    sheet = model.add(Shell.plate(0.5, 0.1, laminate.thickness, laminate, (4, 1), {"start": "rigid"}), "sheet")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), sheet["start"]))
    model.apply(ph.Force(sheet.at(0.9, 0.3), (0.0, 0.0, 1.0)))
    motion = model.simulate(0.02, step=2e-3)
    motion.save(tmp_path / "run.h5")
    read = ph.Motion.load(tmp_path / "run.h5")
    again = read.mechanism["sheet"]
    assert again.body.material == laminate
    assert np.array_equal(read.position(again.at(0.9, 0.3)), motion.position(sheet.at(0.9, 0.3)))
    assert np.array_equal(read.mesh_stress(again).components, motion.mesh_stress(sheet).components)


@pytest.mark.parametrize("angle", [45.0, -90.0, 30.0])
def test_angles_in_degrees_are_named(angle: float) -> None:
    with pytest.warns(ph.UnitWarning, match=r"angle of layers\[1\] .* degrees"):
        ph.Laminate([(CARBON, 1e-3, np.pi / 4), (CARBON, 1e-3, angle)])


CREEPING = ph.Material(1e9, 1e3, relaxation=ph.Maxwell([(1e8, 0.1)]))
ONE = (CARBON, 1e-3, 0.0)
DOUBLE = ph.Laminate([(CARBON, 2e-3, 0.0)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Shell.plate(1.0, 0.1, 1e-3, DOUBLE), "thickness must be that of the Laminate, 0.002 m, got 0.001"),
        (lambda: ph.Laminate([ONE, (CARBON, 1e-3)]), r"layers\[1\] must be \(material, thickness, angle\)"),
        (lambda: ph.Laminate([]), "layers must be a list"),
        (lambda: ph.Laminate([("steel", 1e-3, 0.0)]), r"layers\[0\] must begin with a Material"),
        (lambda: ph.Laminate([ONE, (ph.Material(1e9, 1e3, viscosity=1e-3), 1e-3, 0.0)]), "same viscosity"),
        (lambda: ph.Laminate([(CREEPING, 1e-3, 0.0)]), "no relaxation"),
        (lambda: ph.OrthotropicMaterial(1e9, 4e9, 1e9, 0.5, 1e3), "poissons_ratio must be smaller"),
        (lambda: Shell.sphere(1.0, 1e-3, ph.Laminate([ONE]), 4), "axis of a Laminate must be given"),
        (lambda: Shell.plate(1.0, 0.1, 1e-3, ph.Laminate([ONE], axis=(0, 0, 1))), "normal to element"),
    ],
)
def test_what_is_no_laminate_is_refused(make, message) -> None:
    with pytest.raises(ph.ParameterError, match=message):
        make()
