"""Sensors on points and bodies: where they are, how they are turned, how they move.

Along a direction, or about it, they measure one number; as outputs of ``Model.linearize`` they mean its small
change about the operating point.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation as Turn

from phlexible.algebra.arrays import Array, unit_vector
from phlexible.bodies.floating_body import FloatingBody
from phlexible.errors import ModelError
from phlexible.interactions.control.measurement import Availability, QuickShare
from phlexible.interactions.functions import AXES
from phlexible.observables import poses, velocities
from phlexible.observables.reader import Reader
from phlexible.ports.attachments import Attachment, PlacedBody, Port
from phlexible.sensors.sensor import Sensor

XYZ = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class PointSensor(Sensor):
    """A scalar motion of an attachment along or about a world direction.

    Attributes:
        attachment: where it sits.
        direction: world axes, shape (3,); divided by its length.

    Raises:
        ModelError: no attachment, or an angle of a point mass.
        ParameterError: no direction.
    """

    attachment: Attachment
    direction: ArrayLike = (1.0, 0.0, 0.0)

    differentiations: ClassVar[int]
    is_angular: ClassVar[bool] = False
    label: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.attachment, Attachment):
            raise ModelError(
                f"{type(self).__name__} sits on an attachment such as beam.end, got {self.attachment!r}"
            )
        if self.is_angular and not self.attachment.has_orientation:
            raise ModelError(f"{self.attachment} has no orientation (a point mass or a string) to measure")
        object.__setattr__(self, "direction", unit_vector("direction", self.direction))

    def __str__(self) -> str:
        return f"{self.label} of {self.attachment} {axis_name(self.direction)}"

    @property
    def axis(self) -> Array:
        """The direction, of length 1, shape (3,)."""
        return np.asarray(self.direction, dtype=np.float64)

    @property
    def unit(self) -> str:
        """Of a length or an angle, and its rates."""
        return ("rad" if self.is_angular else "m") + ("", "/s", "/s2")[self.differentiations]

    @property
    def availability(self) -> Availability:
        """Accelerations are differences of a motion."""
        return Availability.LATER if self.differentiations == 2 else Availability.AT_ONCE

    @property
    def quick(self) -> QuickShare | None:
        """Along the direction, of what is measured of the attachment."""
        if self.is_angular or self.differentiations == 2:
            return None
        weights = np.zeros((1, 6))
        weights[0, 3 * self.differentiations :][:3] = self.axis
        begin = self.attachment.initial_position() @ self.axis if self.differentiations == 0 else 0.0
        return QuickShare(self.attachment, weights, np.array([begin]))


class Displacement(PointSensor):
    """Displacement of the point in the world, from its place at t = 0 or at the operating point [m].

    That in the frame of its body is ``ElasticDisplacement``.
    """

    differentiations = 0
    label = "displacement"

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,)."""
        place = poses.position(reader.run, self.attachment)
        return np.asarray((place - self.attachment.initial_position()) @ self.axis)


class Velocity(PointSensor):
    """Its rate [m/s]."""

    differentiations = 1
    label = "velocity"

    def read(self, reader: Reader) -> Array:
        """Consistent with the joints, shape (N + 1,)."""
        return np.asarray(velocities.velocity(reader.run, reader.velocities, self.attachment) @ self.axis)


class Acceleration(PointSensor):
    """Its second rate [m/s2]; of motions by differences of second order between stored instants."""

    differentiations = 2
    label = "acceleration"

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,)."""
        moving = velocities.velocity(reader.run, reader.velocities, self.attachment) @ self.axis
        return reader.rate(np.asarray(moving))


class Angle(PointSensor):
    """Turn of the material about the direction [rad]: small in linear models; in motions since t = 0, over full
    turns, the part about the direction of a turn that also tilts it."""

    differentiations = 0
    is_angular = True
    label = "angle"

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,)."""
        turned = poses.rotation(reader.run, self.attachment)
        quaternion = Turn.from_matrix(turned @ self.attachment.placed.rotation.T).as_quat()
        wrapped = 2 * np.arctan2(quaternion[:, :3] @ self.axis, quaternion[:, 3])
        spin = velocities.angular_velocity(reader.run, reader.velocities, self.attachment) @ self.axis
        steps = np.diff(reader.time) * (spin[1:] + spin[:-1]) / 2
        expected = wrapped[0] + np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(np.unwrap(wrapped - expected) + expected)

    def continued(self, before: Array, now: Array) -> Array:
        """Within half a turn of the value before."""
        return now + 2 * np.pi * np.round((before - now) / (2 * np.pi))


class AngularVelocity(PointSensor):
    """Its rate [rad/s]; of motions the angular velocity along the direction."""

    differentiations = 1
    is_angular = True
    label = "angular velocity"

    def read(self, reader: Reader) -> Array:
        """Consistent with the joints, shape (N + 1,)."""
        spin = velocities.angular_velocity(reader.run, reader.velocities, self.attachment)
        return np.asarray(spin @ self.axis)


