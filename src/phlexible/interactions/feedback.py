"""Feedback: a force that a controller computes from measurements, once a step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_functions import check_callable
from phlexible.errors import ParameterError
from phlexible.interactions.pair import KinematicPair
from phlexible.ports.attachments import Attachment

Controller = Callable[[float, Array], ArrayLike]


@dataclass(frozen=True, eq=False)
class Feedback(Portable):
    """controller(t, measured), called at the start of each step and held during the step.

    A value for ``joint.torque``, ``joint.force``, ``Force`` and ``Torque``; ``joint.motor(controller)``
    is short for the torque of a joint that measures itself. The power that the held value supplies is
    in the energy ledger exactly.

    Attributes:
        controller: (t [s], measured) -> the value: a number for joints, shape (3,) for loads.
        measured: what is measured, in this order, in one flat array: of a joint each coordinate and its
            rate (angle [rad] over full turns, rate [rad/s]; position [m], rate [m/s]), of an attachment
            its world position [m] and velocity [m/s], 3 numbers each.
    """

    controller: Controller
    measured: Sequence[KinematicPair | Attachment] = ()

    def __post_init__(self) -> None:
        check_callable("controller", self.controller, "t", "measured")
        if not isinstance(self.measured, list | tuple):
            raise ParameterError(
                f"measured must be a list of joints and attachments such as [joint, tip], got {self.measured!r}"
            )
        for item in self.measured:
            if not isinstance(item, KinematicPair | Attachment):
                raise ParameterError(f"measured takes joints and attachments such as beam.end, got {item!r}")
            if isinstance(item, KinematicPair) and not item.coordinate_names:
                raise ParameterError(f"measured takes joints that leave a coordinate free, {item} leaves none")
        object.__setattr__(self, "measured", tuple(self.measured))
