"""Members of a contact, which may touch: spheres, line segments, points on surfaces, solids (docs/theory.md, 8)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, inf
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.rigid_body import RigidBody
from phlexible.bodies.soft_body import SoftBody
from phlexible.bodies.soft_mesh import surface_nodes
from phlexible.description.ground import fixed_point
from phlexible.description.interactions.functions import AXES, DirectionOf, WorldAxis
from phlexible.description.interactions.mesh_surface import MeshSurface
from phlexible.description.interactions.surfaces import Capsule, Plane, Surface, Touchable
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


class PieceOfLine(NamedTuple):
    """Position of a segment along a line that touches itself.

    Attributes:
        place: number of the segment, from 0.
        apart: segments that are nearer than so many along the line do not touch.
        loop: segments of a line that closes; 0: it does not.
    """

    place: int
    apart: int
    loop: int

    def meets(self, other: "PieceOfLine") -> bool:
        """Whether another segment of the line is far enough along it to touch this one."""
        way = abs(self.place - other.place)
        return min(way, self.loop - way if self.loop else way) >= self.apart


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
    row: "PieceOfLine | None" = None

    @property
    def is_edge(self) -> bool:
        """Whether it is an edge of a rigid body, or the axis of one."""
        return self.kind is MemberKind.EDGE and self.size[1] >= WIDE

    @property
    def touches_pieces(self) -> bool:
        """Whether a segment may penetrate it more between its ends than at its ends."""
        return self.rounding < WIDE

    def touches_piece(self, piece: "Member") -> bool:
        """Whether it touches a given segment between its ends."""
        length, thickest, is_alone = piece.size
        return bool(length and self.rounding < thickest and (self.rounding or not is_alone))

    @property
    def reach(self) -> float:
        """Radius about its axis of all that it may touch [m]; -1: it is infinite."""
        return self.around or self.radius

    @property
    def is_segment(self) -> bool:
        """Whether it is a segment of a line or capsule."""
        return self.kind is MemberKind.ROUND and self.start is not self.end

    @property
    def is_ball(self) -> bool:
        """Whether it is a sphere with a rotation."""
        is_round = self.kind is MemberKind.ROUND and self.radius > 0 and self.start is self.end
        return is_round and self.start.has_orientation

    def directions(self, dimension: int) -> tuple[DirectionOf | WorldAxis, ...]:
        """Directions that rotate with it, at its start, then at its end; none for a body without orientation."""
        axes = AXES if self.axes is None else self.axes.T  # of edges those of their body
        if not self.start.has_orientation or not self.end.has_orientation:
            return ()
        return tuple(
            WorldAxis(axis) if abs(axis[dimension:]).max(initial=0.0) > OUT_OF_PLANE else DirectionOf(port, axis)
            for port in (self.start, self.end)
            for axis in map(np.asarray, axes)
        )


def listed(name: str, value: object) -> tuple[Side, ...]:
    """Convert one side of a contact to a tuple of parts.

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
                raise ParameterError(
                    f"{name}: {port} moves as a function of time; use a Contact for each that meets it"
                )
    return tuple(parts)


def skin_of(part: object) -> object:
    """Return the surface of a meshed body, and other parts unchanged."""
    is_meshed = isinstance(part, PlacedBody) and isinstance(part.data.points, FlexiblePoints)
    return MeshSurface(part) if is_meshed else part  # type: ignore[arg-type]


def dimensions_of(part: Side) -> Iterator[int]:
    """Yield the dimensions of the bodies that carry a part of a contact."""
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


