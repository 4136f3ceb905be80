"""A run: blocks of steps, halving, breakpoints, controllers, interruption."""

import time as wall
import warnings
from collections.abc import Callable

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ConvergenceError, RedundancyWarning
from phlexible.interactions.time_paths import refuse_jump
from phlexible.system.layout import State
from phlexible.system.system import System
from phlexible.time_integration.clock import Clock
from phlexible.time_integration.recorder import Recorder, Sink
from phlexible.time_integration.stepper import Advance, Ledger, Stepper, Storage

MOST_HALVINGS = 12  # of one step, one inside the other
PATIENCE = 4  # pieces of one size that must succeed before pieces of twice the size are tried again
FIRST_BLOCK = 16  # steps; blocks grow while they take less than BLOCK_SECONDS
BLOCK_SECONDS = 0.2
BLOCK_BYTES = 2**25

Progress = Callable[[int, int], None]


class Simulation:
    """A run of a stepper over the instants of a clock.

    Args:
        system: what moves.
        stepper: takes the steps.
        state: where it starts.
        clock: its instants.
        every: store each so many.
        sink: takes recordings, block by block.
        ledger: of the run that this one resumes; None: it starts.
    """

    def __init__(
        self,
        system: System,
        stepper: Stepper,
        state: State,
        clock: Clock,
        every: int,
        sink: Sink,
        ledger: Ledger | None = None,
    ) -> None:
        self._system, self._stepper, self._clock, self._every = system, stepper, clock, every
        stepper.begin(state, ledger)
        self._recorder = Recorder(system, stepper.work_sources, sink)
        self._halvings = ledger.halvings if ledger is not None else 0
        self._depth = 0  # steps are halved so often before they are tried
        self._successes = 0
        self._since_stored = 0
        self._continues = False
        self._dependent_time: float | None = None
        self._is_resumed = ledger is not None

    def run(self, progress: Progress) -> bool:
        """Take all steps; True, or False after an interruption from the keyboard.

        Raises:
            ConvergenceError: a step fails even after halving; what came before is in the sink.
        """
        clock, stepper = self._clock, self._stepper
        k = 0
        try:
            if not self._is_resumed:
                self._recorder.begin(clock.start, stepper.now(clock.start), self._halvings)
            size = 1 if stepper.is_controlled else FIRST_BLOCK
            while k < clock.count:
                if stepper.is_controlled:
                    stepper.control(clock.instant(k))
                progress(k, clock.count)
                begin = wall.perf_counter()
                steps = clock.regular_run(k, size) if self._depth == 0 else 0
                if k + steps == clock.count and (self._since_stored + steps) % self._every:
                    steps -= 1  # the last instant is stored in any case
                done = self._regular(k, steps) if steps else 0
                k += done
                if done < steps or not steps:
                    self._irregular(k)
                    k += 1
                elif steps == size and wall.perf_counter() - begin < BLOCK_SECONDS / 2:
                    size = min(2 * size, self._longest_block())
            progress(clock.count, clock.count)
        except KeyboardInterrupt:
            return False
        finally:
            self._recorder.finish()
            self._warn_of_dependent_steps()
        return True

    def _warn_of_dependent_steps(self) -> None:
        """Joints that were independent at the start may pass a position where they are not."""
        if self._dependent_time is not None:
            warnings.warn(
                "the joints passed singular positions, the first one before "
                f"t = {self._dependent_time:.9g} s: in {self._stepper.dependent_steps} steps their forces are "
                "not unique, and small ones are taken; the motion may branch there",
                RedundancyWarning,
                stacklevel=5,
            )

    def _longest_block(self) -> int:
        if self._stepper.is_controlled:
            return 1
        return max(16, BLOCK_BYTES // (8 * max(self._stepper.numbers_a_step, 1)))

    def _regular(self, k: int, steps: int) -> int:
        """Up to ``steps`` steps of size h from step k on; how many were taken."""
        every, phase = self._every, self._since_stored
        instants = self._clock.instants(k, steps)
        taken = self._advance(instants, self._clock.step, Storage(every, phase, self._continues))
        done = taken.steps
        self._continues = done == steps
        if done:
            self._recorder.next_step(taken.reactions)
            kept = [j + 1 for j in range(done) if (phase + j + 1) % every == 0]
            is_open = bool(kept) and kept[-1] == done
            self._recorder.add(instants[kept], taken.rows, self._halvings, is_open)
            self._since_stored = (phase + done) % every
        return done

    def _irregular(self, k: int) -> None:
        """Step k in pieces: cut at breakpoints, shorter, or halved because it did not converge."""
        self._continues = False
        pieces = self._clock.pieces(k)
        for number, (start, end) in enumerate(pieces):
            self._piece(start, end, 0, is_end=number == len(pieces) - 1, k=k)

    def _piece(self, start: float, end: float, depth: int, is_end: bool, k: int) -> None:
        """One step from start to end, or two halves of it; stores if it ends step k on the grid.

        The size that worked is remembered: where steps are too long for long, most failures are spared.
        """
        if depth >= self._depth and self._tried(start, end, depth, is_end, k):
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
        before = self._stepper.snapshot()
        taken = self._advance(np.array([start, end]), end - start, Storage(1 if keep else 2))
        if taken.steps:
            self._recorder.next_step(taken.reactions)
            if keep:
                self._recorder.add(np.array([end]), taken.rows, self._halvings, is_last_open=True)
                self._since_stored = 0
            self._successes += 1
            if self._depth and self._successes == PATIENCE:
                self._depth, self._successes = self._depth - 1, 0
            return True
        self._since_stored -= is_end
        self._stepper.restore(before)
        if depth == MOST_HALVINGS:
            raise self._failure(start, end, taken)
        self._depth, self._successes = depth + 1, 0
        return False

    def _advance(self, instants: Array, step: float, storage: Storage) -> Advance:
        """Steps between the instants, each of size ``step``."""
        self._check_drives(instants)
        before = self._stepper.dependent_steps
        taken = self._stepper.advance(instants, step, storage)
        if self._stepper.dependent_steps > before and self._dependent_time is None:
            self._dependent_time = float(instants[-1])
        return taken

    def _check_drives(self, instants: Array) -> None:
        """Refuses paths of drives that jump, before they are used."""
        for drive in self._system.mechanism.drives:
            is_angle = drive.coordinate.endswith("angle")
            refuse_jump(drive.path, instants, 1e-6 if is_angle else 1e-6 * self._system.reach)

    def _failure(self, start: float, end: float, taken: Advance) -> ConvergenceError:
        why, history = self._stepper.failure()
        if taken.is_singular:
            why = "Newton's matrix is singular (a joint at a dead point, or redundant joints)"
        return ConvergenceError(
            f"the step from t = {start:.9g} s failed after {MOST_HALVINGS} halvings"
            f" (size {end - start:.3g} s): {why};"
            " take a smaller step, check loads and drives there, or add viscosity",
            start,
            history,
        )
