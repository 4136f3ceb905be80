"""Joints and loads as the arrays of the kernels: vectors, joint functions, elimination."""

import itertools
from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.elimination_order import BlockSchedule
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.interactions.bilinear import DirectionOf, PointOf, Row, Vector, WorldAxis
from phlexible.interactions.loads import Axes, Force, PointLoad
from phlexible.interactions.time_paths import Timed, TimePath
from phlexible.kernels.arrays import CouplingArrays, LoadArrays, VectorArrays
from phlexible.kernels.tables import CONSTANT, FOLLOWER_FORCE, FOLLOWER_TORQUE, FORCE, MOVING, TORQUE
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.system.body_tables import Pool, support

PartneredRow = tuple[Row, list[tuple[int, int]]]


class VectorTable:
    """Collects world vectors; the same one is kept once.

    Args:
        bodies: in the order of the mechanism.
        carriers: bodies of the tables: the floating ones, then the nodes of the absolute ones.

    Attributes:
        moving: vectors and drive paths that are functions of time, in the order of their columns.
    """

    def __init__(self, bodies: tuple[PlacedBody, ...], carriers: Sequence[FloatingBody]) -> None:
        counts = [placed.data.node_count if isinstance(placed.data, AbsoluteBody) else 1 for placed in bodies]
        self._index = dict(zip(bodies, _offsets(counts)[:-1].tolist(), strict=True))
        self._data = carriers
        self._known: dict[tuple[object, ...], int] = {}
        self._pool = Pool()
        self._rows: list[tuple[int, int, Array, int, int, int, int]] = []
        self.moving: list[PointOf | DirectionOf | TimePath] = []

    def add(self, vector: Vector) -> int:
        """The number of a vector."""
        key = _key(vector)
        if key not in self._known:
            self._known[key] = len(self._rows)
            self._append(vector)
        return self._known[key]

    def add_triad(self, port: Attachment) -> int:
        """The number of the first of three new vectors: the body axes at a port."""
        start = len(self._rows)
        for axis in port.placed.rotation.T:
            self._append(DirectionOf(port, axis))
        return start

    def add_center_of_mass(self, placed: PlacedBody) -> int:
        """The number of a new vector: the center of mass of a body (formulation 4, gravity)."""
        assert isinstance(placed.data, FloatingBody), "nodes carry their own weight"
        field = placed.data.first_moments / placed.data.mass
        self._rows.append(self._on_body(self._index[placed], True, field[:, 0], field[:, 1:]))
        return len(self._rows) - 1

    def component_of(self, timed: Timed | None) -> int:
        """Number of a function of time among the components of the moving vectors; -1: none."""
        if timed is None:
            return -1
        if timed.path not in self.moving:
            self.moving.append(timed.path)
        return 3 * self.moving.index(timed.path) + timed.factor.value

    def body_of(self, vector: int) -> int:
        """Index of the body that carries a vector; negative: given."""
        return self._rows[vector][0]

    def _append(self, vector: Vector) -> None:
        if isinstance(vector, WorldAxis):
            self._rows.append((CONSTANT, 0, vector.axis, 0, 0, 0, 0))
            return
        port = vector.port
        is_point = isinstance(vector, PointOf)
        if not isinstance(port, Attachment):
            if isinstance(vector, DirectionOf) and port.rotation is None:
                self._rows.append((CONSTANT, 0, vector.axis, 0, 0, 0, 0))
            elif port.is_fixed:
                self._rows.append((CONSTANT, 1, port.initial_position(), 0, 0, 0, 0))
            else:
                self._rows.append((MOVING, int(is_point), np.zeros(3), 0, 0, 0, len(self.moving)))
                self.moving.append(vector)
            return
        if isinstance(port.placed.data, AbsoluteBody):
            assert port.point.node is not None, "a mechanism refuses joints and loads between nodes"
            node = self._index[port.placed] + port.point.node
            self._rows.append(self._on_body(node, is_point, np.zeros(3), np.zeros((3, 0))))
            return
        if isinstance(vector, PointOf):
            base, shapes = port.point.position, port.point.shapes
        else:
            assert port.point.rotations is not None, "joints refuse ports without orientation"
            base = port.placed.rotation.T @ vector.axis
            shapes = port.point.direction_shapes(base)
        self._rows.append(self._on_body(self._index[port.placed], is_point, base, shapes))

    def _on_body(
        self, body: int, is_point: bool, base: Array, shapes: Array
    ) -> tuple[int, int, Array, int, int, int, int]:
        return (body, int(is_point), base, self._pool.add(shapes), *support(shapes), 0)

    def arrays(self) -> VectorArrays:
        """The table."""

        def column(k: int) -> IntArray:
            return np.array([row[k] for row in self._rows], dtype=np.int64)

        widths = [3 * self._data[row[0]].velocity_count if row[0] >= 0 else 0 for row in self._rows]
        return VectorArrays(
            body=column(0),
            is_point=column(1),
            base=np.array([row[2] for row in self._rows], dtype=np.float64).reshape(-1, 3),
            shapes=column(3),
            first=column(4),
            last=column(5),
            moving=column(6),
            work_start=np.concatenate([[0], np.cumsum(widths)])[:-1].astype(np.int64),
            pool=self._pool.numbers(),
        )


