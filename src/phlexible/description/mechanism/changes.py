"""Names of new parts, and what becomes of parts in a copy or when others are taken away."""

import dataclasses
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from phlexible.algebra.arrays import text
from phlexible.bodies.beam.beam import SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.functions import receive
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.state_force import CompoundForce, FeedbackShare
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.joints.rolling import Rolling
from phlexible.description.mechanism.events import Event
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.mechanism.parts import NAMED, MechanismParts, Named, named_parts, one_of
from phlexible.description.placed_wholes import PlacedSplitBeam, PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.description.references import references
from phlexible.display import numbered
from phlexible.errors import ModelError

# Names of new bodies, and how messages call a value of the user.


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
        kind, words = type(value).__name__, str(value)
        return words if words.lower().startswith(kind.lower()) else f"{kind} {words}"
    return repr(value)


# What becomes of parts in a copy, and what may be taken away.

Removable = Named | Rolling | CompoundForce | Feedback | Event | PlacedBody | PlacedWhole


def check_name(joint: Joint | JointRelation, others: Iterable[Joint | JointRelation]) -> None:
    """Refuses a name that another joint or relation has.

    Raises:
        ModelError: says so.
    """
    if joint.name is not None and any(joint.name == each.name for each in others if each is not joint):
        raise ModelError(f"a joint named {joint.name!r} is already in the model; give another name")


def new_parts(source: MechanismParts, given: Mapping[str, Any]) -> dict[Any, Any]:
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
    mechanism: MechanismParts, parts: Iterable[object], given: Iterable[tuple[object, tuple[Named, ...]]]
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
