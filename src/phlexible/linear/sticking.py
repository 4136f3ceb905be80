"""A mechanism that rests: equations of its steps, and friction that sticks there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, BoolArray, IntArray, PickledFields
from phlexible.algebra.rotations import cross_matrix
from phlexible.description.interactions.drives import ServoPush
from phlexible.errors import EquilibriumError
from phlexible.state.branches import BRISTLE, contacts_of, friction_springs, history_variable_count
from phlexible.state.layout import State
from phlexible.state.small_motions import displaced, velocity_between
from phlexible.state.system import System
from phlexible.state.vectors import split_rigid
from phlexible.step.assembly.assembly import Assembly, assemble
from phlexible.step.integration.step_equations import StepEquations
from phlexible.step.integration.stepper import Stepper
from phlexible.step.integration.stored_rows import branches_of
from phlexible.step.tables.declarations import MET, PAIR, SLIPS, TURN
from phlexible.step.tables.memory import Memory

# Equations of steps of a mechanism that rests: forces at a pose and their derivatives, what laws remember.

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
    """Return the conservative stiffness, circulatory stiffness and damping that contact and friction add to small
    motions, each (velocities, velocities). ``stiffness`` and ``damping``, shape (velocities, k), are derivatives of
    the forces with respect to pose and velocities in the components ``indices`` (k,). ``forces`` are the forces at
    the pose; those in ``balanced``, which other forces balance, add the geometric stiffness of moments in body
    axes.

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
    """Return the skew part of the stiffness of conservative ``forces`` on a system when rotations are measured in
    body axes, sparse, shape (velocities, velocities). It follows from the moments among the generalized forces
    alone."""
    frame, axis, index = system.layout.spin
    moments = split_rigid(system.layout, forces)[1]
    first, second = np.nonzero((frame[:, None] == frame[None]) & (axis[:, None] != axis[None]))
    values = cross_matrix(moments)[frame[first], axis[first], axis[second]]
    return sparse.csr_array((-values / 2, (index[first], index[second])), shape=(len(forces),) * 2)


def _without_noise(system: System, indices: IntArray, columns: Array) -> sparse.csr_array:
    """Return a sparse matrix, shape (velocities, velocities), with the dense ``columns`` at the column
    ``indices``. Entries below a fixed fraction of the geometric mean of the largest entries in their row and
    column are left out as round-off."""
    size = np.abs(columns)
    large = size > NOISE * np.sqrt(size.max(axis=1, initial=0.0)[:, None] * size.max(axis=0, initial=0.0))
    rows, own = np.nonzero(large)
    return sparse.csr_array((columns[rows, own], (rows, indices[own])), shape=(len(columns),) * 2)


def without_losses(memory: Memory) -> dict[str, Array]:
    """Return arrays of zeros for those entries of ``memory``, the arrays of the compiled time step, that are
    damping and impact losses of contacts. The dictionary has their names; ``memory`` is not changed."""
    return {name: np.zeros_like(memory[name]) for name in LOSSES}


