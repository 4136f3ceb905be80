"""Functions of world vectors at T instants: values, gradients, rates, curvature (docs/theory.md, 7 and 8)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.rotations import cross, nearest_turns
from phlexible.algebra.sparse import (
    Matrix,
    Pattern,
    WeightedSums,
    is_small,
    plain_sums,
    ranges,
    sums_of,
    weighted_sums,
)
from phlexible.description.interactions.functions import Bilinear, Coordinate, Vector, VectorSum
from phlexible.description.joints.relations import RelationFunction
from phlexible.description.time_functions import Timed, TimeFactor, TimePath
from phlexible.state.instants import Instants, PrescribedFunctions
from phlexible.state.layout import Layout
from phlexible.state.vectors import CarriedVector, VectorResolver, VectorSet

# Index structure of functions of vectors, without numbers, shared by models that differ in numbers only.

Chords = tuple[tuple[tuple[float, int], ...], ...]
"""Weights and vectors of each difference vector."""
Terms = tuple[tuple[float, int, int, Timed | None], ...]
"""Products of a function: coefficient, indices of both difference vectors, function of time that multiplies it."""

KEPT, LARGEST = 32, 2000
"""Number of cached structures, and the largest number of difference vectors of each."""


@dataclass(frozen=True)
class Wiring:
    """Index structure that relates world vectors, difference vectors and scalar functions, without numerical
    values.

    Attributes:
        chords: weights and vector indices of each difference vector.
        functions: indices of the two difference vectors of each term, function after function.
        carriers: index of the carrier of each vector.
        points: True of vectors that are points, False of directions.
        frames: number of the floating bodies, the first carriers.
    """

    chords: Chords
    functions: tuple[tuple[tuple[int, int], ...], ...]
    carriers: tuple[int, ...]
    points: tuple[bool, ...]
    frames: int

    @property
    def count(self) -> int:
        """Return the number of scalar functions (sums of scalar products of difference vectors) whose structure
        this object describes."""
        return len(self.functions)

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        """Return function index and vector index of every pair of a function and a world vector on which it
        depends, two arrays of shape (pairs,). World vectors are points of bodies, or directions fixed to them,
        in world axes. A function has one gradient for each such pair; pairs are listed once, in order of
        occurrence."""
        table = np.array(list(self._part_indices), dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    @cached_property
    def _part_indices(self) -> dict[tuple[int, int], int]:
        """Return a dictionary that numbers from 0 all pairs (function index, vector index) where a scalar function
        depends on a vector. A function is a sum of dot products of two weighted sums of vectors, which are points
        and directions on bodies. Each pair occurs once, in the order of its first occurrence.
        """
        found: dict[tuple[int, int], int] = {}
        for m, terms in enumerate(self.functions):
            for a, b in terms:
                for _, vector in (*self.chords[a], *self.chords[b]):
                    found.setdefault((m, vector), len(found))
        return found

    @cached_property
    def _terms(self) -> IntArray:
        """Return all terms of the scalar functions as an array of shape (terms, 3): index of the function and
        indices of the two difference vectors (such as one point minus another) whose scalar product is the term.
        Coefficients are not included."""
        found = [(m, a, b) for m, terms in enumerate(self.functions) for a, b in terms]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def first(self) -> IntArray:
        """Return the index of the first of the two difference vectors whose scalar product is a term of the
        functions, for all terms, shape (terms,). It is column 1 of the table of terms."""
        return self._terms[:, 1].copy()

    @cached_property
    def second(self) -> IntArray:
        """Return the index of the second of the two difference vectors whose scalar product is a term of the
        functions, for all terms, shape (terms,). It is column 2 of the table of terms."""
        return self._terms[:, 2].copy()

    @cached_property
    def term_owner(self) -> IntArray:
        """Return the index of the scalar function to which each term (scalar product of two difference vectors)
        belongs, shape (terms,). It is column 0 of the table of terms."""
        return self._terms[:, 0].copy()

    @cached_property
    def owner(self) -> WeightedSums:
        """Return a sparse summation operator from terms to functions: applied to the values of all terms (scalar
        products), it adds up those of each scalar function."""
        return plain_sums(self.term_owner, self.count)

    @cached_property
    def part_owner(self) -> WeightedSums:
        """Return a sparse summation operator from pairs of a function and a vector to functions. Applied to one
        value for each pair (listed in ``parts``), it adds up the values of each function. For gradients times
        vector rates, the sums are the rates of the functions."""
        return plain_sums(self.parts[0], self.count)

    @cached_property
    def vector_owner(self) -> WeightedSums:
        """Return a sparse summation operator from pairs of a function and a vector to vectors. Applied to one
        value for each pair (listed in ``parts``), it adds up the values of each vector. For gradients times
        multipliers, the sums are the forces on the vectors; vectors without a function get zero."""
        return plain_sums(self.parts[1], len(self.carriers))

    @cached_property
    def weight_matrix(self) -> Matrix:
        """Return a sparse matrix with the weight of each point or direction in each difference vector, shape
        (difference vectors, vectors). The row of one point minus another has the weights 1 and -1."""
        entries = [(weight, y, vector) for y, parts in enumerate(self.chords) for weight, vector in parts]
        weights, chords, vectors = np.array(entries, dtype=np.float64).reshape(-1, 3).T
        shape = len(self.chords), len(self.carriers)
        return Pattern(chords.astype(np.int64), vectors.astype(np.int64), shape).matrix(weights)

    @cached_property
    def pairs(self) -> Pattern:
        """Return the sparsity pattern, shape (difference vectors, difference vectors), of the pairs of difference
        vectors whose scalar product is a term of a function. It has one entry for each term, at row ``first`` and
        column ``second``; its values are given later."""
        return Pattern(self.first, self.second, (len(self.chords),) * 2)

    @cached_property
    def spread(self) -> WeightedSums:
        """Weighted sums that compute the gradients of all scalar functions with respect to points and directions,
        at many instants. A function is a sum of terms, dot products of two difference vectors a and b with a
        coefficient c. The sums are applied to c b for all terms, followed by c a for all terms; the result has one
        gradient for each pair in ``parts``.
        """
        entries, count = [], len(self._terms)
        for p, (m, a, b) in enumerate(self._terms.tolist()):
            for chord, source in ((a, p), (b, count + p)):
                for weight, vector in self.chords[chord]:
                    entries.append((weight, self._part_indices[m, vector], source))
        return weighted_sums(entries, len(self._part_indices), 2 * count)

    @cached_property
    def totals(self) -> WeightedSums:
        """Weighted sums that give, for each difference vector, its first point or direction times the sum of all
        its weights. This weight is exactly zero for a true difference, such as one point minus another. Added to
        the result of ``differences``, it completes the weighted sum of vectors.
        """
        entries = [(total_weight(parts), y, parts[0][1]) for y, parts in enumerate(self.chords)]
        return weighted_sums(entries, len(self.chords), len(self.carriers))

    @cached_property
    def differences(self) -> WeightedSums:
        """Weighted sums that give, for each difference vector, the sum of weight times (vector minus first vector).
        The first point or direction is subtracted before the weighting, so that large common positions cancel
        exactly. ``totals`` adds what is missing of the complete weighted sum.
        """
        entries = []
        for y, parts in enumerate(self.chords):
            for weight, vector in parts[1:]:
                entries += [(weight, y, vector), (-weight, y, parts[0][1])]
        return weighted_sums(entries, len(self.chords), len(self.carriers), cancels=True)

    @cached_property
    def carrier(self) -> IntArray:
        """Return, for each point or direction, the index of the floating body or node with which it moves,
        shape (vectors,). Indices of floating bodies come first, then those of nodes; negative for vectors of
        the ground."""
        return np.array(self.carriers, dtype=np.int64)

    @cached_property
    def carried(self) -> IntArray:
        """Return the indices of those pairs of a function and a point or direction (in ``parts``) that move
        with a body or node. Only these contribute to the Jacobian of the functions; all other pairs belong to
        the ground."""
        return np.flatnonzero(self.carrier[self.parts[1]] >= 0)

    @cached_property
    def framed(self) -> IntArray:
        """Indices, into ``carried``, of those pairs of a function and a point or direction that move with a
        floating body. Its frame rotates, and the vector deforms in it; all other entries of ``carried`` move with
        nodes.
        """
        return np.flatnonzero(self.carrier[self.parts[1][self.carried]] < self.frames)

    @cached_property
    def framed_vectors(self) -> tuple[IntArray, IntArray]:
        """Return vector index and body index of each part (pair of a function and a vector) that moves with a
        floating body. They are two arrays of shape (pairs,), in the order of ``framed``."""
        vectors = self.parts[1][self.carried[self.framed]]
        return vectors, self.carrier[vectors]

    @cached_property
    def _scatters(self) -> "dict[tuple[object, ...], Scatter]":
        """Return an empty dictionary, the cache in which ``scattered`` stores the last computed sparsity structure
        of the Jacobian. It has at most one entry, whose key is the layout of the velocities and the nonzero
        pattern of the shape functions."""
        return {}

    def scattered(self, set_of: VectorSet) -> "tuple[Scatter, WeightedSums]":
        """Return where the derivatives of the functions with respect to the velocities have nonzero entries, and
        weighted sums that compute these entries. The sums are applied to nine values for each pair of a function
        and a vector that moves; their weights are the shape functions of the vectors in ``set_of``. The structure
        is cached for the last layout and pattern of nonzero shape functions.

        Args:
            set_of: the vectors with their numbers.
        """
        layout = set_of.layout
        shapes = [set_of.vectors[vector].shapes for vector in self.framed_vectors[0].tolist()]
        flat = np.concatenate([np.ones(1), *(each.ravel() for each in shapes)])
        arrays = (*layout.spin, layout.linear, layout.velocity, flat != 0)
        key = (*(each.tobytes() for each in arrays), layout.linear.shape, *(each.shape[1] for each in shapes))
        found = self._scatters.get(key)
        if found is None:
            found = self._scatter(layout, shapes)
            self._scatters.clear()
            self._scatters[key] = found
        return found, found.sums.weighted(flat[found.indices])

    def _scatter(self, layout: Layout, shapes: list[Array]) -> "Scatter":
        indices, sources, rows, columns = self._contributions(layout, shapes)
        _, first, entry = np.unique(rows * max(int(layout.velocity[-1]), 1) + columns, True, True)
        order = np.argsort(first)  # in the order of their first contribution
        turn = np.empty_like(order)
        turn[order] = np.arange(len(order))
        sums = sums_of(indices.astype(np.float64), turn[entry], sources, len(order), 9 * len(self.carried))
        rows, columns = rows[first[order]], columns[first[order]]
        return Scatter(rows, columns, sums.weights.astype(np.int64), sums)

    def _contributions(self, layout: Layout, shapes: list[Array]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return which products of a coefficient and a value add up to the derivatives of all functions with
        respect to the velocities. The four index arrays have for each product: the coefficient, the value, the
        function (row) and the velocity (column), sorted by vector. Coefficient 0 is 1, for translation and
        rotation; then come all entries of ``shapes``, the shape functions of vectors on floating bodies. Each pair
        of a function and a moving vector has nine values: three of translation, rotation and deformation each.
        ``layout`` has each body's columns.

        Coefficients are 1, at place 0, and after it all numbers of the shapes.
        """
        frame, axis, spin = layout.spin
        begins = np.searchsorted(frame, np.arange(self.frames + 1))
        on = self.parts[1][self.carried]
        carrier, d = self.carrier[on], layout.linear.shape[1]
        points = np.flatnonzero(np.array(self.points, dtype=bool)[on])
        turning = self.framed
        first, spins = begins[carrier[turning]], np.diff(begins)[carrier[turning]]
        turned = ranges(first, spins)
        indices = [np.zeros(d * len(points) + len(turned), dtype=np.int64)]
        owners = [np.repeat(points, d), np.repeat(turning, spins)]
        sources = [np.tile(np.arange(d), len(points)), 3 + axis[turned]]
        columns = [layout.linear[carrier[points]].ravel(), spin[turned]]
        begin = 1
        for number, own in zip(turning.tolist(), shapes, strict=True):
            i, j = np.nonzero(own)
            indices.append(begin + i * own.shape[1] + j)
            owners.append(np.full(len(i), number))
            sources.append(6 + i)
            columns.append(int(layout.velocity[carrier[number] + 1]) - own.shape[1] + j)
            begin += own.size
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")  # part after part
        owner, source, column = owner[order], np.concatenate(sources)[order], np.concatenate(columns)[order]
        return np.concatenate(indices)[order], 9 * owner + source, self.parts[0][self.carried[owner]], column


