"""Simulation as a recorded run with blocks of steps, tolerance, breakpoints, events, interruption (docs/theory.md,
4)."""

import time as wall
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import NEEDS_WHOLE_RUNS, Array
from phlexible.errors import PhlexibleError, ResultFileError, warn_user
from phlexible.state.instants import Instants, PrescribedFunctions
from phlexible.state.layout import State
from phlexible.state.recorded_run import LateReactions, Reactions, RecordedStates
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint, Clock, is_on_grid
from phlexible.step.integration.events import RunEvents, Watching
from phlexible.step.integration.recorder import OPEN, Recorder, Sink
from phlexible.step.integration.run import Run, StepSizes
from phlexible.step.integration.start import JumpChecks
from phlexible.step.integration.step_calls import Calls
from phlexible.step.integration.step_failures import step_failure
from phlexible.step.integration.stored_rows import Advance, Storage

if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper

FIRST_LEVEL = 2  # of steps for a tolerance: four a step of the grid
MOST_LEVELS = 20
HIGH_LEVEL = 8  # from which on bodies are looked at after each chunk, which then has
MOST_PARTS = 2**12  # shorter steps at most, or a single one of the grid
EASY_CHUNKS = 2  # that would have done with longer steps, before these are taken
LONGER = 1 / 16  # of the tolerance: errors below it allow steps of twice the length, whose errors are 8 times these
FIRST_CHUNK, FIRST_VALUES = 16, 2**20  # steps; numbers where no part of a run is kept. Chunks grow while they take
CHUNK_SECONDS = 0.2  # less than that,
GROWTH = 4  # times at once, with a tolerance; where they take the less the more, up to
MOST_GROWTH = 64
CHUNK_BYTES = 2**25

Progress = Callable[[int, int], None]


