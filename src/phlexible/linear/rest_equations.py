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
    """Stiffness and damping matrices that contact and friction add to small motions, shape (velocities, velocities)
    each.

    Attributes:
        stiffness: the part that has a potential.
        circulatory: the rest of the stiffness, which friction under load has.
        damping: symmetric.
    """

    stiffness: sparse.csr_array
    circulatory: sparse.csr_array
    damping: sparse.csr_array

    @classmethod
    def zero(cls, size: int) -> Self:
        """Return zero stiffness and damping matrices for a system with ``size`` velocities, for models without
        contact and friction."""
        return cls(*(sparse.csr_array((size, size)) for _ in range(3)))


def tangents_of(
    system: System, indices: IntArray, stiffness: Array, damping: Array, forces: Array, balanced: Array
) -> Tangents:
    """Assemble the stiffness and damping matrices that contact and friction add to small motions of a system,
    shape (velocities, velocities) each. They come from derivatives of the forces with respect to the poses
    and velocities with the ``indices``: ``stiffness`` and ``damping``, shape (velocities, numbers)
    each. ``forces`` act there, of which other forces balance the part ``balanced``.

    Args:
        system: that moves.
        indices: of velocities; others change nothing.
        stiffness, damping: the derivatives.
        forces: there, shape (velocities,).
        balanced: the part of them that other forces balance, whose stiffness is taken too.
    """
    slopes, losses = (_without_noise(system, indices, -each) for each in (stiffness, damping))
    circulatory = (slopes - slopes.T) / 2 - _skew_of_potential(system, forces)
    conservative = (slopes + slopes.T) / 2 + _skew_of_potential(system, balanced)
    return Tangents(*(sparse.csr_array(each) for each in (conservative, circulatory, (losses + losses.T) / 2)))


def _skew_of_potential(system: System, forces: Array) -> sparse.csr_array:
    """Return the skew part, shape (velocities, velocities), that the stiffness of conservative forces on a
    system has when rotations are measured in body axes; it follows from the moments among the generalized
    ``forces``."""
    frame, axis, index = system.layout.spin
    moments = np.zeros((system.layout.frames, 3))
    moments[frame, axis] = forces[index]
    first, second = np.nonzero((frame[:, None] == frame[None]) & (axis[:, None] != axis[None]))
    values = cross_matrix(moments)[frame[first], axis[first], axis[second]]
    return sparse.csr_array((-values / 2, (index[first], index[second])), shape=(len(forces),) * 2)


def _without_noise(system: System, indices: IntArray, columns: Array) -> sparse.csr_array:
    """Return a sparse matrix of a ``system``, shape (velocities, velocities), with the dense ``columns`` at
    the column ``indices``. Entries below a fixed share of the geometric mean of the largest entries
    of their row and column are dropped."""
    size = np.abs(columns)
    large = size > NOISE * np.sqrt(size.max(axis=1, initial=0.0)[:, None] * size.max(axis=0, initial=0.0))
    rows, own = np.nonzero(large)
    return sparse.csr_array((columns[rows, own], (rows, indices[own])), shape=(len(columns),) * 2)


def without_losses(memory: Memory) -> dict[str, Array]:
    """Return replacements of tables of ``memory`` for the compiled time step, in which contacts have no
    damping and lose no energy in impacts."""
    return {name: np.zeros_like(memory[name]) for name in LOSSES}


