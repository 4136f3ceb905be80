"""The points of a string: nodes, where joints and loads can act, and everything between them."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.locations import Along, End, Location, MaterialPoint, MaterialPoints, Start
from phlexible.bodies.string.mesh import StringMesh
from phlexible.errors import AttachmentError

CLOSE = 1e-9  # of the length


@dataclass(frozen=True, eq=False)
class StringPoints(MaterialPoints):
    """Points of a string in d dimensions; its coordinates are the positions of the nodes."""

    mesh: StringMesh
    dimension: int

    def locate(self, location: Location) -> MaterialPoint:
        """The point at a location; at a node where that is closer than 1e-9 of the length.

        Raises:
            AttachmentError: outside the string, or a location that strings do not have.
        """
        length = self.mesh.length
        match location:
            case Start():
                return self._at(0.0)
            case End():
                return self._at(length)
            case Along(s) if -CLOSE * length <= s <= (1 + CLOSE) * length:
                return self._at(min(max(s, 0.0), length))
            case Along(s):
                raise AttachmentError(f"at(s) must lie in 0 .. {length:g} m (undeformed), got {s:g}")
        raise AttachmentError(f"a String has no {location}; it offers start, end and at(s)")

    def outline(self, count: int) -> tuple[Array, Array]:
        """At least ``count`` points, all nodes if there are few; straight lines between nodes."""
        nodes = self.mesh.nodes
        if len(nodes) > 8 * count:
            nodes = nodes[np.unique(np.linspace(0, len(nodes) - 1, 8 * count).round().astype(int))]
        elif self.mesh.order == 2:
            nodes = np.linspace(0.0, self.mesh.length, 2 * len(nodes) - 1)
        points = [self._at(float(s)) for s in nodes]
        return np.zeros((len(points), 3)), np.stack([point.shapes for point in points])

    def _at(self, s: float) -> MaterialPoint:
        known = self.mesh.nodes
        nearest = int(np.abs(known - s).argmin())
        is_node = abs(known[nearest] - s) <= CLOSE * self.mesh.length
        nodes, values = self.mesh.shape_functions(s)
        if is_node:
            nodes, values = np.array([nearest]), np.ones(1)
        shapes = np.zeros((3, self.dimension * len(known)))
        for axis in range(self.dimension):
            shapes[axis, nodes * self.dimension + axis] = values
        return MaterialPoint(np.zeros(3), shapes, None, nearest if is_node else None)
