"""Where points are and how bodies are turned, over time."""

from warnings import warn

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody, Port

NEAR, ALIKE, DIFFERENT = 0.1, 50.0, 0.01
"""Of a body that hardly moves, by its size, two displacements not too far apart that are not the same."""


def position(run: RecordedRun, port: Port) -> Array:
    """World position of an attachment or of a point of the ground, shape (N + 1, 3) [m]."""
    weights, vectors = run.point(port)
    return np.asarray(np.einsum("k,tki->ti", weights, vectors.places(run.instants)))


def elastic_displacement(run: RecordedRun, attachment: Attachment) -> Array:
    """How far a point has moved in the frame of its body, body axes, shape (N + 1, 3) [m]; zero on rigid bodies.

    Of a string: from its place at t = 0, world axes.

    Raises:
        ModelError: no attachment, or one of another model.
    """
    if not isinstance(attachment, Attachment):
        raise ModelError(f"expected an attachment such as beam.end, got {attachment!r}")
    if attachment.placed.nodes is not None:
        return position(run, attachment) - attachment.initial_position()
    return np.asarray(run.elastic(run.body_index(attachment)) @ attachment.point.shapes.T)


def ambiguous_displacement(run: RecordedRun, attachment: Attachment) -> Array:
    """The elastic displacement by its old name, which reads like the displacement of the point in the world.

    Warns where one could be taken for the other: on a body that stays about where it is, where they differ by more
    than 1 %.
    """
    elastic = elastic_displacement(run, attachment)
    moved = position(run, attachment) - attachment.initial_position()
    far, bent = float(np.abs(moved).max()), float(np.abs(elastic).max())
    is_near = far < min(NEAR * attachment.placed.data.size, ALIKE * bent)
    if is_near and np.abs(moved - elastic).max() > DIFFERENT * max(far, bent):
        warn(
            f"displacement({attachment}) is the elastic displacement in the frame of {attachment.placed.name}, in"
            f" body axes (at most {bent:.3g} m); in the world the point moves by up to {far:.3g} m from its initial"
            " place: Displacement(port, direction) measures that. Write elastic_displacement for what you get here;"
            " the old name goes with the next release",
            FutureWarning,
            stacklevel=3,
        )
    return elastic


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
