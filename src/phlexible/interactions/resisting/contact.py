"""Contact of points and spheres with planes and spheres (docs/theory.md, 8)."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, non_negative, positive, unit_vector
from phlexible.algebra.options import optional_text
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.coordinates import Coordinate, DistanceCoordinate, PositionCoordinate
from phlexible.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.interactions.functions import DirectionOf, Row, Term, between, perpendicular_axes, single
from phlexible.interactions.pair import check_ports, expect
from phlexible.interactions.resisting.one_sided import Coulomb, OneSided
from phlexible.ports.attachments import Attachment, Port

DEEPEST = 0.1  # of the size of a body, at the start


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane through a port; bodies are on the side that the normal points to.

    Attributes:
        port: of the ground or a body, which carries it.
        normal: world axes at the initial pose, shape (3,).

    Raises:
        ModelError: no port.
        ParameterError: no direction.
    """

    port: Port
    normal: ArrayLike = field(default=(0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        if not isinstance(self.port, Port):
            raise ModelError(f"Plane takes a port such as ground.at((0, 0, 0)), got {self.port!r}")
        self.unit_normal()

    def unit_normal(self) -> Array:
        """The normal divided by its length, shape (3,)."""
        return unit_vector("normal", self.normal)


@dataclass(frozen=True, eq=False)
class SlidingCoordinate(PositionCoordinate):
    """The gap to a plane and, for friction, where the point is along the plane; theta is the gap [m]."""

    across: tuple[DirectionOf, ...]

    def functions(self) -> tuple[Row, ...]:
        """(x_b - x_a) . d with the normal d, then with directions along the plane."""
        chord = between(self.first, self.second)
        along = [Row((Term(1.0, chord, single(d)),), 0.0, "along the plane") for d in self.across]
        return (*super().functions(), *along)

    def gradient(self, y: Array) -> Array:
        """(1, 0, ...)."""
        return np.asarray(np.eye(len(y))[0], dtype=np.float64)

    def hessian(self, y: Array) -> Array:
        """0."""
        return np.zeros((len(y), len(y)))


@dataclass(frozen=True, eq=False, repr=False)
class Contact(ForceElement):
    """A point or sphere that a plane or another sphere pushes away where they meet.

    The normal force is ``max(0, (stiffness + damping dx/dt) x^exponent)`` with the depth x. Friction is
    ``friction`` times that, against sliding; below ``friction_speed`` it falls with the speed, so that what sticks
    creeps. A ``StepWarning`` says where steps were longer than 0.3 / omega of a contact, see docs/contact.md.

    Attributes:
        first: the point, or the centre of the sphere.
        second: a ``Plane``, or the centre of another sphere.
        stiffness: [N/m], with the exponent 1.5 [N/m^1.5].
        radius: of the sphere; of two spheres the sum of their radii [m].
        damping: after Hunt and Crossley [N s/m^(exponent + 1)].
        friction: coefficient; of points on planes.
        exponent: 1.0, or 1.5 for round bodies.
        friction_speed: [m/s].
        name: for messages; None: made from the ports.

    Raises:
        ParameterError: numbers out of range, or friction of spheres.
        ModelError: no ports, or both on one body.
    """

    first: Port
    second: "Plane | Port"
    stiffness: float
    radius: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    exponent: float = 1.0
    friction_speed: float = 1e-3
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_ports(self, self.first, self._other)
        object.__setattr__(self, "name", optional_text("name", self.name))
        law = OneSided(self.stiffness, self.damping, self.exponent)
        for name in ("stiffness", "damping", "exponent"):
            object.__setattr__(self, name, getattr(law, name))
        for name in ("radius", "friction"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))
        object.__setattr__(self, "friction_speed", positive("friction_speed", self.friction_speed))
        is_plane = isinstance(self.second, Plane)
        if not is_plane and not self.radius:
            raise ParameterError(f"{self}: two points do not meet; give radius=, the sum of both radii")
        if self.friction and not (is_plane and not (self.radius and self.first.has_orientation)):
            raise ParameterError(
                f"{self}: friction needs points on a plane (radius=0), or spheres that do not turn; got a"
                f" radius of {self.radius:g}"
            )
        expect(self, *self.ports)

    @property
    def _other(self) -> Port:
        return self.second.port if isinstance(self.second, Plane) else self.second

    @property
    def ports(self) -> tuple[Port, Port]:
        """The plane's or other sphere's, and the point."""
        return self._other, self.first

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """One force along the gap (8.17), with friction along the plane (8.18).

        Raises:
            ModelError: the bodies start deep inside each other.
            ParameterError: in the plane, a normal that leaves it.
        """
        coordinate = self._coordinate(dimension)
        depth = self.radius - coordinate.initial_value()
        size = self.first.placed.data.size if isinstance(self.first, Attachment) else 0.0
        if (self.radius and depth >= self.radius) or (not self.radius and size and depth > DEEPEST * size):
            raise ModelError(f"{self} starts {depth:g} m deep; place the bodies apart")
        law = OneSided(self.stiffness, self.damping, self.exponent)
        friction = Coulomb(self.friction, self.friction_speed) if self.friction else None
        return (CoordinateForce(coordinate, rest=self.radius, contact=law, friction=friction),)

    def _coordinate(self, dimension: int) -> Coordinate:
        if not isinstance(self.second, Plane):
            return DistanceCoordinate("gap", self.second, self.first)
        port, normal = self.second.port, self.second.unit_normal()
        if normal[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"normal of {self} must {where}, got {self.second.normal!r}")
        if not port.has_orientation:
            raise ModelError(f"{self}: {port} has no orientation and carries no plane")
        up = DirectionOf(port, normal)
        if not self.friction:
            return PositionCoordinate("gap", port, self.first, up)
        along = tuple(DirectionOf(port, each) for each in perpendicular_axes(normal)[: dimension - 1])
        return SlidingCoordinate("gap", port, self.first, up, along)

    def __repr__(self) -> str:
        return self.name or f"Contact({self.first}, {self._other})"
