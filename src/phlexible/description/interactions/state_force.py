"""Forces that are functions of the state, and controllers that set several forces (docs/theory.md, 8)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, IntArray, called, reals
from phlexible.algebra.portable import Portable
from phlexible.description.interactions.feedback import Feedback, actuated_count
from phlexible.description.interactions.force_elements import ForceElement, JointElement
from phlexible.description.interactions.functions import KinematicPair
from phlexible.description.interactions.loads import Force, Load, PointLoad
from phlexible.description.ports import Attachment
from phlexible.errors import ParameterError

# One controller that sets several forces: its shares, which are asked together.


@dataclass(frozen=True, eq=False)
class Whole:
    """Identity and size of a controller that several shares have in common, also after a copy to another model.

    Attributes:
        size: count of all values.
    """

    size: int


@dataclass(frozen=True, eq=False)
class FeedbackPart(Feedback):
    """A share of the values of a controller, which acts at one port or load.

    Attributes:
        whole: controller of all shares, the same object for each.
        begin: index of the first value.
        direction: direction along which a single value acts; None: values act as they are.
    """

    whole: Whole = field(kw_only=True)
    begin: int = field(kw_only=True)
    direction: Array | None = field(default=None, kw_only=True)

    def check_size(self, size: int, name: str) -> None:
        """Accept any ``size`` of the controller's output without a check, for the part of a controller that acts
        on one object. The outputs of the whole controller were checked before. ``name`` is not used."""


def feedback_parts(feedback: Feedback) -> tuple[Load | ForceElement, ...]:
    """Return the loads and force elements by which a feedback controller acts on several objects, as a tuple in
    the order of the objects. A point of a body gets a force, a joint a force element along its coordinate, and a
    load is copied with its direction. Each selects its components of the controller's output; the controller is
    called once for all."""
    sizes = [actuated_count(item) for item in feedback.on]
    whole, begin = Whole(sum(sizes)), 0
    found: list[Load | ForceElement] = []
    names = "controller", "measured", "period", "delay", "target", "vjp", "jvp"
    shared: dict[str, Any] = {name: getattr(feedback, name) for name in names}
    for item, size in zip(feedback.on, sizes, strict=True):
        direction = item.direction if isinstance(item, PointLoad) else None
        share = FeedbackPart(**shared, whole=whole, begin=begin, direction=direction)
        if isinstance(item, PointLoad):
            found.append(replace(item, value=share, name=feedback.name or item.name))
        elif isinstance(item, Attachment):
            found.append(Force(item, share, name=feedback.name))
        elif isinstance(item, KinematicPair):
            found.append(JointElement(item, item.coordinate_name(None), force=share, name=feedback.name))
        begin += size
    return tuple(found)


# Forces that are functions of the state, evaluated inside of the step (docs/theory.md, 8).

StateFunction = Callable[[float, Array, Array], ArrayLike]


@dataclass(frozen=True, eq=False)
class StateLaw(Feedback):
    """A feedback whose values are those at the mean state of the step that they act in, not those at its start."""


@dataclass(frozen=True, eq=False)
class StateValues(Portable):
    """Values of a function of the state for one port, as a controller.

    Attributes:
        function: (t, x, v) -> all values.
        indices, rates: indices of x and v among the measured numbers.
        begin, end: range of the share.
        size: count of all values.
        name: name for messages.
    """

    function: StateFunction
    indices: IntArray
    rates: IntArray
    begin: int
    end: int
    size: int
    name: str

    def __call__(self, time: float, measured: Array) -> Array:
        """Return the forces or torques that a user's function of the state gives for one point of a body or joint.
        The shape is (end - begin,). The function is called with ``time`` [s] and the positions and rates selected
        from ``measured``; it returns the values of all its points and joints. Raise ``ParameterError`` unless they
        are finite and as many as needed.

        Raises:
            ParameterError: not as many finite numbers as the ports take.
        """
        at = f"at t = {time:.9g} s"
        answer = called(
            self.function, f"the function of {self.name}", time, measured[self.indices], measured[self.rates], at=at
        )
        try:
            values = reals("values", answer, largest=ANY_SIZE).ravel()
        except ParameterError:
            values = np.zeros(0)
        if values.shape != (self.size,) or not np.isfinite(values).all():
            raise ParameterError(
                f"the function of {self.name} must return {self.size} finite numbers (3 of an attachment, 1 of a"
                f" joint), got {answer!r} {at}"
            )
        return values[self.begin : self.end]


class CompoundForce(Portable, ABC):
    """A force that ``Model.apply`` splits into loads and force elements."""

    @abstractmethod
    def parts(self) -> tuple[Load | ForceElement, ...]:
        """Return the loads and force elements on single ports into which ``Model.apply`` splits a compound force.
        A port is a point of a body, or of the ground. The method is abstract: each kind of compound force defines
        it."""
