"""Saddle points: unknowns under constraints and their multipliers, scaled, relaxed and refined."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import Matrix, block_array, diagonal_solver, solver

# ``K x + G^T y = f`` and ``G x - D y = g``, factored once for many right sides.


class SaddlePoint:
    """x and y for many f and g.

    Args:
        matrix: K, shape (n, n), real or complex.
        rows: G, shape (rows, n), of full rank unless there is a relaxation.
        compliance: the diagonal of D, shape (rows,); None: zero.
        scale: sizes of the unknowns, for example ``natural_scale(M)``, shape (n,); rows then have the size of the
            largest entry of K. None: everything is taken as it is.
        relaxation: of the scaled rows, which may repeat each other then; the solution is refined against the exact
            ones. Where they contradict each other it leaves a residual.

    Raises:
        SingularMatrixError: matrices are sparse, and the whole is exactly singular.
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
            matrix = _scaled(scale, matrix, scale)
            lengths = np.sqrt(rows**2 @ scale**2)
            self._row_scale = ((count and float(abs(matrix).max())) or 1.0) / np.where(lengths > 0, lengths, 1.0)
            rows = _scaled(self._row_scale, rows, scale)
        is_array = isinstance(matrix, np.ndarray) and isinstance(rows, np.ndarray)
        soft = np.zeros(count) if compliance is None else self._row_scale**2 * compliance
        self._exact = _whole(matrix, rows, soft)
        self._refinements = REFINEMENTS if relaxation else 0
        # an inverse is as good as the refinement needs, and its products are faster than solutions
        if relaxation and is_array:
            relaxed = self._exact.copy()
            relaxed.reshape(-1)[len(matrix) * (len(relaxed) + 1) :: len(relaxed) + 1] -= relaxation
            self._solve: Callable[[Array], Array] = np.linalg.inv(relaxed).__matmul__
        else:
            whole = _whole(matrix, rows, soft + relaxation) if relaxation else self._exact
            self._solve = solver(whole) if count or is_array else diagonal_solver(whole)

    def solve(self, forces: Array, values: Array | None = None) -> tuple[Array, Array]:
        """x and y for f, shape (n,) or (n, columns), and g, shape (rows,) or (rows, columns); None: zero."""
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


def _scaled(left: Array, matrix: Matrix, right: Array) -> Matrix:
    if isinstance(matrix, np.ndarray):
        return left[:, None] * matrix * right
    return sparse.csr_array(sparse.diags_array(left) @ matrix @ sparse.diags_array(right))


def _whole(matrix: Matrix, rows: Matrix, compliance: Array) -> Any:
    if not rows.shape[0]:
        return matrix
    soft = None
    if compliance.any():
        soft = -np.diag(compliance) if isinstance(rows, np.ndarray) else -sparse.diags_array(compliance)
    return block_array([[matrix, rows.T], [rows, soft]])


def natural_scale(mass: Matrix) -> Array:
    """``1 / sqrt(diag M)``, shape (n,)."""
    return np.asarray(1 / np.sqrt(mass.diagonal()))


# The nearest point of a linear set, also where some of its equations repeat others.

RELAXATION = 1e-9
REFINEMENTS = 7
MISSED = 1e-12
"""Residual above which a solution is corrected, relative to the sum of the terms of its equation."""
NEGLIGIBLE = 1e-10
"""Size up to which entries are round-off, relative to the largest entry of their row."""


def nearest_point(metric: Matrix, matrix: Matrix) -> SaddlePoint:
    """Finds x of least ``x.metric.x / 2 - f.x`` with ``matrix @ x = g``; equations may repeat each other.

    Args:
        metric: symmetric, positive definite, shape (n, n).
        matrix: shape (rows, n).
    """
    return SaddlePoint(metric, matrix, scale=natural_scale(metric), relaxation=RELAXATION)


def smallest_solution(metric: Matrix, matrix: Matrix, values: Array) -> Array:
    """x with ``matrix @ x = values`` and least ``x.metric.x``, shape (n,).

    Equations that repeat others are allowed as long as they do not contradict them; where they do,
    x leaves a residual.

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
    x, y = nearest_point(metric, matrix).solve(np.zeros(n), values)
    missed = values - matrix @ x
    if np.abs(missed).max() > MISSED * (abs(matrix) @ np.abs(x) + np.abs(values)).max():
        # rows on one light body repeat each other but for its share of the mass; without masses they do not
        even = SaddlePoint(metric, matrix, scale=_even_scale(metric, matrix), relaxation=RELAXATION)
        dx, dy = even.solve(-metric @ x - matrix.T @ y, missed)
        if np.abs(missed - matrix @ dx).max() < np.abs(missed).max():
            return x + dx, y + dy
    return x, y


def _even_scale(metric: Matrix, matrix: Matrix) -> Array:
    """Sizes of unknowns that make the entries of rows alike, and entries of the metric 1 at most."""
    sizes, natural = sparse.coo_array(abs(matrix)), natural_scale(metric)
    largest, shares = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])
    np.maximum.at(largest, sizes.row, sizes.data)
    parts = sizes.data / np.where(largest > 0, largest, 1.0)[sizes.row]
    np.maximum.at(shares, sizes.col, np.where(parts > NEGLIGIBLE, parts, 0.0))
    moves = shares > 0
    scale = 1 / np.where(moves, shares, 1.0)
    return np.where(moves, scale * (natural / scale)[moves].min(initial=np.inf), natural)
