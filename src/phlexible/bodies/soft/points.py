"""The points of a soft body: nodes, where joints and loads can act, and means of nodes."""

from dataclasses import dataclass, field

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.locations import Interface, Location, MaterialPoint, MaterialPoints, MaterialPosition, Node
from phlexible.bodies.soft.mesh import SoftMesh
from phlexible.display.written import short_repr
from phlexible.errors import AttachmentError

CLOSE = 1e-9  # of the size of the body


@dataclass(frozen=True, eq=False)
class SoftPoints(MaterialPoints):
    """Points of a soft body in d dimensions; its coordinates are the positions of the nodes.

    Attributes:
        mesh: with the undeformed places of the nodes.
        dimension: d.
        interfaces: weights of the nodes by name, each of shape (N,), with the sum 1.
    """

    mesh: SoftMesh
    dimension: int
    interfaces: dict[str, Array] = field(default_factory=dict)

    __repr__ = short_repr

    def locate(self, location: Location) -> MaterialPoint:
        """The point at a location; a place of the undeformed body has to be that of a node.

        Raises:
            AttachmentError: no node there, or a location that soft bodies do not have.
        """
        match location:
            case Node(number):
                return self._node(self._numbered(number))
            case Interface(name) if name in self.interfaces:
                return self._mean(self.interfaces[name])
            case Interface(name):
                known = ", ".join(map(repr, self.interfaces)) or "none"
                raise AttachmentError(f"the SoftBody has no interface {name!r}; it has {known}")
            case MaterialPosition(position):
                return self._node(self._nearest(np.array(position)))
        raise AttachmentError(
            f"a SoftBody has no {location}; it offers node(number), point(position) where a node is, and its "
            'interfaces, body["name"]'
        )

    def outline(self, count: int) -> tuple[Array, Array]:
        """Some of the nodes."""
        total = len(self.mesh.nodes)
        chosen = np.unique(np.linspace(0, total - 1, min(count, total)).round().astype(np.int64))
        points = [self._node(int(node)) for node in chosen]
        return np.zeros((len(points), 3)), np.stack([point.shapes for point in points])

    def _numbered(self, number: int) -> int:
        points = len(self.mesh.number)
        if not 0 <= number < points or self.mesh.number[number] < 0:
            raise AttachmentError(
                f"node({number}): the mesh has points 0 .. {points - 1}, and this one is no node of an element"
                if 0 <= number < points
                else f"node({number}): the mesh has points 0 .. {points - 1}"
            )
        return int(self.mesh.number[number])

    def _nearest(self, position: Array) -> int:
        places = self.mesh.places
        apart = np.linalg.norm(places - position, axis=1)
        nearest = int(apart.argmin())
        if apart[nearest] > CLOSE * float(np.ptp(places, axis=0).max()):
            raise AttachmentError(
                f"point({position.tolist()}) is no node of the SoftBody; the nearest is node("
                f"{int(self.mesh.nodes[nearest])}) at {places[nearest].tolist()}"
            )
        return nearest

    def _node(self, node: int) -> MaterialPoint:
        weights = np.zeros(len(self.mesh.nodes))
        weights[node] = 1.0
        return MaterialPoint(np.zeros(3), self._shapes(weights), None, node)

    def _mean(self, weights: Array) -> MaterialPoint:
        nodes: IntArray = np.flatnonzero(weights)
        return MaterialPoint(np.zeros(3), self._shapes(weights), None, int(nodes[0]) if len(nodes) == 1 else None)

    def _shapes(self, weights: Array) -> Array:
        d = self.dimension
        shapes = np.zeros((3, d * len(weights)))
        for axis in range(d):
            shapes[axis, axis::d] = weights
        return shapes