@dataclass(frozen=True, eq=False)
class Scatter:
    """Structure of the nonzero entries of the constraint matrix, independent of numerical values.

    Attributes:
        rows, columns: row and column of each entry, shape (entries,).
        indices: indices of the weights of the sums, among 1 and all numbers of the shape functions.
        sums: weighted sums that give the entries, with these indices in place of weights.
    """

    rows: IntArray
    columns: IntArray
    indices: IntArray
    sums: WeightedSums


_cached_wiring = lru_cache(KEPT)(Wiring)


def wiring(chords: Chords, functions: Iterable[Iterable[tuple[int, int]]], set_of: VectorSet) -> Wiring:
    """Return the index structure of scalar ``functions`` of points and directions: which difference vectors
    (``chords``) each function multiplies, and of which vectors of ``set_of`` these consist. No numerical values
    are computed. Structures with few difference vectors come from a cache; large ones are created anew.

    Args:
        chords, functions: attributes of ``Wiring``.
        set_of: vectors that the difference vectors consist of.
    """
    carriers = tuple(vector.carrier for vector in set_of.vectors)
    points = tuple(vector.is_point for vector in set_of.vectors)
    made_of = chords, tuple(tuple(terms) for terms in functions), carriers, points, set_of.layout.frames
    return Wiring(*made_of) if len(chords) > LARGEST else _cached_wiring(*made_of)