def members_of(
    first: Sequence[Side], second: Sequence[Side] | None, radii: tuple[float, float], dimension: int
) -> tuple[Member, ...]:
    """Return the members of both sides, each once.

    ``second`` None: all parts of ``first`` touch each other.
    """
    one, other = {_key(each) for each in first}, {_key(each) for each in second or ()}
    parts = [(each, radii[0], 3 if second is None or _key(each) in other else 1) for each in first]
    parts += [(each, radii[1], 2) for each in second or () if _key(each) not in one]
    if touches_itself(first, second):
        return _of_itself(first[0], max(radii))
    solids = [solid for each, _, side in parts for solid in _named(side, _solids(each, side, dimension))]
    touched = {3 & ~solid.side or 3 for solid in solids}
    found: list[Member] = []
    for each, radius, side in parts:
        found += _named(side, _rounds(each, radius, side))
        if (side == 3 and touched) or side in touched or 3 in touched:
            ends = {solid.around >= 0 for solid in solids if solid.side | side == 3}
            own = _named(side, _samples(each, radius, side, dimension))
            found += [place for place in own if TOUCHED_BY_ENDS.get(place.kind) in {None, *ends}]
            owners = {solid.owner for solid in solids if solid.touches_pieces and solid.side | side == 3}
            if owners - {_owner(each)}:
                found += _edges(each, side, dimension)
    return (*found, *solids)


def members_of_two(
    touchers: Sequence[Port], radius: float, surface: Touchable, dimension: int
) -> tuple[Member, ...]:
    """Return the members of a contact of two: points, or spheres of a radius, and those of one surface."""
    rounds = (Member(port, port, radius, 1, owner_of(port)) for port in touchers)
    return (*rounds, *_rounds(surface, 0.0, 2), *_solids(surface, 2, dimension))


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


def _named(side: int, own: Iterator[Member]) -> list[Member]:
    """List members, and name the side in the message of an error."""
    try:
        return list(own)
    except (ModelError, ParameterError) as error:
        raise type(error)(f"{'second' if side == 2 else 'first'} of a Contact: {error}") from error


def _key(part: Side) -> object:
    """Key that is equal for parts that are the same, such as two ports at one position of one body."""
    if isinstance(part, MeshSurface):
        return id(part.body), part.where
    return (id(part.placed), part.location) if isinstance(part, Attachment) else id(part)


def touches_itself(first: Sequence[Side], second: Sequence[Side] | None) -> bool:
    """Whether both sides are one line."""
    if second is None or len(first) != 1 or len(second) != 1 or first[0] is not second[0]:
        return False
    return isinstance(first[0], PlacedBody | PlacedWhole) and bool(line_nodes(first[0]))


def _of_itself(line: Side, radius: float) -> tuple[Member, ...]:
    """Segments of a line that touches itself; neighbours, within two diameters along it, do not touch."""
    assert isinstance(line, PlacedBody | PlacedWhole), "a line"
    pieces = list(pairwise(line_nodes(line)))
    ends = [(a.initial_position(), b.initial_position()) for a, b in pieces]
    length = min(float(np.linalg.norm(b - a)) for a, b in ends)
    apart = 1 + max(1, ceil(4 * radius / length)) if length else len(pieces)
    loop = len(pieces) if np.linalg.norm(ends[0][0] - ends[-1][1]) <= 2 * radius else 0
    return tuple(
        Member(a, b, radius, 3, line.name, row=PieceOfLine(k, apart, loop))
        for k, (a, b) in enumerate(pieces)
        if radius
    )


