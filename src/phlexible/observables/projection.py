"""Velocities that satisfy the joints: nu - M^-1 G^T (G M^-1 G^T)^-1 (G nu + g_t).

The step enforces g = 0 and not its derivative, so the stored nu misses it by O(h^2). The nearest
consistent velocities in the mass metric are reported, never fed back (formulation, section 4).
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.floating_body import FloatingBody
from phlexible.interactions.bilinear import Row
from phlexible.observables.inertia import mass_matrices
from phlexible.observables.run import Run
from phlexible.observables.vectors import body_vector, jacobians, prescribed_rates, timed_values, world_values

if TYPE_CHECKING:
    from scipy import sparse

DENSE_ROWS = 200
"""Up to this many joint functions G M^-1 G^T is a dense matrix for each instant."""

CHUNK_NUMBERS = 4_000_000
"""About this many numbers are held at a time."""

DEPENDENT = 1e-12
"""Eigenvalues of G M^-1 G^T, its diagonal scaled to 1, below this fraction of the largest are zero."""

RELAXATION, REFINEMENTS = 1e-10, 5


@dataclass(frozen=True, eq=False)
class BodyRows:
    """The rows of G that touch one body, at T instants.

    Attributes:
        place: of the body's velocities among all.
        rows: their numbers.
        constraint: shape (T, rows, velocity count).
        response: M^-1 of it, shape (T, velocity count, rows).
    """

    place: slice
    rows: list[int]
    constraint: Array
    response: Array

    @property
    def schur(self) -> Array:
        """This body's part of G M^-1 G^T, shape (T, rows, rows)."""
        return self.constraint @ self.response


def projected_velocities(run: Run) -> Array:
    """Flat velocities that satisfy the joints, shape (N + 1, sum of velocity counts)."""
    rows = joint_rows(run)
    if not rows:
        return run.recording.velocity
    is_redundant = run.has_redundant_joints
    return np.concatenate([_projected(run.at(part), rows, is_redundant) for part in chunks(run)])


def joint_rows(run: Run) -> list[Row]:
    """The functions of all joints and drives."""
    return [row for part in run.mechanism.constraints for row in part.rows(run.mechanism.dimension)]


