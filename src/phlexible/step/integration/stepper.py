"""The border between a run (clock, halving, controllers, storage) and a scheme (docs/theory.md, 4)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.loads import Input
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.recording import LateReactions


@dataclass(frozen=True, eq=False)
class Storage:
    """Which instants of a number of steps are stored.

    Attributes:
        every: store each so many.
        phase: steps taken since the last one stored.
        continues: the step before had the same size, and ended at this state.
        asks: controllers are asked before each step but the first; the values of one that fails stay held.
        watches: the instants of all steps are wanted too.
    """

    every: int = 1
    phase: int = 0
    continues: bool = False
    asks: bool = False
    watches: bool = False


@dataclass(frozen=True, eq=False)
class Advance:
    """What a number of steps of one size gave.

    Attributes:
        steps: how many were taken.
        is_singular: why the next one failed, if it did: a singular matrix.
        rows: the stored instants, an array each by the names of the state tables, time first.
        reactions: multipliers and forces of the first step.
        error: greatest estimated error of the steps, relative to the longest body (4.22).
        is_stopped: a controller raised an error before the next one: ``let_interrupt`` raises it.
        trials: of steps that were taken to find forces of the state.
        watched: the ends of all steps, like ``rows``; empty unless they are wanted.
    """

    steps: int
    is_singular: bool
    rows: Mapping[str, Array]
    reactions: Array
    error: float
    is_stopped: bool = False
    trials: int = 0
    watched: Mapping[str, Array] = field(default_factory=dict)


class StoredRows:
    """Collects rows of the state, each with the mean reactions of the steps beside it.

    Args:
        width: numbers of the state.
        reactions: multipliers and forces, its last numbers.
        count: steps in all; 0: the state as it is.
        storage: which of them are stored.

    Attributes:
        numbers: the rows, shape (rows, state numbers).
        first: reactions of the first step.
    """

    def __init__(self, width: int, reactions: int, count: int, storage: Storage) -> None:
        kept = (storage.phase + count) // storage.every if count else 1
        self.numbers = np.zeros((kept, width))
        self.first: Array = np.zeros(reactions)
        self._every, self._phase, self._continues = storage.every, storage.phase, storage.continues
        self._row, self._open, self._is_first = 0, -1, True

    @property
    def rest(self) -> Array:
        """Those that are still to be written."""
        return self.numbers[self._row :]

    @property
    def keeps_next(self) -> bool:
        """Whether the next step is stored."""
        return (self._phase + 1) % self._every == 0

    @property
    def of_trial(self) -> IntArray:
        """For compiled code: the next step, of which no row is written."""
        return np.array([1, self._phase + 2, self._phase, self._continues, *4 * [0]], dtype=np.int64)

    def storage(self, count: int, measures: bool) -> IntArray:
        """What compiled code is to store of the next steps, see ``kernels.loop.advance``."""
        numbers = [count, self._every, self._phase, self._continues, count == 0, measures, False, False]
        return np.array(numbers, dtype=np.int64)

    def took(self, steps: int, reactions: Array) -> None:
        """So many steps more, the first of which had these reactions."""
        if not steps:
            return
        if self._open >= 0:
            own = self.numbers[self._open, self.numbers.shape[1] - len(reactions) :]
            own += reactions
            own *= 0.5
        if self._is_first:
            self.first[:] = reactions
        kept, self._phase = divmod(self._phase + steps, self._every)
        self._row += kept
        self._open = self._row - 1 if kept and not self._phase else -1
        self._is_first, self._continues = False, True


class Stepper(ABC):
    """Takes steps from a state that it holds.

    Attributes:
        order: of the scheme.
        work_sources: names of what can supply work, each with its columns in the table ``work``.
        layout: what the numbers of a snapshot are; snapshots of other layouts cannot be restored.
    """

    order: int
    work_sources: dict[str, list[int]]
    layout: str

    @abstractmethod
    def begin(self, state: State, at: Instants | None = None) -> None:
        """Start from a state; ``at``: the same as an instant, where the caller has it."""

    @abstractmethod
    def advance(self, instants: Array, step: float, storage: Storage) -> Advance:
        """Steps between instants (count + 1,), all of one size; stops at the first that fails."""

    @abstractmethod
    def now(self, time: float) -> Mapping[str, Array]:
        """The state that it holds, as one stored instant."""

    @abstractmethod
    def joint_velocities(self, time: float) -> Array | None:
        """The velocities that it holds, brought onto the joints, shape (velocities,); the state stays as it is.

        None where joints depend on each other, or are related by others.
        """

    @abstractmethod
    def project(self, time: float) -> None:
        """Bring velocities back onto the joints, before steps of another length."""

    @property
    @abstractmethod
    def event_times(self) -> Array:
        """When each event happened, NaN: not yet, shape (events,) [s]."""

    @abstractmethod
    def happen(self, event: int, time: float) -> None:
        """Hold and release what an event does; velocities are brought onto what holds then."""

    @property
    @abstractmethod
    def last_reactions(self) -> tuple[Array, Array]:
        """Multipliers and forces of the last step, shape (rows,) and (forces,)."""

    @abstractmethod
    def reactions(self, time: float, end: float, is_projected: bool = True) -> LateReactions:
        """What finds the same at the state that it holds now, from accelerations (4.23).

        Users' functions are asked now, so that the rest can wait until somebody wants to know.

        Args:
            time: of the state [s].
            end: functions of time are asked up to here [s].
            is_projected: velocities satisfy the joints (``project``); if not they are brought back onto them.

        Raises:
            ValueError: a function that cannot be asked there.
        """

    @abstractmethod
    def control(self, time: float) -> None:
        """Ask the controllers for the values that they hold in the steps to come."""

    @property
    @abstractmethod
    def inputs(self) -> Mapping[str, Input]:
        """Constant loads by name, with their places in ``give``."""

    @property
    @abstractmethod
    def load_values(self) -> int:
        """Number of loads and prescribed forces, three values each."""

    @abstractmethod
    def give(self, values: Array) -> None:
        """Add values to all loads in the steps to come, shape (load values,)."""

    @property
    @abstractmethod
    def is_controlled(self) -> bool:
        """Whether there are controllers, which are asked before each step."""

    @property
    @abstractmethod
    def numbers_a_step(self) -> int:
        """Numbers that a stored step holds: it bounds how many steps are taken at a time."""

    @abstractmethod
    def snapshot(self) -> Array:
        """A copy of all that is kept from step to step, shape (numbers,): after ``restore`` of it the
        same steps have the same digits."""

    @abstractmethod
    def restore(self, snapshot: Array) -> None:
        """Put a snapshot back."""

    @abstractmethod
    def failure(self, time: float, is_singular: bool) -> tuple[str, Array]:
        """Why the last step failed, in words, and the scaled updates of its iteration."""

    @abstractmethod
    def trouble(self, limit: float) -> tuple[str, str]:
        """Words of a body deformed by more than so many sizes of it, and of controllers and laws; or empty."""

    @abstractmethod
    def let_interrupt(self) -> None:
        """Ctrl-C, or the error of a controller, that was held back in the last steps comes now."""

    @property
    @abstractmethod
    def cause(self) -> BaseException | None:
        """What a user's function raised in the last step; None: nothing."""

    @property
    @abstractmethod
    def dependent_steps(self) -> int:
        """Steps so far in which joints depended on each other that were independent at the start."""

    @property
    @abstractmethod
    def open_steps(self) -> int:
        """Steps so far that were solved, and whose energies miss the work by more than round-off explains."""

    @property
    @abstractmethod
    def has_jumps(self) -> bool:
        """Whether ``jumps`` has any."""

    @property
    @abstractmethod
    def jumps(self) -> Mapping[str, int]:
        """Steps so far in which values of a law were none of it, where it jumps, by the name of the law."""


def no_rows() -> Mapping[str, Array]:
    """Nothing stored."""
    return {"position": np.zeros((0, 0, 3))}
