"""Slider: a point on a line (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.interactions.coordinates import Coordinate, position_along
from phlexible.interactions.functions import Row, along_turning_axis
from phlexible.joints.axial import AxialJoint


@dataclass(frozen=True, eq=False, repr=False)
class Slider(AxialJoint):
    """The second point stays on the line through the first one along the axis; all rotations are left.

    Raises:
        ModelError: the first port has no orientation.
    """

    coordinate_names = ("position",)

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """2 (point - point).direction rows, 1 in the plane (8.9)."""
        self._need_orientation_of(self.first)
        return tuple(
            along_turning_axis(self.first, self.second, across, f"point across the axis, direction {k}")
            for k, across in enumerate(self.across(dimension), start=1)
        )

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """How far the second point is along the line."""
        return (position_along(self.first, self.second, self.unit_axis()),)
