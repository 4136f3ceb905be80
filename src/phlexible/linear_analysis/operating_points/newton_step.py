"""One step of Newton's method towards an equilibrium under constraints (docs/theory.md, 7)."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array


def newton_step(
    stiffness: sparse.csr_array,
    matrix: sparse.csr_array,
    force: Array,
    gap: Array,
    compliance: Array | None = None,
) -> tuple[Array, Array] | None:
    """dx and lambda of ``K dx - G^T lambda = f``, ``G dx + D lambda = -g`` (7.17); None: singular.

    Args:
        stiffness: K, shape (velocities,) * 2.
        matrix: G, rows that do not repeat others, shape (rows, velocities).
        force: f, without those of constraints, shape (velocities,).
        gap: g, shape (rows,).
        compliance: the diagonal of D, shape (rows,); None: zero.
    """
    own = None if compliance is None else sparse.diags_array(compliance)
    saddle = sparse.block_array([[stiffness, -matrix.T], [matrix, own]]) if matrix.shape[0] else stiffness
    saddle = sparse.csc_matrix(saddle)
    saddle.eliminate_zeros()
    if structural_rank(saddle) < saddle.shape[0]:  # of slack strings; SuperLU may write beyond its memory
        return None
    try:
        solution = splu(saddle).solve(np.concatenate([force, -gap]))
    except RuntimeError:  # exactly singular
        return None
    if not np.isfinite(solution).all():
        return None
    return solution[: len(force)], solution[len(force) :]
