import numpy as np
import pytest

from phlexible.algebra.sparse import weighted_sums

ENTRIES = [(2.0, 3, 0), (1.0, 0, 1), (-0.5, 3, 2), (4.0, 1, 0), (1.5, 0, 0)]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("inner", [(), (3,)])
def test_sums_are_products_with_the_matrix_of_their_entries(count, inner):
    matrix = np.zeros((5, 3))  # sums 2 and 4 have no entries
    for weight, row, column in ENTRIES:
        matrix[row, column] += weight
    values = np.random.default_rng(1).normal(size=(count, 3, *inner))
    assert np.allclose(weighted_sums(ENTRIES, 5, 3).of(values), np.einsum("ij,tj...->ti...", matrix, values))


def test_sums_of_equal_numbers_cancel_exactly_where_they_are_to():
    weights = np.random.default_rng(2).normal(size=20)
    entries = [(w, k, source) for k, weight in enumerate(weights) for source, w in ((1, weight), (0, -weight))]
    same = np.full((1, 2, 3), 1e9 + 0.1)
    assert not weighted_sums(entries, 20, 2, cancels=True).of(same).any()
