"""Solutions with the transposed of a matrix that ``eliminate`` has factored (docs/theory.md, 9).

With D of the nodes factored, L below as it stands and D^-1 U above, block rows of the transposed system are first
those of (D^-1 U)^T from the first node on, then those of D^T and L^T from the last. Bodies without segments only.
"""

from phlexible.compilation.compiled import compiled
from phlexible.compilation.dense import add_multiple, copy, fill, scale
from phlexible.compilation.notation import Integers, Reals, Tables
from phlexible.kernels.elimination import is_inverted
from phlexible.tables.declarations import APART, COUNT, DIAGONAL, NEIGHBOURS, NODE, ROW, SIZE, VISIT


@compiled
def substitute_transposed(t: Tables, b: Reals) -> None:
    """Solve for the flat right-hand side b, in place."""
    for index in range(t.nodes):
        at = t.visit + VISIT * index
        n, own = at[SIZE], b + at[ROW]
        for i in range(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]):
            subtract_transposed(t.blocks + t.upper[i], n, t.neighbour_size[i], own, b + t.neighbour_row[i])
    for index in range(t.nodes - 1, -1, -1):
        at = t.visit + VISIT * index
        n, own, apart, block = at[SIZE], b + at[ROW], at[APART], t.blocks + at[DIAGONAL]
        for i in range(at[NEIGHBOURS], at[NEIGHBOURS] + at[COUNT]):
            subtract_transposed(t.blocks + t.lower[i], t.neighbour_size[i], n, b + t.neighbour_row[i], own)
        if apart > 0:
            scale(own, apart, 1.0 / block[0])
        rest = block + apart * (n + 1)
        if is_inverted(t, at[NODE], n - apart):
            copy(own + apart, t.copied, n - apart)
            fill(own + apart, n - apart, 0.0)
            for i in range(n - apart):
                add_multiple(own + apart, t.copied[i], rest + i * n, n - apart)
        else:
            solve_transposed(rest, n - apart, n, t.pivots + 2 * at[ROW], own + apart)


@compiled
def subtract_transposed(a: Reals, rows: int, columns: int, x: Reals, y: Reals) -> None:
    """y -= a^T x for a (rows, columns) block and vectors."""
    for i in range(rows):
        add_multiple(y, -x[i], a + i * columns, columns)


@compiled
def solve_transposed(a: Reals, n: int, stride: int, pivots: Integers, b: Reals) -> None:
    """With the factors of ``dense.factor`` for one right-hand side of the transposed, in place."""
    for i in range(n):
        b[i] /= a[i * stride + i]
        add_multiple(b + (i + 1), -b[i], a + (i * stride + i + 1), n - i - 1)
    for i in range(n - 1, 0, -1):
        add_multiple(b, -b[i], a + i * stride, i)
    for k in range(n - 1, -1, -1):
        b[k], b[pivots[k]] = b[pivots[k]], b[k]
