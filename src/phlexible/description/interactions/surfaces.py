"""Surfaces of contacts, also those of meshed bodies, and gaps to them (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    Array,
    IntArray,
    Positive,
    convert_fields,
    flag,
    make_immutable,
    set_fields,
    unit_vector,
)
from phlexible.algebra.caching import cached_on_owner
from phlexible.bodies.flexible.points import FlexiblePoints, selected_points
from phlexible.bodies.locations import SurfaceNode
from phlexible.description.interactions.functions import (
    AXES,
    Bilinear,
    BilinearTerm,
    Coordinate,
    DirectionOf,
    DistanceCoordinate,
    PointOf,
    PositionCoordinate,
    VectorSum,
    WorldAxis,
    as_sum,
    between,
    perpendicular_axes,
)
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.description.references import references
from phlexible.errors import ModelError, ParameterError
from phlexible.shapes.solids import Box, Cylinder, Shape, Sphere, TriangleMesh

# Gaps that are no plain distance: from round and cornered shapes, from a piece of a line; with sliding along them.
#
# The kernels know them by their classes; discrete derivatives are in docs/theory.md, 8.


@dataclass(frozen=True, eq=False)
class GapCoordinate(Coordinate):
    """A gap as a coordinate, which no joint has and no drive prescribes."""

    why_not_driven = "a gap cannot be driven"


@dataclass(frozen=True, eq=False)
class RoundedCoordinate(GapCoordinate):
    """Length of the vector q, whose q_i is the part of (x_b - x_a).d_i beyond a zone -a_i .. a_i (8.26).

    Attributes:
        first: a, carries the directions.
        second: port b.
        directions: d_i at right angles.
        zones: half-widths a_i of the zone [m].
    """

    first: Port
    second: Port
    directions: tuple[DirectionOf, ...]
    zones: tuple[float, ...]

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the bilinear functions (x_b - x_a) . d_i of a gap to a rounded surface (cylinder, box): the
        components of the difference vector along each direction d_i of the surface's body. A bilinear
        function is a sum of dot products of points and directions of the bodies."""
        difference = between(self.first, self.second)
        return tuple(Bilinear((BilinearTerm(1.0, difference, as_sum(d)),), 0.0, self.name) for d in self.directions)

    def _left(self, y: Array) -> Array:
        zones = np.array(self.zones)
        return np.asarray(y - np.clip(y, -zones, zones))

    def value(self, y: Array) -> Any:
        """Return the distance |q| of a point from a rounded surface's core [m], where q has the components of y
        beyond the zone -a_i ... a_i of the core (box or axis)."""
        return np.sqrt((self._left(y) ** 2).sum())

    def gradient(self, y: Array) -> Array:
        """Return the gradient q / |q| of the distance of a point from a rounded surface's core (box or axis),
        shape (directions,). It is with respect to the values ``y`` of the coordinate's functions; q are the
        components of ``y`` beyond the core. The gradient is zero where q is zero."""
        q, length = self._left(y), self.value(y)
        return q / length if length else np.zeros(len(y))


@dataclass(frozen=True, eq=False)
class SegmentCoordinate(GapCoordinate):
    """Distance |r - t s| of a point from a line segment, t = r.s / s.s between 0 and 1 (8.27) [m].

    Attributes:
        first, end: ends of the segment; s = x_end - x_first.
        second: the point; r = x_second - x_first.
    """

    first: Port
    end: Port
    second: Port

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the bilinear functions r.r, r.s and s.s of the distance of a point from a line segment. The
        vector r goes from the segment's start to the point, s to its end. A bilinear function is a sum of dot
        products of points and directions of the bodies."""
        r, s = between(self.first, self.second), between(self.first, self.end)
        return tuple(Bilinear((BilinearTerm(1.0, a, b),), 0.0, self.name) for a, b in ((r, r), (r, s), (s, s)))

    def _place(self, y: Array) -> Any:
        return np.clip(y[1] / y[2], 0.0, 1.0)

    def value(self, y: Array) -> Any:
        """Return the distance of a point from a line segment [m] from y = (r.r, r.s, s.s). It is sqrt(r.r - 2 t r.s
        + t^2 s.s) with the parameter t clipped to 0 ... 1."""
        t = self._place(y)
        return np.sqrt(np.maximum(y[0] - 2 * t * y[1] + t * t * y[2], 0.0))

    def gradient(self, y: Array) -> Array:
        """Return the gradient (1, -2 t, t^2) / (2 distance) of the distance of a point from a line segment. It is
        taken with respect to y = (r.r, r.s, s.s), shape (3,); zero at zero distance."""
        t, length = self._place(y), self.value(y)
        return np.array([1.0, -2 * t, t * t]) / (2 * length) if length else np.zeros(3)


@dataclass(frozen=True, eq=False)
class SlidingCoordinate(PositionCoordinate):
    """The gap of a point to a plane [m], with further functions for the position along the plane."""

    across: tuple[DirectionOf, ...]

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the bilinear functions of the gap of a point to a plane with friction: (x_b - x_a) . d along
        the normal d, then along directions in the plane for the slip. A bilinear function is a sum of dot
        products of points and directions of the bodies."""
        difference = between(self.first, self.second)
        along = [Bilinear((BilinearTerm(1.0, difference, as_sum(d)),), 0.0, "along the plane") for d in self.across]
        return (*super().functions(), *along)


