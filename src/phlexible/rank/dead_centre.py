"""Which constraints are about to hold one motion twice: a mechanism close to a dead centre."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.display.written import shortened
from phlexible.system.layout import State
from phlexible.system.system import System

CLOSE = 1e-2
"""Least singular value of the rows of the constraints, over the greatest: far from dead centres it is about 0.1."""
TAKES_PART = 0.2  # in the combination of rows that is close to zero
MOST_ROWS = 400  # more are too many for a look at all singular values
MOST_NAMED = 4


def near_dead_centre(system: System, state: State, weights: Array) -> str:
    """A clause for an error message; empty where no dead centre is near.

    Args:
        system: with the constraints that hold.
        state: where a step failed.
        weights: make velocities comparable, shape (velocities,).
    """
    if not 1 < len(system.owners) <= MOST_ROWS:
        return ""
    matrix = system.rows.matrix(system.at(state)).toarray() / weights
    sizes = np.linalg.norm(matrix, axis=1)
    if not (np.isfinite(matrix).all() and (sizes > 0).all()):
        return ""
    left, values, _ = np.linalg.svd(matrix / sizes[:, None], full_matrices=False)
    if values[-1] > CLOSE * values[0]:
        return ""
    parts = np.abs(left[:, -1])
    rows = np.flatnonzero(parts > TAKES_PART * parts.max())
    names = list(dict.fromkeys(str(system.owners[row].joint) for row in rows))
    named = shortened(names, MOST_NAMED)
    return f"; the mechanism is close to a dead centre, where {named} leave less freedom than they seem to"
