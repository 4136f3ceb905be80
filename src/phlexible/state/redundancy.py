"""Redundant constraints of a mechanism: detected, named, resolved (docs/theory.md, 6)."""

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.sparse import SYMMETRIC, Matrix, as_array, is_small, lu_factors, smallest_solution
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import LocalMoments
from phlexible.bodies.mechanics.floating import mass_diagonal
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.joints.joint import Joint
from phlexible.display import shortened
from phlexible.errors import RedundancyError, RedundancyWarning, SingularMatrixError, warn_user
from phlexible.state.forces import coordinate_row
from phlexible.state.instants import Instants, PrescribedFunctions
from phlexible.state.layout import Layout, State, same_pose
from phlexible.state.system import System

# Detection of joints that other joints lock unintentionally, mostly hinges that are not in line.

MOST_LOCKED_VELOCITIES = 300  # more are not looked at
RANK = 1e-9  # singular values below it, of rows of length 1: as where redundancy is decided
STAYS = 1e-7  # of a rate or an acceleration that motions of the same energy may have: round-off is some 1e-12
MOTIONS = 3  # that are drawn; at a dead centre a coordinate has no rate, and accelerates in each of them
MOST_LOCKED_NAMED = 4


def locked_joint_text(joints: list[Joint]) -> str:
    """Return the text of a warning that names ``joints`` whose axes cannot move because other joints lock them,
    with advice on what to change. Only the first few names are listed."""
    names = shortened([str(joint) for joint in joints], MOST_LOCKED_NAMED)
    axes = "the axis" if len(joints) == 1 else "the axes"
    return (
        f"{axes} of {names} cannot move, the other joints hold what is free there: put hinges of one body on one"
        " line, or leave out what holds it twice (Fixed says the same where nothing is to move)"
    )


def locked_joints(system: System, state: State, at: Instants, constraints: Iterable[int]) -> list[Joint]:
    """Return those joints, among the constraints with the indices ``constraints``, none of whose coordinates can
    move because other constraints lock them. A coordinate's rate must be a linear combination of constraint rates
    (by singular value decomposition), and its acceleration too for random motions. Driven joints are left out. The
    list is empty for large models and models with moving ground frames.

    Drives, and what events hold or release, hold on purpose and do not count; elastic bodies yield. Joints at dead
    centres move: they have no rate there but accelerations. None are found beside frames that move, which may
    hold everything, and in large models.

    Args:
        system: system that has only the constraints that hold.
        state: a pose at which joints close.
        at: the state as an instant.
        constraints: indices of constraints that hold a motion twice.
    """
    size = int(system.layout.velocity[-1])
    driven = {id(drive.joint) for drive in system.mechanism.drives}
    asked = [system.constraints[number] for number in constraints]
    joints = [
        each for each in asked if isinstance(each, Joint) and id(each) not in driven and each.coordinate_names
    ]
    if system.moving_frames or size > MOST_LOCKED_VELOCITIES or not joints:
        return []
    pairs = zip(system.owners, system.row_switches, strict=True)
    holds = [switch < 0 and not isinstance(owner.joint, Drive) for owner, switch in pairs]
    rows = system.with_rows(np.array(holds)).system.rows
    at = at.with_prescribed(PrescribedFunctions((), (), at.time))
    factor = np.linalg.cholesky(as_array(system.small_mass(state, at)))
    weighted = linalg.solve_triangular(factor, as_array(rows.small_matrix(at)).T, lower=True)
    lengths = np.linalg.norm(weighted, axis=0)
    lengths[lengths == 0] = 1.0
    left, sizes, right = linalg.svd(weighted / lengths)
    rank = int((sizes > RANK * sizes[0]).sum()) if len(sizes) else 0
    held, free = left[:, :rank], left[:, rank:]
    motions = free @ np.random.default_rng(0).standard_normal((free.shape[1], MOTIONS))
    velocities = linalg.solve_triangular(factor.T, motions).T
    curves = [rows.accelerations(at.moving(velocity[None]))[0] for velocity in velocities]

    def is_locked(coordinate: Coordinate) -> bool:
        row = linalg.solve_triangular(factor, coordinate_row(system, at, coordinate)[0], lower=True)
        part = held.T @ row
        if np.linalg.norm(row - held @ part) > STAYS * np.linalg.norm(row):
            return False
        weights = (right[:rank].T @ (part / sizes[:rank])) / lengths
        for velocity, motion, curve in zip(velocities, motions.T, curves, strict=True):
            own = _acceleration(system, at.moving(velocity[None]), coordinate)
            parts = np.abs(weights) @ np.abs(curve) + abs(own)
            usual = np.linalg.norm(row) * np.linalg.norm(motion) * _rate(system, velocity)
            if abs(own - weights @ curve) > STAYS * (parts + usual):
                return False
        return True

    return [joint for joint in joints if all(map(is_locked, joint.coordinates(system.dimension)))]


