"""Force elements: springs, dampers, torques and forces along coordinates of joints or between points."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, non_negative, numbers
from phlexible.algebra.options import optional_text, times
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_functions import check_callable
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.coordinates import Coordinate, DistanceCoordinate
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.pair import KinematicPair, check_ports, expect
from phlexible.interactions.potentials import Potential
from phlexible.interactions.resisting.one_sided import Coulomb, OneSided
from phlexible.interactions.time_paths import number_at
from phlexible.ports.attachments import Port

THREE = "one number or three that are not negative"

ForceValue = float | Callable[[float], float] | Feedback


@dataclass(frozen=True, eq=False)
class CoordinateForce(Portable):
    """F = value - stiffness (theta - rest) - damping dtheta/dt - dU/dtheta along a coordinate theta.

    Attributes:
        coordinate: theta [rad or m].
        stiffness: [N m/rad or N/m].
        damping: [N m s/rad or N s/m].
        rest: where the spring is at rest [rad or m].
        potential: U(theta), or None [J].
        value: prescribed part, constant, function of time or of measurements [N m or N].
        contact: what pushes where theta is beyond ``rest``, in place of the spring; None: nothing.
        friction: dry friction along theta, or across the contact where there is one; None: none.
        is_strain: the energy is that of a deformed body and not of a spring between bodies.
        is_servo: nothing is stored or lost: the work of spring and damper too is supplied from outside.
    """

    coordinate: Coordinate
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    potential: Potential | None = None
    value: ForceValue = 0.0
    contact: OneSided | None = None
    friction: Coulomb | None = None
    is_strain: bool = False
    is_servo: bool = False

    @property
    def is_lossy(self) -> bool:
        """Whether it dissipates."""
        return bool(self.damping or self.friction or (self.contact and self.contact.damping))

    def resistance(self, theta: float, rate: float) -> float:
        """Of damper, dry friction along theta and impact, at a rate."""
        result = -self.damping * rate
        if self.contact:
            return result + self.contact.viscous(theta, rate, self.rest)
        return result + self.friction.force(rate) if self.friction else result

    def conservative(self, theta: float) -> float:
        """Force of spring and potential."""
        slope = self.potential.slope_at(theta) if self.potential else 0.0
        push = self.contact.force(theta, self.rest) if self.contact else 0.0
        return push - self.stiffness * (theta - self.rest) - slope

    def tangent(self, theta: float) -> float:
        """Derivative of ``conservative``."""
        push = self.contact.slope(theta, self.rest) if self.contact else 0.0
        return push - self.stiffness - (self.potential.curvature(theta) if self.potential else 0.0)

    def energy(self, theta: float) -> float:
        """Of spring and potential [J]."""
        stored = 0.5 * self.stiffness * (theta - self.rest) ** 2
        stored += self.contact.energy(theta, self.rest) if self.contact else 0.0
        return stored + (self.potential.energy_at(theta) if self.potential else 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class ForceElement(Portable, ABC):
    """What acts between two ports by a law. Compared by identity."""

    @property
    @abstractmethod
    def ports(self) -> tuple[Port, Port]:
        """Where it acts."""

    @property
    def every_port(self) -> tuple[Port, ...]:
        """Also those beside the two where it acts."""
        return self.ports

    @abstractmethod
    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """The scalar forces that it consists of."""

    def is_lossy(self, dimension: int) -> bool:
        """Whether it dissipates."""
        return any(force.is_lossy for force in self.forces(dimension))

    @property
    def value(self) -> ForceValue:
        """Prescribed part of the force."""
        return 0.0

    @property
    def is_actuator(self) -> bool:
        """Whether it is nothing but a prescribed force."""
        return False

    @property
    def times(self) -> Sequence[float]:
        """Where the prescribed part jumps or kinks [s]."""
        return ()

    @property
    def is_active(self) -> bool:
        """Whether it can supply work."""
        return not (isinstance(self.value, int | float) and self.value == 0)


@dataclass(frozen=True, eq=False, repr=False)
class SpringDamper(ForceElement):
    """A spring and damper along the line between two points.

    Attributes:
        first, second: the points; one may be on the ground.
        stiffness: [N/m].
        damping: [N s/m].
        length: at rest [m]; None: that of the initial pose.
        potential: energy beyond the linear spring, a function of the distance; None: none.
        name: for messages and the ledger; None: made from the ports.

    Raises:
        ParameterError: a negative or infinite number.
        ModelError: no ports, or both on one body or on the ground.
    """

    first: Port
    second: Port
    stiffness: float = 0.0
    damping: float = 0.0
    length: float | None = None
    potential: Potential | None = None
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_ports(self, self.first, self.second)
        for name in ("stiffness", "damping"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))
        if self.length is not None:
            object.__setattr__(self, "length", non_negative("length", self.length))
        object.__setattr__(self, "name", optional_text("name", self.name))
        check_potential(self.potential)
        if not (self.stiffness or self.damping or self.potential):
            raise ParameterError(f"{self} has neither stiffness, damping nor potential; give one of them")
        expect(self, self.first, self.second)

    @property
    def ports(self) -> tuple[Port, Port]:
        """The points."""
        return self.first, self.second

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """One force along the distance.

        Raises:
            ModelError: the points coincide at the initial pose.
        """
        gap = float(np.linalg.norm(self.second.initial_position() - self.first.initial_position()))
        if gap == 0:
            raise ModelError(
                f"{self}: the points coincide at the initial pose, so that the force has no direction;"
                " use a Bushing"
            )
        rest = gap if self.length is None else self.length
        distance = DistanceCoordinate("distance", self.first, self.second)
        return (CoordinateForce(distance, self.stiffness, self.damping, rest, self.potential),)

    def __repr__(self) -> str:
        return self.name or f"SpringDamper({self.first}, {self.second})"


@dataclass(frozen=True, eq=False, repr=False)
class JointElement(ForceElement):
    """Spring, damper and prescribed force or torque along a coordinate of a joint.

    Made by ``joint.spring``, ``joint.damper``, ``joint.torque``, ``joint.force`` and ``joint.motor``.

    Attributes:
        joint: whose coordinate it acts on; positive forces enlarge the coordinate.
        coordinate: its name.
        stiffness: [N m/rad or N/m].
        damping: [N m s/rad or N s/m].
        rest: [rad or m]; None: the coordinate at the initial pose.
        potential: energy beyond the linear spring, a function of the coordinate; None: none.
        force: prescribed: a number, a function of time, or a ``Feedback`` [N m or N].
        breakpoints: times where the prescribed force jumps or kinks [s].
        name: for messages and the ledger; None: made from the joint.
    """

    joint: KinematicPair
    coordinate: str
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | None = None
    potential: Potential | None = None
    force: ForceValue = 0.0
    breakpoints: Sequence[float] = ()
    name: str | None = None

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping"):
            object.__setattr__(self, name, non_negative(name, getattr(self, name)))
        if self.rest is not None:
            object.__setattr__(self, "rest", finite("rest", self.rest))
        object.__setattr__(self, "name", optional_text("name", self.name))
        check_potential(self.potential)
        if isinstance(self.force, Feedback):
            self.force.check_size(1, str(self))
        elif callable(self.force):
            check_callable(f"force of {self}", self.force, "time")
            number_at(self.force, f"force of {self}", 0.0)
        else:
            object.__setattr__(self, "force", finite("force or torque", self.force))
        object.__setattr__(self, "breakpoints", times("breakpoints", self.breakpoints))
        expect(self, *self.ports)

    @property
    def ports(self) -> tuple[Port, Port]:
        """Those of the joint."""
        return self.joint.first, self.joint.second

    @property
    def value(self) -> ForceValue:
        """The prescribed force."""
        return self.force

    @property
    def is_actuator(self) -> bool:
        """Made by ``joint.force``, ``torque`` or ``motor``."""
        return self.stiffness == 0 and self.damping == 0 and self.potential is None

    @property
    def times(self) -> Sequence[float]:
        """The breakpoints."""
        return self.breakpoints

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """One force along the coordinate."""
        coordinate = self.joint.coordinate(dimension, self.coordinate)
        rest = self.joint.initial_coordinate(dimension, self.coordinate) if self.rest is None else self.rest
        return (CoordinateForce(coordinate, self.stiffness, self.damping, rest, self.potential, self.force),)

    def __repr__(self) -> str:
        if self.name:
            return self.name
        place = "" if len(self.joint.coordinate_names) == 1 else f"{self.coordinate} of "
        return f"{' and '.join(self._kinds())} in {place}{self.joint}"

    def _kinds(self) -> list[str]:
        """What it consists of, in words."""
        parts = {"spring": self.stiffness or self.potential, "damper": self.damping}
        kinds = [kind for kind, there in parts.items() if there]
        if self.is_active or not kinds:
            prescribed = "torque" if self.coordinate.endswith("angle") else "force"
            kinds.append("motor" if isinstance(self.force, Feedback) else prescribed)
        return kinds


def three_numbers(name: str, value: ArrayLike) -> Array:
    """One number for all axes, or three of them; none negative, shape (3,)."""
    found = numbers(name, value, THREE)
    if found.shape not in ((), (3,)) or not np.isfinite(found).all() or (found < 0).any():
        raise ParameterError(f"{name} must be {THREE}, got {value!r}")
    return np.array(np.broadcast_to(found, (3,)))


def check_potential(value: object) -> None:
    """Refuses what is neither None nor a ``Potential``.

    Raises:
        ParameterError: names it.
    """
    if not (value is None or isinstance(value, Potential)):
        raise ParameterError(f"potential must be Potential(energy, slope) or None, got {value!r}")
