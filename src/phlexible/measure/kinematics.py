"""Poses, velocities and coordinates of joints over time."""

from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.number_tape import sine_rest_quotient, versine_quotient
from phlexible.algebra.rotations import cross, rotation_vector_matrices
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError
from phlexible.state.recorded_run import RecordedRun

AT_ITS_PATH = 1e-6  # turns

# Where points are and how bodies are turned, over time.


def elastic_coordinates(run: RecordedRun, placed: PlacedBody) -> Array:
    """Return the elastic coordinates of a body (``placed``) at all recorded instants of a run, shape (instants,
    n). For a string, soft body or shell they are its nodal vectors in world axes. The array is a copy."""
    return run.elastic(run.body_index(placed)).copy()


def rotation(run: RecordedRun, target: PlacedBody | Port) -> Array:
    """Return the rotation matrices from body axes to world axes at all instants of a run, shape (instants, 3, 3).
    ``target`` is a body (its frame), a point of a flexible body (frame times the small elastic rotation there), or
    a frame on the ground (its rotation since the start). ModelError is raised for points without orientation.

    Of a body: its frame. Of an attachment: the material around it, which has turned in the frame
    by the small rotation vector ``rotations @ eta`` (its exact exponential). Of a moving frame:
    its turn since t = 0.

    Raises:
        ModelError: a point mass, which has no orientation.
    """
    if isinstance(target, MovingFrame):
        turns = np.broadcast_to(np.eye(3), (run.count, 3, 3))
        return turns if target.is_fixed else run.recording.frame_rotations[:, run.frame_index(target)]
    index = oriented_body_index(run, target)
    frames = run.recording.rotation[:, index]
    if isinstance(target, PlacedBody) or not run.system.frames[index].elastic_count:
        return frames.copy()
    return np.asarray(frames @ rotation_vector_matrices(small_rotation(run, target)))


def small_rotation(run: RecordedRun, attachment: Attachment) -> Array:
    """Return the small rotation vector of the material around a point of a body (``attachment``), at all instants
    of a run. It is relative to the body's frame, shape (instants, 3) [rad], and zero on a rigid body and for
    points without orientation."""
    rotations = attachment.point.rotations
    if rotations is None:
        return np.zeros((run.count, 3))
    return np.asarray(run.elastic(run.body_index(attachment)) @ rotations.T)


