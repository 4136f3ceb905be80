"""Material points of a plate: both surfaces, and any place in it."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.mesh.element_mesh import ElementMesh
from phlexible.bodies.flexible.points import OUTSIDE, FlexiblePoints, cell_at
from phlexible.bodies.flexible.unknowns import Unknowns
from phlexible.bodies.locations import MaterialPoint


@dataclass(frozen=True, eq=False)
class PlatePoints(FlexiblePoints):
    """Points of a plate; its nodes are those of the mesh on the upper surface (z = h/2), then those on the lower.

    Attributes:
        mesh: of the middle surface, z = 0.
        thickness: h [m].
    """

    mesh: ElementMesh
    thickness: float

    @property
    def nodes(self) -> Array:
        """Places of the nodes of both surfaces, shape (2 N, 3) [m]."""
        up = np.array([0.0, 0.0, self.thickness / 2])
        return np.vstack([self.mesh.nodes + up, self.mesh.nodes - up])

    @property
    def middle(self) -> Array:
        """Displacement of the nodes of the middle surface, shape (N, 3, n)."""
        upper, lower = np.split(self.shapes, 2)
        return np.asarray((upper + lower) / 2)

    @property
    def turns(self) -> Array:
        """Rotation about x and y at the nodes, shape (N, 3, n)."""
        upper, lower = np.split(self.shapes, 2)
        director = (upper - lower) / self.thickness
        return np.stack([-director[:, 1], director[:, 0], np.zeros_like(director[:, 0])], axis=1)

    def inside(self, place: Array, described: str) -> MaterialPoint:
        """The point in its element; it turns with the normal and, about it, with the middle surface.

        Raises:
            AttachmentError: outside the plate.
        """
        if not abs(place[2]) <= (0.5 + OUTSIDE) * self.thickness:
            raise self.refuse(described, place)
        found = cell_at(self.mesh, place[:2])
        if found is None:
            raise self.refuse(described, place)
        values, gradients = found.functions()
        own = self.mesh.element_nodes[found.element]
        middle, turns = self.middle[own], np.einsum("k,kcn->cn", values, self.turns[own])
        slopes = np.einsum("ka,kcn->can", gradients, middle)
        turns[2] = (slopes[1, 0] - slopes[0, 1]) / 2
        shapes = np.einsum("k,kcn->cn", values, middle)
        shapes += place[2] * np.stack([turns[1], -turns[0], np.zeros_like(turns[0])])
        return MaterialPoint(place, shapes, turns, is_watched_only=True)


def surface_shapes(unknowns: Unknowns, columns: Array, count: int, height: float) -> Array:
    """Displacements at +-height of columns (5 N, n) of unknowns, upper nodes first, shape (2 N, 3, n)."""
    middle, turns = unknowns.vectors(columns, count), unknowns.rotations(columns, count)
    director = np.stack([turns[:, 1], -turns[:, 0], np.zeros_like(turns[:, 0])], axis=1)
    return np.concatenate([middle + height * director, middle - height * director])
