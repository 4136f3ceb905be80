"""Scenes of models before a run, and of recorded runs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.skin import Skin
from phlexible.mechanism.mechanism import Mechanism
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.scene.anchors import Places
from phlexible.scene.arrows import arrows
from phlexible.scene.palette import body_colors
from phlexible.scene.scene import DrawnBody, Scene
from phlexible.scene.symbols import symbols
from phlexible.scene.touched import touched_surfaces
from phlexible.system.system import moving_frames

Pose = tuple[Array, Array, Array]
"""Origins (k, 3) [m], rotations (k, 3, 3) and elastic coordinates (k, n) of a body."""

PATH_POINTS = 240
"""At least this many points draw the path of a moving frame, however few instants are stored."""


def scene_at_start(mechanism: Mechanism) -> Scene:
    """A model as it was put together, undeformed; one instant, t = 0."""
    poses = []
    for placed in mechanism.bodies:
        if placed.nodes is None:
            poses.append((placed.position[None], placed.rotation[None], placed.elastic[None]))
        else:
            poses.append((np.zeros((1, 3)), np.eye(3)[None], placed.elastic[None]))
    return posed_scene(mechanism, np.zeros(1), poses)


def scene_of(run: RecordedRun, instants: IntArray) -> Scene:
    """A recorded run at chosen instants."""
    record, poses = run.recording, _poses(run.at(instants), len(instants))
    time, frames, turns = record.time[instants], record.frames[instants], record.frame_rotations[instants]
    return _scene(run.mechanism, time, poses, frames, turns, _smooth_paths(run))


def moved_scene(scene: Scene, run: RecordedRun, instants: IntArray) -> Scene:
    """A scene of the same model at other instants, without its loads; what does not move is not made again."""
    picked, record = run.at(instants), run.recording
    bodies = tuple(
        replace(drawn, origins=origins, rotations=rotations, eta=eta)
        for drawn, (origins, rotations, eta) in zip(scene.bodies, _poses(picked, len(instants)), strict=True)
    )
    frames, turns = record.frames[instants], record.frame_rotations[instants]
    moved = replace(scene, time=record.time[instants], bodies=bodies, frames=frames, frame_turns=turns, arrows=())
    return replace(moved, surfaces=tuple(touched_surfaces(run.mechanism, Places.of(run.mechanism), moved)))


def posed_scene(mechanism: Mechanism, time: Array, poses: Sequence[Pose]) -> Scene:
    """A mechanism in given poses, moving frames where they are at t = 0.

    Args:
        mechanism: what is drawn.
        time: shape (k,) [s].
        poses: of each body: origins (k, 3) [m], rotations (k, 3, 3), elastic coordinates (k, n).
    """
    moving, count = moving_frames(mechanism), len(time)
    frames = np.array([frame.initial_position() for frame in moving]).reshape(1, -1, 3)
    turns = np.tile(np.eye(3), (count, len(moving), 1, 1))
    return _scene(mechanism, time, poses, np.tile(frames, (count, 1, 1)), turns, frames)


def _poses(run: RecordedRun, count: int) -> list[Pose]:
    """Of every body at all instants of a run."""
    poses = []
    for index, placed in enumerate(run.system.bodies):
        if placed.nodes is None:
            poses.append((run.reference_point(index), run.recording.rotation[:, index], run.elastic(index)))
        else:
            still = np.tile(np.eye(3), (count, 1, 1))
            poses.append((np.zeros((count, 3)), still, run.elastic(index)))
    return poses


def _scene(
    mechanism: Mechanism,
    time: Array,
    poses: Sequence[Pose],
    frames: Array,
    turns: Array,
    paths: Array,
) -> Scene:
    places = Places.of(mechanism)
    parts = {placed: whole.name for whole in mechanism.wholes.values() for placed in whole.parts}
    wholes = [parts.get(placed, placed.name) for placed in mechanism.bodies]
    colors = body_colors(mechanism.bodies, wholes)
    drawn = [
        DrawnBody(
            placed.name,
            whole,
            type(placed.body).__name__,
            color,
            skin,
            *pose,
            placed.nodes is not None,
        )
        for placed, whole, color, skin, pose in zip(
            mechanism.bodies, wholes, colors, _skins(mechanism), poses, strict=True
        )
    ]
    without = Scene(
        max(mechanism.dimension, 2),  # a line is drawn in a plane
        mechanism.gravity,
        time,
        tuple(drawn),
        frames,
        turns,
        paths,
        tuple(symbols(mechanism, places, wholes)),
        (),
    )
    found = tuple(arrows(mechanism, places, without))
    return replace(without, arrows=found, surfaces=tuple(touched_surfaces(mechanism, places, without)))


def _skins(mechanism: Mechanism) -> list[Skin]:
    """Of all bodies; those that look the same share one."""
    held, known, found = _held_points(mechanism), dict[object, Skin](), []
    for placed in mechanism.bodies:
        ports = np.array(held.get(placed, [])).reshape(-1, 3)
        key = id(placed.held), id(placed.data), ports.tobytes()
        if key not in known:
            known[key] = placed.held.skin(placed.data, ports)
        found.append(known[key])
    return found


def _held_points(mechanism: Mechanism) -> dict[PlacedBody, list[Array]]:
    """Where joints and force elements hold each body, in body axes."""
    pairs = [(joint.first, joint.second) for joint in mechanism.joints]
    pairs += [element.ports for element in mechanism.applied_elements]
    found: dict[PlacedBody, list[Array]] = {}
    for port in (port for pair in pairs for port in pair if isinstance(port, Attachment)):
        found.setdefault(port.placed, []).append(port.point.position)
    return found


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
