"""Operations on sparse matrices: small ones as arrays, factors, saddle points, sums of rows, dense windows."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_flow
from scipy.sparse.linalg import SuperLU, splu

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import SingularMatrixError

# Small matrices are dense arrays: SciPy's sparse ones take longer to make than to use.

Matrix: TypeAlias = "Array | sparse.csr_array"

SMALL = 128
"""Number of columns above which sparse matrices are faster."""


def is_small(columns: int) -> bool:
    """Return whether a matrix with this number of columns is stored as a dense array (up to 128 columns), where
    SciPy's sparse ones are slower."""
    return columns <= SMALL


def as_array(matrix: Matrix) -> Array:
    """Return a dense or sparse matrix as a dense array."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def rows_times(rows: Matrix, values: Array) -> Array:
    """Return the products ``rows @ value`` of a matrix (k, n) with T vectors, the rows of ``values`` (T, n), shape
    (T, k). Values may be floats or tape numbers (which record their arithmetic)."""
    return np.asarray(values @ (as_array(rows) if values.dtype == object else rows).T)


def scaled_rows(weights: Array, matrix: Matrix) -> Matrix:
    """Return a ``matrix`` (k, n) whose rows are multiplied by the ``weights`` (k,), diag(weights) @ matrix.
    For dense matrices weights (..., k) give a stack (..., k, n)."""
    if isinstance(matrix, np.ndarray):
        return weights[..., None] * matrix
    return sparse.csr_array(sparse.diags_array(weights) @ matrix)


def transposed(matrix: Matrix) -> Matrix:
    """Return the transpose of a dense or sparse matrix; of a stack of dense matrices (..., k, n) every matrix is
    transposed, shape (..., n, k)."""
    return matrix.mT if isinstance(matrix, np.ndarray) else matrix.T


def hstack(*blocks: Matrix) -> Matrix:
    """Return matrices (``blocks``) with the same number of rows joined side by side; the result is a dense
    array if all of them are, else a sparse CSR array."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        return np.concatenate(blocks, axis=1)
    return sparse.csr_array(sparse.hstack(blocks, format="csr"))


