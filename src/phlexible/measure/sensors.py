"""Sensors of quantities in motions, equilibria, linear models, tables and controllers, one class for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, Finite, UnitVector, whole
from phlexible.algebra.number_tape import continuous_quaternions, quaternions, with_sign_of
from phlexible.algebra.rotations import nearest_turns
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.functions import AXES, Coordinate
from phlexible.description.interactions.loads import AnyAxes, Axes, Force, Load, PointLoad, Torque
from phlexible.description.interactions.sensor import LinearReading, Sensor
from phlexible.description.interactions.tendon import Tendon
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Spherical
from phlexible.description.joints.relations import JointRelation
from phlexible.description.mechanism.membership import check_belongs, check_plane
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import ModelError, ParameterError
from phlexible.measure import kinematics, reactions, section_forces
from phlexible.state.forces import coordinate_row, forces_of_load
from phlexible.state.instants import Instants
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.system import System


def checked_sensors(name: str, values: object) -> list[Sensor]:
    """Return the user's sensor, or sequence of sensors, as a list. ParameterError is raised if it is no sequence
    or an item is not a sensor; ``name`` is the name of the user's argument in the message. An empty sequence is
    allowed.

    Raises:
        ParameterError: a value is not a sensor; the message names the first one.
    """
    if isinstance(values, Sensor):
        values = [values]
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ParameterError(f"{name} must be a list of sensors such as [Position(beam.end)], got {values!r}")
    for value in values:
        if not isinstance(value, Sensor):
            raise ParameterError(f"{name} takes sensors such as Position(beam.end), got {value!r}")
    return list(values)


def reading_columns(sensors: Sequence[Sensor], run: RecordedRun) -> dict[str, Array]:
    """Return the values of ``sensors`` over a run as a dictionary of named columns, shape (instants,) each. There
    is one column for each component; a name is such as "position of beam.end x [m]"."""
    table: dict[str, Array] = {}
    for sensor in sensors:
        values = sensor.read(run)
        flat = values.reshape(len(values), -1)
        names = sensor.components or ([""] if flat.shape[1] == 1 else [str(k) for k in range(flat.shape[1])])
        for name, column in zip(names, flat.T, strict=True):
            table[f"{sensor} {name}".rstrip() + f" [{sensor.unit}]"] = np.ascontiguousarray(column)
    return table


@dataclass(frozen=True, eq=False)
class LinearPoint:
    """Operating point of a linear model, at which sensor readings and loads are linear in the small motions of the
    mechanism.

    Directions are world axes at the operating point; about a steady rotation they turn with it, and rates are those
    seen in the turning axes.

    Attributes:
        system: system that is linearized.
        at: the operating point as an instant.
        motion: matrix that converts small motions x to those of all carriers, see ``small_motions``.
    """

    system: System
    at: Instants
    motion: sparse.csr_array

    def load_row(self, load: Load) -> Array:
        """Return the generalized forces that one unit of a ``load`` causes at the operating point of a linear
        model, shape (velocities,). The same row times the velocities gives the velocity of the load's point along
        the load. Errors are raised for loads of other models or out of the plane.

        Raises:
            ModelError, ParameterError: a load of another model, or out of the plane of a planar one.
        """
        self._check(load)
        check_plane(load, self.system.dimension)
        return self._row(load.entries())

    def elastic_row(self, sensor: "ElasticDisplacement", axis: ArrayLike) -> Array:
        """Return the derivative of a measured elastic displacement with respect to the small motions of a linear
        model, shape (velocities,). It is made of the shape functions at the point that ``sensor`` measures, along
        the direction ``axis`` in body axes, shape (3,).

        Raises:
            ModelError: a point of another model.
        """
        self._check(sensor)
        shapes, total = np.asarray(sensor.attachment.point.shapes), np.zeros(self.motion.shape[0])
        end = int(self.system.layout.velocity[self.system.index[sensor.attachment.placed] + 1])
        total[end - shapes.shape[1] : end] = np.asarray(axis) @ shapes
        return np.asarray(self.motion.T @ total)

    def coordinate_rows(self, joint: Joint) -> list[tuple[bool, Array]]:
        """Return for each coordinate of a joint whether it is an angle, and its derivative with respect to small
        motions, shape (velocities,). For a spherical joint, rotations about the world axes come first (in the
        plane about z). ModelError is raised for a joint without coordinates and for joints of other models.

        Of a spherical joint those of small turns about the world axes, in the plane about z.

        Raises:
            ModelError: a joint of another model, without coordinates, or on a body without orientation.
        """
        if not any(joint is other for other in self.system.mechanism.joints):
            raise ModelError(f"{joint} is not connected in this model")
        dimension, found = self.system.dimension, list[tuple[bool, Array]]()
        if isinstance(joint, Spherical):
            for axis in AXES[2:] if dimension == 2 else AXES:
                found.append((True, self._rotation_row(joint, axis)))
        for coordinate in joint.coordinates(dimension):
            found.append((coordinate.is_angle, self._coordinate_row(coordinate)))
        if not found:
            raise ModelError(f"{joint} leaves no coordinate free that a force could act along")
        return found

    def element_row(self, element: ForceElement) -> Array:
        """Return the derivative of the coordinate of a force ``element`` with respect to the small motions of a
        linear model, shape (velocities,). The coordinate is the angle, displacement or length along which the
        element acts. The row is also the generalized force of one unit of its force. ModelError is raised for
        elements of other models.

        Raises:
            ModelError: an element of another model.
        """
        for own, force in self.system.forces:
            if own is element:
                return self._coordinate_row(force.coordinate)
        raise ModelError(f"{element} is not applied in this model")

    def _check(self, part: Load | Sensor) -> None:
        bodies = {placed.name: placed for placed in self.system.bodies}
        check_belongs(part, bodies, {id(joint): joint for joint in self.system.mechanism.joints})

    def _row(self, entries: Sequence[PointLoad]) -> Array:
        total = np.zeros(self.motion.shape[0])
        for entry in entries:
            vectors, forces = forces_of_load(self.system, self.at, entry, entry.at_time(0.0))
            total += vectors.jacobian(self.at).T @ forces.ravel()
        return np.asarray(self.motion.T @ total)

    def _coordinate_row(self, coordinate: Coordinate) -> Array:
        """Return the derivative of a joint coordinate with respect to the small motions of a linear model about its
        operating point, shape (velocities,)."""
        return np.asarray(self.motion.T @ coordinate_row(self.system, self.at, coordinate)[0])

    def _rotation_row(self, joint: Joint, axis: Array) -> Array:
        """Return the derivative of the relative rotation of the two ports of a joint about ``axis`` with respect to
        small motions of a linear model. It has the shape (velocities,)."""
        for port in (joint.first, joint.second):
            if not port.has_orientation:
                raise ModelError(f"{joint}: {port} has no orientation (a point mass) to turn")
        ends = ((joint.first, -axis), (joint.second, axis))
        return self._row([Torque(port, turn) for port, turn in ends if isinstance(port, Attachment)])


def named_rows(
    point: LinearPoint, joint: Joint, coordinate: int | None, kind_names: tuple[str, str]
) -> Iterator[tuple[str, bool, Array]]:
    """Yield the ``coordinate`` of this index of a joint, or all its coordinates (None), each as a tuple for a
    model linearized about ``point``. The tuple has the name, whether it is an angle, and the derivative with
    respect to small motions of the bodies, shape (velocities,). ``kind_names`` are the words for an angle and for
    a displacement in the names.

    Raises:
        ModelError: as of ``coordinate_rows``.
        ParameterError: a number beyond the coordinates.
    """
    found = point.coordinate_rows(joint)
    check_coordinate(coordinate, len(found), joint)
    kinds = [kind_names[0] if is_angular else kind_names[1] for is_angular, _ in found]
    for k, (is_angular, row) in enumerate(found):
        if coordinate in (None, k):
            number = f" {kinds[: k + 1].count(kinds[k])}" if kinds.count(kinds[k]) > 1 else ""
            yield f"{kinds[k]}{number} of {joint}", is_angular, row


def linear_unit(is_angular: bool, differentiations: int) -> str:
    """Return the unit of an output of a linear model: "rad" if it ``is_angular``, else "m", followed by "/s"
    or "/s^2" for one or two time ``differentiations``."""
    return ("rad" if is_angular else "m") + ("", "/s", "/s^2")[differentiations]


# Sensors on points and bodies: where they are, how they are turned, how they move.
#
# Along a direction, or about it, they measure one number; as outputs of ``Model.linearize`` they mean its small
# change about the operating point.

XYZ = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class PointSensor(Sensor):
    """Base class of sensors that measure a scalar motion of a point of a body, along or about a world direction.

    Attributes:
        attachment: point of a body at which the sensor is.
        direction: world axes, shape (3,); divided by its length. None: along or about x, in the plane about z.

    Raises:
        ModelError: no attachment, or an angle of a point mass.
        ParameterError: no direction, or one in which nothing moves in the plane.
    """

    attachment: Attachment
    direction: UnitVector | None = None

    takes = (Attachment, "one such as beam.end")
    is_angular: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_angular:
            self.attachment.require_orientation(type(self).__name__, "fix a RigidBody there, and measure that")
        dimension, axis = self.attachment.placed.data.dimension, self.axis
        if dimension < 3 and (axis[:2] if self.is_angular else axis[dimension:]).any():
            where = "(0, 0, 1) or (0, 0, -1)" if self.is_angular else ("along x", "in the xy plane")[dimension - 1]
            raise ParameterError(f"direction must be {where} in dimension {dimension}, got {axis.tolist()}: {self}")

    def __str__(self) -> str:
        return f"{super().__str__()} {axis_name(self.axis)}"

    @property
    def axis(self) -> Array:
        """Direction along or about which this sensor measures, as a unit vector in world axes, shape (3,)."""
        usual = np.eye(3)[2 if self.is_angular and self.attachment.placed.data.dimension == 2 else 0]
        return usual if self.direction is None else np.asarray(self.direction, dtype=np.float64)

    @property
    def unit(self) -> str:
        """Unit of the values of this point sensor: "m" or "rad", followed by "/s" or "/s2" for first or second
        time derivatives."""
        return ("rad" if self.is_angular else "m") + ("", "/s", "/s2")[self.differentiations]

    @property
    def linear_reading(self) -> LinearReading | None:
        """Return how this sensor of displacement or velocity along a direction follows linearly from its point's
        world position and velocity. The result has the point, weights of shape (1, 6) and an offset of shape (1,),
        which is subtracted. The weights are the direction; the offset is the initial position along it, 0 for
        velocity. None for angles and accelerations."""
        if self.is_angular or self.differentiations == 2:
            return None
        weights = np.zeros((1, 6))
        weights[0, 3 * self.differentiations :][:3] = self.axis
        begin = self.attachment.initial_position() @ self.axis if self.differentiations == 0 else 0.0
        return self.attachment, weights, np.array([begin])

    def read(self, run: RecordedRun) -> Array:
        """Return the velocity (or acceleration, for such sensors) of the measured point along the sensor's
        direction, at all instants of a run, shape (instants,). Angular sensors return the angular velocity or
        acceleration about the direction."""
        moved = kinematics.angular_velocity if self.is_angular else kinematics.velocity
        rate = np.asarray(moved(run, self.attachment) @ self.axis)
        return run.rate(rate) if self.differentiations == 2 else rate

    def rows(self, point: LinearPoint) -> Iterator[tuple[str, str, Array]]:
        """Yield this sensor as an output of a linear model about the state ``point``: its name, its unit, and its
        derivative with respect to the small motions, shape (velocities,)."""
        load = (Torque if self.is_angular else Force)(self.attachment, self.axis)
        yield str(self), linear_unit(self.is_angular, self.differentiations), point.load_row(load)


class Displacement(PointSensor):
    """Sensor of the displacement of a point in the world along a direction, from its undeformed position in the
    initial pose of the model [m].

    So it is also where a run starts deformed; in linear models it counts from the operating point.

    That in the frame of its body is ``ElasticDisplacement``.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone", position=(0, 0, 5))
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> round(float(motion[ph.Displacement(stone.origin, (0, 0, 1))][-1]), 9)
        -4.905
    """

    label = "displacement"

    def read(self, run: RecordedRun) -> Array:
        """Return the displacement of the measured point along the sensor's direction since the undeformed initial
        pose, at all instants of a run, shape (instants,) [m]."""
        position = Position(self.attachment).read(run)
        return np.asarray((position - self.attachment.initial_position()) @ self.axis)


class Velocity(PointSensor):
    """Sensor of the velocity of a point along a world direction [m/s].

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone")
        >>> motion = model.simulate(1.0, step=1e-2)
        >>> round(float(motion[ph.Velocity(stone.origin, (0, 0, 1))][-1]), 9)
        -9.81
    """

    differentiations = 1
    label = "velocity"


class Acceleration(PointSensor):
    """Sensor of the acceleration of a point along a world direction [m/s2]. In motions it is a second-order
    difference of velocities between stored instants.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> stone = model.add(ph.PointMass(1.0), "stone")
        >>> motion = model.simulate(0.1, step=1e-2)
        >>> round(float(motion[ph.Acceleration(stone.origin, (0, 0, 1))][5]), 6)
        -9.81
    """

    differentiations = 2
    label = "acceleration"


class Angle(PointSensor):
    """Sensor of the rotation of the material at a point about a world direction [rad]. In motions it counts from t
    = 0 over full turns, in linear models it is a small angle. At a single instant, in equilibria and readings of
    live runs and libraries, it lies between -pi and pi.

    Example:
        >>> model = ph.Model()
        >>> top = model.add(ph.RigidBody(1.0, (0.5, 0.5, 0.5)), "top", angular_velocity=(0, 0, 2.0))
        >>> motion = model.simulate(10.0, step=1e-2)
        >>> round(float(motion[ph.Angle(top.origin, (0, 0, 1))][-1]), 2)  # more than three turns [rad]
        20.0
    """

    is_angular = True
    label = "angle"

    def read(self, run: RecordedRun) -> Array:
        """Return the rotation angle of the material at the measured point about this sensor's direction at all
        instants of a run, shape (instants,) [rad]. It is zero at t = 0 if nothing has moved: the twist about that
        world axis, from the quaternion of the rotation. Full turns are counted by the angular velocity, so that
        the angle is continuous."""
        turned = kinematics.rotation(run, self.attachment)
        quaternion = quaternions(turned @ self.attachment.placed.rotation.T)
        sine, cosine = quaternion[:, :3] @ self.axis, quaternion[:, 3]  # of half the angle, up to a common sign
        wrapped = np.arctan2(2 * sine * cosine, cosine**2 - sine**2)
        spin = kinematics.angular_velocity(run, self.attachment) @ self.axis
        return kinematics.over_full_turns(wrapped, spin, run.time)

    def unwrapped(self, before: Array, now: Array) -> Array:
        """Return the angle ``now`` shifted by full turns so that it is within half a turn of the angle ``before``
        [rad].
        """
        return nearest_turns(now, before)


class AngularVelocity(PointSensor):
    """Sensor of the angular velocity of the material at a point about a world direction [rad/s].

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


