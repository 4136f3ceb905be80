"""How large joint forces are where several sets of them do the same.

Forces of redundant joints are not unique. Taken are those of least ``sum F^2 + (M / L)^2`` over the
multipliers, F of rows that hold points [N], M of rows that hold directions [N m], with L the size
of the largest body: so they depend neither on world axes nor on where the mechanism stands.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.nearest_solution import smallest_solution
from phlexible.initial.closure import is_angle, largest_length
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.constraints import constraint_matrix, row_owners
from phlexible.system.state import Layout, State


def gap_lengths(mechanism: Mechanism) -> Array:
    """What gaps are to be compared with: L for rows of points, 1 for rows of directions, shape (rows,)."""
    length = body_length(mechanism)
    return np.array([1.0 if is_angle(owner) else length for owner in row_owners(mechanism)])


def body_length(mechanism: Mechanism) -> float:
    """Size of the largest body [m]; that of the mechanism where all bodies are points."""
    return max((placed.data.size for placed in mechanism.bodies), default=0.0) or largest_length(mechanism)


def smallest_multipliers_at(mechanism: Mechanism, layout: Layout, state: State, multipliers: Array) -> Array:
    """The smallest multipliers that do at a state what the given ones do, shape (rows,)."""
    lengths = gap_lengths(mechanism)
    matrix = constraint_matrix(mechanism, layout, state)
    pull = matrix.T @ multipliers
    metric = sparse.diags_array(lengths**2).tocsr()
    return smallest_solution(metric, sparse.csr_array(matrix.T), pull)
