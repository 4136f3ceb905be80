"""Sums of weighted rows, of many functions at once: products with a sparse matrix that never changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """y_i = sum of weight x_source over the entries of i, in ascending order of i.

    Attributes:
        weights: of all entries, shape (entries,).
        sources: numbers of the x, shape (entries,).
        owners: numbers of the y, ascending, shape (entries,).
        count: how many y there are.
        size: how many x.
    """

    weights: Array
    sources: IntArray
    owners: IntArray
    count: int
    size: int

    def of(self, values: Array) -> Array:
        """The sums of values (T, size, ...), shape (T, count, ...)."""
        if len(values) != 1:
            inner = (len(values), *values.shape[2:])
            flat = np.moveaxis(values, 0, 1).reshape(self.size, int(np.prod(inner)))
            return np.asarray(np.moveaxis((self._matrix @ flat).reshape(self.count, *inner), 0, 1))
        result = np.zeros((1, self.count, *values.shape[2:]))
        if len(self._starts):  # of a single instant SciPy would take longer to begin than to multiply
            weights = self.weights.reshape(-1, *(1,) * (values.ndim - 2))
            result[0, self._owners] = np.add.reduceat(weights * values[0][self.sources], self._starts)
        return result

    @cached_property
    def _starts(self) -> IntArray:
        return np.flatnonzero(np.diff(self.owners, prepend=-1))

    @cached_property
    def _owners(self) -> IntArray:
        """Those that have entries."""
        return self.owners[self._starts]

    @cached_property
    def _matrix(self) -> sparse.csr_array:
        shape = (self.count, self.size)
        return sparse.coo_array((self.weights, (self.owners, self.sources)), shape).tocsr()


def weighted_sums(entries: Sequence[tuple[float, int, int]], count: int, size: int) -> WeightedSums:
    """The sums of entries (weight, number of the sum, source) in any order."""
    table = np.array(entries, dtype=np.float64).reshape(-1, 3)
    return sums_of(table[:, 0], table[:, 1].astype(np.int64), table[:, 2].astype(np.int64), count, size)


def sums_of(weights: Array, owners: IntArray, sources: IntArray, count: int, size: int) -> WeightedSums:
    """The same from the columns of the table of entries."""
    order = np.argsort(owners, kind="stable")
    return WeightedSums(weights[order], sources[order], owners[order], count, size)


def plain_sums(owners: IntArray, count: int) -> WeightedSums:
    """The sums of all x of each owner, in any order."""
    order = np.argsort(owners, kind="stable")
    return WeightedSums(np.ones(len(owners)), order.astype(np.int64), owners[order], count, len(owners))
