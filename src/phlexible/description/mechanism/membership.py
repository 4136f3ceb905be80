"""Checks of bodies that are placed in a model, and of parts that are connected or applied."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector, warn_of_degrees
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.absolute_body import AbsoluteBody, Field
from phlexible.bodies.body import Body, NodalBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.locations import Along, Start
from phlexible.bodies.mechanics.absolute import strains
from phlexible.bodies.mechanics.floating import check_mass
from phlexible.bodies.mechanics.soft import least_volumes
from phlexible.bodies.soft_mesh import SoftPoints
from phlexible.bodies.string import String
from phlexible.description.ground import may_leave, planar_point
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.state_force import FeedbackPart
from phlexible.description.interactions.surfaces import MeshSurface
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Fixed
from phlexible.description.joints.relations import JointRelation
from phlexible.description.placed_wholes import PlacedWhole, line_parts
from phlexible.description.ports import Attachment, ModelPart, MovingFrame, PlacedBody, Port, shared_data
from phlexible.description.references import nested_values, references
from phlexible.errors import AttachmentError, ModelError, ParameterError, SingularMassError

# Checks of a joint, load, element or drive against the model that it is added to.

Part = Joint | JointRelation | Load | ForceElement | Drive


@cached_on_owner
def ports_of(part: object) -> tuple[Port, ...]:
    """Return the ports on which ``part``, a joint, load, controller or sensor, acts, as a cached tuple. A port is
    a point of a body or of the ground. Ports of joints and elements to which the part refers, and ports that its
    controller measures, are included; of bodies there is any one port each."""
    ports: list[Port] = []
    for each in references(part):
        if isinstance(each, Attachment | MovingFrame):
            ports.append(each)
        elif isinstance(each, Joint):
            ports += each.first, each.second
        elif isinstance(each, ForceElement):
            ports += each.ports
        elif isinstance(each, PlacedBody | PlacedWhole):
            ports += (_any_port(placed) for placed, _ in line_parts(each))
    return tuple(ports)


def joints_of(part: ModelPart | Sensor) -> Iterator[Joint]:
    """Return an iterator over the joints to which ``part`` refers: those in which a spring, motor or drive acts,
    and those that its controller measures."""
    return (reference for reference in references(part) if isinstance(reference, Joint))


def clamped_starts(joint: Joint) -> Iterator[Attachment]:
    """Yield the points of bodies at x = 0 that a ``Fixed`` joint connects; beams clamped there get another
    floating frame. Nothing is yielded for other joints and points."""
    for port in (joint.first, joint.second):
        if isinstance(joint, Fixed) and isinstance(port, Attachment) and port.location in (Start(), Along(0.0)):
            yield port


def check_belongs(part: Part | Sensor, bodies: Mapping[str, PlacedBody], joints: Mapping[int, Joint]) -> None:
    """Raise ModelError if a ``part`` is attached to a body of another model, or acts in a joint that this model
    does not connect. A part is a joint, load, force element or sensor. Bodies and joints are compared by identity.
    ``bodies`` are the model's bodies by name, ``joints`` its joints by their ``id``.

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
    """Raise ``AttachmentError`` if a ``part`` (joint, load, force element) acts where no forces can act. This is
    between two nodes of a string, and on a point of a flexible body that is no interface. Points that a controller
    only measures may be anywhere, except a mean of several nodes of a soft body.

    Raises:
        AttachmentError: the message names the attachment and possible locations.
    """
    ports = [port for port in ports_of(part) if isinstance(port, Attachment)]
    if not any(port.point.is_watched_only or port.placed.nodes is not None for port in ports):
        return
    watched = {each for value in nested_values(part) if isinstance(value, Feedback) for each in references(value)}
    touched = {each.body for each in nested_values(part) if isinstance(each, MeshSurface)}
    for port in ports:
        if port.placed in touched:
            continue
        if port.point.is_watched_only and port not in watched:
            names = ", ".join(map(repr, port.placed.body.port_locations())) or "none"
            raise AttachmentError(
                f"{part}: {port} is not an interface of {port.placed.name}, which has no shapes for forces there; "
                f"joints and loads act on interfaces ({names}): define one there with interfaces="
            )
        if port in watched and _is_between(port) and not port.placed.is_string:
            raise AttachmentError(
                f"{part}: a controller measures nodes of a {port.placed.kind}, {port} is the mean of several"
            )
        if isinstance(port.location, Along) and _is_between(port):
            assert isinstance(port.placed.body, String), "only strings have curves"
            nodes, s = port.placed.body.mesh.nodes, port.location.x
            after = int(np.searchsorted(nodes, s))
            raise AttachmentError(
                f"{part}: {port} lies between two nodes of the string; joints and loads act on nodes, the "
                f"nearest are at({nodes[after - 1]:g}) and at({nodes[after]:g}); take one or other elements="
            )


