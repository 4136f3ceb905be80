"""Closure of joints at t = 0, and initial velocities: those of the user, and others from joints and drives."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.sparse import Matrix, is_small, linked_groups, smallest_solution
from phlexible.bodies.locations import Interface
from phlexible.bodies.mechanics.floating import split_velocity
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.functions import Coordinate
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Distance, Fixed
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.ports import Attachment, MovingFrame
from phlexible.errors import JointGapError, PhlexibleError, VelocityError
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.system import RowOwner, System, allowed_gap

# Do the joints close at the initial pose?

CLOSED = 1e-9
ROUND_OFF_GAP = 1e-14
"""Relative gap of joints above which they are closed before the first step, which would close them with a kick."""


def check_closure(system: System, state: State, at: Instants | None = None) -> None:
    """Raise ``JointGapError`` unless all joints of a system close in its initial pose ``state``. Gaps (constraint
    residuals) may be 1e-9 of the size of the largest body (of 1 for angles), plus the round-off of positions. The
    message names the joint with the largest relative gap, the constraint and the gap.

    Args:
        at: the state as an instant, where the caller has it.

    Raises:
        JointGapError: names the joint that is open most, its scalar constraint and the gap.
    """
    if not system.owners:
        return
    theta = None if state.theta is None else state.theta[None]
    gaps = system.row_values(system.at(state) if at is None else at, theta)[0]
    if (np.abs(gaps) <= CLOSED * system.gap_lengths).all():
        return
    relative = system.relative_gaps(gaps)
    worst = int(np.argmax(relative))
    if relative[worst] <= CLOSED:
        return
    owner, allowed = system.owners[worst], CLOSED * system.gap_lengths[worst]
    if not owner.row.is_angle:
        allowed = max(allowed, allowed_gap(owner.joint))
    raise JointGapError(
        f"{owner.joint} does not close at the initial pose: {owner.row.label} is off by "
        f"{described_gap(owner, gaps[worst])} (at most {allowed:.2g}); check position= and rotation= "
        f"of its bodies{_port_advice(owner)}, or take the nearest pose that closes: model = model.assemble().model"
    )


def _port_advice(owner: RowOwner) -> str:
    """Return advice for the error message about a joint whose two points do not coincide. It is a line of code
    that creates the joint's ground point at the initial position of the body's point. The text is empty unless the
    joint connects one body with a fixed point of the ground."""
    if not isinstance(owner.joint, Joint):
        return ""
    ports = owner.joint.first, owner.joint.second
    held = [port for port in ports if isinstance(port, Attachment)]
    if len(held) != 1 or not any(isinstance(port, MovingFrame) and port.is_fixed for port in ports):
        return ""
    at = held[0].location
    place = f'{held[0].placed.name}["{at.name}"]' if isinstance(at, Interface) else repr(held[0])
    return f", place the joint where the part is: ground.at({place}.initial_position())"


def check_drives(system: System, state: State, only_angles: bool = False) -> None:
    """Raise ``JointGapError`` if a drive's prescribed function does not start at the value that its joint
    coordinate has in ``state``. Angles may differ by 1e-9 rad, lengths by 1e-9 of the largest body plus round-off.
    With ``only_angles`` lengths are not checked, since the assembly of the model can still change them.

    The function of a driven angle vanishes half a turn away too, so that gaps alone do not show it.

    Args:
        only_angles: bodies may still move to where driven positions start; angles are 0 wherever bodies go.

    Raises:
        JointGapError: names the drive, its first value and that of the coordinate.
    """
    for drive, coordinate, now in driven_coordinates(system, state):
        if only_angles and not coordinate.is_angle:
            continue
        start = drive.path(state.time)
        allowed = CLOSED if coordinate.is_angle else CLOSED * system.body_length + system.round_off
        if not abs(start - now) <= allowed:
            raise JointGapError(
                f"{drive} starts at {start:.6g} {coordinate.unit}, while the {drive.coordinate} at the"
                f" initial pose is {now:.6g} {coordinate.unit} (angles count from there); start the"
                " function there, or place the bodies where it starts; equilibrium() moves them there"
            )


def driven_coordinates(system: System, state: State) -> Iterator[tuple[Drive, Coordinate, float]]:
    """Yield each drive of a system with the joint coordinate that it prescribes and its value in a state. Values
    are lengths [m], or angles between -pi and pi [rad]."""
    at = system.at(state)
    for drive in system.mechanism.drives:
        coordinate = drive.joint.coordinate(system.dimension, drive.coordinate)
        yield drive, coordinate, coordinate.value(system.coordinate_functions(coordinate).values(at)[0])


def described_gap(owner: RowOwner, value: float) -> str:
    """Return a text for messages with the gap of a scalar constraint of the joint ``owner`` and its unit: for
    example "0.001 m", or "(cosine)" for a constraint on directions. ``value`` is the value of its constraint
    function."""
    return f"{_gap(owner, value):.6g} {'(cosine)' if owner.row.is_angle else 'm'}"


def _gap(owner: RowOwner, value: float) -> float:
    """Return the gap of a scalar constraint [m, or a cosine or angle] from the ``value`` of its constraint
    function. It is the value itself, except for ``Distance`` joints, whose function is half the difference of
    squared lengths. For these the change of the link's length is computed. ``owner`` names the joint of the
    constraint.
    """
    if isinstance(owner.joint, Distance):
        length = owner.joint.initial_length()
        return float(np.sqrt(max(length**2 + 2 * length * value, 0.0))) - length
    return float(value)


def residual_unit(owner: RowOwner) -> str:
    """Return the text of the unit in which messages give the rate of a scalar constraint (``owner``): "rad/s" for
    constraints on directions or angles, else "m/s"."""
    return "rad/s" if owner.row.is_angle else "m/s"


def undeformed(system: System) -> State:
    """Return the state of a system at t = 0 at the initial poses that the user gave, without deformation and with
    zero velocities. Positions of floating bodies are those of their centres of mass, followed by all nodes of the
    other bodies. Joints are not checked."""
    layout, frames = system.layout, system.bodies[: system.layout.frames]
    centres = [
        placed.position + placed.rotation @ position[:, 0]
        for placed, position in zip(frames, system.centres, strict=True)
    ]
    nodes: list[Array] = [placed.nodes.positions for placed in system.bodies if placed.nodes is not None]
    return State(
        time=0.0,
        position=np.concatenate([np.array(centres).reshape(-1, 3), *nodes]),
        rotation=np.array([placed.rotation for placed in frames]).reshape(-1, 3, 3),
        eta=np.zeros(int(layout.eta[-1])),
        velocity=np.zeros(int(layout.velocity[-1])),
    )


# Rigid velocities at t = 0: those that the user gave, the others from joints and drives (docs/theory.md, 6).

TOLERANCE = 1e-7
"""Tolerance on rates of joints, relative to the rates that they are sums of."""
ROUND_OFF = 1e-14
SENSITIVE = 1e4
"""Limit on the sensitivity of rigid velocities to their data, up to which a direct solution is accepted."""
SOON, SHORT = 1e-2, 1e-3  # [s]


def with_initial_velocity(system: System, state: State, at: Instants | None = None) -> State:
    """Return a copy of a state with initial velocities: those that the user prescribed, and for the rest the
    smallest that satisfy all joints and drives. ``VelocityError`` is raised if prescribed velocities contradict
    joints. ``at`` is the state as an instant, computed if None.

    Args:
        at: the state as an instant, where the caller has it.

    Raises:
        VelocityError: given velocities or drives that contradict the joints; names the worst joint
            and its residual.
    """
    here = system.at(state) if at is None else at
    moved = with_rigid_velocity(system, state, here)
    check_velocity(system, moved, at=here)
    return moved


def with_rigid_velocity(system: System, state: State, at: Instants | None = None) -> State:
    """Return a copy of a state of a system with the initial velocities that user, joints and drives prescribe
    (``rigid_velocity``). Whether they satisfy the joints is not checked. ``at`` is the state as an instant,
    if it is known already."""
    return replace(state, velocity=rigid_velocity(system, state, system.at(state) if at is None else at))


def rigid_velocity(system: System, state: State, at: Instants) -> Array:
    """Return the initial velocities of all bodies in the pose ``state``, shape (velocities,): prescribed ones from
    the user, all others with the smallest kinetic energy that satisfies the joints (least squares). Rods move as
    rigid bodies if joints allow it; elastic rates are zero. Velocities that contradict the joints raise no error
    here. ``at`` is the pose as an instant.

    Velocities that the user gave are kept. The others are the smallest ones, in the metric of their
    kinetic energy, with G nu = -g_t; so whatever no joint drives starts at rest. Rods move as one, undeformed,
    where joints and given velocities let them.

    Args:
        at: the pose as an instant.
    """
    prescribed, is_prescribed = user_velocity(system, state)
    free = np.flatnonzero(system.layout.is_rigid & ~is_prescribed)
    shift = reference_transform(system, state)
    matrix, drive = system.rows.small_matrix(at) @ shift, system.rows.drift(at)[0]
    aim = -drive - matrix @ prescribed
    is_still = not (aim.any() or prescribed.any())
    if system.mechanism.rods and not is_still:
        moving = _velocity_of_whole_rods(system, state, at, prescribed, free)
        if moving is not None:
            return moving
    if not aim.any():  # at rest, or prescribed so that it fits
        return np.asarray(shift @ prescribed)
    only = _only_solution(matrix[:, free], aim)
    if only is None:
        only = _smallest(shift.T @ system.small_mass(state, at) @ shift, matrix, aim, free)
    reference = prescribed.copy()
    reference[free] = only
    return np.asarray(shift @ reference)


def _velocity_of_whole_rods(
    system: System, state: State, at: Instants, prescribed: Array, free: IntArray
) -> Array | None:
    """Return initial velocities of all bodies, shape (velocities,), for which rods have zero strain rates, each
    rod moving as one rigid body. Among velocities that satisfy joints and user values, the kinetic energy is
    smallest. ``prescribed`` (velocities,) has the user's values at reference points, ``free`` the indices of all
    others. Return None if no velocities satisfy both up to a tolerance."""
    shift = reference_transform(system, state)
    rows = sparse.vstack([system.rows.matrix(at), system.rod_strains.matrix(at)], format="csr") @ shift
    aim = -rows @ prescribed - np.concatenate([system.rows.drift(at)[0], np.zeros(system.rod_strains.count)])
    reference = prescribed.copy()
    if aim.any():
        mass = sparse.csr_array(shift.T @ system.mass(state) @ shift)
        reference[free] = _smallest(mass, rows, aim, free)
        left = float(np.abs(rows[:, free] @ reference[free] - aim).max())
        if left > TOLERANCE * float((abs(rows) @ np.abs(reference)).max()):
            return None
    return np.asarray(shift @ reference)


def check_velocity(system: System, state: State, is_deformed: bool = False, at: Instants | None = None) -> None:
    """Raise ``VelocityError`` if the velocities of a state violate the time derivative of any joint constraint.
    Allowed is 1e-7 of the largest sum of absolute terms, plus round-off and errors of differentiated user
    functions. The message suggests the nearest velocities (in kinetic energy) that satisfy the joints. With
    ``is_deformed`` it says that the deformation is the cause.

    Args:
        is_deformed: they fit where the bodies are undeformed, and here these are not.
        at: the pose of the state as an instant, where the caller has it.

    Raises:
        VelocityError: names the worst joint, its residual and the nearest velocities that fit.
    """
    here = system.at(state) if at is None else at
    residual, scale = gap_rates(system, here, state.velocity)
    worst = float(np.abs(residual).max(initial=0.0))
    if worst <= TOLERANCE * scale:
        return
    allowed = TOLERANCE * scale + _round_off(system, here, state.velocity)
    if worst <= allowed or (system.rows.drift(here)[0].any() and worst <= allowed + _function_noise(system, state)):
        return
    rigid = np.flatnonzero(system.layout.is_rigid)
    nearest = state.velocity.copy()
    nearest[rigid] += _smallest(system.small_mass(state, here), system.rows.small_matrix(here), -residual, rigid)
    is_prescribed = user_velocity(system, state)[1]
    raise _contradiction(system, replace(state, velocity=nearest), residual, bool(is_prescribed.any()), is_deformed)


def _round_off(system: System, at: Instants, velocity: Array) -> float:
    """Return an estimate of the round-off in the rates of the joint constraints at the velocities ``velocity``
    [m/s, rad/s]: 1e-14 times a rate. The rate is the largest velocity or the largest sum of absolute terms of a
    constraint, where every axis of a body counts with the body's fastest spin. ``at`` is the state as an instant.

    The axis of a spin is known to round-off, and with it what the spin moves at the end of a lever along it.
    """
    sizes = np.abs(velocity)
    fastest = float(sizes.max(initial=0.0))  # of a string's nodes, far from the joint
    frame, _, index = system.layout.spin
    spins = np.zeros(len(system.bodies))
    np.maximum.at(spins, frame, sizes[index])
    sizes[index] = spins[frame]
    levers = float((abs(system.rows.small_matrix(at)) @ sizes).max(initial=0.0))
    return ROUND_OFF * max(fastest, levers)


def gap_rates(system: System, at: Instants, velocity: Array, before: Array | float = 0.0) -> tuple[Array, float]:
    """Return the rates at which given velocities open the joints of a system, shape (constraints,), and a scale of
    them for round-off. The scale, one number, is the largest sum of absolute terms of a rate, with those of
    ``before`` added: the velocities from which ``velocity`` was computed. ``at`` is the pose. Units are m/s or
    rad/s.

    Args:
        at: the pose as an instant.
        velocity: velocities nu, shape (velocities,).
        before: nu that it was made from, whose round-off is in it.

    Returns:
        G nu + g_t, shape (constraints,), and the greatest of |G| (|nu| + |before|) + |g_t|.
    """
    matrix, drift = system.rows.small_matrix(at), system.rows.drift(at)[0]
    sums = abs(matrix) @ (np.abs(velocity) + np.abs(before)) + np.abs(drift)
    return matrix @ velocity + drift, float(sums.max(initial=0.0))


def _function_noise(system: System, state: State) -> float:
    """Return an estimate of the error of constraint rates that comes from differentiated user functions [m/s,
    rad/s]. Velocities of moving ground frames and drives may be finite differences, which are not exact. The
    estimate is the round-off of positions, divided by a short time, plus a small fraction of the rates shortly
    after the state.

    Where frames and drives start at rest nothing moves that it could be compared with, but they soon do.
    """
    noise = system.round_off / SHORT + ROUND_OFF
    with suppress(PhlexibleError):  # functions that end before then
        soon = system.rows.drift(system.at(replace(state, time=state.time + SOON)))[0]
        noise += TOLERANCE * float(np.abs(soon).max(initial=0.0))
    return noise


def user_velocity(system: System, state: State) -> tuple[Array, BoolArray]:
    """Return the initial velocities that the user prescribed, zero elsewhere, and a mask of the prescribed
    entries, both (velocities,). Translations are those of reference points in world axes, angular velocities are
    in body axes; nodes have their velocities. If the user prescribed only one kind for bodies that no joint
    guides, the other kind is zero and in the mask.

    Those of translation are velocities of the reference points in world axes. The mask includes velocities that
    were left out of bodies that nothing holds: they are zero.
    """
    layout, d = system.layout, system.dimension
    values = np.zeros(int(layout.velocity[-1]))
    is_prescribed = np.zeros(len(values), dtype=bool)
    for index, placed in enumerate(system.bodies):
        begin = int(layout.velocity[index])
        if placed.nodes is not None:
            if placed.nodes.velocities is not None:
                values[layout.span(index)] = placed.nodes.velocities[:, :d].ravel()
                is_prescribed[layout.span(index)] = True
            continue
        if placed.velocity is not None:
            values[begin : begin + d] = placed.velocity[:d]
            is_prescribed[begin : begin + d] = True
        if placed.angular_velocity is not None:
            axes = list(placed.data.rotation_axes)
            end = begin + d + len(axes)
            values[begin + d : end] = (state.rotation[index].T @ placed.angular_velocity)[axes]
            is_prescribed[begin + d : end] = True
    for index, is_spin in _velocities_left_out(system):
        middle = int(layout.velocity[index]) + d
        end = middle + len(system.bodies[index].data.rotation_axes)
        is_prescribed[slice(middle, end) if is_spin else slice(middle - d, middle)] = True
    return values, is_prescribed


def _velocities_left_out(system: System) -> list[tuple[int, bool]]:
    """Return which initial velocities count as zero because the user prescribed only the other kind, translational
    or angular. Entries are pairs: the index of a body, and True if its angular, False if its translational velocity
    is zero. Only groups of bodies that ``Fixed`` joints, rods or split beams make one body are examined, and only
    if no other joint acts on them.

    ``Fixed`` joints and rods make several bodies one. With a velocity alone that one does not turn; with an angular
    velocity alone a rod or a beam in parts turns about its start, as bodies turn about their origins.
    """
    bodies, mechanism = system.bodies, system.mechanism
    if not any((placed.velocity is None) != (placed.angular_velocity is None) for placed in bodies):
        return []
    rods = [[system.index[placed] for placed in rod.handle.parts] for rod in mechanism.rods]
    wholes = rods + [[system.index[placed] for placed in split.parts] for split in mechanism.split_beams]
    links, held = [pair for rod in rods for pair in pairwise(rod)], set()
    for constraint in system.constraints:
        on = [system.index[port.placed] for port in ports_of(constraint) if isinstance(port, Attachment)]
        if isinstance(constraint, Fixed) and len(on) == 2:
            links.append((on[0], on[1]))
        else:
            held |= set(on)
    ends = np.array(links, dtype=np.int64).reshape(-1, 2).T
    groups, found = linked_groups(ends, len(bodies)), []
    for number in np.unique(groups[ends]):
        members = np.flatnonzero(groups == number).tolist()
        speeds = {index: speed for index in members if (speed := bodies[index].velocity) is not None}
        spun = [index for index in members if bodies[index].angular_velocity is not None]
        if held & set(members):
            continue
        if not spun and len({tuple(speed.tolist()) for speed in speeds.values()}) == 1:
            found += [(index, True) for index in speeds if bodies[index].data.rotates]
        elif spun and not speeds and members in map(sorted, wholes):
            found.append((members[0], False))
    return found


def reference_transform(system: System, state: State) -> Matrix:
    """Return the matrix (velocities, velocities) from velocities with reference points of floating bodies to those
    with centres of mass, in a state. Without elastic rates V = v + R (w x c), docs/theory.md, 2, (2.7). R rotates
    body to world axes; angular velocity w and centre of mass c are in body axes, velocities v and V in world axes.
    All other entries are the identity."""
    layout = system.layout
    size, (frame, axis, place) = int(layout.velocity[-1]), layout.spin
    centres = [
        place[:, 0] + place[:, 1:] @ system.elastic(state, index) for index, place in enumerate(system.centres)
    ]
    arms = -state.rotation @ cross_matrix(np.array(centres).reshape(-1, 3))
    d = system.dimension
    own, levers = np.arange(size), arms[frame, :d, axis]
    if is_small(size):
        result = np.eye(size)
        result[layout.linear[frame], place[:, None]] = levers
        return result
    rows, columns = np.concatenate([own, layout.linear[frame].ravel()]), np.concatenate([own, np.repeat(place, d)])
    triples = (np.concatenate([np.ones(size), levers.ravel()]), (rows, columns))
    return sparse.coo_array(triples, (size, size)).tocsr()


def _smallest(mass: Matrix, matrix: Matrix, values: Array, free: IntArray) -> Array:
    return smallest_solution(mass[np.ix_(free, free)], matrix[:, free], values)


def _only_solution(matrix: Matrix, values: Array) -> Array | None:
    """Return the solution x of the square system ``matrix @ x = values`` if it is well conditioned. It is computed
    by the dense inverse with one step of iterative refinement. Return None otherwise, also if the matrix is
    sparse, singular or not square."""
    if not isinstance(matrix, np.ndarray) or matrix.shape[0] != matrix.shape[1]:
        return None
    try:
        (x,), (is_sure,) = only_solutions(matrix[None], values[None])
    except np.linalg.LinAlgError:
        return None
    return x if is_sure else None


def only_solutions(matrices: Array, values: Array) -> tuple[Array, BoolArray]:
    """Solve several square linear systems by inverse matrices with one step of iterative refinement. Return the
    solutions, shape (systems, unknowns), and a mask that is True where a solution is well conditioned, shape
    (systems,). A singular matrix raises ``LinAlgError``.

    Raises:
        LinAlgError: a matrix is singular.
    """
    inverse: Array = np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    x = times(inverse, values)
    x += times(inverse, values - times(matrices, x))
    sensitive = times(np.abs(inverse), times(np.abs(matrices), np.abs(x)))
    return x, sensitive.max(axis=1) <= SENSITIVE * np.abs(x).max(axis=1)


def times(matrices: Array, vectors: Array) -> Array:
    """Return the product of each matrix with the vector of the same index, shape (systems, rows of a matrix)."""
    return np.asarray((matrices @ vectors[:, :, None])[:, :, 0])


def _contradiction(
    system: System, nearest: State, residual: Array, any_prescribed: bool, is_deformed: bool
) -> VelocityError:
    worst = int(np.abs(residual).argmax())
    owner = system.owners[worst]
    found = (
        f"contradict {owner.joint}: {owner.row.label} is violated by "
        f"{abs(residual[worst]):.6g} {residual_unit(owner)}"
    )
    if not any_prescribed:
        return VelocityError(f"no rigid motion fits all joints and moving frames; their velocities {found}")
    bodies = [port.placed for port in ports_of(owner.joint) if isinstance(port, Attachment)]
    offers = [_offer(system, nearest, system.index[placed]) for placed in bodies]
    given = "the given velocities"
    if is_deformed:
        given += " fit the undeformed bodies, and where these are deformed they"
    return VelocityError(
        f"{given} {found}; leave velocity and angular_velocity out and the joints decide, "
        f"or take the nearest that fit: {'; '.join(offers)}"
    )


def _offer(system: System, state: State, index: int) -> str:
    placed = system.bodies[index]
    if placed.nodes is not None:
        return f"{placed.name}: leave velocity out"
    velocity, spin = reference_velocity(system, state, index)
    text = f"{placed.name} velocity={np.round(velocity, 9).tolist()}"
    if placed.data.rotates:
        text += f", angular_velocity={np.round(spin, 9).tolist()}"
    return text


def reference_velocity(system: System, state: State, index: int) -> tuple[Array, Array]:
    """Return the velocity of the reference point of a floating body of a system in a state [m/s], and its
    angular velocity [rad/s]; both in world axes, each of shape (3,). The reference point is the origin of the
    body frame. ``index`` is the number of the body."""
    V, w, rate = split_velocity(system.frames[index], state.velocity[system.layout.span(index)])
    centre, turn = system.centres[index], state.rotation[index]
    position = centre @ np.concatenate([[1.0], system.elastic(state, index)])
    return V - turn @ (np.cross(w, position) + centre[:, 1:] @ rate), turn @ w
