"""Slopes of sparse functions by differences: entries that meet nowhere are changed together."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.port_hamiltonian.model import SMALL, STEP


class SparseDifferences:
    """For f of n entries with n results, in which entries meet in units, each of which changes its own results.

    After Curtis, Powell and Reid, *On the estimation of sparse Jacobian matrices* (1974): columns without a common
    row need one difference.

    Args:
        units: entries of x, which are also those of f, that belong together.
        size: n.
    """

    def __init__(self, units: Sequence[IntArray], size: int) -> None:
        rows = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
        columns = np.concatenate([np.zeros(0, dtype=np.int64), *units])
        touched = sparse.coo_array((np.ones(len(rows)), (rows, columns)), (len(units), size)).tocsr()
        pattern = (touched.T @ touched).tocsc()
        self._size, self._rows = size, pattern.indices.astype(np.int64)
        self._columns = np.repeat(np.arange(size), np.diff(pattern.indptr))
        self._group = _groups(pattern)
        self._count = int(self._group.max(initial=-1)) + 1

    def slope(self, function: Callable[[Array], Array], x: Array, sizes: Array) -> sparse.csr_array:
        """df/dx of f, which takes states (T, n) and returns (T, n); shape (n, n).

        Args:
            sizes: what is large for each entry of x, shape (n,).
        """
        steps = STEP * np.maximum(sizes, SMALL)
        states = np.tile(x, (1 + self._count, 1))
        changed = np.flatnonzero(self._group >= 0)
        states[1 + self._group[changed], changed] += steps[changed]
        values = function(states)
        change = values[1 + self._group[self._columns], self._rows] - values[0, self._rows]
        entries = (change / steps[self._columns], (self._rows, self._columns))
        return sparse.coo_array(entries, (self._size,) * 2).tocsr()


def _groups(pattern: sparse.csc_array) -> IntArray:
    """Of each column the first group none of whose columns shares a row with it; -1 of empty ones."""
    taken = [0] * pattern.shape[0]  # groups in each row, as bits
    result = np.full(pattern.shape[1], -1, dtype=np.int64)
    for column, (begin, end) in enumerate(zip(pattern.indptr[:-1], pattern.indptr[1:], strict=True)):
        rows = pattern.indices[begin:end].tolist()
        if rows:
            used = reduce(or_, (taken[row] for row in rows))
            free = ~used & (used + 1)
            result[column] = free.bit_length() - 1
            for row in rows:
                taken[row] |= free
    return result
