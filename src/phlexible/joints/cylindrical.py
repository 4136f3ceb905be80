"""Cylindrical joint: translation along an axis and rotation about it."""

from dataclasses import dataclass

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError
from phlexible.joints.axial import AxialJoint
from phlexible.joints.bilinear import Row, along_turning_axis, perpendicular


@dataclass(frozen=True, eq=False, repr=False)
class Cylindrical(AxialJoint):
    """The second port slides along the axis and turns about it.

    Raises:
        ModelError: a port without orientation, or a model in the plane.
    """

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """2 direction rows and 2 (point - point).direction rows (formulation, section 4)."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; in the plane use Prismatic or Slider")
        self._need_orientation()
        return cylindrical_rows(self, self.across(dimension))


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
