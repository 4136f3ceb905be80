"""The nearest point of a linear set, also where some of its equations repeat others."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array

REGULARISATION = 1e-9
REFINEMENTS = 8


def smallest_solution(metric: sparse.csr_array, matrix: sparse.csr_array, values: Array) -> Array:
    """x with ``matrix @ x = values`` and least ``x.metric.x``, shape (n,).

    Equations that repeat others are allowed as long as they do not contradict them; where they do,
    x leaves a residual. Rows and unknowns are scaled, the equations relaxed by 1e-9 and the
    solution refined against the exact ones.

    Args:
        metric: symmetric, positive definite, shape (n, n).
        matrix: shape (rows, n).
        values: shape (rows,).
    """
    return smallest_with_multipliers(metric, matrix, values)[0]


def smallest_with_multipliers(
    metric: sparse.csr_array, matrix: sparse.csr_array, values: Array
) -> tuple[Array, Array]:
    """The same x, and y (rows,) with ``metric @ x + matrix.T @ y = 0``."""
    rows, n = matrix.shape
    if rows == 0 or n == 0:
        return np.zeros(n), np.zeros(rows)
    scale = sparse.diags_array(1 / np.sqrt(metric.diagonal()))
    scaled = (matrix @ scale).tocsr()
    lengths = np.sqrt(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    row_scale = 1 / np.where(lengths > 0, lengths, 1.0)
    scaled = (sparse.diags_array(row_scale) @ scaled).tocsr()
    exact = sparse.block_array([[scale @ metric @ scale, scaled.T], [scaled, None]], format="csc")
    relaxed = exact - REGULARISATION * sparse.block_diag([sparse.csr_array((n, n)), sparse.eye_array(rows)], "csc")
    factors = splu(sparse.csc_matrix(relaxed))
    right = np.concatenate([np.zeros(n), row_scale * values])
    solution = np.zeros(n + rows)
    for _ in range(REFINEMENTS):
        solution += factors.solve(right - exact @ solution)
    return np.asarray(scale @ solution[:n]), np.asarray(row_scale * solution[n:])
