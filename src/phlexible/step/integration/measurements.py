"""What controllers read from whole states, and their sampling periods, which end with a step."""

from abc import abstractmethod

from phlexible.algebra.arrays import Array
from phlexible.description.interactions.feedback import Feedback, Measurement
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ParameterError
from phlexible.state.recording import Recording
from phlexible.state.system import System

# Sampling periods of controllers, which end with a step.

EARLY = 1e-9  # of a period


def check_periods(mechanism: Mechanism, step: float) -> None:
    """Refuses periods that do not end with a step.

    Args:
        mechanism: with its controllers.
        step: [s].

    Raises:
        ParameterError: names the controller.
    """
    for part in (*mechanism.loads, *mechanism.elements):
        value = getattr(part, "value", None)
        period = value.period if isinstance(value, Feedback) else None
        if period is None:
            continue
        if round(period / step) < 1 or abs(round(period / step) * step - period) > EARLY * period:
            raise ParameterError(
                f"{part} is sampled each {period:g} s, which is no multiple of the step {step:g} s;"
                f" take step={period / max(1, round(period / step)):g}"
            )


# Measurements that are read from a whole state, as sensors are.


class StateMeasurement(Measurement):
    """A measurement that is a function of one instant of a run."""

    @abstractmethod
    def at_instant(self, system: System, recording: Recording) -> Array:
        """Values, shape (count,); rates as the step has them.

        Args:
            system: what moves.
            recording: of one instant.
        """