class RestEquations:
    """Equations of steps of one second between poses at rest, from which forces at a pose and their derivatives are
    computed.

    Args:
        system: the mechanism.
        is_redundant: joints hold a motion twice.
        assembly: tables of the mechanism; their memory contains the pose. None: assembled where they are first
            needed, since mechanisms without contact and friction are linearized without them.
    """

    def __init__(self, system: System, is_redundant: bool = False, assembly: Assembly | None = None) -> None:
        self.system, self._is_redundant, self._assembly = system, is_redundant, assembly

    def __reduce__(self) -> tuple[object, ...]:
        """Return the class and its arguments, by which pickle rebuilds these equations at rest. All arrays are
        assembled again from the system."""
        return RestEquations, (self.system, self._is_redundant)

    @cached_property
    def assembly(self) -> Assembly:
        """Arrays of the compiled time step, in which servo controllers have their values at rest."""
        assembly = assemble(self.system) if self._assembly is None else self._assembly
        values = tuple((v.at_rest if isinstance(v, ServoPush) else v, name) for v, name in assembly.prescribed)
        return replace(assembly, prescribed=values)

    @property
    def memory(self) -> Memory:
        """Arrays of numbers of the compiled time step, which contain the pose."""
        return self.assembly.memory

    @cached_property
    def stepper(self) -> Stepper:
        """Compiled time step of the mechanism, which works in ``memory``."""
        return Stepper(self.assembly, is_redundant=self._is_redundant)

    @cached_property
    def _equations(self) -> StepEquations:
        return StepEquations(self.memory)

    def with_tables(self, tables: Mapping[str, Array]) -> "RestEquations":
        """Return a copy of these equations at rest in which some arrays of the compiled time step are replaced.
        ``tables`` has the new arrays by name. The copy has its own memory; this object is not changed."""
        memory = self.memory.with_changed_tables(tables)
        return RestEquations(self.system, self._is_redundant, replace(self.assembly, memory=memory))

    def begin(self, state: State) -> None:
        """Store the pose and the history variables of a state in the arrays of the compiled time step, with zero
        velocities. History variables are strains of Maxwell branches, deflections of friction springs and impact
        speeds."""
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
        """History variables that the arrays of the compiled time step contain at the time of access, in the layout
        of ``State.branches``. They are strains of Maxwell branches, impact speeds and deflections of friction
        springs."""
        return np.asarray(branches_of(self.memory.rows(self.memory.state[None]))[0])

    def moved(self, state: State, change: Array) -> State:
        """Return the ``state`` after a small motion of all bodies, ``change`` of shape (velocities,), in
        which friction springs are deflected by the motion."""
        there = displaced(self.system, state, change)
        branches = self.after_step(state, 2 * change).branches
        return replace(there, theta=self.assembly.initial_thetas(there), branches=branches)

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
        """Return a copy of ``state`` with the history variables that it has after one time step of one second, at
        the same pose. They are deflections of friction springs and others. The step begins at rest and has the
        given ``velocity`` at its end (None: at rest), so that contacts slip by half of it, and the joint
        ``multipliers`` (None: zero), which set friction limits.

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
        """Return the derivatives of the sum of all generalized forces at the pose of ``state``, at rest: first
        with respect to the pose, then to the velocities. Derivatives are taken along the coordinates with the
        ``indices``, for the given joint ``multipliers`` (None: zero). Each array has the shape (velocities,
        indices).

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
        """Copy of these equations in which viscoelastic branches act as springs, with a relaxation time of 1e30 s;
        these equations themselves if there are none. In a time step of -1 s the forces of branches would grow by
        exp(1 s / tau).
        """
        times = self.memory["fading_time"]
        return self.with_tables({"fading_time": np.full_like(times, 1e30)}) if len(times) else self

    def _step_at_rest(self, state: State, multipliers: Array | None) -> tuple[Array, Array, Array]:
        """Return the data of a time step in which nothing moves from the pose of a ``state``, as a tuple of
        arrays. These are the flat states at both of its ends (2, size), the values of moving ground frames and
        drives at both ends, and the loads. The joint ``multipliers`` are written to the end state (None:
        unchanged)."""
        self.begin(state)
        pair = np.stack([self.memory.state] * 2)
        if multipliers is not None:
            self.memory.rows(pair[1:])["multiplier"][:] = multipliers
        times = np.array([state.time, state.time])
        return pair, self.assembly.moving_values(times), self.assembly.load_values(times[:1])


# Friction that sticks where nothing moves: bristles as springs of equilibria and of small motions.
#
# A bristle holds the way u from the pose that it counts from, f = k u as far as the friction at the end of the way
# allows (docs/theory.md, 8; (8.45)). Steps of the model bend it: one from the pose that it counts from to the pose
# in question, in which friction has no limit, and one that stands still there, in which it has.

