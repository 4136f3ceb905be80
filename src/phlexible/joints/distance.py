"""Distance joint: a massless rigid link between two points (docs/theory.md, 8)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import positive
from phlexible.errors import ModelError
from phlexible.interactions.functions import Row, constant_distance
from phlexible.joints.joint import Joint


@dataclass(frozen=True, eq=False, repr=False)
class Distance(Joint):
    """The points keep their distance.

    Attributes:
        length: the distance [m]; None: that of the initial pose.

    Raises:
        ModelError: no length given and the points coincide.
    """

    length: float | None = None

    def __post_init__(self) -> None:
        if self.length is not None:
            object.__setattr__(self, "length", positive("length", self.length))
        super().__post_init__()

    def rows(self, dimension: int) -> tuple[Row, ...]:
        """1 row ``|point - point|^2`` (8.10)."""
        if self.length is not None:
            return (constant_distance(self.first, self.second, self.length, "distance"),)
        gap = float(np.linalg.norm(self.second.initial_position() - self.first.initial_position()))
        if gap == 0:
            raise ModelError(f"{self}: the points coincide; give length= or use Spherical")
        return (constant_distance(self.first, self.second, gap, "distance"),)
