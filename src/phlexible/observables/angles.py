"""Coordinates of joints over time, angles over full turns, and their rates (formulation, section 4)."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.bilinear import Row
from phlexible.interactions.coordinates import Coordinate
from phlexible.joints.joint import Joint
from phlexible.observables.run import Run
from phlexible.observables.vectors import world_rates, world_values


def angle(run: Run, joint: Joint) -> Array:
    """Angle of the second port relative to the first about the joint's axis, shape (N + 1,) [rad].

    Of a joint with two angles (``Universal``) shape (N + 1, 2). Zero at the initial pose, counted over
    full turns: the recorded rate says how many lie between two stored instants.

    Raises:
        ModelError: a joint without an angle, or with a port without orientation.
    """
    found = [coordinate_values(run, each) for each in _of_kind(run, joint, True)]
    return found[0] if len(found) == 1 else np.stack(found, axis=1)


def translation(run: Run, joint: Joint) -> Array:
    """Position of the second point along the joint's axis, shape (N + 1,) [m]; (N + 1, 2) of ``Planar``.

    Raises:
        ModelError: a joint whose points do not move relative to each other.
    """
    found = [coordinate_values(run, each) for each in _of_kind(run, joint, False)]
    return found[0] if len(found) == 1 else np.stack(found, axis=1)


def rate(run: Run, velocities: Array, joint: Joint) -> Array:
    """d(angle)/dt from flat velocities of the bodies, shape (N + 1,) or (N + 1, 2) [rad/s].

    Of a joint without an angle the rate of its position [m/s].

    Raises:
        ModelError: a joint without coordinates, or an angle of a port without orientation.
    """
    here = run.mechanism.joints[run.joint_index(joint)]
    has_angle = not here.coordinate_names or any("angle" in name for name in here.coordinate_names)
    return rates(run, velocities, joint, has_angle)


def rates(run: Run, velocities: Array, joint: Joint, of_angles: bool) -> Array:
    """Rates of the angles or of the positions of a joint, shape (N + 1,) or (N + 1, count)."""
    found = [coordinate_rates(run, velocities, each) for each in _of_kind(run, joint, of_angles)]
    return found[0] if len(found) == 1 else np.stack(found, axis=1)


def coordinate_values(run: Run, coordinate: Coordinate) -> Array:
    """A coordinate over time, shape (N + 1,) [rad or m]."""
    y = function_values(run, coordinate)
    wrapped = np.array([coordinate.value(row) for row in y.T])
    if not coordinate.is_angle:
        return wrapped
    change, time = coordinate_rates(run, run.recording.velocity, coordinate), run.recording.time
    steps = np.diff(time) * (change[1:] + change[:-1]) / 2
    expected = wrapped[0] + np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(np.unwrap(wrapped - expected) + expected)


def coordinate_rates(run: Run, velocities: Array, coordinate: Coordinate) -> Array:
    """Its rate from flat velocities of the bodies, shape (N + 1,) [rad/s or m/s]."""
    y = function_values(run, coordinate)
    changes = np.array([_change(run, velocities, function) for function in coordinate.functions()])
    gradients = np.array([coordinate.gradient(row) for row in y.T]).T
    return np.asarray((gradients * changes).sum(axis=0))


def function_values(run: Run, coordinate: Coordinate) -> Array:
    """y of a coordinate over time, shape (functions, N + 1)."""
    return np.array(
        [
            sum(
                t.coefficient * _dot(world_values(run, t.first), world_values(run, t.second)) for t in f.terms
            )
            for f in coordinate.functions()
        ]
    )


def _change(run: Run, velocities: Array, function: Row) -> Array:
    total = np.zeros(run.instants)
    for term in function.terms:
        a, b = world_values(run, term.first), world_values(run, term.second)
        da, db = (world_rates(run, vector, velocities) for vector in (term.first, term.second))
        total += term.coefficient * (_dot(da, b) + _dot(a, db))
    return total


def _of_kind(run: Run, joint: Joint, angles: bool) -> list[Coordinate]:
    here = run.mechanism.joints[run.joint_index(joint)]
    found = [each for each in here.coordinates(run.mechanism.dimension) if each.is_angle == angles]
    if not found:
        kind = "angle" if angles else "position"
        raise ModelError(
            f"{joint} has no {kind}; its coordinates: {', '.join(here.coordinate_names) or 'none'}"
        )
    return found


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ti,ti->t", a, b))
