"""Contact among many: spheres, capsules and whole lines, searched where they are near (docs/theory.md, 8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from phlexible.algebra.arrays import Array, non_negative, positive
from phlexible.algebra.options import optional_text
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.interactions.pair import expect
from phlexible.interactions.resisting.contact import DEEPEST, nodes_of
from phlexible.interactions.resisting.one_sided import OneSided
from phlexible.interactions.resisting.surfaces import Capsule
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody, Port
from phlexible.ports.placed_whole import PlacedWhole

Touching = Port | Capsule | PlacedBody | PlacedWhole


class Member(NamedTuple):
    """A sphere, where both ports are one, or a piece of a line with round ends.

    Attributes:
        start, end: of its axis.
        radius: [m].
        side: 1: meets those of side 2, 2: those of side 1, 3: all.
        owner: members with one do not meet.
    """

    start: Port
    end: Port
    radius: float
    side: int
    owner: object


@dataclass(frozen=True, eq=False, repr=False)
class Contacts(ForceElement):
    """Many spheres and lines that push each other apart where they meet (8.32).

    Who may touch is searched by a sweep, so that a thousand of them cost little; no pair is missed. The normal
    force is that of ``Contact``, steps around contacts are taken in parts as there. Without friction. Members on
    one body do not meet.

    Attributes:
        first: ports (centres of spheres), ``Capsule``, and strings, rods or beams, whose pieces between two nodes
            are capsules.
        second: the same; those of ``first`` meet these only. None: they meet each other.
        stiffness: of each pair [N/m], with the exponent 1.5 [N/m^1.5].
        radius: of spheres and lines of ``first``; a ``Capsule`` has its own [m].
        second_radius: of ``second``; None: the same [m].
        damping: after Hunt and Crossley [N s/m^(exponent + 1)].
        exponent: 1.0, or 1.5 for round bodies.
        name: for messages; None: made from the first members.

    Raises:
        ParameterError: numbers out of range.
        ModelError: nobody to meet, or what is no such thing.
    """

    first: Sequence[Touching]
    second: Sequence[Touching] | None = None
    stiffness: float = field(kw_only=True)
    radius: float = field(kw_only=True)
    second_radius: float | None = field(default=None, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    exponent: float = field(default=1.0, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", optional_text("name", self.name))
        law = OneSided(self.stiffness, self.damping, self.exponent)
        for name in ("stiffness", "damping", "exponent"):
            object.__setattr__(self, name, getattr(law, name))
        object.__setattr__(self, "radius", positive("radius", self.radius))
        given = self.radius if self.second_radius is None else non_negative("second_radius", self.second_radius)
        object.__setattr__(self, "second_radius", given)
        for name in ("first", "second"):
            if (value := getattr(self, name)) is not None or name == "first":
                object.__setattr__(self, name, _listed(name, value))
        owners = {each.owner for each in self.members}
        if len(owners) < 2 or not self.first or (self.second is not None and not self.second):
            raise ModelError(f"{self}: nobody to meet; give two bodies or more")
        expect(self, *self.every_port)

    @property
    def members(self) -> tuple[Member, ...]:
        """All spheres and pieces."""
        side, other = (3, 3) if self.second is None else (1, 2)
        found = [piece for each in self.first for piece in _pieces(each, self.radius, side)]
        assert self.second_radius is not None, "set above"
        found += [piece for each in self.second or () for piece in _pieces(each, self.second_radius, other)]
        return tuple(found)

    @property
    def ports(self) -> tuple[Port, Port]:
        """Two of them."""
        members = self.members
        return members[0].start, members[-1].end

    @property
    def every_port(self) -> tuple[Port, ...]:
        """All of them."""
        return tuple(dict.fromkeys(port for each in self.members for port in (each.start, each.end)))

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """None along a coordinate: pairs change.

        Raises:
            ModelError: members start deep inside each other.
        """
        self._check_depth()
        return ()

    def is_lossy(self, dimension: int) -> bool:
        """With damping."""
        return self.damping > 0

    def _check_depth(self) -> None:
        """Of the centres of spheres, and of the middles and ends of pieces, as far as these tell."""
        members = self.members
        starts = np.array([each.start.initial_position() for each in members])
        ends = np.array([each.end.initial_position() for each in members])
        radius = np.array([each.radius for each in members])
        half = np.linalg.norm(ends - starts, axis=1) / 2
        tree = cKDTree((starts + ends) / 2)
        for i, j in sorted(tree.query_pairs(2 * float((half + radius).max()))):
            one, other = members[i], members[j]
            if one.owner == other.owner or one.side | other.side != 3:
                continue
            reach = radius[i] + radius[j]
            depth = reach - distance(starts[i], ends[i], starts[j], ends[j])
            if depth > DEEPEST * reach:
                raise ModelError(
                    f"{self} starts {depth:g} m deep, {one.start} and {other.start}; place the bodies apart,"
                    " or leave out those that a joint connects"
                )

    def __repr__(self) -> str:
        return self.name or f"Contacts({len(self.first)}{'' if self.second is None else f', {len(self.second)}'})"


def _listed(name: str, value: Sequence[Touching]) -> tuple[Touching, ...]:
    if isinstance(value, Touching) or not isinstance(value, Sequence):
        raise ModelError(f"{name} of Contacts takes a list of ports, capsules and lines, got {value!r}")
    for each in value:
        if not isinstance(each, Touching):
            raise ModelError(f"{name} of Contacts takes ports, capsules, strings, rods and beams, got {each!r}")
        for port in each.ports if isinstance(each, Capsule) else (each,):
            if isinstance(port, MovingFrame) and not port.is_fixed:
                raise ParameterError(f"Contacts: {port} moves as a function of time; use Contact with a Surface")
    return tuple(value)


def _pieces(each: Touching, radius: float, side: int) -> Iterator[Member]:
    if isinstance(each, Capsule):
        yield Member(each.start, each.end, each.radius, side, _owner(each.start))
    elif isinstance(each, PlacedBody | PlacedWhole):
        yield from (Member(a, b, radius, side, each.name) for a, b in pairwise(nodes_of(each)))
    else:
        yield Member(each, each, radius, side, _owner(each))


def _owner(port: Port) -> object:
    return port.placed.name if isinstance(port, Attachment) else None


def distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """Of two pieces a b and c d, by the ends of each and the other, and where their lines are closest."""
    u, v, r = b - a, d - c, a - c
    matrix = np.array([[u @ u, -u @ v], [-u @ v, v @ v]])
    s, t = np.clip(np.linalg.lstsq(matrix, np.array([-u @ r, v @ r]), rcond=None)[0], 0, 1)
    places = [(s, _place(a + s * u, c, v)), (_place(c + t * v, a, u), t)]
    places += [(end, _place(a + end * u, c, v)) for end in (0.0, 1.0)]
    places += [(_place(c + end * v, a, u), end) for end in (0.0, 1.0)]
    return min(float(np.linalg.norm(r + s * u - t * v)) for s, t in places)


def _place(x: Array, start: Array, along: Array) -> float:
    """Where a piece is nearest to a point, 0 to 1."""
    size = float(along @ along)
    return float(np.clip((x - start) @ along / size, 0, 1)) if size else 0.0
