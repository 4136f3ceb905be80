"""A run: blocks of steps, halving, tolerance, breakpoints, controllers, interruption (docs/theory.md, 4)."""

import time as wall
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ResultFileError, warn_user
from phlexible.state.instants import Instants
from phlexible.state.layout import State
from phlexible.state.recording import LateReactions, Reactions, RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint, Clock, is_on_grid
from phlexible.step.integration.events import RunEvents, Watching
from phlexible.step.integration.halving import MOST_HALVINGS, PATIENCE, Pieces, step_failure
from phlexible.step.integration.recorder import OPEN, Recorder, Sink
from phlexible.step.integration.start import check_jumps
from phlexible.step.integration.step_words import StepWords
from phlexible.step.integration.stored_rows import Advance, Storage

if TYPE_CHECKING:
    from phlexible.step.integration.conserving import ConservingStepper

FIRST_LEVEL = 2  # of steps for a tolerance: four a step of the grid
MOST_LEVELS = 20
HIGH_LEVEL = 8  # from which on bodies are looked at after each block, which then has
MOST_PARTS = 2**12  # shorter steps at most, or a single one of the grid
EASY_BLOCKS = 2  # that would have done with longer steps, before these are taken
LONGER = 1 / 16  # of the tolerance: errors below it allow steps of twice the length, whose errors are 8 times these
SAME = 1e-9  # steps whose lengths differ by less are of one length
FIRST_BLOCK = 16  # steps; blocks grow while they take less than BLOCK_SECONDS
BLOCK_SECONDS = 0.2
GROWTH = 4  # of blocks at once, with a tolerance; where they take the less the more, up to
MOST_GROWTH = 64
BLOCK_BYTES = 2**25

Progress = Callable[[int, int], None]


