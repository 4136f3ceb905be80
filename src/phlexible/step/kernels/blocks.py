"""Blocks of Newton's matrix: entries of a body's block, LU of long bodies, visits of the block LU (docs/theory.md,
4)."""

from phlexible.algebra.elimination import in_lines
from phlexible.step.compilation.compiled import compiled, compiled_inline, exported
from phlexible.step.compilation.dense import (
    SIX,
    add_block,
    add_multiple,
    copy,
    factor,
    fill,
    invert,
    multiply,
    product,
    scale,
    solve,
    solve_vector,
    subtract_product,
    subtract_rows,
)
from phlexible.step.compilation.notation import Matrix, Reals, Tables, Truth, along, any_of, is_nonzero, row, vector
from phlexible.step.tables.declarations import GATHERED, SEGMENTED, TOGETHER

# LU of the blocks of long bodies, whose coordinates couple with neighbours only.
#
# The coordinates of a long body lie in segments that couple with the next ones alone, and with a border: V, w, and
# y = S deta/dt / sqrt(m), of which the inertia of a body about its centre of mass takes S^T C y away (2.6). So the
# block is ::
#
#     | side and band        |   eta:      band has blocks (segment, segment before, itself, next)
#     | corner and bottom    |   V, w, y:  y is no unknown of the step; it ends with the elimination
#
# and costs as much as the body is long. Bodies without segments are dense blocks (``dense.py``), in which corner,
# side, bottom and band lie within each other; whoever writes into the block of a frame need not know.


@compiled
def has_segments(t: Tables, node: int) -> bool:
    """Return whether a node of the block elimination is a floating body whose block of Newton's matrix is factored
    segment by segment. Such a body is long; a segment of its elastic coordinates couples only with its neighbours.
    The first ``t.frames`` nodes are floating bodies; all later ones give False. ``t`` contains all arrays of the
    model and its state."""
    return node < t.frames and t.segments_count[t.type_of[node]] > 0


@compiled
def block_entry(t: Tables, b: int, i: int, j: int) -> Reals:
    """Return the address of entry (i, j) of the diagonal block of carrier b in Newton's matrix, which is stored in
    ``t.blocks``. A carrier is a floating body or a node; i and j count its velocities. In a body factored by
    segments both must be in one segment or in neighbouring ones; this is not checked. ``t`` contains all arrays of
    the model and its state."""
    if b >= t.frames:
        return t.blocks + (t.carrier_block[b] + i * t.carrier_stride[b] + j)
    rigid = t.rigid_of[b]
    if i < rigid:
        if j < rigid:
            return t.blocks + (t.node_diagonal[b] + i * t.corner_stride[b] + j)
        return t.blocks + (t.bottom[b] + i * t.bottom_stride[b] + j - rigid)
    if j < rigid:
        return t.blocks + (t.side[b] + (i - rigid) * t.side_stride[b] + j)
    return t.blocks + (t.line[t.elastic_begin[b] + i - rigid] + j - rigid)


