"""Readings of most sensors at one instant, computed by compiled code from the numbers of the state."""

from collections.abc import Mapping, Sequence

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import nearest_turns
from phlexible.description.interactions.functions import PointOf
from phlexible.description.interactions.sensor import LinearReading, Source
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment
from phlexible.state.functions import VectorCollector, function_set
from phlexible.state.layout import Layout, offsets
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.vectors import CarriedVector
from phlexible.step.assembly.interactions import MeasureTables, coordinate_kind, measure_tables
from phlexible.step.programs import measure, measure_rows, measured_vectors
from phlexible.step.tables.declarations import ANGLE, DISTANCE, MOVING, POSITION
from phlexible.step.tables.requests import NODE, POINT


class QuickReading:
    """Compiled reading of a joint or an attachment, of which sensors measure a share.

    Args:
        layout: of the numbers of a state.
        vectors: whose places and rates are found.
        tables: what ``measure`` makes of them.
        gather: the numbers are these sums of what it measures, shape (numbers, measured).
        counted: indices of angles among what it measures, and of the forces along them in the state.

    Attributes:
        carried: the vectors.
        counted: as given, shape (2, angles).
    """

    def __init__(
        self,
        layout: Layout,
        vectors: Sequence[CarriedVector],
        tables: MeasureTables,
        gather: Array | None = None,
        counted: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.counted: IntArray = np.array(counted, dtype=np.int64).reshape(-1, 2).T
        self._vectors, self._tables, self._gather = _vector_tables(layout, vectors), tables, gather
        self.carried = tuple(vectors)
        self._dimension = int(layout.linear.shape[1])
        self._positions, self._rates = np.zeros((2, len(vectors), 3))
        self._angles = np.zeros(len(tables[0]))
        self._measured = np.zeros(sum(6 if kind == POINT else 2 for kind in tables[0][:, 0]))

    def needs_positions_only(self, form: LinearReading) -> bool:
        """Return whether a sensor can be evaluated without velocities. It can if the matrix of ``form``, the
        sensor value as a linear function of measured values, has only zero weights for rates."""
        rates = slice(3, 6) if self._gather is not None else slice(1, None, 2)
        return not form[1][:, rates].any()

    @property
    def arguments(self) -> tuple[tuple[IntArray, Array, Array], MeasureTables, Array | None]:
        """Return the arguments of the compiled functions ``measured_vectors`` and ``measure`` that evaluate the
        measured values, and the matrix that sums these values (None: no sum)."""
        return self._vectors, self._tables, self._gather

    def read(self, rows: Mapping[str, Array], velocity: Array, form: LinearReading) -> Array:
        """Return the value of a sensor at the last of the stored instants ``rows``, shape (components,), by
        compiled code. It is the matrix of ``form`` (the sensor as a linear function) times measured coordinates
        and rates, minus an offset. ``rows`` has the arrays "position", "rotation", "eta" (elastic coordinates) and
        "theta" (coordinates of forces); ``velocity``, shape (velocities,), is that of all bodies. Angles are
        between -pi and pi, or over the full turns of forces along them.

        Args:
            rows: stored instants by the names of the tables.
            velocity: of all bodies, flat.
            form: of the numbers.
        """
        state = rows["position"][-1], rows["rotation"][-1], rows["eta"][-1]
        measured_vectors(*state, velocity, self._dimension, *self._vectors, self._positions, self._rates)
        self._angles[:] = np.nan
        measure(self._positions, self._rates, *self._tables, self._angles, self._measured)
        if self.counted.size:
            places, forces = self.counted
            self._measured[places] = nearest_turns(self._measured[places], rows["theta"][-1, forces])
        numbers = self._measured if self._gather is None else self._gather @ self._measured
        _, weights, offset = form
        return np.asarray(weights @ numbers - offset)


class RowsOfReadings:
    """Compiled reading of one sensor in many runs, one row each.

    Args:
        count: number of runs.
        example: share and reading of one of them.

    Attributes:
        is_of_positions: whether it needs positions only, no rates.
    """

    def __init__(self, count: int, example: tuple[LinearReading, QuickReading]) -> None:
        form, first = example
        self._first, (_, base, shapes) = first, first._vectors
        self._base, self._shapes = np.zeros((count, *base.shape)), np.zeros((count, *shapes.shape))
        self._weights_of_parts = np.zeros((count, len(first._tables[-1])))
        self._weights, self._offsets = np.zeros((count, *form[1].shape)), np.zeros((count, *form[2].shape))
        self._measured = np.zeros((count, len(first._measured)))
        self.needs_positions_only = True

    def set_readings(self, known: Mapping[int, tuple[LinearReading, QuickReading]]) -> bool:
        """Store how one sensor is evaluated in several runs, from ``known``: run index to a pair of linear
        function and compiled evaluation. Return True if all have the structure of the stored example. At the first
        that differs return False; data of earlier runs are then already stored."""
        for k, (form, reading) in known.items():
            if not self._fits(form, reading):
                return False
            _, self._base[k], self._shapes[k] = reading._vectors
            self._weights_of_parts[k], self._weights[k], self._offsets[k] = reading._tables[-1], form[1], form[2]
            self.needs_positions_only = self.needs_positions_only and reading.needs_positions_only(form)
        return True

    def _fits(self, form: LinearReading, reading: QuickReading) -> bool:
        first = self._first
        integers = [first._vectors[0], first.counted, *first._tables[:-1]]
        others = [reading._vectors[0], reading.counted, *reading._tables[:-1]]
        are_equal = all(np.array_equal(a, b) for a, b in zip(integers, others, strict=True))
        if not are_equal or form[1].shape != self._weights.shape[1:]:
            return False
        gather, other = first._gather, reading._gather
        return gather is other or (gather is not None and other is not None and np.array_equal(gather, other))

    def read(self, rows: Mapping[str, Array], velocity: Array) -> Array:
        """Return the values of one sensor in all runs, shape (runs, components), by one compiled call. ``rows``
        has the arrays "position", "rotation", "eta" (elastic coordinates) and "theta" (coordinates of forces) by
        name, each with a first axis (runs,). ``velocity``, shape (runs, velocities), is the velocity of all bodies.
        Angles are between -pi and pi, or over the full turns of forces along them.

        Args:
            rows: stored instants by the names of the tables, a row for each run.
            velocity: of all bodies, shape (runs, velocities).
        """
        first = self._first
        state = [np.ascontiguousarray(rows[name]) for name in ("position", "rotation", "eta")]
        own = first._vectors[0], self._base, self._shapes
        room = first._positions, first._rates, first._angles
        measure_rows(
            *state,
            np.ascontiguousarray(velocity),
            first._dimension,
            *own,
            *first._tables[:-1],
            self._weights_of_parts,
            *room,
            self._measured,
        )
        places, forces = first.counted
        self._measured[:, places] = nearest_turns(self._measured[:, places], rows["theta"][:, forces])
        numbers = self._measured if first._gather is None else self._measured @ first._gather.T
        return np.asarray(np.einsum("kij,kj->ki", self._weights, numbers) - self._offsets)


def quick_reading(run: RecordedRun, source: Source, with_moving_frames: bool = False) -> QuickReading | None:
    """Return an object that evaluates the coordinates of a joint, or position and velocity of a point, by compiled
    code. ``source`` is the joint or point in the recorded ``run``. Return None for other sources and for joints
    that compiled code cannot evaluate. Joints with frames of prescribed motion count only if
    ``with_moving_frames``.

    Args:
        with_moving_frames: also relative to a frame that moves, whose positions and rates are then known elsewhere.

    Raises:
        ModelError: of another model.
    """
    if isinstance(source, Attachment):
        return _attachment_reading(run, source)
    return _joint_reading(run, source, with_moving_frames) if isinstance(source, Joint) else None


def _attachment_reading(run: RecordedRun, attachment: Attachment) -> QuickReading:
    """Return an object that evaluates position and velocity of a point or frame (``attachment``) of a body by
    compiled code in the recorded ``run``. The values are weighted sums over material points or nodes, in most
    cases over one."""
    parts = run.system.resolver.parts(PointOf(run.port_in_run(attachment)))
    gather = np.hstack([weight * np.eye(6) for weight, _ in parts])
    return vector_reading(run.system.layout, [vector for _, vector in parts], gather)


def vector_reading(layout: Layout, vectors: Sequence[CarriedVector], gather: Array | None = None) -> QuickReading:
    """Return an object that evaluates ``vectors`` (points and directions on bodies) by compiled code: three world
    coordinates and three rates for each. With a matrix ``gather`` it returns weighted sums of these values.
    ``layout`` has the offsets of each body's coordinates."""
    tables = measure_tables([(POINT, k, 6 * k, -1) for k in range(len(vectors))], (), ())
    return QuickReading(layout, vectors, tables, np.eye(6 * len(vectors)) if gather is None else gather)


def _joint_reading(run: RecordedRun, joint: Joint, with_moving_frames: bool) -> QuickReading | None:
    """Return an object that evaluates each coordinate of a ``joint`` (translation or angle) and its rate by
    compiled code in the recorded ``run``. Return None for kinds of coordinates that compiled code does not have.
    Coordinates relative to a frame of prescribed motion are allowed only if ``with_moving_frames``."""
    joint = run.mechanism.joints[run.joint_index(joint)]
    own = joint.coordinates(run.system.dimension)
    functions = [each.functions() for each in own]
    collector = VectorCollector(run.system.resolver)
    found = function_set(
        [row for rows in functions for row in rows], run.system.layout, run.system.resolver, (), collector
    )
    kinds = [coordinate_kind(each) for each in own]
    moves = not with_moving_frames and any(vector.carrier == MOVING for vector in found.set.vectors)
    if moves or found.constants.any() or not set(kinds) <= {POSITION, DISTANCE, ANGLE}:
        return None
    first = offsets([len(rows) for rows in functions])
    items = [(kind, first[k], 2 * k, k if kind == ANGLE else -1) for k, kind in enumerate(kinds)]
    tables = measure_tables(items, found.functions, found.chords)
    counters = run.system.turn_counters
    counted = [(2 * k, counters[joint, x.name]) for k, x in enumerate(own) if (joint, x.name) in counters]
    return QuickReading(run.system.layout, found.set.vectors, tables, counted=counted)


def _vector_tables(layout: Layout, vectors: Sequence[CarriedVector]) -> tuple[IntArray, Array, Array]:
    """Return three arrays that describe ``vectors`` (points and directions on bodies) to compiled code. They are:
    seven integers for each vector (body, whether a point, offset of the body's coordinates, ...); undeformed
    coordinates in body axes, shape (vectors, 3); displacements by the elastic coordinates, shape (functions, 3),
    one row for each coordinate. ``layout`` has the offsets of the coordinates of each body."""
    rows, shapes = [], [np.zeros((0, 3))]
    for vector in vectors:
        b, axes, first, count = vector.carrier, NODE, 0, 0
        if 0 <= b < layout.frames:
            axes, first, count = len(layout.bodies[b].rotation_axes), layout.eta[b], vector.shapes.shape[1]
        begin = layout.carrier_velocity[b] if b >= 0 else 0
        rows.append((b, vector.is_point, begin, axes, first, sum(len(each) for each in shapes), count))
        shapes.append(vector.shapes.T[:count])
    base = np.array([vector.base for vector in vectors]).reshape(-1, 3)
    return np.array(rows, dtype=np.int64).reshape(-1, 7), base, np.ascontiguousarray(np.concatenate(shapes))
