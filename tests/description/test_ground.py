"""Fixed points and moving frames, and the derivatives of their paths from differences."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

from phlexible.description.ground import (
    Ground,
    frame_acceleration,
    frame_angular_velocities,
    frame_positions,
    frame_rotations,
    frame_velocities,
)
from phlexible.errors import ParameterError

SPACE, PLANE = Ground(3), Ground(2)


def at(read, frame, time):
    """What a function of a frame and times returns at one of them."""
    return read(frame, np.array([time]))[0]


def circle(speed, radius=0.15):
    return lambda t: (radius * np.cos(speed * t), radius * np.sin(speed * t), 0.0)


def test_a_fixed_point_rests():
    frame = SPACE.at((1, 2, 3))
    assert frame.is_fixed and str(frame) == "ground.at(1, 2, 3)"
    assert at(frame_positions, frame, 5.0).tolist() == [1, 2, 3]
    assert not at(frame_velocities, frame, 5.0).any() and not frame_acceleration(frame, 5.0).any()
    assert (at(frame_rotations, frame, 5.0) == np.eye(3)).all()
    assert not at(frame_angular_velocities, frame, 5.0).any()


@pytest.mark.parametrize("speed", [0.01, 1.0, 150.0, 1e4])
@pytest.mark.parametrize("time", [0.0, 1e-7, 1e-3, 0.7])
def test_velocity_and_acceleration_of_a_circle(speed, time):
    frame, (c, s) = PLANE.moving(circle(speed)), (np.cos(speed * time), np.sin(speed * time))
    assert at(frame_velocities, frame, time) == pytest.approx(
        [-0.15 * speed * s, 0.15 * speed * c, 0], abs=1e-10 * speed
    )
    # Second differences of a path far from slow cannot see more: eps / (window length)^2.
    allowed = max(1e-8 * speed**2, 1e-9)
    assert frame_acceleration(frame, time) == pytest.approx(
        [-0.15 * speed**2 * c, -0.15 * speed**2 * s, 0], abs=allowed
    )


def test_a_path_that_begins_at_zero_and_ends_is_never_left():
    knots = np.linspace(0, 1, 20)
    spline = CubicSpline(knots, np.column_stack([np.sin(knots), knots**2, 0 * knots]), extrapolate=False)
    frame = SPACE.moving(spline)
    for time in (0.0, 0.5, 1.0):
        assert at(frame_velocities, frame, time) == pytest.approx(spline(time, 1), rel=1e-9, abs=1e-9)


def test_the_users_velocity_is_taken():
    frame = SPACE.moving(lambda t: (t, 0, 1.5 * t**2), velocity=lambda t: (1, 0, 3 * t))
    assert at(frame_velocities, frame, 2.0).tolist() == [1, 0, 6]
    assert frame_acceleration(frame, 2.0) == pytest.approx([0, 0, 3], rel=1e-9)


@pytest.mark.parametrize("ground", [SPACE, PLANE])
def test_rotation_counts_from_time_zero(ground):
    frame = ground.moving(lambda t: (0, 0, 0), rotation=lambda t: 0.4 + 3 * t)
    assert at(frame_rotations, frame, 0.0) == pytest.approx(np.eye(3), abs=1e-15)
    assert at(frame_rotations, frame, 0.1) == pytest.approx(Rotation.from_euler("z", 0.3).as_matrix(), abs=1e-15)
    for time in (0.0, 0.1):
        assert at(frame_angular_velocities, frame, time) == pytest.approx([0, 0, 3], abs=1e-9)


def test_angular_velocity_is_in_world_axes():
    tilt = Rotation.from_rotvec([0.3, 0.2, 0.1])
    frame = SPACE.moving(lambda t: (0, 0, 0), rotation=lambda t: Rotation.from_rotvec([2 * t, 0, 0]) * tilt)
    assert at(frame_angular_velocities, frame, 0.7) == pytest.approx([2, 0, 0], abs=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PLANE.at((1, 2, 3)), r"position must have z = 0 in a planar model .*\[1.0, 2.0, 3.0\]"),
        (lambda: SPACE.moving(lambda t: (1, 2)), r"path of moving frame \d+ at t = 0 s must have shape"),
        (lambda: SPACE.moving(lambda t: (1, 2, np.nan)), r"path .* at t = 0 s must be finite"),
        (lambda: PLANE.moving(lambda t: (1, 2, 3)), r"path .* at t = 0 s must have z = 0"),
        (lambda: SPACE.moving(circle(1), velocity=lambda t: 1), r"velocity .* at t = 0 s must have shape"),
        (lambda: SPACE.moving(circle(1), rotation=lambda t: np.ones((3, 3))), "must be orthogonal"),
        (lambda: PLANE.moving(circle(1), rotation=lambda t: Rotation.from_euler("x", 1)), "about z"),
    ],
)
def test_bad_frames_are_refused_at_once(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_path_that_breaks_later_names_the_time():
    frame = SPACE.moving(lambda t: (1 if t < 0.5 else np.nan, 0, 0))
    with pytest.raises(ParameterError, match=r"path of moving frame \d+ at t = 0.75 s must be finite"):
        at(frame_positions, frame, 0.75)


def tumbling(time):
    """A turn about a changing axis, for one time or many."""
    t = np.asarray(time)
    return Rotation.from_rotvec(np.stack([np.sin(3 * t), 0.4 * t, 5 * t * t], axis=-1))


@pytest.mark.parametrize(
    ("ground", "rotation"),
    [
        (PLANE, lambda t: 0.4 + np.sin(7 * t)),  # takes many times at once
        (PLANE, lambda t: 0.4 + math.sin(7 * t)),
        (PLANE, lambda t: Rotation.from_euler("z", 0.4 + np.sin(7 * t))),
        (SPACE, lambda t: 0.4 + np.sin(7 * t)),
        (SPACE, tumbling),
        (SPACE, lambda t: tumbling(float(t))),
        (SPACE, lambda t: tumbling(float(t)).as_matrix()),
    ],
)
def test_turns_at_many_times_are_those_at_each(ground, rotation):
    frame = ground.moving(lambda t: (0, 0, 0), rotation=rotation)
    times = np.linspace(0, 1.3, 9)
    single = [at(frame_rotations, frame, float(time)) for time in times]
    assert frame_rotations(frame, times) == pytest.approx(np.array(single), abs=1e-14)
    spins = [at(frame_angular_velocities, frame, float(time)) for time in times]
    assert frame_angular_velocities(frame, times) == pytest.approx(np.array(spins), abs=1e-9)
    if ground is PLANE:
        assert frame_angular_velocities(frame, times)[:, 2] == pytest.approx(7 * np.cos(7 * times), abs=1e-9)


def test_turns_are_asked_for_once_where_the_function_takes_many_times():
    calls = []

    def counted(function):
        def call(time):
            calls.append(np.shape(time))
            return function(time)

        return call

    times = np.linspace(0.1, 1.3, 200)
    for rotation in (lambda t: np.sin(7 * t), tumbling):
        frame = SPACE.moving(lambda t: (0, 0, 0), rotation=counted(rotation))
        calls.clear()
        frame_angular_velocities(frame, times)
        assert len(calls) < 100


def test_a_refused_turn_among_many_names_its_time():
    frame = SPACE.moving(lambda t: (0, 0, 0), rotation=lambda t: t if t < 0.5 else np.nan)
    with pytest.raises(ParameterError, match=r"rotation of moving frame \d+ at t = 0.5 s must be finite"):
        frame_rotations(frame, np.linspace(0, 1, 11))
    tilting = PLANE.moving(lambda t: (0, 0, 0), rotation=lambda t: Rotation.from_euler("x", t))
    with pytest.raises(ParameterError, match=r"at t = 0\.1 s must rotate about z"):
        frame_rotations(tilting, np.linspace(0, 1, 11))


def test_a_velocity_that_is_not_the_paths_is_refused():
    words = r"velocity of .* at t = 0\.02 s it is \(0, 1, 0\), .* changes by \(2, "
    with pytest.raises(ParameterError, match=words):
        SPACE.moving(lambda t: (2 * t, 0, 0), velocity=lambda t: (2.0 * (t < 0.01), 1.0 * (t > 0.01), 0))
    SPACE.moving(lambda t: (abs(t - 0.005), 0, 0), velocity=lambda t: (1.0 if t > 0.005 else -1.0, 0, 0))
