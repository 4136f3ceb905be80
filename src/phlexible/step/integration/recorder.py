"""Recorder of a run, which gathers stored instants of a stepper into recordings, block by block."""

from collections.abc import Callable, Mapping

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.state.instants import OF_TIME, PrescribedFunctions, PrescribedMotions, RecordedMotions
from phlexible.state.recorded_run import Reactions, RecordedStates, concatenated, joined, on_demand
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint
from phlexible.step.integration.stored_rows import branches_of
from phlexible.step.tables.memory import StateRows

Sink = Callable[[RecordedStates, Checkpoint], None]
Rows = Mapping[str, Array]

OPEN = 0.5
"""Share of an instant's own multipliers in a mean whose next step has not been taken."""


class Recorder:
    """Converts stored states to ``RecordedStates`` blocks for a sink, each with the checkpoint at its end.

    Multipliers of an instant are the mean of the steps before and after it where these have one length
    (docs/theory.md, 4), so that those of a block's last instant change with the next step. Each block therefore
    begins with the last instant of the block before, which it replaces, and every block is complete at any time.

    Args:
        system: system of the run.
        sources: columns of the stored work by the name of the source.
        sink: receives each block.

    Attributes:
        last_weight: weight of the step before the last instant in the mean of its multipliers; 1 if they are final.
    """

    def __init__(self, system: System, sources: Mapping[str, list[int]], sink: Sink) -> None:
        self._system, self._sources, self._sink = system, sources, sink
        self._since: list[RecordedStates] = []  # the last instant handed over, and what came since
        self._last: tuple[Array, StateRows, int, PrescribedMotions] | None = None  # what came last, of which
        self._is_handed_over = False  # the last instant, where all is handed over, is copied when it is needed
        self._row: StateRows | None = None  # of that copy
        self.last_weight = 1.0

    @property
    def _chunks(self) -> list[RecordedStates]:
        """Recorded states that have not been sent to the sink (memory or results file) yet, as a list. The first
        one is the last instant that was sent."""
        if self._is_handed_over and self._last is not None:
            times, rows, halvings, moving = self._last
            given = RecordedMotions(*(getattr(moving, name)[-1:] for name in OF_TIME))
            self._last, self._is_handed_over, self._row = None, False, rows.copied(len(times) - 1)
            self._since = [recording_of(self._system, self._sources, times[-1:], self._row, halvings, given)]
        return self._since

    @property
    def last_time(self) -> float:
        """Time of the last instant of the run that has been recorded [s]."""
        return float(self._chunks[-1].time[-1])

    def begin(self, time: float, rows: StateRows, prescribed: PrescribedMotions | None) -> None:
        """Record the first instant of a run at a time [s], from the stored state ``rows`` (arrays by name) and the
        ``prescribed`` motions there. Its multipliers are those of the first time step until
        ``set_final_reactions`` sets better ones."""
        self._since, self.last_weight = [], 0.0
        self._add(np.array([time]), rows, 0, prescribed)

    def _add(self, times: Array, rows: StateRows, halvings: int, prescribed: PrescribedMotions | None) -> None:
        """Append recorded states at the instants ``times`` [s] to the chunks that still have to be sent to memory
        or a results file. ``rows`` are the state arrays, ``halvings`` the number of halved steps so far,
        ``prescribed`` the prescribed motions (None: user functions are called when needed). A function that returns
        a copy of the last instant is stored too, for use after the chunks were sent.
        """
        system, sources = self._system, self._sources
        moving = prescribed or PrescribedFunctions(system.moving_frames, system.paths, times)
        recording, chunks = recording_of(system, sources, times, rows, halvings, moving), self._chunks
        if self._row is not None:  # one row that these follow, so that their arrays need not be joined
            pair = joined([chunks.pop(), recording])
            recording = recording_of(system, sources, pair.time, rows.after(self._row), pair.halvings, pair)
        chunks.append(recording)
        self._last, self._row = (times, rows, halvings, moving), None

    def resume_from(self, last: RecordedStates, last_weight: float, reactions: Reactions) -> None:
        """Begin with the ``last`` instant of a run that is resumed. ``last_weight`` is the weight of the time step
        before it in the mean of its multipliers and forces; 1 means that they are final. If it is OPEN (1/2), they
        are set to ``reactions``, those of the time step before it, and averaged later with those of the step after
        it.
        """
        self._since, self.last_weight = [concatenated([last])], last_weight
        if last_weight == OPEN:
            self._set_reactions(reactions)

    def set_final_reactions(self, reactions: Reactions | None) -> None:
        """Set the multipliers and forces of the last recorded instant to ``reactions`` (two arrays), and mark
        them as final. Nothing happens for None, or if they are final already."""
        if self.last_weight < 1.0 and reactions is not None:
            self._set_reactions(reactions)
            self.last_weight = 1.0

    def finish(self, reactions: Reactions | None, checkpoint: Checkpoint) -> None:
        """Set multipliers and forces of the last instant of the run to ``reactions``, a pair of arrays, and send
        this instant to the sink again. The sink (memory or results file) also gets the ``checkpoint``. Nothing
        happens if ``reactions`` is None."""
        if reactions is not None:
            self._set_reactions(reactions)
            self._sink(concatenated(self._chunks), checkpoint)

    def _set_reactions(self, reactions: Reactions) -> None:
        self._chunks[-1].multipliers[-1], self._chunks[-1].forces[-1] = reactions

    def average_with_next_step(self, reactions: Array) -> None:
        """Replace multipliers and forces of the last recorded instant by their weighted mean with those of the time
        step after it. ``reactions`` are the latter in one array, multipliers before forces. The stored weight
        ``last_weight`` is used and set to 1, after which the values are final; if it is 1 already, nothing happens.
        """
        last, share, self.last_weight = self._chunks[-1], self.last_weight, 1.0
        count = last.multipliers.shape[1]
        if share == 1.0:
            return
        for own, new in ((last.multipliers, reactions[:count]), (last.forces, reactions[count:])):
            own[-1] = share * own[-1] + (1 - share) * new

    def add(
        self,
        times: Array,
        rows: StateRows,
        halvings: int,
        is_last_open: bool,
        prescribed: PrescribedMotions | None = None,
    ) -> None:
        """Record several instants ``times`` [s] from the states ``rows`` that the stepper has stored. Nothing
        happens without instants. ``halvings`` counts halved time steps so far. If ``is_last_open``, the time step
        after the last instant is not computed yet, so that its multipliers and forces are not final.
        ``prescribed`` are motions of frames and drives at the instants (None: functions are called).

        Args:
            times: stored instants, shape (instants,) [s].
            rows: stored states of the stepper.
            halvings: number of halved steps so far.
            is_last_open: the step after the last instant is not computed yet.
            prescribed: frames and paths at these times, where they are known.
        """
        if len(times):
            self._add(times, rows, halvings, prescribed)
            self.last_weight = OPEN if is_last_open else 1.0

    def flush(self, checkpoint: Checkpoint) -> None:
        """Send all instants from the last one sent before on to the sink (memory or results file), with the
        ``checkpoint`` at their end. Only the last instant is retained here."""
        block = joined(self._chunks) if len(self._chunks) > 1 else self._chunks[0]
        self._is_handed_over = self._last is not None
        self._sink(block, checkpoint)

    def release(self) -> None:
        """Delete all recorded states in this recorder, at the end of the run. Other runs can then use the memory
        of SIMD lanes."""
        self._since, self._last = [], None


