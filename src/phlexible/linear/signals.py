"""Inputs, outputs and states of linear models: rows with names and units."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.floating import velocity_components
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.functions import AXES, Bilinear
from phlexible.description.interactions.loads import DistributedForce, Force, Torque
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.tendon import TendonMotor
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import ModelError
from phlexible.measure.sensors import (
    AngularVelocity,
    JointRate,
    JointSensor,
    LinearPoint,
    PointSensor,
    Velocity,
    axis_name,
    coordinate_number,
    named_rows,
)
from phlexible.port_hamiltonian.model import Port, StateGroup
from phlexible.state.system import System

# Names and units of the states of linear models.

UNIT_MASS = "kg^0.5 m"
"""Of coordinates in which the mass matrix is the identity."""

UNIT_ENERGY = "J^0.5"
"""Of states x with the energy x.x / 2."""


def body_coordinates(placed: PlacedBody) -> tuple[StateGroup, ...]:
    """Return names and units of the small motions of one body in its own axes, as a tuple of state groups of size
    1. There is one for each velocity component: coordinates of nodes [m], or rigid motions [m, rad] and elastic
    coordinates. Names begin with the body's name."""
    data = placed.data
    if isinstance(data, AbsoluteBody):
        return tuple(
            StateGroup(f"{placed.name} {node} {axis}", "m", 1)
            for node in data.node_names
            for axis in "xyz"[: data.dimension]
        )
    words = ("x", "y", "z", "turn x", "turn y", "turn z")
    units = ("m", "m", "m", "rad", "rad", "rad", *data.coordinate_units)
    names = (*words, *(f"eta {k}" for k in range(data.elastic_count)))
    return tuple(StateGroup(f"{placed.name} {names[k]}", units[k], 1) for k in velocity_components(data))


def coordinates(system: System) -> tuple[StateGroup, ...]:
    """Return the name and unit of each displacement state of the linear model of a system, one ``StateGroup`` for
    each scalar. They are the small motions of all its bodies."""
    return tuple(block for placed in system.bodies for block in body_coordinates(placed))


def rates_of(groups: Iterable[StateGroup]) -> tuple[StateGroup, ...]:
    """Return names and units of the time derivatives of the given coordinates, as state blocks ("rate of ...")."""
    return tuple(
        StateGroup(f"rate of {block.name}", "1/s" if block.unit == "1" else f"{block.unit}/s", block.size)
        for block in groups
    )


def multipliers(system: System) -> tuple[StateGroup, ...]:
    """Return names and units of the multipliers (constraint forces) of all constraints of a system, as state blocks
    of size 1."""
    return tuple(
        StateGroup(f"multiplier {k}: {joint}, {row.label}", row_units(row)[0], 1)
        for k, (joint, row) in enumerate(system.owners)
    )


def row_units(row: Bilinear) -> tuple[str, str]:
    """Return the unit of the multiplier of a scalar constraint (``row``) and the unit of its rate: ("N",
    "m/s") for lengths, ("N m", "rad/s") for angles."""
    return ("N m", "rad/s") if row.is_angle else ("N", "m/s")


def same_unit(names: Iterable[str], unit: str) -> tuple[StateGroup, ...]:
    """Return state blocks of size 1 with the given ``names`` and one common unit."""
    return tuple(StateGroup(name, unit, 1) for name in names)


# Inputs and outputs of a linear model: forces on attachments and in joints, and sensors.
#
# Displacements are ``s = (x_b - x_a) . d_a`` along an axis d_a of the first port; angles are those of the
# second port relative to the first about an axis. Both are functions of world vectors, whose gradients at
# the operating point are the rows; the transposed row is the force of a motor in the joint.


@dataclass(frozen=True, eq=False)
class JointForce:
    """Input of a linear model: a force [N] or torque [N m] along a joint coordinate, exerted by the first port of
    the joint on the second.

    Attributes:
        joint, coordinate: joint and its coordinate, as for ``JointSensor``.

    Raises:
        ModelError, ParameterError: as of ``JointSensor``.
    """

    joint: Joint
    coordinate: int | str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{type(self).__name__} acts in a joint, got {self.joint!r}")
        coordinate_number(self.joint, self.coordinate)  # refused here if it is none

    @property
    def number(self) -> int | None:
        """Index of the joint coordinate along which this input force acts; None if it acts along all coordinates of
        the joint."""
        return coordinate_number(self.joint, self.coordinate)


