"""Matrices of long beams and of beams of one structure are those of arrays; what long ones take."""

import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph
from mechanisms import grounded
from phlexible.algebra.sparse import as_array
from phlexible.bodies.beam import bases, beam as beams_of, scaling
from phlexible.bodies.floating_body import FloatingBody, LocalMoments
from phlexible.bodies.mechanics import floating
from phlexible.state.system import system_of
from phlexible.step.assembly.bodies import TypeTables

STEEL = ph.Material(210e9, 7850.0, viscosity=1e-4)
TABLE = ph.VaryingSection((0.0, 1.0), (ph.RectangularSection(0.02, 0.01), ph.RectangularSection(0.01, 0.02)))


def beams(monkeypatch, dimension: int, **options) -> tuple[FloatingBody, FloatingBody]:
    beam = ph.Beam(1.0, TABLE, STEEL, elements=8, masses=[ph.LumpedMass(0.4, 0.3, 0.01, (0.02, 0.01))], **options)
    monkeypatch.setattr(beams_of, "SHORT", 0)  # nothing is cached
    monkeypatch.setattr(bases, "LONG", 1)
    long = beam.discretize(dimension)
    monkeypatch.setattr(bases, "LONG", 1000)
    return long, beam.discretize(dimension)


@pytest.mark.parametrize(
    ("dimension", "options"),
    [
        (2, {"frame": "cantilever"}),
        (2, {"frame": "simply_supported", "theory": "timoshenko"}),
        (3, {"frame": "simply_supported", "strain": "linear", "rotary_inertia": True}),
        pytest.param(3, {"frame": "simply_supported", "theory": "timoshenko"}, marks=pytest.mark.thorough),
    ],
)
def test_sparse_matrices_are_those_of_arrays(monkeypatch, dimension, options):
    long, short = beams(monkeypatch, dimension, **options)
    n = short.elastic_count
    rng = np.random.default_rng(1)
    eta, nu, change = 1e-3 * rng.normal(size=n), rng.normal(size=6 + n), rng.normal(size=6 + n)
    nu, change = (each[-short.velocity_count :] for each in (nu, change))
    assert isinstance(long.second_moments, LocalMoments) and isinstance(short.second_moments, np.ndarray)
    assert isinstance(long.with_arrays().strain.stiffness, np.ndarray)

    def same(function, relative=1e-13):
        one, other = (as_array(function(body)) for body in (long, short))
        assert one == pytest.approx(other, rel=0, abs=relative * np.abs(other).max() + 1e-300)

    for each in (
        lambda b: b.all_moments,
        floating.elastic_mass,
        floating.mass_diagonal,
        lambda b: b.undeformed_spread,
    ):
        same(each)
        same(lambda b, each=each: each(floating.centred(b)[0]))
    xi = rng.normal(size=(3, n + 1))
    same(lambda b: floating.moment_products(b, xi))
    same(lambda b: floating.moment_products(floating.centred(b)[0], xi))
    same(lambda b: floating.mass_matrix(b, eta))
    same(lambda b: floating.mass_matrix(floating.centred(b)[0], eta))
    same(lambda b: floating.mass_solutions(floating.centred(b)[0], eta[None], change[None, :, None]), 1e-9)
    whole = as_array(floating.mass_matrix(floating.centred(short)[0], eta))
    found = floating.mass_solutions(floating.centred(short)[0], eta[None], np.stack([change, nu], axis=1)[None])[0]
    assert whole @ found == pytest.approx(np.stack([change, nu], axis=1), rel=0, abs=1e-8)
    same(lambda b: floating.quadratic_velocity_forces(b, eta, nu), 1e-11)
    same(lambda b: floating.rigid_motion_forces(floating.centred(b)[0], eta, nu, change), 1e-11)
    same(lambda b: floating.rigid_motion_tangent(floating.centred(b)[0], eta, nu, change), 1e-11)
    same(lambda b: floating.elastic_force(b, eta), 1e-11)
    same(lambda b: floating.elastic_tangent(b, eta))
    same(lambda b: floating.viscous_matrix(b, eta))
    assert long.elastic_units == short.elastic_units