class CouplingTable:
    """The functions of all links (joints, drives, elements) as numbered vectors.

    Args:
        joints: rows of each link.
        laws: what each link is, see ``tables.py``.
        vectors: where their vectors are collected.
        dimension: 2 or 3.
    """

    def __init__(
        self, joints: Sequence[Sequence[Row]], laws: Sequence[int], vectors: VectorTable, dimension: int
    ) -> None:
        self._vectors = vectors
        self._laws = np.array(laws, dtype=np.int64)
        self._dimension = dimension
        self._rows = [
            [(row, [(vectors.add(t.first), vectors.add(t.second)) for t in row.terms]) for row in rows]
            for rows in joints
        ]
        self._partners = [self._partners_of(rows) for rows in self._rows]

    @property
    def node_sizes(self) -> list[int]:
        """Unknowns of each joint in the elimination: multipliers and partners' means."""
        return [
            len(rows) + self._dimension * len(partners)
            for rows, partners in zip(self._rows, self._partners, strict=True)
        ]

    def edges(self, bodies: int) -> list[tuple[int, int]]:
        """Pairs (body node, joint node) that are coupled."""
        pairs = set()
        for j, rows in enumerate(self._rows):
            for vector in itertools.chain.from_iterable(pair for _, pairs in rows for pair in pairs):
                if (body := self._vectors.body_of(vector)) >= 0:
                    pairs.add((body, bodies + j))
        return sorted(pairs)

    def arrays(self, schedule: BlockSchedule, bodies: int, lengths: Array) -> CouplingArrays:
        """The table, with the places of its blocks in the schedule; ``lengths`` of the rows."""
        places = schedule.places()
        terms: list[tuple[int, ...]] = []
        coefficients, constants, origins, partner_lower = [], [], [], []
        row_times, term_times = [], []
        term_start = [0]
        for j, (rows, partners) in enumerate(zip(self._rows, self._partners, strict=True)):
            node = bodies + j
            columns = {v: len(rows) + k * self._dimension for k, v in enumerate(partners)}

            def blocks(vector: int, node: int = node) -> tuple[int, int]:
                body = self._vectors.body_of(vector)
                return (places[body, node], places[node, body]) if body >= 0 else (-1, -1)

            for row, numbers in rows:
                constants.append(row.constant)
                row_times.append(self._vectors.component_of(row.offset))
                origins.append(_origin(row, numbers))
                for term, (first, second) in zip(row.terms, numbers, strict=True):
                    met = self._met(first, second)
                    met_columns = (columns[first], columns[second]) if met else (-1, -1)
                    terms.append((first, second, *blocks(first), *blocks(second), *met_columns))
                    coefficients.append(term.coefficient)
                    term_times.append(self._vectors.component_of(term.factor))
                term_start.append(len(terms))
            partner_lower += [blocks(vector)[1] for vector in partners]
        table = np.array(terms, dtype=np.int64).reshape(-1, 8)
        return CouplingArrays(
            row_start=_offsets([len(rows) for rows in self._rows]),
            term_start=np.array(term_start, dtype=np.int64),
            coefficient=np.array(coefficients, dtype=np.float64),
            constant=np.array(constants, dtype=np.float64),
            row_time=np.array(row_times, dtype=np.int64),
            term_time=np.array(term_times, dtype=np.int64),
            law=self._laws,
            length=lengths,
            origin=np.array(origins, dtype=np.int64),
            partner_start=_offsets([len(partners) for partners in self._partners]),
            partner=np.array([v for partners in self._partners for v in partners], dtype=np.int64),
            partner_lower=np.array(partner_lower, dtype=np.int64),
            **{name: table[:, k].copy() for k, name in enumerate(_TERM_COLUMNS)},
        )

    def _met(self, first: int, second: int) -> bool:
        """Whether two vectors on different bodies meet in a term."""
        a, b = self._vectors.body_of(first), self._vectors.body_of(second)
        return a >= 0 and b >= 0 and a != b

    def _partners_of(self, rows: Sequence[PartneredRow]) -> list[int]:
        pairs = itertools.chain.from_iterable(pairs for _, pairs in rows)
        return sorted({v for first, second in pairs if self._met(first, second) for v in (first, second)})


