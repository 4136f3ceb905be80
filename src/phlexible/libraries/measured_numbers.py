"""What compiled code measures for the outputs of a library, and where it lies among its numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import IntArray
from phlexible.description.time_functions import Timed, TimeFactor
from phlexible.errors import ModelError
from phlexible.results.live import LiveRun
from phlexible.results.live_readings import QuickReading, quick_reading, reading_of_vectors
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.vectors import CarriedVector
from phlexible.step.tables.declarations import MOVING

KNOWN = (
    "positions, displacements, velocities and accelerations of points, turns, angular velocities and accelerations"
    " of bodies, positions, rates and accelerations of joints, elastic displacements, reactions, forces of elements"
    ", beams, rods and strings, stresses, energies"
)
COMPONENTS = {TimeFactor.COSINE: 0, TimeFactor.SINE: 1, TimeFactor.VALUE: 2}
"""Of a path among its three numbers."""


@dataclass(frozen=True, eq=False)
class MeasuredSource:
    """A joint, or points and directions, that compiled code measures.

    Attributes:
        reading: its tables.
        moves: of each vector its number among the moving ones, or -1.
        first: place of its first number among all that are measured.
    """

    reading: QuickReading
    moves: IntArray
    first: int

    @property
    def count(self) -> int:
        """How many numbers are measured."""
        (items, *_), weights = self.reading.numbers[1], self.reading.numbers[2]
        return 2 * len(items) if weights is None else 6 * len(items)


class MeasuredNumbers:
    """Places of what is measured: velocities of bodies, drifts of joints, moving vectors, then sources.

    Args:
        run: of the model, at its start.

    Attributes:
        run: the instant of the start.
        assembly, memory: its tables.
    """

    def __init__(self, run: LiveRun) -> None:
        self.run: RecordedRun = run.now
        self._has_rates, self.assembly = True, run.stepper.assembly
        self.memory = self.assembly.memory
        counts = self.memory.counts
        self._moving = counts["velocities"] + counts["rows"]
        self._begin = self._moving + 3 * counts["moving"]
        moving = enumerate(self.assembly.moving)
        self._keys = {part.key: k for k, part in moving if isinstance(part, CarriedVector)}
        self._sources: dict[object, MeasuredSource] = {}
        self._kept: list[object] = []

    @contextmanager
    def without_rates(self) -> Iterator[None]:
        """Of what is measured at velocities that are not brought onto the joints."""
        self._has_rates = False
        try:
            yield
        finally:
            self._has_rates = True

    def need_rates(self, name: str) -> None:
        """Refuses an output or a controller that takes velocities on the joints where there are none.

        Raises:
            ModelError: naming it.
        """
        if not self._has_rates:
            raise ModelError(
                f"{name}: a controller of a compiled model cannot measure forces and turns that take velocities on"
                " the joints; take positions and rates of joints and points"
            )

    @property
    def sources(self) -> tuple[MeasuredSource, ...]:
        """All, in their order."""
        return tuple(self._sources.values())

    def state(self, table: str, number: int = 0) -> int:
        """Place of a number of the state."""
        return -1 - self.memory.place(table) - number

    def velocity(self, name: str, number: int) -> int:
        """Place of a velocity, on the joints; ``name``: of the output.

        Raises:
            ModelError: they are not found.
        """
        self.need_rates(name)
        return number

    def path(self, timed: Timed) -> int:
        """Place of the factor that follows a path."""
        number = next(k for k, part in enumerate(self.assembly.moving) if part is timed.path)
        return self._moving + 3 * number + COMPONENTS[timed.factor]

    def of_source(self, name: str, origin: object) -> tuple[int, QuickReading]:
        """Place of the first number of a joint or point, and how it is read.

        Raises:
            ModelError: a joint whose coordinates compiled code does not measure.
        """
        if id(origin) not in self._sources:
            reading = quick_reading(self.run, origin, beside_moving=True)  # type: ignore[arg-type]
            if reading is None:
                raise ModelError(
                    f"output {name!r}: coordinates of {origin} that roll or are rounded are not measured by"
                    f" compiled models, which know {KNOWN}"
                )
            self._add(id(origin), reading, name, str(origin))
            self._kept.append(origin)
        source = self._sources[id(origin)]
        return self._begin + source.first, source.reading

    def vectors(self, name: str, vectors: Sequence[CarriedVector]) -> list[tuple[range, range]]:
        """Places of the components of points and directions, and of their rates.

        Raises:
            ModelError: one that moves with a frame that no joint holds.
        """
        key = tuple(vector.key for vector in vectors)
        if key not in self._sources:
            self._add(key, reading_of_vectors(self.run.system.layout, vectors), name, "it")
        first = self._begin + self._sources[key].first
        return [(range(k, k + 3), range(k + 3, k + 6)) for k in range(first, first + 6 * len(vectors), 6)]

    def _add(self, key: object, reading: QuickReading, name: str, words: str) -> None:
        moves = [self._keys.get(vector.key, -1) for vector in reading.carried]
        if any(vector.carrier == MOVING and k < 0 for vector, k in zip(reading.carried, moves, strict=True)):
            raise ModelError(
                f"output {name!r}: {words} is measured at or along axes of a moving frame that no joint or element"
                " holds; measure a position or a velocity of a body instead"
            )
        first = sum(each.count for each in self._sources.values())
        self._sources[key] = MeasuredSource(reading, np.array(moves, dtype=np.int64), first)
