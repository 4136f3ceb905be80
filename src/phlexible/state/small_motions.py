"""States close to a state, and coordinates of linear models: small motions in body axes (docs/theory.md, 7)."""

from collections.abc import Collection
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


def centred_motions(system: System, state: State, bodies: Collection[int] | None = None) -> sparse.csr_array:
    """dq in body axes from x: dr + dtheta x c + S deta / m in place of dr, shape (velocities,) * 2.

    Args:
        system: the mechanism.
        state: where it is.
        bodies: numbers of floating bodies; the others keep dr. None: all.
    """
    blocks = []
    for index, data in enumerate(system.frames):
        count = data.velocity_count
        if bodies is not None and index not in bodies:
            blocks.append(sparse.eye_array(count, format="csr"))
            continue
        centre, kept, d = system.centres[index], kept_velocities(data), data.dimension
        place = centre @ np.concatenate([[1.0], system.elastic(state, index)])
        rows = np.hstack([np.zeros((3, 3)), -cross_matrix(place), centre[:, 1:]])[:d, kept]
        below = sparse.csr_array((count - d, count))
        moved = sparse.vstack([sparse.csr_array(rows), below], format="csr")
        blocks.append(sparse.csr_array(sparse.eye_array(count, format="csr") + moved))
    return _with_nodes(system, blocks)


def world_motions(system: System, state: State) -> sparse.csr_array:
    """dq with translations in world axes from dq in body axes, shape (velocities,) * 2."""
    blocks, d = [], system.dimension
    for index, data in enumerate(system.frames):
        others = sparse.eye_array(data.velocity_count - d, format="csr")
        blocks.append(sparse.block_diag([state.rotation[index][:d, :d], others], "csr"))
    return _with_nodes(system, blocks)


def _with_nodes(system: System, blocks: list[sparse.csr_array]) -> sparse.csr_array:
    blocks = [*blocks, *(sparse.eye_array(body.velocity_count, format="csr") for body in system.nodal)]
    return sparse.csr_array(sparse.block_diag(blocks, "csr")) if blocks else sparse.csr_array((0, 0))
