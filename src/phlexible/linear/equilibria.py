"""Equilibria and operating points: where a model rests, what it is linearized about (docs/theory.md, 7)."""

from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from math import ceil

import numpy as np
from scipy import sparse
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.blas_threads import one_blas_thread
from phlexible.algebra.rotations import cross_matrix, nearest_turns, rotation_vector_matrices
from phlexible.algebra.sparse import Matrix, SaddlePoint, natural_scale, sparse_diagonal
from phlexible.bodies.rigid_body import PointMass
from phlexible.description.interactions.functions import PiecesCoordinate
from phlexible.display import shortened
from phlexible.errors import EquilibriumError, ModelError, SingularMatrixError
from phlexible.linear.sticking import (
    BentBristles,
    PairsAtRest,
    RestEquations,
    Slips,
    StickingFriction,
    Tangents,
    copied_bristles,
    without_limits,
    without_losses,
)
from phlexible.state.branches import contacts_of
from phlexible.state.forces import (
    applied_forces,
    body_forces,
    element_state,
    gravity_and_load_forces,
    gravity_forces,
    gross_force,
    laws_after_flows,
    load_forces,
    load_stiffness,
    prescribed_forces,
    stiffness_matrix,
)
from phlexible.state.initial_pose import nearest_closed_pose
from phlexible.state.initial_velocity import (
    check_closure,
    check_drives,
    driven_coordinates,
    undeformed,
    with_initial_velocity,
)
from phlexible.state.instants import Instants, PrescribedMotions
from phlexible.state.layout import State
from phlexible.state.quasi_static import QuasiStaticMotion, acceleration_scale, quasi_static_motion
from phlexible.state.redundancy import check_redundancy, independent_rows, smallest_multipliers_at
from phlexible.state.small_motions import displaced, round_off_of_forces, size_of_motion
from phlexible.state.system import System, require_bodies
from phlexible.state.vectors import split_rigid
from phlexible.step.assembly.assembly import Assembly, assemble

# Static equilibria by steps of the model from rest to rest (docs/theory.md, 7).
#
# A step from rest without inertia ends as far beyond the equilibrium as it began before it, since its forces are
# means over it. Its middle is the equilibrium of these forces. Steps from rest to their middles, which become
# longer while motions become smaller, lead downhill first and converge like Newton's method in the end. A longer
# step that turns back, as steps beside an unstable equilibrium do, is taken again no longer than the one before it.

FIRST = 0.02
"""Motion of the first step by the forces alone, in lengths of the model."""
GROWTH, SHORTER = 3.0, 0.25
"""Factors on the size of the next step, after a smaller motion and after a step without solution."""
MOST_STEPS, PATIENCE, CREEPING = 1500, 30, 2e-9
"""Steps in all, and such in which forces that are small by this share become no smaller."""
LOST, ROUGH_MOTION = SHORTER**2, 0.1
"""Times the last step, and ``Stepper.least_motion`` where only shorter steps have solutions: updates of Newton's
method then are round-off of large forces and may stall at 1e-8 of it, in lengths of the model. Steps that are as
exact as before follow from where such ones find rest, while they have solutions."""
FAR_AWAY = 100.0
"""Way from the first pose, in lengths of the model, that nothing holds."""
LEAST = 1e-6
"""Times the first step: shorter ones lead nowhere."""
LONG = 30.0
"""Times the first step, in which a small motion means rest."""
FARTHEST, INTO = 0.3, 0.25
"""Motion in one step, in lengths of the model or rad, and over the least thickness of what is touched."""
SETTLED = 1e-9
"""Motion at rest, in lengths of the model or rad, where steps become smaller no more."""
DOWNHILL = 1e-6
"""Smallest motion in lengths of the model or rad that goes on downhill."""
CLOSED, MOST_CLOSINGS = 1e-13, 12
"""Relative gaps of joints that are round-off, and how often joints are closed after a step."""
OPEN, PART = 1e-9, 0.5
"""Relative gaps of open joints, and largest rotation by which functions of time move joints at once [rad]."""


