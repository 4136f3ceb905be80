"""What joints with a sliding axis share: the axis and the two directions across it."""

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, unit_vector
from phlexible.errors import ParameterError
from phlexible.interactions.functions import perpendicular_axes
from phlexible.joints.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class AxialJoint(Joint):
    """A joint along an axis.

    Attributes:
        axis: world axes at the initial pose, fixed in the first port's body, shape (3,).
    """

    axis: ArrayLike = field(default=(1.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        self.unit_axis()
        super().__post_init__()

    def unit_axis(self) -> Array:
        """The axis divided by its length, shape (3,)."""
        return unit_vector("axis", self.axis)

    def across(self, dimension: int) -> tuple[Array, ...]:
        """Unit directions across the axis: two in space, the one in the plane in the plane, none on a line.

        Raises:
            ParameterError: an axis that leaves the plane of a planar model, or is not along the line.
        """
        axis = self.unit_axis()
        if axis[dimension:].any():
            where = "lie in the xy plane" if dimension == 2 else "be along x"
            raise ParameterError(f"axis of {self} must {where}, got {self.axis!r}")
        return perpendicular_axes(axis)[: dimension - 1]
