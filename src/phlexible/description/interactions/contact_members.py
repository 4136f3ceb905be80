"""Members of a contact, which may touch: spheres, line segments, points on surfaces, solids (docs/theory.md, 8)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from phlexible.algebra.arrays import Array, finite, positive
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.soft_mesh import SoftPoints, surface_nodes
from phlexible.description.ground import fixed_point
from phlexible.description.interactions.functions import AXES, DirectionOf, WorldAxis
from phlexible.description.interactions.surfaces import Capsule, MeshSurface, Plane, Surface, Touchable
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.errors import ModelError, ParameterError
from phlexible.shapes.solids import Box, Cylinder, Shape, Sphere, Torus, TriangleMesh
from phlexible.shapes.surfaces import frame_along
from phlexible.shapes.triangle_tree import TriangleTree
from phlexible.step.tables.declarations import MemberKind
from phlexible.step.tables.solid_distances import solid_distances

Side = Port | PlacedBody | PlacedWhole | Touchable | MeshSurface

DEEPEST = 0.1  # of the size of a body, at the start
AT_ONE_POSITION = 1e-9  # of the largest coordinate
WIDE = 1e30  # half an edge of what has no end
OUT_OF_PLANE = 0.5
BESIDE = 0.02  # of half an edge or of a radius: how far places are from the corners that shapes do not touch
ROUNDED = 1.05  # radii of a cylinder between its ends and those of its axis, whose round ends stay inside
BEND = 0.5  # of its radius: pieces of lines that are shorter go round a cylinder by their nodes
ALONG = np.stack([1 - np.linspace(0, 1, 17), np.linspace(0, 1, 17)], axis=1)  # places between ends, at the start
BLUNT = 1e-3  # of a torus's radius: so near its axis the nearest side turns smoothly to the opposite one
RIM = 24  # places on each rim of a cylinder or torus


TOUCHED_BY_ENDS = {MemberKind.CORNER: False, MemberKind.INSET: True}
"""Places that only solids without end touch, or only those with ends."""


class SegmentOfLine(NamedTuple):
    """Position of a segment along a line that touches itself.

    Attributes:
        number: number of the segment, from 0.
        least_separation: segments that are nearer than so many along the line do not touch.
        loop: segments of a line that closes; 0: it does not.
    """

    number: int
    least_separation: int
    loop: int

    def is_far_from(self, other: "SegmentOfLine") -> bool:
        """Return whether this segment and the segment ``other`` of one line body may touch each other
        (self-contact): their indices differ by at least ``least_separation``, on a closed line along both
        ways around it."""
        way = abs(self.number - other.number)
        return min(way, self.loop - way if self.loop else way) >= self.least_separation


class Member(NamedTuple):
    """A sphere or point, where both ports are one, a line segment with round ends, or a solid.

    Attributes:
        start, end: of its axis; of a solid the port that carries it.
        radius: [m]; of a solid 0.
        side: 1: touches those of side 2, 2: those of side 1, 3: all.
        owner: members with the same owner do not touch.
        kind: of the member.
        size: of a solid: numbers that the kernels use [m]; of a segment its length, the largest radius of round
            solids that it touches [m], and 1: it touches these alone and at its ends too, -1: these alone; of a rim
            its radius and its distance from the middle [m]; of a point on a rim (0, 0, 1).
        axes: of a solid or rim, world axes at the initial pose, in columns, shape (3, 3).
        around: radius about its axis of all that it may touch [m]; -1: it is infinite.
        thickness: of a solid: its smallest extent [m]; infinite for a half space.
        rounding: smallest radius of a solid's surface, of edges 0, of solids that segments touch by their ends
            ``WIDE`` [m].
        mesh: triangles of a mesh, in its axes.
        row: position of a segment along a line that touches itself; None: members with its owner do not touch it.
    """

    start: Port
    end: Port
    radius: float
    side: int
    owner: object
    kind: MemberKind = MemberKind.ROUND
    size: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axes: Array | None = None
    around: float = 0.0
    thickness: float = inf
    rounding: float = WIDE
    mesh: TriangleTree | None = None
    row: "SegmentOfLine | None" = None

    @property
    def is_edge(self) -> bool:
        """Return whether a contact shape is an edge of a rigid body or the axis of a cylinder, by its kind and its
        unlimited ``size[1]``. Segments of beams, rods, strings and capsules are no edges."""
        return self.kind is MemberKind.EDGE and self.size[1] >= WIDE

    def touches_segment(self, segment: "Member") -> bool:
        """Return whether the interior of the line segment ``segment`` must be tested against this solid. It must
        if the solid's least radius of curvature is below the bound ``size[1]`` of the segment (2 lengths for
        lines; unlimited for edges and capsules). False for segments of no length, and for edges of cylinders
        against solids with sharp edges (``rounding`` 0)."""
        length, thickest, is_alone = segment.size
        return bool(length and self.rounding < thickest and (self.rounding or not is_alone))

    @property
    def reach(self) -> float:
        """Return the radius of the bounding sphere or capsule of a contact shape about its centre or axis [m]:
        ``around`` unless it is 0, else ``radius``. It is -1 for infinite shapes such as planes."""
        return self.around or self.radius

    @property
    def is_segment(self) -> bool:
        """Return whether a contact shape is a line segment with round ends between two different points, as of a
        beam, rod, string or capsule. Edges of rigid bodies are not."""
        return self.kind is MemberKind.ROUND and self.start is not self.end

    @property
    def is_ball(self) -> bool:
        """Return whether a contact shape is a sphere on a body that can rotate, so that it may roll."""
        is_round = self.kind is MemberKind.ROUND and self.radius > 0 and self.start is self.end
        return is_round and self.start.has_orientation

    def directions(self, dimension: int) -> tuple[DirectionOf | WorldAxis, ...]:
        """Return the direction vectors that rotate with this contact shape (sphere, segment or solid). They are
        three axes at its start point, then three at its end point: its own axes, or x, y and z of the body. An
        axis out of the plane of a planar model is a constant world axis. The tuple is empty for bodies without
        orientation."""
        axes = AXES if self.axes is None else self.axes.T  # of edges those of their body
        if not self.start.has_orientation or not self.end.has_orientation:
            return ()
        return tuple(
            WorldAxis(axis) if abs(axis[dimension:]).max(initial=0.0) > OUT_OF_PLANE else DirectionOf(port, axis)
            for port in (self.start, self.end)
            for axis in map(np.asarray, axes)
        )


def contact_parts(name: str, value: object) -> tuple[Side, ...]:
    """Return ``value``, one side of a contact, as a tuple of points, bodies and surfaces; a single object gives a
    tuple of one. Raise ``ModelError`` for objects that cannot touch, and ``ParameterError`` for points on a moving
    ground frame. ``name``, "first" or "second", is used in messages.

    Raises:
        ModelError: parts that nothing touches.
        ParameterError: a port that moves as a function of time.
    """
    parts = value if isinstance(value, list | tuple) else (value,)
    for each in parts:
        if not isinstance(each, Side):
            raise ModelError(f"{name} of a Contact takes ports, bodies, surfaces or lists of them, got {each!r}")
        for port in each.ports if isinstance(each, Touchable | MeshSurface) else (each,):
            if isinstance(port, MovingFrame) and not port.is_fixed:
                what = "moves as a function of time: give each point, ball or line that meets it its own Contact"
                raise ParameterError(f"{name}: {port} {what}, or, for other shapes, move a body with it by a drive")
    return tuple(parts)


def touchable_part(part: object) -> object:
    """Return the surface (``MeshSurface``) of a body that was made from a mesh, and any other part of a contact
    unchanged."""
    is_meshed = isinstance(part, PlacedBody) and isinstance(part.data.points, FlexiblePoints)
    return MeshSurface(part) if is_meshed else part  # type: ignore[arg-type]


def dimensions_of(part: Side) -> Iterator[int]:
    """Yield the dimension (1, 2 or 3) of the model of each body to which one side of a contact (``part``) belongs.
    For a beam or rod of several bodies only the dimension of its first body is yielded; for points of the ground
    nothing."""
    match part:
        case PlacedBody():
            yield part.data.dimension
        case PlacedWhole():
            yield part.parts[0].data.dimension
        case MeshSurface():
            yield part.body.data.dimension
        case Touchable():
            yield from (port.placed.data.dimension for port in part.ports if isinstance(port, Attachment))
        case Attachment():
            yield part.placed.data.dimension


def contact_members(
    first: Sequence[Side], second: Sequence[Side] | None, radii: tuple[float, float], dimension: int
) -> tuple[Member, ...]:
    """Return the contact shapes of both sides of a contact, ``first`` and ``second``: spheres, line segments,
    sample points and edges, then convex solids. Sample points and edges are listed only where the other side has
    solids. If ``second`` is None, all parts of ``first`` may touch each other; a single line then touches itself.
    ``radii`` are those of points and lines on each side [m]."""
    one, other = {_identity_key(each) for each in first}, {_identity_key(each) for each in second or ()}
    parts = [(each, radii[0], 3 if second is None or _identity_key(each) in other else 1) for each in first]
    parts += [(each, radii[1], 2) for each in second or () if _identity_key(each) not in one]
    if touches_itself(first, second):
        return _self_contact_segments(first[0], max(radii))
    solids = [solid for each, _, side in parts for solid in _list_members(side, _solids(each, side, dimension))]
    touched = {3 & ~solid.side or 3 for solid in solids}
    found: list[Member] = []
    for each, radius, side in parts:
        found += _list_members(side, _spheres_and_segments(each, radius, side))
        if (side == 3 and touched) or side in touched or 3 in touched:
            ends = {solid.around >= 0 for solid in solids if solid.side | side == 3}
            own = _list_members(side, _sample_points(each, radius, side, dimension))
            found += [collider for collider in own if TOUCHED_BY_ENDS.get(collider.kind) in {None, *ends}]
            owners = {solid.owner for solid in solids if solid.rounding < WIDE and solid.side | side == 3}
            if owners - {_owner(each)}:
                found += _edge_segments(each, side, dimension)
    return (*found, *solids)


def contact_pair_members(
    touching_ports: Sequence[Port], radius: float, surface: Touchable, dimension: int
) -> tuple[Member, ...]:
    """Return the contact shapes of a contact of two: the touching points as spheres of a ``radius`` [m] on side 1,
    then the spheres, capsules or solids of the touched ``surface`` on side 2. ``dimension`` is the number of space
    dimensions of the model (1, 2 or 3)."""
    rounds = (Member(port, port, radius, 1, owner_of(port)) for port in touching_ports)
    return (*rounds, *_spheres_and_segments(surface, 0.0, 2), *_solids(surface, 2, dimension))


def _owner(part: Side) -> object:
    match part:
        case Touchable():
            return owner_of(part.carrier)
        case PlacedBody() | PlacedWhole():
            return part.name
        case MeshSurface():
            return part.body.name
        case _:
            return owner_of(part)


def _list_members(side: int, members: Iterator[Member]) -> list[Member]:
    """Return the contact shapes (spheres, segments, solids) that an iterator yields as a list. A ``ModelError`` or
    ``ParameterError`` raised on the way is raised again, with "first of a Contact" (``side`` 1 or 3) or "second of
    a Contact" (2) before its message."""
    try:
        return list(members)
    except (ModelError, ParameterError) as error:
        raise type(error)(f"{'second' if side == 2 else 'first'} of a Contact: {error}") from error


