"""Spherical joint: a common point (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.interactions.functions import Row, coincident_points
from phlexible.joints.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class Spherical(Joint):
    """The points coincide; all rotations are left. In the plane the same as ``Revolute``."""

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """3 point rows, 2 in the plane, 1 on a line (8.7)."""
        return coincident_points(self.first, self.second, dimension)
