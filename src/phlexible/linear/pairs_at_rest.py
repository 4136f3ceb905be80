"""Contacts among many at rest, by the compiled step: equilibria, forces, derivatives (docs/theory.md, 8)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.errors import EquilibriumError
from phlexible.linear.rest_equations import RestEquations, Tangents, tangents_of
from phlexible.state.branches import searched_contacts
from phlexible.state.layout import State
from phlexible.state.small_motions import displaced, size_of_motion
from phlexible.state.system import System
from phlexible.step.assembly.assembly import assemble
from phlexible.step.integration.stored_rows import branches_of
from phlexible.step.programs import pair_forces
from phlexible.step.tables.declarations import MET, PAIR, TURN

# A step from rest without inertia ends as far beyond the equilibrium as it began before it, since the forces of a
# step are means over it. Its middle is the equilibrium of these forces. Steps from rest to their middles, which
# become longer while motions become smaller, lead downhill first and converge like Newton's method in the end.

FIRST = 0.02
"""Motion of the first step by the forces alone, in lengths of the model."""
GROWTH, SHORTER = 3.0, 0.25
"""Factors on the size of the next step, after a smaller motion and after a step without solution."""
MOST_STEPS = 1500
LONGEST = 1e3
"""Times the first step: longer ones move by the round-off of forces."""
LEAST = 1e-6
"""Times the first step: shorter ones lead nowhere."""
LONG = 30.0
"""Times the first step, in which a small motion means rest."""
FARTHEST, INTO = 0.3, 0.25
"""Motion in one step, in lengths of the model or rad, and over the least thickness of what is touched."""
SETTLED = 1e-9
"""Motion at rest, in lengths of the model or rad, where steps become smaller no more."""

MOTION, LEAST_MOTION = 1e-6, 1e-10
"""Largest and smallest motion of differences, in lengths of the model or rad.

