"""What the unknowns of a finite element model are: displacements and rotations of nodes, or modal coordinates."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class Unknowns:
    """N unknowns of a body in the plane (dimension 2) or in space (3).

    Attributes:
        dimension: 2 or 3.
        node: of each unknown, -1: of none, shape (N,).
        component: 0, 1, 2 of a displacement, 3, 4, 5 of a rotation, -1 of neither, shape (N,).
        places: of the node of each unknown, shape (N, 3) [m].
    """

    dimension: int
    node: IntArray
    component: IntArray
    places: Array

    @property
    def spin_axes(self) -> tuple[int, ...]:
        """Axes about which the body turns: z, or all."""
        return (2,) if self.dimension == 2 else (0, 1, 2)

    @property
    def translation_axes(self) -> tuple[int, ...]:
        """Axes along which it moves."""
        return tuple(range(self.dimension))

    def of_nodes(self, nodes: IntArray) -> IntArray:
        """Numbers of the unknowns of some nodes, ascending."""
        return np.flatnonzero(np.isin(self.node, nodes))

    def selected(self, numbers: IntArray) -> "Unknowns":
        """Those with these numbers."""
        return Unknowns(self.dimension, self.node[numbers], self.component[numbers], self.places[numbers])

    def field(self, vectors: Array) -> Array:
        """Displacement components of vectors (N, 3) at the nodes; rotations and modal coordinates are zero."""
        moves = (self.component >= 0) & (self.component < 3)
        result = np.zeros(len(self.component))
        result[moves] = vectors[moves, self.component[moves]]
        return result

    def translation(self, axis: int) -> Array:
        """Unit translation along an axis, shape (N,)."""
        return self.field(np.tile(np.eye(3)[axis], (len(self.node), 1)))

    def rotation(self, axis: int, about: Array | None = None) -> Array:
        """Unit rotation about an axis through a point (3,), shape (N,)."""
        arms = self.places if about is None else self.places - about
        turned: Array = self.field(np.cross(np.eye(3)[axis], arms)) + (self.component == 3 + axis)
        return turned

    def rigid_fields(self, about: Array | None = None) -> Array:
        """Unit translations and rotations about a point (the origin), shape (N, 3 or 6)."""
        moves = [self.translation(axis) for axis in self.translation_axes]
        return np.column_stack([*moves, *(self.rotation(axis, about) for axis in self.spin_axes)])

    def centrifugal_fields(self, about: Array) -> Array:
        """e_k x (e_l x (x - about)), symmetric in k and l, shape (N, 1 or 6)."""
        axes, arms, products = np.eye(3)[list(self.spin_axes)], self.places - about, []
        for k, first in enumerate(axes):
            for second in axes[k:]:
                mixed = np.cross(first, np.cross(second, arms)) + np.cross(second, np.cross(first, arms))
                products.append(self.field(mixed / 2))
        return np.column_stack(products)

    def homogeneous_fields(self, about: Array) -> Array:
        """Displacements e_a x_b + e_b x_a of constant strain, shape (N, 3 or 6)."""
        arms, fields = self.places - about, []
        for a in self.translation_axes:
            for b in self.translation_axes[a:]:
                vectors = np.zeros_like(arms)
                vectors[:, a] += arms[:, b]
                vectors[:, b] += arms[:, a]
                fields.append(self.field(vectors))
        return np.column_stack(fields)

    def rotations(self, columns: Array, count: int) -> Array:
        """Rotations of ``count`` nodes in columns (N, n) of unknowns, shape (count, 3, n)."""
        turns = np.flatnonzero(self.component >= 3)
        result = np.zeros((count, 3, columns.shape[1]))
        result[self.node[turns], self.component[turns] - 3] = columns[turns]
        return result

    def vectors(self, columns: Array, count: int) -> Array:
        """Displacements of ``count`` nodes in columns (N, n) of unknowns, shape (count, 3, n)."""
        moves = np.flatnonzero((self.component >= 0) & (self.component < 3))
        result = np.zeros((count, 3, columns.shape[1]))
        result[self.node[moves], self.component[moves]] = columns[moves]
        return result


def mesh_unknowns(places: Array, dimension: int) -> Unknowns:
    """Displacements of the nodes of a mesh, component after component at each; places (k, 3) [m]."""
    count = len(places)
    node = np.repeat(np.arange(count), dimension)
    return Unknowns(dimension, node, np.tile(np.arange(dimension), count), places[node])
