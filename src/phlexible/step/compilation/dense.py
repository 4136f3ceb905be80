"""Linear algebra of small dense matrices: LU with partial pivoting, products of blocks, inverses of three and six
rows."""

from typing import Any

from phlexible.step.compilation.compiled import compiled, compiled_without_overlap
from phlexible.step.compilation.notation import (
    Choice,
    Choices,
    Reals,
    Truth,
    any_of,
    are_in_lanes,
    is_nonzero,
    is_same_in_lanes,
    lane_count,
    lane_value,
    single_floats,
    where,
)

# Small dense LU with partial pivoting and products of blocks that lie row by row.
#
# Blocks, vectors and pivots are rows of tables (``t.blocks + start``). Nearly all time goes into
# ``subtract_rows`` and ``add_rows``, which take four rows at a time, and into ``subtract_from_four_rows``, which
# takes them from four rows together: a number that is read serves all of these.

PANEL = 4
POSITIVE = 4.0  # by how much products of diagonal entries may be too small


def rows_times(sign: float) -> Any:
    """Return a compiled function that computes c += sign * sum_r x[r] * b_r in place, a row vector times a matrix.
    Its arguments are x, the number of rows, b, ``stride``, c and ``count``: rows b_r of ``count`` entries begin
    ``stride`` entries apart in memory. Groups of four rows whose x are all zero are skipped.

    LLVM knows the sign, 1 or -1, so that no product contains it.
    """

    @compiled_without_overlap
    def add(x: Reals, rows: int, b: Reals, stride: int, c: Reals, count: int) -> None:
        r = 0
        while r + 3 < rows:
            x0, x1, x2, x3 = sign * x[r], sign * x[r + 1], sign * x[r + 2], sign * x[r + 3]
            if any_of(is_nonzero(x0) | is_nonzero(x1) | is_nonzero(x2) | is_nonzero(x3)):
                b0 = b + r * stride
                b1, b2, b3 = b0 + stride, b0 + 2 * stride, b0 + 3 * stride
                for j in range(count):
                    c[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j]
            r += 4
        rest, b0 = rows - r, b + r * stride
        if rest == 3:
            x0, x1, x2 = sign * x[r], sign * x[r + 1], sign * x[r + 2]
            b1, b2 = b0 + stride, b0 + 2 * stride
            for j in range(count):
                c[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j]
        elif rest == 2:
            x0, x1 = sign * x[r], sign * x[r + 1]
            b1 = b0 + stride
            for j in range(count):
                c[j] += x0 * b0[j] + x1 * b1[j]
        elif rest == 1:
            x0 = sign * x[r]
            for j in range(count):
                c[j] += x0 * b0[j]

    return add


add_rows, subtract_rows = rows_times(1.0), rows_times(-1.0)


@compiled_without_overlap
def subtract_from_four_rows(
    x: Reals, step: int, rows: int, b: Reals, stride: int, c0: Reals, c1: Reals, c2: Reals, c3: Reals, count: int
) -> None:
    """Compute c_i -= x_i b in place for four rows c0, c1, c2, c3 at the same time. x_i are row vectors, b is
    a matrix. The matrix has ``rows`` rows of ``count`` entries; rows of x begin ``step``, rows of b
    ``stride`` entries apart."""
    r = 0
    while r + 3 < rows:
        x00, x01, x02, x03 = x[r], x[r + 1], x[r + 2], x[r + 3]
        y = x + (step + r)
        x10, x11, x12, x13 = y[0], y[1], y[2], y[3]
        y = y + step
        x20, x21, x22, x23 = y[0], y[1], y[2], y[3]
        y = y + step
        x30, x31, x32, x33 = y[0], y[1], y[2], y[3]
        b0 = b + r * stride
        b1, b2, b3 = b0 + stride, b0 + 2 * stride, b0 + 3 * stride
        for j in range(count):
            c0[j] -= x00 * b0[j] + x01 * b1[j] + x02 * b2[j] + x03 * b3[j]
            c1[j] -= x10 * b0[j] + x11 * b1[j] + x12 * b2[j] + x13 * b3[j]
            c2[j] -= x20 * b0[j] + x21 * b1[j] + x22 * b2[j] + x23 * b3[j]
            c3[j] -= x30 * b0[j] + x31 * b1[j] + x32 * b2[j] + x33 * b3[j]
        r += 4
    while r < rows:
        x0, x1, x2, x3 = x[r], x[step + r], x[2 * step + r], x[3 * step + r]
        b0 = b + r * stride
        for j in range(count):
            c0[j] -= x0 * b0[j]
            c1[j] -= x1 * b0[j]
            c2[j] -= x2 * b0[j]
            c3[j] -= x3 * b0[j]
        r += 1


