"""Checks of a joint, load, element or drive against the model that it is given to."""

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from phlexible.bodies.locations import Along, Start
from phlexible.bodies.soft.soft_body import SoftBody
from phlexible.bodies.string.string import String
from phlexible.errors import AttachmentError, ModelError, ParameterError
from phlexible.interactions.control.parts import FeedbackShare
from phlexible.interactions.drives import Drive
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Load
from phlexible.interactions.resisting.surfaces import Touchable
from phlexible.joints.fixed import Fixed
from phlexible.joints.joint import Joint
from phlexible.joints.relations import JointRelation
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody, Port
from phlexible.ports.ground import leaves
from phlexible.ports.placed_whole import PlacedWhole, line_parts

Part = Joint | JointRelation | Load | ForceElement | Drive


def ports_of(part: Part) -> Iterator[Port]:
    """Attachments and frames that a part acts on, and those that its controller measures."""
    for value in _values(part):
        if isinstance(value, Attachment | MovingFrame):
            yield value
        elif isinstance(value, Joint) and not isinstance(part, Joint):
            yield from (value.first, value.second)
        elif isinstance(value, PlacedBody | PlacedWhole):
            yield from (_any_port(placed) for placed, _ in line_parts(value))


def joints_of(part: Part) -> Iterator[Joint]:
    """Joints that an element or drive acts in, or that a controller measures."""
    yield from (value for value in _values(part) if isinstance(value, Joint))


def _values(part: Part) -> Iterator[object]:
    if isinstance(part, JointRelation) and part.parts:
        yield from (each.joint for each in part.parts)
        return
    for field in dataclasses.fields(part):
        value = getattr(part, field.name)
        yield value
        if isinstance(value, Touchable):
            yield from value.ports
        if isinstance(value, tuple):
            yield from (each for each in value if isinstance(each, PlacedBody | PlacedWhole | Attachment))
            yield from (port for each in value if isinstance(each, Touchable) for port in each.ports)
        if isinstance(value, Feedback):
            yield from value.places


def clamped_starts(joint: Joint) -> Iterator[Attachment]:
    """Starts of bodies whose place and orientation a joint holds."""
    for port in (joint.first, joint.second):
        if isinstance(joint, Fixed) and isinstance(port, Attachment) and port.location in (Start(), Along(0.0)):
            yield port


def check_belongs(part: Part, bodies: Mapping[str, PlacedBody], joints: Mapping[int, Joint]) -> None:
    """Refuses a part that is attached to a body or acts in a joint of another model; joints come by their ``id``.

    Raises:
        ModelError: names the attachment or the joint.
    """
    for joint in joints_of(part):
        if id(joint) not in joints:
            raise ModelError(f"{part}: {joint} is not connected in this model; call model.connect(joint) first")
    for port in ports_of(part):
        if isinstance(port, Attachment) and bodies.get(port.placed.name) is not port.placed:
            raise ModelError(
                f"{part}: {port} is on a body of another model; use the body that this model's add returned"
            )


def check_nodes(part: Part) -> None:
    """Refuses a part that acts between two nodes of a string, or beside the interfaces of a flexible body.

    Raises:
        AttachmentError: names the attachment and the places that would do.
    """
    watched = [port for value in _values(part) if isinstance(value, Feedback) for port in value.places]
    for port in ports_of(part):
        if isinstance(port, Attachment) and port.point.is_watched_only and port not in watched:
            names = ", ".join(map(repr, port.placed.body.port_locations())) or "none"
            raise AttachmentError(
                f"{part}: {port} is no interface of {port.placed.name}, which does not keep how it answers to "
                f"forces there; joints and loads act on interfaces ({names}): name one there with interfaces="
            )
        if (
            port in watched
            and isinstance(port, Attachment)
            and _is_between(port)
            and port.placed.kind == "soft body"
        ):
            raise AttachmentError(
                f"{part}: a controller measures nodes of a soft body, {port} is the mean of several"
            )
        if isinstance(port, Attachment) and isinstance(port.location, Along) and _is_between(port):
            assert isinstance(port.placed.body, String), "only strings have curves"
            nodes, s = port.placed.body.mesh.nodes, port.location.x
            after = int(np.searchsorted(nodes, s))
            raise AttachmentError(
                f"{part}: {port} lies between two nodes of the string; joints and loads act on nodes, the "
                f"nearest are at({nodes[after - 1]:g}) and at({nodes[after]:g}); take one or other elements="
            )


def _any_port(placed: PlacedBody) -> Attachment:
    """The origin; of bodies that have none a node."""
    if isinstance(placed.body, String):
        return placed.start
    if isinstance(placed.body, SoftBody):
        return placed.node(int(placed.body.soft_mesh.nodes[0]))
    return placed.origin


def _is_between(port: Attachment) -> bool:
    """Between two nodes of a body in absolute coordinates."""
    return port.placed.nodes is not None and port.point.node is None


def check_plane(part: Part, dimension: int) -> None:
    """Refuses ports and load values that leave the plane of a planar model, or the line of one on a line.

    Raises:
        ParameterError: names the port or the load and the value.
        ModelError: a moving frame of a model in space, which may leave the plane later.
    """
    for entry in part.entries() if isinstance(part, Load) else ():
        along = entry.value.direction if isinstance(entry.value, FeedbackShare) else None
        entry.check_inside(entry.at_time(0.0) if along is None else along, dimension)
    for port in ports_of(part):
        if dimension == 1 and port.initial_position()[1:].any():
            place = port.initial_position().tolist()
            raise ParameterError(f"{part}: {port} must lie on the x axis (dimension=1), got {place}")
        if dimension == 2 and port.initial_position()[2] != 0:
            place = port.initial_position().tolist()
            raise ParameterError(f"{part}: {port} must have z = 0 in a planar model, got {place}")
        if isinstance(port, MovingFrame) and leaves(port, dimension):
            where = "in space" if dimension == 2 else "of more dimensions"
            raise ModelError(f"{part}: {port} was made by a model {where}; make it with this model's ground")
