"""Slider cranks: an elastic rod to seven digits, a thick coupler against a mesh."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import skfem

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


LENGTH, HEIGHT, DEPTH = 0.3, 0.06, 0.01
SOFT = ph.Material(youngs_modulus=1e8, density=1000.0, poissons_ratio=0.3)
MIDDLE = LENGTH / 2


def sheet():
    """The rectangle in plane stress, held by the means of its ends, with the frame along the chord."""
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, LENGTH, 25), np.linspace(-HEIGHT / 2, HEIGHT / 2, 5))
    ends = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > LENGTH - 1e-9}
    options = {"modes": 12, "frame": ("start", "end"), "strain": "linear", "thickness": DEPTH}
    return ph.FlexibleBody.from_mesh(mesh, SOFT, ends, **options)


def middle_of(coupler):
    """Elastic displacement across the chord over two turns of the crank [m]: mean over the height in the middle."""
    model = ph.Model(dimension=2)
    placed = model.add(coupler, "coupler", position=(0.1, 0.0, 0.0))
    start, end = (placed.start, placed.end) if isinstance(coupler, ph.Beam) else (placed["start"], placed["end"])
    slider = model.add(ph.PointMass(0.1), "slider", position=(0.1 + LENGTH, 0.0, 0.0))
    pin = model.ground.moving(lambda t: (0.1 * np.cos(150 * t), 0.1 * np.sin(150 * t), 0.0))
    model.connect(ph.Revolute(pin, start))
    model.connect(ph.Revolute(end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    motion = model.simulate(0.08, 1e-4, initial="quasi_static", progress=False)
    places = [placed.point((MIDDLE, y, 0)) for y in (-HEIGHT / 2, 0, HEIGHT / 2)]
    return np.array([1, 4, 1]) / 6 @ [motion.elastic_displacement(place)[:, 1] for place in places]


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
def test_with_shear_the_beam_is_the_mesh():
    section = ph.RectangularSection(HEIGHT, DEPTH)
    beam = ph.Beam(LENGTH, section, SOFT, 8, "simply_supported", "linear", theory="timoshenko")
    mesh, sheared = middle_of(sheet()), middle_of(beam)
    unsheared = middle_of(replace(beam, theory="euler_bernoulli"))
    errors = [np.abs(each - mesh).max() / np.abs(mesh).max() for each in (sheared, unsheared)]
    assert errors[0] < 0.003
    assert errors[1] > 0.3  # its vibration is 4.6 % too fast, and out of step after two turns
