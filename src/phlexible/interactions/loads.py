"""Loads: forces and moments on attachments, constant or functions of time."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, hold_own, vector
from phlexible.algebra.options import option, optional_text, times
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_functions import called, check_callable
from phlexible.bodies.locations import Interface
from phlexible.bodies.soft.points import SoftPoints
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.feedback import DirectedLoad, Feedback
from phlexible.ports.attachments import Attachment

ROUND_OFF = 1e-12  # of a value: what of it may point out of a plane


class Axes(Enum):
    """The axes that a load is given in."""

    WORLD = "world"
    BODY = "body"


@dataclass(frozen=True, eq=False, repr=False)
class Load(Portable, ABC):
    """What ``Model.apply`` takes. Compared by identity.

    Attributes:
        breakpoints: times where values jump or kink; steps must end there [s].
        name: key of its work in the energy ledger; None: made from where it acts.
    """

    breakpoints: Sequence[float] = field(default=(), kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        hold_own(self)
        object.__setattr__(self, "name", optional_text("name", self.name))
        object.__setattr__(self, "breakpoints", times("breakpoints", self.breakpoints))

    @abstractmethod
    def entries(self) -> tuple["PointLoad", ...]:
        """The loads on single attachments that this one consists of, at least one."""


@dataclass(frozen=True, eq=False, repr=False)
class PointLoad(Load, DirectedLoad):
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
        super().__post_init__()
        object.__setattr__(self, "axes", option("axes", self.axes, Axes))
        if self.axes is Axes.BODY and not self.attachment.has_orientation:
            raise ModelError(
                f"{self}: {self.attachment} has no orientation (a point mass, a string); use world axes"
            )
        if isinstance(self.value, Feedback):
            self.value.check_size(3, str(self))
        elif callable(self.value):
            check_callable(f"value of {self}", self.value, "time")
        self.at_time(0.0)
        if callable(self.value) or isinstance(self.value, Feedback):  # a constant one may be an input as it is
            self.attachment.placed.expect(self)

    @property
    def direction(self) -> Array:
        """A constant value, shape (3,).

        Raises:
            ModelError: a value that is a function or a controller.
        """
        if callable(self.value) or isinstance(self.value, Feedback):
            raise ModelError(f"{self}: a controller scales a load with a constant value, its direction")
        return self.at_time(0.0)

    def at_time(self, time: float) -> Array:
        """The value at a time, shape (3,); zero for a ``Feedback``, which has none before it runs.

        Raises:
            ParameterError: the function returned something else than three finite numbers.
        """
        if isinstance(self.value, Feedback):
            return np.zeros(3)
        if not callable(self.value):
            return vector(f"value of {self}", self.value)
        at = f"at t = {time:g} s"
        return vector(f"value of {self} {at}", called(self.value, f"value of {self}", time, at=at), ANY_SIZE)

    def check_inside(self, values: Array, dimension: int, times: Array | None = None) -> None:
        """Refuses values that point out of the plane or the line that a model moves in.

        Args:
            values: shape (3,), or (times, 3) [N or N m].
            dimension: of the model.
            times: that the values belong to, for the message [s].

        Raises:
            ParameterError: says which components may be given.
        """
        if dimension == 3:
            return
        rows = values.reshape(-1, 3)
        wrong = np.abs(rows[:, self._outside(dimension)]).max(axis=1) > ROUND_OFF * np.abs(rows).max(axis=1)
        if wrong.any() or dimension not in self._wanted:
            k = int(wrong.argmax())
            where = "on a line" if dimension == 1 else "in a planar model"
            wanted = self._wanted.get(dimension, "a force (f_x, 0, 0)")
            when = "" if times is None else f" at t = {times[k]:.9g} s"
            raise ParameterError(
                f"{self} must be {wanted} {where} (dimension={dimension}), got {rows[k].tolist()}{when}"
            )

    _wanted: ClassVar[Mapping[int, str]] = {2: "(0, 0, m_z)"}

    def _outside(self, dimension: int) -> slice:
        """Components that point out of a plane or a line."""
        return slice(2)

    def __repr__(self) -> str:
        return self.name or f"{type(self).__name__.lower()} on {self.attachment}"


@dataclass(frozen=True, eq=False, repr=False)
class Force(PointLoad):
    """A force [N] at the point of an attachment; on an interface of a soft body its nodes share it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.value, Feedback) and self._is_shared:
            raise ModelError(f"{self}: a controller sets the force on a node, not on the mean of several")

    def entries(self) -> tuple[PointLoad, ...]:
        """Itself, or the forces on the nodes."""
        return self._shared if self._is_shared else (self,)

    _wanted: ClassVar[Mapping[int, str]] = {1: "a force (f_x, 0, 0)", 2: "(f_x, f_y, 0)"}

    def _outside(self, dimension: int) -> slice:
        return slice(dimension, 3)

    @property
    def _is_shared(self) -> bool:
        points = self.attachment.placed.data.points
        return isinstance(points, SoftPoints) and self.attachment.point.node is None

    @cached_property
    def _shared(self) -> tuple["Force", ...]:
        placed, location = self.attachment.placed, self.attachment.location
        points = placed.data.points
        assert isinstance(points, SoftPoints) and isinstance(location, Interface)
        weights, found = points.interfaces[location.name], []
        for node in np.flatnonzero(weights):
            share, port = float(weights[node]), placed.node(int(points.mesh.nodes[node]))
            value = Share(self.value, share) if callable(self.value) else share * self.at_time(0.0)
            found.append(Force(port, value, breakpoints=self.breakpoints, name=f"{self} on {port}"))
            placed.receive(found[-1])  # with this load
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Share(Portable):
    """A part of a force that is a function of time.

    Attributes:
        value: of the whole.
        share: of it.
    """

    value: Callable[[float], ArrayLike]
    share: float

    def __call__(self, time: float) -> Array:
        return self.share * np.asarray(self.value(time), dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Torque(PointLoad):
    """A moment [N m] on the material around an attachment; in the plane only its z component acts.

    Raises:
        ModelError: the attachment has no orientation.
    """

    def __post_init__(self) -> None:
        if isinstance(self.attachment, Attachment) and not self.attachment.has_orientation:
            raise ModelError(
                f"a torque turns things: {self.attachment} has no orientation (a point mass, a string)"
            )
        super().__post_init__()

    def entries(self) -> tuple[PointLoad, ...]:
        """Itself."""
        return (self,)


class Input(NamedTuple):
    """A value that users may set from step to step.

    Attributes:
        place: in a row of load values.
        value: in the model, shape (1,) or (3,).
        load: whose three numbers they are; None: a single one.
    """

    place: int
    value: Array
    load: PointLoad | None
