"""Fixed joint: a common point and a common orientation (docs/theory.md, 8)."""

from dataclasses import dataclass

from phlexible.interactions.functions import AXES, Row, coincident_points, perpendicular
from phlexible.joints.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Joint):
    """The points coincide and the ports keep the relative orientation of the initial pose.

    Raises:
        ModelError: a port without orientation.
    """

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """3 point rows and d_a1.d_b2, d_a2.d_b3, d_a3.d_b1 (8.7, 8.8); 2 + 1 in the plane."""
        self._need_orientation()
        pairs = ((0, 1),) if dimension == 2 else ((0, 1), (1, 2), (2, 0))
        return coincident_points(self.first, self.second, dimension) + tuple(
            perpendicular(self.first, AXES[i], self.second, AXES[j], f"rotation {'xyz'[3 - i - j]}")
            for i, j in pairs
        )
