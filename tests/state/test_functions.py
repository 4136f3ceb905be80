"""The matrix of the joints, their rates and the slopes of their forces against differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from mechanisms import arbitrary_state, crank_slider, moved_along, slope, tangle
from phlexible.algebra import sparse as sparse_matrices
from phlexible.state.forces import constraint_stiffness
from phlexible.state.instants import GivenFunctions, Instants

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
    given = GivenFunctions(system.moving_frames, system.paths, times)
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
