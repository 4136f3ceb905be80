"""World vectors of one state: value, Jacobian to the body's velocities, explicit time derivative.

Reference form in NumPy of what the compiled loops compute (formulation, sections 2 and 4): points
``x = r + R rho``, directions ``d = R delta`` with ``rho = x0 + P eta``, ``delta = e + theta(eta) x e``.
"""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.floating_body import BodyData
from phlexible.interactions.bilinear import DirectionOf, PointOf, Vector, WorldAxis
from phlexible.ports.attachments import Attachment, MovingFrame, PlacedBody
from phlexible.ports.ground import (
    frame_acceleration,
    frame_position,
    frame_rotation,
    frame_rotation_rates,
    frame_velocity,
)
from phlexible.system.state import Layout, State


@dataclass(frozen=True, eq=False)
class VectorMotion:
    """A world vector x and how it moves: ``dx/dt = jacobian @ nu + rate``.

    Attributes:
        value: x, shape (3,) [m], or a direction.
        body: index of the body that carries it; None: the ground or a moving frame.
        jacobian: shape (3, velocity_count of the body), (3, 0) without a body.
        rate: explicit time derivative (moving frames), shape (3,).
    """

    value: Array
    body: int | None
    jacobian: Array
    rate: Array


class Kinematics:
    """The vectors of one state; each is computed once.

    Args:
        bodies: in the order of the state.
        layout: where their numbers sit.
        state: the instant.
    """

    def __init__(self, bodies: tuple[PlacedBody, ...], layout: Layout, state: State) -> None:
        self._bodies = bodies
        self._index = {placed: index for index, placed in enumerate(bodies)}
        self._layout = layout
        self._state = state
        self._known: dict[tuple[object, ...], VectorMotion] = {}

    @property
    def time(self) -> float:
        """The instant [s]."""
        return self._state.time

    def motion(self, vector: Vector) -> VectorMotion:
        """Value, Jacobian and explicit time derivative of a vector."""
        key = _key(vector)
        if key not in self._known:
            self._known[key] = self._motion(vector)
        return self._known[key]

    def acceleration(self, vector: Vector) -> Array:
        """d2x/dt2 where all dnu/dt vanish, shape (3,)."""
        if isinstance(vector, WorldAxis):
            return np.zeros(3)
        if isinstance(vector.port, MovingFrame):
            time = self._state.time
            if isinstance(vector, PointOf):
                return frame_acceleration(vector.port, time)
            return np.asarray(frame_rotation_rates(vector.port, time)[1] @ vector.axis)
        index, place, shapes = self._material(vector, vector.port)
        v, w, rate = self.rigid_velocity(index)
        if not isinstance(vector, PointOf):
            v = np.zeros(3)
        spin = np.cross(w, v) + np.cross(w, np.cross(w, place)) + 2 * np.cross(w, shapes @ rate)
        return np.asarray(self._state.rotation[index] @ spin)

    def carried(self, vector: Vector) -> tuple[int, float, Array, Array] | None:
        """Body index, 1 for a point or 0 for a direction, body-frame vector (3,), its slopes (3, n).

        None: no body carries the vector.
        """
        if isinstance(vector, WorldAxis) or isinstance(vector.port, MovingFrame):
            return None
        index, place, shapes = self._material(vector, vector.port)
        return index, float(isinstance(vector, PointOf)), place, shapes

    def body(self, index: int) -> tuple[BodyData, Array]:
        """Data of a body and its rotation, shape (3, 3)."""
        return self._bodies[index].data, self._state.rotation[index]

    def elastic(self, index: int) -> Array:
        """eta of one body, shape (n,)."""
        return self._state.elastic[self._layout.elastic[index] : self._layout.elastic[index + 1]]

    def rigid_velocity(self, index: int) -> tuple[Array, Array, Array]:
        """v (3,) and w (3,) in body axes and deta/dt (n,) of one body."""
        nu = self._state.velocity[self._layout.velocity[index] : self._layout.velocity[index + 1]]
        return split_velocity(self._bodies[index].data, nu)

    def _motion(self, vector: Vector) -> VectorMotion:
        nothing, still = np.zeros((3, 0)), np.zeros(3)
        if isinstance(vector, WorldAxis):
            return VectorMotion(vector.axis, None, nothing, still)
        if isinstance(vector.port, MovingFrame):
            frame, time = vector.port, self._state.time
            if isinstance(vector, PointOf):
                return VectorMotion(frame_position(frame, time), None, nothing, frame_velocity(frame, time))
            turned = frame_rotation(frame, time) @ vector.axis
            return VectorMotion(turned, None, nothing, frame_rotation_rates(frame, time)[0] @ vector.axis)
        index, place, shapes = self._material(vector, vector.port)
        rotation = self._state.rotation[index]
        is_point = isinstance(vector, PointOf)
        local = np.hstack([np.eye(3) * is_point, -cross_matrix(place), shapes])
        jacobian = rotation @ local[:, kept_columns(vector.port.placed.data)]
        value = rotation @ place + (self._state.position[index] if is_point else 0)
        return VectorMotion(value, index, jacobian, still)

    def _material(self, vector: PointOf | DirectionOf, port: Attachment) -> tuple[int, Array, Array]:
        """Body index, body-frame vector (3,) and its derivative to eta (3, n)."""
        index, point = self._index[port.placed], port.point
        if isinstance(vector, PointOf):
            start, shapes = point.position, point.shapes
        else:
            start = port.placed.rotation.T @ vector.axis
            assert point.rotations is not None, "joints refuse ports without orientation"
            shapes = point.direction_shapes(start)
        return index, start + shapes @ self.elastic(index), shapes


def kept_columns(body: BodyData) -> list[int]:
    """Which of the 6 + n components of (v, w, deta/dt) the body keeps in nu."""
    rigid = [*body.linear_axes, *(3 + axis for axis in body.rotation_axes)]
    return rigid + list(range(6, 6 + body.elastic_count))


def split_velocity(body: BodyData, nu: Array) -> tuple[Array, Array, Array]:
    """v (3,) and w (3,) in body axes and deta/dt (n,) from the components that the body keeps."""
    full = np.zeros(6 + body.elastic_count)
    full[kept_columns(body)] = nu
    return full[:3], full[3:6], full[6:]


def _key(vector: Vector) -> tuple[object, ...]:
    if isinstance(vector, WorldAxis):
        return (vector.axis.tobytes(),)
    port = vector.port
    place = (port.placed, port.location) if isinstance(port, Attachment) else (port,)
    return place if isinstance(vector, PointOf) else (*place, vector.axis.tobytes())
