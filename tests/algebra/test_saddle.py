import numpy as np
import pytest
from scipy import sparse

from phlexible.algebra.sparse import SaddlePoint, smallest_with_multipliers


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


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_that_a_light_body_shares_are_solved_to_round_off(kind):
    """Two rows hold a body of 1e-13 times the other's mass: in its metric they differ by 3e-7, and one repeats."""
    masses, matrix = np.array([1e-13, 1.0, 1.0]), np.array([[1.0, 0, 0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]])
    x, y = smallest_with_multipliers(kind(np.diag(masses)), kind(matrix), matrix @ [0.3, 0.2, 0.2])
    assert x == pytest.approx([0.3, 0.2, 0.2], rel=1e-13)
    assert matrix.T @ y == pytest.approx(-masses * x, abs=1e-15)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_many_right_sides_are_solved_as_the_whole_matrix_solves_them(kind):
    rng = np.random.default_rng(1)
    matrix, rows, compliance = rng.normal(size=(5, 5)), rng.normal(size=(2, 5)), np.array([0.0, 0.3])
    forces, values = rng.normal(size=(5, 3)), rng.normal(size=(2, 3))
    whole = np.block([[matrix, rows.T], [rows, -np.diag(compliance)]])
    expected = np.linalg.solve(whole, np.concatenate([forces, values]))
    for scale in (None, np.linspace(1e-3, 1e3, 5)):
        x, y = SaddlePoint(kind(matrix), kind(rows), compliance, scale).solve(forces, values)
        assert np.concatenate([x, y]) == pytest.approx(expected, rel=1e-9)
