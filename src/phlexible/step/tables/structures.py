"""Structures of mechanisms, as constants of a program that is compiled for one structure alone.

Counts and tables of integers determine all loops and couplings. Where they are constants LLVM drops what a model
does not have, unrolls short loops, and keeps tables in registers. A header names its structure by a digest in its
type, which is the key of the cached programs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from phlexible.algebra.arrays import IntArray


@dataclass(frozen=True, eq=False)
class Structure:
    """Counts, integers and functions that mechanisms of one structure have in common, as constants of a program.

    Attributes:
        digest: of all of it.
        counts: by the names of the tables.
        integers: tables of integers that the system writes, by name, shape (entries,).
        functions: names of the exported functions that exist.
    """

    digest: str
    counts: Mapping[str, int]
    integers: Mapping[str, IntArray]
    functions: frozenset[str]

    def register(self) -> str:
        """Register this structure by its digest, so that programs can be compiled for it, and return the digest. A
        structure holds counts and integer tables as constants of a program."""
        _REGISTERED[self.digest] = self
        return self.digest


_REGISTERED: dict[str, Structure] = {}


def get_structure(digest: str) -> Structure:
    """Return the structure (counts and integer tables as constants of a program) that was registered with this
    digest."""
    return _REGISTERED[digest]