@exported
def factor_segments(t: Tables, b: int) -> Truth:
    """Factor the block of the segmented (banded) floating body b in Newton's matrix in place. The elastic
    coordinates are eliminated segment by segment with LU factors, the remaining rows of the rigid motion last.
    Return False as soon as a segment is singular. ``t`` contains all arrays of the model and its state.

    V is left out where only m couples it.
    """
    apart, first = t.node_apart[b], t.segments_begin[t.type_of[b]]
    across, along, down = t.corner_stride[b], t.side_stride[b], t.bottom_stride[b]
    r, last = across - apart, first + t.segments_count[t.type_of[b]] - 1
    corner, side = t.blocks + (t.node_diagonal[b] + apart * (across + 1)), t.blocks + (t.side[b] + apart)
    bottom, pivots = t.blocks + (t.bottom[b] + apart * down), t.pivots + 2 * t.node_row[b]
    is_regular = True
    for s in range(first, last + 1):
        i, rows, stride = t.segment_first[s], t.segment_rows[s], t.segment_stride[s]
        own = t.blocks + (t.line[t.elastic_begin[b] + i] + i)
        is_regular = is_regular & factor(own, rows, stride, pivots + i)
        if not any_of(is_regular):
            return is_regular
        right = side + i * along
        solve(own, rows, stride, pivots + i, right, along, r)
        if s < last:
            j, more, step = i + rows, t.segment_rows[s + 1], t.segment_stride[s + 1]
            upper, lower = own + rows, t.blocks + (t.line[t.elastic_begin[b] + j] + i)
            solve(own, rows, stride, pivots + i, upper, stride, more)
            for k in range(more):
                subtract_rows(lower + k * step, rows, upper, stride, lower + (k * step + rows), more)
                subtract_rows(lower + k * step, rows, right, along, side + (j + k) * along, r)
            for k in range(r):
                subtract_rows(bottom + (k * down + i), rows, upper, stride, bottom + (k * down + j), more)
        for k in range(r):
            subtract_rows(bottom + (k * down + i), rows, right, along, corner + k * across, r)
    return is_regular & factor(corner, r, across, pivots + t.velocities_count[b])


@exported
def solve_segments(t: Tables, b: int, x: Reals, columns: int) -> None:
    """Solve a linear system with the factored block of the segmented (banded) floating body b, in place, by
    forward and back substitution over its segments. The right sides x, shape (velocities of b, columns), are
    replaced by the solutions. ``t`` contains all arrays of the model and its state."""
    apart, rigid, first = t.node_apart[b], t.rigid_of[b], t.segments_begin[t.type_of[b]]
    across, along, down = t.corner_stride[b], t.side_stride[b], t.bottom_stride[b]
    r, kept, last = across - apart, rigid - apart, first + t.segments_count[t.type_of[b]] - 1
    corner, side = t.blocks + (t.node_diagonal[b] + apart * (across + 1)), t.blocks + (t.side[b] + apart)
    bottom, pivots, border = t.blocks + (t.bottom[b] + apart * down), t.pivots + 2 * t.node_row[b], t.border
    copy(x + apart * columns, border, kept * columns)
    fill(border + kept * columns, (r - kept) * columns, 0.0)
    elastic = x + rigid * columns
    for s in range(first, last + 1):
        i, rows, stride = t.segment_first[s], t.segment_rows[s], t.segment_stride[s]
        own, target = t.blocks + (t.line[t.elastic_begin[b] + i] + i), elastic + i * columns
        solve(own, rows, stride, pivots + i, target, columns, columns)
        if s < last:
            j, step = i + rows, t.segment_stride[s + 1]
            lower = t.blocks + (t.line[t.elastic_begin[b] + j] + i)
            for k in range(t.segment_rows[s + 1]):
                subtract_rows(lower + k * step, rows, target, columns, elastic + (j + k) * columns, columns)
        for k in range(r):
            subtract_rows(bottom + (k * down + i), rows, target, columns, border + k * columns, columns)
    solve(corner, r, across, pivots + t.velocities_count[b], border, columns, columns)
    for s in range(last, first - 1, -1):
        i, rows, stride = t.segment_first[s], t.segment_rows[s], t.segment_stride[s]
        upper, next_rows = t.blocks + (t.line[t.elastic_begin[b] + i] + i + rows), 0
        if s < last:
            next_rows = t.segment_rows[s + 1]
        for k in range(rows):
            target = elastic + (i + k) * columns
            subtract_rows(side + (i + k) * along, r, border, columns, target, columns)
            subtract_rows(upper + k * stride, next_rows, elastic + (i + rows) * columns, columns, target, columns)
    copy(border, x + apart * columns, kept * columns)
    if apart > 0:
        scale(x, apart * columns, 1.0 / t.blocks[t.node_diagonal[b]])


