"""Triangles of shells, alone and among quadrilaterals: patch tests, numbering, published answers, motions."""

from types import SimpleNamespace

import numpy as np
import pytest

import phlexible as ph
from bodies.shell import large_cases, linear_cases
from bodies.shell.linear_cases import XYZ, LinearShell, shell_of
from laws.figures import energy_error, momentum_errors
from phlexible.algebra.arrays import Array, IntArray

STEEL = ph.Material(210e9, 7850.0)


def split(cells: IntArray, upwards: bool = True) -> IntArray:
    """Two triangles for each quadrilateral, along the diagonal from its second to its last corner, or the other."""
    a, b, c, d = cells.T
    halves = ((a, b, d), (b, c, d)) if upwards else ((a, b, c), (a, c, d))
    return np.concatenate([np.column_stack(half) for half in halves])


def mixed(cells: IntArray) -> IntArray:
    """Every second quadrilateral split, as elements of four corners."""
    return np.concatenate([cells[1::2], split(cells[::2])[:, [0, 1, 2, 2]]])


MESHES = {"triangles": split, "others": lambda cells: split(cells, False), "mixed": mixed}


@pytest.fixture
def triangles(monkeypatch):
    """Grids of problems of shells whose quadrilaterals are split."""
    plain = linear_cases.grid

    def grid(*arguments, **options):
        u, v, cells, numbers = plain(*arguments, **options)
        return u, v, split(cells), numbers

    for module in (linear_cases, large_cases):
        monkeypatch.setattr(module, "grid", grid)


def patch(kind: str) -> LinearShell:
    """The rectangle of MacNeal and Harder in other elements, held at its outer nodes."""
    points = np.array(
        [(0, 0), (0.24, 0), (0.24, 0.12), (0, 0.12), (0.04, 0.02), (0.18, 0.03), (0.16, 0.08), (0.08, 0.08)]
    )
    cells = np.array([(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7)])
    shell = shell_of(np.column_stack([points, np.zeros(8)]), MESHES.get(kind, np.array)(cells), 1e-3, 1e6, 0.25)
    shell.hold(np.arange(4), XYZ, XYZ)
    return shell


@pytest.mark.parametrize("kind", [*MESHES, "quadrilaterals"])
def test_constant_strain_and_curvature_are_exact(kind: str) -> None:
    shell = patch(kind)
    x, y, _ = shell.mesh.points.T
    nothing = 0 * x
    stretched = np.column_stack([x + y / 2, y + x / 2, nothing]), np.zeros((8, 3))
    bent = (
        np.column_stack([nothing, nothing, (x**2 + x * y + y**2) / 2]),
        np.column_stack([-(x + y / 2), -(y + x / 2), nothing]),
    )
    for (places, directors), limit in ((stretched, 1e-12), (bent, 1e-10)):
        shell.given = shell.mesh.vectors(1e-3 * places, 1e-3 * shell.mesh.gyration * directors)
        assert np.abs(shell.solution() - shell.given).max() < limit * np.abs(shell.given).max()


def test_a_triangle_has_no_other_mechanisms_than_rigid_motions_whatever_its_first_node_is() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        points = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]) + rng.uniform(-0.25, 0.25, (3, 3))
        normal, found = np.cross(points[1] - points[0], points[2] - points[0]), []
        for cell in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            shell = shell_of(points, np.array([cell]), 0.05, 1e6, 0.3, np.tile(normal, (3, 1)))
            order = np.concatenate([shell.mesh.node_at, shell.mesh.director_at])
            unknowns = (3 * order[:, None] + np.arange(3)).ravel()
            found.append(shell.stiffness.toarray()[np.ix_(unknowns, unknowns)])
        scale = 1 / np.sqrt(found[0].diagonal())
        values = np.linalg.eigvalsh(scale[:, None] * found[0] * scale)
        assert values[6] > 1e-5 > 1e-9 > np.abs(values[:6]).max()
        for other in found[1:]:
            assert np.abs(other - found[0]).max() < 1e-12 * np.abs(found[0]).max()


def test_the_first_node_of_a_triangle_changes_no_directors_and_stresses() -> None:
    u, v, cells, _ = linear_cases.grid(3, 3, 0.2)
    points, found = np.column_stack([u, v, 0.3 * u * v + 0.2 * u**2]), []
    bent = points + np.column_stack([0 * u, 0.02 * u**2, 0.1 * u**2 - 0.05 * v**3])
    for first in range(3):
        shell = ph.Shell((points, np.roll(split(cells), first, axis=1)), 0.01, STEEL)
        mesh = shell.soft_mesh
        directors = mesh.turned_directors(bent)
        stress = shell.surface_stress(mesh.vectors(bent, mesh.gyration * directors)[None])
        found.append((mesh.directors, directors, mesh.director_rates(bent, bent**2), stress / STEEL.youngs_modulus))
    for own in zip(*found, strict=True):
        for other in own[1:]:
            assert other == pytest.approx(own[0], abs=1e-13)