def total_weight(parts: Iterable[tuple[float, int]]) -> float:
    """Return the sum of the weights of a difference vector, a weighted sum given by ``parts``: pairs (weight,
    index of a vector). The result is exactly zero if it is within 1e-14 of the largest weight."""
    weights = [weight for weight, _ in parts]
    total = sum(weights)
    return 0.0 if abs(total) <= 1e-14 * max(abs(weight) for weight in weights) else total


# w = sum_t c_t y_a . y_b - constant with chords y = sum_i weight_i x_i; dw/dt = G nu + g_t. The entries of G are
# linear in [dw/dx, rho x R^T dw/dx, R^T dw/dx] of each vector, with coefficients that never change: one sparse
# product gives them for all functions and instants.


class VectorCollector:
    """Register of the world vectors and difference vectors that functions use; equal ones get the same index.

    Args:
        resolver: converter of symbolic vectors to numbers.
        known: functions whose vectors and difference vectors have the first indices; None: there are none.
    """

    def __init__(self, resolver: VectorResolver, known: "FunctionSet | None" = None) -> None:
        self._resolver = resolver
        self.vectors: list[CarriedVector] = list(known.set.vectors) if known else []
        self._indices: dict[object, int] = {vector.key: k for k, vector in enumerate(self.vectors)}
        self._parts: dict[Vector, list[tuple[float, int]]] = {}  # of vectors that chords share
        self._chords = {chord: k for k, chord in enumerate(known.chords if known else ())}
        self._seen: dict[VectorSum, int] = {}  # that terms share

    @property
    def difference_vectors(self) -> tuple[tuple[tuple[float, int], ...], ...]:
        """Return all registered difference vectors in the order of their indices, each as a tuple of pairs
        (weight, index of the vector). They are weighted sums of points and directions, such as one point minus
        another."""
        return tuple(self._chords)

    def terms(self, row: Bilinear) -> Terms:
        """Return the products of a symbolic scalar function: coefficient, indices of both difference vectors, and
        the function of time that multiplies it or None. New difference vectors are registered."""
        add = self.add_difference_vector
        return tuple((t.coefficient, add(t.first), add(t.second), t.factor) for t in row.terms)

    def add_vector(self, vector: CarriedVector) -> int:
        """Return the index of a point or direction on a body in ``vectors``. It is appended there unless an equal
        one, by its ``key``, is registered already."""
        number = self._indices.setdefault(vector.key, len(self.vectors))
        if number == len(self.vectors):
            self.vectors.append(vector)
        return number

    def add_difference_vector(self, difference: VectorSum) -> int:
        """Return the index of a symbolic difference vector (such as one point minus another) among the difference
        vectors. At its first occurrence it is registered, with the points and directions that it consists of;
        later its index comes from a dictionary."""
        seen = self._seen.get(difference)
        if seen is None:
            parts = [(w * share, k) for w, own in difference.parts for share, k in self._weighted_vectors(own)]
            seen = self._seen[difference] = self.add_weighted_sum(tuple(parts))
        return seen

    def _weighted_vectors(self, vector: Vector) -> list[tuple[float, int]]:
        """Return the weighted sum of which a symbolic vector consists as pairs (weight, index of a point or
        direction), and register these vectors. A point between two nodes of a string is a sum of two, most others
        are one term. The result is cached."""
        if vector not in self._parts:
            self._parts[vector] = [(share, self.add_vector(own)) for share, own in self._resolver.parts(vector)]
        return self._parts[vector]

    def add_weighted_sum(self, parts: tuple[tuple[float, int], ...]) -> int:
        """Return the index, among the difference vectors, of the weighted sum given by its ``parts``: pairs
        (weight, index of a registered vector). It is registered at the end unless it is registered already; only
        identical tuples count as equal."""
        return self._chords.setdefault(parts, len(self._chords))


