"""The conserving run: blocks of compiled steps, halving, breakpoints, interruption."""

import sys
import time as wall
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ConvergenceError, RedundancyWarning
from phlexible.interactions.time_paths import refuse_jump
from phlexible.kernels import tables as at
from phlexible.kernels.compiled import is_compiled
from phlexible.kernels.loop import advance
from phlexible.kernels.newton import SINGULAR
from phlexible.system.assembly import Assembly
from phlexible.system.constraints import mechanism_layout
from phlexible.system.element_forces import element_coordinates
from phlexible.system.state import State
from phlexible.time_integration.clock import Clock
from phlexible.time_integration.collector import Collector, Sink
from phlexible.time_integration.composition import substep_times
from phlexible.time_integration.measurement import Measurement
from phlexible.time_integration.packing import pack
from phlexible.time_integration.pressed_strings import most_pressed
from phlexible.time_integration.stored_rows import StoredRows, stored_rows

MOST_HALVINGS = 12  # of one step, one inside the other
FIRST_BLOCK = 16  # steps; blocks grow while they take less than BLOCK_SECONDS
BLOCK_SECONDS = 0.2
BLOCK_BYTES = 2**25

COMPILING = "phlexible: compiling the time step, about half a minute; done once, later runs start at once"

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RunOptions:
    """How a run is done.

    Attributes:
        every: store each every-th step.
        numerical_damping: gamma of formulation 3.
        substeps: sizes of the parts of a step, as shares that add up to 1.
        is_redundant: joints hold a motion twice; their forces of least size are taken.
    """

    every: int = 1
    numerical_damping: float = 0.0
    substeps: tuple[float, ...] = (1.0,)
    is_redundant: bool = False


@dataclass(frozen=True, eq=False)
class Ledger:
    """Sums that a resumed run goes on with.

    Attributes:
        work: of each source of the collector's ``work_names``, shape (sources,) [J].
        dissipated: [J].
        iterations, halvings: counted so far.
        coordinates: of force elements, angles over full turns, shape (forces,).
    """

    work: Array
    dissipated: float
    iterations: int
    halvings: int
    coordinates: Array