@dataclass(frozen=True, eq=False)
class RubbingCoordinate(GapCoordinate):
    """A gap, with functions for the relative slip of the contact points of both bodies (8.28).

    Its last functions are the components of sum_k c_k x_k, whose coefficients c_k the kernels compute in each step,
    and, with rolling or drilling resistance, those of the rotation psi (8.46).

    Attributes:
        gap: coordinate of the gap.
        toucher: port with the centre.
        carriers: ports of the surface: one, or two ends of a segment.
        radius: radius of the sphere that touches [m].
        dimension: 2 or 3.
        resists_rotation: whether rolling or drilling is resisted.
    """

    gap: Coordinate
    toucher: Port
    carriers: tuple[Port, ...]
    radius: float
    dimension: int
    resists_rotation: bool = False

    @property
    def points(self) -> int:
        """Return the number of points whose relative displacement is the slip of a contact with friction: the
        touching point, then the ports that carry the surface (two for a segment)."""
        return 1 + len(self.carriers)

    @property
    def rotating_direction_count(self) -> int:
        """Return the number of directions of the touching sphere's body that enter the slip of a contact. It is the
        model's dimension if a sphere can rotate, else 0."""
        return self.dimension if self.radius and self.toucher.has_orientation else 0

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the scalar functions of the pose for this contact with friction: those of the gap, then the
        displacement of the touching point relative to the surface along each world axis. If rolling or drilling is
        resisted, functions of the relative rotation follow. Each is a sum of dot products of points and directions
        of the bodies."""
        parts: list[tuple[float, PointOf | DirectionOf]] = [(1.0, PointOf(self.toucher))]
        parts += [(-1.0, PointOf(port)) for port in self.carriers]
        turning = [self.toucher] if self.rotating_direction_count else []
        if self.surface_rotates:
            turning += self.carriers[:1]
        parts += [(0.0, DirectionOf(port, axis)) for port in turning for axis in AXES[: self.dimension]]
        y = VectorSum(tuple(parts))
        along = (
            Bilinear((BilinearTerm(1.0, y, as_sum(WorldAxis(e))),), 0.0, "sliding") for e in AXES[: self.dimension]
        )
        return (*self.gap.functions(), *along, *self._rotation_functions(VectorSum(tuple(parts[self.points :]))))

    def _rotation_functions(self, directions: VectorSum) -> Iterator[Bilinear]:
        if self.resists_rotation:
            for axis in AXES if self.dimension == 3 else AXES[2:]:
                yield Bilinear((BilinearTerm(1.0, directions, as_sum(WorldAxis(axis))),), 0.0, "turning")

    @property
    def surface_rotates(self) -> bool:
        """Return whether the touched surface of a contact rotates with its body, so that its rotation enters the
        slip (for a segment: both ends are on one body)."""
        first, *others = self.carriers
        is_one = all(
            isinstance(first, Attachment) and first.placed is getattr(each, "placed", None) for each in others
        )
        return is_one and first.has_orientation and not (isinstance(first, MovingFrame) and first.is_fixed)

    @property
    def is_grounded(self) -> bool:
        """Return whether the touched surface of a contact is fixed to the ground. Moving frames on the ground do
        not count as fixed."""
        return all(isinstance(port, MovingFrame) and port.is_fixed for port in self.carriers)

    @property
    def is_on_axis(self) -> bool:
        """Return whether friction acts on the axis of a touched line segment instead of its surface. It does if
        the two ends of the segment are on different bodies, so that its rotation is not known."""
        return self.points > 2 and not (self.surface_rotates or self.is_grounded)

    def contact_radius(self, theta: Array | float, rest: float, side: float) -> Array:
        """Return the distance of the contact point from the centre of the touching sphere [m]. For two round
        surfaces it is scaled by the distance theta of the centres over its value ``rest`` without gap.
        ``side`` is 1 if they touch from outside, -1 from inside."""
        is_round = isinstance(self.gap, DistanceCoordinate | SegmentCoordinate) and side > 0
        return np.asarray(self.radius * (theta / rest if is_round else 1.0))

    @property
    def gap_count(self) -> int:
        """Return the number of functions that give the gap of this contact with friction; they are its first
        functions. Functions are sums of dot products of vectors."""
        return len(self.gap.functions())

    def value(self, y: Array) -> float:
        """Return the gap of a contact with friction [m], from the first of the values y of its functions."""
        return float(self.gap.value(y[: self.gap_count]))

    def gradient(self, y: Array) -> Array:
        """Return the gradient of the gap of a contact with friction with respect to the values ``y`` of all its
        functions, shape (functions,). Entries of functions of slip and rotation are zero."""
        return np.concatenate([self.gap.gradient(y[: self.gap_count]), np.zeros(len(y) - self.gap_count)])


# Surfaces that a port carries, for contacts: planes, spheres, cylinders, boxes, capsules (docs/theory.md, 8).


class Gap(NamedTuple):
    """A coordinate, and the position of the surface along it.

    Attributes:
        coordinate: coordinate of the point, or of the centre of a sphere.
        surface: its value on the surface [m].
        side: 1: matter is where it is less, -1: where it is more.
    """

    coordinate: Coordinate
    surface: float
    side: float = 1.0


@dataclass(frozen=True, eq=False)
class Touchable(ABC):
    """A surface for contacts of points and spheres, with ports and directions in world axes at the initial pose."""

    def __post_init__(self) -> None:
        convert_fields(self)
        make_immutable(self)
        for name in (each for each in PORTS if hasattr(self, each)):
            if not isinstance(port := getattr(self, name), Port):
                raise ModelError(
                    f"{type(self).__name__}: {name} must be a port such as ground.at((0, 0, 0)), got {port!r}"
                )

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return the ports to which a touchable surface is fixed: one or, for a capsule, two. A port is a point of
        a body, or of the ground."""
        return tuple(each for each in references(self) if isinstance(each, Port))

    @property
    def carrier(self) -> Port:
        """Return the first of the ports to which a touchable surface is fixed. A port is a point of a body, or of
        the ground."""
        return self.ports[0]

    @property
    @abstractmethod
    def thickness(self) -> float:
        """Return the thickness of the matter behind a touchable surface [m], which limits how deep a point may
        penetrate at the start; 0 for a half space. It is abstract: each kind of surface defines it."""

    @abstractmethod
    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the gaps of a point (``other``) from a touchable surface, each a coordinate with its value at the
        surface. There are several for the faces of a hollow box, else one. ``dimension`` is the number of space
        dimensions of the model (1, 2 or 3). It is abstract: each kind of surface defines it.

        Raises:
            ModelError: a port without an orientation that is needed.
            ParameterError: in the plane, a direction that leaves it.
        """

    def _oriented(self, port: Port) -> Port:
        if not port.has_orientation:
            raise ModelError(f"{type(self).__name__}: {port} has no orientation and cannot carry a surface")
        return port


PORTS = ("port", "start", "end")
OF_TWO = Sphere | Cylinder | Box
"""Shapes whose gaps contacts of two know, and inside of which bodies may be; others are searched."""


@dataclass(frozen=True, eq=False)
class Plane(Touchable):
    """A plane through a port; bodies are on the side that the normal points to.

    Attributes:
        port: port of the ground or of a body, which carries the plane.
        normal: world axes at the initial pose, shape (3,).

    Raises:
        ModelError: no port.
        ParameterError: no direction.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
        >>> ball = model.add(ph.RigidBody.sphere(0.1, density=500.0), "ball", position=(0, 0, 0.15))
        >>> touch = model.apply(ph.Contact(ball.origin, floor, stiffness=1e5, radius=0.1))
        >>> motion = model.simulate(0.2, step=1e-3)
        >>> print(round(motion.position(ball.origin)[:, 2].min(), 3))  # it goes 3 mm into the floor
        0.097
    """

    port: Port
    normal: ArrayLike = field(default=(0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.unit_normal()

    @cached_on_owner
    def unit_normal(self) -> Array:
        """Return the unit normal of this contact plane in world axes at the initial pose, shape (3,)."""
        return unit_vector("normal", self.normal)

    @cached_property
    def _normal_direction(self) -> DirectionOf:
        """Return the normal of a contact plane as one direction object that rotates with the plane's port. It
        is cached so that all contacts with the plane share it. A port is a point of a body, or of the ground."""
        return DirectionOf(self._oriented(self.port), self.unit_normal())

    @property
    def thickness(self) -> float:
        """Return the thickness 0 of a contact plane [m], which stands for a half space."""
        return 0.0

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the gap of a point (``other``) to a contact plane, its height along the normal, as a tuple of
        one. ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        if self.unit_normal()[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"normal of {self} must {where}, got {self.normal!r}")
        return (Gap(PositionCoordinate("gap", self.port, other, self._normal_direction), 0.0),)


@dataclass(frozen=True, eq=False)
class Surface(Touchable):
    """The surface of a shape about a port, which carries it.

    Attributes:
        port: the center of the shape.
        shape: a ``Sphere``, a ``Cylinder``, which goes on beyond its ends, a ``Box``, or, in space, a ``Torus`` or
            a closed ``TriangleMesh``; axes are those of the port's body, on the ground x, y, z. In the plane
            circles and rectangles.
        inside: bodies are inside of it.

    Raises:
        ModelError: no port, or no such shape.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bowl = ph.Surface(model.ground.at((0, 0, 1)), ph.Sphere(1.0), inside=True)
        >>> ball = model.add(ph.RigidBody.sphere(0.1, density=500.0), "ball", position=(0.3, 0, 0.2))
        >>> touch = model.apply(ph.Contact(ball.origin, bowl, stiffness=1e5, radius=0.1))
        >>> motion = model.simulate(0.5, step=1e-3)
        >>> bool(motion.position(ball.origin)[-1, 0] < 0.1)  # it slides towards the lowest place
        True
    """

    port: Port
    shape: Shape
    inside: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.shape, Shape):
            raise ModelError(f"Surface: shape must be one such as Sphere(0.1), got {self.shape!r}")
        if self.shape.center is not None and np.any(self.shape.center):
            raise ModelError(f"{self.shape!r} has center=; leave it out and give Surface a port at that place")
        flag("inside", self.inside)
        if self.inside and not isinstance(self.shape, OF_TWO):
            raise ModelError(
                f"Surface: bodies are outside of a {type(self.shape).__name__}; leave out inside="
                " (a hollow mesh has walls of its own)"
            )
        if isinstance(self.shape, TriangleMesh):
            self.shape.tree()

    @property
    def thickness(self) -> float:
        """Return the thickness of a touchable shape [m], which is the radius of a sphere or cylinder, or the
        shortest edge of a box."""
        if isinstance(self.shape, Sphere | Cylinder):
            return self.shape.radius
        assert isinstance(self.shape, Box), "others have no contact of two"
        return float(np.min(np.asarray(self.shape.size)))

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the gaps of a point (``other``) from the surface of a shape. A sphere, cylinder or box gives one,
        a hollow box one for each face. A gap has coordinate, its value at the surface, and side (-1: touched from
        inside). Raise ``ParameterError`` for a cylinder in the plane whose axis is not z. ``dimension`` is that of
        the model (1, 2 or 3)."""
        side = -1.0 if self.inside else 1.0
        if isinstance(self.shape, Box):
            return self._box_gaps(other, dimension)
        is_round = isinstance(self.shape, Sphere)
        if isinstance(self.shape, Cylinder) and dimension < 3:
            if np.abs(self._to_world(np.asarray(self.shape.axis))[:dimension]).any():
                raise ParameterError(f"axis of {self.shape} must be z in the plane")
            is_round = True
        if is_round:
            return (Gap(DistanceCoordinate("gap", self.port, other), self.thickness, side),)
        assert isinstance(self.shape, Cylinder), "what is left"
        axis = self._to_world(np.asarray(self.shape.axis))
        across = tuple(DirectionOf(self._oriented(self.port), each) for each in perpendicular_axes(axis))
        return (Gap(RoundedCoordinate("gap", self.port, other, across, (0.0, 0.0)), self.thickness, side),)

    def _box_gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        assert isinstance(self.shape, Box), "asked for where it is one"
        half = np.asarray(self.shape.size, dtype=np.float64)[:dimension] / 2
        along = tuple(DirectionOf(self._oriented(self.port), self._to_world(axis)) for axis in AXES[:dimension])
        if not self.inside:
            return (Gap(RoundedCoordinate("gap", self.port, other, along, tuple(half.tolist())), 0.0),)
        places = [PositionCoordinate("gap", self.port, other, each) for each in along]
        return tuple(
            Gap(place, -side * float(end), side)
            for place, end in zip(places, half, strict=True)
            for side in (1.0, -1.0)
        )

    def _to_world(self, axis: Array) -> Array:
        """Return a direction ``axis``, given in axes of a shape's body, rotated to world axes at the initial
        pose, shape (3,)."""
        return self.port.placed.rotation @ axis if isinstance(self.port, Attachment) else axis


