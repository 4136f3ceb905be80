"""Equations of steps of a mechanism that rests: forces at a pose and their derivatives, what laws remember."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross_matrix
from phlexible.state.layout import State
from phlexible.state.small_motions import displaced
from phlexible.state.system import System
from phlexible.step.assembly.assembly import Assembly, assemble
from phlexible.step.integration.step_equations import StepEquations
from phlexible.step.integration.stepper import Stepper
from phlexible.step.integration.stored_rows import branches_of
from phlexible.step.tables.declarations import MET, TURN
from phlexible.step.tables.memory import Memory

LOSSES = ("push_damping", "push_loss", "contact_group_damping", "contact_group_impact")
"""Tables of what damps contacts."""
NOISE = 1e-9
"""Derivatives below it, relative to the largest ones in their row and column, are round-off."""


class Tangents(NamedTuple):
    """Matrices of small motions against forces, shape (velocities,) * 2.

    Attributes:
        stiffness: the part that has a potential.
        circulatory: the rest of the stiffness, which friction under load has.
        damping: symmetric.
    """

    stiffness: sparse.csr_array
    circulatory: sparse.csr_array
    damping: sparse.csr_array

    @classmethod
    def nothing(cls, size: int) -> Self:
        """Zero tangents of a system without forces."""
        return cls(*(sparse.csr_array((size, size)) for _ in range(3)))


def tangents_of(
    system: System, numbers: IntArray, stiffness: Array, damping: Array, forces: Array, balanced: Array
) -> Tangents:
    """Matrices from derivatives of forces to poses and to velocities of some numbers, each (velocities, numbers).

    Args:
        system: that moves.
        numbers: of velocities; others change nothing.
        stiffness, damping: the derivatives.
        forces: there, shape (velocities,).
        balanced: the part of them that other forces balance, whose stiffness is taken too.
    """
    slopes, losses = (_without_noise(system, numbers, -each) for each in (stiffness, damping))
    circulatory = (slopes - slopes.T) / 2 - _skew_of_potential(system, forces)
    conservative = (slopes + slopes.T) / 2 + _skew_of_potential(system, balanced)
    return Tangents(*(sparse.csr_array(each) for each in (conservative, circulatory, (losses + losses.T) / 2)))


def _skew_of_potential(system: System, forces: Array) -> sparse.csr_array:
    """Skew part that stiffness with a potential has: -[m] / 2 of the rotations of a body with moment m."""
    frame, axis, place = system.layout.spin
    moments = np.zeros((system.layout.frames, 3))
    moments[frame, axis] = forces[place]
    first, second = np.nonzero((frame[:, None] == frame[None]) & (axis[:, None] != axis[None]))
    values = cross_matrix(moments)[frame[first], axis[first], axis[second]]
    return sparse.csr_array((-values / 2, (place[first], place[second])), shape=(len(forces),) * 2)


def _without_noise(system: System, numbers: IntArray, columns: Array) -> sparse.csr_array:
    """Matrix (velocities,) * 2 with these columns, without entries that are round-off of others beside them."""
    size = np.abs(columns)
    large = size > NOISE * np.sqrt(size.max(axis=1, initial=0.0)[:, None] * size.max(axis=0, initial=0.0))
    rows, own = np.nonzero(large)
    shape = (int(system.layout.velocity[-1]),) * 2
    return sparse.csr_array((columns[rows, own], (rows, numbers[own])), shape=shape)


def without_losses(memory: Memory) -> dict[str, Array]:
    """Tables of contacts that do not damp."""
    return {name: np.zeros_like(memory[name]) for name in LOSSES}


class RestEquations:
    """Equations of steps of one second between poses at rest.

    Args:
        assembly: tables of the mechanism; their memory holds the pose.
        is_redundant: joints hold a motion twice.
    """

    def __init__(self, assembly: Assembly, is_redundant: bool = False) -> None:
        self.assembly, self.memory, self.system = assembly, assembly.memory, assembly.system
        self.stepper = Stepper(assembly, is_redundant=is_redundant)
        self._equations = StepEquations(self.memory)

    def __reduce__(self) -> tuple[object, ...]:
        """Make the tables anew in another process."""
        return rest_equations, (self.system, self.stepper.is_redundant)

    def with_numbers(self, numbers: Mapping[str, Array]) -> "RestEquations":
        """Equations with other numbers in some tables, and with memory of their own."""
        memory = self.memory.with_numbers(numbers)
        return RestEquations(replace(self.assembly, memory=memory), self.stepper.is_redundant)

    def begin(self, state: State) -> None:
        """Put a pose at rest into the tables, with what laws remember."""
        self.stepper.begin(replace(state, velocity=np.zeros_like(state.velocity)))

    def relaxed(self, state: State) -> State:
        """The state at rest in which only bristles remember where they were."""
        self.begin(state)
        for name in ("branch_strain", "soft_strain", "inner_strain", "impact"):
            self.memory[name][:] = 0.0
        self.memory["pair_turn"].reshape(-1, TURN)[:, MET] = 0.0
        return replace(state, velocity=np.zeros_like(state.velocity), branches=self.branches)

    @property
    def branches(self) -> Array:
        """History variables in the tables."""
        return np.asarray(branches_of(self.memory.rows(self.memory.state[None]))[0])

    def moved(self, state: State, change: Array) -> State:
        """The state after a small motion, which bends bristles."""
        bent = self.after_step(state, 2 * change)
        return replace(displaced(self.system, state, change), theta=None, branches=bent.branches)

    @cached_property
    def sizes(self) -> Array:
        """Motions along each velocity that stand for one length of the model or one radian, shape (velocities,)."""
        system = self.system
        sizes = system.largest_length / np.asarray(self.memory["velocity_weight"])
        sizes[system.layout.linear] = system.largest_length
        sizes[system.layout.spin[2]] = 1.0
        return np.asarray(sizes)

    def forces(self, state: State, multipliers: Array | None = None) -> Array:
        """Sum of all forces on nu at a pose, shape (velocities,); joints transmit these multipliers, or none."""
        pair, moving, loads = self._standing(state, multipliers)
        missed = self._equations.residual(pair[None], np.ones(1), moving, loads)[0]
        return -missed[0, : self.memory.counts["velocities"]]

    def after_step(self, state: State, velocity: Array | None = None, multipliers: Array | None = None) -> State:
        """The pose with what laws remember at the end of a step.

        Args:
            state: the pose, where the step begins at rest.
            velocity: at the end of the step, (velocities,); None: zero.
            multipliers: of the joints in the step; None: zero.
        """
        pair, moving, loads = self._standing(state, multipliers)
        if velocity is not None:
            self.memory.rows(pair[1:])["velocity"][:] = velocity
        row = self._equations.residual(pair[None], np.ones(1), moving, loads, with_ends=True)[1]
        return replace(state, branches=branches_of(self.memory.rows(row))[0])

    def tangents(self, state: State, numbers: IntArray, multipliers: Array | None) -> tuple[Array, Array]:
        """Derivatives of all forces to poses and to velocities of some numbers, each (velocities, numbers).

        Bristles bend with the pose. Stiffness is even in the size of a step, damping odd.

        Args:
            state: the pose.
            numbers: of velocities.
            multipliers: of the joints; None: zero.
        """
        pair, moving, loads = self._standing(state, multipliers)
        directions, found = np.zeros((len(numbers), *pair.shape)), []
        for side in range(2):
            self.memory.rows(directions[:, side])["velocity"][np.arange(len(numbers)), numbers] = 1.0
        for size in (1.0, -1.0):
            slopes = self._equations.derivative(pair, size, moving, loads, directions)[0]
            found.append(slopes[:, : self.memory.counts["velocities"]].T)
        return -(found[0] + found[1]), -(found[0] - found[1]) / 2

    def _standing(self, state: State, multipliers: Array | None) -> tuple[Array, Array, Array]:
        """Both instants of a step that stands still, given vectors at both, and loads."""
        self.begin(state)
        pair = np.stack([self.memory.state] * 2)
        if multipliers is not None:
            self.memory.rows(pair[1:])["multiplier"][:] = multipliers
        times = np.array([state.time, state.time])
        return pair, self.assembly.moving_values(times), self.assembly.load_values(times[:1])


def rest_equations(system: System, is_redundant: bool = False) -> RestEquations:
    """Equations of a system, see ``RestEquations``."""
    return RestEquations(assemble(system), is_redundant)
