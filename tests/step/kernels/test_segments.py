"""Bodies with segments: their block is the derivative of the residual, and solved like a dense one."""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly import bodies as bands
from step.kernels.newton import Newton, largest_slope_error
from step.kernels.test_elimination import initial_state_of

STEEL = ph.Material(youngs_modulus=2e9, density=2000.0, viscosity=1e-3)
POTENTIAL = ph.Potential(lambda x: 40 * np.cosh(x), lambda x: 40 * np.sinh(x))


@pytest.fixture(autouse=True)
def segments_for_short_bodies(monkeypatch):
    monkeypatch.setattr(bands, "FEWEST", 9)
    monkeypatch.setattr(bands, "SMALLEST", 3)


def held(model, a, b):
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.start))
    model.connect(ph.Spherical(a.at(0.7), b.origin))
    model.connect(ph.Distance(a.at(0.5), model.ground.at((0, 1, 0))))


def sprung(model, a, b):
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.start))
    model.apply(pin.spring(80.0, rest=0.3, damping=6.0, potential=POTENTIAL))
    for first, second in ((a.end, model.ground.at((2, 1, 0))), (a.at(0.6), b.origin)):
        model.apply(ph.SpringDamper(first, second, 300.0, 20.0, 0.4, POTENTIAL))


def loaded(model, a, b):
    plane = model.dimension == 2
    for axes in ("world", "body"):
        model.apply(ph.Force(a.at(0.6), (20.0, -30.0, 0.0 if plane else 10.0), axes=axes))
        model.apply(ph.Torque(a.at(0.7), (0.0, 0.0, 20.0) if plane else (20.0, -30.0, 10.0), axes=axes))
    model.apply(ph.DistributedForce(a, (0.0, 30.0, 0.0), axes="body"))


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("scene", [lambda model, a, b: None, held, sprung, loaded])
@pytest.mark.parametrize("frame", ["simply_supported", "cantilever"])
def test_matrix_and_solution(dimension, scene, frame):
    model = ph.Model(gravity=(1.0, -9.0, 0.0), dimension=dimension)
    section = ph.RectangularSection(width=0.05, height=0.03)
    beam = ph.Beam(1.0, section, STEEL, elements=9 - 2 * dimension, frame=frame)
    a = model.add(beam, "beam", position=(0.2, 0.1, 0.0), rotation=None if dimension == 3 else 0.4)
    b = model.add(ph.RigidBody(2.0, (0.03, 0.04, 0.05)), "body", position=(1.3, 0.7, 0.0))
    scene(model, a, b)
    rng, system = np.random.default_rng(7), system_of(model)
    start = initial_state_of(system, rng)
    newton = Newton(model, replace(start, eta=0.01 * rng.normal(size=len(start.eta))), 0.05, 0.1)
    assert newton.memory.counts["segments"] >= 3
    unknowns = rng.normal(size=newton.velocities + newton.rows)
    assert largest_slope_error(newton, unknowns) <= 1e-12
    matrix, right, solution = newton.matrix(unknowns), newton.residual(unknowns), newton.solution(unknowns)
    assert np.abs(matrix @ solution - right).max() <= 1e-10 * np.abs(matrix).max() * np.abs(solution).max()
    assert solution == pytest.approx(np.linalg.solve(matrix, right), rel=1e-6, abs=1e-8)


def test_coordinates_that_couple_with_all_others_stay_dense():
    beam = ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=30, frame="mean_axis")
    assert bands.band_of(beam.discretize(2)) is None
    chord = ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=30).discretize(2)
    found = bands.band_of(chord)
    assert found is not None and found.ends[-1] == chord.elastic_count
    assert max(found.sizes) <= 6
