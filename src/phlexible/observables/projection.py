"""Velocities that satisfy the joints: nu - M^-1 G^T (G M^-1 G^T)^-1 (G nu + g_t).

The step enforces g = 0 and not its derivative, so the stored nu misses it by O(h^2). The nearest
consistent velocities in the mass metric are reported, never fed back (formulation, section 4).
"""

from collections import defaultdict

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu, spsolve

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_mechanics import mass_matrix
from phlexible.bodies.floating_body import FloatingBody
from phlexible.joints.bilinear import Row
from phlexible.observables.inertia import mass_matrices
from phlexible.observables.run import Run
from phlexible.observables.vectors import body_vector, jacobians, prescribed_rates, world_values

DENSE_ROWS = 200
"""Up to this many joint functions G M^-1 G^T is a dense matrix for each instant."""

CHUNK_NUMBERS = 4_000_000
"""About this many numbers are held at a time."""


def projected_velocities(run: Run) -> Array:
    """Flat velocities that satisfy the joints, shape (N + 1, sum of velocity counts)."""
    rows = [row for joint in run.mechanism.joints for row in joint.rows(run.mechanism.dimension)]
    if not rows:
        return run.recording.velocity
    widths = [placed.data.velocity_count for placed in run.mechanism.bodies]
    frames = [placed.curve is None for placed in run.mechanism.bodies]
    squares = sum(w**2 if has_frame else 3 * w for w, has_frame in zip(widths, frames, strict=True))
    numbers = 4 * squares + min(len(rows), DENSE_ROWS) ** 2 + 60 * len(rows)
    step = max(1, CHUNK_NUMBERS // numbers)
    parts = [_projected(run.at(slice(k, k + step)), rows) for k in range(0, run.instants, step)]
    return np.concatenate(parts)


def constraint_blocks(run: Run, rows: list[Row]) -> tuple[dict[int, dict[int, Array]], Array]:
    """G and g_t of dg/dt = G nu + g_t.

    Returns:
        For each body the rows of G that touch it, each of shape (T, velocity count), and g_t,
        shape (T, rows).
    """
    blocks: dict[int, dict[int, Array]] = defaultdict(dict)
    rates = np.zeros((run.instants, len(rows)))
    for k, row in enumerate(rows):
        for term in row.terms:
            for vector, partner in ((term.first, term.second), (term.second, term.first)):
                force = term.coefficient * world_values(run, partner)
                if (moving := body_vector(run, vector)) is None:
                    rates[:, k] += np.einsum("ti,ti->t", force, prescribed_rates(run, vector))
                    continue
                part = np.einsum("ti,tij->tj", force, jacobians(run, moving))
                own = blocks[moving.body]
                own[k] = own[k] + part if k in own else part
    return blocks, rates


def _projected(run: Run, rows: list[Row]) -> Array:
    blocks, gap = constraint_blocks(run, rows)
    result = run.recording.velocity.copy()
    offsets = run.layout.velocity
    parts: list[tuple[slice, list[int], Array, Array]] = []
    for body, own in blocks.items():
        place = slice(int(offsets[body]), int(offsets[body + 1]))
        constraint = np.stack(list(own.values()), axis=1)
        response = _response(run, body, constraint)
        gap[:, list(own)] += np.einsum("trj,tj->tr", constraint, result[:, place])
        parts.append((place, list(own), response, constraint @ response))
    impulses = _impulses([(places, schur) for _, places, _, schur in parts], gap)
    for place, places, response, _ in parts:
        result[:, place] -= np.einsum("tjr,tr->tj", response, impulses[:, places])
    return result


def _response(run: Run, body: int, constraint: Array) -> Array:
    """M^-1 G^T of one body, shape (T, velocity count, rows)."""
    data = run.mechanism.bodies[body].data
    if isinstance(data, FloatingBody):
        masses = mass_matrices(data, run.elastic(body))
        return np.asarray(np.linalg.solve(masses, constraint.transpose(0, 2, 1)), dtype=np.float64)
    touched = np.flatnonzero(constraint.any(axis=(0, 1)))
    units = np.zeros((data.velocity_count, len(touched)))
    units[touched, np.arange(len(touched))] = 1.0
    answers = splu(sparse.csc_matrix(mass_matrix(data))).solve(units)
    return np.asarray(np.einsum("jw,trw->tjr", answers, constraint[:, :, touched]))


def _impulses(blocks: list[tuple[list[int], Array]], gap: Array) -> Array:
    """(sum of blocks)^-1 gap, shape (T, rows); each block comes with the rows that it sits in."""
    instants, rows = gap.shape
    if rows > DENSE_ROWS:
        return np.stack([_sparse_impulses(blocks, gap, t) for t in range(instants)])
    total = np.zeros((instants, rows, rows))
    for places, block in blocks:
        total[:, np.array(places)[:, None], places] += block
    try:
        return np.asarray(np.linalg.solve(total, gap[..., None])[..., 0])
    except np.linalg.LinAlgError:  # a singular position: the smallest impulses
        return np.asarray((np.linalg.pinv(total, hermitian=True) @ gap[..., None])[..., 0])


def _sparse_impulses(blocks: list[tuple[list[int], Array]], gap: Array, instant: int) -> Array:
    indices = [np.array(np.meshgrid(places, places, indexing="ij")).reshape(2, -1) for places, _ in blocks]
    values = np.concatenate([block[instant].ravel() for _, block in blocks])
    row, column = np.concatenate(indices, axis=1)
    matrix = sparse.coo_array((values, (row, column)), shape=(gap.shape[1], gap.shape[1]))
    return np.asarray(spsolve(matrix.tocsc(), gap[instant]))
