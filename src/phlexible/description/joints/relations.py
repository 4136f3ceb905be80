"""Relations between coordinates of joints: gears, racks, screws, belts (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from phlexible.algebra.arrays import Flag, Name, Positive, convert_fields, finite
from phlexible.description.interactions.functions import Bilinear, Coordinate, KinematicPair, expect
from phlexible.description.ports import ModelPart, Port
from phlexible.errors import ModelError, ParameterError


class RelationPart(NamedTuple):
    """Joint coordinate in a linear relation between coordinates, with its factor."""

    joint: KinematicPair
    coordinate: str
    factor: float


@dataclass(frozen=True, eq=False)
class RelationFunction(Bilinear):
    """Constraint function of a relation: sum of factor times joint coordinate, minus a constant; zero where the
    relation holds.

    Attributes:
        parts: coordinates theta with their factors.
    """

    parts: tuple[tuple[Coordinate, float], ...] = ()

    @property
    def is_angle(self) -> bool:
        """Return whether all joint coordinates in the weighted sum of a linear relation (gear, belt) are angles.
        The constraint is then in radians instead of metres."""
        return all(coordinate.is_angle for coordinate, _ in self.parts)


def not_zero(name: str, value: float) -> float:
    """Return the number ``value`` unchanged if it is finite and not zero; otherwise raise ParameterError. ``name``
    is the name of the argument in the message.

    Raises:
        ParameterError: otherwise.
    """
    if finite(name, value) == 0:
        raise ParameterError(f"{name} must not be zero")
    return finite(name, value)


NotZero = Annotated[float, not_zero]


@dataclass(frozen=True, eq=False, repr=False)
class JointRelation(ModelPart, ABC):
    """Base class of linear relations between joint coordinates: sum_i factor_i theta_i keeps its value at the
    initial pose. Lossless; compared by identity.
    """

    name: Name = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        convert_fields(self)
        parts = self.parts
        for k, part in enumerate(parts):
            if any(part.joint is one.joint and part.coordinate == one.coordinate for one in parts[:k]):
                raise ModelError(f"{self} has {part.coordinate} of {part.joint} twice; add the two factors")
        expect(self, *self.ports)

    @property
    @abstractmethod
    def parts(self) -> tuple[RelationPart, ...]:
        """Return the summands of a linear relation between joint coordinates (gear, rack, screw, belt): a tuple of
        the joint, the name of its coordinate and its factor for each. It is abstract: each kind of relation
        defines it."""

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return the ports of all joints in a linear relation (gear, rack, screw, belt), the first and the second
        port of each joint in turn. A port is a point of a body, or of the ground."""
        return tuple(port for part in self.parts for port in (part.joint.first, part.joint.second))

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the single constraint function of a linear relation between joint coordinates, as a tuple of one:
        the sum of factor times coordinate, minus the value of this sum at the initial pose (docs/theory.md, 8,
        (8.16)). ``dimension`` is the number of space dimensions of the model (1, 2 or 3).

        Raises:
            ModelError: an angle of a port without orientation.
        """
        parts = tuple((part.joint.coordinate(dimension, part.coordinate), part.factor) for part in self.parts)
        constant = sum(factor * coordinate.initial_value() for coordinate, factor in parts)
        return (RelationFunction((), constant, "relation", None, parts),)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        return f"{type(self).__name__}({', '.join(str(part.joint) for part in self.parts)})"


def _terms(name: str, value: object) -> tuple[tuple[KinematicPair, str, float], ...]:
    expected = f'{name} must be a list such as [(joint, "angle", 2.0), (other, "position", -1.0)]'
    if not isinstance(value, list | tuple) or not value:
        raise ParameterError(f"{expected}, got {value!r}")
    terms = []
    for term in value:
        if not (isinstance(term, list | tuple) and len(term) == 3 and isinstance(term[0], KinematicPair)):
            raise ParameterError(f"{expected}, got {term!r} in it")
        joint, coordinate, factor = term
        terms.append((joint, joint.coordinate_name(coordinate), not_zero("factor", factor)))
    return tuple(terms)


@dataclass(frozen=True, eq=False, repr=False)
class Relation(JointRelation):
    """Linear relation between any joint coordinates: sum_i factor_i theta_i stays constant.

    Attributes:
        terms: (joint, name of its coordinate, factor) of each term; name None: the only coordinate. Factors of
            positions [1/m] and of angles [1/rad], or any others with a common unit of the products.

    Raises:
        ParameterError: no list of terms, or a factor that is zero or not finite.
        ModelError: a joint without such a coordinate, or a coordinate twice.
    """

    terms: Annotated[Sequence[tuple[KinematicPair, str | None, float]], _terms]

    @property
    def parts(self) -> tuple[RelationPart, ...]:
        """Return the summands of a user-defined linear relation between joint coordinates: a tuple of the joint,
        the name of its coordinate and its factor for each."""
        return tuple(RelationPart(joint, joint.coordinate_name(name), f) for joint, name, f in self.terms)


@dataclass(frozen=True, eq=False, repr=False)
class Gear(JointRelation):
    """Gear between two rotating joints, by which angle_a - ratio angle_b stays constant.

    Attributes:
        joint_a, joint_b: with an angle each, such as ``Revolute``.
        ratio: revolutions of a per revolution of b; negative for external gears with parallel axes.

    Raises:
        ParameterError: a ratio that is zero or not finite.
        ModelError: a joint that leaves no angle free, or one joint twice.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> wheels = [model.add(ph.RigidBody(1.0, 0.1), position=(x, 0, 0)) for x in (0.0, 0.3)]
        >>> axes = [model.ground.at((x, 0, 0)) for x in (0.0, 0.3)]
        >>> pins = [model.connect(ph.Revolute(axis, wheel.origin)) for axis, wheel in zip(axes, wheels)]
        >>> gear = model.connect(ph.Gear(pins[0], pins[1], ratio=-2.0))
        >>> motor = model.apply(pins[0].torque(1.0))
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> round(float(motion[ph.JointPosition(pins[0])][-1] / motion[ph.JointPosition(pins[1])][-1]), 9)
        -2.0
    """

    joint_a: KinematicPair
    joint_b: KinematicPair
    ratio: NotZero

    @property
    def parts(self) -> tuple[RelationPart, ...]:
        """Return the angles of both joints of a gear with their factors 1 and -ratio in the linear relation."""
        return _part(self, "joint_a", "angle", 1.0), _part(self, "joint_b", "angle", -self.ratio)


@dataclass(frozen=True, eq=False, repr=False)
class Rack(JointRelation):
    """Pinion on a rack, by which position - radius angle stays constant.

    Attributes:
        pinion: a joint with an angle, such as ``Revolute``.
        rack: a joint with a position, such as ``Prismatic``.
        radius: travel of the rack per radian of the pinion [m]; negative for the opposite direction.

    Raises:
        ParameterError: a radius that is zero or not finite.
        ModelError: joints that leave no such coordinate free.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> pinion, bar = (model.add(ph.RigidBody(1.0, 0.1), name) for name in ("pinion", "bar"))
        >>> pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), pinion.origin))
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), bar.origin))
        >>> rack = model.connect(ph.Rack(pin, rail, radius=0.05))
        >>> motor = model.apply(pin.torque(1.0))
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> print((motion[ph.JointPosition(rail)][-1] / motion[ph.JointPosition(pin)][-1]).round(9))
        0.05
    """

    pinion: KinematicPair
    rack: KinematicPair
    radius: NotZero

    @property
    def parts(self) -> tuple[RelationPart, ...]:
        """Return the position of a rack and the angle of its pinion with their factors 1 and -radius in the linear
        relation."""
        return _part(self, "rack", "position", 1.0), _part(self, "pinion", "angle", -self.radius)


@dataclass(frozen=True, eq=False, repr=False)
class Screw(JointRelation):
    """Screw by which position - lead angle / 2 pi stays constant, in one joint that rotates and slides or in two
    joints.

    Attributes:
        joint: a ``Cylindrical``, or the joint that rotates.
        lead: travel per revolution [m]; negative for a left-hand thread.
        slide: the joint that slides; None: ``joint``.

    Raises:
        ParameterError: a lead that is zero or not finite.
        ModelError: joints that leave no such coordinate free.
    """

    joint: KinematicPair
    lead: NotZero
    slide: KinematicPair | None = None

    @property
    def parts(self) -> tuple[RelationPart, ...]:
        """Return the position and the angle of a screw joint with their factors 1 and -lead / (2 pi): the screw
        keeps position - lead / (2 pi) angle constant."""
        turning = _part(self, "joint", "angle", -self.lead / 6.283185307179586)
        return _part(self, "joint" if self.slide is None else "slide", "position", 1.0), turning


@dataclass(frozen=True, eq=False, repr=False)
class Belt(JointRelation):
    """Belt without slip between two pulleys, by which radius_a angle_a - radius_b angle_b (plus if crossed) stays
    constant.

    Attributes:
        joint_a, joint_b: of the pulleys, with an angle each.
        radius_a, radius_b: of the pulleys [m].
        is_crossed: whether the pulleys rotate in opposite directions.

    Raises:
        ParameterError: a radius that is not positive.
        ModelError: a joint that leaves no angle free, or one joint twice.
    """

    joint_a: KinematicPair
    joint_b: KinematicPair
    radius_a: Positive
    radius_b: Positive
    is_crossed: Flag = False

    @property
    def parts(self) -> tuple[RelationPart, ...]:
        """Return the angles of both pulleys of a belt with their factors in the linear relation. The factors are
        the radii with opposite signs (equal signs if the belt is crossed)."""
        second = self.radius_b if self.is_crossed else -self.radius_b
        return _part(self, "joint_a", "angle", self.radius_a), _part(self, "joint_b", "angle", second)


def _part(relation: JointRelation, argument: str, name: str, factor: float) -> RelationPart:
    """Return the coordinate ``name`` of one joint of a gear, rack, screw or belt with its ``factor`` in the linear
    ``relation``. The joint is stored in the field ``argument``. ModelError is raised if the field has no joint."""
    joint, kind = getattr(relation, argument), type(relation).__name__
    if not isinstance(joint, KinematicPair):
        raise ModelError(f"{kind}: {argument} must be a joint such as Revolute(a, b), got {joint!r}")
    return RelationPart(joint, joint.named_coordinate(name, f"{kind}: {argument}"), factor)