GRIPPING = 100.0  # coefficient of friction of tendons that never slide
LIMITLESS = 1e12
"""Friction of which no bristle slips."""
LONG = 1e30
"""Bristle that is bent as far as any friction allows."""
SOFT = 1e-30
"""Bristles that hold nothing have this fraction of their stiffness."""
SLACK, NO_STIFFNESS = 1e-20, 1e-16
"""A bristle with the first fraction of its stiffness keeps its force while it moves. Stiffness below the second
fraction of the largest is what remains of such a bristle, and is dropped."""
ROUND_OFF = 1e-12
"""A bristle below its limit of friction by this fraction certainly sticks."""
REPEATED = 1e-9
"""Stiffness below this fraction of the largest one is round-off."""


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
    """Return replacements, by name, for model arrays with which friction springs (bristles) of joints and of
    contacts between two surfaces never slip. Their friction limits become very large. There, friction without a
    spring and the share of bearing forces in friction limits become zero. Contact groups keep their values.
    ``memory`` has the model's arrays, which are unchanged."""
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
    """Return copies of the arrays in ``memory`` with stiffness and damping of all friction springs (bristles), as
    a dictionary by name. They can be changed without changing the originals."""
    return {name: memory[name].copy() for name in ("bristle_stiffness", "bristle_damping")}