@dataclass(frozen=True, eq=False)
class Capsule(Touchable):
    """A line segment between two ports with a radius, round at its ends: of a beam, a rod or a string.

    Attributes:
        start, end: ends of the segment, ports of one body or of two, such as nodes of strings.
        radius: radius around the segment [m].
    """

    start: Port
    end: Port
    radius: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.linalg.norm(self.end.initial_position() - self.start.initial_position()) == 0:
            raise ModelError(f"{self} has no length: {self.start} and {self.end} coincide")

    @property
    def thickness(self) -> float:
        """Return the thickness of a capsule (cylinder with round ends) for contacts, its radius [m]."""
        return self.radius

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Return the gap of a point (``other``) from a capsule's axis, a line segment, as a tuple of one.
        ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        return (Gap(SegmentCoordinate("gap", self.start, self.end, other), self.radius),)


@dataclass(frozen=True, eq=False)
class MeshSurface:
    """Corners of the elements on the surface of a meshed body or plate, which touch as points or spheres.

    They move as the coordinates that the body keeps, and what pushes them moves these. So a body is as soft there
    as its shapes let it: how it dents at a place is in the answer of an interface there, or in many modes
    (docs/contact.md has numbers).

    Attributes:
        body: a ``FlexibleBody`` from a mesh or matrices, or a ``Plate``.
        where: a function of places x in body axes (x[0], x[1], x[2] are arrays) that says which, or their numbers
            among the ``positions`` of all; None: all.

    Raises:
        ModelError: another body, or no place.
        ParameterError: no such function or numbers.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> aluminium = ph.Material(7e10, 2700.0, poissons_ratio=0.3)
        >>> plate = ph.Plate(0.4, 0.3, 0.004, aluminium, elements=(4, 3), modes=4)
        >>> tray = model.add(plate, "tray", position=(0, 0, 0.1))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)))
        >>> touch = model.apply(ph.Contact(ph.MeshSurface(tray), floor, stiffness=1e5))
        >>> motion = model.simulate(0.16, step=2e-3)
        >>> bool(motion.position(tray.point((0, 0, -0.002)))[:, 2].min() > -1e-3)
        True
    """

    body: PlacedBody
    where: Any = None

    def __post_init__(self) -> None:
        points = self.body.data.points if isinstance(self.body, PlacedBody) else None
        if not isinstance(points, FlexiblePoints):
            raise ModelError(
                f"the body of a MeshSurface must be a placed FlexibleBody or Plate, got {self.body!r}; give other"
                " bodies themselves"
            )
        if self.where is not None:
            positions = points.nodes[points.surface_nodes]
            set_fields(self, where=tuple(selected_points("where", self.where, positions, {}).tolist()))
        if not len(self._node_indices):
            raise ModelError(f"{self} has no places: no corner of the surface is where it says")

    @property
    def _points(self) -> FlexiblePoints:
        points = self.body.data.points
        assert isinstance(points, FlexiblePoints), "asked where it is made"
        return points

    @cached_property
    def _node_indices(self) -> IntArray:
        """Return the indices, in the mesh, of the surface nodes of a body that can touch in a contact, shape (k,).
        They are all surface nodes, or those selected by the user's ``where``. The array is cached."""
        every = self._points.surface_nodes
        return every if self.where is None else every[np.asarray(self.where, dtype=np.int64)]

    @property
    def positions(self) -> Array:
        """Return the positions of the surface nodes of a meshed body that can touch in a contact, shape (k, 3)
        [m]. They are in body axes for the undeformed body."""
        return np.asarray(self._points.nodes[self._node_indices])

    @cached_property
    def ports(self) -> tuple[Attachment, ...]:
        """Return the surface nodes of a meshed body that can touch in a contact, as points of the body."""
        return tuple(Attachment(self.body, SurfaceNode(int(number))) for number in self._node_indices)

    def __repr__(self) -> str:
        return f"MeshSurface({self.body.name})"
