"""Joint coordinates as inputs and outputs: what a joint leaves free, and the forces along it.

Displacements are ``s = (x_b - x_a) . d_a`` along an axis d_a of the first port; angles are those of the
second port relative to the first about an axis. Both are functions of world vectors, whose gradients at
the operating point are the rows; the transposed row is the force of a motor in the joint.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import index
from typing import ClassVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError, ParameterError
from phlexible.joints.attachments import Attachment, Port
from phlexible.joints.axial import AxialJoint
from phlexible.joints.bilinear import AXES, DirectionOf, PointOf, Vector, perpendicular_axes
from phlexible.joints.cylindrical import Cylindrical
from phlexible.joints.joint import Joint
from phlexible.joints.loads import Torque
from phlexible.joints.planar import Planar
from phlexible.joints.prismatic import Prismatic
from phlexible.joints.revolute import Revolute
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.joints.universal import Universal
from phlexible.linear_analysis.signal_rows import SignalRow, vector_row
from phlexible.model.kinematics import Kinematics
from phlexible.model.load_forces import vector_forces
from phlexible.model.mechanism import Mechanism
from phlexible.model.state import Layout

TURNING = ("torque", "angle", "angular rate", "angular acceleration")
SLIDING = ("force", "displacement", "sliding rate", "sliding acceleration")
FORCE = 0


@dataclass(frozen=True, eq=False)
class JointSensor:
    """A motion in a joint, of the second port relative to the first.

    Attributes:
        joint: of the model.
        coordinate: which of its coordinates, from 0; None: all of them. Sliding comes before turning:
            Revolute: angle. Prismatic, Slider: displacement. Cylindrical: displacement, angle. Planar: two
            displacements, angle. Universal: angles about ``axis`` and ``second_axis``. Spherical:
            small turns about the world axes (in the plane about z). Fixed, Distance: none.

    Raises:
        ModelError: no joint.
        ParameterError: a coordinate that is no number from 0 on.
    """

    joint: Joint
    coordinate: int | None = None

    differentiations: ClassVar[int]

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{type(self).__name__} sits in a joint, got {self.joint!r}")
        check_coordinate(self.coordinate)


class JointPosition(JointSensor):
    """Angle [rad] or displacement [m] from the operating point."""

    differentiations = 0


class JointRate(JointSensor):
    """Its rate [rad/s, m/s]."""

    differentiations = 1


class JointAcceleration(JointSensor):
    """Its second rate [rad/s^2, m/s^2]."""

    differentiations = 2


@dataclass(frozen=True, eq=False)
class JointForce:
    """A force [N] or torque [N m] in a joint, from the first on the second port, as an input.

    Attributes:
        joint, coordinate: as of ``JointSensor``.

    Raises:
        ModelError, ParameterError: as of ``JointSensor``.
    """

    joint: Joint
    coordinate: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{type(self).__name__} acts in a joint, got {self.joint!r}")
        check_coordinate(self.coordinate)


def check_coordinate(coordinate: int | None) -> None:
    """Refuses what is no number of a coordinate.

    Raises:
        ParameterError: naming it.
    """
    try:
        fine = coordinate is None or (index(coordinate) >= 0 and not isinstance(coordinate, bool))
    except TypeError:
        fine = False
    if not fine:
        raise ParameterError(f"coordinate must be None or a whole number from 0 on, got {coordinate!r}")


def joint_rows(
    mechanism: Mechanism,
    layout: Layout,
    kinematics: Kinematics,
    joint: Joint,
    coordinate: int | None,
    differentiations: int | None,
) -> list[SignalRow]:
    """One row a coordinate; ``differentiations`` None: named as forces.

    Raises:
        ModelError: a joint of another model, without coordinates, or on a body without orientation.
        ParameterError: a number beyond its coordinates.
    """
    if not any(joint is other for other in mechanism.joints):
        raise ModelError(f"{joint} is not connected in this model")
    found = list(_coordinates(joint, mechanism.dimension, kinematics))
    if not found:
        raise ModelError(f"{joint} leaves no coordinate free that a force could act along")
    if coordinate is not None and coordinate >= len(found):
        raise ParameterError(f"coordinate must be below {len(found)} for {joint}, got {coordinate}")
    words = [(TURNING if angular else SLIDING)[_place(differentiations)] for angular, _ in found]
    rows = []
    for k, (angular, forces) in enumerate(found):
        if coordinate in (None, k):
            number = f" {words[: k + 1].count(words[k])}" if words.count(words[k]) > 1 else ""
            row = vector_row(layout, kinematics, forces)
            levels = 1 if differentiations is None else differentiations
            rows.append(SignalRow(f"{words[k]}{number} of {joint}", row, angular, levels))
    return rows


def _place(differentiations: int | None) -> int:
    return FORCE if differentiations is None else 1 + differentiations


Gradient = list[tuple[Vector, Array]]


def _coordinates(joint: Joint, dimension: int, kinematics: Kinematics) -> Iterator[tuple[bool, Gradient]]:
    """Whether each coordinate turns, and its gradient to world vectors."""
    match joint:
        case Revolute():
            yield True, _angle(joint, joint.first, joint.second, _pin_axis(joint, dimension), kinematics)
        case Prismatic() | Slider():
            yield False, _displacement(joint, joint.unit_axis(), kinematics)
        case Cylindrical():
            yield False, _displacement(joint, joint.unit_axis(), kinematics)
            yield True, _angle(joint, joint.first, joint.second, joint.unit_axis(), kinematics)
        case Planar():
            for across in perpendicular_axes(joint.unit_axis()):
                yield False, _displacement(joint, across, kinematics)
            yield True, _angle(joint, joint.first, joint.second, joint.unit_axis(), kinematics)
        case Universal():
            axes = zip((joint.first, joint.second), joint.unit_axes(), strict=True)
            for port, axis in axes:
                current = kinematics.motion(DirectionOf(port, axis)).value
                yield True, _turn(joint, current / np.linalg.norm(current), kinematics)
        case Spherical():
            for axis in AXES[2:] if dimension == 2 else AXES:
                yield True, _turn(joint, axis, kinematics)


def _pin_axis(joint: Revolute, dimension: int) -> Array:
    """In the plane the angle is about z, or -z, whatever the axis is."""
    axis = joint.unit_axis()
    return axis if dimension == 3 else np.copysign(1.0, axis[2]) * AXES[2]


def _displacement(joint: AxialJoint, axis: Array, kinematics: Kinematics) -> Gradient:
    """Of s = (x_b - x_a) . d_a."""
    a, b, direction = PointOf(joint.first), PointOf(joint.second), DirectionOf(joint.first, axis)
    along = kinematics.motion(direction).value
    return [(b, along), (a, -along), (direction, kinematics.motion(b).value - kinematics.motion(a).value)]


def _angle(joint: Joint, first: Port, second: Port, axis: Array, kinematics: Kinematics) -> Gradient:
    """Of atan2(a2 . b, a . b) with a, a2 across the axis on the first port, b = a at the initial pose."""
    _check_orientation(joint)
    across, along = perpendicular_axes(axis)
    vectors = DirectionOf(first, across), DirectionOf(first, along), DirectionOf(second, across)
    a, a2, b = (kinematics.motion(vector).value for vector in vectors)
    cosine, sine = a @ b, a2 @ b
    size = cosine**2 + sine**2
    gradients = (-sine * b / size, cosine * b / size, (cosine * a2 - sine * a) / size)
    return list(zip(vectors, gradients, strict=True))


def _turn(joint: Joint, axis: Array, kinematics: Kinematics) -> Gradient:
    """Of the angle whose rate is (w_b - w_a) . axis, shape (3,)."""
    _check_orientation(joint)
    return [
        part
        for port, sign in ((joint.first, -1.0), (joint.second, 1.0))
        if isinstance(port, Attachment)
        for part in vector_forces(Torque(port, sign * axis), kinematics, 0.0)
    ]


def _check_orientation(joint: Joint) -> None:
    for port in (joint.first, joint.second):
        if not port.has_orientation:
            raise ModelError(f"{joint}: {port} has no orientation (a point mass) to turn")
