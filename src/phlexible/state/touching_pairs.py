"""Pairs among many as contacts of two: what equilibria and linear models see of them (docs/theory.md, 8)."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.contact_members import (
    Member,
    MemberKind,
    distance,
    heights,
    may_meet,
    neighbours_of,
    size_of,
)
from phlexible.description.interactions.functions import AXES, DirectionOf, PointOf, receive
from phlexible.description.interactions.surfaces import Capsule, Plane, Surface, Touchable
from phlexible.description.ports import Attachment, MovingFrame, Port
from phlexible.errors import ModelError
from phlexible.shapes.solids import Box, Cylinder, Sphere
from phlexible.state.branches import (
    BRISTLE,
    PAIR,
    TURN,
    BristleKind,
    bristles_of,
    kept_pairs,
    kept_turns,
    pairs_begin,
    searched_contacts,
)
from phlexible.state.layout import State
from phlexible.state.sticking import Hold, StickingFriction
from phlexible.state.system import ScalarForce, System
from phlexible.state.touching_pieces import PieceOnSolid, TouchedPiece, TouchedSolid
from phlexible.state.vectors import VectorSet

Numbers = frozenset[tuple[int, int, int, int]]
"""Contacts, two members of each, and which side, edge or corner of the second, of those that have several."""
NEAR = 0.02
"""Of a radius or size: pairs that are so far apart are there too."""
THIN = 1e-9
"""Of a mesh: the radius of its edges and corners."""


@dataclass(frozen=True, eq=False)
class TouchingPairs:
    """A system with a contact of two for each pair that touches, or nearly, at a pose.

    Attributes:
        plain: without these.
        system: with them, after all other forces.
        numbers: of the members of each pair.
        pairs: of each of these forces, in their order.
        searches: of each contact of many.
    """

    plain: System
    system: System
    numbers: Numbers
    pairs: "tuple[Pair, ...]"
    searches: "tuple[_PairSearch, ...]"

    @classmethod
    def at(cls, system: System, state: State) -> "TouchingPairs":
        """Those of a pose.

        Raises:
            ModelError: a pair for which there is no contact of two.
        """
        contacts = searched_contacts(system.mechanism)
        searches = tuple(_PairSearch(system, each, tuple(each.members(system.dimension))) for each in contacts)
        return cls._of(system, state, searches, [search.near(state) for search in searches])

    def again(self, state: State) -> "TouchingPairs":
        """Those of another pose, and those that are known.

        Raises:
            ModelError: a pair for which there is no contact of two.
        """
        state = self.without_pairs(state)
        found = [search.near(state) | self._known(g) for g, search in enumerate(self.searches)]
        return self._of(self.plain, state, self.searches, found)

    def met(self, before: State, after: State) -> "TouchingPairs | None":
        """With those that come near on the way from one pose to another; None: those that are known are all.

        Raises:
            ModelError: a pair for which there is no contact of two.
        """
        before, after = self.without_pairs(before), self.without_pairs(after)
        known = [self._known(g) for g in range(len(self.searches))]
        found = [s.near(before, after, own) for s, own in zip(self.searches, known, strict=True)]
        if not any(found):
            return None
        return self._of(self.plain, before, self.searches, [a | b for a, b in zip(found, known, strict=True)])

    def _known(self, group: int) -> set[tuple[int, int]]:
        return {(i, j) for g, i, j, _ in self.numbers if g == group}

    @classmethod
    def _of(
        cls,
        system: System,
        state: State,
        searches: "tuple[_PairSearch, ...]",
        found: Sequence[set[tuple[int, int]]],
    ) -> "TouchingPairs":
        forces, numbers = list(system.forces), set[tuple[int, int, int, int]]()
        pairs, count = list[Pair](), 0
        for group, (search, own) in enumerate(zip(searches, found, strict=True)):
            contact, members, at = search.contact, search.members, search.at(state)
            for i, j in sorted(own):
                try:
                    pair, part = _contact_of_two(contact, at, i, j)
                except ModelError:
                    if (i, j) in search.near(state):
                        raise
                    continue  # on the way, and asked again when it is nearer
                more = [ScalarForce(pair, force) for force in pair.forces(system.dimension)]
                sign = 1.0 if pair.first is members[i].start else -1.0
                one, other = members[i], members[j]
                pairs += [Pair(count + i, count + j, one, other, sign)] * len(more)
                forces += more
                receive(pair, *every_port(pair))
                numbers.add((group, i, j, part))
            count += len(members)
        return cls(system, replace(system, forces=tuple(forces)), frozenset(numbers), tuple(pairs), searches)

    def with_pairs(self, state: State) -> State:
        """The state as ``system`` has it, bristles of the pairs not bent."""
        more = len(self.system.forces) - len(self.plain.forces)
        theta = None if state.theta is None else np.concatenate([state.theta, np.zeros(more)])
        branches = state.branches
        if branches is not None:
            branches = np.concatenate([branches, np.zeros(self._bristles)])
        return replace(state, theta=theta, branches=branches)

    def without_pairs(self, state: State) -> State:
        """The state as ``plain`` has it."""
        theta = None if state.theta is None else state.theta[: len(self.plain.forces)]
        branches = state.branches
        if branches is not None:
            branches = branches[: len(branches) - self._bristles]
        return replace(state, theta=theta, branches=branches)

    def remembering(self, state: State, friction: StickingFriction, holds: Sequence[Hold]) -> State:
        """The state as ``plain`` has it, with the bristles of the pairs where runs keep them."""
        plain, at = self.without_pairs(state), self.system.at(state)
        if plain.branches is None or not friction.count:
            return plain
        kept = dict[tuple[int, int], Array]()
        bent = friction.bent(state, holds)
        for (k, kind, _), hold, z in zip(bristles_of(self.system), holds, bent, strict=True):
            if k < len(self.plain.forces) or not hold.limit > 0:
                continue
            pair = self.pairs[k - len(self.plain.forces)]
            own = kept.setdefault((pair.first, pair.second), np.zeros(len(PAIR) + len(TURN)))
            axes = self.system.vectors(pair.carrier.directions(self.system.dimension)[:3]).places(at)[0]
            match kind:
                case BristleKind.SLIDING:
                    own[0], own[1:4] = -1.0 if hold.slips else 1.0, pair.sign * (axes @ z)
                case BristleKind.ROLLING:
                    own[4:7] = pair.sign * (axes @ z)
                case BristleKind.DRILLING:
                    own[7], own[8] = z[0], float(hold.slips)
        return replace(plain, branches=self._with(plain.branches, kept))

    def _with(self, branches: Array, kept: "dict[tuple[int, int], Array]") -> Array:
        """Branches with these rows of pairs; of more than are kept the first ones."""
        result, begin = branches.copy(), pairs_begin(self.plain)
        members = sum(len(each.members(self.plain.dimension)) for each in searched_contacts(self.plain.mechanism))
        room, turns = kept_pairs(self.plain), kept_turns(self.plain)
        for place, (i, j) in enumerate(sorted(kept)[:room]):
            own, at = kept[i, j].copy(), begin + len(PAIR) * place
            own[0] *= i * members + j + 1
            result[at : at + len(PAIR)] = own[: len(PAIR)]
            if turns:
                at = begin + len(PAIR) * room + len(TURN) * place
                result[at : at + len(TURN)] = own[len(PAIR) :]
        return result

    @property
    def bristle_keys(self) -> list[tuple[int, int, BristleKind]]:
        """Of each bristle of ``system`` what stays when pairs are added."""
        count = len(self.plain.forces)
        return [
            (k, -1, kind) if k < count else (self.pairs[k - count].first, self.pairs[k - count].second, kind)
            for k, kind, _ in bristles_of(self.system)
        ]

    @property
    def _bristles(self) -> int:
        return len(BRISTLE) * (len(bristles_of(self.system)) - len(bristles_of(self.plain)))


class Pair(NamedTuple):
    """Two members that touch.

    Attributes:
        first, second: their numbers among the members of all contacts.
        one, other: the members.
        sign: 1.0: the first one slides past the second in the contact of two; -1.0: the second past the first.
    """

    first: int
    second: int
    one: Member
    other: Member
    sign: float

    @property
    def carrier(self) -> Member:
        """In whose axes runs keep the bristle."""
        turns = self.one.is_edge or self.one.radius > 0
        return self.one if turns and self.one.directions(3) and not self.other.kind.is_solid else self.other


@dataclass(frozen=True, eq=False)
class _PairSearch:
    """Who is near whom of the members of one contact.

    Attributes:
        system: without pairs.
        contact: of many.
        members: all of them.
    """

    system: System
    contact: Contact
    members: tuple[Member, ...]

    @cached_property
    def _vectors(self) -> tuple[VectorSet, VectorSet, dict[int, VectorSet]]:
        """Of the starts, the ends, and the axes of solids."""
        starts, ends = (
            self.system.vectors([PointOf(port) for port in ports])
            for ports in ([each.start for each in self.members], [each.end for each in self.members])
        )
        axes = {
            j: self.system.vectors([DirectionOf(each.start, axis) for axis in each.axes.T])
            for j, each in enumerate(self.members)
            if each.axes is not None and each.kind.is_solid
        }
        return starts, ends, axes

    @cached_property
    def _gaps(self) -> dict[tuple[int, int], PieceOnSolid]:
        return {}

    def at(self, state: State) -> "_Places":
        """Where they are at a pose."""
        at, (starts, ends, axes) = self.system.at(state), self._vectors
        turned = {j: each.places(at)[0] for j, each in axes.items()}
        return _Places(self.members, starts.places(at)[0], ends.places(at)[0], turned)

    def near(
        self, state: State, after: State | None = None, known: Set[tuple[int, int]] = frozenset()
    ) -> set[tuple[int, int]]:
        """Pairs that touch, or nearly, by the numbers of their members; the solid last.

        Args:
            state: a pose.
            after: another one; those that may touch on the way to it, too.
            known: pairs that are not asked for.
        """
        at, members = self.at(state), self.members
        then = None if after is None else self.at(after)
        radius = np.array([each.radius for each in members])
        lengths = np.linalg.norm(at.ends - at.starts, axis=1)
        found, least = set[tuple[int, int]](), _least(members)
        for j, other in enumerate(members):
            if other.kind.is_solid:
                apart = heights(other, at.seen(at.starts, j)) - radius - lengths
            else:
                apart = np.linalg.norm(at.starts - at.starts[j], axis=1) - radius - radius[j]
                apart -= lengths + lengths[j]
            ways = np.zeros(len(members)) if then is None else at.ways(then, j)
            most = NEAR * np.maximum(np.maximum(radius, radius[j]), least) + ways
            for i in np.flatnonzero(apart <= most).tolist():
                if (i, j) in known or not may_meet(members[i], other) or (not other.kind.is_solid and i >= j):
                    continue
                if other.kind.is_solid and members[i].start is not members[i].end:
                    if not self._is_between(at, i, j, float(ways[i])):
                        continue
                elif not other.kind.is_solid:
                    gap = distance(at.starts[i], at.ends[i], at.starts[j], at.ends[j]) - radius[i] - radius[j]
                    if gap > NEAR * max(radius[i], radius[j]) + ways[i]:
                        continue
                found.add((i, j))
        return found

    def _is_between(self, at: "_Places", i: int, j: int, way: float) -> bool:
        """Whether piece i touches solid j, or nearly, between its ends."""
        piece, solid = self.members[i], self.members[j]
        ends = np.stack([at.starts[i], at.ends[i]])
        length = float(np.linalg.norm(ends[1] - ends[0]))
        far = NEAR * max(piece.radius, size_of(piece.start)) + way
        if heights(solid, at.seen(ends.mean(axis=0)[None], j))[0] > piece.radius + far + length / 2:
            return False
        if (i, j) not in self._gaps:
            gap = TouchedPiece(piece, solid).coordinate(self.system.dimension)
            assert isinstance(gap, PieceOnSolid), "of a solid"
            self._gaps[i, j] = gap
        return self._gaps[i, j].foot(at.seen(ends, j).ravel()).value < piece.radius + far


class _Places(NamedTuple):
    """Where members are at a pose.

    Attributes:
        members: all of them.
        starts, ends: of their axes, shape (members, 3) [m].
        axes: of solids, in rows, shape (3, 3).
    """

    members: tuple[Member, ...]
    starts: Array
    ends: Array
    axes: dict[int, Array]

    def seen(self, places: Array, j: int) -> Array:
        """Places (..., 3) in the axes of solid j [m]."""
        return np.asarray((places - self.starts[j]) @ self.axes[j].T)

    def far_ends(self, m: int) -> tuple[Port | None, Port | None]:
        """Far ends of the pieces before and after a piece of a line; None: an end of the line."""
        before, after = neighbours_of(self.members)[m]
        return (
            self.members[before].start if before >= 0 else None,
            self.members[after].end if after >= 0 else None,
        )

    def ways(self, then: "_Places", j: int) -> Array:
        """How far each moves beside member j to another pose, shape (members,) [m]."""
        if j in self.axes:
            moves = [
                then.seen(b, j) - self.seen(a, j) for a, b in ((self.starts, then.starts), (self.ends, then.ends))
            ]
            return np.asarray(np.linalg.norm(moves, axis=2).max(axis=0))
        moves = [then.starts - self.starts, then.ends - self.ends]
        own = np.linalg.norm(moves, axis=2).max(axis=0)
        return np.asarray(own + own[j])


def _least(members: Sequence[Member]) -> float:
    sizes = [each.start.placed.data.size for each in members if isinstance(each.start, Attachment)]
    return 0.0 if any(each.radius for each in members) else max(sizes, default=0.0)


def _contact_of_two(contact: Contact, at: _Places, i: int, j: int) -> tuple[Contact, int]:
    """The pair, and which part of the second touches."""
    one, other, place = at.members[i], at.members[j], np.zeros(3)
    far: tuple[Port | None, Port | None] = (None, None)
    if other.kind.is_solid:
        place = at.seen(at.starts[i], j)
    elif (one.start is one.end) != (other.start is other.end):
        far = at.far_ends(j if one.start is one.end else i)
        if (one.start is one.end) == any(far):  # a piece with neighbours is the first, one without the second
            one, other = other, one
    is_point = one.start is one.end
    if (
        is_point
        and contact.friction
        and not other.start.has_orientation
        and one.start.has_orientation
        and one.radius
    ):
        one, other = other, one
    surface, part = (
        _surface(contact, one, other, place) if is_point else (TouchedPiece(one, other, far, contact.exponent), 0)
    )
    law = contact.law()
    turns = one.is_ball and (other.start.has_orientation or not isinstance(other.start, Attachment))
    pair = replace(
        contact,
        first=one.start,
        second=surface,
        radius=one.radius,
        second_radius=None,
        bristle=contact.sticking.stiffness if contact.sticking else None,
        bristle_damping=contact.sticking.damping if contact.sticking else None,
        restitution=None,  # what rests is damped like the slowest impact
        damping=law.loss_of_impacts / law.slowest if contact.restitution is not None else contact.damping,
        rolling=contact.rolling if turns else 0.0,
        drilling=contact.drilling if turns else 0.0,
        name=str(contact),
    )
    return pair, part


def _surface(contact: Contact, one: Member, other: Member, place: Array) -> tuple[Touchable, int]:
    """What of ``other`` touches ``one``, which is at a place in its axes, and the number of that part."""
    port, (a, b, c) = other.start, other.size
    match other.kind:
        case MemberKind.ROUND if other.start is not other.end:
            return Capsule(port, other.end, other.radius), 0
        case MemberKind.ROUND:
            return Surface(port, Sphere(other.radius)), 0
        case MemberKind.PLANE:
            return _side(other, a * AXES[2], AXES[2]), 0
        case MemberKind.BALL_INSIDE:
            return Surface(port, Sphere(a), inside=True), 0
        case MemberKind.TUBE:
            return _tube(other, inside=b < 0), 0
        case MemberKind.BLOCK if one.radius:
            return Surface(port, Box((2 * a, 2 * b, 2 * c))), 0
        case MemberKind.BLOCK | MemberKind.DRUM | MemberKind.RING:
            return TouchedSolid(other), 0
        case MemberKind.MESH:
            return _part_of_mesh(contact, one, other, place)
    raise AssertionError("no such solid")


def _side(solid: Member, place: Array, normal: Array) -> Plane:
    """A plane that a solid carries, through a place along a normal in its axes."""
    assert solid.axes is not None, "a solid has some"
    return Plane(_moved(solid.start, solid.axes @ place), solid.axes @ normal)


def _tube(solid: Member, inside: bool) -> Surface:
    assert solid.axes is not None, "a solid has some"
    axis = solid.axes[:, 2]
    axis = solid.start.placed.rotation.T @ axis if isinstance(solid.start, Attachment) else axis
    return Surface(solid.start, Cylinder(solid.size[0], 1.0, axis), inside=inside)


def _part_of_mesh(contact: Contact, one: Member, other: Member, place: Array) -> tuple[Touchable, int]:
    """Its side, edge or corner that is nearest; edges and corners as round ones that are thin.

    Raises:
        ModelError: several are equally near to a sphere, as in a valley.
    """
    tree, axes = other.mesh, other.axes
    assert tree is not None and axes is not None, "a mesh has both"
    triangle, part, is_alone = tree.nearest(place)
    if one.radius and not is_alone:
        raise ModelError(
            f"{contact}: {one.start} lies between several sides of {other.start}, which equilibria do not see; let"
            " it come to rest in a run with damping="
        )
    corners, thin = tree.corners[triangle], THIN * other.size[0]
    if part == 0:
        side = int(tree.sides[triangle])
        flat = side if side >= 0 else triangle
        return _side(other, corners[0], tree.normals[triangle]), flat
    k = (part - 1) % 3
    if part < 4:
        start, end = (_moved(other.start, axes @ corners[m]) for m in (k, (k + 1) % 3))
        return Capsule(start, end, thin), len(tree.normals) + int(tree.edges[triangle, k])
    point = _moved(other.start, axes @ corners[k])
    return Surface(point, Sphere(thin)), -1 - int(tree.points[triangle, k])


def _moved(port: Port, by: Array) -> Port:
    if not by.any():
        return port
    if isinstance(port, Attachment):
        return port.placed.point(port.point.position + port.placed.rotation.T @ by)
    place = port.initial_position() + by
    return MovingFrame(lambda time: place, is_fixed=True, label=str(port))


def every_port(contact: Contact) -> Iterator[Port]:
    """Of a contact of two."""
    yield from contact.touchers
    yield from contact.second.ports if isinstance(contact.second, Touchable) else ()
