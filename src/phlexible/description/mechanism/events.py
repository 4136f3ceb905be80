"""Events of a run: joints that are locked or released (docs/theory.md, 8; (8.24))."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from phlexible.algebra.arrays import non_negative
from phlexible.description.interactions.drives import Drive
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation, Relation
from phlexible.description.joints.sliding import Sliding
from phlexible.description.ports import ModelPart
from phlexible.display import distinct
from phlexible.errors import ModelError, ParameterError

Constraint = Joint | Drive | JointRelation


class Condition(ABC):
    """Base class of conditions that trigger an event, such as ``When``."""

    @abstractmethod
    def __str__(self) -> str:
        """Return the condition that triggers an event as text for messages, such as "angle of hinge above 1". The
        method is abstract: each kind of condition defines it."""


@dataclass(frozen=True)
class UnstoredCondition(Condition):
    """Placeholder in a loaded model for a condition, of which files store the text only."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Event(ModelPart):
    """Event that occurs once in a run and locks or releases joints; made by ``model.at``.

    Attributes:
        when: time [s], or a condition.
        locked: constraints that act from then on, at the values of that time.
        released: constraints that do not act from then on.
        text: description of the event.
    """

    when: float | Condition
    locked: tuple[Constraint, ...]
    released: tuple[Constraint, ...]
    text: str

    def __str__(self) -> str:
        at = f"at t = {self.when:g} s" if isinstance(self.when, float) else f"when {self.when}"
        return f"{self.text} {at}"


@dataclass(frozen=True, eq=False)
class Switch:
    """Constraint that events lock or release during a run.

    Attributes:
        constraint: a joint, drive or relation.
        is_active: whether the constraint acts at the start of a run.
    """

    constraint: Constraint
    is_active: bool


def event(
    when: Any,
    lock: object,
    release: object,
    constraints: Sequence[Constraint],
    released: Collection[Constraint] = (),
) -> Event:
    """Return a new event that locks or releases a joint or relation at a time [s] or when a condition is met.
    Locking a joint adds a relation for each of its free coordinates, which keeps it constant from then on. Raise
    ``ParameterError`` or ``ModelError`` for unsuitable arguments, such as a driven joint. The event is not stored
    in the model here.

    Args:
        when: time of the event [s], or a condition.
        lock, release: constraint, or event, to be locked or released; one of the two is None.
        constraints: constraints of the model, and those that other events lock.
        released: constraints that other events release.

    Raises:
        ParameterError: no time and no condition, or neither or both of ``lock`` and ``release``.
        ModelError: a joint that leaves nothing free to lock or is driven, or something that is not in the model.
    """
    if not isinstance(when, Condition):
        when = non_negative("when, the time of an event,", when)
    if (lock is None) == (release is None):
        raise ParameterError("at takes either lock= or release=; for both, call it twice")
    if release is not None:
        name = release.text if isinstance(release, Event) else release
        return Event(when, (), _released(release, constraints), f"release of {name}")
    if isinstance(lock, JointRelation):
        return Event(when, (lock,), (), f"lock of {lock}")
    if not isinstance(lock, Joint):
        raise ModelError(f"lock takes a joint or a relation such as Gear(a, b, ratio), got {lock!r}")
    if not any(lock is constraint for constraint in constraints):
        raise ModelError(f"lock={lock} is not connected in this model; call model.connect(joint) first")
    if not lock.coordinate_names:
        raise ModelError(f"{lock} has no free coordinate that could be locked")
    for drive in (each for each in constraints if isinstance(each, Drive) and each.joint is lock):
        if drive not in released:
            raise ModelError(
                f"{lock} cannot be locked while {drive} moves it; release the drive first, by another event"
            )
    names = {str(constraint) for constraint in constraints}
    locked = tuple(_locking_relation(lock, name, names) for name in lock.coordinate_names)
    return Event(when, locked, (), f"lock of {lock}")


def check_not_released(event: Event, released: Sequence[Constraint], when: str) -> None:
    """Raise ModelError if an event locks coordinates of a joint that another event has ``released``, since a
    released joint has no coordinates. ``when`` is the time as text, for the message.

    Raises:
        ModelError: names the joint.
    """
    joints = [part for lock in event.locked if isinstance(lock, JointRelation) for part in lock.parts]
    for joint in joints:
        if any(joint.joint is other for other in released):
            raise ModelError(
                f"{event} locks coordinates of {joint.joint}, which is released {when} and has none then; lock it"
                " before, or connect the bodies by a Contact or a spring"
            )


def check_position_unused(event: Event, active: Iterable[Constraint]) -> None:
    """Raise ModelError if an event releases a ``Sliding`` joint whose position another ``active`` constraint uses,
    such as a drive or relation. That position is undefined without the joint.

    Raises:
        ModelError: names the constraint and the joint.
    """
    for constraint in active:
        parts = constraint.parts if isinstance(constraint, JointRelation) else (constraint,)
        for joint in (part.joint for part in parts if not isinstance(part, Joint)):
            if isinstance(joint, Sliding) and joint in event.released:
                raise ModelError(
                    f"{event} leaves {constraint} without the position of {joint}, which ends with the joint;"
                    f" release {constraint} first, by another event"
                )


def _locking_relation(joint: Joint, coordinate: str, taken: Container[str]) -> Relation:
    """Return a new relation that keeps one coordinate of a joint constant, by which an event locks it. It is named
    "lock of coordinate in joint", with a number added if that name is ``taken``."""
    return Relation([(joint, coordinate, 1.0)], name=distinct(f"lock of {coordinate} in {joint}", taken))


def _released(release: object, known: Sequence[Constraint]) -> tuple[Constraint, ...]:
    if isinstance(release, Event):
        if not release.locked:
            raise ModelError(f"{release} locks nothing that could be released")
        return release.locked
    for each in known:
        if each is release:
            return (each,)
    raise ModelError(
        f"release takes a joint, drive or relation of this model, or the result of model.at(..., lock=...); got"
        f" {release!r}"
    )


def locks_of(events: Sequence[Event], known: Sequence[Constraint]) -> Iterator[JointRelation]:
    """Yield the relations between joint coordinates (``JointRelation``: gears, locked joints) that the given
    events lock during a run, in the order of ``events``. Each object is yielded once; objects in ``known``, the
    existing constraints, and other kinds of constraint are skipped."""
    seen: list[Constraint] = list(known)
    for event in events:
        for constraint in event.locked:
            if isinstance(constraint, JointRelation) and not any(constraint is one for one in seen):
                seen.append(constraint)
                yield constraint


def switches_of(events: Sequence[Event], known: Sequence[Constraint]) -> Iterator[Switch]:
    """Yield one ``Switch`` (constraint that can be active or not) for each constraint that the given events lock
    or release, in the order of ``events``. Each constraint occurs once, by identity. A constraint is active at the
    start if it is in ``known``, the existing constraints of the model."""
    seen: list[Constraint] = []
    for event in events:
        for constraint in (*event.locked, *event.released):
            if not any(constraint is one for one in seen):
                seen.append(constraint)
                yield Switch(constraint, any(constraint is one for one in known))
