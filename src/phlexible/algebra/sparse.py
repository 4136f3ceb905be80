"""Sparse matrices: small ones as arrays, factors of large ones, sums of rows, dense parts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import structural_rank
from scipy.sparse.linalg import SuperLU, splu

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import SingularMatrixError

# Matrices that are arrays where they are small: SciPy's sparse ones take longer to make than to use there.

Matrix: TypeAlias = "Array | sparse.csr_array"

SMALL = 128
"""Columns; beyond it sparse matrices are faster."""


def is_small(columns: int) -> bool:
    """Whether matrices with so many columns are arrays."""
    return columns <= SMALL


def as_array(matrix: Matrix) -> Array:
    """Any matrix as an array."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def rows_times(rows: Matrix, values: Array) -> Array:
    """Products of rows (k, n) with each of values (T, n), floats or numbers of a tape, shape (T, k)."""
    return np.asarray(values @ (as_array(rows) if values.dtype == object else rows).T)


def scaled_rows(weights: Array, matrix: Matrix) -> Matrix:
    """Each row times its weight, weights of shape (k,), of arrays (..., k) as well."""
    if isinstance(matrix, np.ndarray):
        return weights[..., None] * matrix
    return sparse.csr_array(sparse.diags_array(weights) @ matrix)


def transposed(matrix: Matrix) -> Matrix:
    """Rows as columns, of arrays of each matrix in them."""
    return matrix.mT if isinstance(matrix, np.ndarray) else matrix.T


