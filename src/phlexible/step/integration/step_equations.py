"""Equations of single steps as an object: their residuals, and derivatives along any directions."""

from functools import cached_property

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.step.programs import connect_duals, step_derivatives, step_equations
from phlexible.step.tables.memory import DIRECTIONS, DualMemory, Memory

MOST_VALUES = 2_000_000
"""Floats of dual states that are evaluated in one call."""


class StepEquations:
    """Residuals of the equations of steps of a mechanism, and their exact derivatives.

    A step lies between two stored instants. The equations depend on all of the first one, with its history
    variables, and on the velocities and multipliers of the second one; its pose and history variables follow.

    Args:
        memory: tables of the mechanism, connected with its programs.
        damping: numerical damping gamma.
    """

    def __init__(self, memory: Memory, damping: float = 0.0) -> None:
        self.memory, self.damping = memory, damping

    def residual(
        self, states: Array, sizes: Array, moving: Array, loads: Array, with_ends: bool = False
    ) -> tuple[Array, Array]:
        """Return the residuals of the equations of time steps of ``sizes`` [s], shape (steps, unknowns). Second
        are their end states, shape (steps, state size), or no rows without ``with_ends``: the start states with
        new history variables. ``states`` are (steps + 1, state size), or (steps, 2, state size) as separate pairs.
        ``moving`` are the prescribed vectors there, ``loads`` the load values in the steps.

        Args:
            states: pairs of stored instants (N, 2, state size), or instants (N + 1, state size) with a step
                between each and the next.
            sizes: sizes of the steps, (N,) [s].
            moving: prescribed vectors at these instants.
            loads: load values in the steps, (N, 3 values).
            with_ends: whether the second result is wanted, (N, state size); else it has no rows.
        """
        count, numbers = len(sizes), self.memory.counts["state_size"]
        stride = 2 if states.ndim == 3 else 1
        missed = np.zeros((count, self.memory.counts["unknowns"]))
        ends = np.zeros((count if with_ends else 0, numbers))
        given = (np.ascontiguousarray(each) for each in (sizes, states, moving, loads))
        step_equations(self.memory.header, count, stride, self.damping, *given, missed, ends)
        return missed, ends

    def derivative(
        self, states: Array, size: float, moving: Array, loads: Array, directions: Array
    ) -> tuple[Array, Array]:
        """Return the exact derivatives of the residual and of the end state of one time step along k
        ``directions``. They are computed with dual numbers; shapes (k, unknowns) and (k, state size). The time
        step has the length ``size`` [s]; a direction is a change of both its ``states``, at start and end.
        ``moving`` are the prescribed vectors at both states, ``loads`` the load values.

        They are exact to round-off; where a formula has two branches they are those of the branch that it takes.

        Args:
            states: stored instants at the start and the end, (2, state size).
            size: size of the step [s].
            moving: prescribed vectors at both instants.
            loads: load values in the step.
            directions: changes of the stored states at both, (k, 2, state size).
        """
        count, unknowns = len(directions), self.memory.counts["unknowns"]
        together = max(1, MOST_VALUES // (2 * DIRECTIONS * directions[0].size)) * DIRECTIONS if count else 1
        missed, ends = np.zeros((count, unknowns)), np.zeros((count, directions.shape[2]))
        for first in range(0, count, together):
            own = directions[first : first + together]
            groups = -(-len(own) // DIRECTIONS)
            seeds = np.zeros((groups * DIRECTIONS, *own.shape[1:]))
            seeds[: len(own)] = own
            given = np.zeros((groups, *own.shape[1:], 2 * DIRECTIONS))
            given[..., 0] = states
            given[..., DIRECTIONS:] = np.moveaxis(seeds.reshape(groups, DIRECTIONS, *own.shape[1:]), 1, -1)
            results = [np.zeros((groups, width, 2 * DIRECTIONS)) for width in (unknowns, directions.shape[2])]
            same = (np.tile(np.ravel(each), groups) for each in (moving, loads))
            sizes = np.full(groups, size)
            step_derivatives(self._duals.header, groups, 2, self.damping, sizes, given, *same, *results)
            for target, found in zip((missed, ends), results, strict=True):
                along = np.moveaxis(found[..., DIRECTIONS:], -1, 1).reshape(groups * DIRECTIONS, -1)
                target[first : first + together] = along[: len(own)]
        return missed, ends

    @cached_property
    def _duals(self) -> DualMemory:
        duals = DualMemory(self.memory)
        connect_duals(duals, self.memory)
        return duals