class AngularAcceleration(PointSensor):
    """Its second rate [rad/s2]; of motions by differences of second order between stored instants."""

    differentiations = 2
    is_angular = True
    label = "angular acceleration"

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1,)."""
        spin = velocities.angular_velocity(reader.run, reader.velocities, self.attachment)
        return reader.rate(np.asarray(spin @ self.axis))


@dataclass(frozen=True, eq=False)
class Position(Sensor):
    """World position of a point, shape (N + 1, 3) [m].

    Attributes:
        port: an attachment, or a point of the ground that moves.

    Raises:
        ModelError: neither.
    """

    port: Port

    def __post_init__(self) -> None:
        if not isinstance(self.port, Port):
            raise ModelError(f"Position takes a point such as beam.end, got {self.port!r}")

    def __str__(self) -> str:
        return f"position of {self.port}"

    @property
    def unit(self) -> str:
        """Metres."""
        return "m"

    @property
    def components(self) -> tuple[str, ...]:
        """World axes."""
        return XYZ

    @property
    def quick(self) -> QuickShare | None:
        """Of a point of a body what is measured of it."""
        return QuickShare(self.port, np.eye(3, 6), np.zeros(3)) if isinstance(self.port, Attachment) else None

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, 3)."""
        return poses.position(reader.run, self.port)


@dataclass(frozen=True, eq=False)
class ElasticDisplacement(Sensor):
    """Displacement of a point in the frame of its body, body axes, shape (N + 1, 3) [m]; zero on rigid bodies.

    Attributes:
        attachment: where it sits.

    Raises:
        ModelError: no attachment.
    """

    attachment: Attachment

    def __post_init__(self) -> None:
        if not isinstance(self.attachment, Attachment):
            raise ModelError(f"ElasticDisplacement sits on an attachment such as beam.end, got {self.attachment!r}")

    def __str__(self) -> str:
        return f"elastic displacement of {self.attachment}"

    @property
    def unit(self) -> str:
        """Metres."""
        return "m"

    @property
    def components(self) -> tuple[str, ...]:
        """Body axes."""
        return XYZ

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, 3)."""
        return poses.elastic_displacement(reader.run, self.attachment)


@dataclass(frozen=True, eq=False)
class _Orientation(Sensor):
    target: PlacedBody | Port

    def __post_init__(self) -> None:
        if not isinstance(self.target, PlacedBody | Port):
            raise ModelError(f"{type(self).__name__} takes a body or an attachment, got {self.target!r}")
        if not _has_orientation(self.target):
            raise ModelError(f"{self._name} has no orientation (a point mass or a string) to measure")

    @property
    def _name(self) -> str:
        return self.target.name if isinstance(self.target, PlacedBody) else str(self.target)

    @property
    def unit(self) -> str:
        """A plain number."""
        return "1"


class Rotation(_Orientation):
    """Body to world, of a body or of the material around an attachment, shape (N + 1, 3, 3).

    Attributes:
        target: the body or attachment.

    Raises:
        ModelError: neither, or one without orientation.
    """

    def __str__(self) -> str:
        return f"rotation of {self._name}"

    @property
    def components(self) -> tuple[str, ...]:
        """Rows in world axes, columns in body axes."""
        return tuple(a + b for a in XYZ for b in XYZ)

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, 3, 3)."""
        return poses.rotation(reader.run, self.target)


class Quaternion(_Orientation):
    """The same as a unit quaternion, scalar last as in SciPy, without jumps of sign, shape (N + 1, 4)."""

    def __str__(self) -> str:
        return f"quaternion of {self._name}"

    @property
    def components(self) -> tuple[str, ...]:
        """Scalar last."""
        return (*XYZ, "w")

    def read(self, reader: Reader) -> Array:
        """Shape (N + 1, 4)."""
        found = Turn.from_matrix(poses.rotation(reader.run, self.target)).as_quat()
        jumps = np.where((found[1:] * found[:-1]).sum(axis=1) < 0, -1.0, 1.0)
        found[1:] *= np.cumprod(jumps)[:, None]
        return np.asarray(found)

    def continued(self, before: Array, now: Array) -> Array:
        """Of the sign of the value before."""
        return -now if before @ now < 0 else now


def _has_orientation(target: PlacedBody | Port) -> bool:
    if isinstance(target, PlacedBody):
        return isinstance(target.data, FloatingBody) and target.data.rotates
    return target.has_orientation


def axis_name(direction: ArrayLike) -> str:
    """ "x", "y", "z", or the components."""
    numbers = np.asarray(direction, dtype=np.float64)
    for k in range(3):
        if np.array_equal(numbers, AXES[k]):
            return XYZ[k]
    return f"({', '.join(f'{number:g}' for number in numbers)})"
