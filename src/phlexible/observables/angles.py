"""Joint angles over full turns, and their rates (formulation, section 4)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.joints.bilinear import AXES, DirectionOf, perpendicular_axes
from phlexible.joints.cylindrical import Cylindrical
from phlexible.joints.joint import Joint
from phlexible.joints.revolute import Revolute
from phlexible.observables.run import Run
from phlexible.observables.vectors import world_rates, world_values


@dataclass(frozen=True, eq=False)
class AngleDirections:
    """cos = a . b1 and sin = b1 . a2, where a2 = axis x a and b1 is what a was at the initial pose."""

    a: DirectionOf
    a2: DirectionOf
    b: DirectionOf


def angle(run: Run, joint: Joint) -> Array:
    """Angle of the second port relative to the first about the joint's axis, shape (N + 1,) [rad].

    Zero at the initial pose, counted over full turns: the recorded rate says how many lie between two
    stored instants.

    Raises:
        ModelError: a joint without an angle, or with a port without orientation.
    """
    cosine, sine = _cosine_and_sine(run, joint)
    wrapped = np.arctan2(sine, cosine)
    rates, time = rate(run, run.recording.velocity, joint), run.recording.time
    steps = np.diff(time) * (rates[1:] + rates[:-1]) / 2
    expected = wrapped[0] + np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(np.unwrap(wrapped - expected) + expected)


def rate(run: Run, velocities: Array, joint: Joint) -> Array:
    """d(angle)/dt from flat velocities of the bodies, shape (N + 1,) [rad/s].

    Raises:
        ModelError: a joint without an angle, or with a port without orientation.
    """
    directions = _directions(run, joint)
    a, a2, b = (world_values(run, d) for d in (directions.a, directions.a2, directions.b))
    da, da2, db = (world_rates(run, d, velocities) for d in (directions.a, directions.a2, directions.b))
    cosine, sine = _dot(a, b), _dot(a2, b)
    change = cosine * (_dot(da2, b) + _dot(a2, db)) - sine * (_dot(da, b) + _dot(a, db))
    return np.asarray(change / (cosine**2 + sine**2))


def _cosine_and_sine(run: Run, joint: Joint) -> tuple[Array, Array]:
    directions = _directions(run, joint)
    a, a2, b = (world_values(run, d) for d in (directions.a, directions.a2, directions.b))
    return _dot(a, b), _dot(a2, b)


def _directions(run: Run, joint: Joint) -> AngleDirections:
    here = run.mechanism.joints[run.joint_index(joint)]
    axis = _axis(here, run.mechanism.dimension)
    for port in (here.first, here.second):
        if not port.has_orientation:
            raise ModelError(f"{here} has no angle: {port} has no orientation (a point mass or a string)")
    across, along = perpendicular_axes(axis)
    return AngleDirections(
        DirectionOf(here.first, across), DirectionOf(here.first, along), DirectionOf(here.second, across)
    )


def _axis(joint: Joint, dimension: int) -> Array:
    if not isinstance(joint, Revolute | Cylindrical):
        raise ModelError(f"{joint} has no angle; Revolute and Cylindrical joints have one")
    if dimension == 3:
        return joint.unit_axis()
    upward: Array = AXES[2]
    return -upward if joint.unit_axis()[2] < 0 else upward


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("ti,ti->t", a, b))