@dataclass(frozen=True, eq=False)
class StickingFriction(PickledFields):
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

    @classmethod
    def of(cls, equations: RestEquations, start: State) -> Self:
        """Create the description of friction that sticks in a system (with these ``equations`` at rest), with
        displacements counted from the state ``start``. Friction springs that slip in this state are marked."""
        count = len(friction_springs(equations.system))
        slipped = np.zeros(count, dtype=bool) if start.branches is None else _bristles(start, count)[:, 1] > 0
        known = replace(start, theta=equations.assembly.initial_thetas(start)) if count else start
        return cls(equations, known, slipped)

    def with_slip(self, slips: BoolArray) -> Self:
        """Return a copy of this description of sticking friction in which the friction springs of the mask
        ``slips``, shape (bristles,), count as slipping too."""
        return replace(self, has_slipped=self.has_slipped | slips)

    @property
    def system(self) -> System:
        """The ``System`` (mechanism in numerical form) whose friction springs are described by this object."""
        return self.equations.system

    @cached_property
    def limited(self) -> RestEquations:
        """Copy of the equations at rest in which friction springs slip at their limits. It has its own arrays of
        the stiffness and damping of friction springs, which other methods overwrite."""
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
        (bristles,)) times their original values. The arrays in ``memory`` are overwritten; for None, those of the
        equations ``self.limited``."""
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
        """Mask of the friction springs (bristles) whose friction law names a joint, on whose transmitted force the
        friction limit depends, shape (bristles,)."""
        frictions = (self.system.forces[k].force.friction for k in self.force_indices)
        return np.array([each is not None and each.joint is not None for each in frictions], dtype=bool)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the force elements that the friction springs (bristles) belong to, one for each."""
        return tuple(str(self.system.forces[k].element) for k in self.force_indices)

    def at(self, state: State, multipliers: Array) -> BentBristles:
        """Return all friction springs (bristles) at the pose of ``state``, at rest, as ``BentBristles``:
        deflections, friction limits, which of them slip, and generalized forces. They are deflected by the motion
        from the start pose; those beyond their limit are shortened to it and slip. Limits depend on the joint
        forces ``multipliers``."""
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
        """Write the stiffness of all friction springs (bristles) into the arrays ``memory`` of equations without
        friction limits. Return the state with their deflections at the pose of ``there``. Springs that slip there
        get a negligible stiffness and a deflection so large that their force is constant."""
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
        """Return the stiffness and damping matrices that friction springs (bristles) add to small motions about a
        pose at rest, shape (velocities, velocities) each. ``there`` are the springs at the pose: those of the mask
        ``sticks`` act as springs, others exert a constant force. Only if ``is_balanced`` do the forces at the pose
        contribute a geometric stiffness.

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
        """Return for each friction spring in the mask ``sticks`` a tuple: index of its force element, stiffness,
        and independent rows (k, velocities). At the pose of ``there``, rows times a small motion are k deflections,
        whose energy is that of the spring. They come from an eigenvalue decomposition of the spring's stiffness
        matrix.
        """
        state, found = self._state(there.state, np.zeros((self.count, len(BRISTLE))), self.has_slipped), []
        nothing = np.zeros_like(there.forces)
        for own in np.flatnonzero(sticks):
            shares = np.where(np.arange(self.count) == own, 1.0, SOFT)
            sizes, rows = principal_stiffnesses(self._tangents(state, there.multipliers, shares, nothing).stiffness)
            stiffness = float(self.stiffness[own])
            found.append((int(self.force_indices[own]), stiffness, np.sqrt(sizes / stiffness)[:, None] * rows))
        return found

    def _tangents(self, state: State, multipliers: Array | None, factors: Array, forces: Array) -> Tangents:
        """Return the stiffness and damping of friction springs (bristles) in a ``state``, with their stiffness
        multiplied by ``factors``, shape (bristles,). It is the difference of all tangents with these and with
        negligible factors, so that only the springs remain; entries at round-off become zero. Friction limits
        depend on the joint ``multipliers``. ``forces`` are the springs' generalized forces, which add geometric
        stiffness.
        """
        numbers, changes = self._deflecting_velocities(state), list[Array]()
        for each in (factors, SOFT):
            self.set_factors(each)
            changes.append(np.array(self.limited.tangents(state, numbers, multipliers)))
        stiffness, damping = changes[0] - changes[1]
        stiffness[np.abs(stiffness) <= NO_STIFFNESS * self.stiffness.max()] = 0.0
        return tangents_of(self.system, numbers, stiffness, damping, forces, forces)

    def _loosen(self, there: BentBristles, bristles: Array, sticks: BoolArray) -> tuple[State, Array]:
        """Return a state and stiffness factors, shape (bristles,), by which all friction springs that do not stick
        exert a constant force. A spring outside of the mask ``sticks`` gets a very small factor, and in the state a
        deflection enlarged by its inverse; springs that stick have factor 1. ``there`` has the pose, ``bristles``
        the deflections.
        """
        shares = np.where(sticks, 1.0, SLACK)
        own = bristles * np.where(sticks, 1.0, (1 - ROUND_OFF) / SLACK)[:, None]
        own[:, 1] = bristles[:, 1]
        return self._state(there.state, own, self.has_slipped), shares

    def _deflecting_velocities(self, state: State) -> IntArray:
        """Return the indices of the velocity components, shape (k,), that deflect friction springs (bristles). A
        component counts if the derivative of the length or angle of a force element with friction springs has an
        entry for it in the given state."""
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


# Pairs of contact groups at rest: their bristles, forces and stiffness.

PUSHES = ("contact_group_stiffness", "contact_group_damping", "contact_group_impact")
"""Tables of the normal forces of pairs."""
BEYOND = 1e-6
"""Relative, by which bristles are bent further to see which of them slip."""


Slips = dict[float, BoolArray]
"""Whether sliding, rolling and drilling friction of a pair is at its limit, by the numbers of pairs."""


class PairsAtRest:
    """Contact groups of a system at rest, evaluated by the compiled step: forces, slipping friction, stiffness and
    damping. Friction without a bristle is left out.

    Args:
        equations: equations at rest of the system, whose contacts may search pairs.
        has_slipped: whether pairs that slipped in the step before slip.
    """

    def __init__(self, equations: RestEquations, has_slipped: bool = False) -> None:
        self.equations, self._system, self._has_slipped = equations, equations.system, has_slipped
        self._contacts = contacts_of(equations.system)

    @property
    def _memory(self) -> Memory:
        return self.equations.memory

    def forces(self, state: State) -> Array:
        """Return the generalized forces of contact pairs in a state at rest, shape (velocities,): friction of all
        contacts, and normal forces of contact groups."""
        if not self._contacts:
            return np.zeros_like(state.velocity)
        return self.equations.forces(state) - self._without_pairs.forces(state)

    def round_off(self, state: State) -> Array:
        """Return estimates of the generalized contact forces that round-off of positions in a state can cause,
        shape (velocities,). They follow from machine precision, the largest contact stiffness and the largest
        length or position."""
        if not self._contacts:
            return np.zeros_like(state.velocity)
        length = self._system.largest_length
        stiffness = float(np.max(self._memory["contact_group_stiffness"], initial=0.0))
        force = np.finfo(float).eps * stiffness * (length + float(np.abs(state.position).max()))
        return force * length / self.equations.sizes

    def slipped(self, state: State) -> tuple[str, ...]:
        """Return the names of the contacts whose friction is at its limit in a state; a name occurs once for each
        friction spring (sliding, rolling, drilling) of each pair that slips."""
        numbers = [number for number, own in self.slips(state).items() for _ in range(own.sum())]
        return tuple(str(self._contacts[self._group(number)]) for number in numbers)

    def slips_of_two(self, state: State) -> Slips:
        """Return which sliding, rolling and drilling friction slips in the ``state``, for contacts between two
        surfaces only: a mask of ``slips`` by number of the contact pair. Pairs of contact groups and pairs that do
        not slip are left out."""
        return {
            number: own
            for number, own in self.slips(state).items()
            if own.any() and self._memory["contact_group_laws"][self._group(number)]
        }

    def with_constant_friction(self, state: State, slips: Slips) -> tuple[State, dict[str, Array]]:
        """Return a state and changed model arrays with which slipping contact pairs exert constant friction forces.
        Such a force is that of a very soft friction spring with a long deflection: the state has the deflections,
        the array "member_hold" in the dictionary the factors of the stiffness. In contact groups, deflections of
        slipping pairs become zero instead. ``slips`` has for each pair, by its number, a mask (sliding, rolling,
        drilling).
        """
        self.equations.begin(state)
        hold = np.ones((self._memory.counts["members"], 3))
        for bristles, number, _ in self._bristles():
            for part, is_slipping in enumerate(slips.get(number, ())[: len(bristles)]):
                if is_slipping and self._memory["contact_group_laws"][self._group(number)]:
                    bristles[part] *= (1 - ROUND_OFF) / SLACK
                    hold[self._first_member(number), part] = SLACK
                elif is_slipping:
                    bristles[part] *= 0.0
        return replace(state, branches=self.equations.branches), {"member_hold": hold.ravel()}

    def with_friction_limits(self, state: State, slips: Slips) -> State:
        """Return a copy of a state in which no friction spring of a contact pair is deflected beyond its friction
        limit. ``slips`` has by number of the pair a mask (sliding, rolling, drilling); for friction that slips the
        limit is that of kinetic friction. The limits follow from the contact forces of a time step that is
        evaluated at ``state``, which is not changed."""
        for _ in range(2):
            self.equations.begin(state)
            pairs, turns = self._rows
            for row, number in enumerate(np.abs(pairs[:, 0]).tolist()):
                if number in slips:
                    pairs[row, 0] = -number if slips[number][0] else number
                    turns[row : row + 1, SLIPS] = slips[number][-1]
            marked = replace(state, branches=self.equations.branches)
            state = self.equations.after_step(marked)
        return marked

    def _first_member(self, number: float) -> int:
        """Return the index i of the first of the two contact shapes (sphere, line segment or solid) of a contact
        pair. The ``number`` of the pair of shapes i and j is 1 + i count + j, with the total number of shapes,
        count."""
        return (int(number) - 1) // self._memory.counts["members"]

    def _group(self, number: float) -> int:
        return int(self._memory["member_contact_group"][self._first_member(number)])

    def tangents(self, state: State, is_balanced: bool) -> Tangents:
        """Return the stiffness and damping matrices that all contact pairs add to small motions about a pose
        ``state`` at rest, each (velocities, velocities). They are derivatives of the forces with contacts minus
        those without. Friction at its limit adds nothing. If ``is_balanced``, the geometric stiffness of the
        forces that balance the contact forces is included. Without contact forces all matrices are zero.

        Args:
            state: pose at rest about which motions are small.
            is_balanced: whether other forces, whose stiffness is taken into account too, balance those of the
                pairs.
        """
        if not self._contacts:
            return Tangents.zero(len(state.velocity))
        open_pairs = self.equations.with_tables({name: np.zeros_like(self._memory[name]) for name in PUSHES})
        numbers = self._loaded_velocities(self.equations.forces(state) - open_pairs.forces(state))
        if not len(numbers):
            return Tangents.zero(len(state.velocity))
        bent, loose = self.with_constant_friction(state, self.slips(state))
        both = (each.with_tables(loose) for each in (self.equations, self._without_pairs))
        changes = [np.array(each.tangents(bent, numbers, None)) for each in both]
        forces, balanced = self.forces(bent), is_balanced * self.forces(state)
        stiffness, damping = changes[0] - changes[1]
        stiffness[np.abs(stiffness) <= NO_STIFFNESS * np.abs(changes[0][0]).max()] = 0.0
        return tangents_of(self._system, numbers, stiffness, damping, forces, balanced)

    @cached_property
    def _without_pairs(self) -> RestEquations:
        """Equations of the same mechanism at rest without the forces of contact groups and without friction of
        contacts between two surfaces. Differences to them are the forces of pairs."""
        memory, are_of_two = self._memory, self._memory["contact_group_laws"] > 0
        numbers = {name: np.where(are_of_two, memory[name], 0.0) for name in PUSHES}
        sticks = are_of_two & (memory["contact_group_bristle"] > 0.0)
        numbers["contact_group_friction"] = np.where(sticks, 0.0, memory["contact_group_friction"])
        return self.equations.with_tables(numbers)

    def slips(self, state: State) -> Slips:
        """Return for each contact pair, by its number, whether its sliding, rolling and drilling friction is at the
        limit, as a mask. It is if a friction spring that is deflected further does not keep this deflection in a
        trial step, or if the pair is marked as slipping before.
        """
        if not self._contacts:
            return {}
        self.equations.begin(state)
        bent, found = {}, {}
        for bristles, number, slipped in self._bristles():
            bent[number] = [float(np.linalg.norm(own)) for own in bristles]
            found[number] = np.array(slipped[: len(bristles)]) & self._has_slipped
            for own in bristles:
                own *= 1.0 + BEYOND
        further = replace(state, branches=self.equations.branches)
        self.equations.begin(self.equations.after_step(further))
        for bristles, number, _ in self._bristles():
            if number in bent:
                after = np.array([float(np.linalg.norm(own)) for own in bristles])
                found[number] |= after < (1.0 + BEYOND / 2) * np.array(bent[number])
        return found

    def _bristles(self) -> Iterator[tuple[list[Array], float, list[bool]]]:
        """Yield a tuple for each contact pair with friction history: list of writable views of its
        deflections (sliding (3,), then rolling (3,) and drilling (1,) if the model has them), number of the
        pair, and whether sliding, rolling and drilling slipped. Rolling is always False there."""
        pairs, turns = self._rows
        for row in np.flatnonzero(pairs[:, 0]):
            own = [turns[row, :3], turns[row, 3:4]] if len(turns) else []
            slipped = [pairs[row, 0] < 0, False, bool(len(turns)) and turns[row, SLIPS] > 0]
            yield [pairs[row, 1:], *own], abs(float(pairs[row, 0])), slipped

    @property
    def _rows(self) -> tuple[Array, Array]:
        """Arrays ``pair_bristle`` and ``pair_turn`` of the compiled time step, reshaped to one row for each
        contact pair, as writable views. The first has number and sliding deflection of the pair, the second the
        deflections of rolling and drilling."""
        memory = self._memory
        return memory["pair_bristle"].reshape(-1, PAIR), memory["pair_turn"].reshape(-1, TURN)

    def _loaded_velocities(self, forces: Array) -> IntArray:
        """Return the indices of all velocities of those bodies (or single nodes of strings and soft bodies) on
        which the given generalized forces act. Forces have the shape (velocities,)."""
        layout, owner = self._system.layout, np.arange(len(forces))
        owner[layout.linear] = layout.linear[:, :1]
        for index in range(layout.frames):
            owner[layout.span(index)] = layout.span(index).start
        return np.flatnonzero(np.isin(owner, owner[forces != 0.0]))
