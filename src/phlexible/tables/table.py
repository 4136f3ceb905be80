"""What a table of the kernels is: name, kind, size, unit, writer, meaning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property


class Kind(Enum):
    """What an entry of a table is; COUNT: no table but one number."""

    COUNT = "count"
    INTEGER = "integer"
    REAL = "number"
    VECTOR = "3 numbers"
    MATRIX = "3 x 3 numbers"


class Writer(Enum):
    """Who writes a table."""

    SYSTEM = "once, from the model"
    CLOCK = "before each step: functions of time"
    STEP = "in each step"
    STATE = "at the end of each step; stored"
    VIEW = "nobody: other tables, one after the other, as one"


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        name: as kernels say it.
        kind: of its entries.
        size: number of entries, a product such as "rows", "2 rows", "3 carriers": a number and a count.
        writer: who writes it.
        unit: SI, where entries have one unit.
        meaning: what an entry is.
    """

    name: str
    kind: Kind
    size: str
    writer: Writer
    unit: str
    meaning: str

    def entries(self, counts: Mapping[str, int]) -> int:
        """Number of entries for given counts."""
        factor, name = self._factor_and_count
        return factor * counts[name]

    @cached_property
    def _factor_and_count(self) -> tuple[int, str]:
        *factor, name = self.size.split()
        return int(factor[0]) if factor else 1, name


def tables_of(kind: Kind, writer: Writer, lines: str) -> Iterator[Table]:
    for line in lines.strip().splitlines():
        name, size, unit, meaning = (part.strip() for part in line.split("|"))
        yield Table(name, kind, size, writer, unit, meaning)
