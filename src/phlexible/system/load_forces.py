"""Gravity and loads of one state as forces on world vectors and on velocities."""

from collections.abc import Iterator

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.errors import ModelError
from phlexible.interactions.bilinear import AXES, DirectionOf, PointOf, Vector
from phlexible.interactions.loads import Axes, Force, PointLoad, Torque
from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import Attachment
from phlexible.system.element_forces import element_forces
from phlexible.system.kinematics import Kinematics, kept_columns
from phlexible.system.state import Layout, State


def applied_forces(mechanism: Mechanism, layout: Layout, state: State) -> Array:
    """Gravity, all loads and force elements at the state's time, power-conjugate to the flat velocities.

    Shape (sum of velocity counts,) [N, N m, ...], so that ``nu @ applied_forces`` is their power.

    Raises:
        ModelError: a kind of load that has no force at an instant of rest.
    """
    kinematics = Kinematics(mechanism.bodies, layout, state)
    result = np.zeros(int(layout.velocity[-1]))
    for index, placed in enumerate(mechanism.bodies):
        if isinstance(placed.data, AbsoluteBody):
            pull = np.outer(placed.data.nodal_mass.sum(axis=1), mechanism.gravity[: placed.data.dimension])
            result[layout.velocity[index] : layout.velocity[index + 1]] = pull.ravel()
            continue
        weight = state.rotation[index].T @ mechanism.gravity
        mass, moments = placed.data.mass, placed.data.first_moments
        center = moments @ np.concatenate([[1.0], kinematics.elastic(index)])
        full = np.concatenate([mass * weight, np.cross(center, weight), moments[:, 1:].T @ weight])
        result[layout.velocity[index] : layout.velocity[index + 1]] = full[kept_columns(placed.data)]
    for entry in load_entries(mechanism):
        for vector, force in vector_forces(entry, kinematics, state.time):
            motion = kinematics.motion(vector)
            if motion.body is not None:
                begin, end = layout.velocity[motion.body : motion.body + 2]
                result[begin:end] += motion.jacobian.T @ force
    return result + element_forces(mechanism, layout, state)


def load_entries(mechanism: Mechanism) -> Iterator[PointLoad]:
    """Loads on single attachments, load after load."""
    for load in mechanism.loads:
        yield from load.entries()


def vector_forces(load: PointLoad, kinematics: Kinematics, time: float) -> Iterator[tuple[Vector, Array]]:
    """The world vectors that a load acts on, each with its force, shape (3,).

    A moment t acts on the three directions d_i of its attachment with t' x d_i, where
    ``sum_i (|d_i|^2 I - d_i d_i^T) t' = t`` (formulation, section 4).

    Raises:
        ModelError: an unknown kind of load.
    """
    if not isinstance(load, Force | Torque):
        raise ModelError(f"{load}: no quasi-static start with a {type(load).__name__}; start undeformed")
    value = load.at_time(time)
    if isinstance(load, Force) and load.axes is Axes.WORLD:
        yield PointOf(load.attachment), value
        return
    triad = body_triad(load.attachment)
    directions = np.array([kinematics.motion(direction).value for direction in triad])
    world = directions.T @ value if load.axes is Axes.BODY else value
    if isinstance(load, Force):
        yield PointOf(load.attachment), world
        return
    spread = (directions**2).sum() * np.eye(3) - directions.T @ directions
    twist = np.linalg.solve(spread, world)
    for vector, direction in zip(triad, directions, strict=True):
        yield vector, np.cross(twist, direction)


def body_triad(attachment: Attachment) -> tuple[DirectionOf, ...]:
    """The directions that are the body axes x, y, z in the undeformed body."""
    return tuple(DirectionOf(attachment, attachment.placed.rotation @ axis) for axis in AXES)
