"""The slider crank with an elastic rod of the Test Set for IVP Solvers (B. Simeon 1996), to seven digits."""

from pathlib import Path

import numpy as np
import pytest

import phlexible as ph


@pytest.fixture(scope="module")
def crank():
    """``benchmarks/published/elastic_rod.py``: the rod with its own four shapes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        from published import elastic_rod

        yield elastic_rod


def test_the_end_of_the_test_set(crank):
    """Its own axial coordinates ring with an error of 3e-11 m, which is 2e-7 of the greatest coordinate."""
    model, start = crank.mechanism()
    motion = model.simulate(0.1, 2.5e-5, initial=start, order=6, progress=False)
    found = crank.end_values(motion)
    for name in ("phi2", "x3"):
        assert found[name] == pytest.approx(crank.END[name], rel=1e-9)
    for name in ("q1", "q2", "q3", "q4"):
        assert found[name] == pytest.approx(crank.END[name], abs=2.5e-7 * crank.END["q1"])
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * motion.energy.total.max()
    assert motion.energy.supplied[-1] == pytest.approx(motion.energy.total[-1] - motion.energy.total[0], rel=1e-9)


@pytest.mark.thorough
def test_the_composed_model_converges_to_it(crank):
    """Rod and slider by transformer and inverted ports with an integrator of order 4, for a tenth of a turn."""
    whole, x, inputs = crank.composed()
    model, start = crank.mechanism()
    duration = 0.003
    exact = crank.end_values(model.simulate(duration, 2.5e-5, initial=start, order=6, progress=False))
    off = []
    for step in (5e-5, 2.5e-5):
        found = crank.composed_end_values(ph.integrate(whole, x, inputs, duration, step, "gauss2"))
        off.append(np.array([found[name] - exact[name] for name in exact]))
    assert np.log2(off[0] / off[1]) == pytest.approx(4.0, abs=0.1)
