"""The lines that stand for a mechanism in pictures of its modes, at rest and in motion."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import kept_velocities
from phlexible.bodies.skin import Skin
from phlexible.linear_analysis.linearize import Linearization
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody

ComplexArray = NDArray[np.complex128]

OUTLINE_POINTS = 33
UNSEEN = 1e-6
SMOOTH = np.cos(np.radians(17.5))
"""Of half the angle between the normals of two triangles between which no edge is drawn."""


@dataclass(frozen=True, eq=False)
class ModeOutline:
    """Polylines in world axes; a single point is a line of one point.

    Attributes:
        still: each of shape (points, 3) [m].
        motion: small displacements in the mode, of the same shapes, complex.
        ground: points of the ground that joints hold, shape (points, 3) [m].
        turn: largest turn of a body in the mode, in the units of ``motion`` over metres.
    """

    still: list[Array]
    motion: list[ComplexArray]
    ground: Array
    turn: float

    def at_phase(self, phase: float, amplitude: float) -> list[Array]:
        """The lines at a phase of the motion [rad]; ``amplitude`` is the largest displacement of all [m]."""
        factor = amplitude / self.greatest * np.exp(1j * phase)
        return [line + (factor * motion).real for line, motion in zip(self.still, self.motion, strict=True)]

    @property
    def greatest(self) -> float:
        """Largest displacement at phase 0; infinite where a body turns about its own line: nothing shows."""
        size = max(float(np.linalg.norm(line.real, axis=1).max()) for line in self.motion)
        return size if size > UNSEEN * self.turn * self.extent else np.inf

    @property
    def extent(self) -> float:
        """Largest edge of the box around the lines at rest, or 1 for a single point [m]."""
        return float(np.ptp(np.concatenate(self.still), axis=0).max()) or 1.0


def mode_outline(linear: Linearization, shape: Array | ComplexArray) -> ModeOutline:
    """The outlines of all bodies for one column of coordinates, shape (n,).

    A complex shape is turned to the phase at which most of it is real, so that it shows at phase 0.
    """
    # sum (shape e^{-i a})^2 is real and positive for this a, so the real part is the larger one
    turned = shape * np.exp(-0.5j * np.angle(np.sum(np.asarray(shape, dtype=np.complex128) ** 2)))
    still, motion, state, turn = [], [], linear.point.state, 0.0
    system = linear.system
    for index, placed in enumerate(system.bodies):
        begin, end = system.layout.velocity[index : index + 2]
        eta, has_frame = system.elastic(state, index), index < system.layout.frames
        rotation = state.rotation[index] if has_frame else np.eye(3)
        origin = np.zeros(3)
        if has_frame:
            origin = state.position[index] - rotation @ system.centres[index] @ np.concatenate([[1.0], eta])
        rigid = turned[begin + placed.data.dimension : begin + placed.data.rigid_count]
        turn = max(turn, float(np.abs(rigid).max(initial=0.0)))
        for positions, shapes in _lines(linear, placed):
            local = positions + shapes @ eta
            still.append(origin + local @ rotation.T)
            motion.append(_motion(placed, local, shapes, turned[begin:end]) @ rotation.T)
    ports = [port for joint in linear.system.mechanism.joints for port in (joint.first, joint.second)]
    held = [port.initial_position() for port in ports if isinstance(port, MovingFrame)]
    return ModeOutline(still, motion, np.array(held).reshape(-1, 3), turn)


def _lines(linear: Linearization, placed: PlacedBody) -> list[tuple[Array, Array]]:
    """Material points and their shapes: the body's outline; of a rigid body arms to what is attached.

    Of a mesh the sharp edges of its surface.
    """
    if isinstance(placed.data.points, FlexiblePoints):
        skin = placed.body.skin(placed.data, np.zeros((0, 3)))
        if edges := sharp_edges(skin):
            return [(skin.positions[edge], skin.shapes[edge]) for edge in edges]
    positions, shapes = placed.data.points.outline(OUTLINE_POINTS)
    lines = [(positions, shapes)]
    if placed.data.elastic_count:
        return lines
    for joint in linear.system.mechanism.joints:
        for port in (joint.first, joint.second):
            if isinstance(port, Attachment) and port.placed is placed:
                end = port.point.position
                if np.linalg.norm(end - positions[-1]) > 0:
                    lines.append((np.stack([positions[-1], end]), np.zeros((2, 3, 0))))
    return lines


def sharp_edges(skin: Skin) -> list[IntArray]:
    """Nodes along the lines where a surface ends or its normal turns."""
    places = skin.positions[skin.vertex_nodes] + skin.offsets
    size = float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0
    _, corner = np.unique(np.round(places / size, 9), axis=0, return_inverse=True)
    a, b, c = (places[skin.triangles[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    ends = np.concatenate([skin.triangles[:, [0, 1]], skin.triangles[:, [1, 2]], skin.triangles[:, [2, 0]]])
    _, first, edge = np.unique(np.sort(corner[ends], axis=1), axis=0, return_index=True, return_inverse=True)
    together = np.zeros((len(first), 3))
    np.add.at(together, edge, np.tile(normals, (3, 1)))
    is_sharp = (np.bincount(edge) != 2) | (np.linalg.norm(together, axis=1) < 2 * SMOOTH)
    single = np.unique(np.sort(skin.vertex_nodes[ends[first[is_sharp]]], axis=1), axis=0)
    left: dict[int, list[int]] = {}
    for first, second in single[single[:, 0] != single[:, 1]].tolist():
        left.setdefault(first, []).append(second)
        left.setdefault(second, []).append(first)
    lines = []
    while left:
        line = [next((node for node, others in left.items() if len(others) != 2), next(iter(left)))]
        while others := left.get(line[-1]):
            here, after = line[-1], others.pop()
            left[after].remove(here)
            line.append(after)
            if len(left[after]) > 1:  # lines meet
                break
        left = {node: others for node, others in left.items() if others}
        lines.append(np.array(line, dtype=np.int64))
    return lines


def _motion(placed: PlacedBody, local: Array, shapes: Array, x: ComplexArray) -> ComplexArray:
    """Small displacements of points in body axes, (points, 3); of a string in world axes."""
    if not isinstance(placed.data, FloatingBody):
        return np.asarray(shapes @ x)
    full = np.zeros(6 + placed.data.elastic_count, dtype=np.complex128)
    full[kept_velocities(placed.data)] = x
    return np.asarray(full[:3] + np.cross(full[3:6], local) + shapes @ full[6:])