def far_ends(members: Sequence[tuple[int, Member]], joined: Sequence[tuple[Port, Port]]) -> list[tuple[int, int]]:
    """Indices and ends (0: start, 1: end) of the members beyond start and end of each, or its own where none is.

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


def are_opposed(one: Member, other: Member) -> bool:
    """Whether two members are of two bodies, or far enough along a line, and of sides that meet."""
    if one.owner == other.owner and not (one.row and other.row and one.row.meets(other.row)):
        return False
    return one.side | other.side == 3


def owner_of(port: Port) -> object:
    """Name of the body that a port is on; None: the ground."""
    return port.placed.name if isinstance(port, Attachment) else None


def _rounds(each: Side, radius: float, side: int) -> Iterator[Member]:
    """Yield spheres, line segments, and points, which are spheres without radius, of a part."""
    match each:
        case Capsule():
            length = float(np.linalg.norm(each.end.initial_position() - each.start.initial_position()))
            size = (length, WIDE, 0.0)
            yield Member(each.start, each.end, each.radius, side, owner_of(each.start), size=size)
        case Surface() if isinstance(each.shape, Sphere) and not each.inside:
            yield Member(each.port, each.port, each.shape.radius, side, owner_of(each.port))
        case Touchable():
            return
        case MeshSurface():
            yield from (Member(port, port, radius, side, each.body.name) for port in each.ports)
        case PlacedBody() | PlacedWhole():
            if nodes := line_nodes(each):
                yield from _pieces(nodes, radius, side, each.name)
            elif isinstance(shape := _shape_of(each), Sphere):
                port = _middle(each, shape)
                yield Member(port, port, shape.radius, side, each.name)
            elif shape is None:
                yield from (Member(port, port, radius, side, each.name) for port in surface_ports(each))
        case _:
            own = ball_of(each, counts_centres=not radius)
            yield Member(each, each, own[1] if own else radius, side, owner_of(each))


def _samples(each: Side, radius: float, side: int, dimension: int) -> Iterator[Member]:
    """Yield points of a part that solids of the other side touch, unless they are spheres."""
    kind = MemberKind.SAMPLE
    match each:
        case Capsule():
            for port in (each.start, each.end):
                yield Member(port, port, each.radius, side, owner_of(each.start), kind)
        case PlacedBody() | PlacedWhole() if nodes := line_nodes(each):
            yield from (Member(port, port, radius, side, each.name, kind) for port in nodes)
        case _ if solid := _solid_shape(each):
            shape, is_round = solid.shape, float(isinstance(solid.shape, Cylinder | Torus))
            for own, places in _corners(shape, dimension):
                for port in map(solid.port_at, places):
                    yield Member(port, port, 0.0, side, _owner(each), own, (0.0, 0.0, is_round))
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
        """Axes of the body that carries it in the world at the initial pose, shape (3, 3)."""
        return self.port.placed.rotation if isinstance(self.port, Attachment) else np.eye(3)

    def port_at(self, place: Array) -> Port:
        """Port at a position from the middle, axes of its body, shape (3,) [m]."""
        if isinstance(self.port, Attachment):
            return self.port.placed.point(self.port.point.position + self.middle + place)
        return fixed_point(self.port.initial_position() + self.middle + place, self.port.label)


def _solid_shape(each: Side) -> _SolidShape | None:
    """Shape of a rigid body, or of a surface with corners or edges; None for others."""
    none = np.zeros(3)
    match each:
        case PlacedBody() if not line_nodes(each) and (shape := _shape_of(each)):
            return _SolidShape(shape, _middle(each, shape), none)
        case Surface() if isinstance(each.shape, Box | Torus | TriangleMesh) and not each.inside:
            if isinstance(each.port, Attachment) and not isinstance(each.port.placed.body, RigidBody):
                return None
            middle = each.shape.tree().box_center if isinstance(each.shape, TriangleMesh) else none
            return _SolidShape(each.shape, each.port, middle)
    return None


def _rims(solid: _SolidShape, shape: Cylinder | Torus, side: int) -> Iterator[Member]:
    """Rims of a cylinder, or the ring of a torus, which planes touch at their deepest points."""
    axes, owner = solid.axes @ _upright(np.asarray(shape.axis)), owner_of(solid.port)
    tube = shape.tube_radius if isinstance(shape, Torus) else 0.0
    half = 0.0 if isinstance(shape, Torus) else shape.length / 2
    for high in (half, -half) if half else (half,):
        size, around = (shape.radius, high, 0.0), float(np.hypot(shape.radius, half)) + tube
        yield Member(solid.port, solid.port, tube, side, owner, MemberKind.RIM, size, axes, around)


def _pieces(nodes: Sequence[Port], radius: float, side: int, owner: object) -> Iterator[Member]:
    """Yield the segments of a line, which touch round solids only if its nodes cannot go round them."""
    for a, b in pairwise(nodes):
        length = float(np.linalg.norm(b.initial_position() - a.initial_position()))
        yield Member(a, b, radius, side, owner, size=(length, length / BEND, 0.0))


def _edges(each: Side, side: int, dimension: int) -> Iterator[Member]:
    """Yield segments that only solids touch between their ends: edges of bodies, axes or side lines of
    cylinders."""
    if dimension == 3 and (solid := _solid_shape(each)):
        shape = solid.shape
        own, is_alone = 0.0, 0.0
        if isinstance(shape, Cylinder):
            own, is_alone = (shape.radius, 1.0) if _axis_between_ends(shape) > 0 else (0.0, -1.0)
        for ends in edges_of(shape):
            size = (float(np.linalg.norm(ends[1] - ends[0])), WIDE, is_alone)
            a, b = map(solid.port_at, ends)
            yield Member(a, b, own, side, _owner(each), MemberKind.EDGE, size)


def edges_of(shape: Shape) -> Array:
    """Ends of the segments that solids touch between them, about the middle, in body axes, shape (k, 2, 3) [m].

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
            (_, high), (_, low), *_ = _corners(shape, 3)
            return np.stack([low, high], axis=1)
        case TriangleMesh():
            tree = shape.tree()
            return tree.inset_edges() - tree.box_center
    return np.zeros((0, 2, 3))


