"""Drives, by which a coordinate of a joint follows a function of time, and servos, springs that follow a target.

Equations are those of docs/theory.md, 8.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, Name, convert_fields
from phlexible.algebra.portable import Portable
from phlexible.description.interactions.force_elements import CoordinateForce, JointElement
from phlexible.description.interactions.functions import Bilinear, KinematicPair, expect
from phlexible.description.ports import ModelPart, Port
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError


@dataclass(frozen=True, eq=False, repr=False)
class Drive(ModelPart):
    """Drive that keeps a coordinate of a joint at p(t), with the force or torque that this takes.

    Made by ``joint.drive(angle=...)`` or ``joint.drive(position=...)``. Compared by identity.

    Attributes:
        joint: joint of which a coordinate is driven.
        coordinate: name of its coordinate, "angle", "position", ...
        path: p(t), its first value the coordinate at the initial pose [rad or m].
        name: key of the drive's work in the energy ledger; None: made from the joint.
    """

    joint: KinematicPair
    coordinate: str
    path: TimePath
    name: Name = None

    def __post_init__(self) -> None:
        convert_fields(self)
        expect(self, self.first, self.second)

    @property
    def first(self) -> Port:
        """Return the first port of the joint that a drive moves; the joint's axes rotate with its body. A port is
        a point of a body, or of the ground."""
        return self.joint.first

    @property
    def second(self) -> Port:
        """Return the second port of the joint that a drive moves. A port is a point of a body, or of the
        ground."""
        return self.joint.second

    def constraints(self, dimension: int) -> tuple[Bilinear, ...]:
        """Return the single constraint function of a drive, as a tuple of one. It is the joint coordinate minus
        its prescribed path p(t), or for an angle the sine of that difference (docs/theory.md, 8, (8.15)).
        ``dimension`` is the number of space dimensions of the model (1, 2 or 3)."""
        return (self.joint.coordinate(dimension, self.coordinate).driven_constraint(self.path),)

    def check_against(self, drives: tuple["Drive", ...]) -> None:
        """Raise ModelError if one of the other ``drives`` already drives the same coordinate of the same joint as
        this drive.

        Raises:
            ModelError: names the drive that is there.
        """
        for other in drives:
            if other.joint is self.joint and other.coordinate == self.coordinate:
                raise ModelError(
                    f"{self.coordinate} of {self.joint} is already driven by {other}; a coordinate takes"
                    " one drive (use a torque, force or spring beside it)"
                )

    def __repr__(self) -> str:
        return self.name or f"drive of {self.coordinate} in {self.joint}"


@dataclass(frozen=True, eq=False)
class ServoPush(Portable):
    """Prescribed part of a servo, kp target + kd (its rate), which is added to a spring of rest 0 and a damper.

    Attributes:
        target: prescribed coordinate [rad or m].
        kp, kd: gains of the coordinate and of its rate.
    """

    target: TimePath
    kp: float
    kd: float

    def __call__(self, time: float) -> Any:
        """Return the part of a servo's force that depends on its target: kp target + kd (rate of the target) [N or
        N m]. ``time`` is a time [s] or an array of times. The terms with the joint coordinate are a separate
        spring and damper."""
        times = np.atleast_1d(time)
        values = self.kp * self.target.at_times(times)
        if self.kd:
            values += self.kd * self.target.rates_at(times)
        return values.reshape(np.shape(time)) if np.ndim(time) else float(values[0])

    @property
    def at_rest(self) -> "ServoPush":
        """Return a copy of this servo force for an equilibrium, where the target stands still: its damping gain kd
        is 0."""
        return replace(self, kd=0.0)

    def values_over_steps(self, middles: Array, ends: Array) -> Array:
        """Return the part kp target + kd (rate of the target) of a servo's force in each time step, shape (steps,)
        [N or N m]. The target is evaluated at the ``middles`` of the steps [s]; its rate too if the user gave it,
        else the rate is the difference quotient over the step between the times ``ends`` [s].

        Without ``rate`` of the target its rate is the mean between the ends of each step.

        Args:
            middles: shape (steps,) [s].
            ends: shape (steps + 1,) [s].
        """
        result = self.kp * self.target.at_times(middles)
        if self.kd and self.target.rate is not None:
            result += self.kd * self.target.rates_at(middles)
        elif self.kd:
            positions = self.target.at_times(ends)
            result += self.kd * (positions[1:] - positions[:-1]) / (ends[1:] - ends[:-1])
        return result


@dataclass(frozen=True, eq=False, repr=False)
class Servo(JointElement):
    """Servo along a joint coordinate, kp (target - coordinate) + kd (its rate - rate); see ``Joint.servo``.

    All of its work is supplied from outside. ``stiffness`` is kp, ``damping`` kd; a constant target is ``rest``,
    one that moves is in ``force``, with rest 0.
    """

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """Return the force law of a servo along its joint coordinate, as a tuple of one. The law is marked
        (``is_servo``), so that all power of its spring, damper and target counts as supplied work. ``dimension``
        is the number of space dimensions of the model (1, 2 or 3)."""
        return tuple(replace(force, is_servo=True) for force in super().forces(dimension))

    def _kinds(self) -> list[str]:
        return ["servo"]
