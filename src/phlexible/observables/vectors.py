"""World vectors of joints over time: points and directions, their rates and their Jacobians.

A vector of a body is ``R local`` (plus r for a point) with ``local = constant + slope eta`` in body
axes; so ``rate = R (v + w x local + slope deta/dt)``, without v for a direction (formulation, section 4).
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.interactions.bilinear import DirectionOf, PointOf, Vector, WorldAxis
from phlexible.interactions.time_paths import Timed, TimeFactor
from phlexible.observables.inertia import cross_matrices
from phlexible.observables.run import Run
from phlexible.ports.attachments import Attachment, MovingFrame


@dataclass(frozen=True, eq=False)
class BodyVector:
    """A vector that moves with a body.

    Attributes:
        body: index of the body.
        constant: undeformed vector in body axes, shape (3,).
        slope: its derivative by eta, shape (3, n).
        is_point: True for a point, False for a direction.
    """

    body: int
    constant: Array
    slope: Array
    is_point: bool


def body_vector(run: Run, vector: Vector) -> BodyVector | None:
    """The vector in body axes; None where it is not on a body."""
    match vector:
        case PointOf(port=Attachment() as port):
            return BodyVector(run.body_index(port), port.point.position, port.point.shapes, True)
        case DirectionOf(port=Attachment() as port, axis=axis):
            direction = port.placed.rotation.T @ axis
            shapes = port.point.direction_shapes(direction)
            return BodyVector(run.body_index(port), direction, shapes, False)
        case _:
            return None


def world_values(run: Run, vector: Vector) -> Array:
    """The vector in world axes, shape (T, 3)."""
    if (moving := body_vector(run, vector)) is not None:
        values = _turned(run, moving.body, _local(run, moving))
        return run.recording.position[:, moving.body] + values if moving.is_point else values
    match vector:
        case PointOf(port=MovingFrame(is_fixed=False) as frame):
            return run.recording.frames[:, run.frame_index(frame)]
        case DirectionOf(port=MovingFrame(is_fixed=False) as frame, axis=axis):
            return np.asarray(run.recording.frame_rotations[:, run.frame_index(frame)] @ axis)
    return np.broadcast_to(_constant(vector), (run.instants, 3))


def world_rates(run: Run, vector: Vector, velocities: Array) -> Array:
    """d/dt of the vector for flat velocities of the bodies, shape (T, 3)."""
    if (moving := body_vector(run, vector)) is None:
        return prescribed_rates(run, vector)
    twist = run.twist(moving.body, velocities)
    rates = np.cross(twist.angular, _local(run, moving)) + twist.elastic @ moving.slope.T
    return _turned(run, moving.body, rates + twist.linear if moving.is_point else rates)


def prescribed_rates(run: Run, vector: Vector) -> Array:
    """The part of d/dt of the vector that no velocity of a body changes, shape (T, 3)."""
    rec = run.recording
    match vector:
        case PointOf(port=MovingFrame(is_fixed=False) as frame):
            return rec.frame_velocities[:, run.frame_index(frame)]
        case DirectionOf(port=MovingFrame(is_fixed=False) as frame):
            turning = rec.frame_angular_velocities[:, run.frame_index(frame)]
            return np.cross(turning, world_values(run, vector))
    return np.zeros((run.instants, 3))


def timed_values(run: Run, timed: Timed) -> tuple[Array, Array]:
    """A prescribed factor or offset and its rate as they were recorded, each of shape (T,)."""
    drive = next(k for k, drive in enumerate(run.mechanism.drives) if drive.path is timed.path)
    path, rate = run.recording.paths[:, drive], run.recording.path_rates[:, drive]
    match timed.factor:
        case TimeFactor.COSINE:
            return np.cos(path), -np.sin(path) * rate
        case TimeFactor.SINE:
            return np.sin(path), np.cos(path) * rate
        case TimeFactor.VALUE:
            return path, rate


def jacobians(run: Run, moving: BodyVector) -> Array:
    """d(vector)/d(nu of its body) in world axes, shape (T, 3, velocity count of the body)."""
    data = run.mechanism.bodies[moving.body].data
    result = np.zeros((run.instants, 3, data.velocity_count))
    if moving.is_point:
        result[:, :, : len(data.linear_axes)] = np.eye(3)[:, data.linear_axes]
    lever = -cross_matrices(_local(run, moving))
    result[:, :, len(data.linear_axes) : data.rigid_count] = lever[:, :, list(data.rotation_axes)]
    result[:, :, data.rigid_count :] = moving.slope
    return run.recording.rotation[:, moving.body] @ result


def _local(run: Run, moving: BodyVector) -> Array:
    return np.asarray(moving.constant + run.elastic(moving.body) @ moving.slope.T)


def _turned(run: Run, body: int, vectors: Array) -> Array:
    return np.asarray(np.einsum("tij,tj->ti", run.recording.rotation[:, body], vectors))


def _constant(vector: Vector) -> Array:
    match vector:
        case PointOf(port=port):
            return port.initial_position()
        case DirectionOf(axis=axis) | WorldAxis(axis=axis):
            return axis
