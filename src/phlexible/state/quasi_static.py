"""Elastic deformation in balance with a rigid motion, the joints and the loads at t = 0 (docs/theory.md, 6).

Unknown are eta, the pose, the multipliers and the rigid accelerations. A rod has those of one body, which turns
with its first section; the poses of its sections are what bends. Demanded are all momentum
balances, closed joints (g = 0, d2g/dt2 = 0) with rigid velocities from the joints, deta/dt = 0 and
d2eta/dt2 = 0 (6.8). Where joints leave the pose free, the material of no
body has moved or turned on average (``nearest_pose``), whatever floating frame describes it.

Newton's method with steps of limited length; where it fails loads, velocities and gravity are raised step by
step.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.sparse import Matrix, SaddlePoint, as_array, block_array, block_matrix, is_small
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.floating import rigid_motion_forces, rigid_motion_tangent
from phlexible.errors import ModelError, SingularMatrixError
from phlexible.state.forces import applied_forces, body_forces, load_stiffness, stiffness_matrix
from phlexible.state.initial_pose import rigid_moments
from phlexible.state.initial_velocity import check_velocity, rigid_velocity
from phlexible.state.instants import Instants, PrescribedMotions
from phlexible.state.layout import State
from phlexible.state.redundancy import independent_rows, smallest_multipliers_at
from phlexible.state.small_motions import displaced, round_off_of_forces, size_of_motion
from phlexible.state.system import System

GOAL, ACCEPTED, ROUND_OFF = 1e-13, 1e-10, 1e-12
NEAR = 1e-9  # where the matrix of the point before does as well,
LAST = 1e-14  # predicted errors below it are not looked at
FALLS = 1e-4  # as it does where the error fell to such a share of the one before
STIFF = 1e-6  # greatest error that round-off of positions may have, in what is far stiffer than it is heavy
ITERATIONS = 30
LONGEST = 0.5  # motion in one iteration, in lengths of the model or radians
SOFTENINGS = 4  # solutions with the same matrix
FIRST_SHARE, LEAST_SHARE = 0.25, 1 / 128  # by which loads are raised at a time
REGULARISATION = 1e-9

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class QuasiStaticMotion:
    """Rigid motion of a mechanism at one instant, with the elastic deformations that are in balance with loads and
    inertia.

    Attributes:
        state: the deformed state with deta/dt = 0.
        at: the same as an instant.
        acceleration: dnu/dt, zero for eta, shape (sum of velocity counts,).
        rigid: the rigid accelerations in it, shape (columns of ``RigidMotions``,).
        multipliers: shape (constraints,).
        pose_multipliers: of the closest pose, shape (constraints,).
    """

    state: State
    at: Instants
    acceleration: Array
    rigid: Array
    multipliers: Array
    pose_multipliers: Array


@dataclass(frozen=True, eq=False)
class RigidMotions:
    """Rigid motions of floating bodies, nodes and rods at a pose, a rod moving as one body: a basis of velocities.
    The centripetal accelerations of the sections of rotating rods are stored too.

    Attributes:
        indices: of rigid motions in nu, where there are no rods, shape (rigid motions,).
        basis: nu of each of them, shape (velocities, rigid motions); None: no rods.
        turning: dnu/dt of a rod's sections that comes from its rotation, w x (w x r), shape (velocities,).
        stiffness: derivative of the inertia of sections to their places, by which rods stiffen or soften, None: no
            rod; shape (velocities, velocities).
    """

    indices: IntArray
    basis: "Matrix | None"
    turning: Array
    stiffness: "Matrix | None"

    @classmethod
    def of(cls, system: System, state: State, rigid: Array | None = None) -> "RigidMotions":
        """Return the rigid motions of a system at a ``state``: velocities of each floating body, translations of
        each node, and motions of each rod as one rigid body. Centripetal accelerations of rod sections follow from
        the velocities of the state, their derivatives with respect to the pose also from the accelerations
        ``rigid`` along the motions (None: zero). Without rods the result does not depend on the state and is
        cached.

        Args:
            rigid: accelerations, for the stiffness; None: no such.
        """
        layout, d = system.layout, system.dimension
        size = int(layout.velocity[-1])
        if not system.mechanism.rods:
            return _single_motions(system)
        numbers = [[system.index[part] for part in rod.handle.parts] for rod in system.mechanism.rods]
        alone = layout.is_rigid.copy()
        for parts in numbers:
            for index in parts:
                alone[layout.span(index)] = False
        single = np.flatnonzero(alone)
        turning, entries = np.zeros(size), [(single, np.arange(len(single)), np.ones(len(single)))]
        slopes: list[tuple[IntArray, IntArray, Array]] = []
        column = len(single)
        for parts in numbers:
            axes = list(system.frames[parts[0]].rotation_axes)
            first = parts[0]
            spin = np.zeros(3)
            spin[axes] = state.velocity[layout.span(first)][d:]
            world = state.rotation[first] @ spin
            faster = np.zeros(3)
            if rigid is not None:
                faster[axes] = rigid[column + d : column + d + len(axes)]
            crossed = cross_matrix(world)
            slope = (crossed @ crossed + cross_matrix(faster))[:d, :d]
            for index in parts:
                begin = int(layout.velocity[index])
                arm = state.position[index] - state.position[first]
                block = np.zeros((d + len(axes), d + len(axes)))
                block[:d, :d] = np.eye(d)
                block[:d, d:] = -cross_matrix(arm)[:d, axes]
                block[d:, d:] = state.rotation[index].T[np.ix_(axes, axes)]
                entries.append(_block(begin, column, block))
                turning[begin : begin + d] = np.cross(world, np.cross(world, arm))[:d]
                push = system.frames[index].mass * slope
                slopes += [_block(begin, begin, push), _block(begin, int(layout.velocity[first]), -push)]
            column += d + len(axes)
        basis, stiffness = _matrix(entries, size, column), _matrix(slopes, size, size)
        return cls(single, basis, turning, stiffness)

    def columns(self, matrix: Matrix) -> Matrix:
        """Return ``matrix``, shape (k, velocities), times the rigid motions of bodies and undivided rods, shape
        (k, rigid motions). Without rods no product is computed: the columns of rigid and nodal velocities are
        selected."""
        return matrix[:, self.indices] if self.basis is None else matrix @ self.basis

    def components(self, forces: Array) -> Array:
        """Return the generalized force on each rigid motion of a body, node or rod (as one rigid body), shape
        (rigid motions,). It is the transposed basis of rigid motions times ``forces``, shape (velocities,);
        without rods the entries are selected."""
        return forces[self.indices] if self.basis is None else np.asarray(self.basis.T @ forces)

    def masses(self, mass: Matrix) -> Array:
        """Return the mass [kg] or moment of inertia [kg m^2] of each of these rigid motions, shape (rigid
        motions,). They are the diagonal of B^T M B, where M is the mass matrix ``mass`` of all bodies and the
        columns of B are the motions; products of inertia are left out. Each motion is one of a body, of a node, or
        of a rod, which counts as one rigid body.
        """
        if self.basis is None:
            return np.asarray(mass.diagonal()[self.indices])
        return np.asarray((self.basis.T @ (mass @ self.basis)).diagonal())

    def acceleration(self, rigid: Array) -> Array:
        """Return the accelerations of all bodies, shape (velocities,), from those along the rigid motions, shape
        (rigid motions,). Centripetal accelerations of the sections of rotating rods are added. Elastic
        accelerations are zero."""
        if self.basis is not None:
            return np.asarray(self.basis @ rigid + self.turning)
        result = self.turning.copy()
        result[self.indices] = rigid
        return result


@cached_on_owner
def _single_motions(system: System) -> RigidMotions:
    """Return the rigid motions (translations and rotations of bodies, translations of nodes) of a system without
    rods. They do not depend on the pose, and are cached with the system."""
    layout = system.layout
    return RigidMotions(np.flatnonzero(layout.is_rigid), None, np.zeros(int(layout.velocity[-1])), None)


def _block(row: int, column: int, values: Array) -> tuple[IntArray, IntArray, Array]:
    rows, columns = np.indices(values.shape)
    return row + rows.ravel(), column + columns.ravel(), values.ravel()


def _matrix(entries: list[tuple[IntArray, IntArray, Array]], rows: int, columns: int) -> Matrix:
    row, column, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    result = sparse.coo_array((values, (row, column)), (rows, columns)).tocsr()
    return result.toarray() if is_small(rows) else result


@dataclass(frozen=True, eq=False)
class _Problem:
    """Nonlinear problem of a quasi-static motion: start pose, independent constraints, and the fraction of loads
    and velocities that acts.
    """

    system: System
    start: State
    mass: Matrix
    """Mass matrix of the undeformed bodies, the metric of forces and motions, shape (velocities, velocities)."""
    rows: IntArray
    moving: PrescribedMotions
    factor: float
    rate: float
    """Square of the rate at which loads or velocities would carry the mechanism over its own length [1/s^2]."""
    stiffness: Matrix
    """Derivative of the balance at the pose of the last matrix, which bounds round-off too, (velocities,) * 2."""


@dataclass(frozen=True, eq=False)
class _Residual:
    balance: Array
    acceleration: Array
    gap: Array
    pose: Array
    error: float

    def right_side(self, problem: _Problem) -> Array:
        rows = problem.rows
        parts = [self.balance, self.pose, self.acceleration[rows], self.gap[rows]]
        return -np.concatenate(parts)


def quasi_static_motion(system: System, state: State, at: Instants | None = None) -> QuasiStaticMotion:
    """Return the deformed state and joint forces for which elastic forces, loads, gravity and the inertia of the
    initial rigid motion balance. Newton's method starts from an undeformed ``state`` with closed joints; if it
    fails, loads are raised in steps. Redundant joints get the smallest joint forces. Raise ``ModelError`` without
    a solution, ``VelocityError`` if velocities do not satisfy the joints of the deformed bodies.

    Args:
        at: the state as an instant, where the caller has it.

    Raises:
        ModelError: it does not converge, for example because loads or rotation are beyond what the
            elastic forces hold.
        VelocityError: given velocities that contradict the joints of the deformed bodies.
    """
    here = system.at(state) if at is None else at
    independent, rate = independent_rows(system, state, here), acceleration_scale(system, state, here)
    rows = int(system.layout.multiplier[-1])
    motions = RigidMotions.of(system, state)
    rigid = np.zeros(len(motions.indices) if motions.basis is None else motions.basis.shape[1])
    start = QuasiStaticMotion(state, here, motions.turning, rigid, np.zeros(rows), np.zeros(rows))
    stiffness = _stiffness(system, start, 1.0)
    mass = system.small_mass(state, here)
    problem = _Problem(system, state, mass, independent, here.prescribed, 1.0, rate, stiffness)
    with np.errstate(all="ignore"):  # a diverging iteration is reported below
        found, error = _iterate(problem, start)
        if not error < ACCEPTED:

            def solution(factor: float, last: QuasiStaticMotion) -> QuasiStaticMotion | None:
                part = replace(problem, factor=factor)
                there, missed = _iterate(part, _with_velocity(part, last))
                return there if missed < ACCEPTED else None

            factor, found = largest_load_factor(solution, start)
            if factor < 1.0:
                raise _no_solution_error(problem, found, factor, error)
    check_velocity(system, found.state, is_deformed=True, at=found.at)
    if len(problem.rows) < rows:
        smallest = smallest_multipliers_at(system, found.at, found.multipliers)
        found = replace(found, multipliers=smallest)
    return found


def largest_load_factor(solution: Callable[[float, T], T | None], start: T) -> tuple[float, T]:
    """Return the largest fraction of the loads, at most 1, for which a solution is found, and this solution. The
    fraction is raised in steps from 0, where ``start`` is the solution. ``solution`` is called with a fraction and
    the last solution; if it returns None, the step is halved, down to a least step.

    Args:
        solution: of a fraction, near another solution; None: not found.
        start: without loads.
    """
    share, step, found = 0.0, FIRST_SHARE, start
    while share < 1.0 and step >= LEAST_SHARE:
        aim = min(1.0, share + step)
        if (there := solution(aim, found)) is None:
            step /= 2
        else:
            share, found = aim, there
    return share, found


def _no_solution_error(problem: _Problem, motion: QuasiStaticMotion, factor: float, error: float) -> ModelError:
    """Return the exception for a quasi-static ``problem`` that has no solution; it is not raised here. Its
    message has the load ``factor`` (0 to 1) up to which a solution ``motion`` was found, the body that is
    softest there, and the relative ``error`` of the force balances. If the softest body cannot be computed, "a
    body" is written."""
    softest = "a body"
    with suppress(SingularMatrixError, np.linalg.LinAlgError, ValueError):
        softest = _softest_body_name(replace(problem, factor=factor), motion)
    if factor:
        what = (
            f"the bodies hold up to {factor:.0%} of the loads, weight and initial velocities, and there {softest}"
            " gives way most easily; take smaller ones, make it stiffer or give it damping and time to swing down"
        )
    else:
        what = (
            f"even small shares of the loads, weight and initial velocities are not held, and {softest} gives way"
            " most easily (what is slack, or balanced on a point, holds nothing); support it, or pull it taut"
        )
    return ModelError(
        f'no quasi-static deformation found: {what}; or start undeformed, initial="undeformed"'
        f" (the momentum balances miss by {error:.2g} of the forces in them)"
    )


