"""Contact: surfaces, gaps between them, single contacts and contacts among many (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import pi, sqrt
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from phlexible.algebra.arrays import Array, finite, flag, hold_own, unit_vector
from phlexible.algebra.fields import Name, NonNegative, Positive, convert_fields, set_fields
from phlexible.description.interactions.force_elements import (
    BRISTLE_DAMPING,
    Bristle,
    CoordinateForce,
    Coulomb,
    Exponent,
    ForceElement,
    OneSided,
    bristle_of,
)
from phlexible.description.interactions.functions import (
    AXES,
    BilinearTerm,
    Chord,
    Coordinate,
    DirectionOf,
    DistanceCoordinate,
    PointOf,
    PositionCoordinate,
    Row,
    WorldAxis,
    between,
    check_ports,
    expect,
    perpendicular_axes,
    single,
)
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody, Port
from phlexible.description.references import references
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError, ParameterError
from phlexible.shapes.solids import Box, Cylinder, Shape, Sphere

# Gaps that are no plain distance: from round and cornered shapes, from a piece of a line; with sliding along them.
#
# The kernels know them by their classes; discrete derivatives are in docs/theory.md, 8.


@dataclass(frozen=True, eq=False)
class GapCoordinate(Coordinate):
    """A length that no joint has and no drive holds."""

    def driven_row(self, path: TimePath) -> Row:
        """A gap is not driven.

        Raises:
            ParameterError: always.
        """
        raise ParameterError(f"{path.name}: a gap cannot be driven")

    @property
    def unit(self) -> str:
        """Unit of the gap: m."""
        return "m"


@dataclass(frozen=True, eq=False)
class RoundedCoordinate(GapCoordinate):
    """The length of (q_1, q_2, ...) with q_i what is left of (x_b - x_a).d_i beyond a zone -a_i .. a_i (8.26).

    Attributes:
        first: a, carries the directions.
        second: b.
        directions: d_i at right angles.
        zones: a_i [m].
    """

    first: Port
    second: Port
    directions: tuple[DirectionOf, ...]
    zones: tuple[float, ...]

    def functions(self) -> tuple[Row, ...]:
        """(x_b - x_a).d_i."""
        chord = between(self.first, self.second)
        return tuple(Row((BilinearTerm(1.0, chord, single(d)),), 0.0, self.name) for d in self.directions)

    def _left(self, y: Array) -> Array:
        zones = np.array(self.zones)
        return np.asarray(y - np.clip(y, -zones, zones))

    def value(self, y: Array) -> float:
        """|q|."""
        return float(np.linalg.norm(self._left(y)))

    def gradient(self, y: Array) -> Array:
        """q / |q|."""
        q, length = self._left(y), self.value(y)
        return q / length if length else np.zeros(len(y))

    def hessian(self, y: Array) -> Array:
        """(I - n n^T) / |q| where q is not zero."""
        length, n = self.value(y), self.gradient(y)
        beyond = np.diag((self._left(y) != 0).astype(np.float64))
        return (beyond - np.outer(n, n)) / length if length else np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class SegmentCoordinate(GapCoordinate):
    """The distance of a point from a straight piece of a line: |r - t s|, t = r.s / s.s between 0 and 1 (8.27).

    Attributes:
        first, end: of the piece; s = x_end - x_first.
        second: the point; r = x_second - x_first.
    """

    first: Port
    end: Port
    second: Port

    def functions(self) -> tuple[Row, ...]:
        """r.r, r.s, s.s."""
        r, s = between(self.first, self.second), between(self.first, self.end)
        return tuple(Row((BilinearTerm(1.0, a, b),), 0.0, self.name) for a, b in ((r, r), (r, s), (s, s)))

    def _place(self, y: Array) -> float:
        return float(np.clip(y[1] / y[2], 0.0, 1.0))

    def value(self, y: Array) -> float:
        """sqrt(r.r - 2 t r.s + t^2 s.s)."""
        t = self._place(y)
        return float(np.sqrt(max(y[0] - 2 * t * y[1] + t * t * y[2], 0.0)))

    def gradient(self, y: Array) -> Array:
        """(1, -2 t, t^2) / 2 value."""
        t, length = self._place(y), self.value(y)
        return np.array([1.0, -2 * t, t * t]) / (2 * length) if length else np.zeros(3)

    def hessian(self, y: Array) -> Array:
        """Where the value is not zero."""
        t, length, g = self._place(y), self.value(y), self.gradient(y)
        if not length:
            return np.zeros((3, 3))
        bend = np.zeros((3, 3))
        if 0 < y[1] / y[2] < 1:
            bend[1:, 1:] = np.array([[-2.0, 2 * t], [2 * t, -2 * t * t]]) / y[2]
        return bend / (2 * length) - np.outer(g, g) / length


@dataclass(frozen=True, eq=False)
class SlidingCoordinate(PositionCoordinate):
    """The gap of a point to a plane and where the point is along the plane; theta is the gap [m]."""

    across: tuple[DirectionOf, ...]

    def functions(self) -> tuple[Row, ...]:
        """(x_b - x_a) . d with the normal d, then with directions along the plane."""
        chord = between(self.first, self.second)
        along = [Row((BilinearTerm(1.0, chord, single(d)),), 0.0, "along the plane") for d in self.across]
        return (*super().functions(), *along)

    def gradient(self, y: Array) -> Array:
        """(1, 0, ...)."""
        return np.asarray(np.eye(len(y))[0], dtype=np.float64)

    def hessian(self, y: Array) -> Array:
        """0."""
        return np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False)
class RubbingCoordinate(GapCoordinate):
    """A gap, and how the touching places of both bodies slide past each other (8.28).

    Its last functions are the components of sum_k c_k x_k, whose coefficients c_k the kernels find in each step,
    and, where turns are resisted, those of the turn psi (8.46).

    Attributes:
        gap: the coordinate.
        toucher: port with the centre.
        carriers: ports of the surface: one, or two ends of a piece.
        radius: of the sphere that touches [m].
        dimension: 2 or 3.
        resists_turns: whether there is resistance to rolling or drilling.
    """

    gap: Coordinate
    toucher: Port
    carriers: tuple[Port, ...]
    radius: float
    dimension: int
    resists_turns: bool = False

    @property
    def points(self) -> int:
        """Points in the sum: the centre, then those of the surface."""
        return 1 + len(self.carriers)

    @property
    def turning(self) -> int:
        """Directions of the touching body in the sum."""
        return self.dimension if self.radius and self.toucher.has_orientation else 0

    def functions(self) -> tuple[Row, ...]:
        """Those of the gap, then the components of sliding."""
        parts: list[tuple[float, PointOf | DirectionOf]] = [(1.0, PointOf(self.toucher))]
        parts += [(-1.0, PointOf(port)) for port in self.carriers]
        if self.turning:
            parts += [(0.0, DirectionOf(self.toucher, axis)) for axis in AXES[: self.dimension]]
        if len(self.carriers) == 1 and _turns(self.carriers[0]):
            parts += [(0.0, DirectionOf(self.carriers[0], axis)) for axis in AXES[: self.dimension]]
        chord = Chord(tuple(parts))
        along = (
            Row((BilinearTerm(1.0, chord, single(WorldAxis(e))),), 0.0, "sliding") for e in AXES[: self.dimension]
        )
        return (*self.gap.functions(), *along, *self._turning_rows(Chord(tuple(parts[self.points :]))))

    def _turning_rows(self, directions: Chord) -> Iterator[Row]:
        if self.resists_turns:
            for axis in AXES if self.dimension == 3 else AXES[2:]:
                yield Row((BilinearTerm(1.0, directions, single(WorldAxis(axis))),), 0.0, "turning")

    @property
    def gap_count(self) -> int:
        """Functions of the gap."""
        return len(self.gap.functions())

    def value(self, y: Array) -> float:
        """Of the gap."""
        return self.gap.value(y[: self.gap_count])

    def gradient(self, y: Array) -> Array:
        """Zero beyond the gap."""
        return np.concatenate([self.gap.gradient(y[: self.gap_count]), np.zeros(len(y) - self.gap_count)])

    def hessian(self, y: Array) -> Array:
        """Zero beyond the gap."""
        result = np.zeros((len(y), len(y)))
        result[: self.gap_count, : self.gap_count] = self.gap.hessian(y[: self.gap_count])
        return result


def _turns(port: Port) -> bool:
    if isinstance(port, MovingFrame):
        return not port.is_fixed
    return isinstance(port, Attachment) and port.has_orientation


# Surfaces that a port carries, for contacts: planes, spheres, cylinders, boxes, capsules (docs/theory.md, 8).


class Gap(NamedTuple):
    """A coordinate and where the surface is along it.

    Attributes:
        coordinate: of the point, or the centre of a sphere.
        surface: its value on the surface [m].
        side: 1: matter is where it is less, -1: where it is more.
    """

    coordinate: Coordinate
    surface: float
    side: float = 1.0


@dataclass(frozen=True, eq=False)
class Touchable(ABC):
    """What points and spheres touch. Made of ports and of directions in world axes at the initial pose."""

    def __post_init__(self) -> None:
        convert_fields(self)
        hold_own(self)
        for name in (each for each in PORTS if hasattr(self, each)):
            if not isinstance(port := getattr(self, name), Port):
                raise ModelError(
                    f"{type(self).__name__}: {name} must be a port such as ground.at((0, 0, 0)), got {port!r}"
                )

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports that carry the surface."""
        return tuple(each for each in references(self) if isinstance(each, Port))

    @property
    def carrier(self) -> Port:
        """The first of them."""
        return self.ports[0]

    @property
    @abstractmethod
    def thickness(self) -> float:
        """How deep a point may start is a share of it; 0: it is not thick [m]."""

    @property
    def needs_radius(self) -> bool:
        """Whether only spheres touch it: it has edges."""
        return False

    @abstractmethod
    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """Where a point is from it.

        Raises:
            ModelError: a port without an orientation that is needed.
            ParameterError: in the plane, a direction that leaves it.
        """

    def _oriented(self, port: Port) -> Port:
        if not port.has_orientation:
            raise ModelError(f"{type(self).__name__}: {port} has no orientation and carries none")
        return port