def _identity_key(part: Side) -> object:
    """Return a key that is equal for two parts of a contact if they are the same: body and position of a point,
    body and ``where`` selection of a mesh surface, and the identity of the object for anything else."""
    if isinstance(part, MeshSurface):
        return id(part.body), part.where
    return (id(part.placed), part.location) if isinstance(part, Attachment) else id(part)


def touches_itself(first: Sequence[Side], second: Sequence[Side] | None) -> bool:
    """Return whether both sides of a contact, ``first`` and ``second``, are the same line body (string, rod
    or beam), which then touches itself. False if ``second`` is None or if a side has several parts."""
    if second is None or len(first) != 1 or len(second) != 1 or first[0] is not second[0]:
        return False
    return isinstance(first[0], PlacedBody | PlacedWhole) and bool(line_nodes(first[0]))


def _self_contact_segments(line: Side, radius: float) -> tuple[Member, ...]:
    """Return the line segments of ``radius`` [m] of a string, rod or beam that touches itself, as contact shapes;
    empty for a radius of 0. Each stores its index along the line and the least difference of indices from which
    two segments may touch: 1 + max(1, ceil(4 ``radius`` / shortest segment)). If the ends are at most 2 ``radius``
    apart, the line counts as a loop."""
    assert isinstance(line, PlacedBody | PlacedWhole), "a line"
    pieces = list(pairwise(line_nodes(line)))
    ends = [(a.initial_position(), b.initial_position()) for a, b in pieces]
    length = min(float(np.linalg.norm(b - a)) for a, b in ends)
    least_separation = 1 + max(1, ceil(4 * radius / length)) if length else len(pieces)
    loop = len(pieces) if np.linalg.norm(ends[0][0] - ends[-1][1]) <= 2 * radius else 0
    return tuple(
        Member(a, b, radius, 3, line.name, row=SegmentOfLine(k, least_separation, loop))
        for k, (a, b) in enumerate(pieces)
        if radius
    )


