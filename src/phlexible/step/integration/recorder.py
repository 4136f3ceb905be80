"""Recorder of a run, which gathers stored instants of a stepper into recordings, block by block."""

from collections.abc import Callable, Mapping

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.state.instants import Given, GivenFunctions
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
        """Time of the last stored instant [s]."""
        return float(self._blocks[-1].time[-1])

    def begin(self, time: float, rows: Rows, prescribed: Given | None) -> None:
        """Record the first instant at a time [s]; its multipliers are those of the first step until ``settled``
        sets them."""
        first = recording_of(self._system, self._sources, np.array([time]), rows, prescribed=prescribed)
        self._blocks, self.last_weight = [first], 0.0

    def go_on(self, last: RecordedStates, last_weight: float, reactions: Reactions) -> None:
        """Start from the last instant of a run that continues; ``reactions`` are those of the step before it."""
        self._blocks, self.last_weight = [concatenated([last])], last_weight
        if last_weight == OPEN:
            self._set_reactions(reactions)

    def settled(self, reactions: Reactions | None) -> None:
        """Set final multipliers and forces of the last instant, where the step size changes; None keeps the mean.

        None where there are none: the mean is taken after all.
        """
        if self.last_weight < 1.0 and reactions is not None:
            self._set_reactions(reactions)
            self.last_weight = 1.0

    def ended(self, reactions: Reactions | None, checkpoint: Checkpoint) -> None:
        """Send the last instant of the run to the sink once more, with final multipliers and forces, unless they
        are None."""
        last = concatenated([self._last])
        if reactions is not None:
            last.multipliers[-1], last.forces[-1] = reactions
            self._sink(last, checkpoint)

    def _set_reactions(self, reactions: Reactions) -> None:
        self._blocks[-1].multipliers[-1], self._blocks[-1].forces[-1] = reactions

    def next_step(self, reactions: Array) -> None:
        """Average the multipliers and forces of the last stored instant with those of the step that follows it."""
        last, share, self.last_weight = self._blocks[-1], self.last_weight, 1.0
        count = last.multipliers.shape[1]
        if share == 1.0:
            return
        for own, new in ((last.multipliers, reactions[:count]), (last.forces, reactions[count:])):
            own[-1] = share * own[-1] + (1 - share) * new

    def add(self, times: Array, rows: Rows, halvings: int, is_last_open: bool) -> None:
        """Record instants from stored rows of the state.

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
        """Send all instants up to the checkpoint to the sink."""
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
    prescribed: Given | None = None,
) -> RecordedStates:
    """Stored rows of a stepper at some instants as a recording.

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
    prescribed = GivenFunctions(system.moving_frames, system.paths, times) if prescribed is None else prescribed
    work = [_sum(own["work"], columns) for columns in sources.values()]
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


def _sum(work: Array, columns: list[int]) -> Array:
    """Sum of some columns of the work, shape (rows,), always added in the same order.

    ``sum`` takes another order where there is one instant only.
    """
    return np.asarray(np.cumsum(work[:, columns], axis=1)[:, -1])
