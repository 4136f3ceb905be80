"""Names of new parts, changes of parts when a mechanism is copied or parts are removed, changed bodies."""

import dataclasses
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from phlexible.algebra.arrays import text
from phlexible.bodies.beam.bases import Frame
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.functions import receive
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.state_force import CompoundForce, FeedbackPart
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.joints.rolling import Rolling
from phlexible.description.mechanism.events import Event
from phlexible.description.mechanism.membership import ports_of
from phlexible.description.mechanism.parts import NAMED, MechanismParts, Named, find_by_name, named_parts
from phlexible.description.placed_wholes import PlacedSplitBeam, PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.description.references import references
from phlexible.display import numbered
from phlexible.errors import ModelError

# Names of new bodies, and of values of the user in messages.


def free_name(body: Body | SplitBeam | Rod, name: str | None, taken: Container[str], equal_count: int) -> str:
    """Return the name for a new body of a model: the user's ``name``, or by default the class as text with a
    number, "beam 1", "beam 2". Numbers start after the ``equal_count`` bodies of that class and skip names in
    ``taken``. ModelError is raised if the user's name is in ``taken``.

    Raises:
        ParameterError: no text.
        ModelError: a name that is taken.
    """
    if name is None:
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(body).__name__).lower()
        return numbered(kind, taken, start=equal_count + 1)
    if text("name of a body", name) in taken:
        raise ModelError(f"a body named {name!r} is already in the model; give another name")
    return name


def label_of_value(value: object) -> str:
    """Return the text by which an error message refers to a user's ``value``. A body has its name; a point, joint
    or load its class and name, without the class if the name begins with it; any other object its ``repr``."""
    if isinstance(value, PlacedBody | PlacedWhole):
        return value.name
    if isinstance(value, Attachment | Joint | Load):
        kind, label = type(value).__name__, str(value)
        return label if label.lower().startswith(kind.lower()) else f"{kind} {label}"
    return repr(value)


# Replacement of parts in a copy, and removal of parts.

Removable = Named | Rolling | CompoundForce | Feedback | Event | PlacedBody | PlacedWhole


def check_unique_name(joint: Joint | JointRelation, existing: Iterable[Joint | JointRelation]) -> None:
    """Raise ModelError if a joint or relation has the name of another one in ``existing``. Joints without a name
    are accepted, and the joint itself may be in ``existing``.

    Raises:
        ModelError: the name is taken.
    """
    if joint.name is not None and any(joint.name == other.name for other in existing if other is not joint):
        raise ModelError(f"a joint named {joint.name!r} is already in the model; give another name")


def replacement_parts(source: MechanismParts, user_parts: Mapping[str, Any]) -> dict[Any, Any]:
    """Return a dictionary from parts of the mechanism ``source`` (joints, loads, force elements) to copies of the
    user's parts that shall replace them. ``user_parts`` has the new parts by the names of old ones; the copies get
    the old names. Raise ``ModelError`` for unknown names and if joint, load or element is replaced by another
    kind.

    Raises:
        ModelError: an unknown name, or another kind of part.
    """
    result: dict[Any, Any] = {}
    for name, part in user_parts.items():
        old = find_by_name("part", name, named_parts(source))
        kind = next(kind for kind in NAMED if isinstance(old, kind))
        if not isinstance(part, kind):
            raise ModelError(
                f"{name!r} is a {type(old).__name__} and can only be replaced by a {kind.__name__}, got"
                f" {label_of_value(part)}"
            )
        receive(part, *ports_of(part))
        like: Any = part
        renamed = dataclasses.replace(like, name=getattr(old, "name", None))
        receive(renamed, *ports_of(renamed))
        result[old] = renamed
    return result


