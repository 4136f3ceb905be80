"""An assembly as the two arrays of the kernels, with room for the work of a step."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.kernels import tables as at
from phlexible.kernels.user_function import UserFunction
from phlexible.system.assembly import Assembly
from phlexible.system.state import State

MAXIMAL_HISTORY = 64


@dataclass(frozen=True, eq=False)
class PackedSystem:
    """The tables of ``kernels/tables.py``.

    Attributes:
        ints, reals: counts, tables and work; changed by the kernels.
        stored_width: numbers in a stored row.
        functions: of users, which ``ints`` holds addresses of.
    """

    ints: IntArray
    reals: Array
    stored_width: int
    functions: tuple[UserFunction, ...]

    def table(self, name: int, count: int) -> Array:
        """A view of ``count`` numbers of a table of reals."""
        return self.reals[self.ints[name] : self.ints[name] + count]

    def begin_at(self, state: State, thetas: Array | tuple[float, ...] = ()) -> None:
        """Put a state in, and the coordinates of elements, shape (forces,)."""
        self.table(at.STATE_THETA, len(thetas))[:] = thetas
        dimension, bodies, framed = (int(self.ints[k]) for k in (at.DIMENSION, at.BODIES, at.FLOATING))
        coordinates = len(state.elastic) - dimension * (bodies - framed)
        position = self.table(at.STATE_POSITION, 3 * bodies).reshape(-1, 3)
        position[:framed] = state.position[:framed]
        position[framed:, :dimension] = state.elastic[coordinates:].reshape(-1, dimension)
        self.table(at.STATE_ROTATION, 9 * framed)[:] = state.rotation[:framed].ravel()
        self.table(at.STATE_ELASTIC, coordinates)[:] = state.elastic[:coordinates]
        self.table(at.STATE_VELOCITY, state.velocity.size)[:] = state.velocity

    def snapshot(self) -> Array:
        """A copy of the state and its ledger, for ``restore``."""
        return self.reals[self.ints[at.STATE_POSITION] :].copy()

    def restore(self, snapshot: Array) -> None:
        """Put a snapshot back."""
        self.reals[self.ints[at.STATE_POSITION] :] = snapshot

    def history(self) -> Array:
        """Scaled Newton updates of the last step that was tried."""
        history = self.table(at.HISTORY, MAXIMAL_HISTORY)
        return history[: int(np.flatnonzero(history)[-1]) + 1].copy() if history.any() else history[:1].copy()


def pack(assembly: Assembly) -> PackedSystem:
    """The arrays of an assembly, with a state of zeros."""
    ints = _int_tables(assembly)
    reals = _real_tables(assembly) | {name: np.zeros(size) for name, size in _work_sizes(assembly).items()}
    header = np.zeros(at.HEADER, dtype=np.int64)
    for name, count in _counts(assembly).items():
        header[name] = count
    position = at.HEADER
    for name in at.INT_TABLES:
        header[name] = position
        position += len(ints[name])
    pools = np.concatenate([assembly.bodies.pool, assembly.vectors.pool, assembly.absolute.pool])
    position = len(pools)
    for name in at.REAL_TABLES:
        header[name] = position
        position += reals[name].size
    _make_absolute(ints, assembly, int(header[at.BLOCKS]))
    nodes = len(assembly.bodies.type_of) - assembly.floating
    stored = position - int(header[at.STATE_POSITION]) + 5 - 9 * nodes
    system = PackedSystem(
        np.concatenate([header, *(ints[name] for name in at.INT_TABLES)]).astype(np.int64),
        np.concatenate([pools, *(reals[name].ravel() for name in at.REAL_TABLES), np.zeros(1)]),
        stored,
        assembly.functions,
    )
    for name in (at.STATE_ROTATION, at.ROTATION1, at.MEAN_ROTATION):
        frames = system.table(name, 9 * len(assembly.bodies.type_of))
        frames[9 * assembly.floating :] = np.tile(np.eye(3).ravel(), nodes)
    return system


def _counts(assembly: Assembly) -> dict[int, int]:
    return {
        at.DIMENSION: assembly.bodies.dimension,
        at.BODIES: len(assembly.bodies.type_of),
        at.VECTORS: len(assembly.vectors.body),
        at.JOINTS: assembly.links,
        at.ROWS: len(assembly.couplings.constant),
        at.FORCES: len(assembly.forces),
        at.LOADS: len(assembly.loads.kind),
        at.WEIGHTS: len(assembly.loads.weight_point),
        at.NODES: len(assembly.elimination.order),
        at.FLOATING: assembly.floating,
        at.PAIRS: len(assembly.absolute.pair_row),
        at.QUADRATICS: len(assembly.absolute.weight),
        at.VELOCITIES: int(assembly.bodies.velocity_start[-1]),
        at.UNKNOWNS: int(assembly.elimination.row_start[-1]),
        at.BLOCK_LENGTH: assembly.block_length,
    }


def _int_tables(assembly: Assembly) -> dict[int, IntArray]:
    bodies, vectors, couplings = assembly.bodies, assembly.vectors, assembly.couplings
    loads, nodes, absolute = assembly.loads, assembly.elimination, assembly.absolute
    forces = assembly.force_table.arrays
    first_joint = len(bodies.type_of)
    return {
        at.TYPE_OF: bodies.type_of,
        at.VELOCITY_START: bodies.velocity_start,
        at.ELASTIC_START: bodies.elastic_start,
        at.ELASTIC_COUNT: bodies.elastic_count,
        at.AXIS_COUNT: bodies.axis_count,
        at.FIRST_MOMENT: bodies.first_moment,
        at.DEFORMATION_MASS: bodies.deformation_mass,
        at.GYROSCOPIC: bodies.gyroscopic,
        at.ROTATIONAL: bodies.rotational,
        at.STIFFNESS: bodies.stiffness,
        at.DAMPING: bodies.damping,
        at.STRAIN_START: bodies.strain_start,
        at.STRAIN_ROW: bodies.strain_row,
        at.STRAIN_FIRST: bodies.strain_first,
        at.STRAIN_LAST: bodies.strain_last,
        at.SQUARE_START: bodies.square_start,
        at.SQUARE_ROW: bodies.square_row,
        at.SQUARE_FIRST: bodies.square_first,
        at.SQUARE_LAST: bodies.square_last,
        at.STRAIN_WORK_START: _strain_starts(assembly),
        at.SQUARE_WORK_START: _square_starts(assembly),
        at.VECTOR_BODY: vectors.body,
        at.VECTOR_IS_POINT: vectors.is_point,
        at.VECTOR_SHAPES: vectors.shapes.copy(),
        at.VECTOR_FIRST: vectors.first,
        at.VECTOR_LAST: vectors.last,
        at.VECTOR_MOVING: vectors.moving,
        at.VECTOR_WORK_START: vectors.work_start,
        at.JOINT_ROW_START: couplings.row_start,
        at.JOINT_NODE_ROW: nodes.row_start[first_joint:],
        at.JOINT_PARTNER_START: couplings.partner_start,
        at.JOINT_LAW: couplings.law,
        at.ROW_TIME: couplings.row_time,
        at.TERM_TIME: couplings.term_time,
        at.FORCE_ENERGY: forces.energy,
        at.FORCE_SLOPE: forces.slope,
        at.FORCE_VALUE: forces.value,
        at.ROW_TERM_START: couplings.term_start,
        at.ROW_ORIGIN: couplings.origin,
        at.TERM_FIRST: couplings.first,
        at.TERM_SECOND: couplings.second,
        at.TERM_FIRST_UPPER: couplings.first_upper.copy(),
        at.TERM_FIRST_LOWER: couplings.first_lower.copy(),
        at.TERM_SECOND_UPPER: couplings.second_upper.copy(),
        at.TERM_SECOND_LOWER: couplings.second_lower.copy(),
        at.TERM_FIRST_COLUMN: couplings.first_column,
        at.TERM_SECOND_COLUMN: couplings.second_column,
        at.PARTNER: couplings.partner,
        at.PARTNER_LOWER: couplings.partner_lower.copy(),
        at.LOAD_KIND: loads.kind,
        at.LOAD_POINT: loads.point,
        at.LOAD_TRIAD: loads.triad,
        at.WEIGHT_POINT: loads.weight_point,
        at.NODE_ORDER: nodes.order,
        at.NODE_SIZE: nodes.size,
        at.NODE_ROW: nodes.row_start,
        at.NODE_DIAGONAL: nodes.diagonal.copy(),
        at.NODE_NEIGHBOUR_START: nodes.neighbour_start,
        at.NODE_NEIGHBOUR: nodes.neighbour,
        at.NODE_UPPER: nodes.upper.copy(),
        at.NODE_LOWER: nodes.lower.copy(),
        at.NODE_TARGET_START: nodes.target_start,
        at.NODE_TARGET: nodes.target.copy(),
        at.PIVOTS: np.zeros(int(nodes.row_start[-1]), dtype=np.int64),
        at.PAIR_ROW: absolute.pair_row,
        at.PAIR_COLUMN: absolute.pair_column,
        at.PAIR_BLOCK: absolute.pair_block.copy(),
        at.QUADRATIC_START: absolute.start,
        at.QUADRATIC_NODE: absolute.node,
        at.QUADRATIC_FORM: absolute.form.copy(),
        at.QUADRATIC_BLOCK_START: absolute.block_start,
        at.QUADRATIC_BLOCK: absolute.block.copy(),
        at.QUADRATIC_LAW: absolute.law,
        at.LAW_KIND: absolute.law_kind,
        at.LAW_ENERGY: absolute.law_energy,
        at.LAW_DERIVATIVE: absolute.law_derivative,
        at.STATE_COUNTER: np.zeros(2, dtype=np.int64),
    }


def _make_absolute(ints: dict[int, IntArray], assembly: Assembly, blocks: int) -> None:
    """Starts within pools and blocks become starts in ``reals``; -1 stays."""
    for name in _BLOCK_STARTS:
        ints[name][ints[name] >= 0] += blocks
    ints[at.VECTOR_SHAPES] += len(assembly.bodies.pool)
    ints[at.QUADRATIC_FORM] += len(assembly.bodies.pool) + len(assembly.vectors.pool)


_BLOCK_STARTS = (
    at.TERM_FIRST_UPPER,
    at.TERM_FIRST_LOWER,
    at.TERM_SECOND_UPPER,
    at.TERM_SECOND_LOWER,
    at.PARTNER_LOWER,
    at.NODE_DIAGONAL,
    at.NODE_UPPER,
    at.NODE_LOWER,
    at.NODE_TARGET,
    at.PAIR_BLOCK,
    at.QUADRATIC_BLOCK,
)


def _real_tables(assembly: Assembly) -> dict[int, Array]:
    bodies, vectors, couplings, loads = assembly.bodies, assembly.vectors, assembly.couplings, assembly.loads
    forces, absolute = assembly.force_table.arrays, assembly.absolute
    return {
        at.FORCE_STIFFNESS: forces.stiffness,
        at.FORCE_DAMPING: forces.damping,
        at.FORCE_REST: forces.rest,
        at.MASS: bodies.mass,
        at.VISCOSITY: bodies.viscosity,
        at.STRAIN_WEIGHT: bodies.strain_weight,
        at.SQUARE_FACTOR: bodies.square_factor,
        at.VELOCITY_WEIGHT: bodies.velocity_weight,
        at.VECTOR_BASE: vectors.base,
        at.TERM_COEFFICIENT: couplings.coefficient,
        at.ROW_CONSTANT: couplings.constant,
        at.ROW_LENGTH: couplings.length,
        at.WEIGHT: loads.weight,
        at.PAIR_MASS: absolute.pair_mass,
        at.POINT_WEIGHT: absolute.point_weight,
        at.QUADRATIC_WEIGHT: absolute.weight,
        at.LAW_MODULUS: absolute.law_modulus,
        at.LAW_VISCOSITY: absolute.law_viscosity,
    }


def _work_sizes(assembly: Assembly) -> dict[int, int]:
    bodies, vectors = len(assembly.bodies.type_of), len(assembly.vectors.body)
    elastic, velocities = int(assembly.bodies.elastic_start[-1]), int(assembly.bodies.velocity_start[-1])
    quadratics = len(assembly.absolute.weight)
    rows, unknowns = len(assembly.couplings.constant), int(assembly.elimination.row_start[-1])
    moving, terms, forces = len(assembly.moving), len(assembly.couplings.coefficient), len(assembly.forces)
    values = len(assembly.loads.kind) + len(assembly.force_table.values)
    on_bodies = assembly.vectors.body[assembly.vectors.body >= 0]
    widths = np.diff(assembly.bodies.velocity_start)
    sizes = {at.LOAD_VALUE: 3 * values, at.MOVING0: 3 * moving, at.MOVING1: 3 * moving}
    sizes |= dict.fromkeys((at.V0, at.W0, at.V1, at.W1, at.HALF_TURN, at.POSITION1, at.MOMENT1), 3 * bodies)
    sizes |= dict.fromkeys((at.LINEAR0, at.LINEAR1, at.ANGULAR0, at.ANGULAR1, at.STATE_POSITION), 3 * bodies)
    sizes |= dict.fromkeys((at.ROTATION1, at.MEAN_ROTATION, at.STATE_ROTATION), 9 * bodies)
    sizes |= dict.fromkeys((at.XI0, at.XI1, at.RATE0, at.RATE1, at.ELASTIC0, at.ELASTIC1), elastic + bodies)
    sizes |= dict.fromkeys((at.ELASTIC_FORCE, at.ELASTIC_MEAN), elastic + bodies)
    sizes |= dict.fromkeys((at.STRAIN_GRADIENT, at.STRAIN_GRADIENT1), elastic + bodies)
    sizes |= dict.fromkeys((at.Z_RATE0, at.Z_RATE1, at.Z_XI), 3 * (elastic + bodies))
    sizes |= dict.fromkeys((at.Y_XI0, at.Y_XI1), 6 * (elastic + bodies))
    strains = int(_strain_starts(assembly)[-1])
    sizes |= dict.fromkeys((at.STRAIN0, at.STRAIN1, at.STRAIN_CHANGE), strains)
    sizes |= dict.fromkeys((at.SLOPE0, at.SLOPE1), int(_square_starts(assembly)[-1]))
    sizes |= dict.fromkeys((at.RHO0, at.RHO1, at.X0, at.X1, at.X_MEAN, at.VECTOR_FORCE), 3 * vectors)
    sizes |= dict.fromkeys((at.VECTOR_JACOBIAN, at.VECTOR_LEVER), 3 * int(widths[on_bodies].sum()))
    sizes |= dict.fromkeys((at.QUADRATIC0, at.QUADRATIC_CHANGE, at.QUADRATIC_FORCE), quadratics)
    sizes |= {at.QUADRATIC_VECTORS: 6 * quadratics}
    sizes |= {at.POINT_MOVE: 3 * (bodies - assembly.floating), at.QUADRATIC_SCRATCH: 12}
    sizes |= {at.BLOCKS: assembly.block_length}
    sizes |= dict.fromkeys((at.RESIDUAL, at.UPDATE, at.TRIAL_UPDATE), unknowns)
    of_velocities = (at.VELOCITY, at.PREVIOUS_VELOCITY, at.SAVED_VELOCITY, at.STATE_VELOCITY)
    sizes |= dict.fromkeys(of_velocities, velocities)
    of_rows = (at.MULTIPLIER, at.SAVED_MULTIPLIER, at.STATE_MULTIPLIER, at.ROW_RELAXATION)
    sizes |= dict.fromkeys(of_rows, rows)
    sizes |= dict.fromkeys((at.ROW_END, at.ROW_VALUE0, at.ROW_VALUE1), rows)
    sizes |= dict.fromkeys((at.TERM_END, at.TERM_MEAN), terms)
    sizes |= {at.ROW_SLOPE: 2 * rows, at.FORCE_THETA1: forces, at.STATE_THETA: forces}
    state = (at.STATE_POSITION, at.STATE_ROTATION, at.STATE_VELOCITY, at.STATE_MULTIPLIER, at.STATE_THETA)
    works = len(assembly.loads.kind) + assembly.links
    sizes |= {at.MEAN_MULTIPLIER: rows, at.STATE_ELASTIC: elastic, at.STATE_WORK: works}
    saved = sum(sizes[name] for name in (*state, at.STATE_ELASTIC, at.STATE_WORK)) + 1
    return sizes | {
        at.SAVED_STATE: saved,
        at.SCRATCH: 9 * int(widths.max(initial=1)),
        at.HISTORY: MAXIMAL_HISTORY,
        at.STATE_DISSIPATED: 1,
    }


def _strain_starts(assembly: Assembly) -> IntArray:
    counts = np.diff(assembly.bodies.strain_start)[assembly.bodies.type_of]
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _square_starts(assembly: Assembly) -> IntArray:
    of_type = np.diff(assembly.bodies.square_start[assembly.bodies.strain_start])
    return np.concatenate([[0], np.cumsum(of_type[assembly.bodies.type_of])]).astype(np.int64)