def hstack(*blocks: Matrix) -> Matrix:
    """Matrices side by side, an array where all are."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        return np.hstack(blocks)
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def vstack(*blocks: Matrix) -> Matrix:
    """Matrices one below the other, an array where all are."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        return np.concatenate(blocks)
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def summed_rows(weights: Array, matrix: Matrix, count: int) -> Matrix:
    """Sums of each ``count`` rows that follow each other, times their weights (k,), shape (k / count, n)."""
    if isinstance(matrix, np.ndarray):
        return np.asarray((weights[:, None] * matrix).reshape(-1, count, matrix.shape[1]).sum(axis=1))
    k = len(weights)
    sums = sparse.csr_array((weights, np.arange(k), np.arange(0, k + 1, count)), (k // count, k))
    return sparse.csr_array(sums @ matrix)


def is_zero(matrix: Matrix) -> bool:
    """Whether a matrix has no entry that is not zero."""
    return not (matrix if isinstance(matrix, np.ndarray) else matrix.data).any()


def bytes_of(matrix: Matrix) -> tuple[object, ...]:
    """Equal for matrices that are equal to the last digit."""
    if isinstance(matrix, np.ndarray):
        return (matrix.shape, matrix.tobytes())
    return (matrix.shape, matrix.indptr.tobytes(), matrix.indices.tobytes(), matrix.data.tobytes())


@dataclass(frozen=True, eq=False)
class Pattern:
    """Places of the entries of matrices of one shape.

    Attributes:
        rows, columns: of the entries, shape (entries,).
        shape: of the matrices.
    """

    rows: IntArray
    columns: IntArray
    shape: tuple[int, int]

    def matrix(self, values: Array) -> Matrix:
        """The matrix of entries, those of one place added; an array where it is small."""
        if self._flat is None:
            return sparse.coo_array((values, (self.rows, self.columns)), self.shape).tocsr()
        return np.bincount(self._flat, values, self.shape[0] * self.shape[1]).reshape(self.shape)

    @cached_property
    def _flat(self) -> IntArray | None:
        """Places in a small matrix."""
        count, width = self.shape
        return self.rows * width + self.columns if is_small(width) and is_small(count // 3) else None


def summed_blocks(rows: IntArray, columns: IntArray, blocks: Array, shape: tuple[int, int]) -> sparse.csr_array:
    """Blocks (e, ..., ...) with rows (e, ...) and columns (e, ...), or one block for all of these, added up."""
    count = len(rows)
    both = np.broadcast_arrays(rows.reshape(count, -1, 1), columns.reshape(count, 1, -1))
    values = np.broadcast_to(blocks, (count, *blocks.shape)) if blocks.ndim == 2 else blocks
    return sparse.coo_array((values.ravel(), tuple(each.ravel() for each in both)), shape).tocsr()


def block_matrix(blocks: Sequence[Matrix], size: int) -> Matrix:
    """Square blocks along a diagonal of a length; an array where that is small."""
    if is_small(size):
        return block_diagonal(blocks, size)
    return sparse_diagonal(blocks)


def equal_diagonal(blocks: Array) -> sparse.csr_array:
    """Blocks (k, m, n) along the diagonal, shape (k m, k n)."""
    count, rows, columns = blocks.shape
    places = np.arange(count), np.arange(count + 1)
    return sparse.bsr_array((blocks, *places), shape=(count * rows, count * columns)).tocsr()


def sparse_diagonal(blocks: Iterable[Any]) -> sparse.csr_array:
    """Blocks along a diagonal, arrays or sparse, of thousands in some microseconds each."""
    data, indices, counts, column = [], [], [np.zeros(1, dtype=np.int64)], 0
    for block in blocks:
        if isinstance(block, np.ndarray):
            rows, columns = block.nonzero()
            data.append(block[rows, columns])
            indices.append(columns + column)
            counts.append(np.bincount(rows, minlength=block.shape[0]))
        else:
            own = block if isinstance(block, sparse.csr_array) else sparse.csr_array(block)
            data.append(own.data)
            indices.append(own.indices + np.int64(column))
            counts.append(np.diff(own.indptr).astype(np.int64))
        column += block.shape[1]
    starts = np.cumsum(np.concatenate(counts))
    if not data:
        return sparse.csr_array((0, 0))
    shape = (len(starts) - 1, column)
    return sparse.csr_array((np.concatenate(data), np.concatenate(indices), starts), shape=shape)


def block_diagonal(blocks: Iterable[Matrix], size: int) -> Array:
    """Square blocks along a diagonal of a length."""
    result, begin = np.zeros((size, size)), 0
    for block in blocks:
        end = begin + block.shape[0]
        result[begin:end, begin:end] = block if isinstance(block, np.ndarray) else block.toarray()
        begin = end
    return result


def block_array(blocks: "Sequence[Sequence[Matrix | None]]") -> Matrix:
    """A matrix of blocks, None where they are zero; an array where all are."""
    known = [block for row in blocks for block in row if block is not None]
    if not all(isinstance(block, np.ndarray) for block in known):
        return sparse.csc_array(sparse.block_array(blocks))
    columns = zip(*blocks, strict=True)
    below = np.cumsum([0, *(next(block.shape[0] for block in row if block is not None) for row in blocks)])
    beside = np.cumsum([0, *(next(block.shape[1] for block in each if block is not None) for each in columns)])
    result = np.zeros((below[-1], beside[-1]), np.result_type(*known))
    for i, row in enumerate(blocks):
        for j, block in enumerate(row):
            if block is not None:
                result[below[i] : below[i + 1], beside[j] : beside[j + 1]] = block
    return result


# Factors of any sparse matrix, by SuperLU, which may write beyond its memory where some columns can have no pivot.


def lu_factors(matrix: Any, **options: Any) -> SuperLU:
    """L U of a square sparse matrix, real or complex.

    Args:
        matrix: in any format of SciPy, shape (N, N).
        options: of ``scipy.sparse.linalg.splu``.

    Raises:
        SingularMatrixError: it has no inverse; where its zeros alone say so SuperLU is not asked.
    """
    columns = sparse.csc_matrix(matrix)
    if not columns.diagonal().all():  # otherwise the diagonal has all pivots
        if not columns.data.all():
            columns = columns.copy()
            columns.eliminate_zeros()
        rank, size = structural_rank(columns), columns.shape[0]
        if rank < size:
            raise SingularMatrixError(
                f"a matrix of {size} equations is singular: its zeros leave at most {rank} of them independent"
            )
    try:
        return splu(columns, **options)
    except RuntimeError as error:
        raise SingularMatrixError(f"a matrix of {columns.shape[0]} equations is singular: {error}") from None


def solver(matrix: Any) -> Callable[[Array], Array]:
    """What solves with a matrix, an array or sparse, for right sides (N,) or (N, k).

    Raises:
        SingularMatrixError: it is sparse and has no inverse; answers of a singular array are not finite.
    """
    if not isinstance(matrix, np.ndarray):
        solve: Callable[[Array], Array] = lu_factors(matrix).solve
        return solve
    from scipy.linalg import get_lapack_funcs, lu_solve

    (factorize,) = get_lapack_funcs(("getrf",), (matrix,))
    factors = factorize(matrix)[:2]  # SciPy's own function warns of singular ones
    return lambda right: np.asarray(lu_solve(factors, right, check_finite=False))


SYMMETRIC = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
"""Options of ``splu`` for matrices that need no pivots off their diagonal: far less fill, of meshes above all."""
BACKWARD = 1e-12


def diagonal_solver(matrix: sparse.sparray) -> Callable[[Array], Array]:
    """As ``solver``, of a sparse matrix like its transpose: with pivots on the diagonal, if these are good enough.

    Raises:
        SingularMatrixError: it has no inverse.
    """
    columns = sparse.csc_matrix(matrix)
    probe = np.random.default_rng(0).normal(size=columns.shape[0]).astype(columns.dtype)
    try:
        factors = lu_factors(columns, **SYMMETRIC)
        found = factors.solve(probe)
        size = abs(columns) @ np.abs(found) + np.abs(probe)
        if np.abs(columns @ found - probe).max(initial=0.0) <= BACKWARD * size.max(initial=0.0):
            return factors.solve  # type: ignore[no-any-return]
    except SingularMatrixError:
        pass
    return lu_factors(columns).solve  # type: ignore[no-any-return]


# Factors of large, sparse, positive definite matrices: by the best solver that is installed.

LEAF = 60
"""Nodes of a part that nested dissection leaves as it is."""
SMALL_FACTOR = 30_000
"""Unknowns below which SuperLU's own ordering is as good."""


@dataclass(frozen=True, eq=False)
class Factors:
    """A factored matrix.

    Attributes:
        solver: its name, for summaries.
        solve: solutions (N, k) for right-hand sides (N, k).
    """

    solver: str
    solve: Callable[[Array], Array]


def factored(matrix: sparse.csr_array, places: Array) -> Factors:
    """Factors by rslab, pypardiso or SuperLU, the first of them that is there.

    Args:
        matrix: shape (N, N), symmetric, positive definite.
        places: where unknowns are, for nested dissection with SuperLU, shape (N, 3) [m].
    """
    for module, factors in (("rslab", rslab_factors), ("pypardiso", pardiso_factors)):
        try:
            package = import_module(module)
        except ImportError:
            continue
        return Factors(module, factors(matrix, package))
    return Factors("SuperLU", superlu_factors(matrix, places))


def superlu_factors(matrix: sparse.csr_array, places: Array) -> Callable[[Array], Array]:
    """What solves with L U of SciPy without pivoting, large ones in an order of nested dissection."""
    if matrix.shape[0] < SMALL_FACTOR:
        order, options = np.arange(matrix.shape[0]), SYMMETRIC
    else:
        order, options = dissected(matrix, places), SYMMETRIC | {"permc_spec": "NATURAL"}
    factors = lu_factors(matrix[order][:, order], **options)

    def solve(loads: Array) -> Array:
        result = np.empty_like(loads)
        result[order] = factors.solve(np.ascontiguousarray(loads[order]))
        return result

    return solve


def rslab_factors(matrix: sparse.csr_array, package: Any) -> Callable[[Array], Array]:
    """What solves with L D L^T of rslab, which refuses no loads at all."""
    factors = package.ldlt(sparse.csr_matrix(matrix))
    return lambda loads: np.asarray(
        factors.solve_many(np.ascontiguousarray(loads)) if loads.shape[1] else loads.copy()
    )


def pardiso_factors(matrix: sparse.csr_array, package: Any) -> Callable[[Array], Array]:
    """What solves with L L^T of MKL's PARDISO, which refuses no loads at all."""
    upper = sparse.csr_matrix(sparse.triu(matrix, format="csr"))
    upper.sort_indices()
    factors = package.PyPardisoSolver(mtype=2)
    factors.factorize(upper)
    return lambda loads: np.asarray(
        factors.solve(upper, np.asfortranarray(loads)) if loads.shape[1] else loads.copy()
    ).reshape(loads.shape)


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
        neighbours = matrix.indices[ranges(matrix.indptr[rest], touches)]
        hits = np.add.reduceat(is_first[neighbours].astype(np.int64), np.cumsum(touches) - touches)
        is_first[half] = False
        between, other = rest[hits > 0], rest[hits == 0]
        order[begin + len(members) - len(between) : begin + len(members)] = between
        waiting += [(half, begin), (other, begin + len(half))]
    return order


def ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """start, start + 1, ... of each range, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths) + np.repeat(starts, lengths)


# Sums of weighted rows, of many functions at once: products with a sparse matrix that never changes.

FEW = 2**12
"""Numbers of a matrix that is an array for single instants."""


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """y_i = sum of weight x_source over the entries of i, in ascending order of i.

    Attributes:
        weights: of all entries, shape (entries,).
        sources: numbers of the x, shape (entries,).
        owners: numbers of the y, ascending, shape (entries,).
        count: how many y there are.
        size: how many x.
        cancels: sums of equal x are exactly zero where their weights are; they are made term by term.
    """

    weights: Array
    sources: IntArray
    owners: IntArray
    count: int
    size: int
    cancels: bool = False

    def of(self, values: Array) -> Array:
        """The sums of values (T, size, ...), shape (T, count, ...)."""
        inner = values.shape[2:]
        is_small = values.size <= FEW and values.dtype != object  # SciPy begins slowly
        if self._dense is not None and is_small:
            flat = values.reshape(*values.shape[:2], int(np.prod(inner)))
            return np.asarray((self._dense @ flat).reshape(len(values), self.count, *inner))
        if len(values) != 1:
            flat = np.moveaxis(values, 0, 1).reshape(self.size, int(len(values) * np.prod(inner)))
            return np.asarray(np.moveaxis((self._matrix @ flat).reshape(self.count, len(values), *inner), 0, 1))
        result = np.zeros((1, self.count, *values.shape[2:]), dtype=values.dtype)
        if len(self._starts):
            weights = self.weights.reshape(-1, *(1,) * (values.ndim - 2))
            result[0, self._owners] = np.add.reduceat(weights * values[0][self.sources], self._starts)
        return result

    def weighted(self, weights: Array) -> "WeightedSums":
        """The same sums with other weights, shape (entries,)."""
        other = replace(self, weights=weights)
        vars(other).update(_starts=self._starts, _owners=self._owners)
        return other

    @cached_property
    def transposed(self) -> "WeightedSums":
        """Sums with sources and owners exchanged."""
        return sums_of(self.weights, self.sources, self.owners, self.size, self.count)

    @cached_property
    def _dense(self) -> Array | None:
        """All weights as a matrix, where it is small."""
        if self.count * self.size > FEW:
            return None
        if self.cancels and not (np.abs(self.weights) == 1).all():  # products may round before they cancel
            return None
        matrix = np.zeros((self.count, self.size))
        np.add.at(matrix, (self.owners, self.sources), self.weights)
        return matrix

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


def weighted_sums(
    entries: Sequence[tuple[float, int, int]], count: int, size: int, cancels: bool = False
) -> WeightedSums:
    """The sums of entries (weight, number of the sum, source) in any order."""
    table = np.array(entries, dtype=np.float64).reshape(-1, 3)
    owners, sources = table[:, 1].astype(np.int64), table[:, 2].astype(np.int64)
    return sums_of(table[:, 0], owners, sources, count, size, cancels)


def sums_of(
    weights: Array, owners: IntArray, sources: IntArray, count: int, size: int, cancels: bool = False
) -> WeightedSums:
    """The same from the columns of the table of entries."""
    order = np.argsort(owners, kind="stable")
    return WeightedSums(weights[order], sources[order], owners[order], count, size, cancels)


def plain_sums(owners: IntArray, count: int) -> WeightedSums:
    """The sums of all x of each owner, in any order."""
    order = np.argsort(owners, kind="stable")
    return WeightedSums(np.ones(len(owners)), order.astype(np.int64), owners[order], count, len(owners))


# Dense parts that together hold everything of a matrix that is not zero, for loops over neighbouring numbers.

OVERHEAD = 30  # what a patch costs beside its entries, in entries
WIDEST = 32  # columns of a patch


def patches(matrix: Matrix) -> Sequence[tuple[slice, slice]]:
    """Rows and columns of rectangles, each with columns of its own, together the cheapest to go through."""
    return () if is_zero(matrix) else _cheapest(tuple(_spans(matrix)))


@lru_cache(maxsize=256)  # models that differ in numbers alone ask for the same ones again and again
def _cheapest(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[slice, slice], ...]:
    """The same of the first and one past the last row of each column."""
    count = len(spans)
    first, last = (np.array(each) for each in zip(*spans, strict=True))
    top, bottom = first, last
    own = np.full((count, WIDEST), np.inf)  # cost of a patch of 1, 2, ... columns up to each
    for width in range(1, min(WIDEST, count) + 1):
        own[width - 1 :, width - 1] = np.where(bottom > top, OVERHEAD + width * (bottom - top), 0)
        before = slice(0, count - width)
        top, bottom = np.minimum(first[before], top[1:]), np.maximum(last[before], bottom[1:])
    least = np.zeros(count + 1)  # of the columns before each
    begins = np.zeros(count + 1, dtype=np.int64)
    for end in range(1, count + 1):
        widest = min(end, WIDEST)
        costs = least[end - widest : end][::-1] + own[end - 1, :widest]
        width = int(costs.argmin()) + 1
        least[end], begins[end] = costs[width - 1], end - width
    found, end = [], count
    while end > 0:
        begin = int(begins[end])
        top, bottom = (
            pick(each) for pick, each in zip((min, max), zip(*spans[begin:end], strict=True), strict=True)
        )
        if bottom > top:
            found.append((slice(top, bottom), slice(begin, end)))
        end = begin
    return tuple(found[::-1])


def _spans(matrix: Matrix) -> list[tuple[int, int]]:
    """First and one past the last row that is not zero of each column; (rows, 0) where there is none."""
    return [(begin, end) if end else (matrix.shape[0], 0) for begin, end in supports(matrix.T)]


def supports(matrix: Matrix) -> list[tuple[int, int]]:
    """First and one past the last column of each row that is not zero; (0, 0) where there is none."""
    count = matrix.shape[0]
    if not isinstance(matrix, np.ndarray):
        entries = sparse.coo_array(matrix)
        first, last = np.full(count, matrix.shape[1]), np.zeros(count, dtype=np.int64)
        rows, columns = entries.row[entries.data != 0], entries.col[entries.data != 0]
        np.minimum.at(first, rows, columns)
        np.maximum.at(last, rows, columns + 1)
        first[last == 0] = 0
        return list(zip(first.tolist(), last.tolist(), strict=True))
    if not matrix.size:
        return [(0, 0)] * count
    touched = matrix != 0
    first, last = touched.argmax(axis=1), touched.shape[1] - touched[:, ::-1].argmax(axis=1)
    none = ~touched.any(axis=1)
    first[none], last[none] = 0, 0
    return list(zip(first.tolist(), last.tolist(), strict=True))


def window(matrix: Matrix, rows: slice, columns: slice) -> Array:
    """A rectangle of a matrix (compressed by rows, if it is sparse) as an array."""
    if isinstance(matrix, np.ndarray):
        return matrix[rows, columns]
    result = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
    ends = matrix.indptr[rows.start : rows.stop + 1]
    own, lines = slice(ends[0], ends[-1]), np.repeat(np.arange(len(result)), np.diff(ends))
    places = matrix.indices[own]
    inside = (places >= columns.start) & (places < columns.stop)
    result[lines[inside], places[inside] - columns.start] = matrix.data[own][inside]
    return result


def columns_apart(pattern: sparse.csc_array) -> list[list[int]]:
    """Columns in groups whose entries have no row in common."""
    return disjoint_groups(np.split(pattern.indices, pattern.indptr[1:-1])) if pattern.shape[1] else []


def disjoint_groups(sets: Sequence[IntArray]) -> list[list[int]]:
    """Numbers of sets of whole numbers, in groups whose sets have no number in common."""
    groups: list[list[int]] = []
    taken: list[Array] = []
    numbers, places = np.unique(np.concatenate(sets), return_inverse=True)
    for k, own in enumerate(np.split(places, np.cumsum([len(each) for each in sets])[:-1])):
        for group, used in zip(groups, taken, strict=True):
            if not used[own].any():
                group.append(k)
                used[own] = True
                break
        else:
            groups.append([k])
            taken.append(np.zeros(len(numbers), dtype=bool))
            taken[-1][own] = True
    return groups
