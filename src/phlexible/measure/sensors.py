"""Sensors: what can be measured in motions, equilibria, linear models and tables."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation as Turn

from phlexible.algebra.arrays import Array, finite, option, unit_vector, whole
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.feedback import Availability, QuickShare
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.functions import AXES
from phlexible.description.interactions.loads import Axes
from phlexible.description.joints.joint import Joint
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import ModelError, ParameterError
from phlexible.measure import (
    kinematics as coordinates,
    kinematics as poses,
    kinematics as velocities,
    reactions,
    reactions as tension,
    section_forces,
)
from phlexible.measure.energy import energy_of
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.recording import Recording
from phlexible.state.system import System
from phlexible.step.integration.measurements import StateMeasurement

# What can be measured: one set of descriptions for motions, equilibria, linear outputs and tables.


class Sensor(StateMeasurement):
    """A quantity of a model; ``motion[sensor]`` is what it measured."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """SI unit, "1" for plain numbers."""

    @abstractmethod
    def read(self, run: RecordedRun) -> Array:
        """Values at the stored instants, shape (N + 1,), or (N + 1, components)."""

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components where there are several; empty: one number an instant."""
        return ()

    @property
    def availability(self) -> Availability:
        """Of most sensors at each instant."""
        return Availability.AT_ONCE

    @property
    def count(self) -> int:
        """One, or the components."""
        return max(1, len(self.components))

    def at_instant(self, system: System, recording: Recording) -> Array:
        """What it measures at one instant, shape (count,); rates as the step has them."""
        return np.asarray(self.read(RecordedRun(system, recording, is_projected=False))[0]).ravel()


def sensors(name: str, given: object) -> list[Sensor]:
    """A list of sensors, refused unless each is one.

    Raises:
        ParameterError: naming the first that is none.
    """
    if isinstance(given, Sensor):
        given = [given]
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ParameterError(f"{name} must be a list of sensors such as [Position(beam.end)], got {given!r}")
    for each in given:
        if not isinstance(each, Sensor):
            raise ParameterError(f"{name} takes sensors such as Position(beam.end), got {each!r}")
    return list(given)


def columns(given: Sequence[Sensor], run: RecordedRun) -> dict[str, Array]:
    """Values by name and unit, one column a component: "position of beam.end x [m]"."""
    found: dict[str, Array] = {}
    for sensor in given:
        values = sensor.read(run)
        flat = values.reshape(len(values), -1)
        names = sensor.components or ([""] if flat.shape[1] == 1 else [str(k) for k in range(flat.shape[1])])
        for name, column in zip(names, flat.T, strict=True):
            found[f"{sensor} {name}".rstrip() + f" [{sensor.unit}]"] = np.ascontiguousarray(column)
    return found


# Sensors on points and bodies: where they are, how they are turned, how they move.
#
# Along a direction, or about it, they measure one number; as outputs of ``Model.linearize`` they mean its small
# change about the operating point.

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

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone", position=(0, 0, 5))
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> round(float(motion[ph.Displacement(stone.origin, (0, 0, 1))][-1]), 9)
        -4.905
    """

    differentiations = 0
    label = "displacement"

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,)."""
        place = poses.position(run, self.attachment)
        return np.asarray((place - self.attachment.initial_position()) @ self.axis)


class Velocity(PointSensor):
    """Its rate [m/s].

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone")
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> round(float(motion[ph.Velocity(stone.origin, (0, 0, 1))][-1]), 9)
        -9.81
    """

    differentiations = 1
    label = "velocity"

    def read(self, run: RecordedRun) -> Array:
        """Consistent with the joints, shape (N + 1,)."""
        return np.asarray(velocities.velocity(run, self.attachment) @ self.axis)