def _softest_body_name(problem: _Problem, motion: QuasiStaticMotion) -> str:
    """Return the name of the body that moves most in the softest motion of the linearized quasi-static problem at
    ``motion``, for an error message. The softest motion is estimated by a few inverse iterations from a fixed
    random vector. Each body is measured by the root of its sum of mass (diagonal) times squared acceleration
    unknowns."""
    system = problem.system
    solve = _solver(problem, motion)
    count = len(motion.acceleration)
    change = np.random.default_rng(0).normal(size=count + len(problem.rows) * 2 + len(motion.rigid))
    for _ in range(SOFTENINGS):
        change = solve(change)
        change /= np.linalg.norm(change)
    moved = np.sqrt(problem.mass.diagonal()) * change[:count]
    sizes = [np.linalg.norm(moved[system.layout.span(index)]) for index in range(len(system.bodies))]
    return system.bodies[int(np.argmax(sizes))].name


def _iterate(problem: _Problem, motion: QuasiStaticMotion) -> tuple[QuasiStaticMotion, float]:
    """Return the quasi-static motion (pose, accelerations, multipliers) with the least error that Newton's method
    with bounded steps finds, and its relative error. The error is returned as 0 if only round-off of positions is
    left. The LU factors are used again while the error falls fast. Near the solution, the error after the last
    step is extrapolated, not evaluated; no convergence raises no exception.

    Args:
        problem: what is solved.
        motion: where it begins, with velocities of its pose.
    """
    system, residual = problem.system, _residual(problem, motion)
    best, best_error, since, is_settled = motion, residual.error, 0, False
    before = residual.error
    weight, allowed = np.sqrt(problem.mass.diagonal()), ROUND_OFF * _motion_scale(system)
    solve: Callable[[Array], Array] | None = None
    for _ in range(ITERATIONS):
        if not np.isfinite(residual.error) or best_error < GOAL:
            break
        fall, before = residual.error / before, residual.error
        if solve is None or (residual.error > NEAR and fall > FALLS):
            if motion.state is not problem.start:  # at the start the stiffness is known
                problem = replace(problem, stiffness=_stiffness(system, motion, problem.factor))
            try:
                solve = _solver(problem, motion)
            except (SingularMatrixError, np.linalg.LinAlgError):
                break
        step = solve(residual.right_side(problem))
        if fall * residual.error < LAST and fall < FALLS and residual.error < NEAR:
            return _advance(problem, motion, step), fall * residual.error
        change = step[: len(weight)]
        if motion is best:
            is_settled = best_error < STIFF and bool(np.linalg.norm(weight * change) < allowed)
        motion = _advance(problem, motion, min(1.0, LONGEST / max(size_of_motion(system, change), 1e-300)) * step)
        residual, since = _residual(problem, motion), since + 1
        if residual.error < best_error:
            best, best_error, since = motion, residual.error, 0
        elif is_settled or best_error < ACCEPTED:  # round-off
            break
    return best, 0.0 if is_settled else best_error