def _acceleration(system: System, at: Instants, coordinate: Coordinate) -> float:
    """Return the second time derivative of a joint ``coordinate`` at one instant at zero acceleration of the
    bodies [rad/s^2 or m/s^2]. It is due to the velocities of ``at`` alone."""
    return float(system.coordinate_rows([coordinate]).accelerations(at)[0, 0])


def _rate(system: System, velocity: Array) -> float:
    """Return a characteristic rate of a system with a ``velocity`` (velocities,) [1/s]: the larger of its
    largest angular velocity component and its largest translational component over the body length. Elastic
    rates do not count."""
    spins, linear = velocity[system.layout.spin[2]], velocity[system.layout.linear]
    return max(float(np.abs(spins).max(initial=0.0)), float(np.abs(linear).max(initial=0.0)) / system.body_length)


# How large joint forces are where several sets of them do the same (docs/theory.md, 6).
#
# Forces of redundant joints are not unique. Taken are those of least ``sum F^2 + (M / L)^2`` over the
# multipliers, F of rows that hold points [N], M of rows that hold directions [N m], with L the size
# of the largest body: so they depend neither on world axes nor on where the mechanism stands.


def smallest_multipliers_at(system: System, at: Instants, multipliers: Array) -> Array:
    """Return the multipliers (constraint forces) of smallest weighted norm that exert the same generalized forces
    as the given ``multipliers``, shape (constraints,). They differ from these only if constraints are redundant.
    Moments are weighed against forces by the length of the largest body."""
    matrix = system.rows.matrix(at)
    metric = sparse.diags_array(system.gap_lengths**2).tocsr()
    return smallest_solution(metric, sparse.csr_array(matrix.T), matrix.T @ multipliers)


# Do joints constrain the same motion twice (docs/theory.md, 6)? Block elimination, as wide as their graph.
#
# The columns of ``(G M^-1/2)^T``, scaled to length 1 (6.1), are orthogonalized joint by joint (a
# multifrontal QR factorization): a column that is left shorter than 1e-9 depends on earlier ones.

DEPENDENT = 1e-9
TAKES_PART = 1e-6
CLEARLY = 1e-10  # least eigenvalue of G M^-1 G^T with rows of length 1: that of DEPENDENT is 1e-18, and round-off