A motion that changes which pairs push is made smaller.
"""
RATE = 1e-5
"""Velocity of differences, in lengths of the model or rad a second."""
INSTANT = 1e-4
"""Duration of the steps there and back in which forces are taken [s]."""
BEYOND = 1e-6
"""Relative, by which bristles are bent further to see which of them slip."""


class PairsAtRest:
    """Contacts among many of a system at rest; friction without a bristle is left out.

    Args:
        system: with contacts that search their pairs.
        is_redundant: joints hold a motion twice.
        has_losses: pairs damp motions along their normals, which equilibria do not depend on.
    """

    def __init__(self, system: System, is_redundant: bool, has_losses: bool = True) -> None:
        tables = assemble(system)
        sticks = np.asarray(tables.memory["contact_group_bristle"]) > 0
        friction = np.where(sticks, tables.memory["contact_group_friction"], 0.0)
        losses = () if has_losses else ("contact_group_damping", "contact_group_impact")
        changed = {"contact_group_friction": friction} | dict.fromkeys(losses, np.zeros_like(friction))
        self._assembly = replace(tables, memory=tables.memory.with_numbers(changed))
        self._system, self._memory = system, self._assembly.memory
        self._equations = RestEquations(self._assembly, is_redundant)
        self._made_of = system, is_redundant, has_losses

    def __reduce__(self) -> tuple[object, ...]:
        """Make the tables anew in another process."""
        return PairsAtRest, self._made_of

    def settled(self, state: State, acceleration: float) -> State:
        """Equilibrium that steps from a state at rest lead to, with what bristles remember on the way.

        Args:
            state: the first pose.
            acceleration: size of the forces there over the masses that they move [m/s^2].

        Raises:
            EquilibriumError: steps lead to none.
        """
        system, before, fastest = self._system, state, np.inf
        if not acceleration:
            return state
        size = first = np.sqrt(4 * FIRST * system.largest_length / acceleration)
        for _ in range(MOST_STEPS):
            self._begin(state)
            if size < LEAST * first:
                break
            if not self._equations.stepper.attempt(state.time, size):
                size *= SHORTER
                continue
            change = size / 4 * self._memory["velocity"]
            motion = size_of_motion(system, change)
            if motion > self._farthest:
                size /= max(2.0, np.sqrt(motion / self._farthest))
                continue
            scaled = motion * max(1.0, LONG * first / size) ** 2
            if scaled < SETTLED and motion / size**2 > 0.5 * fastest:  # round-off
                return before if motion / size**2 > fastest else state
            before, state = state, self.relaxed(self._moved(state, change))
            if not motion:
                return state
            grows = motion / size**2 < 1.1 * fastest and (scaled > SETTLED or size < LONG * first)
            fastest, size = motion / size**2, size * (GROWTH if grows else 1.0)
        raise EquilibriumError(
            f"no static equilibrium found near the given pose: after {MOST_STEPS} steps bodies still move; nothing"
            " may hold the model against its loads, or the pose is far away (give state=); friction with bristle=0,"
            " which equilibria leave out, holds nothing; what touches without friction slides off all that leans,"
            " as a box does that lies aside on another: give friction=, or hold it by a joint or spring"
        )

    def relaxed(self, state: State) -> State:
        """The state at rest in which only bristles remember where they were."""
        self._begin(state)
        for name in ("branch_strain", "soft_strain", "inner_strain", "impact"):
            self._memory[name][:] = 0.0
        self._memory["pair_turn"].reshape(-1, TURN)[:, MET] = 0.0
        return replace(state, velocity=np.zeros_like(state.velocity), branches=self._branches)

    def forces(self, state: State) -> Array:
        """Forces of all pairs on nu, shape (velocities,)."""
        self._begin(state)
        return self._forces(state)

    def round_off(self, state: State) -> Array:
        """Forces of pairs by the round-off of positions, shape (velocities,)."""
        stiffness, length = float(np.max(self._memory["contact_group_stiffness"])), self._system.largest_length
        force = np.finfo(float).eps * stiffness * (length + float(np.abs(state.position).max()))
        return force * length / self._sizes

    def slipped(self, state: State) -> tuple[str, ...]:
        """Names of the contacts of pairs whose friction is at its limit."""
        slips, members = self._slips(state), self._memory.counts["members"]
        groups, contacts = self._memory["member_contact_group"], searched_contacts(self._system.mechanism)
        numbers = [int(number) - 1 for number, parts in slips.items() for part in parts if part]
        return tuple(str(contacts[groups[number // members]]) for number in numbers)

    def tangents(self, state: State, is_balanced: bool) -> Tangents:
        """Stiffness and damping of all pairs; friction at its limit has none.

        Args:
            state: the pose.
            is_balanced: whether other forces, whose stiffness is taken too, balance those of the pairs.
        """
        slips, numbers = self._slips(state), self._pushed(self.forces(state))
        stiffness, damping = (np.zeros((len(self._sizes), len(numbers))) for _ in range(2))
        for column, number in enumerate(numbers):
            stiffness[:, column] = self._slope(state, number, slips)
            self._begin(state, slips)
            sides = []
            for sign in (1.0, -1.0):
                self._memory["velocity"][number] = sign * RATE * self._sizes[number]
                sides.append(self._forces(state))
            damping[:, column] = (sides[0] - sides[1]) / (2 * RATE * self._sizes[number])
        self._begin(state, slips)
        forces, balanced = self._forces(state), is_balanced * self.forces(state)
        return tangents_of(self._system, numbers, stiffness, damping, forces, balanced)

    def _slope(self, state: State, number: int, slips: dict[float, BoolArray]) -> Array:
        """Derivative of the forces along one small motion, shape (velocities,)."""
        self._begin(state, slips)
        here, change, share = self._forces(state), np.zeros(len(self._sizes)), MOTION
        pushing, sides, size = self._pushing, list[Array](), self._sizes[number]
        change[number] = size
        while share >= LEAST_MOTION:
            sides, same = [], []
            for sign in (1.0, -1.0):
                self._begin(self._moved(state, sign * share * change), slips)
                sides.append(self._forces(state))
                same.append(self._pushing == pushing)
            if all(same):
                break
            share /= 10
        else:  # pairs begin to push at this pose: the side counts on which they do not, if there is one
            share *= 10
            if any(same):
                own = 0 if same[0] else 1
                sides[1 - own] = 2 * here - sides[own]
        return np.asarray((sides[0] - sides[1]) / (2 * share * size))

    @property
    def _pushing(self) -> bytes:
        """Pairs that pushed when forces were taken last."""
        count = int(self._memory["touch_count"][0])
        return b"".join(self._memory[name][:count].tobytes() for name in ("touch_first", "touch_second"))

    def _forces(self, state: State) -> Array:
        """Forces of all pairs at what is in the tables."""
        found = np.zeros(int(self._system.layout.velocity[-1]))
        moving = self._assembly.moving_values(np.array([state.time]))
        for step in (INSTANT, -INSTANT):  # so that stiffness has no part in damping
            pair_forces(self._memory.header, step, moving, found)
        return found / 2

    def _begin(self, state: State, slips: dict[float, BoolArray] | None = None) -> None:
        """Put a state into the tables, at rest, without the friction of pairs that slip."""
        self._equations.begin(state)
        for bristles, number in self._bristles() if slips else ():
            for own, is_slipping in zip(bristles, slips[number] if slips else (), strict=True):
                own[:] *= not is_slipping

    def _moved(self, state: State, change: Array) -> State:
        """The state after a small motion, which bends bristles."""
        bent = self._equations.after_step(state, 2 * change)
        return replace(displaced(self._system, state, change), theta=None, branches=bent.branches)

    def _slips(self, state: State) -> dict[float, BoolArray]:
        """Whether sliding, rolling and drilling friction of each pair is at its limit, by the numbers of pairs."""
        self._begin(state)
        bent = {}
        for bristles, number in self._bristles():
            bent[number] = [float(np.linalg.norm(own)) for own in bristles]
            for own in bristles:
                own *= 1.0 + BEYOND
        further = replace(state, branches=self._branches)
        self._begin(self._equations.after_step(further))
        found = {number: np.zeros(len(own), dtype=bool) for number, own in bent.items()}
        for bristles, number in self._bristles():
            if number in bent:
                after = np.array([float(np.linalg.norm(own)) for own in bristles])
                found[number] = after < (1.0 + BEYOND / 2) * np.array(bent[number])
        return found

    @property
    def _branches(self) -> Array:
        """What laws remember, of the tables."""
        return np.asarray(branches_of(self._memory.rows(self._memory.state[None]))[0])

    def _bristles(self) -> Iterator[tuple[list[Array], float]]:
        """Bristles of each pair in the tables against sliding, rolling and drilling, and the number of the pair."""
        pairs = self._memory["pair_bristle"].reshape(-1, PAIR)
        turns = self._memory["pair_turn"].reshape(-1, TURN)
        for row in np.flatnonzero(pairs[:, 0]):
            own = [turns[row, :3], turns[row, 3:4]] if len(turns) else []
            yield [pairs[row, 1:], *own], abs(float(pairs[row, 0]))

    @cached_property
    def _sizes(self) -> Array:
        """Motions along each velocity that stand for one length of the model or one radian, shape (velocities,)."""
        sizes = self._system.largest_length / np.asarray(self._memory["velocity_weight"])
        sizes[self._system.layout.linear] = self._system.largest_length
        sizes[self._system.layout.spin[2]] = 1.0
        return np.asarray(sizes)

    def _pushed(self, forces: Array) -> IntArray:
        """Numbers of velocities of bodies, or of single nodes of long ones, on which such forces act."""
        layout, owner = self._system.layout, np.arange(len(forces))
        owner[layout.linear] = layout.linear[:, :1]
        for index in range(layout.frames):
            owner[layout.place(index)] = layout.place(index).start
        return np.flatnonzero(np.isin(owner, owner[forces != 0.0]))

    @cached_property
    def _farthest(self) -> float:
        """Motion in one step, in lengths of the model or rad: nothing passes through what is thin."""
        contacts, dimension = searched_contacts(self._system.mechanism), self._system.dimension
        members = [member for contact in contacts for member in contact.members(dimension)]
        sizes = [member.thickness if member.kind.is_solid else member.radius for member in members]
        least = min((size for size in sizes if size > 0), default=np.inf)
        return min(FARTHEST, INTO * least / self._system.largest_length)