@dataclass(frozen=True, eq=False)
class FunctionSet:
    """Set of scalar functions, each a sum of scalar products of difference vectors, that are evaluated together at
    many instants.

    Attributes:
        layout: layout of the arrays of the system.
        set: the vectors of all chords.
        chords: weights and vectors of each.
        functions: terms of each function: (coefficient, index of a chord, index of a chord, factor of time).
        constants: numbers that are subtracted from the sums of the terms, shape (M,).
        offsets: subtracted functions of time.
        paths: paths of hoists and drives, in the order of ``Given.paths``.
    """

    layout: Layout
    set: VectorSet
    chords: tuple[tuple[tuple[float, int], ...], ...]
    functions: tuple[Terms, ...]
    constants: Array
    offsets: tuple[Timed | None, ...]
    paths: tuple[TimePath, ...]

    @property
    def count(self) -> int:
        """Return the number of scalar functions (sums of scalar products of vectors on bodies) in this set."""
        return len(self.functions)

    def values(self, at: Instants) -> Array:
        """Return the values of all scalar functions of this set (such as constraint functions of joints) at the
        given instants, shape (instants, functions). Each is the sum of its terms, coefficient times scalar product
        of two difference vectors, minus its constant and its prescribed function of time."""
        result = self.wiring.owner.of(self._factors(at)[0] * self._products(at)) - self.constants
        return result - self._offset_values(at)[0] if self._is_timed else result

    def gradients(self, at: Instants) -> Array:
        """Return the derivatives of all functions of this set with respect to the points and directions in them,
        shape (instants, pairs, 3). They are in world axes, one for each pair of a function and one of its vectors
        (``parts``). The result is computed once and cached in ``at``, the state at one or more instants."""
        return at.once(self, "gradients", lambda: self.gradients_of(at, self._difference_vectors(at)))

    def gradients_of(self, at: Instants, differences: Array) -> Array:
        """Return the derivatives of all functions of this set with respect to their points and directions, shape
        (instants, pairs, 3), for given difference vectors. ``differences`` have shape (instants, difference
        vectors, 3); the derivatives are linear in them, so that rates give rates, for constant coefficients. Only
        the coefficients are evaluated at ``at``."""
        factors, made = self._factors(at)[0][:, :, None], self.wiring
        sides = [factors * differences[:, own] for own in (made.second, made.first)]
        return made.spread.of(np.concatenate(sides, axis=1))

    def matrix_entries(self, at: Instants) -> Array:
        """Return the nonzero entries of the derivatives of these functions with respect to the velocities, shape
        (instants, entries). Rows and columns of the entries are in ``pattern``. They are weighted sums of three
        vectors for each point or direction: the gradient in world axes for translation, its moment in body axes for
        rotation, and the gradient in body axes for deformation.
        """
        gradients = self.gradients(at)[:, self.wiring.carried]
        vectors, frames = self.wiring.framed_vectors
        turned = np.einsum("tkij,tki->tkj", at.rotation[:, frames], gradients[:, self.wiring.framed])
        local = np.zeros((at.count, len(self.set.vectors), 3))
        local[:, self.set._on_frames] = self.set.local(at)
        sources = np.zeros((at.count, len(self.wiring.carried), 3, 3))
        sources[:, :, 0] = gradients
        sources[:, self.wiring.framed, 1] = cross(local[:, vectors], turned)
        sources[:, self.wiring.framed, 2] = turned
        return self._scattered[1].of(sources.reshape(at.count, -1))

    def matrix(self, at: Instants) -> sparse.csr_array:
        """Return the Jacobian of the scalar functions of this set with respect to the velocities of the system as
        a sparse matrix, shape (functions, velocities). For constraint functions it is the constraint matrix G.
        ``at`` must have exactly one instant (asserted)."""
        assert at.count == 1, "one instant at a time"
        return sparse.coo_array((self.matrix_entries(at)[0], self.pattern), self._shape).tocsr()

    def small_matrix(self, at: Instants) -> Matrix:
        """Return the derivatives of the scalar functions of this set with respect to the velocities of the system
        at one instant, shape (functions, velocities). With up to 128 velocities it is a NumPy array that is cached
        in ``at`` and read-only; else it is a sparse matrix, computed at each call."""
        if not is_small(self._shape[1]):
            return self.matrix(at)

        def made() -> Array:
            result = np.zeros(self._shape)
            result[self.pattern] = self.matrix_entries(at)[0]
            return result

        return at.once(self, "matrix", made)

    def drift(self, at: Instants) -> Array:
        """Return the partial time derivatives of the scalar functions of this set while all bodies stand still,
        shape (instants, functions). They come from moving frames of the ground and prescribed paths of drives. The
        result is cached in ``at``, the state at one or more instants."""
        return at.once(self, "drift", lambda: self._drift(at))

    def _drift(self, at: Instants) -> Array:
        if not len(self.set._on_moving):
            return self._timed_rates(at)
        return self._timed_rates(at) + self.rates_along(self.gradients(at), self.set.prescribed_rates(at))

    def _timed_rates(self, at: Instants) -> Array:
        """Return the partial time derivatives of all functions of this set due to prescribed paths of drives
        alone, shape (instants, functions). Bodies and ground frames stand still. They are the derivatives of
        coefficients times scalar products, minus those of prescribed offsets; zero if no function depends on
        time."""
        if not self._is_timed:
            return np.zeros((at.count, self.count))
        return self.wiring.owner.of(self._factors(at)[1] * self._products(at)) - self._offset_values(at)[1]

    def rates_along(self, gradients: Array, rates: Array) -> Array:
        """Return the rates of the scalar functions of this set for given rates of their points and directions,
        shape (instants, functions). Gradients, shape (instants, pairs, 3), are multiplied by vector rates, shape
        (instants, vectors, 3), and added up for each function. Prescribed paths are not included."""
        return self.wiring.part_owner.of(np.einsum("tki,tki->tk", gradients, rates[:, self.parts[1]]))

    def rates(self, at: Instants, velocity: Array) -> Array:
        """Return the total time derivatives of the scalar functions of this set, shape (instants, functions), for
        given velocities of the system, shape (instants, velocities). They are gradients times the rates of points
        and directions, moving ground included, plus the contributions of prescribed paths."""
        return self.rates_along(self.gradients(at), self.set.rates(at, velocity)) + self._timed_rates(at)

    def accelerations(self, at: Instants) -> Array:
        """Return the second time derivatives of these scalar functions of the pose at zero acceleration of the
        system, shape (instants, functions). They are terms quadratic in the velocities of ``at``, and terms of
        moving ground frames and prescribed functions of time. The matrix of derivatives times the accelerations
        has to be added for the complete second derivatives."""
        y = self._difference_vectors(at)
        dy = self.difference_vectors_of(self.set.rates(at, at.velocity))
        ddy = self.difference_vectors_of(self.set.accelerations(at))
        a, b = self.wiring.first, self.wiring.second

        def dot(u: Array, v: Array) -> Array:
            return np.asarray(np.einsum("tpi,tpi->tp", u, v))

        curve = dot(ddy[:, a], y[:, b]) + 2 * dot(dy[:, a], dy[:, b]) + dot(y[:, a], ddy[:, b])
        if not self._is_timed:
            return self.wiring.owner.of(self._coefficients * curve)
        value, rate, second = self._factors(at, with_second=True)
        change = dot(dy[:, a], y[:, b]) + dot(y[:, a], dy[:, b])
        products = second * dot(y[:, a], y[:, b]) + 2 * rate * change + value * curve
        return self.wiring.owner.of(products) - self._offset_values(at, with_second=True)[2]

    def forces(self, at: Instants, multipliers: Array) -> Array:
        """Return the forces that multipliers of constraints exert on the points and directions of this set, in
        world axes, shape (instants, vectors, 3). Each multiplier, shape (instants, functions), times the gradient
        of its constraint function is a force, and these are added up. ``at`` contains the state at one or more
        instants."""
        return self.forces_along(self.gradients(at), multipliers)

    def forces_along(self, gradients: Array, multipliers: Array) -> Array:
        """Return the forces that multipliers exert on all points and directions of this set, in world axes, shape
        (instants, vectors, 3). Each multiplier, shape (instants, functions), times each given gradient of its
        function, shape (instants, pairs, 3), is a force; the forces on the same vector are added. Vectors without
        a function get zero."""
        return self.wiring.vector_owner.of(multipliers[:, self.parts[0], None] * gradients)

    def stiffness(self, at: Instants, multipliers: Array) -> Matrix:
        """Return the derivative of the generalized forces of constant multipliers with respect to the pose at one
        instant, shape (velocities, velocities). The multipliers, shape (functions,), act along the gradients of
        the functions. For constraints it is the geometric stiffness of loaded joints, with the terms of rotating
        lever arms. It is a NumPy array for small systems, else sparse."""
        made, jacobian = self.wiring, self.set.jacobian(at)
        values = self._factors(at)[0][0] * multipliers[made.term_owner]
        chords, between = made.weight_matrix, made.pairs.matrix(values)
        inner = chords.T @ (between + between.T) @ chords  # of one component of all vectors
        if isinstance(jacobian, np.ndarray):
            bent = (inner @ jacobian.reshape(len(self.set.vectors), 3 * jacobian.shape[1])).reshape(jacobian.shape)
        else:
            bent = sparse.kron(inner, sparse.eye_array(3)) @ jacobian
        return jacobian.T @ bent + self.set.lever_stiffness(at, self.forces(at, multipliers[None])[0])

    @cached_property
    def wiring(self) -> Wiring:
        """Return the index structure of the scalar functions of this set: which difference vectors each function
        multiplies, and of which points and directions these consist. It has no numerical values; it is computed
        once and cached."""
        return wiring(self.chords, ([(a, b) for _, a, b, _ in terms] for terms in self.functions), self.set)

    @property
    def parts(self) -> tuple[IntArray, IntArray]:
        """Return function index and vector index of every gradient that ``gradients`` computes, two arrays of
        shape (pairs,). There is one for each pair of a function and a point or direction on which it depends."""
        return self.wiring.parts

    @property
    def pattern(self) -> tuple[IntArray, IntArray]:
        """Return row and column of every nonzero entry of the Jacobian of these functions with respect to the
        velocities of the system. They are two arrays of shape (entries,), in the order of ``matrix_entries``."""
        scatter = self._scattered[0]
        return scatter.rows, scatter.columns

    @cached_property
    def _scattered(self) -> tuple[Scatter, WeightedSums]:
        """Return the sparsity structure of the Jacobian of the functions of this set and the weighted sums that
        compute its nonzero entries. The sums are applied to gradients and their moments. Both are computed by
        ``Wiring.scattered`` and cached here."""
        return self.wiring.scattered(self.set)

    @cached_property
    def _terms(self) -> list[tuple[int, float, int, int, Timed | None]]:
        return [(m, *term) for m, terms in enumerate(self.functions) for term in terms]

    @cached_property
    def _shape(self) -> tuple[int, int]:
        """Return the shape (functions, velocities) of the Jacobian of the scalar functions of this set with
        respect to the velocities of the system."""
        return self.count, int(self.layout.velocity[-1])

    @cached_property
    def _is_timed(self) -> bool:
        """Return whether any function of this set contains the prescribed path of a drive, so that it depends
        on time explicitly. The path may be the coefficient of a term or an offset. Moving ground frames do not
        count."""
        factors = any(timed is not None for *_, timed in self._terms)
        return factors or any(offset is not None for offset in self.offsets)

    def _difference_vectors(self, at: Instants) -> Array:
        """Return the values of all difference vectors of this set in world axes, shape (instants, difference
        vectors, 3). Such a vector is for example one point minus another. They are computed once and cached in
        ``at``."""
        return at.once(self, "chords", lambda: self.difference_vectors_of(self.set.values(at)))

    def _products(self, at: Instants) -> Array:
        """Return the scalar products of pairs of difference vectors of which the functions of this set are sums,
        shape (instants, terms). Such a vector is for example one point minus another. The products are not yet
        multiplied by the coefficients of the terms."""
        y = self._difference_vectors(at)
        return np.asarray(np.einsum("tpi,tpi->tp", y[:, self.wiring.first], y[:, self.wiring.second]))

    def difference_vectors_of(self, vectors: Array) -> Array:
        """Return the difference vectors of this set for given values or rates of its points and directions, shape
        (instants, difference vectors, 3). The input has shape (instants, vectors, 3). Each is a weighted sum of
        differences of two vectors, plus a weighted sum of single vectors. Differences are formed before they are
        weighted, so that large common positions cancel exactly."""
        return self.wiring.differences.of(vectors) + self.wiring.totals.of(vectors)

    def _factors(self, at: Instants, with_second: bool = False) -> tuple[Array, Array, Array]:
        """Return the coefficients of all terms of the scalar functions of this set and their first and second
        time derivatives: three arrays of shape (instants, terms). Coefficients vary with time only where a
        drive prescribes a path; otherwise the derivatives are zero. Second derivatives are zero unless
        ``with_second``."""
        return self._timed(at, self._coefficients, self._timed_terms, with_second)

    def _offset_values(self, at: Instants, with_second: bool = False) -> tuple[Array, Array, Array]:
        timed = [(k, 1.0, offset) for k, offset in enumerate(self.offsets) if offset is not None]
        return self._timed(at, np.zeros(len(self.offsets)), timed, with_second)

    @cached_property
    def _coefficients(self) -> Array:
        return np.array([term[1] for term in self._terms], dtype=np.float64)

    @cached_property
    def _timed_terms(self) -> list[tuple[int, float, Timed]]:
        return [(k, term[1], term[4]) for k, term in enumerate(self._terms) if term[4] is not None]

    def _timed(
        self, at: Instants, constants: Array, timed: Sequence[tuple[int, float, Timed]], with_second: bool
    ) -> tuple[Array, Array, Array]:
        if not timed:
            zero = np.zeros((at.count, constants.shape[-1]))
            return zero + constants, zero, zero
        values = np.tile(constants, (at.count, 1)).astype(np.result_type(constants, at.prescribed.paths))
        rates, seconds = np.zeros_like(values), np.zeros_like(values)
        for k, c, each in timed:
            column = next(i for i, path in enumerate(self.paths) if path is each.path)
            p, dp = at.prescribed.paths[:, column], at.prescribed.path_rates[:, column]
            ddp = np.zeros_like(p)
            if with_second:
                assert isinstance(at.prescribed, PrescribedFunctions), "recordings hold no second rates"
                ddp = at.prescribed.path_accelerations[:, column]
            values[:, k], rates[:, k], seconds[:, k] = (c * x for x in timed_values(each.factor, p, dp, ddp))
        return values, rates, seconds


