"""Planar joint: a point in a plane, with the plane's normal in common (docs/theory.md, 8)."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, unit_vector
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.coordinates import Coordinate, angle_about, position_along
from phlexible.interactions.functions import Row, along_turning_axis, perpendicular, perpendicular_axes
from phlexible.joints.axial import AxialJoint

RIGHT_ANGLE = 1e-9  # cosine


@dataclass(frozen=True, eq=False, repr=False)
class Planar(AxialJoint):
    """The second point stays in the plane through the first one; the normal (``axis``) is common.

    Attributes:
        along: direction of the first position, at right angles to ``axis``, world axes at the initial pose, fixed
            in the first port's body, shape (3,); the second position is along ``axis`` x ``along``. None: any,
            then it is the one taken.

    Raises:
        ParameterError: ``along`` is not at right angles to ``axis``.
        ModelError: a port without orientation, or a model in the plane.
    """

    axis: ArrayLike = field(default=(0.0, 0.0, 1.0))
    along: ArrayLike | None = field(default=None)

    coordinate_names = ("position", "second position", "angle")

    def __post_init__(self) -> None:
        super().__post_init__()
        normal = self.unit_axis()
        along = perpendicular_axes(normal)[0] if self.along is None else unit_vector("along", self.along)
        if abs(along @ normal) > RIGHT_ANGLE:
            raise ParameterError(
                f"along of {self} must be at right angles to its axis {self.axis!r}, got {self.along!r}"
                f" (cosine {along @ normal:.3g})"
            )
        object.__setattr__(self, "along", along)

    def across(self, dimension: int) -> tuple[Array, ...]:
        """The directions of both positions."""
        normal, given = self.unit_axis(), np.asarray(self.along, dtype=np.float64)
        second = np.cross(normal, given)
        second /= np.linalg.norm(second)
        return np.cross(second, normal), second

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
        one, two = self.across(dimension)
        return (
            position_along(self.first, self.second, one),
            position_along(self.first, self.second, two, "second position"),
            angle_about(self.first, self.second, one, two, dimension),
        )
