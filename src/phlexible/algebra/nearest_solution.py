"""The nearest point of a linear set, also where some of its equations repeat others."""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array
from phlexible.algebra.small_matrices import Matrix

REGULARISATION = 1e-9
REFINEMENTS = 8


def smallest_solution(metric: Matrix, matrix: Matrix, values: Array) -> Array:
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


def smallest_with_multipliers(metric: Matrix, matrix: Matrix, values: Array) -> tuple[Array, Array]:
    """The same x, and y (rows,) with ``metric @ x + matrix.T @ y = 0``."""
    rows, n = matrix.shape
    if rows == 0 or n == 0:
        return np.zeros(n), np.zeros(rows)
    if isinstance(metric, np.ndarray) and isinstance(matrix, np.ndarray):
        scale, row_scale, exact, solve = _dense_factors(metric, matrix)
    else:
        scale, row_scale, exact, solve = _sparse_factors(sparse.csr_array(metric), sparse.csr_array(matrix))
    right = np.concatenate([np.zeros(n), row_scale * values])
    solution = np.zeros(n + rows)
    for _ in range(REFINEMENTS):
        solution += solve(right - exact @ solution)
    return scale * solution[:n], row_scale * solution[n:]


Factors = tuple[Array, Array, Matrix, Callable[[Array], Array]]
"""Scales of unknowns and rows, the exact matrix, and what solves with the relaxed one."""


def _sparse_factors(metric: sparse.csr_array, matrix: sparse.csr_array) -> Factors:
    rows, n = matrix.shape
    scale = 1 / np.sqrt(metric.diagonal())
    scaled = (matrix @ sparse.diags_array(scale)).tocsr()
    row_scale = _row_scale(np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel())
    scaled = (sparse.diags_array(row_scale) @ scaled).tocsr()
    inertia = sparse.diags_array(scale) @ metric @ sparse.diags_array(scale)
    exact = sparse.block_array([[inertia, scaled.T], [scaled, None]], format="csc")
    relaxed = exact - REGULARISATION * sparse.block_diag([sparse.csr_array((n, n)), sparse.eye_array(rows)], "csc")
    return scale, row_scale, exact, splu(sparse.csc_matrix(relaxed)).solve


def _dense_factors(metric: Array, matrix: Array) -> Factors:
    rows, n = matrix.shape
    scale = 1 / np.sqrt(metric.diagonal())
    scaled = matrix * scale
    row_scale = _row_scale((scaled**2).sum(axis=1))
    scaled = row_scale[:, None] * scaled
    exact = np.zeros((n + rows, n + rows))
    exact[:n, :n] = scale[:, None] * metric * scale
    exact[:n, n:], exact[n:, :n] = scaled.T, scaled
    relaxed = exact.copy()
    relaxed.flat[n * (n + rows + 1) :: n + rows + 1] -= REGULARISATION
    inverse = np.linalg.inv(relaxed)  # good to what the refinement needs, and NumPy keeps no factors
    return scale, row_scale, exact, inverse.__matmul__


def _row_scale(squares: Array) -> Array:
    lengths = np.sqrt(squares)
    return np.asarray(1 / np.where(lengths > 0, lengths, 1.0))
