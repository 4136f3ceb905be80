"""Static equilibrium by pseudo-transient continuation: an implicit gradient flow ending as Newton's method.

Each iteration solves ``(K + mu M) dx - G^T lambda = f``, ``G dx = -g`` and lowers mu with the residual,
so that the iterates fall towards a minimum of the potential energy and not to the nearest saddle.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array
from phlexible.bodies.mechanics.any_body import elastic_force, gross_force, stiffness_matrix
from phlexible.errors import EquilibriumError
from phlexible.initial.closure import largest_length, row_lengths
from phlexible.mechanism.mechanism import Mechanism
from phlexible.rank.multiplier_metric import smallest_multipliers_at
from phlexible.rank.redundancy import independent_rows
from phlexible.system.constraints import constraint_matrix, constraint_values, mass_matrix
from phlexible.system.displacement import displaced
from phlexible.system.geometric_stiffness import constraint_stiffness, load_stiffness
from phlexible.system.load_forces import applied_forces
from phlexible.system.state import Layout, State

ITERATIONS = 400
GOAL, ACCEPTED = 1e-12, 1e-9
LONGEST_TURN = 0.3  # of a body in one iteration [rad]
SMALLEST_SHIFT = 1e-14


def static_equilibrium(mechanism: Mechanism, layout: Layout, state: State) -> tuple[State, Array]:
    """The state at rest in which forces balance, near the given one, and its multipliers (rows,).

    Raises:
        EquilibriumError: none was found.
    """
    length = largest_length(mechanism)
    kept = independent_rows(mechanism, state)
    multipliers = np.zeros(int(layout.multiplier[-1]))
    start = first = best = 0.0
    best_state, best_multipliers = state, multipliers.copy()
    for iteration in range(ITERATIONS):
        mass, matrix = mass_matrix(mechanism, state), constraint_matrix(mechanism, layout, state)
        elastic, gross, tangent = _elasticity(mechanism, layout, state)
        applied = applied_forces(mechanism, layout, state)
        gap = constraint_values(mechanism, layout, state)
        weight = 1 / np.sqrt(mass.diagonal())
        force = applied - elastic
        parts = (applied, gross, matrix.T @ multipliers)
        size = max(float(np.linalg.norm(weight * each)) for each in parts)
        balance = float(np.linalg.norm(weight * (force + matrix.T @ multipliers)))
        residual = max(
            balance / size if size else 0.0, float(np.abs(gap / row_lengths(mechanism)).max(initial=0.0))
        )
        if iteration == 0:
            first = max(residual, 1e-3) if size else 1.0
            start = float(np.linalg.norm(weight * force) / np.sqrt(mass.diagonal().max())) / (0.1 * length)
        if iteration == 0 or residual < best:
            best, best_state, best_multipliers = residual, state, multipliers.copy()
        if size == 0 or (iteration and (best < GOAL or (best < ACCEPTED and residual > best))):
            break
        stiffness = sparse.csr_array(
            tangent
            - load_stiffness(mechanism, layout, state)
            - constraint_stiffness(mechanism, layout, state, multipliers)
        )
        shift = max(start * min(1.0, residual / first) ** 1.5, SMALLEST_SHIFT * start)
        for _ in range(40):
            change, multipliers[kept] = _step(stiffness + shift * mass, matrix[kept], force, gap[kept])
            if np.isfinite(change).all() and change @ (stiffness @ change + shift * (mass @ change)) >= 0:
                break
            shift = max(4 * shift, 1e-6 * start)
        state = displaced(
            mechanism, layout, state, change * _length_of_step(mechanism, layout, change, length)
        )
    if not best <= ACCEPTED:
        raise EquilibriumError(
            f"no static equilibrium found near the given pose: forces miss by {best:.2g} of their size; "
            "nothing may hold the model against its loads, or the pose is far away (give state=)"
        )
    if len(kept) < len(best_multipliers):
        best_multipliers = smallest_multipliers_at(mechanism, layout, best_state, best_multipliers)
    return best_state, best_multipliers


def _step(
    stiffness: sparse.csr_array, matrix: sparse.csr_array, force: Array, gap: Array
) -> tuple[Array, Array]:
    n, rows = stiffness.shape[0], matrix.shape[0]
    saddle = sparse.block_array([[stiffness, matrix.T], [matrix, None]]) if rows else stiffness
    try:
        solution = splu(sparse.csc_matrix(saddle)).solve(np.concatenate([force, -gap]))
    except RuntimeError:  # exactly singular
        return np.full(n, np.nan), np.zeros(rows)
    return solution[:n], -solution[n:]


def _elasticity(mechanism: Mechanism, layout: Layout, state: State) -> tuple[Array, Array, sparse.csr_array]:
    """dV/dq (flat like the velocities), the size of its parts, and d2V/dq2."""
    force, gross, blocks = *np.zeros((2, int(layout.velocity[-1]))), []
    for index, placed in enumerate(mechanism.bodies):
        begin, end = layout.velocity[index : index + 2]
        eta = state.elastic[layout.elastic[index] : layout.elastic[index + 1]]
        rigid = placed.data.rigid_count
        force[begin + rigid : end] = elastic_force(placed.data, eta)
        gross[begin + rigid : end] = gross_force(placed.data, eta)
        blocks.append(stiffness_matrix(placed.data, eta))
    return force, gross, sparse.csr_array(sparse.block_diag(blocks, "csr"))


def _length_of_step(mechanism: Mechanism, layout: Layout, change: Array, length: float) -> float:
    """At most 1; no body turns or moves too far at once."""
    largest = 0.0
    for index, placed in enumerate(mechanism.bodies):
        begin = int(layout.velocity[index])
        shifted = begin + (placed.data.dimension if placed.curve is None else placed.data.velocity_count)
        turned = max(shifted, begin + placed.data.rigid_count)
        move = np.abs(change[begin:shifted]).max(initial=0.0) / length
        largest = max(largest, move, np.abs(change[shifted:turned]).max(initial=0.0))
    return min(1.0, LONGEST_TURN / largest) if largest > 0 else 1.0
