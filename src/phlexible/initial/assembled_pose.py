"""The nearest pose at which joints close, from approximate ones, and the nearest velocities there.

Bodies move as rigid, undeformed ones. Nearest is least ``sum weight int rho |d|^2`` over the displacements
d of all material. First a Levenberg-Marquardt iteration on the gaps closes the joints or finds where they
come closest; then Newton's method on the Lagrangian moves along the closed poses to the nearest one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.nearest_solution import smallest_solution
from phlexible.errors import JointGapError
from phlexible.initial.closure import described_gap, undeformed
from phlexible.initial.initial_velocity import with_rigid_velocity
from phlexible.initial.nearest_pose import rigid_moments
from phlexible.system.displacement import displaced
from phlexible.system.layout import State
from phlexible.system.system import System

CLOSED, CLOSE = 1e-12, 1e-4
ITERATIONS, POLISHING = 200, 60
LONGEST_TURN = 0.5  # of a body in one iteration [rad]
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e8


@dataclass(frozen=True, eq=False)
class AssembledPose:
    """A pose with closed joints.

    Attributes:
        state: undeformed, with the nearest velocities that joints and drives allow.
        gap_before: largest gap at the given pose, over the length it is compared with.
        gap_after: the same at the new pose.
    """

    state: State
    gap_before: float
    gap_after: float


def assembled_pose(system: System, fixed: frozenset[str], weights: Mapping[str, float]) -> AssembledPose:
    """The nearest closed pose at t = 0.

    Args:
        system: bodies at approximate poses.
        fixed: names of bodies that do not move.
        weights: of bodies by name, 1 for the others; large: moves little.

    Raises:
        JointGapError: the joints cannot close; with the smallest gaps found.
    """
    given = undeformed(system)
    factors = np.ones(int(system.layout.velocity[-1]))
    is_free = system.layout.is_rigid.copy()
    for index, placed in enumerate(system.bodies):
        own = system.layout.place(index)
        factors[own] = weights.get(placed.name, 1.0)
        is_free[own] &= placed.name not in fixed
    problem = _Problem(system, given, np.flatnonzero(is_free), factors)
    lengths = system.row_lengths
    before = _largest(problem.gaps(given) / lengths)
    state = _nearest(problem, _closed(problem)) if before > CLOSED else given
    gaps = problem.gaps(state) / lengths
    if _largest(gaps) > CLOSED:
        worst = int(np.argmax(np.abs(gaps)))
        owner = system.owners[worst]
        raise JointGapError(
            f"the joints cannot close: where they come closest, {owner.joint} ({owner.row.label}) is open by "
            f"{described_gap(owner, float(gaps[worst] * lengths[worst]))}; check lengths of bodies, places "
            "and axes of joints, and which bodies are fixed"
        )
    moving = _with_nearest_velocity(problem, state)
    return AssembledPose(moving, before, _largest(gaps))


@dataclass(frozen=True, eq=False)
class _Problem:
    system: System
    given: State
    free: IntArray
    factors: Array

    def gaps(self, state: State) -> Array:
        return np.asarray(self.system.rows.values(self.system.at(state))[0])

    def metric(self, state: State) -> sparse.csr_array:
        """Weighted mass matrix of the components that may move."""
        scale = sparse.diags_array(np.sqrt(self.factors))
        return sparse.csr_array((scale @ self.system.mass(state) @ scale)[self.free][:, self.free])

    def matrix(self, state: State) -> sparse.csr_array:
        return sparse.csr_array(self.system.rows.matrix(self.system.at(state))[:, self.free])

    def moved(self, state: State, change: Array) -> State:
        """The state after a change of the free components, which turns no body too far at once."""
        full = np.zeros(int(self.system.layout.velocity[-1]))
        full[self.free] = change
        turn = _largest(full[self.system.layout.spin[2]])
        part = LONGEST_TURN / turn if turn > LONGEST_TURN else 1.0
        return displaced(self.system, state, part * full)


def _closed(problem: _Problem) -> State:
    """Levenberg-Marquardt on the scaled gaps: a closed pose, or the one where they are smallest."""
    lengths = problem.system.row_lengths
    state, damping = problem.given, 1e-3
    gaps = problem.gaps(state) / lengths
    for _ in range(ITERATIONS):
        if _largest(gaps) < CLOSE * CLOSED or not len(problem.free):
            break
        matrix = sparse.diags_array(1 / lengths) @ problem.matrix(state)
        metric = problem.metric(state)
        size = float((matrix.multiply(matrix) @ (1 / metric.diagonal())).max()) or 1.0
        normal = matrix.T @ matrix + damping * size * metric
        trial = problem.moved(state, -splu(sparse.csc_matrix(normal)).solve(matrix.T @ gaps))
        found = problem.gaps(trial) / lengths
        if found @ found < gaps @ gaps:
            is_done = found @ found > (1 - 1e-9) * (gaps @ gaps)
            state, gaps, damping = trial, found, max(damping / 10, LEAST_DAMPING)
            if is_done:
                break
        else:
            damping *= 10
            if damping > MOST_DAMPING:
                break
    return state


def _nearest(problem: _Problem, state: State) -> State:
    """Along the closed poses to the nearest one; the closed one that came in if it leads astray."""
    lengths = problem.system.row_lengths
    best, best_error = state, _largest(problem.gaps(state) / lengths)
    if best_error > CLOSE:
        return state
    for _ in range(POLISHING):
        moments = rigid_moments(problem.system, state, problem.given)[problem.free]
        metric, matrix = problem.metric(state), problem.matrix(state)
        pull = splu(sparse.csc_matrix(metric)).solve(problem.factors[problem.free] * moments)
        step = smallest_solution(metric, matrix, matrix @ pull - problem.gaps(state)) - pull
        state = problem.moved(state, step)
        error = _largest(problem.gaps(state) / lengths)
        if error <= max(best_error, CLOSED):
            best, best_error = state, error
        if _largest(step) < CLOSED * float(lengths.max()):
            break
    return best


def _with_nearest_velocity(problem: _Problem, state: State) -> State:
    """Given velocities corrected as little as possible where they contradict the joints; others solved."""
    system = problem.system
    moving = with_rigid_velocity(system, state)
    at = system.at(state)
    missing = system.rows.matrix(at) @ moving.velocity + system.rows.drift(at)[0]
    velocity = moving.velocity.copy()
    velocity[problem.free] -= smallest_solution(problem.metric(state), problem.matrix(state), missing)
    return replace(moving, velocity=velocity)


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