def chunks(run: Run) -> list[slice]:
    """Instants in parts of about CHUNK_NUMBERS numbers each."""
    rows = len(joint_rows(run))
    widths = [placed.data.velocity_count for placed in run.mechanism.bodies]
    frames = [placed.curve is None for placed in run.mechanism.bodies]
    squares = sum(w**2 if has_frame else 3 * w for w, has_frame in zip(widths, frames, strict=True))
    step = max(1, CHUNK_NUMBERS // (4 * squares + min(rows, DENSE_ROWS) ** 2 + 60 * rows))
    return [slice(k, k + step) for k in range(0, run.instants, step)]


def constraint_blocks(run: Run, rows: list[Row]) -> tuple[dict[int, dict[int, Array]], Array]:
    """G and g_t of dg/dt = G nu + g_t.

    Returns:
        For each body the rows of G that touch it, each of shape (T, velocity count), and g_t,
        shape (T, rows).
    """
    blocks: dict[int, dict[int, Array]] = defaultdict(dict)
    rates = np.zeros((run.instants, len(rows)))
    for k, row in enumerate(rows):
        if row.offset is not None:
            rates[:, k] -= timed_values(run, row.offset)[1]
        for term in row.terms:
            factor = np.full(run.instants, term.coefficient)
            if term.factor is not None:
                values, changes = timed_values(run, term.factor)
                factor = term.coefficient * values
                dots = np.einsum("ti,ti->t", world_values(run, term.first), world_values(run, term.second))
                rates[:, k] += term.coefficient * changes * dots
            for vector, partner in ((term.first, term.second), (term.second, term.first)):
                force = factor[:, None] * world_values(run, partner)
                if (moving := body_vector(run, vector)) is None:
                    rates[:, k] += np.einsum("ti,ti->t", force, prescribed_rates(run, vector))
                    continue
                part = np.einsum("ti,tij->tj", force, jacobians(run, moving))
                own = blocks[moving.body]
                own[k] = own[k] + part if k in own else part
    return blocks, rates


def body_rows(run: Run, blocks: dict[int, dict[int, Array]]) -> list[BodyRows]:
    """The first result of ``constraint_blocks`` with the bodies' masses."""
    offsets = run.layout.velocity
    found = []
    for body, own in blocks.items():
        constraint = np.stack(list(own.values()), axis=1)
        place = slice(int(offsets[body]), int(offsets[body + 1]))
        found.append(BodyRows(place, list(own), constraint, _response(run, body, constraint)))
    return found


def _response(run: Run, body: int, constraint: Array) -> Array:
    """M^-1 G^T of one body, shape (T, velocity count, rows)."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    from phlexible.bodies.mechanics.absolute import mass_matrix

    data = run.mechanism.bodies[body].data
    if isinstance(data, FloatingBody):
        masses = mass_matrices(data, run.elastic(body))
        return np.asarray(np.linalg.solve(masses, constraint.transpose(0, 2, 1)), dtype=np.float64)
    touched = np.flatnonzero(constraint.any(axis=(0, 1)))
    units = np.zeros((data.velocity_count, len(touched)))
    units[touched, np.arange(len(touched))] = 1.0
    answers = splu(sparse.csc_matrix(mass_matrix(data))).solve(units)
    return np.asarray(np.einsum("jw,trw->tjr", answers, constraint[:, :, touched]))


def dense_schur(parts: list[BodyRows], instants: int, rows: int) -> Array:
    """G M^-1 G^T, shape (T, rows, rows)."""
    total = np.zeros((instants, rows, rows))
    for part in parts:
        total[:, np.array(part.rows)[:, None], part.rows] += part.schur
    return total


def sparse_schur(parts: list[BodyRows], rows: int, instant: int) -> "sparse.csc_array":
    """G M^-1 G^T of one instant."""
    from scipy import sparse

    indices = [np.array(np.meshgrid(p.rows, p.rows, indexing="ij")).reshape(2, -1) for p in parts]
    values = np.concatenate([part.schur[instant].ravel() for part in parts])
    row, column = np.concatenate(indices, axis=1)
    return sparse.coo_array((values, (row, column)), shape=(rows, rows)).tocsc()


def _projected(run: Run, rows: list[Row], is_redundant: bool) -> Array:
    blocks, gap = constraint_blocks(run, rows)
    result = run.recording.velocity.copy()
    parts = body_rows(run, blocks)
    for part in parts:
        gap[:, part.rows] += np.einsum("trj,tj->tr", part.constraint, result[:, part.place])
    impulses = _impulses(parts, gap, is_redundant)
    for part in parts:
        result[:, part.place] -= np.einsum("tjr,tr->tj", part.response, impulses[:, part.rows])
    return result


def _impulses(parts: list[BodyRows], gap: Array, is_redundant: bool) -> Array:
    """(G M^-1 G^T)^-1 gap, shape (T, rows); of redundant joints one of the solutions."""
    instants, rows = gap.shape
    if rows > DENSE_ROWS:
        return np.stack([_sparse_impulses(parts, gap, t, is_redundant) for t in range(instants)])
    total = dense_schur(parts, instants, rows)
    if not is_redundant:
        try:
            return np.asarray(np.linalg.solve(total, gap[..., None])[..., 0])
        except np.linalg.LinAlgError:  # a singular position
            pass
    size = np.sqrt(np.einsum("trr->tr", total))
    size[size == 0] = 1.0
    inverse = np.linalg.pinv(total / (size[:, :, None] * size[:, None, :]), rcond=DEPENDENT, hermitian=True)
    return np.asarray((inverse @ (gap / size)[..., None])[..., 0] / size)


def _sparse_impulses(parts: list[BodyRows], gap: Array, instant: int, is_redundant: bool) -> Array:
    from scipy import sparse
    from scipy.sparse.linalg import splu, spsolve

    matrix, right = sparse_schur(parts, gap.shape[1], instant), gap[instant]
    if not is_redundant:
        return np.asarray(spsolve(matrix, right))
    factors = splu(sparse.csc_matrix(matrix + RELAXATION * sparse.diags_array(matrix.diagonal())))
    solution = np.zeros_like(right)
    for _ in range(REFINEMENTS):
        solution += factors.solve(right - matrix @ solution)
    return np.asarray(solution)


def has_dependent_rows(run: Run) -> bool:
    """Whether G at the first instant has rows that depend on others; dense, from recorded frames."""
    rows = joint_rows(run)
    if not rows:
        return False
    start = run.at(slice(0, 1))
    blocks, _ = constraint_blocks(start, rows)
    matrix = np.zeros((len(rows), int(run.layout.velocity[-1])))
    for body, own in blocks.items():
        place = slice(int(run.layout.velocity[body]), int(run.layout.velocity[body + 1]))
        data = run.mechanism.bodies[body].data
        if isinstance(data, FloatingBody):
            masses = mass_matrices(data, start.elastic(body))[0].diagonal()
        else:
            masses = np.repeat(data.nodal_mass.diagonal(), data.dimension)
        matrix[list(own), place] = [row[0] for row in own.values()] / np.sqrt(masses)
    lengths = np.linalg.norm(matrix, axis=1)
    matrix /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return bool(np.linalg.matrix_rank(matrix, tol=1e-9) < len(rows))