class StepsToRest:
    """Search for a static equilibrium of a system by steps from rest that lead downhill.

    Args:
        friction: that sticks; what creeps is left out.
        state: a pose with closed joints.
        loose: tables in which friction that slips stays as it is.
    """

    def __init__(self, friction: StickingFriction, state: State, loose: dict[str, Array]) -> None:
        system, memory = friction.system, friction.equations.memory
        self._system, self._friction, self._rows = system, friction, independent_rows(system, state)
        numbers = without_losses(memory) | without_limits(memory) | copied_bristles(memory) | loose
        numbers["product_square"] = np.zeros_like(memory["product_square"])  # middles of steps are equilibria
        self._equations = friction.equations.with_tables(numbers)
        at = system.at(state)
        self._prescribed, self._mass = at.prescribed, system.small_mass(state, at)
        self._inertia = self._mass.diagonal() * self._equations.sizes
        self._has_history = bool(memory.counts["kept_pairs"] or memory.counts["pieces"])

    def equilibrium(self, state: State) -> State:
        """Search a static equilibrium near a ``state`` and return it as a state. Time steps start from rest; after
        each, velocities are set to zero, which leads downhill. Friction springs are deflected by the motion. Step
        lengths grow while accelerations shrink, and shrink after failed or too large steps; the search ends at
        round-off. Raise ``EquilibriumError`` if the bodies do not come to rest, or move far away.

        Raises:
            EquilibriumError: steps lead to none.
        """
        system, first_pose, fastest, least, since = self._system, state.position, np.inf, np.inf, 0
        relaxed = self._equations.relaxed(state)
        before = state = self._with_bristles(relaxed, self._joint_forces(relaxed))
        forces = np.abs(self._equations.forces(state))
        if not forces.any():
            return state
        loads = np.abs(gravity_and_load_forces(system, system.at(state)))
        first_rate, load_rate = (float((each / self._inertia).max()) for each in (forces, loads))
        stepper, is_polished = self._equations.stepper, False
        exact = stepper.least_motion
        size = before_size = first = np.sqrt(4 * FIRST / max(first_rate, load_rate))
        creeping, way = CREEPING * (load_rate or first_rate), np.zeros_like(forces)
        for _ in range(MOST_STEPS):
            self._equations.begin(state)
            if size < LEAST * first:
                break
            if not stepper.attempt(state.time, size):
                size *= SHORTER
                if size < LOST * before_size:
                    if is_polished:
                        return state
                    stepper.least_motion = ROUGH_MOTION
                continue
            change = size / 4 * self._equations.memory["velocity"]
            motion = max(size_of_motion(system, change), self._mean_displacement(change))
            if motion > self._farthest:
                size /= max(2.0, np.sqrt(motion / self._farthest))
                continue
            # Beyond a saddle from which the model falls, a longer step turns back and would climb it.
            if size > before_size and motion > DOWNHILL and change @ (self._mass @ way) < 0:
                size = before_size
                continue
            scaled, rate, since = motion * max(1.0, LONG * first / size) ** 2, motion / size**2, since + 1
            if rate < 0.5 * least:
                least, since = rate, 0
            is_creeping = rate < creeping and since > PATIENCE
            if is_creeping or (scaled < SETTLED and rate > 0.5 * fastest):  # round-off
                if stepper.least_motion == exact:
                    return before if rate > fastest else state
                stepper.least_motion, is_polished, fastest, least, since = exact, True, np.inf, np.inf, 0
                continue
            if (moved := self._after_motion(state, change)) is None:
                size *= SHORTER
                continue
            before, state, before_size, way = state, moved, size, change
            if not motion:
                return state
            if np.abs(state.position - first_pose).max() > FAR_AWAY * system.largest_length:
                break
            grows = rate < 1.1 * fastest and (scaled > SETTLED or size < LONG * first)
            fastest, size = rate, size * (GROWTH if grows else 1.0)
        laws = [force for _, force in system.forces]
        raise EquilibriumError(
            "no static equilibrium found near the given pose: bodies still move; nothing may hold the model against"
            " its loads, or the pose is far away (give state=)"
            + "; friction with bristle=0, which equilibria leave out, holds nothing"
            * any(force.friction is not None and force.friction.bristle is None for force in laws)
            + "; friction that sticks holds no more than it can: give more of it, or state= nearer to rest"
            * (bool(self._friction.count) or bool((self._equations.memory["contact_group_bristle"] > 0.0).any()))
            + "; what touches without friction slides off all that leans, as a box does that lies aside on another:"
            " give friction=, or hold it by a joint or spring"
            * (bool(contacts_of(system)) or any(force.contact is not None for force in laws))
        )

    def _after_motion(self, state: State, change: Array) -> State | None:
        """Return the state at rest after a small displacement ``change`` of the bodies, shape (velocities,), with
        closed joints and deflected friction springs. None if the joints cannot be closed. Joint multipliers of the
        last time step set the friction limits. In a model with stored contact pairs or tendons with friction, their
        history variables follow the motion; else history variables are unset.
        """
        multipliers = self._equations.stepper.last_reactions[0]
        if self._has_history:
            there = self._equations.relaxed(self._equations.moved(state, change))
        else:
            there = replace(displaced(self._system, state, change), branches=None)
        closed = with_closed_joints(self._equations.assembly, there, self._rows, self._mass, self._prescribed)
        return None if closed is None else self._with_bristles(closed, multipliers)

    def _mean_displacement(self, change: Array) -> float:
        """Return the root mean square displacement of all masses by a small motion ``change`` of the bodies,
        shape (velocities,), in lengths of the model. It counts deformations, as of a body whose frame is held."""
        mass = self._mass.diagonal()[self._system.layout.linear].sum() / self._system.dimension
        square = max(float(change @ (self._mass @ change)), 0.0)
        return np.sqrt(square / mass) / self._system.largest_length if mass else 0.0

    def _joint_forces(self, state: State) -> Array:
        """Return the Lagrange multipliers of the joints, shape (constraints,), with which the mechanism starts to
        accelerate from rest in a state. They solve one linear system of mass matrix and constraints; redundant
        constraints get zero."""
        multipliers = np.zeros(int(self._system.layout.multiplier[-1]))
        if len(self._rows):
            rows = self._system.rows.small_matrix(self._system.at(state, prescribed=self._prescribed))[self._rows]
            multipliers[self._rows] = -SaddlePoint(self._mass, rows).solve(self._equations.forces(state))[1]
        return multipliers

    def _with_bristles(self, state: State, multipliers: Array) -> State:
        """Return a state in which friction springs (bristles) are deflected by the displacement from the first
        pose, bounded by the friction limits. The limits depend on the joint ``multipliers``. Deflections and
        stiffness are also written into the arrays of the compiled time step."""
        known = replace(state, theta=self._equations.assembly.initial_thetas(state))
        return self._friction.write(self._friction.at(known, multipliers), self._equations.memory)

    @cached_property
    def _farthest(self) -> float:
        """Largest motion allowed in one time step of the search for an equilibrium, relative to the largest length
        of the model, or in rad. It is a constant or a fraction of the smallest thickness or radius of the contact
        shapes, if smaller, so that no body passes through another."""
        contacts, dimension = contacts_of(self._system), self._system.dimension
        members = [member for contact in contacts for member in contact.members(dimension)]
        sizes = [member.thickness if member.kind.is_solid else member.radius for member in members]
        least = min((size for size in sizes if size > 0), default=np.inf)
        return min(FARTHEST, INTO * least / self._system.largest_length)


