"""How far the constant matrices of a linear model miss the laws of the port-Hamiltonian form."""

import numpy as np
from scipy import sparse

SMALL = 1500  # up to this many states, semi-definiteness is checked with dense eigenvalues
LEAST_DIAGONAL = 1e-6
"""Of the largest: round-off of products with smaller ones is more than 1e-10 of them, what certificates ask for."""


def structure_errors(
    structure: sparse.csr_array, dissipation: sparse.csr_array, energy: sparse.csr_array
) -> dict[str, float]:
    """Errors of J, R and E^T Q, each relative to the largest entry of its matrix.

    ``skewness`` of J, ``symmetry`` of R and of E^T Q, and how negative the smallest eigenvalues of R and
    of E^T Q are (``dissipation``, ``storage``; of models with at most 1500 states).
    """
    errors = {
        "skewness": _relative(structure + structure.T, structure),
        "dissipation symmetry": _relative(dissipation - dissipation.T, dissipation),
        "storage symmetry": _relative(energy - energy.T, energy),
    }
    if energy.shape[0] <= SMALL:
        errors["dissipation"] = _negativity(dissipation)
        errors["storage"] = _negativity(energy)
    return errors


def _relative(error: sparse.sparray, matrix: sparse.sparray) -> float:
    largest = float(abs(matrix).max()) if matrix.nnz else 0.0
    return float(abs(error).max()) / largest if error.nnz and largest else 0.0


def _negativity(matrix: sparse.csr_array) -> float:
    """-min(smallest eigenvalue, 0) of the matrix scaled to a unit diagonal, but for what is round-off there."""
    if not matrix.nnz:
        return 0.0
    dense = matrix.toarray()
    diagonal = np.abs(np.diag(dense))
    scale = 1 / np.sqrt(np.maximum(diagonal, LEAST_DIAGONAL * diagonal.max() or 1.0))
    return float(max(0.0, -np.linalg.eigvalsh(scale[:, None] * (dense + dense.T) / 2 * scale)[0]))
