"""Runs as sequences of steps whose sizes may change, in the form of generators of step calls (docs/theory.md,
4)."""

from collections.abc import Callable, Iterator
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.step.integration.step_calls import Calls, completed
from phlexible.step.integration.step_failures import MOST_HALVINGS, PATIENCE, HalvedSteps, step_failure
from phlexible.step.integration.step_words import StepWarnings
from phlexible.step.integration.stored_rows import Advance, Storage

if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper

SAME = 1e-9  # steps whose lengths differ by less are of one length


class StepSizes(NamedTuple):
    """Sizes of the last steps, which the next ones depend on.

    Attributes:
        depth: steps are halved so often before they are attempted.
        successes: pieces that succeeded since the depth changed.
        last: size of the last step [s]; NaN before the first.
        continues: the next step starts where one of its size ended.
    """

    depth: int = 0
    successes: int = 0
    last: float = nan
    continues: bool = False


class RunSnapshot(NamedTuple):
    """State of the stepper, shape (values,), and sizes of the last steps: all that the next steps depend on."""

    values: Array
    sizes: StepSizes


class AcceptedStep(NamedTuple):
    """An accepted step, or piece of a step, between two times [s]; ``before`` is the run at its start."""

    start: float
    end: float
    taken: Advance
    before: RunSnapshot
    is_last: bool


class Run:
    """Computes steps with a stepper, each from the end of the last one, and halves those that fail.

    Args:
        stepper: computes the steps.
        most_halved: number of pieces that a step may be halved into; None: as many as a run may have.
        on_change: called with the time [s] at the first step and where steps get another length, and with whether
            it is the first one.
        check: refuses instants between which prescribed motions jump.

    Attributes:
        stepper: stepper that computes the steps.
        sizes: sizes of the last steps.
        halvings: number of halved steps so far.
        on_change: see above; None after the run, since it may refer to an object that holds this one.
        count: counter of pieces of halved steps.
        words: warnings about the steps so far.
    """

    def __init__(
        self,
        stepper: "Stepper",
        most_halved: int | None = None,
        on_change: Callable[[float, bool], None] | None = None,
        check: Callable[[Array], None] | None = None,
    ) -> None:
        self.stepper, self.sizes, self.halvings = stepper, StepSizes(), 0
        self.count, self.step_warnings = HalvedSteps(stepper, most_halved), StepWarnings(stepper)
        self.on_change, self._check, self._cut = on_change, check, nan

    def steps(self, instants: Array, step: float, storage: Storage) -> Calls[Advance]:
        """Compute time steps of one size ``step`` [s] between ``instants`` [s], up to the first that fails, and
        return the ``Advance`` of the stepper. It is a generator, which yields calls of the compiled loop that its
        caller makes. If the size differs from that of the last steps, velocities are first projected so that they
        satisfy the joints. ``storage`` says which instants are stored.

        Args:
            instants: shape (count + 1,) [s].
            step: size of the steps [s].
            storage: which of the instants are stored.
        """
        stepper, sizes = self.stepper, self.sizes
        stepper.raise_deferred()
        if self._check is not None:
            self._check(instants)
        if not abs(step - sizes.last) <= SAME * step:
            self._change_size(float(instants[0]))
        taken = yield from stepper.advance(instants, step, storage)
        continues = taken.steps == len(instants) - 1
        if not (continues and sizes.continues and step == sizes.last):
            self.sizes = StepSizes(sizes.depth, sizes.successes, step, continues)
        self.step_warnings.look(instants[-1])
        return taken

    def halved(self, start: float, end: float, storage: Storage, level: int = 0) -> Iterator[AcceptedStep]:
        """Compute the time step from ``start`` to ``end`` [s], halved as often as it does not converge, and yield
        each accepted substep. The size that succeeded last is tried first, and grows after several successes.
        ``storage`` says whether the end is stored. Failures, and substeps that are halved more often than ``level``
        times, count towards the limit of substeps. Raise ``ConvergenceError`` if a substep fails at the least size.

        If steps are too long for a while, most failures are avoided by the size that is tried first.

        Args:
            start, end: of the step [s].
            storage: of its end; other ends of pieces are not stored.
            level: pieces that are halved more often than this count towards the limit of pieces, as failures do.

        Raises:
            ConvergenceError: a piece fails, and is as short as steps may get.
        """
        rest = [(end, 0)]
        while rest:
            end, depth = rest.pop()
            taken, before, own = None, self.snapshot(), storage._replace(every=2) if rest else storage
            if depth >= self.sizes.depth:
                taken = completed(self.steps(np.array([start, end]), end - start, own))
                if depth > level or not taken.steps:
                    self.count.add(taken, start)
                if not taken.steps:
                    self.stepper.restore(before.values)
                    if depth == MOST_HALVINGS:
                        raise step_failure(self.stepper, start, end, taken)
                    self.sizes = StepSizes(depth + 1, 0, self.sizes.last)
            if taken is None or not taken.steps:
                self.halvings += 1
                rest += (end, depth + 1), ((start + end) / 2, depth + 1)
                continue
            depth_now, successes, last, _ = self.sizes
            is_enough = depth_now > 0 and successes + 1 == PATIENCE
            self.sizes = StepSizes(depth_now - is_enough, 0 if is_enough else successes + 1, last)
            self._cut = nan
            yield AcceptedStep(start, end, taken, before, not rest)
            if isnan(self._cut):
                start = end
            else:
                rest += [(time, depth) for time in sorted({end, self._cut} - {start}, reverse=True)]

    def repeat(self, piece: AcceptedStep, cut: float) -> None:
        """Go back to the start of an accepted substep, so that ``halved`` computes it again in two parts. They meet
        at the time ``cut`` inside of it [s]. ``piece`` is the substep that ``halved`` has yielded last.
        """
        self.restore(piece.before)
        self._cut = cut

    def snapshot(self) -> RunSnapshot:
        """Return a copy of the state of the run and its time step sizes. From it ``restore`` repeats the same
        time steps with the same digits."""
        return RunSnapshot(self.stepper.snapshot(), self.sizes)

    def restore(self, snapshot: RunSnapshot) -> None:
        """Set the run back to the state and time step sizes of a snapshot."""
        self.stepper.restore(snapshot.values)
        self.sizes = snapshot.sizes

    def _change_size(self, time: float) -> None:
        """Project the velocities so that they satisfy the joints at a ``time`` [s], as time steps change their
        length. This is not done at the first time step of the run. Then call the callback of the run, if there is
        one."""
        is_first = isnan(self.sizes.last)
        if not is_first:
            self.stepper.project(time)
        if self.on_change is not None:
            self.on_change(time, is_first)
