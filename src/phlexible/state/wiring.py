"""Index structure of functions of vectors, without numbers, shared by models that differ in numbers only."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import Matrix, Pattern, WeightedSums, plain_sums, ranges, sums_of, weighted_sums
from phlexible.state.layout import Layout
from phlexible.state.vectors import VectorSet

Chords = tuple[tuple[tuple[float, int], ...], ...]
"""Weights and vectors of each difference vector."""

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
        """Number of scalar functions (sums of scalar products of difference vectors) whose structure this object
        describes."""
        return len(self.functions)

    @cached_property
    def parts(self) -> tuple[IntArray, IntArray]:
        """Function index and vector index of every pair of a scalar function (such as a constraint) and a world
        vector that it depends on: two arrays of shape (parts,). Such a pair is called a part; it has one gradient.
        World vectors are points of bodies, or directions fixed to them, in world axes."""
        table = np.array(list(self._part_indices), dtype=np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]

    @cached_property
    def _part_indices(self) -> dict[tuple[int, int], int]:
        """Index of each part of these functions: of a pair of function index and vector index."""
        found: dict[tuple[int, int], int] = {}
        for m, terms in enumerate(self.functions):
            for a, b in terms:
                for _, vector in (*self.chords[a], *self.chords[b]):
                    found.setdefault((m, vector), len(found))
        return found

    @cached_property
    def _terms(self) -> IntArray:
        """Table of all terms of the scalar functions, shape (terms, 3): index of the function and of both
        difference vectors (such as one point minus another). A term is the scalar product of these two."""
        found = [(m, a, b) for m, terms in enumerate(self.functions) for a, b in terms]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def first(self) -> IntArray:
        """Index of the first difference vector of each term (scalar product of two difference vectors) of the
        functions, shape (terms,)."""
        return self._terms[:, 1].copy()

    @cached_property
    def second(self) -> IntArray:
        """Index of the second difference vector of each term (scalar product of two difference vectors) of the
        functions, shape (terms,)."""
        return self._terms[:, 2].copy()

    @cached_property
    def term_owner(self) -> IntArray:
        """Index of the scalar function that each term (scalar product of two difference vectors) belongs to, shape
        (terms,)."""
        return self._terms[:, 0].copy()

    @cached_property
    def owner(self) -> WeightedSums:
        """Operator that adds up the values of the terms (scalar products) of each scalar function."""
        return plain_sums(self.term_owner, self.count)

    @cached_property
    def part_owner(self) -> WeightedSums:
        """Operator that adds up, for each scalar function, values that belong to its pairs of function and world
        vector. Applied to gradients times rates of the vectors, it gives the rates of the functions. World vectors
        are points of bodies, or directions fixed to them, in world axes."""
        return plain_sums(self.parts[0], self.count)

    @cached_property
    def vector_owner(self) -> WeightedSums:
        """Operator that adds up, for each world vector, values that belong to the pairs of a scalar function and
        this vector. Applied to gradients times multipliers, it gives the forces on the vectors. World vectors are
        points of bodies, or directions fixed to them, in world axes."""
        return plain_sums(self.parts[1], len(self.carriers))

    @cached_property
    def weight_matrix(self) -> Matrix:
        """Matrix, shape (difference vectors, world vectors), with the weight of each world vector in each
        difference vector. World vectors are points of bodies, or directions fixed to them, in world axes."""
        entries = [(weight, y, vector) for y, parts in enumerate(self.chords) for weight, vector in parts]
        weights, chords, vectors = np.array(entries, dtype=np.float64).reshape(-1, 3).T
        shape = len(self.chords), len(self.carriers)
        return Pattern(chords.astype(np.int64), vectors.astype(np.int64), shape).matrix(weights)

    @cached_property
    def pairs(self) -> Pattern:
        """Sparsity pattern, shape (difference vectors, difference vectors), of the pairs of difference vectors
        whose scalar products the constraints and force coordinates of a mechanism contain. A force coordinate is
        the length or angle along which a force element acts."""
        return Pattern(self.first, self.second, (len(self.chords),) * 2)

    @cached_property
    def spread(self) -> WeightedSums:
        """Operator that computes the gradients of all scalar functions with respect to world vectors from the
        difference vectors of their terms. A term is the scalar product of two of them, and each is the derivative
        with respect to the other. World vectors are points of bodies, or directions fixed to them, in world
        axes."""
        entries, count = [], len(self._terms)
        for p, (m, a, b) in enumerate(self._terms.tolist()):
            for chord, source in ((a, p), (b, count + p)):
                for weight, vector in self.chords[chord]:
                    entries.append((weight, self._part_indices[m, vector], source))
        return weighted_sums(entries, len(self._part_indices), 2 * count)

    @cached_property
    def totals(self) -> WeightedSums:
        """Operator that returns the first world vector of each difference vector times the sum of all its
        weights. The sum is zero for a true difference. Added to ``differences`` it gives the difference
        vector. World vectors are points of bodies, or directions fixed to them, in world axes."""
        entries = [(total_weight(parts), y, parts[0][1]) for y, parts in enumerate(self.chords)]
        return weighted_sums(entries, len(self.chords), len(self.carriers))

    @cached_property
    def differences(self) -> WeightedSums:
        """Operator that computes, for each difference vector, the weighted sum of its world vectors minus its first
        one, so that equal vectors cancel exactly. World vectors are points of bodies, or directions fixed to them,
        in world axes."""
        entries = []
        for y, parts in enumerate(self.chords):
            for weight, vector in parts[1:]:
                entries += [(weight, y, vector), (-weight, y, parts[0][1])]
        return weighted_sums(entries, len(self.chords), len(self.carriers), cancels=True)

    @cached_property
    def carrier(self) -> IntArray:
        """Index of the carrier (floating body, or node of another body) that moves each world vector, shape
        (vectors,). A world vector is a point or a direction that is fixed to a body. The index is negative for
        vectors of the ground."""
        return np.array(self.carriers, dtype=np.int64)

    @cached_property
    def carried(self) -> IntArray:
        """Indices of those pairs of a scalar function and a world vector that it depends on whose vector moves with
        a body or node. Only these contribute to the Jacobian of the functions; the others belong to the ground.
        World vectors are points of bodies, or directions fixed to them, in world axes."""
        return np.flatnonzero(self.carrier[self.parts[1]] >= 0)

    @cached_property
    def framed(self) -> IntArray:
        """Indices of those pairs of a scalar function and a world vector whose vector moves with a floating body
        rather than with a node. They are indices into ``carried``, the pairs of all moving vectors. World vectors
        are points of bodies, or directions fixed to them, in world axes."""
        return np.flatnonzero(self.carrier[self.parts[1][self.carried]] < self.frames)

    @cached_property
    def framed_vectors(self) -> tuple[IntArray, IntArray]:
        """World vector index and body index of each pair of a scalar function and a vector that moves with a
        floating body: two arrays of shape (pairs,). The pairs are those of ``framed``."""
        vectors = self.parts[1][self.carried[self.framed]]
        return vectors, self.carrier[vectors]

    @cached_property
    def _scatters(self) -> "dict[tuple[object, ...], Scatter]":
        """Cache of the last computed sparsity structure of the Jacobian of the scalar functions, with at most one
        entry. Its key is the layout of bodies and the pattern of shape functions."""
        return {}

    def scattered(self, set_of: VectorSet) -> "tuple[Scatter, WeightedSums]":
        """Return a pair for the Jacobian of the scalar functions with respect to the velocities: positions of
        its nonzero entries, and weighted sums that compute them. Sources of the sums are nine values for each
        pair of a function and a moving vector. ``set_of`` are the vectors with their numbers.

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
        """List all products that add up to the Jacobian of the scalar functions (the constraint matrix) as
        four index arrays: coefficient, source value, row and column. ``layout`` says where the numbers of
        each body are, ``shapes`` are the shape functions of vectors.

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


@lru_cache(KEPT)
def _cached_wiring(*made_of: object) -> Wiring:
    return Wiring(*made_of)  # type: ignore[arg-type]


def wiring(chords: Chords, functions: Iterable[Iterable[tuple[int, int]]], set_of: VectorSet) -> Wiring:
    """Return the index structure of scalar ``functions`` of world vectors: which function consists of which
    difference vectors (``chords``), and these of which vectors of ``set_of``. It comes from a cache if
    functions with the same structure were built before. World vectors are points of bodies, or directions
    fixed to them, in world axes.

    Args:
        chords, functions: attributes of ``Wiring``.
        set_of: vectors that the difference vectors consist of.
    """
    carriers = tuple(vector.carrier for vector in set_of.vectors)
    points = tuple(vector.is_point for vector in set_of.vectors)
    made_of = chords, tuple(tuple(terms) for terms in functions), carriers, points, set_of.layout.frames
    return Wiring(*made_of) if len(chords) > LARGEST else _cached_wiring(*made_of)


def total_weight(parts: Iterable[tuple[float, int]]) -> float:
    """Return the sum of the weights of a difference vector, which is given by its ``parts``, pairs (weight,
    index of a vector); exactly zero if the sum is within round-off of zero."""
    weights = [weight for weight, _ in parts]
    total = sum(weights)
    return 0.0 if abs(total) <= 1e-14 * max(abs(weight) for weight in weights) else total
