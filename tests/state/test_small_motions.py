"""Motions of reference points in body axes, as in the papers, and the step's own coordinates."""

from dataclasses import replace

import numpy as np
import pytest

from mechanisms import arbitrary_state, tangle
from phlexible.bodies.mechanics.floating import split_velocity
from phlexible.state.initial_velocity import reference_velocity
from phlexible.state.small_motions import centring_matrix, displaced, world_matrix

EPS = 1e-6


def reference_point(system, state, index):
    """Of a body from its centre of mass: x_c - R S (1, eta) / m."""
    data = system.bodies[index].data
    centre = data.first_moments @ [1.0, *system.elastic(state, index)] / data.mass
    return state.position[index] - state.rotation[index] @ centre


@pytest.mark.parametrize("dimension", [2, 3])
def test_motions_move_reference_points_and_turn_bodies(dimension):
    system, state = arbitrary_state(tangle(dimension))
    x = np.random.default_rng(3).normal(size=len(state.velocity))
    motion = world_matrix(system, state) @ centring_matrix(system, state) @ x
    ends = [displaced(system, state, t * motion) for t in (-EPS, EPS)]
    for index, data in enumerate(system.frames):
        turn = state.rotation[index]
        v, w, rate = split_velocity(data, x[system.layout.span(index)])
        before, after = (reference_point(system, end, index) for end in ends)
        assert turn.T @ (after - before) / (2 * EPS) == pytest.approx(v, abs=1e-8)
        spin = turn.T @ (ends[1].rotation[index] - ends[0].rotation[index]) / (2 * EPS)
        assert [spin[2, 1], spin[0, 2], spin[1, 0]] == pytest.approx(w, abs=1e-8)
        elastic = system.elastic(ends[1], index) - system.elastic(ends[0], index)
        assert elastic / (2 * EPS) == pytest.approx(rate, abs=1e-8)


@pytest.mark.parametrize("dimension", [2, 3])
def test_velocities_of_reference_points_are_turned_to_world_axes(dimension):
    system, state = arbitrary_state(tangle(dimension))
    x = np.random.default_rng(4).normal(size=len(state.velocity))
    moving = replace(state, velocity=world_matrix(system, state) @ centring_matrix(system, state) @ x)
    for index, data in enumerate(system.frames):
        v, w, _ = split_velocity(data, x[system.layout.span(index)])
        found = reference_velocity(system, moving, index)
        for part, expected in zip(found, (v, w), strict=True):
            assert part == pytest.approx(state.rotation[index] @ expected, abs=1e-14)