class AngularAcceleration(PointSensor):
    """Sensor of the angular acceleration of the material at a point about a world direction [rad/s2]. In motions it
    is a second-order difference between stored instants.
    """

    differentiations = 2
    is_angular = True
    label = "angular acceleration"


@dataclass(frozen=True, eq=False)
class Position(Sensor):
    """Sensor of the world position of a point; readings have shape (instants, 3) [m].

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

    takes = (Port, "an attachment such as beam.end or a point of the ground")
    label, unit, components = "position", "m", XYZ

    @property
    def linear_reading(self) -> LinearReading | None:
        """Return the value of this position sensor as a linear function of its point's position and velocity: the
        point, weights [I, 0] of shape (3, 6), and an offset of zero, shape (3,). Return None for a point of the
        ground."""
        return (self.port, np.eye(3, 6), np.zeros(3)) if isinstance(self.port, Attachment) else None

    def read(self, run: RecordedRun) -> Array:
        """Return the position of the measured point in world axes at all instants of a run, shape (instants, 3)
        [m]."""
        weights, vectors = run.point(self.port)
        return np.asarray(np.einsum("k,tki->ti", weights, vectors.values(run.instants)))


@dataclass(frozen=True, eq=False)
class ElasticDisplacement(Sensor):
    """Sensor of the displacement of a point relative to the frame of its body, in body axes [m]. It is zero on
    rigid bodies.

    Of a string: from its place at t = 0, world axes. As an output of ``Model.linearize`` its small change.

    Attributes:
        attachment: point of a body at which the sensor is.
        direction: direction of the component that is measured, divided by its length, shape (3,); None: all three
            components.

    Raises:
        ModelError: no attachment.
        ParameterError: no direction.
    """

    attachment: Attachment
    direction: UnitVector | None = None

    takes = (Attachment, "one such as beam.end")
    label, unit = "elastic displacement", "m"

    def __str__(self) -> str:
        return super().__str__() + ("" if self.direction is None else f" {axis_name(self.direction)}")

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components of this sensor's values: x, y and z, or none if the elastic displacement is
        measured along one direction."""
        return XYZ if self.direction is None else ()

    @property
    def axes(self) -> Array:
        """Directions in body axes along which this sensor measures: its direction, shape (3,), or all three axes,
        shape (3, 3)."""
        return np.eye(3) if self.direction is None else np.asarray(self.direction, dtype=np.float64)

    def read(self, run: RecordedRun) -> Array:
        """Return the elastic displacement of the measured point at all instants of a run, shape (instants, 3), or
        (instants,) along one direction [m]. It is relative to the body's frame, in body axes. For bodies with
        nodal unknowns it is the displacement since t = 0, in world axes."""
        if self.attachment.placed.nodes is not None:
            found = Position(self.attachment).read(run) - self.attachment.initial_position()
        else:
            found = run.elastic(run.body_index(self.attachment, "attachment")) @ self.attachment.point.shapes.T
        return np.asarray(found @ self.axes)

    def rows(self, point: LinearPoint) -> Iterator[tuple[str, str, Array]]:
        """Yield this elastic displacement as outputs of a linear model about the state ``point``, one for each
        measured axis: name, unit, and derivative with respect to the small motions, shape (velocities,). For bodies
        described by node positions, they are those of the displacement of the measured point."""
        for axis in np.atleast_2d(self.axes)[: point.system.dimension]:
            if self.attachment.placed.nodes is not None:
                yield from Displacement(self.attachment, axis).rows(point)
            else:
                yield str(replace(self, direction=axis)), "m", point.elastic_row(self, axis)