def far_ends(members: Sequence[tuple[int, Member]], joined: Sequence[tuple[Port, Port]]) -> list[tuple[int, int]]:
    """Return for both ends of each contact shape the line segment that continues there: its index and its other end
    (0 start, 1 end). The list has the start and the end of each shape, one after the other. An end without a
    neighbour has the shape itself and that end; no end has more than one. Neighbours belong to one contact and
    side, and their ends are one port or coincide (within 1e-9 of the largest coordinate) on one body, or on two
    that ``joined`` connects there.

    Two segments share an end where they have one port, or where their ports are at one position of one body or are
    joined there at the start; of more than two segments two do.

    Args:
        members: with the number of their contact; segments of one contact and side share ends.
        joined: ports of joints that hold a point of one body at a point of another.
    """
    found = [(k, end) for k in range(len(members)) for end in (0, 1)]
    ends = [(k, end) for k, end in found if members[k][1].is_segment]
    ports = [members[k][1][:2][end] for k, end in ends]
    positions = np.array([port.initial_position() for port in ports]).reshape(-1, 3)
    tree, reach, held = cKDTree(positions), AT_ONE_POSITION * float(np.abs(positions).max(initial=0.0)), set()
    for pair in joined:
        at, owners = tree.query_ball_point(pair[0].initial_position(), reach), set(map(owner_of, pair))
        held |= {(a, b) for a in at for b in at if a < b and {owner_of(ports[a]), owner_of(ports[b])} == owners}
    for is_one_port in (True, False):
        for a, b in sorted(tree.query_pairs(reach)):
            (k, first), (m, second) = ends[a], ends[b]
            (group, one), (other, another) = members[k], members[m]
            is_free = found[2 * k + first] == ends[a] and found[2 * m + second] == ends[b]
            is_shared = ports[a] is ports[b] if is_one_port else one.owner == another.owner or (a, b) in held
            if k != m and is_free and is_shared and (group, one.side) == (other, another.side):
                found[2 * k + first], found[2 * m + second] = (m, 1 - second), (k, 1 - first)
    return found


def can_touch(one: Member, other: Member) -> bool:
    """Return whether two contact shapes (spheres, segments, solids) may touch: they are on opposite sides of the
    contact, and on different bodies or far enough apart along one line (``is_far_from``). Their positions are not
    used."""
    if one.owner == other.owner and not (one.row and other.row and one.row.is_far_from(other.row)):
        return False
    return one.side | other.side == 3


def owner_of(port: Port) -> object:
    """Return the name of the body of a ``port``; None for a point of the ground."""
    return port.placed.name if isinstance(port, Attachment) else None


