"""Joint coordinates as inputs and outputs: what a joint leaves free, and the forces along it.

Displacements are ``s = (x_b - x_a) . d_a`` along an axis d_a of the first port; angles are those of the
second port relative to the first about an axis. Both are functions of world vectors, whose gradients at
the operating point are the rows; the transposed row is the force of a motor in the joint.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.functions import AXES
from phlexible.interactions.loads import Torque
from phlexible.joints.joint import Joint
from phlexible.joints.spherical import Spherical
from phlexible.linear_analysis.signals.signal_rows import SignalPoint, SignalRow
from phlexible.ports.attachments import Attachment
from phlexible.sensors.joints import check_coordinate

TURNING = ("torque", "angle", "angular rate", "angular acceleration")
SLIDING = ("force", "displacement", "sliding rate", "sliding acceleration")
FORCE = 0


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


def joint_rows(
    point: SignalPoint,
    joint: Joint,
    coordinate: int | None,
    differentiations: int | None,
) -> list[SignalRow]:
    """One row a coordinate; ``differentiations`` None: named as forces.

    Raises:
        ModelError: a joint of another model, without coordinates, or on a body without orientation.
        ParameterError: a number beyond its coordinates.
    """
    if not any(joint is other for other in point.system.mechanism.joints):
        raise ModelError(f"{joint} is not connected in this model")
    found = list(_coordinates(joint, point))
    if not found:
        raise ModelError(f"{joint} leaves no coordinate free that a force could act along")
    if coordinate is not None and coordinate >= len(found):
        raise ParameterError(f"coordinate must be below {len(found)} for {joint}, got {coordinate}")
    words = [(TURNING if angular else SLIDING)[_place(differentiations)] for angular, _ in found]
    rows = []
    for k, (angular, row) in enumerate(found):
        if coordinate in (None, k):
            number = f" {words[: k + 1].count(words[k])}" if words.count(words[k]) > 1 else ""
            levels = 1 if differentiations is None else differentiations
            rows.append(SignalRow(f"{words[k]}{number} of {joint}", row, angular, levels))
    return rows


def _place(differentiations: int | None) -> int:
    return FORCE if differentiations is None else 1 + differentiations


def _coordinates(joint: Joint, point: SignalPoint) -> Iterator[tuple[bool, Array]]:
    """Whether each coordinate turns, and its row over the small motions."""
    dimension = point.system.dimension
    if isinstance(joint, Spherical):
        for axis in AXES[2:] if dimension == 2 else AXES:
            yield True, _turn(joint, axis, point)
    for coordinate in joint.coordinates(dimension):
        yield coordinate.is_angle, point.coordinate_row(coordinate)


def _turn(joint: Joint, axis: Array, point: SignalPoint) -> Array:
    """Of the angle whose rate is (w_b - w_a) . axis."""
    for port in (joint.first, joint.second):
        if not port.has_orientation:
            raise ModelError(f"{joint}: {port} has no orientation (a point mass) to turn")
    row = np.zeros(int(point.system.layout.velocity[-1]))
    for port, sign in ((joint.first, -1.0), (joint.second, 1.0)):
        if isinstance(port, Attachment):
            row += point.load_row(Torque(port, sign * axis))
    return row
