"""Universal joint: a common point and two axes that stay perpendicular (docs/theory.md, 8)."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, unit_vector
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.coordinates import AngleCoordinate, Coordinate
from phlexible.interactions.functions import DirectionOf, Row, coincident_points, perpendicular, product
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

    coordinate_names = ("angle", "second angle")

    def __post_init__(self) -> None:
        self.unit_axes()
        super().__post_init__()

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """3 point rows and 1 direction row (8.7, 8.8)."""
        if dimension == 2:
            raise ModelError(f"{self} needs space; in the plane use Revolute")
        self._need_orientation()
        first, second = self.unit_axes()
        points = coincident_points(self.first, self.second, dimension)
        return (*points, perpendicular(self.first, first, self.second, second, "angle between the axes"))

    def unit_axes(self) -> tuple[Array, Array]:
        """Both axes divided by their lengths, each of shape (3,)."""
        first = unit_vector("axis", self.axis)
        second = unit_vector("second_axis", self.second_axis)
        if abs(first @ second) > 1e-12:
            raise ParameterError(
                f"the axes of a Universal must be perpendicular, got {self.axis!r} and {self.second_axis!r}"
                f" (cosine {first @ second:.3g})"
            )
        return first, second - (first @ second) * first

    def coordinates(self, dimension: int) -> tuple[Coordinate, ...]:
        """The angle of the second axis about the first one, and that of the second port about the second.

        With e1, e2 the axes at the initial pose and e3 = e1 x e2: first cosine a2 . b2 and sine a3 . b2,
        second cosine a1 . b1 and sine a1 . b3.
        """
        one, two = self.unit_axes()
        three = np.cross(one, two)
        cosine = product(DirectionOf(self.first, one), DirectionOf(self.second, one))
        sine = product(DirectionOf(self.first, one), DirectionOf(self.second, three))
        b2 = DirectionOf(self.second, two)
        return (
            AngleCoordinate(
                "angle",
                (product(DirectionOf(self.first, two), b2),),
                (product(DirectionOf(self.first, three), b2),),
            ),
            AngleCoordinate("second angle", (cosine,), (sine,)),
        )