@dataclass(frozen=True, eq=False)
class _Orientation(Sensor):
    target: PlacedBody | Port

    takes = (PlacedBody | Port, "a body or an attachment")
    unit = "1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.target, PlacedBody):
            if not (isinstance(self.target.data, FloatingBody) and self.target.data.rotates):
                kind = self.target.kind
                raise ModelError(f"{self.target.name} has no orientation (a {kind}); fix a RigidBody to it")
        elif isinstance(self.target, Attachment):
            self.target.require_orientation(type(self).__name__, "fix a RigidBody there, and measure that")


class Rotation(_Orientation):
    """Sensor of the rotation matrix from body axes to world axes, of a body or of the material around an
    attachment. Readings have shape (instants, 3, 3).

    The components are rows in world axes, columns in body axes.

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

    label, components = "rotation", tuple(a + b for a in XYZ for b in XYZ)

    def read(self, run: RecordedRun) -> Array:
        """Return the rotation matrices from body axes to world axes at all instants of a run, shape (instants, 3,
        3). They are those of the measured body, or of the material around the measured point."""
        return kinematics.rotation(run, self.target)


class Quaternion(_Orientation):
    """Sensor of the orientation of a body or of the material around an attachment as a unit quaternion (scalar
    last, without jumps of sign). Readings have shape (instants, 4).
    """

    label, components = "quaternion", (*XYZ, "w")

    def read(self, run: RecordedRun) -> Array:
        """Return the orientation of the measured body, or of the material around the measured point, as unit
        quaternions, scalar last. They are given at all instants of a run, shape (instants, 4). Signs are chosen so
        that they do not jump."""
        return continuous_quaternions(kinematics.rotation(run, self.target))

    def unwrapped(self, before: Array, now: Array) -> Array:
        """Return the quaternion ``now`` or minus it, whichever is closer to the quaternion ``before``. Both
        represent the same rotation."""
        return -now if before @ now < 0 else now


def axis_name(direction: ArrayLike) -> str:
    """Return the name of a direction for labels of sensors and inputs: "x", "y" or "z" for a world axis, else its
    components such as "(1, 1, 0)"."""
    numbers = np.asarray(direction, dtype=np.float64)
    for k in range(3):
        if np.array_equal(numbers, AXES[k]):
            return XYZ[k]
    return f"({', '.join(f'{number:g}' for number in numbers)})"


# Sensors in joints: their coordinates, rates, and what they transmit.


@dataclass(frozen=True, eq=False)
class JointSensor(Sensor):
    """Base class of sensors of the coordinates of a joint: the motion of its second port relative to the first.

    Attributes:
        joint: joint of the model.
        coordinate: which of its coordinates: its number, from 0, or its name as ``of=`` of springs takes it
            ("position", "angle", ...); None: all of them. Sliding comes before turning:
            Revolute: angle. Prismatic, Slider: position. Cylindrical: position, angle. Planar: two
            positions, angle. Universal: angles about ``axis`` and ``second_axis``. Spherical:
            of linear models small turns about the world axes (in the plane about z). Fixed, Distance: none.

    Raises:
        ModelError: no joint, or a name that none of its coordinates has.
        ParameterError: a coordinate that is neither a name nor a number from 0 on.
    """

    joint: Joint
    coordinate: int | str | None = None

    takes = (Joint, "one of the model")
    kind_names: ClassVar[tuple[str, str]]
    """What it is called in linear models, of coordinates that turn and of those that slide."""

    def __post_init__(self) -> None:
        super().__post_init__()
        coordinate_number(self.joint, self.coordinate)  # refused here if it is none

    def __str__(self) -> str:
        number = "" if self.number is None else f" {self.number}"
        return f"{self.label}{number} of {self.joint}"

    @property
    def number(self) -> int | None:
        """Index of the joint coordinate that this sensor measures in the joint's list of coordinates; None if the
        sensor measures all of them."""
        return coordinate_number(self.joint, self.coordinate)

    @property
    def unit(self) -> str:
        """Unit of the values of this joint sensor, such as "rad" or "m/s"; "m or rad" if it measures coordinates
        of both kinds, "1" for a joint without coordinates."""
        names = self.joint.coordinate_names
        own = names if self.number is None else names[self.number : self.number + 1]
        kinds = {"rad" if "angle" in name else "m" for name in own}
        rate = ("", "/s", "/s2")[self.differentiations]
        return " or ".join(sorted(kind + rate for kind in kinds)) or "1"

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the joint coordinates that this sensor measures; empty if it measures a single coordinate."""
        return tuple(self.joint.coordinate_names) if self.number is None else ()

    @property
    def linear_reading(self) -> LinearReading | None:
        """Return how the values of this sensor follow linearly from the coordinates of its joint and their rates.
        The result has the joint, weights of shape (measured, 2 coordinates) for coordinate and rate in turn, and
        zero offsets. Return None for accelerations and if the joint lacks a measured coordinate."""
        total = len(self.joint.coordinate_names)
        chosen = range(total) if self.number is None else [self.number]
        if self.differentiations == 2 or not total or max(chosen) >= total:
            return None
        weights = np.zeros((len(chosen), 2 * total))
        weights[range(len(chosen)), [2 * k + self.differentiations for k in chosen]] = 1.0
        return self.joint, weights, np.zeros(len(chosen))

    def rows(self, point: LinearPoint) -> Iterator[tuple[str, str, Array]]:
        """Yield the measured joint coordinates as outputs of a linear model about the state ``point``: name, unit,
        and derivative with respect to the small motions, shape (velocities,), of each.

        Raises:
            ModelError: a joint of another model, without coordinates, or on a body without orientation.
            ParameterError: a number beyond its coordinates.
        """
        for name, is_angular, row in named_rows(point, self.joint, self.number, self.kind_names):
            yield name, linear_unit(is_angular, self.differentiations), row

    def read(self, run: RecordedRun) -> Array:
        """Return the measured coordinates (or their rates, or accelerations) of the joint at all instants of a
        run. Their shape is (instants,) for one coordinate, else (instants, coordinates). Errors are raised if the
        joint has no such coordinate.

        Raises:
            ModelError: a joint of another model, or one without coordinates.
            ParameterError: a number beyond them.
        """
        own = kinematics.coordinates_of(run, self.joint)
        if not own:
            raise ModelError(f"{self.joint} leaves no coordinate free that could be measured")
        check_coordinate(self.number, len(own), self.joint)
        return self.readings_of(run, own if self.number is None else [own[self.number]])

    def readings_of(self, run: RecordedRun, coordinates: Sequence[Coordinate]) -> Array:
        """Return the values of chosen ``coordinates`` of this sensor's joint at all instants of a run, or rates,
        or accelerations (differences of rates). The shape is (instants,) for one coordinate, else (instants,
        coordinates). Angles count full turns."""
        if self.differentiations == 0:
            values = [kinematics.coordinate_values(run, self.joint, each) for each in coordinates]
        else:
            values = [kinematics.coordinate_rates(run, each, run.velocities) for each in coordinates]
        if self.differentiations == 2:
            values = [run.rate(each) for each in values]
        return values[0] if len(values) == 1 else np.stack(values, axis=1)

    def of_kind(self, run: RecordedRun, is_angle: bool) -> Array:
        """Return the values of all angles of the measured joint if ``is_angle``, else of all its translations, at
        all instants of a run. A sensor of rates returns their rates instead. The shape is (instants,) for one
        coordinate, else (instants, coordinates). ModelError is raised if the joint has no such coordinate or is in
        another model.

        Raises:
            ModelError: a joint of another model, or one without such coordinates.
        """
        chosen = [each for each in kinematics.coordinates_of(run, self.joint) if each.is_angle == is_angle]
        if not chosen:
            names = ", ".join(self.joint.coordinate_names) or "none"
            raise ModelError(
                f"joint {self.joint} has no {'angle' if is_angle else 'position'}; its coordinates: {names}"
            )
        return self.readings_of(run, chosen)


