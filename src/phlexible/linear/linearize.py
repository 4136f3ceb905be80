"""Linearization of a mechanism to a port-Hamiltonian model, in displacement or in stress form."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.elimination import null_space
from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.sparse import SaddlePoint, lu_factors, natural_scale
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import elastic_tangent
from phlexible.bodies.stress_space import StressContinuity, StressSpace
from phlexible.description.ports import PlacedBody
from phlexible.errors import EquilibriumError, ParameterError, PhlexibleError
from phlexible.linear.equilibria import OperatingKind, OperatingPoint, operating_point
from phlexible.linear.mechanics import LinearMechanics, body_sums, in_blocks, linear_mechanics
from phlexible.linear.signals import Input, Output, coordinates, input_rows, multipliers, output_sensors, rates_of
from phlexible.linear.sticking import principal_stiffnesses
from phlexible.linear.symmetric_modes import check_stability
from phlexible.measure.sensors import LinearPoint
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Port, StateGroup
from phlexible.state.forces import applied_forces, element_state, gravity_and_load_forces
from phlexible.state.initial_velocity import with_rigid_velocity
from phlexible.state.layout import State
from phlexible.state.redundancy import independent_rows
from phlexible.state.small_motions import centring_matrix, world_matrix
from phlexible.state.system import System
from phlexible.state.vectors import split_rigid

# Stresses as states of a linear model ([B] (45)): ``M_s ds/dt = B v``, ``M dv/dt = ... - B^T s``.
#
# Those of a body are the coordinates of its stress space, such as normal forces and bending moments of a beam; a
# spring has one, its force. Eliminated, they leave the stiffness ``B^T M_s^-1 B``.


@dataclass(frozen=True, eq=False)
class StressStates:
    """Stresses of all bodies and springs as states of a linear model, with their compliance and strain rates.

    Attributes:
        compliance: M_s, shape (s, s), symmetric, positive definite.
        rates: B, shape (s, sum of velocity counts).
        groups: names and units.
    """

    compliance: sparse.csr_array
    rates: sparse.csr_array
    groups: tuple[StateGroup, ...]


def stress_states(system: System, point: OperatingPoint, stress: StressContinuity) -> StressStates:
    """Return the stresses that are states of a linear model about an operating ``point``, as compliance matrix,
    strain rates per velocity, and names. First come stresses of all bodies, then of springs of force elements,
    then of sticking friction and contact pairs. ``stress`` says whether stresses of bodies are continuous. A
    spring with negative stiffness raises ``EquilibriumError``.

    Raises:
        EquilibriumError: a force that grows with its coordinate: no spring.
    """
    compliances, rates, blocks = [], [], []
    for placed in system.bodies:
        assert isinstance(placed.data, FloatingBody), "the stress form refuses strings"
        space = _space(placed, placed.data, stress)
        compliances.append(space.compliance)
        rates.append(np.hstack([np.zeros((space.size, placed.data.rigid_count)), space.rows]))
        blocks += [StateGroup(f"{placed.name} {block.name}", block.unit, 1) for block in space.groups]
    bodies = sparse.csr_array(sparse.block_diag(rates, "csr"))
    stiffness, springs, spring_blocks = _springs(system, point)
    return StressStates(
        sparse.csr_array(sparse.block_diag([*compliances, sparse.diags_array(1 / stiffness)], "csr")),
        sparse.csr_array(sparse.vstack([bodies, springs])),
        (*blocks, *spring_blocks),
    )


def with_stress_space(mechanics: LinearMechanics, system: System, stress: StressContinuity) -> LinearMechanics:
    """Return a copy of a linear model (mass, damping, stiffness) with the lower stiffness that bodies have if their
    stresses are continuous between elements. The damping of each body changes by its viscosity (a time) times the
    change of its stiffness. Discontinuous stresses (``stress``) do not change the stiffness; then ``mechanics``
    itself is returned. ``system`` has the bodies.
    """
    if stress is StressContinuity.DISCONTINUOUS:
        return mechanics  # the same stiffness
    changes, viscous = [], []
    for placed in system.bodies:
        body = placed.data
        assert isinstance(body, FloatingBody), "the stress form refuses strings"
        rest = np.zeros(body.elastic_count)
        softer = _space(placed, body, stress).viscous_matrix(rest) - elastic_tangent(body, rest)
        changes.append(linalg.block_diag(np.zeros((body.rigid_count,) * 2), softer))
        viscous.append(body.viscosity * changes[-1])
    return replace(
        mechanics, stiffness=_added(mechanics.stiffness, changes), damping=_added(mechanics.damping, viscous)
    )


def _space(placed: PlacedBody, body: FloatingBody, stress: StressContinuity) -> StressSpace:
    """Return the space of stresses of a floating ``body`` (``placed`` in the model) in a linear model of
    stress form; it is empty for a rigid body. Stresses are bending moments along a beam, for example.
    ``stress`` says whether stresses are continuous."""
    return placed.resolved.stress_space(body, stress if body.elastic_count else StressContinuity.DISCONTINUOUS)


def _springs(system: System, point: OperatingPoint) -> tuple[Array, sparse.csr_array, list[StateGroup]]:
    """Return stiffnesses (k,), rows (k, velocities) and state names of all springs of a system at an operating
    ``point``. Times a small motion, a row gives the change of the spring's length or angle. Force elements of
    nonzero stiffness come first, then sticking friction, then the principal stiffnesses of contact pairs. Raise
    ``EquilibriumError`` for a force element of negative stiffness.
    """
    state = point.state
    elements = element_state(system, system.at(state), state)
    stiffness = np.array(
        [-each.force.tangent(float(theta)) for each, theta in zip(system.forces, elements.theta, strict=True)]
    )
    if (stiffness < 0).any():
        pushing = system.forces[int(np.argmin(stiffness))].element
        raise EquilibriumError(f'form="stress": {pushing} pushes away from rest; take form="displacement"')
    stiff = np.flatnonzero(stiffness)
    motion = world_matrix(system, state) @ centring_matrix(system, state)
    blocks = []
    for k in stiff:
        element, force = system.forces[k]
        blocks.append(StateGroup(f"spring {k}: {element}", "N m" if force.coordinate.is_angle else "N", 1))
    stiffnesses, rows = [stiffness[stiff]], [sparse.csr_array((elements.rows @ motion)[stiff])]
    for number, (own, stiffness_of_one, along) in enumerate(point.sticking_rows):
        stiffnesses.append(np.full(len(along), stiffness_of_one))
        rows.append(sparse.csr_array(along @ motion))
        element, force = system.forces[own]
        unit = "N m" if force.coordinate.is_angle else "N"
        blocks += [StateGroup(f"bristle {number} {i}: {element}", unit, 1) for i in range(len(along))]
    sizes, along = principal_stiffnesses(point.pair_tangents.stiffness)
    stiffnesses.append(sizes)
    rows.append(sparse.csr_array(along @ motion))
    blocks += [StateGroup(f"pairs that touch {i}", "N", 1) for i in range(len(sizes))]
    return np.concatenate(stiffnesses), sparse.csr_array(sparse.vstack(rows)), blocks


def _added(matrix: sparse.csr_array, blocks: list[Array]) -> sparse.csr_array:
    found = sparse.csr_array(matrix + sparse.block_diag(blocks, "csr"))
    found.eliminate_zeros()
    return found


# Displacement form, x = (q, v, lambda)::
#
#     diag(I, M, 0) dx/dt = ([0 I 0; -I -D G^T; 0 -G 0] - diag(0, C, 0)) diag(K, I, I) x + (0, F, 0) u
#
# and strains e of laws that creep before lambda, S de/dt = S B v - S / tau e with forces -B^T S e (inner_strains).
#
# Stress form, [B] (45), x = (v, s, lambda) with ``M_s ds/dt = B v`` of ``stress_states``::
#
#     diag(M, M_s, 0) dx/dt = ([-D -B^T G^T; B 0 0; -G 0 0] - diag(C, 0, 0)) x + (F, 0, 0) u


class Form(StrEnum):
    """Form of a first-order linear model, by the kind of its states.

    DISPLACEMENT: states (q, v, lambda). STRESS: states (v, stress, lambda).
    """

    DISPLACEMENT = "displacement"
    STRESS = "stress"


@dataclass(frozen=True, eq=False)
class Linearization:
    """Second-order linear model of a mechanism, with the system and the operating point that it comes from.

    Attributes:
        system: system that was linearized.
        point: the operating point.
        mechanics: second-order matrices with forces of the inputs and rows of the outputs.
        coordinates: names and units of x.
        ports: ports of the inputs, with names and units.
        outputs: names of the outputs.
        output_units: units of the outputs.
        left_out: controllers and forces that it does not have, with the reason.
    """

    system: System
    point: OperatingPoint
    mechanics: LinearMechanics
    coordinates: tuple[StateGroup, ...]
    ports: tuple[Port, ...]
    outputs: tuple[str, ...]
    output_units: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def linearization(
    system: System,
    inputs: Sequence[Input] = (),
    outputs: Sequence[Output] | None = None,
    at: OperatingKind = OperatingKind.GIVEN,
    state: State | None = None,
) -> Linearization:
    """Linearize a system (mechanism) about an operating point: return mass, damping, stiffness and constraint
    matrices, generalized forces of ``inputs`` and matrix rows of ``outputs``. Outputs default to the rates at the
    inputs. The point is of kind ``at`` (given pose, equilibrium, ...), from ``state`` or else the initial pose.
    Raise for an unstable equilibrium, coefficients that change in a steady rotation, or equal names.

    Args:
        system: bodies, joints and loads.
        inputs: forces, joints or attachments, see ``input_rows``.
        outputs: sensors, joints or attachments, see ``output_sensors``; None: the velocities that are
            power-conjugate to the inputs.
        at: kind of the operating point about which the mechanism is linearized.
        state: state from which the operating point is determined; None: the initial pose.

    Raises:
        EquilibriumError: no such point, or an unstable static equilibrium.
        ModelError: signals that are not of this model.
    """
    point = operating_point(system, at, state)
    motion = sparse.csr_array(world_matrix(system, point.state) @ centring_matrix(system, point.state))
    here = LinearPoint(system, system.at(point.state), motion)
    given = input_rows(here, inputs)
    ports = tuple(port for port, _ in given)
    if outputs is None:
        wanted = [(f"rate to {port.name}", port.output_unit, row, 1) for port, row in given]
    else:
        sensors = output_sensors(here, outputs)
        wanted = [(*row, sensor.differentiations) for sensor in sensors for row in sensor.rows(here)]
    size = int(system.layout.velocity[-1])
    bodies = body_sums(system, point.state)
    plain, left_out = linear_mechanics(system, point, bodies)
    mechanics = replace(
        plain,
        forces=np.array([row for _, row in given]).reshape(-1, size).T,
        rows=np.array([row for _, _, row, _ in wanted]).reshape(-1, size),
        differentiations=tuple(level for *_, level in wanted),
    )
    if at is OperatingKind.STATIC:
        check_stability(mechanics)
    if at is OperatingKind.STEADY_ROTATION:
        check_constant_coefficients(system, point, plain, bodies)
    elif state is None:
        left_out += rotation_left_out(system, point.state, plain)
    names, units = tuple(name for name, *_ in wanted), tuple(unit for _, unit, *_ in wanted)
    for kind, found in (("inputs", tuple(port.name for port in ports)), ("outputs", names)):
        if len(set(found)) < len(found):
            raise ParameterError(f"two {kind} have one name: {', '.join(found)}")
    return Linearization(system, point, mechanics, coordinates(system), ports, names, units, left_out)


def displacement_form(
    mechanics: LinearMechanics,
    coordinates: tuple[StateGroup, ...],
    ports: tuple[Port, ...],
    multipliers: tuple[StateGroup, ...] = (),
) -> LinearPHDAE:
    """Convert second-order matrices (``mechanics``) to a first-order port-Hamiltonian model with states (q,
    v, e, lambda): displacements, velocities, strains of viscoelastic branches and ``multipliers`` of
    constraints. ``coordinates`` are the names and units of the displacements, ``ports`` those of the inputs."""
    one = sparse.eye_array(mechanics.size, format="csr")
    states = (*coordinates, *rates_of(coordinates), *_inner_names(mechanics), *multipliers)
    return _first_order(mechanics, (one, one, mechanics.stiffness), states, ports, strains_first=True)


def _inner_names(mechanics: LinearMechanics) -> tuple[StateGroup, ...]:
    return tuple(block for each in mechanics.inner for block in each.names)


def multiplier_blocks(linear: Linearization) -> tuple[StateGroup, ...]:
    """Return state blocks (name, unit, size 1) for the constraint multipliers of a linearized mechanism. If it has
    redundant constraints, only the multipliers of a linearly independent set are returned; otherwise all are.
    Independence is judged at the operating point."""
    names = multipliers(linear.system)
    if len(names) == linear.mechanics.constraint_matrix.shape[0]:
        return names
    return tuple(names[k] for k in independent_rows(linear.system, linear.point.state))


def stress_form(linear: Linearization, stress: StressContinuity) -> LinearPHDAE:
    """Convert a linearized mechanism (``linear``) to a first-order port-Hamiltonian model with states (v, s, e,
    lambda). These are velocities, stresses, strains of viscoelastic branches and multipliers of constraints.
    ``stress`` selects whether stresses are continuous between elements. Raise ``EquilibriumError`` for a loaded or
    deformed operating point, or strings, which need displacements as states.

    Raises:
        EquilibriumError: prestress, gravity, rotation or strings, which need displacements as states.
        ParameterError: a stress space that a body does not have.
    """
    if linear.point.kind is not OperatingKind.UNLOADED or linear.point.state.eta.any() or linear.system.nodal:
        raise EquilibriumError(
            'form="stress" holds about an unloaded, undeformed pose at rest and without strings, which their '
            'tension makes stiff; take at="unloaded", which leaves gravity and loads out, or form="displacement"'
        )
    mechanics, found = linear.mechanics, stress_states(linear.system, linear.point, stress)
    strains = (found.compliance, found.rates, sparse.eye_array(len(found.groups), format="csr"))
    states = (*rates_of(linear.coordinates), *found.groups, *_inner_names(mechanics), *multiplier_blocks(linear))
    return _first_order(mechanics, strains, states, linear.ports, strains_first=False)


def _first_order(
    mechanics: LinearMechanics,
    strains: tuple[sparse.sparray, sparse.sparray, sparse.sparray],
    states: tuple[StateGroup, ...],
    ports: tuple[Port, ...],
    strains_first: bool,
) -> LinearPHDAE:
    """Return a first-order port-Hamiltonian model from second-order matrices (``mechanics``) and from equations E
    ds/dt = B v of strains or displacements s. ``strains`` is the tuple (E, B, Q), where Q s are the stresses.
    States are the velocities v, s, strains of viscoelastic branches and multipliers of constraints, in this order,
    but s first if ``strains_first``. ``states`` has their names, units and sizes, ``ports`` those of the inputs.
    """
    compliance, rates, efforts = strains
    n, count, rows = mechanics.size, compliance.shape[0], mechanics.constraint_matrix.shape[0]
    still, ties, G = sparse.csr_array((count, count)), sparse.csr_array((rows, rows)), mechanics.constraint_matrix
    S, inner, R = in_blocks(mechanics.inner, n)
    structure = [
        [-mechanics.velocity, -rates.T, -inner.T, G.T],
        [rates, still, None, None],
        [inner, None, sparse.csr_array(S.shape), None],
        [-G, None, None, ties],
    ]
    one, *others = (sparse.eye_array(size, format="csr") for size in (n, mechanics.inner_count, rows))
    diagonals = [mechanics.mass, compliance, S, ties], [mechanics.damping, still, R, ties], [one, efforts, *others]
    order = (1, 0, 2, 3) if strains_first else (0, 1, 2, 3)
    descriptor, dissipation, effort_map = (
        sparse.csr_array(sparse.block_diag([blocks[k] for k in order])) for blocks in diagonals
    )
    forces, begin = np.zeros((descriptor.shape[0], len(ports))), count if strains_first else 0
    forces[begin : begin + n] = mechanics.forces
    whole = sparse.csr_array(sparse.block_array([[structure[i][k] for k in order] for i in order]))
    return LinearPHDAE(descriptor, whole, dissipation, sparse.csr_array(forces), states, ports, effort_map)


# Linear models about a steady rotation: whether their coefficients stay constant as the bodies turn, and rotations
# that models at rest leave out.

ANGLE = 1.0  # [rad] of the fastest body; no fraction of a turn, after which a rotor may look as before
CONSTANT = 1e-5  # relative; laws of the user have derivatives by differences
STILL = 1e-9  # [rad/s], of round-off of functions of time
GOES_ON = 0.3  # relative gap of joints that a prescribed rotation opens within 1 rad, if it is no small vibration


def rotation_left_out(system: System, resting: State, mechanics: LinearMechanics) -> tuple[str, ...]:
    """Return a text on the fastest initial rotation of a body that a linear model at rest does not describe, in a
    tuple; empty if there is none. There is none if no body rotates, if by the energies the model's springs stop the
    rotation within 1 rad, or if prescribed motions go on without it. ``resting`` is the state of linearization,
    ``mechanics`` its matrices.

    There is none where the model at rest makes it a vibration of less than 1 rad, as of a pendulum.

    Args:
        resting: state about which the model is linearized.
    """
    drift = system.rows.drift(system.at(resting))[0]
    nu = with_rigid_velocity(system, resting).velocity
    spins = np.linalg.norm(split_rigid(system.layout, nu)[1], axis=1)
    speed = float(spins.max(initial=0.0))
    if not speed > STILL:
        return ()
    v = lu_factors(world_matrix(system, resting) @ centring_matrix(system, resting)).solve(nu)
    if drift.any():
        later = (replace(resting, time=resting.time + share * ANGLE / speed) for share in (0.3, 0.6, 1.0))
        with suppress(PhlexibleError):  # functions that end before then
            gaps = [system.relative_gaps(system.rows.values(system.at(each))[0]).max() for each in later]
            if max(gaps) < GOES_ON:
                return ()
    elif v @ (mechanics.stiffness @ v) > speed**2 * (v @ (mechanics.mass @ v)):
        return ()
    turning = f"the initial rotation of {system.bodies[int(spins.argmax())].name} at {speed:.4g} rad/s"
    return (f'{turning}; where it is steady, at="steady_rotation" has its centrifugal and gyroscopic forces',)


def check_constant_coefficients(
    system: System, point: OperatingPoint, mechanics: LinearMechanics, bodies: list[sparse.csr_array]
) -> None:
    """Raise ``EquilibriumError`` that names bodies if the matrices of a linear model about a steady rotation
    change as it rotates further. They are computed again after a small rotation and compared in body axes:
    constraints, viscoelastic strains, stiffness, damping and gyroscopic terms. Nothing is checked if no body
    rotates. ``point`` is the operating point, ``mechanics`` are the matrices there, ``bodies`` the ``body_sums``,
    which turn with the bodies.

    Parts that do not turn cause this where they are not isotropic or move with the rotor, and so do loads and
    gravity across the axis. Eigenvalues of the coefficients at one angle then mean nothing.

    Raises:
        EquilibriumError: names the bodies where the coefficients change most.
    """
    state = point.state
    spin = split_rigid(system.layout, state.velocity)[1]
    speed = float(np.linalg.norm(spin, axis=1).max(initial=0.0))
    if not speed > STILL:
        return
    after = _state_after(system, state, ANGLE / speed)
    pulls = _multipliers_after(system, point, after, mechanics.mass)
    other = linear_mechanics(system, replace(point, state=after, multipliers=pulls), bodies)[0]
    weight = natural_scale(mechanics.mass)
    free = null_space(mechanics.constraint_matrix, weight, allow_dependent=True)
    basis = sparse.csr_array(sparse.diags_array(1 / weight) @ free.basis)
    scaled = sparse.csr_array(basis @ sparse.diags_array(1 / np.sqrt((basis**2).sum(axis=0))))
    rows = sparse.csr_array(other.constraint_matrix @ sparse.diags_array(weight))
    rows = sparse.csr_array(sparse.diags_array(1 / np.sqrt((rows**2).sum(axis=1))) @ rows)
    motions = sparse.csr_array(sparse.diags_array(weight) @ scaled)  # of unit kinetic energy, nearly
    missed = abs(rows @ scaled)
    if missed.nnz and float(missed.max()) > CONSTANT:
        row = rows[[int(missed.max(axis=1).toarray().argmax())]]
        _refuse(system, row.indices[np.abs(row.data) > CONSTANT])
    for creep, again in zip(mechanics.inner, other.inner, strict=True):
        turned = abs(creep.rows - again.rows)
        if float(turned.max()) > CONSTANT * float(abs(creep.rows).max()):
            _refuse(system, np.array([turned.max(axis=0).toarray().argmax()]))
    # Laws that creep count by their springs, which are all that moves at once.
    stiff, later = (sum((law.fast_stiffness for law in each.inner), each.stiffness) for each in (mechanics, other))
    sizes = (abs(motions) * ((abs(stiff) + abs(later)) @ abs(motions))).sum(axis=0) + speed**2
    pairs = [(stiff, later, 1.0), (mechanics.circulatory, other.circulatory, 1.0)]
    pairs += [(mechanics.damping, other.damping, speed), (mechanics.velocity, other.velocity, speed)]
    for before, now, rate in pairs:
        change = sparse.coo_array(motions.T @ (now - before) @ motions)
        share = rate * np.abs(change.data) / np.sqrt(sizes[change.row] * sizes[change.col])
        if share.max(initial=0.0) > CONSTANT:
            worst = int(share.argmax())
            _refuse(system, free.free[[change.row[worst], change.col[worst]]])


def _state_after(system: System, state: State, time: float) -> State:
    """Return the state of a system after a ``time`` [s] in which every floating body moves with constant
    velocities in its own axes. This screw motion is computed by the matrix exponential. World velocities are
    rotated with the bodies. Elastic coordinates and nodes of other bodies are unchanged; angles of force elements
    are unset."""
    layout, d = system.layout, system.dimension
    linear, spin = split_rigid(layout, state.velocity)
    position, rotation, velocity = state.position.copy(), state.rotation.copy(), state.velocity.copy()
    for index in range(layout.frames):
        own = state.rotation[index]
        twist = np.zeros((4, 4))
        twist[:3, :3], twist[:3, 3] = cross_matrix(spin[index]), own.T @ linear[index]
        moved = linalg.expm(time * twist)
        position[index] += own @ moved[:3, 3]
        rotation[index] = own @ moved[:3, :3]
        velocity[layout.linear[index]] = (rotation[index] @ twist[:3, 3])[:d]
    return replace(
        state, time=state.time + time, position=position, rotation=rotation, velocity=velocity, theta=None
    )


def _multipliers_after(system: System, point: OperatingPoint, after: State, mass: sparse.csr_array) -> Array:
    """Return the joint multipliers, shape (constraints,), that balance the forces in the rotated state ``after`` as
    those of ``point`` do there. Applied plus joint forces in body axes are then the same in both; loads are those
    at the time of ``point``. Redundant multipliers are zero; the others solve a saddle-point system with the
    ``mass`` matrix. Raise ``EquilibriumError`` if the forces left over exceed a tolerance.

    Raises:
        EquilibriumError: no multipliers give these forces.
    """

    def forces(state: State) -> tuple[sparse.csr_array, Array]:
        """Return the matrix from small motions in body axes to velocities in world axes, and the applied
        forces in body axes, in a state. Loads are those at the time of the operating point."""
        motion = sparse.csr_array(world_matrix(system, state) @ centring_matrix(system, state))
        at, loaded = system.at(state), system.at(replace(state, time=point.state.time))
        loads = gravity_and_load_forces(system, loaded) - gravity_and_load_forces(system, at)
        return motion, motion.T @ (applied_forces(system, state, at) + loads)

    (motion, before), (turned, now) = forces(point.state), forces(after)
    pulled = motion.T @ (system.rows.matrix(system.at(point.state)).T @ point.multipliers)
    kept = independent_rows(system, after)
    rows = sparse.csr_array(system.rows.matrix(system.at(after))[kept] @ turned)
    acceleration, pulls = SaddlePoint(mass, rows, scale=natural_scale(mass)).solve(pulled + before - now)
    weight = natural_scale(mass)
    left, sizes = weight * (mass @ acceleration), weight * (abs(pulled) + abs(before) + abs(now))
    if np.linalg.norm(left) > CONSTANT * np.linalg.norm(sizes):
        _refuse(system, np.array([np.abs(left).argmax()]))
    multipliers = np.zeros(int(system.layout.multiplier[-1]))
    multipliers[kept] = pulls
    return multipliers


def _refuse(system: System, coordinates: IntArray) -> None:
    owners = np.searchsorted(system.layout.velocity, coordinates, side="right") - 1
    names = " and ".join(dict.fromkeys(system.bodies[index].name for index in owners))
    raise EquilibriumError(
        f"the coefficients of the linear model change as the bodies turn, at {names}: what does not turn must be"
        " without mass and alike in all directions across the axis (isotropic springs, joints to the ground), and"
        " gravity and loads must act along the axis or turn with the body; simulate() has no such limits"
    )
