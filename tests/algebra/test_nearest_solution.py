import numpy as np
from scipy import sparse

from phlexible.algebra.sparse import smallest_with_multipliers


def test_small_arrays_and_sparse_matrices_have_the_same_smallest_solution():
    """Two rows hold the same: x = M^-1 G^T (G M^-1 G^T)^+ b, from NumPy's pseudoinverse."""
    random = np.random.default_rng(3)
    root = random.normal(size=(6, 6))
    metric, rows = root @ root.T + np.eye(6), random.normal(size=(3, 6))
    matrix = np.vstack([rows, rows[0] + 2 * rows[1]])
    values = matrix @ random.normal(size=6)
    flexible = np.linalg.solve(metric, matrix.T)
    expected = flexible @ np.linalg.pinv(matrix @ flexible, rcond=1e-10) @ values
    for kinds in ((metric, matrix), (sparse.csr_array(metric), sparse.csr_array(matrix))):
        x, y = smallest_with_multipliers(*kinds, values)
        assert np.allclose(x, expected, rtol=1e-9, atol=1e-9)
        assert np.allclose(metric @ x + matrix.T @ y, 0, atol=1e-8)
