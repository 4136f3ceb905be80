"""Functions of numbered chords, and what is demanded of them or acts along them (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.assembly.laws import ForceData


@dataclass(frozen=True, eq=False)
class Term:
    """coefficient * chord . chord, times a component of the moving vectors where ``time`` is not -1."""

    coefficient: float
    first: int
    second: int
    time: int = -1


@dataclass(frozen=True, eq=False)
class Function:
    """A sum of terms, less a constant and, where ``time`` is not -1, a component of the moving vectors.

    Of a rounded coordinate -``zone`` .. ``zone`` counts as zero.
    """

    terms: tuple[Term, ...]
    constant: float = 0.0
    time: int = -1
    zone: float = 0.0


@dataclass(frozen=True, eq=False)
class Interaction:
    """A constraint (``force`` is None) or a law of functions."""

    functions: tuple[Function, ...]
    force: ForceData | None = None

    @property
    def slides(self) -> bool:
        """Whether its last functions are components of sliding."""
        return self.force is not None and self.force.slip is not None

    @property
    def gap_count(self) -> int:
        """Functions of the coordinate."""
        return self.force.slip.gap_count if self.force and self.force.slip else len(self.functions)