Input: TypeAlias = Force | Torque | DistributedForce | JointForce | Joint | Attachment | TendonMotor
Output: TypeAlias = PointSensor | JointSensor | Joint | Attachment


def input_rows(point: LinearPoint, inputs: Sequence[Input]) -> list[tuple[Port, Array]]:
    """Return the port (name and units) of each of the ``inputs`` of a linear model and its generalized forces for
    unit input, shape (velocities,). An input is a force, torque or distributed force of constant value (its
    direction), a joint, a point of a body, or a tendon motor. Joints and points give one port for each axis.
    ``point`` is the operating point. Raise ``ModelError`` for anything else.

    A ``Force``, ``Torque`` or ``DistributedForce`` is one input along its constant value, scaled by the
    input; a joint or a ``JointForce`` the forces and torques along its free coordinates, of its first on
    its second port; an attachment stands for a force along each world axis and, where it has an
    orientation, a moment about each. The motor of a tendon is its tension.

    Raises:
        ModelError: something else, or a part of another model.
        ParameterError: a joint coordinate that there is not.
    """
    rows: list[tuple[Port, Array]] = []
    for item in inputs:
        match item:
            case Force() | Torque() | DistributedForce():
                if callable(item.value) or isinstance(item.value, Feedback):
                    raise ModelError(f"{item}: an input takes a constant value, its direction")
                name = str(item)
                if not isinstance(item, DistributedForce):
                    kind = type(item).__name__.lower()
                    name = item.name or f"{kind} on {item.attachment} {axis_name(item.value)}"
                rows.append((_input(name, isinstance(item, Torque)), point.load_row(item)))
            case JointForce() | Joint():
                joint, number = (item, None) if isinstance(item, Joint) else (item.joint, item.number)
                for name, is_angular, row in named_rows(point, joint, number, ("torque", "force")):
                    rows.append((_input(name, is_angular), row))
            case Attachment():
                rows += input_rows(point, _axes_of(item, point.system.dimension, Force, Torque))
            case TendonMotor():
                rows.append((_input(str(item), is_angular=False), point.element_row(item)))
            case _:
                raise ModelError(
                    f"inputs are Force, Torque, DistributedForce, joints, attachments or tendon.motor, got {item!r}"
                )
    return rows


def output_sensors(point: LinearPoint, outputs: Sequence[Output]) -> list[Sensor]:
    """Return the sensors that the user's ``outputs`` of a linear model stand for, in their order. A sensor is
    returned itself, a joint gives the rates of its coordinates, and a point of a body its velocity and angular
    velocity along all axes. ``point`` is the operating point. Anything else raises ``ModelError``.

    Raises:
        ModelError: something else.
    """
    found: list[Sensor] = []
    for item in outputs:
        match item:
            case Sensor():
                found.append(item)
            case Joint():
                found.append(JointRate(item))
            case Attachment():
                found += _axes_of(item, point.system.dimension, Velocity, AngularVelocity)
            case _:
                raise ModelError(f"outputs are sensors such as Velocity(beam.end), got {item!r}")
    return found


def _axes_of(port: Attachment, dimension: int, linear: type[Any], angular: type[Any]) -> list[Any]:
    """Return a list of loads or sensors at a point of a body (``port``), one for each world axis of the model's
    ``dimension``. They are made by calling ``linear(port, axis)``. If the point has an orientation,
    ``angular(port, axis)`` is called for each axis of rotation, and these objects follow. ``linear`` and
    ``angular`` are classes of loads or of sensors."""
    found = [linear(port, axis) for axis in AXES[:dimension]]
    if port.has_orientation:
        found += [angular(port, axis) for axis in (AXES[2:] if dimension == 2 else AXES)]
    return found


def _input(name: str, is_angular: bool) -> Port:
    """Return the port of an input with this name: of a moment [N m] whose power-conjugate output is an angular
    velocity [rad/s] if ``is_angular``, else of a force [N] and a velocity [m/s]."""
    return Port(name, *(("N m", "rad/s") if is_angular else ("N", "m/s")), 1)
