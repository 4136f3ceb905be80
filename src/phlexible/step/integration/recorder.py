"""Recorder of a run, which gathers stored instants of a stepper into recordings, block by block."""

from collections.abc import Callable, Mapping

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.state.instants import PrescribedFunctions, PrescribedMotions
from phlexible.state.recording import Reactions, RecordedStates, concatenated
from phlexible.state.system import System
from phlexible.step.integration.clock import Checkpoint
from phlexible.step.integration.stored_rows import branches_of

Sink = Callable[[RecordedStates, Checkpoint], None]
Rows = Mapping[str, Array]

OPEN = 0.5
"""Share of an instant's own multipliers in a mean whose next step has not been taken."""


class Recorder:
    """Turns stored rows into ``RecordedStates`` blocks for a sink, each with the checkpoint at its end.

    Multipliers of an instant are the mean of the steps before and after it where these have one length
    (docs/theory.md, 4), so that those of a block's last instant change with the next step. Each block therefore
    begins with the last instant of the block before, which it replaces, and every block is complete at any time.

    Args:
        system: system of the run.
        sources: columns of the stored work by the name of the source.
        sink: takes each block.

    Attributes:
        last_weight: weight of the step before the last instant in the mean of its multipliers; 1 if they are final.
    """

    def __init__(self, system: System, sources: Mapping[str, list[int]], sink: Sink) -> None:
        self._system, self._sources, self._sink = system, sources, sink
        self._blocks: list[RecordedStates] = []  # the last instant handed over, and what came since
        self.last_weight = 1.0

    @property
    def last_time(self) -> float:
        """Time of the last instant of the run that has been recorded [s]."""
        return float(self._blocks[-1].time[-1])

    def begin(self, time: float, rows: Rows, prescribed: PrescribedMotions | None) -> None:
        """Record the first instant of a run at a time [s], from the stored ``rows`` and the ``prescribed``
        motions there; its multipliers are those of the first time step until ``set_final_reactions`` sets
        better ones."""
        first = recording_of(self._system, self._sources, np.array([time]), rows, prescribed=prescribed)
        self._blocks, self.last_weight = [first], 0.0

    def resume_from(self, last: RecordedStates, last_weight: float, reactions: Reactions) -> None:
        """Start the recorder from the last instant of a run that is resumed; ``reactions`` are multipliers
        and forces of the time step before it, ``last_weight`` their weight in the mean with the time step
        after it."""
        self._blocks, self.last_weight = [concatenated([last])], last_weight
        if last_weight == OPEN:
            self._set_reactions(reactions)

    def set_final_reactions(self, reactions: Reactions | None) -> None:
        """Set final multipliers and forces of the last recorded instant, where the time step size changes,
        from ``reactions`` (both arrays); None leaves them to be averaged with those of the next time step."""
        if self.last_weight < 1.0 and reactions is not None:
            self._set_reactions(reactions)
            self.last_weight = 1.0

    def finish(self, reactions: Reactions | None, checkpoint: Checkpoint) -> None:
        """Set final multipliers and forces of the last instant of the run from ``reactions`` (both arrays, or
        None: they stay). The instant is sent to the sink of the recording again, with the ``checkpoint``."""
        last = concatenated([self._last])
        if reactions is not None:
            last.multipliers[-1], last.forces[-1] = reactions
            self._sink(last, checkpoint)

    def _set_reactions(self, reactions: Reactions) -> None:
        self._blocks[-1].multipliers[-1], self._blocks[-1].forces[-1] = reactions

    def average_with_next_step(self, reactions: Array) -> None:
        """Average the multipliers and forces of the last recorded instant with those of the time step that
        follows it (``reactions``, one array)."""
        last, share, self.last_weight = self._blocks[-1], self.last_weight, 1.0
        count = last.multipliers.shape[1]
        if share == 1.0:
            return
        for own, new in ((last.multipliers, reactions[:count]), (last.forces, reactions[count:])):
            own[-1] = share * own[-1] + (1 - share) * new

    def add(self, times: Array, rows: Rows, halvings: int, is_last_open: bool) -> None:
        """Record several instants ``times`` [s], from the ``rows`` of state numbers that the stepper has
        stored. ``halvings`` counts halved time steps so far; ``is_last_open`` says that the time step after
        the last instant has not been taken yet.

        Args:
            times: stored instants, shape (instants,) [s].
            rows: stored rows of the stepper.
            halvings: number of halved steps so far.
            is_last_open: the step after the last instant has not been taken yet.
        """
        if len(times):
            self._blocks.append(recording_of(self._system, self._sources, times, rows, halvings))
            self.last_weight = OPEN if is_last_open else 1.0

    def flush(self, checkpoint: Checkpoint) -> None:
        """Send the recording of all instants since the last call to the sink (memory or results file), with the
        checkpoint at their end."""
        block = concatenated(self._blocks) if len(self._blocks) > 1 else self._blocks[0]
        self._last = block.rows(slice(-1, None))
        self._blocks = [concatenated([self._last])]
        self._sink(block, checkpoint)


def recording_of(
    system: System,
    sources: Mapping[str, list[int]],
    times: Array,
    rows: Rows,
    halvings: int = 0,
    prescribed: PrescribedMotions | None = None,
) -> RecordedStates:
    """Return the ``rows`` of state numbers that a stepper of a system stored at the ``times`` [s] as a
    recording: positions, velocities, energies, multipliers and functions of time by name. ``sources`` are
    columns of work by name, ``halvings`` counts halved time steps, ``prescribed`` are prescribed motions if
    known.

    Args:
        system: system of the run.
        sources: columns of the stored work by the name of the source.
        times: stored instants, shape (instants,) [s].
        rows: stored rows of the stepper.
        halvings: number of halved steps so far.
        prescribed: frames and paths at these times, where they are known.
    """
    count = len(times)
    own = {name: array[:count] for name, array in rows.items()}
    prescribed = prescribed or PrescribedFunctions(system.moving_frames, system.paths, times)
    work = [_work_sum(own["work"], columns) for columns in sources.values()]
    tables = {name: own[table] for name, table in TABLE_OF.items()}
    functions = {name: getattr(prescribed, name) for name in OF_TIME}
    energies = dict(zip(("kinetic", "strain", "gravity", "spring"), own["energy"].T, strict=True))
    return RecordedStates(
        time=np.array(times),
        branches=branches_of(own),
        work=np.stack(work, axis=1) if work else np.zeros((count, 0)),
        dissipated=own["dissipated"][:, 0],
        iterations=own["counter"][:, 0].astype(np.int64),
        halvings=np.full(count, halvings, dtype=np.int64),
        contact_steps=own["counter"][:, 2].astype(np.int64),
        step_error=own["step_error"][:, 0],
        work_names=tuple(sources),
        **tables,
        **functions,
        **energies,
    )


TABLE_OF = {
    **{name: name for name in ("position", "rotation", "eta", "velocity", "theta", "held")},
    **{"multipliers": "multiplier", "forces": "force"},
    **{"event_times": "event_time", "event_losses": "event_loss"},
}
"""Names of tables in the kernels by those in a recording."""
OF_TIME = "paths", "path_rates", "frames", "frame_rotations", "frame_velocities", "frame_angular_velocities"


def _work_sum(work: Array, columns: list[int]) -> Array:
    """Return the sum of some ``columns`` of the table of ``work``, shape (rows,) [J]. The order of additions
    does not depend on the number of rows, so that digits repeat.

    ``sum`` takes another order where there is one instant only.
    """
    return np.asarray(np.cumsum(work[:, columns], axis=1)[:, -1])
