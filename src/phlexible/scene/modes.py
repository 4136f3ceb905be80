"""Scenes of small motions: each mode through one period."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import kept_velocities
from phlexible.linear_analysis.linearize import Linearization
from phlexible.scene.build import posed_scene
from phlexible.scene.scene import Scene

ComplexArray = NDArray[np.complex128]
PHASES = 24
RELATIVE_AMPLITUDE = 0.1  # of the extent of the model
LARGEST_TURN = 0.6  # [rad], of a body that turns about itself


def scene_of_modes(linear: Linearization, shapes: Sequence[Array | ComplexArray]) -> Scene:
    """Modes one after the other, each at ``PHASES`` + 1 instants of a period; time counts phases in periods.

    The largest displacement of each is a tenth of the model's extent.
    """
    phases = np.linspace(0.0, 1.0, PHASES + 1)
    still = _scene(linear, [np.zeros(len(shapes[0]), dtype=np.complex128)], np.zeros(1))
    extent = still.size
    scaled = []
    for shape in shapes:
        full = np.asarray(shape, dtype=np.complex128)
        turned = full * np.exp(-0.5j * np.angle(np.sum(full**2)))  # most of it is real now
        size = _size(linear, still, turned)
        turn = _largest_turn(linear, turned)
        away = RELATIVE_AMPLITUDE * extent / size if size > 1e-6 * turn * extent and size else np.inf
        scaled.append(turned * min(away, LARGEST_TURN / turn if turn else np.inf, 1e12))
    return _scene(linear, scaled, phases)


def _scene(linear: Linearization, shapes: Sequence[ComplexArray], phases: Array) -> Scene:
    """Every shape at every phase."""
    waves = np.exp(2j * np.pi * phases)
    motion = np.concatenate([(waves[:, None] * shape).real for shape in shapes])  # (k, coordinates)
    time = np.concatenate([number * (1.0 + 1.0 / PHASES) + phases for number in range(len(shapes))])
    system, state, poses = linear.system, linear.point.state, []
    for index, placed in enumerate(system.bodies):
        begin, end = system.layout.velocity[index : index + 2]
        own, eta = motion[:, begin:end], system.elastic(state, index)
        count = len(motion)
        if not isinstance(placed.data, FloatingBody):
            poses.append((np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), eta + own))
            continue
        full = np.zeros((count, 6 + placed.data.elastic_count))
        full[:, kept_velocities(placed.data)] = own
        rotation = state.rotation[index]
        origin = state.position[index] - rotation @ system.centres[index] @ np.concatenate([[1.0], eta])
        turned = rotation @ Rotation.from_rotvec(full[:, 3:6]).as_matrix()
        poses.append((origin + full[:, :3] @ rotation.T, turned, eta + full[:, 6:]))
    return posed_scene(system.mechanism, time, poses)


def _size(linear: Linearization, still: Scene, shape: ComplexArray) -> float:
    """Largest displacement of a node for a shape of this size, by a small multiple of it."""
    small = 1e-6 / max(float(np.abs(shape).max()), 1e-300)
    moved = _scene(linear, [small * shape], np.zeros(1))
    away = [
        np.linalg.norm(m.nodes() - s.nodes(), axis=2).max() for m, s in zip(moved.bodies, still.bodies, strict=True)
    ]
    return float(max(away)) / small


def _largest_turn(linear: Linearization, shape: ComplexArray) -> float:
    largest = 0.0
    for index, placed in enumerate(linear.system.bodies):
        begin = linear.system.layout.velocity[index]
        rigid = shape[begin + placed.data.dimension : begin + placed.data.rigid_count]
        largest = max(largest, float(np.abs(rigid).max(initial=0.0)))
    return largest