@exported
def centre_moments(t: Tables, b: int, x: Reals, N: Reals) -> None:
    """Transform the mass moments N of segmented floating body b from its reference point to its centre of mass, in
    place. From row 3 q + p of N, for axes p and q, (S_q . x) S_p / m is subtracted. S_p are the first moments along
    axis p, one for each of the coordinates x = (1, elastic); m is the mass. In plane models N has two rows, for
    N_00 + N_11 and N_10 - N_01. ``t`` contains all arrays of the model and its state.

    S is stored over sqrt(m).
    """
    kind = t.type_of[b]
    m, S = t.elastic_count[kind] + 1, t.type_value + t.first_moment[kind]
    for q in range(t.dimension):
        s = -product(S + q * m, x, m)
        if t.planes == 2:
            add_multiple(N, s, S + q * m, m)
            add_multiple(N + m, s if q == 0 else -s, S + (1 - q) * m, m)
        else:
            for p in range(3):
                add_multiple(N + (3 * q + p) * m, s, S + p * m, m)


@exported
def set_border(t: Tables, b: int, C: Matrix) -> None:
    """Write the rows and columns of an auxiliary vector unknown y into the block of segmented floating body b in
    Newton's matrix. y stands for S times the elastic rates, where S are the first moments of the shape functions
    over the root of the mass: its rows are -S, its diagonal 1. From the columns of y, (C S)^T is subtracted, with
    the 3 x 3 matrix C of inertia about the centre of mass, which thus does not fill the band. ``t`` contains all
    arrays of the model and its state.
    """
    n, d, r, first = t.elastic_count[t.type_of[b]], t.dimension, t.corner_stride[b], t.rigid_of[b]
    S = t.type_value + (t.first_moment[t.type_of[b]] + 1)
    bottom, side = t.blocks + (t.bottom[b] + first * t.bottom_stride[b]), t.blocks + (t.side[b] + first)
    for q in range(d):
        t.blocks[t.node_diagonal[b] + (first + q) * (r + 1)] = 1.0
        c = vector(along(row(C, 0), q), along(row(C, 1), q), along(row(C, 2), q))
        for i in range(n):
            bottom[q * n + i] = -S[q * (n + 1) + i]
            for p in range(d):
                side[i * r + q] -= along(c, p) * S[p * (n + 1) + i]


# Visits of the block LU of Newton's matrix, each of a node or of a group of constraints.


@compiled
def is_inverted(t: Tables, node: int, n: int) -> bool:
    """Return whether the n rows of a node of the elimination are solved with an explicit inverse instead of LU
    factors. It is True only for floating bodies (not joints) with n = 3 or 6, such as rod sections and rigid
    bodies. ``t`` contains all arrays of the model and its state.

    Rows of joints are factored since they may be dependent.
    """
    return node < t.frames and (n == 3 or n == SIX)


@compiled
def factor_visit(t: Tables, index: int) -> Truth:
    """Factor the diagonal block of entry ``index`` of the elimination order in place, by LU decomposition or an
    explicit inverse. Then replace its upper off-diagonal blocks U by the solutions X of (diagonal block) X = U.
    Return False where the diagonal block is singular. An entry is a body or a group of constraints. ``t`` contains
    all arrays of the model and its state."""
    node, n, apart = t.visit_node[index], t.visit_size[index], max(t.visit_apart[index], 0)
    block, pivots = t.blocks + t.visit_diagonal[index], t.pivots + 2 * t.visit_row[index]
    rest = block + apart * (n + 1)
    is_regular: Truth = True
    if is_inverted(t, node, n - apart):
        is_regular = is_regular & invert(rest, n - apart, n, pivots)
    elif t.visit_apart[index] == SEGMENTED:
        is_regular = is_regular & factor_segments(t, node)
    else:
        is_regular = is_regular & factor(rest, n - apart, n, pivots)
    begin, end = t.neighbours_begin[index], t.neighbours_end[index]
    if any_of(is_regular) and t.visit_apart[index] <= TOGETHER and begin < end:
        if t.visit_apart[index] == GATHERED:
            gather_blocks(t, index)
        solve_visit_rows(t, index, t.blocks + t.upper[begin], later_row_count(t, begin, end))
    elif any_of(is_regular):
        for j in range(begin, end):
            t.upper_is_zero[j] = 1.0 if is_zero(t.blocks + t.upper[j], n * t.neighbour_size[j]) else 0.0
            if any_of(t.upper_is_zero[j] == 0.0):
                solve_visit_rows(t, index, t.blocks + t.upper[j], t.neighbour_size[j])
    return is_regular


