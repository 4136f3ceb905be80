"""States near a state, and coordinates of linear models: small motions in body axes (docs/theory.md, 7)."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross_matrix, rotation_vector_matrices
from phlexible.algebra.sparse import Matrix
from phlexible.bodies.mechanics.floating import velocity_components
from phlexible.state.layout import State
from phlexible.state.system import System
from phlexible.state.vectors import split_rigid

# States close to a state.


def displaced(system: System, state: State, change: Array) -> State:
    """Return a copy of a state whose pose is changed by a small motion ``change``, shape (velocities,), ordered
    like the velocities. Translations in world axes and elastic coordinates are added. Rotation matrices R become R
    exp([theta]), with rotation vectors theta in body axes. Velocities, time and history variables stay the same.

    Args:
        change: (dx, dtheta, deta) of every carrier in the places of nu, flat.
    """
    layout = system.layout
    shift, turn = split_rigid(layout, change)
    rotation = state.rotation @ rotation_vector_matrices(turn)
    eta = state.eta + change[layout.elastic_rate]
    return replace(state, position=state.position + shift, rotation=rotation, eta=eta)


def velocity_between(system: System, start: State, end: State) -> Array:
    """Return twice the displacements from the pose of ``start`` to that of ``end``, as velocities of the system,
    shape (velocities,). They are the velocities at the end of a time step of one second from rest, whose mean
    velocity is half of them. Rotations are converted by the Cayley map, in body axes."""
    layout, velocity = system.layout, np.zeros_like(start.velocity)
    velocity[layout.linear] = 2 * (end.position - start.position)[:, : system.dimension]
    velocity[layout.elastic_rate] = 2 * (end.eta - start.eta)
    turn, (frame, axis, index) = start.rotation.swapaxes(1, 2) @ end.rotation, layout.spin
    skew, cosines = turn - turn.swapaxes(1, 2), 1 + np.trace(turn, axis1=1, axis2=2)
    half_turn = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1) / cosines[:, None]
    velocity[index] = 4 * half_turn[frame, axis]
    return velocity


# Coordinates of linear models: small motions of bodies in their axes, as in the papers (docs/theory.md, 7).
#
# x = (dr, dtheta, deta) moves the reference point of a body by R dr, turns it by R exp(dtheta) and deforms it by
# deta. Motions of the centre of mass, which the step and its functions know, follow by a linear map (2.7, 7.1).


def centring_matrix(system: System, state: State, bodies: Collection[int] | None = None) -> sparse.csr_array:
    """Return the sparse matrix (velocities, velocities) that converts small motions of floating bodies about a
    state from reference points to centres of mass. It changes translations, by rotations and elastic coordinates;
    all are in body axes, and the others stay unchanged. Only ``bodies`` with these indices are converted (None:
    all).

    Args:
        system: the mechanism.
        state: state about which the motions are small.
        bodies: indices of floating bodies; the others keep dr. None: all.
    """
    places = [np.arange(system.layout.velocity[-1])] * 2
    entries: list[tuple[IntArray, IntArray, Array]] = [(places[0], places[1], np.ones(len(places[0])))]
    for index, data in enumerate(system.frames):
        if bodies is not None and index not in bodies:
            continue
        centre, first = system.centres[index], int(system.layout.velocity[index])
        place = centre @ np.concatenate([[1.0], system.elastic(state, index)])
        rows = np.hstack([np.zeros((3, 3)), -cross_matrix(place), centre[:, 1:]])
        i, j = (moved := rows[: data.dimension, velocity_components(data)]).nonzero()
        entries.append((first + i, first + j, moved[i, j]))
    return _from_triplets(entries, len(places[0]))


def world_matrix(system: System, state: State) -> sparse.csr_array:
    """Return a sparse matrix (velocities, velocities) that rotates the translational velocities of every floating
    body from body axes to world axes. The rotation is that of the body in ``state``. All other components stay as
    they are. The matrix converts small motions about this state."""
    layout, d = system.layout, system.dimension
    size, own = int(layout.velocity[-1]), layout.linear[: layout.frames]
    turned = state.rotation[:, :d, :d]
    rows, columns = (np.broadcast_to(each, turned.shape) for each in (own[:, :, None], own[:, None, :]))
    others = np.setdiff1d(np.arange(size), own)
    entries = [(rows.ravel(), columns.ravel(), turned.ravel()), (others, others, np.ones(len(others)))]
    found = _from_triplets(entries, size)
    found.eliminate_zeros()
    return found


def _from_triplets(entries: Sequence[tuple[IntArray, IntArray, Array]], size: int) -> sparse.csr_array:
    """Assemble a sparse matrix of shape (size, size) from arrays of row indices, column indices and values.
    Repeated entries are added."""
    rows, columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(size, size)))


def size_of_motion(system: System, change: Array) -> float:
    """Return a dimensionless size of a small motion ``change`` of a ``system``, shape (velocities,): the
    larger of the largest translation component over the largest length of the model and the largest rotation
    component [rad]. Elastic coordinates do not count."""
    move = float(np.abs(change[system.layout.linear]).max(initial=0.0)) / system.largest_length
    return max(move, float(np.abs(change[system.layout.spin[2]]).max(initial=0.0)))


def round_off_of_forces(system: System, state: State, stiffness: Matrix) -> Array:
    """Return the force residuals, shape (velocities,), that rounded coordinates may cause in a ``state``: machine
    precision times |``stiffness``| times coordinate sizes. The size of a translation is the largest position plus
    the largest length of the ``system``, of a rotation 1, and of an elastic coordinate or director its absolute
    value.

    Args:
        system: mechanism in balance.
        state: state in balance.
        stiffness: derivative of the forces with respect to the coordinates, shape (velocities,) * 2.
    """
    extent = system.largest_length + float(np.abs(state.position).max(initial=0.0))
    sizes = np.zeros(stiffness.shape[0])
    own = np.abs(state.position[:, : system.dimension])
    sizes[system.layout.linear] = np.where(system.carrier_translations[:, None] > 0, extent, own)
    sizes[system.layout.spin[2]] = 1.0
    sizes[system.layout.elastic_rate] = np.abs(state.eta)
    return np.asarray(np.finfo(float).eps * (abs(stiffness) @ sizes))
