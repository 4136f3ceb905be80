"""Checks of what a model is given: bodies where they are placed, parts that belong to it."""

from collections.abc import Iterator, Mapping
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.body import Body, NodalBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.initial_nodes import Field
from phlexible.bodies.locations import Along, Start
from phlexible.bodies.mechanics.absolute import strains
from phlexible.bodies.mechanics.floating import check_mass
from phlexible.bodies.mechanics.soft import least_volumes
from phlexible.bodies.soft_body import SoftBody
from phlexible.bodies.string import String
from phlexible.description.ground import leaves, planar_point
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.mesh_surface import MeshSurface
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.state_force import FeedbackShare
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Fixed
from phlexible.description.joints.relations import JointRelation
from phlexible.description.placed_wholes import PlacedWhole, line_parts
from phlexible.description.ports import Attachment, ModelPart, MovingFrame, PlacedBody, Port, shared_numbers
from phlexible.description.references import references, values_in
from phlexible.errors import AttachmentError, ModelError, ParameterError, SingularMassError, UnitWarning, warn_user

# Checks of a joint, load, element or drive against the model that it is given to.

Part = Joint | JointRelation | Load | ForceElement | Drive


def ports_of(part: ModelPart | Sensor) -> Iterator[Port]:
    """Attachments and frames that a part acts on, also by its joints, and those that its controller measures."""
    for each in references(part):
        if isinstance(each, Attachment | MovingFrame):
            yield each
        elif isinstance(each, Joint):
            yield from (each.first, each.second)
        elif isinstance(each, PlacedBody | PlacedWhole):
            yield from (_any_port(placed) for placed, _ in line_parts(each))


def joints_of(part: ModelPart | Sensor) -> Iterator[Joint]:
    """Joints that an element or drive acts in, or that a controller measures."""
    return (each for each in references(part) if isinstance(each, Joint))


def clamped_starts(joint: Joint) -> Iterator[Attachment]:
    """Starts of bodies whose place and orientation a joint holds."""
    for port in (joint.first, joint.second):
        if isinstance(joint, Fixed) and isinstance(port, Attachment) and port.location in (Start(), Along(0.0)):
            yield port


def check_belongs(part: Part | Sensor, bodies: Mapping[str, PlacedBody], joints: Mapping[int, Joint]) -> None:
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
    watched = {each for value in values_in(part) if isinstance(value, Feedback) for each in references(value)}
    touched = {each.body for each in values_in(part) if isinstance(each, MeshSurface)}
    for port in ports_of(part):
        if isinstance(port, Attachment) and port.placed in touched:
            continue
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
    """The origin; of bodies that have none a node, of those that keep their answers at interfaces one of these."""
    if isinstance(placed.body, String):
        return placed.start
    if isinstance(placed.body, SoftBody):
        return placed.node(int(placed.body.soft_mesh.nodes[0]))
    if placed.origin.point.is_watched_only and (names := placed.body.port_locations()):
        return placed[next(iter(names))]
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


# A body where the user puts it: numbers checked, data in the model's dimension, strings along curves.

TURN = 2 * pi * (1 + 1e-9)


