"""Tendons and ropes through guides on any bodies: one length with a one-sided spring (docs/theory.md, 8)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from phlexible.algebra.arrays import called, check_callable, positive
from phlexible.algebra.fields import Name, NonNegative, Positive
from phlexible.algebra.portable import Portable
from phlexible.description.ground import CheckedPath
from phlexible.description.interactions.force_elements import CoordinateForce, ForceElement, OneSided
from phlexible.description.interactions.functions import LengthCoordinate, expect, receive
from phlexible.description.ports import Attachment, MovingFrame, Port
from phlexible.description.time_functions import ScalarFunction
from phlexible.errors import ModelError, ParameterError
from phlexible.step.tables.declarations import LAW_WIDTH

MOST_GUIDES = LAW_WIDTH


@dataclass(frozen=True, eq=False)
class PaidOut(Portable):
    """Path of the frame that stands for a winch: (p(t), 0, 0) with the prescribed rest length p of a tendon.

    Attributes:
        length: t [s] -> p [m].
    """

    length: ScalarFunction

    def __call__(self, time: Any) -> Any:
        """Return the position (p, 0, 0) at a time [s] or at an array of times [m]; raise ParameterError if p is not
        positive."""
        value = self.length(time)
        if np.any(np.asarray(value) <= 0):
            raise ParameterError(f"rest_length of a Tendon must be positive, got {value!r}")
        return value, 0.0, 0.0


def _guides(name: str, value: object) -> tuple[Port, ...]:
    expected = f"{name} must be a list of 2 to {MOST_GUIDES} ports such as [ground.at(...), body.origin]"
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= MOST_GUIDES:
        raise ModelError(f"{expected}, got {value!r}")
    if others := [port for port in value if not isinstance(port, Attachment | MovingFrame)]:
        raise ModelError(f"{expected}, got {others[0]!r} in it")
    return tuple(value)


def _rest_length(name: str, value: Any) -> float | MovingFrame:
    if isinstance(value, MovingFrame) and value.label == f"{name} of a Tendon":  # of a copy or file
        return value
    if not callable(value):
        return positive(name, value)
    check_callable(name, value, "time")
    positive(f"{name} at t = 0", called(value, name, 0.0, at="at t = 0 s"))
    frame = MovingFrame(CheckedPath(PaidOut(value), f"{name} of a Tendon", 1), label=f"{name} of a Tendon")
    frame.path(0.0)
    return frame


@dataclass(frozen=True, eq=False, repr=False)
class Tendon(ForceElement):
    """A tendon or rope through guides on any bodies, which pulls with one tension along its whole length.

    It is slack while it is shorter than its rest length. It passes the guides without friction and in a straight
    line from each to the next one. The same holds for a reeved rope over blocks, whose sheaves are points. It has
    no mass.

    Attributes:
        guides: ports that it passes from end to end, on bodies or on the ground, 2 to 24.
        stiffness: tension over stretch of the whole tendon [N/m]; where the rest length is a function of time, at t
            = 0, and then in inverse proportion to it, as EA is constant.
        rest_length: length without tension [m], a number or a function of time (a winch, whose work is in the
            ledger); None: that of the initial pose.
        damping: coefficient of a damper beside the spring, which acts while it is taut [N s/m].
        name: name for messages and the ledger; None: made from the first and the last port.

    Raises:
        ParameterError: a stiffness or a rest length that is not positive, or a negative damping.
        ModelError: no ports, guides that coincide with the next one, or all of them on the ground or on one rigid
            body.

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
    name: Name = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
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
        """The ports that the tendon passes, from end to end. A port is a point of a body, or of the ground."""
        return tuple(self.guides)

    @property
    def coordinate(self) -> LengthCoordinate:
        """Return the coordinate along which the tendon pulls: its length, or its scaled stretch where its rest
        length is prescribed."""
        winch = self.rest_length if isinstance(self.rest_length, MovingFrame) else None
        return LengthCoordinate("length", tuple(self.guides), winch)

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the one-sided law of a tendon along its length, as a tuple of one. ``dimension`` is that of
        the model (1, 2 or 3).

        Raises:
            ModelError: two guides one after the other coincide at the initial pose.
        """
        for a, b in pairwise(self.guides):
            if not np.any(a.initial_position() - b.initial_position()):
                raise ModelError(f"{self}: {a} and {b} coincide at the initial pose, so that it has no direction")
        coordinate, rest = self.coordinate, self.rest_length
        begin = LengthCoordinate("length", tuple(self.guides)).initial_value() if rest is None else rest
        slack = 0.0 if coordinate.winch is not None else float(begin)
        rope = OneSided(self.stiffness, side=-1.0)
        return (CoordinateForce(coordinate, damping=self.damping, rest=slack, contact=rope),)

    def drive(self, length: ScalarFunction) -> "Tendon":
        """Return this tendon with a rest length that is a function of time, for ``model.apply`` in its place: it is
        paid out and hauled in by a winch at one end, whose work is in ``motion.energy.work``.

        Args:
            length: t [s] -> rest length [m], positive.

        Raises:
            ParameterError: no function, or one whose value at t = 0 is not positive.
            ModelError: the tendon is already applied.
        """
        check_callable(f"length of a drive of {self}", length, "time")
        placed = [port.placed for port in self.guides if isinstance(port, Attachment)]
        if not any(waiting is self for each in placed for waiting in each.waiting):
            raise ModelError(f"{self} is already applied; write model.apply(ph.Tendon(...).drive(length))")
        receive(self, *self.guides)
        return replace(self, rest_length=length)

    def __repr__(self) -> str:
        return self.name or f"Tendon({self.guides[0]}, {self.guides[-1]})"
