"""Static equilibrium of models with strings that end up taut: Newton's method with tensions of their own.

The tangent takes the stress of a string not from its stretch, which an iteration spoils by the square of its step
times the stiffness, but from what the last one foretold, ``S = W'(C) + W''(C) dC`` (docs/theory.md, 7): the
condensed form of Newton's method for x and S together. A stiff cable then takes as few iterations as a soft one,
and a slack one may start with any tension.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.absolute import elastic_tangent, places, strain_gradients, strains
from phlexible.bodies.mechanics.any_body import elastic_force, stiffness_matrix
from phlexible.linear_analysis.operating_points.newton_step import newton_step
from phlexible.system.displacement import displaced
from phlexible.system.forces import applied_forces, constraint_stiffness, load_stiffness
from phlexible.system.layout import State
from phlexible.system.system import System

ITERATIONS = 80
LONGEST_STEP = 0.3  # of the largest length, or in radians
SMALL = 1e-12

Stresses = dict[int, list[Array]]
"""W'(C) of each group of strains, by the number of the body."""


def taut_equilibrium(system: System, state: State, kept: IntArray) -> tuple[State, Array] | None:
    """The equilibrium in which no string is compressed, and its multipliers; None: not found.

    Args:
        system: with strings.
        state: where it starts, at rest.
        kept: rows of G that do not repeat others.
    """
    multipliers, last = np.zeros(int(system.layout.multiplier[-1])), np.inf
    stresses = _first_stresses(system, state)
    for _ in range(ITERATIONS):
        at = system.at(state)
        matrix, gap = system.rows.matrix(at)[kept], system.rows.values(at)[0][kept]
        force, stiffness = applied_forces(system, state, at), _tangent(system, state, stresses, multipliers)
        for index, placed in enumerate(system.bodies):
            own = system.layout.place(index)
            force[own][placed.data.rigid_count :] -= elastic_force(placed.data, system.elastic(state, index))
        step = newton_step(stiffness, matrix, force, gap)
        if step is None:
            return None
        change, multipliers[kept] = step
        size = _size(system, stresses, change)
        change = change * min(1.0, LONGEST_STEP / max(size, 1e-300))
        stresses, state = _foretold(system, state, stresses, change), displaced(system, state, change)
        if size < SMALL or (size < 1e3 * SMALL and size >= 0.5 * last):  # round-off is reached
            is_taut = all((each >= 0).all() for groups in stresses.values() for each in groups)
            return (state, multipliers) if is_taut else None
        last = size
    return None


def _first_stresses(system: System, state: State) -> Stresses:
    """Of a tension that could carry all loads, or what the strings have."""
    layout, applied, result = system.layout, np.abs(applied_forces(system, state, system.at(state))), Stresses()
    for index, placed in enumerate(system.bodies):
        body = placed.data
        if isinstance(body, AbsoluteBody) and body.strains:
            tension = (applied[layout.linear].sum() + applied[layout.place(index)].sum()) / 2
            q = system.elastic(state, index)
            result[index] = [
                np.maximum(group.law.derivative(strains(body, group, q)), tension / 2) for group in body.strains
            ]
    return result


def _tangent(system: System, state: State, stresses: Stresses, multipliers: Array) -> sparse.csr_array:
    blocks = []
    for index, placed in enumerate(system.bodies):
        eta = system.elastic(state, index)
        if index in stresses and isinstance(placed.data, AbsoluteBody):
            blocks.append(elastic_tangent(placed.data, eta, stresses[index]))
        else:
            blocks.append(stiffness_matrix(placed.data, eta))
    elastic = sparse.csr_array(sparse.block_diag(blocks, "csr"))
    return elastic - load_stiffness(system, state) - constraint_stiffness(system, state, multipliers)


def _foretold(system: System, state: State, stresses: Stresses, change: Array) -> Stresses:
    """W'(C) + W''(C) dC for the change of the coordinates from the state."""
    result: Stresses = {}
    for index in stresses:
        body, q = system.bodies[index].data, system.elastic(state, index)
        assert isinstance(body, AbsoluteBody), "others have no stresses here"
        own = change[system.layout.place(index)]
        result[index] = []
        for group in body.strains:
            C = strains(body, group, q)
            growth = strain_gradients(body, group, places(body, q)).T @ own
            result[index].append(group.law.derivative(C) + group.law.curvature(C) * growth)
    return result


def _size(system: System, stresses: Stresses, change: Array) -> float:
    """How far anything moves, in lengths of the model or radians."""
    layout, length = system.layout, system.largest_length
    parts = [change[layout.linear].ravel() / length, change[layout.spin[2]]]
    parts += [change[layout.place(index)] / length for index in stresses]
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)
