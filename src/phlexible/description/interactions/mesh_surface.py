"""Surface of a meshed body, or a part of it, as one side of a contact (docs/contact.md)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, set_fields
from phlexible.bodies.flexible.points import FlexiblePoints
from phlexible.bodies.flexible.selected_points import selected_points
from phlexible.bodies.locations import SurfaceNode
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.errors import ModelError


@dataclass(frozen=True, eq=False)
class MeshSurface:
    """Corners of the elements on the surface of a meshed body or plate, which touch as points or spheres.

    They move as the coordinates that the body keeps, and what pushes them moves these. So a body is as soft there
    as its shapes let it: how it dents at a place is in the answer of an interface there, or in many modes
    (docs/contact.md has numbers).

    Attributes:
        body: a ``FlexibleBody`` from a mesh or matrices, or a ``Plate``.
        where: a function of places x in body axes (x[0], x[1], x[2] are arrays) that says which, or their numbers
            among the ``positions`` of all; None: all.

    Raises:
        ModelError: another body, or no place.
        ParameterError: no such function or numbers.

    Example:
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> aluminium = ph.Material(7e10, 2700.0, poissons_ratio=0.3)
        >>> plate = ph.Plate(0.4, 0.3, 0.004, aluminium, elements=(4, 3), modes=4)
        >>> tray = model.add(plate, "tray", position=(0, 0, 0.1))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)))
        >>> touch = model.apply(ph.Contact(ph.MeshSurface(tray), floor, stiffness=1e5))
        >>> motion = model.simulate(0.16, step=2e-3)
        >>> bool(motion.position(tray.point((0, 0, -0.002)))[:, 2].min() > -1e-3)
        True
    """

    body: PlacedBody
    where: Any = None

    def __post_init__(self) -> None:
        points = self.body.data.points if isinstance(self.body, PlacedBody) else None
        if not isinstance(points, FlexiblePoints):
            raise ModelError(
                f"the body of a MeshSurface must be a placed FlexibleBody or Plate, got {self.body!r}; give other"
                " bodies themselves"
            )
        if self.where is not None:
            positions = points.nodes[points.surface_nodes]
            set_fields(self, where=tuple(selected_points("where", self.where, positions, {}).tolist()))
        if not len(self._node_indices):
            raise ModelError(f"{self} has no places: no corner of the surface is where it says")

    @property
    def _points(self) -> FlexiblePoints:
        points = self.body.data.points
        assert isinstance(points, FlexiblePoints), "asked where it is made"
        return points

    @cached_property
    def _node_indices(self) -> IntArray:
        """Return the node numbers of the mesh vertices on a body's surface that can touch in a contact, shape (k,).
        They are all such vertices or those that the user chose."""
        every = self._points.surface_nodes
        return every if self.where is None else every[np.asarray(self.where, dtype=np.int64)]

    @property
    def positions(self) -> Array:
        """Return the positions of the surface nodes of a meshed body that can touch in a contact. They are those of
        the undeformed body in body axes, shape (k, 3) [m]."""
        return np.asarray(self._points.nodes[self._node_indices])

    @cached_property
    def ports(self) -> tuple[Attachment, ...]:
        """Return the surface nodes of a meshed body that can touch in a contact, as attachment points of the
        body."""
        return tuple(Attachment(self.body, SurfaceNode(int(number))) for number in self._node_indices)

    def __repr__(self) -> str:
        return f"MeshSurface({self.body.name})"
