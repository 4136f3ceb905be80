"""What a run tells a stepper and is told by it: which instants are stored, and how far steps came."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from phlexible.algebra.arrays import Array, IntArray


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
        watched: the ends of all steps, like ``rows``; empty unless they are wanted.
    """

    steps: int
    is_singular: bool
    rows: Mapping[str, Array]
    reactions: Array
    error: float
    is_stopped: bool = False
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
