"""Handles of several bodies in a row that users see as one: beams in parts, and rods."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import finite, vector
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.rod import Rod, RodNode
from phlexible.description.ports import Attachment, ModelPart, PlacedBody, html_summary
from phlexible.display import described, written
from phlexible.errors import AttachmentError

ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class PlacedWhole(ModelPart, ABC):
    """Handle of several bodies along one line that the user sees as one body, from start to end: a beam in parts,
    or a rod.

    Attributes:
        name: name, which is unique in its model.
        parts: bodies from start to end.
        body: the immutable description.
        kind: its kind in messages.
        along: symbol of the position along it in messages.
    """

    name: str
    parts: tuple[PlacedBody, ...]
    body: SplitBeam | Rod
    kind: ClassVar[str]
    along: ClassVar[str]

    @property
    @abstractmethod
    def starts(self) -> tuple[float, ...]:
        """Return the positions along a whole beam or rod at which its parts (bodies) begin [m], ascending from 0.
        It is abstract: each kind of beam or rod defines it."""

    @property
    def length(self) -> float:
        """Return the length of a whole beam or rod that consists of several bodies [m]."""
        return self.body.length

    def part_at(self, x: float) -> tuple[PlacedBody, float]:
        """Return the part (body) of this beam or rod at the distance ``x`` [m] from its start, and the distance
        from the part's start [m]. Where two parts meet, it is the second one. Raise ``AttachmentError`` if ``x``
        is negative or beyond the length by more than round-off.

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        x, whole = finite(self.along, x), self.length
        if not -ROUND_OFF * whole <= x <= (1 + ROUND_OFF) * whole:
            raise AttachmentError(
                f"{self.along} must lie in 0 <= {self.along} <= {whole:g} (the length of the {self.kind}),"
                f" got {x!r}"
            )
        starts = self.starts
        number = max(bisect_right(starts, x * (1 + ROUND_OFF)) - 1, 0)
        placed = self.parts[number]
        assert isinstance(placed.body, Beam | RodNode)
        return placed, min(max(x - starts[number], 0.0), placed.body.length)

    @property
    def start(self) -> Attachment:
        """Return the point at the start (x = 0) of a whole beam or rod that consists of several bodies."""
        return self.parts[0].start

    @property
    def end(self) -> Attachment:
        """Return the point at the end (x = length) of a whole beam or rod that consists of several bodies."""
        return self.parts[-1].end

    @property
    def origin(self) -> Attachment:
        """Return the point at the frame origin of the first part of a beam or rod that consists of several
        bodies."""
        return self.parts[0].origin

    def at(self, x: float) -> Attachment:
        """Return the point at distance ``x`` [m] from the start, on the axis of a beam or rod that consists of
        several bodies. It is an ``Attachment``, a point of that body of the chain in which x lies; where two bodies
        meet, of the second.

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        placed, local = self.part_at(x)
        return placed.at(local)

    def point(self, position: ArrayLike) -> Attachment:
        """Return a material point of a beam or rod that consists of several bodies, on the body that contains its
        x. ``position`` are its coordinates in the straight undeformed beam or rod, shape (3,) [m].

        Raises:
            AttachmentError: x lies outside 0 <= x <= length.
        """
        x, y, z = (float(each) for each in vector("position", position))
        placed, local = self.part_at(x)
        begin = placed.body.before if isinstance(placed.body, RodNode) else 0.0
        return placed.point((local - begin, y, z))

    @abstractmethod
    def nodes(self) -> tuple[Attachment, ...]:
        """Return points of a beam or rod in several parts, from start to end, at which contacts may act. For a
        beam these are its ends and the cuts between its parts, for a rod the origins of its rigid sections. It is
        abstract: each kind defines it."""

    def offsets(self) -> Iterator[tuple[PlacedBody, float]]:
        """Yield each part (body) of a beam or rod with the position along the beam or rod at which it begins
        [m]."""
        yield from zip(self.parts, self.starts, strict=True)

    def _repr_html_(self) -> str:
        """Return HTML that notebooks show for a beam or rod in several parts: a picture at the initial pose and a
        table of its parameters."""
        mass = sum(part.data.mass for part in self.parts)
        rows = [("mass", f"{mass:.6g} kg"), ("parts", str(len(self.parts)))]
        rows += [("position", written(self.parts[0].origin_position)), *described(self.body)]
        parts = [part.drawn(part.position, part.rotation) for part in self.parts]
        return html_summary(f"{self.name}: {type(self.body).__name__}", rows, parts, self.parts[0].body.paint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {len(self.parts)} parts)"


def line_parts(target: PlacedBody | PlacedWhole) -> Iterator[tuple[PlacedBody, float]]:
    """Yield each body of ``target`` with the position along the beam or rod at which it begins [m]. For a single
    body this is the body and 0; for a rod or split beam its parts from start to end."""
    if isinstance(target, PlacedWhole):
        yield from target.offsets()
    else:
        yield target, 0.0


# The handle of a rod: one body to joints, loads and observables.


@dataclass(frozen=True, eq=False, repr=False)
class PlacedRod(PlacedWhole):
    """Handle of a rod in a model, which consists of rigid sections named "name node 1", "name node 2", ... Compared
    by identity.

    Each section has the piece of the rod around it, up to halfway to its neighbours: a point between two
    sections moves rigidly with the nearer one, at nodes (``body.node_positions``) positions are most accurate.

    Attributes:
        body: the immutable description.
    """

    body: Rod
    kind, along = "rod", "s"

    @property
    def starts(self) -> tuple[float, ...]:
        """Return, for each rigid section of a rod, the position along the rod at which it begins to represent
        the rod [m]: 0, then the middles between neighbouring sections."""
        positions = self.body.node_positions
        return (0.0, *(0.5 * (positions[1:] + positions[:-1])).tolist())

    def nodes(self) -> tuple[Attachment, ...]:
        """Return the points at the origins of all rigid sections of a rod, from start to end."""
        return tuple(part.origin for part in self.parts)


# The handle of a beam that was added in parts: one beam to joints, loads and observables.


@dataclass(frozen=True, eq=False, repr=False)
class PlacedSplitBeam(PlacedWhole):
    """Handle of a beam in a model that was added in several parts, each a body. Compared by identity.

    Readings at a point are those of the part there: ``displacement(handle.at(x))`` is in
    the frame of the part, ``position(handle.at(x))`` does not depend on the parts. The parts are named
    "name part 1", "name part 2", ...

    Attributes:
        body: the immutable description.
    """

    body: SplitBeam
    kind, along = "beam", "x"

    @property
    def starts(self) -> tuple[float, ...]:
        """Return the positions along a beam in several parts at which its parts begin [m]."""
        return tuple(number * self.body.part.length for number in range(len(self.parts)))

    def nodes(self) -> tuple[Attachment, ...]:
        """Return the points at the cuts between the parts of a beam and at both of its ends, where contacts may
        act."""
        return tuple(self.at(x) for x in (*self.starts, self.length))
