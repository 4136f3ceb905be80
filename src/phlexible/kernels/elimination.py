"""Block LU of Newton's matrix along the graph of bodies and interactions (docs/theory.md, 4).

In large models memory takes longer than arithmetic. What is read of each node lies together, a cache line a node,
and nodes, their neighbours and their blocks lie in the order of their elimination.
"""

from phlexible.compilation.compiled import compiled, exported
from phlexible.compilation.dense import factor, fill, scale, solve, solve_vector, subtract_image, subtract_product
from phlexible.compilation.inverses import SIX, invert, multiply, multiply_vector
from phlexible.compilation.notation import Reals, Tables
from phlexible.kernels.segments import factor_segments, has_segments, solve_segments
from phlexible.tables.declarations import (
    APART,
    COUNT,
    DIAGONAL,
    NEIGHBOURS,
    NODE,
    ROW,
    SEGMENTED,
    SIZE,
    TARGETS,
    VISIT,
)


@compiled
def is_inverted(t: Tables, node: int, n: int) -> bool:
    """Whether n rows of a node are inverted, not factored: sections, rigid bodies. Those of joints may depend."""
    return node < t.frames and (n == 3 or n == SIX)


@exported
def eliminate(t: Tables, relaxation: float) -> bool:
    """Factor all blocks in place along the schedule; False where a node is singular.

    Where joints hold a motion twice the Schur complement on their multipliers is singular, and ``relaxation``,
    a small share of what the bodies put there, is added to its diagonal. Newton's residual stays exact, so
    that iterating with the relaxed matrix closes the joints all the same, and multipliers that move nothing
    stay where they are.
    """
    first = t.clusters + t.auxiliaries
    if relaxation > 0.0:
        fill(t.row_scale, t.rows, 0.0)
    for index in range(t.nodes):
        at = t.visit + VISIT * index
        node, n, block, pivots = at[NODE], at[SIZE], t.blocks + at[DIAGONAL], t.pivots + 2 * at[ROW]
        if relaxation > 0.0 and node >= first:
            row = t.interaction_start[node - first]
            for r in range(n):
                t.row_relaxation[row + r] = relaxation * t.row_scale[row + r]
                block[r * n + r] += t.row_relaxation[row + r]
        apart, is_long = max(at[APART], 0), at[APART] == SEGMENTED
        rest = block + apart * (n + 1)
        is_small = is_inverted(t, node, n - apart)
        if is_small:
            if not invert(rest, n - apart, n, pivots):
                return False
        elif not (factor_segments(t, node) if is_long else factor(rest, n - apart, n, pivots)):
            return False
        begin, end = at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]
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
        target = at[TARGETS]
        for i in range(begin, end):
            rows = t.neighbour_size[i]
            measures = relaxation > 0.0 and node < t.clusters and t.neighbour[i] >= first
            if measures:
                _measure(t, t.neighbour[i] - first, rows, target + i - begin, 1.0)
            for j in range(begin, end):
                columns = t.neighbour_size[j]
                lower, upper = t.blocks + t.lower[i], t.blocks + t.upper[j]
                subtract_product(lower, rows, n, upper, columns, t.blocks + t.target[target + j - begin])
            if measures:
                _measure(t, t.neighbour[i] - first, rows, target + i - begin, -1.0)
            target += end - begin
    return True


@compiled
def _measure(t: Tables, constraint: int, rows: int, target: int, sign: float) -> None:
    """Add what stands on the diagonal of a constraint's block to the scale of its rows."""
    row, block = t.interaction_start[constraint], t.blocks + t.target[target]
    for r in range(rows):
        t.row_scale[row + r] += sign * -block[r * rows + r]


@exported
def substitute(t: Tables, b: Reals) -> None:
    """Solve with the factors of ``eliminate`` for the flat right-hand side b, in place."""
    for index in range(t.nodes):
        at = t.visit + VISIT * index
        n, own, apart, block = at[SIZE], b + at[ROW], at[APART], t.blocks + at[DIAGONAL]
        if apart == SEGMENTED:
            solve_segments(t, at[NODE], own, 1)
        else:
            if apart > 0:
                scale(own, apart, 1.0 / block[0])
            rest = block + apart * (n + 1)
            if is_inverted(t, at[NODE], n - apart):
                multiply_vector(rest, n - apart, n, own + apart, t.copied)
            else:
                solve_vector(rest, n - apart, n, t.pivots + 2 * at[ROW], own + apart)
        for i in range(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]):
            subtract_image(t.blocks + t.lower[i], t.neighbour_size[i], n, own, b + t.neighbour_row[i])
    for index in range(t.nodes - 1, -1, -1):
        at = t.visit + VISIT * index
        n, own = at[SIZE], b + at[ROW]
        for i in range(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]):
            subtract_image(t.blocks + t.upper[i], n, t.neighbour_size[i], b + t.neighbour_row[i], own)


@exported
def factor_frame(t: Tables, b: int) -> bool:
    """Factor the block of frame b alone; False where it is singular."""
    if has_segments(t, b):
        return factor_segments(t, b)
    n = t.width_of[b]
    return factor(t.blocks + t.node_diagonal[b], n, n, t.pivots + 2 * t.node_row[b])


@exported
def solve_frame(t: Tables, b: int, x: Reals) -> None:
    """Solve with these factors, in place."""
    if has_segments(t, b):
        solve_segments(t, b, x, 1)
        return
    n = t.width_of[b]
    solve_vector(t.blocks + t.node_diagonal[b], n, n, t.pivots + 2 * t.node_row[b], x)
