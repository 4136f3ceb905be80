"""The handle of a beam that was added in parts: one beam to joints, loads and observables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import finite
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.errors import AttachmentError
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.ports.placed_whole import PlacedWhole, coordinates

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class PlacedSplitBeam(PlacedWhole):
    """Parts of one beam in a model. Compared by identity.

    What is asked of a place is answered by the part there: ``displacement(handle.at(x))`` is that in
    the frame of the part, ``position(handle.at(x))`` does not depend on the parts. The parts are named
    "name part 1", "name part 2", ...

    Attributes:
        body: the immutable description.
    """

    body: SplitBeam

    @property
    def length(self) -> float:
        """Of the whole beam [m]."""
        return self.body.length

    @property
    def starts(self) -> tuple[float, ...]:
        """Where each part begins along the whole beam [m]."""
        return tuple(number * self.body.part.length for number in range(len(self.parts)))

    def nodes(self) -> tuple[Attachment, ...]:
        """Cuts and ends."""
        return tuple(self.at(x) for x in (*self.starts, self.length))

    def point(self, position: ArrayLike) -> Attachment:
        """A material point given by undeformed coordinates in the frame of the whole beam, shape (3,) [m].

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        x, y, z = coordinates(position)
        placed, local = self.part_at(x)
        return placed.point((local, y, z))

    def part_at(self, x: float) -> tuple[PlacedBody, float]:
        """The part that holds x and the distance from its start; at a cut the part that begins there."""
        x = finite("x", x)
        whole, length = self.length, self.body.part.length
        if not -ROUND_OFF * whole <= x <= (1 + ROUND_OFF) * whole:
            raise AttachmentError(f"x must lie in 0 <= x <= {whole:g} (the length of the beam), got {x!r}")
        number = int(np.clip(np.floor(x / length * (1 + ROUND_OFF)), 0, len(self.parts) - 1))
        return self.parts[number], float(np.clip(x - number * length, 0.0, length))
