"""Functions of time at many times at once: used where they allow it, never where they differ."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.algebra.user_derivatives import first_derivatives
from phlexible.description.ground import Ground, frame_rotations, frame_velocities
from phlexible.description.time_functions import ENOUGH, TimePath, vector_values_at

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