def with_closed_joints(
    assembly: Assembly, state: State, rows: IntArray, mass: Matrix, prescribed: PrescribedMotions
) -> State | None:
    """Return the state near ``state`` in which all joints are closed, by Newton's method. Each correction is the
    smallest in the metric of the ``mass`` matrix, and solves the independent constraints with the indices
    ``rows``. Without ``rows`` the state itself is returned; None without convergence or for singular constraints.
    ``prescribed`` are values of prescribed motions. Angles of gears count full turns.

    Args:
        assembly: tables of the system.
        rows: independent rows of the joints.
        prescribed: values of the functions of time at the state's time, of ``system.at``.
    """
    if not len(rows):
        return state
    system = assembly.system
    with suppress(SingularMatrixError):  # joints repeat each other there
        for _ in range(MOST_CLOSINGS):
            at, theta = system.at(state, prescribed=prescribed), None
            if system.related:
                state = replace(state, theta=(theta := assembly.initial_thetas(state)))
            gap = system.row_values(at, None if theta is None else theta[None])[0]
            if system.relative_gaps(gap).max() < CLOSED:
                return state
            joints = SaddlePoint(mass, system.rows.small_matrix(at)[rows])
            motion = joints.solve(np.zeros(mass.shape[0]), -gap[rows])[0]
            if not np.isfinite(motion).all():
                break
            state = displaced(system, state, motion)
    return None


