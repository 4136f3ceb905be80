"""Contacts among many at rest, by the compiled step: equilibria, forces, derivatives (docs/theory.md, 8)."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.linear.rest_equations import RestEquations, Tangents, tangents_of, without_losses
from phlexible.state.branches import searched_contacts
from phlexible.state.layout import State
from phlexible.step.tables.declarations import PAIR, TURN
from phlexible.step.tables.memory import Memory

BEYOND = 1e-6
"""Relative, by which bristles are bent further to see which of them slip."""


class PairsAtRest:
    """Contact groups of a system at rest, evaluated by the compiled step: forces, slipping friction, stiffness and
    damping. Friction without a bristle is left out.

    Args:
        equations: of a system, whose contacts may search pairs.
    """

    def __init__(self, equations: RestEquations) -> None:
        self.equations, self._system = equations, equations.system
        self._contacts = searched_contacts(equations.system.mechanism)

    @property
    def _memory(self) -> Memory:
        return self.equations.memory

    def forces(self, state: State) -> Array:
        """Return the generalized forces of all contact pairs in a state, shape (velocities,)."""
        if not self._contacts:
            return np.zeros_like(state.velocity)
        return self.equations.forces(state) - self._without_pairs.forces(state)

    def round_off(self, state: State) -> Array:
        """Return the generalized contact forces that round-off of positions can cause, shape (velocities,)."""
        length = self._system.largest_length
        stiffness = float(np.max(self._memory["contact_group_stiffness"], initial=0.0))
        force = np.finfo(float).eps * stiffness * (length + float(np.abs(state.position).max()))
        return force * length / self.equations.sizes

    def slipped(self, state: State) -> tuple[str, ...]:
        """Return the names of the contacts in which the friction of a pair is at its limit, one for each such
        friction spring.
        """
        slips, members = self._slips(state), self._memory.counts["members"]
        groups = self._memory["member_contact_group"]
        numbers = [int(number) - 1 for number, parts in slips.items() for part in parts if part]
        return tuple(str(self._contacts[groups[number // members]]) for number in numbers)

    def tangents(self, state: State, is_balanced: bool) -> Tangents:
        """Return the stiffness and damping matrices that all contact pairs add to small motions; friction at its
        limit adds none.

        Args:
            state: the pose.
            is_balanced: whether other forces, whose stiffness is taken too, balance those of the pairs.
        """
        if not len(numbers := self._loaded_velocities(self.forces(state))):
            return Tangents.nothing(len(state.velocity))
        self._begin(state, self._slips(state))
        bent = replace(state, branches=self.equations.branches)
        changes = [np.array(each.tangents(bent, numbers, None)) for each in (self.equations, self._without_pairs)]
        forces, balanced = self.forces(bent), is_balanced * self.forces(state)
        stiffness, damping = changes[0] - changes[1]
        return tangents_of(self._system, numbers, stiffness, damping, forces, balanced)

    @cached_property
    def _without_pairs(self) -> RestEquations:
        """Equations at rest without the forces of contact pairs, for differences."""
        nothing = np.zeros_like(self._memory["contact_group_stiffness"])
        return self.equations.with_numbers(without_losses(self._memory) | {"contact_group_stiffness": nothing})

    def _begin(self, state: State, slips: dict[float, BoolArray] | None = None) -> None:
        """Write a state at rest into the tables, without the friction springs of pairs that slip."""
        self.equations.begin(state)
        for bristles, number in self._bristles():
            for own, is_slipping in zip(bristles, (slips or {}).get(number, ()), strict=False):
                own[:] *= not is_slipping

    def _slips(self, state: State) -> dict[float, BoolArray]:
        """Return by the number of each pair whether its sliding, rolling and drilling friction is at its limit,
        from a step with slightly larger deflections.
        """
        if not self._contacts:
            return {}
        self._begin(state)
        bent = {}
        for bristles, number in self._bristles():
            bent[number] = [float(np.linalg.norm(own)) for own in bristles]
            for own in bristles:
                own *= 1.0 + BEYOND
        further = replace(state, branches=self.equations.branches)
        self._begin(self.equations.after_step(further))
        found = {number: np.zeros(len(own), dtype=bool) for number, own in bent.items()}
        for bristles, number in self._bristles():
            if number in bent:
                after = np.array([float(np.linalg.norm(own)) for own in bristles])
                found[number] = after < (1.0 + BEYOND / 2) * np.array(bent[number])
        return found

    def _bristles(self) -> Iterator[tuple[list[Array], float]]:
        """Yield, for each pair in contact, views of its friction springs against sliding, rolling and drilling, and
        the number of the pair.
        """
        pairs = self._memory["pair_bristle"].reshape(-1, PAIR)
        turns = self._memory["pair_turn"].reshape(-1, TURN)
        for row in np.flatnonzero(pairs[:, 0]):
            own = [turns[row, :3], turns[row, 3:4]] if len(turns) else []
            yield [pairs[row, 1:], *own], abs(float(pairs[row, 0]))

    def _loaded_velocities(self, forces: Array) -> IntArray:
        """Return the indices of the velocities of all bodies, or of single nodes of bodies with nodes, on which the
        given forces act.
        """
        layout, owner = self._system.layout, np.arange(len(forces))
        owner[layout.linear] = layout.linear[:, :1]
        for index in range(layout.frames):
            owner[layout.place(index)] = layout.place(index).start
        return np.flatnonzero(np.isin(owner, owner[forces != 0.0]))