_TERM_COLUMNS = (
    "first",
    "second",
    "first_upper",
    "first_lower",
    "second_upper",
    "second_lower",
    "first_column",
    "second_column",
)


def load_arrays(
    loads: Sequence[PointLoad], bodies: Sequence[PlacedBody], gravity: Array, vectors: VectorTable
) -> LoadArrays:
    """Loads on attachments in their order, and the weights of all bodies unless gravity is zero."""
    weighted = [placed for placed in bodies if isinstance(placed.data, FloatingBody) and gravity.any()]
    rows = []
    for load in loads:
        is_force, follows = isinstance(load, Force), load.axes is Axes.BODY
        if is_force:
            kind = FOLLOWER_FORCE if follows else FORCE
        else:
            kind = FOLLOWER_TORQUE if follows else TORQUE
        point = vectors.add(PointOf(load.attachment)) if is_force else -1
        rows.append((kind, point, -1 if kind == FORCE else vectors.add_triad(load.attachment)))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return LoadArrays(
        kind=table[:, 0].copy(),
        point=table[:, 1].copy(),
        triad=table[:, 2].copy(),
        weight_point=np.array([vectors.add_center_of_mass(placed) for placed in weighted], dtype=np.int64),
        weight=np.array([placed.data.mass * gravity for placed in weighted]).reshape(-1, 3),
    )


def _origin(row: Row, numbers: Sequence[tuple[int, int]]) -> int:
    """The first point of a row with products of points, -1 for other rows.

    Products of points cancel far from the world's origin, and all of them can be measured from one point.
    """
    for term, (first, _) in zip(row.terms, numbers, strict=True):
        if isinstance(term.first, PointOf) and isinstance(term.second, PointOf):
            return first
    return -1


def _key(vector: Vector) -> tuple[object, ...]:
    if isinstance(vector, WorldAxis):
        return (vector.axis.tobytes(),)
    port = vector.port
    place: tuple[object, ...] = (port.placed, port.location) if isinstance(port, Attachment) else (port,)
    return place if isinstance(vector, PointOf) else (*place, vector.axis.tobytes())


def _offsets(counts: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
