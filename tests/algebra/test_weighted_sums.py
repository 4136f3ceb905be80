import numpy as np
import pytest

from phlexible.algebra.sparse import plain_sums, weighted_sums

ENTRIES = [(2.0, 3, 0), (1.0, 0, 1), (-0.5, 3, 2), (4.0, 1, 0), (1.5, 0, 0)]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("inner", [(), (3,)])
def test_sums_are_products_with_the_matrix_of_their_entries(count, inner):
    matrix = np.zeros((5, 3))  # sums 2 and 4 have no entries
    for weight, row, column in ENTRIES:
        matrix[row, column] += weight
    values = np.random.default_rng(1).normal(size=(count, 3, *inner))
    assert np.allclose(weighted_sums(ENTRIES, 5, 3).of(values), np.einsum("ij,tj...->ti...", matrix, values))


def test_sums_of_owners_in_any_order():
    sums = plain_sums(np.array([2, 0, 2, 2]), 3)
    for count in (1, 2):
        assert sums.of(np.tile([1.0, 2.0, 4.0, 8.0], (count, 1))).tolist() == [[2.0, 0.0, 13.0]] * count
