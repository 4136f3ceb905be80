"""Factors of sparse matrices: right solutions by every solver, and an order that keeps them sparse."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from phlexible.algebra import sparse as sparse_factors
from phlexible.algebra.sparse import (
    definite_factors,
    dissection_order,
    lu_factors,
    structural_rank,
    superlu_factors,
)
from phlexible.errors import SingularMatrixError


def grid_matrix(n):
    """Seven-point stencil on n^3 places, with a little more on the diagonal."""
    line = sparse.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    one = sparse.eye_array(n)
    matrix = sparse.kron(sparse.kron(line, one), one) + sparse.kron(sparse.kron(one, line), one)
    matrix = matrix + sparse.kron(sparse.kron(one, one), line) + 0.01 * sparse.eye_array(n**3)
    places = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    return sparse.csr_array(matrix), places


def test_solutions_in_both_orders(monkeypatch):
    matrix, places = grid_matrix(8)
    exact = np.random.default_rng(0).normal(size=(512, 3))
    loads = matrix @ exact
    assert superlu_factors(matrix, places)(loads) == pytest.approx(exact, abs=1e-10)
    assert superlu_factors(matrix, places)(loads[:, :0]).shape == (512, 0)
    monkeypatch.setattr(sparse_factors, "SMALL_FACTOR", 0)
    assert superlu_factors(matrix, places)(loads) == pytest.approx(exact, abs=1e-10)


def test_nested_dissection_is_a_permutation_with_little_fill():
    from scipy.sparse.linalg import splu

    matrix, places = grid_matrix(14)
    order = dissection_order(matrix, places)
    assert np.array_equal(np.sort(order), np.arange(len(places)))
    fill = [
        splu(matrix[each][:, each].tocsc(), permc_spec="NATURAL").nnz for each in (order, np.arange(len(places)))
    ]
    assert fill[0] < 0.6 * fill[1]


def test_places_that_coincide_are_ordered_too():
    matrix, places = grid_matrix(6)
    assert np.array_equal(np.sort(dissection_order(matrix, 0 * places)), np.arange(len(places)))


@pytest.mark.parametrize("package", ["rslab", "pypardiso"])
def test_other_solvers_where_they_are_installed(package):
    pytest.importorskip(package)
    matrix, places = grid_matrix(6)
    exact = np.random.default_rng(0).normal(size=(216, 2))
    factors = definite_factors(matrix, places)
    assert factors.solver in ("rslab", "pypardiso")
    assert factors.solve(exact[:, :0]).shape == (216, 0)
    assert factors.solve(matrix @ exact) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.diag([1.0, 0.0, 2.0]), "at most 2"),
        ([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 3.0]], "at most 2"),
        ([[1.0, 1.0], [1.0, 1.0]], "singular: Factor is exactly singular"),
    ],
)
def test_singular_matrices_are_refused(matrix, words):
    with pytest.raises(SingularMatrixError, match=words):
        lu_factors(sparse.csr_array(np.array(matrix)))


def test_zeros_that_are_stored_are_zeros():
    matrix = sparse.csc_array(np.array([[0.0, 1.0], [1.0, 1.0]]))
    matrix.data[matrix.data == 1.0] = [1.0, 1.0, 0.0]
    solution = lu_factors(matrix).solve(np.array([3.0, 2.0]))
    assert solution == pytest.approx([2.0, 3.0])
    matrix.data[1] = 0.0
    before = matrix.data.copy()
    with pytest.raises(SingularMatrixError, match="at most 1"):
        lu_factors(matrix)
    assert np.array_equal(matrix.data, before), "the matrix of the caller stays as it is"


def test_sparse_matrices_are_factored_in_one_place():
    """SuperLU may write beyond its memory where a matrix has too few places for its pivots."""
    names = re.compile(r"\b(splu|spilu|spsolve|factorized)\b")
    package = Path(sparse_factors.__file__).parents[1]
    files = [path for path in package.rglob("*.py") if names.search(path.read_text(encoding="utf-8"))]
    assert files == [Path(sparse_factors.__file__)]


def test_structural_ranks_are_those_of_scipy():
    """Where SciPy's function is fast. Of a shell of 40 elements with unknown accelerations it takes minutes."""
    rng = np.random.default_rng(1)
    for size in range(1, 60):
        matrix = sparse.csc_matrix(sparse.random(size, size, density=min(1.0, 2 / size), rng=rng))
        diagonal = sparse.csc_matrix(sparse.diags((rng.random(size) < 0.7).astype(float)))
        for each in (matrix, sparse.csc_matrix(matrix + diagonal), sparse.csc_matrix((size, size))):
            assert structural_rank(each) == csgraph.structural_rank(each)