# What a model is linearized about: the given pose, a static equilibrium, a steady rotation.

GOAL = 1e-12  # of all forces: what is balanced anywhere
STEADY, DRIFT, ALLOWED = 1e-6, 1e-3, 1e-9  # of the accelerations and velocities of a rotation, and of its drift
BY_ROUND_OFF = 1e-13  # of the accelerations by all forces, which joints may carry
MOST_SLIDES, STOOD = 30, 1e-10
"""Equilibria with friction that slips, and their last change, in lengths of the model."""
BALANCED = 1e-5  # of the forces on a body; an angle of 1.5708 for pi / 2 leaves 4e-6
ROUND_OFFS = 100.0  # times ``round_off_of_forces``, of which a few are typical


class OperatingKind(StrEnum):
    """Kind of operating point about which a mechanism is linearized.

    GIVEN: the initial pose or a state, at rest, where gravity, loads and joints must balance. UNLOADED: the same
    pose without gravity, loads and preload. STATIC: the equilibrium that gravity, loads and joints have near it.
    STEADY_ROTATION: the rigid rotation of the initial velocities, with the deformation in balance with it.
    """

    GIVEN = "given"
    UNLOADED = "unloaded"
    STATIC = "static"
    STEADY_ROTATION = "steady_rotation"


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """Operating point of a linear model: state, joint forces, and friction that sticks there.

    Attributes:
        kind: kind of the operating point: which forces balance there.
        state: state at the point, with constant velocities and deta/dt = 0.
        multipliers: multipliers of the joints, shape (rows,); zero for ``UNLOADED``.
        friction: friction that sticks, with the pose from which its displacements count.
    """

    kind: OperatingKind
    state: State
    multipliers: Array
    friction: StickingFriction

    @cached_property
    def bristles(self) -> BentBristles:
        """Deflections, friction limits and forces of all friction springs (bristles) of force elements at this
        operating point."""
        return self.friction.at(self.state, self.multipliers)

    @cached_property
    def sticks(self) -> BoolArray:
        """Mask of the friction springs (bristles) of force elements that stick at this operating point, shape
        (bristles,). They act as springs in small motions about it. Unless the operating point is static, bristles
        that have slipped are left out."""
        sticks = self.friction.sticks(self.bristles, self.is_balanced)
        return sticks if self.kind is OperatingKind.STATIC else sticks & ~self.friction.has_slipped

    @cached_property
    def pair_tangents(self) -> Tangents:
        """Stiffness and damping matrices of the contact pairs at this operating point: friction of contacts between
        two surfaces, and all forces of contact groups."""
        return self._pairs.tangents(self.state, self.is_balanced)

    @cached_property
    def bristle_tangents(self) -> Tangents:
        """Stiffness and damping matrices, shape (velocities, velocities), of the friction springs (bristles) of
        force elements that stick at this operating point. They are zero if there are none."""
        if not self.friction.count:
            return Tangents.zero(len(self.state.velocity))
        return self.friction.tangents(self.bristles, self.sticks, self.is_balanced)

    @property
    def is_balanced(self) -> bool:
        """Whether gravity, loads and joint forces balance at this operating point at rest: True for the kinds GIVEN
        and STATIC, False for UNLOADED and STEADY_ROTATION."""
        return self.kind in (OperatingKind.GIVEN, OperatingKind.STATIC)

    @property
    def sticking_rows(self) -> list[tuple[int, float, Array]]:
        """Friction springs that stick at this operating point, each as a tuple: index of the force element,
        stiffness, and rows (k, velocities). Times a small motion, the rows give k deflections of a spring of this
        stiffness.
        """
        return self.friction.independent_rows(self.bristles, self.sticks)

    @property
    def slipped(self) -> tuple[str, ...]:
        """Names of the force elements and contacts whose friction is at its limit (slips) at this operating
        point."""
        lets_go = self.bristles.slips | ((self.kind is not OperatingKind.STATIC) & self.friction.has_slipped)
        known = np.flatnonzero(lets_go & (self.bristles.limits > 0))
        return (*(self.friction.names[own] for own in known), *self._pairs.slipped(self.state))

    @property
    def _pairs(self) -> PairsAtRest:
        return PairsAtRest(self.friction.equations, self.kind is not OperatingKind.STATIC)


