"""A model as the user writes it: placed bodies, joints and loads, each checked where it is given."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Self, TypeVar, overload

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.floating_body import Body, FloatingBody
from phlexible.bodies.invariants import check_mass
from phlexible.bodies.split_beam import SplitBeam
from phlexible.errors import ModelError, ParameterError, SingularMassError
from phlexible.joints.attachments import PlacedBody
from phlexible.joints.joint import Joint
from phlexible.joints.loads import Load
from phlexible.joints.placed_split_beam import PlacedSplitBeam
from phlexible.model.ground import Ground, planar_point
from phlexible.model.membership import check_belongs, check_plane
from phlexible.model.naming import described, free_name, numbered
from phlexible.model.relocation import relocated
from phlexible.model.substructures import add_parts, grouped, parts_by_name

JointType = TypeVar("JointType", bound=Joint)
LoadType = TypeVar("LoadType", bound=Load)


class Mechanism:
    """Bodies, the joints between them and the loads on them. World axes, SI units.

    Args:
        gravity: acceleration of gravity, shape (3,) [m/s^2].
        dimension: 3: space; 2: motion in the xy plane.

    Attributes:
        ground: makes fixed points and moving frames for joints.

    Raises:
        ParameterError: a dimension other than 2 or 3, or a gravity out of the plane.
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, 0.0), dimension: int = 3) -> None:
        if dimension not in (2, 3):
            raise ParameterError(f"dimension must be 2 (the xy plane) or 3 (space), got {dimension!r}")
        self._dimension = int(dimension)
        self._gravity = planar_point("gravity", vector("gravity", gravity), dimension)
        self.ground = Ground(dimension)
        self._bodies: dict[str, PlacedBody] = {}
        self._split_beams: dict[str, PlacedSplitBeam] = {}
        self._joints: list[Joint] = []
        self._loads: list[Load] = []

    @property
    def dimension(self) -> int:
        """2 in the xy plane, 3 in space."""
        return self._dimension

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity, shape (3,) [m/s^2]."""
        return self._gravity

    @property
    def bodies(self) -> tuple[PlacedBody, ...]:
        """The placed bodies, in the order they were added."""
        return tuple(self._bodies.values())

    @property
    def split_beams(self) -> tuple[PlacedSplitBeam, ...]:
        """Handles of beams that were added in parts; the parts are among the bodies."""
        return tuple(self._split_beams.values())

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints, in the order they were connected."""
        return tuple(self._joints)

    @property
    def loads(self) -> tuple[Load, ...]:
        """The loads, in the order they were applied."""
        return tuple(self._loads)

    def __getitem__(self, name: str) -> PlacedBody | PlacedSplitBeam:
        """The body with a name, or the handle of a beam that was added in parts.

        Raises:
            ModelError: there is none; the message lists the names.
        """
        try:
            return self._split_beams[name] if name in self._split_beams else self._bodies[name]
        except KeyError:
            known = ", ".join([*self._split_beams, *self._bodies]) or "no body yet"
            raise ModelError(f"no body is named {name!r}; the model has: {known}") from None

    @overload
    def add(
        self,
        body: Body,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> PlacedBody: ...

    @overload
    def add(
        self,
        body: SplitBeam,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> PlacedSplitBeam: ...

    def add(
        self,
        body: Body | SplitBeam,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
    ) -> PlacedBody | PlacedSplitBeam:
        """Places a body; the same description may be placed any number of times.

        Args:
            body: the description, or ``beam.split(n)``: its parts are placed and fixed to each other.
            name: unique in the model; None: "beam 1", "beam 2", ...
            position: origin of the body frame at t = 0, world axes, shape (3,) [m].
            rotation: body to world at t = 0; a SciPy Rotation, a 3x3 matrix or, in the plane, an
                angle about z [rad].
            velocity: of the origin at t = 0, world axes, shape (3,) [m/s]; None: solved from joints.
            angular_velocity: at t = 0, world axes, shape (3,) [rad/s]; None: solved from joints.

        Returns:
            The handle whose ``start``, ``end``, ``at(x)``, ``origin`` and ``point(...)`` are ports.

        Raises:
            ModelError: no body, a name that is taken, or an angular velocity of a point mass.
            ParameterError: numbers of a wrong shape, not finite, or out of the plane.
            SingularMassError: a motion of the body carries no kinetic energy.
        """
        if not isinstance(body, Body | SplitBeam):
            raise ModelError(f"add takes a body such as Beam or RigidBody, got {described(body)}")
        name = free_name(body, name, self.bodies, self.split_beams)
        if isinstance(body, SplitBeam):
            parts = add_parts(self, body, name, position, rotation, velocity, angular_velocity)
            return self.group(name, [placed.name for placed in parts])
        placed = PlacedBody(
            name,
            body,
            self._discretized(body, name),
            self._vector("position", position),
            rotation_matrix(rotation, self._dimension),
            None if velocity is None else self._vector("velocity", velocity),
            None if angular_velocity is None else self._spin(angular_velocity),
        )
        if angular_velocity is not None and not placed.data.rotates:
            raise ModelError(f"{name} is a point mass and has no angular velocity, got {angular_velocity!r}")
        self._bodies[name] = placed
        return placed

    def group(self, name: str, parts: Sequence[str]) -> PlacedSplitBeam:
        """Calls bodies that are in the model, named from start to end, one beam; joins nothing.

        Raises:
            ModelError: bodies that are not in the model or are not equal beams.
        """
        if missing := [each for each in parts if each not in self._bodies]:
            raise ModelError(f"no body is named {missing[0]!r}")
        self._split_beams[name] = grouped(name, [self._bodies[each] for each in parts])
        return self._split_beams[name]

    def connect(self, joint: JointType) -> JointType:
        """Adds a joint and returns it.

        Raises:
            ModelError: no joint, one that is already connected, one with a port on a body of another
                model, or one that the model's dimension or its ports do not allow.
        """
        if not isinstance(joint, Joint):
            raise ModelError(f"connect takes a joint such as Revolute(a, b), got {described(joint)}")
        if any(joint is other for other in self._joints):
            raise ModelError(f"{joint} is already connected")
        check_belongs(joint, self._bodies)
        check_plane(joint, self._dimension)
        joint.rows(self._dimension)
        self._joints.append(joint)
        return joint

    def apply(self, load: LoadType) -> LoadType:
        """Adds a load and returns it, under a name of its own ("force on beam.end 2") if need be.

        Raises:
            ModelError: no load, one that is already applied, or one on a body of another model.
            ParameterError: a value at t = 0 that is not three finite numbers or leaves the plane.
        """
        if not isinstance(load, Load):
            raise ModelError(f"apply takes a load such as Force(beam.end, f), got {described(load)}")
        if any(load is other for other in self._loads):
            raise ModelError(f"{load} is already applied")
        check_belongs(load, self._bodies)
        check_plane(load, self._dimension)
        taken = {str(other) for other in self._loads}
        if (name := str(load)) in taken:
            load = dataclasses.replace(load, name=numbered(name, taken, start=2))
        self._loads.append(load)
        return load

    def replace(
        self,
        gravity: ArrayLike | None = None,
        bodies: Mapping[str, Body | SplitBeam] | None = None,
        **named: Body | SplitBeam,
    ) -> Self:
        """A copy with other parameters; joints and loads move to the same places on the new bodies.

        Args:
            gravity: shape (3,) [m/s^2]; None: as it is.
            bodies: new descriptions by the name of the body they stand for.
            named: the same as keywords, ``replace(coupler=stiffer)``.

        Raises:
            ModelError: an unknown name, or whatever the copy's ``add``, ``connect`` or ``apply`` refuse.
            AttachmentError: a new body without the place where a joint or load acts.
        """
        given = {**(bodies or {}), **named}
        for name in given:
            self[name]
        new = parts_by_name(given, self._split_beams)
        copy = type(self)(gravity=self._gravity if gravity is None else gravity, dimension=self._dimension)
        copy.ground = self.ground
        for placed in self.bodies:
            copy.add(
                new.get(placed.name, placed.body),
                placed.name,
                placed.position,
                placed.rotation,
                placed.velocity,
                placed.angular_velocity,
            )
        parts: dict[object, object] = {}
        for split in self.split_beams:
            parts[split] = copy.group(split.name, [placed.name for placed in split.parts])
        for joint in self._joints:
            parts[joint] = copy.connect(relocated(joint, copy._bodies, parts))
        for load in self._loads:
            copy.apply(relocated(load, copy._bodies, parts))
        return copy

    def _discretized(self, body: Body, name: str) -> FloatingBody:
        data = body.discretize(self._dimension)
        try:
            check_mass(data)
        except SingularMassError as error:
            raise SingularMassError(f"{name}: {error}") from None
        return data

    def _vector(self, name: str, value: ArrayLike) -> Array:
        return planar_point(name, vector(name, value), self._dimension)

    def _spin(self, value: ArrayLike) -> Array:
        spin = vector("angular_velocity", value)
        if self._dimension == 2 and spin[:2].any():
            raise ParameterError(
                f"angular_velocity must be (0, 0, w_z) in a planar model (dimension=2), got {value!r}"
            )
        return spin

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(dimension={self._dimension}, {len(self._bodies)} bodies, "
            f"{len(self._joints)} joints, {len(self._loads)} loads)"
        )
