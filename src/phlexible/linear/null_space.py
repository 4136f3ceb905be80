"""Motions that joints allow: sparse null spaces."""

import heapq
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import RedundancyError

# A sparse basis of the motions that joints allow: range P = null G ([B] 5.3, read x = P x_hat).
#
# Gauss-Jordan elimination of the rows of G by sparse rows; a pivot is the entry whose column is in
# fewest rows, among those not much smaller than the largest of their row, so that P stays local.

RELATIVE_PIVOT = 0.1
DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Sparse basis P of the null space of a matrix, shape (n, m). Its rows ``free`` form an identity, and ``rows``
    are independent rows of the matrix.
    """

    basis: sparse.csr_array
    free: IntArray
    rows: IntArray


def null_space_basis(
    matrix: sparse.csr_array, weights: Array | None = None, allow_dependent: bool = False
) -> sparse.csr_array:
    """Return a sparse basis of the null space of a constraint ``matrix`` of shape (rows, n), i.e. of the motions
    that it allows, as columns, shape (n, m). Pivots are compared in units of the coordinates, ``weights`` of
    shape (n,). Dependent rows are left out if ``allow_dependent``, else they raise ``RedundancyError``."""
    return null_space(matrix, weights, allow_dependent).basis


def null_space(matrix: sparse.csr_array, weights: Array | None = None, allow_dependent: bool = False) -> NullSpace:
    """Compute a sparse basis of the null space of a matrix, shape (rows, n), by Gauss-Jordan elimination with
    pivoting. The rows of the basis that belong to the free coordinates form an identity matrix. Pivots are
    compared in units of the coordinates, ``weights`` of shape (n,). Dependent rows are left out if
    ``allow_dependent``, else they raise ``RedundancyError``.

    Args:
        matrix: G, shape (rows, n).
        weights: size of one unit of each coordinate, shape (n,), in which pivots are compared.
        allow_dependent: rows that repeat others are left out instead of refused.

    Raises:
        RedundancyError: rows that depend on each other.
    """
    count, n = matrix.shape
    weight = np.ones(n) if weights is None else weights
    rows: list[dict[int, float]] = []
    holders: dict[int, set[int]] = {}
    for number in range(count):
        begin, end = matrix.indptr[number : number + 2]
        largest = np.abs(matrix.data[begin:end] * weight[matrix.indices[begin:end]]).max(initial=0.0)
        row = {
            int(column): float(value)
            for column, value in zip(matrix.indices[begin:end], matrix.data[begin:end], strict=True)
            if abs(value) * weight[column] > 1e-15 * largest
        }
        rows.append(row)
        for column in row:
            holders.setdefault(column, set()).add(number)
    lengths = [max((abs(v) * weight[c] for c, v in row.items()), default=0.0) for row in rows]
    pivots: dict[int, int] = {}
    queue = [(len(row), number) for number, row in enumerate(rows)]
    heapq.heapify(queue)
    while queue:
        size, number = heapq.heappop(queue)
        if number in pivots:
            continue
        row = rows[number]
        if len(row) > size:
            heapq.heappush(queue, (len(row), number))
            continue
        largest = max((abs(v) * weight[c] for c, v in row.items()), default=0.0)
        if not largest > DEPENDENT * lengths[number]:
            if allow_dependent:
                for column in row:
                    holders[column].discard(number)
                row.clear()
                continue
            raise RedundancyError(f"row {number} of the constraint matrix depends on other rows")
        candidates = [c for c, v in row.items() if abs(v) * weight[c] >= RELATIVE_PIVOT * largest]
        pivot = min(candidates, key=lambda c: (len(holders[c]), -abs(row[c]) * weight[c], c))
        scale = 1 / row[pivot]
        for column in row:
            row[column] *= scale
        pivots[number] = pivot
        for other in list(holders[pivot]):
            if other != number:
                _eliminate(rows[other], row, pivot, other, holders)
    return _basis(rows, pivots, n)


def _eliminate(
    target: dict[int, float], row: dict[int, float], pivot: int, number: int, holders: dict[int, set[int]]
) -> None:
    factor = target.pop(pivot)
    holders[pivot].discard(number)
    for column, value in row.items():
        if column == pivot:
            continue
        known = target.get(column)
        if known is None:
            target[column] = -factor * value
            holders[column].add(number)
            continue
        new = known - factor * value
        if abs(new) <= 1e-15 * abs(known):
            del target[column]
            holders[column].discard(number)
        else:
            target[column] = new


def _basis(rows: list[dict[int, float]], pivots: dict[int, int], n: int) -> NullSpace:
    free = np.setdiff1d(np.arange(n), np.array(list(pivots.values()), dtype=np.int64))
    index = np.full(n, -1)
    index[free] = np.arange(len(free))
    i, j, values = [free], [np.arange(len(free))], [np.ones(len(free))]
    for number, pivot in pivots.items():
        others = [(index[c], -v) for c, v in rows[number].items() if c != pivot]
        if others:
            columns, entries = zip(*others, strict=True)
            i.append(np.full(len(columns), pivot))
            j.append(np.array(columns))
            values.append(np.array(entries))
    entries_ij = (np.concatenate(i), np.concatenate(j))
    basis = sparse.coo_array((np.concatenate(values), entries_ij), (n, len(free))).tocsr()
    return NullSpace(basis, free.astype(np.int64), np.sort(np.array(list(pivots), dtype=np.int64)))