def _any_port(placed: PlacedBody) -> Attachment:
    """Return a point of a body (``placed``) at which joints and loads may act, for error messages or as a
    representative point. It is the start of a string, the first node of a soft body, the first interface of a
    flexible body, else the origin."""
    if isinstance(placed.body, String):
        return placed.start
    if isinstance(placed.data.points, SoftPoints):
        return placed.node(int(placed.data.points.mesh.nodes[0]))
    if placed.origin.point.is_watched_only and (names := placed.body.port_locations()):
        return placed[next(iter(names))]
    return placed.origin


def _is_between(port: Attachment) -> bool:
    """Return whether a point (``port``) of a body with nodal unknowns (string, soft body) lies between nodes.
    False for other bodies."""
    return port.placed.nodes is not None and port.point.node is None


def check_plane(part: Part, dimension: int) -> None:
    """Raise ``ParameterError`` if points or load values of a ``part`` (joint, load) are outside the plane or line
    of the model. For ``dimension`` 2 this is z = 0, for 1 the x axis. Loads are checked by their values at t = 0.
    A moving frame that was made by a model of more dimensions raises ``ModelError``, since it may leave the plane
    later.

    Raises:
        ParameterError: names the port or the load and the value.
        ModelError: a moving frame of a model in space, which may leave the plane later.
    """
    for entry in part.entries() if isinstance(part, Load) else ():
        along = entry.value.direction if isinstance(entry.value, FeedbackPart) else None
        entry.check_components(entry.at_time(0.0) if along is None else along, dimension)
    for port in ports_of(part):
        position = port.initial_position().tolist() if dimension < 3 else []
        if dimension == 1 and any(position[1:]):
            raise ParameterError(f"{part}: {port} must lie on the x axis (dimension=1), got {position}")
        if dimension == 2 and position[2] != 0:
            raise ParameterError(f"{part}: {port} must have z = 0 in a planar model, got {position}")
        if isinstance(port, MovingFrame) and may_leave(port, dimension):
            where = "in space" if dimension == 2 else "of more dimensions"
            raise ModelError(f"{part}: {port} was made by a model {where}; make it with this model's ground")


# Placement of a body: numbers checked, data in the model's dimension, strings along curves.


