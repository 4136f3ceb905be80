"""Sampling periods of controllers, which end with a step."""

from phlexible.description.interactions.feedback import Feedback
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ParameterError

EARLY = 1e-9  # of a period


def check_periods(mechanism: Mechanism, step: float) -> None:
    """Refuse sampling periods that are no multiples of the step.

    Args:
        mechanism: mechanism with its controllers.
        step: step of the run [s].

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
