"""Where points are and how bodies are turned, over time."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.bilinear import PointOf
from phlexible.observables.run import Run
from phlexible.observables.vectors import world_values
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody, Port


def position(run: Run, port: Port) -> Array:
    """World position of an attachment or of a point of the ground, shape (N + 1, 3) [m]."""
    return np.array(world_values(run, PointOf(port)))


def displacement(run: Run, attachment: Attachment) -> Array:
    """Elastic displacement in the body frame, shape (N + 1, 3) [m]; zero on rigid bodies.

    Of a string: from its place at t = 0, world axes.
    """
    if attachment.placed.curve is not None:
        return world_values(run, PointOf(attachment)) - attachment.initial_position()
    return np.asarray(run.elastic(run.body_index(attachment)) @ attachment.point.shapes.T)


def elastic_coordinates(run: Run, placed: PlacedBody) -> Array:
    """eta of a body, shape (N + 1, n)."""
    return run.elastic(run.body_index(placed)).copy()


def rotation(run: Run, target: PlacedBody | Port) -> Array:
    """Body to world, shape (N + 1, 3, 3).

    Of a body: its frame. Of an attachment: the material around it, which has turned in the frame
    by the small rotation vector ``rotations @ eta`` (its exact exponential). Of a moving frame:
    its turn since t = 0.

    Raises:
        ModelError: a point mass, which has no orientation.
    """
    if isinstance(target, MovingFrame):
        turns = np.broadcast_to(np.eye(3), (run.instants, 3, 3))
        return turns if target.is_fixed else run.recording.frame_rotations[:, run.frame_index(target)]
    frames = run.recording.rotation[:, oriented_body(run, target)]
    if isinstance(target, PlacedBody) or not run.mechanism.bodies[run.body_index(target)].data.elastic_count:
        return frames.copy()
    from scipy.spatial.transform import Rotation

    return np.asarray(frames @ Rotation.from_rotvec(small_rotation(run, target)).as_matrix())


def small_rotation(run: Run, attachment: Attachment) -> Array:
    """Rotation vector of the material in the body frame, shape (N + 1, 3) [rad]."""
    rotations = attachment.point.rotations
    if rotations is None:
        return np.zeros((run.instants, 3))
    return np.asarray(run.elastic(run.body_index(attachment)) @ rotations.T)


def oriented_body(run: Run, target: PlacedBody | Attachment) -> int:
    """Index of the body.

    Raises:
        ModelError: a point mass, which has no orientation.
    """
    index = run.body_index(target)
    if not run.mechanism.bodies[index].data.rotates:
        placed = run.mechanism.bodies[index]
        kind = "point mass" if placed.curve is None else "string"
        raise ModelError(f"{placed.name} is a {kind} and has no orientation")
    return index
