"""Everything between the bodies of a mechanism as functions of many states: joints, forces, loads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.interactions.functions import (
    AngleCoordinate,
    Coordinate,
    DistanceCoordinate,
    LinearCoordinate,
    Row,
)
from phlexible.description.joints.relations import RelationRow
from phlexible.description.time_functions import Timed
from phlexible.papers.compiled_bodies import in_one_piece
from phlexible.papers.kernels.vectors import (
    FunctionTables,
    VectorTables,
    function_pulls,
    function_rates,
    function_values,
)
from phlexible.state.functions import timed_values
from phlexible.state.instants import GivenFunctions
from phlexible.state.layout import offsets
from phlexible.state.system import System
from phlexible.state.vectors import CarriedVector
from phlexible.step.tables.declarations import GIVEN, MOVING

# Joints demand that functions of world vectors do not change, forces act along coordinates that are functions of
# these again: a *line* is one of either. Its rate is sum_m slope_m dw_m/dt, and a force on it is slope_m times that
# on each of its functions w_m.

KEPT_TIMES = 64


@dataclass(frozen=True, eq=False)
class LinePart:
    """A coordinate in a line: factor theta(w) with its functions w.

    Attributes:
        functions: one or more.
        coordinate: None where the only function is the coordinate.
        factor: of it.
    """

    functions: tuple[Row, ...]
    coordinate: Coordinate | None
    factor: float = 1.0


def line_of_row(row: Row) -> tuple[LinePart, ...]:
    """The line of a constraint: a plain function, or a relation of coordinates."""
    if not isinstance(row, RelationRow):
        return (LinePart((row,), None),)
    return tuple(LinePart(coordinate.functions(), coordinate, factor) for coordinate, factor in row.parts)


@dataclass(frozen=True, eq=False)
class _Given:
    """What moves by itself at one time: places and rates of vectors, factors and offsets with their rates."""

    places: Array
    rates: Array
    factors: Array
    factor_rates: Array
    offset_rates: Array


@dataclass(frozen=True, eq=False)
class Poses:
    """T states with what follows from their positions.

    Attributes:
        x: shape (T, n).
        given: what moves by itself in each.
        factors: of the terms, shape (T, terms).
        arms: rho of the vectors that frames carry, shape (T, k, 3).
        vectors, chords, values: X, Y and w, shapes (T, k, 3), (T, c, 3), (T, m).
        slopes: of each line to its functions, shape (T, m).
    """

    x: Array
    given: Sequence[_Given]
    factors: Array
    arms: Array
    vectors: Array
    chords: Array
    values: Array
    slopes: Array


class JoinedFunctions:
    """Lines between bodies, and vectors that loads act on.

    Args:
        system: of the bodies.
        lines: parts of each.
        vectors: of loads.
        places: of the bodies' states in x: ``frames``, ``fixed`` and ``nodes`` of ``VectorTables``.
        time: place of the time in x.

    Attributes:
        owner: line of each function, shape (m,).
        first: first function of each line, shape (lines + 1,).
        loaded: numbers of ``vectors``.
        is_moving: whether anything moves by itself.
    """

    def __init__(
        self,
        system: System,
        lines: Sequence[Sequence[LinePart]],
        vectors: Sequence[CarriedVector],
        places: tuple[IntArray, Array, IntArray],
        time: int,
    ) -> None:
        self._system, self._time, self._places = system, time, places
        self._known: dict[float, _Given] = {}
        rows = [row for parts in lines for part in parts for row in part.functions]
        self._functions = system.functions(rows)
        first = offsets([sum(len(part.functions) for part in parts) for parts in lines])
        self.first, self.owner = first, np.repeat(np.arange(len(lines)), np.diff(first))
        own = self._functions.set.vectors
        self._vectors = (*own, *vectors)
        self.loaded = np.arange(len(own), len(self._vectors))
        terms = [term for each in self._functions.functions for term in each]
        self._constants = np.array([term[0] for term in terms], dtype=np.float64)
        self._timed = [(k, term[3]) for k, term in enumerate(terms) if term[3] is not None]
        self.is_moving = bool(system.moving_frames or system.paths)
        self._sort(lines)
        self._make_tables()

    def _sort(self, lines: Sequence[Sequence[LinePart]]) -> None:
        """Coordinates by how their slopes are found."""
        self._constant_slopes = np.ones(len(self.owner))
        self._distances, self._angles = list[tuple[int, float]](), list[tuple[int, float]]()
        self._others = list[tuple[slice, Coordinate, float]]()
        place = 0
        for part in (each for parts in lines for each in parts):
            count, factor, coordinate = len(part.functions), part.factor, part.coordinate
            if coordinate is None:
                self._constant_slopes[place] = factor
            elif isinstance(coordinate, LinearCoordinate):
                self._constant_slopes[place : place + count] = factor * coordinate.gradient(np.zeros(count))
            elif isinstance(coordinate, DistanceCoordinate):
                self._distances.append((place, factor))
            elif isinstance(coordinate, AngleCoordinate):
                self._angles.append((place, factor))
            else:
                self._others.append((slice(place, place + count), coordinate, factor))
            place += count

    def _make_tables(self) -> None:
        vectors, functions, layout = self._vectors, self._functions, self._system.layout
        is_frame = [0 <= vector.carrier < layout.frames for vector in vectors]
        base, shapes = np.zeros((len(vectors), 3)), list[Array]()
        for k, vector in enumerate(vectors):
            base[k] = vector.base
            own = np.zeros((3, 0))
            if is_frame[k]:
                centre = self._system.centres[vector.carrier]
                own = vector.shapes + centre[:, 1:] if vector.is_point else vector.shapes
                base[k] += centre[:, 0] * vector.is_point
            shapes.append(np.asarray(own).ravel())
        terms = [term for each in functions.functions for term in each]
        parts = [part for chord in functions.chords for part in chord]
        carriers = np.array([vector.carrier for vector in vectors], dtype=np.int64)
        self.vector_tables = VectorTables(
            frame=np.where(is_frame, carriers, -1) if vectors else carriers,
            node=np.where(carriers >= layout.frames, carriers - layout.frames, -1),
            is_point=np.array([vector.is_point for vector in vectors], dtype=np.bool_),
            base=base,
            start=offsets([len(each) for each in shapes]),
            shapes=np.concatenate([*shapes, np.zeros(0)]),
            frames=self._places[0],
            fixed=self._places[1],
            nodes=self._places[2],
        )
        self.function_tables = FunctionTables(
            chord_start=offsets([len(chord) for chord in functions.chords]),
            chord_vector=np.array([vector for _, vector in parts], dtype=np.int64),
            chord_weight=np.array([weight for weight, _ in parts], dtype=np.float64),
            term_start=offsets([len(each) for each in functions.functions]),
            term_first=np.array([term[1] for term in terms], dtype=np.int64),
            term_second=np.array([term[2] for term in terms], dtype=np.int64),
        )
        self._plain = tuple(self.vector_tables), tuple(self.function_tables)
        self._given_places = np.array([v.base * (v.carrier == GIVEN) for v in vectors]).reshape(-1, 3)

    def carrier(self, vector: int) -> int:
        """Carrier of a vector, negative where no body carries it."""
        return int(self._vectors[vector].carrier)

    def vectors_of(self, function: int) -> Iterator[int]:
        """The vectors in a function."""
        for _, a, b, _ in self._functions.functions[function]:
            yield from (vector for _, vector in (*self._functions.chords[a], *self._functions.chords[b]))

    def is_timed(self, function: int) -> bool:
        """Whether a function changes by itself."""
        if self._functions.offsets[function] is not None:
            return True
        timed = any(term[3] is not None for term in self._functions.functions[function])
        return timed or any(self.carrier(vector) == MOVING for vector in self.vectors_of(function))

    def chord_parts(self, function: int) -> list[int]:
        """Vectors of the first chord of a function, in order."""
        return [vector for _, vector in self._functions.chords[self._functions.functions[function][0][1]]]

    def at(self, x: Array) -> Poses:
        """T states."""
        x = in_one_piece(x)
        count, (chords, _, _, terms, _, _) = len(x), self.function_tables
        factors = np.empty((count, len(self._constants)))
        factors[:] = self._constants
        given, places = list[_Given](), np.empty((count, *self._given_places.shape))
        places[:] = self._given_places
        if self.is_moving:
            given = [self._at(t) for t in x[:, self._time].tolist()]
            for t, each in enumerate(given):
                places[t], factors[t] = each.places, each.factors
        arms, X, Y = np.empty_like(places), np.empty_like(places), np.empty((count, len(chords) - 1, 3))
        w = np.empty((count, len(terms) - 1))
        function_values(*self._plain, x, places, factors, arms, X, Y, w)
        return Poses(x, given, factors, arms, X, Y, w, self._slopes(w))

    def _slopes(self, w: Array) -> Array:
        result = np.empty_like(w)
        result[:] = self._constant_slopes
        for place, factor in self._distances:
            result[:, place] = 0.5 * factor / np.sqrt(w[:, place])
        for place, factor in self._angles:
            c, s = w[:, place], w[:, place + 1]
            size = factor / (c * c + s * s)
            result[:, place], result[:, place + 1] = -s * size, c * size
        for own, coordinate, factor in self._others:
            for t, y in enumerate(w[:, own]):
                result[t, own] = factor * coordinate.gradient(y)
        return result

    def rates(self, at: Poses, z: Array) -> tuple[Array, Array]:
        """Rates of vectors (T, k, 3) and functions (T, m) for the velocities in z (T, n)."""
        dX, dw = np.empty_like(at.vectors), np.empty_like(at.values)
        known = np.zeros_like(at.vectors), at.factors, at.arms, at.chords
        function_rates(*self._plain, at.x, in_one_piece(z), *known, dX, dw)
        return dX, dw

    def chord_rates(self, dX: Array) -> Array:
        """Rates of the chords, shape (T, c, 3), from those of the vectors."""
        start, vectors, weights, *_ = self.function_tables
        result = np.zeros((len(dX), len(start) - 1, 3))
        owners = np.repeat(np.arange(len(start) - 1), np.diff(start))
        np.add.at(result.swapaxes(0, 1), owners, (weights[:, None] * dX[:, vectors]).swapaxes(0, 1))
        return result

    def drift(self, at: Poses) -> Array:
        """What moving frames and paths add to the rates of functions, shape (T, m)."""
        result = np.zeros_like(at.values)
        if not self.is_moving:
            return result
        moved = np.array([each.rates for each in at.given])
        known = moved, at.factors, at.arms, at.chords
        function_rates(*self._plain, at.x, np.zeros_like(at.x), *known, np.empty_like(moved), result)
        _, _, _, begins, first, second = self.function_tables
        rates = np.array([each.factor_rates for each in at.given])
        for k, _ in self._timed:
            m = int(np.searchsorted(begins, k, "right")) - 1
            result[:, m] += rates[:, k] * (at.chords[:, first[k]] * at.chords[:, second[k]]).sum(axis=1)
        return np.asarray(result - np.array([each.offset_rates for each in at.given]))

    def line_rates(self, at: Poses, rates: Array) -> Array:
        """Of lines, shape (T, lines), from those of functions."""
        if not len(self.owner):
            return np.zeros((len(rates), 0))
        return np.asarray(np.add.reduceat(at.slopes * rates, self.first[:-1], axis=1))

    def pull(self, at: Poses, along: Array, on_functions: Array, on_vectors: Array, out: Array) -> None:
        """Adds forces along lines (T, lines), along functions (T, m) and on vectors (T, k, 3) to out (T, n)."""
        forces = on_functions + at.slopes * along[:, self.owner]
        function_pulls(*self._plain, at.x, at.factors, at.arms, at.chords, forces, on_vectors, out)

    def spread(self, at: Poses, functions: slice, out: Array) -> None:
        """Adds the gradient of a line to its vectors, of its functions given here, to out (T, k, 3)."""
        chord_start, chord_vector, chord_weight, term_start, first, second = self.function_tables
        for m in range(functions.start, functions.stop):
            for p in range(term_start[m], term_start[m + 1]):
                slope = (at.slopes[:, m] * at.factors[:, p])[:, None]
                for chord, other in ((first[p], second[p]), (second[p], first[p])):
                    for e in range(chord_start[chord], chord_start[chord + 1]):
                        out[:, chord_vector[e]] += chord_weight[e] * slope * at.chords[:, other]

    def _at(self, time: float) -> _Given:
        """What moves by itself at a time: asked once, since stages come back to their times."""
        if time not in self._known:
            if len(self._known) == KEPT_TIMES:
                self._known.pop(next(iter(self._known)))
            self._known[time] = self._asked(time)
        return self._known[time]

    def _asked(self, time: float) -> _Given:
        given = GivenFunctions(self._system.moving_frames, self._system.paths, np.array([time]))
        places, rates = self._given_places.copy(), np.zeros_like(self._given_places)
        for k, vector in enumerate(self._vectors):
            if vector.carrier == MOVING and vector.is_point:
                places[k], rates[k] = given.frames[0, vector.frame], given.frame_velocities[0, vector.frame]
            elif vector.carrier == MOVING:
                places[k] = given.frame_rotations[0, vector.frame] @ vector.base
                rates[k] = np.cross(given.frame_angular_velocities[0, vector.frame], places[k])
        factors, factor_rates = self._constants.copy(), np.zeros_like(self._constants)
        for k, timed in self._timed:
            assert timed is not None, "chosen so"
            factors[k], factor_rates[k] = self._timed_at(given, self._constants[k], timed)
        offset_rates = [
            0.0 if each is None else self._timed_at(given, 1.0, each)[1] for each in self._functions.offsets
        ]
        return _Given(places, rates, factors, factor_rates, np.array(offset_rates, dtype=np.float64))

    def _timed_at(self, given: GivenFunctions, c: float, timed: Timed) -> tuple[float, float]:
        column = next(i for i, path in enumerate(self._functions.paths) if path is timed.path)
        p, dp = given.paths[:, column], given.path_rates[:, column]
        value, rate, _ = timed_values(timed.factor, p, dp, np.zeros_like(p))
        return c * float(value[0]), c * float(rate[0])
