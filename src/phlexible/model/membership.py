"""Checks of a joint or load against the model that it is given to."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from phlexible.bodies.locations import Along
from phlexible.bodies.string import String
from phlexible.errors import AttachmentError, ModelError, ParameterError
from phlexible.joints.attachments import Attachment, MovingFrame, PlacedBody, Port
from phlexible.joints.joint import Joint
from phlexible.joints.loads import Force, Load, Torque


def ports_of(part: Joint | Load) -> Iterator[Port]:
    """Attachments and frames in the fields of a joint or load."""
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Attachment | MovingFrame):
            yield value


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


def check_nodes(part: Joint | Load) -> None:
    """Refuses a part that acts between two nodes of a string.

    Raises:
        AttachmentError: names the attachment and the nodes around it.
    """
    for port in ports_of(part):
        if isinstance(port, Attachment) and port.placed.curve is not None and port.point.node is None:
            assert isinstance(port.location, Along), "ends are nodes"
            assert isinstance(port.placed.body, String), "only strings have curves"
            nodes, s = port.placed.body.mesh.nodes, port.location.x
            after = int(np.searchsorted(nodes, s))
            raise AttachmentError(
                f"{part}: {port} lies between two nodes of the string; joints and loads act on nodes, the "
                f"nearest are at({nodes[after - 1]:g}) and at({nodes[after]:g}); take one or other elements="
            )


def check_plane(part: Joint | Load, dimension: int) -> None:
    """Refuses ports and load values that leave the plane of a planar model.

    Raises:
        ParameterError: names the port or the load and the value.
    """
    if isinstance(part, Force | Torque):
        value = part.at_time(0.0)
        outside, kept = (
            (value[2:], "(f_x, f_y, 0)") if isinstance(part, Force) else (value[:2], "(0, 0, m_z)")
        )
        if dimension == 2 and outside.any():
            raise ParameterError(
                f"{part} must be {kept} in a planar model (dimension=2), got {value.tolist()}"
            )
    for port in ports_of(part):
        if dimension == 2 and port.initial_position()[2] != 0:
            place = port.initial_position().tolist()
            raise ParameterError(f"{part}: {port} must have z = 0 in a planar model, got {place}")
