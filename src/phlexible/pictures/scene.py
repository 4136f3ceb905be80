"""Mechanisms to be drawn, from models, recorded runs and modes: skins, poses, symbols, arrows, colours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.flexible.skin import von_mises
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import velocity_components
from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.bodies.skin import Skin, solid_skin
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import Bushing, ForceElement, JointElement, SpringDamper
from phlexible.description.interactions.functions import KinematicPair
from phlexible.description.interactions.loads import Axes, Load, PointLoad, SurfacePressure, Torque
from phlexible.description.interactions.surfaces import Capsule, Plane, Surface, Touchable
from phlexible.description.interactions.tendon import Tendon
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import AxialJoint, Distance, Fixed, Planar, Revolute, Universal
from phlexible.description.joints.rolling import RollingCondition, RollingRow
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.elements.line_functions import gauss
from phlexible.errors import ModelError, PhlexibleError
from phlexible.linear.linearize import Linearization
from phlexible.measure.reactions import tension
from phlexible.measure.section_forces import section_forces, stress
from phlexible.shapes.solids import BALL, BOX_TRIANGLES
from phlexible.shapes.surfaces import Triangulation, frame_along, revolved
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.system import moving_frames

# Colours of bodies that have none of their own.

PALETTE = ("#0b5394", "#d1541b", "#2f8f5b", "#8e4a9e", "#c9a227", "#3aa5b8", "#b03a5b", "#6b6b6b")
"""Told apart also by readers who do not tell red from green."""


def body_colors(bodies: Sequence[PlacedBody], wholes: Sequence[str]) -> list[str]:
    """Return a colour "#rrggbb" for each of the ``bodies``: the user's, else one of a palette of eight. For up to
    eight names in ``wholes`` (the rod or divided beam of each body, or its own name) each name has its colour.
    With more names, bodies made from one description have the same colour, and colours repeat."""
    names = list(dict.fromkeys(wholes))
    if len(names) <= len(PALETTE):
        keys: list[object] = list(wholes)
    else:
        keys = [id(placed.body) for placed in bodies]
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    own = [placed.body.paint for placed in bodies]
    return [
        paint if paint is not None else PALETTE[order[key] % len(PALETTE)]
        for paint, key in zip(own, keys, strict=True)
    ]


class SymbolKind(Enum):
    """Meaning of a small symbol in a picture."""

    GROUND = "ground"
    MOVING_FRAME = "moving frame"
    FIXED = "fixed"
    PIN = "revolute"
    BALL = "spherical"
    CROSS = "universal"
    RAIL = "slider"
    PLANE = "planar"
    LINK = "distance"
    SPRING = "spring"
    DAMPER = "damper"
    BUSHING = "bushing"
    MOTOR = "motor"
    ACTUATOR = "actuator"
    TORSION_SPRING = "torsion spring"


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point of a body, of a moving frame or of the world, with axes.

    Attributes:
        body: its number in the scene; None: not on a body.
        frame: number of the moving frame; None: not on one.
        position: in the undeformed body; from the origin of the frame; in the world, shape (3,) [m].
        shapes: of the body's elastic coordinates there, shape (3, n).
        turns: small rotation there, shape (3, n).
    """

    body: int | None
    frame: int | None
    position: Array
    shapes: Array
    turns: Array