@dataclass(frozen=True, eq=False)
class _Front:
    """Dense block of the scaled constraint matrix in a multifrontal elimination by QR, with the constraints and
    joints that have columns in it.

    Attributes:
        joints: indices of the constraints that have not been eliminated.
        columns: indices of the constraint rows that are columns of the block, shape (columns,).
        block: rows of (G M^-1/2)^T, or what the elimination left of them, shape (k, columns).
    """

    joints: frozenset[int]
    columns: IntArray
    block: Array


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Redundant constraint function, whose rate is a linear combination of those of other constraints.

    Attributes:
        row: the joint function, by its number in the layout.
        combination: coefficient of each row of G in a sum that vanishes, by row.
        joints: indices of the joints that take part.
    """

    row: int
    combination: dict[int, float]
    joints: tuple[int, ...]


def redundancies(system: System, state: State, at: Instants | None = None) -> list[Redundancy]:
    """Return one ``Redundancy`` for each redundant scalar constraint of a system in a state: its gradient is a
    linear combination of the others. The remaining constraints are linearly independent. Eigenvalues of the
    inverse effective mass are tried first; if they leave doubt, joints are eliminated one by one by QR
    factorizations.

    Those of the last pose are cached.

    Args:
        at: the state as an instant, where its frames are known as numbers only.
    """
    if at is not None:
        return _redundancies(system, state, at)
    if not ((known := system.known_redundancies) and same_pose(known[0][0], state)):
        known[:] = [(state, _redundancies(system, state, system.at(state)))]
    return known[0][1]


def _redundancies(system: System, state: State, at: Instants) -> list[Redundancy]:
    if not system.owners:
        return []
    layout = system.layout
    if _are_few_and_independent(system, state, at):
        return []
    fronts: list[set[_Front]] = [set() for _ in system.constraints]  # those that touch a joint
    body_fronts, lengths = _body_fronts(system, state, at)
    if _are_independent(body_fronts, len(lengths)):
        return []
    for front in body_fronts:
        for joint in front.joints:
            fronts[joint].add(front)
    found: list[Redundancy] = []
    eliminated: list[tuple[IntArray, IntArray, Array]] = []
    queue = [(_joint_count(fronts[joint]), joint) for joint in range(len(fronts))]
    heapq.heapify(queue)
    while queue:
        _, joint = heapq.heappop(queue)
        if queue and (width := _joint_count(fronts[joint])) > queue[0][0]:
            heapq.heappush(queue, (width, joint))
            continue
        own = np.arange(layout.multiplier[joint], layout.multiplier[joint + 1])
        mine = fronts[joint].copy()
        merged = _merge(mine, own)
        for neighbour in merged.joints | {joint}:
            fronts[neighbour] -= mine
        triangle = _triangle(merged.block, len(own))
        while len(short := np.flatnonzero(np.abs(np.diag(triangle[:, : len(own)])) < DEPENDENT)):
            first = int(short[0])
            coefficients = _combination(eliminated, own, triangle, first)
            found.append(_redundancy(layout, int(own[first]), coefficients, lengths))
            own = np.delete(own, first)
            columns, block = np.delete(merged.columns, first), np.delete(merged.block, first, axis=1)
            merged = _Front(merged.joints, columns, block)
            triangle = _triangle(merged.block, len(own))
        eliminated.append((own, merged.columns, triangle[: len(own)]))
        rest = triangle[len(own) :, len(own) :]
        if rest.size:
            front = _Front(merged.joints - {joint}, merged.columns[len(own) :], rest)
            for neighbour in front.joints:
                fronts[neighbour].add(front)
    return found


def independent_rows(system: System, state: State, at: Instants | None = None) -> IntArray:
    """Return the indices, ascending, of all scalar constraints of a system in a state that are not reported by
    ``redundancies``. Their gradients are linearly independent and span those of all constraints. ``at`` is the
    state as an instant, computed if None.

    Args:
        system: system with the constraints.
        state: state at which the rows are evaluated.
        at: the state as an instant, where its frames are known as numbers only.
    """
    left_out = [redundancy.row for redundancy in redundancies(system, state, at)]
    return np.setdiff1d(np.arange(system.layout.multiplier[-1]), left_out)


def _body_fronts(system: System, state: State, at: Instants) -> tuple[list[_Front], Array]:
    """Return the constraint matrix as dense blocks, one for each body or node with constraints, and a length for
    each constraint, shape (constraints,). Block columns are constraint gradients, multiplied by the inverse
    Cholesky factor of the body's mass matrix (its diagonal for nodes and large bodies). They are divided by the
    lengths, so that each gradient has norm 1 over all blocks."""
    layout = system.layout
    matrix = system.rows.small_matrix(at)
    if not isinstance(matrix, np.ndarray):
        matrix = matrix.tocsc()
    small = system.small_mass(state, at) if is_small(matrix.shape[1]) else None
    masses = system.body_masses(state) if small is None else []
    owner = np.repeat(np.arange(len(system.constraints)), np.diff(layout.multiplier))
    squares = np.zeros(matrix.shape[0])
    parts = []
    for index, placed in enumerate(system.bodies):
        if isinstance(placed.data, AbsoluteBody):
            parts += _node_parts(placed.data, matrix, int(layout.velocity[index]))
            continue
        columns, rows = _involved_rows(matrix, int(layout.velocity[index]), int(layout.velocity[index + 1]))
        if len(columns):
            own = layout.span(index)
            if isinstance(placed.data.second_moments, LocalMoments):  # any metric will do, and its own is full
                parts.append((columns, rows / np.sqrt(mass_diagonal(system.frames[index]))[:, None]))
                continue
            mass = masses[index] if small is None else small[own, own]
            factor = np.linalg.cholesky(mass)
            parts.append((columns, np.asarray(np.linalg.solve(factor, rows), dtype=np.float64)))
    for columns, block in parts:
        squares[columns] += (block**2).sum(axis=0)
    lengths = np.sqrt(np.where(squares > 0, squares, 1.0))
    fronts = [
        _Front(frozenset(owner[columns].tolist()), columns, block / lengths[columns]) for columns, block in parts
    ]
    return fronts, lengths


def _involved_rows(matrix: Matrix, begin: int, end: int) -> tuple[IntArray, Array]:
    """Return the indices of the k constraints that depend on the velocities ``begin`` to ``end`` (excluded) of one
    body, and their derivatives. The derivatives are the dense transposed block of the constraint matrix, shape
    (end - begin, k). ``matrix`` is a NumPy array or a sparse matrix by columns."""
    if isinstance(matrix, np.ndarray):
        part = matrix[:, begin:end]
        columns = np.flatnonzero(part.any(axis=1))
        return columns, part[columns].T
    own = slice(matrix.indptr[begin], matrix.indptr[end])  # slices of sparse matrices take longer than all the rest
    columns, indices = np.unique(matrix.indices[own], return_inverse=True)
    lines = np.repeat(np.arange(end - begin), np.diff(matrix.indptr[begin : end + 1]))
    rows = np.zeros((end - begin, len(columns)))
    np.add.at(rows, (lines, indices), matrix.data[own])
    return columns, rows


def _are_few_and_independent(system: System, state: State, at: Instants) -> bool:
    """Return whether the constraints of a small system are clearly linearly independent in a state. The least
    eigenvalue of their dense inverse effective mass matrix is compared with a bound. For larger systems or in
    doubt the result is False; a more exact test is needed then."""
    matrix = system.rows.small_matrix(at)
    if not (isinstance(matrix, np.ndarray) and is_small(len(matrix))):
        return False
    return bool(are_clearly_independent(system.small_mass(state, at), matrix))


def are_clearly_independent(mass: Array, matrix: Array) -> BoolArray:
    """Return for dense constraint matrices G whether the rows of each are clearly linearly independent, booleans of
    shape (...). ``matrix`` has the G, shape (..., constraints, velocities), ``mass`` the mass matrices M. The test
    is whether the least eigenvalue of G M^-1 G^T, scaled to a diagonal of ones, exceeds a bound. A row of zeros
    gives False.
    """
    block = np.linalg.solve(np.linalg.cholesky(mass), matrix.swapaxes(-1, -2))
    lengths = np.sqrt((block**2).sum(axis=-2, keepdims=True))
    block /= np.where(lengths > 0, lengths, 1.0)
    return np.asarray(np.linalg.eigvalsh(block.swapaxes(-1, -2) @ block)[..., 0] > CLEARLY)


def _are_independent(fronts: list[_Front], count: int) -> bool:
    """Return whether ``count`` scalar constraints are clearly linearly independent: whether the least eigenvalue
    of their Gram matrix exceeds a limit. The matrix is the sum of products of scaled constraint gradients over the
    blocks ``fronts`` of all bodies. Small ones are dense, large ones sparse. False only means that a more exact
    test is needed; no constraints are independent.

    Then, as mostly, nothing has to be eliminated joint by joint.
    """
    if not is_small(count):
        return _are_independent_sparse(fronts, count)
    square = np.zeros((count, count))
    for front in fronts:
        square[np.ix_(front.columns, front.columns)] += front.block.T @ front.block
    return count == 0 or bool(np.linalg.eigvalsh(square)[0] > CLEARLY)


def _are_independent_sparse(fronts: list[_Front], count: int) -> bool:
    """Return whether ``count`` scalar constraints are clearly linearly independent, by a sparse method for many
    constraints. Products of the scaled constraint gradients are summed over the blocks ``fronts`` to a sparse Gram
    matrix. The method is inverse Lanczos iteration with LU factors for its least eigenvalue, which must exceed a
    limit. False, also if it fails, only means that a more exact test is needed."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    blocks = [(front.columns, front.block.T @ front.block) for front in fronts]
    rows = np.concatenate([np.repeat(columns, len(columns)) for columns, _ in blocks])
    columns = np.concatenate([np.tile(columns, len(columns)) for columns, _ in blocks])
    values = np.concatenate([block.ravel() for _, block in blocks])
    square = sparse.coo_array((values, (rows, columns)), (count, count)).tocsc()
    try:
        factors = lu_factors(square, **SYMMETRIC)
        inverse = LinearOperator((count, count), matvec=factors.solve, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=count)
        options = {"v0": start, "tol": 1e-2, "return_eigenvectors": False}
        least = eigsh(square, 1, sigma=0.0, OPinv=inverse, **options)[0]
    except (SingularMatrixError, ArpackError):
        return False
    return bool(least > CLEARLY)


