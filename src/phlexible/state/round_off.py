"""Round-off of forces due to the round-off of the positions that they are computed from."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import Matrix
from phlexible.state.layout import State
from phlexible.state.system import System


def round_off_of_forces(system: System, state: State, stiffness: Matrix) -> Array:
    """Return bounds on residual forces of a force balance that are due to round-off of positions, shape
    (velocities,) [N, N m].

    Args:
        system: mechanism in balance.
        state: state in balance.
        stiffness: derivative of the forces with respect to the coordinates, shape (velocities,) * 2.
    """
    extent = system.largest_length + float(np.abs(state.position).max(initial=0.0))
    sizes = np.zeros(stiffness.shape[0])
    sizes[system.layout.linear] = extent
    sizes[system.layout.spin[2]] = 1.0
    sizes[system.layout.elastic_rate] = np.abs(state.eta)
    return np.asarray(np.finfo(float).eps * (abs(stiffness) @ sizes))