class JointPosition(JointSensor):
    """Sensor of joint coordinates: angles over full turns [rad] or displacements [m]. In linear models they count
    from the operating point. Angles are those of the springs and other force elements along them, over full turns,
    which an equilibrium may begin with. Without one they begin between -pi and pi and lie there at a single
    instant.

    Example:
        >>> model = ph.Model(dimension=2)
        >>> cart = model.add(ph.RigidBody(1.0, 0.1), "cart", velocity=(0.5, 0, 0))
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        >>> motion = model.simulate(1.0, step=1e-1)
        >>> motion[ph.JointPosition(rail)][[0, -1]].round(9)
        array([0. , 0.5])
    """

    label = "position"
    kind_names = ("angle", "displacement")


class JointRate(JointSensor):
    """Sensor of the rates of joint coordinates [rad/s, m/s].

    Example:
        >>> model = ph.Model(dimension=2)
        >>> cart = model.add(ph.RigidBody(1.0, 0.1), "cart", velocity=(0.5, 0, 0))
        >>> rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin))
        >>> round(float(model.simulate(1.0, step=1e-1)[ph.JointRate(rail)][-1]), 9)
        0.5
    """

    differentiations = 1
    label = "rate"
    kind_names = ("angular rate", "sliding rate")


class JointAcceleration(JointSensor):
    """Sensor of the second time derivatives of joint coordinates [rad/s^2, m/s^2]. In motions they are second-order
    differences between stored instants.
    """

    differentiations = 2
    label = "acceleration"
    kind_names = ("angular acceleration", "sliding acceleration")