def _node_parts(body: AbsoluteBody, matrix: Matrix, first: int) -> list[tuple[IntArray, Array]]:
    """Return the blocks of the constraint matrix for the nodes of a string or soft ``body`` on which joints act,
    one pair for each node. A pair has the indices of the node's k constraints and their derivatives, shape
    (dimension, k), divided by the root of the node's mass. The body's columns in ``matrix`` begin at ``first``.

    Columns and block as of the other bodies; together they would be as wide as the joints on a string.
    """
    d, mass = body.dimension, np.asarray(body.nodal_mass.diagonal())
    own = matrix[:, first : first + body.elastic_count]
    held = np.flatnonzero(own.any(axis=0) if isinstance(own, np.ndarray) else np.diff(own.indptr)) // d
    parts = []
    for node in np.unique(held).tolist():
        columns, rows = _involved_rows(matrix, first + d * node, first + d * (node + 1))
        parts.append((columns, rows / np.sqrt(mass[node])))
    return parts


def _joint_count(fronts: set[_Front]) -> int:
    """Return the sum of the numbers of joints over the given matrix blocks (``fronts``). It bounds how many joints
    would be connected by eliminating a joint that all these blocks contain; joints with small counts are
    eliminated first."""
    return sum(len(front.joints) for front in fronts)


