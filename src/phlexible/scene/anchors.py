"""Ports of a mechanism as anchors of a scene."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody, Port
from phlexible.scene.scene import Anchor
from phlexible.system.system import moving_frames

NOTHING = np.zeros((3, 0))


@dataclass(frozen=True, eq=False)
class Places:
    """Numbers of bodies and moving frames."""

    bodies: dict[PlacedBody, int]
    frames: dict[MovingFrame, int]

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        """Those of a mechanism."""
        bodies = {placed: index for index, placed in enumerate(mechanism.bodies)}
        return cls(bodies, {frame: index for index, frame in enumerate(moving_frames(mechanism))})

    def anchor(self, port: Port) -> Anchor:
        """The port."""
        if isinstance(port, Attachment):
            point = port.point
            turns = np.zeros_like(point.shapes) if point.rotations is None else point.rotations
            return Anchor(self.bodies[port.placed], None, point.position, point.shapes, turns)
        if port.is_fixed:
            return Anchor(None, None, port.initial_position(), NOTHING, NOTHING)
        return Anchor(None, self.frames[port], np.zeros(3), NOTHING, NOTHING)

    def direction(self, port: Port, axis: Array) -> Array:
        """World axes at t = 0, in the axes of the port, shape (3,)."""
        if isinstance(port, Attachment) and port.placed.nodes is None:
            return np.asarray(port.placed.rotation.T @ axis)
        return axis
