"""Measurements that are read from a whole state, as sensors are."""

from abc import abstractmethod

from phlexible.algebra.arrays import Array
from phlexible.interactions.control.measurement import Measurement
from phlexible.system.recording import Recording
from phlexible.system.system import System


class StateMeasurement(Measurement):
    """A measurement that is a function of one instant of a run."""

    @abstractmethod
    def at_instant(self, system: System, recording: Recording) -> Array:
        """Values, shape (count,); rates as the step has them.

        Args:
            system: what moves.
            recording: of one instant.
        """
