"""The matrix of the joints, their rates and the slopes of their forces against differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph
from mechanisms import arbitrary_state, crank_slider, moved_along, slope, tangle
from phlexible.algebra import sparse as sparse_matrices
from phlexible.state.forces import constraint_stiffness
from phlexible.state.functions import _cached_wiring as _wirings
from phlexible.state.instants import Instants, PrescribedFunctions
from phlexible.step.assembly.assembly import assemble
from phlexible.step.assembly.couplings import couplings_of as _couplings

MODELS = [tangle(2), tangle(3), crank_slider(angle=0.6)]
EPS = 1e-5


@pytest.mark.parametrize("model", MODELS)
def test_the_matrix_is_the_slope_of_the_functions(model):
    system, state = arbitrary_state(model)
    expected = slope(lambda s: system.rows.values(system.at(s))[0], system, state)
    matrix = system.rows.matrix(system.at(state)).toarray()
    assert matrix == pytest.approx(expected, abs=1e-8)
    assert np.abs(matrix).max() > 0.5


@pytest.mark.parametrize("model", MODELS)
def test_functions_change_as_matrix_and_frames_say(model):
    system, state = arbitrary_state(model)
    at = system.at(state)
    before, after = (system.rows.values(system.at(moved_along(system, state, t)))[0] for t in (-EPS, EPS))
    explicit = system.rows.drift(at)[0]
    rate = system.rows.matrix(at) @ state.velocity + explicit
    assert (after - before) / (2 * EPS) == pytest.approx(rate, abs=1e-6 * np.abs(explicit).max())
    assert np.abs(explicit).max() > 0.1


@pytest.mark.parametrize("model", MODELS)
def test_accelerations_at_constant_velocities(model):
    system, state = arbitrary_state(model)

    def rate(s):
        return system.rows.rates(system.at(s), s.velocity[None])[0]

    before, after = (rate(moved_along(system, state, t)) for t in (-EPS, EPS))
    found = system.rows.accelerations(system.at(state))[0]
    assert found == pytest.approx((after - before) / (2 * EPS), abs=1e-5 * np.abs(found).max())


@pytest.mark.parametrize("model", MODELS)
def test_slope_of_the_joint_forces(model):
    system, state = arbitrary_state(model)
    pull = np.random.default_rng(5).normal(size=len(system.owners))
    expected = slope(lambda s: system.rows.matrix(system.at(s)).T @ pull, system, state)
    assert constraint_stiffness(system, state, pull).toarray() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("model", MODELS)
def test_large_systems_have_sparse_matrices_with_the_same_entries(model, monkeypatch):
    system, state = arbitrary_state(model)
    pull, at = np.random.default_rng(5).normal(size=len(system.owners)), system.at(state)
    small = system.rows.set.jacobian(at), system.rows.stiffness(at, pull)
    monkeypatch.setattr(sparse_matrices, "SMALL", -1)
    other = replace(system)
    large = other.rows.set.jacobian(at), other.rows.stiffness(other.at(state), pull)
    for one, wide in zip(small, large, strict=True):
        assert isinstance(one, np.ndarray) and sparse.issparse(wide)
        assert wide.toarray() == pytest.approx(one, abs=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_many_instants_are_answered_as_each_alone(model):
    system, first = arbitrary_state(model)
    states = [moved_along(system, first, t) for t in (0.0, 0.1, 0.25)]
    times = np.array([state.time for state in states])
    given = PrescribedFunctions(system.moving_frames, system.paths, times)
    parts = (np.stack([getattr(s, name) for s in states]) for name in ("position", "rotation", "eta", "velocity"))
    at, rows = Instants(times, *parts, given), system.rows
    pulls = np.random.default_rng(6).normal(size=(3, rows.count))
    for k, state in enumerate(states):
        here = system.at(state)
        pairs = [
            (rows.values(at)[k], rows.values(here)[0]),
            (rows.drift(at)[k], rows.drift(here)[0]),
            (rows.accelerations(at)[k], rows.accelerations(here)[0]),
            (rows.rates(at, at.velocity)[k], rows.matrix(here) @ state.velocity + rows.drift(here)[0]),
            (rows.forces(at, pulls)[k], rows.forces(here, pulls[k : k + 1])[0]),
        ]
        for found, alone in pairs:
            assert found == pytest.approx(alone, abs=1e-12 * np.abs(alone).max())


def test_models_of_one_wiring_have_their_own_numbers():
    # what follows from the way in which functions are made is remembered, for models that differ in numbers alone
    _, y, z = np.eye(3)
    models = [hung(1.0, 1 / 3, z), hung(1.0, 0.5, z), hung(1.3, 0.5, z), hung(1.0, 0.5, y)]
    models += [crank_slider(angle=0.6), crank_slider(angle=1.1)]

    def numbers_of(model):
        system, state = arbitrary_state(model)
        rows, at = system.rows, system.at(state)
        given = assemble(system).memory.system_tables
        return {**given, "values": rows.values(at), "matrix": rows.matrix(at).toarray(), "drift": rows.drift(at)}

    remembered = [numbers_of(model) for model in models]
    assert _wirings.cache_info().hits and _couplings.cache_info().hits
    for model, found in zip(models, remembered, strict=True):
        _wirings.cache_clear()
        _couplings.cache_clear()
        for name, expected in numbers_of(model).items():
            np.testing.assert_array_equal(found[name], expected, err_msg=name)


def hung(length, place, axis):
    """A beam that two pins hold, the second one somewhere on it, with a bar at its end."""
    model = ph.Model(gravity=(0, -9.81, 0))
    beam = ph.Beam(length, ph.CircularSection(0.01), ph.Material(2e11, 7850.0, 0.3), elements=3, frame="cantilever")
    arm = model.add(beam, "arm")
    bar = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "bar", position=(length, 0, 0))
    other = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "other", position=(place, 0, 0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.start, axis=axis))
    tip = model.connect(ph.Revolute(arm.end, bar.origin, axis=axis))
    model.connect(ph.Spherical(arm.at(place), other.origin))
    model.apply(tip.spring(2.0 * length, damping=0.1))
    return model
