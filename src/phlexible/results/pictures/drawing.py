"""What a mechanism looks like: lines and points in the world, at chosen instants."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.joints.prismatic import Prismatic
from phlexible.joints.slider import Slider
from phlexible.observables.poses import position
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody

OUTLINE_POINTS = 33
PATH_POINTS = 240
"""At least this many points draw the path of a moving frame, however few instants are stored."""


@dataclass(frozen=True, eq=False)
class BodyDrawing:
    """One body at k instants, world axes.

    Attributes:
        name: of the body.
        lines: polylines, each of shape (k, points, 3) [m].
        points: single points, shape (k, points, 3) [m].
    """

    name: str
    lines: tuple[Array, ...]
    points: Array


@dataclass(frozen=True, eq=False)
class Scene:
    """A mechanism at k instants, world axes.

    Attributes:
        time: shape (k,) [s].
        bodies: in the order of the model.
        joints: points where two bodies meet, shape (k, joints, 3) [m].
        ground: fixed points of the ground, shape (points, 3) [m].
        frames: moving frames, shape (k, frames, 3) [m].
        paths: of the moving frames over the whole motion, shape (points, frames, 3) [m].
        guides: a point and an axis of the ground along which something slides, each of shape (2, 3).
    """

    time: Array
    bodies: tuple[BodyDrawing, ...]
    joints: Array
    ground: Array
    frames: Array
    paths: Array
    guides: tuple[Array, ...]

    def corners(self) -> tuple[Array, Array]:
        """Lowest and highest coordinates of everything but the guides, each of shape (3,) [m]."""
        parts = [line.reshape(-1, 3) for body in self.bodies for line in (*body.lines, body.points)]
        everything = np.concatenate([*parts, self.ground, self.paths.reshape(-1, 3)])
        return everything.min(axis=0), everything.max(axis=0)

    def bounds(self) -> tuple[Array, float]:
        """Center (3,) and half edge [m] of a cube around everything but the guides."""
        low, high = self.corners()
        return (low + high) / 2, max(float((high - low).max()) / 2, 1e-9)


def scene(run: RecordedRun, instants: IntArray, scale: float = 1.0) -> Scene:
    """The mechanism at the given instants; ``scale`` enlarges the elastic displacements only."""
    rec, joints = run.recording, run.mechanism.joints
    picked = run.at(instants)
    fixed = [p for joint in joints for p in (joint.first, joint.second) if isinstance(p, MovingFrame)]
    meeting = [
        _attachment_line(picked, joint.first, scale)
        for joint in joints
        if isinstance(joint.first, Attachment)
        and isinstance(joint.second, Attachment)
        and not _is_cut(run, joint.first, joint.second)
    ]
    guides = [
        np.stack([joint.first.initial_position(), joint.unit_axis()])
        for joint in joints
        if isinstance(joint, Slider | Prismatic) and isinstance(joint.first, MovingFrame) and joint.first.is_fixed
    ]
    sliding = {id(j.first) for j in joints if isinstance(j, Slider | Prismatic)}
    held = [f.initial_position() for f in fixed if f.is_fixed and id(f) not in sliding]
    return Scene(
        rec.time[instants],
        tuple(_bodies(picked, scale)),
        np.stack(meeting, axis=1) if meeting else np.zeros((len(instants), 0, 3)),
        np.array(held).reshape(-1, 3),
        rec.frames[instants],
        _smooth_paths(run),
        tuple(guides),
    )


def _smooth_paths(run: RecordedRun) -> Array:
    """Paths of the moving frames, through the stored instants with the recorded velocities there."""
    time, places = run.recording.time, run.recording.frames
    if len(time) < 2 or not places.shape[1]:
        return places
    from scipy.interpolate import CubicHermiteSpline

    shares = np.linspace(0.0, 1.0, 1 - (-PATH_POINTS // (len(time) - 1)))[:-1]
    inside = time[:-1, None] + np.diff(time)[:, None] * shares
    fine = np.append(inside.ravel(), time[-1])
    return np.asarray(CubicHermiteSpline(time, places, run.recording.frame_velocities)(fine))


def point_path(run: RecordedRun, attachment: Attachment) -> Array:
    """World positions of a point at all instants, shape (N + 1, 3) [m]."""
    return position(run, attachment)


def _bodies(run: RecordedRun, scale: float) -> Iterator[BodyDrawing]:
    """One drawing a body; the parts of a split beam are drawn as one."""
    drawn: dict[str, BodyDrawing] = {}
    for index, placed in enumerate(run.system.bodies):
        name = _whole(run, placed)
        own = _body(run, placed, index, scale)
        lines = drawn[name].lines + own.lines if name in drawn else own.lines
        drawn[name] = BodyDrawing(name, lines, own.points)
    yield from drawn.values()


def _whole(run: RecordedRun, placed: PlacedBody) -> str:
    """Name of the split beam that a body is a part of, or its own."""
    wholes = (split.name for split in run.mechanism.split_beams if placed in split.parts)
    return next(wholes, placed.name)


def _is_cut(run: RecordedRun, first: Attachment, second: Attachment) -> bool:
    """Whether a joint only holds two parts of one beam together."""
    name = _whole(run, first.placed)
    return name != first.placed.name and name == _whole(run, second.placed)


def _body(run: RecordedRun, placed: PlacedBody, index: int, scale: float) -> BodyDrawing:
    positions, shapes = placed.data.points.outline(OUTLINE_POINTS)
    outline = _world(run, index, positions, shapes, scale)
    attached = _attached(run, placed)
    if placed.data.elastic_count:
        return BodyDrawing(placed.name, (outline,), np.zeros((run.count, 0, 3)))
    lines = [outline] if len(positions) > 1 else []
    for attachment in attached:
        end = _attachment_line(run, attachment, scale)
        if np.linalg.norm(attachment.point.position - positions[-1]) > 0:
            lines.append(np.stack([outline[:, -1], end], axis=1))
    if not lines and placed.data.size > 0:
        lines = _axes_cross(run, index, placed)
    return BodyDrawing(placed.name, tuple(lines), outline[:, -1:])


def _axes_cross(run: RecordedRun, index: int, placed: PlacedBody) -> list[Array]:
    """A rigid body that nothing is attached to: its axes, as long as its size."""
    arms = placed.data.size * np.eye(3)[: placed.data.dimension]
    return [
        _world(run, index, np.stack([-arm, arm]), np.zeros((2, 3, placed.data.elastic_count)), 1.0) for arm in arms
    ]


def _attached(run: RecordedRun, placed: PlacedBody) -> list[Attachment]:
    ports = [port for joint in run.mechanism.joints for port in (joint.first, joint.second)]
    return [port for port in ports if isinstance(port, Attachment) and port.placed is placed]


def _attachment_line(run: RecordedRun, attachment: Attachment, scale: float) -> Array:
    index, point = run.body_index(attachment), attachment.point
    return _world(run, index, point.position[None], point.shapes[None], scale)[:, 0]


def _world(run: RecordedRun, index: int, positions: Array, shapes: Array, scale: float) -> Array:
    """Material points of a body in the world, shape (k, points, 3)."""
    if run.system.bodies[index].nodes is not None:
        return np.asarray(np.einsum("pin,tn->tpi", shapes, run.elastic(index)))
    local = positions + scale * np.einsum("pin,tn->tpi", shapes, run.elastic(index))
    turned = np.einsum("tij,tpj->tpi", run.recording.rotation[:, index], local)
    return np.asarray(run.reference_point(index)[:, None] + turned)
