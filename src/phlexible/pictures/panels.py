"""Panels with the most informative curves of a motion over time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.beam.points import BeamPoints
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Along, Cut, End, Interface, MaterialPosition, Node, Start
from phlexible.bodies.soft_mesh import SoftPoints
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import ParameterError
from phlexible.measure.kinematics import angular_velocity, ranges_of, rotation
from phlexible.measure.reactions import tension
from phlexible.measure.sensors import ElasticDisplacement, JointPosition, Position
from phlexible.pictures.style import plain_text
from phlexible.state.recorded_run import RecordedRun

Thing = TypeVar("Thing")

NOTHING = 1e-6
"""Of what such a number could be: smaller changes are not shown."""
MOST_CURVES = 6
MOST_BODIES = 2
MOST_ASKED, GLANCES = 50, 40
"""Joints or bodies whose whole motion is read; of more those that move most between so many instants."""


@dataclass(frozen=True, eq=False)
class Panel:
    """A panel with curves over time.

    Attributes:
        label: of the axis, with the unit.
        curves: name and values (N + 1,) of each.
    """

    label: str
    curves: tuple[tuple[str, Array], ...]


def default_panels(run: RecordedRun, points: Sequence[Attachment], most: int = 2) -> list[Panel]:
    """Return up to ``most`` panels with curves of the recorded motion ``run`` over time, the first that are not
    empty of a fixed order. The order is: deflections of ``points`` (points of bodies), tensions of strings, joint
    angles, rotations, spins and positions. Raise ``ParameterError`` if ``points`` is no list of ``Attachment``
    objects.

    Raises:
        ParameterError: points that are no list of attachments.
    """
    if not isinstance(points, list | tuple) or not all(isinstance(point, Attachment) for point in points):
        raise ParameterError(f"points must be a list of attachments such as [beam.end], got {points!r}")
    makers: tuple[Callable[[RecordedRun, Sequence[Attachment]], Panel | None], ...]
    makers = (_deflections, _tensions, _angles, _attitudes, _spins, _positions)
    return list(islice(_made(makers, run, points), most))


def _made(
    makers: Sequence[Callable[[RecordedRun, Sequence[Attachment]], Panel | None]],
    run: RecordedRun,
    points: Sequence[Attachment],
) -> Iterator[Panel]:
    for make in makers:
        if (panel := make(run, points)) is not None:
            yield panel


def _panel(label: str, curves: list[tuple[str, Array]], size: float | None = None) -> Panel | None:
    """Return a panel with the axis title ``label`` and at most six of the ``curves`` (name, values over time),
    those of largest range. The range is maximum minus minimum; the given order is retained. Curves with values
    that are not finite, or ranges below 1e-3 of the largest, are left out. None if all ranges are at most 1e-6 of
    ``size``, by default of the largest absolute value."""
    moving = [(name, values) for name, values in curves if np.isfinite(values).all()]
    spans = [float(np.ptp(values)) for _, values in moving]
    largest = max(spans, default=0.0)
    common = max((float(np.abs(values).max()) for _, values in moving), default=0.0) if size is None else size
    if largest <= NOTHING * common:
        return None
    order = sorted(range(len(moving)), key=lambda k: -spans[k])[:MOST_CURVES]
    kept = [moving[k] for k in sorted(order) if spans[k] > 1e-3 * largest]
    return Panel(label, tuple(kept))


def _deflections(run: RecordedRun, points: Sequence[Attachment]) -> Panel | None:
    curves, across = [], "yz"[: run.mechanism.dimension - 1]
    seen = [
        (point_label(point), point, ElasticDisplacement(point).read(run)) for point in points
    ] or _softest_points(run)
    for name, point, moved in seen:
        percent = 100 * moved / point.placed.data.size
        curves += [(f"$u_{axis}$ of {plain_text(name)}", percent[:, "xyz".index(axis)]) for axis in across]
    return _panel("deflection / length [%]", curves, size=1.0)


def _tensions(run: RecordedRun, points: Sequence[Attachment]) -> Panel | None:
    curves = []
    for placed in run.mechanism.bodies:
        if placed.is_string:
            name, tensions = plain_text(placed.name), tension(run, placed)
            curves += [(f"{name}, start", tensions[:, 0]), (f"{name}, end", tensions[:, -1])]
    return _panel("tension [N]", curves)


def _angles(run: RecordedRun, points: Sequence[Attachment]) -> Panel | None:
    curves = []
    for joint in _liveliest_joints(run):
        angle = JointPosition(joint).of_kind(run, is_angle=True)
        port = joint.second if isinstance(joint.second, Attachment) else joint.first
        name = plain_text(joint.name or (port.placed.name if isinstance(port, Attachment) else port))
        if angle.ndim == 1:
            curves.append((name, angle))
        else:  # of a universal joint
            curves += [(f"{name}, angle {k + 1}", values) for k, values in enumerate(angle.T)]
    return _panel("angle of joints [rad]", _with_unique_names(curves), size=1.0)


def _liveliest_joints(run: RecordedRun) -> list[Joint]:
    """Return the joints of a mechanism that have an angle; of more than 50 only the 50 with the largest range of
    an angle. The range is maximum minus minimum over at most 40 instants of the recorded motion ``run``. The order
    of the mechanism is kept; joints at points without orientation are left out."""
    candidates = [
        joint
        for joint in run.mechanism.joints
        if any(name.endswith("angle") for name in joint.coordinate_names)
        and joint.first.has_orientation
        and joint.second.has_orientation
    ]
    if len(candidates) <= MOST_ASKED:
        return candidates
    angles = [[c for c in joint.coordinates(run.mechanism.dimension) if c.is_angle] for joint in candidates]
    ranges = ranges_of(run, [c for own in angles for c in own], _sampled_instants(run))
    begins = np.cumsum([0, *(len(own) for own in angles)])[:-1]
    return _largest_items(candidates, np.maximum.reduceat(ranges, begins))


def _sampled_instants(run: RecordedRun) -> IntArray:
    """Return the ascending indices of at most 40 evenly spread instants of a recorded run, at which many
    joints or bodies are compared."""
    return np.unique(np.linspace(0, len(run.time) - 1, GLANCES).round().astype(np.int64))


def _largest_items(things: Sequence[Thing], sizes: Array) -> list[Thing]:
    """Return the at most 50 of the ``things`` with the largest ``sizes``, in their original order."""
    return [things[k] for k in np.sort(np.argsort(-sizes, kind="stable")[:MOST_ASKED])]


def _attitudes(run: RecordedRun, points: Sequence[Attachment]) -> Panel | None:
    """Return a panel with the rotation angle [rad] since the start over time of the heaviest body that can rotate,
    in the recorded motion ``run``. None if the mechanism has no joints or a joint to the ground or a moving frame;
    it is meant for satellites. In the plane the angle is continuous, in space between 0 and pi. ``points`` is not
    used."""
    mechanism = run.mechanism
    ports = [port for joint in mechanism.joints for port in (joint.first, joint.second)]
    turning = [placed for placed in mechanism.bodies if placed.data.rotates]
    if not (ports and turning and all(isinstance(port, Attachment) for port in ports)):
        return None
    hub = max(turning, key=lambda placed: placed.data.mass)
    rotations = rotation(run, hub) @ rotation(run, hub)[0].T
    if mechanism.dimension == 2:
        angle = np.unwrap(np.arctan2(rotations[:, 1, 0], rotations[:, 0, 0]))
    else:
        angle = Rotation.from_matrix(rotations).magnitude()
    return _panel("angle turned [rad]", [(plain_text(hub.name), angle)], size=1.0)


def _spins(run: RecordedRun, points: Sequence[Attachment]) -> Panel | None:
    """Return a panel (curves over time) with the angular velocities [rad/s] of the first two bodies, as components
    in body axes. Parts of a rod or divided beam do not count. In the plane only z is drawn; bodies without
    rotation are skipped. None if the mechanism has joints or no curve changes. ``points`` is not used."""
    mechanism, curves = run.mechanism, []
    if mechanism.joints:
        return None
    for placed in _separate_bodies(mechanism)[:2]:
        if placed.data.rotates:
            spin = angular_velocity(run, placed)
            local = np.einsum("tji,tj->ti", rotation(run, placed), spin)
            axes = "xyz" if mechanism.dimension == 3 else "z"
            name = f" of {plain_text(placed.name)}" if len(mechanism.bodies) > 1 else ""
            curves += [(f"$\\omega_{axis}${name}", local[:, "xyz".index(axis)]) for axis in axes]
    return _panel("spin in body axes [rad/s]", curves)


def _positions(run: RecordedRun, points: Sequence[Attachment]) -> Panel | None:
    """Return a panel (curves over time) of world coordinates [m] in the recorded motion ``run``. They belong to
    the middle of the bodies that move most, both ends of rods and beams of several parts, and the node of each
    soft body that moves most. None if no coordinate changes; ``points`` is not used."""
    mechanism = run.mechanism
    alone, wholes = _liveliest_bodies(run, _separate_bodies(mechanism)), list(mechanism.wholes.values())
    places = [(placed.name, _middle(placed)) for placed in alone if isinstance(placed.data, FloatingBody)]
    soft = [_farthest_node(run, placed) for placed in alone if isinstance(placed.data.points, SoftPoints)]
    places += [(point_label(port), port) for port in soft]
    places += [(f"{whole.name}, {end}", port) for whole in wholes for end, port in _ends(whole)]
    curves = [
        (f"{'xyz'[k]} of {plain_text(name)}", place[:, k])
        for name, port in places
        for place in [Position(port).read(run)]
        for k in range(mechanism.dimension)
    ]
    sizes = [placed.data.size for placed in alone] + [whole.length for whole in wholes]
    return _panel("position [m]", curves, max(sizes, default=0.0) or None)


def _liveliest_bodies(run: RecordedRun, bodies: list[PlacedBody]) -> list[PlacedBody]:
    """Return the given ``bodies``, or of more than 50 only the 50 with the largest range of position in a recorded
    ``run``. Their order is kept. The range is the diagonal of the box around at most 40 positions of the body's
    centre of mass or first node."""
    if len(bodies) <= MOST_ASKED:
        return bodies
    system, positions = run.system, run.recording.position[_sampled_instants(run)]
    carriers = [int(system.layout.carrier[system.index[placed]]) for placed in bodies]
    return _largest_items(bodies, np.linalg.norm(np.ptp(positions[:, carriers], axis=0), axis=1))


def _separate_bodies(mechanism: Mechanism) -> list[PlacedBody]:
    """Return the bodies of a mechanism that are neither sections of a rod nor segments of a divided beam."""
    parts = {placed for whole in mechanism.wholes.values() for placed in whole.parts}
    return [placed for placed in mechanism.bodies if placed not in parts]


def _ends(whole: PlacedWhole) -> tuple[tuple[str, Attachment], ...]:
    return ("start", whole.start), ("end", whole.end)


def _middle(placed: PlacedBody) -> Attachment:
    """Return the point of the body ``placed`` whose position is plotted. It is the centre of mass of a rigid body
    that rotates, the middle of a beam, the most flexible node of a mesh, otherwise the origin."""
    data = placed.data
    if isinstance(data.points, BeamPoints):
        return placed.at(data.size / 2)
    if isinstance(data, FloatingBody) and data.rotates and not data.elastic_count:
        return placed.point(data.first_moments[:, 0] / data.mass)
    if isinstance(data.points, FlexiblePoints):
        return _softest(placed, data.points)
    return placed.origin


def _softest_points(run: RecordedRun) -> list[tuple[str, Attachment, Array]]:
    """Return the most flexible point of each flexible body made from a mesh, for the first few bodies. Each entry
    has the label, the point, and its elastic displacement over time in the recorded motion ``run``, shape (N + 1,
    3) [m] for N steps. Displacements are in body axes, relative to the body's first interface."""
    points_found = []
    for placed in run.mechanism.bodies:
        points = placed.data.points
        if isinstance(points, FlexiblePoints) and points.shapes.shape[2]:
            point = _softest(placed, points)
            seen = _seen_from_interface(points, point.point.position[None], point.point.shapes[None])[0]
            eta = run.elastic(run.body_index(placed))
            name = point_label(point)
            if points.interfaces.names:
                away = float(np.linalg.norm(point.point.position - points.interfaces.positions[0]))
                name = f"{placed.name}, {away:.3g} m from {points.interfaces.names[0]}"
            points_found.append((name, point, np.asarray(eta @ seen.T)))
    return points_found[:MOST_BODIES]


