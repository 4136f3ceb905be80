"""Pairs among many as contacts of two: what equilibria and linear models see of them (docs/theory.md, 8)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.contact_members import Member, MemberKind, distance, heights, may_meet
from phlexible.description.interactions.functions import DirectionOf, PointOf, receive
from phlexible.description.interactions.surfaces import Capsule, Plane, Surface, Touchable
from phlexible.description.ports import Attachment, MovingFrame, Port
from phlexible.errors import ModelError
from phlexible.shapes.solids import Box, Cylinder, Sphere
from phlexible.state.branches import BRISTLE, bristles_of, searched_contacts
from phlexible.state.layout import State
from phlexible.state.system import ScalarForce, System

Numbers = frozenset[tuple[int, int, int]]
"""Contacts and two members of each."""
NEAR = 0.02
"""Of a radius or size: pairs that are so far apart are there too."""


@dataclass(frozen=True, eq=False)
class TouchingPairs:
    """A system with a contact of two for each pair that touches, or nearly, at a pose.

    Attributes:
        plain: without these.
        system: with them, after all other forces.
        numbers: of the members of each pair.
    """

    plain: System
    system: System
    numbers: Numbers

    @classmethod
    def at(
        cls, system: System, state: State, known: frozenset[tuple[int, int, int]] = frozenset()
    ) -> "TouchingPairs":
        """Those of a pose, and those that are known.

        Raises:
            ModelError: a pair for which there is no contact of two.
        """
        forces, numbers = list(system.forces), set[tuple[int, int, int]]()
        for group, contact in enumerate(searched_contacts(system.mechanism)):
            members = contact.members(system.dimension)
            old = {(i, j) for g, i, j in known if g == group}
            for i, j in sorted(_near(system, state, members) | old):
                pair = _contact_of_two(contact, members[i], members[j])
                forces += [ScalarForce(pair, force) for force in pair.forces(system.dimension)]
                receive(pair, *every_port(pair))
                numbers.add((group, i, j))
        return cls(system, replace(system, forces=tuple(forces)), frozenset(numbers))

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

    @property
    def _bristles(self) -> int:
        return len(BRISTLE) * (len(bristles_of(self.system)) - len(bristles_of(self.plain)))


def _near(system: System, state: State, members: Sequence[Member]) -> set[tuple[int, int]]:
    """Pairs that touch, or nearly, by the numbers of their members; the solid last."""
    at = system.at(state)
    starts, ends = (
        system.vectors([PointOf(port) for port in ports]).places(at)[0]
        for ports in ([each.start for each in members], [each.end for each in members])
    )
    radius = np.array([each.radius for each in members])
    found, least = set[tuple[int, int]](), _least(members)
    for j, other in enumerate(members):
        if other.kind.is_solid:
            assert other.axes is not None, "a solid has some"
            axes = system.vectors([DirectionOf(other.start, axis) for axis in other.axes.T]).places(at)[0]
            apart = heights(other, (starts - starts[j]) @ axes.T) - radius
        else:
            apart = np.linalg.norm(starts - starts[j], axis=1) - radius - radius[j]
            apart -= np.linalg.norm(ends - starts, axis=1) + np.linalg.norm(ends[j] - starts[j])
        most = NEAR * np.maximum(np.maximum(radius, radius[j]), least)
        for i in np.flatnonzero(apart <= most).tolist():
            if not may_meet(members[i], other) or (not other.kind.is_solid and i >= j):
                continue
            if not other.kind.is_solid:
                gap = distance(starts[i], ends[i], starts[j], ends[j]) - radius[i] - radius[j]
                if gap > NEAR * max(radius[i], radius[j]):
                    continue
            found.add((i, j))
    return found


def _least(members: Sequence[Member]) -> float:
    sizes = [each.start.placed.data.size for each in members if isinstance(each.start, Attachment)]
    return 0.0 if any(each.radius for each in members) else max(sizes, default=0.0)


def _contact_of_two(contact: Contact, one: Member, other: Member) -> Contact:
    if one.start is not one.end and other.start is other.end and not other.kind.is_solid:
        one, other = other, one
    if one.start is not one.end:
        raise ModelError(
            f"{contact}: {one.start} and {other.start} touch along lines, which equilibria do not see; give lines"
            " as first and a Capsule for each piece as second, in contacts of their own"
        )
    if contact.friction and not other.start.has_orientation and one.start.has_orientation and one.radius:
        one, other = other, one
    surface = _surface(contact, one, other)
    return replace(
        contact,
        first=one.start,
        second=surface,
        radius=one.radius,
        second_radius=None,
        bristle=contact.sticking.stiffness if contact.sticking else None,
        bristle_damping=contact.sticking.damping if contact.sticking else None,
        name=str(contact),
    )


def _surface(contact: Contact, one: Member, other: Member) -> Touchable:
    port, (a, b, c) = other.start, other.size
    match other.kind:
        case MemberKind.ROUND if other.start is not other.end:
            return Capsule(port, other.end, other.radius)
        case MemberKind.ROUND:
            return Surface(port, Sphere(other.radius))
        case MemberKind.PLANE:
            assert other.axes is not None, "a solid has some"
            return Plane(_moved(port, a * other.axes[:, 2]), other.axes[:, 2])
        case MemberKind.BALL_INSIDE:
            return Surface(port, Sphere(a), inside=True)
        case MemberKind.TUBE:
            assert other.axes is not None, "a solid has some"
            axis = other.axes[:, 2]
            axis = port.placed.rotation.T @ axis if isinstance(port, Attachment) else axis
            return Surface(port, Cylinder(a, 1.0, axis), inside=b < 0)
        case MemberKind.BLOCK if one.radius:
            return Surface(port, Box((2 * a, 2 * b, 2 * c)))
    raise ModelError(
        f"{contact}: {one.start} touches {port}, whose edges or ends equilibria do not see; only spheres touch"
        " boxes there, and nothing whole cylinders and tori"
    )


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