def _residual(problem: _Problem, motion: QuasiStaticMotion) -> _Residual:
    system, state, at = problem.system, motion.state, motion.at
    mass, matrix = problem.mass, system.rows.small_matrix(at)
    motions = RigidMotions.of(system, state)
    inertia, elastic = np.zeros(len(motion.acceleration)), body_forces(system, state)
    for index, placed in enumerate(system.bodies):
        own, eta = system.layout.span(index), system.elastic(state, index)
        nu, acceleration = state.velocity[own], motion.acceleration[own]
        if isinstance(placed.data, AbsoluteBody):
            inertia[own] = system.body_mass(state, index) @ acceleration
        else:
            inertia[own] = rigid_motion_forces(system.frames[index], eta, nu, acceleration)
    loads, elements = _load_factors(system, problem.factor)
    applied = elements * applied_forces(system, state, at, loads)
    constraint = matrix.T @ motion.multipliers
    balance = inertia + elastic - applied - constraint
    weight = 1 / np.sqrt(mass.diagonal())
    size = max(np.linalg.norm(weight * force) for force in (inertia, elastic, applied, constraint))
    round_off = round_off_of_forces(system, state, problem.stiffness)
    size = max(size, np.linalg.norm(weight * round_off) / ACCEPTED)
    row_weight = 1 / np.sqrt(matrix**2 @ weight**2 + np.finfo(float).tiny)
    change, gap = system.rows.accelerations(at)[0], system.rows.values(at)[0]
    moments = rigid_moments(system, state, problem.start)
    pose = motions.components(moments + matrix.T @ motion.pose_multipliers)
    pose_weight = 1 / np.sqrt(motions.masses(mass))
    acceleration = matrix @ motion.acceleration + change
    error = max(
        _relative(np.linalg.norm(weight * balance), size),
        _relative(np.linalg.norm(row_weight * acceleration), size + np.linalg.norm(row_weight * change)),
        float(system.relative_gaps(gap).max(initial=0.0)),
        float(np.linalg.norm(pose_weight * pose) / _motion_scale(system)),
    )
    return _Residual(balance, acceleration, gap, pose, error)


