"""States close to a state, and coordinates of linear models: small motions in body axes (docs/theory.md, 7)."""

from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.mechanics.floating import kept_velocities
from phlexible.state.layout import State
from phlexible.state.system import System

# States close to a state.


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


# Coordinates of linear models: small motions of bodies in their axes, as in the papers (docs/theory.md, 7).
#
# x = (dr, dtheta, deta) moves the reference point of a body by R dr, turns it by R exp(dtheta) and deforms it by
# deta. Motions of the centre of mass, which the step and its functions know, follow by a linear map (2.7, 7.1).


def centred_motions(system: System, state: State) -> sparse.csr_array:
    """dq in body axes from x: dr + dtheta x c + S deta / m in place of dr, shape (velocities,) * 2."""
    blocks = []
    for index, data in enumerate(system.frames):
        centre, n = system.centres[index], data.elastic_count
        full = np.eye(6 + n)
        place = centre @ np.concatenate([[1.0], system.elastic(state, index)])
        full[:3, 3:6], full[:3, 6:] = -cross_matrix(place), centre[:, 1:]
        kept = kept_velocities(data)
        blocks.append(sparse.csr_array(full[np.ix_(kept, kept)]))
    return _with_nodes(system, blocks)


def world_motions(system: System, state: State) -> sparse.csr_array:
    """dq with translations in world axes from dq in body axes, shape (velocities,) * 2."""
    blocks, d = [], system.dimension
    for index, data in enumerate(system.frames):
        block = np.eye(data.velocity_count)
        block[:d, :d] = state.rotation[index][:d, :d]
        blocks.append(sparse.csr_array(block))
    return _with_nodes(system, blocks)


def _with_nodes(system: System, blocks: list[sparse.csr_array]) -> sparse.csr_array:
    blocks = [*blocks, *(sparse.eye_array(body.velocity_count, format="csr") for body in system.nodal)]
    return sparse.csr_array(sparse.block_diag(blocks, "csr")) if blocks else sparse.csr_array((0, 0))