class Simulation:
    """A run over the instants of a clock, whose recorded states are sent to a sink.

    Args:
        system: what moves.
        stepper: computes the steps.
        start: state at t = 0, or the last stored instant of a run that continues, and its checkpoint.
        clock: instants of the run.
        every: store every n-th step.
        tolerance: for the error of a step (4.22): steps of the grid are cut into 2^level equal ones; None: not.
        sink: receives recorded states, block by block.
        at: a start that is a state as an instant, if the caller has it.
        is_late: reactions at both ends of the run may be computed later.
        is_read_at_once: functions of users may be called later than in the run: it is read right after its end, or
            their values are fixed.
        conditions: of events, see ``RunEvents``.

    Attributes:
        late: functions that compute these reactions, by the number of the instant: 0, or -1 for the last one.
    """

    def __init__(
        self,
        system: System,
        stepper: "Stepper",
        start: State | tuple[RecordedStates, Checkpoint],
        clock: Clock,
        every: int,
        sink: Sink,
        tolerance: float | None = None,
        at: Instants | None = None,
        is_late: bool = False,
        is_read_at_once: bool = False,
        conditions: Mapping[int, Watching] | None = None,
    ) -> None:
        self._system, self._stepper, self._clock, self._every = system, stepper, clock, every
        self._recorder = Recorder(system, stepper.work_sources, sink)
        self._events = RunEvents(system, stepper, clock, conditions)
        self._run = Run(stepper, on_change=self._set_reactions, check=JumpChecks(system).check)
        self._progress: Progress = lambda done, count: None
        self._tolerance = tolerance
        self._level, self._easy = 0 if tolerance is None else FIRST_LEVEL, 0
        many = FIRST_VALUES // max(stepper.values_per_step, 1) if NEEDS_WHOLE_RUNS.get() else 0
        self._chunk = 1 if stepper.is_controlled else min(max(FIRST_CHUNK, many), self._longest_chunk())
        self._since_stored, self._failed = 0, False  # the next step at full size
        self._is_late, self._is_read_at_once = is_late, is_read_at_once
        self.late: dict[int, LateReactions] = {}
        self._reached: Checkpoint | None = None  # where the sink stands
        self._before_end: Checkpoint | None = None  # where the last block began that a longer run would take else
        if isinstance(start, State):
            stepper.begin(start, at)
            self._recorder.begin(clock.start, stepper.now(clock.start), None if at is None else at.prescribed)
            self._flush(0)
        else:
            self._go_on(*start)
        self._run.step_warnings.begin()
        self._events.begin(clock.instant(clock.first))

    def _go_on(self, last: RecordedStates, checkpoint: Checkpoint) -> None:
        if checkpoint.layout != self._stepper.layout or len(checkpoint.values) != len(self._stepper.snapshot()):
            raise ResultFileError(
                "the file was written by a version of phlexible whose state has other numbers: this one can "
                "read it but not continue it; simulate again, or resume with the phlexible that wrote it"
            )
        self._stepper.restore(checkpoint.values)
        self._recorder.resume_from(last, checkpoint.last_weight, self._stepper.last_reactions)
        run, sizes = self._run, StepSizes(last=checkpoint.last_step)
        run.halvings, self._since_stored = checkpoint.halvings, checkpoint.since_stored
        if is_on_grid(checkpoint, self._clock):
            sizes = StepSizes(checkpoint.depth, checkpoint.successes, checkpoint.last_step, checkpoint.continues)
            self._failed = checkpoint.failed
            if self._tolerance is not None:
                self._level, self._easy = checkpoint.level, checkpoint.easy
            self._chunk = min(checkpoint.chunk_length, self._longest_chunk())
            if self._failed and self._stepper.is_controlled:  # they were asked before that step
                self._stepper.control(checkpoint.time)
        run.sizes = sizes

    def _checkpoint(self, k: int) -> Checkpoint:
        """Return the checkpoint, a copy of the state and of the step size control, from which the run can be
        resumed at time step k. If a stop condition ended the run, its time is the time of the stop, otherwise that
        of the start of the step."""
        sizes = self._run.sizes
        return Checkpoint(
            time=self._clock.instant(k) if self.stopped is None else self.stopped,
            origin=self._clock.start,
            step=self._clock.step,
            number=k,
            since_stored=self._since_stored,
            last_weight=self._recorder.last_weight,
            halvings=self._run.halvings,
            depth=sizes.depth,
            successes=sizes.successes,
            last_step=sizes.last,
            level=self._level,
            easy=self._easy,
            chunk_length=self._chunk,
            continues=sizes.continues,
            failed=self._failed,
            layout=self._stepper.layout,
            values=self._stepper.snapshot(),
        )

    def _flush(self, k: int) -> None:
        """Send all recorded instants up to the start of time step k to the sink of the run (memory or results
        file). They come with a checkpoint from which the run can be resumed. The checkpoint at time step k is
        stored in ``self._reached`` and sent; near the end of a run with a tolerance an earlier one is sent."""
        self._reached = self._checkpoint(k)
        self._recorder.flush(self._before_end or self._reached)

    def _end(self) -> None:
        """Compute multipliers and forces of the last instant of the run from its accelerations, since there is no
        later time step for a mean. They replace the values in the recorder. If results are computed only when
        read, a function is stored in ``self.late`` instead. Nothing happens if they are final already."""
        reached = self._reached
        if reached is not None and reached.last_weight == OPEN:
            self._stepper.restore(reached.values)
            if self._is_late:
                self.late[-1] = self._late_reactions(reached.time, reached.time, is_projected=False)
            else:
                find = _reactions(self._stepper, reached.time, reached.time, is_projected=False)
                self._recorder.finish(find(), self._before_end or reached)

    def run(self, progress: Progress) -> Calls[None]:
        """Compute all time steps of the simulation, apply events, and send recorded states to the sink (memory or
        results file). It is a generator that yields the calls of the compiled time step loop, which its caller
        makes. ``progress`` is called with the number of the time step and the total number. Warnings are issued at
        the end.

        Raises:
            ConvergenceError: a step fails even after halving; the instants before are in the sink.
            KeyboardInterrupt: as it came; the instants before are in the sink.
        """
        clock, stepper = self._clock, self._stepper
        self._progress = progress
        k = clock.first
        try:
            if k == clock.count:  # a run that was killed after its last step lacks its end only
                self._flush(k)
            while k < clock.count and self.stopped is None:
                self._apply_events(clock.instant(k))
                if self.stopped is not None:
                    break
                if self._tolerance is not None and self._before_end is None and clock.full - k <= self._chunk:
                    self._before_end = self._checkpoint(k)
                if stepper.is_controlled and not self._failed:
                    stepper.control(clock.instant(k))
                progress(k, clock.count)
                steps = 0 if self._run.sizes.depth or self._failed else clock.regular_run(k, self._chunk)
                if steps := self._events.regular_run(k, steps):
                    k += yield from self._take_regular_steps(k, steps)
                else:
                    self._take_irregular_step(k)
                    k += 1
                self._flush(k)
                stepper.raise_deferred()
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
            if words := self._run.step_warnings.of_dependent_steps:
                error.add_note(words)
            raise
        finally:
            self._recorder.release()
            self._run.on_change = None
        for words, category in self._run.step_warnings.unreported():
            warn_user(words, category)

    @property
    def stopped(self) -> float | None:
        """Time at which a stop condition ended the run [s], or None."""
        return self._events.stopped

    def _stop(self, k: int, time: float) -> None:
        """Record the state at ``time`` [s] as last instant of the run, unless it is recorded already. A stop
        condition ended the run there, within time step ``k``. Then send all recorded instants that were not sent
        yet to the sink of the run (memory or results file)."""
        self._before_end = None
        if self._recorder.last_time != time:
            self._recorder.add(np.array([time]), self._stepper.now(time), self._run.halvings, is_last_open=True)
        self._flush(k)

    def _apply_events(self, time: float) -> None:
        """Apply all events that are due at a time [s], in order, until none is due. If multipliers and forces of
        the last recorded instant are not final, they are computed first, so that this instant shows the state
        before the events. The next time step does not extrapolate velocities from earlier steps."""
        while due := self._events.due(time):
            if self._recorder.last_weight < 1.0:
                end = time if self._recorder.last_weight else np.inf
                self._recorder.set_final_reactions(_reactions(self._stepper, time, end, is_projected=False)())
            self._end_continuity()
            self._events.apply(due[0], time)

    def _longest_chunk(self) -> int:
        """Return the largest number of time steps that the run computes in one call of the compiled loop. With a
        tolerance or watched events it is a fixed number, 1 with controllers, so that runs repeat. Otherwise as
        many steps as fit into a fixed amount of memory, at least 16."""
        if self._tolerance is not None or self._events.watches:
            return 1 if self._stepper.is_controlled else FIRST_CHUNK
        return max(16, CHUNK_BYTES // (8 * max(self._stepper.values_per_step, 1)))

    def _take_regular_steps(self, k: int, steps: int) -> Calls[int]:
        """Compute up to ``steps`` equal time steps of the grid from time step k on, record them, and return their
        number. If an event occurs inside, only the steps before it are computed. The number is 0 if the error
        exceeds the tolerance, an event occurs in the first step, or the first step fails; the caller then repeats
        the steps, shorter or fewer. It is a generator, which yields calls of the compiled loop that its caller
        makes.

        Chunks grow while they are fast.
        """
        begin, every, phase, run = wall.perf_counter(), self._every, self._since_stored, self._run
        if k + steps == self._clock.count and (phase + steps) % every:
            if steps > 1:
                steps -= 1  # the last instant is stored in any case, by a step of its own
            else:
                every, phase = 1, 0
        if self._tolerance is not None and not run.sizes.continues and steps < 2**FIRST_LEVEL:
            self._level = max(self._level, FIRST_LEVEL)  # the error of a step shows after some of one length
        parts = 1 << self._level
        if self._tolerance is not None:
            steps = min(steps, max(1, MOST_PARTS // parts))
        before, asks = run.snapshot(), self._stepper.is_controlled and self._tolerance is None
        fine, size = self._clock.instants(k, steps, parts), self._clock.step / parts
        fine.flags.writeable = False  # functions of time are called once for checks, steps and recording
        try:
            storage = Storage(every * parts, phase * parts, run.sizes.continues, asks, self._events.watches)
            taken = yield from run.steps(fine, size, storage)
        except PhlexibleError:  # of a function of time, maybe near the end of the block: what comes before is kept
            if steps == 1 or asks:
                raise
            run.restore(before)
            return self._take_fewer()
        instants, done = fine[::parts], taken.steps // parts
        if self._tolerance is not None and not self._is_accurate(taken, done == steps, instants):
            self._stepper.restore(before.values)
            return self._take_fewer()
        met = self._events.first_satisfied(fine, taken.watched) if taken.watched else None
        if met is not None:  # the steps before it again; the one in which it is met is cut there
            run.restore(before)
            self._failed = met < parts
            return 0 if self._failed else (yield from self._take_regular_steps(k, met // parts))
        if done:
            self._recorder.average_with_next_step(taken.reactions)
            kept = np.arange(every - phase, done + 1, every)
            is_open = bool(len(kept)) and kept[-1] == done
            moving = PrescribedFunctions(self._system.moving_frames, self._system.paths, fine)
            given = moving.at(kept * parts) if moving.frames.size + moving.paths.size else None
            self._recorder.add(instants[kept], taken.rows, run.halvings, is_open, given)
            self._since_stored = (self._since_stored + done) % self._every
        self._failed = done < steps and not taken.is_stopped
        if done == self._chunk:
            seconds = max(wall.perf_counter() - begin, CHUNK_SECONDS / MOST_GROWTH)
            growth = int(CHUNK_SECONDS / seconds) if self._tolerance is None else GROWTH
            self._chunk = max(self._chunk, min(growth * self._chunk, self._longest_chunk()))
        return done

    def _end_continuity(self) -> None:
        """Record that the next time step does not continue the last one smoothly, so that its initial guess
        does not extrapolate."""
        self._run.sizes = self._run.sizes._replace(continues=False)

    def _take_fewer(self) -> int:
        """Divide the number of time steps that the run computes in one call by a fixed factor, to one at least.
        Return 0, as no time step was computed."""
        self._failed = False
        self._chunk = max(1, self._chunk // GROWTH)
        return 0

    def _is_accurate(self, taken: Advance, is_done: bool, instants: Array) -> bool:
        """Return whether all time steps between ``instants`` [s] converged (``is_done``) and their estimated error,
        in ``taken``, is within the tolerance. If not, the level of halving for the next attempt is raised as much
        as the error requires; after several small errors it is lowered. After too many halvings the error of the
        failed step is raised.

        Raises:
            ConvergenceError: they do not converge, however short; or a body is deformed beyond all reason.
        """
        assert self._tolerance is not None, "asked for where there is one"
        if is_done and taken.error <= self._tolerance:
            self._easy = self._easy + 1 if taken.error < LONGER * self._tolerance and self._level else 0
            if self._easy == EASY_CHUNKS:
                self._level, self._easy = self._level - 1, 0
                self._end_continuity()
            if self._level >= HIGH_LEVEL:
                self._run.count.look(instants[0])
            self._run.count.step_done(len(instants) - 1)
            return True
        if is_done:
            self._run.count.look(instants[0])
        else:
            self._run.count.add(taken, instants[0], taken.steps + 1)
        if self._level >= MOST_LEVELS:
            raise step_failure(self._stepper, instants[0], instants[1], taken)
        excess = taken.error / self._tolerance if is_done else 1.0
        higher = self._level + max(1, ceil(log2(max(excess, 1.0)) / 3))  # the error falls with the third power
        self._level = min(higher, MOST_LEVELS)
        self._easy = 0
        self._end_continuity()
        return False

    def _take_irregular_step(self, k: int) -> None:
        """Compute time step k of the run in pieces: it is shorter, is cut at breakpoints (jumps of loads) or
        failed at full size. At the start of each interval between breakpoints, events are applied; if one stops
        the run, the rest is left out. Within intervals, steps are halved if needed and end at events."""
        run, spans = self._run, self._clock.intervals(k)
        if self._tolerance is not None:
            run.sizes = run.sizes._replace(depth=self._level)
        for start, end in spans:
            self._apply_events(start)
            if self.stopped is not None:
                break
            self._take_between_events(start, end, k, (start, end) == spans[-1])
        self._failed = False
        run.count.step_done()
        if self._tolerance is not None:
            run.sizes = run.sizes._replace(depth=0)

    def _take_between_events(self, start: float, end: float, k: int, is_end: bool) -> None:
        """Compute time steps from ``start`` to ``end`` [s] within time step k of the run; a step ends where the
        condition of an event becomes satisfied. Time step k may consist of several such intervals; ``is_end``:
        this is the last one."""
        run, is_last_step = self._run, k + 1 == self._clock.count
        keeps = is_end and ((self._since_stored + 1) % self._every == 0 or is_last_step)
        cut, storage = np.nan, Storage(1 if keeps else 2, watches=self._events.watches)
        for piece in run.halved(start, end, storage, self._level):
            taken = piece.taken
            self._progress(k, self._clock.count)
            if taken.watched and (met := self._events.satisfied_inside(piece.end, taken.watched)):
                values, sizes = piece.before
                cut = self._events.locate(met, piece.start, piece.end, values, sizes.last)
                run.repeat(piece, cut)
                if cut == piece.start:
                    self._apply_events(cut)
            else:
                self._recorder.average_with_next_step(taken.reactions)
                if keeps and piece.is_last:
                    self._recorder.add(np.array([piece.end]), taken.rows, run.halvings, is_last_open=True)
                if is_end and piece.is_last:
                    self._since_stored = (self._since_stored + 1) % self._every
                if piece.end == cut:
                    self._apply_events(cut)
            if self.stopped is not None:
                return

    def _set_reactions(self, time: float, is_first: bool) -> None:
        """Store the final multipliers and forces of the instant ``time`` [s] in the recorder, where the run starts
        (``is_first``) or its step size changes. If the results of the start are computed only when they are read, a
        function that computes them is stored in ``self.late`` instead. Nothing is done if the recorder has the
        final values, or if that function is stored already for the start."""
        if self._recorder.last_weight == 1.0 or (0 in self.late and self._recorder.last_weight == 0.0):
            return
        if is_first and self._is_late:
            self.late[0] = self._late_reactions(time, np.inf)
        else:
            self._recorder.set_final_reactions(_reactions(self._stepper, time, np.inf)())

    def _late_reactions(self, time: float, end: float, is_projected: bool = True) -> LateReactions:
        """Return a function without arguments that computes constraint multipliers and element forces at a time
        [s]. If results are read only at the end of the run, a copy of the present state is stored now; the
        function restores it and evaluates everything when called. Otherwise user functions of time are evaluated
        now. Functions of time are called up to ``end`` [s]; ``is_projected`` says that velocities satisfy the
        joints."""
        if not self._is_read_at_once:
            return _reactions(self._stepper, time, end, is_projected)
        stepper, values = self._stepper, self._stepper.snapshot()

        def find() -> Reactions | None:  # without this simulation, which holds it: both are freed after the run
            stepper.restore(values)
            return _reactions(stepper, time, end, is_projected)()

        return find


def _reactions(stepper: "Stepper", time: float, end: float, is_projected: bool = True) -> LateReactions:
    """Return a function without arguments that computes multipliers and forces of a ``stepper`` at a time [s] from
    the accelerations there. It returns None where functions of the user cannot be evaluated. Unless
    ``is_projected``, velocities are projected first so that they satisfy the joints. Functions of time are
    called up to ``end`` [s]."""
    with suppress(ValueError):
        return stepper.reactions(time, end, is_projected)
    return lambda: None