def _merge(fronts: set[_Front], first: IntArray) -> _Front:
    """Return one block with the rows of all blocks ``fronts``, one below the other, and with all of their columns.
    A column belongs to a scalar constraint. The columns ``first`` (indices of constraints) come first, in their
    order, then all others in ascending order; missing entries are zero. The sets of joints of the blocks are
    united.
    """
    others = np.unique(np.concatenate([first[:0], *(front.columns for front in fronts)]))
    columns = np.concatenate([first, np.setdiff1d(others, first)])
    offset = {int(column): index for index, column in enumerate(columns)}
    blocks = [np.zeros((0, len(columns)))]
    for front in fronts:
        wide = np.zeros((len(front.block), len(columns)))
        wide[:, [offset[int(column)] for column in front.columns]] = front.block
        blocks.append(wide)
    joints: frozenset[int] = frozenset().union(*(front.joints for front in fronts))
    return _Front(joints, columns, np.vstack(blocks))


def _triangle(block: Array, count: int) -> Array:
    """Return the upper triangular factor R of the QR factorization of ``block``, with zero rows added below
    if it has fewer than ``count`` rows. R has as many rows as the block has columns, or as the padded block
    has rows if these are fewer."""
    missing = max(0, count - len(block))
    triangle = linalg.qr(np.vstack([block, np.zeros((missing, block.shape[1]))]), mode="r")[0]
    return np.asarray(triangle[: block.shape[1]])


def _combination(
    eliminated: list[tuple[IntArray, IntArray, Array]], rows: IntArray, triangle: Array, short: int
) -> dict[int, float]:
    """Return coefficients, by the index of a constraint, with which scaled constraint gradients add up to zero. The
    redundant constraint ``rows[short]`` has the coefficient 1. The others follow by back substitution: first in
    ``triangle``, the triangular factor of the constraints ``rows``, then in the earlier eliminations
    ``eliminated``, last one first. Each of these is a tuple (its constraints, all columns of its block, triangular
    block).
    """
    known = {int(rows[short]): 1.0}
    before = linalg.solve_triangular(triangle[:short, :short], -triangle[:short, short])
    known.update({int(row): float(value) for row, value in zip(rows[:short], before, strict=True)})
    for done, columns, block in reversed(eliminated):
        weights = np.array([known.get(int(column), 0.0) for column in columns[len(done) :]])
        values = linalg.solve_triangular(block[:, : len(done)], -block[:, len(done) :] @ weights)
        known.update({int(row): float(value) for row, value in zip(done, values, strict=True)})
    return known


def _redundancy(layout: Layout, dependent: int, coefficients: dict[int, float], lengths: Array) -> Redundancy:
    largest = max(abs(value) for value in coefficients.values())
    part = {row: value for row, value in coefficients.items() if abs(value) > TAKES_PART * largest}
    indices = {int(np.searchsorted(layout.multiplier, row, side="right")) - 1 for row in part}
    combination = {row: value / float(lengths[row]) for row, value in coefficients.items()}
    return Redundancy(dependent, combination, tuple(sorted(indices)))


