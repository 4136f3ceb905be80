"""Inputs, outputs and states of linear models: rows with names and units."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.floating import kept_velocities
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.functions import AXES, Coordinate, Row
from phlexible.description.interactions.loads import DistributedForce, Force, Load, PointLoad, Torque
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Spherical
from phlexible.description.mechanism.membership import check_belongs, check_plane
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import ModelError, ParameterError
from phlexible.measure.sensors import JointSensor, PointSensor, axis_name, check_coordinate
from phlexible.port_hamiltonian.model import Port, StateBlock
from phlexible.state.forces import acting, coordinate_row
from phlexible.state.instants import Instants
from phlexible.state.system import System

# What inputs and outputs of a linear model are inside: named rows with units.


@dataclass(frozen=True, eq=False)
class SignalRow:
    """A named linear function of the small motions x or of their rates.

    Attributes:
        name: for state spaces and plots.
        row: shape (sum of velocity counts,); as an input column the unit force in each coordinate.
        is_angular: in rad and N m instead of m and N.
        differentiations: 0: of x, 1: of dx/dt, 2: of d2x/dt2.
    """

    name: str
    row: Array
    is_angular: bool
    differentiations: int = 1

    @property
    def unit(self) -> str:
        """Unit of the output."""
        return ("rad" if self.is_angular else "m") + ("", "/s", "/s^2")[self.differentiations]

    @property
    def port(self) -> Port:
        """The input with its power-conjugate output."""
        units = ("N m", "rad/s") if self.is_angular else ("N", "m/s")
        return Port(self.name, *units, 1)


@dataclass(frozen=True, eq=False)
class SignalPoint:
    """An operating point, where signals are rows over the small motions.

    Attributes:
        system: what moves.
        at: the state.
        motion: dq of all carriers from x (``small_motions``).
    """

    system: System
    at: Instants
    motion: sparse.csr_array

    def load_row(self, load: PointLoad) -> Array:
        """The generalized forces of a load at rest, shape (velocities,)."""
        total = np.zeros(self.motion.shape[0])
        for entry in load.entries():
            vectors, forces = acting(self.system, self.at, entry, entry.at_time(0.0))
            total += vectors.jacobian(self.at).T @ forces.ravel()
        return np.asarray(self.motion.T @ total)

    def coordinate_row(self, coordinate: Coordinate) -> Array:
        """d theta/dx, shape (velocities,)."""
        return np.asarray(self.motion.T @ coordinate_row(self.system, self.at, coordinate)[0])


# Names and units of the states of linear models.

UNIT_MASS = "kg^0.5 m"
"""Of coordinates in which the mass matrix is the identity."""

UNIT_ENERGY = "J^0.5"
"""Of states x with the energy x.x / 2."""


def body_coordinates(placed: PlacedBody) -> tuple[StateBlock, ...]:
    """One for each component of the body's velocity: small motions in its own axes."""
    data = placed.data
    if isinstance(data, AbsoluteBody):
        return tuple(
            StateBlock(f"{placed.name} node {k} {axis}", "m", 1)
            for k in range(data.node_count)
            for axis in "xyz"[: data.dimension]
        )
    words = ("x", "y", "z", "turn x", "turn y", "turn z")
    units = ("m", "m", "m", "rad", "rad", "rad", *data.coordinate_units)
    names = (*words, *(f"eta {k}" for k in range(data.elastic_count)))
    return tuple(StateBlock(f"{placed.name} {names[k]}", units[k], 1) for k in kept_velocities(data))


def coordinates(system: System) -> tuple[StateBlock, ...]:
    """Those of all bodies."""
    return tuple(block for placed in system.bodies for block in body_coordinates(placed))


def rates(blocks: Iterable[StateBlock]) -> tuple[StateBlock, ...]:
    """The time derivatives of coordinates."""
    return tuple(
        StateBlock(f"rate of {block.name}", "1/s" if block.unit == "1" else f"{block.unit}/s", block.size)
        for block in blocks
    )


def multipliers(system: System) -> tuple[StateBlock, ...]:
    """One for each row of the joints."""
    return tuple(
        StateBlock(f"multiplier {k}: {joint}, {row.label}", row_units(row)[0], 1)
        for k, (joint, row) in enumerate(system.owners)
    )


def row_units(row: Row) -> tuple[str, str]:
    """Units of the multiplier of a joint function and of its rate: a length, or the cosine of an angle."""
    return ("N m", "rad/s") if row.is_angle else ("N", "m/s")


def same_unit(names: Iterable[str], unit: str) -> tuple[StateBlock, ...]:
    """States of one entry each."""
    return tuple(StateBlock(name, unit, 1) for name in names)


# Joint coordinates as inputs and outputs: what a joint leaves free, and the forces along it.
#
# Displacements are ``s = (x_b - x_a) . d_a`` along an axis d_a of the first port; angles are those of the
# second port relative to the first about an axis. Both are functions of world vectors, whose gradients at
# the operating point are the rows; the transposed row is the force of a motor in the joint.

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


# Inputs and outputs of a linear model: forces on attachments and joints, motions of attachments.
#
# Directions are world axes at the operating point; about a steady rotation they turn with it, and rates
# are those seen in the turning axes.

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
