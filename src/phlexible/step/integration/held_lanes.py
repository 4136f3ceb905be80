"""Lanes for mechanisms of one structure whose states stay in arrays between calls, to be stepped and read there."""

from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array, BoolArray
from phlexible.step.integration.step_calls import StepCall
from phlexible.step.programs import advance, announce_structure, joint_velocities
from phlexible.step.tables.memory import LaneMemory

COUNTED = (1, 3)
"""Entries of the table ``counter`` of which a user is told: steps with dependent joints, and with open ledgers."""


class StateColumns:
    """States, last stored instants and loads of mechanisms of one structure, a column each.

    Args:
        calls: first steps of each mechanism, which can join and have one key.

    Attributes:
        state: states of all mechanisms, shape (state size, mechanisms).
        row: last stored instant of each mechanism, shape (row size, mechanisms).
        loads: load values in the steps to come, shape (3 loads, mechanisms).
        requests: requests of the calls, whose steps continue, shape (mechanisms,).
        counted: indices of numbers of the state of which a user is told.
    """

    def __init__(self, calls: Sequence[StepCall]) -> None:
        memory = calls[0].memory
        self.state = np.stack([call.memory.state for call in calls], axis=-1)
        self.row = np.zeros((memory.counts["row_size"], len(calls)))
        self.loads = np.stack([call.loads[0] for call in calls], axis=-1)
        self.requests = np.concatenate([call.request for call in calls])
        self._known = memory.offset_of("known_velocities")
        self.state[self._known, ~self.requests["continues"]] = 0.0
        self.requests["continues"] = True
        self.counted = [memory.offset_of("counter") + index for index in COUNTED]

    def set_lane(self, lane: int, state: Array, row: Array, loads: Array, continues: bool = True) -> None:
        """Replace the mechanism in column ``lane`` by another one with the same tables. Its ``state``, its last
        stored state ``row`` and its ``loads`` are copied. Unless ``continues``, its next time step does not
        extrapolate from earlier velocities."""
        self.state[:, lane], self.row[:, lane], self.loads[:, lane] = state, row, loads
        if not continues:
            self.state[self._known, lane] = 0.0


class LaneStepper(StateColumns):
    """Steps of mechanisms in lanes without anything that depends on time; loads are constant within a call.

    Args:
        calls: first steps of each mechanism, which can join and have one key.
        lanes: memory of the lanes that compute the steps; others may use it between calls.
    """

    def __init__(self, calls: Sequence[StepCall], lanes: LaneMemory) -> None:
        first, self._count, self._lanes = calls[0], len(calls), lanes
        spread = [*calls, *[first] * (lanes.width - len(calls))]
        super().__init__(spread)
        self._memories, self._sizes = [call.memory for call in spread], first.sizes
        self._reactions = np.zeros((len(first.reactions), lanes.width))
        self._moving, self._load_values = np.zeros((0, 0, 0)), np.zeros((0, 0, 0))
        self._velocities: Array | None = None
        self._solution, self._drift = np.zeros((2, 0, 0))
        # Velocities were asked for after the steps before: they are found where these have left the state.
        self._needs_velocities = False
        self._advance, self._project = (each.of(lanes.header.dtype) for each in (advance, joint_velocities))
        self._announces = lanes.is_specialized  # programs that are compiled, in the first call of each

    def step(self, count: int, which: BoolArray) -> tuple[int, bool]:
        """Advance the mechanisms selected by the mask ``which``, shape (lanes,), by ``count`` time steps in SIMD
        lanes. All others are computed too, and then set back to their state. Return the number of time steps that
        were completed, and whether a mechanism had dependent joints or an error in its energy balance. Lanes
        without a mechanism copy the first.

        Args:
            count: number of steps.
            which: whether each mechanism moves, shape (width,); the others stay as they are.

        Returns:
            How many steps were computed, and whether any had dependent joints or an open energy balance.
        """
        lanes, given, rest = self._lanes, self._loads_array(count), np.zeros(0, dtype=np.int64)
        if self._count < lanes.width:  # lanes that are left over do what the first does
            self.state[:, self._count :], self.loads[:, self._count :] = self.state[:, :1], self.loads[:, :1]
        if not all(which.tolist()):
            rest = np.flatnonzero(~which)
            resting = self.state[:, rest], self.row[:, rest]
        given[:] = self.loads
        lanes.set_tables(self._memories)
        lanes.state[:] = self.state
        arguments = lanes.header, self._sizes, self.requests, self._moving, given, self._reactions, self.row
        if self._announces:
            announce_structure(self._advance)
        self._announces, done = False, int(self._advance(*arguments)[0])
        tells = any(lanes.state[own].tobytes() != self.state[own].tobytes() for own in self.counted)
        self.state[:] = lanes.state
        if len(rest):
            self.state[:, rest], self.row[:, rest] = resting
            lanes.state[:, rest] = resting[0]
        self._velocities = self._projected() if self._needs_velocities else None
        self._needs_velocities = False
        return done, tells

    def set_lane(self, lane: int, state: Array, row: Array, loads: Array, continues: bool = True) -> None:
        """Replace the ``state``, the last stored ``row`` and the ``loads`` of the mechanism in SIMD lane ``lane``,
        and clear the cached projected velocities. Unless ``continues``, its next time step does not extrapolate
        from earlier velocities. Lanes are mechanisms that are stepped at the same time."""
        super().set_lane(lane, state, row, loads, continues)
        self._velocities = None

    def velocities(self) -> Array | None:
        """Return the velocities of all mechanisms in the SIMD lanes, projected so that they satisfy the joints,
        shape (velocities, lanes). None if the constraints of a mechanism are linearly dependent. A call makes the
        next ``step`` compute them as well, so that callers who ask after each step do not wait for a separate
        computation.
        """
        self._needs_velocities = True
        if self._velocities is None:
            self._lanes.set_tables(self._memories)
            self._lanes.state[:] = self.state
            self._velocities = self._projected()
        return self._velocities

    def _projected(self) -> Array | None:
        """Compute the velocities of the mechanisms in all SIMD lanes, projected so that they satisfy the joints,
        and return them, shape (velocities, lanes). The returned array is reused by later calls. None if joints
        depend on each other."""
        counts, width = self._memories[0].counts, self._lanes.width
        if self._solution.shape[1] != width:
            self._solution, self._drift = np.zeros((counts["velocities"], width)), np.zeros((counts["rows"], width))
            if self._lanes.is_specialized:
                announce_structure(self._project)
        known = self._project(self._lanes.header, np.zeros((1, 0, width)), self._drift, self._solution, 0.0)
        return self._solution if known else None

    def _loads_array(self, count: int) -> Array:
        """Return the array that receives the loads of all substeps of ``count`` time steps in all lanes,
        reused as long as ``count`` stays the same. Shape (steps * substeps, 3 * loads, lanes).

        Arrays and requests are made anew when the number of steps changes.
        """
        indices = count * len(self._sizes)
        if len(self._load_values) != indices:
            self.requests["steps"] = count
            self.requests["every"] = count
            self._load_values = np.zeros((indices, *self.loads.shape))
            self._moving = np.zeros((indices + 1, 0, self._lanes.width))
        return self._load_values
