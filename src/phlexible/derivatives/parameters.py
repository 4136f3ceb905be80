"""Parameters of a build function as one vector of numbers, and the directions in which they are changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phlexible.algebra.arrays import Array, IntArray, numbers, positive
from phlexible.errors import ParameterError
from phlexible.ports.signal import Signal

RELATIVE_DIFFERENCE = 1e-5
"""Of a parameter's size, in central differences of the equations at states that stay."""

Given = Mapping[str, float | ArrayLike | Signal] | ArrayLike
Values = dict[str, Any] | Array
"""Derivatives, or numbers, in the order in which parameters were given: by name, or one array."""


@dataclass(frozen=True, eq=False)
class Direction:
    """A change of parameters whose effect is differenced.

    Attributes:
        change: of the flat parameters, shape (parameters,).
        number: of the one parameter that it is of; -1 of samples.
        steps, instants: of samples, whose changes meet in no step: the parameter that acts in each step, shape
            (N,), and at each instant, shape (N + 1,), or -1.
    """

    change: Array
    number: int = -1
    steps: IntArray | None = None
    instants: IntArray | None = None

    @property
    def size(self) -> float:
        """Of the change."""
        return float(np.abs(self.change).max())


class Parameters:
    """Named numbers, arrays and signals, or one array.

    Args:
        given: by name, or an array.
        scales: sizes by name where the value itself says nothing, such as of parameters that are zero.

    Attributes:
        values: all of them, shape (parameters,).

    Raises:
        ParameterError: none, or values that are not finite numbers; scales of parameters that are not there.
    """

    def __init__(self, given: Given, scales: Mapping[str, float] | None = None) -> None:
        self._is_named = isinstance(given, Mapping)
        if isinstance(given, Signal):
            raise ParameterError("parameters must be by name where one is a Signal: {'force': signal}")
        named: Mapping[str, Any] = given if isinstance(given, Mapping) else {"parameters": given}
        self._given = dict(named)
        self._places: dict[str, slice] = {}
        parts = [np.zeros(0)]
        for name, value in self._given.items():
            flat = _flat(name, value)
            begin = sum(map(len, parts))
            self._places[name] = slice(begin, begin + len(flat))
            parts.append(flat)
        self.values: Array = np.concatenate(parts)
        if not len(self.values):
            raise ParameterError("derivatives need at least one parameter, got none")
        if not (scales is None or isinstance(scales, Mapping)):
            raise ParameterError(f"scales must be sizes by names of parameters, got {scales!r}")
        sizes = {name: positive(f"scale of {name}", scale) for name, scale in (scales or {}).items()}
        for name in sizes:
            if name not in self._places:
                raise ParameterError(f"scales names {name!r}, the parameters are {', '.join(self._places)}")
        self._steps = np.zeros(len(self.values))
        for name, place in self._places.items():
            largest = float(np.abs(self.values[place]).max(initial=0.0)) or 1.0
            own = np.abs(self.values[place])
            size = np.full(len(own), sizes[name]) if name in sizes else np.where(own > 1e-6 * largest, own, largest)
            if isinstance(self._given[name], Signal):
                size[:] = sizes.get(name, largest)
            self._steps[place] = RELATIVE_DIFFERENCE * size

    def __len__(self) -> int:
        return len(self.values)

    def made(self, values: Array) -> Any:
        """What the build function takes, with other numbers."""
        found: dict[str, Any] = {}
        for name, given in self._given.items():
            own = values[self._places[name]]
            if isinstance(given, Signal):
                found[name] = given.with_values(own)
            else:
                found[name] = float(own[0]) if np.ndim(given) == 0 else own.reshape(np.shape(given)).copy()
        return found if self._is_named else found["parameters"]

    def shaped(self, flat: Array | NDArray[np.complex128]) -> Values:
        """Numbers (parameters, ...) in the order in which the parameters were given, of signals arrays."""
        found: dict[str, Any] = {}
        for name, given in self._given.items():
            own = flat[self._places[name]]
            if isinstance(given, Signal):
                found[name] = own
            elif np.ndim(given) == 0:
                found[name] = own[0] if flat.ndim > 1 else float(own[0])
            else:
                found[name] = own.reshape(*np.shape(given), *flat.shape[1:])
        return found if self._is_named else np.asarray(found["parameters"])

    def label(self, direction: Direction) -> str:
        """The parameter of a direction, for messages."""
        at = direction.number if direction.number >= 0 else int(np.flatnonzero(direction.change)[0])
        name = next(name for name, place in self._places.items() if place.start <= at < place.stop)
        single = direction.number >= 0 and np.ndim(self._given[name]) > 0
        return f"{name}[{at - self._places[name].start}]" if single else name

    def singles(self) -> list[Direction]:
        """One after the other, samples of signals too."""
        changes = np.diag(self._steps)
        return [Direction(change, number) for number, change in enumerate(changes)]

    def numbers(self) -> list[Direction]:
        """One for each number that is no sample of a signal."""
        samples = np.zeros(len(self), dtype=bool)
        for name in self.signals:
            samples[self._places[name]] = True
        return [each for each in self.singles() if not samples[each.number]]

    @property
    def signals(self) -> list[str]:
        """Names of the parameters that are signals."""
        return [name for name, given in self._given.items() if isinstance(given, Signal)]

    def signs(self, name: str) -> Direction:
        """All samples of a signal at once, up or down at random."""
        change, place = np.zeros(len(self)), self._places[name]
        signs = np.random.default_rng(1).choice([-1.0, 1.0], place.stop - place.start)
        change[place] = signs * self._steps[place]
        return Direction(change)

    def samples(self, name: str, times: Array, is_load: bool) -> list[Direction]:
        """Few for all samples of a signal: those that are far from each other at once.

        Args:
            name: of the signal.
            times: instants between the steps, shape (N + 1,) [s].
            is_load: whether the signal is asked for in the middle of steps only; otherwise at their ends, and for
                its rates a little beside them.
        """
        place, signal = self._places[name], self._given[name]
        count = len(signal.times)
        beside = 0 if is_load else 1

        def window(first: Array, last: Array) -> tuple[IntArray, IntArray]:
            low = np.searchsorted(signal.times, first, "right") - 1 - beside
            high = np.searchsorted(signal.times, last, "left") + beside
            return np.clip(low, 0, count - 1), np.clip(high, 0, count - 1)

        middles = (times[1:] + times[:-1]) / 2
        of_steps = window(middles, middles) if is_load else window(times[:-1], times[1:])
        of_instants = window(times, times)
        apart = 2 + max(int((high - low).max()) for low, high in (of_steps, of_instants))  # in each step one rests
        found = []
        for first in range(min(apart, count)):
            change = np.zeros(len(self))
            chosen = np.arange(place.start + first, place.stop, apart)
            change[chosen] = self._steps[chosen]
            in_steps, at_instants = (_one_of(*window, first, apart) for window in (of_steps, of_instants))
            acting = [np.where(each >= 0, each + place.start, -1) for each in (in_steps, at_instants)]
            found.append(Direction(change, -1, *acting))
        return found


def _one_of(low: IntArray, high: IntArray, first: int, apart: int) -> IntArray:
    """The number first + k apart that lies between low and high, ends included, or -1."""
    number = low + (first - low) % apart
    return np.where(number <= high, number, -1)


def _flat(name: str, value: object) -> Array:
    if isinstance(value, Signal):
        return value.values
    flat = numbers(name, value, "a finite number, an array of them or a Signal").ravel()  # type: ignore[arg-type]
    if not np.isfinite(flat).all():
        raise ParameterError(f"{name} must be a finite number, an array of them or a Signal, got {value!r}")
    return flat
