"""Exact changes of the positions of points with poses: what weighs these alone is not differenced.

x = r + R (x0 + P eta),    dx = dr + phi x (x - r) + R P deta
"""

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.ports import Attachment
from phlexible.state.recorded_run import RecordedRun

AXES = np.eye(3)


def weighted_point(sensor: object) -> tuple[Attachment, Array] | None:
    """Return the attachment point and the weights, shape (components, 3), of a sensor whose readings are linear in
    the position of that point; None for other sensors."""
    share = sensor.linear_reading if isinstance(sensor, Sensor) else None
    if share is None or not isinstance(share[0], Attachment) or share[1][:, 3:].any():
        return None
    return share[0], share[1][:, :3]


def point_derivatives(run: RecordedRun, point: Attachment) -> tuple[IntArray, Array]:
    """Return the indices of the velocities whose motions move an attachment point, shape (d,), and the
    derivatives of its position with respect to them. The derivatives are those at all instants of a run,
    shape (instants, 3, d). They are in world axes."""
    layout, at = run.system.layout, run.instants
    weights, vectors = run.point(point)
    frame, axis, index = layout.spin
    directions: list[IntArray] = []
    columns: list[Array] = []
    for weight, vector, x in zip(weights.tolist(), vectors.vectors, vectors.values(at).swapaxes(0, 1), strict=True):
        carrier = vector.carrier
        along = layout.linear[carrier]
        directions.append(along)
        columns.append(np.broadcast_to(weight * AXES[:, : len(along)], (at.count, 3, len(along))))
        if carrier >= layout.frames:
            continue
        turns, lever = frame == carrier, x - at.position[:, carrier]
        directions.append(index[turns])
        columns.append(weight * cross(AXES[axis[turns]], lever[:, None]).swapaxes(1, 2))
        bends = np.flatnonzero(vector.shapes.any(axis=0))
        directions.append(int(layout.velocity[carrier + 1]) - vector.shapes.shape[1] + bends)
        columns.append(weight * (at.rotation[:, carrier] @ vector.shapes[:, bends]))
    return np.concatenate(directions), np.concatenate(columns, axis=2)
