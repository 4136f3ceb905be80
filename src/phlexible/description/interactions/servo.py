"""Servos: a spring in a joint whose rest follows a target, and a damper of the difference of the rates."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.portable import Portable
from phlexible.description.interactions.force_elements import CoordinateForce, JointElement
from phlexible.description.time_functions import TimePath


@dataclass(frozen=True, eq=False)
class ServoPush(Portable):
    """kp target + kd (its rate): what a servo adds to a spring of rest 0 and a damper.

    Attributes:
        target: of the coordinate [rad or m].
        kp, kd: gains.
    """

    target: TimePath
    kp: float
    kd: float

    def __call__(self, time: float) -> Any:
        """Value at a time [s], or at an array of times."""
        times = np.atleast_1d(time)
        values = self.kp * self.target.at_times(times)
        if self.kd:
            values += self.kd * self.target.rates_at(times)
        return values.reshape(np.shape(time)) if np.ndim(time) else float(values[0])

    def over_steps(self, middles: Array, ends: Array) -> Array:
        """In steps: with the target at their middles, shape (steps,), and its mean rate between their ends.

        Args:
            middles: shape (steps,) [s].
            ends: shape (steps + 1,) [s].
        """
        result = self.kp * self.target.at_times(middles)
        if self.kd and self.target.rate is not None:
            result += self.kd * self.target.rates_at(middles)
        elif self.kd:
            places = self.target.at_times(ends)
            result += self.kd * (places[1:] - places[:-1]) / (ends[1:] - ends[:-1])
        return result


@dataclass(frozen=True, eq=False, repr=False)
class Servo(JointElement):
    """kp (target - coordinate) + kd (its rate - rate), all of it supplied from outside; see ``Joint.servo``.

    ``stiffness`` is kp, ``damping`` kd; a constant target is ``rest``, one that moves is in ``force``, with rest 0.
    """

    def forces(self, dimension: int) -> tuple[CoordinateForce, ...]:
        """One force along the coordinate."""
        return tuple(replace(force, is_servo=True) for force in super().forces(dimension))

    def _kinds(self) -> list[str]:
        return ["servo"]
