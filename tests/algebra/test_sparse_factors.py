"""Factors of sparse matrices: right solutions by every solver, and an order that keeps them sparse."""

import numpy as np
import pytest
from scipy import sparse

from phlexible.algebra import sparse as sparse_factors
from phlexible.algebra.sparse import SuperLuFactors, dissected, factored


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
    assert SuperLuFactors(matrix, places).solve(loads) == pytest.approx(exact, abs=1e-10)
    assert SuperLuFactors(matrix, places).solve(loads[:, :0]).shape == (512, 0)
    monkeypatch.setattr(sparse_factors, "SMALL", 0)
    assert SuperLuFactors(matrix, places).solve(loads) == pytest.approx(exact, abs=1e-10)


def test_nested_dissection_is_a_permutation_with_little_fill():
    from scipy.sparse.linalg import splu

    matrix, places = grid_matrix(14)
    order = dissected(matrix, places)
    assert np.array_equal(np.sort(order), np.arange(len(places)))
    fill = [
        splu(matrix[each][:, each].tocsc(), permc_spec="NATURAL").nnz for each in (order, np.arange(len(places)))
    ]
    assert fill[0] < 0.6 * fill[1]


def test_places_that_coincide_are_ordered_too():
    matrix, places = grid_matrix(6)
    assert np.array_equal(np.sort(dissected(matrix, 0 * places)), np.arange(len(places)))


@pytest.mark.parametrize("package", ["rslab", "pypardiso"])
def test_other_solvers_where_they_are_installed(package):
    pytest.importorskip(package)
    matrix, places = grid_matrix(6)
    exact = np.random.default_rng(0).normal(size=(216, 2))
    factors = factored(matrix, places)
    assert factors.solver in ("rslab", "pypardiso")
    assert factors.solve(exact[:, :0]).shape == (216, 0)
    assert factors.solve(matrix @ exact) == pytest.approx(exact, abs=1e-10)
