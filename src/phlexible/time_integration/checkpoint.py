"""Where a run stands between two steps, and the instants of a run that goes on from there."""

from collections.abc import Sequence
from dataclasses import dataclass

from phlexible.algebra.arrays import Array
from phlexible.time_integration.clock import Clock, clock


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """All that a run needs to go on with the same digits as if it had not stopped.

    Attributes:
        time: [s].
        origin: where its grid of instants begins [s].
        step: of the grid [s].
        number: of steps from the origin to here.
        since_stored: steps since the last stored instant that ``every`` asked for.
        own_share: of the last stored instant's own multipliers in their final mean with those of the
            next step; 1 if they are final.
        halvings: so far.
        depth: steps are halved so often before they are tried.
        successes: pieces that succeeded since then.
        last_step: length of the last step [s]; nan before the first.
        level: steps are 2^level times shorter than the grid's, for a tolerance.
        easy: blocks of them that would have done with longer ones.
        block: steps that are taken at a time.
        continues: the next step starts where one of the same size ended.
        failed: the next step has been tried at full size.
        layout: what the numbers are; other versions may keep others.
        numbers: what the stepper keeps from step to step, shape (numbers,).
    """

    time: float
    origin: float
    step: float
    number: int
    since_stored: int
    own_share: float
    halvings: int
    depth: int
    successes: int
    last_step: float
    level: int
    easy: int
    block: int
    continues: bool
    failed: bool
    layout: str
    numbers: Array


def clock_from(checkpoint: Checkpoint, duration: float, step: float, breakpoints: Sequence[float]) -> Clock:
    """The clock of a run that goes on up to ``duration``, counted from t = 0 [s].

    On the same grid if the step is the same and the checkpoint is on it, on a new one otherwise.

    Raises:
        ParameterError: as ``clock``.
    """
    same = clock(checkpoint.origin, duration - checkpoint.origin, step, breakpoints, checkpoint.number)
    if step == checkpoint.step and checkpoint.number <= same.full and same.instant(same.first) == checkpoint.time:
        return same
    return clock(checkpoint.time, duration - checkpoint.time, step, breakpoints)


def is_on_grid(checkpoint: Checkpoint, instants: Clock) -> bool:
    """Whether the clock goes on with the steps that the run took up to the checkpoint."""
    return (instants.start, instants.step, instants.first) == (
        checkpoint.origin,
        checkpoint.step,
        checkpoint.number,
    )