def _load_factors(system: System, factor: float) -> tuple[float, float]:
    """Return two factors for the fraction ``factor`` of the loading: of the loads alone, and of loads and force
    elements together. In a system with rods they are (factor, 1), so that elements, which may hold rods, act fully;
    else (1, factor).

    Elements that hold rods count fully; other elements are raised with the loads, since a law of theirs may be
    what acts.
    """
    return (factor, 1.0) if system.mechanism.rods else (1.0, factor)


def _motion_scale(system: System) -> float:
    """Return the largest length of a ``system`` times the square root of the mass of all bodies [m kg^0.5]. In the
    metric of kinetic energy it is the size of a translation of all bodies by that length, a scale of errors."""
    return float(system.largest_length * np.sqrt(sum(placed.data.mass for placed in system.bodies)))


def _with_velocity(problem: _Problem, motion: QuasiStaticMotion) -> QuasiStaticMotion:
    """Return a copy of a quasi-static ``motion`` with the rigid velocities that joints and user prescribe at its
    present pose, and accelerations to match. The velocities are multiplied by the square root of the present
    fraction of the loads, since centrifugal forces grow with the square."""
    velocity = np.sqrt(problem.factor) * rigid_velocity(problem.system, motion.state, motion.at)
    state = replace(motion.state, velocity=velocity)
    acceleration = RigidMotions.of(problem.system, state).acceleration(motion.rigid)
    return replace(motion, state=state, at=motion.at.moving(velocity[None]), acceleration=acceleration)


