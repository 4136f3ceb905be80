"""Closed joints and consistent velocities at t = 0, or an error that says which joint and how much."""

import numpy as np
import pytest
from phlexible.system.constraints import (
    constraint_matrix,
    constraint_time_derivative,
    mass_matrix,
    mechanism_layout,
)
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from model.mechanisms import beam, crank_slider
from phlexible.bodies.point_mass import PointMass
from phlexible.bodies.rigid_body import RigidBody
from phlexible.errors import JointGapError, ModelError, VelocityError
from phlexible.initial.initial_state import InitialKind, initial_state
from phlexible.joints.distance import Distance
from phlexible.joints.fixed import Fixed
from phlexible.joints.revolute import Revolute
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.mechanism.mechanism import Mechanism

RIGID = RigidBody(2.0, (1.0, 1.5, 2.0), center=(0.2, 0.1, 0.0))


def pendulum(dimension=2, joint=Revolute, **motion):
    model = Mechanism(dimension=dimension)
    body = model.add(RIGID, "bob", position=(1.0, 0, 0), **motion)
    model.connect(joint(model.ground.at((0, 0, 0)), body.point((-1.0, 0, 0))))
    return model


def four_bar(dimension, joint=Revolute):
    """Rigid parallelogram-like four-bar whose first link is driven at 2 rad/s; in space 3 rows repeat."""
    model = Mechanism(dimension=dimension)
    a, b, c = (
        model.add(RIGID, name, place) for name, place in zip("abc", [(0, 0, 0), (0, 1, 0), (2, 0, 0)], strict=True)
    )
    drive = model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: 2 * t)
    model.connect(Fixed(drive, a.origin))
    model.connect(joint(a.point((0, 1, 0)), b.origin))
    model.connect(joint(b.point((2.0, 0.3, 0)), c.point((0, 1.3, 0))))
    model.connect(joint(model.ground.at((2, 0, 0)), c.origin))
    return model


def test_a_free_body_starts_at_rest_as_placed():
    model = Mechanism(gravity=(0, 0, -9.81))
    turn = Rotation.from_rotvec([0.1, 0.2, 0.3])
    model.add(beam(), position=(1, 2, 3), rotation=turn)
    state = initial_state(model)
    assert state.time == 0 and not state.velocity.any() and not state.elastic.any()
    assert state.position.tolist() == [[1, 2, 3]]
    assert state.rotation[0] == pytest.approx(turn.as_matrix())


def test_given_velocities_are_turned_to_body_axes():
    model, turn = Mechanism(), Rotation.from_rotvec([0.1, 0.2, 0.3])
    model.add(RIGID, rotation=turn, velocity=(3, -2, 1), angular_velocity=(4, 5, 6))
    state = initial_state(model)
    assert state.velocity[:3] == pytest.approx(turn.inv().apply([3, -2, 1]))
    assert state.velocity[3:] == pytest.approx(turn.inv().apply([4, 5, 6]))


def test_a_given_velocity_does_not_make_a_free_body_turn():
    model = Mechanism()
    model.add(RIGID, velocity=(1, 2, 3))
    assert initial_state(model).velocity == pytest.approx([1, 2, 3, 0, 0, 0], abs=0)


def test_the_crank_drives_the_coupler_and_the_slider():
    state = initial_state(crank_slider(angle=0.0))
    assert state.velocity[:3] == pytest.approx([0, 150 * 0.15, -75], abs=1e-8)
    assert not state.velocity[3:].any() or np.abs(state.velocity[3:]).max() < 1e-8


@pytest.mark.parametrize("angle", [0.4, 1.5, 4.0])
def test_velocities_of_a_crank_slider_in_general_position(angle):
    model = crank_slider(angle=angle)
    state, layout = initial_state(model), mechanism_layout(model)
    tilt = -np.arcsin(np.sin(angle) / 2)
    spin = -150 * np.cos(angle) / 2 / np.cos(tilt)
    assert state.velocity[2] == pytest.approx(spin, rel=1e-10)
    slide = -0.15 * 150 * np.sin(angle) - 0.3 * spin * np.sin(tilt)
    assert state.velocity[layout.velocity[1]] == pytest.approx(slide, rel=1e-9)


@pytest.mark.parametrize(("dimension", "joint"), [(2, Revolute), (3, Revolute), (3, Spherical)])
def test_rows_that_repeat_others_do_no_harm(dimension, joint):
    model = four_bar(dimension, joint)
    state, layout = initial_state(model), mechanism_layout(model)
    spins = [state.velocity[layout.velocity[i + 1] - 1] for i in range(3)]
    # a's tip moves with (-2, 0); b is (2, 0.3) long, c (0, 1.3), so b cannot turn and c turns by 2 / 1.3.
    assert spins == pytest.approx([2, 0, 2 / 1.3], abs=1e-9)
    rate = constraint_matrix(model, layout, state) @ state.velocity
    assert rate == pytest.approx(-constraint_time_derivative(model, layout, state), abs=1e-9)


