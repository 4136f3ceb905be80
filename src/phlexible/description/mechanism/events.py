"""Events of a run: joints that lock and joints that let go (docs/theory.md, 8; (8.24))."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from phlexible.algebra.arrays import non_negative
from phlexible.description.interactions.drives import Drive
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation, Relation
from phlexible.description.ports import ModelPart
from phlexible.display import distinct
from phlexible.errors import ModelError, ParameterError

Constraint = Joint | Drive | JointRelation


class Condition(ABC):
    """What an event waits for; ``When`` is one."""

    @abstractmethod
    def __str__(self) -> str:
        """In words."""


@dataclass(frozen=True)
class UnstoredCondition(Condition):
    """Stands in a loaded model for a condition, of which files hold the words only."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Event(ModelPart):
    """What happens once in a run; made by ``model.at``.

    Attributes:
        when: time [s], or a condition.
        held: what is held from then on, where it is then.
        released: what holds no more from then on.
        text: what, in words.
    """

    when: float | Condition
    held: tuple[Constraint, ...]
    released: tuple[Constraint, ...]
    text: str

    def __str__(self) -> str:
        at = f"at t = {self.when:g} s" if isinstance(self.when, float) else f"when {self.when}"
        return f"{self.text} {at}"


@dataclass(frozen=True, eq=False)
class Switch:
    """A constraint that events hold or release.

    Attributes:
        constraint: a joint, drive or relation.
        is_held: at the start of a run.
    """

    constraint: Constraint
    is_held: bool


def event(
    when: Any, lock: object, release: object, known: Sequence[Constraint], let_go: Collection[Constraint] = ()
) -> Event:
    """The event that ``model.at`` was asked for.

    Args:
        when: [s], or a condition.
        lock, release: one of them.
        known: constraints of the model, and what other events hold.
        let_go: those that other events release.

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
        return Event(when, (), _released(release, known), f"release of {name}")
    if isinstance(lock, JointRelation):
        return Event(when, (lock,), (), f"lock of {lock}")
    if not isinstance(lock, Joint):
        raise ModelError(f"lock takes a joint or a relation such as Gear(a, b, ratio), got {lock!r}")
    if not any(lock is each for each in known):
        raise ModelError(f"lock={lock} is not connected in this model; call model.connect(joint) first")
    if not lock.coordinate_names:
        raise ModelError(f"{lock} leaves no coordinate free that could be locked")
    for drive in (each for each in known if isinstance(each, Drive) and each.joint is lock):
        if drive not in let_go:
            raise ModelError(
                f"{lock} cannot lock while {drive} moves it; release the drive first, by another event"
            )
    held = tuple(_held(lock, name, {str(each) for each in known}) for name in lock.coordinate_names)
    return Event(when, held, (), f"lock of {lock}")


def check_not_released(held: Event, released: Sequence[Constraint], when: str) -> None:
    """Refuse a lock of joints that are released before.

    Raises:
        ModelError: names the joint.
    """
    joints = [part for each in held.held if isinstance(each, JointRelation) for part in each.parts]
    for joint in joints:
        if any(joint.joint is each for each in released):
            raise ModelError(
                f"{held} holds coordinates of {joint.joint}, which is released {when} and has none then; lock it"
                " before, or let a Contact or a spring hold the bodies"
            )


def _held(joint: Joint, coordinate: str, taken: Container[str]) -> Relation:
    """Keeps one coordinate; locks of a joint that was locked before are numbered."""
    return Relation([(joint, coordinate, 1.0)], name=distinct(f"lock of {coordinate} in {joint}", taken))


def _released(release: object, known: Sequence[Constraint]) -> tuple[Constraint, ...]:
    if isinstance(release, Event):
        if not release.held:
            raise ModelError(f"{release} holds nothing that could be released")
        return release.held
    for each in known:
        if each is release:
            return (each,)
    raise ModelError(
        f"release takes a joint, drive or relation of this model, or what model.at(..., lock=...) returned; got"
        f" {release!r}"
    )


def locks_of(events: Sequence[Event], known: Sequence[Constraint]) -> Iterator[JointRelation]:
    """What events hold that the model does not hold from the start, each once."""
    found: list[Constraint] = list(known)
    for each in events:
        for constraint in each.held:
            if isinstance(constraint, JointRelation) and not any(constraint is one for one in found):
                found.append(constraint)
                yield constraint


def switches_of(events: Sequence[Event], known: Sequence[Constraint]) -> Iterator[Switch]:
    """Whatever events hold or release, each once; ``known``: what is held at the start."""
    found: list[Constraint] = []
    for each in events:
        for constraint in (*each.held, *each.released):
            if not any(constraint is one for one in found):
                found.append(constraint)
                yield Switch(constraint, any(constraint is one for one in known))
