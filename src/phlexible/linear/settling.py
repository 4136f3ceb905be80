"""Static equilibria by steps of the model from rest to rest (docs/theory.md, 7).

A step from rest without inertia ends as far beyond the equilibrium as it began before it, since its forces are
means over it. Its middle is the equilibrium of these forces. Steps from rest to their middles, which become longer
while motions become smaller, lead downhill first and converge like Newton's method in the end. A longer step that
turns back, as steps beside an unstable equilibrium do, is taken again no longer than the one before it.
"""

from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.saddle import SaddlePoint
from phlexible.algebra.sparse import Matrix
from phlexible.errors import EquilibriumError, SingularMatrixError
from phlexible.linear.rest_equations import without_losses
from phlexible.linear.sticking import StickingFriction, copied_bristles, without_limits
from phlexible.state.branches import contacts_of
from phlexible.state.forces import gravity_and_load_forces
from phlexible.state.instants import PrescribedMotions
from phlexible.state.layout import State
from phlexible.state.redundancy import independent_rows
from phlexible.state.small_motions import displaced, size_of_motion
from phlexible.state.system import System

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
        self._has_history = bool(memory.counts["kept_pairs"])

    def equilibrium(self, state: State) -> State:
        """Return the static equilibrium of the mechanism that time steps without inertia lead to from a state at
        rest. Friction springs are deflected by the motion; raise an ``EquilibriumError`` if there is none.

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
            motion = size_of_motion(system, change)
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
        """Return the state at rest after a small motion ``change`` of the bodies, shape (velocities,), with closed
        joints and deflected friction springs; None if the joints cannot be closed."""
        multipliers = self._equations.stepper.last_reactions[0]
        if self._has_history:
            there = self._equations.relaxed(self._equations.moved(state, change))
        else:
            there = replace(displaced(self._system, state, change), theta=None, branches=None)
        closed = with_closed_joints(self._system, there, self._rows, self._mass, self._prescribed)
        return None if closed is None else self._with_bristles(closed, multipliers)

    def _joint_forces(self, state: State) -> Array:
        """Return the joint forces (Lagrange multipliers), shape (rows,), of the accelerations with which the
        mechanism starts from rest in a state. Friction limits of joints depend on them."""
        multipliers = np.zeros(int(self._system.layout.multiplier[-1]))
        if len(self._rows):
            rows = self._system.rows.small_matrix(self._system.at(state, prescribed=self._prescribed))[self._rows]
            multipliers[self._rows] = -SaddlePoint(self._mass, rows).solve(self._equations.forces(state))[1]
        return multipliers

    def _with_bristles(self, state: State, multipliers: Array) -> State:
        """Return a state in which friction springs are deflected by the displacement from the first pose. The
        friction limits, which follow from the given joint multipliers, bound the deflections. This also writes
        their stiffness into the tables of the compiled step."""
        known = replace(state, theta=self._equations.assembly.initial_thetas(state))
        return self._friction.write(self._friction.at(known, multipliers), self._equations.memory)

    @cached_property
    def _farthest(self) -> float:
        """Largest motion that is allowed in one time step of the search for an equilibrium, in lengths of the
        model or rad. It is small where contact bodies are thin, so that nothing passes through them."""
        contacts, dimension = contacts_of(self._system), self._system.dimension
        members = [member for contact in contacts for member in contact.members(dimension)]
        sizes = [member.thickness if member.kind.is_solid else member.radius for member in members]
        least = min((size for size in sizes if size > 0), default=np.inf)
        return min(FARTHEST, INTO * least / self._system.largest_length)


def with_closed_joints(
    system: System, state: State, rows: IntArray, mass: Matrix, prescribed: PrescribedMotions
) -> State | None:
    """Return the state of a system with closed joints that is nearest to a ``state``, by Newton's method in the
    metric of the ``mass`` matrix; None if the joints do not close.

    Args:
        rows: independent rows of the joints.
        prescribed: values of the functions of time at the state's time, of ``system.at``.
    """
    if not len(rows):
        return state
    with suppress(SingularMatrixError):  # joints repeat each other there
        for _ in range(MOST_CLOSINGS):
            at = system.at(state, prescribed=prescribed)
            gap = system.rows.values(at)[0]
            if system.relative_gaps(gap).max() < CLOSED:
                return state
            joints = SaddlePoint(mass, system.rows.small_matrix(at)[rows])
            motion = joints.solve(np.zeros(mass.shape[0]), -gap[rows])[0]
            if not np.isfinite(motion).all():
                break
            state = displaced(system, state, motion)
    return None
