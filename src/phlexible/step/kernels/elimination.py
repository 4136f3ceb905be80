"""Block LU of Newton's matrix along the graph of bodies and interactions (docs/theory.md, 4)."""

from phlexible.step.compilation.compiled import compiled, exported
from phlexible.step.compilation.dense import (
    SIX,
    add_block,
    add_multiple,
    copy,
    exchange,
    factor,
    fill,
    invert,
    multiply,
    multiply_vector,
    scale,
    solve,
    solve_vector,
    subtract_image,
    subtract_product,
    subtract_rows,
)
from phlexible.step.compilation.notation import (
    Choices,
    Reals,
    Tables,
    Truth,
    any_of,
)
from phlexible.step.kernels.segments import factor_segments, has_segments, solve_segments
from phlexible.step.tables.declarations import (
    SEGMENTED,
    TOGETHER,
)

# In large models memory takes longer than arithmetic: nodes, their neighbours and their blocks lie in the order of
# their elimination. Where loops fill much, constraints are eliminated some together, so that products take larger
# blocks (``algebra/elimination.py``).


@compiled
def is_inverted(t: Tables, node: int, n: int) -> bool:
    """Whether n rows of a node are inverted, not factored: sections, rigid bodies. Those of joints may depend."""
    return node < t.frames and (n == 3 or n == SIX)


@exported
def eliminate(t: Tables, relaxation: float) -> Truth:
    """Factor all blocks in place along the schedule; False where a node is singular.

    Where joints hold a motion twice the Schur complement on their multipliers is singular, and ``relaxation``,
    a small share of what the bodies put there, is added to its diagonal. Newton's residual stays exact, so
    that iterating with the relaxed matrix closes the joints all the same, and multipliers that move nothing
    stay where they are.
    """
    first, is_regular = t.clusters + t.auxiliaries, True
    if relaxation > 0.0:
        fill(t.row_scale, t.rows, 0.0)
    for index in range(t.visits):
        node, n, row = t.visit_node[index], t.visit_size[index], t.visit_row[index]
        rows_apart, block, pivots = t.visit_apart[index], t.blocks + t.visit_diagonal[index], t.pivots + 2 * row
        if relaxation > 0.0 and node >= first:
            for r in range(n):
                held = t.unknown_row[row + r]
                t.row_relaxation[held] = relaxation * t.row_scale[held]
                block[r * n + r] += t.row_relaxation[held]
        apart, is_long = max(rows_apart, 0), rows_apart == SEGMENTED
        rest = block + apart * (n + 1)
        is_small = is_inverted(t, node, n - apart)
        if is_small:
            is_regular = is_regular & invert(rest, n - apart, n, pivots)
        elif is_long:
            is_regular = is_regular & factor_segments(t, node)
        else:
            is_regular = is_regular & factor(rest, n - apart, n, pivots)
        if not any_of(is_regular):
            return is_regular
        begin, end = t.neighbours_begin[index], t.neighbours_end[index]
        if rows_apart == TOGETHER:
            if begin < end:
                _eliminate_together(t, n, rest, pivots, begin, end, t.targets_begin[index])
            continue
        for j in range(begin, end):
            upper, columns = t.blocks + t.upper[j], t.neighbour_size[j]
            if is_long:
                solve_segments(t, node, upper, columns)
                continue
            if apart > 0:
                scale(upper, apart * columns, 1.0 / block[0])
            if is_small:
                multiply(rest, n - apart, n, upper + apart * columns, columns, t.copied)
            else:
                solve(rest, n - apart, n, pivots, upper + apart * columns, columns, columns)
        target = t.targets_begin[index]
        for i in range(begin, end):
            rows = t.neighbour_size[i]
            measures = relaxation > 0.0 and node < t.clusters and t.neighbour[i] >= first
            if measures:
                _measure(t, t.neighbour_row[i], rows, target + i - begin, 1.0)
            for j in range(begin, end):
                columns = t.neighbour_size[j]
                lower, upper, place = t.blocks + t.lower[i], t.blocks + t.upper[j], target + j - begin
                own, stride = t.blocks + t.target[place], t.target_stride[place]
                subtract_product(lower, rows, n, upper, columns, own, stride)
            if measures:
                _measure(t, t.neighbour_row[i], rows, target + i - begin, -1.0)
            target += end - begin
    return is_regular


