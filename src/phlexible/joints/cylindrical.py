"""Cylindrical joint: translation along an axis and rotation about it (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.interactions.coordinates import Coordinate, angle_about, position_along
from phlexible.interactions.functions import Row, along_turning_axis, perpendicular, perpendicular_axes
from phlexible.joints.axial import AxialJoint


@dataclass(frozen=True, eq=False, repr=False)
class Cylindrical(AxialJoint):
    """The second port slides along the axis and turns about it.

    Raises:
        ModelError: a port without orientation, or a model in the plane.
    """

    coordinate_names = ("position", "angle")

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """2 direction rows and 2 (point - point).direction rows (8.8, 8.9)."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; in the plane use Prismatic or Slider")
        self._need_orientation()
        return cylindrical_rows(self, self.across(dimension))

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """How far the second point is along the axis, and the angle about it."""
        axis = self.unit_axis()
        return (
            position_along(self.first, self.second, axis),
            angle_about(self.first, self.second, *perpendicular_axes(axis), dimension),
        )


def cylindrical_rows(joint: AxialJoint, across: tuple[Array, ...]) -> tuple[Row, ...]:
    """A common axis, on which both points lie."""
    axis = joint.unit_axis()
    points = tuple(
        along_turning_axis(joint.first, joint.second, n, f"point across the axis, direction {k}")
        for k, n in enumerate(across, start=1)
    )
    turns = tuple(
        perpendicular(joint.first, axis, joint.second, n, f"axis, direction {k}")
        for k, n in enumerate(across, start=1)
    )
    return points + turns
