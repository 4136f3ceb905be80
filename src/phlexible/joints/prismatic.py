"""Prismatic joint: one translation along an axis (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.interactions.coordinates import Coordinate, position_along
from phlexible.interactions.functions import AXES, Row, along_turning_axis, locked_turn, perpendicular
from phlexible.joints.axial import AxialJoint
from phlexible.joints.cylindrical import cylindrical_rows


@dataclass(frozen=True, eq=False, repr=False)
class Prismatic(AxialJoint):
    """The second port slides along the axis and keeps its orientation relative to the first.

    Raises:
        ModelError: a port without orientation.
    """

    coordinate_names = ("position",)

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """The rows of a cylindrical joint and 1 direction row; 1 + 1 in the plane (8.8, 8.9)."""
        self._need_orientation()
        across = self.across(dimension)
        if dimension == 2:
            return (
                along_turning_axis(self.first, self.second, across[0], "point across the axis"),
                perpendicular(self.first, AXES[0], self.second, AXES[1], "rotation z"),
            )
        locked = locked_turn(self.first, self.second, across, "rotation about the axis")
        return (*cylindrical_rows(self, across), locked)

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """How far the second point is along the axis."""
        return (position_along(self.first, self.second, self.unit_axis()),)