# Joints that hold a motion twice: named in a warning where they agree, refused where they contradict.

CONTRADICTION = 1e-5
"""Tolerance on accelerations relative to their scale; those of moving frames are differences, good to about
1e-7.
"""

ROUND_OFF, SHORT = 1e-15, 1e-3  # of places over the size of a body; [s], of the differences of slow functions

MOST_NAMED = 12


def check_redundancy(system: System, state: State, at: Instants | None = None) -> bool:
    """Return whether constraints of a system are redundant (linearly dependent gradients) in a state. If so, emit
    a ``RedundancyWarning`` that names the joints, and raise ``RedundancyError`` if the joints demand contradicting
    accelerations. ``at`` is the state as an instant, if it is known already.

    The motion does not depend on how such joints share their forces; these are then the smallest ones
    (``smallest_multipliers_at``).

    Args:
        at: the pose of the state as an instant, where the caller has it.

    Raises:
        RedundancyError: joints that agree on positions and velocities of the state, but not on
            accelerations: no motion goes on from it.
    """
    found = redundancies(system, state, at)
    if not found:
        return False
    _refuse_contradiction(system, state, found)
    warn_user(redundancy_text(system, state, found, at), RedundancyWarning)
    return True


def redundancy_text(system: System, state: State, redundant: list[Redundancy], at: Instants | None = None) -> str:
    """Return a warning text with the names of ``redundant`` joints of a system in a state. If other joints
    unintentionally lock the axes of some joints, the text also has advice on them. ``at`` is the state as an
    instant, if it is known already."""
    indices = sorted({number for redundancy in redundant for number in redundancy.joints})
    locked = locked_joints(system, state, system.at(state) if at is None else at, indices)
    return f"{_message(system, redundant)}; {locked_joint_text(locked)}" if locked else _message(system, redundant)


def _refuse_contradiction(system: System, state: State, redundant: list[Redundancy]) -> None:
    """Raise ``RedundancyError`` if ``redundant`` constraints of a system demand contradicting accelerations in a
    state, so that no motion can continue from it. The gradients of a redundant constraint and of others sum to
    zero with certain weights. The same weighted sum of the velocity-dependent terms of the constraint
    accelerations must also be zero, up to round-off (more for prescribed motion)."""
    size = system.gap_lengths
    change = system.rows.accelerations(system.at(state))[0] / size
    scale = max(float(np.abs(change).max()), _rate(system, state.velocity) ** 2)
    is_prescribed = bool(system.moving_frames or system.paths)  # their accelerations are second differences
    noise = (system.round_off / system.body_length + ROUND_OFF) / SHORT**2 if is_prescribed else 0.0
    for redundancy in redundant:
        rows = np.array(list(redundancy.combination))
        weights = np.array(list(redundancy.combination.values())) * size[rows]
        if abs(weights @ change[rows]) > np.abs(weights).sum() * (CONTRADICTION * scale + noise):
            owner = system.owners[redundancy.row]
            raise RedundancyError(
                f"no motion goes on from t = {state.time:g} s: {owner.joint} ({owner.row.label}) holds what "
                f"is already held, in {_names(system, redundancy.joints)}, and they ask for different "
                "accelerations; check velocities and moving frames, or remove a joint"
            )


def _message(system: System, redundant: list[Redundancy]) -> str:
    owner = system.owners[redundant[0].row]
    indices = tuple(sorted({number for redundancy in redundant for number in redundancy.joints}))
    times = "once" if len(redundant) == 1 else f"{len(redundant)} times"
    return (
        f"redundant joints: {times} a joint holds what others hold already, for example {owner.joint} "
        f"({owner.row.label}), in {_names(system, indices)}; the motion is right, joint forces are not "
        "unique and the smallest ones are taken; joints that leave more freedom make them unique "
        "(Spherical for Revolute, Slider for Prismatic)"
    )


def _names(system: System, indices: tuple[int, ...]) -> str:
    return shortened([*dict.fromkeys(str(system.constraints[number]) for number in indices)], MOST_NAMED)


# Which constraints are about to hold one motion twice: a mechanism close to a dead centre.

