"""Universal joint: a common point and two axes that stay perpendicular."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, unit_vector
from phlexible.errors import ModelError, ParameterError
from phlexible.joints.bilinear import Row, coincident_points, perpendicular
from phlexible.joints.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class Universal(Joint):
    """The points coincide; the axis of the first port stays perpendicular to that of the second.

    Attributes:
        axis: fixed in the first port's body, world axes at the initial pose, shape (3,).
        second_axis: fixed in the second port's body, perpendicular to ``axis``, shape (3,).

    Raises:
        ParameterError: axes that are not perpendicular.
        ModelError: a port without orientation, or a model in the plane.
    """

    axis: ArrayLike = field(default=(1.0, 0.0, 0.0))
    second_axis: ArrayLike = field(default=(0.0, 1.0, 0.0))

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """3 point rows and 1 direction row (formulation, section 4)."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; in the plane use Revolute")
        self._need_orientation()
        first, second = self.unit_axes()
        points = coincident_points(self.first, self.second, dimension)
        return (*points, perpendicular(self.first, first, self.second, second, "angle between the axes"))

    def unit_axes(self) -> tuple[Array, Array]:
        """Both axes divided by their lengths, each of shape (3,)."""
        first = unit_vector("axis", np.asarray(self.axis, dtype=np.float64))
        second = unit_vector("second_axis", np.asarray(self.second_axis, dtype=np.float64))
        if abs(first @ second) > 1e-12:
            raise ParameterError(
                f"the axes of {self} must be perpendicular, got {self.axis!r} and {self.second_axis!r}"
                f" (cosine {first @ second:.3g})"
            )
        return first, second - (first @ second) * first
