"""A recorded run with what takes a while to find: velocities that satisfy the joints, unique multipliers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array, read_only
from phlexible.errors import ParameterError
from phlexible.observables.projection import projected_velocities
from phlexible.observables.run import RecordedRun
from phlexible.observables.smallest_multipliers import smallest_multipliers

LEAST = 3
"""Instants that a difference of second order takes."""


@dataclass(frozen=True, eq=False)
class Reader:
    """What sensors read from; each part is computed once, when it is first asked for.

    Attributes:
        run: what is read.
        is_projected: whether velocities are brought onto the joints, or those that the steps have.
        is_at_rest: whether the instants are those of an equilibrium, whose rates are zero.
    """

    run: RecordedRun
    is_projected: bool = True
    is_at_rest: bool = False

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
        """Time derivative by differences of second order between the stored instants, along the first axis.

        Raises:
            ParameterError: fewer than three instants.
        """
        if self.is_at_rest:
            return np.zeros_like(values)
        if (count := len(self.time)) < LEAST:
            raise ParameterError(
                f"accelerations are differences of at least {LEAST} stored instants, and here "
                f"{'is only one' if count == 1 else f'are {count}'}; measure velocities or forces, or read"
                " motion[sensor] of a longer motion (of a live run: run.motion)"
            )
        return np.asarray(np.gradient(values, self.time, axis=0, edge_order=2))
