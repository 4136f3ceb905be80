"""The elastic deformation that a rigid motion, the joints and the loads keep up at t = 0.

Unknown are eta, the pose, the multipliers and the rigid accelerations. Demanded are all momentum
balances, closed joints (g = 0, d2g/dt2 = 0) with rigid velocities from the joints, deta/dt = 0 and
d2eta/dt2 = 0 (formulation, end of section 4). Where joints leave the pose free, the material of no
body has moved or turned on average (``nearest_pose``), whatever floating frame describes it.

Newton's method; where it fails with a line search; where that fails loads, velocities and gravity are
raised step by step.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.any_body import elastic_force, stiffness_matrix
from phlexible.bodies.mechanics.any_body import mass_matrix as mass_matrix_of
from phlexible.errors import ModelError
from phlexible.initial.closure import largest_length, row_lengths
from phlexible.initial.initial_velocity import check_velocity, rigid_components, with_rigid_velocity
from phlexible.initial.nearest_pose import rigid_moments
from phlexible.mechanism.mechanism import Mechanism
from phlexible.rank.multiplier_metric import smallest_multipliers_at
from phlexible.rank.redundancy import independent_rows
from phlexible.system.balance import inertia_forces, inertia_slope
from phlexible.system.constraints import (
    constraint_acceleration,
    constraint_matrix,
    constraint_values,
    mass_matrix,
)
from phlexible.system.displacement import displaced
from phlexible.system.geometric_stiffness import constraint_stiffness, load_stiffness
from phlexible.system.load_forces import applied_forces
from phlexible.system.state import Layout, State

GOAL, ACCEPTED, ROUND_OFF = 1e-13, 1e-10, 1e-12
ITERATIONS = 60
PATIENCE = 8
SHORTEST = 1 / 64  # Newton step
LEAST_SHARE = 1 / 64  # by which loads are raised at a time
REGULARISATION = 1e-9


@dataclass(frozen=True, eq=False)
class QuasiStaticMotion:
    """A state and what keeps it up.

    Attributes:
        state: the deformed state with deta/dt = 0.
        acceleration: dnu/dt, zero for eta, shape (sum of velocity counts,).
        multipliers: shape (rows,).
        pose_multipliers: of the closest pose, shape (rows,).
    """

    state: State
    acceleration: Array
    multipliers: Array
    pose_multipliers: Array


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is solved: the start, the rows of G to keep, and the share of all loads and velocities."""

    mechanism: Mechanism
    layout: Layout
    given: State
    rows: IntArray
    share: float


@dataclass(frozen=True, eq=False)
class _Residual:
    balance: Array
    acceleration: Array
    gap: Array
    pose: Array
    error: float

    def right_side(self, problem: _Problem, rigid: IntArray) -> Array:
        rows = problem.rows
        parts = [self.balance, self.acceleration[rows], self.gap[rows], self.pose[rigid]]
        return -np.concatenate(parts)


def quasi_static_state(mechanism: Mechanism, layout: Layout, state: State) -> State:
    """The state deformed so that d2eta/dt2 = 0; see ``quasi_static_motion``."""
    return quasi_static_motion(mechanism, layout, state).state


def quasi_static_motion(mechanism: Mechanism, layout: Layout, state: State) -> QuasiStaticMotion:
    """Newton's method from an undeformed state with closed joints. Redundant joints share their forces
    so that they are smallest.

    Raises:
        ModelError: it does not converge, for example because loads or rotation are beyond what the
            elastic forces hold.
        VelocityError: given velocities that contradict the joints of the deformed bodies.
    """
    problem = _Problem(mechanism, layout, state, independent_rows(mechanism, state), 1.0)
    count, rows = int(layout.velocity[-1]), int(layout.multiplier[-1])
    start = QuasiStaticMotion(state, np.zeros(count), np.zeros(rows), np.zeros(rows))
    with np.errstate(all="ignore"):  # a diverging iteration is reported below
        found, error = _solved(problem, start, is_searched=False)
        if not error < ACCEPTED:
            found, error = _solved(problem, start, is_searched=True)
        if not error < ACCEPTED:
            found, error = _raised(problem, start, error)
    if not error < ACCEPTED:
        raise ModelError(
            f"no quasi-static deformation found: the momentum balances miss by {error:.2g} of the "
            "forces in them; loads or initial rotation may be more than the elastic forces can hold "
            '(try strain="von_karman", or start undeformed)'
        )
    check_velocity(mechanism, layout, found.state)
    if len(problem.rows) < rows:
        smallest = smallest_multipliers_at(mechanism, layout, found.state, found.multipliers)
        found = replace(found, multipliers=smallest)
    return found


