"""Static equilibrium by pseudo-transient continuation: an implicit gradient flow ending as Newton's method.

Each iteration solves ``(K + mu M) dx - G^T lambda = f``, ``G dx = -g`` and lowers mu with the residual,
so that the iterates fall towards a minimum of the potential energy and not to the nearest saddle. Models with rods
try Newton's method first, see ``raised_loads.py``, and so do models with strings, see ``taut_strings.py``.
"""

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.mechanics.any_body import elastic_force, gross_force, stiffness_matrix
from phlexible.errors import EquilibriumError
from phlexible.linear_analysis.operating_points.newton_step import newton_step
from phlexible.linear_analysis.operating_points.raised_loads import raised_equilibrium
from phlexible.linear_analysis.operating_points.taut_strings import taut_equilibrium
from phlexible.rank.redundancy import independent_rows
from phlexible.rank.smallest_multipliers import smallest_multipliers_at
from phlexible.system.displacement import displaced
from phlexible.system.forces import applied_forces, constraint_stiffness, load_stiffness, weights_and_loads
from phlexible.system.layout import State
from phlexible.system.round_off import round_off_of_forces
from phlexible.system.system import System

ITERATIONS = 400
GOAL, ACCEPTED = 1e-12, 1e-9
CLOSER = 100.0
"""So much better joints close than forces balance: the first step of a run, however short, closes what is open."""
LONGEST_TURN = 0.3  # of a body in one iteration [rad]
SMALLEST_SHIFT = 1e-14


def static_equilibrium(system: System, state: State) -> tuple[State, Array]:
    """The state at rest in which forces balance, near the given one, and its multipliers (rows,).

    Raises:
        EquilibriumError: none was found.
    """
    length = system.largest_length
    kept = independent_rows(system, state)
    multipliers = np.zeros(int(system.layout.multiplier[-1]))
    if system.mechanism.rods and (raised := raised_equilibrium(system, state, kept)) is not None:
        return _with_smallest(system, *raised, kept)
    if (
        any(placed.is_string for placed in system.bodies)
        and (taut := taut_equilibrium(system, state, kept)) is not None
    ):
        return _with_smallest(system, *taut, kept)
    start = first = best = 0.0
    best_state, best_multipliers = state, multipliers.copy()
    for iteration in range(ITERATIONS):
        at = system.at(state)
        mass, matrix = system.mass(state), system.rows.matrix(at)
        elastic, gross, tangent = _elasticity(system, state)
        applied, gap = applied_forces(system, state, at), system.rows.values(at)[0]
        weight = 1 / np.sqrt(mass.diagonal())
        force = applied - elastic
        given = weights_and_loads(system, at)  # without springs, which may balance them alone
        parts = (applied, given, gross, matrix.T @ multipliers)
        stiffness = sparse.csr_array(
            tangent - load_stiffness(system, state) - constraint_stiffness(system, state, multipliers)
        )
        size = max(float(np.linalg.norm(weight * each)) for each in parts)
        round_off = float(np.linalg.norm(weight * round_off_of_forces(system, state, stiffness)))
        size = max(size, round_off / ACCEPTED)
        balance = float(np.linalg.norm(weight * (force + matrix.T @ multipliers)))
        open_by = float(system.relative_gaps(gap).max(initial=0.0))
        residual = max(balance / size if size else 0.0, open_by)
        missed = max(residual, CLOSER * open_by)
        if iteration == 0:
            first = max(residual, 1e-3) if size else 1.0
            start = float(np.linalg.norm(weight * force) / np.sqrt(mass.diagonal().max())) / (0.1 * length)
        if iteration == 0 or missed < best:
            best, best_state, best_multipliers = missed, state, multipliers.copy()
        is_balanced = balance <= round_off and CLOSER * open_by < GOAL  # without loads before the first step
        is_settled = best < GOAL or (best < ACCEPTED and missed > best)
        if size == 0 or is_balanced or (iteration and is_settled):
            break
        shift = max(start * min(1.0, residual / first) ** 1.5, SMALLEST_SHIFT * start)
        change = np.full(len(force), np.nan)  # if all steps are singular
        for _ in range(40):
            if step := newton_step(stiffness + shift * mass, matrix[kept], force, gap[kept]):
                change, multipliers[kept] = step
                if change @ (stiffness @ change + shift * (mass @ change)) >= 0:
                    break
            shift = max(4 * shift, 1e-6 * start)
        state = displaced(system, state, change * _length_of_step(system, change, length))
    if not best <= ACCEPTED:
        raise EquilibriumError(
            f"no static equilibrium found near the given pose: forces miss by {best:.2g} of their size; "
            "nothing may hold the model against its loads, or the pose is far away (give state=)"
        )
    return _with_smallest(system, best_state, best_multipliers, kept)


def _with_smallest(system: System, state: State, multipliers: Array, kept: IntArray) -> tuple[State, Array]:
    """With the smallest multipliers where joints are redundant."""
    if len(kept) < len(multipliers):
        multipliers = smallest_multipliers_at(system, state, multipliers)
    return state, multipliers


def _elasticity(system: System, state: State) -> tuple[Array, Array, sparse.csr_array]:
    """dV/dq (flat like the velocities), the size of its parts, and d2V/dq2."""
    force, gross, blocks = *np.zeros((2, int(system.layout.velocity[-1]))), []
    for index, placed in enumerate(system.bodies):
        own, eta, rigid = system.layout.place(index), system.elastic(state, index), placed.data.rigid_count
        force[own][rigid:] = elastic_force(placed.data, eta)
        gross[own][rigid:] = gross_force(placed.data, eta)
        blocks.append(stiffness_matrix(placed.data, eta))
    return force, gross, sparse.csr_array(sparse.block_diag(blocks, "csr"))


def _length_of_step(system: System, change: Array, length: float) -> float:
    """At most 1; no body turns or moves too far at once."""
    move = float(np.abs(change[system.layout.linear]).max(initial=0.0)) / length
    largest = max(move, float(np.abs(change[system.layout.spin[2]]).max(initial=0.0)))
    return min(1.0, LONGEST_TURN / largest) if largest > 0 else 1.0
