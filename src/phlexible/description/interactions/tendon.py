"""Tendons and ropes through guides on any bodies: one length with a one-sided spring (docs/theory.md, 8)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from phlexible.algebra.arrays import Name, NonNegative, Positive, Times, check_callable, positive
from phlexible.algebra.portable import Portable
from phlexible.description.interactions.force_elements import (
    CoordinateForce,
    ForceElement,
    ForceValue,
    OneSided,
    force_value,
)
from phlexible.description.interactions.functions import LengthCoordinate, PiecesCoordinate, expect
from phlexible.description.ports import Attachment, MovingFrame, Port
from phlexible.description.time_functions import ScalarFunction, TimePath
from phlexible.errors import ModelError, ParameterError
from phlexible.step.tables.declarations import LAW_WIDTH

MOST_GUIDES, MOST_RUBBING = LAW_WIDTH, LAW_WIDTH // 2 + 1


@dataclass(frozen=True, eq=False)
class PaidOut(Portable):
    """Rest length p(t) that a winch leaves out, from a user's function of time whose values must be positive.

    Attributes:
        length: t [s] -> p [m].
    """

    length: ScalarFunction

    def __call__(self, time: Any) -> Any:
        """Return the rest length p of a tendon at a ``time`` [s] or at an array of times [m], from the user's
        function. ParameterError is raised if any value is not positive."""
        value = self.length(time)
        if np.any(np.asarray(value) <= 0):
            raise ParameterError(f"rest_length of a Tendon must be positive, got {value!r}")
        return value


def _paid_out(name: str, length: ScalarFunction) -> TimePath:
    check_callable(name, length, "time")
    path = TimePath(PaidOut(length), None, name)
    path(0.0)
    return path


def _guides(name: str, value: object) -> tuple[Port, ...]:
    expected = f"{name} must be a list of 2 to {MOST_GUIDES} ports such as [ground.at(...), body.origin]"
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= MOST_GUIDES:
        raise ModelError(f"{expected}, got {value!r}")
    if others := [port for port in value if not isinstance(port, Attachment | MovingFrame)]:
        raise ModelError(f"{expected}, got {others[0]!r} in it")
    return tuple(value)


def _rest_length(name: str, value: Any) -> float | TimePath:
    if isinstance(value, TimePath):  # of a copy or file
        return value
    return _paid_out(f"{name} of a Tendon", value) if callable(value) else positive(name, value)


@dataclass(frozen=True, eq=False, repr=False)
class Tendon(ForceElement):
    """A tendon or rope through guides on any bodies, which pulls with one tension along its whole length.

    It is slack while it is shorter than its rest length. It passes the guides in a straight line from each to the
    next one. The same holds for a reeved rope over blocks, whose sheaves are points. It has no mass. With friction
    the tensions before and after a guide differ: it sticks there as long as their ratio is below exp(mu phi), with
    the angle phi by which it turns (Euler and Eytelwein).

    Attributes:
        guides: ports that it passes from end to end, on bodies or on the ground, 2 to 24.
        stiffness: tension over stretch of the whole tendon [N/m]; where the rest length is a function of time, at t
            = 0, and then in inverse proportion to it, as EA is constant; the damping likewise.
        rest_length: length without tension [m], a number or a function of time (a winch, whose work is in the
            ledger); None: that of the initial pose.
        damping: coefficient of a damper beside the spring, which acts while it is taut [N s/m].
        friction: coefficient of friction mu at the guides; at most 13 guides then.
        name: name for messages and the ledger; None: made from the first and the last port.

    Raises:
        ParameterError: a stiffness or a rest length that is not positive, a negative damping or friction.
        ModelError: no ports, too many of them, guides that coincide with the next one, or all of them on the
            ground or on one rigid body.

    Example:
        >>> model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        >>> light = model.add(ph.PointMass(1.0), "light", position=(0, -3, 0))
        >>> heavy = model.add(ph.PointMass(2.0), "heavy", position=(1, -3, 0))
        >>> pulleys = [model.ground.at((x, 0, 0)) for x in (0, 1)]
        >>> rope = model.apply(ph.Tendon([light.origin, pulleys[0], pulleys[1], heavy.origin], stiffness=1e6))
        >>> motion = model.simulate(1.0, step=1e-3)  # Atwood: g / 3
        >>> print(round(motion.position(light.origin)[-1, 1] + 3, 1))
        1.6
    """

    guides: Annotated[Sequence[Port], _guides]
    stiffness: Positive
    rest_length: Annotated[Any, _rest_length] | None = None
    damping: NonNegative = field(default=0.0, kw_only=True)
    friction: NonNegative = field(default=0.0, kw_only=True)
    name: Name = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.friction and len(self.guides) > MOST_RUBBING:
            raise ModelError(
                f"{self}: with friction it passes at most {MOST_RUBBING} guides, got {len(self.guides)}"
            )
        bodies = {port.placed for port in self.guides if isinstance(port, Attachment)}
        if not bodies:
            raise ModelError(f"{self} connects the ground with itself; one of its guides must be on a body")
        if all(isinstance(port, Attachment) for port in self.guides) and len(bodies) == 1:
            (placed,) = bodies
            if not placed.data.elastic_count:
                raise ModelError(f"{self} connects {placed.name} with itself; a guide must be on another body")
        expect(self, *self.guides)

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return the ports over which the tendon runs, from end to end. A port is a point of a body, or of the
        ground."""
        return tuple(self.guides)

    @property
    def path(self) -> TimePath | None:
        """Return the prescribed rest length of the tendon as a function of time [m]; None if the rest length is
        constant."""
        return self.rest_length if isinstance(self.rest_length, TimePath) else None

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the one-sided force law of a tendon along its length through all guides, as a tuple of one; the
        tendon never pushes. The rest length is ``rest_length``, or the initial length; a winch or friction at
        guides has a law of its own. Raise ``ModelError`` if two neighbouring guides coincide initially.
        ``dimension`` is not used.

        Raises:
            ModelError: two guides one after the other coincide at the initial pose.
        """
        for a, b in pairwise(self.guides):
            if not np.any(a.initial_position() - b.initial_position()):
                raise ModelError(f"{self}: {a} and {b} coincide at the initial pose, so that it has no direction")
        if self.path is not None:
            return self.paid_out(self.path)
        coordinate = LengthCoordinate("length", tuple(self.guides))
        rest = coordinate.initial_value() if self.rest_length is None else self.rest_length
        if self.friction:
            return self._rubbing(rest, None)
        return (CoordinateForce(coordinate, damping=self.damping, rest=rest, contact=self._rope),)

    def paid_out(self, path: TimePath) -> tuple[CoordinateForce, ...]:
        """Return the one-sided force law of the tendon whose rest length is the prescribed function of time
        ``path`` [m], as a tuple of one. It acts along the scaled elongation of the tendon, or with friction along
        the coordinate of its pieces."""
        if self.friction:
            return self._rubbing(path(0.0), path)
        coordinate = LengthCoordinate("stretch", tuple(self.guides), path)
        return (CoordinateForce(coordinate, damping=self.damping, contact=self._rope),)

    def _rubbing(self, rest: float, path: TimePath | None) -> tuple[CoordinateForce, ...]:
        lengths = [np.linalg.norm(b.initial_position() - a.initial_position()) for a, b in pairwise(self.guides)]
        pieces = tuple((rest / sum(lengths) * np.array(lengths)).tolist())
        coordinate = PiecesCoordinate("stretch", tuple(self.guides), path, 1.0, pieces, self.friction)
        return (CoordinateForce(coordinate, damping=self.damping, contact=self._rope),)

    def is_lossy(self, dimension: int) -> bool:
        """Return whether the tendon dissipates energy, by its damper or by friction at its guides."""
        return bool(self.friction) or super().is_lossy(dimension)

    @property
    def _rope(self) -> OneSided:
        return OneSided(self.stiffness, side=-1.0)

    def drive(self, length: ScalarFunction, *, name: str | None = None) -> "TendonDrive":
        """Make a drive for ``model.apply`` by which a winch at one end of the tendon prescribes its rest
        ``length``, a function of time [m]. ``name`` is the name of the drive, the key of its work in
        ``motion.energy.work``.

        Args:
            length: t [s] -> rest length [m], positive.
            name: key in the energy ledger; None: made from the tendon.

        Raises:
            ParameterError: no function, or one whose value at t = 0 is not positive.
        """
        return TendonDrive(self, _paid_out(f"length of a drive of {self}", length), name)

    def motor(
        self, tension: ForceValue, *, breakpoints: Sequence[float] = (), name: str | None = None
    ) -> "TendonMotor":
        """Make a motor for ``model.apply`` by which a winch at one end of the tendon sets its ``tension``,
        whatever its length. The tension is a constant, a function of time or a controller [N], with jumps and
        kinks at the times ``breakpoints`` [s]. ``name`` is the name of the motor, of an input and of its work in
        ``motion.energy.work``.

        Args:
            tension: constant, function of time, or ``Feedback`` [N].
            breakpoints: times of its jumps and kinks [s].
            name: key in the energy ledger; None: made from the tendon.

        Raises:
            ModelError: a tendon with friction, which has no single tension.
        """
        if self.friction:
            raise ModelError(f"{self}: a motor sets one tension, and friction makes several; drive its rest length")
        return TendonMotor(self, tension, breakpoints, name)

    def __repr__(self) -> str:
        return self.name or f"Tendon({self.guides[0]}, {self.guides[-1]})"


# Winches at one end of a tendon in the model, which prescribe its rest length or its tension.


@dataclass(frozen=True, eq=False, repr=False)
class Winch(ForceElement):
    """A winch at one end of a tendon that is applied in the model, whose law takes the place of the tendon's.

    Attributes:
        tendon: the tendon that it pays out and hauls in.
    """

    tendon: Tendon

    def __post_init__(self) -> None:
        super().__post_init__()
        expect(self, *self.ports)

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return the ports over which the tendon of a winch runs, from end to end. A port is a point of a body, or
        of the ground."""
        return self.tendon.ports

    @property
    def driven(self) -> Tendon:
        """Return the tendon that this winch drives; the force law of the winch replaces the law of the tendon."""
        return self.tendon


