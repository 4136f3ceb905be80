"""Checks of a joint or load against the model that it is given to."""

import dataclasses
from collections.abc import Iterator, Mapping

from phlexible.errors import ModelError, ParameterError
from phlexible.joints.attachments import Attachment, MovingFrame, PlacedBody, Port
from phlexible.joints.joint import Joint
from phlexible.joints.loads import Force, Load
from phlexible.joints.placed_split_beam import PlacedSplitBeam, line_parts


def ports_of(part: Joint | Load) -> Iterator[Port]:
    """Attachments and frames in the fields of a joint or load; of bodies their origins."""
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Attachment | MovingFrame):
            yield value
        elif isinstance(value, PlacedBody | PlacedSplitBeam):
            yield from (placed.origin for placed, _ in line_parts(value))


def check_belongs(part: Joint | Load, bodies: Mapping[str, PlacedBody]) -> None:
    """Refuses a part that is attached to a body of another model.

    Raises:
        ModelError: names the attachment.
    """
    for port in ports_of(part):
        if isinstance(port, Attachment) and bodies.get(port.placed.name) is not port.placed:
            raise ModelError(
                f"{part}: {port} is on a body of another model; use the body that this model's add returned"
            )


def check_plane(part: Joint | Load, dimension: int) -> None:
    """Refuses ports and load values that leave the plane of a planar model.

    Raises:
        ParameterError: names the port or the load and the value.
    """
    for entry in part.entries() if isinstance(part, Load) else ():
        value = entry.at_time(0.0)
        outside, kept = (
            (value[2:], "(f_x, f_y, 0)") if isinstance(entry, Force) else (value[:2], "(0, 0, m_z)")
        )
        if dimension == 2 and outside.any():
            raise ParameterError(
                f"{entry} must be {kept} in a planar model (dimension=2), got {value.tolist()}"
            )
    for port in ports_of(part):
        if dimension == 2 and port.initial_position()[2] != 0:
            place = port.initial_position().tolist()
            raise ParameterError(f"{part}: {port} must have z = 0 in a planar model, got {place}")
