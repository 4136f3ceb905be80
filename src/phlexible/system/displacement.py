"""States close to a state."""

from dataclasses import replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.system.layout import State
from phlexible.system.system import System


def displaced(system: System, state: State, change: Array) -> State:
    """The state moved by (x_c + dx, R exp(dtheta), eta + deta) at the same velocities.

    Args:
        change: (dx, dtheta, deta) of every carrier in the places of nu, flat.
    """
    from scipy.spatial.transform import Rotation

    layout = system.layout
    position = state.position.copy()
    position[:, : system.dimension] += change[layout.linear]
    turn = np.zeros((layout.frames, 3))
    frame, axis, place = layout.spin
    turn[frame, axis] = change[place]
    rotation = state.rotation
    if layout.frames:
        rotation = state.rotation @ Rotation.from_rotvec(turn).as_matrix()
    return replace(state, position=position, rotation=rotation, eta=state.eta + change[layout.elastic_rate])