class ConservingRun:
    """A run of the conserving step (formulation, section 4).

    Args:
        assembly: what moves.
        state: where it starts.
        clock: its instants.
        options: how it is done.
        sink: takes recordings, block by block.
        ledger: of the run that this one resumes; None: it starts.
    """

    def __init__(
        self,
        assembly: Assembly,
        state: State,
        clock: Clock,
        options: RunOptions,
        sink: Sink,
        ledger: Ledger | None = None,
    ) -> None:
        self._assembly = assembly
        self._clock = clock
        self._options = options
        self._system = pack(assembly)
        begun = ledger.coordinates if ledger is not None else _coordinates(assembly, state)
        self._system.begin_at(state, begun)
        self._measurement = Measurement(assembly, self._system)
        self._held = np.zeros(0)  # values of the controllers during a step
        self._collector = Collector(assembly, sink)
        self._first_multiplier = np.zeros(len(assembly.couplings.constant))
        self._halvings = 0
        self._since_stored = 0
        self._continues = False
        self._singular_time: float | None = None
        self._is_resumed = ledger is not None
        if ledger is not None:
            self._take_up(ledger)

    def run(self, progress: Progress) -> bool:
        """Take all steps; True, or False after an interruption from the keyboard.

        Raises:
            ConvergenceError: a step fails even after halving; what came before is in the sink.
        """
        clock = self._clock
        k = 0
        if not is_compiled(advance):
            print(COMPILING, file=sys.stderr, flush=True)
        try:
            if not self._is_resumed:
                self._store_first()
            size = 1 if self._measurement.is_needed else FIRST_BLOCK
            while k < clock.count:
                if self._measurement.is_needed:
                    self._control(clock.instant(k))
                progress(k, clock.count)
                begin = wall.perf_counter()
                steps = clock.regular_run(k, size)
                if k + steps == clock.count and (self._since_stored + steps) % self._options.every:
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
            self._collector.finish()
            self._warn_of_singular_steps()
        return True

    def _warn_of_singular_steps(self) -> None:
        """Joints that were independent at the start may pass a position where they are not."""
        if self._singular_time is not None:
            steps = int(self._system.ints[self._system.ints[at.STATE_COUNTER] + 1])
            warnings.warn(
                "the joints passed singular positions, the first one before "
                f"t = {self._singular_time:.9g} s: in {steps} steps their forces are not unique, and small "
                "ones are taken; the motion may branch there",
                RedundancyWarning,
                stacklevel=5,
            )

    def _longest_block(self) -> int:
        if self._measurement.is_needed:
            return 1
        numbers = self._system.stored_width + 3 * len(self._assembly.moving)
        return max(16, BLOCK_BYTES // (8 * numbers))

    def _take_up(self, ledger: Ledger) -> None:
        system = self._system
        work = system.table(at.STATE_WORK, len(self._assembly.load_entries) + self._assembly.links)
        for columns, value in zip(self._collector.sources.values(), ledger.work, strict=True):
            work[columns[0]] = value
        system.table(at.STATE_DISSIPATED, 1)[0] = ledger.dissipated
        system.ints[system.ints[at.STATE_COUNTER]] = ledger.iterations
        self._halvings = ledger.halvings

    def _store_first(self) -> None:
        stored = stored_rows(self._assembly, self._system, 1)
        self._advance(np.array([self._clock.start]), stored, 1, 0)
        self._collector.begin(self._clock.start, stored, self._halvings)

    def _regular(self, k: int, steps: int) -> int:
        """Up to ``steps`` steps of size h from step k on; how many were taken."""
        every, phase = self._options.every, self._since_stored
        instants = self._clock.instants(k, steps)
        stored = stored_rows(self._assembly, self._system, (phase + steps) // every)
        done, _ = self._advance(instants, stored, every, phase)
        self._continues = done == steps
        if done:
            self._collector.next_step(self._first_multiplier)
            kept = [j + 1 for j in range(done) if (phase + j + 1) % every == 0]
            is_open = bool(kept) and kept[-1] == done
            self._collector.add(instants[kept], stored, self._halvings, is_open)
            self._since_stored = (phase + done) % every
        return done

    def _irregular(self, k: int) -> None:
        """Step k in pieces: cut at breakpoints, shorter, or halved because it did not converge."""
        self._continues = False
        pieces = self._clock.pieces(k)
        for number, (start, end) in enumerate(pieces):
            self._piece(start, end, 0, is_end=number == len(pieces) - 1, k=k)

    def _piece(self, start: float, end: float, depth: int, is_end: bool, k: int) -> None:
        """One step from start to end, or two halves of it; stores if it ends step k on the grid."""
        self._since_stored += is_end
        is_last = is_end and k + 1 == self._clock.count
        keep = is_end and (self._since_stored % self._options.every == 0 or is_last)
        stored = stored_rows(self._assembly, self._system, 1)
        before = self._system.snapshot()
        done, status = self._advance(np.array([start, end]), stored, 1 if keep else 2, 0)
        if done:
            self._collector.next_step(self._first_multiplier)
            if keep:
                self._collector.add(np.array([end]), stored, self._halvings, is_last_open=True)
                self._since_stored = 0
            return
        self._since_stored -= is_end
        self._system.restore(before)
        if depth == MOST_HALVINGS:
            raise self._failure(start, end, status)
        self._halvings += 1
        middle = (start + end) / 2
        self._piece(start, middle, depth + 1, False, k)
        self._piece(middle, end, depth + 1, is_end, k)

    def _advance(self, instants: Array, stored: StoredRows, every: int, phase: int) -> tuple[int, int]:
        """Steps between the instants, of the size of the first; of a single instant only the row."""
        h = float(instants[1] - instants[0]) if len(instants) == 2 else self._clock.step
        count = len(instants) - 1
        if count:
            self._check_drives(float(instants[0]), float(instants[-1]), count)
        ends, middles = substep_times(instants, h, self._options.substeps)
        done, status = advance(
            self._system.ints,
            self._system.reals,
            h * np.array(self._options.substeps),
            self._options.numerical_damping,
            count,
            every,
            phase,
            self._assembly.moving_values(ends),
            self._load_values(middles),
            1e-6 * self._assembly.length_scale() / h,
            self._options.is_redundant,
            self._first_multiplier,
            stored.rows,
            self._continues,
            count == 0,
        )
        relaxed = self._system.ints[self._system.ints[at.STATE_COUNTER] + 1]
        if relaxed and not self._options.is_redundant and self._singular_time is None:
            self._singular_time = float(instants[-1])
        return int(done), int(status)

    def _control(self, time: float) -> None:
        """Asks the controllers for the values that they hold during the step that starts now."""
        self._held = np.zeros(0)
        self._advance(np.array([time]), stored_rows(self._assembly, self._system, 1), 1, 0)
        values = self._assembly.load_values(np.array([time]))
        self._held = self._measurement.values(time, values.shape[1])

    def _load_values(self, times: Array) -> Array:
        values = self._assembly.load_values(times)
        return values + self._held if self._held.size else values

    def _check_drives(self, begin: float, end: float, count: int) -> None:
        """Refuses paths of drives that jump, before they are used."""
        times = np.linspace(begin, end, count + 1)
        for drive in self._assembly.mechanism.drives:
            is_angle = drive.coordinate.endswith("angle")
            smallest = 1e-6 if is_angle else 1e-6 * self._assembly.length_scale()
            refuse_jump(drive.path, times, smallest)

    def _failure(self, start: float, end: float, status: int) -> ConvergenceError:
        history = self._system.history()
        why = (
            "Newton's matrix is singular (a joint at a dead point, or redundant joints)"
            if status == SINGULAR
            else f"the scaled Newton update was still {history[-1]:.2g} after {len(history)} iterations"
        )
        return ConvergenceError(
            f"the step from t = {start:.9g} s failed after {MOST_HALVINGS} halvings"
            f" (size {end - start:.3g} s): {why};"
            " take a smaller step, check loads and drives there, or add viscosity"
            + most_pressed(self._assembly, self._system),
            start,
            history,
        )


def _coordinates(assembly: Assembly, state: State) -> Array:
    mechanism = assembly.mechanism
    return element_coordinates(mechanism, mechanism_layout(mechanism), state)