def test_membranes_have_the_published_values_of_constant_strain(triangles) -> None:
    """Cook's membrane in meshes of 2 x 2, 4 x 4 and 8 x 8 by Bergan and Felippa (1985): 11.99, 18.28, 22.02."""
    found = [23.96 * linear_cases.cook(n) for n in (2, 4, 8)]
    assert found == pytest.approx([11.99, 18.28, 22.02], abs=0.006)


@pytest.mark.parametrize(
    ("name", "limits"),
    [  # of 8 and 16 elements a side; quadrilaterals: .763 .938, 1.009 1.004, .992 .998
        ("scordelis_lo", (0.15, 0.045)),  # membranes of constant strain
        ("pinched_cylinder", (0.23, 0.08)),
        ("hemisphere", (0.02, 0.005)),
        ("clamped_plate", (0.02, 0.006)),
    ],
)
def test_problems_with_published_answers(triangles, name: str, limits: tuple[float, float]) -> None:
    for n, limit in zip((8, 16), limits, strict=True):
        assert getattr(linear_cases, name)(n) == pytest.approx(1.0, abs=limit)


@pytest.mark.filterwarnings("ignore:.*directors of neighbouring nodes:phlexible.LargeDeflectionWarning")
def test_large_rotations(triangles) -> None:
    assert large_cases.cantilever(16, 1) == pytest.approx({"-u": 1.0, "w": 1.0}, abs=0.01)
    assert large_cases.hemisphere(16) == pytest.approx({"out": 1.0, "in": 1.0}, abs=0.03)


@pytest.mark.parametrize("kind", MESHES)
def test_energy_and_momenta_of_a_free_shell(kind: str) -> None:
    u, v, cells, _ = linear_cases.grid(4, 4, 0.2)
    points = np.column_stack([u, v, 0.2 * u * v + 0.1 * u**2])
    model = ph.Model()
    shell = model.add(
        ph.Shell((points, MESHES[kind](cells)), 2e-3, STEEL),
        "shell",
        velocity=lambda x: np.cross((3, 2, 1), x) + (0, 0, 6 * (x[0] - 0.5) ** 2),
    )
    model.add(ph.RigidBody(5.0, (0.1, 0.2, 0.2)), "hub", position=(0, 0, 0.1))
    model.connect(ph.Spherical(model["hub"].point((0, 0, -0.1)), shell.node(0)))
    motion = model.simulate(0.4, 2e-3, progress=False)
    assert np.ptp(motion.energy.strain) > 1e-2 * motion.energy.total[0]
    assert energy_error(motion) <= 1e-12
    assert max(momentum_errors(motion)) <= 1e-12


def test_meshes_of_triangles_and_quadrilaterals_are_read() -> None:
    """Of a file, of arrays, and of a surface whose points meet at a pole; the mass is that of the area."""
    u, v, cells, _ = linear_cases.grid(3, 2)
    points = np.column_stack([2 * u, v, 0 * u])
    blocks = [SimpleNamespace(type=k, data=d) for k, d in (("quad", cells[2:]), ("triangle", split(cells[:2])))]
    file = SimpleNamespace(points=points, cells=blocks, cell_data={}, cell_sets={}, point_sets={}, field_data={})
    for mesh in (file, (points, mixed(cells)), (points, split(cells))):
        shell = ph.Shell(mesh, 0.01, STEEL, {"left": lambda x: x[0] < 1e-9})
        assert shell.mass == pytest.approx(2 * 0.01 * STEEL.density, rel=1e-13)
        assert shell.soft_mesh.directors == pytest.approx(np.tile((0, 0, 1.0), (12, 1)), abs=1e-15)

    def cap(u: float, v: float) -> Array:
        turn, rise = 2 * np.pi * v, np.pi / 3 * u
        return np.array([np.sin(rise) * np.cos(turn), np.sin(rise) * np.sin(turn), np.cos(rise)])

    dome = ph.Shell.of(cap, 0.01, STEEL, (12, 48))
    assert dome.mass == pytest.approx(np.pi * 0.01 * STEEL.density, rel=3e-3)
    assert ph.Model().add(dome, "dome").at(0.0, 0.03).initial_position() == pytest.approx([0, 0, 1], abs=1e-12)


@pytest.mark.parametrize("kind", MESHES)
def test_a_rim_with_triangles_in_its_corners_is_an_edge(kind: str) -> None:
    u, v, cells, _ = linear_cases.grid(4, 3)
    points, rim = np.column_stack([2 * u, v, 0 * u]), (u * (1 - u) * v * (1 - v) < 1e-9)
    shell = ph.Shell((points, MESHES[kind](cells)), 0.01, STEEL, {"rim": np.flatnonzero(rim)})
    found = shell.interfaces[0].weights(shell.soft_mesh)[shell.soft_mesh.node_at]
    along, across = (np.abs(u - 0.5) == 0.5), (np.abs(v - 0.5) == 0.5)
    expected = np.where(along & across, 5 / 12, np.where(across, 1 / 2, np.where(along, 1 / 3, 0.0))) / 6
    assert found == pytest.approx(expected, abs=1e-14)
