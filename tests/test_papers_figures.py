"""Figures of the papers, printed and corrected: coarse and short here, what they show against numbers of others."""

import runpy
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def figures():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return runpy.run_path(str(BENCHMARKS / "papers_figures.py"))["FIGURES"]


def test_fig_6_is_the_same_as_printed_and_corrected(figures, tmp_path):
    found = figures["fig_6"](tmp_path / "fig_6.png", elements=3, every=6)
    assert np.abs(found["full"] / found["exact"] - 1).max() < 4e-4
    assert np.abs(found["printed"] / found["full"] - 1).max() < 1e-9


@pytest.mark.thorough
def test_fig_8_as_printed_bends_less(figures, tmp_path):
    """Right in the first 3 ms, and soon a third of what it should be."""
    found = figures["fig_8"](tmp_path / "fig_8.png", duration=6e-3, step=1e-4)
    assert np.abs(found["full"][1]).max() == pytest.approx(0.01877, rel=0.01)
    assert np.abs(found["printed"][1]).max() == pytest.approx(0.0072, rel=0.03)


def test_fig_10_hardly_depends_on_the_misprinted_length(figures, tmp_path):
    found = figures["fig_10"](tmp_path / "fig_10.png", duration=0.02, step=4e-5, elements=4)
    printed, right = found["printed"], found["right"]
    assert right[0][-1] == pytest.approx(0.12572, rel=0.02)  # J after the blow, by classical finite elements
    assert printed[0][-1] == pytest.approx(right[0][-1], rel=2e-3)
    assert np.abs(printed[1] - right[1]).max() < 2.0
