"""The functions of constraints, where some are relations of coordinates (docs/theory.md, 8).

A plain row is a function w of vectors. A relation is sum_i c_i theta_i(w) - constant with the functions w of its
coordinates, so that by the chain rule each of them has the factor c_i dtheta_i/dw in the row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.small_matrices import Matrix, is_small
from phlexible.interactions.coordinates import Coordinate
from phlexible.interactions.functions import Row
from phlexible.joints.relations import RelationRow
from phlexible.system.functions import FunctionSet
from phlexible.system.instants import Instants
from phlexible.system.vectors import VectorSet


@dataclass(frozen=True, eq=False)
class CoordinatePlace:
    """A coordinate of a relation.

    Attributes:
        row: of the relation.
        coordinate: theta.
        factor: c.
        place: of its functions among those of all constraints.
    """

    row: int
    coordinate: Coordinate
    factor: float
    place: slice


@dataclass(frozen=True, eq=False)
class ConstraintSet:
    """M rows, some of which are relations; answers like a ``FunctionSet``.

    Attributes:
        functions: of plain rows and of all coordinates, row after row.
        owner: row of each function.
        places: of the coordinates of relations.
        constants: of relations, by their rows; those of plain rows are in ``functions``.
        count: M.
    """

    functions: FunctionSet
    owner: IntArray
    places: tuple[CoordinatePlace, ...]
    constants: Array
    count: int

    @property
    def set(self) -> VectorSet:
        """The vectors of all chords."""
        return self.functions.set

    @property
    def pattern(self) -> tuple[IntArray, IntArray]:
        """Row and column of every entry of G."""
        return self._entries[0]

    def values(self, at: Instants, near: Array | None = None) -> Array:
        """What the rows demand to vanish, shape (T, M).

        Args:
            at: instants.
            near: coordinates of relations over full turns, (T, ``places``), to which theirs are the nearest
                that fit; None: to zero.
        """
        w = self.functions.values(at)
        plain = w.copy()
        result = np.zeros((at.count, self.count))
        for k, each in enumerate(self.places):
            theta = np.array([each.coordinate.value(own) for own in w[:, each.place]])
            if near is not None and each.coordinate.is_angle:
                theta = near[:, k] + np.remainder(theta - near[:, k] + np.pi, 2 * np.pi) - np.pi
            result[:, each.row] += each.factor * theta
            plain[:, each.place] = 0.0
        return np.asarray(result - self.constants + plain @ self._sum)

    def matrix_entries(self, at: Instants) -> Array:
        """Entries of G at its places ``pattern``, shape (T, entries)."""
        factors = self._factors(at)[:, self.functions.pattern[0]]
        return np.asarray((factors * self.functions.matrix_entries(at)) @ self._entries[1])

    def matrix(self, at: Instants) -> sparse.csr_array:
        """G at one instant, shape (M, velocities)."""
        factors = sparse.diags_array(self._factors(at)[0])
        return sparse.csr_array(sparse.csr_array(self._sum.T) @ factors @ self.functions.matrix(at))

    def small_matrix(self, at: Instants) -> Matrix:
        """The same, as an array where it is small."""
        found = self.matrix(at)
        return found.toarray() if is_small(found.shape[1]) else found

    def drift(self, at: Instants) -> Array:
        """What moving frames and paths add to the rates, shape (T, M)."""
        return np.asarray((self._factors(at) * self.functions.drift(at)) @ self._sum)

    def rates(self, at: Instants, velocity: Array) -> Array:
        """Rates for flat velocities (T, velocities), shape (T, M)."""
        return np.asarray((self._factors(at) * self.functions.rates(at, velocity)) @ self._sum)

    def accelerations(self, at: Instants) -> Array:
        """Second rates where all dnu/dt vanish, shape (T, M)."""
        w, dw = self.functions.values(at), self.functions.rates(at, at.velocity)
        result = (self._factors(at) * self.functions.accelerations(at)) @ self._sum
        for each in self.places:
            bends = np.array([each.coordinate.hessian(own) for own in w[:, each.place]])
            rates = dw[:, each.place]
            result[:, each.row] += each.factor * np.einsum("ti,tij,tj->t", rates, bends, rates)
        return np.asarray(result)

    def forces(self, at: Instants, multipliers: Array) -> Array:
        """Of multipliers (T, M) on every vector of ``set``, shape (T, k, 3)."""
        return self.functions.forces(at, self._factors(at) * multipliers[:, self.owner])

    def curvature(self, at: Instants, multipliers: Array) -> sparse.csr_array:
        """sum of multiplier d2(row)/dx2, between vectors, at one instant, shape (3 k, 3 k)."""
        total = self.functions.curvature(at, self._factors(at)[0] * multipliers[self.owner])
        w, gradients = self.functions.values(at)[0], self._vector_gradients(at)
        for each in self.places:
            own = gradients[each.place]
            bend = multipliers[each.row] * each.factor * each.coordinate.hessian(w[each.place])
            total = total + own.T @ sparse.csr_array(bend) @ own
        return sparse.csr_array(total)

    def _vector_gradients(self, at: Instants) -> sparse.csr_array:
        """dw/dx at one instant, shape (functions, 3 k)."""
        (own, vectors), parts = self.functions.parts, self.functions.gradients(at)[0]
        columns = 3 * vectors[:, None] + np.arange(3)
        triples = (parts.ravel(), (np.repeat(own, 3), columns.ravel()))
        return sparse.coo_array(triples, (self.functions.count, 3 * len(self.set.vectors))).tocsr()

    def _factors(self, at: Instants) -> Array:
        """d(row)/dw of each function, shape (T, functions)."""
        result = np.ones((at.count, self.functions.count))
        if self.places:
            w = self.functions.values(at)
        for each in self.places:
            slopes = [each.coordinate.gradient(own) for own in w[:, each.place]]
            result[:, each.place] = each.factor * np.array(slopes)
        return result

    @cached_property
    def _sum(self) -> sparse.csr_array:
        """Sums over the functions of rows, shape (functions, M)."""
        count = len(self.owner)
        return sparse.coo_array((np.ones(count), (np.arange(count), self.owner)), (count, self.count)).tocsr()

    @cached_property
    def _entries(self) -> tuple[tuple[IntArray, IntArray], sparse.csr_array]:
        """Places of the entries of G, and what sums those of the functions up."""
        rows, columns = self.functions.pattern
        pairs = np.stack([self.owner[rows], columns], axis=1)
        places, found = np.unique(pairs, axis=0, return_inverse=True)
        triples = (np.ones(len(rows)), (np.arange(len(rows)), found.ravel()))
        gather = sparse.coo_array(triples, (len(rows), len(places))).tocsr()
        return (places[:, 0], places[:, 1]), gather


def coordinate_places(rows: Sequence[Row]) -> Iterator[CoordinatePlace]:
    """Those of all relations among rows, in their order."""
    first = 0
    for number, row in enumerate(rows):
        if not isinstance(row, RelationRow):
            first += 1
            continue
        for coordinate, factor in row.parts:
            count = len(coordinate.functions())
            yield CoordinatePlace(number, coordinate, factor, slice(first, first + count))
            first += count


def base_rows(rows: Sequence[Row]) -> tuple[list[Row], list[int]]:
    """Plain rows and the functions of relations' coordinates, each with the number of its row."""
    found, owner = list[Row](), list[int]()
    for number, row in enumerate(rows):
        if isinstance(row, RelationRow):
            own = [each for coordinate, _ in row.parts for each in coordinate.functions()]
        else:
            own = [row]
        found += own
        owner += [number] * len(own)
    return found, owner
