"""Forces and moments on attachments, forces along bodies, and pressure on surfaces."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import (
    ANY_SIZE,
    Array,
    Name,
    Times,
    called,
    check_callable,
    convert_fields,
    finite,
    make_immutable,
    option_of,
    reals,
    vector,
)
from phlexible.algebra.caching import cached_on_owner
from phlexible.algebra.portable import Portable
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.locations import Interface
from phlexible.bodies.rod import Rod, RodNode
from phlexible.bodies.soft_mesh import SoftPoints, SoftSurface, soft_surface
from phlexible.description.interactions.feedback import DirectedLoad, Feedback
from phlexible.description.placed_wholes import PlacedWhole, line_parts
from phlexible.description.ports import Attachment, ModelPart, PlacedBody
from phlexible.elements.line_functions import gauss
from phlexible.errors import ModelError, ParameterError

# Loads: forces and moments on attachments, constant or functions of time.

ROUND_OFF = 1e-12  # of a value: what of it may point out of a plane


class Axes(Enum):
    """Axes in which the components of a load are defined."""

    WORLD = "world"
    BODY = "body"


AnyAxes = Annotated[Axes | str, option_of(Axes)]


@dataclass(frozen=True, eq=False, repr=False)
class Load(ModelPart, Portable, ABC):
    """A load that ``Model.apply`` adds. Compared by identity.

    Attributes:
        breakpoints: times where values jump or kink; steps must end there [s].
        name: key of its work in the energy ledger; None: made from where it acts.
    """

    breakpoints: Times = field(default=(), kw_only=True)
    name: Name = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        convert_fields(self)
        make_immutable(self)

    @abstractmethod
    def entries(self) -> tuple["PointLoad", ...]:
        """Return the loads on single points of bodies of which a load consists, at least one. A distributed force,
        for example, has forces at Gauss points. It is abstract: each kind of load defines it."""


@dataclass(frozen=True, eq=False, repr=False)
class PointLoad(Load, DirectedLoad):
    """A load at an attachment, the common base of forces and torques.

    Attributes:
        attachment: point of a body on which the load acts.
        value: shape (3,), a function of time [s] that returns it, or a ``Feedback``.
        axes: "world", or "body": turning with the material at the attachment (a follower load).
    """

    attachment: Attachment
    value: ArrayLike | Callable[[float], ArrayLike] | Feedback
    axes: AnyAxes = Axes.WORLD

    def __post_init__(self) -> None:
        if not isinstance(self.attachment, Attachment):
            raise ModelError(
                f"{type(self).__name__} acts on an attachment of a body such as beam.end, got {self.attachment!r}"
            )
        super().__post_init__()
        if self.axes is Axes.BODY:
            self.attachment.require_orientation(str(self), "use world axes")
        if isinstance(self.value, Feedback):
            self.value.check_size(3, str(self))
        elif callable(self.value):
            check_callable(f"value of {self}", self.value, "time")
        size = float(np.linalg.norm(self.at_time(0.0)))
        if callable(self.value) or isinstance(self.value, Feedback) or size not in (0.0, 1.0):
            self.attachment.placed.expect(self)  # a constant unit vector is a direction of an input

    @property
    def direction(self) -> Array:
        """Return the constant value of a force or torque, shape (3,), which a controller multiplies by its scalar
        output. ModelError is raised if the value is a function of time or a controller.

        Raises:
            ModelError: a value that is a function or a controller.
        """
        if callable(self.value) or isinstance(self.value, Feedback):
            raise ModelError(f"{self}: a controller scales a load with a constant value, its direction")
        return self.at_time(0.0)

    def at_time(self, time: float) -> Array:
        """Return the value of this force [N] or torque [N m] at a ``time`` [s], shape (3,): the user's constant or
        function of time. It is zero for a controller (``Feedback``), which has no value before the run.
        ParameterError is raised unless the value is three finite numbers.

        Raises:
            ParameterError: the function returned something else than three finite numbers.
        """
        if isinstance(self.value, Feedback):
            return np.zeros(3)
        if not callable(self.value):
            return vector(f"value of {self}", self.value)
        at = f"at t = {time:g} s"
        return vector(f"value of {self} {at}", called(self.value, f"value of {self}", time, at=at), ANY_SIZE)

    def entries(self) -> tuple["PointLoad", ...]:
        """Return the loads on points of which this load consists: itself."""
        return (self,)

    def check_components(self, values: Array, dimension: int, times: Array | None = None) -> None:
        """Raise ``ParameterError`` if ``values`` of a force or torque have components out of the plane
        (``dimension`` 2) or line (1) of the model. Their shape is (3,) or (k, 3); row k belongs to ``times[k]``,
        named in the message. Components of the size of round-off are accepted; a torque on a line is refused.
        Nothing is checked in space.

        Args:
            values: shape (3,), or (times, 3) [N or N m].
            dimension: dimension of the model.
            times: times that the values belong to, for the message [s].

        Raises:
            ParameterError: says which components may be given.
        """
        if dimension == 3:
            return
        rows = values.reshape(-1, 3)
        if dimension in self._wanted and not rows[:, self._outside(dimension)].any():
            return
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
        """Return the slice of the components of a torque that must be zero in a planar model: x and y, since
        torques are about z. Forces override it. ``dimension`` is not used."""
        return slice(2)

    def __repr__(self) -> str:
        return self.name or f"{type(self).__name__.lower()} on {self.attachment}"


@dataclass(frozen=True, eq=False, repr=False)
class Force(PointLoad):
    """A force [N] at the point of an attachment; on an interface of a soft body its nodes share it.

    Example:
        >>> model = ph.Model()
        >>> stone = model.add(ph.PointMass(2.0), "stone")
        >>> push = model.apply(ph.Force(stone.origin, lambda t: (0.0, 6.0 * t, 0.0)))  # in world axes [N]
        >>> print(round(model.simulate(1.0, step=1e-3).position(stone.origin)[-1, 1], 6))  # 6 t^3 / (6 m)
        0.5
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.value, Feedback) and self._is_shared:
            raise ModelError(f"{self}: a controller sets the force on a node, not on the mean of several")

    def entries(self) -> tuple[PointLoad, ...]:
        """Return the point loads of a force: the force itself, or, on an interface of a soft body, its shares on
        the interface's nodes."""
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
        placed, points = self.attachment.placed, self.attachment.placed.data.points
        assert isinstance(points, SoftPoints)
        weights: Array = self.attachment.point.shapes[0, :: placed.data.dimension]
        found: list[Force] = []
        for node in np.flatnonzero(weights):
            share, port = float(weights[node]), placed.node(int(points.mesh.nodes[node]))
            value = ScaledFunction(self.value, share) if callable(self.value) else share * self.at_time(0.0)
            found.append(Force(port, value, breakpoints=self.breakpoints, name=f"{self} on {port}"))
            placed.receive(found[-1])  # with this load
        return tuple(found)


