"""Velocities brought back onto the joints where the step changes (4.15; docs/theory.md, 4)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.nearest_solution import smallest_with_multipliers
from phlexible.errors import VelocityError
from phlexible.initial.closure import residual_unit
from phlexible.system.instants import Instants
from phlexible.system.layout import State
from phlexible.system.system import Phase

FITTING = 1e-7
"""Of rates that make up one of a joint, by which it may be missed."""


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
    system, at = phase.system, phase.system.at(state)
    matrix, drift = system.rows.small_matrix(at), system.rows.drift(at)[0]
    residual = np.abs(matrix @ state.velocity + drift)
    size = abs(matrix) @ (np.abs(state.velocity) + np.abs(before)) + np.abs(drift)
    if residual.max(initial=0.0) <= FITTING * size.max(initial=0.0):
        return
    owner = system.owners[int(residual.argmax())]
    raise VelocityError(
        f"{cause}: joints, drives and moving frames that hold from then on contradict each other; {owner.joint}"
        f" ({owner.row.label}) is violated by {residual.max():.6g} {residual_unit(owner)}; release one of them then"
    )
