"""Rods against closed forms, published numbers and other models of the same mechanism."""

from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded

pytestmark = pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
ELASTICA = np.array([0.83935781, 0.49346073])  # tip for P L^2 / EI = 2, by elliptic integrals
REFERENCE = Path(__file__).parents[1] / "gallery" / "reference"


def cantilever(rod, dimension=3, shape=None):
    model, placed, _ = grounded(rod, dimension=dimension, name="rod", shape=shape)
    return model, placed


def elastica_error(elements, order):
    """Of the tip under P = 2 EI / L^2; stretch and shear give 3e-6."""
    model, rod = cantilever(ph.Rod(1.0, ph.Section(1e6, 1.0), ph.Material(1.0, 1.0, 0.0), elements, order), 2)
    model.apply(ph.Force(rod.end, (0, 2.0, 0)))
    return np.linalg.norm(model.equilibrium().position(rod.end)[:2] - ELASTICA)


def test_the_elastica_is_of_order_2_and_4_without_locking():
    coarse, fine = elastica_error(8, 1), elastica_error(16, 1)
    assert fine == pytest.approx(1.45e-3, abs=2e-5)
    assert coarse / fine == pytest.approx(4.0, abs=0.2)
    coarse, fine = elastica_error(4, 2), elastica_error(8, 2)
    assert fine < 2.5e-5
    assert coarse / fine > 12


@pytest.mark.parametrize(
    ("elements", "order", "tip", "tolerance"),
    [
        pytest.param(32, 1, (46.84, 15.56, 53.67), 0.01, marks=pytest.mark.thorough),
        (16, 2, (46.90, 15.56, 53.60), 0.012),
    ],
)
def test_bathes_bend(elements, order, tip, tolerance):
    """A quarter of a half circle under 600 at its tip: 32 elements of another program; EXUDYN with order 2."""
    section = ph.Section(1.0, 1 / 12, torsion_constant=0.1406, shear_area_y=5 / 6)
    rod = ph.Rod(100 * np.pi / 4, section, ph.Material(1e7, 1.0, 0.0), elements, order)

    model, placed = cantilever(rod, shape=lambda s: (100 * np.sin(s / 100), 100 * (1 - np.cos(s / 100)), 0.0))
    model.apply(ph.Force(placed.end, (0, 0, 600.0)))
    assert model.equilibrium().position(placed.end) == pytest.approx(tip, abs=tolerance)


def test_a_moment_rolls_a_rod_up():
    """To a circle. With order 1 M = EI sin(2 turn) / 2 l between neighbours, and links are l / cos(turn / 2)."""
    model = ph.gallery.roll_up(turns=1.0, elements=12)
    assert model.equilibrium().position(model["strip"].end) == pytest.approx((0, 0, 0), abs=2e-3)
    elements = 8
    model = ph.gallery.roll_up(turns=0.25, elements=elements, order=1)
    turn = np.arcsin(np.pi / elements) / 2
    angles = turn * (np.arange(elements) + 0.5)
    tip = np.array([np.cos(angles).sum(), np.sin(angles).sum()]) / (elements * np.cos(turn / 2))
    assert model.equilibrium().position(model["strip"].end)[:2] == pytest.approx(tip, abs=1e-8)


def test_the_princeton_beam():
    """Bending in two planes with torsion, beam elements of ANSYS."""
    model = ph.gallery.princeton_beam()
    _, across_wide, across_thin = model.equilibrium().position(model["beam"].end)
    assert across_thin == pytest.approx(0.1089879, rel=1e-3)
    assert across_wide == pytest.approx(0.0088372, rel=8e-3)


def test_the_elbow_cantilever():
    """J. C. Simo, L. Vu-Quoc 1988: EXUDYN with 10 elements a leg and steps of 0.05 s: tip 8.24, elbow -4.07."""
    units = np.array([1e6, 1e6, 1e6, 1e3, 1e3, 1e3])
    section = ph.GeneralSection(np.diag(units), np.diag([1.0, 1.0, 1.0, 20.0, 10.0, 10.0]))
    model, first = cantilever(ph.Rod(10.0, section, elements=10))
    second = model.add(ph.Rod(10.0, section, elements=10), "second", shape=[(10, 0, 0), (10, 10, 0)])
    model.connect(ph.Fixed(first.end, second.start))
    model.apply(ph.Force(first.end, lambda t: (0, 0, 50 * max(0.0, 1 - abs(t - 1))), breakpoints=[1, 2]))
    motion = model.simulate(18.0, 0.05, progress=False)
    tip, elbow = motion.position(second.end)[:, 2], motion.position(first.end)[:, 2]
    assert tip.max() == pytest.approx(8.24, abs=0.08)
    assert motion.time[tip.argmax()] == pytest.approx(7.4, abs=0.1)
    assert tip.min() == pytest.approx(-9.75, abs=0.1)
    assert motion.time[tip.argmin()] == pytest.approx(15.87, abs=0.1)
    assert elbow.min() == pytest.approx(-4.07, abs=0.06)


def test_the_flying_spaghetti():
    """Momentum exactly, places within the difference of two programs' meshes."""
    model = ph.gallery.flying_spaghetti(elements=16)
    motion, rod = model.simulate(7.5, 0.01, progress=False), model["rod"]
    flight = motion.time > 2.5
    assert motion.momentum.linear[flight] == pytest.approx(np.tile([20.0, 0, 0], (flight.sum(), 1)), abs=1e-11)
    assert np.ptp(motion.momentum.angular[flight, 2]) < 1e-10
    assert np.ptp(motion.energy.total[flight]) < 1e-10
    away = motion.position(rod.start) - motion.position(rod.start)[0]
    assert away[:, :2].max(axis=0) == pytest.approx((11.0911, 8.9328), abs=0.06)
    assert away[-1, :2] == pytest.approx((10.1945, -0.3878), abs=0.15)


def test_a_coupler_of_the_crank_slider():
    """Deflection of its middle over two turns against exact beams without shear and rotary inertia."""
    table = np.loadtxt(REFERENCE / "crank_slider_geometrically_exact.csv", delimiter=",", skiprows=1)
    times, deflections = table[: round(2 * 2 * np.pi / 150 / 1e-4), :2].T
    model = ph.Model(dimension=2)
    area, moment = np.pi * 9e-6, np.pi * 81e-12 / 4
    stiffness = 2e11 * np.array([area, 30 * area, 30 * area, moment, moment, moment])
    mass = 7870 * np.array([area, area, area, 0.02 * moment, 0.01 * moment, 0.01 * moment])
    rod = ph.Rod(0.3, ph.GeneralSection(np.diag(stiffness), np.diag(mass)), elements=16, order=2)
    coupler = model.add(rod, "coupler", position=(0.15, 0, 0))
    slider = model.add(ph.PointMass(0.033378), "slider", position=(0.45, 0, 0))
    pin = model.ground.moving(lambda t: (0.15 * np.cos(150 * t), 0.15 * np.sin(150 * t), 0.0))
    model.connect(ph.Revolute(pin, coupler.start))
    model.connect(ph.Revolute(coupler.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    motion = model.simulate(times[-1], 1e-5, every=10, progress=False)
    start, middle, end = (motion.position(coupler.at(s))[:, :2] for s in (0.0, 0.15, 0.3))
    chord = end - start
    across = np.stack([-chord[:, 1], chord[:, 0]], axis=1) / np.linalg.norm(chord, axis=1)[:, None]
    found = ((middle - (start + end) / 2) * across).sum(axis=1) / 0.3
    assert np.interp(times, motion.time, found) == pytest.approx(deflections, abs=1e-3 * np.abs(deflections).max())
