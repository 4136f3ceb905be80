"""Velocities projected onto the joints, and joint forces from accelerations (4.15, 4.23; docs/theory.md, 4)."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import smallest_with_multipliers, solver
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.floating import quadratic_velocity_forces
from phlexible.description.interactions.contact import Contact
from phlexible.errors import SingularMatrixError, VelocityError
from phlexible.state.branches import history_variable_forces, viscoelastic_body_forces
from phlexible.state.forces import elastic_force, element_state, gravity_forces, load_forces, viscous_force
from phlexible.state.initial_velocity import TOLERANCE, gap_rates, residual_unit
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.recorded_run import Reactions
from phlexible.state.system import Phase, System

# Velocities brought back onto the joints where the step changes (4.15; docs/theory.md, 4).


@dataclass(frozen=True, eq=False)
class Projection:
    """Result of an impulse of joint forces that makes velocities satisfy the joints.

    Attributes:
        velocity: nu after it.
        work: supplied by moving frames and drives in each constraint, shape (constraints,) [J].
        lost: kinetic energy lost, never negative [J].
    """

    velocity: Array
    work: Array
    lost: float


def projection(phase: Phase, state: State, at: Instants | None = None) -> Projection:
    """Return the velocities nearest to those of a ``state``, in the norm of kinetic energy, that satisfy the active
    constraints of a ``phase``. The result also has the work [J] that ground frames and drives do through each
    constraint, and the kinetic energy [J] of the velocity change, which is lost. The state is not changed. ``at``
    is the state with its positions evaluated (None: evaluated here).

    The component of nu along G changes its sign in each step of one length; where the length changes it would grow.
    The impulse -G^T mu is one of joint forces, so that momenta of bodies joined to each other stay exact. The
    kinetic energy grows by g_t.mu, which moving frames and drives supply, less change.M change / 2.

    Args:
        phase: active constraints.
        state: whose velocities are projected.
        at: the state as an instant, if the caller has it.
    """
    system = phase.system
    at = system.at(state) if at is None else at
    mass, matrix, drift = system.small_mass(state, at), system.rows.small_matrix(at), system.rows.drift(at)[0]
    change, mu = smallest_with_multipliers(mass, matrix, -matrix @ state.velocity - drift)
    starts, work = system.layout.multiplier, np.zeros(phase.constraints)
    work[phase.active] = [drift[a:b] @ mu[a:b] for a, b in pairwise(starts)]
    return Projection(state.velocity + change, work, float(change @ (mass @ change)) / 2)


def check_velocities(phase: Phase, state: State, before: Array, cause: str) -> None:
    """Raise ``VelocityError`` if the velocities of ``state``, after an impulse, do not satisfy the active
    constraints (``phase``): the constraints then contradict each other. Round-off of these velocities, and of the
    velocities ``before`` the impulse, is allowed for. The message names ``cause``, a description of the event, and
    the constraint with the largest residual.

    Args:
        phase: the active constraints.
        state: after the impulse.
        before: nu before it, whose round-off remains where everything comes to rest.
        cause: description of the event.

    Raises:
        VelocityError: names the cause and the constraint with the largest residual.
    """
    system = phase.system
    residual, scale = gap_rates(system, system.at(state), state.velocity, before)
    worst = float(np.abs(residual).max(initial=0.0))
    if worst <= TOLERANCE * scale:
        return
    owner = system.owners[int(np.abs(residual).argmax())]
    raise VelocityError(
        f"{cause}: joints, drives and moving frames that hold from then on contradict each other; {owner.joint}"
        f" ({owner.row.label}) is violated by {worst:.6g} {residual_unit(owner)}; release one of them then"
    )


# Forces of joints and elements at an instant, from the accelerations there (4.23; docs/theory.md, 4).
#
# For instants without equal steps on both sides: the first one, the last one and those where steps change.

CONTRADICTORY = 1e-6  # of the accelerations that the rows ask for: they ask for what no motion does


def reactions(
    phase: Phase,
    state: State,
    at: Instants,
    *,
    theta: Array,
    values: Array,
    contact_forces: Array,
    independent: IntArray,
    last: Reactions,
    is_projected: bool,
    settled: Array | None,
) -> Reactions | None:
    """Return constraint multipliers (0 where inactive) and element forces at a state, or None without a solution.
    Multipliers follow from the accelerations of the equations of motion under the constraints of ``phase``; those
    outside of the ``independent`` rows are zero. Velocities are projected onto the joints first unless
    ``is_projected``. Element forces that are no reactions are those of ``last``, whose arrays are overwritten.

    Args:
        phase: active constraints of what moves.
        state: where the forces act.
        at: the state as an instant.
        theta: coordinates of the forces, angles over full turns, shape (forces,).
        values: of loads, then of the forces that have a prescribed part, shape (values, 3).
        contact_forces: generalized forces of contact groups, shape (velocities,).
        independent: indices of linearly independent rows of G.
        last: constraint multipliers, shape (constraints,), and forces of elements, shape (forces,), to overwrite.
        is_projected: whether velocities satisfy the joints.
        settled: velocities for damping forces, shape (velocities,); None: those of the state.

    Returns:
        None where joints contradict each other, at singular positions.
    """
    system, (multipliers, forces) = phase.system, last
    try:
        if not is_projected:
            state = replace(state, velocity=projection(phase, state, at).velocity)
            at = at.moving(state.velocity[None])
        settled = state.velocity if settled is None else settled
        applied, pulls = _applied(system, state, at, theta, values, settled)
        mass, matrix = system.small_mass(state, at), system.rows.small_matrix(at)
        total = applied + contact_forces + _internal_forces(system, state, settled)
        asked = -(matrix @ solver(mass)(total) + system.rows.accelerations(at)[0])[independent]
        change, mu = smallest_with_multipliers(mass, matrix[independent], asked)
    except (ValueError, SingularMatrixError):
        return None
    missed = np.abs(matrix[independent] @ change - asked).max(initial=0.0)
    if missed > CONTRADICTORY * np.abs(asked).max(initial=0.0):
        return None
    forces[: len(pulls)] = pulls
    multipliers[:] = 0.0
    multipliers[phase.rows[independent]] = -mu
    return multipliers, forces


def _applied(
    system: System, state: State, at: Instants, theta: Array, values: Array, settled: Array
) -> tuple[Array, Array]:
    """Return the sum of gravity, loads and force elements as generalized forces, and the force of each element
    along its coordinate. The shapes are (velocities,) and (forces,) [N or N m]. Contacts are only in the second
    result. ``state`` and ``at`` are the same state; ``theta`` are the elements' coordinates with full turns,
    ``values`` the values of loads and prescribed forces, ``settled`` the velocities for dampers.
    """
    loads = len(system.loads)
    result = gravity_forces(system)
    for vectors, forces in load_forces(system, at, values[:loads]):
        result += vectors.jacobian(at).T @ forces.ravel()
    if not system.forces:
        return result, np.zeros(0)
    elements, prescribed = element_state(system, at, state), np.zeros(len(system.forces))
    prescribed[[each.is_prescribed for each in system.forces]] = values[loads:, 0]
    are_pushed = np.array([isinstance(element, Contact) for element, _ in system.forces])
    are_lengths = np.array([force.coordinate.history_variable_count > 0 for _, force in system.forces])
    theta = np.where(are_pushed | are_lengths, elements.theta, theta)
    pulls = elements.forces(theta, settled, prescribed)
    if state.branches is not None:
        pulls += history_variable_forces(system, state.branches)
    return result + elements.rows.T @ np.where(are_pushed, 0.0, pulls), pulls


def _internal_forces(system: System, state: State, settled: Array) -> Array:
    """Return the generalized forces that act inside of the bodies of a system at a state, shape (velocities,).
    They are quadratic velocity terms (centrifugal and Coriolis) and elastic and damping forces, which are negative
    for positive deformation. Signs are those of forces that accelerate the bodies. ``settled`` are the velocities
    of damping forces. See docs/theory.md, 2, (2.10)."""
    result = viscoelastic_body_forces(system, state)
    for index, placed in enumerate(system.bodies):
        own, data, eta = system.layout.span(index), placed.data, system.elastic(state, index)
        nu = state.velocity[own].copy()
        rates, here = settled[own][data.rigid_count :], result[own]
        damping = viscous_force(data, eta, rates) if rates.any() else 0.0
        here[data.rigid_count :] -= elastic_force(data, eta) + damping
        nu[: system.dimension] = 0.0  # the translation of the centre of mass is apart from the rest
        if not isinstance(data, AbsoluteBody) and nu.any():
            here += quadratic_velocity_forces(system.frames[index], eta, nu)
    return result
