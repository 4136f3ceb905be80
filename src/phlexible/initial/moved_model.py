"""A model again with its bodies at other initial poses; axes of joints turn with the bodies they are in."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.initial.initial_velocity import reference_velocity
from phlexible.joints.joint import Joint
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.relocation import relocated
from phlexible.ports.attachments import Attachment, Port
from phlexible.system.layout import State
from phlexible.system.system import System

ModelType = TypeVar("ModelType", bound=Mechanism)


def moved_model(model: ModelType, system: System, state: State) -> ModelType:
    """A copy with positions and rotations of the state, and its velocities where some were given."""
    copy = type(model)(gravity=model.gravity, dimension=model.dimension)
    copy.ground = model.ground
    bodies = {}
    for index, placed in enumerate(model.bodies):
        if placed.nodes is not None:
            nodes = state.position[system.layout.carrier[index] : system.layout.carrier[index + 1]]
            bodies[placed.name] = copy.add(placed.body, placed.name, shape=nodes)
            continue
        rotation = state.rotation[index]
        velocity, spin = reference_velocity(system, state, index)
        bodies[placed.name] = copy.add(
            placed.body,
            placed.name,
            state.position[index] - rotation @ system.centres[index][:, 0],
            rotation,
            None if placed.velocity is None else velocity,
            None if placed.angular_velocity is None else spin,
        )
    turns = {
        placed.name: state.rotation[index] @ placed.rotation.T if placed.nodes is None else np.eye(3)
        for index, placed in enumerate(model.bodies)
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
