"""Linear and angular momentum of the whole system."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.observables.inertia import kept_velocities, rigid_rows
from phlexible.observables.run import Run

CHUNK_NUMBERS = 4_000_000
"""About this many numbers are held at a time."""


@dataclass(frozen=True, eq=False)
class Momentum:
    """Of all bodies, world axes.

    Attributes:
        linear: shape (N + 1, 3) [kg m/s].
        angular: about the world origin, shape (N + 1, 3) [kg m2/s].
    """

    linear: Array
    angular: Array


def momentum(run: Run) -> Momentum:
    """sum p and sum (r x p + R pi_r) with p = R pi_t, from the stored velocities (formulation 2 and 4)."""
    linear, angular = np.zeros((run.instants, 3)), np.zeros((run.instants, 3))
    for index, placed in enumerate(run.mechanism.bodies):
        step = max(1, CHUNK_NUMBERS // (12 * (placed.data.elastic_count + 6)))
        for first in range(0, run.instants, step):
            part = slice(first, first + step)
            p, about_origin = _body_momentum(run.at(part), index)
            linear[part] += p
            angular[part] += about_origin
    return Momentum(linear, angular)


def _body_momentum(run: Run, index: int) -> tuple[Array, Array]:
    data, offsets = run.mechanism.bodies[index].data, run.layout.velocity
    own = run.recording.velocity[:, offsets[index] : offsets[index + 1]]
    if isinstance(data, AbsoluteBody):
        return _momentum_of_nodes(data, run.elastic(index), own)
    rows = rigid_rows(data, run.elastic(index))[:, :, kept_velocities(data)]
    body_axes = np.einsum("tij,tj->ti", rows, own).reshape(-1, 2, 3)
    p, spin = np.einsum("tij,tkj->kti", run.recording.rotation[:, index], body_axes)
    return p, np.cross(run.recording.position[:, index], p) + spin


def _momentum_of_nodes(data: AbsoluteBody, positions: Array, velocities: Array) -> tuple[Array, Array]:
    """sum M dq/dt and sum q x M dq/dt of an absolute body, from shapes (T, d N)."""
    instants, d = len(positions), data.dimension
    q, p = np.zeros((2, instants, data.node_count, 3))
    q[:, :, :d] = positions.reshape(instants, -1, d)
    rates = velocities.reshape(instants, -1, d)
    for axis in range(d):
        p[:, :, axis] = (data.nodal_mass @ rates[:, :, axis].T).T
    return p.sum(axis=1), np.cross(q, p).sum(axis=1)
