"""Mechanisms of one structure whose states stay in arrays, advanced by threads of a GPU."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array, BoolArray, IntArray
from phlexible.errors import ParameterError
from phlexible.gpu.thread_programs import (
    MOST_VALUES,
    STEPS,
    VELOCITIES,
    ThreadLayout,
    UnknownFunctionsError,
    thread_program,
)
from phlexible.step.integration.held_lanes import StateColumns
from phlexible.step.integration.step_calls import StepCall
from phlexible.step.programs import advance, alone, joint_velocities

if TYPE_CHECKING:
    from phlexible.gpu.cuda import Cuda

COMPILING_THREADS = "phlexible: compiling the time step for this structure and a GPU; kept"


class ThreadStepper(StateColumns):
    """Steps of mechanisms, each in a thread of a GPU; only the loads may change from call to call.

    Args:
        calls: first steps of each mechanism, which can join and have one key.
        processor: whose threads take them, or an object that runs programs as it does.

    Raises:
        ParameterError: threads do not step the model, or the processor does not have all functions of its laws.
    """

    def __init__(self, calls: Sequence[StepCall], processor: "Cuda") -> None:
        first, self._processor, self._count = calls[0], processor, len(calls)
        self._size = float(first.sizes[0])
        if rest := alone(first.memory):
            raise ParameterError(f"a GPU steps no {', '.join(rest)}")
        layout = ThreadLayout(first.memory)
        if layout.size > MOST_VALUES:
            words = f"a thread of a GPU has room for {MOST_VALUES} numbers"
            raise ParameterError(f"{words}, the model needs {layout.size}")

        def written() -> str:
            print(COMPILING_THREADS, file=sys.stderr, flush=True)
            functions = advance.source.py_func, joint_velocities.source.py_func
            text: str = thread_program(layout, *functions, processor.threads)
            return text

        try:
            function = processor.load(layout.structure.digest, written)
        except UnknownFunctionsError as error:
            raise ParameterError(f"a GPU does not have {error}, which laws here need") from error
        self._steps, self._projection = function(STEPS), function(VELOCITIES)
        super().__init__(calls)
        tables = layout.values_of_all([call.memory for call in calls])
        self._columns = tables.shape[1]
        self._tables, self._requests = self._filled(tables), self._filled(self.requests)
        self._state, self._row, self._loads = (
            processor.allocate(each.nbytes) for each in (self.state, self.row, self.loads)
        )
        self._counts = processor.allocate(8 * self._count)
        self._projected = np.zeros((first.memory.counts["velocities"], self._count))
        self._velocities = processor.allocate(self._projected.nbytes)

    def step(self, count: int, which: BoolArray) -> tuple[IntArray, BoolArray]:
        """Advance the mechanisms for which ``which`` is true by ``count`` time steps, each in a thread of the GPU.
        Return the number of time steps that each mechanism completed, shape (mechanisms,). Second is whether each
        had dependent joints or an error in its energy balance. States and loads are copied to the GPU before,
        states and last stored instants back after.

        Args:
            count: number of steps.
            which: whether each mechanism moves, shape (mechanisms,).

        Returns:
            Steps that each took, and whether any had dependent joints or an open energy balance, shape
            (mechanisms,) each.
        """
        processor, taken = self._processor, np.where(which, count, 0).astype(np.int64)
        counted = self.state[self.counted]
        for room, array in ((self._state, self.state), (self._row, self.row), (self._loads, self.loads)):
            processor.write(room, np.ascontiguousarray(array))
        processor.write(self._counts, taken)
        rooms = self._state, self._row, self._loads, self._requests, self._counts
        processor.call(self._steps, self._count, self._tables, self._columns, *rooms, self._size)
        for room, array in ((self._state, self.state), (self._row, self.row), (self._counts, taken)):
            processor.get(room, array)
        return taken, np.asarray((self.state[self.counted] != counted).any(axis=0))

    def velocities(self) -> Array | None:
        """Return the velocities of all mechanisms, projected on the GPU so that they satisfy the joints, shape
        (velocities, mechanisms). The states are copied to the GPU first. The returned array is reused by later
        calls. None if joints of a mechanism depend on each other."""
        known = np.zeros(self._count, dtype=np.int64)
        self._processor.write(self._state, np.ascontiguousarray(self.state))
        rooms = self._state, self._velocities, self._counts
        self._processor.call(self._projection, self._count, self._tables, self._columns, *rooms)
        self._processor.get(self._velocities, self._projected)
        self._processor.get(self._counts, known)
        return self._projected if known.all() else None

    def _filled(self, array: NDArray[Any]) -> Any:
        room = self._processor.allocate(array.nbytes)
        self._processor.write(room, np.ascontiguousarray(array))
        return room


Device = Callable[[Sequence[StepCall]], ThreadStepper]
"""Takes steps of mechanisms."""