@dataclass(frozen=True, eq=False)
class ScaledFunction(Portable):
    """A share of a force that is a function of time.

    Attributes:
        value: the whole force.
        factor: factor of it.
    """

    value: Callable[[float], ArrayLike]
    factor: float

    def __call__(self, time: float) -> Array:
        return self.factor * np.asarray(self.value(time), dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Torque(PointLoad):
    """A moment [N m] on the material around an attachment; in the plane only its z component acts.

    Raises:
        ModelError: the attachment has no orientation.

    Example:
        >>> model = ph.Model()
        >>> top = model.add(ph.RigidBody(1.0, (0.5, 0.5, 0.5)), "top")
        >>> twist = model.apply(ph.Torque(top.origin, (0.0, 0.0, 1.0)))
        >>> print(model.simulate(1.0, step=1e-2)[ph.AngularVelocity(top.origin)][-1].round(9) + 0.0)
        0.0
    """

    def __post_init__(self) -> None:
        if isinstance(self.attachment, Attachment):
            self.attachment.require_orientation("Torque", "fix a RigidBody there, and turn that")
        super().__post_init__()


class Input(NamedTuple):
    """A value that users may set from step to step.

    Attributes:
        first: index of its first value in a row of load values.
        value: value in the model, shape (1,) or (3,).
        load: load whose three values they are; None: a single value.
    """

    first: int
    value: Array
    load: PointLoad | None


# Forces spread along a beam or rod.

Distribution = Callable[[float, float], ArrayLike]

POINTS = 3  # Gauss points an element: exact for the cubic shape functions under loads up to quadratic


@dataclass(frozen=True, eq=False, repr=False)
class DistributedForce(Load):
    """A force per length [N/m of the undeformed axis] along a beam, a rod or a part of it.

    The consistent nodal load: its work is that of the force at three Gauss points of every element,
    which the ledger holds to round-off.

    Attributes:
        body: the beam, also one that was added in parts, or the rod.
        value: shape (3,); a function ``f(x, t)`` of the place [m] and the time [s] that returns it; or
            with ``at`` a table of shape (k, 3), linear between its places and constant in time.
        axes: "world", or "body": turning with the section at each place (a follower load, like a
            pressure, which times the width of the beam is a force per length).
        at: the places of the table along the beam, ascending, shape (k,) [m]; nothing acts beyond them.
        start, end: where the load begins and ends along the beam [m]; None: at the ends of the beam.
            A function that jumps along x is best given as two loads.

    Raises:
        ModelError: no beam.
        ParameterError: values or places of a wrong shape, not finite, or off the beam.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> beam = model.add(ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(210e9, 7850.0)), "beam")
        >>> clamp = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
        >>> load = model.apply(ph.DistributedForce(beam, (0.0, -50.0, 0.0)))  # [N/m]
        >>> model.equilibrium().reaction(clamp).round(6) + 0.0
        array([ 0., 50.,  0.])
    """

    body: PlacedBody | PlacedWhole
    value: ArrayLike | Distribution
    axes: AnyAxes = Axes.WORLD
    at: ArrayLike | None = field(default=None, kw_only=True)
    start: float | None = field(default=None, kw_only=True)
    end: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        is_beam = isinstance(self.body, PlacedWhole) or (
            isinstance(self.body, PlacedBody) and isinstance(self.body.body, Beam)
        )
        if not is_beam:
            raise ModelError(
                f"{type(self).__name__}: body must be a beam or rod that model.add returned, got {self.body!r}"
            )
        super().__post_init__()
        if self.at is not None:
            self._check_table()
        elif callable(self.value):
            check_callable(f"value of {self}", self.value, "x", "time")
        else:
            vector(f"value of {self}", self.value)
        begin, end = self.extent
        if not 0 <= begin < end <= self._length * (1 + ROUND_OFF):
            raise ParameterError(
                f"{self} must act within 0 <= start < end <= {self._length:g} (the length of the beam; of a table"
                f" at=), got {begin:g} to {end:g}"
            )
        self.entries()
        for placed, _ in line_parts(self.body):
            placed.expect(self)

    @property
    def extent(self) -> tuple[float, float]:
        """Return the start and the end of a distributed force along its beam, as distances from the beam's
        start [m]. They are the first and last of the given positions, or the user's limits, by default the
        whole beam."""
        if self.at is not None:
            positions = np.asarray(self.at, dtype=np.float64)
            return float(positions[0]), float(positions[-1])
        begin = 0.0 if self.start is None else finite("start", self.start)
        return begin, self._length if self.end is None else finite("end", self.end)

    def quadrature(self) -> tuple[Array, Array]:
        """Return the positions along the beam and the weights of the Gauss points of a distributed force, shape
        (points,) each [m]."""
        positions, weights = zip(*(each[2:] for each in self._gauss_points()), strict=True)
        return np.array(positions), np.array(weights)

    def __repr__(self) -> str:
        return self.name or f"distributed force on {self.body.name}"

    @cached_on_owner
    def entries(self) -> tuple[PointLoad, ...]:
        """Return the point loads of a distributed force, cached: forces at the Gauss points of the beam's
        elements, each the force per length times the weight of the point."""
        found = []
        for placed, local, x, weight in self._gauss_points():
            name = f"{self} at x = {x:g} m"
            found.append(Force(placed.at(local), self._gauss_point_force(x, weight), self.axes, name=name))
            placed.receive(found[-1])  # with this load
        return tuple(found)

    def _gauss_points(self) -> list[tuple[PlacedBody, float, float, float]]:
        """Return the Gauss points at which this distributed force on a beam or rod is integrated. Each is a tuple:
        body that models this part of the beam, position along this body [m], position along the whole beam [m],
        weight [m]. The intervals end at nodes of the beam, at both ends of the force and at its given positions;
        shorter ones than round-off are skipped."""
        begin, end = self.extent
        shares, weights = gauss(POINTS)
        points = []
        for placed, offset in line_parts(self.body):
            beam = placed.body
            assert isinstance(beam, Beam | RodNode)
            nodes = offset + np.linspace(0.0, beam.length, beam.elements + 1)
            kinks = [begin, end] if self.at is None else np.asarray(self.at, dtype=np.float64).tolist()
            inner = [x for x in kinks if nodes[0] < x < nodes[-1]]
            cuts = np.unique(np.concatenate([nodes[(nodes >= begin) & (nodes <= end)], inner]))
            for left, right in pairwise(cuts):
                if right - left > ROUND_OFF * self._length:
                    for share, weight in zip(shares, weights, strict=True):
                        x = float(left + share * (right - left))
                        points.append((placed, x - offset, x, float(weight * (right - left))))
        return points

    def _gauss_point_force(self, x: float, weight: float) -> Any:
        """Return this distributed force [N/m] at the position ``x`` along the beam [m], times the ``weight`` of a
        Gauss point [m]. A constant, or a table of values interpolated linearly in x, gives an array of shape (3,)
        [N]. A user's function gives a function of time that also accepts arrays of times."""
        if not callable(self.value):
            if self.at is None:
                return weight * np.asarray(self.value, dtype=np.float64)
            positions, table = (np.asarray(each, dtype=np.float64) for each in (self.at, self.value))
            return weight * np.array([np.interp(x, positions, column) for column in table.T])
        return _ForceAt(self, x, weight)

    def _check_table(self) -> None:
        if callable(self.value):
            raise ParameterError(
                f"value of {self} must be a table for the places at=, got the function {self.value!r}"
            )
        assert self.at is not None
        positions, table = reals("at", self.at), reals(f"value of {self}", self.value, "a table (k, 3)")
        if self.start is not None or self.end is not None:
            raise ParameterError(f"{self}: a table begins and ends where its places at= do; leave start and end")
        if positions.ndim != 1 or len(positions) < 2 or table.shape != (len(positions), 3):
            raise ParameterError(
                f"value of {self} must be a table, with at least two places at= and as many rows of three numbers,"
                f" got shapes {positions.shape} and {table.shape}"
            )
        if not (np.isfinite(positions).all() and np.isfinite(table).all() and (np.diff(positions) > 0).all()):
            raise ParameterError(f"{self}: places at= must ascend, and all numbers must be finite")

    @property
    def _length(self) -> float:
        body = self.body.body
        assert isinstance(body, Beam | SplitBeam | Rod)
        return float(body.length)


@dataclass(frozen=True, eq=False)
class _ForceAt:
    """Force at a Gauss point as a function of time, for a load that is a function of position and time."""

    load: DistributedForce
    x: float
    weight: float

    def __call__(self, time: float) -> Any:
        assert callable(self.load.value), "other loads are numbers"
        value = self.load.value(self.x, time)
        try:
            return [self.weight * reals("component", component, largest=ANY_SIZE) for component in value]  # type: ignore[union-attr]
        except (TypeError, ParameterError):
            raise ParameterError(
                f"value of {self.load} at x = {self.x:g} m must be a function f(x, t) of three numbers,"
                f" got {value!r}"
            ) from None


# Pressure on the surface of a soft body, which follows it.


@dataclass(frozen=True, eq=False, repr=False)
class SurfacePressure(PointLoad):
    """Pressure on faces of a soft body as a point load, whose value is (p, 0, 0), along the normals of the faces.

    Attributes:
        surface: faces on nodes of the body that ``attachment`` is on.
    """

    surface: SoftSurface = field(kw_only=True)


# Pressure on a face of a meshed body.


@dataclass(frozen=True, eq=False, repr=False)
class Pressure(Load):
    """A uniform pressure that follows: on a flat interface of a meshed body, or on a soft body.

    On an averaged interface it is the consistent load of its elements: the force of pressure times area in their
    mean displacement. On a soft sheet it pushes along the normals of its elements, about which their corners go
    counter-clockwise: it inflates a closed one that is listed so seen from outside, and supplies exactly
    p delta(V). On a soft solid it presses on the faces all of whose corners are in the interface.

    Attributes:
        interface: ``part["face"]``; of a soft body also the body itself: all of its surface.
        value: positive where it pushes on the body, constant or a function of time [Pa]. Positive is -z on the
            ``"face"`` of a flat ``Plate``, and along the directors of a ``Shell``, +z of ``Shell.plate``.

    Raises:
        ModelError: no interface of a mesh, or one that is not flat.
        ParameterError: a value that is no finite number.
    """

    interface: Attachment | PlacedBody
    value: float | Callable[[float], float]

    def __post_init__(self) -> None:
        face, is_soft = self.interface, self._surface is not None
        if not is_soft and (not isinstance(face, Attachment) or not isinstance(face.location, Interface)):
            raise ModelError(f'a Pressure acts on an interface of a body from a mesh, part["face"], got {face!r}')
        super().__post_init__()
        if not is_soft and not self.area.any():
            raise ModelError(
                f"{self}: {face} is not flat (or its body has no mesh): give each flat part of it an interface"
            )
        if callable(self.value):
            check_callable(f"value of {self}", self.value, "time")
        self.at_time(0.0)
        self.entries()
        self._placed.expect(self)

    @property
    def _placed(self) -> PlacedBody:
        return self.interface if isinstance(self.interface, PlacedBody) else self.interface.placed

    @property
    def area(self) -> Array:
        """Return the area of a flat interface times its outward unit normal in the undeformed body, body axes,
        shape (3,) [m^2]; zero if the interface is not flat. A pressure acts against it."""
        assert isinstance(self.interface, Attachment)
        points, location = self.interface.placed.data.points, self.interface.location
        assert isinstance(location, Interface) and isinstance(points, FlexiblePoints)
        return np.asarray(points.interfaces.areas[points.interfaces.names.index(location.name)])

    def at_time(self, time: float) -> float:
        """Return the value of a pressure load at a time [s]: the user's number, or the user's function of time,
        which must return a finite number [Pa].

        Raises:
            ParameterError: the function returned no finite number.
        """
        if not callable(self.value):
            return finite(f"value of {self}", self.value)
        return _evaluate_pressure(self.value, repr(self), time)

    def __repr__(self) -> str:
        return self.name or f"pressure on {self.interface}"

    @cached_on_owner
    def entries(self) -> tuple[PointLoad, ...]:
        """Return the point loads of this pressure, as a tuple of one, cached. On a flat interface of a flexible
        body it is the resultant force, pressure times area against the outer normal, in body axes. On a soft body
        it is the pressure on the faces, whose normals follow the deformation."""
        if self._surface is not None:
            return (self._inflating(self._surface),)
        assert isinstance(self.interface, Attachment)
        value = self._along(-self.area)
        force = Force(self.interface, value, Axes.BODY, breakpoints=self.breakpoints, name=f"{self} as a force")
        self.interface.placed.receive(force)  # with this load
        return (force,)

    def _along(self, area: Array) -> "Array | _Push":
        return _Push(self.value, area, repr(self)) if callable(self.value) else self.at_time(0.0) * area

    @cached_property
    def _surface(self) -> SoftSurface | None:
        return _soft_surface(self.interface)

    def _inflating(self, surface: SoftSurface) -> SurfacePressure:
        placed, points = self._placed, self._placed.data.points
        assert isinstance(points, SoftPoints)
        value = self._along(np.array([1.0, 0.0, 0.0]))
        node = placed.node(int(points.mesh.nodes[surface.nodes[0]]))
        name = f"{self} on its surface"
        load = SurfacePressure(node, value, breakpoints=self.breakpoints, name=name, surface=surface)
        placed.receive(load)  # with this load
        return load


@dataclass(frozen=True, eq=False)
class _Push(Portable):
    """Force of a pressure in body axes as a function of time, without a reference to the load, so that it can be
    copied.

    Attributes:
        value: pressure as a function of time [Pa].
        area: along which it pushes, shape (3,) [m2].
        load: its description for messages.
    """

    value: Callable[[float], float]
    area: Array
    load: str

    def __call__(self, time: float) -> Array:
        return _evaluate_pressure(self.value, self.load, time) * self.area


def _evaluate_pressure(value: Callable[[float], float], load: str, time: float) -> float:
    """Return the value of the user's pressure function at a time [s], checked to be a finite number [Pa]. ``load``
    is the name for messages.

    Raises:
        ParameterError: the function returned no finite number.
    """
    at = f"at t = {time:g} s"
    return finite(f"value of {load} {at}", called(value, f"value of {load}", time, at=at), ANY_SIZE)


def _soft_surface(face: object) -> SoftSurface | None:
    """Return the element faces of a soft body's mesh on which a pressure acts; None if ``face`` is on another kind
    of body. ``face`` is a soft body (all boundary faces, or all elements of a sheet) or one of its interfaces
    (only faces whose corners all belong to it). Raise ``ModelError`` for planar models, other points of a soft
    body, and interfaces without a full face.

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
        chosen = points.groups[face.location.name].points
    surface = soft_surface(points.mesh, chosen)
    if surface is None:
        raise ModelError(f"a Pressure needs faces: no face of an element has all of its corners in {face}")
    return surface