@compiled
def gather_blocks(t: Tables, index: int) -> None:
    """Copy the upper off-diagonal blocks of entry ``index`` of the elimination order side by side into one wide
    block, which replaces them in memory. There is one block for each later entry that is coupled to ``index``; rows
    of the wide block are padded with zeros. Products of few long rows are faster than of many short ones.
    ``t.product`` is used as scratch memory; ``t`` contains all arrays of the model and its state.
    """
    begin, end, n, column = t.neighbours_begin[index], t.neighbours_end[index], t.visit_size[index], 0
    width, wide = later_row_count(t, begin, end), t.blocks + t.upper[begin]
    fill(t.product, n * width, 0.0)
    for i in range(begin, end):
        rows, block = t.neighbour_size[i], t.blocks + t.upper[i]
        for r in range(n):
            copy(block + r * rows, t.product + (r * width + column), rows)
        column += rows
    copy(t.product, wide, n * width)


@compiled_inline
def solve_visit_rows(t: Tables, index: int, x: Reals, columns: int) -> None:
    """Solve a linear system with the factored diagonal block of entry ``index`` of the elimination order, in
    place: by segments, by an explicit inverse or by LU factors. The right sides x, shape (rows, columns), are
    replaced by the solutions. ``t`` contains all arrays of the model and its state."""
    node, n, apart = t.visit_node[index], t.visit_size[index], max(t.visit_apart[index], 0)
    if t.visit_apart[index] == SEGMENTED:
        solve_segments(t, node, x, columns)
        return
    block, below = t.blocks + t.visit_diagonal[index], x + apart * columns
    rest = block + apart * (n + 1)
    if apart > 0:
        scale(x, apart * columns, 1.0 / block[0])
    if is_inverted(t, node, n - apart):
        multiply(rest, n - apart, n, below, columns)
    elif columns == 1:
        solve_vector(rest, n - apart, n, t.pivots + 2 * t.visit_row[index], below)
    else:
        solve(rest, n - apart, n, t.pivots + 2 * t.visit_row[index], below, columns, columns)


@compiled
def subtract_products(t: Tables, index: int, relaxation: float) -> None:
    """Subtract the products L_i U_j of the off-diagonal blocks of entry ``index`` from the blocks (i, j) that
    are eliminated later (Schur complement). The diagonal block of ``index``, an entry of the elimination order,
    is factored already; blocks of zeros are skipped. If ``relaxation`` is positive, what a body subtracts from
    diagonals of constraint rows is added to ``t.row_scale``. ``t`` contains all arrays of the model and its
    state."""
    begin, end, n = t.neighbours_begin[index], t.neighbours_end[index], t.visit_size[index]
    target, is_together = t.targets_begin[index], t.visit_apart[index] <= TOGETHER
    width = later_row_count(t, begin, end) if is_together else 0
    for i in range(begin, end):
        lower, rows, column = t.blocks + t.lower[i], t.neighbour_size[i], 0
        if is_zero(lower, rows * n):  # of a vector that no force contains now
            target += end - begin
            continue
        if is_together:  # products as wide as all later blocks, added block by block
            fill(t.product, rows * width, 0.0)
            subtract_product(lower, rows, n, t.blocks + t.upper[begin], width, t.product, width)
        for j in range(begin, end):
            columns = t.neighbour_size[j]
            own, stride = t.blocks + t.target[target], t.target_stride[target]
            if relaxation > 0.0 and i == j:
                add_row_scale(t, index, i - begin, 1.0)
            if is_together:
                add_block(t.product + column, width, own, stride, rows, columns)
            elif any_of(t.upper_is_zero[j] == 0.0):
                subtract_product(lower, rows, n, t.blocks + t.upper[j], columns, own, stride)
            if relaxation > 0.0 and i == j:
                add_row_scale(t, index, i - begin, -1.0)
            column += columns
            target += 1


