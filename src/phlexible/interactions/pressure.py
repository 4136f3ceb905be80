"""Pressure on a face of a meshed body."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, finite
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_functions import called, check_callable
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.locations import Interface
from phlexible.errors import ModelError
from phlexible.interactions.loads import Axes, Force, Load, PointLoad
from phlexible.ports.attachments import Attachment


@dataclass(frozen=True, eq=False, repr=False)
class Pressure(Load):
    """A uniform pressure on a flat interface of a meshed body; it turns with the face (a follower load).

    On an averaged interface it is the consistent load of its elements: the force of pressure times area in their
    mean displacement.

    Attributes:
        interface: ``part["face"]``.
        value: positive where it pushes on the body, constant or a function of time [Pa].

    Raises:
        ModelError: no interface of a mesh, or one that is not flat.
        ParameterError: a value that is no finite number.
    """

    interface: Attachment
    value: float | Callable[[float], float]

    def __post_init__(self) -> None:
        face = self.interface
        if not isinstance(face, Attachment) or not isinstance(face.location, Interface):
            raise ModelError(f'a Pressure acts on an interface of a body from a mesh, part["face"], got {face!r}')
        super().__post_init__()
        if not self.area.any():
            raise ModelError(
                f"{self}: {face} is not flat (or its body has no mesh): give each flat part of it an interface"
            )
        if callable(self.value):
            check_callable(f"value of {self}", self.value, "time")
        self.at_time(0.0)
        self.entries()
        if callable(self.value):
            face.placed.expect(self)

    @property
    def area(self) -> Array:
        """Area times outward normal in the undeformed body, shape (3,) [m2]; zero where it is not flat."""
        points, location = self.interface.placed.data.points, self.interface.location
        assert isinstance(location, Interface) and isinstance(points, FlexiblePoints)
        return np.asarray(points.interfaces.areas[points.interfaces.names.index(location.name)])

    def at_time(self, time: float) -> float:
        """The pressure [Pa].

        Raises:
            ParameterError: the function returned no finite number.
        """
        if not callable(self.value):
            return finite(f"value of {self}", self.value)
        return _pressure(self.value, repr(self), time)

    def entries(self) -> tuple[PointLoad, ...]:
        """The force on the interface."""
        return self._entries

    def __repr__(self) -> str:
        return self.name or f"pressure on {self.interface}"

    @cached_property
    def _entries(self) -> tuple[PointLoad, ...]:
        area = -self.area
        value = _Push(self.value, area, repr(self)) if callable(self.value) else self.at_time(0.0) * area
        force = Force(self.interface, value, Axes.BODY, breakpoints=self.breakpoints, name=f"{self} as a force")
        self.interface.placed.receive(force)  # with this load
        return (force,)


@dataclass(frozen=True, eq=False)
class _Push(Portable):
    """Force of a pressure in body axes; it knows nothing of the load, so that models can be sent elsewhere.

    Attributes:
        value: pressure as a function of time [Pa].
        area: along which it pushes, shape (3,) [m2].
        load: what it is called.
    """

    value: Callable[[float], float]
    area: Array
    load: str

    def __call__(self, time: float) -> Array:
        return _pressure(self.value, self.load, time) * self.area


def _pressure(value: Callable[[float], float], load: str, time: float) -> float:
    """At an instant [Pa].

    Raises:
        ParameterError: the function returned no finite number.
    """
    at = f"at t = {time:g} s"
    return finite(f"value of {load} {at}", called(value, f"value of {load}", time, at=at))
