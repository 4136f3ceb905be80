"""Inputs and outputs of a linear model: forces on attachments and joints, motions of attachments.

Directions are world axes at the operating point; about a steady rotation they turn with it, and rates
are those seen in the turning axes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, unit_vector
from phlexible.errors import ModelError
from phlexible.joints.attachments import Attachment
from phlexible.joints.bilinear import AXES
from phlexible.joints.loads import Force, Torque
from phlexible.joints.revolute import Revolute
from phlexible.model.kinematics import Kinematics
from phlexible.model.load_forces import vector_forces
from phlexible.model.mechanism import Mechanism
from phlexible.model.membership import check_belongs, check_plane
from phlexible.model.state import Layout


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


Input: TypeAlias = Force | Torque | Revolute | Attachment
Output: TypeAlias = Sensor | Revolute | Attachment


@dataclass(frozen=True, eq=False)
class SignalRow:
    """A named linear function of the small motions x or of their rates.

    Attributes:
        name: for state spaces and plots.
        row: shape (sum of velocity counts,); as an input column the unit force in each coordinate.
        differentiations: 0: of x, 1: of dx/dt, 2: of d2x/dt2.
    """

    name: str
    row: Array
    differentiations: int = 1


def input_rows(
    mechanism: Mechanism, layout: Layout, kinematics: Kinematics, inputs: Sequence[Input]
) -> list[SignalRow]:
    """The unit forces of inputs.

    A ``Force`` or ``Torque`` is one input along its constant value, scaled by the input; a ``Revolute``
    the torque of its first on its second port; an attachment stands for a force along each world
    axis and, where it has an orientation, a moment about each.

    Raises:
        ModelError: something else, or a part of another model.
    """
    rows = []
    for item in inputs:
        match item:
            case Force() | Torque():
                _check(mechanism, item)
                if callable(item.value):
                    raise ModelError(f"{item}: an input takes a constant value, its direction")
                name = item.name or f"{type(item).__name__.lower()} on {item.attachment} {_axis(item.value)}"
                rows.append(SignalRow(name, _load_row(layout, kinematics, item)))
            case Revolute():
                rows.append(_joint_row(mechanism, layout, kinematics, item, "torque of"))
            case Attachment():
                rows += [
                    SignalRow(f"{word} on {item} {axis}", row)
                    for word, axis, row in _port_rows(
                        mechanism, layout, kinematics, item, ("force", "torque")
                    )
                ]
            case _:
                raise ModelError(f"inputs are Force, Torque, Revolute or attachments, got {item!r}")
    return rows


def output_rows(
    mechanism: Mechanism, layout: Layout, kinematics: Kinematics, outputs: Sequence[Output]
) -> list[SignalRow]:
    """The rows of outputs: sensors; an attachment or a ``Revolute`` stands for its velocities.

    Raises:
        ModelError: something else, or a part of another model.
    """
    rows = []
    for item in outputs:
        match item:
            case Sensor():
                kind = Torque if item.is_angular else Force
                load = kind(item.attachment, item.direction)
                _check(mechanism, load)
                rows.append(SignalRow(str(item), _load_row(layout, kinematics, load), item.differentiations))
            case Revolute():
                rows.append(_joint_row(mechanism, layout, kinematics, item, "rate of"))
            case Attachment():
                rows += [
                    SignalRow(f"{word} of {item} {axis}", row)
                    for word, axis, row in _port_rows(
                        mechanism, layout, kinematics, item, ("velocity", "angular velocity")
                    )
                ]
            case _:
                raise ModelError(f"outputs are sensors such as Velocity(beam.end), got {item!r}")
    return rows


def _port_rows(
    mechanism: Mechanism, layout: Layout, kinematics: Kinematics, item: Attachment, words: tuple[str, str]
) -> Iterator[tuple[str, str, Array]]:
    d = mechanism.dimension
    for k in range(d):
        load = Force(item, AXES[k])
        _check(mechanism, load)
        yield words[0], "xyz"[k], _load_row(layout, kinematics, load)
    if item.has_orientation:
        for k in (2,) if d == 2 else (0, 1, 2):
            yield words[1], "xyz"[k], _load_row(layout, kinematics, Torque(item, AXES[k]))


def _joint_row(
    mechanism: Mechanism, layout: Layout, kinematics: Kinematics, joint: Revolute, word: str
) -> SignalRow:
    if not any(joint is other for other in mechanism.joints):
        raise ModelError(f"{joint} is not connected in this model")
    axis, row = joint.unit_axis(), np.zeros(int(layout.velocity[-1]))
    for port, sign in ((joint.first, -1.0), (joint.second, 1.0)):
        if isinstance(port, Attachment):
            if not port.has_orientation:
                raise ModelError(f"{joint}: {port} has no orientation (a point mass or a string) to turn")
            row += _load_row(layout, kinematics, Torque(port, sign * axis))
    return SignalRow(f"{word} {joint}", row)


def _load_row(layout: Layout, kinematics: Kinematics, load: Force | Torque) -> Array:
    row = np.zeros(int(layout.velocity[-1]))
    for vector, force in vector_forces(load, kinematics, 0.0):
        motion = kinematics.motion(vector)
        assert motion.body is not None, "loads act on bodies"
        begin, end = layout.velocity[motion.body : motion.body + 2]
        row[begin:end] += motion.jacobian.T @ force
    return row


def _check(mechanism: Mechanism, load: Force | Torque) -> None:
    check_belongs(load, {placed.name: placed for placed in mechanism.bodies})
    check_plane(load, mechanism.dimension)


def _axis(direction: ArrayLike) -> str:
    numbers = np.asarray(direction, dtype=np.float64)
    for k in range(3):
        if np.array_equal(numbers, AXES[k]):
            return "xyz"[k]
    return f"({', '.join(f'{number:g}' for number in numbers)})"