def _softest(placed: PlacedBody, points: FlexiblePoints) -> Attachment:
    """Return the most flexible node of the body ``placed`` as a point of the body. It is the node of
    ``points.nodes`` with the largest sum of squares of all shape functions, relative to the first interface."""
    seen = _seen_from_interface(points, points.nodes, points.shapes)
    return placed.point(points.nodes[int((seen**2).sum(axis=(1, 2)).argmax())])


def _seen_from_interface(points: FlexiblePoints, positions: Array, shapes: Array) -> Array:
    """Return shape functions (k, 3, n) of a flexible body minus the rigid motion of its first interface.
    ``positions`` (k, 3) are the k points of these ``shapes``; without an interface they are returned unchanged.

    A frame that is no part of the body, the mean axis, hides most of how far a cantilever bends.
    """
    faces = points.interfaces
    if not faces.names:
        return shapes
    turns = np.cross(faces.rotations[0].T, (positions - faces.positions[0])[:, None])  # (k, n, 3)
    return np.asarray(shapes - faces.shapes[0] - turns.transpose(0, 2, 1))


def point_label(port: Attachment) -> str:
    """Return a label for a point of a body (``port``), which begins with the name of the body. Examples are
    "beam, end", "beam, 0.5 m along", "mesh, node 7" and "plate at (1, 0, 0) m". The origin is labelled by the
    name alone."""
    name = port.placed.name
    match port.location:
        case Start() | Cut(at_end=False):
            return f"{name}, start"
        case End() | Cut():
            return f"{name}, end"
        case Along(x):
            return f"{name}, {x:.4g} m along"
        case Interface(part):
            return f"{name}, {part}"
        case Node(number):
            return f"{name}, node {number}"
        case MaterialPosition((x, y, z)):
            return f"{name} at ({x:.3g}, {y:.3g}, {z:.3g}) m"
    return name


def _farthest_node(run: RecordedRun, placed: PlacedBody) -> Attachment:
    """Return the node of the soft body ``placed`` that moves farthest from its initial position in a recorded
    run."""
    points = placed.data.points
    assert isinstance(points, SoftPoints), "asked for soft bodies"
    positions = run.elastic(run.body_index(placed)).reshape(len(run.time), -1, points.dimension)
    away = np.linalg.norm(positions - positions[0], axis=2).max(axis=0)
    return placed.node(int(points.mesh.nodes[away.argmax()]))


def _with_unique_names(curves: list[tuple[str, Array]]) -> list[tuple[str, Array]]:
    names = [name for name, _ in curves]
    return [
        (name if names.count(name) == 1 else f"{name}, joint {k + 1}", values)
        for k, (name, values) in enumerate(curves)
    ]