def function_set(
    rows: Sequence[Bilinear],
    layout: Layout,
    resolver: VectorResolver,
    paths: tuple[TimePath, ...],
    collector: VectorCollector | None = None,
) -> FunctionSet:
    """Convert symbolic scalar functions ``rows``, such as constraints of joints, to a ``FunctionSet``, which
    evaluates them together at many instants. Each is a sum of products of two difference vectors, plus a constant
    and a prescribed function. Their points and directions are registered with ``collector`` (None: a new one) and
    made numerical by ``resolver``. ``layout`` has the indices of each body, ``paths`` prescribed functions of
    time."""
    collected = collector or VectorCollector(resolver)
    functions = tuple(map(collected.terms, rows))
    return FunctionSet(
        layout,
        VectorSet(tuple(collected.vectors), layout),
        collected.difference_vectors,
        functions,
        np.array([row.constant for row in rows], dtype=np.float64),
        tuple(row.offset for row in rows),
        paths,
    )


def timed_values(factor: TimeFactor, p: Array, rate: Array, second: Array) -> tuple[Array, Array, Array]:
    """Return cosine, sine or value of a prescribed function of time, with its first and second time derivative by
    the chain rule. ``factor`` selects which of the three; ``p`` are the values of the function, ``rate`` and
    ``second`` its time derivatives. All arrays have one shape; the result is a tuple of three."""
    match factor:
        case TimeFactor.COSINE:
            return np.cos(p), -np.sin(p) * rate, -np.cos(p) * rate**2 - np.sin(p) * second
        case TimeFactor.SINE:
            return np.sin(p), np.cos(p) * rate, -np.sin(p) * rate**2 + np.cos(p) * second
        case TimeFactor.VALUE:
            return p, rate, second


