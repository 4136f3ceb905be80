"""Dense parts of matrices hold all that is not zero, once, and leave out what would cost more."""

import numpy as np
import pytest

from phlexible.algebra.sparse import patches


@pytest.mark.parametrize("seed", range(20))
def test_patches_hold_everything_once(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 80, 2)
    matrix = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < rng.choice([0.02, 0.2, 1.0]))
    rest = matrix.copy()
    for part in patches(matrix):
        rest[part] -= matrix[part]
    assert not rest.any()


def test_blocks_are_told_apart_and_small_gaps_are_filled():
    matrix = np.zeros((60, 60))
    matrix[:20, :20], matrix[40:, 30:] = 1.0, 1.0
    assert list(patches(matrix)) == [(slice(0, 20), slice(0, 20)), (slice(40, 60), slice(30, 60))]
    assert list(patches(np.eye(4))) == [(slice(0, 4), slice(0, 4))]
    assert not patches(np.zeros((3, 3)))


def test_a_band_costs_what_its_entries_cost():
    sizes = []
    for n in (100, 200, 400):
        band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 3
        parts = patches(band.astype(float))
        sizes.append(sum((r.stop - r.start) * (c.stop - c.start) for r, c in parts))
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.05)
    assert sizes[2] < 20 * 400
