"""Linear and angular momentum of the whole system, and its centre of mass (docs/theory.md, 2)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, hold_read_only
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import kept_velocities, rigid_rows
from phlexible.display.written import short_repr
from phlexible.observables.run import RecordedRun
from phlexible.system.vectors import split_rigid

CHUNK_NUMBERS = 4_000_000
"""About this many numbers are held at a time."""


@dataclass(frozen=True, eq=False)
class Momentum:
    """Of all bodies, world axes.

    Attributes:
        linear: shape (N + 1, 3) [kg m/s].
        angular: about the world origin, shape (N + 1, 3) [kg m2/s].
        center_of_mass: of all bodies together, shape (N + 1, 3) [m].
    """

    linear: Array
    angular: Array
    center_of_mass: Array

    __repr__ = short_repr

    def __post_init__(self) -> None:
        hold_read_only(self)


def momentum(run: RecordedRun) -> Momentum:
    """sum m V, sum (x_c x m V + R pi_r) and sum m x_c / sum m, from the stored velocities (2.5)."""
    layout, rec = run.system.layout, run.recording
    linear, angular, moment = (np.zeros((run.count, 3)) for _ in range(3))
    V = split_rigid(layout, rec.velocity)[0]
    for index, data in enumerate(run.system.frames):
        p = data.mass * V[:, index]
        linear += p
        angular += np.cross(rec.position[:, index], p) + _spin(run, index, data)
        moment += data.mass * rec.position[:, index]
    for index, body in enumerate(run.system.nodal, start=layout.frames):
        own = slice(int(layout.carrier[index]), int(layout.carrier[index + 1]))
        nodes, p = rec.position[:, own], _nodal_momentum(body, V[:, own])
        linear += p.sum(axis=1)
        angular += np.cross(nodes, p).sum(axis=1)
        moment += np.einsum("k,tki->ti", np.asarray(body.nodal_mass.sum(axis=0)).ravel(), nodes)
    return Momentum(linear, angular, moment / (sum(placed.data.mass for placed in run.system.bodies) or 1.0))


def _spin(run: RecordedRun, index: int, data: FloatingBody) -> Array:
    """R pi_r of one body, shape (T, 3)."""
    if not data.rotates:
        return np.zeros((run.count, 3))
    result = np.zeros((run.count, 3))
    step = max(1, CHUNK_NUMBERS // (12 * (data.elastic_count + 6)))
    for first in range(0, run.count, step):
        part = slice(first, first + step)
        rows = rigid_rows(data, run.elastic(index)[part])[:, 3:, kept_velocities(data)]
        pi = np.einsum("tij,tj->ti", rows, run.recording.velocity[part, run.system.layout.place(index)])
        result[part] = np.einsum("tij,tj->ti", run.recording.rotation[part, index], pi)
    return result


def _nodal_momentum(body: AbsoluteBody, V: Array) -> Array:
    """M V of the nodes, from shape (T, N, 3)."""
    flat = V.transpose(1, 0, 2).reshape(body.node_count, -1)
    return np.asarray((body.nodal_mass @ flat).reshape(body.node_count, len(V), 3).transpose(1, 0, 2))