# The functions of constraints, where some are relations of coordinates (docs/theory.md, 8).
#
# A plain row is a function w of vectors. A relation is sum_i c_i theta_i(w) - constant with the functions w of its
# coordinates, so that by the chain rule each of them has the factor c_i dtheta_i/dw in the row.


@dataclass(frozen=True, eq=False)
class CoordinateFunctions:
    """Joint coordinate that occurs in a relation of coordinates, with its factor and the indices of its functions.

    Attributes:
        row: index of the relation among the scalar constraints.
        coordinate: the joint coordinate theta.
        factor: factor c of the coordinate in the relation.
        part: slice of its functions among those of all constraints.
    """

    row: int
    coordinate: Coordinate
    factor: float
    part: slice


@dataclass(frozen=True, eq=False)
class ConstraintSet:
    """Set of constraint functions of which some are linear relations of joint coordinates. It has the methods of
    ``FunctionSet``.

    Attributes:
        functions: functions of plain constraints and of the coordinates in relations, constraint after constraint.
        owner: constraint of each function.
        related: coordinates of the relations.
        constants: constants of relations, zero for plain constraints, whose constants are in ``functions``, shape
            (M,).
        count: number M of constraints.
    """

    functions: FunctionSet
    owner: IntArray
    related: tuple[CoordinateFunctions, ...]
    constants: Array
    count: int

    @property
    def set(self) -> VectorSet:
        """Return the set of points and directions of bodies and ground on which the constraint functions of this
        set depend."""
        return self.functions.set

    @property
    def pattern(self) -> tuple[IntArray, IntArray]:
        """Return the row and the column of every nonzero entry of the constraint matrix (derivatives of the
        constraints with respect to the velocities): two arrays of shape (entries,), sorted by row and in the order
        of ``matrix_entries``."""
        return self._entries[0]

    def values(self, at: Instants, near: Array | None = None) -> Array:
        """Return the values of the constraint functions of all joints, drives and relations (gears, belts), shape
        (instants, constraints); zero where a constraint is satisfied. A relation is a sum of factors times joint
        coordinates, minus its constant. Its angles are shifted by full turns to be nearest to ``near`` (instants,
        coordinates), or are principal values if ``near`` is None.

        Args:
            at: instants at which the functions are evaluated.
            near: coordinates of relations over full turns, (T, ``related``), to which theirs are the nearest
                that fit; None: to zero.
        """
        w = self.functions.values(at)
        plain = w.copy()
        result = np.zeros((at.count, self.count))
        for k, each in enumerate(self.related):
            theta = np.array([each.coordinate.value(own) for own in w[:, each.part]])
            if near is not None and each.coordinate.is_angle:
                theta = nearest_turns(theta, near[:, k])
            result[:, each.row] += each.factor * theta
            plain[:, each.part] = 0.0
        return np.asarray(result - self.constants + plain @ self._sum)

    def matrix_entries(self, at: Instants) -> Array:
        """Return the nonzero entries of the constraint matrix at the given instants, shape (instants, entries).
        The matrix is the derivative of the constraints with respect to the velocities; rows and columns are in
        ``pattern``. Entries of the vector functions are multiplied by the derivative of their constraint with
        respect to the function (``slopes``, 1 for ordinary joints) and added up."""
        factors = self.slopes(at)[:, self.functions.pattern[0]]
        return np.asarray((factors * self.functions.matrix_entries(at)) @ self._entries[1])

    def matrix(self, at: Instants) -> sparse.csr_array:
        """Return the constraint matrix at one instant as a sparse matrix, shape (constraints, velocities):
        derivatives of all constraints with respect to the velocities of the system. It is the Jacobian of all
        vector functions, times ``slopes``, added up for each constraint."""
        factors = sparse.diags_array(self.slopes(at)[0])
        return sparse.csr_array(sparse.csr_array(self._sum.T) @ factors @ self.functions.matrix(at))

    def small_matrix(self, at: Instants) -> Matrix:
        """Return the constraint matrix (derivatives of all constraints with respect to the velocities) at one
        instant. It has the shape (constraints, velocities), as a NumPy array if the system is small, else as a
        sparse matrix."""
        found = self.matrix(at)
        return found.toarray() if is_small(found.shape[1]) else found

    def drift(self, at: Instants) -> Array:
        """Return the partial time derivatives of the constraint functions while all bodies stand still, shape
        (instants, constraints). They come from moving frames of the ground and prescribed paths of drives.
        ``at`` contains the state at one or more instants."""
        return np.asarray((self.slopes(at) * self.functions.drift(at)) @ self._sum)

    def rates(self, at: Instants, velocity: Array) -> Array:
        """Return the total time derivatives of all constraint functions, shape (instants, constraints), for given
        velocities of the system, shape (instants, velocities). Moving ground frames and prescribed paths are
        included. They are zero for velocities that satisfy the constraints."""
        return np.asarray((self.slopes(at) * self.functions.rates(at, velocity)) @ self._sum)

    def accelerations(self, at: Instants) -> Array:
        """Return the second time derivatives of all constraint functions at zero acceleration of the system,
        shape (instants, constraints). They are terms quadratic in the velocities of ``at``, plus terms of
        prescribed motions. The constraint matrix times the accelerations must be added for the complete second
        derivatives."""
        w, dw = self.functions.values(at), self.functions.rates(at, at.velocity)
        result = (self.slopes(at) * self.functions.accelerations(at)) @ self._sum
        for each in self.related:
            bends = np.array([each.coordinate.hessian(own) for own in w[:, each.part]])
            rates = dw[:, each.part]
            result[:, each.row] += each.factor * np.einsum("ti,tij,tj->t", rates, bends, rates)
        return np.asarray(result)

    def forces(self, at: Instants, multipliers: Array) -> Array:
        """Return the forces that multipliers of constraints, shape (instants, constraints), exert on the points
        and directions in ``set``, in world axes, shape (instants, vectors, 3). They are multipliers times
        gradients of the constraint functions, added up for each vector."""
        return self.functions.forces(at, self.slopes(at) * multipliers[:, self.owner])

    def stiffness(self, at: Instants, multipliers: Array) -> Matrix:
        """Return the derivative with respect to the pose of the generalized constraint forces at one instant,
        shape (velocities, velocities). These forces are the transposed constraint matrix times ``multipliers``
        (constraints,), which are constant. Relations between joint coordinates (gears, belts) add the second
        derivatives of the coordinates."""
        total = self.functions.stiffness(at, self.slopes(at)[0] * multipliers[self.owner])
        if not self.related:
            return total
        w, numbers = self.functions.values(at)[0], np.arange(self.functions.count)
        own: Matrix = self.functions.small_matrix(at)[np.concatenate([numbers[each.part] for each in self.related])]
        factors = [multipliers[each.row] * each.factor for each in self.related]
        bends = [f * each.coordinate.hessian(w[each.part]) for f, each in zip(factors, self.related, strict=True)]
        return total + own.T @ (sparse.block_diag(bends, "csr") @ own)

    def slopes(self, at: Instants) -> Array:
        """Return the derivative of each constraint with respect to the vector functions of which it consists, shape
        (instants, functions). A constraint of a joint is one function, with derivative 1. A relation between joint
        coordinates (gear, belt) consists of the functions of its coordinates: the derivative is factor times that
        of the coordinate with respect to the function.
        """
        result = np.ones((at.count, self.functions.count))
        if self.related:
            w = self.functions.values(at)
        for each in self.related:
            slopes = [each.coordinate.gradient(own) for own in w[:, each.part]]
            result[:, each.part] = each.factor * np.array(slopes)
        return result

    @cached_property
    def _sum(self) -> sparse.csr_array:
        """Return a sparse matrix of ones, shape (functions, constraints), that adds up the vector functions of
        each constraint. It is applied as values @ matrix, with values of shape (instants, functions)."""
        count = len(self.owner)
        return sparse.coo_array((np.ones(count), (np.arange(count), self.owner)), (count, self.count)).tocsr()

    @cached_property
    def _entries(self) -> tuple[tuple[IntArray, IntArray], sparse.csr_array]:
        """Return the row and column indices of the nonzero entries of the constraint matrix, sorted by row, and a
        sparse matrix of ones. Each constraint is a sum of functions of vectors, whose derivatives may have entries
        at equal rows and columns. The sparse matrix, shape (entries of the constraint matrix, entries of all
        functions), sums them."""
        rows, columns = self.functions.pattern
        pairs = np.stack([self.owner[rows], columns], axis=1)
        indices, found = np.unique(pairs, axis=0, return_inverse=True)
        triples = (np.ones(len(rows)), (np.arange(len(rows)), found.ravel()))
        gather = sparse.coo_array(triples, (len(rows), len(indices))).tocsr()
        return (indices[:, 0], indices[:, 1]), gather