class RestEquations:
    """Equations of steps of one second between poses at rest, from which forces at a pose and their derivatives are
    computed.

    Args:
        assembly: tables of the mechanism; their memory holds the pose.
        is_redundant: joints hold a motion twice.
    """

    def __init__(self, assembly: Assembly, is_redundant: bool = False) -> None:
        self.assembly, self.memory, self.system = assembly, assembly.memory, assembly.system
        self.stepper = Stepper(assembly, is_redundant=is_redundant)
        self._equations = StepEquations(self.memory)

    def __reduce__(self) -> tuple[object, ...]:
        """Return how a pickle rebuilds these equations at rest: the function to call with the system, from which
        tables are assembled again."""
        return rest_equations, (self.system, self.stepper.is_redundant)

    def with_tables(self, tables: Mapping[str, Array]) -> "RestEquations":
        """Return a copy of these equations at rest in which some tables of the compiled time step have other
        values: the arrays ``tables`` by the names of the tables. The copy has its own memory."""
        memory = self.memory.with_changed_tables(tables)
        return RestEquations(replace(self.assembly, memory=memory), self.stepper.is_redundant)

    def begin(self, state: State) -> None:
        """Store the pose and the history variables of a state in the tables of the compiled time step, with
        zero velocities. History variables are strains of Maxwell branches, deflections of friction springs
        and impact speeds."""
        self.stepper.begin(replace(state, velocity=np.zeros_like(state.velocity)))

    def relaxed(self, state: State) -> State:
        """Return a copy of a ``state`` with zero velocities in which strains of all viscoelastic branches and
        stored impact speeds are zero. Friction springs remain deflected."""
        self.begin(state)
        for name in ("branch_strain", "soft_strain", "inner_strain", "impact"):
            self.memory[name][:] = 0.0
        self.memory["pair_turn"].reshape(-1, TURN)[:, MET] = 0.0
        return replace(state, velocity=np.zeros_like(state.velocity), branches=self.branches)

    @property
    def branches(self) -> Array:
        """History variables that the tables of the compiled time step contain now, in the layout of
        ``State.branches``. They are strains of branches, impact speeds and deflections of friction springs."""
        return np.asarray(branches_of(self.memory.rows(self.memory.state[None]))[0])

    def moved(self, state: State, change: Array) -> State:
        """Return the ``state`` after a small motion of all bodies, ``change`` of shape (velocities,), in
        which friction springs are deflected by the motion."""
        bent = self.after_step(state, 2 * change)
        return replace(displaced(self.system, state, change), theta=None, branches=bent.branches)

    @cached_property
    def sizes(self) -> Array:
        """Characteristic size of a motion along each velocity, shape (velocities,): the length of the model
        for translations [m], 1 rad for rotations. For elastic coordinates it is this length over the weight
        of their rate."""
        system = self.system
        sizes = system.largest_length / np.asarray(self.memory["velocity_weight"])
        sizes[system.layout.linear] = system.largest_length
        sizes[system.layout.spin[2]] = 1.0
        return np.asarray(sizes)

    def forces(self, state: State, multipliers: Array | None = None) -> Array:
        """Return the sum of all generalized forces on the bodies at the pose of ``state``, at rest, shape
        (velocities,): gravity, loads, springs, elastic forces, contacts and friction, and joint forces for
        the given multipliers (None: zero)."""
        pair, moving, loads = self._step_at_rest(state, multipliers)
        missed = self._equations.residual(pair[None], np.ones(1), moving, loads)[0]
        return -missed[0, : self.memory.counts["velocities"]]

    def after_step(self, state: State, velocity: Array | None = None, multipliers: Array | None = None) -> State:
        """Return a state with the history variables (such as deflections of friction springs) that it has
        after one time step of one second. It begins at rest in ``state`` and has the given ``velocity`` at
        its end and joint ``multipliers`` (None: zero). The pose is unchanged.

        Args:
            state: the pose, where the step begins at rest.
            velocity: at the end of the step, (velocities,); None: zero.
            multipliers: of the joints in the step; None: zero.
        """
        pair, moving, loads = self._step_at_rest(state, multipliers)
        if velocity is not None:
            self.memory.rows(pair[1:])["velocity"][:] = velocity
        row = self._equations.residual(pair[None], np.ones(1), moving, loads, with_ends=True)[1]
        return replace(state, branches=branches_of(self.memory.rows(row))[0])

    def tangents(self, state: State, indices: IntArray, multipliers: Array | None) -> tuple[Array, Array]:
        """Return the derivatives of the sum of all generalized forces at the pose of ``state``, at rest, with
        respect to pose and to velocities. They are along the coordinates with the ``indices``, for
        the given joint ``multipliers`` (None: zero), shape (velocities, numbers) each.

        Bristles bend with the pose, laws that creep are springs. Stiffness is even in the size of a step, damping
        odd.

        Args:
            state: the pose.
            indices: of velocities.
            multipliers: of the joints; None: zero.
        """
        pair, moving, loads = self._slow._step_at_rest(state, multipliers)
        directions, found = np.zeros((len(indices), *pair.shape)), []
        for side in range(2):
            self.memory.rows(directions[:, side])["velocity"][np.arange(len(indices)), indices] = 1.0
        for size in (1.0, -1.0):
            slopes = self._slow._equations.derivative(pair, size, moving, loads, directions)[0]
            found.append(slopes[:, : self.memory.counts["velocities"]].T)
        return -(found[0] + found[1]), -(found[0] - found[1]) / 2

    @cached_property
    def _slow(self) -> "RestEquations":
        """Copy of these equations in which all viscoelastic branches have a relaxation time of 1e30 s, so
        that they act as springs; these equations themselves without branches. In a time step of -1 s their
        forces would grow by exp(1 s / tau)."""
        times = self.memory["fading_time"]
        return self.with_tables({"fading_time": np.full_like(times, 1e30)}) if len(times) else self

    def _step_at_rest(self, state: State, multipliers: Array | None) -> tuple[Array, Array, Array]:
        """Return the data of a time step in which nothing moves from the pose of a state: the state tables at
        both of its ends, the values of moving ground frames and drives, and the loads. Joints have the given
        ``multipliers`` (None: zero)."""
        self.begin(state)
        pair = np.stack([self.memory.state] * 2)
        if multipliers is not None:
            self.memory.rows(pair[1:])["multiplier"][:] = multipliers
        times = np.array([state.time, state.time])
        return pair, self.assembly.moving_values(times), self.assembly.load_values(times[:1])


def rest_equations(system: System, is_redundant: bool = False) -> RestEquations:
    """Assemble the tables of a system for the compiled step, and return its equations of quasi-static steps between
    poses at rest. These evaluate forces and their derivatives. ``is_redundant`` says that constraints of joints may
    depend on each other."""
    return RestEquations(assemble(system), is_redundant)
