"""A model again with its bodies at other initial poses; axes of joints turn with the bodies they are in."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.joints.joint import Joint
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.relocation import relocated
from phlexible.ports.attachments import Attachment, Port
from phlexible.system.kinematics import split_velocity
from phlexible.system.state import Layout, State

ModelType = TypeVar("ModelType", bound=Mechanism)


def moved_model(model: ModelType, layout: Layout, state: State) -> ModelType:
    """A copy with positions and rotations of the state, and its velocities where some were given."""
    copy = type(model)(gravity=model.gravity, dimension=model.dimension)
    copy.ground = model.ground
    bodies = {}
    for index, placed in enumerate(model.bodies):
        rotation = state.rotation[index]
        v, w, _ = split_velocity(
            placed.data, state.velocity[layout.velocity[index] : layout.velocity[index + 1]]
        )
        bodies[placed.name] = copy.add(
            placed.body,
            placed.name,
            state.position[index],
            rotation,
            None if placed.velocity is None else rotation @ v,
            None if placed.angular_velocity is None else rotation @ w,
        )
    turns = {
        placed.name: state.rotation[index] @ placed.rotation.T for index, placed in enumerate(model.bodies)
    }
    parts: dict[object, object] = {}
    for joint in model.joints:
        parts[joint] = copy.connect(_turned(relocated(joint, bodies, parts), turns))
    for load in model.loads:
        copy.apply(relocated(load, bodies, parts))
    return copy


def _turned(joint: Joint, turns: dict[str, Array]) -> Joint:
    """The joint with ``axis`` turned with its first port's body and ``second_axis`` with its second one's."""
    fields = {field.name for field in dataclasses.fields(joint)}
    changes: dict[str, Any] = {
        name: _turn(port, turns) @ np.asarray(getattr(joint, name), dtype=np.float64)
        for name, port in (("axis", joint.first), ("second_axis", joint.second))
        if name in fields
    }
    return dataclasses.replace(joint, **changes) if changes else joint


def _turn(port: Port, turns: dict[str, Array]) -> Array:
    return turns[port.placed.name] if isinstance(port, Attachment) else np.eye(3)
