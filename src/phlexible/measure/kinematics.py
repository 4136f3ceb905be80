"""Poses, velocities and coordinates of joints over time."""

from collections.abc import Sequence
from warnings import warn

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.errors import ModelError
from phlexible.state.recorded_run import RecordedRun

# Where points are and how bodies are turned, over time.

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
        raise ModelError(f"attachment must be one such as beam.end, got {attachment!r}")
    if attachment.placed.nodes is not None:
        return position(run, attachment) - attachment.initial_position()
    return np.asarray(run.elastic(run.body_index(attachment, "attachment")) @ attachment.point.shapes.T)


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
    index = run.body_index(target, "target")
    placed = run.system.bodies[index]
    if not placed.data.rotates:
        raise ModelError(f"{placed.name} is a {placed.kind} and has no orientation")
    return index


# Velocities of points and bodies over time, in world axes.


def velocity(run: RecordedRun, port: Port) -> Array:
    """V + R (w x rho + P deta/dt) of an attachment, shape (N + 1, 3) [m/s]."""
    weights, vectors = run.point(port)
    return np.asarray(np.einsum("k,tki->ti", weights, vectors.rates(run.instants, run.velocities)))


def angular_velocity(run: RecordedRun, target: PlacedBody | Port) -> Array:
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
    turning, elastic_rates = run.spin(index)
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


# Coordinates of joints over time, angles over full turns, and their rates (docs/theory.md, 8).


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


def rate(run: RecordedRun, joint: Joint) -> Array:
    """d(angle)/dt, shape (N + 1,) or (N + 1, 2) [rad/s].

    Of a joint without an angle the rate of its position [m/s].

    Raises:
        ModelError: a joint without coordinates, or an angle of a port without orientation.
    """
    here = run.mechanism.joints[run.joint_index(joint)]
    has_angle = not here.coordinate_names or any("angle" in name for name in here.coordinate_names)
    return rates(run, joint, has_angle)


def rates(run: RecordedRun, joint: Joint, of_angles: bool) -> Array:
    """Rates of the angles or of the positions of a joint, shape (N + 1,) or (N + 1, count)."""
    return _stacked([coordinate_rates(run, each, run.velocities) for each in _of_kind(run, joint, of_angles)])


def coordinate_values(run: RecordedRun, coordinate: Coordinate) -> Array:
    """A coordinate over time, shape (N + 1,) [rad or m]."""
    y = run.system.coordinate_functions(coordinate).values(run.instants)
    wrapped = np.array([coordinate.value(row) for row in y])
    if not coordinate.is_angle:
        return wrapped
    change, time = coordinate_rates(run, coordinate, run.recording.velocity), run.time
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


def coordinate_rates(run: RecordedRun, coordinate: Coordinate, velocities: Array) -> Array:
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
        raise ModelError(
            f"joint {joint} has no {kind}; its coordinates: {', '.join(here.coordinate_names) or 'none'}"
        )
    return found


def _stacked(found: list[Array]) -> Array:
    return found[0] if len(found) == 1 else np.stack(found, axis=1)
