"""Solves ``A x - G^T lambda = b, G x = 0`` with sparse LU, unknowns and rows scaled."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array


class ConstrainedSolver:
    """x for many right-hand sides b; ``G x = 0`` holds to round-off.

    Args:
        matrix: A, shape (n, n), real or complex.
        constraint_matrix: G, shape (rows, n), of full rank.
        scale: sizes of the unknowns, shape (n,), for example ``1 / sqrt(diag M)``.

    Raises:
        RuntimeError: the system is exactly singular.
    """

    def __init__(self, matrix: sparse.csr_array, constraint_matrix: sparse.csr_array, scale: Array) -> None:
        self._scale, rows = scale, constraint_matrix.shape[0]
        size = sparse.diags_array(scale)
        scaled = sparse.csr_array(size @ matrix @ size)
        if rows:
            G = sparse.csr_array(constraint_matrix @ size)
            largest = float(abs(scaled).max())
            lengths = np.sqrt(np.asarray(G.multiply(G).sum(axis=1)).ravel())
            G = sparse.diags_array(largest / np.where(lengths > 0, lengths, 1.0)) @ G
            scaled = sparse.csr_array(sparse.block_array([[scaled, G.T], [G, None]]))
        self._factors = splu(sparse.csc_matrix(scaled))
        self._rows = rows

    def solve(self, right: Array) -> Array:
        """x, shape as ``right``: (n,) or (n, columns)."""
        scaled = (self._scale * right.T).T
        padded = np.concatenate([scaled, np.zeros((self._rows, *right.shape[1:]), scaled.dtype)])
        solution = self._factors.solve(np.ascontiguousarray(padded))[: len(right)]
        return np.asarray((self._scale * solution.T).T)


def natural_scale(mass: sparse.csr_array) -> Array:
    """``1 / sqrt(diag M)``, shape (n,)."""
    return np.asarray(1 / np.sqrt(mass.diagonal()))