def _axis_between_ends(shape: Cylinder) -> float:
    """Half length of the axis of a capsule whose round ends are within a cylinder; at most 0: there is none [m]."""
    return float(shape.length / 2 - ROUNDED * shape.radius)


def _solids(each: Side, side: int, dimension: int) -> Iterator[Member]:
    match each:
        case Plane():
            normal = each.unit_normal()
            if normal[dimension:].any():
                raise ParameterError(f"normal of {each} must lie in the xy plane, got {each.normal!r}")
            yield _solid(each.port, side, MemberKind.PLANE, _upright(normal))
        case Surface():
            axes = each.port.placed.rotation if isinstance(each.port, Attachment) else np.eye(3)
            yield from _solids_of_shape(each.port, each.shape, axes, each.inside, False, side, dimension)
        case PlacedBody() if not line_nodes(each) and (shape := _shape_of(each)):
            port = _middle(each, shape)
            yield from _solids_of_shape(port, shape, each.rotation, False, True, side, dimension)


def _solids_of_shape(
    port: Port, shape: Shape, axes: Array, is_inside: bool, has_ends: bool, side: int, dimension: int
) -> Iterator[Member]:
    """Yield the solids of a shape; ``axes`` are those of the shape in the world.

    ``has_ends``: a cylinder is finite.
    """
    match shape:
        case Sphere():
            if is_inside:
                yield _solid(port, side, MemberKind.BALL_INSIDE, axes, (shape.radius,))
        case Cylinder():
            own, r, half = _upright(axes @ np.asarray(shape.axis)), shape.radius, shape.length / 2
            if is_inside:
                yield _solid(port, side, MemberKind.TUBE, own, (r, -1.0))
            elif has_ends and dimension == 3:
                around, thickness = float(np.hypot(r, half)), 2 * min(r, half)
                yield _solid(port, side, MemberKind.DRUM, own, (r, half), around, thickness, r)
            else:
                yield _solid(port, side, MemberKind.TUBE, own, (r, 1.0), thickness=2 * r, rounding=r)
        case Torus():
            own, R, r = _upright(axes @ np.asarray(shape.axis)), shape.radius, shape.tube_radius
            yield _solid(port, side, MemberKind.RING, own, (R, r, BLUNT * R), R + r, 2 * r, r)
        case Box():
            halves = np.asarray(shape.size, dtype=np.float64) / 2
            if is_inside:
                for k in range(dimension):
                    for sign in (1.0, -1.0):
                        own = _upright(sign * axes[:, k])
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
    """Return a solid as a member; sizes that it does not have are 0."""
    if not port.has_orientation:
        raise ModelError(f"{port} has no orientation and cannot carry a surface")
    a, b, c, *_ = (*size, 0.0, 0.0, 0.0)
    return Member(port, port, 0.0, side, owner_of(port), kind, (a, b, c), axes, around, thickness, rounding)


def _upright(axis: Array) -> Array:
    """Return a triad whose last column is the unit axis, shape (3, 3)."""
    return np.roll(frame_along(axis), -1, axis=1)