class Acceleration(PointSensor):
    """Its second rate [m/s2]; of motions by differences of second order between stored instants.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone")
        >>> motion = model.simulate(0.1, step=1e-2)
        >>> round(float(motion[ph.Acceleration(stone.origin, (0, 0, 1))][5]), 6)
        -9.81
    """

    differentiations = 2
    label = "acceleration"

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,)."""
        moving = velocities.velocity(run, self.attachment) @ self.axis
        return run.rate(np.asarray(moving))


class Angle(PointSensor):
    """Turn of the material about the direction [rad]: small in linear models; in motions since t = 0, over full
    turns, the part about the direction of a turn that also tilts it.

    Example:
        >>> model = ph.Model()
        >>> top = model.add(ph.RigidBody(1.0, (0.5, 0.5, 0.5)), "top", angular_velocity=(0, 0, 2.0))
        >>> motion = model.simulate(10.0, step=1e-2)
        >>> round(float(motion[ph.Angle(top.origin, (0, 0, 1))][-1]), 2)  # more than three turns [rad]
        20.0
    """

    differentiations = 0
    is_angular = True
    label = "angle"

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,)."""
        turned = poses.rotation(run, self.attachment)
        quaternion = Turn.from_matrix(turned @ self.attachment.placed.rotation.T).as_quat()
        wrapped = 2 * np.arctan2(quaternion[:, :3] @ self.axis, quaternion[:, 3])
        spin = velocities.angular_velocity(run, self.attachment) @ self.axis
        steps = np.diff(run.time) * (spin[1:] + spin[:-1]) / 2
        expected = wrapped[0] + np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(np.unwrap(wrapped - expected) + expected)

    def continued(self, before: Array, now: Array) -> Array:
        """Within half a turn of the value before."""
        return now + 2 * np.pi * np.round((before - now) / (2 * np.pi))


class AngularVelocity(PointSensor):
    """Its rate [rad/s]; of motions the angular velocity along the direction.

    Example:
        >>> model = ph.Model()
        >>> top = model.add(ph.RigidBody(1.0, (0.5, 0.5, 0.5)), "top", angular_velocity=(0, 0, 2.0))
        >>> motion = model.simulate(0.1, step=1e-2)
        >>> print(motion[ph.AngularVelocity(top.origin, (0, 0, 1))][-1].round(3))
        2.0
    """

    differentiations = 1
    is_angular = True
    label = "angular velocity"

    def read(self, run: RecordedRun) -> Array:
        """Consistent with the joints, shape (N + 1,)."""
        spin = velocities.angular_velocity(run, self.attachment)
        return np.asarray(spin @ self.axis)