def operating_point(
    system: System, kind: OperatingKind, state: State | None, time: float | None = None
) -> OperatingPoint:
    """Return the pose about which a mechanism is linearized, with its joint forces and sticking friction. By
    ``kind`` it is the given pose, the pose without loads, the static equilibrium near it, or a steady rotation.
    The search starts from ``state`` (None: the initial pose). For static equilibria, joints are first closed at
    ``time`` [s] (None: the state's). Raise ``ModelError`` for a state of another model.

    Raises:
        ModelError: no bodies, or a state of another model.
        JointGapError, RedundancyError: joints that are open, or constrain the same motion twice.
        EquilibriumError: forces that do not balance at the given pose, no static equilibrium, or a motion that is
            no steady rotation.
    """
    require_bodies(system)
    if not isinstance(state, State | None):
        raise ModelError(f"state must be a state of the model such as motion.recording.state(-1), got {state!r}")
    pose = undeformed(system) if state is None else state
    layout, assembly = system.layout, assemble(system) if kind is OperatingKind.STATIC else None
    if pose.velocity.shape != (layout.velocity[-1],) or pose.eta.shape != (layout.eta[-1],):
        raise ModelError("state must belong to the model: its numbers of velocities or coordinates differ")
    if assembly is not None and (time is not None or state is None):
        pose = _closed_at(assembly, pose, pose.time if time is None else time)
    elif state is None:
        check_drives(system, pose)
    check_closure(system, pose)
    if kind is OperatingKind.STEADY_ROTATION:
        return _steady_rotation(system, pose)
    equations = RestEquations(system, check_redundancy(system, pose), assembly)
    resting = replace(pose, velocity=np.zeros_like(pose.velocity), branches=None)  # relaxed
    if contacts_of(system) or any(force.coordinate.history_variable_count for _, force in system.forces):
        resting = equations.relaxed(pose)
    friction = StickingFriction.of(equations, pose)
    return _at_rest(friction, resting) if kind is OperatingKind.STATIC else _at_pose(kind, friction, resting)


def _closed_at(assembly: Assembly, pose: State, time: float) -> State:
    """Return a state near ``pose`` whose joints are closed at ``time`` [s]. Prescribed motions of joints and ground
    frames go from their values in the pose to those at ``time`` in small increments, and after each the nearest
    closed pose is computed, so that angles count full turns. If a joint without prescribed motion is open in
    ``pose``, only the time is changed.
    """
    system, there = assembly.system, replace(pose, time=time)
    at, last, columns = system.at(pose), system.at(there).prescribed, list(system.prescribed)
    first, gaps = at.prescribed, system.relative_gaps(system.rows.values(at)[0])
    if any(gaps[k] > OPEN and owner.joint not in columns for k, owner in enumerate(system.owners)):
        return there
    way = last.paths - first.paths
    turned = (first.frame_rotations.swapaxes(2, 3) @ last.frame_rotations).reshape(-1, 3, 3)
    turns = Rotation.from_matrix(turned).as_rotvec() if len(turned) else np.zeros((0, 3))
    angles = np.linalg.norm(turns, axis=1).tolist()
    for drive, coordinate, now in driven_coordinates(system, pose):
        if coordinate.is_angle:
            k = columns.index(drive)
            way[:, k] += nearest_turns(first.paths[:, k] - now, 0.0)
            if not assembly.memory.counts["forces"]:  # nothing counts full turns
                way[:, k] = nearest_turns(way[:, k], 0.0)
            angles.append(abs(way[0, k]))
    found, parts = there, max(1, ceil(max(angles, default=0.0) / PART))
    for left in np.arange(parts)[::-1] / parts:
        partly = last.at(slice(None))
        vars(partly)["paths"] = last.paths - left * way
        vars(partly)["frames"] = last.frames - left * (last.frames - first.frames)
        vars(partly)["frame_rotations"] = last.frame_rotations @ rotation_vector_matrices(-left * turns)
        closed = nearest_closed_pose(system, found, partly)
        found = replace(closed, theta=assembly.initial_thetas(closed))
    return found


