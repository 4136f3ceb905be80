"""Forces of contact pairs at rest, and their derivatives, by the compiled step (docs/theory.md, 8).

Normal forces of contacts of two are those of their coordinates (``state/forces.py``); friction of all contacts, and
all forces of contacts among many, are here.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.linear.rest_equations import RestEquations, Tangents, tangents_of
from phlexible.linear.sticking import ROUND_OFF, SLACK
from phlexible.state.branches import contacts_of
from phlexible.state.layout import State
from phlexible.step.tables.declarations import PAIR, SLIPS, TURN
from phlexible.step.tables.memory import Memory

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
        """Return bounds on the generalized contact forces that the round-off of positions in a state can cause,
        shape (velocities,)."""
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
        """Return the masks of ``slips`` (sliding, rolling, drilling) by number of the pair, of contacts
        between two surfaces only. Pairs of contact groups and pairs that do not slip in the ``state`` are
        left out."""
        return {
            number: own
            for number, own in self.slips(state).items()
            if own.any() and self._memory["contact_group_laws"][self._group(number)]
        }

    def with_constant_friction(self, state: State, slips: Slips) -> tuple[State, dict[str, Array]]:
        """Return a state and changed tables (``member_hold``) in which the slipping pairs of ``slips`` resist
        motions with a constant friction force instead of a spring. In contact groups the friction of slipping
        pairs becomes zero. ``slips`` has a mask (sliding, rolling, drilling) by the number of a pair."""
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
        """Return a copy of a state in which the friction springs of contact pairs are deflected no further than the
        friction limit allows; the kinetic limit applies to the pairs that slip (``slips``)."""
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
        """Return the index i of the first of the two members (sphere, line segment or solid) of a contact
        pair. The ``number`` of the pair of members i and j is 1 + i members + j, with the total number of
        members."""
        return (int(number) - 1) // self._memory.counts["members"]

    def _group(self, number: float) -> int:
        return int(self._memory["member_contact_group"][self._first_member(number)])

    def tangents(self, state: State, is_balanced: bool) -> Tangents:
        """Return the stiffness and damping matrices that all contact pairs add to small motions about a pose
        ``state`` at rest, shape (velocities, velocities) each. Friction at its limit adds nothing. The
        stiffness includes that of other forces that balance those of the pairs if ``is_balanced``.

        Args:
            state: pose at rest about which motions are small.
            is_balanced: whether other forces, whose stiffness is taken into account too, balance those of the
                pairs.
        """
        if not self._contacts:
            return Tangents.zero(len(state.velocity))
        if not len(
            numbers := self._loaded_velocities(self.equations.forces(state) - self._without_any_pairs.forces(state))
        ):
            return Tangents.zero(len(state.velocity))
        bent, loose = self.with_constant_friction(state, self.slips(state))
        both = (each.with_tables(loose) for each in (self.equations, self._without_pairs))
        changes = [np.array(each.tangents(bent, numbers, None)) for each in both]
        forces, balanced = self.forces(bent), is_balanced * self.forces(state)
        stiffness, damping = changes[0] - changes[1]
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

    @cached_property
    def _without_any_pairs(self) -> RestEquations:
        """Equations of the mechanism at rest in which no contact pair exerts a force: a copy for the compiled
        time step without contact stiffness, damping and impact losses."""
        return self.equations.with_tables({name: np.zeros_like(self._memory[name]) for name in PUSHES})

    def slips(self, state: State) -> Slips:
        """Return, by the number of each contact pair, a mask of three: whether its sliding, rolling and drilling
        friction is at its limit in a state. Its friction springs then cannot be deflected further."""
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
        """Tables ``pair_bristle`` and ``pair_turn`` of the compiled step with one row for each pair, as
        views. The first has number and sliding deflection of the pair, the second deflections of rolling and
        drilling."""
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