class AngularAcceleration(PointSensor):
    """Its second rate [rad/s2]; of motions by differences of second order between stored instants."""

    differentiations = 2
    is_angular = True
    label = "angular acceleration"

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,)."""
        spin = velocities.angular_velocity(run, self.attachment)
        return run.rate(np.asarray(spin @ self.axis))


@dataclass(frozen=True, eq=False)
class Position(Sensor):
    """World position of a point, shape (N + 1, 3) [m].

    Attributes:
        port: an attachment, or a point of the ground that moves.

    Raises:
        ModelError: neither.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone", position=(0, 0, 1))
        >>> motion = model.simulate(0.2, step=1e-2)
        >>> motion[ph.Position(stone.origin)].shape  # instants, components
        (21, 3)
        >>> motion[ph.Position(stone.origin)][0]
        array([0., 0., 1.])
    """

    port: Port

    def __post_init__(self) -> None:
        if not isinstance(self.port, Port):
            raise ModelError(f"Position: port must be a point such as beam.end, got {self.port!r}")

    def __str__(self) -> str:
        return f"position of {self.port}"

    @property
    def unit(self) -> str:
        """Unit of the coordinates: m."""
        return "m"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the world axes."""
        return XYZ

    @property
    def quick(self) -> QuickShare | None:
        """Of a point of a body what is measured of it."""
        return QuickShare(self.port, np.eye(3, 6), np.zeros(3)) if isinstance(self.port, Attachment) else None

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, 3)."""
        return poses.position(run, self.port)


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
        """Unit of the displacement: m."""
        return "m"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the axes of the body."""
        return XYZ

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, 3)."""
        return poses.elastic_displacement(run, self.attachment)


@dataclass(frozen=True, eq=False)
class _Orientation(Sensor):
    target: PlacedBody | Port

    def __post_init__(self) -> None:
        if not isinstance(self.target, PlacedBody | Port):
            raise ModelError(f"{type(self).__name__}: target must be a body or an attachment, got {self.target!r}")
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

    Example:
        >>> from scipy.spatial.transform import Rotation
        >>> model = ph.Model()
        >>> turn = Rotation.from_euler("z", 30, degrees=True)
        >>> top = model.add(ph.RigidBody(1.0, (0.5, 0.5, 0.5)), "top", rotation=turn)
        >>> motion = model.simulate(0.1, step=1e-2)
        >>> motion[ph.Rotation(top)][0].round(3) + 0.0
        array([[ 0.866, -0.5  ,  0.   ],
               [ 0.5  ,  0.866,  0.   ],
               [ 0.   ,  0.   ,  1.   ]])
    """

    def __str__(self) -> str:
        return f"rotation of {self._name}"

    @property
    def components(self) -> tuple[str, ...]:
        """Rows in world axes, columns in body axes."""
        return tuple(a + b for a in XYZ for b in XYZ)

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, 3, 3)."""
        return poses.rotation(run, self.target)


class Quaternion(_Orientation):
    """The same as a unit quaternion, scalar last as in SciPy, without jumps of sign, shape (N + 1, 4)."""

    def __str__(self) -> str:
        return f"quaternion of {self._name}"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the four numbers; the scalar comes last."""
        return (*XYZ, "w")

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, 4)."""
        found = Turn.from_matrix(poses.rotation(run, self.target)).as_quat()
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


# Sensors in joints: their coordinates, rates, and what they transmit.


@dataclass(frozen=True, eq=False)
class JointSensor(Sensor):
    """A motion in a joint, of the second port relative to the first.

    Attributes:
        joint: of the model.
        coordinate: which of its coordinates, from 0; None: all of them. Sliding comes before turning:
            Revolute: angle. Prismatic, Slider: displacement. Cylindrical: displacement, angle. Planar: two
            displacements, angle. Universal: angles about ``axis`` and ``second_axis``. Spherical:
            of linear models small turns about the world axes (in the plane about z). Fixed, Distance: none.

    Raises:
        ModelError: no joint.
        ParameterError: a coordinate that is no number from 0 on.
    """

    joint: Joint
    coordinate: int | None = None

    differentiations: ClassVar[int]
    label: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{type(self).__name__} sits in a joint, got {self.joint!r}")
        check_coordinate(self.coordinate)

    def __str__(self) -> str:
        number = "" if self.coordinate is None else f" {self.coordinate}"
        return f"{self.label}{number} of {self.joint}"

    @property
    def unit(self) -> str:
        """Of an angle where the coordinate is one, else of a length; "rad or m" of both."""
        names = self.joint.coordinate_names
        own = names if self.coordinate is None else names[self.coordinate : self.coordinate + 1]
        kinds = {"rad" if "angle" in name else "m" for name in own}
        rate = ("", "/s", "/s2")[self.differentiations]
        return " or ".join(sorted(kind + rate for kind in kinds)) or "1"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return tuple(self.joint.coordinate_names) if self.coordinate is None else ()

    @property
    def availability(self) -> Availability:
        """Accelerations are differences of a motion."""
        return Availability.LATER if self.differentiations == 2 else Availability.AT_ONCE

    @property
    def quick(self) -> QuickShare | None:
        """Some of what is measured of the joint; coordinates beyond its own are refused when they are read."""
        if self.availability is not Availability.AT_ONCE:
            return None
        total = len(self.joint.coordinate_names)
        chosen = range(total) if self.coordinate is None else [self.coordinate]
        if not total or max(chosen) >= total:
            return None
        weights = np.zeros((len(chosen), 2 * total))
        weights[range(len(chosen)), [2 * k + self.differentiations for k in chosen]] = 1.0
        return QuickShare(self.joint, weights, np.zeros(len(chosen)))

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,) of one coordinate, else (N + 1, coordinates).

        Raises:
            ModelError: a joint of another model, or one without coordinates.
            ParameterError: a number beyond them.
        """
        own = run.mechanism.joints[run.joint_index(self.joint)].coordinates(run.system.dimension)
        if not own:
            raise ModelError(f"{self.joint} leaves no coordinate free that could be measured")
        if self.coordinate is not None and self.coordinate >= len(own):
            raise ParameterError(f"coordinate must be below {len(own)} for {self.joint}, got {self.coordinate}")
        chosen = own if self.coordinate is None else [own[self.coordinate]]
        if self.differentiations == 0:
            values = [coordinates.coordinate_values(run, each) for each in chosen]
        else:
            values = [coordinates.coordinate_rates(run, each, run.velocities) for each in chosen]
        if self.differentiations == 2:
            values = [run.rate(each) for each in values]
        return values[0] if len(own) == 1 or self.coordinate is not None else np.stack(values, axis=1)


class JointPosition(JointSensor):
    """Angle over full turns [rad] or displacement [m]; of linear models from the operating point.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> cart = model.add(ph.RigidBody(1.0, 0.1), "cart", velocity=(0.5, 0, 0))
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        >>> motion = model.simulate(1.0, step=1e-1)
        >>> motion[ph.JointPosition(rail)][[0, -1]].round(9)
        array([0. , 0.5])
    """

    differentiations = 0
    label = "position"