def _at_pose(kind: OperatingKind, friction: StickingFriction, resting: State) -> OperatingPoint:
    """Return the pose ``resting`` unchanged as an operating point of the given ``kind``, with joint forces that
    balance gravity, loads, contacts and friction there. Joint forces come from a saddle-point system with the mass
    matrix; redundant constraints get the smallest ones. If ``kind`` is UNLOADED, or all forces are at most
    round-off, joint forces are zero. Raise ``EquilibriumError`` if joint forces cannot balance the rest.

    Raises:
        EquilibriumError: forces that do not balance, of a point with all forces.
    """
    system, pairs = friction.system, PairsAtRest(friction.equations)
    at, multipliers = system.at_rest(resting), np.zeros(int(system.layout.multiplier[-1]))
    unloaded = OperatingPoint(OperatingKind.UNLOADED, resting, multipliers, friction)
    if kind is OperatingKind.UNLOADED:
        return unloaded
    _check_guides(system, resting, at)
    pushes = pairs.forces(resting)
    gross = _gross_forces(system, resting, at) + abs(friction.at(resting, multipliers).forces) + abs(pushes)
    if not gross.any():
        return unloaded
    bodies = system.evaluate_bodies(resting, lambda own, eta: stiffness_matrix(system.bodies[own[0]].data, eta))
    stiffness = sparse.csr_array(sparse_diagonal(bodies) - load_stiffness(system, resting))
    round_off = ROUND_OFFS * round_off_of_forces(system, resting, stiffness)
    round_off += pairs.round_off(resting)
    if (gross <= round_off).all():
        return unloaded
    kept, mass = independent_rows(system, resting), system.mass(resting)
    rows = system.rows.matrix(at)[kept]
    saddle = SaddlePoint(mass, rows, scale=natural_scale(mass))
    applied = applied_forces(system, resting, at) - body_forces(system, resting) + pushes
    multipliers[kept] = -saddle.solve(applied)[1]  # on which friction may depend
    applied += friction.at(resting, multipliers).forces
    acceleration, pulls = saddle.solve(applied)
    multipliers[kept] = -pulls
    round_off += abs(rows.T) @ abs(saddle.solve(round_off)[1])  # which joints carry from body to body
    _check_balance(system, mass, mass @ acceleration, gross + abs(rows.T) @ abs(pulls), round_off)
    if len(kept) < len(multipliers):
        multipliers = smallest_multipliers_at(system, system.at(resting), multipliers)
    return OperatingPoint(kind, resting, multipliers, friction)


def _check_guides(system: System, state: State, at: Instants) -> None:
    """Raise ``EquilibriumError`` if a tendon with friction at its guides would slide through them at rest. Its
    tensions and friction limits follow from the friction state (``state.branches``) and the lengths between guides
    at the instant ``at``, the same pose. Other force elements are skipped. The message names the tendon.

    Raises:
        EquilibriumError: names the tendon.
    """
    for (element, _), force in zip(system.forces, laws_after_flows(system, state.branches), strict=True):
        coordinate = force.coordinate
        if isinstance(coordinate, PiecesCoordinate):
            if coordinate.slides(system.coordinate_functions(coordinate).values(at)[0]):
                raise EquilibriumError(
                    f"{element} would slide through its guides at rest, which equilibria do not follow; simulate"
                    " the model with dampers until it rests, and start from motion.recording.state(-1)"
                )


def _gross_forces(system: System, state: State, at: Instants) -> Array:
    """Return an upper estimate of the forces on each velocity component of a system in a state [N, N m], shape
    (velocities,). Absolute values of gravity, elastic forces, loads and force elements are added, so that opposite
    forces do not cancel. Residuals of equilibrium are judged relative to it. ``at`` is the same state with
    positions of points evaluated."""
    total = abs(gravity_forces(system)) + abs(body_forces(system, state, gross_force))
    for vectors, forces in load_forces(system, at):
        total += abs(vectors.jacobian(at).T) @ abs(forces).ravel()
    if system.forces:
        elements = element_state(system, at, state)
        prescribed = prescribed_forces(system, at)
        total += abs(elements.rows.T) @ abs(elements.forces(elements.theta, state.velocity, prescribed))
    return np.asarray(total)


