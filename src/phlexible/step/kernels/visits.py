"""Visits of the block LU of Newton's matrix, each of a node or of a group of constraints (docs/theory.md, 4)."""

from phlexible.step.compilation.compiled import compiled
from phlexible.step.compilation.dense import (
    SIX,
    add_block,
    copy,
    factor,
    fill,
    invert,
    multiply,
    scale,
    solve,
    subtract_product,
)
from phlexible.step.compilation.notation import Reals, Tables, Truth, any_of
from phlexible.step.kernels.segments import factor_segments, solve_segments
from phlexible.step.tables.declarations import GATHERED, SEGMENTED, TOGETHER


@compiled
def is_inverted(t: Tables, node: int, n: int) -> bool:
    """Return whether the n rows of a node of the elimination are solved with an explicit inverse instead of
    LU factors: those of rod sections and rigid bodies. ``t`` holds all tables (arrays) of the model and its
    state.

    Rows of joints are factored since they may be dependent.
    """
    return node < t.frames and (n == 3 or n == SIX)


@compiled
def factor_visit(t: Tables, index: int) -> Truth:
    """Factor the diagonal block of entry ``index`` of the elimination order in place, and solve with it for
    its upper off-diagonal blocks. It returns False where the block is singular. An entry is a body or a group
    of constraints. ``t`` holds all tables (arrays) of the model and its state."""
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
            solve_visit_rows(t, index, t.blocks + t.upper[j], t.neighbour_size[j])
    return is_regular


@compiled
def gather_blocks(t: Tables, index: int) -> None:
    """Join the blocks (visited, neighbour) of entry ``index`` of the elimination order to one block, row by row, in
    the same memory. Products of long rows take half the time. ``t`` holds all tables (arrays) of the model and its
    state."""
    begin, end, n, column = t.neighbours_begin[index], t.neighbours_end[index], t.visit_size[index], 0
    width, wide = later_row_count(t, begin, end), t.blocks + t.upper[begin]
    for i in range(begin, end):
        rows, block = t.neighbour_size[i], t.blocks + t.upper[i]
        for r in range(n):
            copy(block + r * rows, t.product + (r * width + column), rows)
        column += rows
    copy(t.product, wide, n * width)


@compiled
def solve_visit_rows(t: Tables, index: int, x: Reals, columns: int) -> None:
    """Solve a linear system with the factored diagonal block of entry ``index`` of the elimination order, in
    place. The right sides x have the shape (rows, columns). ``t`` holds all tables (arrays) of the model and
    its state."""
    node, n, apart = t.visit_node[index], t.visit_size[index], max(t.visit_apart[index], 0)
    if t.visit_apart[index] == SEGMENTED:
        solve_segments(t, node, x, columns)
        return
    block, below = t.blocks + t.visit_diagonal[index], x + apart * columns
    rest = block + apart * (n + 1)
    if apart > 0:
        scale(x, apart * columns, 1.0 / block[0])
    if is_inverted(t, node, n - apart):
        multiply(rest, n - apart, n, below, columns, t.copied)
    else:
        solve(rest, n - apart, n, t.pivots + 2 * t.visit_row[index], below, columns, columns)


@compiled
def subtract_products(t: Tables, index: int, relaxation: float) -> None:
    """Subtract the products L_i U_j of the off-diagonal blocks of entry ``index`` of the elimination order
    from later blocks (i, j) (Schur complement). Its diagonal block is factored; with ``relaxation`` the scale
    of constraint rows is updated. ``t`` holds all tables (arrays) of the model and its state."""
    begin, end, n = t.neighbours_begin[index], t.neighbours_end[index], t.visit_size[index]
    target, is_together = t.targets_begin[index], t.visit_apart[index] <= TOGETHER
    width = later_row_count(t, begin, end) if is_together else 0
    for i in range(begin, end):
        lower, rows, column = t.blocks + t.lower[i], t.neighbour_size[i], 0
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
            else:
                subtract_product(lower, rows, n, t.blocks + t.upper[j], columns, own, stride)
            if relaxation > 0.0 and i == j:
                add_row_scale(t, index, i - begin, -1.0)
            column += columns
            target += 1


@compiled
def later_row_count(t: Tables, begin: int, end: int) -> int:
    """Return the total number of matrix rows of the neighbours ``begin`` .. ``end`` - 1. They are entries of
    the list of blocks that an elimination couples and that are eliminated later. ``t`` holds all tables
    (arrays) of the model and its state."""
    total = 0
    for i in range(begin, end):
        total += t.neighbour_size[i]
    return total


@compiled
def add_row_scale(t: Tables, index: int, i: int, sign: float) -> None:
    """Add ``sign`` times the diagonal of the block of neighbour i of entry ``index`` of the elimination order
    to the scale of its rows. This is done for constraints only; called before and after a change of the block
    it records what the bodies contribute. ``t`` holds all tables (arrays) of the model and its state."""
    place, first = t.neighbours_begin[index] + i, t.clusters + t.auxiliaries
    if t.visit_node[index] < t.clusters and t.neighbour[place] >= first:
        target = t.targets_begin[index] + i * (t.neighbours_count[index] + 1)
        block, begin = t.blocks + t.target[target], t.neighbour_row[place]
        for r in range(t.neighbour_size[place]):
            t.row_scale[t.unknown_row[begin + r]] += sign * -block[r * (t.target_stride[target] + 1)]


@compiled
def forward_substitute(t: Tables, index: int, b: Reals, columns: int) -> None:
    """Solve for the rows of entry ``index`` of the elimination order in the right sides b with its factored
    diagonal block. The blocks below it times the result are subtracted from later rows; b has the shape
    (unknowns, columns). ``t`` holds all tables (arrays) of the model and its state."""
    own = b + t.visit_row[index] * columns
    solve_visit_rows(t, index, own, columns)
    for i in range(t.neighbours_begin[index], t.neighbours_end[index]):
        rows, later = t.neighbour_size[i], b + t.neighbour_row[i] * columns
        subtract_product(t.blocks + t.lower[i], rows, t.visit_size[index], own, columns, later, columns)


@compiled
def back_substitute(t: Tables, index: int, b: Reals, columns: int) -> None:
    """Complete the solution in the rows of entry ``index`` of the elimination order by subtracting its blocks
    U_j times all later rows j. The right sides b have the shape (unknowns, columns); later rows are solved.
    ``t`` holds all tables (arrays) of the model and its state."""
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
        upper = t.blocks + t.upper[t.neighbours_begin[index]]
        subtract_product(upper, n, width, t.product, columns, own, columns)
