"""Where the numbers of each body and joint sit, and one state of the whole system."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.ports.attachments import PlacedBody


@dataclass(frozen=True, eq=False)
class Layout:
    """Offsets into flat arrays, each of shape (count + 1,).

    Attributes:
        velocity: of each body's nu = (v, w, deta/dt) in the flat velocities.
        elastic: of each body's eta in the flat elastic coordinates.
        multiplier: of each joint's rows in the flat multipliers.
    """

    velocity: IntArray
    elastic: IntArray
    multiplier: IntArray


@dataclass(frozen=True, eq=False)
class State:
    """One instant of a system of b bodies.

    Attributes:
        time: [s].
        position: origins of the body frames, world axes, shape (b, 3) [m].
        rotation: body to world, shape (b, 3, 3).
        elastic: eta of all bodies, flat; of strings the positions of their nodes, whose frame is the
            world: position 0, rotation I.
        velocity: nu of all bodies, flat: v and w in body axes [m/s, rad/s], then deta/dt; only the
            components that a body keeps (``FloatingBody.dimension`` and ``rotation_axes``).
    """

    time: float
    position: Array
    rotation: Array
    elastic: Array
    velocity: Array


def layout_of(bodies: list[PlacedBody], rows: list[int]) -> Layout:
    """The layout of bodies and of joints with the given numbers of rows."""

    def offsets(counts: list[int]) -> IntArray:
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    return Layout(
        offsets([placed.data.velocity_count for placed in bodies]),
        offsets([placed.data.elastic_count for placed in bodies]),
        offsets(rows),
    )