def _raised(problem: _Problem, start: QuasiStaticMotion, error: float) -> tuple[QuasiStaticMotion, float]:
    """The solution for all loads by way of those for smaller shares."""
    share, step, motion, best = 0.0, 0.25, start, error
    while share < 1 and step >= LEAST_SHARE:
        aim = min(1.0, share + step)
        found, error = _solved(replace(problem, share=aim), motion, is_searched=True)
        if error < ACCEPTED:
            share, motion, step = aim, found, 2 * step
        else:
            step /= 4
        if share == 1:
            return motion, error
        best = min(best, error) if aim == 1 and np.isfinite(error) else best
    return motion, best


def _solved(
    problem: _Problem, motion: QuasiStaticMotion, is_searched: bool
) -> tuple[QuasiStaticMotion, float]:
    """Newton's method, with natural monotonicity or full steps; the best point and its error."""
    motion = replace(motion, state=_with_velocity(problem, motion.state))
    residual = _residual(problem, motion)
    best, best_error, since = motion, residual.error, 0
    rigid = np.flatnonzero(rigid_components(problem.mechanism, problem.layout))
    weight = np.sqrt(mass_matrix(problem.mechanism, motion.state).diagonal())
    for _ in range(ITERATIONS):
        if not np.isfinite(residual.error) or best_error < GOAL:
            break
        try:
            solve = splu(_matrix(problem, motion, rigid)).solve
        except RuntimeError:  # exactly singular
            break
        step = solve(residual.right_side(problem, rigid))
        if is_searched and residual.error > ACCEPTED:
            motion, residual = _searched(problem, motion, rigid, step, solve, weight)
        else:
            motion = _moved(problem, motion, rigid, step)
            residual = _residual(problem, motion)
        since += 1
        if residual.error < best_error:
            best, best_error, since = motion, residual.error, 0
        if since == PATIENCE or (since and best_error < ACCEPTED):  # lost, or round-off
            break
    return best, best_error


def _searched(
    problem: _Problem,
    motion: QuasiStaticMotion,
    rigid: IntArray,
    step: Array,
    solve: Callable[[Array], Array],
    weight: Array,
) -> tuple[QuasiStaticMotion, _Residual]:
    """The longest part of a step after which the next simplified step is shorter, or the shortest part."""
    size = float(np.linalg.norm(weight * step[: len(weight)]))
    length, allowed = 1.0, ROUND_OFF * _extent(problem.mechanism)
    while True:
        trial = _moved(problem, motion, rigid, length * step)
        residual = _residual(problem, trial)
        if length <= SHORTEST or not np.isfinite(size):
            return trial, residual
        if np.isfinite(residual.error):
            simplified = solve(residual.right_side(problem, rigid))[: len(weight)]
            if np.linalg.norm(weight * simplified) <= max((1 - length / 4) * size, allowed):
                return trial, residual
        length /= 2


def _residual(problem: _Problem, motion: QuasiStaticMotion) -> _Residual:
    mechanism, layout, state = problem.mechanism, problem.layout, motion.state
    matrix = constraint_matrix(mechanism, layout, state)
    mass = mass_matrix(mechanism, state)
    rigid = rigid_components(mechanism, layout)
    inertia, elastic = (np.zeros(len(motion.acceleration)) for _ in range(2))
    for index, placed in enumerate(mechanism.bodies):
        begin, end = layout.velocity[index : index + 2]
        eta = state.elastic[layout.elastic[index] : layout.elastic[index + 1]]
        nu, acceleration = state.velocity[begin:end], motion.acceleration[begin:end]
        if isinstance(placed.data, AbsoluteBody):
            inertia[begin:end] = mass_matrix_of(placed.data, eta) @ acceleration
        else:
            inertia[begin:end] = inertia_forces(placed.data, eta, nu, acceleration)
        elastic[begin + placed.data.rigid_count : end] = elastic_force(placed.data, eta)
    applied = problem.share * applied_forces(mechanism, layout, state)
    constraint = matrix.T @ motion.multipliers
    balance = inertia + elastic - applied - constraint
    weight = 1 / np.sqrt(mass.diagonal())
    size = max(np.linalg.norm(weight * force) for force in (inertia, elastic, applied, constraint))
    row_weight = 1 / np.sqrt(matrix.multiply(matrix) @ weight**2 + np.finfo(float).tiny)
    change = constraint_acceleration(mechanism, layout, state)
    gap = constraint_values(mechanism, layout, state)
    moments = rigid_moments(mechanism, layout, state, problem.given)
    pose = np.where(rigid, moments + matrix.T @ motion.pose_multipliers, 0.0)
    acceleration = matrix @ motion.acceleration + change
    error = max(
        _relative(np.linalg.norm(weight * balance), size),
        _relative(np.linalg.norm(row_weight * acceleration), size + np.linalg.norm(row_weight * change)),
        float(np.abs(gap / row_lengths(mechanism)).max(initial=0.0)),
        float(np.linalg.norm(weight * pose) / _extent(mechanism)),
    )
    return _Residual(balance, acceleration, gap, pose, error)