def parts_to_remove(
    mechanism: MechanismParts, parts: Iterable[object], compounds: Iterable[tuple[object, tuple[Named, ...]]]
) -> set[object]:
    """Return the set of all parts that must be removed from a mechanism together with ``parts``, given as objects
    or names. A rod or beam of several bodies, and a compound part (in ``compounds``), adds its components. Nothing
    is removed here. Raise ``ModelError`` for unknown parts, or if a remaining part refers to a removed part.

    Args:
        mechanism: mechanism that the parts belong to.
        parts: bodies, wholes, joints, loads, ..., or names.
        compounds: parts that consist of several parts, with these.

    Raises:
        ModelError: a part that is not in the mechanism, or a remaining part that refers to a removed one.
    """
    wholes: list[PlacedWhole] = [*mechanism.split_beams, *(rod.handle for rod in mechanism.rods)]
    named = named_parts(mechanism)
    there: list[Any] = [*mechanism.bodies, *wholes, *named, *mechanism.events]
    gone: set[object] = set()
    for part in parts:
        if isinstance(part, str):
            names = [entry.name if isinstance(entry, PlacedBody | PlacedWhole) else str(entry) for entry in there]
            part = there[names.index(find_by_name("part", part, names))]
        whole = next((components for compound, components in compounds if compound is part), None)
        if whole is None and not any(part is entry for entry in there):
            raise ModelError(f"part to remove: {label_of_value(part)} is not in this model")
        gone |= set(whole) if whole is not None else {part, *_removed_with(part, named)}
    for rest in (*wholes, *named, *mechanism.events):
        if rest not in gone and (lost := next((part for part in _all_references(rest) if part in gone), None)):
            what = rest.name if isinstance(rest, PlacedWhole) else str(rest)
            raise ModelError(f"{what} refers to {label_of_value(lost)}; remove it, too")
    return gone


def _removed_with(part: object, named: Iterable[Named]) -> Iterator[object]:
    """Yield the objects that must be removed from a model together with ``part``, ``part`` itself not always
    included. They are the bodies of a rod or a beam of several parts, and the joints between two of these bodies
    among ``named``. For a load or force element of a feedback controller, all loads and elements with the same
    controller are yielded."""
    if isinstance(part, PlacedWhole):
        yield from part.parts
    if isinstance(part, PlacedSplitBeam):
        for candidate in named:
            bodies = {port.placed for port in references(candidate) if isinstance(port, Attachment)}
            if isinstance(candidate, Joint) and 1 < len(bodies & {*part.parts}):
                yield candidate
    share = getattr(part, "value", None)
    if isinstance(share, FeedbackPart):
        for candidate in named:
            other_share = getattr(candidate, "value", None)
            if isinstance(other_share, FeedbackPart) and other_share.whole is share.whole:
                yield candidate


def _all_references(part: object) -> Iterator[object]:
    """Yield all bodies and parts of a mechanism that a part refers to, directly or through other parts. A load
    refers to the body on which it acts, a gear to its joints and their bodies."""
    for reference in references(part):
        one = reference.placed if isinstance(reference, Attachment) else reference
        yield one
        yield from _all_references(one)


Change = Callable[[Any], Any]

_CHANGE: ContextVar[Change | None] = ContextVar("_CHANGE", default=None)


@contextmanager
def changed_bodies(change: Change) -> Iterator[None]:
    """Context manager in which ``Mechanism.add`` places the body ``change(body)`` instead of the user's ``body``.
    It serves to compare discretizations of a model; the previous setting is restored at the end."""
    token = _CHANGE.set(change)
    try:
        yield
    finally:
        _CHANGE.reset(token)


def changed_body(body: Any) -> Any:
    """Return the body that a model places for a user's body: the body itself, or its replacement inside of the
    context ``changed_bodies``."""
    change = _CHANGE.get()
    return body if change is None else change(body)


def with_half_the_elements(body: Any) -> Any:
    """Return a beam or rod with half as many finite elements, rounded down; other bodies, and those with a
    single element, are returned unchanged."""
    is_divisible = isinstance(body, Beam | Rod) and body.elements > 1
    return replace(body, elements=body.elements // 2) if is_divisible else body


def in_another_frame(body: Any) -> Any:
    """Return a beam with another floating frame: simply supported instead of mean axis, mean axis instead of
    any other. Other bodies and beams with a reduced basis (``modes``) are returned unchanged."""
    if not isinstance(body, Beam) or body.modes is not None:
        return body
    return replace(body, frame=Frame.SIMPLY_SUPPORTED if body.frame is Frame.MEAN_AXIS else Frame.MEAN_AXIS)
