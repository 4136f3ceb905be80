"""Static equilibrium of models with strings that end up taut: Newton's method with tensions of their own.

The stress S of a string is an unknown beside x: forces balance with S, and ``W'(C) + W''(C) dC = S`` is demanded
divided by W'' (docs/theory.md, 7). The stretch of a stiff cable, of which an iteration spoils the square of its
step and round-off the last digits, then costs neither iterations nor digits of the shape; a slack one may start
with any tension.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.absolute import assembled_forms, places, strain_gradients, strains
from phlexible.bodies.mechanics.any_body import elastic_force, stiffness_matrix
from phlexible.linear_analysis.operating_points.newton_step import newton_step
from phlexible.system.displacement import displaced
from phlexible.system.forces import applied_forces, constraint_stiffness, load_stiffness
from phlexible.system.instants import Instants
from phlexible.system.layout import State
from phlexible.system.system import System

ITERATIONS = 80
LONGEST_STEP = 0.3  # of the largest length, or in radians
SMALL = 1e-12
MOST = 10.0  # times the loads: the first stress of a shape that is too long

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
        force, stiffness = _forces(system, state, at, stresses), _tangent(system, state, stresses, multipliers)
        widths, misses, compliances = _stretches(system, state, stresses)
        step = newton_step(
            stiffness,
            sparse.csr_array(sparse.vstack([matrix, -widths.T])),
            force,
            np.concatenate([gap, misses]),
            np.concatenate([np.zeros(len(gap)), compliances]),
        )
        if step is None:
            return None
        change, answers = step
        multipliers[kept] = answers[: len(gap)]
        size = _size(system, stresses, change)
        share = min(1.0, LONGEST_STEP / max(size, 1e-300))
        _approach(stresses, answers[len(gap) :], share)
        state = displaced(system, state, share * change)
        if size < SMALL or (size < 1e3 * SMALL and size >= 0.5 * last):  # round-off is reached
            is_taut = all((each >= 0).all() for groups in stresses.values() for each in groups)
            return (state, multipliers) if is_taut else None
        last = size
    return None


def _first_stresses(system: System, state: State) -> Stresses:
    """Of a tension that could carry all loads, or what the strings have, if that is not far more."""
    layout, applied, result = system.layout, np.abs(applied_forces(system, state, system.at(state))), Stresses()
    for index, placed in enumerate(system.bodies):
        body = placed.data
        if isinstance(body, AbsoluteBody) and body.strains:
            tension = (applied[layout.linear].sum() + applied[layout.place(index)].sum()) / 2
            q = system.elastic(state, index)
            result[index] = [
                np.clip(group.law.derivative(strains(body, group, q)), tension / 2, MOST * tension)
                for group in body.strains
            ]
    return result


def _forces(system: System, state: State, at: Instants, stresses: Stresses) -> Array:
    """Loads, and what everything but strings pulls."""
    force = applied_forces(system, state, at)
    for index, placed in enumerate(system.bodies):
        if index not in stresses:
            own = system.layout.place(index)
            force[own][placed.data.rigid_count :] -= elastic_force(placed.data, system.elastic(state, index))
    return force


def _tangent(system: System, state: State, stresses: Stresses, multipliers: Array) -> sparse.csr_array:
    blocks = []
    for index, placed in enumerate(system.bodies):
        body, eta = placed.data, system.elastic(state, index)
        if index in stresses and isinstance(body, AbsoluteBody):
            groups = zip(body.strains, stresses[index], strict=True)
            blocks.append(sum(assembled_forms(body, group, group.weights * stress) for group, stress in groups))
        else:
            blocks.append(stiffness_matrix(body, eta))
    elastic = sparse.csr_array(sparse.block_diag(blocks, "csr"))
    return elastic - load_stiffness(system, state) - constraint_stiffness(system, state, multipliers)


def _stretches(system: System, state: State, stresses: Stresses) -> tuple[sparse.csr_array, Array, Array]:
    """Of all points of strings: columns w dC/dx, -w W'(C) / W''(C) and w / W''(C)."""
    size = int(system.layout.velocity[-1])
    columns, misses, compliances = [sparse.csr_array((size, 0))], [np.zeros(0)], [np.zeros(0)]
    for index in stresses:
        body, q, place = system.bodies[index].data, system.elastic(state, index), system.layout.place(index)
        assert isinstance(body, AbsoluteBody), "others have no stresses here"
        for group in body.strains:
            C, own = strains(body, group, q), strain_gradients(body, group, places(body, q))
            above = sparse.csr_array((place.start, own.shape[1]))
            below = sparse.csr_array((size - place.stop, own.shape[1]))
            columns.append(sparse.vstack([above, own * group.weights, below], format="csr"))
            compliances.append(group.weights / group.law.curvature(C))
            misses.append(-compliances[-1] * group.law.derivative(C))
    return sparse.csr_array(sparse.hstack(columns)), np.concatenate(misses), np.concatenate(compliances)


def _approach(stresses: Stresses, aims: Array, share: float) -> None:
    """Goes so far towards the stresses that were solved for, of one point after the other."""
    begin = 0
    for groups in stresses.values():
        for k, stress in enumerate(groups):
            groups[k] = stress + share * (aims[begin : begin + len(stress)] - stress)
            begin += len(stress)


def _size(system: System, stresses: Stresses, change: Array) -> float:
    """How far anything moves, in lengths of the model or radians."""
    layout, length = system.layout, system.largest_length
    parts = [change[layout.linear].ravel() / length, change[layout.spin[2]]]
    parts += [change[layout.place(index)] / length for index in stresses]
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)
