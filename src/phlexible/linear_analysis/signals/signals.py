"""Inputs and outputs of a linear model: forces on attachments and joints, motions of attachments.

Directions are world axes at the operating point; about a steady rotation they turn with it, and rates
are those seen in the turning axes.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from phlexible.errors import ModelError
from phlexible.interactions.distributed_force import DistributedForce
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.functions import AXES
from phlexible.interactions.loads import Force, Load, Torque
from phlexible.joints.joint import Joint
from phlexible.linear_analysis.signals.joint_signals import JointForce, joint_rows
from phlexible.linear_analysis.signals.signal_rows import SignalPoint, SignalRow
from phlexible.mechanism.membership import check_belongs, check_plane
from phlexible.ports.attachments import Attachment
from phlexible.sensors.joints import JointSensor
from phlexible.sensors.points import PointSensor, axis_name

Input: TypeAlias = Force | Torque | DistributedForce | JointForce | Joint | Attachment
Output: TypeAlias = PointSensor | JointSensor | Joint | Attachment


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
                name = item.name or f"{type(item).__name__.lower()} on {item.attachment} {axis_name(item.value)}"
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
            case PointSensor():
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
