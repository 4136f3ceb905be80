"""The sparse basis of the null space."""

import numpy as np
import pytest
from scipy import sparse

import phlexible as ph
from phlexible.algebra.elimination import null_space_basis


@pytest.mark.parametrize("seed", range(4))
def test_random_rows(seed):
    rng = np.random.default_rng(seed)
    matrix = sparse.random_array((12, 30), density=0.3, rng=rng, format="csr")
    basis = null_space_basis(matrix)
    assert basis.shape == (30, 18)
    assert np.abs((matrix @ basis).toarray()).max() < 1e-12
    assert np.linalg.svd(basis.toarray(), compute_uv=False)[-1] > 0.1


def test_dependent_rows():
    rows = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [1.0, 3.0, 1.0, 1.0]])
    with pytest.raises(ph.RedundancyError, match="depends on other rows"):
        null_space_basis(sparse.csr_array(rows))
    basis = null_space_basis(sparse.csr_array(rows), allow_dependent=True)
    assert basis.shape == (4, 2) and np.abs(rows @ basis.toarray()).max() < 1e-14


def test_the_basis_of_a_chain_stays_sparse():
    linear = ph.gallery.chain(links=60, elements=3).linearize(at="unloaded")
    G = linear.mechanics.constraint_matrix
    basis = null_space_basis(G)
    assert np.abs(G @ basis).max() < 1e-12
    assert basis.nnz < 2 * basis.shape[0]
