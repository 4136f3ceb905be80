"""Memory of the tables of ``tables.py``: sizes from counts, arrays for Python, addresses for the kernels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, IntArray
from phlexible.tables.declarations import TABLES, Kind, Table, Writer

NUMBERS = {Kind.REAL: (), Kind.INTEGER: (), Kind.VECTOR: (3,), Kind.MATRIX: (3, 3)}
"""Shape of an entry."""

STATE = tuple(table for table in TABLES if table.writer is Writer.STATE)


class Memory:
    """All tables of a model.

    Args:
        counts: every table of kind COUNT by name, without those that follow from others.
        given: every table that the system writes, by name.

    Attributes:
        counts: all of them.
        header: counts and addresses as the kernels take them (``notation.tables_at``).
        state: all stored tables, one after the other; a view of it is what ``memory[name]`` gives of them.
    """

    def __init__(self, counts: Mapping[str, int], given: Mapping[str, NDArray[np.generic]]) -> None:
        self.counts = {"one": 1, **counts}
        self.counts["state_numbers"] = sum(numbers(table, self.counts) for table in STATE)
        self.state: Array = np.zeros(self.counts["state_numbers"])
        self._arrays: dict[str, NDArray[np.generic]] = dict(state_views(self.state, self.counts))
        for table in TABLES:
            if table.kind is not Kind.COUNT and table.writer is not Writer.STATE:
                self._arrays[table.name] = self._allocated(table, given)
        self.header: IntArray = np.zeros(2 * len(TABLES), dtype=np.int64)
        for place, table in enumerate(TABLES):
            if table.kind is Kind.COUNT:
                self.header[place] = self.counts[table.name]
            else:
                self.header[place] = self._arrays[table.name].ctypes.data
                self.header[len(TABLES) + place] = table.entries(self.counts)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A table: shape (entries,), of vectors (entries, 3), of matrices (entries, 3, 3); a view."""
        return self._arrays[name]

    def _allocated(self, table: Table, given: Mapping[str, NDArray[np.generic]]) -> NDArray[np.generic]:
        if table.writer is Writer.VIEW:
            size = table.entries(self.counts)
            return self.state[len(self.state) - size :]
        shape = (table.entries(self.counts), *NUMBERS[table.kind])
        kind = np.int64 if table.kind is Kind.INTEGER else np.float64
        if table.writer is not Writer.SYSTEM:
            return np.zeros(shape, dtype=kind)
        array = np.ascontiguousarray(given[table.name], dtype=kind)
        assert array.shape == shape, f"{table.name} has shape {array.shape}, expected {shape}"
        return array


def numbers(table: Table, counts: Mapping[str, int]) -> int:
    """How many numbers a table holds."""
    return table.entries(dict(counts)) * int(np.prod(NUMBERS[table.kind]))


def state_views(states: Array, counts: Mapping[str, int]) -> dict[str, Array]:
    """The stored tables as views of states (..., state_numbers), each of shape (..., entries of the table)."""
    views, begin = {}, 0
    for table in STATE:
        end = begin + numbers(table, counts)
        shape = (*states.shape[:-1], table.entries(dict(counts)), *NUMBERS[table.kind])
        views[table.name] = states[..., begin:end].reshape(shape)
        begin = end
    return views
