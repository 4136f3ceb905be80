"""Requests of a run to its stepper, and the answers: which instants are stored, and how many steps were taken."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.step.tables.memory import Memory, StateRows


class Storage(NamedTuple):
    """Choice of the instants that are stored among a number of steps.

    Attributes:
        every: store every n-th step.
        phase: steps computed since the last one stored.
        continues: the step before had the same size, and ended at this state.
        with_controllers: evaluate controllers before each step but the first; if one fails, the last values remain.
        watches: the instants of all steps are wanted too.
    """

    every: int = 1
    phase: int = 0
    continues: bool = False
    with_controllers: bool = False
    watches: bool = False


class Advance(NamedTuple):
    """Result of a number of steps of one size.

    Attributes:
        steps: number of steps that were computed.
        is_singular: whether the next step failed with a singular matrix.
        rows: the stored instants, an array each by the names of the state tables, time first.
        reactions: multipliers and forces of the first step.
        last_error: largest estimated error of the steps after the last stored state, see ``error``.
        is_stopped: a controller or a law raised an error before the next one: ``raise_deferred`` raises it.
        trials: number of steps that were tried in order to solve for laws of the state.
        watched: the ends of all steps, like ``rows``; empty unless they are wanted.
    """

    steps: int
    is_singular: bool
    rows: StateRows
    reactions: Array
    last_error: float
    is_stopped: bool = False
    trials: int = 0
    watched: Mapping[str, Array] = MappingProxyType({})

    @property
    def error(self) -> float:
        """Largest estimated local error of the time steps, divided by the length of the longest body. The local
        error is the error of the displacement in a single step, estimated by (4.22) of docs/theory.md, 4. The
        number is the maximum of the errors stored with the instants and of ``last_error``."""
        return max(self.last_error, float(self.rows["step_error"].max(initial=0.0)))


class Course(NamedTuple):
    """Inputs of steps of one size: prescribed vectors and loads as functions of time.

    Attributes:
        shares: lengths of the substeps as fractions of a step, shape (substeps,).
        moving: prescribed vectors at the ends of all substeps, shape (steps substeps + 1, 3 vectors).
        loads: load values at the middles of the substeps, shape (steps substeps, 3 loads).
    """

    shares: Array
    moving: Array
    loads: Array

    def steps(self, first: int, last: int) -> "Course":
        """Return the inputs (prescribed vectors and loads) of the time steps ``first`` to ``last`` - 1. If
        ``first`` equals ``last``, the result has the prescribed vectors at that instant and no loads."""
        begin, end = first * len(self.shares), last * len(self.shares)
        return Course(self.shares, self.moving[begin : end + 1], self.loads[begin:end])

    def with_loads(self, more: Array) -> "Course":
        """Return a copy of the inputs of time steps with ``more`` added to the loads. Its shape is (steps *
        substeps, 3 * loads) [N or N m]."""
        return Course(self.shares, self.moving, self.loads + more)


HISTORY = ("branch_strain", "soft_strain", "inner_strain", "impact", "flow", "pair_bristle", "pair_turn", "bristle")
"""Tables of history variables in the order of ``State.branches``, which has half of ``soft_strain``: strains of C
change by twice those of E."""


def branches_of(rows: Mapping[str, Array]) -> Array:
    """Return the history variables of stored instants (strains of Maxwell elements, friction springs, impacts),
    shape (instants, variables). They are in the order of ``State.branches``. ``rows`` are the arrays of these
    instants by the names of the state tables; "branch_strain", "soft_strain" and the other tables of histories are
    used."""
    tables = (rows[name] / (2 if name == "soft_strain" else 1) for name in HISTORY)
    return np.concatenate([table.reshape(len(table), -1) for table in tables], axis=1)


def set_branches(memory: Memory, branches: Array | None) -> None:
    """Store history variables (strains of Maxwell elements, friction springs, impacts, tendon flows) in the arrays
    of the state in ``memory``. ``branches``, shape (variables,), has the order of ``State.branches``. None sets
    all of them to zero, the relaxed state."""
    end = 0
    for name in filter(memory.state_sizes.get, HISTORY):  # others are empty
        begin, end = end, end + memory[name].size
        given = 0.0 if branches is None else branches[begin:end].reshape(memory[name].shape)
        memory[name][...] = (2 if name == "soft_strain" else 1) * given


class StoredRows:
    """Collects stored states, each with the mean reactions of the steps before and after it.

    Args:
        memory: whose state is stored, with its multipliers and forces, the reactions, as its last numbers.
        count: number of steps; 0: the present state is stored.
        storage: rule which of the steps are stored.

    Attributes:
        whole: a spare row for the instant before, and the stored states, shape (1 + instants, row size).
        rows: the stored states, shape (instants, row size).
        first: reactions of the first step.
        filled: number of rows that are filled.
        every, since_stored: store every n-th of the next steps; steps since the last one stored.
        continues: the step before had the same size, and ended at this state.
    """

    def __init__(self, memory: Memory, count: int, storage: Storage) -> None:
        kept = (storage.phase + count) // storage.every if count else 1
        self.whole = np.empty((kept + 1, memory.counts["row_size"]))
        self.rows = self.whole[1:]
        self.first: Array = np.zeros(memory.counts["reactions"])
        self.every, self.since_stored, self.continues = storage.every, storage.phase, storage.continues
        self.filled, self._memory, self._open, self._is_first = 0, memory, -1, True

    @property
    def keeps_next(self) -> bool:
        """Whether the state after the next time step will be stored; every n-th state is."""
        return (self.since_stored + 1) % self.every == 0

    def scratch_rows(self, count: int = 0) -> "StoredRows":
        """Return a separate array of states for a time step that is only attempted, so that its results do not
        enter this one. With ``count`` = 0 it stores no state, with ``count`` = 1 the present one.
        """
        return StoredRows(self._memory, 1 - count, Storage(2, 0, self.continues))

    def record_steps(self, steps: int, reactions: Array) -> None:
        """Count ``steps`` more time steps, whose states compiled code has written here. If the last stored instant
        is the one at which they begin, its multipliers and forces become the mean with ``reactions``, those of the
        first new step, shape (reactions,). With 0 steps nothing changes.
        """
        if not steps:
            return
        if self._open >= 0:
            own = self.rows[self._open, self.rows.shape[1] - len(reactions) :]
            own += reactions
            own *= 0.5
        if self._is_first:
            self.first[:] = reactions
        kept, self.since_stored = divmod(self.since_stored + steps, self.every)
        self.filled += kept
        self._open = self.filled - 1 if kept and not self.since_stored else -1
        self._is_first, self.continues = False, True