def _extent(mechanism: Mechanism) -> float:
    """Size of a motion of the whole mechanism by its own length, in the metric of kinetic energy."""
    return float(largest_length(mechanism) * np.sqrt(sum(placed.data.mass for placed in mechanism.bodies)))


def _with_velocity(problem: _Problem, state: State) -> State:
    """The state with the share of the rigid velocities at its pose that loads of this share go with."""
    moving = with_rigid_velocity(problem.mechanism, problem.layout, state)
    return replace(moving, velocity=np.sqrt(problem.share) * moving.velocity)


def _moved(problem: _Problem, motion: QuasiStaticMotion, rigid: IntArray, step: Array) -> QuasiStaticMotion:
    """The motion after a step of Newton's method."""
    sizes = np.cumsum([len(motion.acceleration), len(rigid), len(problem.rows)])
    change, faster, pull, pose_pull = np.split(step, sizes)
    acceleration, multipliers = motion.acceleration.copy(), motion.multipliers.copy()
    pose_multipliers = motion.pose_multipliers.copy()
    acceleration[rigid] += faster
    multipliers[problem.rows] += pull
    pose_multipliers[problem.rows] += pose_pull
    state = displaced(problem.mechanism, problem.layout, motion.state, change)
    return QuasiStaticMotion(_with_velocity(problem, state), acceleration, multipliers, pose_multipliers)


def _matrix(problem: _Problem, motion: QuasiStaticMotion, rigid: IntArray) -> sparse.csc_matrix:
    """Of the changes of (pose, eta), of the acceleration, the multipliers and the pose multipliers."""
    mechanism, layout, state = problem.mechanism, problem.layout, motion.state
    matrix = constraint_matrix(mechanism, layout, state)[problem.rows]
    mass = mass_matrix(mechanism, state)
    held, mass_rigid = matrix[:, rigid], mass[rigid]
    metric = held.multiply(held) @ (1 / mass.diagonal()[rigid]) + np.finfo(float).tiny
    stiffness = _stiffness(mechanism, layout, motion, problem.share)
    return sparse.csc_matrix(
        sparse.block_array(
            [
                [stiffness, mass[:, rigid], -matrix.T, None],
                [None, held, None, -REGULARISATION * sparse.diags_array(metric)],
                [matrix, None, None, None],
                [mass_rigid, None, None, held.T],
            ],
            format="csc",
        )
    )


def _relative(error: np.floating[Any], scale: np.floating[Any]) -> float:
    return 0.0 if error == 0 else float(error / scale)


def _stiffness(
    mechanism: Mechanism, layout: Layout, motion: QuasiStaticMotion, share: float
) -> sparse.csr_array:
    """Derivative of the balance to (pose, eta) at constant velocities."""
    blocks = []
    for index, placed in enumerate(mechanism.bodies):
        begin, end = layout.velocity[index : index + 2]
        eta = motion.state.elastic[layout.elastic[index] : layout.elastic[index + 1]]
        data, nu, acceleration = placed.data, motion.state.velocity[begin:end], motion.acceleration[begin:end]
        block = stiffness_matrix(data, eta)
        if isinstance(data, FloatingBody):
            block[:, data.rigid_count :] += inertia_slope(data, eta, nu, acceleration)
        blocks.append(block)
    return sparse.csr_array(
        sparse.block_diag(blocks, "csr")
        - share * load_stiffness(mechanism, layout, motion.state)
        - constraint_stiffness(mechanism, layout, motion.state, motion.multipliers)
    )
