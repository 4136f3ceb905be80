"""The instants of a run, and where a run stands between two of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ParameterError

# The instants of a run: a uniform grid, a shorter last step, and breakpoints inside steps.

SNAP = 1e-9  # of a step: how far an instant may be off the grid and still count as on it
ENDLESS = 2**62  # steps


def breakpoints_of(mechanism: Mechanism) -> list[float]:
    """Return the times at which loads, force elements or drives of a mechanism jump or have a kink [s]. Times of
    its prescribed events are included. The list is not sorted and may contain a time more than once."""
    found = [time for load in mechanism.loads for time in load.breakpoints]
    found += [time for element in mechanism.elements for time in element.times]
    return found + [event.when for event in mechanism.events if isinstance(event.when, float)]


@dataclass(frozen=True)
class Clock:
    """Instants of a run: steps 0 .. count - 1 from ``start`` on, of which step k begins at ``instant(k)``.

    Attributes:
        start: first instant of the grid [s].
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
        """Number of time steps of the run, with the shorter last one if there is one."""
        return self.full + (self.remainder > 0)

    @property
    def end(self) -> float:
        """Last instant of the run [s]."""
        return self.instant(self.count)

    def instant(self, k: int) -> float:
        """Return the time at which time step k of the run begins [s], or the end of the run for k = count."""
        if k <= self.full:
            return self.start + k * self.step
        return self.start + self.full * self.step + self.remainder

    def instants(self, first: int, count: int, parts: int = 1) -> Array:
        """Return the times at which ``count`` full time steps of the run and their ``parts`` equal substeps begin,
        from time step ``first`` on. The end of the last time step is appended; shape (count * parts + 1,) [s].

        Parts are a power of two, so that starts of steps have the same digits.
        """
        if parts == count == 1:  # of a live run: arrays of two take longer
            return np.array([self.start + first * self.step, self.start + (first + 1) * self.step])
        if parts == 1:
            steps: Array = np.arange(first, first + count + 1, dtype=np.float64)
        else:
            steps = first + np.arange(count * parts + 1) / parts
        return self.start + steps * self.step

    def regular_run(self, first: int, longest: int) -> int:
        """Return how many consecutive time steps from number ``first`` on have full size and no breakpoint (jump of
        a load) inside, at most ``longest``. They can be computed in one call.
        """
        stop = min(self.full, first + longest)
        if self.breakpoints:
            stop = min([stop, *(k for k in self.breakpoints if k >= first)])
        return max(0, stop - first)

    def intervals(self, k: int) -> list[tuple[float, float]]:
        """Return the intervals into which breakpoints (jumps of loads) divide time step k of the run, as pairs
        (start, end) [s] in order; without a breakpoint inside it is the step itself.
        """
        cuts = [self.instant(k), *self.breakpoints.get(k, ()), self.instant(k + 1)]
        return list(pairwise(cuts))


def clock(start: float, duration: float, step: float, breakpoints: Sequence[float], first: int = 0) -> Clock:
    """Return the clock (instants of all time steps) of a run that lasts for a ``duration`` [s] from ``start`` on.
    Time steps have the length ``step`` [s]; a remainder is a shorter last step. Steps are cut at the times
    ``breakpoints`` [s]; breakpoints at the end or later are left out. The first ``first`` steps count as computed
    already. Steps that are too many or too short for the precision of times raise ``ParameterError``.

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
    earlier = [time for time in breakpoints if time < start + duration - SNAP * step]
    return Clock(start, step, full, remainder, _inside_steps(start, step, earlier), first)


def endless_clock(start: float, step: float, breakpoints: Sequence[float]) -> Clock:
    """Return the clock (instants of all time steps) of a run from ``start`` on [s] that ends only when its
    caller stops it. Its time steps have the length ``step`` [s] and are cut at the times ``breakpoints`` [s]."""
    return Clock(start, step, ENDLESS, 0.0, _inside_steps(start, step, breakpoints))


def _inside_steps(start: float, step: float, breakpoints: Sequence[float]) -> dict[int, tuple[float, ...]]:
    """Return the breakpoints [s] inside of the time steps of a uniform grid, as sorted tuples by the number of the
    step. Breakpoints are times at which loads jump. The grid begins at ``start`` and has steps of length ``step``
    [s]. Breakpoints before the start, or on an instant of the grid up to round-off, are left out.
    """
    inside: dict[int, tuple[float, ...]] = {}
    for time in sorted(set(breakpoints)):
        position = (time - start) / step
        if time > start and abs(position - round(position)) > SNAP:
            k = int(np.floor(position + SNAP))
            inside[k] = (*inside.get(k, ()), time)
    return inside


# Where a run stands between two steps, and the instants of a run that goes on from there.


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """State and step sizes of a run at one instant, from which it continues with the same digits as without a stop.

    Attributes:
        time: instant at which the run continues [s].
        origin: first instant of the grid [s].
        step: step of the grid [s].
        number: number of steps from the origin to the instant.
        since_stored: steps since the last stored instant that ``every`` asked for.
        last_weight: weight of the multipliers of the step before the last stored instant in the mean with those of
            the step after it; 1 if they are final.
        halvings: number of halved steps so far.
        depth: number of times that steps are halved before they are tried.
        successes: number of pieces that succeeded since then.
        last_step: length of the last step [s]; nan before the first.
        level: steps are 2^level times shorter than the grid's, for a tolerance.
        easy: number of blocks of steps for which longer ones would have been accurate enough.
        chunk_length: number of steps that are computed at a time.
        continues: the next step starts where one of the same size ended.
        failed: the next step has been tried at full size.
        layout: description of the numbers; other versions may store others.
        values: state variables that the stepper stores from step to step, shape (values,).
    """

    time: float
    origin: float
    step: float
    number: int
    since_stored: int
    last_weight: float
    halvings: int
    depth: int
    successes: int
    last_step: float
    level: int
    easy: int
    chunk_length: int
    continues: bool
    failed: bool
    layout: str
    values: Array


def clock_from(checkpoint: Checkpoint, duration: float, step: float, breakpoints: Sequence[float]) -> Clock:
    """Return the clock (instants of all time steps) of a run that continues from a ``checkpoint`` up to
    ``duration`` [s]. ``duration`` counts from t = 0. The old grid of instants is used if ``step`` [s] is the same
    and the checkpoint is an instant of it; otherwise a new grid begins at the checkpoint. Steps are cut at the
    times ``breakpoints`` [s].

    No step is left of a run that was killed between its last step and its end.

    Raises:
        ParameterError: as ``clock``.
    """
    same = clock(checkpoint.origin, duration - checkpoint.origin, step, breakpoints, checkpoint.number)
    if step == checkpoint.step and checkpoint.number <= same.count and same.instant(same.first) == checkpoint.time:
        return same
    return clock(checkpoint.time, duration - checkpoint.time, step, breakpoints)


def is_on_grid(checkpoint: Checkpoint, instants: Clock) -> bool:
    """Return whether a clock continues the run of a ``checkpoint`` on the same instants: with its start time and
    step size, and from the time step that it has reached.
    """
    return (instants.start, instants.step, instants.first) == (
        checkpoint.origin,
        checkpoint.step,
        checkpoint.number,
    )
