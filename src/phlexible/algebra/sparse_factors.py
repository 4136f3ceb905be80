"""Factors of large, sparse, positive definite matrices: by the best solver that is installed."""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray

LEAF = 60
"""Nodes of a part that nested dissection leaves as it is."""
SMALL = 30_000
"""Unknowns below which SuperLU's own ordering is as good."""


class Factors(ABC):
    """A factored matrix.

    Attributes:
        solver: its name, for summaries.
    """

    solver: str

    @abstractmethod
    def solve(self, loads: Array) -> Array:
        """Solutions (N, k) for right-hand sides (N, k)."""


def factored(matrix: sparse.csr_array, places: Array) -> Factors:
    """Factors by rslab, pypardiso or SuperLU, the first of them that is there.

    Args:
        matrix: shape (N, N), symmetric, positive definite.
        places: where unknowns are, for nested dissection with SuperLU, shape (N, 3) [m].
    """
    for module, kind in (("rslab", RslabFactors), ("pypardiso", PardisoFactors)):
        try:
            package = import_module(module)
        except ImportError:
            continue
        return kind(matrix, package)
    return SuperLuFactors(matrix, places)


class SuperLuFactors(Factors):
    """L U of SciPy without pivoting, large ones in an order of nested dissection."""

    solver = "SuperLU"

    def __init__(self, matrix: sparse.csr_array, places: Array) -> None:
        from scipy.sparse.linalg import splu

        options = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        self._order: IntArray | None = None
        if matrix.shape[0] < SMALL:
            self._factors: Any = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", **options)
            return
        self._order = dissected(matrix, places)
        self._factors = splu(matrix[self._order][:, self._order].tocsc(), permc_spec="NATURAL", **options)

    def solve(self, loads: Array) -> Array:
        """Solutions (N, k) for right-hand sides (N, k)."""
        if self._order is None:
            return np.asarray(self._factors.solve(np.ascontiguousarray(loads)))
        result = np.empty_like(loads)
        result[self._order] = self._factors.solve(np.ascontiguousarray(loads[self._order]))
        return result


class RslabFactors(Factors):
    """L D L^T of rslab."""

    solver = "rslab"

    def __init__(self, matrix: sparse.csr_array, package: Any) -> None:
        self._factors = package.ldlt(sparse.csr_matrix(matrix))

    def solve(self, loads: Array) -> Array:
        """Solutions (N, k) for right-hand sides (N, k)."""
        if not loads.shape[1]:  # refused by the package
            return loads.copy()
        return np.asarray(self._factors.solve_many(np.ascontiguousarray(loads)))


class PardisoFactors(Factors):
    """L L^T of MKL's PARDISO."""

    solver = "pypardiso"

    def __init__(self, matrix: sparse.csr_array, package: Any) -> None:
        upper = sparse.csr_matrix(sparse.triu(matrix, format="csr"))
        upper.sort_indices()
        self._matrix, self._solver = upper, package.PyPardisoSolver(mtype=2)
        self._solver.factorize(upper)

    def solve(self, loads: Array) -> Array:
        """Solutions (N, k) for right-hand sides (N, k)."""
        if not loads.shape[1]:  # refused by the package
            return loads.copy()
        return np.asarray(self._solver.solve(self._matrix, np.asfortranarray(loads))).reshape(loads.shape)


def dissected(matrix: sparse.csr_array, places: Array) -> IntArray:
    """An order for elimination: halves along the longest side, what couples them last, and so on in each half.

    Args:
        matrix: its pattern counts, shape (N, N).
        places: of the unknowns, shape (N, 3).
    """
    count = matrix.shape[0]
    order = np.empty(count, dtype=np.int64)
    is_first = np.zeros(count, dtype=bool)
    waiting = [(np.arange(count), 0)]
    while waiting:
        members, begin = waiting.pop()
        if len(members) <= LEAF:
            order[begin : begin + len(members)] = members
            continue
        along = places[members, np.ptp(places[members], axis=0).argmax()]
        half = members[along < np.median(along)]
        if not len(half):
            half = members[np.argsort(along, kind="stable")[: len(members) // 2]]
        is_first[half] = True
        rest = members[~is_first[members]]
        touches = np.diff(matrix.indptr)[rest]
        neighbours = matrix.indices[_ranges(matrix.indptr[rest], touches)]
        hits = np.add.reduceat(is_first[neighbours].astype(np.int64), np.cumsum(touches) - touches)
        is_first[half] = False
        between, other = rest[hits > 0], rest[hits == 0]
        order[begin + len(members) - len(between) : begin + len(members)] = between
        waiting += [(half, begin), (other, begin + len(half))]
    return order


def _ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """start, start + 1, ... of each range, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) - np.repeat(ends - lengths, lengths) + np.repeat(starts, lengths)
