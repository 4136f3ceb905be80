"""Parts of a mechanism by their names, what becomes of them in a copy, and what may be taken away."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from phlexible.algebra.options import text
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod.rod import Rod
from phlexible.display.written import shortened
from phlexible.errors import ModelError
from phlexible.interactions.control.parts import FeedbackShare
from phlexible.interactions.drives import Drive
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Load
from phlexible.interactions.pair import receive
from phlexible.interactions.state_force import CompoundForce
from phlexible.joints.joint import Joint
from phlexible.joints.relations import JointRelation
from phlexible.joints.rolling import Rolling
from phlexible.mechanism.events import Event
from phlexible.mechanism.membership import ports_of
from phlexible.mechanism.naming import described
from phlexible.mechanism.relocation import Held
from phlexible.mechanism.substructures import parts_by_name
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.ports.placed_split_beam import PlacedSplitBeam
from phlexible.ports.placed_whole import PlacedWhole

Named = Joint | JointRelation | Load | ForceElement | Drive
Removable = Named | Rolling | CompoundForce | Feedback | Event | PlacedBody | PlacedWhole
NAMED = (Joint, JointRelation, Load, ForceElement, Drive)
MOST_NAMED = 6

Found = TypeVar("Found")


class Wholes(Held, Protocol):
    """What has handles of beams in parts and rods."""

    @property
    def wholes(self) -> Mapping[str, PlacedWhole]: ...
    def add(self, body: Any, *where: Any, **how: Any) -> Any: ...


def is_named_part(value: object) -> bool:
    """Whether it is a part and no body."""
    return isinstance(value, NAMED)


def named_parts(mechanism: Held) -> tuple[Named, ...]:
    """All joints, relations, loads, force elements and drives."""
    own = (mechanism.joints, mechanism.relations, mechanism.loads, mechanism.applied_elements, mechanism.drives)
    return tuple(each for parts in own for each in parts)


def one_of(kind: str, name: str, parts: Sequence[Found]) -> Found:
    """The one of a name.

    Raises:
        ModelError: there is none, or there are several; lists the names.
    """
    found = [each for each in parts if str(each) == text(f"name of a {kind}", name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ModelError(f"{len(found)} parts are named {name!r}; give them names of their own with name=")
    known = shortened([str(each) for each in parts], MOST_NAMED) if parts else f"no {kind} yet"
    raise ModelError(f"no {kind} is named {name!r}; the model has: {known}")


def check_name(joint: Joint | JointRelation, others: Iterable[Joint | JointRelation]) -> None:
    """Refuses a name that was given to another joint or relation.

    Raises:
        ModelError: says so.
    """
    if joint.name is not None and any(joint.name == each.name for each in others if each is not joint):
        raise ModelError(f"a joint named {joint.name!r} is already in the model; give another name")


def new_bodies(source: Wholes, copy: Wholes, described: Mapping[str, Body | SplitBeam | Rod]) -> None:
    """Puts the bodies of a mechanism into a copy, at the same places; some with new descriptions.

    Raises:
        ModelError: an unknown name, or another kind of body.
    """
    known = {**{placed.name: placed for placed in source.bodies}, **source.wholes}
    for name in described:
        one_of("body", name, [*known])
    new = parts_by_name(described, source.wholes)
    for placed in source.bodies:
        nodes = placed.nodes
        copy.add(
            new.get(placed.name, placed.body),
            placed.name,
            placed.position,
            placed.rotation,
            placed.velocity if nodes is None else nodes.speed,
            placed.angular_velocity,
            None if nodes is None else nodes.shape,
            large=placed.name not in new,
        )


def new_parts(source: Held, given: Mapping[str, Any]) -> dict[Any, Any]:
    """New joints, loads, ... by those they stand for, with the names of these.

    Raises:
        ModelError: an unknown name, or another kind of part.
    """
    result: dict[Any, Any] = {}
    for name, part in given.items():
        old = one_of("part", name, named_parts(source))
        kind = next(each for each in NAMED if isinstance(old, each))
        if not isinstance(part, kind):
            raise ModelError(
                f"{name!r} is a {type(old).__name__} and can only be replaced by a {kind.__name__}, got"
                f" {described(part)}"
            )
        receive(part, *ports_of(part))
        like: Any = part
        renamed = dataclasses.replace(like, name=getattr(old, "name", None))
        receive(renamed, *ports_of(renamed))
        result[old] = renamed
    return result


def removed(
    mechanism: Held, parts: Iterable[object], given: Iterable[tuple[object, tuple[Named, ...]]]
) -> set[object]:
    """All that goes when some parts go.

    Args:
        mechanism: that has them.
        parts: bodies, wholes, joints, loads, ..., or names.
        given: what was taken apart when it was applied, and its parts.

    Raises:
        ModelError: what is not there, or what is left hangs on what goes.
    """
    wholes: list[PlacedWhole] = [*mechanism.split_beams, *(rod.handle for rod in mechanism.rods)]
    others = named_parts(mechanism)
    there: list[Any] = [*mechanism.bodies, *wholes, *others, *mechanism.events]
    gone: set[object] = set()
    for part in parts:
        if isinstance(part, str):
            names = [each.name if isinstance(each, PlacedBody | PlacedWhole) else str(each) for each in there]
            part = there[names.index(one_of("part", part, names))]
        whole = next((own for compound, own in given if compound is part), None)
        if whole is None and not any(part is each for each in there):
            raise ModelError(f"{described(part)} is not in this model")
        gone |= set(whole) if whole is not None else {part, *_parts_of(part, others)}
    for rest in (*wholes, *others, *mechanism.events):
        if rest not in gone and (lost := next((each for each in _references(rest) if each in gone), None)):
            what = rest.name if isinstance(rest, PlacedWhole) else str(rest)
            raise ModelError(f"{what} hangs on {described(lost)}; remove it, too")
    return gone


def _parts_of(part: object, others: Iterable[Named]) -> Iterator[object]:
    """What goes along: parts of a whole and what joins them, other shares of one controller."""
    if isinstance(part, PlacedWhole):
        yield from part.parts
    if isinstance(part, PlacedSplitBeam):
        for each in others:
            if isinstance(each, Joint) and {port.placed for port in _attachments(each)} <= {*part.parts}:
                yield each
    share = getattr(part, "value", None)
    if isinstance(share, FeedbackShare):
        for each in others:
            own = getattr(each, "value", None)
            if isinstance(own, FeedbackShare) and own.whole is share.whole:
                yield each


def _attachments(joint: Joint) -> list[Attachment]:
    return [port for port in (joint.first, joint.second) if isinstance(port, Attachment)]


def _references(value: object) -> Iterator[object]:
    """Bodies, joints and loads that a part speaks of: in its fields, in those of its sensors and controllers."""
    if isinstance(value, PlacedWhole):
        yield from value.parts
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _references_of(each)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _references_of(getattr(value, field.name))


def _references_of(value: object) -> Iterator[object]:
    if isinstance(value, PlacedBody | PlacedWhole):
        yield value
    elif not isinstance(value, Body):
        if isinstance(value, NAMED):
            yield value
        yield from _references(value)
