"""The crank-slider with beams and with a solid coupler against independent references."""

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import phlexible as ph
from phlexible.gallery.machines import THICKNESS, WIDTH

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


def test_mass_of_the_rod_is_that_of_its_parts():
    """Shank and heads less holes (polygons of 16 sides, order 2 does not round them), bosses on one head."""
    body = ph.gallery.solid_crank_slider(modes=2)["coupler"].body
    hole = 16 / 2 * 1.5e-3**2 * np.sin(2 * np.pi / 16)
    volume = WIDTH * THICKNESS * (0.3 + WIDTH) - 2 * THICKNESS * hole + 2 * 3e-3 * (WIDTH**2 - hole)
    assert body.mass == pytest.approx(7870 * volume, rel=1e-3)


def test_the_plain_rod_bends_like_a_geometrically_exact_beam():
    """Greatest and smallest u_y / L from the chord over 0.1 s."""
    model = ph.gallery.solid_crank_slider(plain=True)
    motion = model.simulate(0.1, 2e-5, progress=False)
    rod = model["coupler"]
    places = [rod["crank pin"], rod["slider pin"], rod.point((0.15, 0, 0))]
    first, last, middle = (motion.position(place) for place in places)
    chord = (last - first) / np.linalg.norm(last - first, axis=1)[:, None]
    bend = np.cross(chord, middle - first)[:, 2] / 0.3
    assert bend.max() == pytest.approx(0.015388, rel=5e-3)
    assert bend.min() == pytest.approx(-0.015529, rel=5e-3)


def test_a_hole_that_is_too_large_is_refused():
    with pytest.raises(ph.ParameterError, match="hole must be at most a third"):
        ph.gallery.solid_crank_slider(hole=3e-3)