def _advance(problem: _Problem, motion: QuasiStaticMotion, step: Array) -> QuasiStaticMotion:
    """Return the quasi-static motion after one Newton step from ``motion``, which is unchanged. ``step``
    concatenates changes of the pose, of the accelerations along the rigid motions, of multipliers that close the
    joints, and minus the changes of the joint forces; multipliers are those of the independent constraints only.
    Velocities are computed anew at the changed pose.
    """
    moved, last = len(motion.acceleration), len(step) - len(problem.rows)
    middle = moved + len(motion.rigid)
    change, faster, pose_pull, pull = step[:moved], step[moved:middle], step[middle:last], step[last:]
    multipliers, pose_multipliers = motion.multipliers.copy(), motion.pose_multipliers.copy()
    multipliers[problem.rows] -= pull
    pose_multipliers[problem.rows] += pose_pull
    state = displaced(problem.system, motion.state, change)
    at = problem.system.at(state, prescribed=problem.moving)
    rigid = motion.rigid + faster
    there = QuasiStaticMotion(state, at, motion.acceleration, rigid, multipliers, pose_multipliers)
    return _with_velocity(problem, there)


def _solver(problem: _Problem, motion: QuasiStaticMotion) -> Callable[[Array], Array]:
    """Return a function that solves the quasi-static equations, linearized at ``motion``, for a right side, shape
    (n,). It uses the factors of a slightly regularized saddle point matrix. The solution concatenates changes of
    the pose, of the accelerations along the rigid motions, of multipliers that close the joints, and of joint
    forces with opposite sign, shape (n,).

    Args:
        problem: what is solved, with the stiffness there.
        motion: where.

    Raises:
        SingularMatrixError: no single step leads on.
    """
    system, state, at = problem.system, motion.state, motion.at
    matrix = system.rows.small_matrix(at)[problem.rows]
    mass = system.small_mass(state, at)
    motions = RigidMotions.of(system, state, motion.rigid)
    held, moved = motions.columns(matrix), motions.columns(mass)
    stiffness = problem.stiffness if motions.stiffness is None else problem.stiffness + motions.stiffness
    softness = held**2 @ (1 / motions.masses(mass))
    metric = REGULARISATION * problem.rate * softness + np.finfo(float).tiny
    balances = block_array([[stiffness, moved], [moved.T, None]])
    rows = block_array([[None, held], [matrix, None]])
    whole, size = SaddlePoint(balances, rows, np.concatenate([metric, np.zeros(len(metric))])), balances.shape[0]
    return lambda right: np.concatenate(whole.solve(right[:size], right[size:]))


