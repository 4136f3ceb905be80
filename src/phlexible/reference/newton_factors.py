"""Newton's matrix of a collocation step, factored: dense or sparse, as the slope of the model comes."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.port_hamiltonian.model import Matrix


class NewtonFactors:
    """Solves with the blocks E delta_ij + h a_ij slope of s stages; columns of multipliers hold the slope itself.

    Args:
        step: h [s].
        coefficients: a_ij, shape (s, s).
        slope: d(defect)/dx, shape (n, n).
        descriptor: E, shape (n, n).
        is_algebraic: of the n states.

    Raises:
        ModelError: the matrix is singular: constraints depend on each other.
    """

    def __init__(
        self, step: float, coefficients: Array, slope: Matrix, descriptor: Matrix, is_algebraic: NDArray[np.bool_]
    ) -> None:
        self.step, self._dense, self._sparse = step, None, None
        if sparse.issparse(slope):
            differential = sparse.diags_array((~is_algebraic).astype(np.float64), format="csr")
            algebraic = sparse.diags_array(is_algebraic.astype(np.float64), format="csr")
            between = sparse.kron(sparse.csr_array(step * coefficients), slope @ differential)
            own = descriptor @ differential + slope @ algebraic
            matrix = sparse.csr_array(between + sparse.kron(sparse.eye_array(len(coefficients)), own))
        else:
            between = np.kron(step * coefficients, np.where(is_algebraic, 0.0, slope))
            matrix = between + np.kron(np.eye(len(coefficients)), np.where(is_algebraic, slope, descriptor))
        largest = abs(matrix).max(axis=1)
        largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
        if not largest.all():
            raise ModelError(SINGULAR)
        self._scale = 1 / largest
        if sparse.issparse(matrix):
            try:
                self._sparse = splu(sparse.csc_matrix(sparse.diags_array(self._scale) @ matrix))
            except RuntimeError:
                raise ModelError(SINGULAR) from None
        else:
            self._dense, self._pivots, info = lapack.dgetrf(self._scale[:, None] * matrix)
            if info > 0:
                raise ModelError(SINGULAR)

    def solve(self, defects: Array) -> Array:
        """The changes of the unknowns for right-hand sides of the stages, shape (s, n)."""
        right = self._scale * defects.ravel()
        if self._sparse is not None:
            return np.asarray(self._sparse.solve(right)).reshape(defects.shape)
        return np.asarray(lapack.dgetrs(self._dense, self._pivots, right)[0]).reshape(defects.shape)


SINGULAR = "the equations of a step are singular: constraints depend on each other, or a state has no equation"
