"""The crank-slider against independent references, at every instant of more than two turns."""

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import phlexible as ph

REFERENCE = Path(__file__).parent / "reference"


@pytest.mark.parametrize(
    ("reference", "parameters", "percent"),
    [
        ("linear_strain", {"strain": "linear"}, 0.3),
        ("von_karman", {}, 0.5),
        ("von_karman", {"modes": 3}, 0.5),
        ("geometrically_exact", {"slider_mass": 0.033378}, 1.0),
    ],
)
def test_bend_of_the_coupler_follows_the_reference(reference, parameters, percent) -> None:
    time, bend = np.loadtxt(
        REFERENCE / f"crank_slider_{reference}.csv", delimiter=",", skiprows=1, usecols=(0, 1)
    ).T
    time, bend = time[time <= 0.1 + 1e-9], bend[time <= 0.1 + 1e-9]
    model = ph.gallery.crank_slider(**parameters)
    motion = model.simulate(duration=0.1, step=2e-5)
    own = CubicSpline(motion.time, motion.elastic_displacement(model["coupler"].at(0.15))[:, 1] / 0.3)
    assert len(time) > 900
    assert 100 * np.abs(own(time) - bend).max() <= percent * np.abs(bend).max()
    assert motion.halvings[-1] == 0
