"""Velocities, displacements, directions and orientations of points of a motion."""

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import bar
from measure.synthetic import as_stepped, recorded, slope, two_beams, vee, wandering, wandering_poses
from phlexible.description.interactions.functions import DirectionOf
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.measure.kinematics import (
    angular_velocity,
    elastic_coordinates,
    rotation,
    rotation_vector_spin,
    velocity,
)

TIMES = np.linspace(0.0, 2.0, 9)


def at_once(mechanism, poses, quantity):
    """The quantity as a function of one time."""
    return lambda time: quantity(recorded(mechanism, poses, np.array([time])))[0]


@pytest.mark.parametrize("dimension", [2, 3])
def test_velocities_are_the_rates_of_positions_and_rotations(dimension):
    mechanism = two_beams(dimension)
    poses = wandering_poses(mechanism)
    run = as_stepped(recorded(mechanism, poses, TIMES))
    off_axis = (0.3, 0.02, 0.0 if dimension == 2 else -0.01)
    for attachment in (mechanism["two"].end, mechanism["one"].point(off_axis)):
        places = at_once(mechanism, poses, lambda r, a=attachment: ph.Position(a).read(r))
        expected = [slope(places, time) for time in TIMES]
        assert velocity(run, attachment) == pytest.approx(np.array(expected), abs=1e-9)
    for target in (mechanism["two"], mechanism["two"].end, mechanism["one"].at(0.3)):
        turns = at_once(mechanism, poses, lambda r, target=target: rotation(r, target))
        expected = [vee(slope(turns, time) @ turns(time).T) for time in TIMES]
        assert angular_velocity(run, target) == pytest.approx(np.array(expected), abs=1e-9)


def test_directions_of_joints_turn_with_the_material_to_first_order_in_the_slopes():
    mechanism = two_beams()
    end = mechanism["two"].end
    axis = np.array([0.6, 0.0, 0.8])

    def gap(amplitude):
        poses = [wandering(k, end.placed.data.elastic_count, amplitude=amplitude) for k in range(2)]
        run = recorded(mechanism, poses, TIMES)
        local = end.placed.rotation.T @ axis
        exact, rigid = rotation(run, end) @ local, rotation(run, end.placed) @ local
        assert np.abs(exact - rigid).max() > amplitude / 10
        return np.abs(run.system.vectors([DirectionOf(end, axis)]).values(run.instants)[:, 0] - exact).max()

    assert gap(1e-3) < 1e-4
    assert gap(1e-3) / gap(1e-4) == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.0099, 0.0101, 0.5, 3.0])
def test_turning_of_a_rotation_vector_that_grows_along_itself_and_across(size):
    theta = np.array([[0.0, 0.0, size]])
    assert rotation_vector_spin(theta, np.array([[0, 0, 1.0]]))[0] == pytest.approx([0, 0, 1], abs=1e-15)
    across = rotation_vector_spin(theta, np.array([[1.0, 0, 0]]))[0]
    closed = [np.sin(size) / size, (1 - np.cos(size)) / size, 0] if size > 1e-3 else [1, size / 2, 0]
    assert across == pytest.approx(closed, abs=1e-12)


def test_point_masses_have_no_orientation():
    mechanism = Mechanism()
    bob = mechanism.add(ph.PointMass(1.0), "bob")
    run = recorded(mechanism, [lambda t: (wandering(2, 0)(t)[0], np.eye(3), np.zeros(0))], TIMES)
    for refused in (bob, bob.origin):
        with pytest.raises(ph.ModelError, match="bob is a point mass and has no orientation"):
            rotation(run, refused)
        with pytest.raises(ph.ModelError, match="bob is a point mass"):
            angular_velocity(run, refused)


def test_a_body_of_another_model_is_refused_unless_it_is_the_same_one():
    mechanism, again = two_beams(), two_beams()
    run = recorded(mechanism, wandering_poses(mechanism), TIMES)
    assert np.array_equal(ph.Position(again["two"].end).read(run), ph.Position(mechanism["two"].end).read(run))
    stranger = Mechanism().add(ph.RigidBody(1.0, (1.0, 1.0, 1.0)), "two")
    with pytest.raises(ph.ModelError, match="'two' is not a body of this model; it has: one, two"):
        ph.Position(stranger.origin).read(run)
    with pytest.raises(ph.ModelError, match="body must be a body of the model"):
        elastic_coordinates(run, "two")
    with pytest.raises(ph.ModelError, match="moving frame 1 is not used by a joint"):
        ph.Position(mechanism.ground.moving(lambda t: (t, 0, 0))).read(run)


def bracket():
    """Clamped at one end and bent by its weight; the mean axis of the part tilts with it."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    part = model.add(bar(cells=(4, 1), sides=(0.3, 0.03), thickness=0.02), "bracket")
    model.connect(ph.Fixed(model.ground.at(part["start"].initial_position()), part["start"]))
    return model, part["end"]


def test_a_tip_is_displaced_in_the_world_and_in_its_frame():
    model, tip = bracket()
    rest = model.equilibrium()
    in_world, in_frame = rest[ph.Displacement(tip, (0, 1, 0))], rest[ph.ElasticDisplacement(tip)]
    assert np.array_equal(in_frame, rest.elastic_displacement(tip)) and in_frame.shape == (3,)
    assert in_world == pytest.approx(rest.position(tip)[1] - tip.initial_position()[1], rel=1e-12)
    assert in_world < 3 * in_frame[1] < 0
    assert rest[ph.ElasticDisplacement(tip, (0, 2, 0))] == in_frame[1]
    motion = model.simulate(1e-3, 1e-4, initial=rest.state, progress=False)
    assert motion[ph.ElasticDisplacement(tip)].shape == (11, 3)
