"""Ground that moves, and functions of time at many times at once."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.algebra.user_derivatives import first_derivatives
from phlexible.description.ground import (
    Ground,
    frame_acceleration,
    frame_angular_velocities,
    frame_positions,
    frame_rotations,
    frame_velocities,
)
from phlexible.description.time_functions import ENOUGH, TimePath, vector_values_at
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


TIMES = np.linspace(0.0, 2.0, 101)


def test_a_numpy_function_is_called_once_for_all_times():
    calls = []

    def function(t):
        calls.append(t)
        return np.sin(t), t**2, 0.0

    values = vector_values_at(function, TIMES)
    assert values == pytest.approx(np.stack([np.sin(TIMES), TIMES**2, 0 * TIMES], axis=1), abs=1e-15)
    assert len(calls) == 1 + 4  # all at once, and four probe_indices


def test_checks_steps_and_recording_of_a_run_share_the_values_of_a_path():
    calls = []

    def path(t):
        calls.append((np.ravel(t)[0], np.size(t)))
        return 0.1 * np.sin(t), 0.0 * t, 0.0

    model = ph.Model(dimension=2)
    mass = model.add(ph.PointMass(1.0), "mass")
    model.connect(
        ph.Spherical(model.ground.moving(path, velocity=lambda t: (0.1 * np.cos(t), 0.0 * t, 0.0)), mass.origin)
    )
    calls.clear()
    motion = model.simulate(1.0, 1e-2)
    many = [call for call in calls if call[1] > 4]
    assert len(many) == len(set(many))
    assert motion.position(mass.origin)[:, 0] == pytest.approx(0.1 * np.sin(motion.time), abs=1e-15)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: (1.0 if t < 1 else 2.0, 0.0, 0.0),  # truth of an array
        lambda t: (t / np.max(t + 1.0), 0.0, 0.0),  # not elementwise: single calls differ
        lambda t: (np.where(t > 1.5, np.nan, 1.0), 0.0, 0.0),  # not finite
        lambda t: np.ones(3) * t,  # does not broadcast
        lambda t: (t, 0.0),  # two components
        lambda t: (float(t), 0.0, 0.0),
    ],
)
def test_other_functions_are_left_to_single_calls(function):
    assert vector_values_at(function, TIMES) is None


@pytest.mark.parametrize("takes_arrays", [True, False])
def test_a_function_that_is_asked_step_by_step_is_known_after_some_times(takes_arrays):
    """Then it is called once a step, with the same digits; where it has no number then, single calls say so."""
    calls = []

    def function(t):
        calls.append(t)
        return (np.sin(3 * t) if takes_arrays else float(np.sin(3 * t))), 0.0, 0.5 / (1.0 - t)

    steps = [np.array([t]) for t in TIMES[:20]]
    values = [vector_values_at(function, time) for time in steps]
    before = len(calls)
    assert before == (2 * ENOUGH + 20 - ENOUGH if takes_arrays else ENOUGH)
    if takes_arrays:
        again = [vector_values_at(lambda t: function(t), time) for time in steps]
        assert np.array_equal(values, again) and len(calls) > before + 25
        with np.errstate(divide="ignore"):
            assert vector_values_at(function, np.array([1.0])) is None
    else:
        assert all(value is None for value in values)


def test_equal_functions_share_their_values():
    times = np.linspace(0.0, 0.01, 11)
    first, equal, other = (vector_values_at(circle(speed), times) for speed in (150.0, 150.0, 149.0))
    assert np.shares_memory(first, equal) and not first.flags.writeable
    assert np.allclose(other[:, 0], 0.15 * np.cos(149.0 * times), rtol=1e-12, atol=0.0)


@dataclass  # with equality, and so without a hash
class Line:
    speed: float

    def __call__(self, t):
        return self.speed * t, 0.0, 0.0


def test_a_function_without_a_hash_moves_a_frame():
    model = ph.Model(dimension=2)
    ball = model.add(ph.PointMass(1.0), "ball")
    model.connect(ph.Spherical(model.ground.moving(Line(2.0)), ball.origin))
    motion = model.simulate(0.1, 1e-2, progress=False)
    assert np.allclose(motion.position(ball.origin)[:, 0], 2.0 * motion.time, rtol=0.0, atol=1e-14)


def test_velocities_of_a_path_that_ends():
    def path(t):
        if np.any(np.asarray(t) > 2.0):
            raise ValueError("the table ends at 2 s")
        return np.stack([np.sin(t), np.cos(t), 0 * np.asarray(t)], axis=-1)

    assert first_derivatives(path, TIMES)[:, 0] == pytest.approx(np.cos(TIMES), abs=1e-8)


def test_a_value_has_the_same_digits_among_many_times_and_alone():
    """Powers and sums of arrays may round otherwise than those of numbers."""

    def cube(t):
        return 1.7 * t**3

    frame = Ground(3).moving(lambda t: (cube(t), 0.0, t**2), lambda t: cube(t))
    path = TimePath(cube, None, "path")
    for values in (
        lambda times: vector_values_at(lambda t: (cube(t), 0.0, 0.0), times),
        lambda times: frame_velocities(frame, times),
        lambda times: frame_rotations(frame, times),
        path.at_times,
        path.rates_at,
    ):
        alone = np.concatenate([values(TIMES[k : k + 1]) for k in range(len(TIMES))])
        assert np.array_equal(values(TIMES), alone)
