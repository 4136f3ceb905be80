"""Stored instants of a live run."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.state.recording import RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.recorder import recording_of

NOTHING = np.zeros(0)


class StoredChunk(NamedTuple):
    """Instants that were stored together.

    Attributes:
        times: of them, shape (k,) [s].
        rows: as a stepper stores them; multipliers and forces of the last one are those of its own step.
        first: multipliers and forces of the first step; none of the start.
    """

    times: Array
    rows: Mapping[str, Array]
    first: Array = NOTHING

    def first_instants(self, count: int) -> "StoredChunk":
        """Return the first ``count`` instants of this block of stored instants as a block."""
        if count == len(self.times):
            return self
        return StoredChunk(self.times[:count], {name: each[:count] for name, each in self.rows.items()}, self.first)

    @property
    def last(self) -> "StoredChunk":
        """Last instant of this block of stored instants, as a block of one instant."""
        return StoredChunk(self.times[-1:], {name: each[-1:] for name, each in self.rows.items()})


class StoredSteps:
    """All instants of a live run, in blocks.

    Attributes:
        time: of the last instant [s].
    """

    def __init__(self, time: float, rows: Mapping[str, Array]) -> None:
        self.time, self._chunks = time, [StoredChunk(np.array([time]), rows)]

    @property
    def rows(self) -> Mapping[str, Array]:
        """Stored arrays of the last block of instants of the live run, by the names of the state tables
        (position, rotation, velocity, ...). Their first axis is (instants,); the last row belongs to the present
        instant."""
        return self._chunks[-1].rows

    @property
    def last_chunk(self) -> StoredChunk:
        """Block of instants of the live run that was stored last."""
        return self._chunks[-1]

    @property
    def last(self) -> StoredChunk:
        """Last stored instant of the live run, as a block of one instant."""
        return self._chunks[-1].last

    def copy(self) -> "StoredSteps":
        """Return a copy of the stored instants of a live run, with plain arrays by name that can be pickled."""
        found = StoredSteps(self.time, {})
        found._chunks = [StoredChunk(each.times, dict(each.rows), each.first) for each in self._chunks]
        return found

    def add(self, chunk: StoredChunk) -> None:
        """Append a block of instants that follow those stored so far in the live run."""
        self._chunks.append(chunk)
        self.time = float(chunk.times[-1])

    def discard_earlier(self) -> None:
        """Discard all stored instants of the live run but the last."""
        if len(self._chunks) > 1 or len(self._chunks[-1].times) > 1:
            self._chunks = [self.last]

    def up_to(self, steps: int, time: float) -> "StoredSteps | None":
        """Return stored instants of a live run up to the one -``steps`` time steps before the last (``steps``
        is zero or negative). None if it is not stored or its time differs from ``time`` [s]."""
        behind = -steps
        for k in range(len(self._chunks) - 1, -1, -1):
            block = self._chunks[k]
            count = len(block.times) - behind
            if 0 < count <= len(block.times) and block.times[count - 1] == time:
                found = StoredSteps(time, {})
                found._chunks = [*self._chunks[:k], block.first_instants(count)]
                return found
            behind -= len(block.times)
        return None

    def recording(self, system: System, sources: Mapping[str, list[int]], halvings: int) -> RecordedStates:
        """Return the recording of all stored instants of a live run of ``system``, from which a ``Motion`` is
        made; ``sources`` lists the indices of each named source of work, ``halvings`` is the number of halved
        time steps."""
        blocks = self._chunks
        rows = {name: np.concatenate([block.rows[name] for block in blocks]) for name in blocks[0].rows}
        times = np.concatenate([block.times for block in blocks])
        found = recording_of(system, sources, times, rows, halvings)
        count, index = found.multipliers.shape[1], 0
        for block in blocks[1:]:  # at the end of the one before: the mean of the steps beside it
            for own, first in ((found.multipliers, block.first[:count]), (found.forces, block.first[count:])):
                own[index] = first if index == 0 else (own[index] + first) / 2
            index += len(block.times)
        return found