def _spheres_and_segments(part: Side, radius: float, side: int) -> Iterator[Member]:
    """Yield the round contact shapes of one side of a contact (``part``): line segments with round ends, balls,
    or points as spheres. Beams and strings give segments, and points spheres, of ``radius`` [m]; balls and
    capsules have a radius of their own. Other solids (planes, boxes) yield nothing. ``side`` is 1, 2, or 3 for
    both sides."""
    match part:
        case Capsule():
            length = float(np.linalg.norm(part.end.initial_position() - part.start.initial_position()))
            size = (length, WIDE, 0.0)
            yield Member(part.start, part.end, part.radius, side, owner_of(part.start), size=size)
        case Surface() if isinstance(part.shape, Sphere) and not part.inside:
            yield Member(part.port, part.port, part.shape.radius, side, owner_of(part.port))
        case Touchable():
            return
        case MeshSurface():
            yield from (Member(port, port, radius, side, part.body.name) for port in part.ports)
        case PlacedBody() | PlacedWhole():
            if nodes := line_nodes(part):
                yield from _line_segments(nodes, radius, side, part.name)
            elif isinstance(shape := _shape_of(part), Sphere):
                port = _centre_port(part, shape)
                yield Member(port, port, shape.radius, side, part.name)
            elif shape is None:
                yield from (Member(port, port, radius, side, part.name) for port in surface_ports(part))
        case _:
            own = ball_of(part, counts_centres=not radius)
            yield Member(part, part, own[1] if own else radius, side, owner_of(part))


def _sample_points(part: Side, radius: float, side: int, dimension: int) -> Iterator[Member]:
    """Yield the points at which one side of a contact (``part``) touches solids of the other side, as spherical
    contact shapes. They are ends of capsules, nodes of beams and strings (spheres of ``radius`` [m]), and corners
    and other surface points of rigid shapes, with radius zero. In space, rim circles of cylinders and tori are
    added. Other parts yield nothing."""
    kind = MemberKind.SAMPLE
    match part:
        case Capsule():
            for port in (part.start, part.end):
                yield Member(port, port, part.radius, side, owner_of(part.start), kind)
        case PlacedBody() | PlacedWhole() if nodes := line_nodes(part):
            yield from (Member(port, port, radius, side, part.name, kind) for port in nodes)
        case _ if solid := _solid_shape(part):
            shape, is_round = solid.shape, float(isinstance(solid.shape, Cylinder | Torus))
            for own, positions in _touch_points(shape, dimension):
                for port in map(solid.port_at, positions):
                    yield Member(port, port, 0.0, side, _owner(part), own, (0.0, 0.0, is_round))
            if dimension == 3 and isinstance(shape, Cylinder | Torus):
                yield from _rims(solid, shape, side)


class _SolidShape(NamedTuple):
    """A shape with corners and edges that other solids may touch.

    Attributes:
        shape: about its middle.
        port: that carries it.
        middle: of the shape from the port, axes of its body, shape (3,) [m].
    """

    shape: Shape
    port: Port
    middle: Array

    @property
    def axes(self) -> Array:
        """Return the rotation matrix, shape (3, 3), from body to world axes at the initial pose, of the body that
        carries a solid shape. It is the identity for a shape on the ground."""
        return self.port.placed.rotation if isinstance(self.port, Attachment) else np.eye(3)

    def port_at(self, offset: Array) -> Port:
        """Return the port at an ``offset``, shape (3,) [m], from the middle of a solid shape, in axes of its body.
        A port is a point of a body, or of the ground."""
        if isinstance(self.port, Attachment):
            return self.port.placed.point(self.port.point.position + self.middle + offset)
        return fixed_point(self.port.initial_position() + self.middle + offset, self.port.label)


def _solid_shape(part: Side) -> _SolidShape | None:
    """Return the shape of one side (``part``) of a contact, with its point and middle, for shapes that can touch
    with corners or edges. They are rigid bodies with a shape, and boxes, tori or meshes touched from outside. The
    point is on the body or ground that carries the shape; the middle is relative to it. Return None for other
    parts and for surfaces on flexible bodies."""
    none = np.zeros(3)
    match part:
        case PlacedBody() if not line_nodes(part) and (shape := _shape_of(part)):
            return _SolidShape(shape, _centre_port(part, shape), none)
        case Surface() if isinstance(part.shape, Box | Torus | TriangleMesh) and not part.inside:
            if isinstance(part.port, Attachment) and not isinstance(part.port.placed.body, RigidBody):
                return None
            middle = part.shape.tree().box_center if isinstance(part.shape, TriangleMesh) else none
            return _SolidShape(part.shape, part.port, middle)
    return None


def _rims(solid: _SolidShape, shape: Cylinder | Torus, side: int) -> Iterator[Member]:
    """Yield contact shapes for the circles of a solid that a plane can touch. A cylinder has its two edge circles,
    a torus its centre circle with the tube radius. The circle touches a plane at its point nearest to the plane.
    ``side`` says on which side of the contact the solid is: 1 first, 2 second, 3 both."""
    axes, owner = solid.axes @ _triad_about(np.asarray(shape.axis)), owner_of(solid.port)
    tube = shape.tube_radius if isinstance(shape, Torus) else 0.0
    half = 0.0 if isinstance(shape, Torus) else shape.length / 2
    for high in (half, -half) if half else (half,):
        size, around = (shape.radius, high, 0.0), float(np.hypot(shape.radius, half)) + tube
        yield Member(solid.port, solid.port, tube, side, owner, MemberKind.RIM, size, axes, around)


