"""Solution of saddle-point systems: unknowns under constraints with multipliers, scaled, relaxed and refined."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import Matrix, block_array, diagonal_solver, solver

# ``K x + G^T y = f`` and ``G x - D y = g``, factored once for many right-hand sides.


class SaddlePoint:
    """Factored saddle-point system K x + G^T y = f, G x - D y = g. It is solved for x and multipliers y with many
    right-hand sides.

    Args:
        matrix: K, shape (n, n), real or complex.
        rows: G, shape (rows, n), of full rank unless there is a relaxation.
        compliance: the diagonal of D, shape (rows,); None: zero.
        scale: sizes of the unknowns, for example ``natural_scale(M)``, shape (n,); rows then have the size of the
            largest entry of K. None: no scaling.
        relaxation: of the scaled rows, which may then be linearly dependent; the solution is refined with the exact
            rows. Contradictory rows leave a residual.

    Raises:
        SingularMatrixError: matrices are sparse, and the system is exactly singular.
    """

    def __init__(
        self,
        matrix: Matrix,
        rows: Matrix,
        compliance: Array | None = None,
        scale: Array | None = None,
        relaxation: float = 0.0,
    ) -> None:
        count = rows.shape[0]
        self._scale, self._row_scale = np.ones(matrix.shape[0]) if scale is None else scale, np.ones(count)
        if scale is not None:
            matrix = _scaled_by(scale, matrix, scale)
            lengths = np.sqrt(rows**2 @ scale**2)
            self._row_scale = ((count and float(abs(matrix).max())) or 1.0) / np.where(lengths > 0, lengths, 1.0)
            rows = _scaled_by(self._row_scale, rows, scale)
        is_array = isinstance(matrix, np.ndarray) and isinstance(rows, np.ndarray)
        soft = np.zeros(count) if compliance is None else self._row_scale**2 * compliance
        self._exact = _saddle_matrix(matrix, rows, soft)
        self._refinements = REFINEMENTS if relaxation else 0
        # an inverse is as good as the refinement needs, and its products are faster than solutions
        if relaxation and is_array:
            relaxed = self._exact.copy()
            relaxed.reshape(-1)[len(matrix) * (len(relaxed) + 1) :: len(relaxed) + 1] -= relaxation
            self._solve: Callable[[Array], Array] = np.linalg.inv(relaxed).__matmul__
        else:
            whole = _saddle_matrix(matrix, rows, soft + relaxation) if relaxation else self._exact
            self._solve = solver(whole) if count or is_array else diagonal_solver(whole)

    def solve(self, forces: Array, values: Array | None = None) -> tuple[Array, Array]:
        """Solve the factored saddle-point system K x + G^T y = f, G x - D y = g for given f and g. Return x (n,
        ...) and the multipliers y (rows, ...). ``forces`` is f, shape (n,) or (n, columns); ``values`` is g, shape
        (rows,) or (rows, columns), None: zero."""
        above = (self._scale * forces.T).T
        if values is None:
            below = np.zeros((len(self._row_scale), *forces.shape[1:]))
        else:
            below = (self._row_scale * values.T).T
        right = np.ascontiguousarray(np.concatenate([above, below]), dtype=np.result_type(above, self._exact.dtype))
        solution = self._solve(right)
        for _ in range(self._refinements):
            solution = solution + self._solve(right - self._exact @ solution)
        x, y = solution[: len(above)], solution[len(above) :]
        return np.asarray((self._scale * x.T).T), np.asarray((self._row_scale * y.T).T)


def _scaled_by(left: Array, matrix: Matrix, right: Array) -> Matrix:
    """Return the matrix product diag(left) @ matrix @ diag(right), which scales rows by the vector ``left`` and
    columns by the vector ``right``; it is dense or sparse as ``matrix`` is."""
    if isinstance(matrix, np.ndarray):
        return left[:, None] * matrix * right
    return sparse.csr_array(sparse.diags_array(left) @ matrix @ sparse.diags_array(right))


def _saddle_matrix(matrix: Matrix, rows: Matrix, compliance: Array) -> Any:
    """Return the saddle-point matrix [[K, G^T], [G, -D]] of a stiffness or mass ``matrix`` K, constraint
    ``rows`` G and a diagonal matrix D. Its entries are ``compliance``. The result is K itself if there are no
    rows."""
    if not rows.shape[0]:
        return matrix
    soft = None
    if compliance.any():
        soft = -np.diag(compliance) if isinstance(rows, np.ndarray) else -sparse.diags_array(compliance)
    return block_array([[matrix, rows.T], [rows, soft]])


def natural_scale(mass: Matrix) -> Array:
    """Return the scale factors 1 / sqrt(M_ii) of the unknowns of a mass matrix M (n, n), shape (n,). With these all
    unknowns have unit mass."""
    return np.asarray(1 / np.sqrt(mass.diagonal()))


# The nearest point of a linear set, also with linearly dependent equations.

RELAXATION = 1e-9
REFINEMENTS = 7
RESIDUAL = 1e-12
"""Residual above which a solution is corrected, relative to the sum of the terms of its equation."""
NEGLIGIBLE = 1e-10
"""Size up to which entries are round-off, relative to the largest entry of their row."""


def nearest_point(metric: Matrix, matrix: Matrix) -> SaddlePoint:
    """Return a factored system of equations for constrained minimization: its method ``solve(f, g)`` gives the x
    that minimizes ``x.metric.x / 2 - f.x`` under the linear constraints ``matrix @ x = g``, and their multipliers.
    Rows of ``matrix`` may be linearly dependent.

    Args:
        metric: symmetric, positive definite, shape (n, n).
        matrix: shape (rows, n).
    """
    return SaddlePoint(metric, matrix, scale=natural_scale(metric), relaxation=RELAXATION)


def smallest_solution(metric: Matrix, matrix: Matrix, values: Array) -> Array:
    """Return the x of least weighted norm ``x.metric.x`` among the solutions of the underdetermined equations
    ``matrix @ x = values``, shape (n,).

    Linearly dependent equations are allowed; if they contradict each other, x leaves a residual.

    Args:
        metric: symmetric, positive definite, shape (n, n).
        matrix: shape (rows, n).
        values: shape (rows,).
    """
    return smallest_with_multipliers(metric, matrix, values)[0]


def smallest_with_multipliers(metric: Matrix, matrix: Matrix, values: Array) -> tuple[Array, Array]:
    """Return the x (n,) of least weighted norm ``x.metric.x`` among the solutions of ``matrix @ x = values``. Also
    return the multipliers y (rows,) with ``metric @ x + matrix.T @ y = 0``."""
    rows, n = matrix.shape
    if rows == 0 or n == 0:
        return np.zeros(n), np.zeros(rows)
    x, y = nearest_point(metric, matrix).solve(np.zeros(n), values)
    residual = values - matrix @ x
    if np.abs(residual).max() > RESIDUAL * (abs(matrix) @ np.abs(x) + np.abs(values)).max():
        # rows on one light body are dependent up to its share of the mass; without masses they are not
        even = SaddlePoint(metric, matrix, scale=_even_scale(metric, matrix), relaxation=RELAXATION)
        dx, dy = even.solve(-metric @ x - matrix.T @ y, residual)
        if np.abs(residual - matrix @ dx).max() < np.abs(residual).max():
            return x + dx, y + dy
    return x, y


def _even_scale(metric: Matrix, matrix: Matrix) -> Array:
    """Return scale factors of the unknowns of constrained equations, shape (n,). With these, the entries of each
    row of the constraint ``matrix`` are about equal and those of the ``metric`` are at most 1."""
    sizes, natural = sparse.coo_array(abs(matrix)), natural_scale(metric)
    largest, shares = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])
    np.maximum.at(largest, sizes.row, sizes.data)
    parts = sizes.data / np.where(largest > 0, largest, 1.0)[sizes.row]
    np.maximum.at(shares, sizes.col, np.where(parts > NEGLIGIBLE, parts, 0.0))
    is_used = shares > 0
    scale = 1 / np.where(is_used, shares, 1.0)
    return np.where(is_used, scale * (natural / scale)[is_used].min(initial=np.inf), natural)