class JointRate(JointSensor):
    """Its rate [rad/s, m/s].

    Example:
        >>> model = ph.Model(dimension=2)
        >>> cart = model.add(ph.RigidBody(1.0, 0.1), "cart", velocity=(0.5, 0, 0))
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        >>> round(float(model.simulate(1.0, step=1e-1)[ph.JointRate(rail)][-1]), 9)
        0.5
    """

    differentiations = 1
    label = "rate"


class JointAcceleration(JointSensor):
    """Its second rate [rad/s^2, m/s^2]; of motions by differences of second order between stored instants."""

    differentiations = 2
    label = "acceleration"


def check_coordinate(coordinate: int | None) -> None:
    """Refuses what is no number of a coordinate.

    Raises:
        ParameterError: naming it.
    """
    if coordinate is not None:
        whole("coordinate", coordinate, least=0)


@dataclass(frozen=True, eq=False)
class Reaction(Sensor):
    """Force of a joint on its second attachment, shape (N + 1, 3) [N].

    Attributes:
        joint: of the model.
        axes: "world", or "body": those of the material at the second attachment.

    Raises:
        ModelError: no joint.
        ParameterError: other axes.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bob = model.add(ph.PointMass(2.0), "bob", position=(0, 0, -1))
        >>> link = model.connect(ph.Spherical(model.ground.at((0, 0, -1)), bob.origin))
        >>> motion = model.simulate(0.1, step=1e-2)
        >>> motion[ph.Reaction(link)][-1].round(6) + 0.0  # on the second body [N]
        array([ 0.  ,  0.  , 19.62])
    """

    joint: Joint
    axes: Axes | str = Axes.WORLD

    label: ClassVar[str] = "reaction"

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{type(self).__name__} takes a joint, got {self.joint!r}")
        object.__setattr__(self, "axes", option("axes", self.axes, Axes))

    def __str__(self) -> str:
        return f"{self.label} of {self.joint}"

    @property
    def unit(self) -> str:
        """Unit of the force: N."""
        return "N"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the axes in which the force is given."""
        return XYZ

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, 3)."""
        return self._in_axes(run, reactions.reaction(run, self.joint)[0])

    def _in_axes(self, run: RecordedRun, vectors: Array) -> Array:
        return reactions.in_axes(run, self.joint, vectors, option("axes", self.axes, Axes))


class ReactionMoment(Reaction):
    """Its moment about the point of the second attachment, shape (N + 1, 3) [N m]."""

    label = "reaction moment"

    @property
    def unit(self) -> str:
        """Unit of the moment: N m."""
        return "N m"

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, 3)."""
        return self._in_axes(run, reactions.reaction(run, self.joint)[1])


@dataclass(frozen=True, eq=False)
class ElementForce(Sensor):
    """Force or torque of a spring, damper, motor or drive along its coordinate, shape (N + 1,) [N or N m].

    Attributes:
        element: of the model; of a ``Bushing`` there are several forces.

    Raises:
        ModelError: something else.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> bob = model.add(ph.PointMass(2.0), "bob", position=(0, 0, -1))
        >>> wall = model.ground.at((0, 0, 0))
        >>> spring = model.apply(ph.SpringDamper(wall, bob.origin, stiffness=1e3, length=0.99))
        >>> rest = model.equilibrium()
        >>> print(abs(rest[ph.ElementForce(spring)]).round(6))  # carries the weight
        19.62
    """

    element: ForceElement | Drive

    def __post_init__(self) -> None:
        if not isinstance(self.element, ForceElement | Drive):
            raise ModelError(
                f"ElementForce: element must be a spring, damper, motor or drive, got {self.element!r}"
            )

    def __str__(self) -> str:
        return f"force of {self.element}"

    @property
    def unit(self) -> str:
        """Of a force or a moment."""
        return "N or N m"

    @property
    def availability(self) -> Availability:
        """Of a ``Bushing`` there are several."""
        return Availability.NO_FIXED_COUNT

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,), or (N + 1, forces)."""
        return reactions.element_force(run, self.element)


# Sensors in bodies and of the whole: section forces, stresses, tensions, energies.

FORCES = ("normal", "shear_y", "shear_z", "torsion", "moment_y", "moment_z")


