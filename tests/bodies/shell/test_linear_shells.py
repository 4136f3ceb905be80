"""Shells of small deflection: benchmarks with published answers."""

import pytest

from bodies.shell import linear_cases as cases


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
    assert getattr(cases, name)(count, distortion) == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (lambda: [cases.scordelis_lo(16), cases.closed_hemisphere(8)], [0.998, 1.002]),
        (lambda: [cases.twisted_beam(12, 2, 0.32, axis) for axis in (1, 2)], [0.988, 0.996]),
        (lambda: [cases.twisted_beam(12, 2, 0.0032, axis) for axis in (1, 2)], [0.988, 1.004]),
        (lambda: [cases.raasch_hook(*mesh) for mesh in ((9, 1), (18, 3), (36, 5))], [0.962, 0.963, 0.971]),
        (lambda: [cases.cook(n) for n in (2, 4, 8)], [0.882, 0.961, 0.989]),
        (lambda: [cases.slender_beam("rectangles", axis) for axis in (1, 2)], [0.993, 0.981]),
        (lambda: [cases.slender_beam("trapezoids", axis) for axis in (1, 2)], [0.052, 0.974]),  # it locks
        (lambda: [cases.slender_beam("parallelograms", axis) for axis in (1, 2)], [0.632, 0.986]),
        (lambda: [cases.z_section(*mesh) for mesh in ((8, 1, 1), (16, 2, 2))], [109.9 / 108, 109.9 / 108]),
    ],
    ids="converged twist thin_twist hook membrane rectangles trapezoids parallelograms folds".split(),
)
def test_refined_ones_beams_and_folds_too(values, expected) -> None:
    assert values() == pytest.approx(expected, abs=5.5e-4)
