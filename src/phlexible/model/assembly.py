"""A mechanism as arrays: the tables of the kernels and the functions of time beside them."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.block_elimination import BlockSchedule, block_schedule
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.point_mass import PointMass
from phlexible.joints.attachments import MovingFrame
from phlexible.joints.bilinear import DirectionOf, PointOf
from phlexible.kernels.arrays import (
    AbsoluteArrays,
    BodyArrays,
    CouplingArrays,
    EliminationArrays,
    LoadArrays,
    VectorArrays,
)
from phlexible.kernels.user_function import UserFunction
from phlexible.model.absolute_tables import absolute_arrays, node_edges
from phlexible.model.body_tables import body_arrays
from phlexible.model.coupling_tables import CouplingTable, VectorTable, load_arrays
from phlexible.model.ground import frame_positions, frame_rotation
from phlexible.model.mechanism import Mechanism
from phlexible.model.state import Layout, layout_of
from phlexible.model.time_functions import at_all_times


@dataclass(frozen=True, eq=False)
class Assembly:
    """A mechanism as the kernels see it.

    Attributes:
        mechanism: what was assembled.
        layout: where the numbers of bodies and joints sit.
        bodies, absolute, vectors, couplings, loads, elimination: the tables.
        floating: number of bodies with a frame, which come first in ``bodies``.
        block_length: numbers in all blocks of Newton's matrix.
        moving: vectors that are functions of time.
        functions: of users, called by the kernels.
    """

    mechanism: Mechanism
    layout: Layout
    bodies: BodyArrays
    floating: int
    absolute: AbsoluteArrays
    vectors: VectorArrays
    couplings: CouplingArrays
    loads: LoadArrays
    elimination: EliminationArrays
    block_length: int
    moving: tuple[PointOf | DirectionOf, ...]
    functions: tuple[UserFunction, ...]

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
        reach = [float(np.linalg.norm(b.place)) + b.data.size for b in self.mechanism.bodies]
        return max(reach, default=0.0) or 1.0


def assemble(mechanism: Mechanism) -> Assembly:
    """The tables of a mechanism; the nodes of absolute bodies are bodies of the tables."""
    bodies, dimension = mechanism.bodies, mechanism.dimension
    rows = [joint.rows(dimension) for joint in mechanism.joints]
    layout = layout_of(list(bodies), [len(r) for r in rows])
    floating = [placed.data for placed in bodies if isinstance(placed.data, FloatingBody)]
    absolute = [placed.data for placed in bodies if isinstance(placed.data, AbsoluteBody)]
    node = PointMass(1.0).discretize(dimension)
    carriers = floating + [node for body in absolute for _ in range(body.node_count)]
    vectors = VectorTable(bodies, carriers)
    couplings = CouplingTable(rows, vectors, dimension)
    loads = load_arrays(mechanism.loads, bodies, mechanism.gravity, vectors)
    sizes = [carrier.velocity_count for carrier in carriers] + couplings.node_sizes
    edges = node_edges(absolute, len(floating)) + couplings.edges(len(carriers))
    schedule = block_schedule(sizes, edges, len(floating), len(carriers))
    arrays = body_arrays(carriers, dimension)
    nodes, functions = absolute_arrays(
        absolute, len(floating), arrays.velocity_start, mechanism.gravity, schedule
    )
    return Assembly(
        mechanism,
        layout,
        arrays,
        len(floating),
        nodes,
        vectors.arrays(),
        couplings.arrays(schedule, len(carriers)),
        loads,
        _elimination_arrays(schedule),
        schedule.length,
        tuple(vectors.moving),
        functions,
    )


def _elimination_arrays(schedule: BlockSchedule) -> EliminationArrays:
    return EliminationArrays(**{name: getattr(schedule, name) for name in EliminationArrays._fields})