def vstack(*blocks: Matrix) -> Matrix:
    """Return matrices (``blocks``) with the same number of columns joined one below the other; the result is
    a dense array if all of them are, else a sparse CSR array."""
    if all(isinstance(block, np.ndarray) for block in blocks):
        return np.concatenate(blocks)
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def summed_rows(weights: Array, matrix: Matrix, count: int) -> Matrix:
    """Return weighted sums of consecutive rows of a ``matrix`` (k, n): rows 0 to count - 1 give the first row
    of the result, and so on. Row i has the weight ``weights[i]``; the result has shape (k / count, n)."""
    if isinstance(matrix, np.ndarray):
        return np.asarray((weights[:, None] * matrix).reshape(-1, count, matrix.shape[1]).sum(axis=1))
    k = len(weights)
    sums = sparse.csr_array((weights, np.arange(k), np.arange(0, k + 1, count)), (k // count, k))
    return sparse.csr_array(sums @ matrix)


def is_zero(matrix: Matrix) -> bool:
    """Return whether all entries of a dense or sparse matrix are zero."""
    return not (matrix if isinstance(matrix, np.ndarray) else matrix.data).any()


def bytes_of(matrix: Matrix) -> tuple[object, ...]:
    """Return shape and content of a dense or sparse matrix as a hashable tuple. It serves as a key of a dictionary:
    it is equal for matrices with identical numbers."""
    if isinstance(matrix, np.ndarray):
        return (matrix.shape, matrix.tobytes())
    return (matrix.shape, matrix.indptr.tobytes(), matrix.indices.tobytes(), matrix.data.tobytes())


@dataclass(frozen=True, eq=False)
class Pattern:
    """Positions of the entries of matrices of one shape, from which matrices are made for other values.

    Attributes:
        rows, columns: of the entries, shape (entries,).
        shape: of the matrices.
    """

    rows: IntArray
    columns: IntArray
    shape: tuple[int, int]

    def matrix(self, values: Array) -> Matrix:
        """Return the matrix with the given values (entries,) at the positions of this sparsity pattern;
        values at the same position are added. The result is dense if it has at most 128 columns and 386 rows,
        else a sparse CSR array."""
        if self._flat is None:
            return sparse.coo_array((values, (self.rows, self.columns)), self.shape).tocsr()
        return np.bincount(self._flat, values, self.shape[0] * self.shape[1]).reshape(self.shape)

    @cached_property
    def _flat(self) -> IntArray | None:
        """Return the indices of the pattern's entries in the flattened dense matrix, row * columns + column, shape
        (entries,); None if the matrix has more than 128 columns or 386 rows and is stored as sparse."""
        count, width = self.shape
        return self.rows * width + self.columns if is_small(width) and is_small(count // 3) else None


def linked_groups(links: IntArray | Sequence[IntArray], count: int) -> IntArray:
    """Return the group of each of ``count`` items, numbered from 0, shape (count,). Both items of each of k
    ``links``, shape (2, k), belong to the same group: the connected components of a graph."""
    one, two = links
    graph = sparse.coo_array((np.ones(len(one)), (one, two)), shape=(count, count))
    return np.asarray(connected_components(graph.tocsr(), directed=False)[1], dtype=np.int64)


def summed_blocks(rows: IntArray, columns: IntArray, blocks: Array, shape: tuple[int, int]) -> sparse.csr_array:
    """Return the sparse matrix of the given ``shape`` in which dense blocks are added up, as in the assembly
    of finite elements. Block e is added at the row indices ``rows[e]`` and column indices ``columns[e]``; a
    single block (m, n) serves for all e."""
    count = len(rows)
    both = np.broadcast_arrays(rows.reshape(count, -1, 1), columns.reshape(count, 1, -1))
    values = np.broadcast_to(blocks, (count, *blocks.shape)) if blocks.ndim == 2 else blocks
    return sparse.coo_array((values.ravel(), tuple(indices.ravel() for indices in both)), shape).tocsr()


def block_matrix(blocks: Sequence[Matrix], size: int) -> Matrix:
    """Return the block-diagonal matrix of square blocks, shape (size, size); a dense array if ``size`` is small (up
    to 128), else sparse."""
    if is_small(size):
        return block_diagonal(blocks, size)
    return sparse_diagonal(blocks)


def equal_diagonal(blocks: Array) -> sparse.csr_array:
    """Return the sparse block-diagonal matrix of k dense blocks of equal shape (m, n), given as an array (k, m, n);
    the result has shape (k m, k n)."""
    count, rows, columns = blocks.shape
    indices = np.arange(count), np.arange(count + 1)
    return sparse.bsr_array((blocks, *indices), shape=(count * rows, count * columns)).tocsr()


def sparse_diagonal(blocks: Iterable[Any]) -> sparse.csr_array:
    """Return the sparse block-diagonal matrix (CSR) of dense or sparse blocks of any shapes."""
    data, indices, counts, column = [], [], [np.zeros(1, dtype=np.int64)], 0
    for block in blocks:
        if isinstance(block, np.ndarray):
            rows, columns = block.nonzero()
            data.append(block[rows, columns])
            indices.append(columns + column)
            counts.append(np.bincount(rows, minlength=block.shape[0]))
        else:
            compressed = block if isinstance(block, sparse.csr_array) else sparse.csr_array(block)
            data.append(compressed.data)
            indices.append(compressed.indices + np.int64(column))
            counts.append(np.diff(compressed.indptr).astype(np.int64))
        column += block.shape[1]
    starts = np.cumsum(np.concatenate(counts))
    if not data:
        return sparse.csr_array((0, 0))
    shape = (len(starts) - 1, column)
    return sparse.csr_array((np.concatenate(data), np.concatenate(indices), starts), shape=shape)


def block_diagonal(blocks: Iterable[Matrix], size: int) -> Array:
    """Return the dense block-diagonal matrix of square blocks, which may be dense or sparse, shape (size, size)."""
    result, begin = np.zeros((size, size)), 0
    for block in blocks:
        end = begin + block.shape[0]
        result[begin:end, begin:end] = block if isinstance(block, np.ndarray) else block.toarray()
        begin = end
    return result


def block_array(blocks: "Sequence[Sequence[Matrix | None]]") -> Matrix:
    """Return the matrix that is composed of a grid of blocks, given as rows of matrices, where None is a zero
    block. The result is a dense array if all blocks are, else a sparse CSC array."""
    present = [block for row in blocks for block in row if block is not None]
    if not all(isinstance(block, np.ndarray) for block in present):
        return sparse.csc_array(sparse.block_array(blocks))
    columns = zip(*blocks, strict=True)
    below = np.cumsum([0, *(next(block.shape[0] for block in row if block is not None) for row in blocks)])
    right = np.cumsum([0, *(next(block.shape[1] for block in column if block is not None) for column in columns)])
    result = np.zeros((below[-1], right[-1]), np.result_type(*present))
    for i, row in enumerate(blocks):
        for j, block in enumerate(row):
            if block is not None:
                result[below[i] : below[i + 1], right[j] : right[j + 1]] = block
    return result


# Factors of any sparse matrix by SuperLU, which may write beyond its memory if some columns have no pivot.


def structural_rank(matrix: Any) -> int:
    """Return the structural rank of a square sparse ``matrix``, its rank for nearly all values of its entries.

    It is the largest number of stored entries of which no two share a row or a column: the maximum flow from the
    rows to the columns. SciPy's own function may take exponential time, and so may the flow where rows with few
    entries do not come first.
    """
    rows = sparse.csr_array(matrix)
    rows = rows[np.argsort(np.diff(rows.indptr), kind="stable")]
    n, entries = rows.shape[0], rows.nnz
    source, sink, row, column = 0, 2 * n + 1, np.arange(1, n + 1), np.arange(n + 1, 2 * n + 1)
    ends = np.concatenate([[source, n], n + rows.indptr[1:], entries + column, [entries + 2 * n]])
    nodes = np.concatenate([row, column[rows.indices], np.full(n, sink)])
    edges = np.ones(len(nodes), dtype=np.int32), nodes.astype(np.int32), ends.astype(np.int32)
    return int(maximum_flow(sparse.csr_array(edges, shape=(sink + 1, sink + 1)), source, sink).flow_value)


def lu_factors(matrix: Any, **options: Any) -> SuperLU:
    """Return the sparse LU factors (SciPy's ``SuperLU`` object, with a method ``solve``) of a square sparse
    matrix, real or complex; raise ``SingularMatrixError`` if it is singular. ``options`` are those of
    ``splu``.

    Args:
        matrix: in any format of SciPy, shape (N, N).
        options: of ``scipy.sparse.linalg.splu``.

    Raises:
        SingularMatrixError: it has no inverse; this is checked by its zeros before SuperLU is called.
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
    """Factor a square matrix by LU with pivoting, dense (LAPACK) or sparse (SuperLU), and return a function. The
    function solves ``matrix @ x = b`` for right-hand sides b, shape (N,) or (N, k). A singular sparse matrix
    raises ``SingularMatrixError``; a singular dense one gives solutions that are not finite.

    Raises:
        SingularMatrixError: it is sparse and has no inverse; solutions of a singular dense array are not finite.
    """
    if not isinstance(matrix, np.ndarray):
        solve: Callable[[Array], Array] = lu_factors(matrix).solve
        return solve
    from scipy.linalg import get_lapack_funcs, lu_solve

    (factorize,) = get_lapack_funcs(("getrf",), (matrix,))
    factors = factorize(matrix)[:2]  # SciPy's own function warns of singular ones
    return lambda right: np.asarray(lu_solve(factors, right, check_finite=False))


SYMMETRIC = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
"""Options of ``splu`` for matrices that need no pivots off the diagonal, with much less fill, above all of
meshes."""
BACKWARD = 1e-12


def diagonal_solver(matrix: sparse.sparray) -> Callable[[Array], Array]:
    """Factor a sparse matrix with symmetric pattern by LU and return a function that solves ``matrix @ x = b``.
    Pivots are on the diagonal, which needs less fill, if a trial solution then has a relative residual of at most
    1e-12; otherwise pivots are chosen by size.

    Raises:
        SingularMatrixError: it has no inverse.
    """
    columns = sparse.csc_matrix(matrix)
    probe = np.random.default_rng(0).normal(size=columns.shape[0]).astype(columns.dtype)
    try:
        factors = lu_factors(columns, **SYMMETRIC)
        solution = factors.solve(probe)
        size = abs(columns) @ np.abs(solution) + np.abs(probe)
        if np.abs(columns @ solution - probe).max(initial=0.0) <= BACKWARD * size.max(initial=0.0):
            return factors.solve  # type: ignore[no-any-return]
    except SingularMatrixError:
        pass
    return lu_factors(columns).solve  # type: ignore[no-any-return]


# Factors of large, sparse, positive definite matrices: by the best solver that is installed.

LEAF = 60
"""Largest number of nodes that nested dissection does not divide."""
SMALL_FACTOR = 30_000
"""Number of unknowns below which SuperLU's ordering is as good."""


@dataclass(frozen=True, eq=False)
class Factors:
    """Function that solves with a factored matrix, and the name of the library that factored it.

    Attributes:
        solver: its name, for summaries.
        solve: solutions (N, k) for right-hand sides (N, k).
    """

    solver: str
    solve: Callable[[Array], Array]


def definite_factors(matrix: sparse.csr_array, positions: Array) -> Factors:
    """Factor a large symmetric positive definite matrix by the first installed of the libraries rslab,
    pypardiso and SuperLU. ``positions`` are the positions of the unknowns, shape (N, 3) [m]. Return the function
    that solves with it, and the library's name, as ``Factors``.

    Args:
        matrix: shape (N, N), symmetric, positive definite.
        positions: positions of the unknowns, for nested dissection with SuperLU, shape (N, 3) [m].
    """
    for module, factors in (("rslab", rslab_factors), ("pypardiso", pardiso_factors)):
        try:
            package = import_module(module)
        except ImportError:
            continue
        return Factors(module, factors(matrix, package))
    return Factors("SuperLU", superlu_factors(matrix, positions))


def superlu_factors(matrix: sparse.csr_array, positions: Array) -> Callable[[Array], Array]:
    """Factor a symmetric positive definite sparse matrix by SuperLU and return a function that solves ``matrix @ x
    = b`` for b (N, k). Above 30 000 unknowns these are ordered by nested dissection of their ``positions``
    (N, 3) [m]."""
    if matrix.shape[0] < SMALL_FACTOR:
        order, options = np.arange(matrix.shape[0]), SYMMETRIC
    else:
        order, options = dissection_order(matrix, positions), SYMMETRIC | {"permc_spec": "NATURAL"}
    factors = lu_factors(matrix[order][:, order], **options)

    def solve(loads: Array) -> Array:
        result = np.empty_like(loads)
        result[order] = factors.solve(np.ascontiguousarray(loads[order]))
        return result

    return solve


def rslab_factors(matrix: sparse.csr_array, package: Any) -> Callable[[Array], Array]:
    """Factor a symmetric positive definite sparse matrix by the library rslab (L D L^T), passed as the imported
    module ``package``. Return a function that solves ``matrix @ x = b`` for b (N, k), also for k = 0."""
    factors = package.ldlt(sparse.csr_matrix(matrix))
    return lambda loads: np.asarray(
        factors.solve_many(np.ascontiguousarray(loads)) if loads.shape[1] else loads.copy()
    )


def pardiso_factors(matrix: sparse.csr_array, package: Any) -> Callable[[Array], Array]:
    """Factor a symmetric positive definite sparse matrix by MKL's PARDISO (L L^T), passed as the imported module
    ``package`` (pypardiso). Return a function that solves ``matrix @ x = b`` for b (N, k), also for k = 0."""
    upper = sparse.csr_matrix(sparse.triu(matrix, format="csr"))
    upper.sort_indices()
    factors = package.PyPardisoSolver(mtype=2)
    factors.factorize(upper)
    return lambda loads: np.asarray(
        factors.solve(upper, np.asfortranarray(loads)) if loads.shape[1] else loads.copy()
    ).reshape(loads.shape)


def dissection_order(matrix: sparse.csr_array, positions: Array) -> IntArray:
    """Return the indices of the unknowns of a sparse matrix in an elimination order of low fill, shape (N,), by
    nested dissection. Unknowns are halved at the median along the longest extent of their ``positions`` (N, 3).
    Unknowns of the upper half that are coupled to the lower half come last. Both halves are treated recursively,
    down to a few unknowns.

    Args:
        matrix: of which only the pattern is used, shape (N, N).
        positions: positions of the unknowns, shape (N, 3).
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
        along = positions[members, np.ptp(positions[members], axis=0).argmax()]
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
    """Return the concatenation of integer ranges ``start, start + 1, ..., start + length - 1``: one for each pair
    of entries of ``starts`` and ``lengths``."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths) + np.repeat(starts, lengths)


# Sums of weighted rows of many functions: products with a constant sparse matrix.

FEW = 2**12
"""Largest number of entries of a matrix that is dense for single instants."""


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Many weighted sums y_i of numbers x, a product with a constant sparse matrix that is fast also for few
    instants.

    Attributes:
        weights: of all entries, shape (entries,).
        sources: indices of the x, shape (entries,).
        owners: indices of the y, ascending, shape (entries,).
        count: number of y.
        size: number of x.
        cancels: whether sums of equal x are exactly zero if the sum of their weights is.
    """

    weights: Array
    sources: IntArray
    owners: IntArray
    count: int
    size: int
    cancels: bool = False

    def of(self, values: Array) -> Array:
        """Return the weighted sums y = W x of values x at T instants with the constant sparse matrix W (count,
        size). ``values`` have the shape (T, size, ...), the result (T, count, ...). Small arrays are multiplied by
        a dense copy of W, since SciPy's sparse product begins slowly."""
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
        """Return weighted sums with the same sparsity pattern (which x is added to which y) as these, but with
        other weights, shape (entries,)."""
        other = replace(self, weights=weights)
        vars(other).update(_starts=self._starts, _owners=self._owners)
        return other

    @cached_property
    def transposed(self) -> "WeightedSums":
        """Return the weighted sums with the transposed matrix W^T, x = W^T y, where these sums are y = W x."""
        return sums_of(self.weights, self.sources, self.owners, self.size, self.count)

    @cached_property
    def _dense(self) -> Array | None:
        """Return the matrix W of the weighted sums y = W x as a dense array, shape (count, size), or None. It is
        None where W has more than 4096 entries, and where sums have to cancel exactly although not all weights are
        1 or -1."""
        if self.count * self.size > FEW:
            return None
        if self.cancels and not (np.abs(self.weights) == 1).all():  # products may round before they cancel
            return None
        matrix = np.zeros((self.count, self.size))
        np.add.at(matrix, (self.owners, self.sources), self.weights)
        return matrix

    @cached_property
    def _starts(self) -> IntArray:
        """Return the indices in the sorted list of all entries (weight, source) at which the entries of each
        weighted sum begin. They are ascending; sums without entries are left out."""
        return np.flatnonzero(np.diff(self.owners, prepend=-1))

    @cached_property
    def _owners(self) -> IntArray:
        """Return the indices among all weighted sums y of those that have at least one entry, ascending, shape
        (sums with entries,). The other sums are zero."""
        return self.owners[self._starts]

    @cached_property
    def _matrix(self) -> sparse.csr_array:
        """Return the matrix W of the weighted sums y = W x as a sparse CSR array, shape (count, size)."""
        shape = (self.count, self.size)
        return sparse.coo_array((self.weights, (self.owners, self.sources)), shape).tocsr()


def weighted_sums(
    entries: Sequence[tuple[float, int, int]], count: int, size: int, cancels: bool = False
) -> WeightedSums:
    """Return a function object for ``count`` weighted sums of ``size`` numbers, y = W x with a sparse matrix W.
    They are given as a list of entries (weight, index of the sum y, index of the number x) in any order. With
    ``cancels``, a sum of equal x is exactly zero if the sum of its weights is zero."""
    table = np.array(entries, dtype=np.float64).reshape(-1, 3)
    owners, sources = table[:, 1].astype(np.int64), table[:, 2].astype(np.int64)
    return sums_of(table[:, 0], owners, sources, count, size, cancels)


def sums_of(
    weights: Array, owners: IntArray, sources: IntArray, count: int, size: int, cancels: bool = False
) -> WeightedSums:
    """Return ``count`` weighted sums of ``size`` numbers, y = W x with a sparse matrix W, from three arrays
    of equal length: the weights, ``owners`` (indices of the sums y) and ``sources`` (indices of the numbers
    x). ``cancels``: a sum of equal x is exactly zero if the sum of its weights is."""
    order = np.argsort(owners, kind="stable")
    return WeightedSums(weights[order], sources[order], owners[order], count, size, cancels)


def plain_sums(owners: IntArray, count: int) -> WeightedSums:
    """Return ``count`` sums without weights of consecutive numbers x: x_k is added to the sum with the index
    ``owners[k]``; ``owners`` has one entry for each number."""
    order = np.argsort(owners, kind="stable")
    return WeightedSums(np.ones(len(owners)), order.astype(np.int64), owners[order], count, len(owners))


# Dense windows that cover all nonzero entries of a matrix, for loops over contiguous numbers.

OVERHEAD = 30  # additional cost of a patch, in entries
WIDEST = 32  # columns of a patch


def dense_patches(matrix: Matrix) -> Sequence[tuple[slice, slice]]:
    """Return dense rectangular windows, as pairs (slice of rows, slice of columns), that cover all nonzero entries
    of a matrix at least cost. The cost of a window is 30 plus its number of entries; it has at most 32 columns,
    and no two windows share a column. Empty for a zero matrix. Products with the matrix then are loops over dense
    blocks."""
    spans = ((begin, end) if end else (matrix.shape[0], 0) for begin, end in row_spans(matrix.T))
    return () if is_zero(matrix) else _cheapest_patches(tuple(spans))


@lru_cache(maxsize=256)  # models that differ in numbers alone have the same patches
def _cheapest_patches(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[slice, slice], ...]:
    """Return dense windows (slice of rows, slice of columns) that cover the nonzero entries of a matrix at least
    estimated cost. The cost of a window is its number of entries plus a constant. The windows are found by dynamic
    programming over groups of consecutive columns; empty windows are left out. ``spans`` has for each column its
    first nonzero row and the row after the last."""
    count = len(spans)
    first, last = (np.array(ends) for ends in zip(*spans, strict=True))
    top, bottom = first, last
    costs_of_widths = np.full((count, WIDEST), np.inf)  # cost of a patch of 1, 2, ... columns up to each
    for width in range(1, min(WIDEST, count) + 1):
        costs_of_widths[width - 1 :, width - 1] = np.where(bottom > top, OVERHEAD + width * (bottom - top), 0)
        before = slice(0, count - width)
        top, bottom = np.minimum(first[before], top[1:]), np.maximum(last[before], bottom[1:])
    least = np.zeros(count + 1)  # of the columns before each
    begins = np.zeros(count + 1, dtype=np.int64)
    for end in range(1, count + 1):
        widest = min(end, WIDEST)
        costs = least[end - widest : end][::-1] + costs_of_widths[end - 1, :widest]
        width = int(costs.argmin()) + 1
        least[end], begins[end] = costs[width - 1], end - width
    result, end = [], count
    while end > 0:
        begin = int(begins[end])
        top, bottom = (
            pick(ends) for pick, ends in zip((min, max), zip(*spans[begin:end], strict=True), strict=True)
        )
        if bottom > top:
            result.append((slice(top, bottom), slice(begin, end)))
        end = begin
    return tuple(result[::-1])


def row_spans(matrix: Matrix) -> list[tuple[int, int]]:
    """Return, for each row of a dense or sparse matrix, the index of its first nonzero column and the index after
    its last nonzero column. The result is a list of pairs; a zero row gives (0, 0)."""
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
    """Return the submatrix ``matrix[rows, columns]`` of a dense or sparse (CSR) matrix as a dense array."""
    if isinstance(matrix, np.ndarray):
        return matrix[rows, columns]
    result = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
    ends = matrix.indptr[rows.start : rows.stop + 1]
    entries, lines = slice(ends[0], ends[-1]), np.repeat(np.arange(len(result)), np.diff(ends))
    indices = matrix.indices[entries]
    inside = (indices >= columns.start) & (indices < columns.stop)
    result[lines[inside], indices[inside] - columns.start] = matrix.data[entries][inside]
    return result


def disjoint_columns(pattern: sparse.csc_array) -> list[list[int]]:
    """Group the columns of a sparse matrix so that no two columns of one group have an entry in the same row;
    return a list of column indices for each group. A Jacobian with this pattern needs one difference quotient for
    each group."""
    return disjoint_groups(np.split(pattern.indices, pattern.indptr[1:-1])) if pattern.shape[1] else []


def disjoint_groups(sets: Sequence[IntArray]) -> list[list[int]]:
    """Group sets of integers, given as arrays, so that no two sets of one group have a member in common. Each set,
    in order, is added to the first group without common members, or begins a new group. Return a list of groups,
    each a list of the indices of its sets."""
    groups: list[list[int]] = []
    taken: list[Array] = []
    numbers, indices = np.unique(np.concatenate(sets), return_inverse=True)
    for k, own in enumerate(np.split(indices, np.cumsum([len(each) for each in sets])[:-1])):
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


# Solution of saddle-point systems: unknowns under constraints with multipliers, scaled, relaxed and refined.

# ``K x + G^T y = f`` and ``G x - D y = g``, factored once for many right-hand sides.


class SaddlePoint:
    """Factored saddle-point system K x + G^T y = f, G x - D y = g. It is solved for x and multipliers y with many
    right-hand sides.

    Args:
        matrix: K, shape (n, n), real or complex.
        rows: G, shape (rows, n), of full rank unless there is a relaxation.
        compliance: the diagonal of D, shape (rows,); None: zero.
        scale: sizes of the unknowns, for example ``natural_scale(M)``, shape (n,); rows then have the size of the
            largest entry of K. None: no scaling.
        relaxation: of the scaled rows, which may then be linearly dependent; the solution is refined with the exact
            rows. Contradictory rows leave a residual.

    Raises:
        SingularMatrixError: matrices are sparse, and the system is exactly singular.
    """

    def __init__(
        self,
        matrix: Matrix,
        rows: Matrix,
        compliance: Array | None = None,
        scale: Array | None = None,
        relaxation: float = 0.0,
    ) -> None:
        count = rows.shape[0]
        self._scale, self._row_scale = np.ones(matrix.shape[0]) if scale is None else scale, np.ones(count)
        if scale is not None:
            matrix = _scaled_by(scale, matrix, scale)
            lengths = np.sqrt(rows**2 @ scale**2)
            self._row_scale = ((count and float(abs(matrix).max())) or 1.0) / np.where(lengths > 0, lengths, 1.0)
            rows = _scaled_by(self._row_scale, rows, scale)
        is_array = isinstance(matrix, np.ndarray) and isinstance(rows, np.ndarray)
        soft = np.zeros(count) if compliance is None else self._row_scale**2 * compliance
        self._exact = _saddle_matrix(matrix, rows, soft)
        self._refinements = REFINEMENTS if relaxation else 0
        # an inverse is as good as the refinement needs, and its products are faster than solutions
        if relaxation and is_array:
            relaxed = self._exact.copy()
            relaxed.reshape(-1)[len(matrix) * (len(relaxed) + 1) :: len(relaxed) + 1] -= relaxation
            self._solve: Callable[[Array], Array] = np.linalg.inv(relaxed).__matmul__
        else:
            whole = _saddle_matrix(matrix, rows, soft + relaxation) if relaxation else self._exact
            self._solve = solver(whole) if count or is_array else diagonal_solver(whole)

    def solve(self, forces: Array, values: Array | None = None) -> tuple[Array, Array]:
        """Solve the factored saddle-point system K x + G^T y = f, G x - D y = g for given f and g. The solution is
        improved by iterative refinement. Return x (n, ...) and the multipliers y (rows, ...). ``forces`` is f,
        shape (n,) or (n, columns); ``values`` is g, shape (rows,) or (rows, columns), None: zero."""
        above = (self._scale * forces.T).T
        if values is None:
            below = np.zeros((len(self._row_scale), *forces.shape[1:]))
        else:
            below = (self._row_scale * values.T).T
        right = np.ascontiguousarray(np.concatenate([above, below]), dtype=np.result_type(above, self._exact.dtype))
        solution = self._solve(right)
        for _ in range(self._refinements):
            solution = solution + self._solve(right - self._exact @ solution)
        x, y = solution[: len(above)], solution[len(above) :]
        return np.asarray((self._scale * x.T).T), np.asarray((self._row_scale * y.T).T)


def _scaled_by(left: Array, matrix: Matrix, right: Array) -> Matrix:
    """Return the matrix product diag(left) @ matrix @ diag(right), which scales rows by the vector ``left`` and
    columns by the vector ``right``; it is dense or sparse as ``matrix`` is."""
    if isinstance(matrix, np.ndarray):
        return left[:, None] * matrix * right
    return sparse.csr_array(sparse.diags_array(left) @ matrix @ sparse.diags_array(right))


def _saddle_matrix(matrix: Matrix, rows: Matrix, compliance: Array) -> Any:
    """Return the saddle-point matrix [[K, G^T], [G, -D]] of a stiffness or mass ``matrix`` K and constraint
    ``rows`` G. D is the diagonal matrix of ``compliance``, one value for each row of G; the block is absent if all
    are zero. The result is dense if K and G are dense, else sparse, and K itself if there are no rows."""
    if not rows.shape[0]:
        return matrix
    soft = None
    if compliance.any():
        soft = -np.diag(compliance) if isinstance(rows, np.ndarray) else -sparse.diags_array(compliance)
    return block_array([[matrix, rows.T], [rows, soft]])


def natural_scale(mass: Matrix) -> Array:
    """Return the scale factors 1 / sqrt(M_ii) of the unknowns of a mass matrix M (n, n), shape (n,). With these all
    unknowns have unit mass."""
    return np.asarray(1 / np.sqrt(mass.diagonal()))


# The nearest point of a linear set, also with linearly dependent equations.

RELAXATION = 1e-9
REFINEMENTS = 7
RESIDUAL = 1e-12
"""Residual above which a solution is corrected, relative to the sum of the terms of its equation."""
NEGLIGIBLE = 1e-10
"""Size up to which entries are round-off, relative to the largest entry of their row."""


def nearest_point(metric: Matrix, matrix: Matrix) -> SaddlePoint:
    """Return the factored saddle-point system of a constrained minimization. Its method ``solve(f, g)`` returns
    the x that minimizes ``x.metric.x / 2 - f.x`` under the constraints ``matrix @ x = g``, and the multipliers. A
    tiny regularization allows rows of ``matrix`` that are linearly dependent.

    Args:
        metric: symmetric, positive definite, shape (n, n).
        matrix: shape (rows, n).
    """
    return SaddlePoint(metric, matrix, scale=natural_scale(metric), relaxation=RELAXATION)


def smallest_solution(metric: Matrix, matrix: Matrix, values: Array) -> Array:
    """Return the x (n,) of least weighted norm ``x.metric.x`` among the solutions of the underdetermined equations
    ``matrix @ x = values``. It is computed from the saddle-point system with Lagrange multipliers.

    Linearly dependent equations are allowed; if they contradict each other, x leaves a residual.

    Args:
        metric: symmetric, positive definite, shape (n, n).
        matrix: shape (rows, n).
        values: shape (rows,).
    """
    return smallest_with_multipliers(metric, matrix, values)[0]


def smallest_with_multipliers(metric: Matrix, matrix: Matrix, values: Array) -> tuple[Array, Array]:
    """Return the x (n,) of least weighted norm ``x.metric.x`` among the solutions of ``matrix @ x = values``, and
    its multipliers y (rows,). These satisfy ``metric @ x + matrix.T @ y = 0``. Linearly dependent rows are
    allowed. If the residual is large, one correction with other scale factors is tried. Both are zero without rows
    or unknowns."""
    rows, n = matrix.shape
    if rows == 0 or n == 0:
        return np.zeros(n), np.zeros(rows)
    x, y = nearest_point(metric, matrix).solve(np.zeros(n), values)
    residual = values - matrix @ x
    if np.abs(residual).max() > RESIDUAL * (abs(matrix) @ np.abs(x) + np.abs(values)).max():
        # rows on one light body are dependent up to its share of the mass; without masses they are not
        even = SaddlePoint(metric, matrix, scale=_even_scale(metric, matrix), relaxation=RELAXATION)
        dx, dy = even.solve(-metric @ x - matrix.T @ y, residual)
        if np.abs(residual - matrix @ dx).max() < np.abs(residual).max():
            return x + dx, y + dy
    return x, y


def _even_scale(metric: Matrix, matrix: Matrix) -> Array:
    """Return scale factors of the n unknowns of constrained equations, shape (n,). With these, large entries of
    the constraint ``matrix`` become about 1 in each row. A common factor makes the scaled diagonal of ``metric``
    (mass or stiffness) at most 1. Unknowns without constraint get the scale that makes their diagonal entry of
    ``metric`` 1."""
    sizes, natural = sparse.coo_array(abs(matrix)), natural_scale(metric)
    largest, shares = np.zeros(matrix.shape[0]), np.zeros(matrix.shape[1])
    np.maximum.at(largest, sizes.row, sizes.data)
    parts = sizes.data / np.where(largest > 0, largest, 1.0)[sizes.row]
    np.maximum.at(shares, sizes.col, np.where(parts > NEGLIGIBLE, parts, 0.0))
    is_used = shares > 0
    scale = 1 / np.where(is_used, shares, 1.0)
    return np.where(is_used, scale * (natural / scale)[is_used].min(initial=np.inf), natural)
