"""A mechanism as arrays: the tables of the kernels and the functions of time beside them."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.elimination_order import BlockSchedule, block_schedule
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.point_mass import PointMass
from phlexible.interactions.bilinear import DirectionOf, PointOf
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.loads import PointLoad
from phlexible.interactions.time_paths import TimePath, numbers_at
from phlexible.kernels.arrays import (
    AbsoluteArrays,
    BodyArrays,
    CouplingArrays,
    EliminationArrays,
    LoadArrays,
    VectorArrays,
)
from phlexible.kernels.tables import CONSTRAINT
from phlexible.kernels.user_function import UserFunction
from phlexible.mechanism.mechanism import Mechanism
from phlexible.ports.attachments import MovingFrame
from phlexible.ports.ground import frame_positions, frame_rotations
from phlexible.ports.time_functions import at_all_times
from phlexible.rank.multiplier_metric import gap_lengths
from phlexible.system.absolute_tables import absolute_arrays, node_edges
from phlexible.system.body_tables import body_arrays
from phlexible.system.controlled import ControlledValue, controlled_values
from phlexible.system.coupling_tables import CouplingTable, VectorTable, load_arrays
from phlexible.system.force_tables import ForceTable, ScalarForce, force_table, law_of, scalar_forces
from phlexible.system.state import Layout, layout_of


@dataclass(frozen=True, eq=False)
class Assembly:
    """A mechanism as the kernels see it.

    Attributes:
        mechanism: what was assembled.
        layout: where the numbers of bodies and joints sit.
        bodies, absolute, vectors, couplings, loads, elimination: the tables.
        floating: number of bodies with a frame, which come first in ``bodies``.
        block_length: numbers in all blocks of Newton's matrix.
        moving: vectors and drive paths that are functions of time.
        forces: scalar forces of elements.
        force_table: their numbers.
        controlled: load values that controllers set.
        load_entries: loads on single attachments, load after load.
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
    moving: tuple[PointOf | DirectionOf | TimePath, ...]
    forces: tuple[ScalarForce, ...]
    force_table: ForceTable
    controlled: tuple[ControlledValue, ...]
    load_entries: tuple[PointLoad, ...]
    functions: tuple[UserFunction, ...]

    @property
    def links(self) -> int:
        """Joints, drives and scalar forces."""
        return len(self.mechanism.constraints) + len(self.forces)

    def moving_values(self, times: Array) -> Array:
        """Vectors that are functions of time, at the given times, shape (times, 3 vectors).

        Of the path p of a drive cos p, sin p and p.
        """
        values = np.zeros((len(times), len(self.moving), 3))
        turns: dict[MovingFrame, Array] = {}
        for column, vector in enumerate(self.moving):
            if isinstance(vector, TimePath):
                path = vector.at_times(times)
                values[:, column] = np.stack([np.cos(path), np.sin(path), path], axis=1)
                continue
            frame = vector.port
            assert isinstance(frame, MovingFrame), "only frames move by themselves"
            if isinstance(vector, PointOf):
                values[:, column] = frame_positions(frame, times)
            else:
                if frame not in turns:
                    turns[frame] = frame_rotations(frame, times)
                values[:, column] = turns[frame] @ vector.axis
        return values.reshape(len(times), 3 * values.shape[1])

    def load_values(self, times: Array) -> Array:
        """Loads and prescribed forces of elements at the given times, shape (times, 3 values) [N or N m].

        Those that a controller sets are zero here.
        """
        loads, table = self.load_entries, self.force_table
        values = np.zeros((len(times), len(loads) + len(table.values), 3))
        for k, (value, label) in enumerate(zip(table.values, table.labels, strict=True), start=len(loads)):
            if isinstance(value, Feedback):
                continue
            values[:, k, 0] = numbers_at(value, times, f"force of {label}") if callable(value) else value
        for column, load in enumerate(loads):
            if not callable(load.value) and not isinstance(load.value, Feedback):
                values[:, column] = load.at_time(0.0)
            elif isinstance(load.value, Feedback):
                continue
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
    rows = [each.rows(dimension) for each in mechanism.constraints]
    layout = layout_of(list(bodies), [len(r) for r in rows])
    forces = scalar_forces(mechanism)
    laws = [CONSTRAINT] * len(rows) + [law_of(each.force.coordinate) for each in forces]
    rows += [each.force.coordinate.functions() for each in forces]
    floating = [placed.data for placed in bodies if isinstance(placed.data, FloatingBody)]
    absolute = [placed.data for placed in bodies if isinstance(placed.data, AbsoluteBody)]
    node = PointMass(1.0).discretize(dimension)
    carriers = floating + [node for body in absolute for _ in range(body.node_count)]
    vectors = VectorTable(bodies, carriers)
    couplings = CouplingTable(rows, laws, vectors, dimension)
    entries = tuple(entry for load in mechanism.loads for entry in load.entries())
    loads = load_arrays(entries, bodies, mechanism.gravity, vectors)
    sizes = [carrier.velocity_count for carrier in carriers] + couplings.node_sizes
    edges = node_edges(absolute, len(floating)) + couplings.edges(len(carriers))
    schedule = block_schedule(sizes, edges, len(floating), len(carriers))
    arrays = body_arrays(carriers, dimension)
    nodes, functions = absolute_arrays(
        absolute, len(floating), arrays.velocity_start, mechanism.gravity, schedule
    )
    table = force_table(forces, len(entries))
    controlled = controlled_values(mechanism, entries, table, vectors)
    element_rows = sum(len(each.force.coordinate.functions()) for each in forces)
    lengths = np.concatenate([gap_lengths(mechanism), np.ones(element_rows)])
    coupling_arrays = couplings.arrays(schedule, len(carriers), lengths)  # numbers the paths of drives too
    return Assembly(
        mechanism,
        layout,
        arrays,
        len(floating),
        nodes,
        vectors.arrays(),
        coupling_arrays,
        loads,
        _elimination_arrays(schedule),
        schedule.length,
        tuple(vectors.moving),
        tuple(forces),
        table,
        controlled,
        entries,
        functions,
    )


def _elimination_arrays(schedule: BlockSchedule) -> EliminationArrays:
    return EliminationArrays(**{name: getattr(schedule, name) for name in EliminationArrays._fields})
