"""Contact of points, spheres and lines with surfaces (docs/theory.md, 8)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from phlexible.algebra.arrays import non_negative, positive
from phlexible.algebra.options import optional_text
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.coordinates import Coordinate, PositionCoordinate
from phlexible.interactions.force_elements import CoordinateForce, ForceElement
from phlexible.interactions.functions import DirectionOf, perpendicular_axes
from phlexible.interactions.pair import check_ports, expect
from phlexible.interactions.resisting.gaps import RubbingCoordinate, SlidingCoordinate
from phlexible.interactions.resisting.one_sided import Coulomb, OneSided
from phlexible.interactions.resisting.surfaces import Gap, Plane, Surface, Touchable
from phlexible.ports.attachments import Attachment, PlacedBody, Port
from phlexible.ports.placed_whole import PlacedWhole
from phlexible.shapes.solids import Sphere

DEEPEST = 0.1  # of the size of a body, at the start

Toucher = Port | PlacedBody | PlacedWhole


@dataclass(frozen=True, eq=False, repr=False)
class Contact(ForceElement):
    """Points, spheres or the nodes of a line that a surface pushes away where they meet.

    The normal force is ``max(0, (stiffness + damping dx/dt) x^exponent)`` with the depth x. Friction is
    ``friction`` times that, against sliding at the place that touches; below ``friction_speed`` it falls with the
    speed, so that what sticks creeps. Steps around a contact are taken in parts (8.23), ``motion.contact_steps``.

    Attributes:
        first: the point, or the centre of the sphere; or a string, rod or beam, of which all nodes touch.
        second: a ``Plane``, ``Surface`` (sphere, cylinder, box), ``Capsule``, or the centre of another sphere.
        stiffness: of each point [N/m], with the exponent 1.5 [N/m^1.5].
        radius: of the sphere or line; with a port as the second the sum of both radii [m].
        damping: after Hunt and Crossley [N s/m^(exponent + 1)].
        friction: coefficient.
        exponent: 1.0, or 1.5 for round bodies.
        friction_speed: [m/s].
        name: for messages; None: made from the ports.

    Raises:
        ParameterError: numbers out of range, or a shape that needs a radius.
        ModelError: no ports, or both on one body.
    """

    first: Toucher
    second: Touchable | Port
    stiffness: float
    radius: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    exponent: float = 1.0
    friction_speed: float = 1e-3
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        others = self.second.ports if isinstance(self.second, Touchable) else (self.second,)
        for port in self.touchers:
            for other in others:
                check_ports(self, port, other)
        object.__setattr__(self, "name", optional_text("name", self.name))
        law = OneSided(self.stiffness, self.damping, self.exponent)
        for name in ("stiffness", "damping", "exponent"):
            object.__setattr__(self, name, getattr(law, name))
        for name in ("radius", "friction"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))
        object.__setattr__(self, "friction_speed", positive("friction_speed", self.friction_speed))
        if isinstance(self.second, Touchable):
            if self.second.needs_radius and not self.radius:
                raise ParameterError(f"{self}: points slip through edges; give radius= of the sphere that touches")
        elif not self.radius:
            raise ParameterError(f"{self}: two points do not meet; give radius=, the sum of both radii")
        elif self.friction:
            raise ParameterError(
                f"{self}: friction needs to know where they touch; give Surface({self.second}, Sphere(...))"
            )
        expect(self, *self.ports)

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

    @property
    def every_port(self) -> tuple[Port, ...]:
        """All that touch, and what carries the surface."""
        others = self.second.ports if isinstance(self.second, Touchable) else (self.second,)
        return (*others, *self.touchers)

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """One force along each gap (8.17), with friction along the surface (8.18, 8.28).

        Raises:
            ModelError: the bodies start deep inside each other.
            ParameterError: in the plane, a direction that leaves it.
        """
        friction = Coulomb(self.friction, self.friction_speed) if self.friction else None
        surface = self.second if isinstance(self.second, Touchable) else Surface(self.second, Sphere(self.radius))
        radius = self.radius if isinstance(self.second, Touchable) else 0.0
        found = []
        for port in self.touchers:
            for gap in surface.gaps(port, dimension):
                law = OneSided(self.stiffness, self.damping, self.exponent, gap.side)
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
        return RubbingCoordinate("gap", gap.coordinate, port, surface.ports, self.radius, dimension)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        first = self.first.name if isinstance(self.first, PlacedBody | PlacedWhole) else self.first
        return f"Contact({first}, {self._other})"


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
            f"Contact takes a port such as {target.name}.origin, or a string, rod or beam, got {target!r}"
        )
