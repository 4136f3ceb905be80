"""Fixed joint: a common point and a common orientation (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.interactions.functions import AXES, Row, coincident_points, locked_turn, perpendicular
from phlexible.joints.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Joint):
    """The points coincide and the ports keep the relative orientation of the initial pose.

    Raises:
        ModelError: a port without orientation.
    """

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """3 point rows and d_a1.d_b2 - d_a2.d_b1 and so on (8.7, 8.8); 2 + 1 in the plane, 1 on a line."""
        points = coincident_points(self.first, self.second, dimension)
        if dimension == 1:
            return points
        self._need_orientation()
        if dimension == 2:
            return (*points, perpendicular(self.first, AXES[0], self.second, AXES[1], "rotation z"))
        return points + tuple(
            locked_turn(self.first, self.second, (AXES[i], AXES[j]), f"rotation {'xyz'[3 - i - j]}")
            for i, j in ((0, 1), (1, 2), (2, 0))
        )