@dataclass(frozen=True, eq=False, repr=False)
class TendonDrive(Winch):
    """Winch that prescribes the rest length of a tendon; made by ``tendon.drive``.

    Attributes:
        tendon: the tendon that it pays out and hauls in.
        rest_length: prescribed rest length [m].
        name: key in the energy ledger; None: made from the tendon.
    """

    rest_length: TimePath
    name: Name = None

    @property
    def path(self) -> TimePath:
        """Return the rest length of the tendon that the winch prescribes, as a function of time [m]."""
        return self.rest_length

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the one-sided force law of the tendon with the rest length that this winch prescribes, as a tuple
        of one. It acts along the scaled elongation. ``dimension`` is not used."""
        return self.tendon.paid_out(self.rest_length)

    def __repr__(self) -> str:
        return self.name or f"drive of {self.tendon}"


@dataclass(frozen=True, eq=False, repr=False)
class TendonMotor(Winch):
    """Winch that sets the tension of a tendon; made by ``tendon.motor``.

    Attributes:
        tendon: the tendon that it pays out and hauls in.
        tension: a number, a function of time, or a ``Feedback`` [N]; a negative one pushes.
        breakpoints: times where the tension jumps or kinks [s].
        name: key in the energy ledger; None: made from the tendon.
    """

    tension: Annotated[ForceValue, force_value]
    breakpoints: Times = ()
    name: Name = None

    is_actuator = True

    @property
    def value(self) -> ForceValue:
        """Return the tension that the winch sets [N]: a number, a function of time or a controller."""
        return self.tension

    @property
    def times(self) -> Sequence[float]:
        """Return the times at which the tension of a winch jumps or kinks, given by the user [s]."""
        return self.breakpoints

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the force law of a winch that prescribes the tension, as a tuple of one: the tension acts along
        minus the length of the tendon and shortens it. ``dimension`` is not used."""
        return (CoordinateForce(LengthCoordinate("hauled length", self.ports, sign=-1.0), value=self.tension),)

    def __repr__(self) -> str:
        return self.name or f"motor of {self.tendon}"
