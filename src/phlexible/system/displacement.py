"""States close to a state: bodies moved by increments in their own axes."""

from dataclasses import replace

from phlexible.algebra.arrays import Array
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.kinematics import split_velocity
from phlexible.system.state import Layout, State


def displaced(mechanism: Mechanism, layout: Layout, state: State, change: Array) -> State:
    """The state moved by (r + R dr, R exp(dtheta), eta + deta) at the same velocities.

    Args:
        change: (dr, dtheta, deta) of every body in the components of nu, flat like the velocities.
    """
    from scipy.spatial.transform import Rotation

    position, rotation, elastic = state.position.copy(), state.rotation.copy(), state.elastic.copy()
    for index, placed in enumerate(mechanism.bodies):
        nu = change[layout.velocity[index] : layout.velocity[index + 1]]
        shift, turn, stretch = split_velocity(placed.data, nu)
        position[index] += rotation[index] @ shift
        rotation[index] = rotation[index] @ Rotation.from_rotvec(turn).as_matrix()
        elastic[layout.elastic[index] : layout.elastic[index + 1]] += stretch
    return replace(state, position=position, rotation=rotation, elastic=elastic)
