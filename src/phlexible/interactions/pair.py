"""What forces, drives and controllers need to know of a joint: two ports and coordinates between them."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from phlexible.errors import ModelError
from phlexible.interactions.coordinates import Coordinate
from phlexible.ports.attachments import Attachment, Port


@dataclass(frozen=True, eq=False, repr=False)
class KinematicPair(ABC):
    """Two ports that a joint connects, and the coordinates that it leaves free. Compared by identity.

    Attributes:
        first: the port whose body carries the joint's axes.
        second: the port on which reactions are reported.

    Raises:
        ModelError: no ports, both on the ground, or both on one body.
    """

    first: Port
    second: Port

    coordinate_names: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_ports(self, self.first, self.second)
        expect(self, self.first, self.second)

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """The coordinates that the joint leaves free, named as in ``coordinate_names``.

        Raises:
            ModelError: an angle of a port without orientation.
        """
        return ()

    def coordinate(self, dimension: int, name: str | None = None) -> Coordinate:
        """The coordinate of a name; None: the only one.

        Raises:
            ModelError: there is none of that name, or more than one without a name; lists them.
        """
        name = self.coordinate_name(name)
        return next(each for each in self.coordinates(dimension) if each.name == name)

    def initial_coordinate(self, dimension: int, name: str | None = None) -> float:
        """Value of a coordinate at the initial pose [rad or m]."""
        return self.coordinate(dimension, name).initial_value()

    def coordinate_name(self, of: str | None) -> str:
        """The name of the coordinate meant; None: of the only one.

        Raises:
            ModelError: there is none of that name, or no name and not exactly one coordinate.
        """
        names = self.coordinate_names
        if of is None and len(names) == 1:
            return names[0]
        if isinstance(of, str) and of in names:
            return of
        listed = ", ".join(repr(each) for each in names) or "no coordinate"
        if of is None and names:
            raise ModelError(f"{self} has several coordinates; say which with of=: {listed}")
        raise ModelError(f"{self} has no coordinate {'' if of is None else of!r}; it has: {listed}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.first}, {self.second})"


def check_ports(part: object, first: object, second: object) -> None:
    """Refuses ports that are none, both on the ground, or on one body.

    Raises:
        ModelError: says which.
    """
    for port in (first, second):
        if not isinstance(port, Port):
            raise ModelError(
                f"{type(part).__name__} takes two ports such as beam.end or ground.at(...), got {port!r}"
            )
    bodies = [port.placed for port in (first, second) if isinstance(port, Attachment)]
    if not bodies:
        raise ModelError(f"{part} connects the ground with itself; one port must be on a body")
    if len(bodies) == 2 and bodies[0] is bodies[1]:
        raise ModelError(f"{part} connects {bodies[0].name} with itself")


def expect(part: object, *ports: Port) -> None:
    """The bodies of the ports wait for a part that was made: it does nothing before a model gets it."""
    for port in ports:
        if isinstance(port, Attachment):
            port.placed.expect(part)


def receive(part: object, *ports: Port) -> None:
    """They wait no longer: a model got the part, refused it with a message, or another takes its place."""
    for port in ports:
        if isinstance(port, Attachment):
            port.placed.receive(part)
