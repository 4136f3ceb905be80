"""Nearest pose at which joints close, from an approximate one, and the nearest velocities there."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.sparse import lu_factors, nearest_point, smallest_solution, sparse_diagonal
from phlexible.bodies.absolute_body import InitialNodes
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import moment_products
from phlexible.bodies.string import String
from phlexible.description.interactions.functions import receive
from phlexible.description.interactions.rod_element import KEPT
from phlexible.description.joints.joint import Joint
from phlexible.description.mechanism.mechanism import Mechanism, copy_parts
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import JointGapError
from phlexible.state.initial_velocity import (
    check_drives,
    described_gap,
    reference_velocity,
    undeformed,
    with_rigid_velocity,
)
from phlexible.state.instants import PrescribedMotions
from phlexible.state.layout import State
from phlexible.state.small_motions import displaced
from phlexible.state.system import System

# How far material has moved since a start pose: what the nearest pose has least of (docs/theory.md, 6).
#
# The displacement of a material point is ``x_c + R u - (x_c0 + R_0 u_0)`` with u = Psi xi about the centre of mass.
# Its first moments against the rigid motions of a body, ``int rho d`` and ``int rho u x d`` in body axes,
# depend on where the material is and not on which floating frame describes it. Those against the motions of the
# nodes of a string are ``int rho N_a d``.


def rigid_moments(system: System, state: State, start: State) -> Array:
    """Return mass-weighted displacements of all bodies from the pose ``start`` to ``state``, shape (velocities,).
    For undeformed bodies they are half the gradient of ``squared_distance`` with respect to small motions of
    ``state``. For a floating body: mass times displacement of the centre of mass in world axes [kg m], then the
    moment of the displacements about it in body axes of ``state`` [kg m^2]; elastic entries are zero. For a body
    with nodes: mass matrix times change of the nodal coordinates.

    They are ``int rho d`` and ``int rho u x d``, zero for elastic coordinates. Their derivative with respect to
    small motions is M(eta), at the start pose exactly.
    """
    layout = system.layout
    moments = np.zeros(int(layout.velocity[-1]))
    for index, data in enumerate(system.frames):
        now, before = (np.concatenate([[1.0], system.elastic(s, index)]) for s in (state, start))
        turn = state.rotation[index].T @ start.rotation[index]
        linear = data.mass * (state.position[index] - start.position[index])
        spread = moment_products(data, before) @ now @ turn.T
        angular = -np.array([spread[a, b] - spread[b, a] for a, b in ((1, 2), (2, 0), (0, 1))])
        begin, end = int(layout.velocity[index]), int(layout.velocity[index]) + data.rigid_count
        moments[begin:end] = np.concatenate([linear[: data.dimension], angular[list(data.rotation_axes)]])
    for index in range(layout.frames, len(system.bodies)):
        moved = system.elastic(state, index) - system.elastic(start, index)
        moments[layout.span(index)] = system.body_mass(state, index) @ moved
    return moments


def squared_distance(system: System, state: State, start: State, factors: Array) -> float:
    """Return the weighted squared distance of two poses of a system, ``state`` and ``start`` [kg m^2]. It is
    density times squared displacement, integrated over each body, times a factor of the body, and added up.
    Floating bodies count as undeformed; for bodies with nodes it is the quadratic form of the mass matrix.
    ``factors``, shape (velocities,), repeat the factor of each body for all its velocities.

    Args:
        factors: weights, each repeated in all places of its body in nu, shape (velocities,).
    """
    layout, total = system.layout, 0.0
    for index, placed in enumerate(system.bodies):
        if index < layout.frames:
            spread = system.frames[index].undeformed_spread
            turn = state.rotation[index].T @ start.rotation[index]
            way = state.position[index] - start.position[index]
            square = placed.data.mass * (way @ way) + 2 * np.trace(spread - turn @ spread)
        else:
            moved = system.elastic(state, index) - system.elastic(start, index)
            square = moved @ (system.body_mass(state, index) @ moved)
        total += float(factors[layout.velocity[index]] * square)
    return total


# A model again with its bodies at other initial poses; axes of joints turn with the bodies they are in.

ModelType = TypeVar("ModelType", bound=Mechanism)


def moved_model(model: ModelType, system: System, state: State) -> ModelType:
    """Return a copy of a model whose bodies are at the positions and rotations of a ``state``, with joint axes
    rotated with the bodies. Initial velocities that the user prescribed are replaced by velocities of the state;
    others stay unset. Floating bodies are undeformed in the copy; strings and soft bodies get the nodal positions.
    The model itself is unchanged."""
    copy = type(model)(gravity=model.gravity, dimension=model.dimension)
    copy.ground = model.ground
    for index, placed in enumerate(model.bodies):
        if placed.nodes is not None:
            _add_nodal(copy, placed, placed.nodes, system, state, index)
            continue
        rotation = state.rotation[index]
        velocity, spin = reference_velocity(system, state, index)
        copy.add(
            placed.body,
            placed.name,
            state.position[index] - rotation @ system.centres[index][:, 0],
            rotation,
            None if placed.velocity is None else velocity,
            None if placed.angular_velocity is None else spin,
        )
    turns = {
        placed.name: state.rotation[index] @ placed.rotation.T if placed.nodes is None else np.eye(3)
        for index, placed in enumerate(model.bodies)
    }
    copy_parts(model, copy, lambda joint: _rotated(joint, turns))
    return copy


def _add_nodal(
    copy: Mechanism, placed: PlacedBody, nodes: InitialNodes, system: System, state: State, index: int
) -> None:
    """Add the body ``placed``, a string or soft body with number ``index``, to the model ``copy`` with the nodal
    positions of ``state``. If a string's nodes did not move, its original shape is used; else shape and velocity
    functions interpolate between the nodes. Velocities are copied from the state only if the user prescribed
    initial velocities."""
    d = system.dimension
    positions = state.position[system.layout.carrier[index] : system.layout.carrier[index + 1]]
    speeds = np.zeros_like(positions)
    speeds[:, :d] = state.velocity[system.layout.span(index)].reshape(-1, d)
    if not isinstance(placed.body, String):
        velocity = None if nodes.velocities is None else speeds
        copy.add(placed.body, placed.name, velocity=velocity, shape=positions)
        return
    s, speed = placed.body.mesh.nodes, nodes.speed
    if nodes.velocities is not None and not np.array_equal(speeds, nodes.velocities):
        speed = _interpolant(s, speeds)
    if np.array_equal(positions, nodes.positions):
        copy.add(placed.body, placed.name, placed.position, placed.rotation, speed, shape=nodes.shape)
    else:
        copy.add(placed.body, placed.name, velocity=speed, shape=_interpolant(s, positions))


def _interpolant(nodes: Array, values: Array) -> Callable[[float], Array]:
    """Return the piecewise linear function of a parameter s that has the given values, shape (nodes, 3), at the
    given ascending nodes s, shape (nodes,). It takes one s and returns an array (3,); outside the nodes it is
    constant."""
    return lambda s: np.array([np.interp(s, nodes, column) for column in values.T])


def _rotated(joint: Joint, turns: dict[str, Array]) -> Joint:
    """Return a copy of a joint whose axes, in initial world axes, are rotated with the bodies: ``axis`` and
    ``along`` with the first body, ``second_axis`` with the second. ``turns`` maps body names to rotation matrices;
    other bodies do not rotate. A joint without such axes is returned itself."""
    fields = {field.name for field in dataclasses.fields(joint)}
    changes: dict[str, Any] = {
        name: _turn(port, turns) @ np.asarray(getattr(joint, name), dtype=np.float64)
        for name, port in (("axis", joint.first), ("along", joint.first), ("second_axis", joint.second))
        if name in fields
    }
    if not changes:
        return joint
    receive(joint, joint.first, joint.second)  # the turned one takes its place
    return dataclasses.replace(joint, **changes)


def _turn(port: Port, turns: dict[str, Array]) -> Array:
    return turns[port.placed.name] if isinstance(port, Attachment) else np.eye(3)


# Bodies move as rigid, undeformed ones; the displacement of a string is linear along it between its ends and
# the nodes that joints hold, so that it is stretched evenly and keeps its curve. Rods keep their strains
# where joints close then, too; else their sections move one by one. Nearest is least
# ``sum weight int rho |d|^2`` over the displacements d of all material. First a Levenberg-Marquardt iteration
# on the gaps closes the joints or finds where they come closest; then a descent along the closed poses leads
# to the nearest one.

CLOSED, CLOSE = 1e-12, 1e-4
ITERATIONS, DESCENTS, CLOSINGS = 200, 200, 5
SHARES, MEMORY = (1 / 64, 4.0), 4  # of the way down in one step; distances that are not to grow
LONGEST_TURN = 0.5  # of a body in one iteration [rad]
LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e8
RIGID = 1e-3  # strains of rods that move as wholes differ by a thousandfold of gaps
NOTHING = 1e-12  # of the given velocities


@dataclass(frozen=True, eq=False)
class AssembledPose:
    """Result of the assembly of a model: a pose with closed joints, with the gaps before and after.

    Attributes:
        state: undeformed, with the nearest velocities that joints and drives allow.
        gap_before: largest relative gap at the start pose (``System.relative_gaps``).
        gap_after: largest relative gap at the new pose.
    """

    state: State
    gap_before: float
    gap_after: float


def assembled_pose(system: System, fixed: frozenset[str], weights: Mapping[str, float]) -> AssembledPose:
    """Return the pose at t = 0 that is nearest to the user's approximate pose and at which all joints of a system
    close. It has velocities that satisfy the joints. Bodies named in ``fixed`` do not move, others only rigidly
    (strings bend). Nearest means least squared displacement, integrated over the mass times factors ``weights`` by
    body name (1 if missing). Raise ``JointGapError`` if joints cannot close.

    Args:
        system: bodies at approximate poses.
        fixed: names of bodies that do not move.
        weights: weight of each named body, 1 for the others; a body with a large one moves little.

    Raises:
        JointGapError: the joints cannot close near the given poses; with the smallest gaps found. Or a drive
            starts its angle elsewhere than at zero.
    """
    start = undeformed(system)
    check_drives(system, start, only_angles=True)
    factors = np.ones(int(system.layout.velocity[-1]))
    for index, placed in enumerate(system.bodies):
        factors[system.layout.span(index)] = weights.get(placed.name, 1.0)
    free = _PoseProblem(system, start, _allowed_motions(system, start, fixed), factors)
    problem = replace(free, rods=_Rods(system, start)) if system.rod_strains.count else free
    before = free.largest_gap(start)
    state = _descend_to_nearest_pose(problem, _close_joints(problem)) if before > CLOSED else start
    if problem is not free and problem.largest_gap(state) > CLOSED:
        problem = free
        state = _descend_to_nearest_pose(problem, _close_joints(problem))
    after = free.largest_gap(state)
    if after > CLOSED:
        gaps = free.gaps(state)
        worst = int(np.argmax(system.relative_gaps(gaps)))
        owner = system.owners[worst]
        raise JointGapError(
            f"the joints cannot close near the given poses: where they come closest, {owner.joint}"
            f" ({owner.row.label}) is open by {described_gap(owner, float(gaps[worst]))};"
            " check lengths of bodies, places and axes of joints, and which bodies are fixed"
        )
    motions = sparse.csr_array(sparse.hstack([problem.motions, _rotations(problem, state)], "csr"))
    moving = _with_nearest_velocity(replace(problem, motions=motions), state)
    return AssembledPose(moving, before, after)


def nearest_closed_pose(system: System, state: State, prescribed: PrescribedMotions) -> State:
    """Return a state whose joints are closed by rigid motions of bodies and rods, starting from ``state``. Then a
    few Newton iterations let bodies deform too, if joints are still open. Remaining gaps raise no error; a
    ``state`` without gaps is returned itself. Ground frames and drives are as ``prescribed``."""
    count = int(system.layout.velocity[-1])
    every = sparse.csr_array(sparse.eye_array(count))
    whole = _PoseProblem(system, state, every, np.ones(count), None, prescribed)
    if not whole.largest_gap(state):
        return state
    rods = _Rods(system, state) if system.rod_strains.count else None
    problem = replace(whole, motions=_allowed_motions(system, state, frozenset()), rods=rods)
    return _close_joints_by_newton(whole, _close_joints(problem), 0.0)


class _Rods:
    """Strains of rods relative to their values in a start pose, as residuals that are zero while rods keep their
    shape. Curvatures are made dimensionless by a body length.
    """

    def __init__(self, system: System, start: State) -> None:
        self._system, dimension = system, system.dimension
        is_curvature = np.arange(system.rod_strains.count) % len(KEPT[dimension]) >= dimension
        self._scale = np.where(is_curvature, system.body_length, 1.0)
        self._natural = system.rod_strains.values(system.at(start))[0]

    def changes(self, state: State) -> Array:
        strains = self._system.rod_strains.values(self._system.at(state))[0]
        return np.asarray(self._scale * (strains - self._natural))

    def matrix(self, state: State) -> sparse.csr_array:
        matrix = self._system.rod_strains.matrix(self._system.at(state))
        return sparse.csr_array(sparse.diags_array(self._scale) @ matrix)


@dataclass(frozen=True, eq=False)
class _PoseProblem:
    """Optimization problem of the pose with closed joints that is nearest to the pose ``start``.

    Bodies start at ``start`` and move along the columns of ``motions``, shape (velocities, motions), with weights
    ``factors``, shape (velocities,). The strains of ``rods`` stay constant. Frames of the ground and drives are as
    ``prescribed``; None: as their functions say.
    """

    system: System
    start: State
    motions: sparse.csr_array
    factors: Array
    rods: _Rods | None = None
    prescribed: PrescribedMotions | None = None

    def gaps(self, state: State) -> Array:
        theta = None if state.theta is None else state.theta[None]
        return np.asarray(self.system.row_values(self.system.at(state, prescribed=self.prescribed), theta)[0])

    def largest_gap(self, state: State) -> float:
        """Return the largest gap of all joints in a state, beyond round-off and relative to the size of the
        largest body (dimensionless). If rods must keep their shape, it is at least a fixed small fraction of the
        largest change of their strains."""
        open_joints = _largest(self.system.relative_gaps(self.gaps(state)))
        return max(open_joints, RIGID * _largest(self.rods.changes(state))) if self.rods else open_joints

    def metric(self, state: State) -> sparse.csr_array:
        """Return the weighted mass matrix of all bodies in a ``state``, projected onto the allowed motions,
        sparse, shape (motions, motions). The masses of each body are multiplied by its weight; a motion is a
        column of ``self.motions``."""
        scaled = sparse.diags_array(np.sqrt(self.factors)) @ self.motions
        return sparse.csr_array(scaled.T @ self.system.mass(state) @ scaled)

    def residuals(self, state: State) -> Array:
        """Return dimensionless residuals of a state, all zero where joints are closed. They are gaps of joints
        over the size of the largest body (1 for angles), followed by changes of the strains of rods that must keep
        their shape."""
        gaps = self.gaps(state) / self.system.gap_lengths
        return np.concatenate([gaps, self.rods.changes(state)]) if self.rods else gaps

    def matrix(self, state: State) -> sparse.csr_array:
        """Return the sparse derivative of the residuals (joint gaps divided by reference lengths, then rod
        strains) in ``state`` with respect to the allowed motions. Its shape is (residuals, motions); the motions,
        mostly rigid motions of bodies, are the columns of ``self.motions``."""
        rows = sparse.diags_array(1 / self.system.gap_lengths) @ self.system.rows.matrix(
            self.system.at(state, prescribed=self.prescribed)
        )
        if self.rods:
            rows = sparse.vstack([rows, self.rods.matrix(state)])
        return sparse.csr_array(rows @ self.motions)

    def distance_gradient(self, state: State) -> Array:
        """Return half the gradient of the weighted squared distance between a state and the start pose with respect
        to the allowed rigid motions of bodies: shape (motions,)."""
        return np.asarray(self.motions.T @ (self.factors * rigid_moments(self.system, state, self.start)))

    def distance(self, state: State) -> float:
        """Return the weighted squared distance of a state from the start pose [kg m^2]. It is density times
        squared displacement, integrated over each body, multiplied by the body's weight (``factors``) and added
        up. Floating bodies count as undeformed."""
        return squared_distance(self.system, state, self.start, self.factors)

    def displaced_state(self, state: State, change: Array) -> State:
        """Return a ``state`` displaced by small rigid motions of the bodies with the amplitudes ``change``,
        shape (motions,). If any rotation exceeds 0.5 rad, the whole change is shortened in proportion."""
        full = self.motions @ change
        turn = _largest(full[self.system.layout.spin[2]])
        part = LONGEST_TURN / turn if turn > LONGEST_TURN else 1.0
        return displaced(self.system, state, part * full)


def _allowed_motions(system: System, start: State, fixed: frozenset[str]) -> sparse.csr_array:
    """Return the motions by which bodies may move while joints are closed, as sparse columns (velocities, motions).
    They are rigid motions of floating bodies and translations of soft bodies and shells. A string's end nodes and
    nodes at joints, found from the joints' gradients at ``start``, translate; nodes between are interpolated
    linearly along the string. Bodies named in ``fixed`` have no columns.
    """
    layout, held = system.layout, system.rows.matrix(system.at(start)).tocsc().indptr
    blocks = []
    for index, placed in enumerate(system.bodies):
        count, rigid = placed.data.velocity_count, placed.data.rigid_count
        if placed.name in fixed:
            block = np.zeros((count, 0))
        elif isinstance(placed.data, FloatingBody):
            block = np.eye(count, rigid)
        elif isinstance(placed.body, String):
            d, s = system.dimension, placed.body.mesh.nodes
            own = slice(int(layout.velocity[index]), int(layout.velocity[index + 1]) + 1)
            is_held = np.diff(held[own]).reshape(-1, d).any(axis=1)
            is_held[[0, -1]] = True
            shares = np.array([np.interp(s, s[is_held], unit) for unit in np.eye(int(is_held.sum()))])
            block = np.kron(shares.T, np.eye(d))
        else:  # moves as a whole
            block = (placed.data.translations[:, None, None] * np.eye(system.dimension)).reshape(count, -1)
        blocks.append(sparse.csr_array(block))
    return sparse.csr_array(sparse.block_diag(blocks, "csr"))


def _close_joints(problem: _PoseProblem) -> State:
    """Return a state with closed joints, from the start pose of ``problem`` by Levenberg-Marquardt iterations on
    the scaled joint gaps. Changes of the pose are combinations of the allowed motions of ``problem`` and are
    damped in its mass metric. If gaps cannot be closed, the state with the smallest sum of squared gaps is
    returned without error."""
    state, damping = problem.start, 1e-3
    gaps = problem.residuals(state)
    for _ in range(ITERATIONS):
        if _largest(gaps) < CLOSE * CLOSED or not problem.motions.shape[1]:
            break
        matrix = problem.matrix(state)
        metric = problem.metric(state)
        size = float((matrix.multiply(matrix) @ (1 / metric.diagonal())).max()) or 1.0
        normal = matrix.T @ matrix + damping * size * metric
        trial = problem.displaced_state(state, -lu_factors(normal).solve(matrix.T @ gaps))
        found = problem.residuals(trial)
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


def _descend_to_nearest_pose(problem: _PoseProblem, state: State) -> State:
    """Return the pose with closed joints that is nearest to the start pose, by descent along poses with closed
    joints with Barzilai-Borwein steps. Newton's method closes the joints after each step; steps that do not come
    nearer are cut to a quarter. ``problem`` has the bodies, joints and start pose. If the joints of ``state``
    cannot be closed, return ``state``.

    Steps are those of Barzilai and Borwein (1988): a fraction of the way down that fits the curvature met on the
    last step. One that does not come nearer than the last few is cut.
    """
    closed = _close_joints_by_newton(problem, state)
    if problem.largest_gap(closed) > CLOSED:
        return state
    state = closed
    share, distances = 1.0, [problem.distance(state)]
    metric, way = _descent_step(problem, state)
    for _ in range(DESCENTS):
        if _largest(way) < CLOSED * problem.system.body_length:
            break
        trial = _close_joints_by_newton(problem, problem.displaced_state(state, share * way))
        distance = problem.distance(trial)
        if problem.largest_gap(trial) > CLOSED or not distance <= max(distances[-MEMORY:]) * (1 + CLOSED):
            share /= 4
            continue
        step, before = share * way, way
        metric_there, way = _descent_step(problem, trial)
        curvature = step @ metric @ (before - way)
        share = float(np.clip((step @ metric @ step) / curvature, *SHARES)) if curvature > 0 else 1.0
        state, metric = trial, metric_there
        distances.append(distance)
    return state


def _descent_step(problem: _PoseProblem, state: State) -> tuple[sparse.csr_array, Array]:
    """Return the mass metric M (n, n) at a pose ``state`` with closed joints, and the small motion d (n,) towards
    the start pose. d has the amplitudes of the n allowed motions of ``problem``. It minimizes the squared distance
    from the start, as a quadratic function with M, while the linearized joints stay closed.
    """
    metric, matrix = problem.metric(state), problem.matrix(state)
    return metric, nearest_point(metric, matrix).solve(-problem.distance_gradient(state))[0]


def _close_joints_by_newton(problem: _PoseProblem, state: State, allowed: float = CLOSED) -> State:
    """Return the ``state`` after at most five Newton iterations that close its joints from a nearly closed pose.
    Each iteration changes the pose by the smallest amount in the mass metric of ``problem`` that closes the
    linearized joints. It ends when all relative gaps are at most ``allowed``; remaining gaps raise no error."""
    for _ in range(CLOSINGS):
        if problem.largest_gap(state) <= allowed:
            break
        step = smallest_solution(problem.metric(state), problem.matrix(state), -problem.residuals(state))
        state = problem.displaced_state(state, step)
    return state


def _with_nearest_velocity(problem: _PoseProblem, state: State) -> State:
    """Return ``state`` with the velocities that satisfy joints and drives and are nearest to the user's in kinetic
    energy. Newton-like corrections are repeated a few times; rods keep zero strain rates if that is possible.
    Velocities are exactly zero if only round-off is left. Joints that cannot be satisfied raise no error; the last
    velocities are then returned."""
    system = problem.system
    moving, at = with_rigid_velocity(system, state), system.at(state)
    rows, drift = system.rows.matrix(at), system.rows.drift(at)[0]
    still = np.zeros(system.rod_strains.count if problem.rods else 0)  # strains of rods go on as they did
    metric, matrix, velocity = problem.metric(state), problem.matrix(state), moving.velocity
    missing = (rows @ velocity + drift) / system.gap_lengths
    for _ in range(CLOSINGS):  # where little is left of the velocities, round-off of the users. ones is much of it
        change = problem.motions @ smallest_solution(metric, matrix, np.concatenate([missing, still]))
        velocity, last = velocity - change, missing
        if _largest(velocity) <= NOTHING * _largest(moving.velocity):  # joints hold all, and the rest is round-off
            return replace(moving, velocity=np.zeros_like(velocity))
        missing = (rows @ velocity + drift) / system.gap_lengths
        if _largest(change) <= CLOSED * _largest(velocity) or _largest(missing) > CLOSE * _largest(last):
            break
    if problem.rods and _largest(missing) > CLOSED * _largest(abs(rows) @ abs(velocity) / system.gap_lengths):
        return _with_nearest_velocity(replace(problem, rods=None), state)
    return replace(moving, velocity=velocity)


def _rotations(problem: _PoseProblem, state: State) -> sparse.csr_array:
    """Return the velocities with which soft bodies and shells rotate about the mean of their nodes, as sparse
    columns (velocities, rotations). Each such body has one column for each rotation axis (3 in space, 1 in the
    plane), at the node positions of ``state``. Floating bodies, strings, and bodies that ``problem`` does not let
    move have no columns."""
    system, begins = problem.system, problem.system.layout.velocity
    blocks: list[Array] = []
    for index, placed in enumerate(system.bodies):
        a, b = int(begins[index]), int(begins[index + 1])
        if isinstance(placed.data, FloatingBody) or isinstance(placed.body, String) or not problem.motions[a:b].nnz:
            blocks.append(np.zeros((b - a, 0)))
            continue
        d, places = system.dimension, system.elastic(state, index).reshape(-1, system.dimension)
        shares = placed.data.translations[:, None]
        arms = np.pad(places - shares * places[shares[:, 0] != 0].mean(axis=0), ((0, 0), (0, 3 - d)))
        axes = np.eye(3)[3 - (2 * d - 3) :]
        blocks.append(np.transpose([np.cross(axis, arms)[:, :d].ravel() for axis in axes]))
    return sparse_diagonal(blocks)


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
