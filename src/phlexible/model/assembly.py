"""A mechanism as arrays: the tables of the kernels and the functions of time beside them."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.block_elimination import BlockSchedule, block_schedule
from phlexible.joints.attachments import MovingFrame
from phlexible.joints.bilinear import DirectionOf, PointOf
from phlexible.kernels.arrays import BodyArrays, CouplingArrays, EliminationArrays, LoadArrays, VectorArrays
from phlexible.model.body_tables import body_arrays
from phlexible.model.coupling_tables import CouplingTable, VectorTable, load_arrays
from phlexible.model.ground import frame_positions, frame_rotation
from phlexible.model.mechanism import Mechanism
from phlexible.model.multiplier_metric import gap_lengths
from phlexible.model.state import Layout, layout_of
from phlexible.model.time_functions import at_all_times


@dataclass(frozen=True, eq=False)
class Assembly:
    """A mechanism as the kernels see it.

    Attributes:
        mechanism: what was assembled.
        layout: where the numbers of bodies and joints sit.
        bodies, vectors, couplings, loads, elimination: the tables.
        block_length: numbers in all blocks of Newton's matrix.
        moving: vectors that are functions of time.
    """

    mechanism: Mechanism
    layout: Layout
    bodies: BodyArrays
    vectors: VectorArrays
    couplings: CouplingArrays
    loads: LoadArrays
    elimination: EliminationArrays
    block_length: int
    moving: tuple[PointOf | DirectionOf, ...]

    def moving_values(self, times: Array) -> Array:
        """Vectors that are functions of time, at the given times, shape (times, 3 vectors)."""
        values = np.zeros((len(times), len(self.moving), 3))
        for column, vector in enumerate(self.moving):
            frame = vector.port
            assert isinstance(frame, MovingFrame), "only frames move by themselves"
            if isinstance(vector, PointOf):
                values[:, column] = frame_positions(frame, times)
            else:
                turned = [frame_rotation(frame, time) @ vector.axis for time in times]
                values[:, column] = np.array(turned).reshape(-1, 3)
        return values.reshape(len(times), 3 * values.shape[1])

    def load_values(self, times: Array) -> Array:
        """Loads at the given times, shape (times, 3 loads) [N or N m]."""
        loads = self.mechanism.loads
        values = np.zeros((len(times), len(loads), 3))
        for column, load in enumerate(loads):
            if not callable(load.value):
                values[:, column] = load.at_time(0.0)
            elif (all_at_once := at_all_times(load.value, times)) is not None:
                values[:, column] = all_at_once
            else:
                values[:, column] = np.array([load.at_time(float(t)) for t in times]).reshape(-1, 3)
        return values.reshape(len(times), 3 * values.shape[1])

    def length_scale(self) -> float:
        """A length that stands for the mechanism: its extent and distance from the origin [m]."""
        reach = [float(np.linalg.norm(b.position)) + b.data.size for b in self.mechanism.bodies]
        return max(reach, default=0.0) or 1.0


def assemble(mechanism: Mechanism) -> Assembly:
    """The tables of a mechanism."""
    bodies = mechanism.bodies
    rows = [joint.rows(mechanism.dimension) for joint in mechanism.joints]
    layout = layout_of(list(bodies), [len(r) for r in rows])
    vectors = VectorTable(bodies)
    couplings = CouplingTable(rows, vectors, mechanism.dimension)
    loads = load_arrays(mechanism.loads, bodies, mechanism.gravity, vectors)
    sizes = [placed.data.velocity_count for placed in bodies] + couplings.node_sizes
    schedule = block_schedule(sizes, couplings.edges(len(bodies)), len(bodies))
    return Assembly(
        mechanism,
        layout,
        body_arrays(bodies, layout, mechanism.dimension),
        vectors.arrays(),
        couplings.arrays(schedule, len(bodies), gap_lengths(mechanism)),
        loads,
        _elimination_arrays(schedule),
        schedule.length,
        tuple(vectors.moving),
    )


def _elimination_arrays(schedule: BlockSchedule) -> EliminationArrays:
    return EliminationArrays(**{name: getattr(schedule, name) for name in EliminationArrays._fields})
