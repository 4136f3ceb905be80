"""Matrices that are arrays where they are small: SciPy's sparse ones take longer to make than to use there."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array

Matrix: TypeAlias = "Array | sparse.csr_array"

SMALL = 128
"""Columns; beyond it sparse matrices are faster."""


def is_small(columns: int) -> bool:
    """Whether matrices with so many columns are arrays."""
    return columns <= SMALL


def block_matrix(blocks: Sequence[Matrix], size: int) -> Matrix:
    """Square blocks along a diagonal of a length; an array where that is small."""
    if is_small(size):
        return block_diagonal(blocks, size)
    return sparse.csr_array(sparse.block_diag(blocks, "csr"))


def block_diagonal(blocks: Iterable[Matrix], size: int) -> Array:
    """Square blocks along a diagonal of a length."""
    result, begin = np.zeros((size, size)), 0
    for block in blocks:
        end = begin + block.shape[0]
        result[begin:end, begin:end] = block if isinstance(block, np.ndarray) else block.toarray()
        begin = end
    return result