@compiled
def pivot_row(a: Reals, k: int, n: int, stride: int) -> tuple[Choice, Truth]:
    """Return the index of the pivot row of column k of an (n, n) matrix a among rows k .. n - 1. It is the row of
    the largest entry. Row k itself is preferred where the entries below are no larger than in a symmetric positive
    definite matrix. Rows are ``stride`` entries apart; the second result is whether the pivot is finite and not
    zero.

    It is row k if the block might be symmetric and positive, as those of bodies nearly are: entries are then no
    larger than those on the diagonal allow, a_ik^2 <= a_ii a_kk, whatever the units. Rows that stay in place do so
    in all lanes.
    """
    largest, pivot, own = abs(a[k * stride + k]), k, POSITIVE * a[k * stride + k]
    for i in range(k + 1, n):
        value = abs(a[i * stride + k])
        is_larger = value > largest
        if any_of(is_larger):
            is_larger = is_larger & (value * value > abs(own * a[i * stride + i]))
            largest, pivot = where(is_larger, value, largest), where(is_larger, i, pivot)
    return pivot, (largest > 0.0) & (largest < 1e300)


@compiled
def exchange_rows(a: Reals, k: int, pivot: Choice, stride: int, count: int) -> None:
    """Exchange row k with row ``pivot`` of a matrix a in place, ``count`` entries of each. Rows begin ``stride``
    entries apart, and each SIMD lane (mechanism) has its own pivot."""
    if not any_of(pivot != k):
        return
    if is_same_in_lanes(pivot):
        _swap(a + k * stride, a + lane_value(pivot, 0) * stride, count)
        return
    numbers, width = single_floats(a), lane_count(pivot)
    for lane in range(width):
        own, other = k * stride * width + lane, lane_value(pivot, lane) * stride * width + lane
        for j in range(0, count * width, width):
            numbers[own + j], numbers[other + j] = numbers[other + j], numbers[own + j]


@compiled
def take_pivot(a: Reals, k: int, n: int, stride: int, pivots: Choices) -> Truth:
    """Select the pivot row for column k of an (n, n) matrix a, store its index in ``pivots[k]`` and exchange it
    with row k. Rows of a begin ``stride`` entries apart. Return False if the column has no usable pivot, that is,
    the matrix is singular; then no rows are exchanged. In SIMD lanes each lane has its own pivot."""
    is_found: Truth
    pivots[k], is_found = pivot_row(a, k, n, stride)
    if any_of(is_found):
        exchange_rows(a, k, pivots[k], stride, n)
    return is_found


@compiled
def factor(a: Reals, n: int, stride: int, pivots: Choices) -> Truth:
    """Factorize the (n, n) matrix a in place as P a = L U with partial pivoting; its rows are ``stride`` entries
    apart. L has ones on its diagonal, which are not stored; the inverse of the diagonal of U is stored. The index
    of the row swapped with row k is written to ``pivots[k]``. Return False where a is singular or not finite.

    Inverses are stored since a division takes longer than a row of few entries.
    """
    is_regular: Truth = True
    for begin in range(0, n, PANEL):
        end = min(begin + PANEL, n)
        for k in range(begin, end):
            is_regular = is_regular & take_pivot(a, k, n, stride, pivots)
            if not any_of(is_regular):
                return is_regular
            top = a + k * stride
            inverse = 1.0 / top[k]
            for i in range(k + 1, n):
                own = a + i * stride
                x = own[k] * inverse
                own[k] = x
                for j in range(k + 1, end):
                    own[j] -= x * top[j]
            top[k] = inverse
        first, i = a + (begin * stride + end), begin + 1  # columns beyond the panel:
        while i < n:  # first its own rows, then all below
            row = a + i * stride
            if i >= end and i + 3 < n and are_in_lanes(a):
                c0, c1 = row + end, row + (stride + end)
                c2, c3 = row + (2 * stride + end), row + (3 * stride + end)
                subtract_from_four_rows(row + begin, stride, PANEL, first, stride, c0, c1, c2, c3, n - end)
                i += 4
            else:
                subtract_rows(row + begin, min(i, end) - begin, first, stride, row + end, n - end)
                i += 1
    return is_regular


