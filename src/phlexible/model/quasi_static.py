"""The elastic deformation that a rigid motion, the joints and the loads keep up at t = 0.

Unknown are eta, the pose, the multipliers and the rigid accelerations. Demanded are all momentum
balances, closed joints (g = 0, d2g/dt2 = 0) with rigid velocities from the joints, deta/dt = 0 and
d2eta/dt2 = 0 (formulation, end of section 4). Where joints leave the pose free, it is the closest
to the given one in the metric of the rigid mass.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics import elastic_force, stiffness_matrix
from phlexible.bodies.mechanics import mass_matrix as mass_matrix_of
from phlexible.errors import ModelError
from phlexible.model.balance import inertia_forces, inertia_slope
from phlexible.model.closure import row_lengths
from phlexible.model.constraints import (
    constraint_acceleration,
    constraint_matrix,
    constraint_values,
    mass_matrix,
)
from phlexible.model.displacement import displaced
from phlexible.model.geometric_stiffness import constraint_stiffness, load_stiffness
from phlexible.model.initial_velocity import check_velocity, rigid_components, with_rigid_velocity
from phlexible.model.load_forces import applied_forces
from phlexible.model.mechanism import Mechanism
from phlexible.model.redundancy import check_redundancy
from phlexible.model.state import Layout, State

GOAL, ACCEPTED = 1e-13, 1e-10
ITERATIONS = 200
PATIENCE = 8
REGULARISATION = 1e-9


@dataclass(frozen=True, eq=False)
class QuasiStaticMotion:
    """A state and what keeps it up.

    Attributes:
        state: the deformed state with deta/dt = 0.
        acceleration: dnu/dt, zero for eta, shape (sum of velocity counts,).
        multipliers: shape (rows,).
        moved: pose change since the given pose (body axes), zero for eta, shape as acceleration.
        pose_multipliers: of the closest pose, shape (rows,).
    """

    state: State
    acceleration: Array
    multipliers: Array
    moved: Array
    pose_multipliers: Array


@dataclass(frozen=True, eq=False)
class _Residual:
    balance: Array
    acceleration: Array
    gap: Array
    pose: Array
    error: float


def quasi_static_state(mechanism: Mechanism, layout: Layout, state: State) -> State:
    """The state deformed so that d2eta/dt2 = 0; see ``quasi_static_motion``."""
    return quasi_static_motion(mechanism, layout, state).state


def quasi_static_motion(mechanism: Mechanism, layout: Layout, state: State) -> QuasiStaticMotion:
    """Newton's method from an undeformed state with closed joints.

    Raises:
        RedundancyError: joints whose forces are not unique.
        ModelError: it does not converge, for example because loads or rotation are beyond what the
            elastic forces hold.
        VelocityError: given velocities that contradict the joints of the deformed bodies.
    """
    check_redundancy(mechanism, state)
    count, rows = int(layout.velocity[-1]), int(layout.multiplier[-1])
    motion = QuasiStaticMotion(state, np.zeros(count), np.zeros(rows), np.zeros(count), np.zeros(rows))
    best, best_error, since = motion, np.inf, 0
    for _ in range(ITERATIONS):
        with np.errstate(all="ignore"):  # a diverging iteration is reported below
            residual = _residual(mechanism, layout, motion)
        if residual.error < best_error:
            best, best_error, since = motion, residual.error, 0
        else:
            since += 1
        is_round_off = best_error < ACCEPTED and since > 0
        if not np.isfinite(residual.error) or best_error < GOAL or is_round_off or since == PATIENCE:
            break
        with np.errstate(all="ignore"):
            motion = _improved(mechanism, layout, motion, residual)
    if not best_error < ACCEPTED:
        raise ModelError(
            f"no quasi-static deformation found: the momentum balances miss by {best_error:.2g} of the "
            "forces in them; loads or initial rotation may be more than the elastic forces can hold "
            '(try strain="von_karman", or start undeformed)'
        )
    check_velocity(mechanism, layout, best.state)
    return best


def _residual(mechanism: Mechanism, layout: Layout, motion: QuasiStaticMotion) -> _Residual:
    state = motion.state
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
    applied = applied_forces(mechanism, layout, state)
    constraint = matrix.T @ motion.multipliers
    balance = inertia + elastic - applied - constraint
    weight = 1 / np.sqrt(mass.diagonal())
    size = max(np.linalg.norm(weight * force) for force in (inertia, elastic, applied, constraint))
    row_weight = 1 / np.sqrt(matrix.multiply(matrix) @ weight**2 + np.finfo(float).tiny)
    change = constraint_acceleration(mechanism, layout, state)
    gap = constraint_values(mechanism, layout, state)
    moved_metric = mass @ motion.moved
    pose = np.where(rigid, moved_metric + matrix.T @ motion.pose_multipliers, 0.0)
    acceleration = matrix @ motion.acceleration + change
    error = max(
        _relative(np.linalg.norm(weight * balance), size),
        _relative(np.linalg.norm(row_weight * acceleration), size + np.linalg.norm(row_weight * change)),
        float(np.abs(gap / row_lengths(mechanism)).max(initial=0.0)),
    )
    return _Residual(balance, acceleration, gap, pose, error)


def _relative(error: np.floating[Any], scale: np.floating[Any]) -> float:
    return 0.0 if error == 0 else float(error / scale)


def _improved(
    mechanism: Mechanism, layout: Layout, motion: QuasiStaticMotion, residual: _Residual
) -> QuasiStaticMotion:
    state = motion.state
    rigid = np.flatnonzero(rigid_components(mechanism, layout))
    matrix = constraint_matrix(mechanism, layout, state)
    mass = mass_matrix(mechanism, state)
    held, mass_rigid = matrix[:, rigid], mass[rigid][:, rigid]
    # Unknowns: changes of (pose, eta), of the acceleration, the multipliers, the pose multipliers.
    entries = (mass_rigid.data, rigid[mass_rigid.indices], mass_rigid.indptr)
    pose_mass = sparse.csr_array(entries, (len(rigid), mass.shape[0]))
    metric = held.multiply(held) @ (1 / mass_rigid.diagonal()) + np.finfo(float).tiny
    jacobian = sparse.block_array(
        [
            [_stiffness(mechanism, layout, motion), mass[:, rigid], -matrix.T, None],
            [None, held, None, -REGULARISATION * sparse.diags_array(metric)],
            [matrix, None, None, None],
            [pose_mass, None, None, held.T],
        ],
        format="csc",
    )
    right = -np.concatenate([residual.balance, residual.acceleration, residual.gap, residual.pose[rigid]])
    step = splu(sparse.csc_matrix(jacobian)).solve(right)
    sizes = np.cumsum([mass.shape[0], len(rigid), matrix.shape[0]])
    change, faster, pull, pose_pull = np.split(step, sizes)
    acceleration, moved = motion.acceleration.copy(), motion.moved.copy()
    acceleration[rigid] += faster
    moved[rigid] += change[rigid]
    return QuasiStaticMotion(
        with_rigid_velocity(mechanism, layout, displaced(mechanism, layout, state, change)),
        acceleration,
        motion.multipliers + pull,
        moved,
        motion.pose_multipliers + pose_pull,
    )


def _stiffness(mechanism: Mechanism, layout: Layout, motion: QuasiStaticMotion) -> sparse.csr_array:
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
        - load_stiffness(mechanism, layout, motion.state)
        - constraint_stiffness(mechanism, layout, motion.state, motion.multipliers)
    )
