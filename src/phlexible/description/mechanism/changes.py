"""Parts by their names, and copies of a mechanism with parts changed, taken away, or on other bodies."""

import dataclasses
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import text
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.functions import receive
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.state_force import CompoundForce, FeedbackShare
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.joints.rolling import Rolling
from phlexible.description.mechanism.events import Event
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.mechanism.wholes import RodInModel, parts_by_name
from phlexible.description.placed_wholes import PlacedRod, PlacedSplitBeam, PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.description.references import references, replaced
from phlexible.display import numbered, shortened
from phlexible.errors import ModelError

# Whatever is on the bodies of one model, on those of another.


class Held(Protocol):
    """What a mechanism holds."""

    @property
    def bodies(self) -> tuple[PlacedBody, ...]: ...
    @property
    def split_beams(self) -> tuple[PlacedSplitBeam, ...]: ...
    @property
    def rods(self) -> tuple[RodInModel, ...]: ...
    @property
    def joints(self) -> tuple[Joint, ...]: ...
    @property
    def loads(self) -> tuple[Load, ...]: ...
    @property
    def applied_elements(self) -> tuple[ForceElement, ...]: ...
    @property
    def drives(self) -> tuple[Drive, ...]: ...
    @property
    def relations(self) -> tuple[JointRelation, ...]: ...
    @property
    def events(self) -> tuple[Event, ...]: ...


class Holder(Held, Protocol):
    """How it takes more."""

    def group(self, name: str, parts: Sequence[str]) -> PlacedSplitBeam: ...
    def group_rod(
        self, name: str, rod: Rod, parts: Sequence[str], stress_free: ArrayLike | None = None
    ) -> PlacedRod: ...
    def connect(self, joint: Any) -> Any: ...
    def apply(self, part: Any) -> Any: ...
    def expect(self, event: Event) -> None: ...


def copy_parts(
    source: Holder,
    copy: Holder,
    changed: Callable[[Joint], Joint] = lambda joint: joint,
    rods: Mapping[str, Rod] | None = None,
    instead: Mapping[Any, Any] | None = None,
) -> None:
    """Puts all that is on the bodies of a mechanism on those of a copy, which have the same names.

    Args:
        source: stays as it is.
        copy: has the bodies and nothing on them.
        changed: what becomes of each joint before it is connected.
        rods: new descriptions by name; rods keep the shape in which they store no energy.
        instead: new parts by those of ``source`` that they stand for, on the bodies of ``source``.

    Raises:
        AttachmentError: a body of the copy does not have a place where something acts.
        ModelError: whatever ``connect`` or ``apply`` of the copy refuse.
    """
    bodies = {placed.name: placed for placed in copy.bodies}
    parts: dict[Any, Any] = {placed: bodies[placed.name] for placed in source.bodies}
    new = instead or {}
    for split in source.split_beams:
        parts[split] = copy.group(split.name, [placed.name for placed in split.parts])
    for rod in source.rods:
        handle = rod.handle
        body = (rods or {}).get(handle.name, handle.body)
        names = [placed.name for placed in handle.parts]
        parts[handle] = copy.group_rod(handle.name, body, names, rod.stress_free)
    for joint in source.joints:
        parts[joint] = copy.connect(changed(replaced(new.get(joint, joint), parts)))
    for relation in source.relations:
        parts[relation] = copy.connect(replaced(new.get(relation, relation), parts))
    for each in (*source.loads, *source.applied_elements, *source.drives):
        parts[each] = copy.apply(replaced(new.get(each, each), parts))
    for happens in source.events:
        parts |= {lock: replaced(lock, parts) for lock in happens.held if lock not in parts}
        copy.expect(replaced(happens, parts))


# Names of bodies and loads, given or made, and how messages call what a user handed in.


def free_name(body: Body | SplitBeam | Rod, name: str | None, taken: Container[str], alike: int) -> str:
    """The name for a new body; None: "beam 1", "beam 2", ... after those that are ``alike``.

    Raises:
        ParameterError: no text.
        ModelError: a name that is taken.
    """
    if name is None:
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(body).__name__).lower()
        return numbered(kind, taken, start=alike + 1)
    if text("name of a body", name) in taken:
        raise ModelError(f"a body named {name!r} is already in the model; give another name")
    return name


def described(value: object) -> str:
    """What a message calls a value."""
    if isinstance(value, PlacedBody | PlacedWhole):
        return value.name
    if isinstance(value, Attachment | Joint | Load):
        return f"{type(value).__name__} {value}"
    return repr(value)


def counted(mechanism: Held) -> str:
    """ "3 bodies, 4 joints, 1 load", without what there is none of; a rod is one body."""
    nodes = sum(len(rod.handle.parts) - 1 for rod in mechanism.rods)
    counts = (
        (len(mechanism.bodies) - nodes, "body", "bodies"),
        (len(mechanism.joints), "joint", "joints"),
        (len(mechanism.loads), "load", "loads"),
        (len(mechanism.applied_elements), "force element", "force elements"),
        (len(mechanism.drives), "drive", "drives"),
        (len(mechanism.relations), "relation", "relations"),
        (len(mechanism.events), "event", "events"),
    )
    found = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return ", ".join(found) or "no bodies"


# Parts of a mechanism by their names, what becomes of them in a copy, and what may be taken away.

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
        ModelError: what is not there, or what is left refers to what goes.
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
            raise ModelError(f"part to remove: {described(part)} is not in this model")
        gone |= set(whole) if whole is not None else {part, *_parts_of(part, others)}
    for rest in (*wholes, *others, *mechanism.events):
        if rest not in gone and (lost := next((each for each in _all_references(rest) if each in gone), None)):
            what = rest.name if isinstance(rest, PlacedWhole) else str(rest)
            raise ModelError(f"{what} refers to {described(lost)}; remove it, too")
    return gone


def _parts_of(part: object, others: Iterable[Named]) -> Iterator[object]:
    """What goes along: parts of a whole and what joins them, other shares of one controller."""
    if isinstance(part, PlacedWhole):
        yield from part.parts
    if isinstance(part, PlacedSplitBeam):
        for each in others:
            if isinstance(each, Joint) and _bodies_of(each) <= {*part.parts}:
                yield each
    share = getattr(part, "value", None)
    if isinstance(share, FeedbackShare):
        for each in others:
            own = getattr(each, "value", None)
            if isinstance(own, FeedbackShare) and own.whole is share.whole:
                yield each


def _bodies_of(joint: Joint) -> set[PlacedBody]:
    return {each.placed for each in references(joint) if isinstance(each, Attachment)}


def _all_references(part: object) -> Iterator[object]:
    """Bodies and parts that a part refers to, also by others that it refers to."""
    for each in references(part):
        one = each.placed if isinstance(each, Attachment) else each
        yield one
        yield from _all_references(one)