def place(
    body: Body,
    name: str,
    dimension: int,
    position: ArrayLike,
    rotation: RotationLike | None,
    velocity: Field | None,
    angular_velocity: ArrayLike | None,
    shape: Field | None,
    equal: PlacedBody | None = None,
) -> PlacedBody:
    """Return a body at its initial pose with its mass and stiffness data, after checks of the arguments of
    ``Mechanism.add``. Data of an ``equal`` body, or of the context ``sharing_data``, are shared instead of
    computed. Strings and soft bodies get initial nodes. Raise errors for positions out of the plane, a ``shape``
    of other bodies, or an angular velocity of a point mass.

    Args:
        equal: a handle of the same description, whose data this one shares unless a joint has clamped it.

    Raises:
        ModelError: an angular velocity of a point mass or string, or a shape of a body that is not a string.
        ParameterError: numbers of a wrong shape, not finite, or out of the plane.
        SingularMassError: a motion of the body carries no kinetic energy.
    """
    origin = planar_point("position", vector("position", position), dimension)
    rotation_ = rotation_matrix(rotation, dimension)
    warn_of_degrees("rotation", rotation, multiple=None)
    if isinstance(body, NodalBody):
        shared = shared_data(body, dimension)
        nodal, points = shared or (body.discretize(dimension), {})
        nodes = body.initial_nodes(dimension, shape, velocity, origin, rotation_)
        if angular_velocity is not None:
            try:
                nodes = body.with_rotation(nodes, _spin(angular_velocity, dimension), origin)
            except ModelError as error:
                raise ModelError(f"{name}: {error}") from None
        placed = PlacedBody(name, body, body, nodal, origin, rotation_, nodes=nodes, points=points)
        check_initial_shape(placed)
        return placed
    if shape is not None:
        raise ModelError(f"{name} is not a string and has no shape; pass position= and rotation=")
    speed = None if velocity is None else single_velocity(name, velocity)
    resolved = body.resolved(is_clamped=False)
    if equal is not None and isinstance(equal.data, FloatingBody) and equal.resolved == resolved:
        resolved, data, points = equal.resolved, equal.data, equal.points
    elif (known := shared_data(resolved, dimension)) is not None and isinstance(known[0], FloatingBody):
        data, points = known[0], known[1]
    else:
        data, points = discretized_floating_body(resolved, name, dimension), {}
    placed = PlacedBody(
        name,
        body,
        resolved,
        data,
        origin,
        rotation_,
        None if speed is None else planar_point("velocity", speed, dimension),
        None if angular_velocity is None else _spin(angular_velocity, dimension),
        points=points,
    )
    if angular_velocity is not None and not placed.data.rotates:
        raise ModelError(f"{name} is a point mass and has no angular velocity, got {angular_velocity!r}")
    return placed


def discretized_floating_body(body: Body, name: str, dimension: int) -> FloatingBody:
    """Return the mass and stiffness data of a body with a floating frame, called ``name`` in messages. Every
    motion of the body is checked to have kinetic energy (a regular mass matrix). ``dimension`` is the number of
    space dimensions of the model (1, 2 or 3).

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


COMPRESSED = 1e-20
"""C of a string that is compressed to 1e-10 of its length; nodes that coincide to round-off have some 1e-28."""


def check_initial_shape(placed: PlacedBody) -> None:
    """Raise ``ParameterError`` if the initial shape of a string or soft body (``placed``) is impossible. An
    element of a string must not have nearly zero length; an element of a soft body must have a positive ratio of
    volumes at all its quadrature points, so that it is neither inverted nor flat. The message names the worst
    element.

    Raises:
        ParameterError: names the element.
    """
    assert isinstance(placed.data, AbsoluteBody), "only strings have nodes"
    for group in placed.data.strains:
        C = strains(placed.data, group, placed.elastic)
        worst = int(C.argmin())
        if not C[worst] > COMPRESSED:
            raise ParameterError(
                f"{placed.name}: the shape must not compress element {group.elements[worst]} to zero length "
                f"(C = |dr/ds|^2 = {C[worst]:.3g}); neighbouring nodes need a distance"
            )
    for elements in placed.data.elements:
        volumes = least_volumes(elements, placed.elastic.reshape(-1, placed.data.dimension))
        if not volumes.min() > 0:
            raise ParameterError(
                f"{placed.name}: the shape must not invert element {int(volumes.argmin())} or make it "
                f"flat (its volume is {volumes.min():.3g} of the undeformed one)"
            )


def single_velocity(name: str, velocity: Field) -> Array:
    """Return the initial velocity of a body's origin from the user's argument ``velocity``, shape (3,) [m/s].
    ModelError is raised for a function of position, which only strings and rods accept. ``name`` is the name of
    the body.

    Raises:
        ModelError: a function.
        ParameterError: no three finite numbers.
    """
    if callable(velocity):
        raise ModelError(f"{name} is not a string: velocity is that of its origin, three numbers")
    return vector("velocity", velocity)


def _spin(value: ArrayLike, dimension: int) -> Array:
    spin = vector("angular_velocity", value)
    if dimension == 2 and spin[:2].any():
        raise ParameterError(f"angular_velocity must be (0, 0, w_z) in a planar model (dimension=2), got {value!r}")
    return spin
