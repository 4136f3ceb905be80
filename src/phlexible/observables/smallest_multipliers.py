"""Multipliers of redundant joints: of all that do the same to the bodies, the smallest ones.

The step leaves the part of the multipliers open that moves nothing, ``G^T lambda = 0``. Like the
velocities they are settled where they are reported and not fed back: at each instant the part in the
null space of G^T goes, orthogonal in the metric of ``rank/smallest_multipliers.py``.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array
from phlexible.observables.projection import (
    DENSE_ROWS,
    DEPENDENT,
    body_rows,
    chunks,
    dense_schur,
    sparse_schur,
)
from phlexible.observables.run import RecordedRun

RELAXATION, SWEEPS = 1e-9, 4


def smallest_multipliers(run: RecordedRun) -> Array:
    """Multipliers of all rows of joints and drives, shape (N + 1, rows); as recorded unless redundant."""
    if not run.recording.held.size:
        return _of_phase(run)
    result, begin = np.zeros_like(run.recording.multipliers), 0
    for phase, rows in run.phases:
        result[begin : begin + phase.count, rows] = _of_phase(phase)
        begin += phase.count
    return result


def _of_phase(run: RecordedRun) -> Array:
    recorded = run.recording.multipliers
    if not recorded.shape[1] or not run.has_redundant_joints:
        return recorded
    lengths = run.system.gap_lengths
    parts = [_without_null_space(run.at(part), recorded[part] * lengths, lengths) for part in chunks(run)]
    return np.concatenate(parts) / lengths


def _without_null_space(run: RecordedRun, forces: Array, lengths: Array) -> Array:
    """Weighted multipliers (T, rows) without their part in the null space of the weighted G^T."""
    parts = body_rows(run)
    count = len(lengths)
    if count > DENSE_ROWS:
        scale = sparse.diags_array(1 / lengths)
        totals = (scale @ sparse_schur(parts, count, t) @ scale for t in range(run.count))
        return np.array([_swept(total, force) for total, force in zip(totals, forces, strict=True)])
    total = dense_schur(parts, run.count, count) / np.outer(lengths, lengths)
    values, vectors = np.linalg.eigh(total)
    along = np.einsum("trk,tr->tk", vectors, forces)
    along[values < DEPENDENT * values[:, -1:]] = 0
    return np.asarray(np.einsum("trk,tk->tr", vectors, along))


def _swept(total: sparse.csc_array, force: Array) -> Array:
    """``force`` less the limit of ((S + e I)^-1 e)^k force: its part in the null space of S."""
    relaxation = RELAXATION * float(total.diagonal().max())
    factors = splu(sparse.csc_matrix(total + relaxation * sparse.eye_array(len(force))))
    part = force
    for _ in range(SWEEPS):
        part = relaxation * factors.solve(part)
    return force - part