def _check_balance(system: System, mass: sparse.csr_array, rest: Array, gross: Array, round_off: Array) -> None:
    """Raise ``EquilibriumError`` if unbalanced forces ``rest`` on a body of a system are not small compared with
    the absolute forces ``gross``, both (velocities,). Norms are weighted by the diagonal of the ``mass`` matrix,
    and ``round_off`` of the forces is subtracted first. A small share of the norm of all forces is also allowed.
    The message names the body with the largest share and its resultant [N, N m].

    Raises:
        EquilibriumError: names the body where their share is largest, and their resultant.
    """
    layout, weight, worst, share = system.layout, natural_scale(mass), 0, 0.0
    everywhere, beyond = GOAL * float(np.linalg.norm(weight * gross)), np.maximum(abs(rest) - round_off, 0.0)
    for index in range(len(system.bodies)):
        own = layout.span(index)
        left, size = (float(np.linalg.norm((weight * each)[own])) for each in (beyond, gross))
        if left > BALANCED * size + everywhere and left / max(size, left) > share:
            worst, share = index, left / max(size, left)
    if not share:
        return
    d, missing = system.dimension, []
    for each in (rest[layout.span(worst)], gross[layout.span(worst)]):
        if worst < layout.frames:
            parts = [each[:d], each[d : system.frames[worst].rigid_count]]
        else:
            parts = [system.nodal[worst - layout.frames].translations @ each.reshape(-1, d)]
        missing.append([float(np.linalg.norm(part)) for part in parts])
    amounts = [
        f"{size:.3g} {unit}"
        for size, whole, unit in zip(*missing, ("N", "N m"), strict=False)
        if size > BALANCED * whole
    ]
    what = " and ".join(amounts) or "forces that deform it"
    raise EquilibriumError(
        "gravity, loads and springs do not balance at the given pose:"
        f" {what} on {system.bodies[worst].name} stay without reaction"
        f' ({100 * share:.3g} % of the forces on it); take at="static" for the equilibrium near this pose'
        ' (equilibrium() shows it), or at="unloaded" for the pose without gravity, loads and preload'
    )


def _at_rest(friction: StickingFriction, resting: State) -> OperatingPoint:
    """Compute the static equilibrium of a mechanism near the pose ``resting`` and return it as an operating point.
    If a friction spring with static friction exceeds its limit there, the search is repeated with kinetic friction
    for it, until no further one slips. Raise ``EquilibriumError`` if none is found.

    Raises:
        EquilibriumError: none was found.
    """
    while True:
        rest = _settle_with_slip(friction, resting)
        point = replace(_at_pose(OperatingKind.STATIC, friction, rest), kind=OperatingKind.STATIC)
        if not friction.count:
            return point
        slips = point.bristles.slips & (point.bristles.limits > 0)
        lets_go, friction = (slips & friction.grips & ~friction.has_slipped).any(), friction.with_slip(slips)
        if not lets_go:
            return replace(point, state=point.bristles.state, friction=friction)


def _settle_with_slip(friction: StickingFriction, state: State) -> State:
    """Return the equilibrium near ``state`` with friction that is limited between surfaces in contact. Friction
    acts as a spring; where it exceeds its limit, a constant force of this size takes its place, in the direction of
    the spring. The search of an equilibrium is repeated after each such change, until there is none, or positions
    stay equal. Raise ``EquilibriumError`` after too many repetitions.

    Raises:
        EquilibriumError: none was found.
    """
    pairs, slips, before = PairsAtRest(friction.equations), Slips(), state
    for _ in range(MOST_SLIDES):
        begin, loose = pairs.with_constant_friction(state, slips)
        with one_blas_thread():
            rest = StepsToRest(friction, begin, loose).equilibrium(begin)
        found = pairs.slips_of_two(rest)
        if not (slips := slips | found):
            return rest
        state = pairs.with_friction_limits(rest, slips)
        if np.abs(rest.position - before.position).max() <= STOOD * friction.system.largest_length:
            return state
        before = rest
    raise EquilibriumError("no static equilibrium found near the given pose: contacts slip on and on")