CLOSE = 1e-2
"""Ratio of singular values of the constraint rows below which a dead centre is near; far from it about 0.1."""
TAKES_PART_AT_DEAD_CENTRE = 0.2  # in the combination of rows that is close to zero
MOST_ROWS = 400  # more are too many for a look at all singular values
MOST_NAMED_AT_DEAD_CENTRE = 4
MOST_VELOCITIES = 300  # more are too many to look for two ways
MOST_MOTIONS = 20
BOTH_WAYS = 1e-2  # least curvature over the greatest, of a form that has both signs
TAKEN_ON = 1e-2  # share of given rates along the combination of rows that is close to zero


def dead_centre_text(system: System, state: State, weights: Array) -> str:
    """Return a clause for an error message if a ``system`` is close to a dead centre (singular pose) or a
    bifurcation in a ``state``. It names the joints whose scaled constraint gradients have a tiny singular value.
    The text is empty otherwise, for a single constraint and for very many. Velocities are divided by ``weights``
    (velocities,) to be comparable.

    Args:
        system: system that has only the constraints that hold.
        state: state at which a step failed.
        weights: factors that make velocities comparable, shape (velocities,).
    """
    if not 1 < len(system.owners) <= MOST_ROWS:
        return ""
    matrix = system.rows.matrix(system.at(state)).toarray() / weights
    sizes = np.linalg.norm(matrix, axis=1)
    if not (np.isfinite(matrix).all() and (sizes > 0).all()):
        return ""
    scaled = matrix / sizes[:, None]
    drift = system.rows.drift(system.at(state))[0] / sizes
    left, values, right = np.linalg.svd(scaled, full_matrices=matrix.shape[1] <= MOST_VELOCITIES)
    if values[-1] > CLOSE * values[0]:
        return ""
    combination = left[:, len(values) - 1]
    parts = np.abs(combination)
    rows = np.flatnonzero(parts > TAKES_PART_AT_DEAD_CENTRE * parts.max())
    names = list(dict.fromkeys(str(system.owners[row].joint) for row in rows))
    named = shortened(names, MOST_NAMED_AT_DEAD_CENTRE)
    motions = right[int((values > CLOSE * values[0]).sum()) :] / weights
    is_taken_on = bool(abs(combination @ drift) > TAKEN_ON * np.linalg.norm(drift))
    if not is_taken_on and _can_go_two_ways(system, state, combination / sizes, motions):
        return (
            f"; the mechanism is at a bifurcation of its configurations or close to it: {named} let it go on in two"
            " ways (pins on one line: as a parallelogram or crossed), and forces do not say which; start it off"
            " this pose, or moving one way, and fast enough to be off it after a step"
        )
    words = f"; the mechanism is close to a dead centre, where {named} leave less freedom than they seem to"
    on = ", and moving ground or a drive takes it on to where these joints may not close any more"
    return words + on * is_taken_on


def _can_go_two_ways(system: System, state: State, combination: Array, motions: Array) -> bool:
    """Return whether a system can leave the pose of ``state`` on two paths (bifurcation). ``combination`` are
    coefficients of the constraints whose gradients then add up to zero. There are two paths if the second
    derivative of this sum has eigenvalues of both signs on the k allowed ``motions``, shape (k, velocities). With
    one motion, or more than a fixed limit, False is returned without a test.

    Paths through a pose with lambda.G = 0 have velocities nu with G nu = 0 and lambda.(d2g/dt2) = 0, both at
    dnu/dt = 0: two ways where this quadratic form has both signs, none where it has one. Where something moves as
    given, the form is that of frames and drives held still.

    Args:
        combination: lambda, shape (rows,).
        motions: velocities that the constraints allow, shape (k, velocities).
    """
    count = len(motions)
    if not 2 <= count <= MOST_MOTIONS:
        return False

    def acceleration(velocity: Array) -> float:
        return float(combination @ system.rows.accelerations(system.at(replace(state, velocity=velocity)))[0])

    at_rest = acceleration(np.zeros_like(motions[0]))  # of moving frames and drives

    def curvature(velocity: Array) -> float:
        return (acceleration(velocity) + acceleration(-velocity)) / 2 - at_rest

    own = np.array([curvature(motion) for motion in motions])
    form = np.diag(own)
    for i in range(count):
        for j in range(i):
            form[i, j] = form[j, i] = (curvature(motions[i] + motions[j]) - own[i] - own[j]) / 2
    curves = np.linalg.eigvalsh(form)
    return bool(-curves[0] > BOTH_WAYS * np.abs(curves).max() and curves[-1] > BOTH_WAYS * np.abs(curves).max())