@compiled
def is_zero(a: Reals, count: int) -> bool:
    """Return whether the first ``count`` entries of the array a are zero in all lanes, and for dual numbers all
    their derivatives too.
    """
    for i in range(count):
        if any_of(is_nonzero(a[i])):
            return False
    return True


stored_length = compiled(in_lines)  # the layout of the blocks and the kernels share it


@compiled
def later_row_count(t: Tables, begin: int, end: int) -> int:
    """Return the length of the rows of the wide block that joins the off-diagonal blocks ``begin`` .. ``end`` - 1
    of one entry of the elimination order. It is the number of rows of the entries coupled to it that are eliminated
    later, rounded up to a multiple of 8 (a cache line) if they are many. ``t`` contains all arrays of the model and
    its state.
    """
    total = 0
    for i in range(begin, end):
        total += t.neighbour_size[i]
    return stored_length(total)


@compiled
def add_row_scale(t: Tables, index: int, i: int, sign: float) -> None:
    """Add -``sign`` times the diagonal of the block of neighbour i of entry ``index`` of the elimination order to
    ``t.row_scale``. This is done only if the entry is a body and the neighbour a group of constraints. Called with
    1 before and -1 after the block changes, it sums what bodies subtract. ``t`` contains all arrays of the model
    and its state."""
    place, first = t.neighbours_begin[index] + i, t.clusters + t.auxiliaries
    if t.visit_node[index] < t.clusters and t.neighbour[place] >= first:
        target = t.targets_begin[index] + i * (t.neighbours_count[index] + 1)
        block, begin = t.blocks + t.target[target], t.neighbour_row[place]
        for r in range(t.neighbour_size[place]):
            t.row_scale[begin + r] += sign * -block[r * (t.target_stride[target] + 1)]


@compiled_inline
def forward_substitute(t: Tables, index: int, b: Reals, columns: int) -> None:
    """Do the forward substitution for entry ``index`` of the elimination order, a body or a group of constraints,
    in the right sides b. Its rows of b are solved with the factored diagonal block, in place. Then its lower
    blocks times the result are subtracted from later rows. b has the shape (unknowns, columns). ``t`` contains all
    arrays of the model and its state."""
    own = b + t.visit_row[index] * columns
    solve_visit_rows(t, index, own, columns)
    for i in range(t.neighbours_begin[index], t.neighbours_end[index]):
        rows, later = t.neighbour_size[i], b + t.neighbour_row[i] * columns
        subtract_product(t.blocks + t.lower[i], rows, t.visit_size[index], own, columns, later, columns)


@compiled_inline
def back_substitute(t: Tables, index: int, b: Reals, columns: int) -> None:
    """Subtract the upper blocks U_j of entry ``index`` of the elimination order, times the solution in all
    later rows j, from its rows of b. This completes the solution there, in place. b has the shape (unknowns,
    columns). Blocks stored one after the other are multiplied at once. ``t`` contains all arrays of the model
    and its state."""
    n, own, width = t.visit_size[index], b + t.visit_row[index] * columns, 0
    is_together = t.visit_apart[index] <= TOGETHER
    for i in range(t.neighbours_begin[index], t.neighbours_end[index]):
        rows, later = t.neighbour_size[i], b + t.neighbour_row[i] * columns
        if is_together:
            copy(later, t.product + width * columns, rows * columns)
            width += rows
        else:
            subtract_product(t.blocks + t.upper[i], n, rows, later, columns, own, columns)
    if width > 0:
        begin, end = t.neighbours_begin[index], t.neighbours_end[index]
        length = later_row_count(t, begin, end)
        fill(t.product + width * columns, (length - width) * columns, 0.0)
        subtract_product(t.blocks + t.upper[begin], n, length, t.product, columns, own, columns)
