"""Rigid velocities at t = 0: those that the user gave, the others from joints and drives."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.nearest_solution import smallest_solution
from phlexible.errors import VelocityError
from phlexible.initial.closure import residual_unit
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.membership import ports_of
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.system.constraints import (
    constraint_matrix,
    constraint_time_derivative,
    mass_matrix,
    row_owners,
)
from phlexible.system.kinematics import split_velocity
from phlexible.system.state import Layout, State

BoolArray = NDArray[np.bool_]

TOLERANCE = 1e-7
ROUND_OFF = 1e-14


def with_initial_velocity(mechanism: Mechanism, layout: Layout, state: State) -> State:
    """The state with the velocities of the rigid motion at its pose, checked against the joints.

    Raises:
        VelocityError: given velocities or drives that contradict the joints; names the worst joint
            and its residual.
    """
    moved = with_rigid_velocity(mechanism, layout, state)
    check_velocity(mechanism, layout, moved)
    return moved


def with_rigid_velocity(mechanism: Mechanism, layout: Layout, state: State) -> State:
    """The state with the rigid velocities that fit the joints best; deta/dt = 0.

    Velocities that the user gave are kept. The others are the smallest ones, in the metric of their
    kinetic energy, with G nu = -g_t; so whatever no joint drives starts at rest.
    """
    given, is_given = given_velocity(mechanism, layout, state)
    free = np.flatnonzero(rigid_components(mechanism, layout) & ~is_given)
    matrix = constraint_matrix(mechanism, layout, state)
    drive = constraint_time_derivative(mechanism, layout, state)
    mass = mass_matrix(mechanism, state)
    velocity = given.copy()
    velocity[free] = _smallest(mass, matrix, -drive - matrix @ given, free)
    return replace(state, velocity=velocity)


def check_velocity(mechanism: Mechanism, layout: Layout, state: State) -> None:
    """Refuses rigid velocities that miss G nu = -g_t by more than 1e-7 of their scale.

    Raises:
        VelocityError: names the worst joint, its residual and the nearest velocities that fit.
    """
    matrix = constraint_matrix(mechanism, layout, state)
    drive = constraint_time_derivative(mechanism, layout, state)
    residual = matrix @ state.velocity + drive
    scale = float((abs(matrix) @ np.abs(state.velocity) + np.abs(drive)).max(initial=0.0))
    fastest = float(np.abs(state.velocity).max(initial=0.0))  # of a string's nodes, far from the joint
    if np.abs(residual).max(initial=0.0) <= TOLERANCE * scale + ROUND_OFF * fastest:
        return
    rigid = np.flatnonzero(rigid_components(mechanism, layout))
    nearest = state.velocity.copy()
    nearest[rigid] += _smallest(mass_matrix(mechanism, state), matrix, -residual, rigid)
    is_given = given_velocity(mechanism, layout, state)[1]
    raise _contradiction(mechanism, layout, replace(state, velocity=nearest), residual, bool(is_given.any()))


def given_velocity(mechanism: Mechanism, layout: Layout, state: State) -> tuple[Array, BoolArray]:
    """The flat velocities with those of the user in body axes, zero elsewhere, and where they are."""
    values = np.zeros(int(layout.velocity[-1]))
    is_given = np.zeros(len(values), dtype=bool)
    for index, placed in enumerate(mechanism.bodies):
        begin, d = layout.velocity[index], placed.data.dimension
        to_body = state.rotation[index].T
        if placed.curve is not None:
            if placed.curve.velocities is not None:
                values[begin : begin + placed.data.velocity_count] = placed.curve.velocities[:, :d].ravel()
                is_given[begin : begin + placed.data.velocity_count] = True
            continue
        if placed.velocity is not None:
            values[begin : begin + d] = (to_body @ placed.velocity)[:d]
            is_given[begin : begin + d] = True
        if placed.angular_velocity is not None:
            axes = list(placed.data.rotation_axes)
            end = begin + d + len(axes)
            values[begin + d : end] = (to_body @ placed.angular_velocity)[axes]
            is_given[begin + d : end] = True
    return values, is_given


def rigid_components(mechanism: Mechanism, layout: Layout) -> BoolArray:
    """True where the flat velocities hold v, w or those of nodes, shape (sum of velocity counts,)."""
    is_rigid = np.zeros(int(layout.velocity[-1]), dtype=bool)
    for index, placed in enumerate(mechanism.bodies):
        begin = layout.velocity[index]
        count = placed.data.rigid_count if placed.curve is None else placed.data.velocity_count
        is_rigid[begin : begin + count] = True
    return is_rigid


def _smallest(mass: sparse.csr_array, matrix: sparse.csr_array, values: Array, free: IntArray) -> Array:
    return smallest_solution(mass[free][:, free].tocsr(), matrix[:, free].tocsr(), values)


def _contradiction(
    mechanism: Mechanism, layout: Layout, nearest: State, residual: Array, any_given: bool
) -> VelocityError:
    worst = int(np.abs(residual).argmax())
    owner = row_owners(mechanism)[worst]
    found = (
        f"contradict {owner.joint}: {owner.row.label} is violated by "
        f"{abs(residual[worst]):.6g} {residual_unit(owner)}"
    )
    if not any_given:
        return VelocityError(f"no rigid motion fits all joints and moving frames; their velocities {found}")
    bodies = [port.placed for port in ports_of(owner.joint) if isinstance(port, Attachment)]
    offers = [_offer(placed, layout, nearest, mechanism.bodies.index(placed)) for placed in bodies]
    return VelocityError(
        f"the given velocities {found}; leave velocity and angular_velocity out and the joints decide, "
        f"or take the nearest that fit: {'; '.join(offers)}"
    )


def _offer(placed: PlacedBody, layout: Layout, state: State, index: int) -> str:
    nu = state.velocity[layout.velocity[index] : layout.velocity[index + 1]]
    if placed.curve is not None:
        return f"{placed.name}: leave velocity out"
    v, w, _ = split_velocity(placed.data, nu)
    turn = state.rotation[index]
    text = f"{placed.name} velocity={np.round(turn @ v, 9).tolist()}"
    if placed.data.rotates:
        text += f", angular_velocity={np.round(turn @ w, 9).tolist()}"
    return text