@dataclass(frozen=True, eq=False)
class Symbol:
    """A joint, the ground, a spring, a drive.

    Attributes:
        kind: what it is.
        label: of the part that it stands for.
        anchor: where it is; it turns with it.
        axis: unit vector in the axes of the anchor, shape (3,); zero where it has none.
        other: far end of a link or spring; None: it has none.
    """

    kind: SymbolKind
    label: str
    anchor: Anchor
    axis: Array
    other: Anchor | None = None


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force or a torque at k instants.

    Attributes:
        label: of the load.
        anchor: where it acts.
        is_torque: an arrow around itself.
        values: world axes, shape (k, 3) [N or N m].
    """

    label: str
    anchor: Anchor
    is_torque: bool
    values: Array


@dataclass(frozen=True, eq=False)
class NodeField:
    """Numbers by which a body can be coloured, at k instants.

    Attributes:
        name: of the quantity.
        unit: SI.
        values: at the nodes of its skin, shape (k, N).
    """

    name: str
    unit: str
    values: Array


@dataclass(frozen=True, eq=False)
class DrawnBody:
    """One body at k instants.

    Attributes:
        name: of the body.
        whole: name of the beam that it is a part of, or its own.
        kind: class of its description.
        color: "#rrggbb".
        skin: its surface, lines and balls.
        origins: of the body frame, world axes, shape (k, 3) [m].
        rotations: body to world, shape (k, 3, 3).
        eta: elastic coordinates, shape (k, n); of a body in absolute coordinates the places of its nodes.
        is_nodal: whether it is one, so that deformations cannot be enlarged.
        anchor: that carries it, of what is no body of the model.
        is_rigid: whether it has no elastic coordinates.
    """

    name: str
    whole: str
    kind: str
    color: str
    skin: Skin
    origins: Array
    rotations: Array
    eta: Array
    is_nodal: bool
    anchor: Anchor | None = None

    @property
    def is_rigid(self) -> bool:
        """Return whether this body of a drawn scene has no elastic coordinates, so that it does not deform."""
        return not self.eta.shape[1]

    def positions(self, positions: Array, shapes: Array, scale: float = 1.0) -> Array:
        """Return world positions of N material points of this body at all k instants, shape (k, N, 3) [m].
        They are given by undeformed ``positions`` (N, 3) and shape functions (N, 3, n); ``scale`` enlarges
        deformations."""
        factor = 1.0 if self.is_nodal else scale
        local = positions + factor * np.einsum("pin,tn->tpi", shapes, self.eta)
        return np.asarray(np.einsum("tij,tpj->tpi", self.rotations, local) + self.origins[:, None])

    def nodes(self, scale: float = 1.0) -> Array:
        """Return world positions of the nodes of this body's drawn shape at all k instants, shape (k, N, 3) [m];
        ``scale`` enlarges deformations."""
        local = self.skin.node_positions(self.eta, 1.0 if self.is_nodal else scale)
        return np.asarray(np.einsum("tij,tpj->tpi", self.rotations, local) + self.origins[:, None])

    def vertices(self, scale: float = 1.0) -> Array:
        """Return world positions [m] of the v vertices of this body's drawn surface at all k instants, shape (k,
        v, 3). They are node positions plus offsets that rotate with the body and with the small elastic rotation
        of the node. ``scale`` enlarges elastic displacements and rotations."""
        skin = self.skin
        if skin.coordinates is not None:
            return self.nodes(scale)[:, skin.vertex_nodes]
        if self.is_rigid:
            carried = skin.offsets @ self.rotations.transpose(0, 2, 1)
        else:
            turns = scale * np.einsum("pin,tn->tpi", skin.rotations, self.eta)[:, skin.vertex_nodes]
            carried = np.einsum("tij,tpj->tpi", self.rotations, skin.offsets + cross(turns, skin.offsets))
        return np.asarray(self.nodes(scale)[:, skin.vertex_nodes] + carried)


@dataclass(eq=False)
class _Box:
    """Around all finite points so far; many bodies at many instants are not kept at once."""

    low: Array = field(default_factory=lambda: np.full(3, np.inf))
    high: Array = field(default_factory=lambda: np.full(3, -np.inf))

    def include(self, points: Array) -> None:
        """Enlarge this bounding box so that it contains the given ``points`` (..., 3). Points that are not finite
        are ignored."""
        flat = points.reshape(-1, 3)
        flat = flat[np.isfinite(flat).all(axis=1)]
        self.low = np.minimum(self.low, flat.min(axis=0, initial=np.inf))
        self.high = np.maximum(self.high, flat.max(axis=0, initial=-np.inf))


@dataclass(frozen=True, eq=False)
class Scene:
    """A mechanism at k instants, world axes.

    Attributes:
        dimension: 2 in the xy plane and on a line, 3 in space.
        gravity: acceleration, shape (3,) [m/s^2].
        time: shape (k,) [s].
        bodies: those with a frame, then strings.
        frames: origins of moving frames, shape (k, f, 3) [m].
        frame_turns: their turns since t = 0, shape (k, f, 3, 3).
        paths: of the moving frames over the whole motion, shape (points, f, 3) [m].
        symbols: joints, ground, springs, drives.
        arrows: forces and torques.
        surfaces: what bodies touch, where no body shows it.
    """

    dimension: int
    gravity: Array
    time: Array
    bodies: tuple[DrawnBody, ...]
    frames: Array
    frame_turns: Array
    paths: Array
    symbols: tuple[Symbol, ...]
    arrows: tuple[Arrow, ...]
    surfaces: tuple[DrawnBody, ...] = ()

    def positions(self, anchor: Anchor, scale: float = 1.0) -> Array:
        """Return world positions [m] of a point ``anchor`` at all k instants of this scene, shape (k, 3). The
        point is fixed to a body, a moving frame or the world. ``scale`` enlarges elastic displacements of bodies.
        A moving frame is a point of the ground with prescribed motion; a point of the world has constant rows."""
        if anchor.body is not None:
            return self.bodies[anchor.body].positions(anchor.position[None], anchor.shapes[None], scale)[:, 0]
        if anchor.frame is not None:
            turned = np.einsum("tij,j->ti", self.frame_turns[:, anchor.frame], anchor.position)
            return np.asarray(self.frames[:, anchor.frame] + turned)
        return np.tile(anchor.position, (len(self.time), 1))

    def directions(self, anchor: Anchor, axis: Array, scale: float = 1.0) -> Array:
        """Return world components of a direction at all k instants of this scene, shape (k, 3). ``axis`` has its
        components in the axes of the body or moving frame of ``anchor``, with which the direction rotates.
        ``scale`` enlarges elastic rotations, which are linearized. For a point of the world the direction is
        constant."""
        if anchor.body is not None:
            body = self.bodies[anchor.body]
            turned = axis + scale * cross(np.einsum("in,tn->ti", anchor.turns, body.eta), axis)
            return np.asarray(np.einsum("tij,tj->ti", body.rotations, turned))
        if anchor.frame is not None:
            return np.asarray(np.einsum("tij,j->ti", self.frame_turns[:, anchor.frame], axis))
        return np.tile(axis, (len(self.time), 1))

    @cached_property
    def corners(self) -> tuple[Array, Array]:
        """Return the lowest and highest world coordinates of everything drawn in this scene over all its instants,
        two arrays of shape (3,) [m]. Bodies, surfaces, symbols and paths of moving frames count; straight guides
        of sliders, which are drawn as wide as the picture, do not."""
        ends = _Box()
        ends.include(self.paths)
        for body in (*self.bodies, *self.surfaces):
            ends.include(body.nodes())
            if body.skin.has_surface:
                ends.include(body.vertices())
        for symbol in self.symbols:
            if symbol.kind is not SymbolKind.RAIL:
                ends.include(self.positions(symbol.anchor))
        return ends.low, ends.high

    @cached_property
    def size(self) -> float:
        """Return the longest edge of the box around everything in this scene over all its instants [m]; 1 where
        all is at one point."""
        low, high = self.corners
        return float((high - low).max()) or 1.0

    @cached_property
    def reach(self) -> float:
        """Return the longest edge of the box around everything in this scene at its first instant [m], to which
        sizes of symbols are relative.

        A mechanism that flies far is not its path.
        """
        first = [body.nodes()[0] for body in self.bodies]
        first += [body.vertices()[0] for body in self.bodies if body.skin.has_surface]
        everything = np.concatenate([*first, *(self.positions(s.anchor)[:1] for s in self.symbols)])
        return float(np.ptp(everything, axis=0).max()) or self.size

    @cached_property
    def greatest_load(self) -> tuple[float, float]:
        """Return the largest force [N] and largest torque [N m] in this scene over all its instants."""
        largest_loads = [0.0, 0.0]
        for arrow in self.arrows:
            largest = float(np.linalg.norm(arrow.values, axis=1).max(initial=0.0))
            largest_loads[arrow.is_torque] = max(largest_loads[arrow.is_torque], largest)
        return largest_loads[0], largest_loads[1]


# Ports of a mechanism as anchors of a scene.

NOTHING = np.zeros((3, 0))


@dataclass(frozen=True, eq=False)
class Anchors:
    """Numbers of bodies and moving frames."""

    bodies: dict[PlacedBody, int]
    frames: dict[MovingFrame, int]

    @classmethod
    def of(cls, mechanism: Mechanism) -> Self:
        """Return the indices of all bodies and moving frames of a mechanism, as ``Anchors``. Points of a drawn
        scene refer to these indices."""
        bodies = {placed: index for index, placed in enumerate(mechanism.bodies)}
        return cls(bodies, {frame: index for index, frame in enumerate(moving_frames(mechanism))})

    def anchor(self, port: Port) -> Anchor:
        """Return the point of a drawn scene (``Anchor``) that belongs to a ``port`` of the mechanism: a point of a
        body, a moving frame or a ground point."""
        if isinstance(port, Attachment):
            point = port.point
            turns = np.zeros_like(point.shapes) if point.rotations is None else point.rotations
            return Anchor(self.bodies[port.placed], None, point.position, point.shapes, turns)
        if port.is_fixed:
            return Anchor(None, None, port.initial_position(), NOTHING, NOTHING)
        return Anchor(None, self.frames[port], np.zeros(3), NOTHING, NOTHING)

    def direction(self, port: Port, axis: Array) -> Array:
        """Convert a direction in world axes at t = 0 to the axes of the body that a ``port`` is on, shape
        (3,); unchanged without a body frame."""
        if isinstance(port, Attachment) and port.placed.nodes is None:
            return np.asarray(port.placed.rotation.T @ axis)
        return axis


# Forces and torques of loads as arrows.

MOST_ARROWS = 13
"""Largest number of arrows of a load that acts at many points."""


def arrows(mechanism: Mechanism, anchored: Anchors, scene: Scene) -> Iterator[Arrow]:
    """Yield the arrows (point of action and values over time) of all forces and torques of a ``mechanism`` with
    known values in a ``scene``. Values in body axes are rotated to world axes. ``anchored`` gives the body or
    frame of each point. Loads by controllers, loads by functions that a file does not store, and zero loads are
    left out. A distributed load has at most 13 arrows."""
    for load in mechanism.loads:
        for entry in _some(load):
            values = _values(entry, scene.time)
            if values is None or not values.any():
                continue
            anchor = anchored.anchor(entry.attachment)
            if entry.axes is Axes.BODY:
                values = _body_to_world(scene, anchor, values)
            yield Arrow(str(load), anchor, isinstance(entry, Torque), values)


def _some(load: Load) -> list[PointLoad]:
    entries = load.entries()
    if len(entries) <= MOST_ARROWS:
        return list(entries)
    picked = np.linspace(0, len(entries) - 1, MOST_ARROWS).round().astype(int)
    return [entries[k] for k in picked]


def _values(entry: PointLoad, time: Array) -> Array | None:
    """Return the force or moment vectors of a load ``entry`` at each time of ``time`` [s], shape (k, 3) for k
    times. The load's function of time is called for each. Return None for a load by a controller, for a surface
    pressure (a scalar), and for a function that the results file does not store."""
    if isinstance(entry.value, Feedback) or isinstance(entry, SurfacePressure):
        return None
    try:
        return np.array([entry.at_time(float(t)) for t in time]).reshape(-1, 3)
    except ModelError:
        return None


def _body_to_world(scene: Scene, anchor: Anchor, values: Array) -> Array:
    """Convert the vectors ``values`` (k, 3) from the axes of the body of ``anchor`` to world axes, shape (k,
    3). They belong to all k instants of a scene."""
    axes = np.stack([scene.directions(anchor, axis) for axis in np.eye(3)], axis=2)
    return np.asarray(np.einsum("tij,tj->ti", axes, values))


# Small symbols for joints, ground, springs and drives.

NO_AXIS = np.zeros(3)


def symbols(mechanism: Mechanism, anchors: Anchors, wholes: Sequence[str]) -> Iterator[Symbol]:
    """Yield the symbols (markers, springs, guides) of all joints, force elements and drives of a mechanism for a
    scene. Joints between parts of one beam have none. ``anchors`` gives the body or frame of each point,
    ``wholes`` the name of the rod or beam to which each body belongs."""
    grounded: set[MovingFrame] = set()
    for joint in mechanism.joints:
        if not _is_cut(joint, anchors, wholes):
            yield from _of_joint(joint, anchors, grounded)
    for element in mechanism.applied_elements:
        yield from _of_element(element, anchors)
    for drive in mechanism.drives:
        yield _moving(str(drive), drive.joint, drive.coordinate, anchors)


def axis_of(joint: KinematicPair) -> Array:
    """Return the unit axis of a joint in world axes at the initial pose, shape (3,); zero for joints without
    one."""
    match joint:
        case AxialJoint():
            return joint.unit_axis()
        case Universal():
            axis = np.asarray(joint.axis, dtype=np.float64)
            return np.asarray(axis / np.linalg.norm(axis))
    return NO_AXIS


def _of_joint(joint: Joint, anchors: Anchors, grounded: set[MovingFrame]) -> Iterator[Symbol]:
    kind = _kind(joint)
    for port in (joint.first, joint.second):
        if isinstance(port, MovingFrame) and port not in grounded and kind is not SymbolKind.RAIL:
            grounded.add(port)
            symbol = SymbolKind.GROUND if port.is_fixed else SymbolKind.MOVING_FRAME
            yield Symbol(symbol, str(port), anchors.anchor(port), NO_AXIS)
    axis = anchors.direction(joint.first, axis_of(joint))
    other = anchors.anchor(joint.second) if isinstance(joint, Distance) or kind is SymbolKind.RAIL else None
    yield Symbol(kind, str(joint), anchors.anchor(joint.first), axis, other)


def _kind(joint: Joint) -> SymbolKind:
    match joint:
        case Fixed():
            return SymbolKind.FIXED
        case Revolute():
            return SymbolKind.PIN
        case Planar():
            return SymbolKind.PLANE
        case AxialJoint():
            return SymbolKind.RAIL
        case Universal():
            return SymbolKind.CROSS
        case Distance():
            return SymbolKind.LINK
    return SymbolKind.BALL


def _of_element(element: ForceElement, anchored: Anchors) -> Iterator[Symbol]:
    anchors = [anchored.anchor(port) for port in element.ports]
    first, second = anchors[0], anchors[-1]
    match element:
        case Tendon():
            for one, other in pairwise(anchors):
                yield Symbol(SymbolKind.LINK, str(element), one, NO_AXIS, other)
        case JointElement():
            if element.is_active:
                yield _moving(str(element), element.joint, element.coordinate, anchored)
            elif element.coordinate.endswith("angle"):
                yield _in_joint(SymbolKind.TORSION_SPRING, str(element), element.joint, anchored)
            else:
                kind = SymbolKind.SPRING if element.stiffness or element.potential else SymbolKind.DAMPER
                yield Symbol(kind, str(element), first, NO_AXIS, second)
        case Bushing():
            yield Symbol(SymbolKind.BUSHING, str(element), first, NO_AXIS)
        case SpringDamper():
            kind = SymbolKind.SPRING if element.stiffness or element.potential else SymbolKind.DAMPER
            yield Symbol(kind, str(element), first, NO_AXIS, second)


def _moving(label: str, joint: KinematicPair, coordinate: str, anchors: Anchors) -> Symbol:
    """Return the drawn symbol, with the name ``label``, of a drive or motor that rotates a joint or moves it
    along its axis. ``coordinate`` is the driven joint coordinate, ``anchors`` gives the indices of bodies."""
    if coordinate.endswith("angle"):
        return _in_joint(SymbolKind.MOTOR, label, joint, anchors)
    return Symbol(SymbolKind.ACTUATOR, label, anchors.anchor(joint.second), NO_AXIS, anchors.anchor(joint.first))


def _in_joint(kind: SymbolKind, label: str, joint: KinematicPair, anchors: Anchors) -> Symbol:
    axis = anchors.direction(joint.first, axis_of(joint))
    return Symbol(kind, label, anchors.anchor(joint.first), axis)


def _is_cut(joint: Joint, anchors: Anchors, wholes: Sequence[str]) -> bool:
    """Return whether a joint connects two segments of the same divided beam. ``wholes`` are the names of the rod
    or divided beam that each body belongs to, ``anchors`` gives the indices of bodies."""
    ports = joint.first, joint.second
    bodies = [anchors.bodies[port.placed] for port in ports if isinstance(port, Attachment)]
    return len(bodies) == 2 and wholes[bodies[0]] == wholes[bodies[1]]


# What bodies touch: planes, and surfaces of shapes where nothing else shows them.

PAINT = "#9a9a9a"
THIN = 0.006
"""Thickness of the slab that is drawn for a plane, as a share of the scene."""
LEAST = 0.3
"""Least half edge of this slab, as a share of the scene."""
MARGIN = 1.08
KIND = "Surface"


def touched_surfaces(mechanism: Mechanism, anchors: Anchors, scene: Scene) -> Iterator[DrawnBody]:
    """Yield the contact planes and contact shapes of a mechanism as bodies to be drawn, each once. Shapes of
    bodies that are drawn anyway are left out. ``anchors`` gives the indices of bodies and frames in the
    ``scene``."""
    contacts = [element for element in mechanism.applied_elements if isinstance(element, Contact)]
    rolling = [row for row in mechanism.relations if isinstance(row, RollingRow) and row.component == HEIGHT]
    touched = [part for each in contacts for part in each.parts if isinstance(part, Touchable)]
    touched += [Plane(row.first, row.normal) for row in rolling]
    known: set[object] = set()
    for surface in touched:
        if _key(surface) not in known and not _shows_itself(surface):
            known.add(_key(surface))
            yield _drawn(surface, anchors, scene)


HEIGHT = RollingCondition.HEIGHT.value


def _key(surface: Touchable) -> object:
    """Return a key by which each contact surface is drawn once. It is equal for contact planes that are the same
    plane; other surfaces are their own keys."""
    if isinstance(surface, Plane):
        port = surface.port
        anchor = port.placed if isinstance(port, Attachment) else tuple(np.round(port.initial_position(), 12))
        return anchor, tuple(np.round(surface.unit_normal(), 12))
    return surface


def _shows_itself(surface: Touchable) -> bool:
    """Return whether a body that carries the contact shape ``surface`` is drawn with a shape of its own. The
    surface then need not be drawn. The result is False for planes, and for point masses and rigid bodies without a
    shape."""
    if isinstance(surface, Plane):
        return False
    carriers = [port.placed.body for port in surface.ports if isinstance(port, Attachment)]
    return any(not isinstance(body, PointMass | RigidBody) or _has_shape(body) for body in carriers)


def _has_shape(body: PointMass | RigidBody) -> bool:
    return isinstance(body, RigidBody) and body.shape is not None


def _drawn(surface: Touchable, anchors: Anchors, scene: Scene) -> DrawnBody:
    match surface:
        case Surface():
            triangles = surface.shape.centred()
            name = f"surface about {surface.port}"
        case Capsule():
            triangles = _capsule(surface, anchors)
            name = f"capsule from {surface.start} to {surface.end}"
        case _:
            assert isinstance(surface, Plane), "what is left"
            triangles = _slab(surface, anchors, scene)
            name = f"plane through {surface.port}"
    anchor = anchors.anchor(surface.carrier)
    axes = np.stack([scene.directions(anchor, axis) for axis in np.eye(3)], axis=2)
    origins, nothing = scene.positions(anchor), np.zeros((len(scene.time), 0))
    return DrawnBody(name, name, KIND, PAINT, solid_skin(triangles), origins, axes, nothing, False, anchor)


def _capsule(capsule: Capsule, anchors: Anchors) -> Triangulation:
    """Return the triangulated surface of a capsule (cylinder with hemispherical ends) relative to its start point,
    in body axes. The profile is revolved about the capsule's axis at the initial state, whose direction
    ``anchors`` converts from world axes to the axes of the body to which the capsule is fixed."""
    axis = capsule.end.initial_position() - capsule.start.initial_position()
    length, radius = float(np.linalg.norm(axis)), capsule.radius
    polar = np.linspace(0.0, np.pi / 2, BALL // 4 + 1)
    rounded = radius * np.stack([-np.cos(polar), np.sin(polar)], axis=1)
    rounded[0, 1] = 0.0
    profile = np.concatenate([rounded, np.array([length, 0.0]) + rounded[::-1] * np.array([-1.0, 1.0])])
    return revolved(profile, anchors.direction(capsule.start, axis / length), BALL)


def _slab(plane: Plane, anchors: Anchors, scene: Scene) -> Triangulation:
    """Return a thin box of triangles that represents a contact ``plane`` in pictures, relative to its point. On
    fixed ground the box is a little wider than all bodies of the ``scene`` over all instants. On a body or a
    moving frame it is as wide as the scene; planar scenes get a thin depth. ``anchors`` gives the body or frame to
    which the plane is fixed."""
    normal = anchors.direction(plane.port, plane.unit_normal())
    frame = frame_along(normal)
    if scene.dimension == 2:  # as deep as the rest
        frame = np.stack([normal, np.cross([0.0, 0.0, 1.0], normal), [0.0, 0.0, 1.0]], axis=1)
    anchor = anchors.anchor(plane.port)
    if anchor.body is None and anchor.frame is None:
        low, high = scene.corners
        ends = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3)
        across = (ends - anchor.position) @ frame[:, 1:]
        middle, half = (across.max(axis=0) + across.min(axis=0)) / 2, np.ptp(across, axis=0) / 2
    else:
        middle, half = np.zeros(2), np.full(2, 0.5 * scene.reach)
    half = np.maximum(MARGIN * half, LEAST * scene.size)
    if scene.dimension == 2:
        middle[1], half[1] = 0.0, THIN * scene.size
    thick = THIN * scene.size
    signs = np.array([[x, y, z] for x in (-1.0, 0.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    corners = np.column_stack([thick * signs[:, 0], middle + half * signs[:, 1:]])
    return Triangulation(corners @ frame.T, BOX_TRIANGLES)


# Scenes of models before a run, and of recorded runs.

Pose = tuple[Array, Array, Array]
"""Origins (k, 3) [m], rotations (k, 3, 3) and elastic coordinates (k, n) of a body."""

PATH_POINTS = 240
"""At least this many points draw the path of a moving frame, however few instants are stored."""


def scene_at_start(mechanism: Mechanism) -> Scene:
    """Return the scene (drawn bodies, symbols and loads) of a model ``mechanism`` as the user placed its bodies,
    undeformed. It has the single instant t = 0. Strings and soft bodies are at their initial nodal positions."""
    poses = []
    for placed in mechanism.bodies:
        if placed.nodes is None:
            poses.append((placed.position[None], placed.rotation[None], placed.elastic[None]))
        else:
            poses.append((np.zeros((1, 3)), np.eye(3)[None], placed.elastic[None]))
    return posed_scene(mechanism, np.zeros(1), poses)


def scene_of(run: RecordedRun, instants: IntArray) -> Scene:
    """Return the scene (drawable states) of a recorded run at the stored instants with the given indices."""
    record, poses = run.recording, _poses(run.at(instants), len(instants))
    time, frames, turns = record.time[instants], record.frames[instants], record.frame_rotations[instants]
    return _scene(run.mechanism, time, poses, frames, turns, _frame_paths(run))


def moved_scene(scene: Scene, run: RecordedRun, instants: IntArray) -> Scene:
    """Return a copy of a ``scene`` in which the bodies, frames and surfaces are at other ``instants`` of a
    recorded run of the same model. Drawn shapes of bodies are not built anew; load arrows are left out."""
    picked, record = run.at(instants), run.recording
    bodies = tuple(
        replace(drawn, origins=origins, rotations=rotations, eta=eta)
        for drawn, (origins, rotations, eta) in zip(scene.bodies, _poses(picked, len(instants)), strict=True)
    )
    frames, turns = record.frames[instants], record.frame_rotations[instants]
    moved = replace(scene, time=record.time[instants], bodies=bodies, frames=frames, frame_turns=turns, arrows=())
    return replace(moved, surfaces=tuple(touched_surfaces(run.mechanism, Anchors.of(run.mechanism), moved)))


def posed_scene(mechanism: Mechanism, time: Array, poses: Sequence[Pose]) -> Scene:
    """Return the scene (drawable states) of a mechanism in given ``poses`` of all its bodies at the instants
    ``time`` (k,) [s]. Moving frames are where they are at t = 0.

    Args:
        mechanism: what is drawn.
        time: shape (k,) [s].
        poses: of each body: origins (k, 3) [m], rotations (k, 3, 3), elastic coordinates (k, n).
    """
    moving, count = moving_frames(mechanism), len(time)
    frames = np.array([frame.initial_position() for frame in moving]).reshape(1, -1, 3)
    turns = np.tile(np.eye(3), (count, len(moving), 1, 1))
    return _scene(mechanism, time, poses, np.tile(frames, (count, 1, 1)), turns, frames)


def _poses(run: RecordedRun, count: int) -> list[Pose]:
    """Return for each body of a recorded run the tuple of origins (k, 3) [m], rotation matrices (k, 3, 3) and
    elastic coordinates (k, n). k is the number ``count`` of instants, n the body's number of coordinates. Strings
    and soft bodies, whose coordinates are node positions, have zero origins and unit rotations."""
    poses = []
    for index, placed in enumerate(run.system.bodies):
        if placed.nodes is None:
            poses.append((run.reference_point(index), run.recording.rotation[:, index], run.elastic(index)))
        else:
            still = np.tile(np.eye(3), (count, 1, 1))
            poses.append((np.zeros((count, 3)), still, run.elastic(index)))
    return poses


def _scene(
    mechanism: Mechanism, time: Array, poses: Sequence[Pose], frames: Array, turns: Array, paths: Array
) -> Scene:
    positions = Anchors.of(mechanism)
    parts = {placed: whole.name for whole in mechanism.wholes.values() for placed in whole.parts}
    wholes = [parts.get(placed, placed.name) for placed in mechanism.bodies]
    colors = body_colors(mechanism.bodies, wholes)
    drawn = [
        DrawnBody(placed.name, whole, type(placed.body).__name__, color, skin, *pose, placed.nodes is not None)
        for placed, whole, color, skin, pose in zip(
            mechanism.bodies, wholes, colors, _skins(mechanism), poses, strict=True
        )
    ]
    without = Scene(
        max(mechanism.dimension, 2),  # a line is drawn in a plane
        mechanism.gravity,
        time,
        tuple(drawn),
        frames,
        turns,
        paths,
        tuple(symbols(mechanism, positions, wholes)),
        (),
    )
    found = tuple(arrows(mechanism, positions, without))
    return replace(without, arrows=found, surfaces=tuple(touched_surfaces(mechanism, positions, without)))


def _skins(mechanism: Mechanism) -> list[Skin]:
    """Return the skin (drawn surface and lines) of each body of a mechanism as a list, in the order of the bodies.
    Bodies with equal description and equal joint positions have the same object."""
    ports_of, known, skins = _joint_positions(mechanism), dict[object, Skin](), []
    for placed in mechanism.bodies:
        ports = np.array(ports_of.get(placed, [])).reshape(-1, 3)
        key = id(placed.resolved), id(placed.data), ports.tobytes()
        if key not in known:
            known[key] = placed.resolved.skin(placed.data, ports)
        skins.append(known[key])
    return skins


def _joint_positions(mechanism: Mechanism) -> dict[PlacedBody, list[Array]]:
    """Return a dictionary from each body of a ``mechanism`` to the points in body axes [m] at which joints and
    force elements act. The drawn shape of a body is extended to these points. Bodies without joints and elements
    have no entry."""
    pairs: list[Sequence[Port]] = [(joint.first, joint.second) for joint in mechanism.joints]
    pairs += [element.ports for element in mechanism.applied_elements]
    positions: dict[PlacedBody, list[Array]] = {}
    for port in (port for pair in pairs for port in pair if isinstance(port, Attachment)):
        positions.setdefault(port.placed, []).append(port.point.position)
    return positions


def _frame_paths(run: RecordedRun) -> Array:
    """Return smooth paths of the moving frames (points of the ground with prescribed motion) over a recorded run,
    shape (points, frames, 3) [m]. Between stored instants, cubic Hermite polynomials through positions and
    velocities add equally spaced points, at least 240 in all. The stored positions are returned if there is one
    instant or no frame."""
    time, positions = run.recording.time, run.recording.frames
    if len(time) < 2 or not positions.shape[1]:
        return positions
    from scipy.interpolate import CubicHermiteSpline

    shares = np.linspace(0.0, 1.0, 1 - (-PATH_POINTS // (len(time) - 1)))[:-1]
    inside = time[:-1, None] + np.diff(time)[:, None] * shares
    fine = np.append(inside.ravel(), time[-1])
    return np.asarray(CubicHermiteSpline(time, positions, run.recording.frame_velocities)(fine))


# Scenes of small motions: each mode through one period.

ComplexArray = NDArray[np.complex128]
PHASES = 24
RELATIVE_AMPLITUDE = 0.1  # of the extent of the model
LARGEST_TURN = 0.6  # [rad], of a body that turns about itself


def scene_of_modes(linear: Linearization, shapes: Sequence[Array | ComplexArray]) -> Scene:
    """Return a scene in which the mode ``shapes`` of the model ``linear`` move one after the other, each
    through one period; its time counts periods. Each shape is rotated in the complex plane to be as real as
    possible. Its largest displacement is a fixed fraction of the model's extent, or less if a rotation would
    become too large."""
    phases = np.linspace(0.0, 1.0, PHASES + 1)
    still = _scene_of_mode(linear, [np.zeros(len(shapes[0]), dtype=np.complex128)], np.zeros(1))
    extent = still.size
    scaled = []
    for shape in shapes:
        turned = most_real(shape)
        size = _displacement_size(linear, still, turned)
        turn = largest_turn(linear, turned)
        away = RELATIVE_AMPLITUDE * extent / size if size > 1e-6 * turn * extent and size else np.inf
        scaled.append(turned * min(away, LARGEST_TURN / turn if turn else np.inf, 1e12))
    return _scene_of_mode(linear, scaled, phases)


def _scene_of_mode(linear: Linearization, shapes: Sequence[ComplexArray], phases: Array) -> Scene:
    """Return a scene (bodies with their poses over time) that plays the given mode ``shapes`` of the model
    ``linear`` one after the other. Each complex shape is multiplied by exp(2 pi i phase); the real part displaces
    the bodies from the point of linearization. ``phases`` are fractions of a period."""
    waves = np.exp(2j * np.pi * phases)
    motion = np.concatenate([(waves[:, None] * shape).real for shape in shapes])  # (k, coordinates)
    time = np.concatenate([number * (1.0 + 1.0 / PHASES) + phases for number in range(len(shapes))])
    system, state, poses = linear.system, linear.point.state, []
    for index, placed in enumerate(system.bodies):
        begin, end = system.layout.velocity[index : index + 2]
        own, eta = motion[:, begin:end], system.elastic(state, index)
        count = len(motion)
        if not isinstance(placed.data, FloatingBody):
            poses.append((np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)), eta + own))
            continue
        full = np.zeros((count, 6 + placed.data.elastic_count))
        full[:, velocity_components(placed.data)] = own
        rotation = state.rotation[index]
        origin = state.position[index] - rotation @ system.centres[index] @ np.concatenate([[1.0], eta])
        turned = rotation @ Rotation.from_rotvec(full[:, 3:6]).as_matrix()
        poses.append((origin + full[:, :3] @ rotation.T, turned, eta + full[:, 6:]))
    return posed_scene(system.mechanism, time, poses)


def _displacement_size(linear: Linearization, still: Scene, shape: ComplexArray) -> float:
    """Return the largest displacement [m] of a drawn node in the complex mode ``shape`` of the model ``linear`` at
    phase zero. Pictures scale the mode by it. It is computed for a tiny multiple of the shape and divided by that
    factor, so that rotations stay linear. ``still`` is the scene at rest."""
    small = 1e-6 / max(float(np.abs(shape).max()), 1e-300)
    moved = _scene_of_mode(linear, [small * shape], np.zeros(1))
    away = [
        np.linalg.norm(m.nodes() - s.nodes(), axis=2).max() for m, s in zip(moved.bodies, still.bodies, strict=True)
    ]
    return float(max(away)) / small


def most_real(shape: Array | ComplexArray) -> ComplexArray:
    """Return a complex mode shape multiplied by the phase factor that makes its real part largest, so that it shows
    at phase 0."""
    # sum (shape e^{-i a})^2 is real and positive for this a, so the real part is the larger one
    full = np.asarray(shape, dtype=np.complex128)
    return np.asarray(full * np.exp(-0.5j * np.angle(np.sum(full**2))))


def largest_turn(linear: Linearization, shape: ComplexArray) -> float:
    """Return the largest absolute component of the rigid rotations of all bodies in a complex mode ``shape``
    (coordinates,) of the model ``linear``. Each of the three components in body axes counts by itself (one in the
    plane). The unit is that of ``shape``; bodies that do not rotate count as zero."""
    largest = 0.0
    for index, placed in enumerate(linear.system.bodies):
        begin = linear.system.layout.velocity[index]
        rigid = shape[begin + placed.data.dimension : begin + placed.data.rigid_count]
        largest = max(largest, float(np.abs(rigid).max(initial=0.0)))
    return largest


# Numbers by which bodies can be coloured: force and stress of beams, tension of strings, stress in meshes.

AXIAL, STRESS, MISES = "axial force", "greatest stress", "von Mises stress"


def node_fields(run: RecordedRun, bodies: Sequence[DrawnBody], instants: IntArray) -> dict[int, list[NodeField]]:
    """Return the quantities by which ``bodies`` are coloured at chosen ``instants`` of the recorded motion
    ``run``, as lists by index of the body. They are the tension of strings, the normal force and largest absolute
    normal stress of beams, and the von Mises stress of meshes. Other bodies, and quantities that cannot be
    computed, are left out."""
    picked = run.at(instants)
    found: dict[int, list[NodeField]] = {}
    for number, (placed, drawn) in enumerate(zip(run.system.bodies, bodies, strict=True)):
        try:
            if placed.is_string:
                found[number] = [_string_tension(picked, placed, len(drawn.skin.positions))]
            elif isinstance(placed.resolved, Beam):
                x = np.clip(drawn.skin.positions[:, 0], 0.0, placed.resolved.length)
                force = section_forces(picked, placed, x)
                found[number] = [NodeField(AXIAL, "N", force.normal)]
                sigma = stress(picked, placed, x)
                largest = np.maximum(np.abs(sigma.greatest), np.abs(sigma.smallest))
                found[number].append(NodeField(STRESS, "Pa", largest))
            elif (own := _stress_in_mesh(picked, placed, drawn)) is not None:
                found[number] = [own]
        except PhlexibleError:  # a section without fibres, a law that a file does not hold
            continue
    return found


def mesh_fields(run: RecordedRun, bodies: Sequence[DrawnBody], instants: IntArray) -> dict[str, NodeField]:
    """Return a dictionary from body name to the von Mises stress [Pa] at the drawn nodes of each body made from a
    mesh. The stress is computed at the stored ``instants`` (indices) of the recorded motion ``run``. ``bodies``
    are the drawn bodies, in the order of the run; bodies without stress are left out."""
    picked = run.at(instants)
    found = {
        drawn.name: _stress_in_mesh(picked, placed, drawn)
        for placed, drawn in zip(run.system.bodies, bodies, strict=True)
    }
    return {name: field for name, field in found.items() if field is not None}


def _stress_in_mesh(run: RecordedRun, placed: PlacedBody, drawn: DrawnBody) -> NodeField | None:
    if (field := placed.body.stress_field()) is None:
        return None
    numbers = field.drawn(drawn.skin)
    found = von_mises(field.components(run.elastic(run.body_index(placed)), numbers.ravel()))
    return NodeField(MISES, "Pa", found.reshape(run.count, *numbers.shape).max(axis=2))


def _string_tension(run: RecordedRun, placed: PlacedBody, count: int) -> NodeField:
    """Return the tension [N], positive in pull, of the string ``placed`` at ``count`` equally spaced nodes at all
    instants of the recorded ``run``. Values at the Gauss points are interpolated linearly along the string, and
    constant beyond the first and last one."""
    values = tension(run, placed)
    assert isinstance(placed.data, AbsoluteBody)
    elements = int(sum(len(np.unique(group.elements)) for group in placed.data.strains[:1]))
    shares = gauss(values.shape[1] // elements)[0]
    positions = ((np.arange(elements)[:, None] + shares) / elements).ravel()
    nodes = np.linspace(0.0, 1.0, count)
    return NodeField(AXIAL, "N", np.array([np.interp(nodes, positions, row) for row in values]))
