"""Strains of a rod as products of vectors of its sections, with their derivatives (docs/theory.md, 8)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.rod import ElementShape
from phlexible.display import short_repr

NEXT, AFTER = (1, 2, 0), (2, 0, 1)
"""The cyclic order of three axes."""


@dataclass(frozen=True, eq=False)
class RodStrains:
    """Gamma and K (8.20) at g points: sums of products u.v of sums of the vectors (c, d_x, d_y, d_z) of N sections.

    c is the centre of mass, from which the axis is -sum offset_i d_i away, so that everything is linear in these
    vectors and no rigid motion changes a strain.

    Attributes:
        first, second: the sums u and v, shape (9 g, 4 N); they take differences of c only.
        shares: of the products in the strains, shape (6 g, 9 g).
    """

    first: sparse.csr_array
    second: sparse.csr_array
    shares: sparse.csr_array

    __repr__ = short_repr

    @classmethod
    def of(cls, elements: Sequence[ElementShape], offsets: Array) -> "RodStrains":
        """The strains at all quadrature points.

        Args:
            elements: from start to end.
            offsets: of the centres of mass from the axis in the axes of the sections, shape (N, 3) [m].
        """
        first: list[tuple[int, int, float]] = []
        second: list[tuple[int, int, float]] = []
        shares: list[tuple[int, int, float]] = []
        row = strain = 0

        def add(entries: list[tuple[int, int, float]], parts: list[tuple[int, float]]) -> None:
            entries += [(row, column, share) for column, share in parts if share != 0]

        for element in elements:
            for values, slopes in zip(element.values, element.slopes, strict=True):
                mean, slope = (list(zip(element.nodes, each.tolist(), strict=True)) for each in (values, slopes))
                axis = [(4 * node, share) for node, share in slope]
                axis += [(4 * node + 1 + i, -share * offsets[node, i]) for node, share in slope for i in range(3)]
                for i in range(3):  # Gamma_i = d_i . x'
                    add(first, [(4 * node + 1 + i, share) for node, share in mean])
                    add(second, axis)
                    shares.append((strain + i, row, 1.0))
                    row += 1
                for k in range(3):  # K_k = (d_j . d_i' - d_i . d_j') / 2
                    for i, j, sign in ((NEXT[k], AFTER[k], 0.5), (AFTER[k], NEXT[k], -0.5)):
                        add(first, [(4 * node + 1 + j, share) for node, share in mean])
                        add(second, [(4 * node + 1 + i, share) for node, share in slope])
                        shares.append((strain + 3 + k, row, sign))
                        row += 1
                strain += 6
        columns = 4 * len(offsets)
        return cls(_matrix(first, row, columns), _matrix(second, row, columns), _matrix(shares, strain, row))

    def values(self, vectors: Array) -> Array:
        """Gamma and K, shape (6 g,).

        Args:
            vectors: of the sections, shape (4 N, 3), as in all methods.
        """
        u, v = self._sums(vectors)
        return np.asarray(self.shares @ (u * v).sum(axis=1))

    def rates(self, vectors: Array, speeds: Array) -> Array:
        """Their change with speeds (4 N, 3) of the vectors, shape (6 g,)."""
        u, v = self._sums(vectors)
        both = u * (self.second @ speeds) + v * (self.first @ speeds)
        return np.asarray(self.shares @ both.sum(axis=1))

    def forces(self, vectors: Array, stresses: Array) -> Array:
        """Forces on the vectors that do the work of stresses (6 g,) along ``rates``, shape (4 N, 3)."""
        u, v = self._sums(vectors)
        pulls = (self.shares.T @ stresses)[:, None]
        return np.asarray(self.second.T @ (pulls * u) + self.first.T @ (pulls * v))

    def slopes(self, vectors: Array) -> sparse.csr_array:
        """d(strains)/d(vectors), entries of the vectors one after the other, shape (6 g, 12 N)."""
        parts = []
        for axis, (u, v) in enumerate(zip(*(each.T for each in self._sums(vectors)), strict=True)):
            along = self.shares @ (sparse.diags_array(u) @ self.second + sparse.diags_array(v) @ self.first)
            parts.append(sparse.kron(along, np.eye(3)[axis : axis + 1]))
        return sparse.csr_array(sum(parts[1:], parts[0]))

    def curvature(self, stresses: Array) -> sparse.csr_array:
        """d(forces)/d(vectors) of constant stresses, symmetric, shape (12 N, 12 N)."""
        half = self.first.T @ sparse.diags_array(self.shares.T @ stresses) @ self.second
        return sparse.csr_array(sparse.kron(half + half.T, sparse.eye_array(3)))

    def _sums(self, vectors: Array) -> tuple[Array, Array]:
        """u and v, each of shape (9 g, 3); a place far from the origin costs no digits."""
        near = vectors.copy()
        near[::4] -= vectors[0]
        return self.first @ near, self.second @ near


def _matrix(entries: list[tuple[int, int, float]], rows: int, columns: int) -> sparse.csr_array:
    places, others, values = zip(*entries, strict=True)
    return sparse.coo_array((values, (places, others)), (rows, columns)).tocsr()
