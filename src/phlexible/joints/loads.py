"""Loads: forces and moments on attachments, constant or functions of time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, vector
from phlexible.errors import ModelError, ParameterError
from phlexible.joints.attachments import Attachment


class Axes(Enum):
    """The axes that a load is given in."""

    WORLD = "world"
    BODY = "body"


@dataclass(frozen=True, eq=False, repr=False)
class Load:
    """What forces and torques share. Compared by identity.

    Attributes:
        attachment: where the load acts.
        value: shape (3,), or a function of time [s] that returns it.
        axes: "world", or "body": turning with the material at the attachment (a follower load).
        breakpoints: times where the value jumps or kinks; steps must end there [s].
        name: key of the load's work in the energy ledger; None: made from the attachment.
    """

    attachment: Attachment
    value: ArrayLike | Callable[[float], ArrayLike]
    axes: Axes | str = Axes.WORLD
    breakpoints: Sequence[float] = field(default=(), kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.attachment, Attachment):
            raise ModelError(
                f"{type(self).__name__} acts on an attachment of a body such as beam.end,"
                f" got {self.attachment!r}"
            )
        try:
            object.__setattr__(self, "axes", Axes(self.axes))
        except ValueError:
            raise ParameterError(f'axes must be "world" or "body", got {self.axes!r}') from None
        if self.axes is Axes.BODY and not self.attachment.has_orientation:
            raise ModelError(
                f"{self}: {self.attachment} has no orientation (a point mass, a string); use world axes"
            )
        if not callable(self.value):
            vector(f"value of {self}", self.value)
        object.__setattr__(self, "breakpoints", tuple(finite("breakpoints", t) for t in self.breakpoints))

    def at_time(self, time: float) -> Array:
        """The value at a time, shape (3,).

        Raises:
            ParameterError: the function returned something else than three finite numbers.
        """
        value = self.value(time) if callable(self.value) else self.value
        return vector(f"value of {self} at t = {time:g} s", np.asarray(value, dtype=np.float64))

    def __repr__(self) -> str:
        return self.name or f"{type(self).__name__.lower()} on {self.attachment}"


@dataclass(frozen=True, eq=False, repr=False)
class Force(Load):
    """A force [N] at the point of an attachment."""


@dataclass(frozen=True, eq=False, repr=False)
class Torque(Load):
    """A moment [N m] on the material around an attachment; in the plane only its z component acts.

    Raises:
        ModelError: the attachment has no orientation.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.attachment.has_orientation:
            raise ModelError(f"{self}: {self.attachment} has no orientation (a point mass, a string) to turn")
