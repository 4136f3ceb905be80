"""Planar joint: a point in a plane, with the plane's normal in common (docs/theory.md, 8)."""

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from phlexible.errors import ModelError
from phlexible.interactions.coordinates import Coordinate, angle_about, position_along
from phlexible.interactions.functions import Row, along_turning_axis, perpendicular
from phlexible.joints.axial import AxialJoint


@dataclass(frozen=True, eq=False, repr=False)
class Planar(AxialJoint):
    """The second point stays in the plane through the first one; the normal (``axis``) is common.

    Raises:
        ModelError: a port without orientation, or a model in the plane.
    """

    axis: ArrayLike = field(default=(0.0, 0.0, 1.0))

    coordinate_names = ("position", "second position", "angle")

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """1 (point - point).direction row and 2 direction rows (8.8, 8.9)."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; a planar model is already in its plane")
        self._need_orientation()
        normal = self.unit_axis()
        turns = tuple(
            perpendicular(self.first, normal, self.second, n, f"normal, direction {k}")
            for k, n in enumerate(self.across(dimension), start=1)
        )
        return (along_turning_axis(self.first, self.second, normal, "point along the normal"), *turns)

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """Where the second point is along two directions of the plane, and the angle about the normal."""
        across, along = self.across(dimension)
        return (
            position_along(self.first, self.second, across),
            position_along(self.first, self.second, along, "second position"),
            angle_about(self.first, self.second, across, along, dimension),
        )