def _line_segments(nodes: Sequence[Port], radius: float, side: int, owner: object) -> Iterator[Member]:
    """Yield the line segments between consecutive nodes of a beam, rod or string, as contact shapes with round
    ends of a ``radius`` [m]. ``side`` is the side of the contact, ``owner`` the name of the body."""
    for a, b in pairwise(nodes):
        length = float(np.linalg.norm(b.initial_position() - a.initial_position()))
        yield Member(a, b, radius, side, owner, size=(length, length / BEND, 0.0))


def _edge_segments(part: Side, side: int, dimension: int) -> Iterator[Member]:
    """Yield the line segments along which a rigid shape at one side (``part``) touches solids of the other side,
    as contact shapes. Boxes and meshes have their edges, a long cylinder its axis with its radius, a short one
    lines on its lateral surface. Nothing is yielded for ``dimension`` 1 or 2 and for parts without edges."""
    if dimension == 3 and (solid := _solid_shape(part)):
        shape = solid.shape
        own, is_alone = 0.0, 0.0
        if isinstance(shape, Cylinder):
            own, is_alone = (shape.radius, 1.0) if _axis_between_ends(shape) > 0 else (0.0, -1.0)
        for ends in edges_of(shape):
            size = (float(np.linalg.norm(ends[1] - ends[0])), WIDE, is_alone)
            a, b = map(solid.port_at, ends)
            yield Member(a, b, own, side, _owner(part), MemberKind.EDGE, size)


def edges_of(shape: Shape) -> Array:
    """Return the end points of the line segments along which other solids touch a solid shape, shape (k, 2, 3) for
    k segments [m]. They are relative to its middle, in body axes: the slightly inset edges of a box or mesh, or
    the axis or side lines of a cylinder; none for other shapes.

    Edges of boxes and meshes, inset on both sides, between the points that touch; the axis of a cylinder, or lines
    along the side of a short one.
    """
    match shape:
        case Box():
            half = np.asarray(shape.size, dtype=np.float64) / 2
            signs = np.array([(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)])
            found = []
            for k in range(3):
                i, j = (k + 1) % 3, (k + 2) % 3
                for inner, outer in ((i, j), (j, i)):
                    ends = np.zeros((4, 2, 3))
                    ends[:, 0, k], ends[:, 1, k] = BESIDE - 1.0, 1.0 - BESIDE
                    ends[:, :, inner] = (1.0 - BESIDE) * signs[:, :1]
                    ends[:, :, outer] = signs[:, 1:]
                    found.append(half * ends)
            return np.concatenate(found)
        case Cylinder():
            reach, axis = _axis_between_ends(shape), np.asarray(shape.axis, dtype=np.float64)
            if reach > 0:
                return np.stack([-reach * axis, reach * axis])[None]
            (_, high), (_, low), *_ = _touch_points(shape, 3)
            return np.stack([low, high], axis=1)
        case TriangleMesh():
            tree = shape.tree()
            return tree.inset_edges() - tree.box_center
    return np.zeros((0, 2, 3))


def _axis_between_ends(shape: Cylinder) -> float:
    """Return the half length of the axis of a capsule that approximates a cylinder (``shape``) from inside [m]:
    length / 2 minus a fixed share of the radius. It is negative or 0 if the cylinder is too short for a
    capsule."""
    return float(shape.length / 2 - ROUNDED * shape.radius)


def _solids(part: Side, side: int, dimension: int) -> Iterator[Member]:
    match part:
        case Plane():
            normal = part.unit_normal()
            if normal[dimension:].any():
                raise ParameterError(f"normal of {part} must lie in the xy plane, got {part.normal!r}")
            yield _solid(part.port, side, MemberKind.PLANE, _triad_about(normal))
        case Surface():
            axes = part.port.placed.rotation if isinstance(part.port, Attachment) else np.eye(3)
            yield from _solids_of_shape(part.port, part.shape, axes, part.inside, False, side, dimension)
        case PlacedBody() if not line_nodes(part) and (shape := _shape_of(part)):
            port = _centre_port(part, shape)
            yield from _solids_of_shape(port, shape, part.rotation, False, True, side, dimension)


