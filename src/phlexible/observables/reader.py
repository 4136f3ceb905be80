"""A recorded run with what takes a while to find: velocities that satisfy the joints, unique multipliers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, read_only
from phlexible.observables.projection import projected_velocities
from phlexible.observables.run import RecordedRun
from phlexible.observables.smallest_multipliers import smallest_multipliers


@dataclass(frozen=True, eq=False)
class Reader:
    """What sensors read from; each part is computed once, when it is first asked for.

    Attributes:
        run: what is read.
        is_projected: whether velocities are brought onto the joints, or those that the steps have.
    """

    run: RecordedRun
    is_projected: bool = True

    @property
    def time(self) -> Array:
        """Stored instants, shape (N + 1,) [s]."""
        return self.run.recording.time

    @cached_property
    def velocities(self) -> Array:
        """Flat velocities that satisfy the joints, shape (N + 1, all)."""
        return read_only(projected_velocities(self.run) if self.is_projected else self.run.recording.velocity)

    @cached_property
    def multipliers(self) -> Array:
        """Multipliers of all joints' rows, shape (N + 1, rows)."""
        return read_only(smallest_multipliers(self.run))

    def rate(self, values: Array) -> Array:
        """Time derivative by differences of second order between the stored instants, along the first axis."""
        if len(self.time) < 3:
            return np.full_like(values, np.nan)
        return np.asarray(np.gradient(values, self.time, axis=0, edge_order=2))
