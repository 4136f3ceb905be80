"""How far material has moved since a given pose: what the nearest pose has least of (docs/theory.md, 6).

The displacement of a material point is ``x_c + R u - (x_c0 + R_0 u_0)`` with u = Psi xi about the centre of mass.
Its first moments against the rigid motions of a body, ``int rho d`` and ``int rho u x d`` in body axes,
depend on where the material is and not on which floating frame describes it. Those against the motions of the
nodes of a string are ``int rho N_a d``.
"""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.system.layout import State
from phlexible.system.system import System


def rigid_moments(system: System, state: State, given: State) -> Array:
    """The moments of every body in the places of nu, flat; zero for eta.

    Their derivative to small motions is M(eta), at the given pose exactly.
    """
    layout = system.layout
    moments = np.zeros(int(layout.velocity[-1]))
    for index, data in enumerate(system.frames):
        now, before = (np.concatenate([[1.0], system.elastic(s, index)]) for s in (state, given))
        turn = state.rotation[index].T @ given.rotation[index]
        linear = data.mass * (state.position[index] - given.position[index])
        spread = np.einsum("i,acij,j->ac", now, data.second_moments, before) @ turn.T
        angular = -np.array([spread[a, b] - spread[b, a] for a, b in ((1, 2), (2, 0), (0, 1))])
        begin, end = int(layout.velocity[index]), int(layout.velocity[index]) + data.rigid_count
        moments[begin:end] = np.concatenate([linear[: data.dimension], angular[list(data.rotation_axes)]])
    for index in range(layout.frames, len(system.bodies)):
        moved = system.elastic(state, index) - system.elastic(given, index)
        moments[layout.place(index)] = system.body_mass(state, index) @ moved
    return moments


def squared_distance(system: System, state: State, given: State, factors: Array) -> float:
    """sum factor int rho |d|^2 over all bodies, which are not deformed; strings by their nodes.

    Args:
        factors: one for each body, in all its places of nu.
    """
    layout, total = system.layout, 0.0
    for index, placed in enumerate(system.bodies):
        if index < layout.frames:
            spread = system.frames[index].second_moments[:, :, 0, 0]
            turn = state.rotation[index].T @ given.rotation[index]
            way = state.position[index] - given.position[index]
            square = placed.data.mass * (way @ way) + 2 * np.trace(spread - turn @ spread)
        else:
            moved = system.elastic(state, index) - system.elastic(given, index)
            square = moved @ (system.body_mass(state, index) @ moved)
        total += float(factors[layout.velocity[index]] * square)
    return total
