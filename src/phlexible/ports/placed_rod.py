"""The handle of a rod: one body to joints, loads and observables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import finite
from phlexible.bodies.rod.rod import Rod
from phlexible.errors import AttachmentError
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.ports.placed_whole import PlacedWhole, coordinates

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class PlacedRod(PlacedWhole):
    """The sections of one rod in a model, "name node 1", "name node 2", ... Compared by identity.

    Each section carries the piece of the rod around it, as far as halfway to its neighbours: a place between two
    sections moves rigidly with the nearer one, at nodes (``body.node_places``) positions are most accurate.

    Attributes:
        body: the immutable description.
    """

    body: Rod

    @property
    def length(self) -> float:
        """Of the rod [m]."""
        return self.body.length

    @property
    def starts(self) -> tuple[float, ...]:
        """Where the piece of each section begins along the rod [m]."""
        places = self.body.node_places
        return (0.0, *(0.5 * (places[1:] + places[:-1])).tolist())

    def nodes(self) -> tuple[Attachment, ...]:
        """Of all sections."""
        return tuple(part.origin for part in self.parts)

    def point(self, position: ArrayLike) -> Attachment:
        """A material point given by its coordinates in the straight rod, shape (3,) [m]; moves as ``at(x)`` does.

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        x, y, z = coordinates(position)
        placed, _ = self.part_at(x)
        return placed.point((x - self.body.node_places[self.parts.index(placed)], y, z))

    def part_at(self, x: float) -> tuple[PlacedBody, float]:
        """The section whose piece holds s = x, and the distance from where the piece begins [m]."""
        x = finite("s", x)
        whole = self.length
        if not -ROUND_OFF * whole <= x <= (1 + ROUND_OFF) * whole:
            raise AttachmentError(f"s must lie in 0 <= s <= {whole:g} (the length of the rod), got {x!r}")
        starts = np.array(self.starts)
        number = int(np.clip(np.searchsorted(starts, x, side="right") - 1, 0, len(self.parts) - 1))
        return self.parts[number], max(x, 0.0) - float(starts[number])
