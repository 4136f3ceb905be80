"""Friction that sticks where nothing moves: bristles as springs of equilibria and of small motions.

A bristle holds the way u from the pose that it counts from, f = k u as far as the friction at the end of the way
allows (docs/theory.md, 8; (8.45)). Steps of the model bend it: one from the pose that it counts from to the pose in
question, in which friction has no limit, and one that stands still there, in which it has.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.algebra.fields import field_values
from phlexible.errors import EquilibriumError
from phlexible.linear.rest_equations import RestEquations, Tangents, tangents_of
from phlexible.state.branches import BRISTLE, friction_springs, history_variable_count
from phlexible.state.layout import State
from phlexible.state.small_motions import velocity_between
from phlexible.state.system import System
from phlexible.step.tables.memory import Memory

GRIPPING = 100.0  # coefficient of friction of tendons that never slide
LIMITLESS = 1e12
"""Friction of which no bristle slips."""
LONG = 1e30
"""Bristle that is bent as far as any friction allows."""
SOFT = 1e-30
"""Of their stiffness: bristles that hold nothing."""
SLACK = 1e-20
"""Of its stiffness: a bristle whose force stays while it moves."""
ROUND_OFF = 1e-12
"""Of the limit of friction, below which a bristle certainly is."""
REPEATED = 1e-9
"""Of the largest one: stiffness that is round-off."""


def principal_stiffnesses(stiffness: sparse.csr_array) -> tuple[Array, Array]:
    """Return the positive eigenvalues of a symmetric sparse stiffness matrix above round-off, shape (k,),
    ascending, and the unit eigenvectors as rows, shape (k, velocities). Raise ``EquilibriumError`` if an
    eigenvalue is negative.

    Raises:
        EquilibriumError: a negative one.
    """
    touched = np.unique(stiffness.indices)
    sizes, directions = np.linalg.eigh(stiffness[touched][:, touched].toarray())
    least = REPEATED * np.abs(sizes).max(initial=0.0)
    if (sizes < -least).any():
        raise EquilibriumError('form="stress": what touches pushes away from rest; take form="displacement"')
    rows = np.zeros((int((sizes > least).sum()), stiffness.shape[0]))
    rows[:, touched] = directions[:, sizes > least].T
    return sizes[sizes > least], rows


@dataclass(frozen=True, eq=False)
class BentBristles:
    """Deflections, limits and forces of all friction springs (bristles) of a system at a pose at rest.

    Attributes:
        state: the pose, with the deflections of the bristles in its history variables.
        multipliers: multipliers of the joints there, shape (rows,).
        limits: limit of the force of each bristle [N or N m], shape (bristles,).
        slips: bristles whose deflection would exceed the limit, shape (bristles,).
        forces: generalized forces of all bristles, shape (velocities,).
    """

    state: State
    multipliers: Array
    limits: Array
    slips: BoolArray
    forces: Array


def without_limits(memory: Memory) -> dict[str, Array]:
    """Return replacements of tables of ``memory`` for the compiled time step, in which friction springs
    (bristles) never slip. These are of joints and of contacts between two surfaces. Friction without such a
    spring is zero. Contact groups are unchanged."""
    limits = {
        f"contact_group_{name}": memory[f"contact_group_{name}"] for name in ("friction", "rolling", "drilling")
    }
    are_of_two = memory["contact_group_laws"] > 0
    limits = {name: np.where(are_of_two & (own > 0.0), LIMITLESS, own) for name, own in limits.items()}
    limits["contact_group_friction"][memory["contact_group_bristle"] == 0.0] = 0.0
    limits["guide_friction"] = np.where(memory["guide_friction"] > 0.0, GRIPPING, 0.0)
    limits["friction"] = np.where(memory["bristle_of"] < 0, 0.0, LIMITLESS)
    return limits | {"bearing_share": np.zeros_like(memory["bearing_share"])}


def copied_bristles(memory: Memory) -> dict[str, Array]:
    """Return copies of the tables in ``memory`` with stiffness and damping of all friction springs
    (bristles). They can be changed without changing the originals."""
    return {name: memory[name].copy() for name in ("bristle_stiffness", "bristle_damping")}


@dataclass(frozen=True, eq=False)
class StickingFriction:
    """Friction springs of a system that hold it at rest, each deflected by the displacement of its contact since a
    start pose.

    Attributes:
        equations: equations at rest of the system with the force elements.
        start: pose from which displacements count, with the deflections of the bristles there.
        has_slipped: bristles that slipped before and are held by kinetic friction only, shape (bristles,).
    """

    equations: RestEquations
    start: State
    has_slipped: BoolArray

    def __getstate__(self) -> dict[str, object]:
        """Return the fields of this description of sticking friction for pickling, without cached results."""
        return field_values(self)

    @classmethod
    def of(cls, equations: RestEquations, start: State) -> Self:
        """Create the description of friction that sticks in a system (with these ``equations`` at rest), with
        displacements counted from the state ``start``. Friction springs that slip in this state are marked."""
        count = len(friction_springs(equations.system))
        slipped = np.zeros(count, dtype=bool) if start.branches is None else _bristles(start, count)[:, 1] > 0
        if not count:
            return cls(equations, start, slipped)
        return cls(equations, replace(start, theta=equations.assembly.initial_thetas(start)), slipped)

    def with_slip(self, slips: BoolArray) -> Self:
        """Return a copy of this description of sticking friction in which the friction springs of the mask
        ``slips``, shape (bristles,), count as slipping too."""
        return replace(self, has_slipped=self.has_slipped | slips)

    @property
    def system(self) -> System:
        """System (mechanism as arrays of numbers) whose friction springs are described."""
        return self.equations.system

    @cached_property
    def limited(self) -> RestEquations:
        """Equations at rest in which friction springs slip at their limits. They have their own tables of the
        stiffness and damping of friction springs, which may be changed."""
        return self.equations.with_tables(copied_bristles(self.equations.memory))

    @cached_property
    def unlimited(self) -> RestEquations:
        """Equations at rest in which friction springs (bristles) never slip, and friction without such a spring is
        zero."""
        return self.equations.with_tables(without_limits(self.equations.memory))

    @property
    def stiffness(self) -> Array:
        """Stiffness of each friction spring (bristle) of the force elements, shape (bristles,) [N/m or N m/rad]."""
        return self.equations.memory["bristle_stiffness"]

    def set_factors(self, factors: Array | float, memory: Memory | None = None) -> None:
        """Set stiffness and damping of all friction springs (bristles) to ``factors`` (a number, or shape
        (bristles,)) times their original values. They are overwritten in the tables ``memory`` of the
        compiled time step; None: those of ``limited``."""
        memory, base = self.limited.memory if memory is None else memory, self.equations.memory
        for name in copied_bristles(base):
            memory[name][:] = factors * base[name]

    @property
    def count(self) -> int:
        """Number of friction springs (bristles) of the force elements of the system."""
        return len(self.has_slipped)

    @cached_property
    def force_indices(self) -> IntArray:
        """Index of the scalar force element that each friction spring (bristle) belongs to, shape (bristles,)."""
        return np.array([k for k, _ in friction_springs(self.system)], dtype=np.int64)

    @cached_property
    def grips(self) -> BoolArray:
        """Mask of the friction springs (bristles) whose static friction coefficient differs from the kinetic one,
        shape (bristles,)."""
        return np.array([bristle.grip != 1.0 for _, bristle in friction_springs(self.system)], dtype=bool)

    @cached_property
    def follows_joints(self) -> BoolArray:
        """Mask of the friction springs (bristles) whose friction limit depends on the force that a joint transmits,
        shape (bristles,)."""
        frictions = (self.system.forces[k].force.friction for k in self.force_indices)
        return np.array([each is not None and each.joint is not None for each in frictions], dtype=bool)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the force elements that the friction springs (bristles) belong to, one for each."""
        return tuple(str(self.system.forces[k].element) for k in self.force_indices)

    def at(self, state: State, multipliers: Array) -> BentBristles:
        """Return a ``BentBristles`` of all friction springs (bristles) at the pose of ``state``, at rest:
        deflections, limits, which of them slip, and generalized forces. They are deflected by the motion from
        the start pose and cut at their limits. Joints transmit the given ``multipliers``."""
        if not self.count:
            none = np.zeros(0)
            return BentBristles(state, multipliers, none, self.has_slipped, np.zeros_like(state.velocity))
        limited, way = self.limited, velocity_between(self.system, self.start, state)
        self.set_factors(1.0)
        start = self._state(self.start, _bristles(self.start, self.count), self.has_slipped)
        bent = _bristles(self.unlimited.after_step(start, way), self.count)
        trial = self._state(state, bent, self.has_slipped)
        longest = self._state(state, np.tile((LONG, 0.0), (self.count, 1)), self.has_slipped)
        limits, sizes = (
            self.stiffness * np.abs(_bristles(each, self.count)[:, 0])
            for each in (limited.after_step(longest, None, multipliers), trial)
        )
        slips = sizes > limits
        held = limited.after_step(trial, None, multipliers)
        there = self._state(state, _bristles(held, self.count), slips)
        forces = limited.forces(trial, multipliers)
        self.set_factors(SOFT)
        forces -= limited.forces(trial, multipliers)
        return BentBristles(there, multipliers, limits, slips, forces)

    def write(self, there: BentBristles, memory: Memory) -> State:
        """Store the stiffness of all friction springs (bristles) in tables (``memory``) of equations without
        friction limits, and return the state with their deflections. ``there`` are the springs at a pose.
        Springs that slip get a negligible stiffness and a constant force."""
        if not self.count:
            return there.state
        state, shares = self._loosen(there, _bristles(there.state, self.count), ~there.slips)
        self.set_factors(shares, memory)
        return state

    def sticks(self, there: BentBristles, is_balanced: bool) -> BoolArray:
        """Return a mask of the friction springs (bristles) that act as springs in small motions, shape
        (bristles,). They do not slip at the pose ``there`` and have a limit above zero; without
        ``is_balanced`` (joint forces known) springs whose limit follows a joint force count too.

        Args:
            there: friction springs at the pose.
            is_balanced: whether joints transmit what the loads require at the pose; otherwise friction of joints,
                whose limit follows their forces, sticks too.
        """
        return ~there.slips & ((there.limits > 0) | (self.follows_joints & (not is_balanced)))

    def tangents(self, there: BentBristles, sticks: BoolArray, is_balanced: bool = True) -> Tangents:
        """Return the stiffness and damping matrices that friction springs (bristles) add to small motions
        about a pose at rest, shape (velocities, velocities) each. ``there`` are the springs at the pose, of
        which those of the mask ``sticks`` act as springs and others exert a constant force. Their forces
        count if ``is_balanced`` by others.

        Args:
            there: friction springs at the pose.
            sticks: friction springs that resist small motions, shape (bristles,); the others exert a constant
                force.
            is_balanced: whether other forces, whose stiffness is taken into account too, balance those of the
                friction springs; otherwise these count as undeflected.
        """
        state, shares = self._loosen(there, is_balanced * _bristles(there.state, self.count), sticks)
        return self._tangents(state, there.multipliers, shares, there.forces * is_balanced)

    def independent_rows(self, there: BentBristles, sticks: BoolArray) -> list[tuple[int, float, Array]]:
        """Return, for each friction spring (bristle) that ``sticks`` at a pose (``there``): the index of its
        force element, its stiffness k, and the derivative of its deflection with respect to the pose as
        linearly independent rows, shape (rows, velocities)."""
        state, found = self._state(there.state, np.zeros((self.count, len(BRISTLE))), self.has_slipped), []
        nothing = np.zeros_like(there.forces)
        for own in np.flatnonzero(sticks):
            shares = np.where(np.arange(self.count) == own, 1.0, SOFT)
            sizes, rows = principal_stiffnesses(self._tangents(state, there.multipliers, shares, nothing).stiffness)
            stiffness = float(self.stiffness[own])
            found.append((int(self.force_indices[own]), stiffness, np.sqrt(sizes / stiffness)[:, None] * rows))
        return found

    def _tangents(self, state: State, multipliers: Array | None, factors: Array, forces: Array) -> Tangents:
        """Return the stiffness and damping matrices of friction springs (bristles) in a state, with their
        stiffness multiplied by ``factors``, shape (bristles,). Joints have the given ``multipliers``. Other
        forces balance their generalized ``forces``."""
        numbers, changes = self._deflecting_velocities(state), list[Array]()
        for each in (factors, SOFT):
            self.set_factors(each)
            changes.append(np.array(self.limited.tangents(state, numbers, multipliers)))
        stiffness, damping = changes[0] - changes[1]
        return tangents_of(self.system, numbers, stiffness, damping, forces, forces)

    def _loosen(self, there: BentBristles, bristles: Array, sticks: BoolArray) -> tuple[State, Array]:
        """Return a state and factors of the spring stiffness, shape (bristles,), with which friction springs
        outside of the mask ``sticks`` exert a constant force. Their factor is very small and their deflection
        so much larger; springs that stick have factor 1. ``there`` has the pose, ``bristles`` the
        deflections."""
        shares = np.where(sticks, 1.0, SLACK)
        own = bristles * np.where(sticks, 1.0, (1 - ROUND_OFF) / SLACK)[:, None]
        own[:, 1] = bristles[:, 1]
        return self._state(there.state, own, self.has_slipped), shares

    def _deflecting_velocities(self, state: State) -> IntArray:
        """Return the indices of the velocities whose motions deflect friction springs (bristles) in a state, shape
        (k,)."""
        functions, first = self.system.force_functions, 0
        rows = np.zeros(functions.count, dtype=bool)
        for k, (_, force) in enumerate(self.system.forces):
            count = len(force.coordinate.functions())
            rows[first : first + count] = k in self.force_indices
            first += count
        return np.unique(functions.matrix(self.system.at(state))[rows].indices).astype(np.int64)

    def _state(self, state: State, bristles: Array, slips: BoolArray) -> State:
        """Return a copy of a state with the given deflections and slip flags of friction springs in its history
        variables. Deflections are the first column of ``bristles``, shape (bristles, 2); flags have the shape
        (bristles,)."""
        own = np.column_stack([bristles[:, 0], slips]).ravel()
        others = np.zeros(history_variable_count(self.system)) if state.branches is None else state.branches
        return replace(state, branches=np.concatenate([others[: len(others) - len(own)], own]))


def _bristles(state: State, count: int) -> Array:
    """Return the history variables of the last ``count`` friction springs (bristles) in a state, shape (bristles,
    2): deflection and slip flag; zeros if the state has no history variables."""
    if state.branches is None:
        return np.zeros((count, len(BRISTLE)))
    return state.branches[len(state.branches) - len(BRISTLE) * count :].reshape(count, len(BRISTLE))
