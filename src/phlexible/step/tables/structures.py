"""What is the same in all mechanisms of one structure, as constants of a program that is compiled for them alone.

Counts and tables of integers say which loops run how often and what meets what. Where they are constants LLVM drops
what a model does not have, unrolls what is short, and keeps places in registers. A header says in its type which
structure it has, by a digest, so that programs are kept and found by it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from phlexible.algebra.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Structure:
    """Constants of a program.

    Attributes:
        digest: of all of it.
        counts: by the names of the tables.
        integers: tables of integers that the system writes, by name, shape (entries,).
        functions: names of the exported functions that there are.
    """

    digest: str
    counts: Mapping[str, int]
    integers: Mapping[str, IntArray]
    functions: frozenset[str]

    def registered(self) -> str:
        """The digest, by which programs that are compiled from now on find it."""
        _REGISTERED[self.digest] = self
        return self.digest


_REGISTERED: dict[str, Structure] = {}


def structure_of(digest: str) -> Structure:
    """The one that was registered with a digest."""
    return _REGISTERED[digest]
