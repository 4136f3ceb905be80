"""Static equilibrium by Newton's method with loads that are raised step by step.

For bodies that are far stiffer in some ways than in others, such as slender rods under large rotation: there a
descent is held up in a narrow curved valley of the potential energy, and Newton's iterates pass beside it.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.mechanics.any_body import elastic_force, stiffness_matrix
from phlexible.linear_analysis.operating_points.newton_step import newton_step
from phlexible.system.displacement import displaced
from phlexible.system.forces import (
    constraint_stiffness,
    element_pulls,
    element_state,
    element_stiffness,
    prescribed_parts,
    stiffness_of_loads,
    weights_and_loads,
)
from phlexible.system.layout import State
from phlexible.system.system import System

FIRST_SHARE, LEAST_SHARE = 0.25, 1 / 128
ITERATIONS = 30
LONGEST_TURN = 0.5  # of a body in one iteration [rad]
SMALL = 1e-9  # motion in one iteration [rad, of the length of the model]


def raised_equilibrium(system: System, state: State, kept: IntArray) -> tuple[State, Array] | None:
    """The equilibrium under all loads by way of those under smaller shares, and its multipliers; None: not found.

    Args:
        system: what is loaded; gravity, loads and prescribed parts of force elements are raised.
        state: where it starts, at rest.
        kept: rows of G that do not repeat others.
    """
    share, step, found = 0.0, FIRST_SHARE, (state, np.zeros(int(system.layout.multiplier[-1])))
    while step >= LEAST_SHARE:
        aim = min(1.0, share + step)
        with np.errstate(all="ignore"):
            solved = _solved(system, *found, kept, aim)
        if solved is None:
            step /= 2
        elif aim == 1.0:
            return solved
        else:
            share, found = aim, solved
    return None


def _solved(
    system: System, state: State, multipliers: Array, kept: IntArray, share: float
) -> tuple[State, Array] | None:
    length, multipliers = system.largest_length, multipliers.copy()
    for _ in range(ITERATIONS):
        at = system.at(state)
        matrix, gap = system.rows.matrix(at)[kept], system.rows.values(at)[0][kept]
        stiffness = _stiffness(system, state, share) - constraint_stiffness(system, state, multipliers)
        step = newton_step(stiffness, matrix, _forces(system, state, share), gap)
        if step is None:
            return None
        change, multipliers[kept] = step
        turn = float(np.abs(change[system.layout.spin[2]]).max(initial=0.0))
        move = float(np.abs(change[system.layout.linear]).max(initial=0.0)) / length
        state = displaced(system, state, change * min(1.0, LONGEST_TURN / max(turn, move, 1e-300)))
        if max(turn, move) < SMALL:
            return state, multipliers
    return None


def _forces(system: System, state: State, share: float) -> Array:
    """A share of what is applied, all of what bodies, springs and rods answer, shape (velocities,)."""
    at, still = system.at(state), np.zeros(int(system.layout.velocity[-1]))
    result = share * weights_and_loads(system, at)
    if system.forces:
        elements = element_state(system, at)
        prescribed = share * prescribed_parts(system, at)
        result += elements.rows.T @ element_pulls(system, elements, elements.theta, still, prescribed)
    for index, placed in enumerate(system.bodies):
        own = system.layout.place(index)
        result[own][placed.data.rigid_count :] -= elastic_force(placed.data, system.elastic(state, index))
    return np.asarray(result)


def _stiffness(system: System, state: State, share: float) -> sparse.csr_array:
    """Less the derivative of ``_forces``; prescribed parts of elements count whole, which only slows Newton."""
    blocks = [stiffness_matrix(p.data, system.elastic(state, k)) for k, p in enumerate(system.bodies)]
    loads, elements = stiffness_of_loads(system, state), element_stiffness(system, state)
    return sparse.csr_array(sparse.block_diag(blocks, "csr") - elements - share * loads)