@dataclass(frozen=True, eq=False)
class _Station(Sensor):
    body: PlacedBody | PlacedWhole
    x: float

    def __post_init__(self) -> None:
        if not isinstance(self.body, PlacedBody | PlacedWhole):
            raise ModelError(f"{type(self).__name__}: body must be a beam of the model, got {self.body!r}")
        object.__setattr__(self, "x", finite("x", self.x))


class SectionForce(_Station):
    """Normal force, shear, torsion and bending moments at one station of a beam, shape (N + 1, 6) [N, N m].

    Attributes:
        body: the beam.
        x: along it [m].

    Example:
        >>> model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
        >>> beam = model.add(ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(210e9, 7850.0)), "beam")
        >>> clamp = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
        >>> load = model.apply(ph.Force(beam.end, (0.0, -10.0, 0.0)))
        >>> rest = model.equilibrium()
        >>> rest[ph.SectionForce(beam, 0.5)].round(6) + 0.0  # N, Q_y, Q_z, M_x, M_y, M_z
        array([  0.      , -20.584409,   0.      ,   0.      ,   0.      ,
                -7.992616])
    """

    def __str__(self) -> str:
        return f"section force of {self.body.name} at {self.x:g}"

    @property
    def unit(self) -> str:
        """Units of the six numbers: N of the forces, N m of the moments."""
        return "N or N m"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the six numbers, those of ``SectionForces``."""
        return FORCES

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, 6)."""
        found = section_forces.section_forces(run, self.body, [self.x])
        return np.stack([getattr(found, name)[:, 0] for name in FORCES], axis=1)


class Stress(_Station):
    """Normal stress of greatest size over the section of a beam at one station, with its sign, shape (N + 1,) [Pa].

    Attributes:
        body: the beam.
        x: along it [m].
    """

    def __str__(self) -> str:
        return f"stress of {self.body.name} at {self.x:g}"

    @property
    def unit(self) -> str:
        """Unit of the stress: Pa."""
        return "Pa"

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,)."""
        found = section_forces.stress(run, self.body, [self.x], None)
        high, low = found.greatest[:, 0], found.smallest[:, 0]
        return np.where(np.abs(high) >= np.abs(low), high, low)


@dataclass(frozen=True, eq=False)
class Tension(Sensor):
    """Tension at the quadrature points of a string, shape (N + 1, points) [N].

    Attributes:
        string: of the model.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> rope = ph.String(length=1.0, line_density=0.1, elements=10, law=ph.LinearLaw(1e4))
        >>> placed = model.add(rope, "rope", shape=[(0, 0, 0), (0, 0, -1.0)])
        >>> pin = model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
        >>> print(model.equilibrium()[ph.Tension(placed)].max().round(3))  # the weight below
        0.932
    """

    string: PlacedBody

    def __post_init__(self) -> None:
        if not isinstance(self.string, PlacedBody) or not self.string.is_string:
            raise ModelError(f"Tension takes a string of the model, got {self.string!r}")

    def __str__(self) -> str:
        return f"tension of {self.string.name}"

    @property
    def unit(self) -> str:
        """Unit of the tension: N."""
        return "N"

    @property
    def availability(self) -> Availability:
        """As many as the string has points."""
        return Availability.NO_FIXED_COUNT

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1, points)."""
        return tension.tension(run, self.string)


class EnergyKind(Enum):
    """Parts of the ledger."""

    KINETIC = "kinetic"
    STRAIN = "strain"
    SPRING = "spring"
    GRAVITY = "gravity"
    TOTAL = "total"
    SUPPLIED = "supplied"
    DISSIPATED = "dissipated"


@dataclass(frozen=True, eq=False)
class EnergyOf(Sensor):
    """An energy of the whole model, shape (N + 1,) [J].

    Attributes:
        kind: "kinetic", "strain", "spring", "gravity", "total", "supplied" or "dissipated".

    Raises:
        ParameterError: another word.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(2.0), "stone")
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> round(float(motion[ph.EnergyOf("kinetic")][-1]), 6)  # m g^2 t^2 / 2 [J]
        96.2361
    """

    kind: EnergyKind | str = EnergyKind.TOTAL

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", option("kind", self.kind, EnergyKind))

    def __str__(self) -> str:
        return f"{option('kind', self.kind, EnergyKind).value} energy"

    @property
    def unit(self) -> str:
        """Unit of the energy: J."""
        return "J"

    def read(self, run: RecordedRun) -> Array:
        """Shape (N + 1,)."""
        value: Array = getattr(energy_of(run.recording), option("kind", self.kind, EnergyKind).value)
        return value
