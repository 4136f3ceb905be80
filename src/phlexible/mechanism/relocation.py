"""Whatever is on the bodies of one model, on those of another."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from numpy.typing import ArrayLike

from phlexible.bodies.rod.rod import Rod
from phlexible.interactions.control.measurement import Measurement
from phlexible.interactions.drives import Drive
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Load
from phlexible.interactions.resisting.surfaces import Touchable
from phlexible.joints.joint import Joint
from phlexible.joints.relations import JointRelation, Relation
from phlexible.mechanism.events import Condition, Event
from phlexible.mechanism.rods import RodInModel
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody
from phlexible.ports.placed_rod import PlacedRod
from phlexible.ports.placed_split_beam import PlacedSplitBeam
from phlexible.ports.placed_whole import PlacedWhole

Part = TypeVar("Part")
MOVABLE = (PlacedBody, PlacedWhole, Touchable, Attachment, MovingFrame)
PART = (Joint, JointRelation, Load, ForceElement, Drive, PlacedWhole)


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


def hand_over(
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
    parts: dict[object, Any] = {}
    new = instead or {}
    for split in source.split_beams:
        parts[split] = copy.group(split.name, [placed.name for placed in split.parts])
    for rod in source.rods:
        handle = rod.handle
        body = (rods or {}).get(handle.name, handle.body)
        names = [placed.name for placed in handle.parts]
        parts[handle] = copy.group_rod(handle.name, body, names, rod.stress_free)
    for joint in source.joints:
        parts[joint] = copy.connect(changed(relocated(new.get(joint, joint), bodies, parts)))
    for relation in source.relations:
        parts[relation] = copy.connect(relocated(new.get(relation, relation), bodies, parts))
    for each in (*source.loads, *source.applied_elements, *source.drives):
        parts[each] = copy.apply(relocated(new.get(each, each), bodies, parts))
    for happens in source.events:
        for lock in happens.held:
            if lock not in parts:
                parts[lock] = relocated(lock, bodies, parts)
        when = happens.when if isinstance(happens.when, float) else _moved_condition(happens.when, bodies, parts)
        held, released = (tuple(parts[one] for one in own) for own in (happens.held, happens.released))
        copy.expect(dataclasses.replace(happens, when=when, held=held, released=released))


def _moved_condition(
    condition: Condition, bodies: Mapping[str, PlacedBody], parts: Mapping[object, object]
) -> Condition:
    """A condition (a dataclass) whose sensors, in a field or a tuple, measure the new bodies."""
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(condition):  # type: ignore[arg-type]
        value: Any = getattr(condition, field.name)
        if isinstance(value, tuple):
            changes[field.name] = tuple(relocated(each, bodies, parts) for each in value)
        elif dataclasses.is_dataclass(value):
            changes[field.name] = relocated(value, bodies, parts)
    return dataclasses.replace(condition, **changes)  # type: ignore[type-var]


def relocated(part: Part, bodies: Mapping[str, PlacedBody], parts: Mapping[object, object]) -> Part:
    """A copy of a joint or load (a dataclass) whose ports sit at the same locations of new bodies.

    Args:
        part: its fields may hold attachments and bodies, or joints, loads and split beams with a new one.
        bodies: the new bodies by name.
        parts: new joints, loads and split beams by the old ones.

    Raises:
        AttachmentError: the new body does not have the location.
    """
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(part):  # type: ignore[arg-type]
        value = getattr(part, field.name)
        if isinstance(value, Attachment):
            changes[field.name] = moved(value, bodies)
        elif isinstance(value, Touchable):
            changes[field.name] = value.moved(
                lambda port: moved(port, bodies) if isinstance(port, Attachment) else port
            )
        elif isinstance(value, PlacedBody):
            changes[field.name] = bodies[value.name]
        elif isinstance(value, tuple) and value and all(isinstance(each, MOVABLE) for each in value):
            changes[field.name] = tuple(_relocated_place(each, bodies, parts) for each in value)
        elif isinstance(value, PART) and value in parts:
            changes[field.name] = parts[value]
        elif isinstance(part, Relation) and field.name == "terms":
            changes["terms"] = [(parts[joint], name, factor) for joint, name, factor in part.terms]
        elif isinstance(value, Feedback):
            measured = [_relocated_item(item, bodies, parts) for item in value.measured]
            changes[field.name] = dataclasses.replace(value, measured=measured)
    return dataclasses.replace(part, **changes)  # type: ignore[type-var]


def _relocated_place(place: Any, bodies: Mapping[str, PlacedBody], parts: Mapping[object, object]) -> Any:
    """Of a list of bodies, ports and surfaces."""
    if isinstance(place, Touchable):
        return place.moved(lambda port: moved(port, bodies) if isinstance(port, Attachment) else port)
    if isinstance(place, Attachment):
        return moved(place, bodies)
    return bodies[place.name] if isinstance(place, PlacedBody) else parts.get(place, place)


def _relocated_item(item: Any, bodies: Mapping[str, PlacedBody], parts: Mapping[object, object]) -> Any:
    """What a controller measures: an attachment, a joint, or a sensor on these."""
    if isinstance(item, Attachment):
        return moved(item, bodies)
    return relocated(item, bodies, parts) if isinstance(item, Measurement) else parts[item]


def moved(attachment: Attachment, bodies: Mapping[str, PlacedBody]) -> Attachment:
    """The same location on the body of that name."""
    placed = bodies[attachment.placed.name]
    placed.locate(attachment.location)
    return Attachment(placed, attachment.location)
