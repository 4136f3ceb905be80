"""Block LU of Newton's matrix along the graph of bodies and interactions (docs/theory.md, 4)."""

from phlexible.step.compilation.compiled import compiled, compiled_inline, exported
from phlexible.step.compilation.dense import factor, fill, scale, solve_vector
from phlexible.step.compilation.notation import Reals, Tables, Truth, all_of, any_of
from phlexible.step.kernels.blocks import (
    back_substitute,
    factor_segments,
    factor_visit,
    forward_substitute,
    has_segments,
    later_row_count,
    solve_segments,
    subtract_products,
)
from phlexible.step.kernels.teams import eliminate_teams, is_alone, substitute_teams
from phlexible.step.tables.declarations import TOGETHER

# In large models memory takes longer than arithmetic: nodes, their neighbours and their blocks lie in the order of
# their elimination. Where loops fill much, constraints are eliminated some together, so that products take larger
# blocks (``algebra/elimination.py``).


@exported
def eliminate(t: Tables, relaxation: float) -> Truth:
    """Factor Newton's block matrix ``t.blocks`` in place by block LU decomposition, one diagonal block after
    another in the stored order. The blocks belong to bodies, auxiliary unknowns and joints. Return False where a
    block is singular, for each lane (mechanism) by itself; once all lanes are, the factorization stops. If
    ``relaxation`` > 0, diagonal entries of joints are raised by this fraction of what the eliminated bodies have
    added to them, which keeps redundant joints regular. The additions are stored in ``t.row_relaxation``. ``t``
    contains all arrays of the model and its state.

    For redundant constraints the Schur complement on their multipliers is singular, and ``relaxation``, a small
    fraction of the bodies' contribution, is added to its diagonal. Newton's residual stays exact, so that
    iterating with the relaxed matrix closes the joints all the same, and the null-space component of the
    multipliers does not change.
    """
    first, is_regular = t.clusters + t.auxiliaries, True
    if relaxation > 0.0:
        fill(t.row_scale, t.unknowns, 0.0)
    if any_of(eliminate_teams(t, relaxation)):
        return False
    for index in range(t.visits):
        node, n, row = t.visit_node[index], t.visit_size[index], t.visit_row[index]
        if not is_alone(t, node):
            continue
        if relaxation > 0.0 and node >= first:
            block = t.blocks + t.visit_diagonal[index]
            for r in range(n):
                t.row_relaxation[row + r] = relaxation * t.row_scale[row + r]
                block[r * n + r] += t.row_relaxation[row + r]
        is_regular = is_regular & factor_visit(t, index)
        if not any_of(is_regular):
            return is_regular
        subtract_products(t, index, relaxation)
    return is_regular


@exported
def substitute(t: Tables, b: Reals, columns: int) -> None:
    """Solve the linear system with the factored Newton's matrix by forward and back substitution, in place. The
    right sides b, shape (unknowns, columns), are replaced by the solutions. While groups of equal bodies are
    computed in SIMD lanes, ``columns`` must be 1, which is not checked. ``t`` contains all arrays of the model and
    its state."""
    if columns == 1:
        substitute_columns(t, b, 1)
    else:
        substitute_columns(t, b, columns)


@compiled_inline
def substitute_columns(t: Tables, b: Reals, columns: int) -> None:
    """Solve a linear system with the factored Newton's matrix by forward and back substitution over all blocks, in
    place. The right sides b, shape (unknowns, columns), are replaced by the solutions. ``substitute`` calls it
    with ``columns`` = 1 as a constant, for which faster code is compiled. ``t`` contains all arrays of the model
    and its state."""
    substitute_teams(t, b, False)
    for index in range(t.visits):
        if is_alone(t, t.visit_node[index]):
            forward_substitute(t, index, b, columns)
    for index in range(t.visits - 1, -1, -1):
        if is_alone(t, t.visit_node[index]):
            back_substitute(t, index, b, columns)
    substitute_teams(t, b, True)


@exported
def factor_frame(t: Tables, b: int) -> Truth:
    """Factor the diagonal block of floating body b in place by LU decomposition with pivots, as if no other body
    were coupled to it. A long body, stored in segments, is factored segment by segment. Return False where the
    block is singular. ``t`` contains all arrays of the model and its state."""
    if has_segments(t, b):
        return factor_segments(t, b)
    n = t.velocities_count[b]
    return factor(t.blocks + t.node_diagonal[b], n, n, t.pivots + 2 * t.node_row[b])


@exported
def solve_carrier(t: Tables, b: int, x: Reals) -> None:
    """Solve a linear system with the factored diagonal block (mass matrix) of body b in place: x becomes the
    solution. For a mesh node x is divided by its mass. If ``t.hardness`` of a floating body is negative in all
    lanes, which marks a singular block, x becomes zero. ``t`` contains all arrays of the model and its state."""
    n = t.velocities_count[b]
    if b >= t.frames:
        scale(x, n, 1.0 / t.blocks[t.carrier_block[b]])
    elif all_of(t.hardness[b] < 0.0):
        fill(x, n, 0.0)
    elif has_segments(t, b):
        solve_segments(t, b, x, 1)
    else:
        solve_vector(t.blocks + t.node_diagonal[b], n, n, t.pivots + 2 * t.node_row[b], x)


@compiled
def transpose_matrix(t: Tables) -> None:
    """Transpose all blocks of Newton's matrix in place, before its factorization, for adjoint derivatives.
    Segmented (long) bodies must not occur, which is not checked. ``t`` contains all arrays of the model and its
    state."""
    for index in range(t.visits):
        n, block = t.visit_size[index], t.blocks + t.visit_diagonal[index]
        for i in range(n):
            for j in range(i):
                block[i * n + j], block[j * n + i] = block[j * n + i], block[i * n + j]
        begin, end, column = t.neighbours_begin[index], t.neighbours_end[index], 0
        for k in range(begin, end):
            lower, upper, rows = t.blocks + t.lower[k], t.blocks + t.upper[k], t.neighbour_size[k]
            stride = rows
            if t.visit_apart[index] == TOGETHER:
                upper, stride = t.blocks + (t.upper[begin] + column), later_row_count(t, begin, end)
                column += rows
            for i in range(n):
                for r in range(rows):
                    upper[i * stride + r], lower[r * n + i] = lower[r * n + i], upper[i * stride + r]
