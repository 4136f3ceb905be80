"""Where threads of a GPU have the tables of their mechanisms, one each."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array
from phlexible.step.tables.declarations import TABLES, Kind
from phlexible.step.tables.memory import Memory, specialized_structure

MOST_NUMBERS = 60_000
"""That a thread can have of its own: 512 kB."""


class ThreadLayout:
    """Arrays of a thread, and where their numbers come from.

    Args:
        example: memory of one of the mechanisms, which is connected.

    Attributes:
        structure: of all of them, which is constant in their programs.
        header: counts by their places in a header, zero where addresses belong.
        state_numbers: how many numbers the state has, the first array of a thread.
        arrays: lengths of the others, which begin with zeros or, of the last ones, with the given numbers.
        given: which tables these are: names, in the order of their arrays.
        places: of tables in a header -> number of the array (-1: the state) and of its first entry in it.
    """

    def __init__(self, example: Memory) -> None:
        self.structure = specialized_structure(example, example)
        header, places, length = example.blank
        self.header: list[int] = header.tolist()
        self.state_numbers = example.counts["state_numbers"]
        begins = sorted({begin for begin in places.values() if begin >= self.state_numbers})
        ends = [*begins[1:], length]
        self.arrays = [end - begin for begin, end in zip(begins, ends, strict=True)]
        number = {begin: k for k, begin in enumerate(begins)}
        self.places = {
            place: (number[begin], 0) if begin in number else (-1, begin) for place, begin in places.items()
        }
        self.given: list[str] = []
        for place, table in enumerate(TABLES):
            if table.name in example.given and table.kind is not Kind.INTEGER:
                self.places[place] = len(self.arrays), 0
                self.arrays.append(example.given[table.name].size)
                self.given.append(table.name)

    @property
    def first_given(self) -> int:
        """Number of the first array of given numbers."""
        return len(self.arrays) - len(self.given)

    @property
    def numbers(self) -> int:
        """Of all arrays together."""
        return self.state_numbers + sum(self.arrays)

    def numbers_of(self, given: Mapping[str, NDArray[np.generic]]) -> Array:
        """The given numbers of a mechanism, array after array."""
        return np.concatenate([np.zeros(0), *(np.asarray(given[name]).ravel() for name in self.given)])

    def given_numbers(self, memories: Sequence[Memory]) -> Array:
        """Those of all mechanisms, shape (numbers, mechanisms); (numbers, 1) where they share their tables."""
        first = memories[0].given
        if all(memory.given is first for memory in memories):
            return self.numbers_of(first)[:, None]
        return np.stack([self.numbers_of(memory.given) for memory in memories], axis=-1)
