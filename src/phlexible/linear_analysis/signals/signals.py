"""Inputs and outputs of a linear model: forces on attachments and joints, motions of attachments.

Directions are world axes at the operating point; about a steady rotation they turn with it, and rates
are those seen in the turning axes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import unit_vector
from phlexible.errors import ModelError
from phlexible.interactions.distributed_force import DistributedForce
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.functions import AXES
from phlexible.interactions.loads import Force, Load, Torque
from phlexible.joints.joint import Joint
from phlexible.linear_analysis.signals.joint_signals import JointForce, JointSensor, joint_rows
from phlexible.linear_analysis.signals.signal_rows import SignalPoint, SignalRow
from phlexible.mechanism.membership import check_belongs, check_plane
from phlexible.ports.attachments import Attachment


@dataclass(frozen=True, eq=False)
class Sensor:
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
        return f"{self.label} of {self.attachment} {_axis(self.direction)}"


class Displacement(Sensor):
    """Displacement of the point from the operating point [m]."""

    differentiations = 0
    label = "displacement"


class Velocity(Sensor):
    """Its rate [m/s]."""

    differentiations = 1
    label = "velocity"


class Acceleration(Sensor):
    """Its second rate [m/s2]."""

    differentiations = 2
    label = "acceleration"


class Angle(Sensor):
    """Small turn of the material about the direction [rad]."""

    differentiations = 0
    is_angular = True
    label = "angle"


class AngularVelocity(Sensor):
    """Its rate [rad/s]."""

    differentiations = 1
    is_angular = True
    label = "angular velocity"


class AngularAcceleration(Sensor):
    """Its second rate [rad/s2]."""

    differentiations = 2
    is_angular = True
    label = "angular acceleration"


Input: TypeAlias = Force | Torque | DistributedForce | JointForce | Joint | Attachment
Output: TypeAlias = Sensor | JointSensor | Joint | Attachment


def input_rows(point: SignalPoint, inputs: Sequence[Input]) -> list[SignalRow]:
    """The unit forces of inputs.

    A ``Force``, ``Torque`` or ``DistributedForce`` is one input along its constant value, scaled by the
    input; a joint or a ``JointForce`` the forces and torques along its free coordinates, of its first on
    its second port; an attachment stands for a force along each world axis and, where it has an
    orientation, a moment about each.

    Raises:
        ModelError: something else, or a part of another model.
        ParameterError: a joint coordinate that there is not.
    """
    rows = []
    for item in inputs:
        match item:
            case Force() | Torque():
                _check(point, item)
                if callable(item.value) or isinstance(item.value, Feedback):
                    raise ModelError(f"{item}: an input takes a constant value, its direction")
                name = item.name or f"{type(item).__name__.lower()} on {item.attachment} {_axis(item.value)}"
                row = point.load_row(item)
                rows.append(SignalRow(name, row, isinstance(item, Torque)))
            case DistributedForce():
                _check(point, item)
                if callable(item.value):
                    raise ModelError(f"{item}: an input takes constant values, its directions")
                parts = [point.load_row(entry) for entry in item.entries()]
                rows.append(SignalRow(str(item), np.asarray(np.sum(parts, axis=0)), False))
            case JointForce(joint, coordinate):
                rows += joint_rows(point, joint, coordinate, None)
            case Joint():
                rows += joint_rows(point, item, None, None)
            case Attachment():
                rows += _port_rows(point, item, ("force on", "torque on"))
            case _:
                raise ModelError(f"inputs are Force, Torque, DistributedForce, joints or attachments, got {item!r}")
    return rows


def output_rows(point: SignalPoint, outputs: Sequence[Output]) -> list[SignalRow]:
    """The rows of outputs: sensors; an attachment or a joint stands for its velocities.

    Raises:
        ModelError: something else, or a part of another model.
        ParameterError: a joint coordinate that there is not.
    """
    rows = []
    for item in outputs:
        match item:
            case Sensor():
                kind = Torque if item.is_angular else Force
                load = kind(item.attachment, item.direction)
                _check(point, load)
                row = point.load_row(load)
                rows.append(SignalRow(str(item), row, item.is_angular, item.differentiations))
            case JointSensor(joint, coordinate):
                levels = item.differentiations
                rows += joint_rows(point, joint, coordinate, levels)
            case Joint():
                rows += joint_rows(point, item, None, 1)
            case Attachment():
                words = ("velocity of", "angular velocity of")
                rows += _port_rows(point, item, words)
            case _:
                raise ModelError(f"outputs are sensors such as Velocity(beam.end), got {item!r}")
    return rows


def _port_rows(point: SignalPoint, item: Attachment, words: tuple[str, str]) -> list[SignalRow]:
    d, rows = point.system.dimension, []
    for k in range(d):
        load = Force(item, AXES[k])
        _check(point, load)
        rows.append(SignalRow(f"{words[0]} {item} {'xyz'[k]}", point.load_row(load), False))
    if item.has_orientation:
        for k in (2,) if d == 2 else (0, 1, 2):
            row = point.load_row(Torque(item, AXES[k]))
            rows.append(SignalRow(f"{words[1]} {item} {'xyz'[k]}", row, True))
    return rows


def _check(point: SignalPoint, load: Load) -> None:
    system = point.system
    check_belongs(
        load,
        {placed.name: placed for placed in system.bodies},
        {id(joint): joint for joint in system.mechanism.joints},
    )
    check_plane(load, system.dimension)


def _axis(direction: ArrayLike) -> str:
    numbers = np.asarray(direction, dtype=np.float64)
    for k in range(3):
        if np.array_equal(numbers, AXES[k]):
            return "xyz"[k]
    return f"({', '.join(f'{number:g}' for number in numbers)})"
