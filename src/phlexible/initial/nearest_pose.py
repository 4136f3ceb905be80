"""How far material has moved since a given pose: what the nearest pose has least of.

The displacement of a material point is ``r + R u - (r_0 + R_0 u_0)`` with u = Psi xi in the body frame.
Its first moments against the rigid motions of a body, ``int rho d`` and ``int rho u x d`` in body axes,
depend on where the material is and not on which floating frame describes it.
"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.mechanism.mechanism import Mechanism
from phlexible.system.state import Layout, State


def rigid_moments(mechanism: Mechanism, layout: Layout, state: State, given: State) -> Array:
    """Both moments of every body in the components of nu, flat like the velocities; zero for eta.

    Their derivative to small motions is M(eta), at the given pose exactly.
    """
    moments = np.zeros(int(layout.velocity[-1]))
    for index, placed in enumerate(mechanism.bodies):
        data = placed.data
        if isinstance(data, AbsoluteBody):
            continue  # nodes have no frame that could be chosen otherwise
        elastic = slice(int(layout.elastic[index]), int(layout.elastic[index + 1]))
        now, before = (np.concatenate([[1.0], s.elastic[elastic]]) for s in (state, given))
        turn = state.rotation[index].T @ given.rotation[index]
        shift = state.rotation[index].T @ (state.position[index] - given.position[index])
        center = data.first_moments @ now
        linear = data.mass * shift + center - turn @ (data.first_moments @ before)
        spread = np.einsum("i,acij,j->ac", now, data.second_moments, before) @ turn.T
        across = np.array([spread[a, b] - spread[b, a] for a, b in ((1, 2), (2, 0), (0, 1))])
        angular = np.cross(center, shift) - across
        begin, end = int(layout.velocity[index]), int(layout.velocity[index]) + data.rigid_count
        moments[begin:end] = np.concatenate([linear[: data.dimension], angular[list(data.rotation_axes)]])
    return moments
