"""How large joint forces are where several sets of them do the same (docs/theory.md, 6).

Forces of redundant joints are not unique. Taken are those of least ``sum F^2 + (M / L)^2`` over the
multipliers, F of rows that hold points [N], M of rows that hold directions [N m], with L the size
of the largest body: so they depend neither on world axes nor on where the mechanism stands.
"""

from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.nearest_solution import smallest_solution
from phlexible.system.layout import State
from phlexible.system.system import System


def smallest_multipliers_at(system: System, state: State, multipliers: Array) -> Array:
    """The smallest multipliers that do at a state what the given ones do, shape (rows,)."""
    matrix = system.rows.matrix(system.at(state))
    metric = sparse.diags_array(system.gap_lengths**2).tocsr()
    return smallest_solution(metric, sparse.csr_array(matrix.T), matrix.T @ multipliers)
