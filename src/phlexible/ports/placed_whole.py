"""Handles of several bodies in a row that users see as one: beams in parts, rods."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import vector
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.rod.rod import Rod
from phlexible.display.written import described, written
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.ports.shown import shown


@dataclass(frozen=True, eq=False, repr=False)
class PlacedWhole(ABC):
    """Parts along one line, from start to end. Compared by identity.

    Attributes:
        name: unique in its model.
        parts: from start to end.
        body: the immutable description.
    """

    name: str
    parts: tuple[PlacedBody, ...]
    body: SplitBeam | Rod

    @property
    @abstractmethod
    def length(self) -> float:
        """Of the whole [m]."""

    @property
    @abstractmethod
    def starts(self) -> tuple[float, ...]:
        """Where each part begins along the whole [m]."""

    @abstractmethod
    def part_at(self, x: float) -> tuple[PlacedBody, float]:
        """The part that holds x and the distance from its start; at a cut the part that begins there.

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """

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
        """The axis point at distance x [m] from the start of the whole.

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        placed, local = self.part_at(x)
        return placed.at(local)

    @abstractmethod
    def point(self, position: ArrayLike) -> Attachment:
        """A material point given by undeformed coordinates of the straight whole, shape (3,) [m].

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """

    @abstractmethod
    def nodes(self) -> tuple[Attachment, ...]:
        """Where it touches others."""

    def offsets(self) -> Iterator[tuple[PlacedBody, float]]:
        """Each part with the place of its start along the whole [m]."""
        yield from zip(self.parts, self.starts, strict=True)

    def _repr_html_(self) -> str:
        """For notebooks: what it looks like where it was placed, and its parameters."""
        mass = sum(part.data.mass for part in self.parts)
        rows = [("mass", f"{mass:.6g} kg"), ("parts", str(len(self.parts)))]
        rows += [("position", written(self.parts[0].place)), *described(self.body)]
        parts = [part.drawn(part.position, part.rotation) for part in self.parts]
        return shown(f"{self.name}: {type(self.body).__name__}", rows, parts, self.parts[0].body.paint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.parts)} parts)"


def line_parts(target: PlacedBody | PlacedWhole) -> Iterator[tuple[PlacedBody, float]]:
    """The bodies that a handle stands for, each with the place of its start along the whole [m]."""
    if isinstance(target, PlacedWhole):
        yield from target.offsets()
    else:
        yield target, 0.0


def coordinates(position: ArrayLike) -> tuple[float, float, float]:
    """Three numbers."""
    x, y, z = (float(each) for each in vector("position", position))
    return x, y, z
