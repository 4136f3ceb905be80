"""Finds bodies that went through others between two stored instants (docs/theory.md, 8)."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.contact_members import Member, signed_distances
from phlexible.description.interactions.functions import DirectionOf, PointOf
from phlexible.description.ports import Port
from phlexible.state.recorded_run import RecordedRun
from phlexible.step.tables.declarations import MemberKind

STRAIGHT = 0.1  # of a velocity: what touches changes it by more
MOST_PAIRS = 1000  # of a contact are looked at
MOST_PLACES = 200  # along a displacement
AT_ONCE = 100_000  # positions that are looked at together


def passage_warnings(run: RecordedRun) -> list[str]:
    """Return one warning message for each contact of a run in which a ball or point went through another body
    between two recorded instants. It did not touch that body."""
    if run.count < 2:
        return []
    contacts = [each for each in run.mechanism.elements if isinstance(each, Contact)]
    return [text for contact in contacts if (text := _Crossings(run, contact).message())]


class _Crossings:
    """Search for undetected passages in one contact: members that pass through each other between two stored
    instants.

    Args:
        run: run that is searched.
        contact: contact whose members are searched.
    """

    def __init__(self, run: RecordedRun, contact: Contact) -> None:
        self._run, self._contact = run, contact
        self._members = _members(contact, run.system.dimension)

    def message(self) -> str:
        """Return a warning message about the first passage of a ball through another member of this contact,
        between two recorded instants; an empty text if there is none."""
        for i, j in islice(self._candidates(self._largest_moves()), MOST_PAIRS):
            ball, other = self._members[i], self._members[j]
            x, y = self._positions([ball.start])[:, 0], self._positions([other.start])[:, 0]
            rows = self._passages(ball, other, x, y)
            if len(rows):
                time, row = self._run.recording.time, int(rows[0])
                chord = np.diff((x - y)[row : row + 2], axis=0)
                way, thick = float(np.linalg.norm(chord)), _thickness(ball, other)
                step = float(time[row + 1] - time[row])
                return (
                    f"{self._contact}: {ball.start} passes through {other.start} between t = {time[row]:.6g} s and"
                    f" {time[row + 1]:.6g} s without touching it: it moves by {way:.3g} m, and both together are"
                    f" {thick:.3g} m thick; take steps of {0.25 * thick / way * step:.2g} s, or a thicker body"
                )
        return ""

    def _largest_moves(self) -> Array:
        """Return the largest displacement of each member (surface) of this contact from one recorded instant to the
        next, shape (members,) [m]."""
        vectors = self._run.system.vectors([PointOf(each.start) for each in self._members])
        moved, count = np.zeros(len(self._members)), max(2, AT_ONCE // len(self._members))
        for begin in range(0, self._run.count - 1, count - 1):
            indices = vectors.values(self._run.instants.at(slice(begin, begin + count)))
            moved = np.maximum(moved, np.linalg.norm(np.diff(indices, axis=0), axis=2).max(axis=0))
        return moved

    def _positions(self, ports: Sequence[Port]) -> Array:
        """Return the world positions of ports (attachments, points of the ground) at all recorded instants of the
        run, shape (instants, ports, 3) [m]."""
        return np.asarray(self._run.system.vectors([PointOf(port) for port in ports]).values(self._run.instants))

    def _candidates(self, moved: Array) -> Iterator[tuple[int, int]]:
        """Yield index pairs (ball, other member) of this contact that may have passed through each other, fastest
        balls first. Their displacements between two instants, ``moved`` [m], exceed their thickness."""
        members = self._members
        balls = [i for i, each in enumerate(members) if not each.kind.is_solid and each.start is each.end]
        thick = np.array([each.thickness if each.kind.is_solid else 2.0 * each.radius for each in members])
        for i in sorted(balls, key=lambda i: -moved[i]):
            for j in np.flatnonzero(moved[i] + moved > thick + 2.0 * members[i].radius).tolist():
                if _can_touch(members[i], members[j]):
                    yield i, j

    def _passages(self, ball: Member, other: Member, x: Array, y: Array) -> IntArray:
        """Return the indices of the recorded instants after which a ball moves straight through another
        member of the contact (``other``). Their positions ``x`` and ``y`` have the shape (instants, 3) [m]."""
        ends = y if other.start is other.end else self._positions([other.end])[:, 0]
        relative = x - y
        axes = None
        if other.kind.is_solid and other.axes is not None:
            directions = self._run.system.vectors([DirectionOf(other.start, axis) for axis in other.axes.T])
            axes = directions.values(self._run.instants)
            relative = np.einsum("tij,tj->ti", axes, relative)
        chords = np.diff(relative, axis=0)
        sizes = np.linalg.norm(chords, axis=1)
        rates = chords / np.diff(self._run.recording.time)[:, None]
        turns = np.linalg.norm(np.diff(rates, axis=0), axis=1)
        speeds = np.linalg.norm(rates, axis=1)
        bends = np.zeros(len(chords))
        bends[:-1], bends[1:] = np.maximum(bends[:-1], turns), np.maximum(bends[1:], turns)
        rows = np.flatnonzero((sizes > _thickness(ball, other)) & (bends < STRAIGHT * speeds))
        if not len(rows):
            return rows
        count = min(int(np.ceil(4 * sizes[rows].max() / _thickness(ball, other))), MOST_PLACES)
        shares = np.linspace(0.0, 1.0, count + 1)[:, None, None]
        w = relative[rows] + shares * chords[rows]
        if axes is not None:
            apart = signed_distances(other, w.reshape(-1, 3)).reshape(w.shape[:2]) - ball.radius
        else:
            u = (ends - y)[rows] + shares * np.diff(ends - y, axis=0)[rows]
            square = np.maximum((u * u).sum(axis=2), np.finfo(float).tiny)
            along = np.clip((w * u).sum(axis=2) / square, 0.0, 1.0)
            apart = np.linalg.norm(w - along[:, :, None] * u, axis=2) - ball.radius - other.radius
        return np.asarray(rows[(apart.min(axis=0) < 0) & (apart[0] > 0) & (apart[-1] > 0)])


def _members(contact: Contact, dimension: int) -> tuple[Member, ...]:
    """Return the members (spheres, line segments, solids) of a contact whose distance from others can be
    computed; rims are left out. ``dimension`` is that of the model (1, 2 or 3)."""
    return tuple(member for member in contact.members(dimension) if member.kind is not MemberKind.RIM)


def _thickness(ball: Member, other: Member) -> float:
    """Return the sum of the thicknesses of a ball and of another member of a contact, ``other`` [m]: a
    displacement beyond it may lead through."""
    return 2.0 * ball.radius + (other.thickness if other.kind.is_solid else 2.0 * other.radius)


def _can_touch(ball: Member, other: Member) -> bool:
    """Return whether two members of a contact, ``ball`` and ``other``, can touch: they belong to different
    bodies and to opposite sides of the contact, and have a size."""
    is_opposed = ball.owner != other.owner and ball.side | other.side == 3
    return is_opposed and (other.kind.is_solid or ball.radius + other.radius > 0)
