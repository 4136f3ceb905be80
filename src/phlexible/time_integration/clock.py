"""The instants of a run: a uniform grid, a shorter last step, and breakpoints inside steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.errors import ParameterError

SNAP = 1e-9  # of a step: how far an instant may be off the grid and still count as on it


@dataclass(frozen=True)
class Clock:
    """Steps 0 .. count - 1 from ``start`` on; step k begins at ``instant(k)``.

    Attributes:
        start: [s].
        step: size h of all steps but the last [s].
        full: number of steps of size h.
        remainder: size of one more, shorter step [s], or 0.
        breakpoints: instants inside steps where loads jump, by the number of the step.
        first: step that the run begins with.
    """

    start: float
    step: float
    full: int
    remainder: float
    breakpoints: dict[int, tuple[float, ...]]
    first: int = 0

    @property
    def count(self) -> int:
        """Number of steps."""
        return self.full + (self.remainder > 0)

    @property
    def end(self) -> float:
        """Last instant [s]."""
        return self.instant(self.count)

    def instant(self, k: int) -> float:
        """Start of step k, or the end of the run for k = count [s]."""
        if k <= self.full:
            return self.start + k * self.step
        return self.start + self.full * self.step + self.remainder

    def instants(self, first: int, count: int, parts: int = 1) -> Array:
        """Starts of ``count`` full steps from ``first`` on, each in equal parts, and the end of the last [s].

        Shape (count parts + 1,). Parts are a power of two, so that starts of steps have the same digits.
        """
        return np.asarray(self.start + (first + np.arange(count * parts + 1) / parts) * self.step, dtype=np.float64)

    def is_regular(self, k: int) -> bool:
        """Whether step k has size h and no breakpoint inside."""
        return k < self.full and k not in self.breakpoints

    def regular_run(self, first: int, longest: int) -> int:
        """How many regular steps follow from step ``first`` on, at most ``longest``."""
        stop = min((k for k in self.breakpoints if k >= first), default=self.full)
        return max(0, min(stop, self.full, first + longest) - first)

    def pieces(self, k: int) -> list[tuple[float, float]]:
        """Step k cut at its breakpoints, as pairs (start, end) [s]."""
        cuts = [self.instant(k), *self.breakpoints.get(k, ()), self.instant(k + 1)]
        return list(pairwise(cuts))


def clock(start: float, duration: float, step: float, breakpoints: Sequence[float], first: int = 0) -> Clock:
    """The clock of a run of a duration from ``start`` on, of which ``first`` steps are done.

    Raises:
        ParameterError: a duration or step that is not positive, more steps than can be counted, or steps too short
            for the numbers of times.
    """
    duration, step = positive("duration", duration), positive("step", step)
    if duration / step > 1e12:
        raise ParameterError(f"duration {duration:g} s takes {duration / step:.3g} steps of {step:g} s")
    if start + step == start:
        raise ParameterError(f"step {step:g} s is lost beside the time of the start, {start:g} s")
    full = int(np.floor(duration / step + SNAP))
    remainder = duration - full * step
    if remainder <= SNAP * step:
        remainder = 0.0
    inside: dict[int, list[float]] = {}
    for time in sorted(set(breakpoints)):
        position = (time - start) / step
        k = int(np.floor(position + SNAP))
        on_grid = abs(position - round(position)) <= SNAP
        if not on_grid and start < time < start + duration and abs(time - start - duration) > SNAP * step:
            inside.setdefault(k, []).append(time)
    return Clock(start, step, full, remainder, {k: tuple(times) for k, times in inside.items()}, first)
