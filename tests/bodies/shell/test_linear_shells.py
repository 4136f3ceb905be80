"""Shells of small deflection: patch tests, and benchmarks with published answers."""

import numpy as np
import pytest

from bodies.shell import linear_cases as cases
from phlexible.algebra.arrays import Array

E, NU, T = 1e6, 0.25, 1e-3  # of MacNeal and Harder's patch


def patch() -> cases.LinearShell:
    """Their rectangle of five quadrilaterals, whose four outer nodes are held."""
    points = np.array(
        [(0, 0), (0.24, 0), (0.24, 0.12), (0, 0.12), (0.04, 0.02), (0.18, 0.03), (0.16, 0.08), (0.08, 0.08)]
    )
    cells = np.array([(0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7)])
    shell = cases.shell_of(np.column_stack([points, np.zeros(8)]), cells, T, E, NU)
    shell.hold(np.arange(4), cases.XYZ, cases.XYZ)
    return shell


def inner_error(shell: cases.LinearShell, wanted: Array, directors: Array) -> float:
    """Largest error of the solution, with the wanted displacements and changes of directors at the outer nodes."""
    exact = shell.mesh.vectors(wanted, shell.mesh.gyration * directors)
    shell.given = exact
    return float(np.abs(shell.solution() - exact).max() / np.abs(exact).max())


def test_constant_membrane_strain_is_exact_on_distorted_elements() -> None:
    shell = patch()
    x, y, _ = shell.mesh.points.T
    wanted = 1e-3 * np.column_stack([x + y / 2, y + x / 2, 0 * x])
    assert inner_error(shell, wanted, np.zeros((8, 3))) < 1e-12


def test_constant_curvature_is_exact_on_distorted_elements() -> None:
    shell = patch()
    x, y, _ = shell.mesh.points.T
    wanted = 1e-3 * np.column_stack([0 * x, 0 * x, (x**2 + x * y + y**2) / 2])
    assert inner_error(shell, wanted, 1e-3 * np.column_stack([-(x + y / 2), -(y + x / 2), 0 * x])) < 1e-10


@pytest.mark.parametrize(
    ("name", "count", "distortion", "expected"),
    [  # shells.md: a second program has the same digits
        ("scordelis_lo", 4, 0.0, 1.053),
        ("scordelis_lo", 8, 0.25, 1.004),
        ("scordelis_lo", 8, "bathe", 1.018),
        ("pinched_cylinder", 8, 0.0, 0.763),
        ("pinched_cylinder", 8, 0.25, 0.625),
        ("pinched_cylinder", 8, "bathe", 0.525),
        ("hemisphere", 8, 0.0, 1.009),
        ("hemisphere", 8, 0.25, 0.969),
        ("hemisphere", 8, "bathe", 0.997),
        ("clamped_plate", 8, 0.0, 0.992),
        ("clamped_plate", 8, 0.25, 0.987),
        ("clamped_plate", 8, "bathe", 0.980),
    ],
)
def test_benchmarks_have_the_errors_of_this_element(
    name: str, count: int, distortion: float | str, expected: float
) -> None:
    assert cases.CASES[name](count, distortion) == pytest.approx(expected, abs=6e-4)


def test_scordelis_lo_roof_converges() -> None:
    assert cases.scordelis_lo(16) == pytest.approx(0.998, abs=6e-4)


def test_closed_hemisphere_of_three_patches() -> None:
    assert cases.closed_hemisphere(8) == pytest.approx(1.002, abs=6e-4)


@pytest.mark.parametrize(("thickness", "in_plane", "across"), [(0.32, 0.988, 0.996), (0.0032, 0.988, 1.004)])
def test_twisted_beam(thickness: float, in_plane: float, across: float) -> None:
    found = [cases.twisted_beam(12, 2, thickness, axis) for axis in (1, 2)]
    assert found == pytest.approx([in_plane, across], abs=6e-4)


def test_raasch_hook_does_not_diverge_with_refinement() -> None:
    found = [cases.raasch_hook(*mesh) for mesh in ((9, 1), (18, 3), (36, 5))]
    assert found == pytest.approx([0.962, 0.963, 0.971], abs=6e-4)


def test_cook_membrane() -> None:
    assert [cases.cook(n) for n in (2, 4, 8)] == pytest.approx([0.882, 0.961, 0.989], abs=6e-4)


@pytest.mark.parametrize(
    ("kind", "in_plane", "across"),
    [("rectangles", 0.993, 0.981), ("trapezoids", 0.052, 0.974), ("parallelograms", 0.632, 0.986)],
)
def test_slender_beam_locks_in_the_plane_of_trapezoids_alone(kind: str, in_plane: float, across: float) -> None:
    found = [cases.slender_beam(kind, axis) for axis in (1, 2)]
    assert found == pytest.approx([in_plane, across], abs=6e-4)


def test_z_section_with_folds() -> None:
    found = [108 * cases.z_section(*mesh) for mesh in ((8, 1, 1), (16, 2, 2))]
    assert found == pytest.approx([109.9, 109.9], abs=0.06)
