"""Functions of time between given samples, whose values can be parameters."""

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.algebra.portable import Portable
from phlexible.errors import ParameterError


class Signal(Portable):
    """A function of time that is linear between samples, and constant before and after them.

    ``ph.Force(tip, lambda t: (signal(t), 0.0, 0.0))``, ``joint.torque(signal)``, ``joint.drive(angle=signal)``.

    Args:
        times: of the samples, ascending, shape (n,) [s].
        values: at these times, shape (n,).

    Raises:
        ParameterError: other shapes, times that do not ascend, numbers that are not finite.
    """

    def __init__(self, times: ArrayLike, values: ArrayLike) -> None:
        self.times: Array = numbers("times of a signal", times).copy()
        self.values: Array = numbers("values of a signal", values).copy()
        if self.times.ndim != 1 or self.times.shape != self.values.shape or len(self.times) < 2:
            raise ParameterError(
                "a signal needs times and values of one length, two or more, got shapes"
                f" {self.times.shape} and {self.values.shape}"
            )
        if not (np.isfinite(self.times).all() and np.isfinite(self.values).all()):
            raise ParameterError("times and values of a signal must be finite")
        if not (np.diff(self.times) > 0).all():
            raise ParameterError("the times of a signal must ascend")
        self.times.flags.writeable = self.values.flags.writeable = False

    def __call__(self, time: float) -> float:
        """The value then; of an array of times an array [s]."""
        value = np.interp(time, self.times, self.values)
        return float(value) if np.ndim(value) == 0 else value

    def __repr__(self) -> str:
        return f"Signal({len(self.times)} samples from {self.times[0]:g} to {self.times[-1]:g} s)"

    def with_values(self, values: ArrayLike) -> "Signal":
        """The same times with other values."""
        return Signal(self.times, values)
