"""A model again with its bodies at other initial poses; axes of joints turn with the bodies they are in."""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.initial_nodes import InitialNodes
from phlexible.bodies.string.string import String
from phlexible.initial.initial_velocity import reference_velocity
from phlexible.interactions.pair import receive
from phlexible.joints.joint import Joint
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.relocation import hand_over
from phlexible.ports.attachments import Attachment, PlacedBody, Port
from phlexible.system.layout import State
from phlexible.system.system import System

ModelType = TypeVar("ModelType", bound=Mechanism)


def moved_model(model: ModelType, system: System, state: State) -> ModelType:
    """A copy with positions and rotations of the state, and its velocities where some were given."""
    copy = type(model)(gravity=model.gravity, dimension=model.dimension)
    copy.ground = model.ground
    for index, placed in enumerate(model.bodies):
        if placed.nodes is not None:
            _add_nodal(copy, placed, placed.nodes, system, state, index)
            continue
        rotation = state.rotation[index]
        velocity, spin = reference_velocity(system, state, index)
        copy.add(
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
    hand_over(model, copy, lambda joint: _turned(joint, turns))
    return copy


def _add_nodal(
    copy: Mechanism, placed: PlacedBody, nodes: InitialNodes, system: System, state: State, index: int
) -> None:
    """As it was given where it did not move, else along lines between its new nodes."""
    d = system.dimension
    places = state.position[system.layout.carrier[index] : system.layout.carrier[index + 1]]
    speeds = np.zeros_like(places)
    speeds[:, :d] = state.velocity[system.layout.place(index)].reshape(-1, d)
    if not isinstance(placed.body, String):
        given = None if nodes.velocities is None else speeds
        copy.add(placed.body, placed.name, velocity=given, shape=places)
        return
    s, speed = placed.body.mesh.nodes, nodes.speed
    if nodes.velocities is not None and not np.array_equal(speeds, nodes.velocities):
        speed = _between(s, speeds)
    if np.array_equal(places, nodes.positions):
        copy.add(placed.body, placed.name, placed.position, placed.rotation, speed, shape=nodes.shape)
    else:
        copy.add(placed.body, placed.name, velocity=speed, shape=_between(s, places))


def _between(nodes: Array, values: Array) -> Callable[[float], Array]:
    """The function of s that has values (N, 3) at the nodes (N,) and is linear between them."""
    return lambda s: np.array([np.interp(s, nodes, column) for column in values.T])


def _turned(joint: Joint, turns: dict[str, Array]) -> Joint:
    """The joint with ``axis`` and ``along`` turned with the first body, ``second_axis`` with the second one."""
    fields = {field.name for field in dataclasses.fields(joint)}
    changes: dict[str, Any] = {
        name: _turn(port, turns) @ np.asarray(getattr(joint, name), dtype=np.float64)
        for name, port in (("axis", joint.first), ("along", joint.first), ("second_axis", joint.second))
        if name in fields
    }
    if not changes:
        return joint
    receive(joint, joint.first, joint.second)  # the turned one takes its place
    return dataclasses.replace(joint, **changes)


def _turn(port: Port, turns: dict[str, Array]) -> Array:
    return turns[port.placed.name] if isinstance(port, Attachment) else np.eye(3)