def test_what_is_left_free_takes_the_least_kinetic_energy():
    model = Mechanism(dimension=2)
    body = model.add(RIGID, "bob", position=(1.0, 0, 0))
    pin = model.ground.moving(lambda t: (0, 3 * t, 0))
    model.connect(Revolute(pin, body.point((-1.0, 0, 0))))
    state = initial_state(model)
    mass = mass_matrix(model, state).toarray()

    def energy(spin):
        nu = np.array([0, 3 + spin[0], spin[0]])
        return nu @ mass @ nu / 2

    best = minimize(energy, [0.0], tol=1e-12).x[0]
    assert state.velocity == pytest.approx([0, 3 + best, best], abs=1e-6)


def test_only_one_of_the_two_velocities_may_be_given():
    state = initial_state(pendulum(3, Spherical, angular_velocity=(0, 1, 2)))
    assert state.velocity == pytest.approx([0, 2, -1, 0, 1, 2], abs=1e-12)
    state = initial_state(pendulum(3, Revolute, velocity=(0, 2, 0)))
    assert state.velocity == pytest.approx([0, 2, 0, 0, 0, 2], abs=1e-9)


@pytest.mark.parametrize(
    ("offset", "joint", "message"),
    [
        ((1e-3, 0), Revolute, r"Revolute\(ground.at\(0.001, 0, 0\), bob.origin\) .* x is off by -0.001 m"),
        ((0, 2e-3), Revolute, r"point along y is off by -0.002 m \(at most 1e-09\)"),
        ((0, 2e-3), Slider, r"point across the axis, direction 1 is off by .*0.002 m"),
        ((3, 4), lambda a, b: Distance(a, b, 2.0), r"distance is off by 3 m"),
        ((2e-9, 0), Revolute, "does not close"),
    ],
)
def test_open_joints_are_refused(offset, joint, message):
    model = Mechanism(dimension=2)
    body = model.add(PointMass(1.0), "bob")
    model.connect(Revolute(model.add(RigidBody(1.0, 1.0), position=(1, 0, 0)).origin, model.ground.at((1, 0, 0))))
    model.connect(joint(model.ground.at((*offset, 0)), body.origin))
    with pytest.raises(JointGapError, match=message):
        initial_state(model)


def test_a_gap_of_round_off_is_no_gap():
    model = Mechanism(dimension=2)
    model.connect(
        Revolute(model.ground.at((1 + 1e-12, 0, 0)), model.add(PointMass(1.0), position=(1, 0, 0)).origin)
    )
    initial_state(model)


@pytest.mark.parametrize(
    ("motion", "messages"),
    [
        (
            {"velocity": (0, 1, 0), "angular_velocity": (0, 0, 2)},
            [
                r"contradict Revolute\(ground.at\(0, 0, 0\), bob.point\(-1, 0, 0\)\)",
                "point along y is violated by 1 m/s",
                "leave velocity and angular_velocity out",
                r"bob velocity=\[-?0.0, ",
            ],
        ),
        ({"velocity": (1, 0, 0)}, ["point along x is violated by 1 m/s"]),
        ({"velocity": (0, 1, 0), "angular_velocity": (0, 0, 1 + 1e-6)}, ["violated by 1e-06 m/s"]),
    ],
)
def test_contradicting_velocities_are_refused(motion, messages):
    with pytest.raises(VelocityError) as error:
        initial_state(pendulum(**motion))
    for message in messages:
        error.match(message)


def test_the_offered_velocities_fit():
    with pytest.raises(VelocityError) as error:
        initial_state(pendulum(velocity=(0, 1, 0), angular_velocity=(0, 0, 2)))
    offer = str(error.value).split("bob ")[-1]
    initial_state(pendulum(**eval(f"dict({offer})")))


def test_velocities_right_to_round_off_are_kept():
    state = initial_state(pendulum(velocity=(0, 1, 0), angular_velocity=(0, 0, 1 + 1e-9)))
    assert state.velocity.tolist() == [0, 1, 1 + 1e-9]


def test_drives_that_no_motion_fits_are_refused():
    model = Mechanism(dimension=2)
    body = model.add(RIGID, "bob")
    for x, speed in ((0.0, 1.0), (1.0, 2.0)):
        pin = model.ground.moving(lambda t, x=x, speed=speed: (x + speed * t, 0, 0))
        model.connect(Revolute(pin, body.point((x, 0, 0))))
    with pytest.raises(VelocityError, match=r"no rigid motion fits all .* contradict Revolute\(moving frame \d"):
        initial_state(model)


def test_kinds_are_an_enumeration():
    assert [kind.value for kind in InitialKind] == ["undeformed", "quasi_static"]


def test_a_model_without_joints_or_bodies():
    assert initial_state(Mechanism()).velocity.shape == (0,)
    assert issubclass(VelocityError, ModelError)
