"""The handle of a beam that was added in parts: one beam to joints, loads and observables."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import finite, vector
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.errors import AttachmentError
from phlexible.ports.attachments import Attachment, PlacedBody

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class PlacedSplitBeam:
    """Parts of one beam in a model. Compared by identity.

    What is asked of a place is answered by the part there: ``displacement(handle.at(x))`` is that in
    the frame of the part, ``position(handle.at(x))`` does not depend on the parts.

    Attributes:
        name: unique in its model; the parts are "name part 1", "name part 2", ...
        body: the immutable description.
        parts: from start to end.
    """

    name: str
    body: SplitBeam
    parts: tuple[PlacedBody, ...]

    @property
    def start(self) -> Attachment:
        """The end at x = 0."""
        return self.parts[0].start

    @property
    def end(self) -> Attachment:
        """The end at x = length."""
        return self.parts[-1].end

    @property
    def origin(self) -> Attachment:
        """The origin of the first part's frame."""
        return self.parts[0].origin

    def at(self, x: float) -> Attachment:
        """The axis point at distance x [m] from the start of the whole beam.

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        placed, local = self.part_at(x)
        return placed.at(local)

    def point(self, position: ArrayLike) -> Attachment:
        """A material point given by undeformed coordinates in the frame of the whole beam, shape (3,) [m].

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        x, y, z = (float(each) for each in vector("position", position))
        placed, local = self.part_at(x)
        return placed.point((local, y, z))

    def part_at(self, x: float) -> tuple[PlacedBody, float]:
        """The part that holds x and the distance from its start; at a cut the part that begins there."""
        x = finite("x", x)
        whole, length = self.body.length, self.body.part.length
        if not -ROUND_OFF * whole <= x <= (1 + ROUND_OFF) * whole:
            raise AttachmentError(f"x must lie in 0 <= x <= {whole:g} (the length of the beam), got {x!r}")
        number = int(np.clip(np.floor(x / length * (1 + ROUND_OFF)), 0, len(self.parts) - 1))
        return self.parts[number], float(np.clip(x - number * length, 0.0, length))

    def offsets(self) -> Iterator[tuple[PlacedBody, float]]:
        """Each part with the place of its start along the whole beam [m]."""
        for number, placed in enumerate(self.parts):
            yield placed, number * self.body.part.length

    def __repr__(self) -> str:
        return f"PlacedSplitBeam({self.name!r}, {len(self.parts)} parts)"


def line_parts(target: PlacedBody | PlacedSplitBeam) -> Iterator[tuple[PlacedBody, float]]:
    """The bodies that a handle stands for, each with the place of its start along the whole [m]."""
    if isinstance(target, PlacedSplitBeam):
        yield from target.offsets()
    else:
        yield target, 0.0