class Simulation:
    """A run of a stepper over the instants of a clock.

    Args:
        system: what moves.
        stepper: takes the steps.
        start: state at t = 0, or the last stored instant of a run that goes on, and its checkpoint.
        clock: its instants.
        every: store each so many.
        tolerance: for the error of a step (4.22): steps of the grid are cut into 2^level equal ones; None: not.
        sink: takes recordings, block by block.
        at: a start that is a state as an instant, where the caller has it.
        is_late: reactions at both ends of the run may be found later.
        conditions: what events wait for, see ``RunEvents``.

    Attributes:
        late: what finds them, by the number of the instant: 0, or -1 for the last one.
    """

    def __init__(
        self,
        system: System,
        stepper: "ConservingStepper",
        start: State | tuple[RecordedStates, Checkpoint],
        clock: Clock,
        every: int,
        sink: Sink,
        tolerance: float | None = None,
        at: Instants | None = None,
        is_late: bool = False,
        conditions: Mapping[int, Watching] | None = None,
    ) -> None:
        self._system, self._stepper, self._clock, self._every = system, stepper, clock, every
        self._recorder = Recorder(system, stepper.work_sources, sink)
        self._events = RunEvents(system, stepper, clock, conditions)
        self._halvings = 0
        self._depth = 0  # steps are halved so often before they are tried
        self._successes = 0
        self._pieces = Pieces(stepper)
        self._progress: Progress = _silent
        self._tolerance = tolerance
        self._level = 0 if tolerance is None else FIRST_LEVEL
        self._easy = 0
        self._last_step = float("nan")
        self._block = 1 if stepper.is_controlled else FIRST_BLOCK  # steps that are taken at a time
        self._since_stored = 0
        self._continues = False
        self._failed = False  # the next step at full size
        self._is_stopped = False  # a controller or law raised an error before it
        self._words = StepWords(stepper)
        self._is_late = is_late
        self.late: dict[int, LateReactions] = {}
        self._reached: Checkpoint | None = None  # where the sink stands
        self._before_end: Checkpoint | None = None  # where the last block began that a longer run would take else
        if isinstance(start, State):
            stepper.begin(start, at)
            self._recorder.begin(clock.start, stepper.now(clock.start), None if at is None else at.given)
            self._flush(0)
        else:
            self._go_on(*start)
        self._words.begin()
        self._events.begin(clock.instant(clock.first))

    def _go_on(self, last: RecordedStates, checkpoint: Checkpoint) -> None:
        if checkpoint.layout != self._stepper.layout or len(checkpoint.numbers) != len(self._stepper.snapshot()):
            raise ResultFileError(
                "the file is of a version of phlexible that remembers other numbers from step to step: this one "
                "can read it but not go on with it; simulate again, or resume with the phlexible that wrote it"
            )
        self._stepper.restore(checkpoint.numbers)
        self._recorder.go_on(last, checkpoint.own_share, self._stepper.last_reactions)
        self._last_step = checkpoint.last_step
        self._halvings, self._since_stored = checkpoint.halvings, checkpoint.since_stored
        if is_on_grid(checkpoint, self._clock):
            self._depth, self._successes = checkpoint.depth, checkpoint.successes
            self._continues, self._failed = checkpoint.continues, checkpoint.failed
            if self._tolerance is not None:
                self._level, self._easy = checkpoint.level, checkpoint.easy
            self._block = min(checkpoint.block, self._longest_block())
            if self._failed and self._stepper.is_controlled:  # they were asked before that step
                self._stepper.control(checkpoint.time)

    def _checkpoint(self, k: int) -> Checkpoint:
        """At the start of step k."""
        return Checkpoint(
            time=self._clock.instant(k) if self.stopped is None else self.stopped,
            origin=self._clock.start,
            step=self._clock.step,
            number=k,
            since_stored=self._since_stored,
            own_share=self._recorder.own_share,
            halvings=self._halvings,
            depth=self._depth,
            successes=self._successes,
            last_step=self._last_step,
            level=self._level,
            easy=self._easy,
            block=self._block,
            continues=self._continues,
            failed=self._failed,
            layout=self._stepper.layout,
            numbers=self._stepper.snapshot(),
        )

    def _flush(self, k: int) -> None:
        """All instants up to the start of step k."""
        self._reached = self._checkpoint(k)
        self._recorder.flush(self._before_end or self._reached)

    def _end(self) -> None:
        """The last instant has one step only: its reactions come from accelerations."""
        reached = self._reached
        if reached is not None and reached.own_share == OPEN:
            self._stepper.restore(reached.numbers)
            find = self._reactions(reached.time, reached.time, is_projected=False)
            if self._is_late:
                self.late[-1] = find
            else:
                self._recorder.ended(find(), self._before_end or reached)

    def run(self, progress: Progress) -> None:
        """Take all steps.

        Raises:
            ConvergenceError: a step fails even after halving; what came before is in the sink.
            KeyboardInterrupt: as it came; what came before is in the sink.
        """
        clock, stepper = self._clock, self._stepper
        self._progress = progress
        k = clock.first
        try:
            if k == clock.count:  # a run that was killed after its last step lacks its end only
                self._flush(k)
            while k < clock.count and self.stopped is None:
                self._occur(clock.instant(k))
                if self.stopped is not None:
                    break
                if self._tolerance is not None and self._before_end is None and clock.full - k <= self._block:
                    self._before_end = self._checkpoint(k)
                if stepper.is_controlled and not self._failed:
                    stepper.control(clock.instant(k))
                progress(k, clock.count)
                steps = 0 if self._depth or self._failed else clock.regular_run(k, self._block)
                if steps := self._events.regular_run(k, steps):
                    k += self._regular(k, steps)
                else:
                    self._irregular(k)
                    k += 1
                self._flush(k)
                stepper.let_interrupt()
            if self.stopped is not None:
                self._stop(k, self.stopped)
            progress(clock.count, clock.count)
            self._end()
        except KeyboardInterrupt:
            self._end()
            raise
        except Exception as error:
            with suppress(Exception):  # the first error says more
                self._end()
            if words := self._words.of_dependent_steps:
                error.add_note(words)
            raise
        for words, category in self._words.untold():
            warn_user(words, category)

    @property
    def stopped(self) -> float | None:
        """When a condition ended the run, or None [s]."""
        return self._events.stopped

    def _stop(self, k: int, time: float) -> None:
        """The last instant, where a run ends before its time."""
        self._before_end = None
        if self._recorder.last_time != time:
            self._recorder.add(np.array([time]), self._stepper.now(time), self._halvings, is_last_open=True)
        self._flush(k)

    def _occur(self, time: float) -> None:
        """Everything that is due now; the instant, if it is stored, has been stored as it was before."""
        while due := self._events.due(time):
            if self._recorder.own_share < 1.0:
                end = time if self._recorder.own_share else np.inf
                self._recorder.settled(self._reactions(time, end, is_projected=False)())
            self._continues = False
            self._events.happen(due[0], time)

    def _longest_block(self) -> int:
        """Steps at a time; for a tolerance no matter of wall time, so that another run takes the same steps."""
        if self._tolerance is not None or self._events.watches:
            return 1 if self._stepper.is_controlled else FIRST_BLOCK
        return max(16, BLOCK_BYTES // (8 * max(self._stepper.numbers_a_step, 1)))

    def _regular(self, k: int, steps: int) -> int:
        """Steps of size h from step k on, ``steps`` or fewer: how many were taken.

        0 where they are to be taken again, shorter or fewer: too long for the tolerance, or a function fails.
        Blocks grow while they are fast.
        """
        begin, every, phase = wall.perf_counter(), self._every, self._since_stored
        if k + steps == self._clock.count and (phase + steps) % every:
            if steps > 1:
                steps -= 1  # the last instant is stored in any case, by a step of its own
            else:
                every, phase = 1, 0
        if self._tolerance is not None and not self._continues and steps < 2**FIRST_LEVEL:
            self._level = max(self._level, FIRST_LEVEL)  # the error of a step shows after some of one length
        parts = 1 << self._level
        if self._tolerance is not None:
            steps = min(steps, max(1, MOST_PARTS // parts))
        before, was = self._stepper.snapshot(), (self._last_step, self._continues)
        fine = self._clock.instants(k, steps, parts)
        storage = Storage(every * parts, phase * parts, self._continues, self._asks_in_blocks, self._events.watches)
        try:
            taken = self._advance(fine, self._clock.step / parts, storage)
        except Exception:  # of a function of time, maybe near the end of the block: what comes before is kept
            if steps == 1 or storage.asks:
                raise
            self._stepper.restore(before)
            self._last_step, self._continues = was
            return self._take_fewer()
        instants, done = fine[::parts], taken.steps // parts
        self._continues = done == steps
        if self._tolerance is not None and not self._fits(taken, done == steps, instants):
            self._stepper.restore(before)
            return self._take_fewer()
        met = self._events.first_met(fine, taken.watched) if taken.watched else None
        if met is not None:  # the steps before it again; the one in which it is met is cut there
            self._stepper.restore(before)
            self._last_step, self._continues = was
            self._failed = met < parts
            return 0 if self._failed else self._regular(k, met // parts)
        if done:
            self._recorder.next_step(taken.reactions)
            kept = np.arange(every - phase, done + 1, every)
            is_open = bool(len(kept)) and kept[-1] == done
            self._recorder.add(instants[kept], taken.rows, self._halvings, is_open)
            self._since_stored = (self._since_stored + done) % self._every
        self._failed = done < steps and not self._is_stopped
        if done == self._block:
            growth = GROWTH
            if self._tolerance is None:
                growth = int(BLOCK_SECONDS / max(wall.perf_counter() - begin, BLOCK_SECONDS / MOST_GROWTH))
            self._block = max(self._block, min(growth * self._block, self._longest_block()))
        return done

    def _take_fewer(self) -> int:
        """Shorter blocks from now on; no step was taken."""
        self._failed = False
        self._block = max(1, self._block // GROWTH)
        return 0

    def _fits(self, taken: Advance, is_done: bool, instants: Array) -> bool:
        """Whether steps converged and kept the tolerance; the level for the next ones.

        Raises:
            ConvergenceError: they do not, however short; or a body is deformed beyond all reason.
        """
        assert self._tolerance is not None, "asked for where there is one"
        if is_done and taken.error <= self._tolerance:
            self._easy = self._easy + 1 if taken.error < LONGER * self._tolerance and self._level else 0
            if self._easy == EASY_BLOCKS:
                self._level, self._easy, self._continues = self._level - 1, 0, False
            if self._level >= HIGH_LEVEL:
                self._pieces.look(instants[0])
            self._pieces.step_done(len(instants) - 1)
            return True
        if is_done:
            self._pieces.look(instants[0])
        else:
            self._pieces.add(taken, instants[0], taken.steps + 1)
        if self._level >= MOST_LEVELS:
            raise step_failure(self._stepper, instants[0], instants[1], taken)
        excess = taken.error / self._tolerance if is_done else 1.0
        higher = self._level + max(1, ceil(log2(max(excess, 1.0)) / 3))  # the error falls with the third power
        self._level = min(higher, MOST_LEVELS)
        self._easy, self._continues = 0, False
        return False

    def _irregular(self, k: int) -> None:
        """Step k in pieces: cut at breakpoints, shorter, or halved because it did not converge."""
        self._continues = False
        if self._tolerance is not None:
            self._depth = self._level
        pieces = self._clock.pieces(k)
        for number, (start, end) in enumerate(pieces):
            self._occur(start)
            self._piece(start, end, 0, is_end=number == len(pieces) - 1, k=k)
        self._failed = False
        self._pieces.step_done()
        if self._tolerance is not None:
            self._depth = 0

    def _piece(self, start: float, end: float, depth: int, is_end: bool, k: int) -> None:
        """One step from start to end, or two halves of it; stores if it ends step k on the grid.

        The size that worked is remembered: where steps are too long for long, most failures are spared.
        """
        if self.stopped is not None or (depth >= self._depth and self._tried(start, end, depth, is_end, k)):
            return
        self._halvings += 1
        middle = (start + end) / 2
        self._piece(start, middle, depth + 1, False, k)
        self._piece(middle, end, depth + 1, is_end, k)

    def _tried(self, start: float, end: float, depth: int, is_end: bool, k: int) -> bool:
        """Whether one step from start to end converged.

        Raises:
            ConvergenceError: it did not, and is as short as steps may get.
        """
        self._since_stored += is_end
        is_last = is_end and k + 1 == self._clock.count
        keep = is_end and (self._since_stored % self._every == 0 or is_last)
        before, last_step = self._stepper.snapshot(), self._last_step
        storage = Storage(1 if keep else 2, watches=self._events.watches)
        taken = self._advance(np.array([start, end]), end - start, storage)
        if (depth > self._level or not taken.steps) and self._pieces.add(taken, start):
            self._progress(k, self._clock.count)
        if taken.steps and taken.watched and (met := self._events.met_inside(end, taken.watched)):
            self._since_stored -= is_end
            time = self._events.locate(met, start, end, before, last_step)
            self._last_step = last_step
            if time > start:
                self._piece(start, time, depth, is_end and time == end, k)
            self._occur(time)
            if time < end:
                self._piece(time, end, depth, is_end, k)
            return True
        if taken.steps:
            self._recorder.next_step(taken.reactions)
            if keep:
                self._recorder.add(np.array([end]), taken.rows, self._halvings, is_last_open=True)
                self._since_stored %= self._every
            self._successes += 1
            if self._depth and self._successes == PATIENCE:
                self._depth, self._successes = self._depth - 1, 0
            return True
        self._since_stored -= is_end
        self._stepper.restore(before)
        if depth == MOST_HALVINGS:
            raise step_failure(self._stepper, start, end, taken)
        self._depth, self._successes = depth + 1, 0
        return False

    @property
    def _asks_in_blocks(self) -> bool:
        """Whether controllers are asked in a block of steps; with a tolerance steps may have to be taken again."""
        return self._stepper.is_controlled and self._tolerance is None

    def _advance(self, instants: Array, step: float, storage: Storage) -> Advance:
        """Steps between the instants, each of size ``step``."""
        self._stepper.let_interrupt()
        check_jumps(self._system, instants)
        if not abs(step - self._last_step) <= SAME * step:
            self._change_step(float(instants[0]))
        self._last_step = step
        taken = self._stepper.advance(instants, step, storage)
        self._is_stopped = taken.is_stopped
        self._words.look(float(instants[-1]))
        return taken

    def _change_step(self, time: float) -> None:
        """At the first instant, and where steps get another length."""
        is_first = np.isnan(self._last_step)
        if not is_first:
            self._stepper.project(time)
        if self._recorder.own_share == 1.0 or (0 in self.late and self._recorder.own_share == 0.0):
            return
        find = self._reactions(time, np.inf)
        if is_first and self._is_late:
            self.late[0] = find
        else:
            self._recorder.settled(find())

    def _reactions(self, time: float, end: float, is_projected: bool = True) -> LateReactions:
        """From accelerations; None where users' functions cannot be asked there."""
        find: LateReactions = _none
        with suppress(ValueError):
            find = self._stepper.reactions(time, end, is_projected)
        return find


def _silent(done: int, count: int) -> None:
    """Nobody is told."""


def _none() -> Reactions | None:
    """No reactions are known."""
    return None
