"""A model as the user writes it: placed bodies, joints and loads, each checked where it is given."""

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping
from typing import Self, TypeVar

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, vector
from phlexible.algebra.rotations import RotationLike, rotation_matrix
from phlexible.bodies.floating_body import Body, FloatingBody
from phlexible.bodies.initial_curve import Field, initial_curve
from phlexible.bodies.invariants import check_mass
from phlexible.bodies.string import String
from phlexible.errors import ModelError, ParameterError, SingularMassError
from phlexible.joints.attachments import Attachment, PlacedBody
from phlexible.joints.joint import Joint
from phlexible.joints.loads import Load
from phlexible.model.ground import Ground, planar_point
from phlexible.model.membership import check_belongs, check_nodes, check_plane
from phlexible.model.placed_strings import check_strains, single_velocity
from phlexible.model.relocation import relocated

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
        """The placed bodies: those with a frame, then strings, each in the order they were added."""
        return tuple(sorted(self._bodies.values(), key=lambda placed: placed.curve is not None))

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints, in the order they were connected."""
        return tuple(self._joints)

    @property
    def loads(self) -> tuple[Load, ...]:
        """The loads, in the order they were applied."""
        return tuple(self._loads)

    def __getitem__(self, name: str) -> PlacedBody:
        """The body with a name.

        Raises:
            ModelError: there is none; the message lists the names.
        """
        try:
            return self._bodies[name]
        except KeyError:
            known = ", ".join(self._bodies) or "no body yet"
            raise ModelError(f"no body is named {name!r}; the model has: {known}") from None

    def add(
        self,
        body: Body,
        name: str | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: RotationLike | None = None,
        velocity: Field | None = None,
        angular_velocity: ArrayLike | None = None,
        shape: Field | None = None,
    ) -> PlacedBody:
        """Places a body; the same description may be placed any number of times.

        Args:
            body: the description.
            name: unique in the model; None: "beam 1", "beam 2", ...
            position: origin of the body frame at t = 0, world axes, shape (3,) [m].
            rotation: body to world at t = 0; a SciPy Rotation, a 3x3 matrix or, in the plane, an
                angle about z [rad].
            velocity: of the origin at t = 0, world axes, shape (3,) [m/s]; None: solved from joints.
            angular_velocity: at t = 0, world axes, shape (3,) [rad/s]; None: solved from joints.
            shape: of a string at t = 0, then turned by ``rotation`` and moved by ``position``: a function
                of s [m] that returns a position, its two end points, or its nodes (N, 3); None: straight
                along x. Its ``velocity`` may be a function of s or (N, 3), too.

        Returns:
            The handle whose ``start``, ``end``, ``at(x)``, ``origin`` and ``point(...)`` are ports.

        Raises:
            ModelError: no body, a name that is taken, an angular velocity of a point mass or string, or a
                shape of a body that is no string.
            ParameterError: numbers of a wrong shape, not finite, or out of the plane.
            SingularMassError: a motion of the body carries no kinetic energy.
        """
        if not isinstance(body, Body):
            raise ModelError(f"add takes a body such as Beam or RigidBody, got {_described(body)}")
        name = self._free_name(body, name)
        if isinstance(body, String):
            if angular_velocity is not None:
                raise ModelError(f"{name} is a string: give its velocity as a function of s")
            self._bodies[name] = self._placed_string(body, name, position, rotation, shape, velocity)
            return self._bodies[name]
        if shape is not None:
            raise ModelError(f"{name} is no string and has no shape; give position= and rotation=")
        placed = PlacedBody(
            name,
            body,
            self._discretized(body, name),
            self._vector("position", position),
            rotation_matrix(rotation, self._dimension),
            None if velocity is None else self._vector("velocity", single_velocity(name, velocity)),
            None if angular_velocity is None else self._spin(angular_velocity),
        )
        if angular_velocity is not None and not placed.data.rotates:
            raise ModelError(f"{name} is a point mass and has no angular velocity, got {angular_velocity!r}")
        self._bodies[name] = placed
        return placed

    def connect(self, joint: JointType) -> JointType:
        """Adds a joint and returns it.

        Raises:
            ModelError: no joint, one that is already connected, one with a port on a body of another
                model, or one that the model's dimension or its ports do not allow.
        """
        if not isinstance(joint, Joint):
            raise ModelError(f"connect takes a joint such as Revolute(a, b), got {_described(joint)}")
        if any(joint is other for other in self._joints):
            raise ModelError(f"{joint} is already connected")
        check_belongs(joint, self._bodies)
        check_nodes(joint)
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
            raise ModelError(f"apply takes a load such as Force(beam.end, f), got {_described(load)}")
        if any(load is other for other in self._loads):
            raise ModelError(f"{load} is already applied")
        check_belongs(load, self._bodies)
        check_nodes(load)
        check_plane(load, self._dimension)
        taken = {str(other) for other in self._loads}
        if (name := str(load)) in taken:
            load = dataclasses.replace(load, name=_numbered(name, taken, start=2))
        self._loads.append(load)
        return load

    def replace(
        self, gravity: ArrayLike | None = None, bodies: Mapping[str, Body] | None = None, **named: Body
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
        new = {**(bodies or {}), **named}
        for name in new:
            self[name]
        copy = type(self)(gravity=self._gravity if gravity is None else gravity, dimension=self._dimension)
        copy.ground = self.ground
        for placed in self.bodies:
            curve = placed.curve
            copy.add(
                new.get(placed.name, placed.body),
                placed.name,
                placed.position,
                placed.rotation,
                placed.velocity if curve is None else curve.speed,
                placed.angular_velocity,
                None if curve is None else curve.shape,
            )
        parts: dict[object, object] = {}
        for joint in self._joints:
            parts[joint] = copy.connect(relocated(joint, copy._bodies, parts))
        for load in self._loads:
            copy.apply(relocated(load, copy._bodies, parts))
        return copy

    def _free_name(self, body: Body, name: str | None) -> str:
        if name is None:
            kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(body).__name__).lower()
            count = Counter(type(placed.body) for placed in self.bodies)[type(body)]
            return _numbered(kind, set(self._bodies), start=count + 1)
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"the name of a body must be text that is not empty, got {name!r}")
        if name in self._bodies:
            raise ModelError(f"a body named {name!r} is already in the model; give another name")
        return name

    def _placed_string(
        self,
        string: String,
        name: str,
        position: ArrayLike,
        rotation: RotationLike | None,
        shape: Field | None,
        velocity: Field | None,
    ) -> PlacedBody:
        place, turn = self._vector("position", position), rotation_matrix(rotation, self._dimension)
        curve = initial_curve(string.mesh.nodes, self._dimension, shape, velocity, place, turn)
        placed = PlacedBody(name, string, string.discretize(self._dimension), place, turn, curve=curve)
        check_strains(placed)
        return placed

    def _discretized(self, body: Body, name: str) -> FloatingBody:
        data = body.discretize(self._dimension)
        assert isinstance(data, FloatingBody), "only strings have no frame"
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


def _numbered(name: str, taken: set[str], start: int) -> str:
    number = start
    while (candidate := f"{name} {number}") in taken:
        number += 1
    return candidate


def _described(value: object) -> str:
    if isinstance(value, PlacedBody | Attachment | Joint | Load):
        return f"{type(value).__name__} {value}" if not isinstance(value, PlacedBody) else value.name
    return repr(value)