def _solids_of_shape(
    port: Port, shape: Shape, axes: Array, is_inside: bool, has_ends: bool, side: int, dimension: int
) -> Iterator[Member]:
    """Yield the convex solids whose signed distances represent a ``shape`` in contact, with the number of their
    ``side``. A hollow box (``is_inside``) gives one plane for each wall; a sphere touched from outside gives
    nothing, since its centre is tested as a point. ``axes`` rotates from shape to world axes; with ``has_ends``
    cylinders have flat ends. Raise ``ModelError`` or ``ParameterError`` for unsupported shapes."""
    match shape:
        case Sphere():
            if is_inside:
                yield _solid(port, side, MemberKind.BALL_INSIDE, axes, (shape.radius,))
        case Cylinder():
            own, r, half = _triad_about(axes @ np.asarray(shape.axis)), shape.radius, shape.length / 2
            if is_inside:
                yield _solid(port, side, MemberKind.TUBE, own, (r, -1.0))
            elif has_ends and dimension == 3:
                around, thickness = float(np.hypot(r, half)), 2 * min(r, half)
                yield _solid(port, side, MemberKind.DRUM, own, (r, half), around, thickness, r)
            else:
                yield _solid(port, side, MemberKind.TUBE, own, (r, 1.0), thickness=2 * r, rounding=r)
        case Torus():
            own, R, r = _triad_about(axes @ np.asarray(shape.axis)), shape.radius, shape.tube_radius
            yield _solid(port, side, MemberKind.RING, own, (R, r, BLUNT * R), R + r, 2 * r, r)
        case Box():
            halves = np.asarray(shape.size, dtype=np.float64) / 2
            if is_inside:
                for k in range(dimension):
                    for sign in (1.0, -1.0):
                        own = _triad_about(sign * axes[:, k])
                        yield _solid(port, side, MemberKind.PLANE, own, (-float(halves[k]),))
            else:
                around, thickness = float(np.linalg.norm(halves[:dimension])), 2 * float(halves[:dimension].min())
                size = (*halves[:dimension], *(WIDE,) * (3 - dimension))
                yield _solid(port, side, MemberKind.BLOCK, axes, size, around, thickness, 0.0)
        case TriangleMesh():
            if dimension < 3:
                raise ParameterError(f"{shape!r} cannot touch in the plane; give a Box or a Cylinder")
            tree = shape.tree()
            if has_ends:
                tree = tree.moved(-tree.box_center)
            thickness = float((tree.high[0] - tree.low[0]).min())
            solid = _solid(port, side, MemberKind.MESH, axes, (tree.size,), tree.largest_radius, thickness, 0.0)
            yield solid._replace(mesh=tree)
        case _:
            raise ModelError(
                f"contact with the whole of {shape!r} is not supported; give ports, or a Surface of a Sphere, "
                "Cylinder, Box, Torus or TriangleMesh"
            )


def _solid(
    port: Port,
    side: int,
    kind: MemberKind,
    axes: Array,
    size: tuple[float, ...] = (),
    around: float = -1.0,
    thickness: float = inf,
    rounding: float = WIDE,
) -> Member:
    """Return a contact shape for a solid with a signed distance, fixed to a point of a body or the ground. Its
    arguments are stored: up to three sizes [m] (missing sizes are 0), bounding radius ``around``, ``thickness``
    and least radius of curvature ``rounding``. ModelError is raised if the point has no orientation."""
    if not port.has_orientation:
        raise ModelError(f"{port} has no orientation and cannot carry a surface")
    a, b, c, *_ = (*size, 0.0, 0.0, 0.0)
    return Member(port, port, 0.0, side, owner_of(port), kind, (a, b, c), axes, around, thickness, rounding)


def _triad_about(axis: Array) -> Array:
    """Return a rotation matrix, shape (3, 3), whose last column is the given unit vector ``axis``; its other
    columns are any two perpendicular unit vectors."""
    return np.roll(frame_along(axis), -1, axis=1)


def _shape_of(part: PlacedBody | PlacedWhole) -> Shape | None:
    """Return the solid shape of a rigid body (``part``) for contacts; None for other bodies. In a planar model a
    cylinder or torus about z is replaced by a sphere of its outer radius. ModelError is raised for a rigid body
    without a shape, and in the plane for a cylinder or torus about another axis.

    Raises:
        ModelError: none, or a cylinder that lies in the plane.
    """
    if isinstance(part, PlacedBody) and isinstance(part.body, RigidBody):
        if (shape := part.body.shape) is None:
            raise ModelError(f"{part.name} has no shape for contacts; give it one, or ports of it and radius=")
        if part.data.dimension == 2 and isinstance(shape, Cylinder | Torus):
            if abs(np.asarray(shape.axis)[2]) < 1.0:
                raise ModelError(
                    f"{part.name}: in the plane contacts support axis=(0, 0, 1), got {shape!r}; take a Box"
                )
            return Sphere(shape.radius + getattr(shape, "tube_radius", 0.0), center=shape.center)
        return shape
    return None


def _centre_port(part: PlacedBody | PlacedWhole, shape: Shape) -> Attachment:
    assert isinstance(part, PlacedBody) and isinstance(part.body, RigidBody), "what has a shape"
    center = part.body.center if shape.center is None else shape.center
    if isinstance(shape, TriangleMesh):
        return part.point(np.asarray(center) + shape.tree().box_center)
    return part.point(center)


def ball_of(part: object, counts_centres: bool = False) -> tuple[Attachment, float] | None:
    """Return the centre (as a point of the body) and the radius [m] of a rigid body that is a ball; None for other
    parts. If ``counts_centres``, a point at the centre of a ball is accepted in place of the body.

    Args:
        part: part of a contact.
        counts_centres: whether a port at the centre stands for its ball.
    """
    if counts_centres and isinstance(part, Attachment):
        found = ball_of(part.placed)
        return found if found and np.array_equal(found[0].point.position, part.point.position) else None
    if isinstance(part, PlacedBody) and isinstance(part.body, RigidBody) and isinstance(part.body.shape, Sphere):
        return _centre_port(part, part.body.shape), part.body.shape.radius
    return None