def coordinate_number(joint: Joint, coordinate: int | str | None) -> int | None:
    """Return the index of a joint coordinate that the user gives by name or index; None for None, which means all
    coordinates of the joint. Errors are raised for unknown names and negative indices; too large indices are not
    found here.

    Raises:
        ModelError: the joint has no coordinate of this name.
        ParameterError: neither a name nor a whole number from 0 on.
    """
    if isinstance(coordinate, str):
        return joint.coordinate_names.index(joint.named_coordinate(coordinate, "coordinate"))
    return None if coordinate is None else whole("coordinate", coordinate, least=0)


def check_coordinate(number: int | None, count: int, joint: Joint) -> None:
    """Raise a ``ParameterError`` if the index of a joint coordinate is not below ``count``, the number of
    coordinates of the joint.

    Raises:
        ParameterError: naming it.
    """
    if number is not None and number >= count:
        raise ParameterError(f"coordinate must be below {count} for {joint}, got {number}")


@dataclass(frozen=True, eq=False)
class Reaction(Sensor):
    """Sensor of the force that a joint exerts on its second attachment; readings have shape (instants, 3) [N].

    Attributes:
        joint: joint of the model.
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
    axes: AnyAxes = Axes.WORLD

    takes = (Joint, "one of the model")
    label, unit, components = "reaction", "N", XYZ
    _which: ClassVar[int] = 0  # of force and moment

    def read(self, run: RecordedRun) -> Array:
        """Return the force or moment (as the sensor measures) that a joint exerts on the body of its second port.
        Its shape is (instants, 3) [N or N m], at all instants of a run. It is in world axes, or in axes of the
        material at that port, as chosen."""
        vectors = reactions.reaction(run, self.joint)[self._which]
        if self.axes is Axes.WORLD:
            return vectors
        turned = kinematics.rotation(run, run.mechanism.joints[run.joint_index(self.joint)].second)
        return np.asarray(np.einsum("tji,tj->ti", turned, vectors))


class ReactionMoment(Reaction):
    """Sensor of the moment that a joint exerts on its second attachment, about the attachment's point; readings
    have shape (instants, 3) [N m].
    """

    label, unit = "reaction moment", "N m"
    _which = 1


@dataclass(frozen=True, eq=False)
class ElementForce(Sensor):
    """Sensor of the force or torque of a spring, damper, motor or drive along its coordinate; readings have shape
    (instants,) [N or N m].

    Attributes:
        element: spring, damper, motor, drive or relation of the model; a ``Bushing`` has several forces, a ``Gear``
            gives its multiplier.

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

    element: ForceElement | Drive | JointRelation

    takes = (ForceElement | Drive | JointRelation, "a spring, damper, motor or drive")
    label, unit = "force", "N or N m"

    @property
    def count(self) -> int:
        """Return the number of forces of the element: one, or those along all coordinates of a ``Bushing``."""
        if not isinstance(self.element, ForceElement):
            return 1
        bodies = [port.placed for port in self.element.ports if isinstance(port, Attachment)]
        return max(1, len(self.element.forces(bodies[0].data.dimension))) if bodies else 1

    def read(self, run: RecordedRun) -> Array:
        """Return the force or torque of the measured spring, damper, motor or drive at all instants of a run: shape
        (instants,) or (instants, forces) [N or N m]."""
        return reactions.element_force(run, self.element)


