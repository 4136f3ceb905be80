"""Bodies with segments and rods as tables of their own, against dense solutions and general functions."""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly import bodies as bands, families as rods
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


STEPS = 40


def swung(order: int, dimension: int) -> ph.Motion:
    """A curved rod with a full stiffness matrix and viscosity, pinned and thrown."""
    draw = np.random.default_rng(1).normal(size=(6, 6))
    stiffness = np.diag([1e4, 2e3, 3e3, 40.0, 50.0, 60.0]) + 5 * draw @ draw.T
    section = ph.GeneralSection(stiffness, mass=np.diag([1.0, 1.0, 1.0, 0.02, 0.01, 0.01]), viscosity=1e-3)
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    rod = model.add(
        ph.Rod(1.0, section, elements=6 // order, order=order), "rod", shape=lambda s: (np.sin(s), 1 - np.cos(s), 0)
    )
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start))
    out_of_plane = 25.0 if dimension == 3 else 0.0
    model.apply(ph.Force(rod.end, lambda t: (20 * np.sin(40 * t), 60.0, out_of_plane)))
    return model.simulate(STEPS * 5e-3, 5e-3, numerical_damping=0.1)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_rods_move_as_their_general_functions_do(
    order: int, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = swung(order, dimension)
    monkeypatch.setattr(rods, "_turns_about_its_centre", lambda data: False)
    expected = swung(order, dimension)
    assert np.abs(np.diff(expected.rotation(expected["rod"].end), axis=0)).max() > 0.05
    np.testing.assert_allclose(found.recording.position, expected.recording.position, atol=1e-13)
    np.testing.assert_allclose(found.recording.rotation, expected.recording.rotation, atol=1e-12)
    scale = np.abs(expected.recording.forces).max()
    np.testing.assert_allclose(found.recording.forces, expected.recording.forces, atol=1e-10 * scale)
    np.testing.assert_allclose(found.energy.dissipated, expected.energy.dissipated, rtol=1e-9, atol=1e-12)
    assert abs(found.iterations[-1] - expected.iterations[-1]) < 3  # an exact derivative, too
    assert np.abs(found.energy.balance_error).max() < 1e-11 * found.energy.supplied.max()
