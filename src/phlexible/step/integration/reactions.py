"""Velocities on the joints, and forces from the accelerations there (4.15, 4.23; docs/theory.md, 4)."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.saddle import smallest_with_multipliers
from phlexible.algebra.sparse import solver
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.any_body import elastic_force, viscous_force
from phlexible.bodies.mechanics.floating import quadratic_velocity_forces
from phlexible.errors import SingularMatrixError, VelocityError
from phlexible.state.branches import body_forces_of_branches, forces_of_branches
from phlexible.state.forces import element_pulls, element_state, gravity_forces, load_forces
from phlexible.state.initial_velocity import TOLERANCE, missed_rates, residual_unit
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.recording import Reactions
from phlexible.state.system import Phase, System

# Velocities brought back onto the joints where the step changes (4.15; docs/theory.md, 4).


@dataclass(frozen=True, eq=False)
class Projection:
    """What an impulse of the joints did.

    Attributes:
        velocity: nu after it.
        work: of what moves in each constraint, by joints and drives, shape (constraints,) [J].
        lost: kinetic energy lost, never negative [J].
    """

    velocity: Array
    work: Array
    lost: float


def projection(phase: Phase, state: State, at: Instants | None = None) -> Projection:
    """The nearest nu with G nu = -g_t in the metric of the kinetic energy; ``at``: the state as an instant.

    The part of nu along G changes its sign in each step of one length; where the length changes it would grow.
    The impulse -G^T mu is one of joint forces, so that momenta of bodies joined to each other stay exact. The
    kinetic energy grows by g_t.mu, which moving frames and drives supply, less change.M change / 2.
    """
    system = phase.system
    at = system.at(state) if at is None else at
    mass, matrix, drift = system.small_mass(state, at), system.rows.small_matrix(at), system.rows.drift(at)[0]
    change, mu = smallest_with_multipliers(mass, matrix, -matrix @ state.velocity - drift)
    starts, work = system.layout.multiplier, np.zeros(phase.constraints)
    work[phase.kept] = [drift[a:b] @ mu[a:b] for a, b in pairwise(starts)]
    return Projection(state.velocity + change, work, float(change @ (mass @ change)) / 2)


def check_fit(phase: Phase, state: State, before: Array, cause: str) -> None:
    """Refuses velocities that no impulse could bring onto what holds from now on.

    Args:
        phase: what holds.
        state: after the impulse.
        before: nu before it, whose round-off is left where everything comes to rest.
        cause: the event, in words.

    Raises:
        VelocityError: names the cause and the constraint that is missed most.
    """
    system = phase.system
    residual, scale = missed_rates(system, system.at(state), state.velocity, before)
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
    system: System, state: State, theta: Array, values: Array, pushed: Array, rows: IntArray, at: Instants
) -> tuple[Array, Array] | None:
    """Multipliers, shape (rows,), and forces of elements, shape (forces,), at a state.

    Args:
        system: what moves.
        state: with velocities that satisfy the joints.
        theta: coordinates of the forces, angles over full turns, shape (forces,).
        values: of loads, then of the forces that have a prescribed part, shape (values, 3).
        pushed: forces of contacts among many, shape (velocities,).
        rows: of G that do not depend on others; multipliers of the others are zero.
        at: the state as an instant.

    Returns:
        None where joints contradict each other, at singular positions.
    """
    applied, pulls = _applied(system, state, at, theta, values)
    mass, matrix = system.small_mass(state, at), system.rows.small_matrix(at)
    forces = applied + pushed + _own_forces(system, state)
    asked = -(matrix @ solver(mass)(forces) + system.rows.accelerations(at)[0])[rows]
    change, mu = smallest_with_multipliers(mass, matrix[rows], asked)
    multipliers = np.zeros(matrix.shape[0])
    multipliers[rows] = -mu
    missed = np.abs(matrix[rows] @ change - asked).max(initial=0.0)
    return None if missed > CONTRADICTORY * np.abs(asked).max(initial=0.0) else (multipliers, pulls)


def _applied(system: System, state: State, at: Instants, theta: Array, values: Array) -> tuple[Array, Array]:
    """Gravity, loads and elements against nu, shape (velocities,), and the elements along their coordinates."""
    loads = len(system.loads)
    result = gravity_forces(system)
    for vectors, forces in load_forces(system, at, values[:loads]):
        result += vectors.jacobian(at).T @ forces.ravel()
    if not system.forces:
        return result, np.zeros(0)
    elements, prescribed = element_state(system, at), np.zeros(len(system.forces))
    prescribed[[each.is_prescribed for each in system.forces]] = values[loads:, 0]
    pulls = element_pulls(system, elements, theta, state.velocity, prescribed)
    if state.branches is not None:
        pulls += forces_of_branches(system, state.branches)
    return result + elements.rows.T @ pulls, pulls


def _own_forces(system: System, state: State) -> Array:
    """Of the bodies themselves: inertia of nu, elasticity, damping (2.10), shape (velocities,)."""
    result = body_forces_of_branches(system, state)
    for index, placed in enumerate(system.bodies):
        own, data, eta = system.layout.place(index), placed.data, system.elastic(state, index)
        nu = state.velocity[own].copy()
        rates, here = nu[data.rigid_count :], result[own]
        here[data.rigid_count :] -= elastic_force(data, eta) + viscous_force(data, eta, rates)
        nu[: system.dimension] = 0.0  # the translation of the centre of mass is apart from the rest
        if not isinstance(data, AbsoluteBody) and nu.any():
            here += quadratic_velocity_forces(system.frames[index], eta, nu)
    return result


def reactions_in_phase(
    phase: Phase,
    state: State,
    theta: Array,
    values: Array,
    pushed: Array,
    rows: IntArray,
    at: Instants,
    multipliers: Array,
    forces: Array,
    is_projected: bool,
) -> Reactions | None:
    """As ``reactions``, with velocities brought onto the joints first where they are not.

    Of forces that are no reactions those that are given, of what does not hold zero.
    """
    try:
        if not is_projected:
            state = replace(state, velocity=projection(phase, state, at).velocity)
            at = at.moving(state.velocity[None])
        found = reactions(phase.system, state, theta, values, pushed, rows, at)
    except (ValueError, SingularMatrixError):
        return None
    if found is None:
        return None
    forces[: len(found[1])] = found[1]
    multipliers[:] = 0.0
    multipliers[phase.rows] = found[0]
    return multipliers, forces
