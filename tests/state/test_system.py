"""The numbers of a mechanism: where they sit in states, masses about centres of mass."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import ROD, STEEL, arbitrary_state, tangle
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.state.initial_velocity import undeformed
from phlexible.state.small_motions import centring_matrix, world_matrix
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
