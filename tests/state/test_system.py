"""A mechanism as numbers: places of bodies, mass matrix, small motions, vectors and directions."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

import phlexible as ph
from mechanisms import ROD, STEEL, arbitrary_state, moved_along, slope, tangle
from phlexible.bodies.mechanics.floating import mass_matrix, split_velocity
from phlexible.description.interactions.functions import PointOf
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.state.forces import body_axes
from phlexible.state.initial_velocity import reference_velocity, undeformed
from phlexible.state.small_motions import centring_matrix, displaced, world_matrix
from phlexible.state.system import system_of


def test_bodies_with_a_frame_come_first_and_every_number_has_its_place():
    model = Mechanism(dimension=2)
    rope = model.add(ph.String(1.0, 0.5, 3, ph.LinearLaw(20.0)), "rope", shape=((0, 0), (1, 0.3)))
    beam = model.add(ph.Beam(1.0, ROD, STEEL, elements=2), "beam", position=(1, 0.3, 0), rotation=0.4)
    ball = model.add(ph.PointMass(1.0), "ball", position=(0, 0, 0))
    model.connect(ph.Spherical(rope.start, ball.origin))
    model.connect(ph.Revolute(rope.end, beam.start))
    system = system_of(model)
    layout, state, n = system.layout, undeformed(system), beam.data.elastic_count
    assert system.bodies == (beam, ball, rope) and layout.frames == 2
    assert layout.carrier.tolist() == [0, 1, 2, 6]
    assert layout.eta.tolist() == [0, n, n]
    assert layout.velocity.tolist() == [0, 3 + n, 5 + n, 13 + n]
    assert layout.carrier_velocity.tolist() == [0, 3 + n, 5 + n, 7 + n, 9 + n, 11 + n, 13 + n]
    assert layout.multiplier.tolist() == [0, 2, 4]
    assert [owner.joint for owner in system.owners] == [model.joints[0]] * 2 + [model.joints[1]] * 2
    assert layout.elastic_rate.tolist() == list(range(3, 3 + n))
    assert system.elastic(state, 0).tolist() == [0.0] * n
    assert system.elastic(state, 2) == pytest.approx([0, 0, 1 / 3, 0.1, 2 / 3, 0.2, 1, 0.3])
    assert state.position[0] == pytest.approx([1 + np.cos(0.4) / 2, 0.3 + np.sin(0.4) / 2, 0])


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_mass_matrix_is_block_diagonal_and_that_of_the_bodies(dimension):
    """Kinetic energy is that of the same motion of reference points; translation is apart from the rest."""
    system, state = arbitrary_state(tangle(dimension))
    motion = (world_matrix(system, state) @ centring_matrix(system, state)).toarray()
    matrix = system.mass(state).toarray()
    reference = motion.T @ matrix @ motion
    for index, placed in enumerate(system.bodies):
        own, d = system.layout.span(index), dimension
        expected = mass_matrix(placed.data, system.elastic(state, index))
        assert reference[own, own] == pytest.approx(expected, abs=1e-14)
        assert matrix[own, own][:d] == pytest.approx(placed.data.mass * np.eye(len(expected))[:d], abs=1e-15)
        matrix[own, own] = 0
    assert not matrix.any()


def test_a_system_keeps_the_numbers_it_was_made_with():
    model = Mechanism(dimension=2)
    body = model.add(ph.RigidBody(1.0, 1.0, center=(0.2, 0, 0)))
    before = system_of(model)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))
    model.add(ph.PointMass(1.0))
    assert len(before.bodies) == 1 and not before.owners and before.rows.count == 0
    after = system_of(model)
    assert len(after.bodies) == 2 and after.rows.count == 2


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


SHIFT = 1e-5


def places(system, state, ports):
    return system.vectors([PointOf(port) for port in ports]).values(system.at(state))[0]


@pytest.mark.parametrize("dimension", [2, 3])
def test_positions_of_states_are_centres_of_mass(dimension):
    """Of a beam the mean place of its axis, by Gauss's rule in each of two elements."""
    model = tangle(dimension)
    system, state = arbitrary_state(model)
    nodes, weights = leggauss(4)
    for name in "ab":
        x = np.concatenate([0.15 * (nodes + 1) / 2, 0.15 + 0.15 * (nodes + 1) / 2])
        points = places(system, state, [model[name].at(float(each)) for each in x])
        mean = np.tile(weights, 2) @ points / 4
        assert state.position[system.index[model[name]]] == pytest.approx(mean, abs=1e-14)
    material = places(system, state, [model["c"].point((0.1, 0.2, 0)), model["d"].origin])
    assert state.position[2:] == pytest.approx(material, abs=1e-15)


@pytest.mark.parametrize("dimension", [2, 3])
def test_derivatives_of_vectors(dimension):
    system, state = arbitrary_state(tangle(dimension))
    vectors, at = system.rows.set, system.at(state)
    jacobian = vectors.jacobian(at)
    assert jacobian == pytest.approx(slope(lambda s: vectors.values(system.at(s)).ravel(), system, state), abs=1e-9)
    later, earlier = (system.at(moved_along(system, state, t)) for t in (SHIFT, -SHIFT))
    rates = vectors.rates(at, at.velocity)
    assert (vectors.values(later) - vectors.values(earlier)) / (2 * SHIFT) == pytest.approx(rates, abs=1e-8)
    by_parts = (jacobian @ state.velocity).reshape(-1, 3) + vectors.prescribed_rates(at)[0]
    assert rates[0] == pytest.approx(by_parts, abs=1e-14)
    change = vectors.rates(later, at.velocity) - vectors.rates(earlier, at.velocity)
    assert change / (2 * SHIFT) == pytest.approx(vectors.accelerations(at), abs=1e-5)


@pytest.mark.parametrize("dimension", [2, 3])
def test_directions_turn_with_the_material(dimension):
    """A direction along the axis is the tangent of the bent axis, one across turns with it."""
    model = tangle(dimension)
    system, state = arbitrary_state(model)
    state = replace(state, eta=1e-3 * state.eta)
    body, x, h = model["a"], 0.1, 1e-4
    along, across, _ = system.vectors(body_axes(body.at(x))).values(system.at(state))[0]
    ends = places(system, state, [body.at(x - h), body.at(x + h)])
    tangent = (ends[1] - ends[0]) / (2 * h)
    assert along == pytest.approx(tangent / np.linalg.norm(tangent), abs=1e-5)
    assert np.abs(along - state.rotation[0][:, 0]).max() > 1e-4
    assert across @ along == pytest.approx(0, abs=1e-6)