@compiled
def _eliminate_together(
    t: Tables, n: int, block: Reals, pivots: Choices, begin: int, end: int, target: int
) -> None:
    """What n rows of constraints change in later blocks: products as wide as all of these, added block by block."""
    upper, width = t.blocks + t.upper[begin], _later_rows(t, begin, end)
    solve(block, n, n, pivots, upper, width, width)
    for i in range(begin, end):
        rows, column = t.neighbour_size[i], 0
        fill(t.product, rows * width, 0.0)
        subtract_product(t.blocks + t.lower[i], rows, n, upper, width, t.product, width)
        for j in range(begin, end):
            own, columns = t.blocks + t.target[target], t.neighbour_size[j]
            add_block(t.product + column, width, own, t.target_stride[target], rows, columns)
            column += columns
            target += 1


@compiled
def _later_rows(t: Tables, begin: int, end: int) -> int:
    total = 0
    for i in range(begin, end):
        total += t.neighbour_size[i]
    return total


@compiled
def _measure(t: Tables, begin: int, rows: int, target: int, sign: float) -> None:
    """Add what stands on the diagonal of a constraint's block to the scale of its rows; they begin at ``begin``."""
    block, stride = t.blocks + t.target[target], t.target_stride[target]
    for r in range(rows):
        t.row_scale[t.unknown_row[begin + r]] += sign * -block[r * (stride + 1)]


@exported
def substitute(t: Tables, b: Reals) -> None:
    """Solve with the factors of ``eliminate`` for the flat right-hand side b, in place."""
    for index in range(t.visits):
        n, row, rows_apart = t.visit_size[index], t.visit_row[index], t.visit_apart[index]
        own, apart, block = b + row, max(rows_apart, 0), t.blocks + t.visit_diagonal[index]
        if rows_apart == SEGMENTED:
            solve_segments(t, t.visit_node[index], own, 1)
        else:
            if apart > 0:
                scale(own, apart, 1.0 / block[0])
            rest = block + apart * (n + 1)
            if is_inverted(t, t.visit_node[index], n - apart):
                multiply_vector(rest, n - apart, n, own + apart, t.copied)
            else:
                solve_vector(rest, n - apart, n, t.pivots + 2 * row, own + apart)
        for i in range(t.neighbours_begin[index], t.neighbours_end[index]):
            subtract_image(t.blocks + t.lower[i], t.neighbour_size[i], n, own, b + t.neighbour_row[i])
    for index in range(t.visits - 1, -1, -1):
        n, own = t.visit_size[index], b + t.visit_row[index]
        begin, end = t.neighbours_begin[index], t.neighbours_end[index]
        if t.visit_apart[index] == TOGETHER:
            if begin < end:
                width = 0
                for i in range(begin, end):
                    copy(b + t.neighbour_row[i], t.product + width, t.neighbour_size[i])
                    width += t.neighbour_size[i]
                subtract_image(t.blocks + t.upper[begin], n, width, t.product, own)
            continue
        for i in range(begin, end):
            subtract_image(t.blocks + t.upper[i], n, t.neighbour_size[i], b + t.neighbour_row[i], own)


@exported
def factor_frame(t: Tables, b: int) -> Truth:
    """Factor the block of frame b alone; False where it is singular."""
    if has_segments(t, b):
        return factor_segments(t, b)
    n = t.velocities_count[b]
    return factor(t.blocks + t.node_diagonal[b], n, n, t.pivots + 2 * t.node_row[b])


@exported
def solve_frame(t: Tables, b: int, x: Reals) -> None:
    """Solve with these factors, in place."""
    if has_segments(t, b):
        solve_segments(t, b, x, 1)
        return
    n = t.velocities_count[b]
    solve_vector(t.blocks + t.node_diagonal[b], n, n, t.pivots + 2 * t.node_row[b], x)


# Solutions with the transposed of a matrix that ``eliminate`` has factored (docs/theory.md, 9).
#
# With D of the nodes factored, L below as it stands and D^-1 U above, block rows of the transposed system are first
# those of (D^-1 U)^T from the first node on, then those of D^T and L^T from the last. Bodies without segments only.