def oriented_body_index(run: RecordedRun, target: PlacedBody | Attachment) -> int:
    """Return the index in a run of the body that ``target`` is, or on which the point ``target`` is. ModelError is
    raised if this body has no orientation (a point mass or string).

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
    """Return the velocity of a point (``port``) of a body or of the ground at all recorded instants of a run,
    shape (instants, 3) [m/s]. It is in world axes and computed from velocities that were projected so that they
    satisfy the joints."""
    weights, vectors = run.point(port)
    return np.asarray(np.einsum("k,tki->ti", weights, vectors.rates(run.instants, run.velocities)))


def angular_velocity(run: RecordedRun, target: PlacedBody | Port) -> Array:
    """Return the angular velocity of the ``target`` in world axes at all instants of a run, shape (instants, 3)
    [rad/s]. The target is a body, a point of a body (for the material around it), or a frame on the ground.
    ModelError is raised for points without orientation.

    At an attachment of a flexible body it is R (w + L deta/dt), where L turns the rate of the small
    rotation vector into an angular velocity.

    Raises:
        ModelError: a point mass, which has no orientation.
    """
    if isinstance(target, MovingFrame):
        if target.is_fixed:
            return np.zeros((run.count, 3))
        return run.recording.frame_angular_velocities[:, run.frame_index(target)].copy()
    index = oriented_body_index(run, target)
    turning, elastic_rates = run.spin(index)
    if isinstance(target, Attachment) and target.point.rotations is not None:
        rates = elastic_rates @ target.point.rotations.T
        turning = turning + rotation_vector_spin(small_rotation(run, target), rates)
    return np.asarray(np.einsum("tij,tj->ti", run.recording.rotation[:, index], turning))


def rotation_vector_spin(vectors: Array, rates: Array) -> Array:
    """Return the angular velocity, shape (instants, 3) [rad/s], of the rotation exp([theta]x). It follows from
    rotation vectors theta and their time derivatives ``rates``, shape (instants, 3) each.

    ``d theta/dt + b theta x d theta/dt + c theta x (theta x d theta/dt)`` with
    b = (1 - cos t) / t^2 and c = (t - sin t) / t^3, t = |theta|.
    """
    square = (vectors * vectors).sum(axis=1)[:, None]
    first = cross(vectors, rates)
    return np.asarray(rates + versine_quotient(square) * first + sine_rest_quotient(square) * cross(vectors, first))


# Coordinates of joints over time, angles over full turns, and their rates (docs/theory.md, 8).


def coordinates_of(run: RecordedRun, joint: Joint) -> tuple[Coordinate, ...]:
    """Return the coordinates (angles, displacements) that a joint leaves free, as the run's model has them.
    ``joint`` may also be the corresponding joint in a copy of that model.

    Raises:
        ModelError: a joint of another model.
    """
    return run.mechanism.joints[run.joint_index(joint)].coordinates(run.system.dimension)


def coordinate_values(run: RecordedRun, joint: Joint, coordinate: Coordinate) -> Array:
    """Return the values of a ``coordinate`` of a ``joint`` at all recorded instants of a run, shape (instants,)
    [rad or m]. An angle has the full turns that force elements along it count. Without one it starts between -pi
    and pi and then continues over full turns, which are counted by its rates, or by the function of time of a drive
    that it follows.

    Turns of an angle that is at its path are those of the path: rates at the ends of a step that was halved tell
    little of how far a fast drive turned in it. They count turns of motions from files, which keep no functions.
    """
    if (values := run.continued_values(coordinate)) is not None:
        return values
    y = run.system.coordinate_functions(coordinate).values(run.instants)
    wrapped = np.asarray(coordinate.value(y.T))
    own = run.mechanism.joints[run.joint_index(joint)]
    if (counter := run.system.turn_counters.get((own, coordinate.name))) is not None:
        return run.angle_over_turns(wrapped, run.recording.theta[:, counter])
    if not coordinate.is_angle or run.count == 1:
        return wrapped
    paths = [x.path for x in run.mechanism.drives if (x.joint, x.coordinate) == (own, coordinate.name)]
    turns = _turns_to_path(paths[0], wrapped, run.time) if paths else None
    if turns is not None:
        return np.asarray(wrapped + 2 * np.pi * (turns - turns[0]))
    return over_full_turns(wrapped, coordinate_rates(run, coordinate, run.recording.velocity), run.time)


def _turns_to_path(path: TimePath, wrapped: Array, time: Array) -> Array | None:
    """Return the numbers n of full turns by which a prescribed angle ``path`` differs from the angles ``wrapped``,
    shape (instants,). ``wrapped`` is between -pi and pi; ``path`` is a function of the instants ``time`` [s].
    Return None if ``wrapped`` + 2 pi n still differs from ``path`` by more than 1e-6 turns, or if ``path`` has no
    function (motions from files)."""
    try:
        turns = (path.at_times(time) - wrapped) / (2 * np.pi)
    except ModelError:
        return None
    whole = np.round(turns)
    return whole if np.abs(turns - whole).max() <= AT_ITS_PATH else None


def over_full_turns(wrapped: Array, rate: Array, time: Array) -> Array:
    """Return continuous angles [rad] from the angles ``wrapped`` between -pi and pi, shape (instants,), by adding
    full turns. The rates ``rate`` [rad/s], integrated over the instants ``time`` [s] by the trapezoidal rule, show
    how many turns lie between two instants. One instant is returned unchanged."""
    if len(wrapped) == 1:
        return wrapped
    steps = np.diff(time) * (rate[1:] + rate[:-1]) / 2
    expected = wrapped[0] + np.concatenate([[0.0], np.cumsum(steps)])
    turns = np.round((np.unwrap(wrapped - expected) + expected - wrapped) / (2 * np.pi))
    return np.asarray(wrapped + 2 * np.pi * turns)


def ranges_of(run: RecordedRun, coordinates: Sequence[Coordinate], instants: IntArray) -> Array:
    """Return the range (largest minus smallest value) of each joint coordinate over the chosen ``instants``
    (indices) of a run, shape (coordinates,) [rad or m]. Angles are first unwrapped, where changes between
    neighbouring instants count as less than half a turn.

    The result is approximate: instants in between are ignored, and angles are unwrapped.
    """
    values = run.system.coordinate_rows(coordinates).values(run.instants.at(instants)).T
    pairs = zip(coordinates, values, strict=True)
    return np.array([np.ptp(np.unwrap(own) if coordinate.is_angle else own) for coordinate, own in pairs])


def coordinate_rates(run: RecordedRun, coordinate: Coordinate, velocities: Array) -> Array:
    """Return the rate of a joint ``coordinate`` at the recorded poses of a run for given velocities of all bodies,
    shape (instants,) [rad/s or m/s]. ``velocities`` have the shape (instants, velocities); the rate is the gradient
    of the coordinate times the rates of its functions."""
    functions = run.system.coordinate_functions(coordinate)
    gradients = coordinate.gradient(functions.values(run.instants).T).T
    return np.asarray((gradients * functions.rates(run.instants, velocities)).sum(axis=1))


# Exact changes of the positions of points with poses: what weighs these alone is not differenced.
#
#     x = r + R (x0 + P eta),    dx = dr + phi x (x - r) + R P deta

UNIT_AXES = np.eye(3)


def weighted_point(sensor: object) -> tuple[Attachment, Array] | None:
    """Return the point of a body that a sensor measures, and the derivative of the sensor value with respect to
    the point's position. The derivative has the shape (components, 3). Return None if the value is not a linear
    function of the position of one point of a body, for example if it depends on velocities."""
    share = sensor.linear_reading if isinstance(sensor, Sensor) else None
    if share is None or not isinstance(share[0], Attachment) or share[1][:, 3:].any():
        return None
    return share[0], share[1][:, :3]


def point_derivatives(run: RecordedRun, point: Attachment) -> tuple[IntArray, Array]:
    """Return the indices of the velocities that move a point of a body, shape (d,), and the derivatives of its
    velocity with respect to them. The derivatives are in world axes at all instants of a run, shape (instants, 3,
    d). An index may occur several times; then the derivatives add up."""
    layout, at = run.system.layout, run.instants
    weights, vectors = run.point(point)
    frame, axis, index = layout.spin
    directions: list[IntArray] = []
    columns: list[Array] = []
    for weight, vector, x in zip(weights.tolist(), vectors.vectors, vectors.values(at).swapaxes(0, 1), strict=True):
        carrier = vector.carrier
        along = layout.linear[carrier]
        directions.append(along)
        columns.append(np.broadcast_to(weight * UNIT_AXES[:, : len(along)], (at.count, 3, len(along))))
        if carrier >= layout.frames:
            continue
        turns, lever = frame == carrier, x - at.position[:, carrier]
        directions.append(index[turns])
        columns.append(weight * cross(UNIT_AXES[axis[turns]], lever[:, None]).swapaxes(1, 2))
        bends = np.flatnonzero(vector.shapes.any(axis=0))
        directions.append(int(layout.velocity[carrier + 1]) - vector.shapes.shape[1] + bends)
        columns.append(weight * (at.rotation[:, carrier] @ vector.shapes[:, bends]))
    return np.concatenate(directions), np.concatenate(columns, axis=2)