def _shape_of(each: PlacedBody | PlacedWhole) -> Shape | None:
    """Shape of a rigid body; in the plane a disc stands for a cylinder or torus, as a ball does.

    Raises:
        ModelError: none, or a cylinder that lies in the plane.
    """
    if isinstance(each, PlacedBody) and isinstance(each.body, RigidBody):
        if (shape := each.body.shape) is None:
            raise ModelError(f"{each.name} has no shape for contacts; give it one, or ports of it and radius=")
        if each.data.dimension == 2 and isinstance(shape, Cylinder | Torus):
            if abs(np.asarray(shape.axis)[2]) < 1.0:
                raise ModelError(
                    f"{each.name}: in the plane contacts support axis=(0, 0, 1), got {shape!r}; take a Box"
                )
            return Sphere(shape.radius + getattr(shape, "tube_radius", 0.0), center=shape.center)
        return shape
    return None


def _middle(each: PlacedBody | PlacedWhole, shape: Shape) -> Attachment:
    assert isinstance(each, PlacedBody) and isinstance(each.body, RigidBody), "what has a shape"
    center = each.body.center if shape.center is None else shape.center
    if isinstance(shape, TriangleMesh):
        return each.point(np.asarray(center) + shape.tree().box_center)
    return each.point(center)


def ball_of(each: object, counts_centres: bool = False) -> tuple[Attachment, float] | None:
    """Centre and radius of a rigid body that is a ball, or of the ball whose centre a port is; None for others.

    Args:
        each: part of a contact.
        counts_centres: whether a port at the centre stands for its ball.
    """
    if counts_centres and isinstance(each, Attachment):
        found = ball_of(each.placed)
        return found if found and np.array_equal(found[0].point.position, each.point.position) else None
    if isinstance(each, PlacedBody) and isinstance(each.body, RigidBody) and isinstance(each.body.shape, Sphere):
        return _middle(each, each.body.shape), each.body.shape.radius
    return None


def _corners(shape: Shape, dimension: int) -> Iterator[tuple[MemberKind, Array]]:
    """Yield points of a shape about its middle that other surfaces touch first, body axes, each (k, 3) [m].

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
            own, half = _upright(np.asarray(shape.axis)), shape.length / 2
            for kind, out, high in (
                (MemberKind.CORNER, 1.0, 1.0),
                (MemberKind.INSET, 1.0 - BESIDE, 1.0),
                (MemberKind.INSET, 1.0, 1.0 - BESIDE),
            ):
                for end in ends:
                    rim = np.column_stack([out * shape.radius * circle, np.full(RIM, end * high * half)])
                    yield kind, rim @ own.T
        case Torus() if dimension == 3:
            own, r, R = _upright(np.asarray(shape.axis)), shape.tube_radius, shape.radius
            for a in np.linspace(0.0, 2 * np.pi, RIM // 3, endpoint=False):
                rim = np.column_stack([(R + r * np.cos(a)) * circle, np.full(RIM, r * np.sin(a))])
                yield MemberKind.SAMPLE, rim @ own.T
        case TriangleMesh():
            tree = shape.tree()
            kinds = MemberKind.SAMPLE, MemberKind.CORNER, MemberKind.INSET
            for own_kind, places in zip(kinds, tree.contact_points(), strict=True):
                yield own_kind, places - tree.box_center


def line_nodes(each: PlacedBody | PlacedWhole) -> tuple[Attachment, ...]:
    """Nodes of a string, rod or beam as attachments; none for another body."""
    if isinstance(each, PlacedWhole):
        return each.nodes()
    return tuple(each.at(x) for x in each.body.contact_positions())


def surface_ports(each: PlacedBody | PlacedWhole) -> tuple[Attachment, ...]:
    """Nodes on the surface of a soft body as attachments.

    Raises:
        ModelError: another body, whose surface nothing touches.
    """
    if isinstance(each, PlacedBody) and isinstance(each.body, SoftBody):
        mesh = each.body.soft_mesh
        return tuple(each.node(int(mesh.nodes[node])) for node in surface_nodes(mesh, each.data.dimension))
    raise ModelError(
        f"contact with the whole of {each.name} is not supported; give ports of it, such as {each.name}.origin, "
        "and radius="
    )


# How far members are from each other at the start.


def check_depths(owner: object, members: Sequence[Member], dimension: int) -> None:
    """Refuse members that start deep inside each other, by their centres, middles and ends.

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
        depth = reach - distance(starts[i], ends[i], starts[j], ends[j])
        if depth > DEEPEST * reach:
            _refuse_opposed(owner, depth, rounds[i], rounds[j])
    places = [each for each in members if each.start is each.end and (each.axes is None or _holds_middle(each))]
    at = np.array([each.start.initial_position() for each in places]).reshape(-1, 3)
    extents = [each.thickness if each.kind.is_solid else 2 * each.radius or size_of(each.start) for each in places]
    most = DEEPEST * np.array(extents)
    radius = np.array([each.radius for each in places])
    pieces = [each for each in members if each.start is not each.end and each.size[0]]
    ends = np.array([(each.start.initial_position(), each.end.initial_position()) for each in pieces])
    between = np.einsum("sk,pki->psi", ALONG, ends.reshape(-1, 2, 3))
    for solid in (each for each in members if each.kind.is_solid):
        assert solid.axes is not None, "a solid has some"
        origin = solid.start.initial_position()
        thick, own_size = DEEPEST * solid.thickness, size_of(solid.start)
        depths = radius - heights(solid, (at - origin) @ solid.axes)
        known = np.where(most > 0, most, DEEPEST * own_size)  # places of the ground have no size
        for i in np.flatnonzero(depths > np.where(radius > 0, most, np.minimum(known, thick))):
            _refuse_opposed(owner, float(depths[i]), places[i], solid)
        for piece, row in zip(pieces, between, strict=True):
            if solid.touches_piece(piece) and are_opposed(piece, solid):
                depth = piece.radius - heights(solid, (row - origin) @ solid.axes).min()
                if depth > (2 * DEEPEST * piece.radius or min(DEEPEST * (size_of(piece.start) or own_size), thick)):
                    _refuse_opposed(owner, float(depth), piece, solid)