def constraint_set(rows: Sequence[Bilinear], functions: Callable[[list[Bilinear]], FunctionSet]) -> ConstraintSet:
    """Convert symbolic constraints ``rows``, some of which may be relations of joint coordinates (gears,
    belts), to a ``ConstraintSet``. Relations are first replaced by the vector functions of their coordinates;
    ``functions`` is called once with the list of all vector functions and must return them as a
    ``FunctionSet``."""
    base, owner = vector_functions_of_rows(rows)
    constants = [row.constant if isinstance(row, RelationFunction) else 0.0 for row in rows]
    indices = tuple(related_coordinates(rows))
    return ConstraintSet(functions(base), np.array(owner, dtype=np.int64), indices, np.array(constants), len(rows))


def related_coordinates(rows: Sequence[Bilinear]) -> Iterator[CoordinateFunctions]:
    """Yield a ``CoordinateFunctions`` for each joint coordinate in the relations (gears, belts) among the
    constraints ``rows``. It has the index of the constraint, the coordinate, its factor and the slice of its
    functions. The slice counts in the list of ``vector_functions_of_rows``: an ordinary constraint is one function,
    a relation has those of its coordinates, then its prescribed one.
    """
    first = 0
    for number, row in enumerate(rows):
        if not isinstance(row, RelationFunction):
            first += 1
            continue
        for coordinate, factor in row.parts:
            count = len(coordinate.functions())
            yield CoordinateFunctions(number, coordinate, factor, slice(first, first + count))
            first += count
        first += len(_prescribed(row))


def vector_functions_of_rows(rows: Sequence[Bilinear]) -> tuple[list[Bilinear], list[int]]:
    """Return the list of scalar vector functions of which the constraints ``rows`` consist, and for each function
    the index of its constraint. An ordinary constraint is one function itself; a relation (gear, belt) is replaced
    by the functions of its joint coordinates, followed by its prescribed path if it has one."""
    found, owner = list[Bilinear](), list[int]()
    for number, row in enumerate(rows):
        if isinstance(row, RelationFunction):
            own = [each for coordinate, _ in row.parts for each in coordinate.functions()] + _prescribed(row)
        else:
            own = [row]
        found += own
        owner += [number] * len(own)
    return found, owner


def _prescribed(row: RelationFunction) -> list[Bilinear]:
    """Return a list with the prescribed function of time of a relation of joint coordinates, as a function without
    vectors; an empty list if the relation has none."""
    return [] if row.offset is None else [Bilinear((), 0.0, row.label, row.offset)]