def place(
    body: Body,
    name: str,
    dimension: int,
    position: ArrayLike,
    rotation: RotationLike | None,
    velocity: Field | None,
    angular_velocity: ArrayLike | None,
    shape: Field | None,
    alike: PlacedBody | None = None,
) -> PlacedBody:
    """The handle of a body; arguments as of ``Mechanism.add``.

    Args:
        alike: a handle of the same description, whose numbers this one shares unless a joint has clamped it.

    Raises:
        ModelError: an angular velocity of a point mass or string, or a shape of a body that is no string.
        ParameterError: numbers of a wrong shape, not finite, or out of the plane.
        SingularMassError: a motion of the body carries no kinetic energy.
    """
    origin = planar_point("position", vector("position", position), dimension)
    turn = rotation_matrix(rotation, dimension)
    _ask_about_degrees(rotation)
    if isinstance(body, NodalBody):
        shared = shared_numbers(body, dimension)
        nodal, points = shared or (body.discretize(dimension), {})
        nodes = body.initial_nodes(dimension, shape, velocity, origin, turn)
        if angular_velocity is not None:
            try:
                nodes = body.spun(nodes, _spin(angular_velocity, dimension), origin)
            except ModelError as error:
                raise ModelError(f"{name}: {error}") from None
        placed = PlacedBody(name, body, body, nodal, origin, turn, nodes=nodes, points=points)
        check_strains(placed)
        return placed
    if shape is not None:
        raise ModelError(f"{name} is no string and has no shape; give position= and rotation=")
    speed = None if velocity is None else single_velocity(name, velocity)
    held = body.held(is_clamped=False)
    if alike is not None and isinstance(alike.data, FloatingBody) and alike.held == held:
        held, data, points = alike.held, alike.data, alike.points
    elif (known := shared_numbers(held, dimension)) is not None and isinstance(known[0], FloatingBody):
        data, points = known[0], known[1]
    else:
        data, points = discretized(held, name, dimension), {}
    placed = PlacedBody(
        name,
        body,
        held,
        data,
        origin,
        turn,
        None if speed is None else planar_point("velocity", speed, dimension),
        None if angular_velocity is None else _spin(angular_velocity, dimension),
        points=points,
    )
    if angular_velocity is not None and not placed.data.rotates:
        raise ModelError(f"{name} is a point mass and has no angular velocity, got {angular_velocity!r}")
    return placed


def discretized(body: Body, name: str, dimension: int) -> FloatingBody:
    """The data of a body with a frame.

    Raises:
        SingularMassError: a motion of the body carries no kinetic energy.
    """
    data = body.discretize(dimension)
    assert isinstance(data, FloatingBody), "only strings have no frame"
    try:
        check_mass(data)
    except SingularMassError as error:
        raise SingularMassError(f"{name}: {error}") from None
    return data


PRESSED_TOGETHER = 1e-20
"""C of a string that is pressed to 1e-10 of its length; nodes that coincide to round-off leave some 1e-28."""


def check_strains(placed: PlacedBody) -> None:
    """Refuses a shape with C <= 0, at which no law is defined, and C that is nothing but round-off of places.

    Raises:
        ParameterError: names the element.
    """
    assert isinstance(placed.data, AbsoluteBody), "only strings have nodes"
    for group in placed.data.strains:
        C = strains(placed.data, group, placed.elastic)
        worst = int(C.argmin())
        if not C[worst] > PRESSED_TOGETHER:
            raise ParameterError(
                f"{placed.name}: the shape must not press element {group.elements[worst]} together to "
                f"nothing (C = |dr/ds|^2 = {C[worst]:.3g}); neighbouring nodes need a distance"
            )
    for elements in placed.data.elements:
        volumes = least_volumes(elements, placed.elastic.reshape(-1, placed.data.dimension))
        if not volumes.min() > 0:
            raise ParameterError(
                f"{placed.name}: the shape must not turn element {int(volumes.argmin())} inside out or press it "
                f"flat (its volume is {volumes.min():.3g} of the undeformed one)"
            )


def single_velocity(name: str, velocity: Field) -> Array:
    """The velocity of a body with a frame, which is no function, shape (3,).

    Raises:
        ModelError: a function.
        ParameterError: no three finite numbers.
    """
    if callable(velocity):
        raise ModelError(f"{name} is no string: velocity is that of its origin, three numbers")
    return vector("velocity", velocity)


def _spin(value: ArrayLike, dimension: int) -> Array:
    spin = vector("angular_velocity", value)
    if dimension == 2 and spin[:2].any():
        raise ParameterError(f"angular_velocity must be (0, 0, w_z) in a planar model (dimension=2), got {value!r}")
    return spin


def _ask_about_degrees(rotation: RotationLike | None) -> None:
    """Warns of an angle of more than a turn, which a place has no use for."""
    if isinstance(rotation, int | float | np.number) and abs(float(rotation)) > TURN:
        warn_user(
            f"rotation = {rotation!r} is more than a turn; angles are in radians: np.radians({rotation!r})",
            UnitWarning,
        )
