"""What controllers measure at the start of a step, and the values that they return."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError
from phlexible.interactions.bilinear import PointOf, Vector, WorldAxis
from phlexible.kernels import tables as at
from phlexible.ports.attachments import MovingFrame
from phlexible.ports.ground import frame_rotation_rates, frame_velocity
from phlexible.system.assembly import Assembly
from phlexible.system.controlled import Measured, MeasuredPoint
from phlexible.time_integration.packing import PackedSystem


@dataclass(frozen=True, eq=False)
class _MovingVector:
    """Views of the tables from which the rate of a vector on a body follows."""

    rotation: Array
    linear: Array  # v of the body frame; zeros for a direction
    angular: Array
    local: Array  # the vector in body axes
    shapes: Array
    elastic_rate: Array

    def rate(self) -> Array:
        """R (v + w x rho + P deta/dt), shape (3,)."""
        a, b = self.angular, self.local
        turn = np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
        return np.asarray(
            self.rotation.reshape(3, 3) @ (self.linear + turn + self.shapes @ self.elastic_rate)
        )


class Measurement:
    """Evaluates controllers at the state of a packed system.

    Args:
        assembly: what moves.
        system: its tables; ``begin_step`` has been done at the state when ``values`` is called.
    """

    def __init__(self, assembly: Assembly, system: PackedSystem) -> None:
        self._system = system
        self._controlled = assembly.controlled
        self._values = system.table(at.X0, 3 * len(assembly.vectors.body)).reshape(-1, 3)
        vectors = {number: vector for each in self._controlled for number, vector in each.vectors.items()}
        self._on_bodies = {
            number: _moving_vector(assembly, system, number)
            for number in vectors
            if assembly.vectors.body[number] >= 0
        }
        self._on_frames = {number: v for number, v in vectors.items() if number not in self._on_bodies}
        self._angles: dict[int, float] = {}

    @property
    def is_needed(self) -> bool:
        """Whether there is any controller."""
        return bool(self._controlled)

    def values(self, time: float, count: int) -> Array:
        """What the controllers return at a time, zero elsewhere, shape (count,) [N or N m].

        Raises:
            ParameterError: a controller returned something else than finite numbers of its size.
        """
        rates = {number: vector.rate() for number, vector in self._on_bodies.items()}
        rates |= {number: _prescribed_rate(vector, time) for number, vector in self._on_frames.items()}
        result = np.zeros(count)
        for each in self._controlled:
            parts = [self._measured(item, rates) for item in each.measured]
            answer = each.feedback.controller(time, np.concatenate([*parts, np.zeros(0)]))
            numbers = np.asarray(answer, dtype=np.float64).ravel()
            if numbers.shape != (each.size,) or not np.isfinite(numbers).all():
                wanted = "one finite number" if each.size == 1 else "three finite numbers"
                raise ParameterError(
                    f"the controller of {each.name} must return {wanted}, got {answer!r} at t = {time:.9g} s"
                )
            result[each.column : each.column + each.size] = numbers
        return result

    def _measured(self, item: Measured, rates: dict[int, Array]) -> Array:
        values = self._values
        if isinstance(item, MeasuredPoint):
            return np.concatenate([values[item.vector], rates[item.vector]])
        y = np.array([sum(c * (values[k] @ values[l]) for c, k, l in terms) for terms in item.functions])
        changes = [
            sum(c * (rates[k] @ values[l] + values[k] @ rates[l]) for c, k, l in terms)
            for terms in item.functions
        ]
        value = item.coordinate.value(y)
        if item.coordinate.is_angle:  # over full turns: the nearest to the one before
            before = self._angles.get(id(item), value)
            value = before + (value - before + np.pi) % (2 * np.pi) - np.pi
            self._angles[id(item)] = value
        return np.array([value, item.coordinate.gradient(y) @ np.array(changes)])


def _moving_vector(assembly: Assembly, system: PackedSystem, number: int) -> _MovingVector:
    ints, reals = system.ints, system.reals
    body = int(assembly.vectors.body[number])

    def view(name: int, place: int, size: int) -> Array:
        return reals[ints[name] + place : ints[name] + place + size]

    kind = assembly.bodies.type_of[body]
    n = int(assembly.bodies.elastic_count[kind])
    rates = int(assembly.bodies.velocity_start[body + 1]) - n
    start = int(assembly.vectors.shapes[number])
    return _MovingVector(
        view(at.STATE_ROTATION, 9 * body, 9),
        view(at.V0, 3 * body, 3) if assembly.vectors.is_point[number] else np.zeros(3),
        view(at.W0, 3 * body, 3),
        view(at.RHO0, 3 * number, 3),
        assembly.vectors.pool[start : start + 3 * n].reshape(3, n),
        view(at.STATE_VELOCITY, rates, n),
    )


def _prescribed_rate(vector: Vector, time: float) -> Array:
    if isinstance(vector, WorldAxis) or not isinstance(vector.port, MovingFrame) or vector.port.is_fixed:
        return np.zeros(3)
    if isinstance(vector, PointOf):
        return frame_velocity(vector.port, time)
    return np.asarray(frame_rotation_rates(vector.port, time)[0] @ vector.axis)