@compiled
def _swap(a: Reals, b: Reals, count: int) -> None:
    for j in range(count):
        a[j], b[j] = b[j], a[j]


@compiled
def solve(a: Reals, n: int, stride: int, pivots: Choices, b: Reals, step: int, columns: int) -> None:
    """Solve A X = b in place for the (n, columns) right-hand sides b by forward and backward substitution. a
    contains the LU factors of ``factor``, with reciprocals of the pivots on the diagonal, ``pivots`` the row
    exchanges. Rows of a begin ``stride``, rows of b ``step`` entries apart."""
    if columns == 1 and step == 1:
        solve_vector(a, n, stride, pivots, b)
        return
    for k in range(n):
        exchange_rows(b, k, pivots[k], step, columns)
    for begin in range(0, n, PANEL):  # what panels before it subtract, four rows at a time, then its own rows
        own, end = a + begin * stride, min(begin + PANEL, n)
        if begin > 0:
            subtract_from_panel(own, stride, begin, b, b + begin * step, step, end - begin, columns)
        for i in range(begin + 1, end):
            subtract_rows(a + (i * stride + begin), i - begin, b + begin * step, step, b + i * step, columns)
    for begin in range((n - 1) // PANEL * PANEL, -1, -PANEL):
        own, end = a + begin * stride, min(begin + PANEL, n)
        if end < n:
            subtract_from_panel(own + end, stride, n - end, b + end * step, b + begin * step, step, PANEL, columns)
        for i in range(end - 1, begin - 1, -1):
            row = b + i * step
            subtract_rows(a + (i * stride + i + 1), end - i - 1, row + step, step, row, columns)
            scale(row, columns, a[i * stride + i])


@compiled
def subtract_from_panel(
    x: Reals, stride: int, inner: int, b: Reals, c: Reals, step: int, rows: int, columns: int
) -> None:
    """Compute the matrix c -= x b in place for at most four ``rows`` of c and x, and ``inner`` rows of b. Rows of
    x begin ``stride`` entries apart. Rows of b and c have ``columns`` entries and begin ``step`` entries apart."""
    if rows == PANEL:
        c1, c2, c3 = c + step, c + 2 * step, c + 3 * step
        subtract_from_four_rows(x, stride, inner, b, step, c, c1, c2, c3, columns)
        return
    for i in range(rows):
        subtract_rows(x + i * stride, inner, b, step, c + i * step, columns)


@compiled
def solve_vector(a: Reals, n: int, stride: int, pivots: Choices, b: Reals) -> None:
    """Solve A x = b in place for one right-hand side b of n entries by forward and backward substitution. a
    contains the LU factors of ``factor``, with reciprocals of the pivots on the diagonal, and ``pivots`` its row
    exchanges. Rows of a begin ``stride`` entries apart."""
    for k in range(n):
        exchange_rows(b, k, pivots[k], 1, 1)
    if are_in_lanes(b):
        _solve_in_lanes(a, n, stride, b)
        return
    for i in range(1, n):
        b[i] -= product(a + i * stride, b, i)
    for i in range(n - 1, -1, -1):
        rest = product(a + (i * stride + i + 1), b + (i + 1), n - i - 1)
        b[i] = (b[i] - rest) * a[i * stride + i]


@compiled
def _solve_in_lanes(a: Reals, n: int, stride: int, b: Reals) -> None:
    """Substitute forward and backward with the LU factors a for one right-hand side b of n entries in place, for
    several mechanisms in SIMD lanes. Rows of a begin ``stride`` entries apart; rows of b are not exchanged here.

    A number depends on the one before it; updates of four columns at a time do not.
    """
    for begin in range(0, n, PANEL):
        end = min(begin + PANEL, n)
        for i in range(begin + 1, end):
            b[i] -= product(a + (i * stride + begin), b + begin, i - begin)
        subtract_columns(a + (end * stride + begin), stride, end - begin, b + begin, b + end, n - end)
    for end in range(n, 0, -PANEL):
        begin = max(end - PANEL, 0)
        for i in range(end - 1, begin - 1, -1):
            b[i] = (b[i] - product(a + (i * stride + i + 1), b + (i + 1), end - i - 1)) * a[i * stride + i]
        subtract_columns(a + begin, stride, end - begin, b + begin, b, begin)


@compiled_without_overlap
def subtract_columns(a: Reals, stride: int, columns: int, x: Reals, y: Reals, rows: int) -> None:
    """Compute y -= a x in place for a matrix a of ``rows`` rows and ``columns`` columns, at most four. x has
    ``columns`` and y ``rows`` entries. The array a is flat; each row begins ``stride`` entries after the last."""
    if columns == PANEL:
        x0, x1, x2, x3 = x[0], x[1], x[2], x[3]
        for i in range(rows):
            own = a + i * stride
            y[i] -= (own[0] * x0 + own[1] * x1) + (own[2] * x2 + own[3] * x3)
        return
    for i in range(rows):
        y[i] -= product(a + i * stride, x, columns)


@compiled
def scale(x: Reals, count: int, factor: float) -> None:
    """Multiply the ``count`` entries of x by a factor in place."""
    for i in range(count):
        x[i] *= factor


@compiled_without_overlap
def subtract_product(a: Reals, rows: int, inner: int, b: Reals, columns: int, c: Reals, stride: int) -> None:
    """Subtract the product a b from the matrix c in place, for matrices a (rows, inner) and b (inner, columns)
    stored by rows. Rows of c begin ``stride`` entries apart."""
    if columns == 1 and stride == 1:
        subtract_matrix_vector(a, rows, inner, b, c)
        return
    i = 0
    if inner >= PANEL and columns >= PANEL:
        while i + 3 < rows:
            own = c + i * stride
            c1, c2, c3 = own + stride, own + 2 * stride, own + 3 * stride
            subtract_from_four_rows(a + i * inner, inner, inner, b, columns, own, c1, c2, c3, columns)
            i += 4
    while i < rows:
        subtract_rows(a + i * inner, inner, b, columns, c + i * stride, columns)
        i += 1


@compiled_without_overlap
def add_block(a: Reals, step: int, c: Reals, stride: int, rows: int, columns: int) -> None:
    """Compute the matrix c += a in place for (rows, columns) matrices; rows of a begin ``step``, rows of c
    ``stride`` entries apart."""
    for i in range(rows):
        source, target = a + i * step, c + i * stride
        for j in range(columns):
            target[j] += source[j]


@compiled_without_overlap
def subtract_matrix_vector(a: Reals, rows: int, columns: int, x: Reals, y: Reals) -> None:
    """Compute the vector y -= a x in place for a (rows, columns) matrix a and a vector x."""
    i = 0
    while are_in_lanes(a) and i + 3 < rows:  # sums wait for their last term: four at a time do not
        a0, t0, t1, t2, t3 = a + i * columns, 0.0, 0.0, 0.0, 0.0
        a1, a2, a3 = a0 + columns, a0 + 2 * columns, a0 + 3 * columns
        for j in range(columns):
            t0 += a0[j] * x[j]
            t1 += a1[j] * x[j]
            t2 += a2[j] * x[j]
            t3 += a3[j] * x[j]
        y[i] -= t0
        y[i + 1] -= t1
        y[i + 2] -= t2
        y[i + 3] -= t3
        i += 4
    while i < rows:
        y[i] -= product(a + i * columns, x, columns)
        i += 1


@compiled_without_overlap
def matrix_vector(a: Reals, rows: int, columns: int, x: Reals, y: Reals) -> None:
    """Compute y = a x for a (rows, columns) matrix a and a vector x, and store it in y. It is meant for matrices
    of few rows."""
    if rows == 3 and are_in_lanes(y):  # as many as quadrature most often has points
        a1, a2, t0, t1, t2 = a + columns, a + 2 * columns, 0.0, 0.0, 0.0
        for j in range(columns):
            t0 += a[j] * x[j]
            t1 += a1[j] * x[j]
            t2 += a2[j] * x[j]
        y[0], y[1], y[2] = t0, t1, t2
        return
    for i in range(rows):
        y[i] = product(a + i * columns, x, columns)


@compiled_without_overlap
def product(x: Reals, y: Reals, count: int) -> float:
    """Return the scalar product of two vectors x and y of ``count`` entries."""
    total, i = 0.0, 0
    if count > 3 and (are_in_lanes(x) or are_in_lanes(y)):  # of one mechanism LLVM makes several sums of its own
        t1, t2, t3 = 0.0, 0.0, 0.0
        while i + 3 < count:
            total += x[i] * y[i]
            t1 += x[i + 1] * y[i + 1]
            t2 += x[i + 2] * y[i + 2]
            t3 += x[i + 3] * y[i + 3]
            i += 4
        total += t1 + (t2 + t3)
    for k in range(i, count):
        total += x[k] * y[k]
    return total


@compiled_without_overlap
def copy(source: Reals, target: Reals, count: int) -> None:
    """Copy ``count`` entries from the array ``source`` to the array ``target``."""
    for i in range(count):
        target[i] = source[i]


@compiled
def fill(target: Reals, count: int, value: float) -> None:
    """Set the first ``count`` entries of the array ``target`` to a value."""
    for i in range(count):
        target[i] = value


@compiled_without_overlap
def add_multiple(target: Reals, factor: float, source: Reals, count: int) -> None:
    """Add ``factor`` times the array ``source`` to the array ``target`` in place, both of ``count`` entries."""
    for i in range(count):
        target[i] += factor * source[i]


# Inverses of blocks of three and six rows, those of sections and rigid bodies: sizes that LLVM knows.
#
# Solving with the factors of such a block, one number after the other, takes longer than a product with its
# inverse.

SIX = 6


def inversion_of(n: int) -> Any:
    """Return a compiled function that inverts an (n, n) matrix in place by Gauss-Jordan elimination with row
    exchanges. Its arguments are the matrix, the distance of its rows in memory and memory for n pivots. It returns
    False if the matrix is singular, in SIMD lanes for each lane."""

    @compiled_without_overlap
    def subtract(x: float, top: Reals, row: Reals) -> None:
        for j in range(n):
            row[j] -= x * top[j]

    @compiled
    def invert(a: Reals, stride: int, pivots: Choices) -> Truth:
        is_regular: Truth = True
        for k in range(n):
            is_regular = is_regular & take_pivot(a, k, n, stride, pivots)
            if not any_of(is_regular):
                return is_regular
            top = a + k * stride
            inverse = 1.0 / top[k]
            top[k] = 1.0
            for j in range(n):
                top[j] *= inverse
            for i in range(n):
                if i != k:
                    own = a + i * stride
                    x = own[k]
                    own[k] = 0.0
                    subtract(x, top, own)
        for k in range(n - 1, -1, -1):
            if any_of(pivots[k] != k):
                for i in range(n):
                    exchange_rows(a + i * stride, k, pivots[k], 1, 1)
        return is_regular

    return invert


invert_three, invert_six = inversion_of(3), inversion_of(SIX)


@compiled
def invert(a: Reals, n: int, stride: int, pivots: Choices) -> Truth:
    """Invert the (n, n) matrix a of n = 3 or 6 rows in place, its rows ``stride`` entries apart; return False
    where it is singular. ``pivots`` is memory for n integers."""
    is_regular: Truth = invert_three(a, stride, pivots) if n == 3 else invert_six(a, stride, pivots)
    return is_regular


@compiled_without_overlap
def multiply(a: Reals, n: int, stride: int, b: Reals, columns: int) -> None:
    """Replace the (n, columns) matrix b by the product a b in place. The (n, n) matrix a has n = 3 or 6 rows,
    ``stride`` entries apart."""
    for j in range(columns):
        x = b + j
        x0, x1, x2 = x[0], x[columns], x[2 * columns]
        if n == SIX:
            x3, x4, x5 = x[3 * columns], x[4 * columns], x[5 * columns]
            for i in range(SIX):
                y = a + i * stride
                x[i * columns] = y[0] * x0 + y[1] * x1 + y[2] * x2 + y[3] * x3 + y[4] * x4 + y[5] * x5
        else:
            for i in range(3):
                y = a + i * stride
                x[i * columns] = y[0] * x0 + y[1] * x1 + y[2] * x2
