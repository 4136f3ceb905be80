"""Joints that slide along rods beside Exudyn: the cases of benchmarks/published/sliding.py, with closer limits."""

from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def sliding(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from published import sliding

    return sliding


@pytest.mark.parametrize("is_driven", [False, True], ids=["free", "driven"])
def test_a_mass_moves_along_a_cantilever_as_on_sliding_and_moving_elements(sliding, is_driven):
    expected = sliding.DRIVEN if is_driven else sliding.FREE
    motion, ports = sliding.on_a_cantilever(sliding.at_two_metres_a_second if is_driven else None)
    moved = np.hypot(0.86, 0.16)
    for port, place in zip(ports, np.reshape(expected, (2, 2)), strict=True):
        assert np.linalg.norm(motion.position(port)[-1, :2] - place) < 1e-3 * moved
    assert np.abs(motion.energy.balance_error).max() < 1e-13


def test_a_rod_falls_through_an_eyelet_as_a_cable_through_a_sliding_joint(sliding):
    motion, ports = sliding.through_an_eyelet()
    for port, place in zip(ports, np.reshape(sliding.EYELET, (2, 2)), strict=True):
        assert motion.position(port)[-1, :2] == pytest.approx(place, abs=1e-4)
