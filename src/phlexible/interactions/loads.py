"""Loads: forces and moments on attachments, constant or functions of time."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, vector
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.feedback import Feedback
from phlexible.ports.attachments import Attachment


class Axes(Enum):
    """The axes that a load is given in."""

    WORLD = "world"
    BODY = "body"


@dataclass(frozen=True, eq=False, repr=False)
class Load(ABC):
    """What ``Model.apply`` takes. Compared by identity.

    Attributes:
        breakpoints: times where values jump or kink; steps must end there [s].
        name: key of its work in the energy ledger; None: made from where it acts.
    """

    breakpoints: Sequence[float] = field(default=(), kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    @abstractmethod
    def entries(self) -> tuple["PointLoad", ...]:
        """The loads on single attachments that this one consists of, at least one."""


@dataclass(frozen=True, eq=False, repr=False)
class PointLoad(Load):
    """What forces and torques share.

    Attributes:
        attachment: where the load acts.
        value: shape (3,), a function of time [s] that returns it, or a ``Feedback``.
        axes: "world", or "body": turning with the material at the attachment (a follower load).
    """

    attachment: Attachment
    value: ArrayLike | Callable[[float], ArrayLike] | Feedback
    axes: Axes | str = Axes.WORLD

    def __post_init__(self) -> None:
        if not isinstance(self.attachment, Attachment):
            raise ModelError(
                f"{type(self).__name__} acts on an attachment of a body such as beam.end, got {self.attachment!r}"
            )
        object.__setattr__(self, "axes", axes_option(self.axes))
        if self.axes is Axes.BODY and not self.attachment.has_orientation:
            raise ModelError(
                f"{self}: {self.attachment} has no orientation (a point mass, a string); use world axes"
            )
        if not callable(self.value) and not isinstance(self.value, Feedback):
            vector(f"value of {self}", self.value)
        object.__setattr__(self, "breakpoints", tuple(finite("breakpoints", t) for t in self.breakpoints))

    def at_time(self, time: float) -> Array:
        """The value at a time, shape (3,); zero for a ``Feedback``, which has none before it runs.

        Raises:
            ParameterError: the function returned something else than three finite numbers.
        """
        if isinstance(self.value, Feedback):
            return np.zeros(3)
        value = self.value(time) if callable(self.value) else self.value
        return vector(f"value of {self} at t = {time:g} s", np.asarray(value, dtype=np.float64))

    def __repr__(self) -> str:
        return self.name or f"{type(self).__name__.lower()} on {self.attachment}"


@dataclass(frozen=True, eq=False, repr=False)
class Force(PointLoad):
    """A force [N] at the point of an attachment."""

    def entries(self) -> tuple[PointLoad, ...]:
        """Itself."""
        return (self,)


@dataclass(frozen=True, eq=False, repr=False)
class Torque(PointLoad):
    """A moment [N m] on the material around an attachment; in the plane only its z component acts.

    Raises:
        ModelError: the attachment has no orientation.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.attachment.has_orientation:
            raise ModelError(f"{self}: {self.attachment} has no orientation (a point mass, a string) to turn")

    def entries(self) -> tuple[PointLoad, ...]:
        """Itself."""
        return (self,)


def axes_option(value: Axes | str) -> Axes:
    """The member of ``Axes`` that the string names.

    Raises:
        ParameterError: none of them.
    """
    try:
        return Axes(value)
    except ValueError:
        raise ParameterError(f'axes must be "world" or "body", got {value!r}') from None
