"""Joints of a mechanism as products: G nu and G^T lambda of many states, in the papers' coordinates.

Every joint function is a sum of products of world vectors x = r + R rho (docs/theory.md, 8); with r and rho
about the reference point, v and w in body axes, ``dx/dt = R (v + w x rho + P deta/dt)``. Nothing else is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.errors import ModelError
from phlexible.interactions.time_paths import Timed
from phlexible.system.constraint_functions import ConstraintSet
from phlexible.system.functions import timed_values
from phlexible.system.instants import GivenFunctions
from phlexible.system.system import System
from phlexible.tables.declarations import GIVEN, MOVING

KEPT_TIMES = 64


@dataclass(frozen=True, eq=False)
class BodyMotions:
    """T states of f bodies.

    Attributes:
        time: shape (T,) [s].
        position, rotation: of the reference points, shapes (T, f, 3) and (T, f, 3, 3).
        displacement: eta of all bodies, flat, shape (T, sum n).
    """

    time: Array
    position: Array
    rotation: Array
    displacement: Array


@dataclass(frozen=True, eq=False)
class _Given:
    """What moves by itself at one time: places and rates of vectors, factors and offsets with their rates."""

    places: Array
    rates: Array
    factors: Array
    factor_rates: Array
    offset_rates: Array


class JointProducts:
    """The joint functions of a system of floating bodies.

    Args:
        system: with the functions.
    """

    def __init__(self, system: System) -> None:
        functions, layout = system.rows, system.layout
        if isinstance(functions, ConstraintSet):
            raise ModelError(f"{system.mechanism.relations[0]} relates joints, which has no reference integrator")
        vectors = functions.set.vectors
        self._functions, self._system = functions, system
        self._known: dict[float, _Given] = {}
        carriers = np.array([vector.carrier for vector in vectors], dtype=np.int64)
        self._on: IntArray = np.flatnonzero(carriers >= 0)
        self._body: IntArray = carriers[self._on]
        self._is_point = np.array([float(vectors[k].is_point) for k in self._on])[:, None]
        total = int(layout.eta[-1])
        self._base, self._shapes = np.zeros((len(self._on), 3)), np.zeros((len(self._on), 3, total))
        for place, k in enumerate(self._on):
            vector, body = vectors[k], int(carriers[k])
            own = slice(int(layout.eta[body]), int(layout.eta[body + 1]))
            centre = system.centres[body] if vector.is_point else np.zeros((3, own.stop - own.start + 1))
            self._base[place] = vector.base + centre[:, 0]
            self._shapes[place, :, own] = vector.shapes + centre[:, 1:]
        self._flat = self._shapes.reshape(3 * len(self._on), total)
        self._chords = np.zeros((len(functions.chords), len(vectors)))
        for number, parts in enumerate(functions.chords):
            for weight, vector_number in parts:
                self._chords[number, vector_number] += weight
        terms = [(m, *term) for m, each in enumerate(functions.functions) for term in each]
        self._owner = np.array([term[0] for term in terms], dtype=np.int64)
        self._first = np.array([term[2] for term in terms], dtype=np.int64)
        self._second = np.array([term[3] for term in terms], dtype=np.int64)
        self._timed = [(term[1], term[4]) for term in terms]
        self._bodies = np.zeros((layout.frames, len(self._on)))
        self._bodies[self._body, np.arange(len(self._on))] = 1.0

    def rates(self, at: BodyMotions, v: Array, w: Array, elastic: Array) -> Array:
        """G nu of velocities v, w (T, f, 3) in body axes and deta/dt (T, sum n), shape (T, functions)."""
        y, given = self._chord_values(at), self._factors(at.time)[0]
        local = self._local(at.displacement)
        inner = self._is_point * v[:, self._body] + _cross(w[:, self._body], local) + self._spread(elastic)
        moved = np.zeros((len(v), self._chords.shape[1], 3))
        moved[:, self._on] = (at.rotation[:, self._body] @ inner[..., None])[..., 0]
        return self._change(y, self._chords @ moved, given)

    def drift(self, at: BodyMotions) -> Array:
        """g_t, what moving frames and paths add to the rates, shape (T, functions)."""
        y = self._chord_values(at)
        factors, rates = self._factors(at.time)
        given = [self._at(float(t)) for t in at.time]
        moved = self._chords @ np.array([each.rates for each in given])
        result = self._change(y, moved, factors)
        products = rates * (y[:, self._first] * y[:, self._second]).sum(axis=-1)
        for m, product in zip(self._owner, products.T, strict=True):
            result[:, m] += product
        return np.asarray(result - np.array([each.offset_rates for each in given]))

    def forces(self, at: BodyMotions, multipliers: Array) -> tuple[Array, Array, Array]:
        """G^T lambda on v and w, (T, f, 3), and on eta, (T, sum n)."""
        y = self._chord_values(at)
        pulls = (self._factors(at.time)[0] * multipliers[:, self._owner])[..., None]
        on_chords = np.zeros_like(y)
        for p, (a, b) in enumerate(zip(self._first, self._second, strict=True)):
            on_chords[:, a] += pulls[:, p] * y[:, b]
            on_chords[:, b] += pulls[:, p] * y[:, a]
        world = (self._chords.T @ on_chords)[:, self._on]
        local = (world[..., None, :] @ at.rotation[:, self._body])[..., 0, :]
        moments = _cross(self._local(at.displacement), local)
        elastic = local.reshape(len(y), -1) @ self._flat
        return self._bodies @ (self._is_point * local), self._bodies @ moments, elastic

    def _change(self, y: Array, dy: Array, factors: Array) -> Array:
        a, b = self._first, self._second
        change = factors * (dy[:, a] * y[:, b] + y[:, a] * dy[:, b]).sum(axis=-1)
        result = np.zeros((len(y), self._functions.count))
        for m, each in zip(self._owner, change.T, strict=True):
            result[:, m] += each
        return result

    def _local(self, displacement: Array) -> Array:
        return np.asarray(self._base + self._spread(displacement))

    def _spread(self, displacement: Array) -> Array:
        return np.asarray((displacement @ self._flat.T).reshape(len(displacement), len(self._on), 3))

    def _chord_values(self, at: BodyMotions) -> Array:
        places = np.array([self._at(float(t)).places for t in at.time])
        turned = (at.rotation[:, self._body] @ self._local(at.displacement)[..., None])[..., 0]
        places[:, self._on] = turned + self._is_point * at.position[:, self._body]
        return np.asarray(self._chords @ places)

    def _factors(self, times: Array) -> tuple[Array, Array]:
        given = [self._at(float(t)) for t in times]
        return np.array([each.factors for each in given]), np.array([each.factor_rates for each in given])

    def _at(self, time: float) -> _Given:
        """What moves by itself at a time: asked once, since stages come back to their times."""
        if time not in self._known:
            if len(self._known) == KEPT_TIMES:
                self._known.pop(next(iter(self._known)))
            self._known[time] = self._asked(time)
        return self._known[time]

    def _asked(self, time: float) -> _Given:
        functions = self._functions
        given = GivenFunctions(self._system.moving_frames, self._system.paths, np.array([time]))
        vectors = functions.set.vectors
        places, rates = np.zeros((2, len(vectors), 3))
        for k, vector in enumerate(vectors):
            if vector.carrier == GIVEN:
                places[k] = vector.base
            elif vector.carrier == MOVING and vector.is_point:
                places[k], rates[k] = given.frames[0, vector.frame], given.frame_velocities[0, vector.frame]
            elif vector.carrier == MOVING:
                places[k] = given.frame_rotations[0, vector.frame] @ vector.base
                rates[k] = np.cross(given.frame_angular_velocities[0, vector.frame], places[k])

        def values(pairs: Sequence[tuple[float, Timed | None]], constant: float) -> Array:
            """Value and rate of each, shape (2, pairs)."""
            found = [
                (constant * c, 0.0) if timed is None else self._timed_at(given, c, timed) for c, timed in pairs
            ]
            return np.array(found).reshape(len(pairs), 2).T

        factors, factor_rates = values(self._timed, 1.0)
        offset_rates = values([(1.0, each) for each in functions.offsets], 0.0)[1]
        return _Given(places, rates, factors, factor_rates, offset_rates)

    def _timed_at(self, given: GivenFunctions, c: float, timed: Timed) -> tuple[float, float]:
        column = next(i for i, path in enumerate(self._functions.paths) if path is timed.path)
        factor = timed.factor
        p, dp = given.paths[:, column], given.path_rates[:, column]
        value, rate, _ = timed_values(factor, p, dp, np.zeros_like(p))
        return c * float(value[0]), c * float(rate[0])


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., NEXT] * b[..., AFTER] - a[..., AFTER] * b[..., NEXT])


NEXT, AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])