def _holds_middle(solid: Member) -> bool:
    """Whether the middle of a solid is inside of its material, where nothing else may be."""
    return solid.kind.is_solid and solid.around >= 0 and bool(heights(solid, np.zeros((1, 3)))[0] < 0)


def _refuse_opposed(owner: object, depth: float, one: Member, other: Member) -> None:
    if are_opposed(one, other):
        raise ModelError(
            f"{owner} starts {depth:g} m deep, {one.start} and {other.start}; place the bodies apart,"
            " or leave out those that a joint connects"
        )


def size_of(port: Port) -> float:
    """Size of the body that a port is on [m]; 0 without a body or size."""
    return port.placed.data.size if isinstance(port, Attachment) else 0.0


def heights(solid: Member, w: Array) -> Array:
    """Signed distances of points in the axes of a solid from its surface, negative inside, (k, 3) to (k,) [m]."""
    if solid.mesh is not None:
        return solid.mesh.signed_distances(w)
    return solid_distances(solid.kind.value, solid.size, w)


def distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """Distance of two segments a b and c d [m], from their ends and where their lines are closest."""
    u, v, r = b - a, d - c, a - c
    matrix = np.array([[u @ u, -u @ v], [-u @ v, v @ v]])
    s, t = np.clip(np.linalg.lstsq(matrix, np.array([-u @ r, v @ r]), rcond=None)[0], 0, 1)
    places = [(s, _place(a + s * u, c, v)), (_place(c + t * v, a, u), t)]
    places += [(end, _place(a + end * u, c, v)) for end in (0.0, 1.0)]
    places += [(_place(c + end * v, a, u), end) for end in (0.0, 1.0)]
    return min(float(np.linalg.norm(r + s * u - t * v)) for s, t in places)


def _place(x: Array, start: Array, along: Array) -> float:
    """Parameter of the point on a segment that is nearest to a position, 0 to 1."""
    size = float(along @ along)
    return float(np.clip((x - start) @ along / size, 0, 1)) if size else 0.0
