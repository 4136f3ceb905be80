"""Feedback: a force that a controller computes from measurements, once a step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError
from phlexible.interactions.pair import KinematicPair
from phlexible.ports.attachments import Attachment

Controller = Callable[[float, Array], ArrayLike]


@dataclass(frozen=True, eq=False)
class Feedback:
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
        if not callable(self.controller):
            raise ParameterError(f"controller must be a function of (t, measured), got {self.controller!r}")
        object.__setattr__(self, "measured", tuple(self.measured))
