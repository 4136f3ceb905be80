"""Revolute joint: a common point and a common axis (docs/theory.md, 8)."""

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, unit_vector
from phlexible.errors import ParameterError
from phlexible.interactions.coordinates import Coordinate, angle_about
from phlexible.interactions.functions import AXES, Row, coincident_points, perpendicular, perpendicular_axes
from phlexible.joints.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class Revolute(Joint):
    """The points coincide and the axis is common; one rotation is left. A pin in the plane.

    Attributes:
        axis: world axes at the initial pose, fixed in the first port's body, shape (3,).

    Raises:
        ModelError: in space, a port without orientation.
        ParameterError: in the plane, an axis that is not along z.
    """

    axis: ArrayLike = field(default=(0.0, 0.0, 1.0))

    coordinate_names = ("angle",)

    def __post_init__(self) -> None:
        self.unit_axis()
        super().__post_init__()

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """3 point rows and 2 direction rows (8.7, 8.8); 2 point rows in the plane, 1 on a line."""
        points, axis = coincident_points(self.first, self.second, dimension), self.unit_axis()
        if dimension == 1:
            return points
        if dimension == 2:
            if axis[:2].any():
                raise ParameterError(f"axis of {self} must be along z in a planar model, got {self.axis!r}")
            return points
        self._need_orientation()
        across = perpendicular_axes(axis)
        return points + tuple(
            perpendicular(self.first, axis, self.second, b, f"axis, direction {k}")
            for k, b in enumerate(across, start=1)
        )

    def unit_axis(self) -> Array:
        """The axis divided by its length, shape (3,)."""
        return unit_vector("axis", self.axis)

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """The angle about the axis; in the plane about z or, if the axis points downwards, -z."""
        self._need_orientation()
        axis = self.unit_axis()
        if dimension == 2:
            axis = -AXES[2] if axis[2] < 0 else AXES[2]
        return (angle_about(self.first, self.second, *perpendicular_axes(axis), dimension),)
