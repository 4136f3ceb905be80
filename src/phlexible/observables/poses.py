"""Where points are and how bodies are turned, over time."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody, Port


def position(run: RecordedRun, port: Port) -> Array:
    """World position of an attachment or of a point of the ground, shape (N + 1, 3) [m]."""
    weights, vectors = run.point(port)
    return np.asarray(np.einsum("k,tki->ti", weights, vectors.places(run.instants)))


def displacement(run: RecordedRun, attachment: Attachment) -> Array:
    """Elastic displacement in the body frame, shape (N + 1, 3) [m]; zero on rigid bodies.

    Of a string: from its place at t = 0, world axes.

    Raises:
        ModelError: no attachment, or one of another model.
    """
    if not isinstance(attachment, Attachment):
        raise ModelError(f"expected an attachment such as beam.end, got {attachment!r}")
    if attachment.placed.nodes is not None:
        return position(run, attachment) - attachment.initial_position()
    return np.asarray(run.elastic(run.body_index(attachment)) @ attachment.point.shapes.T)


def elastic_coordinates(run: RecordedRun, placed: PlacedBody) -> Array:
    """eta of a body, shape (N + 1, n); of a string the positions of its nodes."""
    return run.elastic(run.body_index(placed)).copy()


def rotation(run: RecordedRun, target: PlacedBody | Port) -> Array:
    """Body to world, shape (N + 1, 3, 3).

    Of a body: its frame. Of an attachment: the material around it, which has turned in the frame
    by the small rotation vector ``rotations @ eta`` (its exact exponential). Of a moving frame:
    its turn since t = 0.

    Raises:
        ModelError: a point mass, which has no orientation.
    """
    if isinstance(target, MovingFrame):
        turns = np.broadcast_to(np.eye(3), (run.count, 3, 3))
        return turns if target.is_fixed else run.recording.frame_rotations[:, run.frame_index(target)]
    index = oriented_body(run, target)
    frames = run.recording.rotation[:, index]
    if isinstance(target, PlacedBody) or not run.system.frames[index].elastic_count:
        return frames.copy()
    from scipy.spatial.transform import Rotation

    return np.asarray(frames @ Rotation.from_rotvec(small_rotation(run, target)).as_matrix())


def small_rotation(run: RecordedRun, attachment: Attachment) -> Array:
    """Rotation vector of the material in the body frame, shape (N + 1, 3) [rad]."""
    rotations = attachment.point.rotations
    if rotations is None:
        return np.zeros((run.count, 3))
    return np.asarray(run.elastic(run.body_index(attachment)) @ rotations.T)


def oriented_body(run: RecordedRun, target: PlacedBody | Attachment) -> int:
    """Index of the body.

    Raises:
        ModelError: a point mass, which has no orientation.
    """
    index = run.body_index(target)
    placed = run.system.bodies[index]
    if not placed.data.rotates:
        raise ModelError(f"{placed.name} is a {placed.kind} and has no orientation")
    return index
