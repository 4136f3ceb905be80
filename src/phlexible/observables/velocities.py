"""Velocities of points and bodies over time, in world axes, from given flat velocities of the bodies."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.observables.poses import oriented_body, small_rotation
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody, Port


def velocity(run: RecordedRun, velocities: Array, port: Port) -> Array:
    """V + R (w x rho + P deta/dt) of an attachment, shape (N + 1, 3) [m/s]."""
    weights, vectors = run.point(port)
    return np.asarray(np.einsum("k,tki->ti", weights, vectors.rates(run.instants, velocities)))


def angular_velocity(run: RecordedRun, velocities: Array, target: PlacedBody | Port) -> Array:
    """Rate of turning of what ``rotation`` gives, shape (N + 1, 3) [rad/s].

    At an attachment of a flexible body it is R (w + L deta/dt), where L turns the rate of the small
    rotation vector into an angular velocity.

    Raises:
        ModelError: a point mass, which has no orientation.
    """
    if isinstance(target, MovingFrame):
        if target.is_fixed:
            return np.zeros((run.count, 3))
        return run.recording.frame_angular_velocities[:, run.frame_index(target)].copy()
    index = oriented_body(run, target)
    turning, elastic_rates = run.spin(index, velocities)
    if isinstance(target, Attachment) and target.point.rotations is not None:
        rates = elastic_rates @ target.point.rotations.T
        turning = turning + turning_of_rotation_vector(small_rotation(run, target), rates)
    return np.asarray(np.einsum("tij,tj->ti", run.recording.rotation[:, index], turning))


def turning_of_rotation_vector(vectors: Array, rates: Array) -> Array:
    """Angular velocity of exp([theta]) in the axes that theta is given in, shapes (T, 3) [rad/s].

    ``d theta/dt + b theta x d theta/dt + c theta x (theta x d theta/dt)`` with
    b = (1 - cos t) / t^2 and c = (t - sin t) / t^3, t = |theta|.
    """
    size = np.linalg.norm(vectors, axis=1)[:, None]
    half = np.sinc(size / (2 * np.pi))  # sin(t/2) / (t/2)
    b = half**2 / 2
    safe = np.where(size > 1e-2, size, 1.0)
    c = np.where(size > 1e-2, (safe - np.sin(safe)) / safe**3, 1 / 6 - size**2 / 120 + size**4 / 5040)
    first = np.cross(vectors, rates)
    return np.asarray(rates + b * first + c * np.cross(vectors, first))
