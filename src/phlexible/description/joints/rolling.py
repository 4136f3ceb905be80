"""Rolling without slip of balls and wheels on a plane (docs/theory.md, 8)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, Name, Positive, convert_fields, make_immutable, set_fields, unit_vector
from phlexible.description.interactions.functions import (
    AXES,
    Bilinear,
    BilinearTerm,
    Coordinate,
    DirectionOf,
    PositionCoordinate,
    as_sum,
    between,
    check_ports,
    dot_term,
    perpendicular_axes,
    receive,
)
from phlexible.description.interactions.surfaces import GapCoordinate, Plane, RoundedCoordinate
from phlexible.description.joints.relations import JointRelation, RelationFunction, RelationPart
from phlexible.description.ports import Port
from phlexible.errors import ModelError, ParameterError


class RollingCondition(Enum):
    """Conditions of rolling without slip: the height of the centre, and no sliding along two directions."""

    HEIGHT = "height"
    FIRST = "first way"
    SECOND = "second way"


@dataclass(frozen=True, eq=False)
class TiltCoordinate(RoundedCoordinate):
    """Coordinate that is the length of the projection of a wheel's axis on the plane: the sine of its angle to the
    normal.

    Attributes:
        axis: of the wheel.
    """

    axis: DirectionOf

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the functions of the pose on which the height of a tilted wheel depends: the dot products of the
        wheel's axis with each direction of the plane on which the wheel rolls. The number of them is the length of
        ``directions``."""
        return tuple(Bilinear((dot_term(self.axis, d),), 0.0, self.name) for d in self.directions)


@dataclass(frozen=True, eq=False)
class RollingCoordinate(GapCoordinate):
    """Coordinate whose rate is the sliding velocity of a wheel's contact point along a direction of the plane
    (8.30).

    Attributes:
        first: port of the plane.
        second: centre of the wheel.
        along: direction of sliding in the plane.
        normal: of the plane.
        spokes: directions of the wheel perpendicular to its axis; of a ball all.
        radius: [m].
    """

    first: Port
    second: Port
    along: DirectionOf
    normal: DirectionOf
    spokes: tuple[DirectionOf, ...]
    radius: float

    def functions(self) -> tuple[Bilinear, ...]:
        """Return the functions of the pose from which the sliding velocity of a rolling wheel's contact point is
        computed. They are dot products: the centre's position relative to the plane with the direction ``along``
        of the plane, each spoke (direction fixed to the wheel) with ``along``, and each spoke with the normal."""
        difference = between(self.first, self.second)
        rows = [Bilinear((BilinearTerm(1.0, difference, as_sum(self.along)),), 0.0, self.name)]
        rows += [Bilinear((dot_term(b, self.along),), 0.0, self.name) for b in self.spokes]
        rows += [Bilinear((dot_term(b, self.normal),), 0.0, self.name) for b in self.spokes]
        return tuple(rows)

    def value(self, y: Array) -> float:
        """Return zero as the value of a rolling coordinate, whatever the values ``y`` of its functions are. Only
        its rate is defined, by ``gradient``: the sliding velocity of the wheel's contact point."""
        return 0.0

    def _up(self, y: Array) -> Array:
        return np.asarray(y[1 + len(self.spokes) :])

    def gradient(self, y: Array) -> Array:
        """Return the coefficients of a wheel's sliding velocity, shape (functions,): the velocity of the contact
        point is their dot product with the rates of the coordinate's ``functions``. They are computed from the
        values ``y`` of the functions and are not the gradient of any function."""
        up = self._up(y)
        return np.concatenate([[1.0], -self.radius * up / np.sqrt(up @ up), np.zeros(len(up))])


