"""Dense parts of matrices hold all that is not zero, once, and leave out what would cost more."""

import numpy as np
import pytest

from phlexible.algebra.sparse import dense_patches


@pytest.mark.parametrize("seed", range(20))
def test_patches_hold_everything_once(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 80, 2)
    matrix = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < rng.choice([0.02, 0.2, 1.0]))
    rest = matrix.copy()
    for part in dense_patches(matrix):
        rest[part] -= matrix[part]
    assert not rest.any()


def test_a_band_costs_what_its_entries_cost():
    sizes = []
    for n in (100, 200, 400):
        band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 3
        parts = dense_patches(band.astype(float))
        sizes.append(sum((r.stop - r.start) * (c.stop - c.start) for r, c in parts))
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.05)
    assert sizes[2] < 20 * 400