@compiled
def substitute_columns(t: Tables, b: Reals, columns: int) -> None:
    """``substitute`` for the (unknowns, columns) block b, in place; of bodies whose blocks are dense."""
    for index in range(t.visits):
        n, row, apart = t.visit_size[index], t.visit_row[index], max(t.visit_apart[index], 0)
        own, block = b + row * columns, t.blocks + t.visit_diagonal[index]
        if apart > 0:
            scale(own, apart * columns, 1.0 / block[0])
        rest, below = block + apart * (n + 1), own + apart * columns
        if is_inverted(t, t.visit_node[index], n - apart):
            multiply(rest, n - apart, n, below, columns, t.copied)
        else:
            solve(rest, n - apart, n, t.pivots + 2 * row, below, columns, columns)
        for i in range(t.neighbours_begin[index], t.neighbours_end[index]):
            later = b + t.neighbour_row[i] * columns
            subtract_product(t.blocks + t.lower[i], t.neighbour_size[i], n, own, columns, later, columns)
    for index in range(t.visits - 1, -1, -1):
        n, own = t.visit_size[index], b + t.visit_row[index] * columns
        begin, end = t.neighbours_begin[index], t.neighbours_end[index]
        stride, column = 0, 0
        if t.visit_apart[index] == TOGETHER:
            stride = _later_rows(t, begin, end)
        for i in range(begin, end):
            size, later = t.neighbour_size[i], b + t.neighbour_row[i] * columns
            if t.visit_apart[index] == TOGETHER:
                for k in range(n):
                    upper = t.blocks + (t.upper[begin] + k * stride + column)
                    subtract_rows(upper, size, later, columns, own + k * columns, columns)
                column += size
            else:
                subtract_product(t.blocks + t.upper[i], n, size, later, columns, own, columns)


@compiled
def substitute_transposed(t: Tables, b: Reals) -> None:
    """Solve for the flat right-hand side b, in place."""
    for index in range(t.visits):
        n, own = t.visit_size[index], b + t.visit_row[index]
        begin, end = t.neighbours_begin[index], t.neighbours_end[index]
        if t.visit_apart[index] == TOGETHER:
            if begin < end:
                width = _later_rows(t, begin, end)
                fill(t.product, width, 0.0)
                subtract_transposed(t.blocks + t.upper[begin], n, width, own, t.product)
                width = 0
                for i in range(begin, end):
                    add_multiple(b + t.neighbour_row[i], 1.0, t.product + width, t.neighbour_size[i])
                    width += t.neighbour_size[i]
            continue
        for i in range(begin, end):
            subtract_transposed(t.blocks + t.upper[i], n, t.neighbour_size[i], own, b + t.neighbour_row[i])
    for index in range(t.visits - 1, -1, -1):
        n, row, rows_apart = t.visit_size[index], t.visit_row[index], t.visit_apart[index]
        own, apart, block = b + row, max(rows_apart, 0), t.blocks + t.visit_diagonal[index]
        for i in range(t.neighbours_begin[index], t.neighbours_end[index]):
            subtract_transposed(t.blocks + t.lower[i], t.neighbour_size[i], n, b + t.neighbour_row[i], own)
        if apart > 0:
            scale(own, apart, 1.0 / block[0])
        rest = block + apart * (n + 1)
        if is_inverted(t, t.visit_node[index], n - apart):
            copy(own + apart, t.copied, n - apart)
            fill(own + apart, n - apart, 0.0)
            for i in range(n - apart):
                add_multiple(own + apart, t.copied[i], rest + i * n, n - apart)
        else:
            solve_transposed(rest, n - apart, n, t.pivots + 2 * row, own + apart)


@compiled
def subtract_transposed(a: Reals, rows: int, columns: int, x: Reals, y: Reals) -> None:
    """y -= a^T x for a (rows, columns) block and vectors."""
    for i in range(rows):
        add_multiple(y, -x[i], a + i * columns, columns)


@compiled
def solve_transposed(a: Reals, n: int, stride: int, pivots: Choices, b: Reals) -> None:
    """With the factors of ``dense.factor`` for one right-hand side of the transposed, in place."""
    for i in range(n):
        b[i] *= a[i * stride + i]
        add_multiple(b + (i + 1), -b[i], a + (i * stride + i + 1), n - i - 1)
    for i in range(n - 1, 0, -1):
        add_multiple(b, -b[i], a + i * stride, i)
    for k in range(n - 1, -1, -1):
        exchange(b, k, pivots[k], 1, 1)