@pytest.mark.parametrize("dimension", [2, 3])
def test_runs_and_linear_models_of_long_beams_are_those_of_arrays(monkeypatch, dimension):
    found = []
    monkeypatch.setattr(beams_of, "SHORT", 0)  # nothing is cached
    for long in (1, 1000):
        monkeypatch.setattr(bases, "LONG", long)
        body = ph.Beam(1.0, TABLE, STEEL, elements=24)
        model, beam, _ = grounded(body, ph.Revolute, gravity=(0.0, -9.81, 0.0), dimension=dimension, name="beam")
        motion = model.simulate(2e-3, 5e-4, progress=False)
        found.append((motion.position(beam.end), model.linearize(at="unloaded").modes(4).frequencies))
        assert isinstance(beam.data.second_moments, LocalMoments) == (long == 1)
    assert found[0][0] == pytest.approx(found[1][0], rel=0, abs=1e-10)
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-6, abs=1e-2)


def test_a_long_beam_without_mass_in_a_direction_is_refused():
    data = ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=100, frame="cantilever").discretize(2)
    floating.check_mass(data)
    n = data.elastic_count + 1
    onto = np.arange(n)
    onto[5] = 2  # coordinate 4 moves the beam as coordinate 1 does
    same = sparse.csr_array((np.ones(n), (onto, np.arange(n))), (n, n))
    planes = tuple(tuple(sparse.csr_array(same.T @ w @ same) for w in row) for row in data.second_moments.planes)
    first = data.first_moments.copy()
    first[:, 5] = first[:, 2]
    with pytest.raises(ph.SingularMassError, match="deta_"):
        floating.check_mass(
            replace(data, first_moments=first, second_moments=replace(data.second_moments, planes=planes))
        )


def peak(elements: int) -> int:
    """The most memory that a beam takes until the numbers of its step are made [bytes]."""
    tracemalloc.start()
    model, *_ = grounded(ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=elements), dimension=2, name="beam")
    system = system_of(model)
    TypeTables(system.frames, system.floating).tables()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def test_what_a_long_beam_takes_grows_with_its_elements():
    for elements in (75, 300):  # what is kept for the next beam of as many elements is made once
        peak(elements)
    assert peak(300) < 4.5 * peak(75)


SCALED_STEEL = ph.Material(2.1e11, 7850.0, poissons_ratio=0.3)
DIAGONAL = ph.GeneralSection(np.diag([8e6, 3e6, 2e6, 8e3, 7e3, 6e3]), np.diag([3.0, 3.0, 3.0, 5e-3, 2e-3, 3e-3]))
COUPLED = ph.Section(4e-4, 3e-8, 2e-8, 1e-8, 3e-4, shear_center=(0.01, 0.0))
OPTIONS = [*product((2, 3), ("cantilever", "simply_supported"), ("euler_bernoulli", "timoshenko"), (True, False))]


def numbers(body):
    arrays = {"m": np.array(body.mass), "S": body.first_moments, "W": body.second_moments}
    return arrays | {name: value for name, value in vars(body.strain).items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize(("dimension", "frame", "theory", "rotary_inertia"), OPTIONS)
@pytest.mark.parametrize("strain", ["von_karman", "linear"])
@pytest.mark.parametrize("section", [ph.RectangularSection(0.03, 0.011), DIAGONAL])
def test_scaled_arrays_are_those_of_each_element(dimension, frame, theory, rotary_inertia, strain, section):
    material = None if section is DIAGONAL else SCALED_STEEL
    options = {"frame": frame, "theory": theory, "strain": strain}
    beam = ph.Beam(0.77, section, material, 3, rotary_inertia=rotary_inertia or theory == "timoshenko", **options)
    mesh, basis = beam._coordinates(dimension)
    found, expected = beam.discretize(dimension), beam._assemble(mesh, basis.columns)
    assert found.elastic_units == expected.elastic_units
    for name, value in numbers(expected).items():
        assert numbers(found)[name] == pytest.approx(
            value, rel=1e-13, abs=1e-14 * np.abs(value).max(initial=0.0)
        ), name


def test_coupled_and_varying_beams_are_not_scaled(monkeypatch):
    beam = ph.Beam(0.77, ph.CircularSection(0.013), SCALED_STEEL, 3, theory="timoshenko")
    monkeypatch.setattr(scaling, "_unit_beam", lambda *_: pytest.fail("a beam was scaled"))
    cone = ph.VaryingSection([0.0, 0.77], [ph.CircularSection(0.02), ph.CircularSection(0.01)])
    with_mass = {"masses": [ph.LumpedMass(0.3, 0.2)]}
    for change in ({"section": COUPLED}, {"section": cone}, {"frame": "mean_axis"}, {"elements": 40}, with_mass):
        assert replace(beam, **change).discretize(3).elastic_count > 0
