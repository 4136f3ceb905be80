"""What controllers measure at the start of a step, and the values that they return."""

from functools import cache
from math import isfinite

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.assembly.assembly import Assembly
from phlexible.assembly.controlled import ControlledValue, MeasuredCoordinate, MeasuredPoint
from phlexible.assembly.functions import Function
from phlexible.assembly.laws import coordinate_kind
from phlexible.interactions.feedback import Controller
from phlexible.interactions.state_force import StateLaw
from phlexible.kernels.forces.coordinates import POINT, measure
from phlexible.ports.ground import frame_angular_velocities, frame_rotations, frame_velocities
from phlexible.system.layout import offsets
from phlexible.tables.declarations import ANGLE, MOVING
from phlexible.time_integration.control.sampled import Read, SampledController, checked_values


class Controllers:
    """Evaluates controllers at the state of an assembly, whose places and rates the kernels have written.

    Args:
        assembly: what moves.

    Attributes:
        angles: last values of the measured angles, over full turns; NaN before the first, shape (angles,) [rad].
        memory: what controllers remember that are sampled or have states, shape (numbers,).
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._controlled = assembly.controlled
        self.angles: Array = np.zeros(0)
        self.memory: Array = np.zeros(0)
        self._sampled: tuple[SampledController, ...] = ()
        self._laws: tuple[tuple[ControlledValue, Controller, int, int, int], ...] = ()
        if self._controlled:
            self._begin()

    def _begin(self) -> None:
        assembly = self._assembly
        items: list[tuple[int, int, int, int]] = []
        functions: list[Function] = []
        spans, place = [], 0
        self._measured_items: list[MeasuredCoordinate | MeasuredPoint] = []
        for each in self._controlled:
            begin = place
            for item in each.measured:
                self._measured_items.append(item)
                if isinstance(item, MeasuredPoint):
                    items.append((POINT, item.vector, place, -1))
                    place += 6
                    continue
                angle = sum(known[3] >= 0 for known in items) if item.coordinate.is_angle else -1
                items.append((coordinate_kind(item.coordinate), len(functions), place, angle))
                functions += item.functions
                place += 2
            spans.append((each, each.feedback.controller, begin, place, each.column if each.size == 1 else -1))
        self._laws = tuple(each for each in spans if isinstance(each[0].feedback, StateLaw))
        self._calls = tuple(each for each in spans if each not in self._laws and _is_plain(each[0]))
        others = [each for each in spans if each not in self._laws and not _is_plain(each[0])]
        self._sampled = tuple(SampledController(assembly.system, each[0], each[2]) for each in others)
        ends = np.cumsum([0, *(each.size for each in self._sampled)]).tolist()
        self.memory = np.zeros(ends[-1])
        for one, begin, end in zip(self._sampled, ends, ends[1:], strict=False):
            one.put(self.memory[begin:end])
        terms = [term for function in functions for term in function.terms]
        parts = [part for chord in assembly.chords for part in chord]
        self._memory = (
            np.asarray(assembly.memory["place0"]),
            np.asarray(assembly.memory["change"]),
        )
        self.angles = np.full(sum(known[3] >= 0 for known in items), np.nan)
        self._tables = (
            np.array(items, dtype=np.int64).reshape(-1, 4),
            _spans([len(function.terms) for function in functions]),
            np.array([(term.first, term.second) for term in terms], dtype=np.int64).reshape(-1, 2),
            _spans([len(chord) for chord in assembly.chords]),
            np.array([vector for _, vector in parts], dtype=np.int64),
            np.array([*(weight for weight, _ in parts), *(term.coefficient for term in terms)], dtype=np.float64),
        )
        self._numbers = np.zeros(place)
        self._angle_rates = np.array([place + 1 for kind, _, place, _ in items if kind == ANGLE], dtype=np.int64)
        self._moving = [(k, v) for k, v in enumerate(assembly.vectors) if v.carrier == MOVING]

    @property
    def are_needed(self) -> bool:
        """Whether there is any controller."""
        return bool(self._controlled)

    def moving_rates(self, times: Array) -> Array:
        """Of the vectors of moving frames at many times, shape (times, vectors of moving frames, 3)."""
        result = np.zeros((len(times), len(self._moving), 3))
        for column, (_, vector) in enumerate(self._moving):
            frame = self._assembly.system.moving_frames[vector.frame]
            if vector.is_point:
                result[:, column] = frame_velocities(frame, times)
            else:
                turned = frame_rotations(frame, times) @ vector.base
                result[:, column] = np.cross(frame_angular_velocities(frame, times), turned)
        return result

    def hold(self, time: float, moving_rates: Array, held: Array, read: Read) -> None:
        """Ask the controllers at a time, and write what they return.

        Args:
            time: [s].
            moving_rates: then, shape (vectors of moving frames, 3).
            held: receives the values, zero elsewhere, shape (load values,) [N or N m].
            read: gives the whole state, for sensors that need it.

        Raises:
            ParameterError: a controller returned something else than finite numbers of its size.
        """
        self._write_moving_rates(moving_rates)
        self._measure(*self._memory, self.angles)
        measured = self._numbers.copy()  # theirs to keep
        for each, controller, begin, end, column in self._calls:
            answer = controller(time, measured[begin:end])
            if type(answer) is float and column >= 0 and isfinite(answer):
                held[column] = answer
            else:
                held[each.column : each.column + each.size] = checked_values(each, answer, time)
        if self._sampled:
            read = cache(read)
        for sampled in self._sampled:
            values = sampled(time, measured, read)
            for target in sampled.value.targets:
                target.write(values, held)

    def law_arms(self, reach: float) -> Array:
        """Of each value of the laws 1, or the reach [m] where it is longer and the value may be a torque."""
        sizes = [each.size for each, *_ in self._laws]
        return np.concatenate([np.full(size, max(1.0, reach) if size == 1 else 1.0) for size in sizes or [0]])

    def by_law(self, counts: IntArray) -> dict[str, int]:
        """The greatest count of the values of each law that has any, by its name; counts of shape (values,)."""
        place, found = 0, dict[str, int]()
        for each, *_ in self._laws:
            if most := int(counts[place : place + each.size].max()):
                found[each.name] = max(most, found.get(each.name, 0))
            place += each.size
        return found

    def places_in_step(self) -> tuple[Array, Array]:
        """Of all vectors at the start of the step that the kernels have taken, and their changes, (vectors, 3)."""
        start, change = self._memory
        return start.copy(), change.copy()

    def laws_in_step(self, time: float, h: float, start: Array, change: Array) -> Array:
        """What laws of the state give at the mean state of a step, shape (values,).

        Args:
            time: of the middle of the step [s].
            h: its length [s].
            start, change: of the places of all vectors.
        """
        self._measure(start + 0.5 * change, change / h, self.angles.copy())
        rates = self._numbers[self._angle_rates]  # of the mean directions, 2 tan(delta(angle)/2)/h
        self._numbers[self._angle_rates] = 2.0 * np.arctan(0.5 * h * rates) / h
        return np.concatenate(self._law_values(time))

    def put_laws(self, found: Array, values: Array) -> None:
        """Values of the laws into rows of load values, shape (rows, load values)."""
        place = 0
        for each, *_ in self._laws:
            values[:, each.column : each.column + each.size] = found[place : place + each.size]
            place += each.size

    def obeyed(self, time: float, values: Array) -> Array:
        """Load values with those of the laws at the instant whose places and rates the kernels have written."""
        self._write_moving_rates(self.moving_rates(np.array([time]))[0])
        self._measure(*self._memory, self.angles.copy())
        result = values.copy()
        self.put_laws(np.concatenate(self._law_values(time)), result[None])
        return result

    def _write_moving_rates(self, moving_rates: Array) -> None:
        for (k, _), rate in zip(self._moving, moving_rates, strict=True):
            self._memory[1][k] = rate

    def _law_values(self, time: float) -> list[Array]:
        """What each law says of the numbers that were measured last."""
        return [
            checked_values(each, law(time, self._numbers[begin:end].copy()), time)
            for each, law, begin, end, _ in self._laws
        ]

    def _measure(self, places: Array, rates: Array, angles: Array) -> None:
        none = measure(places, rates, *self._tables, angles, self._numbers)
        if none >= 0:
            item = self._measured_items[none]
            assert isinstance(item, MeasuredCoordinate), "points have a rate"
            item.coordinate.gradient(np.zeros(1))  # says why there is none


def _is_plain(value: ControlledValue) -> bool:
    """Whether it is a function of what is measured now that sets one load."""
    return not value.channels and value.feedback.is_plain and value.targets[0].is_whole


def _spans(counts: list[int]) -> IntArray:
    """First and last + 1 of what each has, shape (counts, 2)."""
    starts = offsets(counts)
    return np.stack([starts[:-1], starts[1:]], axis=1)