def _touch_points(shape: Shape, dimension: int) -> Iterator[tuple[MemberKind, Array]]:
    """Yield the points of a shape that other solids touch first, as pairs (kind, positions). Boxes give corners,
    cylinders in space points on both rims, each also inset by 2 per cent of the half edge or radius. Tori and
    meshes give points on their surface; other shapes nothing. Positions (k, 3) [m] of k points are relative to the
    shape's middle in body axes. ``dimension`` is the model's.

    Corners would slip past those of a shape of the same size: such shapes touch points that are inset.
    """
    turn = np.linspace(0.0, 2 * np.pi, RIM, endpoint=False)
    circle, ends = np.stack([np.cos(turn), np.sin(turn)], axis=1), (1.0, -1.0)
    match shape:
        case Box():
            corners = np.unique(shape.centred().vertices * (np.arange(3) < dimension), axis=0)
            yield MemberKind.CORNER, corners
            for k in range(dimension):
                yield MemberKind.INSET, corners * np.where(np.arange(3) == k, 1.0, 1.0 - BESIDE)
        case Cylinder() if dimension == 3:
            own, half = _triad_about(np.asarray(shape.axis)), shape.length / 2
            for kind, out, high in (
                (MemberKind.CORNER, 1.0, 1.0),
                (MemberKind.INSET, 1.0 - BESIDE, 1.0),
                (MemberKind.INSET, 1.0, 1.0 - BESIDE),
            ):
                for end in ends:
                    rim = np.column_stack([out * shape.radius * circle, np.full(RIM, end * high * half)])
                    yield kind, rim @ own.T
        case Torus() if dimension == 3:
            own, r, R = _triad_about(np.asarray(shape.axis)), shape.tube_radius, shape.radius
            for a in np.linspace(0.0, 2 * np.pi, RIM // 3, endpoint=False):
                rim = np.column_stack([(R + r * np.cos(a)) * circle, np.full(RIM, r * np.sin(a))])
                yield MemberKind.SAMPLE, rim @ own.T
        case TriangleMesh():
            tree = shape.tree()
            kinds = MemberKind.SAMPLE, MemberKind.CORNER, MemberKind.INSET
            for own_kind, positions in zip(kinds, tree.contact_points(), strict=True):
                yield own_kind, positions - tree.box_center


def line_nodes(part: PlacedBody | PlacedWhole) -> tuple[Attachment, ...]:
    """Return the nodes of a string, rod or beam (``part``) as points of the body, from start to end; empty for
    other bodies."""
    if isinstance(part, PlacedWhole):
        return part.nodes()
    return tuple(part.at(x) for x in part.body.contact_positions())


def surface_ports(part: PlacedBody | PlacedWhole) -> tuple[Attachment, ...]:
    """Return the surface nodes of a soft body or shell (``part``) as a tuple of points of the body, for contacts.
    ModelError is raised for all other bodies; its message advises contact at chosen points.

    Raises:
        ModelError: another body, whose surface nothing touches.
    """
    if isinstance(part, PlacedBody) and isinstance(part.data.points, SoftPoints):
        mesh = part.data.points.mesh
        return tuple(part.node(int(mesh.nodes[node])) for node in surface_nodes(mesh, part.data.dimension))
    raise ModelError(
        f"contact with the whole of {part.name} is not supported; give ports of it, such as {part.name}.origin, "
        "and radius="
    )


# How far members are from each other at the start.


def check_depths(owner: object, members: Sequence[Member]) -> None:
    """Raise ``ModelError`` if two contact shapes of a contact overlap by more than a tenth of their size at the
    initial pose. Spheres and line segments are tested against each other, found by a k-d tree. Solids are tested
    by their signed distance only against centres of spheres and solids and several points along segments.
    ``owner`` is the contact, for the message.

    Raises:
        ModelError: two start deep inside each other; says how deep.
    """
    rounds = [each for each in members if each.kind is MemberKind.ROUND]
    starts = np.array([each.start.initial_position() for each in rounds]).reshape(-1, 3)
    ends = np.array([each.end.initial_position() for each in rounds]).reshape(-1, 3)
    radius = np.array([each.radius for each in rounds])
    half = np.linalg.norm(ends - starts, axis=1) / 2
    tree = cKDTree((starts + ends) / 2)
    for i, j in sorted(tree.query_pairs(2 * float((half + radius).max(initial=0.0)))):
        reach = radius[i] + radius[j]
        depth = reach - segment_distance(starts[i], ends[i], starts[j], ends[j])
        if depth > DEEPEST * reach:
            _refuse_opposed(owner, depth, rounds[i], rounds[j])
    balls = [each for each in members if each.start is each.end and (each.axes is None or _is_filled(each))]
    at = np.array([each.start.initial_position() for each in balls]).reshape(-1, 3)
    extents = [each.thickness if each.kind.is_solid else 2 * each.radius or size_of(each.start) for each in balls]
    most = DEEPEST * np.array(extents)
    radius = np.array([each.radius for each in balls])
    pieces = [each for each in members if each.start is not each.end and each.size[0]]
    ends = np.array([(each.start.initial_position(), each.end.initial_position()) for each in pieces])
    between = np.einsum("sk,pki->psi", ALONG, ends.reshape(-1, 2, 3))
    for solid in (each for each in members if each.kind.is_solid):
        assert solid.axes is not None, "a solid has some"
        origin = solid.start.initial_position()
        thick, own_size = DEEPEST * solid.thickness, size_of(solid.start)
        depths = radius - signed_distances(solid, (at - origin) @ solid.axes)
        known = np.where(most > 0, most, DEEPEST * own_size)  # places of the ground have no size
        for i in np.flatnonzero(depths > np.where(radius > 0, most, np.minimum(known, thick))):
            _refuse_opposed(owner, float(depths[i]), balls[i], solid)
        for piece, row in zip(pieces, between, strict=True):
            if solid.touches_segment(piece) and can_touch(piece, solid):
                depth = piece.radius - signed_distances(solid, (row - origin) @ solid.axes).min()
                if depth > (2 * DEEPEST * piece.radius or min(DEEPEST * (size_of(piece.start) or own_size), thick)):
                    _refuse_opposed(owner, float(depth), piece, solid)


def _is_filled(solid: Member) -> bool:
    """Return whether the middle of a solid contact shape is inside its material: true for a ball or a block, false
    for a plane, a hollow shape or a ring."""
    return solid.kind.is_solid and solid.around >= 0 and bool(signed_distances(solid, np.zeros((1, 3)))[0] < 0)


def _refuse_opposed(owner: object, depth: float, one: Member, other: Member) -> None:
    if can_touch(one, other):
        raise ModelError(
            f"{owner} starts {depth:g} m deep, {one.start} and {other.start}; place the bodies apart,"
            " or leave out those that a joint connects"
        )


def size_of(port: Port) -> float:
    """Return the size of the body on which a port is [m], a typical length of the body; 0 for the ground or a body
    without a size. A port is a point of a body, or of the ground."""
    return port.placed.data.size if isinstance(port, Attachment) else 0.0


def signed_distances(solid: Member, w: Array) -> Array:
    """Return the signed distances of points from the surface of a solid contact shape, negative inside. Points
    ``w`` are in the solid's axes relative to its port, shape (k, 3); the result has shape (k,) [m]."""
    if solid.mesh is not None:
        return solid.mesh.signed_distances(w)
    return solid_distances(solid.kind.value, solid.size, w)


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """Return the smallest distance [m] of two line segments, from point a to b and from point c to d. Six
    candidates are compared: the nearest points of the infinite lines clipped to one or the other segment, and each
    of the four ends with its nearest point of the other segment."""
    u, v, r = b - a, d - c, a - c
    matrix = np.array([[u @ u, -u @ v], [-u @ v, v @ v]])
    s, t = np.clip(np.linalg.lstsq(matrix, np.array([-u @ r, v @ r]), rcond=None)[0], 0, 1)
    parameters = [(s, _nearest_parameter(a + s * u, c, v)), (_nearest_parameter(c + t * v, a, u), t)]
    parameters += [(end, _nearest_parameter(a + end * u, c, v)) for end in (0.0, 1.0)]
    parameters += [(_nearest_parameter(c + end * v, a, u), end) for end in (0.0, 1.0)]
    return min(float(np.linalg.norm(r + s * u - t * v)) for s, t in parameters)


def _nearest_parameter(x: Array, start: Array, along: Array) -> float:
    """Return the parameter of the point on a line segment that is nearest to a position x. It is 0 at ``start`` and
    1 at ``start + along``."""
    size = float(along @ along)
    return float(np.clip((x - start) @ along / size, 0, 1)) if size else 0.0


def hertz_stiffness(
    radius: float,
    material: Material,
    other_radius: float | None = None,
    other_material: Material | None = None,
) -> float:
    """Return Hertz's contact stiffness K of the normal force K x^1.5 between two spheres at a penetration x
    [N/m^1.5], for ``Contact(..., exponent=1.5)``. They have ``radius`` and ``other_radius`` [m] (None: a plane;
    negative: a hollow) and are made of ``material`` and ``other_material`` (None: rigid). Raise ``ParameterError``
    for other radii or materials.

    K = 4/3 E* sqrt(R), 1/E* = (1 - nu_1^2)/E_1 + (1 - nu_2^2)/E_2, 1/R = 1/R_1 + 1/R_2. It holds while the depth x
    is small compared with R.

    Args:
        radius: radius of the sphere [m].
        material: material of the sphere.
        other_radius: radius of the other sphere [m]; None: a plane; negative: a hollow sphere around it.
        other_material: material of the other sphere; None: it is rigid.

    Raises:
        ParameterError: numbers out of range, a hollow that is not larger, or what is no material.

    Example:
        >>> steel = ph.Material(210e9, 7850.0)
        >>> stiffness = ph.hertz_stiffness(0.01, steel, other_material=steel)
        >>> print(f"{stiffness:.4g}")
        1.538e+10
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> ball = model.add(ph.RigidBody.sphere(0.01, steel.density), "ball", position=(0, 0, 0.02))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)))
        >>> touch = model.apply(ph.Contact(ball.origin, floor, stiffness, radius=0.01, exponent=1.5))
    """
    own = positive("radius", radius)
    curvature, softness = 1 / own, 0.0
    if other_radius is not None:
        other = finite("other_radius", other_radius)
        if not (other > 0 or other < -own):
            raise ParameterError(
                "other_radius must be positive, None of a plane, or negative of a hollow that is larger than the"
                f" sphere, got {other_radius!r}"
            )
        curvature += 1 / other
    for name, each in (("material", material), ("other_material", other_material)):
        if each is None and name == "other_material":
            continue
        if not isinstance(each, Material):
            raise ParameterError(f"{name} must be a Material, got {each!r}")
        softness += (1 - each.poissons_ratio**2) / each.youngs_modulus
    return 4 / (3 * softness * sqrt(curvature))
