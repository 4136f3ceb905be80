"""A beam cut into parts that each have a body frame of their own, for large deflections.

The conclusion of Brugnoli et al. (2020) and A. Shabana, *Substructure synthesis methods for dynamic
analysis of multi-body systems*, Computers & Structures 20, 1985: elastic displacements need to be small
only in the frame of their part.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phlexible.bodies.beam.beam import Beam


@dataclass(frozen=True)
class SplitBeam:
    """What ``Beam.split`` returns and ``Model.add`` places: equal parts, each fixed to the one before.

    Attributes:
        part: one part of the beam.
        count: how many there are.
    """

    part: "Beam"
    count: int

    @property
    def length(self) -> float:
        """Of the whole beam [m]."""
        return self.count * self.part.length
