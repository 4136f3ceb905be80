"""A number from outside and the same number from here."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Number:
    """One row of the table in docs/validation.md.

    Attributes:
        source: who published the reference, with the year.
        what: the quantity, with its unit.
        reference: from the source.
        ours: from a run of this package.
        scale: what the difference is divided by; None: the reference itself.
    """

    source: str
    what: str
    reference: float
    ours: float
    scale: float | None = None

    @property
    def difference(self) -> float:
        """Relative."""
        return abs(self.ours - self.reference) / abs(self.scale or self.reference)
