"""What controllers measure at the start of a step, and the values that they return."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.assembly.assembly import Assembly
from phlexible.assembly.controlled import Measured, MeasuredPoint
from phlexible.assembly.interactions import Function
from phlexible.errors import ParameterError
from phlexible.ports.ground import frame_rotation_rates, frame_velocity
from phlexible.tables.declarations import MOVING


class Controllers:
    """Evaluates controllers at the state of an assembly, whose places and rates the kernels have written.

    Args:
        assembly: what moves.

    Attributes:
        angles: last values of the measured angles, over full turns; NaN before the first, shape (angles,) [rad].
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._places = np.asarray(assembly.memory["place0"])
        self._rates = np.asarray(assembly.memory["change"])
        self._chords = [
            (np.array([weight for weight, _ in parts]), [vector for _, vector in parts])
            for parts in assembly.chords
        ]
        measured = [item for each in assembly.controlled for item in each.measured]
        turning = [m for m in measured if not isinstance(m, MeasuredPoint) and m.coordinate.is_angle]
        self._number = {id(item): k for k, item in enumerate(turning)}
        self.angles: Array = np.full(len(turning), np.nan)
        self._moving = [(k, v) for k, v in enumerate(assembly.vectors) if v.carrier == MOVING]

    @property
    def are_needed(self) -> bool:
        """Whether there is any controller."""
        return bool(self._assembly.controlled)

    def values(self, time: float, count: int) -> Array:
        """What the controllers return at a time, zero elsewhere, shape (count,) [N or N m].

        Raises:
            ParameterError: a controller returned something else than finite numbers of its size.
        """
        for k, vector in self._moving:
            frame = self._assembly.system.moving_frames[vector.frame]
            rate = (
                frame_velocity(frame, time)
                if vector.is_point
                else frame_rotation_rates(frame, time)[0] @ vector.base
            )
            self._rates[k] = rate
        result = np.zeros(count)
        for each in self._assembly.controlled:
            parts = [self._measured(item) for item in each.measured]
            answer = each.feedback.controller(time, np.concatenate([*parts, np.zeros(0)]))
            numbers = np.asarray(answer, dtype=np.float64).ravel()
            if numbers.shape != (each.size,) or not np.isfinite(numbers).all():
                wanted = "one finite number" if each.size == 1 else "three finite numbers"
                raise ParameterError(
                    f"the controller of {each.name} must return {wanted}, got {answer!r} at t = {time:.9g} s"
                )
            result[each.column : each.column + each.size] = numbers
        return result

    def _measured(self, item: Measured) -> Array:
        if isinstance(item, MeasuredPoint):
            return np.concatenate([self._places[item.vector], self._rates[item.vector]])
        pairs = [self._value_and_rate(function) for function in item.functions]
        y = np.array([value for value, _ in pairs])
        value = item.coordinate.value(y)
        if item.coordinate.is_angle:  # over full turns: the nearest to the one before
            number = self._number[id(item)]
            if not np.isnan(before := self.angles[number]):
                value = before + (value - before + np.pi) % (2 * np.pi) - np.pi
            self.angles[number] = value
        return np.array([value, item.coordinate.gradient(y) @ np.array([rate for _, rate in pairs])])

    def _value_and_rate(self, function: Function) -> tuple[float, float]:
        value, rate = 0.0, 0.0
        for term in function.terms:
            (a, da), (b, db) = self._chord(term.first), self._chord(term.second)
            value += term.coefficient * float(a @ b)
            rate += term.coefficient * float(da @ b + a @ db)
        return value, rate

    def _chord(self, number: int) -> tuple[Array, Array]:
        weights, vectors = self._chords[number]
        return weights @ self._places[vectors], weights @ self._rates[vectors]