# Sensors in bodies: section forces, stresses, tensions.

FORCES = ("normal", "shear_y", "shear_z", "torsion", "moment_y", "moment_z")


@dataclass(frozen=True, eq=False)
class _Station(Sensor):
    body: PlacedBody | PlacedWhole
    x: Finite

    takes = (PlacedBody | PlacedWhole, "a beam of the model")

    def __str__(self) -> str:
        return f"{super().__str__()} at {self.x:g}"


class SectionForce(_Station):
    """Sensor of normal force, shear forces, torsion and bending moments at one station of a beam; readings have
    shape (instants, 6) [N, N m].

    Attributes:
        body: beam or rod of which the section is a part.
        x: position of the section along it [m].

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

    label, unit, components = "section force", "N or N m", FORCES

    def read(self, run: RecordedRun) -> Array:
        """Return normal force, two shear forces, torsion and two bending moments at the measured position of a
        beam or rod. They are given at all instants of a run, shape (instants, 6) [N, N m]."""
        found = section_forces.section_forces(run, self.body, [self.x])
        return np.stack([getattr(found, name)[:, 0] for name in FORCES], axis=1)


class Stress(_Station):
    """Sensor of the normal stress of largest magnitude, with its sign, in the section of a beam at one station;
    readings have shape (instants,) [Pa].

    Attributes:
        body: beam or rod of which the section is a part.
        x: position of the section along it [m].
    """

    label, unit = "stress", "Pa"

    def read(self, run: RecordedRun) -> Array:
        """Return the normal stress of largest magnitude, with its sign, in the cross-section at the measured
        position of a beam or rod. It is given at all instants of a run, shape (instants,) [Pa]."""
        found = section_forces.stress(run, self.body, [self.x], None)
        high, low = found.greatest[:, 0], found.smallest[:, 0]
        mean = (high + low) / 2
        return np.asarray(mean + with_sign_of((high - low) / 2, mean))


@dataclass(frozen=True, eq=False)
class Tension(Sensor):
    """Sensor of the tension at the quadrature points of a string, readings of shape (instants, points) [N], or of a
    tendon, (instants,).

    Attributes:
        string: string or tendon of the model.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> rope = ph.String(length=1.0, line_density=0.1, elements=10, law=ph.LinearLaw(1e4))
        >>> placed = model.add(rope, "rope", shape=[(0, 0, 0), (0, 0, -1.0)])
        >>> pin = model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
        >>> print(model.equilibrium()[ph.Tension(placed)].max().round(3))  # the weight below
        0.932
    """

    string: PlacedBody | Tendon

    takes = (PlacedBody | Tendon, "a string or tendon of the model")
    label, unit = "tension", "N"

    @property
    def count(self) -> int:
        """Return the number of tensions at an instant: of the quadrature points of a string, of the pieces between
        guides with friction of a tendon, else one."""
        if isinstance(self.string, Tendon):
            return len(self.string.guides) - 1 if self.string.friction else 1
        data = self.string.data
        return sum(len(group.weights) for group in data.strains) if isinstance(data, AbsoluteBody) else 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.string, PlacedBody) and not self.string.is_string:
            raise ModelError(f"Tension: string must be a string or tendon of the model, got {self.string!r}")

    def read(self, run: RecordedRun) -> Array:
        """Return the tension of the measured string or tendon at all instants of a run [N]. It has the shape
        (instants, points) for the quadrature points of a string, (instants,) for a tendon."""
        if isinstance(self.string, Tendon):
            return reactions.tendon_tension(run, self.string)
        return reactions.tension(run, self.string)