def recording_of(
    system: System,
    sources: Mapping[str, list[int]],
    times: Array,
    rows: Rows,
    halvings: int | IntArray = 0,
    prescribed: PrescribedMotions | RecordedStates | None = None,
) -> RecordedStates:
    """Return the recorded states of a run at ``times`` [s] from the states ``rows`` that a stepper stored. Arrays
    of the result (positions, energies, multipliers, ...) are computed at the first access. ``sources`` are columns
    of work by name, ``halvings`` counts halved time steps; ``prescribed`` are motions of frames and drives (None:
    functions of the ``system`` are called now).

    Args:
        system: system of the run.
        sources: columns of the stored work by the name of the source.
        times: stored instants, shape (instants,) [s].
        rows: stored states of the stepper, which do not change any more: arrays are made when they are read.
        halvings: number of halved steps so far, at all instants or at each.
        prescribed: frames and paths at these times, where they are known.
    """
    count, moving = len(times), prescribed or PrescribedFunctions(system.moving_frames, system.paths, times)
    if isinstance(moving, PrescribedFunctions):
        moving.first_order()  # functions of users are called now

    def made(name: str) -> Array:
        if name == "work":
            return _work_sums(rows[name][:count], sources)
        if name == "branches":
            return branches_of(rows)[:count]
        if name in OF_TIME:
            return np.asarray(getattr(moving, name))
        table, column = COLUMN_OF.get(name, (TABLES.get(name, name), ...))
        array = rows[table][:count, column]
        return array.astype(np.int64) if table == "counter" else array

    recording = on_demand(made, tuple(sources))
    vars(recording).update(time=np.array(times), halvings=np.full(count, halvings, dtype=np.int64))
    return recording


TABLES = {"multipliers": "multiplier", "forces": "force", "event_times": "event_time", "event_losses": "event_loss"}
"""Names of tables in the kernels by those in a recording, where they differ."""
COLUMN_OF = {name: ("energy", k) for k, name in enumerate(("kinetic", "strain", "gravity", "spring"))}
COLUMN_OF |= {"iterations": ("counter", 0), "contact_steps": ("counter", 2)}
COLUMN_OF |= {name: (name, 0) for name in ("dissipated", "step_error")}
"""Columns of tables in the kernels by their names in a recording."""


def _work_sums(work: Array, sources: Mapping[str, list[int]]) -> Array:
    """Return the sums of some columns of the table of ``work`` at each instant, shape (instants, sources) [J].
    ``sources`` maps the name of each source to the indices of its columns, in the order of the result. The order
    of additions does not depend on the number of instants, so that digits repeat.

    ``np.sum`` takes another order where there is one instant only.
    """
    return np.reshape([sum(work[:, own].T) for own in sources.values()], (len(sources), len(work))).T
