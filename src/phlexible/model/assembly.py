"""A mechanism as arrays: the tables of the kernels and the functions of time beside them."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.block_elimination import BlockSchedule, block_schedule
from phlexible.joints.attachments import MovingFrame
from phlexible.joints.bilinear import DirectionOf, PointOf
from phlexible.joints.feedback import Feedback
from phlexible.joints.loads import PointLoad
from phlexible.joints.time_paths import TimePath, numbers_at
from phlexible.kernels.arrays import BodyArrays, CouplingArrays, EliminationArrays, LoadArrays, VectorArrays
from phlexible.kernels.tables import CONSTRAINT
from phlexible.model.body_tables import body_arrays
from phlexible.model.controlled import ControlledValue, controlled_values
from phlexible.model.coupling_tables import CouplingTable, VectorTable, load_arrays
from phlexible.model.force_tables import ForceTable, ScalarForce, force_table, law_of, scalar_forces
from phlexible.model.ground import frame_positions, frame_rotations
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
        moving: vectors and drive paths that are functions of time.
        forces: scalar forces of elements.
        force_table: their numbers.
        controlled: load values that controllers set.
        load_entries: loads on single attachments, load after load.
    """

    mechanism: Mechanism
    layout: Layout
    bodies: BodyArrays
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
        reach = [float(np.linalg.norm(b.position)) + b.data.size for b in self.mechanism.bodies]
        return max(reach, default=0.0) or 1.0


def assemble(mechanism: Mechanism) -> Assembly:
    """The tables of a mechanism."""
    bodies = mechanism.bodies
    rows = [each.rows(mechanism.dimension) for each in mechanism.constraints]
    layout = layout_of(list(bodies), [len(r) for r in rows])
    forces = scalar_forces(mechanism)
    laws = [CONSTRAINT] * len(rows) + [law_of(each.force.coordinate) for each in forces]
    rows += [each.force.coordinate.functions() for each in forces]
    vectors = VectorTable(bodies)
    couplings = CouplingTable(rows, laws, vectors, mechanism.dimension)
    entries = tuple(entry for load in mechanism.loads for entry in load.entries())
    loads = load_arrays(entries, bodies, mechanism.gravity, vectors)
    sizes = [placed.data.velocity_count for placed in bodies] + couplings.node_sizes
    schedule = block_schedule(sizes, couplings.edges(len(bodies)), len(bodies))
    table = force_table(forces, len(entries))
    controlled = controlled_values(mechanism, entries, table, vectors)
    element_rows = sum(len(each.force.coordinate.functions()) for each in forces)
    lengths = np.concatenate([gap_lengths(mechanism), np.ones(element_rows)])
    coupling_arrays = couplings.arrays(schedule, len(bodies), lengths)  # numbers the paths of drives too
    return Assembly(
        mechanism,
        layout,
        body_arrays(bodies, layout, mechanism.dimension),
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
    )


def _elimination_arrays(schedule: BlockSchedule) -> EliminationArrays:
    return EliminationArrays(**{name: getattr(schedule, name) for name in EliminationArrays._fields})
