"""Pressure on a face of a meshed body."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import ANY_SIZE, Array, finite
from phlexible.algebra.portable import Portable
from phlexible.algebra.user_functions import called, check_callable
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.locations import Interface
from phlexible.bodies.soft.points import SoftPoints
from phlexible.bodies.soft.surface import SoftSurface, soft_surface
from phlexible.errors import ModelError
from phlexible.interactions.loads import Axes, Force, Load, PointLoad
from phlexible.interactions.surface_pressure import SurfacePressure
from phlexible.ports.attachments import Attachment, PlacedBody


@dataclass(frozen=True, eq=False, repr=False)
class Pressure(Load):
    """A uniform pressure that follows: on a flat interface of a meshed body, or on a soft body.

    On an averaged interface it is the consistent load of its elements: the force of pressure times area in their
    mean displacement. On a soft sheet it pushes along the normals of its elements, about which their corners go
    counter-clockwise: it inflates a closed one that is listed so seen from outside, and supplies exactly
    p delta(V). On a soft solid it presses on the faces all of whose corners are in the interface.

    Attributes:
        interface: ``part["face"]``; of a soft body also the body itself: all of its surface.
        value: positive where it pushes on the body, constant or a function of time [Pa].

    Raises:
        ModelError: no interface of a mesh, or one that is not flat.
        ParameterError: a value that is no finite number.
    """

    interface: Attachment | PlacedBody
    value: float | Callable[[float], float]

    def __post_init__(self) -> None:
        face = self.interface
        if _soft_surface(face) is not None:
            super().__post_init__()
            self._check_value(face if isinstance(face, PlacedBody) else face.placed)
            return
        if not isinstance(face, Attachment) or not isinstance(face.location, Interface):
            raise ModelError(f'a Pressure acts on an interface of a body from a mesh, part["face"], got {face!r}')
        super().__post_init__()
        if not self.area.any():
            raise ModelError(
                f"{self}: {face} is not flat (or its body has no mesh): give each flat part of it an interface"
            )
        self._check_value(face.placed)

    def _check_value(self, placed: PlacedBody) -> None:
        if callable(self.value):
            check_callable(f"value of {self}", self.value, "time")
        self.at_time(0.0)
        self.entries()
        if callable(self.value):
            placed.expect(self)

    @property
    def area(self) -> Array:
        """Area times outward normal in the undeformed body, shape (3,) [m2]; zero where it is not flat."""
        assert isinstance(self.interface, Attachment)
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
        if self._surface is not None:
            return (self._inflating(self._surface),)
        assert isinstance(self.interface, Attachment)
        area = -self.area
        value = _Push(self.value, area, repr(self)) if callable(self.value) else self.at_time(0.0) * area
        force = Force(self.interface, value, Axes.BODY, breakpoints=self.breakpoints, name=f"{self} as a force")
        self.interface.placed.receive(force)  # with this load
        return (force,)

    @cached_property
    def _surface(self) -> SoftSurface | None:
        return _soft_surface(self.interface)

    def _inflating(self, surface: SoftSurface) -> SurfacePressure:
        placed = self.interface if isinstance(self.interface, PlacedBody) else self.interface.placed
        points = placed.data.points
        assert isinstance(points, SoftPoints)
        along = np.array([1.0, 0.0, 0.0])
        value = _Push(self.value, along, repr(self)) if callable(self.value) else self.at_time(0.0) * along
        node = placed.node(int(points.mesh.nodes[surface.nodes[0]]))
        name = f"{self} on its surface"
        load = SurfacePressure(node, value, breakpoints=self.breakpoints, name=name, surface=surface)
        placed.receive(load)  # with this load
        return load


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
    return finite(f"value of {load} {at}", called(value, f"value of {load}", time, at=at), ANY_SIZE)


def _soft_surface(face: object) -> SoftSurface | None:
    """The faces that a pressure on a soft body acts on; None: it is none.

    Raises:
        ModelError: a body in the plane, or an interface without faces.
    """
    placed = face.placed if isinstance(face, Attachment) else face
    points = placed.data.points if isinstance(placed, PlacedBody) else None
    if not isinstance(placed, PlacedBody) or not isinstance(points, SoftPoints):
        return None
    if points.dimension != 3:
        raise ModelError(f"a Pressure on {placed.name} needs a model in space (dimension=3)")
    chosen = None
    if isinstance(face, Attachment):
        if not isinstance(face.location, Interface):
            raise ModelError(f"a Pressure acts on a soft body, or on an interface of it, got {face}")
        chosen = points.mesh.nodes[np.flatnonzero(points.interfaces[face.location.name])]
    surface = soft_surface(points.mesh, chosen)
    if surface is None:
        raise ModelError(f"a Pressure needs faces: no face of an element has all of its corners in {face}")
    return surface