PORTS = ("port", "start", "end")


@dataclass(frozen=True, eq=False)
class Plane(Touchable):
    """A plane through a port; bodies are on the side that the normal points to.

    Attributes:
        port: of the ground or a body, which carries it.
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
        >>> print(round(motion.position(ball.origin)[:, 2].min(), 3))  # it goes 5 mm into the floor
        0.095
    """

    port: Port
    normal: ArrayLike = field(default=(0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self.unit_normal()

    def unit_normal(self) -> Array:
        """The normal divided by its length, shape (3,)."""
        return unit_vector("normal", self.normal)

    @property
    def thickness(self) -> float:
        """Distance of the surface from the plane [m]: zero."""
        return 0.0

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """The height above it."""
        normal = self.unit_normal()
        if normal[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"normal of {self} must {where}, got {self.normal!r}")
        up = DirectionOf(self._oriented(self.port), normal)
        return (Gap(PositionCoordinate("gap", self.port, other, up), 0.0),)


@dataclass(frozen=True, eq=False)
class Surface(Touchable):
    """The surface of a shape about a port, which carries it.

    Attributes:
        port: the center of the shape.
        shape: a ``Sphere``, a ``Cylinder``, which goes on beyond its ends, or a ``Box``, whose edges only spheres
            touch; axes are those of the port's body, on the ground x, y, z. In the plane circles and rectangles.
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
        if not isinstance(self.shape, Sphere | Cylinder | Box):
            raise ModelError(f"Surface: shape must be a Sphere, Cylinder or Box, got {self.shape!r}")
        if self.shape.center is not None:
            raise ModelError(f"{self.shape!r} has center=; leave it out and give Surface a port at that place")
        flag("inside", self.inside)

    @property
    def thickness(self) -> float:
        """The radius, or the shortest edge."""
        if isinstance(self.shape, Sphere | Cylinder):
            return self.shape.radius
        return float(np.min(np.asarray(self._box.size)))

    @property
    def needs_radius(self) -> bool:
        """Of a box from outside."""
        return isinstance(self.shape, Box) and not self.inside

    @property
    def _box(self) -> Box:
        assert isinstance(self.shape, Box), "asked for where it is one"
        return self.shape

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """The distance from center or axis, from a box, or the places between its faces."""
        side = -1.0 if self.inside else 1.0
        if isinstance(self.shape, Box):
            return self._box_gaps(other, dimension)
        is_round = isinstance(self.shape, Sphere)
        if isinstance(self.shape, Cylinder) and dimension < 3:
            if np.abs(self._turned(np.asarray(self.shape.axis))[:dimension]).any():
                raise ParameterError(f"axis of {self.shape} must be z in the plane")
            is_round = True
        if is_round:
            return (Gap(DistanceCoordinate("gap", self.port, other), self.thickness, side),)
        assert isinstance(self.shape, Cylinder), "what is left"
        axis = self._turned(np.asarray(self.shape.axis))
        across = tuple(DirectionOf(self._oriented(self.port), each) for each in perpendicular_axes(axis))
        return (Gap(RoundedCoordinate("gap", self.port, other, across, (0.0, 0.0)), self.thickness, side),)

    def _box_gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        half = np.asarray(self._box.size, dtype=np.float64)[:dimension] / 2
        along = tuple(DirectionOf(self._oriented(self.port), self._turned(axis)) for axis in AXES[:dimension])
        if not self.inside:
            return (Gap(RoundedCoordinate("gap", self.port, other, along, tuple(half.tolist())), 0.0),)
        places = [PositionCoordinate("gap", self.port, other, each) for each in along]
        return tuple(
            Gap(place, -side * float(end), side)
            for place, end in zip(places, half, strict=True)
            for side in (1.0, -1.0)
        )

    def _turned(self, axis: Array) -> Array:
        """A direction of the shape, world axes at the initial pose."""
        return self.port.placed.rotation @ axis if isinstance(self.port, Attachment) else axis


@dataclass(frozen=True, eq=False)
class Capsule(Touchable):
    """A straight piece between two ports with a radius, round at its ends: of a beam, a rod or a string.

    Attributes:
        start, end: of one body or of two, nodes of strings.
        radius: [m].
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
        """Distance of the surface from its axis: the radius [m]."""
        return self.radius

    def gaps(self, other: Port, dimension: int) -> tuple[Gap, ...]:
        """The distance from the piece."""
        return (Gap(SegmentCoordinate("gap", self.start, self.end, other), self.radius),)


# Contact of points, spheres and lines with surfaces (docs/theory.md, 8).

DEEPEST = 0.1  # of the size of a body, at the start
SOLID_BALL = 0.4  # its inertia over m r^2
SHALLOW = 1e-3  # of the radius or size: how deep weights go, where stiffness is left out
SIZE = 0.1  # of points on planes, which have none [m]
GRAVITY = 9.81  # [m/s2]
PATCH, HERTZ_PATCH = (
    2 / 3,
    3 * pi / 16,
)  # mean lever of friction over the radius of the patch: even pressure, Hertz's

Toucher = Port | PlacedBody | PlacedWhole


def _restitution(name: str, value: float | None) -> float | None:
    if value is None or 0 <= finite(name, value) <= 1:
        return None if value is None else float(value)
    raise ParameterError(f"{name} must be between 0 and 1, got {value!r}")


@dataclass(frozen=True, eq=False, repr=False)
class Contact(ForceElement):
    """Points, spheres or the nodes of a line that a surface pushes away where they meet.

    The normal force is ``max(0, (stiffness + damping dx/dt) x^exponent)`` with the depth x. Friction is
    ``friction`` times that, against sliding at the place that touches; below ``friction_speed`` it falls with the
    speed, so that what sticks creeps, unless a ``bristle`` holds it (8.41). Steps around a contact are taken in
    parts (8.23), ``motion.contact_steps``.

    Attributes:
        first: the point, or the centre of the sphere; or a string, rod or beam, of which all nodes touch.
        second: a ``Plane``, ``Surface`` (sphere, cylinder, box), ``Capsule``, or the centre of another sphere.
        stiffness: of each point [N/m], with the exponent 1.5 [N/m^1.5]. None: by which the weight of what touches,
            on earth, goes a thousandth of its radius or size deep (``repr`` has the number); of two bodies the
            harmonic sum of their masses counts, and nodes of a line share its mass. Give it to what carries more.
        radius: of the sphere or line; with a port as the second the sum of both radii [m].
        damping: after Hunt and Crossley [N s/m^(exponent + 1)].
        friction: coefficient.
        exponent: 1.0, or 1.5 for round bodies.
        friction_speed: [m/s].
        name: for messages; None: made from the ports.
        bristle: stiffness of a spring along the surface that friction bends before the bodies slide, so that they
            stick without creep [N/m]; near ``stiffness`` is a good choice. None: what sticks creeps.
        bristle_damping: of a damper beside it [N s/m]; None: a tenth of the critical one of the body that touches.
        static_friction: coefficient as long as they stick; None: ``friction``.
        restitution: speed after an impact over that before it, 0 to 1, in place of ``damping``; None: that.
        restitution_speed: slower impacts lose less: they are damped as those of this speed [m/s].
        rolling: lever of the normal force whose moment resists rolling, b [m]; a ball stays on a slope below b over
            its radius. With friction, of a sphere that a port with an orientation carries.
        drilling: radius of the patch whose friction resists turns about the normal [m]: of the moment ``friction``
            times the normal force times 2/3 of it, with the exponent 1.5 3 pi/16 of it.

    Raises:
        ParameterError: numbers out of range, or a shape that needs a radius.
        ModelError: no ports, or both on one body.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)), normal=(0, 0, 1))
        >>> ball = model.add(ph.RigidBody.sphere(0.1, density=500.0), "ball", position=(0, 0, 0.1))
        >>> touch = model.apply(ph.Contact(ball.origin, floor, stiffness=1e5, radius=0.1))
        >>> print(model.equilibrium()[ph.ElementForce(touch)].round(6))  # the weight
        20.546016
    """

    first: Toucher
    second: Touchable | Port
    stiffness: Positive | None = None
    radius: NonNegative = 0.0
    damping: NonNegative = 0.0
    friction: NonNegative = 0.0
    exponent: Exponent = 1.0
    friction_speed: Positive = 1e-3
    name: Name = field(default=None, kw_only=True)
    bristle: Positive | None = field(default=None, kw_only=True)
    bristle_damping: NonNegative | None = field(default=None, kw_only=True)
    static_friction: NonNegative | None = field(default=None, kw_only=True)
    restitution: Annotated[float | None, _restitution] = field(default=None, kw_only=True)
    restitution_speed: Positive = field(default=1e-2, kw_only=True)
    rolling: NonNegative = field(default=0.0, kw_only=True)
    drilling: NonNegative = field(default=0.0, kw_only=True)
    is_guessed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        others = self.second.ports if isinstance(self.second, Touchable) else (self.second,)
        for port in self.touchers:
            for other in others:
                check_ports(self, first=port, second=other)
        super().__post_init__()
        if self.stiffness is None:
            set_fields(self, stiffness=self._guessed(), is_guessed=True)
        if isinstance(self.second, Touchable):
            if self.second.needs_radius and not self.radius:
                raise ParameterError(f"{self}: points slip through edges; give radius= of the sphere that touches")
        elif not self.radius:
            raise ParameterError(
                f"{self}: first and second are points, which do not meet; give radius=, the sum of both radii"
            )
        elif self.friction:
            raise ParameterError(
                f"{self}: friction needs to know where they touch; give Surface({self.second}, Sphere(...))"
            )
        if self.restitution is not None and self.damping:
            raise ParameterError(f"{self}: restitution takes the place of damping; give one of them")
        _ = self._sticking
        self._check_turns()
        expect(self, *self.ports)

    def _check_turns(self) -> None:
        if not (self.rolling or self.drilling):
            return
        name = "rolling" if self.rolling else "drilling"
        if not self.friction:
            raise ParameterError(f"{self}: {name} is of bodies that rub; give friction=, too")
        if not self.radius or not self.touchers[0].has_orientation:
            raise ParameterError(f"{self}: {name} is of a sphere that turns; give radius=, and a port of a body")
        others = self.second.ports if isinstance(self.second, Touchable) else (self.second,)
        if len(others) > 1 or (isinstance(others[0], Attachment) and not others[0].has_orientation):
            raise ParameterError(f"{self}: {name} needs a surface whose body turns, or that of the ground")

    @property
    def _mass(self) -> float:
        touching = self.touchers[0]
        return touching.placed.data.mass if isinstance(touching, Attachment) else 0.0

    @property
    def _hard(self) -> float:
        assert self.stiffness is not None, "set where it is made"
        return self.stiffness

    def _guessed(self) -> float:
        """What the weight of what touches presses in by a thousandth of its size."""
        touchers = self.touchers
        sides = [each for each in (touchers[0], self._other) if isinstance(each, Attachment)]
        shares = [len(touchers) if each is touchers[0] else 1 for each in sides]
        mass = 1 / sum(share / each.placed.data.mass for share, each in zip(shares, sides, strict=True))
        thickness = self.second.thickness if isinstance(self.second, Touchable) else 0.0
        sizes = [size for each in sides if (size := each.placed.data.size)]
        size = self.radius or min([*sizes, *([thickness] if thickness else [])], default=SIZE)
        return float(mass * GRAVITY / (SHALLOW * size) ** self.exponent)

    @property
    def _sticking(self) -> Bristle | None:
        own = ("friction", self.friction), ("static_friction", self.static_friction)
        return bristle_of(self, self.bristle, self.bristle_damping, *own, self._mass)

    def _against_turns(self, dimension: int) -> tuple[Bristle | None, Bristle | None]:
        """Of rolling and drilling, as stiff beside a solid ball as the bristle, or the contact, is beside its mass.

        Raises:
            ParameterError: drilling in the plane.
        """
        if self.drilling and dimension < 3:
            raise ParameterError(f"{self}: nothing drills in the plane; leave drilling= out")
        along = self.bristle or self._hard * (SHALLOW * self.radius) ** (self.exponent - 1)
        gyration = SOLID_BALL * self.radius**2
        sticking = self._sticking
        patch = self.friction * self.drilling * (PATCH if self.exponent == 1 else HERTZ_PATCH)
        rolls, drills = (
            Bristle(
                along * gyration,
                2 * BRISTLE_DAMPING * sqrt(along * self._mass) * gyration,
                grip,
                lever,
            )
            for grip, lever in ((1.0, self.rolling), (sticking.grip if sticking else 1.0, patch))
        )
        return rolls if self.rolling else None, drills if self.drilling else None

    @property
    def touchers(self) -> tuple[Port, ...]:
        """The points or centres that touch."""
        return tuple(nodes_of(self.first))

    @property
    def _other(self) -> Port:
        return self.second.carrier if isinstance(self.second, Touchable) else self.second

    @property
    def ports(self) -> tuple[Port, Port]:
        """The surface's or other sphere's, and the first point."""
        return self._other, self.touchers[0]

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """One force along each gap (8.17), with friction along the surface (8.18, 8.28).

        Raises:
            ModelError: the bodies start deep inside each other.
            ParameterError: in the plane, a direction that leaves it.
        """
        friction = None
        if self.friction:
            rolls, drills = self._against_turns(dimension)
            own = (self._sticking, rolls, drills)
            friction = Coulomb(self.friction, self.friction_speed, 0.0, None, *own)
        surface = self.second if isinstance(self.second, Touchable) else Surface(self.second, Sphere(self.radius))
        radius = self.radius if isinstance(self.second, Touchable) else 0.0
        found = []
        for port in self.touchers:
            for gap in surface.gaps(port, dimension):
                push = (self._hard, self.damping, self.exponent, gap.side)
                law = OneSided(*push, self.restitution, self.restitution_speed)
                rest = gap.surface + gap.side * radius
                self._check_depth(port, gap.side * (rest - gap.coordinate.initial_value()), surface)
                coordinate = self._coordinate(gap, port, surface, dimension)
                found.append(CoordinateForce(coordinate, rest=rest, contact=law, friction=friction))
        return tuple(found)

    def _check_depth(self, port: Port, depth: float, surface: Touchable) -> None:
        size = port.placed.data.size if isinstance(port, Attachment) else 0.0
        most = self.radius or DEEPEST * (size if not surface.thickness else surface.thickness)
        if most and depth >= most:
            raise ModelError(f"{self} starts {depth:g} m deep at {port}; place the bodies apart")

    def _coordinate(self, gap: Gap, port: Port, surface: Touchable, dimension: int) -> Coordinate:
        if not self.friction:
            return gap.coordinate
        turns = self.radius and port.has_orientation
        if isinstance(surface, Plane) and isinstance(gap.coordinate, PositionCoordinate) and not turns:
            normal = surface.unit_normal()
            along = tuple(DirectionOf(surface.port, each) for each in perpendicular_axes(normal)[: dimension - 1])
            return SlidingCoordinate("gap", surface.port, port, gap.coordinate.direction, along)
        if dimension == 1:
            raise ParameterError(f"{self}: there is no friction on a line")
        resists_turns = bool(self.rolling or self.drilling)
        return RubbingCoordinate("gap", gap.coordinate, port, surface.ports, self.radius, dimension, resists_turns)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        first = self.first.name if isinstance(self.first, PlacedBody | PlacedWhole) else self.first
        guessed = f"; stiffness {self.stiffness:.3g}, guessed" if self.is_guessed else ""
        return f"Contact({first}, {self._other}{guessed})"


def nodes_of(target: Toucher) -> Iterator[Port]:
    """The points of a line that touch, or the port itself."""
    if isinstance(target, PlacedWhole):
        yield from target.nodes()
    elif not isinstance(target, PlacedBody):
        yield target
    elif places := target.body.places_along():
        yield from (target.at(x) for x in places)
    else:
        raise ModelError(
            f"Contact: first must be a port such as {target.name}.origin, or a string, rod or beam, got {target!r}"
        )


# Contact among many: spheres, capsules and whole lines, searched where they are near (docs/theory.md, 8).

Touching = Port | Capsule | PlacedBody | PlacedWhole


class Member(NamedTuple):
    """A sphere, where both ports are one, or a piece of a line with round ends.

    Attributes:
        start, end: of its axis.
        radius: [m].
        side: 1: meets those of side 2, 2: those of side 1, 3: all.
        owner: members with one do not meet.
    """

    start: Port
    end: Port
    radius: float
    side: int
    owner: object


def _listed(name: str, value: Sequence[Touching]) -> tuple[Touching, ...]:
    if isinstance(value, Touching) or not isinstance(value, Sequence):
        raise ModelError(f"{name} of Contacts takes a list of ports, capsules and lines, got {value!r}")
    for each in value:
        if not isinstance(each, Touching):
            raise ModelError(f"{name} of Contacts takes ports, capsules, strings, rods and beams, got {each!r}")
        for port in each.ports if isinstance(each, Capsule) else (each,):
            if isinstance(port, MovingFrame) and not port.is_fixed:
                raise ParameterError(f"Contacts: {port} moves as a function of time; use Contact with a Surface")
    return tuple(value)


@dataclass(frozen=True, eq=False, repr=False)
class Contacts(ForceElement):
    """Many spheres and lines that push each other apart where they meet (8.32).

    Who may touch is searched by a sweep, so that a thousand of them cost little; no pair is missed. The normal
    force is that of ``Contact``, steps around contacts are taken in parts as there. Without friction. Members on
    one body do not meet.

    Attributes:
        first: ports (centres of spheres), ``Capsule``, and strings, rods or beams, whose pieces between two nodes
            are capsules.
        second: the same; those of ``first`` meet these only. None: they meet each other.
        stiffness: of each pair [N/m], with the exponent 1.5 [N/m^1.5].
        radius: of spheres and lines of ``first``; a ``Capsule`` has its own [m].
        second_radius: of ``second``; None: the same [m].
        damping: after Hunt and Crossley [N s/m^(exponent + 1)].
        exponent: 1.0, or 1.5 for round bodies.
        name: for messages; None: made from the first members.

    Raises:
        ParameterError: numbers out of range.
        ModelError: no pairs of bodies, or parts that are none.
    """

    first: Annotated[Sequence[Touching], _listed]
    second: Annotated[Sequence[Touching], _listed] | None = None
    stiffness: Positive = field(kw_only=True)
    radius: Positive = field(kw_only=True)
    second_radius: NonNegative | None = field(default=None, kw_only=True)
    damping: NonNegative = field(default=0.0, kw_only=True)
    exponent: Exponent = field(default=1.0, kw_only=True)
    name: Name = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.second_radius is None:
            set_fields(self, second_radius=self.radius)
        members = self.members
        owners = {each.owner for each in members}
        if len(owners) < 2 or not self.first or (self.second is not None and not self.second):
            raise ModelError(f"{self}: no pairs of bodies: give two or more as first, or others as second")
        expect(self, *dict.fromkeys(port for each in members for port in (each.start, each.end)))

    @property
    def members(self) -> tuple[Member, ...]:
        """All spheres and pieces."""
        side, other = (3, 3) if self.second is None else (1, 2)
        found = [piece for each in self.first for piece in _pieces(each, self.radius, side)]
        assert self.second_radius is not None, "set above"
        found += [piece for each in self.second or () for piece in _pieces(each, self.second_radius, other)]
        return tuple(found)

    @property
    def ports(self) -> tuple[Port, Port]:
        """The first and the last port of the group, for what expects two."""
        members = self.members
        return members[0].start, members[-1].end

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """None along a coordinate: pairs change.

        Raises:
            ModelError: members start deep inside each other.
        """
        self._check_depth()
        return ()

    def is_lossy(self, dimension: int) -> bool:
        """With damping."""
        return self.damping > 0

    def _check_depth(self) -> None:
        """Of the centres of spheres, and of the middles and ends of pieces, as far as these tell."""
        members = self.members
        starts = np.array([each.start.initial_position() for each in members])
        ends = np.array([each.end.initial_position() for each in members])
        radius = np.array([each.radius for each in members])
        half = np.linalg.norm(ends - starts, axis=1) / 2
        tree = cKDTree((starts + ends) / 2)
        for i, j in sorted(tree.query_pairs(2 * float((half + radius).max()))):
            one, other = members[i], members[j]
            if one.owner == other.owner or one.side | other.side != 3:
                continue
            reach = radius[i] + radius[j]
            depth = reach - distance(starts[i], ends[i], starts[j], ends[j])
            if depth > DEEPEST * reach:
                raise ModelError(
                    f"{self} starts {depth:g} m deep, {one.start} and {other.start}; place the bodies apart,"
                    " or leave out those that a joint connects"
                )

    def __repr__(self) -> str:
        return self.name or f"Contacts({len(self.first)}{'' if self.second is None else f', {len(self.second)}'})"


def _pieces(each: Touching, radius: float, side: int) -> Iterator[Member]:
    if isinstance(each, Capsule):
        yield Member(each.start, each.end, each.radius, side, _owner(each.start))
    elif isinstance(each, PlacedBody | PlacedWhole):
        yield from (Member(a, b, radius, side, each.name) for a, b in pairwise(nodes_of(each)))
    else:
        yield Member(each, each, radius, side, _owner(each))


def _owner(port: Port) -> object:
    return port.placed.name if isinstance(port, Attachment) else None


def distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """Of two pieces a b and c d, by the ends of each and the other, and where their lines are closest."""
    u, v, r = b - a, d - c, a - c
    matrix = np.array([[u @ u, -u @ v], [-u @ v, v @ v]])
    s, t = np.clip(np.linalg.lstsq(matrix, np.array([-u @ r, v @ r]), rcond=None)[0], 0, 1)
    places = [(s, _place(a + s * u, c, v)), (_place(c + t * v, a, u), t)]
    places += [(end, _place(a + end * u, c, v)) for end in (0.0, 1.0)]
    places += [(_place(c + end * v, a, u), end) for end in (0.0, 1.0)]
    return min(float(np.linalg.norm(r + s * u - t * v)) for s, t in places)


def _place(x: Array, start: Array, along: Array) -> float:
    """Where a piece is nearest to a point, 0 to 1."""
    size = float(along @ along)
    return float(np.clip((x - start) @ along / size, 0, 1)) if size else 0.0
