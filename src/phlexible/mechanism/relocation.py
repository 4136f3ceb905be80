"""The same joint or load on the bodies of another model."""

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeVar

from phlexible.interactions.feedback import Feedback
from phlexible.interactions.loads import Load
from phlexible.joints.joint import Joint
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.ports.placed_split_beam import PlacedSplitBeam

Part = TypeVar("Part")


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
        elif isinstance(value, PlacedBody):
            changes[field.name] = bodies[value.name]
        elif isinstance(value, Joint | Load | PlacedSplitBeam) and value in parts:
            changes[field.name] = parts[value]
        elif isinstance(value, Feedback):
            measured: list[Any] = [
                moved(item, bodies) if isinstance(item, Attachment) else parts[item] for item in value.measured
            ]
            changes[field.name] = dataclasses.replace(value, measured=measured)
    return dataclasses.replace(part, **changes)  # type: ignore[type-var]


def moved(attachment: Attachment, bodies: Mapping[str, PlacedBody]) -> Attachment:
    """The same location on the body of that name."""
    placed = bodies[attachment.placed.name]
    placed.locate(attachment.location)
    return Attachment(placed, attachment.location)