def _steady_rotation(system: System, pose: State) -> OperatingPoint:
    motion = _without_drift(system, quasi_static_motion(system, with_initial_velocity(system, pose)))
    speed = np.abs(motion.state.velocity).max(initial=0.0)
    change, length = _change_in_body_axes(system, motion), system.largest_length
    steady = STEADY * max(speed, speed / length) * max(speed, speed / length, speed * length)
    if change > steady + BY_ROUND_OFF * max(1.0, length) * acceleration_scale(system, motion.state, motion.at):
        points = [own.name for own in system.bodies if isinstance(own.body, PointMass)]
        axes = "; a PointMass has no axes that turn: take a RigidBody with small inertia for "
        raise EquilibriumError(
            "the initial motion is no steady rotation: rigid velocities would change at "
            f"{change:.3g} m/s2 or rad/s2; give velocities of one rotation that joints and loads keep up"
            + (axes + shortened(points, 3) if points else "")
        )
    equations = RestEquations(system)
    if PairsAtRest(equations).forces(motion.state).any():
        raise EquilibriumError(
            'at="steady_rotation": bodies of a contact among many touch in the rotation, which is not linearized;'
            " give each pair that touches as a contact of two"
        )
    friction = StickingFriction.of(equations, motion.state)
    return OperatingPoint(OperatingKind.STEADY_ROTATION, motion.state, motion.multipliers, friction)


def _without_drift(system: System, motion: QuasiStaticMotion) -> QuasiStaticMotion:
    """Return a steadily rotating ``motion`` with the velocities of a rigid rotation of its deformed pose. Its own
    velocities are those prescribed for the undeformed pose; deformation has moved the centre of mass off the axis,
    and rod sections relative to each other. ``motion`` is returned unchanged if joints do not allow the correction,
    or if this exceeds 1e-3 of the largest velocity.
    """
    layout, velocity, count = system.layout, motion.state.velocity, system.layout.frames
    if not count:
        return motion
    linear, turning = _rigid_velocities(system, motion.state)
    rotation = np.cross(turning, motion.state.position[:count] - motion.state.position[0])
    rotation += (linear - rotation).mean(axis=0)
    if np.ptp(turning, axis=0).max() > STEADY * np.abs(turning).max():  # several rotations
        rotation = linear
    change = split_rigid(layout, motion.acceleration)[0][:count] - np.cross(turning, rotation)
    common = np.linalg.lstsq(-cross_matrix(turning).reshape(-1, 3), change.ravel(), rcond=ALLOWED)[0]
    drift, dimension = np.zeros_like(velocity), layout.linear.shape[1]
    drift[layout.linear] = common[:dimension]
    drift[layout.linear[:count]] += (linear - rotation)[:, :dimension]
    opened = np.abs(system.rows.matrix(motion.at) @ drift).max(initial=0.0)
    if opened > ALLOWED * np.abs(drift).max(initial=0.0) or np.abs(drift).max() > DRIFT * np.abs(velocity).max():
        return motion
    return replace(motion, state=replace(motion.state, velocity=velocity - drift))


def _rigid_velocities(system: System, state: State) -> tuple[Array, Array]:
    """Return the velocities [m/s] and angular velocities [rad/s] of the floating bodies in a state. Both are in
    world axes and have shape (f, 3) for f bodies."""
    linear, spin = split_rigid(system.layout, state.velocity)
    return linear[: system.layout.frames], np.einsum("fij,fj->fi", state.rotation, spin)


def _change_in_body_axes(system: System, motion: QuasiStaticMotion) -> float:
    """Return the largest rate at which a velocity component of a ``motion`` changes as seen in rotating body axes
    [m/s^2, rad/s^2]. It is zero for a steady rotation. From the linear accelerations of floating bodies, angular
    velocity x velocity is subtracted; elastic and nodal accelerations count as they are.
    """
    layout, change = system.layout, motion.acceleration.copy()
    linear, turning = _rigid_velocities(system, motion.state)
    change[layout.linear[: layout.frames]] -= np.cross(turning, linear)[:, : system.dimension]
    return float(np.abs(change).max(initial=0.0))