@dataclass(frozen=True, eq=False, repr=False)
class RollingRow(JointRelation):
    """One constraint of ``Rolling``: the height of the centre over the plane, or no sliding along one direction.

    Attributes:
        first, second: ports of the plane and of the centre.
        normal, axis: world axes at the initial pose; axis None: a ball.
        radius: radius of the ball or wheel [m].
        component: value of ``RollingCondition``.
    """

    first: Port
    second: Port
    normal: ArrayLike
    axis: ArrayLike | None
    radius: float
    component: str

    @property
    def parts(self) -> tuple[RelationPart, ...]:
        """Return an empty tuple: a rolling condition has no joint coordinates, unlike other relations."""
        return ()

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return the ports of the plane and of the wheel's centre of a rolling condition. A port is a point
        of a body, or of the ground."""
        return self.first, self.second

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the constraint function of one condition of rolling on a plane, as a tuple of one. By
        ``self.component`` it is the height of the wheel's or ball's lowest point over the plane, or the sliding in
        the first or second direction of the plane. Raise ``ParameterError`` or ``ModelError`` for normals and axes
        out of a planar model, points without orientation, or a wheel that lies flat.

        Raises:
            ParameterError: in the plane, a normal that leaves it or an axis other than z.
            ModelError: a port without orientation, or a wheel that lies on the plane.
        """
        normal = unit_vector("normal", self.normal)
        axis = None if self.axis is None else unit_vector("axis", self.axis)
        if dimension < 3 and (dimension < 2 or normal[2] != 0 or (axis is not None and np.abs(axis[:2]).any())):
            raise ParameterError(f"{self}: in the plane normal must lie in it and axis be z, got {self.normal!r}")
        for port in self.ports:
            if not port.has_orientation:
                raise ModelError(f"{self}: {port} has no orientation")
        if axis is not None and np.linalg.norm(np.cross(axis, normal)) < 1e-6:
            raise ModelError(f"{self} lies flat: its axis must not be the normal of the plane")
        directions = tuple(DirectionOf(self.first, n) for n in perpendicular_axes(normal)[: dimension - 1])
        up = DirectionOf(self.first, normal)
        component = RollingCondition(self.component)
        if component is RollingCondition.HEIGHT:
            return (self._height(axis if dimension == 3 else None, up, directions),)
        along = directions[component is RollingCondition.SECOND]
        across = AXES[:dimension] if axis is None or dimension == 2 else perpendicular_axes(axis)
        spokes = tuple(DirectionOf(self.second, each) for each in across)
        part = RollingCoordinate("rolling", self.first, self.second, along, up, spokes, self.radius)
        return (RelationFunction((), 0.0, f"rolling, {self.component}", None, ((part, 1.0),)),)

    def _height(self, axis: Array | None, up: DirectionOf, directions: tuple[DirectionOf, ...]) -> Bilinear:
        height = PositionCoordinate("height", self.first, self.second, up)
        parts: tuple[tuple[Coordinate, float], ...] = ((height, 1.0),)
        if axis is not None:
            spin_axis = DirectionOf(self.second, axis)
            tilt = TiltCoordinate("tilt", self.first, self.second, directions, (0.0,) * len(directions), spin_axis)
            return RelationFunction((), 0.0, "rolling, height", None, (*parts, (tilt, -self.radius)))
        return RelationFunction((), self.radius, "rolling, height", None, parts)

    def __repr__(self) -> str:
        return self.name or f"Rolling({self.second}, {self.first}, {self.component})"


@dataclass(frozen=True, eq=False, repr=False)
class Rolling:
    """Ball or thin wheel that rolls on a plane without slip and without lifting off. Lossless.

    Attributes:
        wheel: port at the centre.
        plane: plane on the ground or on a body.
        radius: radius of the ball or wheel [m].
        axis: axis of the wheel, world axes at the initial pose; None: a ball.

    Raises:
        ParameterError: numbers out of range.
        ModelError: no ports, no plane, or both on one body.
    """

    wheel: Port
    plane: Plane
    radius: Positive
    axis: ArrayLike | None = None
    name: Name = field(default=None, kw_only=True)
    relations: tuple[RollingRow, ...] = field(init=False)

    def __post_init__(self) -> None:
        make_immutable(self)
        if not isinstance(self.plane, Plane):
            raise ModelError(
                f"Rolling: plane must be a Plane such as Plane(ground.at((0, 0, 0))), got {self.plane!r}"
            )
        check_ports(self, wheel=self.wheel, plane=self.plane.port)
        convert_fields(self)
        if self.axis is not None:
            unit_vector("axis", self.axis)
        arguments = (self.plane.port, self.wheel, self.plane.unit_normal(), self.axis, self.radius)
        set_fields(self, relations=tuple(RollingRow(*arguments, condition.value) for condition in RollingCondition))

    def connect_rows(self, connect: Callable[[RollingRow], RollingRow], dimension: int) -> tuple[RollingRow, ...]:
        """Call ``connect`` with each condition of rolling without slip and return the results as a tuple: the
        height, then no sliding along one direction (``dimension`` 2) or two (3). ``connect`` adds the condition to
        the model. A condition that the dimension does not need is marked as used and left out."""
        for row in self.relations[dimension:]:
            receive(row, *row.ports)
        return tuple(connect(row) for row in self.relations[:dimension])

    def __repr__(self) -> str:
        return self.name or f"Rolling({self.wheel}, {self.plane})"
