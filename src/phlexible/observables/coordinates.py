"""Coordinates of joints over time, angles over full turns, and their rates (docs/theory.md, 8)."""

from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import ModelError
from phlexible.interactions.coordinates import Coordinate
from phlexible.joints.joint import Joint
from phlexible.observables.run import RecordedRun


def angle(run: RecordedRun, joint: Joint) -> Array:
    """Angle of the second port relative to the first about the joint's axis, shape (N + 1,) [rad].

    Of a joint with two angles (``Universal``) shape (N + 1, 2). Zero at the initial pose, counted over
    full turns: the recorded rate says how many lie between two stored instants.

    Raises:
        ModelError: a joint without an angle, or with a port without orientation.
    """
    return _stacked([coordinate_values(run, each) for each in _of_kind(run, joint, True)])


def translation(run: RecordedRun, joint: Joint) -> Array:
    """Position of the second point along the joint's axis, shape (N + 1,) [m]; (N + 1, 2) of ``Planar``.

    Raises:
        ModelError: a joint whose points do not move relative to each other.
    """
    return _stacked([coordinate_values(run, each) for each in _of_kind(run, joint, False)])


def rate(run: RecordedRun, velocities: Array, joint: Joint) -> Array:
    """d(angle)/dt from flat velocities of the bodies, shape (N + 1,) or (N + 1, 2) [rad/s].

    Of a joint without an angle the rate of its position [m/s].

    Raises:
        ModelError: a joint without coordinates, or an angle of a port without orientation.
    """
    here = run.mechanism.joints[run.joint_index(joint)]
    has_angle = not here.coordinate_names or any("angle" in name for name in here.coordinate_names)
    return rates(run, velocities, joint, has_angle)


def rates(run: RecordedRun, velocities: Array, joint: Joint, of_angles: bool) -> Array:
    """Rates of the angles or of the positions of a joint, shape (N + 1,) or (N + 1, count)."""
    return _stacked([coordinate_rates(run, velocities, each) for each in _of_kind(run, joint, of_angles)])


def coordinate_values(run: RecordedRun, coordinate: Coordinate) -> Array:
    """A coordinate over time, shape (N + 1,) [rad or m]."""
    y = run.system.coordinate_functions(coordinate).values(run.instants)
    wrapped = np.array([coordinate.value(row) for row in y])
    if not coordinate.is_angle:
        return wrapped
    change, time = coordinate_rates(run, run.recording.velocity, coordinate), run.recording.time
    steps = np.diff(time) * (change[1:] + change[:-1]) / 2
    expected = wrapped[0] + np.concatenate([[0.0], np.cumsum(steps)])
    turns = np.round((np.unwrap(wrapped - expected) + expected - wrapped) / (2 * np.pi))
    return np.asarray(wrapped + 2 * np.pi * turns)


def ranges_of(run: RecordedRun, coordinates: Sequence[Coordinate], instants: IntArray) -> Array:
    """How far each of many coordinates goes between chosen instants, shape (count,) [rad or m].

    All of them at once, and roughly: the times between are not looked at, and angles take the shorter way.
    """
    functions = [coordinate.functions() for coordinate in coordinates]
    y = run.system.functions([row for rows in functions for row in rows]).values(run.instants.at(instants))
    begins = np.cumsum([0, *(len(rows) for rows in functions)])
    found = []
    for coordinate, begin, end in zip(coordinates, begins[:-1], begins[1:], strict=True):
        values = np.array([coordinate.value(row) for row in y[:, begin:end]])
        found.append(np.ptp(np.unwrap(values) if coordinate.is_angle else values))
    return np.array(found)


def coordinate_rates(run: RecordedRun, velocities: Array, coordinate: Coordinate) -> Array:
    """Its rate from flat velocities of the bodies, shape (N + 1,) [rad/s or m/s]."""
    functions = run.system.coordinate_functions(coordinate)
    changes = functions.rates(run.instants, velocities)
    return np.asarray((coordinate_gradients(run, coordinate) * changes).sum(axis=1))


def coordinate_gradients(run: RecordedRun, coordinate: Coordinate) -> Array:
    """d theta/dy of the functions y of a coordinate, shape (N + 1, functions)."""
    y = run.system.coordinate_functions(coordinate).values(run.instants)
    return np.array([coordinate.gradient(row) for row in y])


def _of_kind(run: RecordedRun, joint: Joint, angles: bool) -> list[Coordinate]:
    here = run.mechanism.joints[run.joint_index(joint)]
    found = [each for each in here.coordinates(run.system.dimension) if each.is_angle == angles]
    if not found:
        kind = "angle" if angles else "position"
        raise ModelError(f"{joint} has no {kind}; its coordinates: {', '.join(here.coordinate_names) or 'none'}")
    return found


def _stacked(found: list[Array]) -> Array:
    return found[0] if len(found) == 1 else np.stack(found, axis=1)