def acceleration_scale(system: System, state: State, at: Instants) -> float:
    """Return a scale of the equations of a quasi-static problem [1/s^2]. It is the size of the applied forces
    plus the square of the velocity, both in the mass metric and relative to the mechanism's length; 1 if both
    are zero."""
    root = np.sqrt(system.small_mass(state, at).diagonal())
    pull, motion = np.linalg.norm(applied_forces(system, state, at) / root), np.linalg.norm(root * state.velocity)
    extent = _motion_scale(system)
    return float(pull / extent + (motion / extent) ** 2) or 1.0


def _relative(error: np.floating[Any], scale: np.floating[Any]) -> float:
    return 0.0 if error == 0 else float(error / scale)


def _stiffness(system: System, motion: QuasiStaticMotion, factor: float) -> Matrix:
    """Return the derivative of the force balance of all bodies with respect to the pose at a quasi-static
    ``motion``, shape (velocities, velocities). The balance is elastic plus inertial forces minus applied and
    constraint forces. Velocities, accelerations and multipliers are held constant. Applied forces count with the
    fraction ``factor`` (0 to 1) of the loads."""
    blocks, state = [], motion.state
    for index, placed in enumerate(system.bodies):
        own, eta = system.layout.span(index), system.elastic(state, index)
        block = stiffness_matrix(placed.data, eta)
        if not isinstance(placed.data, AbsoluteBody):
            slope = rigid_motion_tangent(system.frames[index], eta, state.velocity[own], motion.acceleration[own])
            if slope.any():
                block = as_array(block)
                block[:, placed.data.rigid_count :] += slope
        blocks.append(block)
    result = block_matrix(blocks, int(system.layout.velocity[-1]))
    if system.loads or system.forces:
        loads, elements = _load_factors(system, factor)
        result = result - elements * load_stiffness(system, state, loads)
    return result - system.rows.stiffness(motion.at, motion.multipliers)
